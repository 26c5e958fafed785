// SPDX-License-Identifier: Apache-2.0
/** Severity levels of the pages: 0 ring, 1 dot (a note), 2 triangle (the log), 3 diamond (moderate), 4 octagon (severe). The API grades with 0, 3, 4 or null. */

/** @typedef {0 | 1 | 2 | 3 | 4} Level */

/** The worst of some grades; unknown ones do not count. @param {(number | null | undefined)[]} grades @returns {Level} */
export function worst(...grades) {
  return /** @type {Level} */ (Math.max(0, ...grades.map((g) => g ?? 0)));
}

/** The same, but unknown where none is known. @param {(number | null | undefined)[]} grades @returns {Level | null} */
export function worstKnown(...grades) {
  return grades.some((g) => g !== null && g !== undefined) ? worst(...grades) : null;
}

/**
 * Grades of a whole run. The catalogue has them once the run was analysed; until then a mark on one of the slowest stages is a mark on the run, and no mark
 * there says nothing.
 * @param {import("../types").App} app
 */
export function runGrades(app) {
  const seen = (/** @type {(s: import("../types").StageItem) => number | null | undefined} */ get) => worst(...app.slowestStages.map(get)) || null;
  return { skew: app.skewGrade ?? seen((s) => s.skew?.grade), gc: app.gcGrade ?? seen((s) => s.gc?.grade) };
}

/** @param {import("../types").StageItem} stage */
export const stageLevel = (stage) => worst(stage.skew?.grade, stage.gc?.grade);

/** GC share of task time. @param {number | null | undefined} gcMs @param {number | null | undefined} taskMs */
export function share(gcMs, taskMs) {
  return gcMs === null || gcMs === undefined || !taskMs ? null : gcMs / taskMs;
}
