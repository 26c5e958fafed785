// SPDX-License-Identifier: Apache-2.0
/** Severity levels of the pages: 0 ring, 2 triangle (the log), 3 diamond (moderate), 4 octagon (severe). The API grades with 0, 3, 4 or null. */

/** @typedef {0 | 2 | 3 | 4} Level */

/** The worst of some grades; unknown ones do not count. @param {(number | null | undefined)[]} grades @returns {Level} */
export function worst(...grades) {
  return /** @type {Level} */ (Math.max(0, ...grades.map((g) => g ?? 0)));
}

/** @param {import("../types").StageItem} stage */
export const stageLevel = (stage) => worst(stage.skew?.grade, stage.gc?.grade);

/** GC share of task time. @param {number | null | undefined} gcMs @param {number | null | undefined} taskMs */
export function share(gcMs, taskMs) {
  return gcMs === null || gcMs === undefined || !taskMs ? null : gcMs / taskMs;
}
