// SPDX-License-Identifier: Apache-2.0
/** Overview of an application. */
import { count } from "../../lib/format.js";
import { some } from "./some.js";

export const overview = {
  "overview.slowest": "Slowest stages",
  "overview.slowestNote": "by duration",
  "overview.allStages": (/** @type {number | null} */ n) => (n === null ? "All stages" : `All ${some(n, "stage")}`),
  "overview.noStage": "No stage ran",
  "overview.noStageText": "Every stage was skipped, or the log stops before the first one.",
  "overview.others": "The same application:",
  "overview.othersAll": "and more",
  "overview.other": (/** @type {string} */ n) => `attempt ${n}`,
  "overview.slowestOpen": "by duration; running ones by what they took so far",
  "overview.marked": "Other stages with skew or GC pressure",
  "overview.markedNote": "slowest first",
  "overview.allMarked": "All marked stages",
  "overview.failedJobs": "Failed jobs",
  "overview.failedStages": "Failed stages",
  "overview.failedNote": (/** @type {number} */ all, /** @type {number} */ shown) => (all > shown ? `${count(shown)} of ${count(all)} shown` : ""),

};
