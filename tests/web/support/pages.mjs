// SPDX-License-Identifier: Apache-2.0
/** The pages of whatever runs a server has, for the tests of all pages and for tools/screens. */
import assert from "node:assert/strict";
import { api } from "./browser.mjs";
import { DSTREAMS, LOSSES, STORED, STREAMING, THRIFT } from "./log.mjs";
import { QUERIES } from "./sql-log.mjs";

/** @returns {Promise<[name: string, path: string][]>} */
export async function listPages() {
  /** @type {[name: string, path: string][]} */
  const pages = [
    ["applications", ""],
    ["failed runs", "?outcome=failed&sort=-tasks"],
    ["nothing matches", "?q=no-such-run-anywhere"],
    ["jobs", "?group=job&sort=-saving"],
    ["server status", "status"],
    ["filters in force", "?grade=1&rule=CONF.FAR&minDurationMs=60000&from=1000000000000&data=incomplete&user=alice"],
  ];
  const list = await api("apps?limit=1000");
  const apps = list.items
    .filter((/** @type {any} */ a) => a.ref && a.loaded)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => (b.taskCount ?? 0) - (a.taskCount ?? 0));
  const biggest = apps[0],
    failed = apps.find((/** @type {any} */ a) => a.outcome === "failed"),
    open = apps.find((/** @type {any} */ a) => a.complete === false),
    skewed = apps.find((/** @type {any} */ a) => a.skewGrade > 0);
  assert.ok(biggest, "the server under test holds at least one loaded run");
  for (const [kind, app] of Object.entries({ biggest, failed, open, skewed })) {
    if (!app || (kind !== "biggest" && app.ref === biggest.ref)) continue;
    const at = `a/${encodeURIComponent(app.ref)}`;
    const all = await api(`apps/${encodeURIComponent(app.ref)}/stages?limit=2&sort=-duration`),
      jobs = await api(`apps/${encodeURIComponent(app.ref)}/jobs?limit=1`);
    const s = all.items[0];
    const { findings } = await api(`apps/${encodeURIComponent(app.ref)}/findings?limit=1`);
    pages.push([`${kind}: overview`, at], [`${kind}: stages`, `${at}/stages`], [`${kind}: findings`, `${at}/findings?checked=1`]);
    if (findings?.[0]) {
      const { rule, subject } = findings[0];
      pages.push([`${kind}: overview, opened`, `${at}?block=cpu&executors=3&finding=${encodeURIComponent(`${rule}:${subject.kind}:${subject.key}`)}`]);
    }
    if (s) pages.push([`${kind}: stage`, `${at}/stages/${s.stageId}.${s.attempt}`]);
    if (kind === "biggest" || kind === "failed") {
      if (jobs.items[0]) pages.push([`${kind}: job`, `${at}/jobs/${jobs.items[0].jobId}`]);
      pages.push(
        [`${kind}: jobs`, `${at}/jobs`],
        [`${kind}: executors`, `${at}/executors`],
        [`${kind}: environment`, `${at}/env`],
        [`${kind}: environment, all of Hadoop`, `${at}/env?section=hadoop`],
        [`${kind}: storage`, `${at}/storage`],
        [`${kind}: SQL`, `${at}/sql`],
        [`${kind}: no such page`, `${at}/nothing`],
      );
    }
    pages.push([`${kind}: event log`, `${at}/log`]);
    if (s && kind === "biggest") {
      const tasks = await api(`apps/${encodeURIComponent(app.ref)}/stages/${s.stageId}.${s.attempt}/tasks?limit=1`);
      if (tasks.items[0]) {
        const { taskId, launchMs, executorId } = tasks.items[0];
        const stage = `${at}/stages/${s.stageId}.${s.attempt}`;
        pages.push(
          ["one task", `${stage}?task=${taskId}`],
          ["one executor, a part of the time, what it cost", `${stage}?exec=${executorId}&from=${launchMs}&to=${launchMs + 1000}&account=cost&finding=-`],
          ["no such task", `${stage}?task=999999999`],
        );
      }
    }
  }
  if (apps.some((/** @type {any} */ a) => a.ref === LOSSES)) {
    const runs = (await api(`apps/${STREAMING}/streaming`)).items,
      [session] = (await api(`apps/${THRIFT}/sessions`)).items,
      statements = (await api(`apps/${THRIFT}/operations`)).items;
    pages.push(
      ["lost executors", `a/${LOSSES}/executors`],
      ["one executor", `a/${LOSSES}/executors?exec=1`],
      ["processes", `a/${LOSSES}/processes`],
      ["no process", `a/${STORED}/processes`],
      ["cached RDDs", `a/${STORED}/storage`],
      ["one RDD", `a/${STORED}/storage/7`],
      ["a released RDD", `a/${STORED}/storage/8`],
      ["every setting", `a/${LOSSES}/env?noise=1&section=all`],
      ["streaming queries", `a/${STREAMING}/streaming`],
      ...runs.map((/** @type {any} */ r) => /** @type {[string, string]} */ ([`streaming query ${r.name}`, `a/${STREAMING}/streaming/${r.runId}`])),
      ["no streaming query", `a/${STORED}/streaming`],
      ["DStreams", `a/${DSTREAMS}/dstreams`],
      ["no DStreams", `a/${STORED}/dstreams`],
      ["sessions", `a/${THRIFT}/sessions`],
      ["one session", `a/${THRIFT}/sessions/${session.sessionId}`],
      ["no session", `a/${STORED}/sessions`],
      ...statements.slice(0, 2).map((/** @type {any} */ o) => /** @type {[string, string]} */ ([`statement ${o.id}`, `a/${THRIFT}/operations/${o.id}`])),
    );
  }
  else pages.push(...(await pagesOfOthers(apps)));
  // The run that support/sql-log.mjs wrote, where the server has it.
  const queries = apps.find((/** @type {any} */ a) => a.appId === QUERIES);
  if (queries)
    for (const path of ["sql", "sql/0?node=5", "sql/0?version=diff&fold=code", "sql/1", "sql/2?view=20", "jobs/0"]) pages.push([`queries: ${path}`, `a/${encodeURIComponent(queries.ref)}/${path}`]);
  const usual = apps.find((/** @type {any} */ a) => /^nightly/.test(a.name ?? "") && a.startMs > 1767139200000 + 30 * 60_000) ?? biggest;
  const b = encodeURIComponent(usual.ref);
  pages.push(
    ["compare with what is usual", `compare?b=${b}`],
    ["compare with a chosen run", `compare?b=${b}&a=${encodeURIComponent(biggest.ref)}&choose=1&of=queries`],
    ["compare, too few runs", `compare?b=${encodeURIComponent(biggest.ref)}`],
  );
  if (open) pages.push(["compare with an incomplete log", `compare?b=${encodeURIComponent(open.ref)}&a=${encodeURIComponent(biggest.ref)}`]);
  return pages;
}

/** One page of each further kind from runs that log.mjs did not write: of the first run that has the thing. @param {any[]} apps @returns {Promise<[name: string, path: string][]>} */
async function pagesOfOthers(apps) {
  /** @type {[name: string, path: string][]} */
  const pages = [];
  const kinds = /** @type {const} */ ([
    ["streaming", "streaming", "runId"],
    ["sessions", "sessions", "sessionId"],
    ["operations", "operations", "id"],
    ["dstreams", "dstreams", null],
    ["storage", "storage", "id"],
    ["sql", "sql", "id"],
    ["processes", "processes", null],
  ]);
  for (const [name, path, key] of kinds)
    for (const app of apps) {
      const at = encodeURIComponent(app.ref),
        answer = await api(`apps/${at}/${path}`),
        [first] = answer.items ?? answer.rdds ?? [];
      if (!first) continue;
      if (name !== "operations") pages.push([`${name} of another run`, `a/${at}/${path}`]);
      if (key) pages.push([`one of ${name}`, `a/${at}/${path}/${encodeURIComponent(first[key])}`]);
      break;
    }
  return pages;
}
