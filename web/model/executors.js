// SPDX-License-Identifier: Apache-2.0
/** Peaks of memory of an executor (core.md 1.8): in the order in which a person reads them, and which of their zeros are none. */

/** @typedef {Record<string, number | null> | null} Peaks */

export const PEAKS = [
  "jvmHeapMemoryBytes",
  "jvmOffHeapMemoryBytes",
  "onHeapExecutionMemoryBytes",
  "offHeapExecutionMemoryBytes",
  "onHeapStorageMemoryBytes",
  "offHeapStorageMemoryBytes",
  "onHeapUnifiedMemoryBytes",
  "offHeapUnifiedMemoryBytes",
  "directPoolMemoryBytes",
  "mappedPoolMemoryBytes",
  "processTreeJvmVMemoryBytes",
  "processTreeJvmRssMemoryBytes",
  "processTreePythonVMemoryBytes",
  "processTreePythonRssMemoryBytes",
  "processTreeOtherVMemoryBytes",
  "processTreeOtherRssMemoryBytes",
  "minorGcCount",
  "minorGcTimeMs",
  "majorGcCount",
  "majorGcTimeMs",
  "totalGcTimeMs",
  "concurrentGcCount",
  "concurrentGcTimeMs",
];

/** Spark logs 0 for what it did not measure: a JVM is never empty, and a process tree is looked at where a setting says so. @param {Peaks} peaks @param {string} name */
export function measured(peaks, name) {
  const value = peaks?.[name] ?? null;
  const neverZero = name.startsWith("jvm") || (name.startsWith("processTree") && !peaks?.processTreeJvmRssMemoryBytes);
  return value === 0 && neverZero ? null : value;
}

/** Memory of the whole process tree: the JVM, Python, all others. @param {Peaks} peaks */
export function processRss(peaks) {
  if (!peaks?.processTreeJvmRssMemoryBytes) return null;
  return ["Jvm", "Python", "Other"].reduce((n, part) => n + (peaks[`processTree${part}RssMemoryBytes`] ?? 0), 0);
}

/**
 * What a peak is held against, as far as the log says.
 * @param {import("../types").ExecutorItem} x @param {string} name @returns {number | null}
 */
export function limitOf(x, name) {
  if (name === "jvmHeapMemoryBytes") return x.heapLimitBytes;
  if (/^onHeap(Execution|Storage|Unified)/.test(name)) return x.maxOnHeapMemoryBytes || x.maxMemoryBytes;
  if (/^offHeap(Execution|Storage|Unified)/.test(name)) return x.maxOffHeapMemoryBytes || null;
  return /Rss/.test(name) ? x.containerLimitBytes : null;
}
