// SPDX-License-Identifier: Apache-2.0
/** The list of applications. */
import { count } from "../../lib/format.js";
import { some } from "./some.js";

export const apps = {
  "apps.title": "Applications",
  "apps.stored": (/** @type {number} */ n) => `${some(n, "log")} known`,
  "apps.underway": (/** @type {number} */ l, /** @type {number} */ w) => `${count(l)} being read, ${count(w)} waiting`,
  "apps.unreadable": (/** @type {number} */ n) => `${count(n)} could not be read`,
  "apps.search": "Name, id or user",
  "apps.anyOutcome": "Any outcome",
  "apps.end": "End",
  "apps.anyEnd": "Ended or not",
  "apps.ended": "Ended",
  "apps.notEnded": "No end read",
  "apps.anyState": "Any state",
  "apps.marks": "Skew and GC",
  "apps.anyMark": "Any skew or GC",
  "apps.moderate": "Moderate and severe",
  "apps.severe": "Severe only",
  "apps.atLeast": "Duration",
  "apps.anyDuration": "Any duration",
  "apps.longer": (/** @type {string} */ d) => `≥ ${d}`,
  "apps.shown": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all}`,
  "apps.none": "No application matches",
  "apps.noneText": (/** @type {number} */ n) => `${some(n, "log is", "logs are")} known; none passes these filters.`,
  "apps.noReason": "no reason was recorded",
  "apps.waiting": (/** @type {string} */ b) => `waits to be read, ${b}`,
  "apps.atLeastSo": "At least: the log has no end",
  "first.title": "No log has been read yet",
  "first.notScanned": (/** @type {string} */ p) => `${p} has not been scanned yet.`,
  "first.scanned": (/** @type {string} */ p, /** @type {string} */ ago, /** @type {number} */ n) =>
    `${p} was scanned ${ago} ago and holds ${some(n, "entry", "entries")}.`,
  "first.noPlace": "No directory is watched: start the server with --logs DIRECTORY.",
  "first.logs": (/** @type {number} */ w, /** @type {number} */ l, /** @type {number} */ f, /** @type {number} */ s) =>
    `${count(w)} waiting, ${count(l)} being read, ${count(f)} not readable, ${count(s)} not logs.`,
  "first.noIngest": "The process that reads logs is not running.",

};
