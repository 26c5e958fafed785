// SPDX-License-Identifier: Apache-2.0
/**
 * What is wrong with a log, as facts: each check has an id (its texts are `check.<id>`, `check.<id>.effect`), a count where one makes sense, and a level.
 * Level 2 changes numbers on other pages; level 1 is good to know and changes none.
 */

/** @typedef {{ id: string, level: 0 | 1 | 2, count: number | null }} Check */

/** @param {import("../types").Health | null} h null while the log is being read @returns {Check[]} in the order of the page */
export function checks(h) {
  if (h === null) return [];
  /** @param {string} id @param {number | null | undefined} count @param {1 | 2} level @returns {Check} */
  const counted = (id, count, level) => ({ id, count: count ?? null, level: count ? level : 0 });
  /** @param {string} id @param {boolean | null | undefined} bad @param {1 | 2} level @returns {Check} */
  const flag = (id, bad, level) => ({ id, count: null, level: bad ? level : 0 });
  const all = [
    flag("end", !h.complete, 2),
    flag("cut", h.cut, 2),
    counted("lines", h.badLineCount, 2),
    counted("files", h.missingFiles?.length ?? 0, 2),
    flag("compacted", h.compacted, 2),
    flag("logStart", h.noLogStart, 1),
    flag("appStart", h.noApplicationStart, 2),
    flag("environment", h.noEnvironment, 1),
    counted("jobsOpen", h.jobsWithoutEnd, 2),
    counted("stagesOpen", h.stagesWithoutEnd, 2),
    counted("tasksOpen", h.tasksWithoutEnd, 2),
    counted("jobsHeadless", h.jobsWithoutStart, 2),
    counted("stagesHeadless", h.stagesWithoutStart, 2),
    counted("tasksHeadless", h.tasksWithoutStart, 2),
    counted("repeatedStart", h.repeatedApplicationStartCount, 1),
    counted("duplicates", h.duplicateEventCount, 1),
    counted("unknownEvents", h.unknownEventCount, 1),
    counted("numbers", h.outOfRangeNumberCount, 1),
    counted("clock", h.clockStepCount, 1),
    counted("text", h.repairedTextCount, 1),
  ];
  // A task that was still running when its stage or the application ended never gets an end: in a log that is otherwise whole that is no damage.
  const bad = all.filter((c) => c.level === 2);
  if (bad.length === 1 && bad[0].id === "tasksOpen") bad[0].level = 1;
  return all;
}

/**
 * How far each file of a log was read, bytes as stored. Of a file that was not read to its end the size is what the others leave of the whole log; null: two of them share that, or it is unknown.
 * @param {import("../types").LogFile[]} files @param {number | null} totalBytes of the log @returns {{ readBytes: number | null, sizeBytes: number | null }[]}
 */
export function readPositions(files, totalBytes) {
  const read = files.reduce((n, f) => n + (f.storedBytes ?? 0), 0);
  const rest = totalBytes === null ? 0 : Math.max(0, totalBytes - read);
  const stopped = files.filter((f) => f.problem !== null).length;
  return files.map((f) => {
    const whole = f.problem === null || (totalBytes !== null && !rest);
    return { readBytes: f.storedBytes, sizeBytes: f.storedBytes === null ? null : whole ? f.storedBytes : stopped === 1 && rest ? f.storedBytes + rest : null };
  });
}

/** Tasks without an end that deserve a quiet line on top of every page, and no alarm; 0: none. @param {import("../types").Health | null} h */
export const noted = (h) => checks(h).find((c) => c.id === "tasksOpen" && c.level === 1)?.count ?? 0;

/** Those that change numbers, for the bar on top of every page. @param {import("../types").Health | null} h */
export const wrong = (h) => checks(h).filter((c) => c.level === 2);
