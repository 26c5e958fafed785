// SPDX-License-Identifier: Apache-2.0
/** Progress of a streaming query as rows of a table, and which of its phases are drawn. */

/** @typedef {import("../types").StreamingQuery} StreamingQuery */
/** @typedef {{ index: number } & Record<import("../types").StreamingColumn, number | null>} Batch */

/** Colours of phases, in the order of their sums. */
export const PHASE_INKS = ["--ph-cpu", "--ph-sched", "--ph-fetch", "--ph-deser", "--ph-write", "--ph-result", "--ph-io", "--ph-gc"];

/** The whole of a trigger is no part of itself. @param {import("../types").StreamingPhase[]} phases the longest first */
export const drawnPhases = (phases) => phases.filter((p) => p.name !== "triggerExecution" && p.totalMs > 0).sort((a, b) => b.totalMs - a.totalMs);

/** The newest first. @param {StreamingQuery} run @returns {Batch[]} */
export function batches(run) {
  const names = /** @type {import("../types").StreamingColumn[]} */ (Object.keys(run.series));
  return run.series.triggerMs
    .map((_, index) => /** @type {Batch} */ ({ index, ...Object.fromEntries(names.map((name) => [name, run.series[name][index] ?? null])) }))
    .reverse();
}

/**
 * How values are spread: equal bins from the least to the greatest, as on the History Server's page. One value many times fills one bin.
 * @param {(number | null)[]} values @param {number} bins @returns {{ from: number, to: number, count: number }[]} none: no value is known
 */
export function spread(values, bins) {
  const known = values.filter((v) => v !== null && Number.isFinite(v)).map(Number);
  if (!known.length) return [];
  const low = known.reduce((a, b) => Math.min(a, b)),
    high = known.reduce((a, b) => Math.max(a, b));
  if (low === high) return [{ from: low, to: high, count: known.length }];
  const step = (high - low) / bins;
  const out = Array.from({ length: bins }, (_, i) => ({ from: low + i * step, to: low + (i + 1) * step, count: 0 }));
  for (const v of known) out[Math.min(bins - 1, Math.floor((v - low) / step))].count++;
  return out;
}
