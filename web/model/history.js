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

/** @param {History["runs"]} runs */
const durations = (runs) => runs.map((r) => r.durationMs).filter((ms) => ms !== null);

/** The usual duration of the runs that a list shows. @param {History} h */
export const usual = (h) => median(durations(h.runs));

/** How much longer the last of them took than the median of those before, as a share of that; null: there are fewer than two before. @param {History} h */
export function trend(h) {
  const before = durations(h.runs.slice(0, -1));
  const last = h.runs[h.runs.length - 1]?.durationMs ?? null;
  const m = before.length < 2 ? null : median(before);
  return last === null || !m ? null : last / m - 1;
}
