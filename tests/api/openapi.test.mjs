// SPDX-License-Identifier: Apache-2.0
// server/openapi.yaml, the route tables in the sources, server/README.md and the real answers say the same.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { dstreamLog } from "./support/streaming_log.mjs";
import { LOGS, makeFolder, makeStore, ROOT, startServer } from "./support/server.mjs";
import { parseYaml } from "./support/yaml.mjs";

const source = (path) => readFileSync(join(ROOT, path), "utf8");
const spec = parseYaml(source("server/openapi.yaml"));

/** Patterns of a route table, with {x} for {x:d}. */
function ownRoutes() {
  return [...source("server/api/routes.c").matchAll(/\{V "([^"]+)"/g)].map((found) => found[1].replace(/:d\}/g, "}"));
}

const resolveRef = (schema) =>
  schema.$ref
    ? resolveRef(
        schema.$ref
          .slice(2)
          .split("/")
          .reduce((at, key) => at[key], spec),
      )
    : schema;

/** Complaints about a value, by the few keywords the document uses. Keys that the document lacks are complaints too: it is complete. */
function complaints(value, schema, at = "") {
  schema = resolveRef(schema);
  if (schema.anyOf) return schema.anyOf.some((each) => complaints(value, each, at).length === 0) ? [] : schema.anyOf.flatMap((each) => complaints(value, each, at));
  const actual = value === null ? "null" : Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
  const allowed = [schema.type].flat();
  if (!allowed.includes(actual) && !(actual === "integer" && allowed.includes("number"))) return [`${at}: ${actual}, not ${allowed.join(" or ")}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${at}: ${JSON.stringify(value)} is none of ${schema.enum.join(" ")}`];
  if (actual === "array") return value.flatMap((each, i) => complaints(each, schema.items, `${at}[${i}]`));
  if (actual !== "object") return [];
  const known = schema.properties;
  return [
    ...(schema.required ?? []).filter((key) => !(key in value)).map((key) => `${at}.${key} is missing`),
    ...Object.keys(value).flatMap((key) => (known[key] ? complaints(value[key], known[key], `${at}.${key}`) : [`${at}.${key} is not in the document`])),
  ];
}

const answerOf = (path) => spec.paths[path].get.responses["200"].content["application/json"].schema;

/** The one address that takes a body; it is no route (server/uploads.h). */
const UPLOADS = "/uploads";

test("every route of our API is in the document, and nothing else is", () => {
  assert.deepEqual(Object.keys(spec.paths).sort(), [...ownRoutes(), UPLOADS].sort());
});

test("every route of both APIs is in the README, and no other", () => {
  const readme = source("server/README.md");
  const inReadme = [...readme.matchAll(/^\| `(\/[^`]*)` \|/gm)].map((found) => found[1]);
  const own = ownRoutes().map((path) => `/api/afterglow/v1${path}`);
  assert.deepEqual(inReadme.filter((path) => path.startsWith("/api/afterglow/")).sort(), own.sort());
  const table = source("server/api_v1/routes.c");
  const spark = [...table.matchAll(/(RESOURCE\(|\{ROOT |\{APP|\{ATTEMPT)\s*"?([^",]*)"?, (?:"[^"]*", )?(v1_\w+)/g)].map(
    ([, kind, path]) =>
      ({ "RESOURCE(": "/api/v1/applications/{app}[/{attempt}]", "{ROOT ": "/api/v1", "{APP": "/api/v1/applications/{app}", "{ATTEMPT": "/api/v1/applications/{app}/{attempt}" })[
        kind
      ] + path.replace(/:d\}/g, "}"),
  );
  assert.ok(spark.length > 15);
  assert.deepEqual(inReadme.filter((path) => path.startsWith("/api/v1/")).sort(), spark.sort());
});

test("every parameter that a handler reads is in the document", () => {
  const documented = new Set(Object.values(spec.paths).flatMap(({ get, post }) => ((get ?? post).parameters ?? []).map((each) => resolveRef(each).name)));
  for (const file of ["apps", "search", "jobs", "stages", "tasks", "task_timeline", "task_scatter", "executors", "executor_timeline", "hosts", "processes", "storage", "environment", "sql", "rdd_graph", "streaming", "sessions", "dstreams", "list", "findings", "account", "what_ifs", "why", "compare", "compare_pairs"])
    for (const [, name] of source(`server/api/${file}.c`).matchAll(/(?:request_param|request_param_i64|param_word)\(request, "(\w+)"/g))
      assert.ok(documented.has(name), `${name} of ${file}.c`);
});

test("sort keys of the document are those of the tables", () => {
  for (const [file, path] of [
    ["apps", "/apps"],
    ["jobs", "/apps/{ref}/jobs"],
    ["stages", "/apps/{ref}/stages"],
    ["executors", "/apps/{ref}/executors"],
    ["hosts", "/apps/{ref}/hosts"],
    ["storage", "/apps/{ref}/storage"],
    ["streaming", "/apps/{ref}/streaming"],
    ["sessions", "/apps/{ref}/operations"],
    ["dstreams", "/apps/{ref}/dstreams"],
    ["sql", "/apps/{ref}/sql"],
  ]) {
    const table = source(`server/api/${file}.c`).split("static const struct list_sort sorts[] = {")[1].split("{NULL, NULL}")[0];
    const keys = [...table.matchAll(/^\s+(?:\[\w+\] = )?\{"(\w+)", /gm)].map((found) => found[1]);
    const { description } = spec.paths[path].get.parameters.map(resolveRef).find((each) => each.name === "sort");
    assert.equal(description.split(";")[0], `one of: ${keys.join(" ")}`, path);
  }
});

const SQL_LOGS = ["thrift_ops", "connect_ops", "streaming_windows", "streaming_windows_3_5"].map((name) => join(LOGS, name));

test("real answers are as the document says", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog());
  writeFileSync(join(folder, "app-dstreams"), dstreamLog());
  writeFileSync(join(folder, "garbage"), '{"Event":"SparkListenerLogStart"\n');
  const server = await startServer(t, [
    "--store",
    makeStore(t, [folder, ...["failures", "healthy_rdd", "gc_pressure", "in_progress", "healthy_sql", "attempts"].map((name) => join(LOGS, name)), ...SQL_LOGS]),
  ]);
  const check = async (path, pattern, status = 200) => {
    const answer = await server.json(path, status);
    const schema = status === 200 ? answerOf(pattern) : { $ref: "#/components/schemas/Error" };
    assert.deepEqual(complaints(answer, schema).slice(0, 10), [], path);
    return answer;
  };
  await check("status", "/status");
  await check("server", "/server");
  await check("nothing", "", 404);
  await check("apps?sort=nonsense", "", 400);
  const list = await check("apps?limit=1000", "/apps");
  assert.ok(list.total >= 5);
  await check("apps?state=skipped", "/apps");
  const jobs = await check("apps?group=job&history=20&lang=zh-CN", "/apps");
  assert.ok(jobs.items.some((each) => each.history && each.costs.length));
  await check("facets", "/facets");
  for (const { ref } of list.items.filter((each) => each.ref)) {
    const app = `apps/${encodeURIComponent(ref)}`;
    await check(app, "/apps/{ref}");
    await check(`${app}/search?q=a`, "/apps/{ref}/search");
    await check(`${app}/baseline`, "/apps/{ref}/baseline");
    await check(`compare?base=${encodeURIComponent(ref)}&new=${encodeURIComponent(list.items.find((each) => each.ref).ref)}`, "/compare");
    for (const each of ["stages", "queries"])
      await check(`compare/${each}?base=${encodeURIComponent(ref)}&new=${encodeURIComponent(list.items.find((one) => one.ref).ref)}&limit=1000`, `/compare/${each}`);
    await check(`compare?base=usual&new=${encodeURIComponent(ref)}`, "/compare");
    for (const each of ["health", "environment", "executors", "executors/timeline", "hosts", "processes", "receiver-blocks"]) await check(`${app}/${each}`, `/apps/{ref}/${each}`);
    for (const { id } of (await check(`${app}/storage`, "/apps/{ref}/storage")).items) {
      await check(`${app}/storage/${id}`, "/apps/{ref}/storage/{id}");
      await check(`${app}/storage/${id}/partitions`, "/apps/{ref}/storage/{id}/partitions");
    }
    for (const { runId } of (await check(`${app}/streaming`, "/apps/{ref}/streaming")).items) await check(`${app}/streaming/${runId}`, "/apps/{ref}/streaming/{run}");
    await check(`${app}/sessions`, "/apps/{ref}/sessions");
    for (const { id } of (await check(`${app}/operations`, "/apps/{ref}/operations")).items) await check(`${app}/operations/${id}`, "/apps/{ref}/operations/{id}");
    await check(`${app}/dstreams`, "/apps/{ref}/dstreams");
    for (const each of ["findings", "findings?all=true&lang=zh-CN&limit=1000", "account", "account?job=0&view=cost", "account?stage=0.0", "chain", "what-ifs", "what-ifs?executors=3"])
      await check(`${app}/${each}`, `/apps/{ref}/${each.split("?")[0]}`);
    for (const { jobId } of (await check(`${app}/jobs?limit=1000`, "/apps/{ref}/jobs")).items) {
      await check(`${app}/jobs/${jobId}`, "/apps/{ref}/jobs/{id}");
      await check(`${app}/jobs/${jobId}/graph`, "/apps/{ref}/jobs/{id}/graph");
    }
    for (const { id } of (await check(`${app}/sql?limit=1000&roots=true&sort=-saving`, "/apps/{ref}/sql")).items) {
      const { plans } = await check(`${app}/sql/${id}`, "/apps/{ref}/sql/{id}");
      for (const { version } of plans) await check(`${app}/sql/${id}/plans/${version}`, "/apps/{ref}/sql/{id}/plans/{version}");
      if (plans.length) await check(`${app}/sql/${id}/plans/0?node=1`, "/apps/{ref}/sql/{id}/plans/{version}");
    }
    for (const { stageId, attempt } of (await check(`${app}/stages?limit=1000`, "/apps/{ref}/stages")).items) {
      await check(`${app}/stages/${stageId}.${attempt}`, "/apps/{ref}/stages/{id}.{attempt}");
      await check(`${app}/stages/${stageId}.${attempt}/graph`, "/apps/{ref}/stages/{id}.{attempt}/graph");
      const { items } = await check(`${app}/stages/${stageId}.${attempt}/tasks`, "/apps/{ref}/stages/{id}.{attempt}/tasks");
      for (const each of ["timeline", "timeline?rows=1&bins=7&lang=zh-CN", "scatter?x=inputBytes"])
        await check(`${app}/stages/${stageId}.${attempt}/${each}`, `/apps/{ref}/stages/{id}.{attempt}/${each.split("?")[0]}`);
      if (items.length) await check(`${app}/tasks/${items[0].taskId}/why`, "/apps/{ref}/tasks/{id}/why");
      const analysed = await server.get(`/api/afterglow/v1/${app}/stages/${stageId}.${attempt}/analysis`);
      if (analysed.status !== 404) await check(`${app}/stages/${stageId}.${attempt}/analysis`, "/apps/{ref}/stages/{id}.{attempt}/analysis");
    }
  }
});
