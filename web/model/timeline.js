// SPDX-License-Identifier: Apache-2.0
/** A run over time: where things stand in the part that is shown, which rows there are, and ticks of its axis. */

/** @typedef {import("../types").Timeline} Timeline */
/** @typedef {{ fromMs: number, toMs: number }} Span */

/** Share 0…1 of the way through a span, cut at its ends. @param {Span} span @param {number} ms */
export const placeIn = (span, ms) => (span.toMs > span.fromMs ? Math.max(0, Math.min(1, (ms - span.fromMs) / (span.toMs - span.fromMs))) : 0);

/**
 * One row: a job, a stage of it, or stages of it that did not run. A job comes before its stages.
 * @typedef {{ kind: "job", job: import("../types").TimelineJob } | { kind: "stage", stage: import("../types").TimelineStage } | { kind: "skipped", count: number, jobId: number }} TimelineRow
 */

/** @param {Timeline} t @returns {TimelineRow[]} */
export function rowsOf(t) {
  /** @type {Map<number | null, import("../types").TimelineStage[]>} */
  const stages = new Map();
  for (const s of t.stages) stages.set(s.jobId, [...(stages.get(s.jobId) ?? []), s]);
  /** @type {TimelineRow[]} */
  const rows = [];
  for (const job of t.jobs) {
    const own = stages.get(job.jobId) ?? [];
    rows.push({ kind: "job", job });
    if (t.stages.length === 0) continue;
    rows.push(...own.map((stage) => /** @type {TimelineRow} */ ({ kind: "stage", stage })));
    if (job.skippedStages) rows.push({ kind: "skipped", count: job.skippedStages, jobId: job.jobId });
    stages.delete(job.jobId);
  }
  const orphans = [...stages.values()].flat();
  return [...rows, ...orphans.map((stage) => /** @type {TimelineRow} */ ({ kind: "stage", stage }))];
}

/** Did the run wait for it? A lag of a few ms between two stages is nobody's. @param {{ onPathMs: number | null }} x */
export const onPath = (x) => (x.onPathMs ?? 0) > 0;

/** Lengths of steps between ticks, ms. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500].concat(
  [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400].map((s) => s * 1000),
);

/** Round moments, as distances from the begin of the run, at most so many. @param {number} fromMs @param {number} toMs @param {number} most @returns {number[]} */
export function timeTicks(fromMs, toMs, most) {
  const length = toMs - fromMs;
  if (!(length > 0)) return [];
  const day = 86_400_000;
  const step = STEPS.find((s) => length / s <= most) ?? day * Math.ceil(length / day / most);
  const out = [];
  for (let t = Math.ceil(fromMs / step) * step; t <= toMs; t += step) out.push(t);
  return out;
}

/** A part that a person dragged over or zoomed to, made sound: inside the run, from before to, not shorter than a hundredth of a second. @param {number} a @param {number} b @param {number} wallMs */
export function part(a, b, wallMs) {
  const least = Math.min(10, wallMs);
  let [from, to] = a < b ? [a, b] : [b, a];
  from = Math.max(0, Math.min(from, wallMs - least));
  to = Math.min(wallMs, Math.max(to, from + least));
  return { fromMs: Math.floor(from), toMs: Math.ceil(to) };
}

/** The part after one step of zooming or moving: by a factor around its middle, or by a share of its length. @param {Span} now @param {number} wallMs @param {{ zoom?: number, move?: number }} by */
export function stepped(now, wallMs, { zoom = 1, move = 0 }) {
  const length = now.toMs - now.fromMs;
  const half = (length * zoom) / 2;
  let middle = (now.fromMs + now.toMs) / 2 + length * move;
  middle = Math.max(half, Math.min(wallMs - half, middle));
  return part(middle - half, middle + half, wallMs);
}
