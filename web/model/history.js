// SPDX-License-Identifier: Apache-2.0
/** The runs of one job: what is usual among them, and which way they go. */

/** @typedef {import("../types").History} History */

/** @param {number[]} values @returns {number | null} */
export function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** One that failed, or whose log has no end, would have taken longer: it says nothing of the others. @param {History["runs"]} runs */
const durations = (runs) => runs.flatMap((r) => (r.durationMs === null || r.outcome === "failed" || r.outcome === "unknown" ? [] : [r.durationMs]));

/** The usual duration of the runs that a list shows. @param {History} h */
export const usual = (h) => median(durations(h.runs));

/** How much longer the last of them took than the median of those before, as a share of that; null: it failed or has no end, or there are fewer than two before. @param {History} h */
export function trend(h) {
  const before = durations(h.runs.slice(0, -1));
  const [last] = durations(h.runs.slice(-1));
  const m = before.length < 2 ? null : median(before);
  return last === undefined || !m ? null : last / m - 1;
}

/** A run is told to be slower where that is beyond what runs differ by anyway, as rule RUN.REGRESSION has it (spec/findings.md 7.10, 9.3): so much, so large a share, so many sigma, of so many before. */
const SLOWER = { ms: 2000, share: 0.02, sigmas: 3, runs: 3 };
/** Sigma of a normal spread, of the median distance from the median. */
const SIGMA = 1.4826;

/** By how much of the median of the runs before it a run took longer, where that is worth saying; else null. @param {History} h @param {string | null} key of the run */
export function slower(h, key) {
  const at = h.runs.findIndex((r) => r.key === key);
  const before = durations(h.runs.slice(0, Math.max(0, at)));
  const [ms] = durations(h.runs.slice(at, at + 1));
  const m = before.length < SLOWER.runs ? null : median(before);
  if (at < 0 || ms === undefined || !m) return null;
  const spread = SIGMA * (median(before.map((x) => Math.abs(x - m))) ?? 0);
  return ms - m > Math.max(SLOWER.ms, SLOWER.share * m, SLOWER.sigmas * spread) ? ms / m - 1 : null;
}

// -- the small bars of a list, pixels

export const BARS_HEIGHT = 16;
const BAR = 4,
  STEP = BAR + 1;

/** @param {number} n bars */
export const barsWidth = (n) => n * STEP - 1;

/** The bar at a distance from the left. @param {number} n bars @param {number} x */
export const barAt = (n, x) => Math.max(0, Math.min(n - 1, Math.floor(x / STEP)));

/** Outlines of the bars, those that look alike in one: a list has a thousand of them. @param {History["runs"]} runs @param {string | null} key of the run whose row it is @param {number | null} over the bar under the pointer @returns {{ kind: string, d: string }[]} */
export function bars(runs, key, over) {
  const max = Math.max(1, ...runs.map((r) => r.durationMs ?? 0));
  /** @type {Map<string, string>} */
  const outlines = new Map();
  runs.forEach((r, i) => {
    const height = Math.max(1, Math.round(((r.durationMs ?? 0) / max) * BARS_HEIGHT * 10) / 10);
    const kind = ((r.key === key ? "is-this " : "") + (r.outcome === "failed" ? "is-bad " : "") + (i === over ? "is-over" : "")).trimEnd();
    outlines.set(kind, `${outlines.get(kind) ?? ""}M${i * STEP} ${BARS_HEIGHT}v${-height}h${BAR}v${height}z`);
  });
  return [...outlines].map(([kind, d]) => ({ kind, d }));
}
