// SPDX-License-Identifier: Apache-2.0
/** Executors: how busy their slots were, and peaks of memory (core.md 1.8) in the order in which a person reads them, and which of their zeros are none. */
import { sum } from "./time-axis.js";

/** @typedef {Record<string, number | null> | null} Peaks */

/**
 * Share of the slots' time that tasks filled. A task ends a little later in the driver's books than on its slot: all of the time is the most. null: no slots are known, or not those where most of it ran.
 * @param {number[]} busyMs of each bin @param {number[]} aliveMs of each bin @returns {number | null}
 */
export function busyShare(busyMs, aliveMs) {
  const [busy, alive] = [sum(busyMs), sum(aliveMs)];
  const nowhere = sum(busyMs.filter((_, i) => !aliveMs[i]));
  return alive && nowhere <= busy / 2 ? Math.min(1, busy / alive) : null;
}

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

/** A bound so many times higher than the most that was there would press the curve flat: it is named and not drawn. */
const TALLEST = 2;

/**
 * Lines across the slots over time: how many executors the settings asked for, in slots. `slots` is null where a line has no place: nobody knows the slots of one, or it lies too high above what was there.
 * @param {import("../types").ExecutorBounds} bounds @param {number} peak most slots that were there
 * @returns {{ top: number, lines: { name: "least" | "start" | "asked" | "most", executors: number, slots: number | null }[] }} top: slots at the upper edge of the chart
 */
export function boundLines(bounds, peak) {
  const { leastExecutors, startExecutors, mostExecutors, slotsEach } = bounds;
  const named = /** @type {const} */ ([
    ["least", leastExecutors],
    [bounds.dynamic ? "start" : "asked", startExecutors],
    ["most", mostExecutors],
  ]);
  const lines = named.flatMap(([name, executors]) => {
    if (executors === null) return [];
    const slots = slotsEach === null ? null : executors * slotsEach;
    return [{ name, executors, slots: slots !== null && slots <= TALLEST * peak ? slots : null }];
  });
  return { top: Math.max(peak, ...lines.map((line) => line.slots ?? 0)), lines };
}
