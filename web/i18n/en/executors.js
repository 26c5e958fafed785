// SPDX-License-Identifier: Apache-2.0
/** Executors. */

export const executors = {
  "executors.note": "all that the log names, those that were lost too",
  "executors.all": "All executors",
  "executors.alive": "Alive at the end",
  "executors.removed": "Removed",
  "executors.removedAt": (/** @type {string} */ at) => `removed at ${at}`,
  "executors.stayed": "stayed",
  "executors.excluded": "Excluded",
  "executors.excludedIn": (/** @type {string} */ s) => `in stages ${s}`,
  "executors.memory": (/** @type {string} */ on, /** @type {string} */ off) => `on heap ${on}, off heap ${off}`,
  "executors.none": "No executor in this log",
  "executors.noneText": "The log names no executor: it stops before the first one was added.",
  "executors.noMatch": "No executor matches",

};
