// SPDX-License-Identifier: Apache-2.0
/**
 * A plan as boxes: operators, or several of them folded into one (generated code, cached input, chains of operators that Spark measured nothing of); placed by
 * plan-layout.js, with a band round what ran in one stage.
 */
import { cachedInputs, flow, isShuffle, pipelineTime } from "./plan.js";
import { bands, lanes, place } from "./plan-layout.js";

/** @typedef {import("./plan.js").Operator} Operator */
/** @typedef {import("./plan.js").Plan} Plan */
/**
 * @typedef {{ key: string, kind: "one" | "code" | "chain" | "cache", all: Operator[], main: Operator, stage: string | null, ownMs: number | null, driverMs: number | null,
 *   small: boolean, tab: number | null, x: number, y: number, w: number, h: number }} Box
 *   key: "n5" an operator, "c4" a cluster, "l7" a chain, "m9" a scan of a cache, by ids; main: nearest to the result; small: one line; tab: cluster that ends here
 * @typedef {{ from: number, to: number, wide: boolean, shuffle: boolean, rows: number | null, label: boolean, lane?: number }} Edge positions of boxes
 * @typedef {{ boxes: Box[], edges: Edge[], bands: ReturnType<typeof bands>, boxOf: Map<number, number>, width: number, height: number }} Drawing
 */

/** From so many operators on chains are folded. */
export const FOLD_CHAINS_FROM = 150;
const CHAIN = 3;
export const BOX = { w: 224, h: 40, small: 22, tab: 17 };
const GAPS = { gapX: 36, gapY: 22, wideY: 50 };

/**
 * Which boxes hold several operators: by operator the key of its box.
 * @param {Plan} plan @param {{ toggled: Set<string>, code: boolean, flagged: Set<number> }} o toggled: keys that are folded though they usually are not, or the other way
 *   round; code: generated code is folded; flagged: operators that people look for, which no chain takes
 */
function fold(plan, { toggled, code, flagged }) {
  /** @type {Map<number, string>} */
  const key = new Map();
  const folded = (/** @type {string} */ k, /** @type {boolean} */ usual) => usual !== toggled.has(k);
  for (const [scan, below] of cachedInputs(plan)) if (folded(`m${scan}`, true)) for (const id of [scan, ...below]) if (!key.has(id)) key.set(id, `m${scan}`);
  for (const o of plan.operators) if (o.cluster !== null && !key.has(o.id) && folded(`c${o.cluster}`, code)) key.set(o.id, `c${o.cluster}`);
  const long = plan.operators.length > FOLD_CHAINS_FROM;
  const plain = (/** @type {Operator | undefined} */ o) =>
    o !== undefined && !key.has(o.id) && o.ownMs === null && o.driverMs === null && o.from.length === 1 && o.to.length === 1 && !flagged.has(o.id) && !isShuffle(o.name);
  for (const first of plan.operators) {
    if (!plain(first)) continue;
    const chain = [];
    for (let o = /** @type {Operator | undefined} */ (first); plain(o) && o?.stage === first.stage && o?.cluster === first.cluster && chain.length < 5000; o = plan.byId.get(o.from[0])) chain.push(o);
    const k = `l${first.id}`;
    if (chain.length >= CHAIN && folded(k, long)) for (const o of chain) key.set(o.id, k);
    else for (const o of chain) key.set(o.id, `n${o.id}`);
  }
  return key;
}

/** @param {Plan} plan @param {Parameters<typeof fold>[1]} how @returns {Drawing} */
export function draw(plan, how) {
  const key = fold(plan, how);
  /** @type {Map<string, number>} */
  const at = new Map();
  /** @type {Map<number, number>} */
  const boxOf = new Map();
  /** @type {Box[]} */
  const boxes = [];
  for (const o of plan.operators) {
    const k = key.get(o.id) ?? `n${o.id}`;
    let i = at.get(k);
    if (i === undefined) at.set(k, (i = boxes.push(box(k, o, plan)) - 1));
    else boxes[i].all.push(o);
    boxOf.set(o.id, i);
  }
  tabs(plan, boxes, boxOf);
  const edges = edgesOf(plan, boxes, boxOf);
  const { places, width, height } = place(boxes, edges, GAPS);
  places.forEach((p, i) => Object.assign(boxes[i], { x: p.x, y: p.y }));
  lanes(boxes, places, edges).forEach((x, i) => (edges[i].lane = x));
  return { boxes, edges, bands: bands(boxes, places, (i) => boxes[i].stage), boxOf, width, height };
}

const KINDS = /** @type {Record<string, Box["kind"]>} */ ({ c: "code", l: "chain", m: "cache", n: "one" });

/** @param {string} key @param {Operator} main @param {Plan} plan @returns {Box} */
function box(key, main, plan) {
  const kind = KINDS[key[0]];
  const cluster = kind === "code" ? plan.clusters.get(main.cluster ?? -1) : undefined;
  const ownMs = cluster ? pipelineTime(cluster) : kind === "one" || kind === "cache" ? main.ownMs : null;
  const driverMs = kind === "one" ? main.driverMs : null;
  const small = kind === "chain" || (kind === "one" && ownMs === null && driverMs === null);
  return { key, kind, all: [main], main, stage: main.stage, ownMs, driverMs, small, tab: null, x: 0, y: 0, w: BOX.w, h: small ? BOX.small : BOX.h };
}

/** An open cluster says what its code took below the operator with which it ends. @param {Plan} plan @param {Box[]} boxes @param {Map<number, number>} boxOf */
function tabs(plan, boxes, boxOf) {
  const seen = new Set();
  for (const o of plan.operators) {
    const b = boxes[/** @type {number} */ (boxOf.get(o.id))];
    if (o.cluster === null || seen.has(o.cluster) || b.kind === "code" || b.kind === "cache") continue;
    seen.add(o.cluster);
    b.tab = o.cluster;
    b.h += BOX.tab;
  }
}

/** @param {Plan} plan @param {Box[]} boxes @param {Map<number, number>} boxOf @returns {Edge[]} */
function edgesOf(plan, boxes, boxOf) {
  /** @type {Edge[]} */
  const out = [];
  const seen = new Set();
  for (const o of plan.operators)
    for (const id of o.to) {
      const [from, to] = [/** @type {number} */ (boxOf.get(o.id)), /** @type {number} */ (boxOf.get(id))];
      if (from === to || seen.has(`${from} ${to}`)) continue;
      seen.add(`${from} ${to}`);
      const consumer = /** @type {Operator} */ (plan.byId.get(id));
      const wide = boxes[from].stage !== boxes[to].stage;
      const label = o.rows !== null && (wide || consumer.rows !== o.rows || consumer.from.length > 1);
      out.push({ from, to, wide, shuffle: isShuffle(o.name), rows: flow(o, plan.byId), label });
    }
  return out;
}
