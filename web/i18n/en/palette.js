// SPDX-License-Identifier: Apache-2.0
/** The search over everything. */
import { some } from "./some.js";

export const palette = {
  "palette.title": "Search everything",
  "palette.ask": "A page, finding, stage, job, query, executor, setting, or another run",
  "palette.askRuns": "A run by name, id, user or rule",
  "palette.sql": (/** @type {string} */ id) => `Query ${id}`,
  "palette.exec": (/** @type {string} */ id) => `Executor ${id}`,
  "palette.none": "Nothing matches",
  "palette.count": (/** @type {number} */ n) => some(n, "match", "matches"),
  "palette.move": "move",
  "palette.open": "open",
  "palette.of.recent": "Opened last",
  "palette.of.page": "Pages",
  "palette.of.finding": "Findings",
  "palette.of.stage": "Stages",
  "palette.of.job": "Jobs",
  "palette.of.sql": "Queries",
  "palette.of.exec": "Executors",
  "palette.of.conf": "Settings",
  "palette.of.run": "Runs",
  "keys.filter": "filter the table",
};
