// SPDX-License-Identifier: Apache-2.0
/** The picture of a stage's tasks over time: which window to ask for, where rows stand, what is under a pointer, and how full slots look. No DOM. */

/** @typedef {import("../types").TaskTimeline} TaskTimeline */

/** No zoom is closer than this. */
export const LEAST_MS = 20;

/**
 * The window to show, inside of what there is. @param {number} from @param {number} to @param {number} begin @param {number} end @returns {[number, number]}
 */
export function clamp(from, to, begin, end) {
  const whole = Math.max(end - begin, 1);
  const span = Math.max(Math.min(LEAST_MS, whole), Math.min(whole, to - from));
  const a = Math.max(begin, Math.min(end - span, from));
  return [a, a + span];
}

/** Zoomed by a factor around a moment. @param {number} from @param {number} to @param {number} at @param {number} factor below 1: closer @returns {[number, number]} */
export const zoomed = (from, to, at, factor) => [at - (at - from) * factor, at + (to - at) * factor];

/**
 * The window to ask the server for: twice as long as the next power of two of what is shown, on a grid, so that a small pan or zoom asks for nothing, and the same place is asked for with
 * the same address. null: the answer about the whole is fine enough.
 * @param {number} from @param {number} to @param {number} begin @param {number} end @returns {[number, number] | null}
 */
export function asked(from, to, begin, end) {
  const span = to - from;
  if (span * 2 > end - begin) return null;
  const width = 2 ** Math.ceil(Math.log2(Math.max(span, 1)));
  const step = Math.max(width / 2, 1);
  const start = begin + Math.floor((from - begin - width / 4) / step) * step;
  return [Math.max(0, Math.floor(start)), Math.ceil(start + 2 * width)];
}

/** @typedef {{ y: number, height: number, lane: number }} RowPlace lane: height of one; equal to height where the row is drawn as a whole */

/** Lanes of their own up to so many, thin ones up to so many more, then executors as wholes. */
const WIDE_LANES = 60,
  THIN_LANES = 200;

/** Where rows stand below one another. @param {TaskTimeline["rows"]} rows @returns {{ places: RowPlace[], height: number, lanes: boolean }} */
export function layout(rows) {
  const total = rows.reduce((n, r) => n + r.slots, 0);
  const lanes = total <= THIN_LANES && rows.every((r) => r.executorCount === 1);
  const lane = !lanes ? 0 : total <= 4 ? 26 : total <= 8 ? 20 : total <= 24 ? 13 : total <= WIDE_LANES ? 8 : 3;
  const whole = rows.length <= 24 ? 18 : rows.length <= 40 ? 13 : 10;
  const gap = lane > 6 ? 3 : 1;
  let y = 0;
  const places = rows.map((r) => {
    const height = lanes ? Math.max(1, r.slots) * lane : whole;
    const place = { y, height, lane: lanes ? lane : height };
    y += height + gap;
    return place;
  });
  return { places, height: Math.max(y - gap, 0), lanes };
}

/** The row at a height, -1: none. @param {RowPlace[]} places @param {number} y */
export const rowAt = (places, y) => places.findIndex((p) => y >= p.y && y < p.y + p.height);

/** Which of the tasks sent is there, -1: none. @param {TaskTimeline} t @param {RowPlace[]} places @param {number} atMs epoch @param {number} y @param {number} slackMs so much beside it counts */
export function taskAt(t, places, atMs, y, slackMs) {
  const row = rowAt(places, y);
  if (row < 0 || !t.tasks) return -1;
  const lane = Math.floor((y - places[row].y) / places[row].lane);
  let best = -1,
    distance = slackMs;
  for (let i = 0; i < t.tasks.taskId.length; i++) {
    if (t.tasks.row[i] !== row || t.tasks.lane[i] !== lane) continue;
    const [a, b] = span(t, i);
    const d = atMs < a ? a - atMs : atMs > b ? atMs - b : 0;
    if (d <= distance) [best, distance] = [i, d];
  }
  return best;
}

/** From when to when a task is drawn, epoch ms: from where its lane was free for it. @param {TaskTimeline} t @param {number} i @returns {[number, number]} */
export function span(t, i) {
  const tasks = /** @type {NonNullable<TaskTimeline["tasks"]>} */ (t.tasks);
  const launch = (t.beginMs ?? 0) + tasks.launchOffsetMs[i];
  return [launch + tasks.waitMs[i], tasks.durationMs[i] === null ? (t.endMs ?? launch) : launch + /** @type {number} */ (tasks.durationMs[i])];
}

/** What a cell of the density holds: shares of its slots' time by bucket. @param {TaskTimeline} t @param {number} row @param {number} atMs @returns {{ bucket: string, name: string | null, share: number }[]} */
export function cellAt(t, row, atMs) {
  const d = t.density;
  if (!d || t.fromMs === null || t.toMs === null || atMs < t.fromMs || atMs > t.toMs) return [];
  const bin = Math.min(d.bins - 1, Math.floor(((atMs - t.fromMs) / (t.toMs - t.fromMs)) * d.bins));
  return d.phases.map((p) => ({ bucket: p.bucket, name: p.name, share: p.values[row * d.bins + bin] / d.scale })).filter((p) => p.share > 0);
}

/**
 * The density as pixels, one column a bin: each row's busy share from below, phase on phase, idle left clear.
 * @param {TaskTimeline} t @param {RowPlace[]} places @param {number} height @param {(bucket: string) => [number, number, number]} colour @returns {Uint8ClampedArray<ArrayBuffer>} RGBA, bins × height
 */
export function densityPixels(t, places, height, colour) {
  const d = /** @type {NonNullable<TaskTimeline["density"]>} */ (t.density);
  const out = new Uint8ClampedArray(d.bins * height * 4);
  const inks = d.phases.map((p) => colour(p.bucket));
  places.forEach(({ y, height: h }, row) => {
    for (let bin = 0; bin < d.bins; bin++) {
      let filled = 0,
        drawn = 0;
      d.phases.forEach((p, k) => {
        filled += p.values[row * d.bins + bin];
        // What failed is never less than a pixel.
        const top = Math.min(h, Math.max(Math.round((filled / d.scale) * h), p.bucket === "lost" && p.values[row * d.bins + bin] ? drawn + 1 : 0));
        for (; drawn < top; drawn++) {
          const at = ((y + h - 1 - drawn) * d.bins + bin) * 4;
          [out[at], out[at + 1], out[at + 2]] = inks[k];
          out[at + 3] = 255;
        }
      });
    }
  });
  return out;
}
