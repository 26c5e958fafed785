// SPDX-License-Identifier: Apache-2.0
/** The pages, in the order of the rail. A page of an application gets `{ app, id, version }`; `rail` says which entry of the rail it belongs to. */
import { lazy } from "./components/lazy.jsx";

/** @typedef {{ app: import("./types").App, id: string, version: string }} PageProps */
/**
 * @typedef {{ name: string, rail: string, section?: import("./lib/i18n.js").Key, object?: import("./lib/i18n.js").Key, View: (props: PageProps) =>
 * import("preact").ComponentChildren }} Page
 */

/** Below /a/{ref}: `name`, and with `object` `name/{id}`. `compare` is /compare?b={ref}. @type {Page[]} */
export const PAGES = [
  { name: "", rail: "overview", View: lazy(async () => (await import("./views/overview.jsx")).Overview) },
  { name: "findings", rail: "overview", section: "findings.page", View: lazy(async () => (await import("./views/findings.jsx")).Findings) },
  { name: "jobs", rail: "jobs", section: "nav.jobs", View: lazy(async () => (await import("./views/jobs.jsx")).Jobs) },
  { name: "jobs", rail: "jobs", section: "nav.jobs", object: "job.title", View: lazy(async () => (await import("./views/job.jsx")).Job) },
  { name: "stages", rail: "stages", section: "nav.stages", View: lazy(async () => (await import("./views/stages.jsx")).Stages) },
  { name: "stages", rail: "tasks", section: "nav.stages", object: "stage.title", View: lazy(async () => (await import("./views/stage.jsx")).Stage) },
  { name: "executors", rail: "executors", section: "nav.executors", View: lazy(async () => (await import("./views/executors.jsx")).Executors) },
  { name: "storage", rail: "storage", section: "nav.storage", View: lazy(async () => (await import("./views/storage.jsx")).Storage) },
  { name: "storage", rail: "storage", section: "nav.storage", object: "rdd.title", View: lazy(async () => (await import("./views/rdd.jsx")).Rdd) },
  { name: "processes", rail: "processes", section: "processes.title", View: lazy(async () => (await import("./views/processes.jsx")).Processes) },
  { name: "env", rail: "env", section: "nav.env", View: lazy(async () => (await import("./views/environment.jsx")).Environment) },
  { name: "sql", rail: "sql", section: "nav.sql", View: lazy(async () => (await import("./views/sql.jsx")).Sql) },
  { name: "sql", rail: "sql", section: "nav.sql", object: "query.title", View: lazy(async () => (await import("./views/query.jsx")).Query) },
  { name: "streaming", rail: "streaming", section: "nav.streaming", View: lazy(async () => (await import("./views/streaming.jsx")).Streaming) },
  { name: "streaming", rail: "streaming", section: "nav.streaming", object: "streaming.run", View: lazy(async () => (await import("./views/streaming-query.jsx")).StreamingQuery) },
  { name: "dstreams", rail: "dstreams", section: "nav.dstreams", View: lazy(async () => (await import("./views/dstreams.jsx")).Dstreams) },
  { name: "sessions", rail: "sessions", section: "nav.sessions", View: lazy(async () => (await import("./views/sessions.jsx")).Sessions) },
  { name: "sessions", rail: "sessions", section: "nav.sessions", object: "session.title", View: lazy(async () => (await import("./views/sessions.jsx")).Session) },
  { name: "operations", rail: "sessions", section: "nav.sessions", object: "operation.title", View: lazy(async () => (await import("./views/operations.jsx")).Operation) },
  { name: "compare", rail: "compare", section: "nav.compare", View: lazy(async () => (await import("./views/compare.jsx")).Compare) },
  { name: "log", rail: "log", section: "nav.log", View: lazy(async () => (await import("./views/log.jsx")).Log) },
];

/** @param {string[]} parts what follows /a/{ref} @returns {Page | null} */
export function findPage(parts) {
  if (parts.length > 2) return null;
  return PAGES.find((p) => p.name === (parts[0] ?? "") && Boolean(p.object) === (parts.length === 2)) ?? null;
}
