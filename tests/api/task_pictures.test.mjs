// SPDX-License-Identifier: Apache-2.0
// Tasks of a stage over time and by data, and what the list of tasks can be narrowed to. Numbers are worked out from support/log.mjs: stage 0 has six tasks of 100 … 600 ms, all launched at
// +1010 ms, on executors 1, 2, 10 in turn, which have four cores each.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { event, smallLog, stageInfo, START, taskEnd, taskInfo } from "./support/log.mjs";
import { LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";

const BEGIN = START + 1010;
const STAGE = "apps/app-1/stages/0.0";

/** One executor of which the log does not say the cores; three tasks of 10 s, 1 s apart; the last one never ends. */
function lanesLog() {
  const at = (ms) => START + ms;
  const tasks = [0, 1, 2].map((i) => taskInfo(i, i, "7", at(1000 * (i + 1))));
  return (
    [
      event("LogStart", { "Spark Version": "3.5.7" }),
      event("ApplicationStart", { "App Name": "lanes", "App ID": "lanes", Timestamp: at(0), User: "u" }),
      event("JobStart", { "Job ID": 0, "Submission Time": at(900), "Stage IDs": [0], "Stage Infos": [stageInfo(0, "s", 3)], Properties: {} }),
      event("StageSubmitted", { "Stage Info": stageInfo(0, "s", 3, { "Submission Time": at(900) }), Properties: {} }),
      ...tasks.map((info) => event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": info })),
      taskEnd(0, tasks[0], at(11_000)),
      taskEnd(0, tasks[1], at(12_000)),
      event("ApplicationEnd", { Timestamp: at(20_000) }),
    ].join("\n") + "\n"
  );
}

/** 5000 tasks of 10 ms, one after the other, on an executor with one core; the last one failed. */
function manyLog() {
  const lines = [
    event("LogStart", { "Spark Version": "3.5.7" }),
    event("ApplicationStart", { "App Name": "many", "App ID": "many", Timestamp: START, User: "u" }),
    event("ExecutorAdded", { Timestamp: START, "Executor ID": "1", "Executor Info": { Host: "h", "Total Cores": 1, "Log Urls": {} } }),
    event("JobStart", { "Job ID": 0, "Submission Time": START, "Stage IDs": [0], "Stage Infos": [stageInfo(0, "s", 5000)], Properties: {} }),
    event("StageSubmitted", { "Stage Info": stageInfo(0, "s", 5000, { "Submission Time": START }), Properties: {} }),
  ];
  for (let i = 0; i < 5000; i++) {
    const bad = i === 4999;
    lines.push(taskEnd(0, taskInfo(i, i, "1", START + 10 * i, bad ? { Failed: true } : {}), START + 10 * (i + 1), bad ? { "Task End Reason": { Reason: "UnknownReason" } } : {}));
  }
  lines.push(event("StageCompleted", { "Stage Info": stageInfo(0, "s", 5000, { "Submission Time": START, "Completion Time": START + 50_000 }) }));
  lines.push(event("ApplicationEnd", { Timestamp: START + 50_000 }));
  return lines.join("\n") + "\n";
}

const phase = (phases, bucket) => phases.find((each) => each.bucket === bucket)?.values;

test("tasks of a stage over time and by data", async (t) => {
  const folder = makeFolder(t);
  for (const [name, text] of Object.entries({ "app-1": smallLog(), lanes: lanesLog(), many: manyLog() })) writeFileSync(join(folder, name), text);
  const server = await startServer(t, ["--store", makeStore(t, [folder, join(LOGS, "slow_executor")])]);

  await t.test("few tasks come singly, by launch, with their lanes and phases", async () => {
    const tl = await server.json(`${STAGE}/timeline`);
    assert.deepEqual([tl.beginMs, tl.endMs, tl.fromMs, tl.toMs], [BEGIN, BEGIN + 600, BEGIN, BEGIN + 600]);
    assert.deepEqual([tl.allTasks, tl.taskCount, tl.executorCount, tl.pickedExecutorCount], [6, 6, 3, 3]);
    assert.deepEqual(
      tl.rows.map((r) => [r.firstExecutorId, r.host, r.slots, r.taskCount]),
      [["1", "host-1", 4, 2], ["2", "host-2", 4, 2], ["10", "host-10", 4, 2]],
    );
    assert.deepEqual(tl.tasks.taskId, [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(tl.tasks.row, [0, 1, 2, 0, 1, 2]);
    assert.deepEqual(tl.tasks.lane, [0, 0, 0, 1, 1, 1]);
    assert.deepEqual(tl.tasks.durationMs, [100, 200, 300, 400, 500, 600]);
    assert.deepEqual(tl.tasks.launchOffsetMs, [0, 0, 0, 0, 0, 0]);
    // A run of 95 ms of 100: 3 ms of GC, 85.5 of CPU, 6.5 of the rest; 1 of deserialisation, and 4 are Spark's own.
    for (const [bucket, first] of Object.entries({ gc: 3, cpu: 86, other: 6, deser: 1, delay: 4 })) assert.equal(phase(tl.tasks.phases, bucket)[0], first, bucket);
    assert.equal(phase(tl.tasks.phases, "cpu")[5], 536, "0.9 × 595 ms, rounded");
    assert.equal(tl.density, undefined);
  });

  await t.test("a window holds the tasks that touch it, and is clipped to the stage", async () => {
    const some = await server.json(`${STAGE}/timeline?from=${BEGIN + 350}&to=${BEGIN + 450}`);
    assert.deepEqual(some.tasks.taskId, [3, 4, 5]);
    assert.deepEqual([some.fromMs, some.toMs], [BEGIN + 350, BEGIN + 450]);
    const all = await server.json(`${STAGE}/timeline?from=0&to=9999999999999`);
    assert.deepEqual([all.fromMs, all.toMs], [BEGIN, BEGIN + 600]);
    const after = await server.json(`${STAGE}/timeline?from=9999999999999`);
    assert.deepEqual([after.fromMs, after.toMs], [BEGIN + 599, BEGIN + 600]);
  });

  await t.test("executors are picked by a part of id or host", async () => {
    const names = async (filter) => (await server.json(`${STAGE}/timeline?filter=${filter}`)).rows.map((r) => r.firstExecutorId);
    assert.deepEqual(await names("HOST-1"), ["1", "10"]);
    assert.deepEqual(await names("2"), ["2"]);
    assert.deepEqual(await names("nobody"), []);
  });

  await t.test("executors that share a row come as density, whose sum is the task time", async () => {
    const tl = await server.json(`${STAGE}/timeline?rows=1&bins=6`);
    assert.deepEqual(
      tl.rows.map((r) => [r.executorCount, r.firstExecutorId, r.lastExecutorId, r.slots]),
      [[3, "1", "10", 12]],
    );
    assert.equal(tl.tasks, undefined);
    assert.deepEqual([tl.density.bins, tl.density.scale], [6, 200]);
    // In bin b the tasks longer than 100 × b ms run; CPU is 0.9 × (d − 5) of d, of 12 slots.
    const cpu = (d) => (0.9 * (d - 5)) / d;
    const expected = [0, 1, 2, 3, 4, 5].map((b) => Math.round(([100, 200, 300, 400, 500, 600].filter((d) => d > 100 * b).reduce((sum, d) => sum + cpu(d), 0) / 12) * 200));
    assert.deepEqual(phase(tl.density.phases, "cpu"), expected);
  });

  await t.test("cores that the log does not say are as many as were needed; a task without an end goes on to the end of the log", async () => {
    const tl = await server.json("apps/lanes/stages/0.0/timeline");
    assert.equal(tl.rows[0].slots, 3);
    assert.deepEqual(tl.tasks.lane, [0, 1, 2]);
    assert.deepEqual(tl.tasks.durationMs, [10_000, 10_000, null]);
    assert.equal(tl.tasks.status[2], "unknown");
    assert.equal(tl.endMs, START + 20_000);
  });

  await t.test("many narrow tasks come as density, a part of them singly", async () => {
    const whole = await server.json("apps/many/stages/0.0/timeline?bins=500");
    assert.equal(whole.taskCount, 5000);
    assert.equal(whole.density.bins, 500);
    const busy = whole.density.phases.reduce((sum, p) => sum + p.values[100], 0);
    assert.ok(Math.abs(busy - 200) <= 3, `the slot was always busy: ${busy} of 200`);
    const lost = phase(whole.density.phases, "lost");
    assert.deepEqual([lost[498], lost[499]], [0, 20], "10 of 100 ms were lost");
    const part = await server.json(`apps/many/stages/0.0/timeline?bins=500&from=${START + 1000}&to=${START + 1100}`);
    assert.equal(part.tasks.taskId.length, 12, "the ten in it, and those that end and begin at its ends");
  });

  await t.test("the scatter has all tasks, longest first, and the median speed", async () => {
    const s = await server.json(`${STAGE}/scatter?x=shuffleReadBytes`);
    assert.deepEqual([s.unit, s.taskCount, s.dataCount, s.minDurationMs, s.maxDurationMs, s.minX, s.maxX], ["bytes", 6, 6, 100, 600, 1005, 6005]);
    assert.deepEqual(s.points.taskId, [5, 4, 3, 2, 1, 0]);
    assert.deepEqual(s.points.x, [6005, 5005, 4005, 3005, 2005, 1005]);
    assert.deepEqual(s.points.executorId, ["10", "2", "1", "10", "2", "1"]);
    // Durations grow a little faster than data: the fourth of six speeds is that of 400 ms for 4005 bytes.
    assert.ok(Math.abs(s.medianMsPerUnit - 400 / 4005) < 1e-9, String(s.medianMsPerUnit));
    assert.equal(s.fields, null);
    const empty = await server.json(`${STAGE}/scatter?x=outputBytes`);
    assert.deepEqual([empty.dataCount, empty.minX, empty.medianMsPerUnit], [0, null, null]);
  });

  await t.test("the list of tasks is narrowed by partition, id, time, host and index", async () => {
    const ids = async (query) => (await server.json(`${STAGE}/tasks?sort=taskId&${query}`)).items.map((each) => each.taskId);
    assert.deepEqual(await ids("partition=3"), [3]);
    assert.deepEqual(await ids("task=4"), [4]);
    assert.deepEqual(await ids(`from=${BEGIN + 450}`), [4, 5]);
    assert.deepEqual(await ids(`to=${BEGIN - 1}`), []);
    assert.deepEqual(await ids(`from=${BEGIN}&to=${BEGIN}`), [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(await ids("q=host-10"), [2, 5]);
    assert.deepEqual(await ids("speculative=1"), []);
    assert.deepEqual(await ids("speculative=0&executor=2"), [1, 4]);
    assert.deepEqual((await server.json("apps/app-1/stages/1.0/tasks?q=1&sort=taskId")).items.map((each) => [each.taskId, each.index]), [[7, 1]], "1 is an index there");
    assert.deepEqual((await server.json("apps/app-1/stages/1.0/tasks?q=boom")).items.map((each) => each.taskId), [7]);
  });

  await t.test("a stage tells its slowest task, and of each executor the median and the logs", async () => {
    const stage = await server.json(STAGE);
    assert.equal(stage.slowestTaskId, 5);
    assert.deepEqual(
      stage.executors.map((x) => [x.executorId, x.medianMs, x.maxMs]),
      [["1", 400, 400], ["2", 500, 500], ["10", 600, 600]],
    );
    assert.deepEqual(stage.executors[0].logs, [["stdout", "http://host-1/stdout"]]);
  });

  await t.test("a slow executor bears on its stage, which knows what it would save and where the run waited", async () => {
    const app = `apps/${(await server.json("apps?q=slow_executor")).items[0].ref}`;
    const { findings, verdict } = await server.json(`${app}/findings?stage=0.0`);
    assert.deepEqual([findings[0].rule, findings[0].subject.kind], ["STAGE.SLOW_HOST", "exec"]);
    assert.ok(verdict.startsWith(findings[0].sentence), verdict);
    assert.ok(findings.every((f) => f.subject.key === "0.0" || f.evidence.rows.some((r) => r.kind === "stage" && r.key === "0.0")));
    assert.equal((await server.json(`${app}/findings?stage=7.0`)).total, 0);
    const [stage] = (await server.json(`${app}/stages?sort=-onPath`)).items;
    const own = (await server.json(`${app}/findings?kind=stage&key=0.0`)).findings;
    assert.equal(stage.findingGrade, own[0].grade);
    assert.equal(stage.savingMs, own[0].price?.ms ?? null);
    assert.equal(stage.onPathMs, (await server.json(`${app}/stages/0.0/analysis`)).onPathMs);
    assert.equal(stage.slackMs, null);
  });

  await t.test("a slow task's parts and causes add up", async () => {
    const app = `apps/${(await server.json("apps?q=slow_executor")).items[0].ref}`;
    const { slowestTaskId } = await server.json(`${app}/stages/0.0`);
    const why = await server.json(`${app}/tasks/${slowestTaskId}/why`);
    const sum = (list, key) => list.reduce((total, each) => total + each[key], 0);
    assert.ok(Math.abs(sum(why.parts, "ms") - why.durationMs) < 1e-6);
    assert.ok(Math.abs(sum(why.parts, "typicalMs") - why.medianMs) < 1e-6);
    assert.ok(Math.abs(sum(why.causes, "ms") - why.excessMs) < 1e-6);
    assert.ok(Math.abs(why.durationMs - why.medianMs - why.excessMs) < 1e-6);
  });

  await t.test("bad parameters are told, and what is not there is 404", async () => {
    for (const query of ["timeline?from=x", "timeline?bins=0", "timeline?bins=2001", "timeline?rows=0", "timeline?rows=201", "timeline?lang=fr", "scatter", "scatter?x=nonsense", "tasks?partition=x"])
      assert.equal((await server.json(`${STAGE}/${query}`, 400)).error, "bad_parameter", query);
    for (const path of ["timeline", "scatter?x=inputBytes"]) await server.json(`apps/app-1/stages/9.0/${path}`, 404);
    const none = await server.json("apps/app-1/stages/3.0/timeline");
    assert.deepEqual([none.taskCount, none.tasks.durationMs], [1, [null]]);
  });
});
