// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog, START } from "./support/log.mjs";
import { becomes, eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";

const keys = (list, key) => list.items.map((item) => item[key]);

async function serveSmall(t) {
  const folder = makeFolder(t);
  const logs = {
    "app-1": smallLog(),
    "app-2.inprogress": smallLog({ id: "app-2", name: "100%_sure", user: "bob", ended: false }),
    "app-3_1": smallLog({ id: "app-3", attempt: "1", name: "twice" }),
    "app-3_2": smallLog({ id: "app-3", attempt: "2", name: "twice" }),
    "app-bad": '{"Event":"SparkListenerLogStart","Spark Version":"3.5.7"}\n'.slice(0, 30),
  };
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(folder, name), text);
  return startServer(t, ["--store", makeStore(t, [folder])]);
}

test("lists", async (t) => {
  const server = await serveSmall(t);

  await t.test("applications have names that lead back to them", async () => {
    const list = await server.json("apps?sort=name");
    assert.equal(list.counts.all, list.total);
    for (const item of list.items.filter((each) => each.ref)) assert.equal((await server.json(`apps/${encodeURIComponent(item.ref)}`)).key, item.key);
    assert.deepEqual(keys(await server.json("apps?q=twice"), "ref").sort(), ["app-3.1", "app-3.2"]);
    assert.equal((await server.json("apps/app-3")).appId, "app-3");
  });

  await t.test("a row of the list tells what the run was", async () => {
    const [item] = (await server.json("apps?q=app-1")).items;
    assert.equal(item.name, "small");
    assert.equal(item.user, "alice");
    assert.equal(item.startMs, START);
    assert.equal(item.durationMs, 5000);
    assert.equal(item.complete, true);
    assert.equal(item.outcome, "failed");
    assert.equal(item.jobCount, 3);
    assert.equal(item.failedJobCount, 1);
    assert.equal(item.failedTaskCount, 2);
    assert.equal(item.taskTimeMs, 100 + 200 + 300 + 400 + 500 + 600 + 300 + 400 + 100);
    assert.equal(item.layout, "single");
    assert.equal(item.state, "loaded");
  });

  await t.test("what people type is no pattern", async () => {
    assert.deepEqual(keys(await server.json("apps?q=100%25_S"), "appId"), ["app-2"]);
    assert.equal((await server.json("apps?q=%25")).total, 1);
    assert.equal(
      (await server.json("apps?q=_")).items.every((item) => /_/.test(item.name + item.appId + item.user + item.logPath)),
      true,
    );
    assert.equal((await server.json("apps?q=%27%20OR%201--")).total, 0);
    assert.deepEqual(keys(await server.json("apps?q=BOB"), "appId"), ["app-2"]);
  });

  await t.test("filters of the list", async () => {
    assert.deepEqual(keys(await server.json("apps?user=bob"), "appId"), ["app-2"]);
    assert.equal((await server.json("apps?user=bo")).total, 0);
    assert.equal((await server.json(`apps?from=${START}`)).total, 4);
    assert.equal((await server.json(`apps?from=${START + 1}`)).total, 0);
    assert.equal((await server.json(`apps?to=${START - 1}`)).total, 0);
    assert.equal((await server.json("apps?minDurationMs=5000")).total, 3);
    assert.equal((await server.json("apps?outcome=failed")).total, 3);
    assert.deepEqual(keys(await server.json("apps?outcome=unknown"), "appId"), ["app-2"]); // its log goes on
    assert.equal((await server.json("apps?outcome=succeeded")).total, 0);
    assert.equal((await server.json("apps?grade=3")).total, (await server.json("apps")).items.filter((a) => a.grade >= 3).length);
  });

  await t.test("pages, cursors and the last page", async () => {
    const first = await server.json("apps/app-1/stages?sort=id&limit=3");
    assert.deepEqual([first.total, first.page, first.limit, keys(first, "stageId")], [4, 1, 3, [0, 1, 2]]);
    const second = await server.json(`apps/app-1/stages?sort=id&limit=3&cursor=${encodeURIComponent(first.next)}`);
    assert.deepEqual([second.page, second.next, keys(second, "stageId")], [2, null, [3]]);
    assert.deepEqual(await server.json("apps/app-1/stages?sort=id&limit=3&page=77"), second);
  });

  await t.test("bad parameters are told", async () => {
    for (const query of [
      "sort=nonsense",
      "sort=-",
      "page=0",
      "page=x",
      "limit=0",
      "limit=1001",
      "limit=1.5",
      "cursor=zzz",
      "cursor=p0",
      "grade=9",
      "status=nonsense",
      "skipped=2",
      "job=-1",
    ]) {
      const answer = await server.json(`apps/app-1/stages?${query}`, 400);
      assert.deepEqual(Object.keys(answer), ["status", "error", "detail"]);
      assert.deepEqual([answer.status, answer.error], [400, "bad_parameter"], query);
    }
    for (const query of ["state=lost", "outcome=maybe", "from=yesterday", "sort=-nonsense"]) await server.json(`apps?${query}`, 400);
    for (const query of ["sort=nonsense", "sort=-", "status=ended", "locality=far", "minDurationMs=x", "page=-1"]) await server.json(`apps/app-1/stages/0.0/tasks?${query}`, 400);
  });

  await t.test("what is not there is 404", async () => {
    for (const path of [
      "apps/nobody",
      "apps/nobody/jobs",
      "apps/app-1/jobs/99",
      "apps/app-1/stages/0.7",
      "apps/app-1/stages/99.0/tasks",
      "apps/app-1/jobs/99999999999999999999",
      "apps/app-1/nothing",
      "nothing",
    ]) {
      const answer = await server.json(path, 404);
      assert.equal(answer.error, "not_found", path);
    }
  });

  await t.test("jobs: the slowest first, unknown last either way", async () => {
    assert.deepEqual(keys(await server.json("apps/app-1/jobs"), "jobId"), [0, 1, 2]);
    assert.deepEqual(keys(await server.json("apps/app-1/jobs"), "durationMs"), [1500, 250, null]);
    assert.deepEqual(keys(await server.json("apps/app-1/jobs?sort=duration"), "jobId"), [1, 0, 2]);
    assert.deepEqual(keys(await server.json("apps/app-1/jobs?sort=-id"), "jobId"), [2, 1, 0]);
    assert.deepEqual(keys(await server.json("apps/app-1/jobs?q=group_1"), "jobId"), [0]);
    assert.deepEqual(keys(await server.json("apps/app-1/jobs?q=groupX1"), "jobId"), []);
    const [job] = (await server.json("apps/app-1/jobs?q=first")).items;
    assert.deepEqual(
      [job.description, job.jobGroup, job.stageIds, job.numStages, job.numTasks, job.completedTasks, job.failedTasks],
      ["first <b>job</b>", "group_1", [0, 1], 2, 8, 7, 1],
    );
    const failed = await server.json("apps/app-1/jobs/1");
    assert.equal(failed.status, "failed");
    assert.match(failed.failure, /boom/);
    assert.deepEqual(
      failed.stages.map((stage) => stage.stageId),
      [2],
    );
    assert.deepEqual(
      (await server.json("apps/app-1/jobs/0")).properties.filter(([name]) => name === "spark.jobGroup.id"),
      [["spark.jobGroup.id", "group_1"]],
    );
  });

  await t.test("without an end: running while the log goes on, unknown after it", async () => {
    assert.equal((await server.json("apps/app-1/jobs/2")).status, "unknown");
    assert.equal((await server.json("apps/app-2/jobs/2")).status, "running");
    assert.equal((await server.json("apps/app-1/stages/3.0")).status, "unknown");
    assert.equal((await server.json("apps/app-2/stages/3.0")).status, "active");
    assert.equal((await server.json("apps/app-1/stages/3.0/tasks")).items[0].status, "unknown");
    assert.equal((await server.json("apps/app-2/stages/3.0/tasks")).items[0].status, "running");
    assert.equal((await server.json("apps/app-1/jobs?status=unknown")).total, 1);
    assert.equal((await server.json("apps/app-1/jobs?status=running")).total, 0);
    assert.equal((await server.json("apps/app-2/jobs?status=running")).total, 1);
    assert.equal((await server.json("apps/app-1/stages?status=unknown")).total, 1);
    assert.equal((await server.json("apps/app-1/stages/3.0/tasks?status=unknown")).total, 1);
    assert.equal((await server.json("apps/app-2/stages/3.0/tasks?status=running")).total, 1);
  });

  await t.test("a stage adds up its tasks", async () => {
    const stage = await server.json("apps/app-1/stages/0.0");
    assert.deepEqual([stage.numTasks, stage.endedTasks, stage.completeTasks, stage.durationMs, stage.taskTimeMs], [6, 6, 6, 990, 2100]);
    assert.deepEqual([stage.medianMs, stage.p95Ms, stage.maxMs], [400, 600, 600]); // element trunc(q * 6)
    assert.equal(stage.shuffleReadBytes, 21000 + 6 * 5);
    assert.equal(stage.gcTimeMs, 18);
    assert.equal(stage.skew.durationRatio, 1.5);
    assert.equal(stage.details, "details of map at A.scala:1");
    assert.deepEqual(stage.jobIds, [0]);
    assert.deepEqual(
      stage.executors.map((each) => [each.executorId, each.taskCount, each.taskTimeMs]),
      [
        ["1", 2, 500],
        ["2", 2, 700],
        ["10", 2, 900],
      ],
    );
    assert.equal(stage.histogram.edgesMs.length, stage.histogram.counts.length + 1);
    assert.equal(
      stage.histogram.counts.reduce((a, b) => a + b),
      6,
    );
    assert.equal(stage.histogram.edgesMs[0], 100);
    assert.ok(stage.histogram.edgesMs.at(-1) > 600);
    const duration = stage.quantiles.find((each) => each.name === "durationMs");
    assert.deepEqual([duration.unit, duration.count, duration.min, duration.p50, duration.max, duration.sum], ["ms", 6, 100, 400, 600, 2100]);
    const failed = await server.json("apps/app-1/stages/1.0");
    assert.deepEqual(
      failed.errors.map(({ count, firstTaskId, hostTasks, hostCount }) => [count, firstTaskId, hostTasks, hostCount]),
      [[1, 7, 1, 1]],
    );
    assert.match(failed.errors[0].text, /boom/);
    assert.equal(failed.errors[0].host, (await server.json("apps/app-1/stages/1.0/tasks?task=7")).items[0].host);
  });

  await t.test("stages by every order, and their filters", async () => {
    assert.deepEqual(keys(await server.json("apps/app-1/stages"), "stageId"), [0, 1, 2, 3]); // 990, 500, 200 ms, no end
    for (const sort of [
      "id",
      "submission",
      "duration",
      "tasks",
      "failedTasks",
      "median",
      "max",
      "ratio",
      "input",
      "output",
      "shuffleRead",
      "shuffleWrite",
      "spill",
      "gcShare",
      "taskTime",
    ])
      for (const minus of ["", "-"]) assert.equal((await server.json(`apps/app-1/stages?sort=${minus}${sort}`)).items.length, 4);
    assert.deepEqual(
      keys(await server.json("apps/app-1/stages?sort=taskTime"), "stageId").slice(0, 3),
      [2, 1, 0].filter((id) => id !== 3),
    );
    assert.deepEqual(keys(await server.json("apps/app-1/stages?q=100%25"), "stageId"), [1]);
    assert.deepEqual(keys(await server.json("apps/app-1/stages?job=1"), "stageId"), [2]);
    assert.deepEqual(keys(await server.json("apps/app-1/stages?status=failed"), "stageId"), [2]);
  });

  await t.test("tasks by every order, and their filters", async () => {
    const tasks = (query) => server.json(`apps/app-1/stages/0.0/tasks?${query}`);
    assert.deepEqual(keys(await tasks(""), "taskId"), [5, 4, 3, 2, 1, 0]);
    assert.deepEqual(keys(await tasks("sort=executor"), "executorId"), ["1", "1", "2", "2", "10", "10"]);
    assert.deepEqual(keys(await tasks("sort=-executor&limit=2"), "executorId"), ["10", "10"]);
    assert.deepEqual(keys(await tasks("sort=host&limit=1"), "host"), ["host-1"]);
    assert.deepEqual(keys(await tasks("sort=shuffleReadBytes&limit=2"), "shuffleReadBytes"), [1005, 2005]);
    assert.deepEqual(keys(await tasks("sort=index&limit=2&page=2"), "index"), [2, 3]);
    assert.deepEqual(keys(await tasks("minDurationMs=500&sort=taskId"), "taskId"), [4, 5]);
    assert.deepEqual(keys(await tasks("executor=10&sort=taskId"), "taskId"), [2, 5]);
    assert.deepEqual(keys(await tasks("host=host-2&sort=taskId"), "taskId"), [1, 4]);
    assert.deepEqual(keys(await tasks("q=3"), "taskId"), [3]);
    assert.equal((await tasks("status=failed")).total, 0);
    assert.equal((await tasks("executor=nobody")).total, 0);
    assert.equal((await tasks("locality=ANY")).total, 0);
    const [item] = (await tasks("q=2")).items;
    assert.deepEqual([item.durationMs, item.schedulerDelayMs, item.gettingResultTimeMs, item.jvmGcTimeMs, item.executorCpuTimeNs], [300, 4, 0, 3, 295 * 900000]); // 300 - 295 run - 1 deserialise
    assert.deepEqual([item.status, item.locality, item.speculative, item.endReason, item.error], ["success", "PROCESS_LOCAL", false, "Success", null]);
    const failed = await server.json("apps/app-1/stages/1.0/tasks?q=50%25_");
    assert.deepEqual([failed.total, failed.allTasks, failed.items[0].taskId, failed.items[0].status, failed.items[0].endReason], [1, 2, 7, "failed", "ExceptionFailure"]);
    assert.equal((await server.json("apps/app-1/stages/1.0/tasks?sort=error")).items[0].taskId, 7); // no error sorts last
    assert.equal((await server.json("apps/app-1/stages/1.0/tasks?sort=-error")).items[0].taskId, 7);
  });

  await t.test("executors count as numbers, the driver comes first", async () => {
    const list = await server.json("apps/app-1/executors");
    assert.deepEqual(keys(list, "executorId"), ["driver", "1", "2", "10"]);
    assert.deepEqual(keys(await server.json("apps/app-1/executors?sort=-id"), "executorId"), ["10", "2", "1", "driver"]);
    const [, one] = list.items;
    assert.deepEqual([one.host, one.totalCores, one.taskCount, one.failedTasks, one.taskTimeMs], ["host-1", 4, 3, 0, 800]);
    assert.deepEqual(one.logs, [["stdout", "http://host-1/stdout"]]);
    assert.equal((await server.json("apps/app-1")).cores.max, 12);
    assert.equal((await server.json("apps/app-1/executors?state=removed")).total, 0);
  });

  await t.test("an application's page in one answer", async () => {
    const app = await server.json("apps/app-1");
    assert.deepEqual([app.master, app.deployMode, app.loading], ["spark://m:7077", null, null]);
    assert.deepEqual(keys({ items: app.slowestStages }, "stageId"), [0, 1, 2]);
    assert.deepEqual(keys({ items: app.failedJobs }, "jobId"), [1]);
    assert.deepEqual(keys({ items: app.failedStages }, "stageId"), [2]);
    assert.deepEqual([app.health.complete, app.health.jobsWithoutEnd, app.health.stagesWithoutEnd, app.health.tasksWithoutEnd, app.health.badLineCount], [true, 1, 1, 1, 0]);
    assert.deepEqual([app.log.files, app.log.codecs], [1, ["none"]]);
    const health = await server.json("apps/app-1/health");
    assert.deepEqual(health.health, app.health);
    assert.equal(health.events.find((each) => each.event.endsWith("TaskEnd")).seen, 9);
    const environment = await server.json("apps/app-1/environment");
    assert.deepEqual(
      environment.sections.map((each) => each.name),
      ["jvm", "spark", "hadoop", "system", "metrics", "classpath"],
    );
    assert.ok(environment.sections[1].entries.some(([name, value]) => name === "spark.app.id" && value === "app-1"));
    assert.deepEqual(await server.json("apps/app-1/storage"), { items: [], total: 0, page: 1, limit: 50, next: null, blockUpdatesLogged: false });
  });
});

test("a run whose database is not there yet is 409, and its row stays in the list", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog());
  const store = makeStore(t, [folder]);
  for (const name of readdirSync(join(store, "apps"))) rmSync(join(store, "apps", name));
  const server = await startServer(t, ["--store", store]);
  for (const path of ["apps/app-1", "apps/app-1/jobs", "apps/app-1/stages/0.0/tasks"]) {
    const answer = await server.json(path, 409);
    assert.deepEqual([answer.status, answer.error, answer.state], [409, "not_loaded", "loaded"], path);
  }
  assert.equal((await server.json("apps")).total, 1);
});

test("a version that only a vendor's own record names is ours to show, not the History Server's", async (t) => {
  const folder = makeFolder(t);
  const [first, ...rest] = smallLog({ id: "app-vendor" }).split("\n");
  const { "Spark Version": version } = JSON.parse(first);
  const vendor = JSON.stringify({ Event: "DBCEventLoggingListenerMetadata", "Rollover Number": 0, "SparkContext Id": 1, "Spark Version": version, Timestamp: START });
  writeFileSync(join(folder, "app-vendor"), [vendor, ...rest].join("\n"));
  writeFileSync(join(folder, "app-both"), [vendor, first, ...rest].join("\n").replaceAll("app-vendor", "app-both"));
  const store = makeStore(t, [folder]);
  const versions = async (server) =>
    Promise.all(
      ["app-vendor", "app-both"].map(async (app) => [
        JSON.parse((await server.get(`/api/v1/applications/${app}`)).text).attempts?.[0].appSparkVersion,
        (await server.json(`apps?q=${app}`)).items[0]?.sparkVersion,
      ]),
    );
  const wanted = [
    ["", version],
    [version, version],
  ];
  const server = await startServer(t, ["--store", store]);
  assert.deepEqual(await versions(server), wanted);
  await server.stop();
  for (const name of readdirSync(store).filter((each) => each.startsWith("catalog.db"))) rmSync(join(store, name));
  const watching = await startServer(t, ["--store", store, "--logs", folder]); // makes the catalogue anew from apps/
  await eventually(async () => (await watching.get("/api/v1/applications/app-both")).status === 200 && (await watching.get("/api/v1/applications/app-vendor")).status === 200);
  await becomes(() => versions(watching), wanted);
});
