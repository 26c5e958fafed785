// SPDX-License-Identifier: Apache-2.0
/** The pages, in the order of the rail. A page of an application gets `{ app, id, version }`; `rail` says which entry of the rail it belongs to. */
import { Compare } from "./views/compare.jsx";
import { Environment } from "./views/environment.jsx";
import { Executors } from "./views/executors.jsx";
import { Findings } from "./views/findings.jsx";
import { Job } from "./views/job.jsx";
import { Jobs } from "./views/jobs.jsx";
import { Log } from "./views/log.jsx";
import { Overview } from "./views/overview.jsx";
import { Query } from "./views/query.jsx";
import { Sql } from "./views/sql.jsx";
import { Stage } from "./views/stage.jsx";
import { Stages } from "./views/stages.jsx";
import { Storage } from "./views/storage.jsx";

/** @typedef {{ app: import("./types").App, id: string, version: string }} PageProps */
/**
 * @typedef {{ name: string, rail: string, section?: import("./lib/i18n.js").Key, object?: import("./lib/i18n.js").Key, View: (props: PageProps) =>
 * import("preact").ComponentChildren }} Page
 */

/** Below /a/{ref}: `name`, and with `object` `name/{id}`. `compare` is /compare?b={ref}. @type {Page[]} */
export const PAGES = [
  { name: "", rail: "overview", View: Overview },
  { name: "findings", rail: "overview", section: "findings.page", View: Findings },
  { name: "jobs", rail: "jobs", section: "nav.jobs", View: Jobs },
  { name: "jobs", rail: "jobs", section: "nav.jobs", object: "job.title", View: Job },
  { name: "stages", rail: "stages", section: "nav.stages", View: Stages },
  { name: "stages", rail: "tasks", section: "nav.stages", object: "stage.title", View: Stage },
  { name: "executors", rail: "executors", section: "nav.executors", View: Executors },
  { name: "storage", rail: "storage", section: "nav.storage", View: Storage },
  { name: "env", rail: "env", section: "nav.env", View: Environment },
  { name: "sql", rail: "sql", section: "nav.sql", View: Sql },
  { name: "sql", rail: "sql", section: "nav.sql", object: "query.title", View: Query },
  { name: "compare", rail: "compare", section: "nav.compare", View: Compare },
  { name: "log", rail: "log", section: "nav.log", View: Log },
];

/** @param {string[]} parts what follows /a/{ref} @returns {Page | null} */
export function findPage(parts) {
  if (parts.length > 2) return null;
  return PAGES.find((p) => p.name === (parts[0] ?? "") && Boolean(p.object) === (parts.length === 2)) ?? null;
}
