// SPDX-License-Identifier: Apache-2.0
// SQL executions: /api/v1 against the captured answers of a Spark 4.3 History Server, and our own interface over the same logs.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LOGS, makeStore, ROOT, startServer } from "./support/server.mjs";
import { unzip } from "./support/zip.mjs";

const captures = readFileSync(join(ROOT, "tests/data/captures/sql-logs-streaming.jsonl"), "utf8").trim().split("\n").map(JSON.parse);
const APP = "app-20261129211420-0000";
const UNFINISHED = "application_1795900000000_0042/1";

/** A query without an end has run until now, on every server. */
function withoutClock(value) {
  if (Array.isArray(value)) return value.map(withoutClock);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([key]) => !(key === "duration" && value.status === "RUNNING") && !(key === "averageDuration" && value.runningQueries > 0));
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutClock(each)]));
}

function bodyOf(answer, type) {
  if (type === "application/json") return withoutClock(JSON.parse(answer.text));
  if (type === "application/octet-stream")
    return { zip: unzip(answer.bytes).map(({ name, bytes }) => ({ name, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") })) };
  return type === "text/html" ? null : answer.text;
}

test("sql", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, ["healthy_sql", "attempts", "tiny_app"].map((name) => join(LOGS, name)))]);

  for (const { path, status, type, body } of captures)
    await t.test(decodeURIComponent(path), async () => {
      const answer = await server.get(`/api/v1/${path}`);
      assert.deepEqual([answer.status, answer.headers["content-type"].split(";")[0]], [status, type]);
      assert.deepEqual(bodyOf(answer, type), withoutClock(body));
    });

  await t.test("numbers that are none", async () => {
    for (const name of ["draw", "start", "length"]) assert.equal((await server.get(`/api/v1/applications/${APP}/sql/sqlTable?${name}=x`)).status, 400);
  });

  await t.test("our list: pages, orders, filters", async () => {
    const list = await server.json(`apps/${APP}/sql?sort=id&limit=4`);
    assert.deepEqual([list.total, list.items.map((item) => item.id)], [11, [0, 1, 2, 3]]);
    const [first] = list.items;
    assert.deepEqual([first.rootExecutionId, first.status, first.errorLine, first.queryId, first.planVersionCount >= 1], [0, "completed", null, null, true]);
    assert.equal(first.durationMs, first.completionMs - first.submissionMs);
    const slowest = await server.json(`apps/${APP}/sql`);
    assert.deepEqual(
      slowest.items.map((item) => item.id),
      [0, 6, 9, 7, 10, 8, 1, 2, 3, 5, 4],
    ); // the capture of sqlTable, by duration
    assert.equal((await server.json(`apps/${APP}/sql?status=failed`)).total, 0);
    assert.equal((await server.json(`apps/${APP}/sql?status=completed`)).total, 11);
    assert.equal((await server.json(`apps/${APP}/sql?root=6`)).total, 1);
    assert.equal((await server.json(`apps/${APP}/sql?q=%25`)).total, 0);
    const running = await server.json(`apps/${encodeURIComponent(UNFINISHED.replace("/", "."))}/sql?sort=id`);
    assert.deepEqual(
      running.items.map((item) => [item.status, item.completionMs === null, item.durationMs === null]),
      [
        ["completed", false, false],
        ["running", true, true],
      ],
    );
    await server.json(`apps/${APP}/sql?sort=nonsense`, 400);
    await server.json(`apps/${APP}/sql?root=-1`, 400);
  });

  await t.test("our execution has the History Server's graph, with numbers", async () => {
    const theirs = captures.find(({ path }) => path === `applications/${APP}/sql/6`).body;
    const ours = await server.json(`apps/${APP}/sql/6`);
    assert.deepEqual(ours.nodes.map((node) => node.id).reverse(), theirs.nodes.map((node) => node.nodeId));
    assert.deepEqual(ours.edges, theirs.edges);
    assert.deepEqual(
      ours.jobs.map((job) => job.jobId),
      [...theirs.successJobIds].sort((a, b) => a - b),
    );
    assert.deepEqual([ours.jobCount, ours.succeededJobCount, ours.failedJobCount], [theirs.successJobIds.length, theirs.successJobIds.length, 0]);
    let checked = 0;
    for (const node of theirs.nodes)
      for (const { name, value } of node.metrics) {
        const metric = ours.nodes.find(({ id }) => id === node.nodeId).metrics.find((each) => each.name.trim() === name);
        assert.ok(metric.reportedCount > 0, name);
        if (metric.type !== "sum") continue;
        assert.deepEqual([metric.total.toLocaleString("en-US"), metric.unit], [value, "count"]);
        checked++;
      }
    assert.ok(checked > 5);
    const silent = ours.nodes.flatMap((node) => node.metrics).filter((metric) => metric.reportedCount === null);
    for (const metric of silent) assert.deepEqual([metric.total, metric.min, metric.median, metric.max, metric.valueCount], [null, null, null, null, null]);
    const stages = new Set(ours.jobs.flatMap((job) => job.stageIds));
    const used = ours.nodes.flatMap((node) => node.stages);
    assert.ok(used.length > 0 && used.every(({ stageId }) => stages.has(stageId)));
    assert.equal(ours.plans.at(-1).version, ours.planVersionCount - 1);
    await server.json(`apps/${APP}/sql/999999`, 404);
  });

  await t.test("every version of a plan", async () => {
    const { plans } = await server.json(`apps/${APP}/sql/6`);
    assert.ok(plans.length > 1);
    for (const { version, textBytes, final } of plans) {
      const plan = await server.json(`apps/${APP}/sql/6/plans/${version}`);
      assert.deepEqual([plan.executionId, plan.version, plan.final, Buffer.byteLength(plan.text)], [6, version, final, textBytes]);
      assert.ok(plan.nodes.length > 0);
    }
    const theirs = captures.find(({ path }) => path === `applications/${APP}/sql/6`).body;
    assert.equal((await server.json(`apps/${APP}/sql/6/plans/${plans.at(-1).version}`)).text, theirs.planDescription);
    assert.deepEqual(
      plans.map((plan) => plan.final),
      plans.map((plan) => plan === plans.at(-1)),
    );
    await server.json(`apps/${APP}/sql/6/plans/999`, 404);
  });

  await t.test("an application without SQL", async () => {
    const [{ ref }] = (await server.json("apps?q=tiny")).items;
    assert.equal((await server.json(`apps/${encodeURIComponent(ref)}/sql?limit=1`)).limit, 1);
  });
});
