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
  "overview.failedJobs": "Failed jobs",
  "overview.failedStages": "Failed stages",
  "overview.failedNote": (/** @type {number} */ all, /** @type {number} */ shown) => (all > shown ? `${count(shown)} of ${count(all)} shown` : ""),
  "overview.numbers": "In numbers",
  "order.title": "Read in this order",
  "order.note": "what each page answers, and what it says of this run",
  "order.nothing": "Nothing stands out.",
  "say.used": (/** @type {string} */ cpu, /** @type {string} */ idle) => `Slots computed for ${cpu} of the time and were idle, or not there, for ${idle}.`,
  "say.simulator": (/** @type {string} */ e) => `What could be saved is simulated; the same simulation of this run as it was is ${e} off.`,
  "step.title": "Do this first",
  "step.where": "Where:",
  "step.origin": "Comes from:",
  "step.why": "Why, and the evidence",
};
