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
