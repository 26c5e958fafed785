// SPDX-License-Identifier: Apache-2.0
/** Storage. */

export const storage = {
  "storage.title": "Cached data",
  "storage.note": "rows stay after unpersist; sizes as at the end of the log",
  "storage.noteNoSizes": "rows stay after unpersist; this log does not say what was really held",
  "storage.ofParts": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all}`,
  "storage.unknown": "The log does not say how many partitions were held",
  "storage.released": "yes",
  "storage.kept": "no",
  "storage.none": "Nothing was cached",
  "storage.noneText": "No stage of this application used persist() or cache().",
  "storage.switchOn": "To see sizes and partitions held, run the application with",
};
