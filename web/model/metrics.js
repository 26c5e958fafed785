// SPDX-License-Identifier: Apache-2.0
/** Metrics of tasks in the order in which a person reads them: where the time went, how much data came in and went out, memory, shuffle in detail. */

/** Those that are not named here follow in the server's order. */
const ORDER = [
  "durationMs",
  "executorRunTimeMs",
  "executorCpuTimeNs",
  "jvmGcTimeMs",
  "schedulerDelayMs",
  "executorDeserializeTimeMs",
  "executorDeserializeCpuTimeNs",
  "resultSerializationTimeMs",
  "gettingResultTimeMs",
  "inputBytes",
  "inputRecords",
  "shuffleReadBytes",
  "shuffleRecordsRead",
  "shuffleWriteBytes",
  "shuffleWriteRecords",
  "outputBytes",
  "outputRecords",
  "resultSizeBytes",
  "memorySpilledBytes",
  "diskSpilledBytes",
  "peakExecutionMemoryBytes",
  "peakExecutionMemoryOnHeapBytes",
  "peakExecutionMemoryOffHeapBytes",
  "shuffleFetchWaitTimeMs",
  "shuffleWriteTimeNs",
  "shuffleRemoteReadBytes",
  "shuffleLocalReadBytes",
  "shuffleRemoteReadToDiskBytes",
  "shuffleBlocksFetched",
  "shuffleRemoteBlocksFetched",
  "shuffleLocalBlocksFetched",
  "shuffleRemoteRequestsDurationMs",
];

/** @param {string} name @returns {"ms" | "ns" | "bytes" | "count"} */
export function unitOf(name) {
  return name.endsWith("Ns") ? "ns" : name.endsWith("Ms") ? "ms" : name.endsWith("Bytes") ? "bytes" : "count";
}

const RANK = new Map(ORDER.map((n, i) => [n, i]));

/** @template {{ name: string }} T @param {T[]} list @returns {T[]} */
export function inReadingOrder(list) {
  return [...list].sort((a, b) => (RANK.get(a.name) ?? 1000) - (RANK.get(b.name) ?? 1000));
}

/** Quantiles that say something: a metric that is 0 for every task is left out. @param {import("../types").Quantile[]} quantiles */
export const telling = (quantiles) => inReadingOrder(quantiles.filter((q) => q.max !== 0 || q.min !== 0));

/** Every number that a task row has, besides its identity. @param {import("../types").TaskItem} task @returns {{ name: string, value: number }[]} */
export function metricsOf(task) {
  const identity = new Set(["taskId", "index", "attempt", "partitionId", "launchMs", "finishMs", "gettingResultMs"]);
  /** @type {{ name: string, value: number }[]} */
  const out = [];
  for (const [name, value] of Object.entries(task)) if (typeof value === "number" && !identity.has(name)) out.push({ name, value });
  return inReadingOrder(out);
}
