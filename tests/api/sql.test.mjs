// SPDX-License-Identifier: Apache-2.0
// SQL executions: /api/v1 against the captured answers of a Spark 4.3 History Server, and our own interface over the same logs.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { event, START } from "./support/log.mjs";
import { LOGS, makeFolder, makeStore, ROOT, startServer } from "./support/server.mjs";
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

  await t.test("what runs goes on running: such answers are nobody's copy", async () => {
    for (const path of ["sql", "sql?details=false", "sql/1", "sql/sqlTable", "sql/sqlTable?search[value]=RUNNING", "sql/sqlTable?start=0&groupSubExecution=false"]) {
      const address = encodeURI(`/api/v1/applications/${UNFINISHED}/${path}`);
      const lengths = [];
      for (let i = 0; i < 2; i++) {
        const answer = await server.get(address);
        assert.equal(answer.headers.etag, undefined, path);
        lengths.push([...answer.text.matchAll(/"duration" : (\d+)/g)].reduce((longest, [, text]) => Math.max(longest, Number(text)), 0));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.ok(lengths[1] > lengths[0], `${path}: ${lengths}`);
    }
    for (const path of ["sql?length=1", "sql/0"]) assert.notEqual((await server.get(`/api/v1/applications/${UNFINISHED}/${path}`)).headers.etag, undefined, path);
    assert.notEqual((await server.get(`/api/v1/applications/${APP}/sql/sqlTable`)).headers.etag, undefined);
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

  await t.test("our list says what was found about each, and which jobs it ran", async () => {
    const list = await server.json(`apps/${APP}/sql?limit=100`);
    const { findings } = await server.json(`apps/${APP}/findings?limit=1000`);
    const jobs = (await server.json(`apps/${APP}/jobs?limit=1000`)).items;
    const stages = (await server.json(`apps/${APP}/stages?limit=1000`)).items;
    const execution = ({ kind, key }) =>
      kind === "sql" || kind === "node"
        ? Number(key.split("/")[0])
        : kind === "job"
          ? jobs.find((job) => String(job.jobId) === key).sqlExecutionId
          : kind === "stage"
            ? stages.find((stage) => `${stage.stageId}.${stage.attempt}` === key).sqlExecutionId
            : null;
    const grades = ["ok", "info", "low", "moderate", "severe"];
    let found = 0;
    for (const item of list.items) {
      const mine = findings.filter(({ subject }) => execution(subject) === item.id);
      const worst = Math.max(0, ...mine.map(({ grade, noFault }) => (noFault ? 0 : grades.indexOf(grade)))); // work that was reused is no mark against a query
      const prices = mine.map(({ price }) => price?.ms ?? null).filter((ms) => ms !== null);
      assert.deepEqual([item.findingCount, item.worstGrade, item.savingMs], [mine.length, grades[worst], prices.length ? Math.max(...prices) : null], item.id);
      assert.equal((await server.json(`apps/${APP}/findings?sql=${item.id}`)).total, mine.length);
      assert.deepEqual(item.succeededJobIds, jobs.filter((job) => job.sqlExecutionId === item.id).map((job) => job.jobId).sort((a, b) => a - b));
      assert.deepEqual([item.failedJobIds, item.runningJobIds, item.nestedCount], [[], [], 0]);
      found += mine.length;
    }
    assert.ok(found > 5);
    const bad = list.items.filter(({ worstGrade }) => grades.indexOf(worstGrade) >= 1);
    assert.equal((await server.json(`apps/${APP}/sql?grade=info`)).total, bad.length);
    assert.equal((await server.json(`apps/${APP}/sql?grade=ok`)).total, list.total);
    // Other thresholds grade the list as they grade the findings: here of one rule, out of reach.
    const { rule, ladder } = findings.find((each) => execution(each.subject) !== null && each.grade !== "ok");
    const moved = `threshold.${rule}=${Array(4).fill(ladder.down ? "-1e9" : "1e300").join(",")}`;
    const fewer = (await server.json(`apps/${APP}/findings?limit=1000&${moved}`)).findings;
    assert.ok(fewer.length < findings.length);
    for (const item of (await server.json(`apps/${APP}/sql?limit=100&${moved}`)).items) assert.equal(item.findingCount, fewer.filter(({ subject }) => execution(subject) === item.id).length);
    await server.json(`apps/${APP}/sql?threshold.${rule}=x`, 400);
    await server.json(`apps/${APP}/sql?grade=awful`, 400);
    await server.json(`apps/${APP}/findings?sql=x`, 400);
  });

  await t.test("a stage says for which operators of its query's plan it worked", async () => {
    const stages = (await server.json(`apps/${APP}/stages?limit=1000`)).items;
    let told = 0;
    for (const stage of stages) {
      if (stage.sqlExecutionId === null) assert.equal(stage.operators, null);
      else {
        const { nodes } = await server.json(`apps/${APP}/sql/${stage.sqlExecutionId}`);
        const its = nodes.filter((node) => !node.isCluster && node.stages.some((s) => s.stageId === stage.stageId && s.attempt === stage.attempt));
        const names = [...new Set(its.sort((a, b) => b.id - a.id).map((node) => node.name))];
        assert.deepEqual(stage.operators, names.slice(0, 12), `stage ${stage.stageId}`);
        told += names.length;
      }
    }
    assert.ok(told > 20);
    const [one] = stages.filter((stage) => stage.operators?.length);
    assert.deepEqual((await server.json(`apps/${APP}/stages/${one.stageId}.${one.attempt}`)).operators, one.operators);
  });

  await t.test("what adaptive execution changed, and the stages of a query", async () => {
    const query = await server.json(`apps/${APP}/sql/6`);
    // The exchanges of query 6 had 16 partitions each and were read as one (its plan: AQEShuffleRead coalesced).
    assert.deepEqual(
      query.changes.map(({ kind, version, partitionsBefore, partitionsAfter }) => [kind, version, partitionsBefore, partitionsAfter]),
      [
        ["coalesced", 3, 16, 1],
        ["coalesced", 4, 16, 1],
      ],
    );
    assert.equal(query.planChangeCount, 2);
    for (const { nodeId } of query.changes) assert.equal(query.nodes.find(({ id }) => id === nodeId).name, "AQEShuffleRead");
    assert.deepEqual(
      query.stages.map(({ stageId }) => stageId),
      [6, 7, 9, 11, 14],
    ); // of its jobs' stages those that ran
    for (const { stageId, attempt, taskTimeMs, durationMs } of query.stages) {
      const stage = await server.json(`apps/${APP}/stages/${stageId}.${attempt}`);
      assert.deepEqual([taskTimeMs, durationMs], [stage.taskTimeMs, stage.durationMs]);
    }
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

// Executions 1 and 2 are nested in 0, 3 names a root that has no row, 4 one that began later: both are roots, as in the History Server.
test("queries come by what could be saved in each", async (t) => {
  // Three joins of this run could have been broadcasts.
  const server = await startServer(t, ["--store", makeStore(t, [join(LOGS, "regression_slow")])]);
  const [{ ref }] = (await server.json("apps")).items;
  const { findings } = await server.json(`apps/${ref}/findings?limit=1000`);
  const most = (id) => Math.max(0, ...findings.filter(({ subject, price }) => price && subject.kind === "node" && Number(subject.key.split("/")[0]) === id).map(({ price }) => price.ms));
  const dearest = (await server.json(`apps/${ref}/sql?sort=-saving`)).items;
  assert.deepEqual(dearest.slice(0, 3).map(({ savingMs }) => savingMs), [0, 1, 2].map(most).sort((a, b) => b - a));
  assert.ok(dearest[2].savingMs > 1000 && new Set(dearest.slice(0, 3).map(({ savingMs }) => savingMs)).size === 3);
  assert.deepEqual((await server.json(`apps/${ref}/sql?sort=-saving&limit=1`)).items[0], dearest[0]);
});

test("nested executions are below their roots", async (t) => {
  const sql = (name, executionId, members) => JSON.stringify({ Event: `org.apache.spark.sql.execution.ui.SparkListenerSQL${name}`, executionId, ...members });
  const plan = { nodeName: "Range", simpleString: "Range", children: [], metadata: {}, metrics: [] };
  const roots = [0, 0, 0, 77, 5, 5];
  const folder = makeFolder(t);
  const lines = [
    event("LogStart", { "Spark Version": "4.3.0" }),
    event("ApplicationStart", { "App Name": "nested", "App ID": "app-nested", Timestamp: START, User: "alice" }),
    ...roots.flatMap((rootExecutionId, id) => [
      sql("ExecutionStart", id, { rootExecutionId, description: `q${id}`, details: "", physicalPlanDescription: "", sparkPlanInfo: plan, time: START }),
      sql("ExecutionEnd", id, { time: START + 10, errorMessage: "" }),
    ]),
    event("ApplicationEnd", { Timestamp: START + 20 }),
  ];
  writeFileSync(join(folder, "app-nested"), `${lines.join("\n")}\n`);
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const list = await server.json("apps/app-nested/sql?roots=true&sort=id");
  assert.deepEqual(
    list.items.map(({ id, nestedCount }) => [id, nestedCount]),
    [
      [0, 2],
      [3, 0],
      [4, 0],
      [5, 0],
    ],
  );
  assert.deepEqual((await server.json("apps/app-nested/sql?root=0&sort=id")).items.map(({ id }) => id), [0, 1, 2]);
  assert.equal((await server.json("apps/app-nested/sql")).total, 6);
});

// A plan of 99,990 nodes was an answer of 35 MB that held a thread for two seconds.
test("graphs come in pieces", async (t) => {
  const sql = (name, members) => JSON.stringify({ Event: `org.apache.spark.sql.execution.ui.SparkListenerSQL${name}`, executionId: 0, ...members });
  const node = (nodeName, children, ids) => ({ nodeName, simpleString: nodeName, children, metadata: {}, metrics: ids.map((accumulatorId) => ({ name: "rows", accumulatorId, metricType: "sum" })) });
  const range = (count) => Array.from({ length: count }, (_, i) => i);
  const children = range(4500).map((i) => node("Exchange", [], i === 0 ? range(1001) : []));
  const few = range(30).map(() => node("Exchange", [], range(1000)));
  const folder = makeFolder(t);
  const lines = (plan) => [
    event("LogStart", { "Spark Version": "4.3.0" }),
    event("ApplicationStart", { "App Name": "wide", "App ID": plan.appId, Timestamp: START, User: "alice" }),
    sql("ExecutionStart", { description: "q", details: "", physicalPlanDescription: "text", sparkPlanInfo: node("Union", plan.children, []), time: START }),
    sql("ExecutionEnd", { time: START + 1, errorMessage: "" }),
    event("ApplicationEnd", { Timestamp: START + 2 }),
  ];
  for (const plan of [{ appId: "app-wide", children }, { appId: "app-metrics", children: few }]) writeFileSync(join(folder, plan.appId), `${lines(plan).join("\n")}\n`);
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);

  const first = await server.json("apps/app-wide/sql/0");
  assert.deepEqual([first.nodes.length, first.nextNode, first.nodeCount, first.edges.length], [2000, 2000, 4501, 4500]);
  assert.deepEqual(first.nodes.map(({ metrics }) => metrics.length).filter(Boolean), [1000], "one node has more metrics than any operator");
  const ids = [];
  for (let next = 0; next !== null; ) {
    const piece = await server.json(`apps/app-wide/sql/0/plans/0?node=${next}`);
    assert.deepEqual([piece.nodeCount, piece.edges.length, piece.text], next === 0 ? [4501, 4500, "text"] : [4501, 0, null]);
    assert.ok(piece.nodes.length <= 2000);
    ids.push(...piece.nodes.map(({ id }) => id));
    next = piece.nextNode;
  }
  assert.deepEqual(ids, range(4501));
  const past = await server.json("apps/app-wide/sql/0/plans/0?node=4501");
  assert.deepEqual([past.nodes, past.nextNode], [[], null]);
  for (const wrong of ["x", "-1", "9223372036854775808"]) await server.json(`apps/app-wide/sql/0/plans/0?node=${wrong}`, 400);

  // Of nodes with 1,000 metrics each, 20 and the one without any make a piece, whether the one comes first or last.
  const heavy = await server.json("apps/app-metrics/sql/0");
  assert.equal(heavy.nodes.flatMap(({ metrics }) => metrics).length, 20000);
  assert.equal((await server.json(`apps/app-metrics/sql/0/plans/0?node=${heavy.nextNode}`)).nextNode, null);
});
