// SPDX-License-Identifier: Apache-2.0
/**
 * Places boxes of a graph in rows: data flows down, each box stands right above the first of its consumers that are farthest from the result, and a consumer stands in
 * the middle of its producers. Rows of two subtrees interlock where they have room. Cycles, which only a broken log has, lose an edge.
 *
 *     [scan]   [scan]
 *        |        |
 *     [sort]      |        a row is as high as its highest box; rows part where an edge is `wide`, so that a head of the next stage fits between
 *         \      /
 *         [ join ]
 *
 * Linear in boxes and edges, without recursion: 2,000 boxes take some milliseconds.
 */

/** @typedef {{ w: number, h: number }} Size */
/** @typedef {{ from: number, to: number, wide?: boolean }} Link positions of boxes */
/** @typedef {{ x: number, y: number, row: number, below: number | undefined }} Place below: the box that it stands above */

/**
 * @param {Size[]} boxes @param {Link[]} links @param {{ gapX: number, gapY: number, wideY: number }} gaps
 * @returns {{ places: Place[], width: number, height: number }}
 */
export function place(boxes, links, gaps) {
  const { from, to } = acyclic(boxes.length, links);
  const { row, order } = rows(from, to);
  // Of its consumers one row below the first is the one that it stands above.
  const below = boxes.map((_, i) => to[i].find((k) => row[k] === row[i] - 1));
  const tree = from.map((list, i) => list.filter((k) => below[k] === i));
  const roots = below.flatMap((k, i) => (k === undefined ? [i] : []));
  const { x, width } = columns(boxes, tree, roots, order, gaps.gapX);
  const { y, height } = levels(boxes, links, row, gaps);
  return { places: boxes.map((_, i) => ({ x: x[i], y: y[row[i]], row: row[i], below: below[i] })), width, height };
}

/** Producers and consumers of each box, each link once, without those that close a cycle. @param {number} count @param {Link[]} links */
function acyclic(count, links) {
  const from = Array.from({ length: count }, () => /** @type {number[]} */ ([]));
  const seen = new Set();
  for (const l of links) {
    const key = l.from * count + l.to;
    if (l.from !== l.to && !seen.has(key)) from[l.to].push(l.from);
    seen.add(key);
  }
  const state = new Uint8Array(count); // 1: on the way down to where we are, 2: done
  const at = new Uint32Array(count);
  for (let start = 0; start < count; start++) {
    const stack = state[start] ? [] : [start];
    while (stack.length) {
      const n = stack[stack.length - 1];
      state[n] = 1;
      if (at[n] === from[n].length) {
        state[n] = 2;
        stack.pop();
      } else if (state[from[n][at[n]]] === 1) from[n].splice(at[n], 1);
      else if (state[from[n][at[n]++]] === 0) stack.push(from[n][at[n] - 1]);
    }
  }
  const to = Array.from({ length: count }, () => /** @type {number[]} */ ([]));
  from.forEach((list, n) => list.forEach((k) => to[k].push(n)));
  return { from, to };
}

/** Row of each box, 0 the result's: one above the farthest of its consumers. @param {number[][]} from @param {number[][]} to */
function rows(from, to) {
  const row = new Array(from.length).fill(0);
  const left = to.map((list) => list.length);
  const order = left.flatMap((n, i) => (n ? [] : [i]));
  for (let i = 0; i < order.length; i++)
    for (const k of from[order[i]]) {
      row[k] = Math.max(row[k], row[order[i]] + 1);
      if (--left[k] === 0) order.push(k);
    }
  return { row, order };
}

/**
 * Outline of a placed subtree: left and right edge in each of its rows, the lowest row last; true values are these plus `off`.
 * @typedef {{ left: number[], right: number[], off: number }} Outline
 */

/** @param {Size[]} boxes @param {number[][]} tree @param {number[]} roots @param {number[]} order consumers before producers @param {number} gap */
function columns(boxes, tree, roots, order, gap) {
  const x = new Array(boxes.length).fill(0); // first relative to the consumer, then absolute
  /** @type {(Outline | null)[]} */
  const outlines = new Array(boxes.length).fill(null);
  for (let i = order.length - 1; i >= 0; i--) {
    const n = order[i];
    const { outline, offsets } = side(tree[n].map((k) => /** @type {Outline} */ (outlines[k])), gap);
    tree[n].forEach((k) => (outlines[k] = null));
    const kids = tree[n];
    const middle = kids.length ? (offsets[0] + offsets[offsets.length - 1] + boxes[kids[kids.length - 1]].w) / 2 - boxes[n].w / 2 : 0;
    kids.forEach((k, j) => (x[k] = offsets[j] - middle));
    const o = outline ?? { left: [], right: [], off: 0 };
    o.off -= middle;
    // The row of a consumer is as wide as its producers, so that nothing stands where their edges and bands pass.
    const [a, b] = kids.length ? [x[kids[0]], x[kids[kids.length - 1]] + boxes[kids[kids.length - 1]].w] : [0, 0];
    o.left.push(Math.min(0, a) - o.off);
    o.right.push(Math.max(boxes[n].w, b) - o.off);
    outlines[n] = o;
  }
  const { outline, offsets } = side(roots.map((k) => /** @type {Outline} */ (outlines[k])), gap);
  roots.forEach((k, j) => (x[k] = offsets[j]));
  for (const n of order) for (const k of tree[n]) x[k] += x[n];
  let [low, high] = [0, 0];
  if (outline) {
    low = Infinity;
    high = -Infinity;
    for (const v of outline.left) low = Math.min(low, v + outline.off);
    for (const v of outline.right) high = Math.max(high, v + outline.off);
  }
  return { x: x.map((v) => v - low), width: high - low };
}

/** Subtrees side by side, as close as their outlines let them. The shallower of two is walked: all walks together are linear. @param {Outline[]} parts @param {number} gap */
function side(parts, gap) {
  /** @type {Outline | null} */
  let all = null;
  const offsets = [];
  for (const p of parts) {
    if (!all) {
      all = p;
      offsets.push(0);
      continue;
    }
    const common = Math.min(all.left.length, p.left.length);
    let shift = -Infinity;
    for (let d = 1; d <= common; d++) shift = Math.max(shift, all.right[all.right.length - d] + all.off - (p.left[p.left.length - d] + p.off) + gap);
    offsets.push(shift);
    p.off += shift;
    if (p.left.length > all.left.length) {
      for (let d = 1; d <= common; d++) p.left[p.left.length - d] = all.left[all.left.length - d] + all.off - p.off;
      all = p;
    } else for (let d = 1; d <= common; d++) all.right[all.right.length - d] = p.right[p.right.length - d] + p.off - all.off;
  }
  return { outline: all, offsets };
}

/** Where each row begins, the farthest from the result on top. @param {Size[]} boxes @param {Link[]} links @param {number[]} row @param {{ gapY: number, wideY: number }} gaps */
function levels(boxes, links, row, gaps) {
  let last = -1;
  for (const r of row) last = Math.max(last, r);
  const high = new Array(last + 1).fill(0);
  const wide = new Set(links.filter((l) => l.wide).map((l) => row[l.to]));
  row.forEach((r, i) => (high[r] = Math.max(high[r], boxes[i].h)));
  const y = new Array(last + 1).fill(0);
  let at = 0;
  for (let r = last; r >= 0; r--) {
    y[r] = at;
    at += high[r] + (r ? (wide.has(r - 1) ? gaps.wideY : gaps.gapY) : 0);
  }
  return { y, height: at };
}

/**
 * What a band round boxes of one kind covers: each box, and where the one below it is of the same kind the way there. A union of rectangles, since such a set is no
 * rectangle where something hangs beside it.
 * @param {(Size & { x: number, y: number })[]} boxes @param {Place[]} places @param {(box: number) => string | null} kind null: no band
 * @returns {Map<string, { rects: { x: number, y: number, w: number, h: number }[], x: number, y: number }>} x, y: of the topmost box
 */
export function bands(boxes, places, kind) {
  const out = new Map();
  boxes.forEach((b, i) => {
    const key = kind(i);
    if (key === null) return;
    let band = out.get(key);
    if (!band) out.set(key, (band = { rects: [], x: b.x, y: b.y }));
    band.rects.push({ x: b.x, y: b.y, w: b.w, h: b.h });
    const below = places[i].below;
    if (below !== undefined && kind(below) === key) {
      const c = boxes[below];
      band.rects.push({ x: b.x, y: b.y, w: b.w, h: c.y + c.h - b.y }, { x: Math.min(b.x, c.x), y: c.y, w: Math.abs(b.x - c.x) + b.w, h: c.h });
    }
    if (b.y < band.y || (b.y === band.y && b.x < band.x)) [band.x, band.y] = [b.x, b.y];
  });
  return out;
}

/**
 * Where edges over several rows go down: in the column of their end or of their begin, whichever has fewer boxes in the way. By edge the x of that column; others have none.
 * @param {(Size & { x: number, y: number })[]} boxes @param {Place[]} places @param {Link[]} links @returns {Map<number, number>}
 */
export function lanes(boxes, places, links) {
  /** @type {Map<number, number>} */
  const out = new Map();
  links.forEach((l, i) => {
    const [a, b] = [boxes[l.from], boxes[l.to]];
    if (places[l.from].row - places[l.to].row < 2 || out.size >= MOST_LANES) return;
    const [begin, end] = [a.x + a.w / 2, b.x + b.w / 2];
    const between = boxes.filter((c) => c.y > a.y + a.h && c.y + c.h < b.y);
    const inTheWay = (/** @type {number} */ x) => between.reduce((n, c) => n + Number(x > c.x - 8 && x < c.x + c.w + 8), 0);
    out.set(i, inTheWay(end) <= inTheWay(begin) ? end : begin);
  });
  return out;
}
/** Each looks at all boxes. */
const MOST_LANES = 300;
