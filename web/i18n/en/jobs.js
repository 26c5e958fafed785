// SPDX-License-Identifier: Apache-2.0
/** Jobs and one job. */
import { count } from "../../lib/format.js";
import { some } from "./some.js";

export const jobs = {
  "job.title": (/** @type {string | number} */ id) => `Job ${id}`,
  "job.group": (/** @type {string} */ g) => `group ${g}`,
  "job.tags": (/** @type {string} */ g) => `tags ${g}`,
  "job.query": (/** @type {number} */ id) => `Query ${id}`,
  "job.noEnd": "The log holds no end of this job, so its duration is unknown.",
  "job.stagesNote": "slowest first; skipped ones last, their output was still there",
  "job.properties": "Properties",
  "job.propertiesNote": "where they differ from the environment",
  "job.propertiesShow": (/** @type {number} */ n) => `Show ${some(n, "property", "properties")}`,
  "jobs.scheduling": "Jobs take turns by",
  "jobs.schedulingUsual": "Spark’s default",
  "jobs.note": "one per action, slowest first unless sorted",
  "jobs.search": "Description or call site",
  "jobs.noMatch": "No job matches",
  "jobs.none": "No job ran",
  "jobs.noneText": "The log has an application start but no job start: a session that only defined data frames, or that ended before its first action.",
  "jobs.failedStages": (/** @type {number} */ n) => `${count(n)} failed`,
  "jobs.stages": (/** @type {number} */ ran, /** @type {number} */ skipped) => (skipped ? `${count(ran)} + ${count(skipped)} skipped` : count(ran)),

};
