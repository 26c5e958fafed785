// SPDX-License-Identifier: Apache-2.0
/** Environment. */
import { some } from "./some.js";

export const environment = {
  "env.search": "Key or value",
  "env.sections": "Sections",
  "env.main": "Main",
  "env.everywhere": "Everywhere",
  "env.shown": (/** @type {string} */ n, /** @type {string} */ all) => `${n} of ${all} entries`,
  "env.entries": (/** @type {number} */ n) => some(n, "entry", "entries"),
  "env.none": "No environment in this log",
  "env.noneText": "The log has no record of the environment. Compacted logs and cut ones may lack it.",
  "env.noMatch": "Nothing matches",
  "env.noMatchText": (/** @type {string} */ n) => `${n} entries are in the log.`,
  "env.profile": (/** @type {number} */ id) => `Resource profile ${id}`,
  "env.profileNote": "what each executor and task asks for",
  "env.section.spark": "Spark properties",
  "env.section.jvm": "Runtime",
  "env.section.system": "System properties",
  "env.section.hadoop": "Hadoop properties",
  "env.section.metrics": "Metrics properties",
  "env.section.classpath": "Class path",

};
