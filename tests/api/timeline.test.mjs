// SPDX-License-Identifier: Apache-2.0
// A run over time, over HTTP: its areas are those of the account, its parts are parts, and it stays bounded. And what holds a block of the account.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { event, stageInfo, START, taskEnd, taskInfo } from "./support/log.mjs";
import { LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";

/** @type {{server: any, app: Record<string, string>}} */
const at = { server: null, app: {} };

/** Jobs of one task of 60 ms, one every 100 ms, on one executor of two slots; each tenth fails. */
function manyJobs(count) {
  const lines = [
    event("LogStart", { "Spark Version": "3.5.7" }),
    event("ApplicationStart", { "App Name": "many", "App ID": "app-many", Timestamp: START, User: "u" }),
    event("ExecutorAdded", { Timestamp: START, "Executor ID": "1", "Executor Info": { Host: "h", "Total Cores": 2, "Log Urls": {}, Attributes: {}, Resources: {}, "Resource Profile Id": 0 } }),
  ];
  for (let i = 0; i < count; i++) {
    const from = START + 100 * i,
      to = from + 60;
    const failed = i % 10 === 9;
    const info = stageInfo(i, `count at many.py:${i}`, 1, { "Parent IDs": [] });
    const task = taskInfo(i, 0, "1", from);
    lines.push(
      event("JobStart", { "Job ID": i, "Submission Time": from, "Stage Infos": [info], "Stage IDs": [i], Properties: {} }),
      event("StageSubmitted", { "Stage Info": { ...info, "Submission Time": from }, Properties: {} }),
      event("TaskStart", { "Stage ID": i, "Stage Attempt ID": 0, "Task Info": task }),
      taskEnd(i, task, to),
      event("StageCompleted", { "Stage Info": { ...info, "Submission Time": from, "Completion Time": to } }),
      event("JobEnd", { "Job ID": i, "Completion Time": to, "Job Result": failed ? { Result: "JobFailed", Exception: { Message: "no", "Stack Trace": [] } } : { Result: "JobSucceeded" } }),
    );
  }
  lines.push(event("ApplicationEnd", { Timestamp: START + 100 * count }));
  return lines.join("\n") + "\n";
}

before(async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-many"), manyJobs(450));
  at.server = await startServer(t, ["--store", makeStore(t, [folder, ...["skew_hot_key", "failures", "regression_slow"].map((name) => join(LOGS, name))])]);
  for (const { ref, name } of (await at.server.json("apps?limit=100")).items) at.app[name] = `apps/${ref}`;
});

const get = (name, rest, status = 200) => at.server.json(`${at.app[name]}/${rest}`, status);

const areas = ({ slots, endMs }) =>
  slots.reduce(
    (sum, step, i) => {
      const length = (slots[i + 1]?.fromMs ?? endMs) - step.fromMs;
      return { alive: sum.alive + step.alive * length, busy: sum.busy + step.busy * length };
    },
    { alive: 0, busy: 0 },
  );

test("slots over time enclose the account's slot time: allocated, and what attempts took", async () => {
  const idle = new Set(["sched_wait", "few_tasks", "tail", "stage_gap", "unknown", "startup", "wait_exec", "not_alloc", "gap_sql", "gap_stream", "gap_server", "gap_startup", "gap_shutdown", "gap_user"]);
  for (const name of Object.keys(at.app)) {
    const timeline = await get(name, "timeline"),
      account = await get(name, "account");
    const { alive, busy } = areas(timeline);
    assert.ok(Math.abs(alive - account.allocatedMs) <= 1, `${name}: ${alive} of ${account.allocatedMs}`);
    const worked = account.buckets.filter((b) => !idle.has(b.bucket)).reduce((s, b) => s + b.slotMs, 0);
    assert.ok(Math.abs(busy - worked) <= account.buckets.length, `${name}: ${busy} of ${worked}`);
    assert.deepEqual([timeline.beginMs, timeline.endMs, timeline.slotPeak], [account.beginMs, account.endMs, account.slotPeak]);
    assert.ok(Math.max(...timeline.slots.map((s) => s.alive)) <= timeline.slotPeak);
  }
});

test("the stage that the run waited for longest is the skewed one, and its last task is the slow one", async () => {
  const { jobs, stages, density, gaps } = await get("skew_hot_key", "timeline");
  assert.equal(jobs.length, 1);
  assert.equal(density, null);
  const [longest] = [...stages].sort((a, b) => b.onPathMs - a.onPathMs);
  assert.deepEqual([longest.stageId, longest.lastTaskId, longest.lastTaskSlow, longest.jobId], [1, 11, true, 0]);
  assert.equal(longest.lastTaskToMs - longest.lastTaskFromMs, 3357);
  assert.equal(gaps[0].bucket, "startup");
  for (let i = 1; i < gaps.length; i++) assert.ok(gaps[i - 1].toMs <= gaps[i].fromMs);
});

test("what failed is marked", async () => {
  const { jobs, stages } = await get("failures", "timeline");
  assert.deepEqual(
    [jobs.map((j) => j.failed), stages.map((s) => s.failed)],
    [
      [false, true],
      [false, true],
    ],
  );
});

test("two stages of one job at the same time: one has slack, in the order of the log", async () => {
  // jobs 2 and 3 of this run begin together; the stage of job 2 ends 15 ms before its job
  const { stages } = await get("nightly_sales", "timeline");
  const stage = stages.find((s) => s.stageId === 2);
  assert.deepEqual([stage.jobId, stage.slackMs], [2, 15]);
  assert.ok(stages.every((s) => s.slackMs === null || s.slackMs >= 0));
});

test("a part holds what lies in it, and the step that reaches into it", async () => {
  const whole = await get("nightly_sales", "timeline");
  const part = await get("nightly_sales", "timeline?fromMs=11000&toMs=16000");
  assert.deepEqual([part.fromMs - part.beginMs, part.toMs - part.beginMs], [11000, 16000]);
  assert.deepEqual(
    part.jobs.map((j) => j.jobId),
    whole.jobs.filter((j) => j.fromMs < part.toMs && j.toMs >= part.fromMs).map((j) => j.jobId),
  );
  assert.ok(part.jobs.length > 0 && part.jobs.length < whole.jobs.length);
  assert.ok(part.slots[0].fromMs <= part.fromMs && part.slots[1].fromMs > part.fromMs);
  assert.equal((await get("nightly_sales", "timeline?toMs=900000000")).toMs, whole.endMs);
});

test("more than 400 jobs are told as numbers over time, fewer one by one again", async () => {
  const { jobCount, jobs, stageCount, stages, density } = await get("many", "timeline");
  assert.deepEqual([jobCount, jobs.length, stageCount, stages.length], [450, 0, 450, 0]);
  assert.equal(density.running.length, 400);
  // 450 jobs of 60 ms in 45 s
  assert.ok(Math.abs(density.running.reduce((a, b) => a + b, 0) * density.partMs - 450 * 60) < 450 * 60 * 0.01);
  assert.equal(
    density.failed.reduce((a, b) => a + b, 0),
    45,
  );
  const part = await get("many", "timeline?fromMs=1000&toMs=3950");
  assert.deepEqual([part.density, part.jobs.length, part.stages.length], [null, 30, 30]);
  assert.equal((await get("many", "timeline?fromMs=0&toMs=10000")).stages.length, 0);
});

test("parts that make no sense are refused", async () => {
  for (const wrong of ["fromMs=-1", "fromMs=x", "toMs=0", "fromMs=5&toMs=5", "fromMs=9&toMs=3", "lang=tlh"]) assert.equal((await get("failures", `timeline?${wrong}`, 400)).error, "bad_parameter", wrong);
  const late = await get("failures", "timeline?fromMs=99999999");
  assert.deepEqual([late.jobs, late.stages], [[], []]);
});

test("a block of the account tells what holds it", async () => {
  const { holders, buckets, gaps } = await get("skew_hot_key", "account?holders=cpu&gaps=0");
  const cpu = buckets.find((b) => b.bucket === "cpu");
  assert.deepEqual([holders.gaps, gaps], [[], []]);
  assert.deepEqual(
    holders.stages.map((s) => s.stageId),
    [1, 0],
  );
  assert.equal(
    holders.stages.reduce((s, x) => s + x.slotMs, 0),
    cpu.slotMs,
  );
  for (const s of holders.stages) {
    const own = await get("skew_hot_key", `account?stage=${s.stageId}.${s.attempt}&view=cost`);
    assert.equal(
      own.buckets.reduce((sum, b) => sum + b.slotMs, 0),
      s.allSlotMs,
    );
  }
  const waiting = await get("nightly_sales", "account?holders=gap_user&gaps=2");
  assert.deepEqual(waiting.holders.stages, []);
  assert.ok(waiting.holders.gaps.length > 0 && waiting.holders.gaps.every((g) => g.bucket === "gap_user"));
  const lengths = waiting.holders.gaps.map((g) => g.toMs - g.fromMs);
  assert.deepEqual(
    lengths,
    [...lengths].sort((a, b) => b - a),
  );
  assert.equal(waiting.gaps.length, 2);
  assert.deepEqual((await get("nightly_sales", "account?holders=no_such_bucket")).holders, { stages: [], jobs: [], gaps: [] });
  assert.equal((await get("nightly_sales", "account?gaps=-1", 400)).error, "bad_parameter");
});

test("a job alone: its stages, over its own time or a part of it", async () => {
  const one = await get("many", "timeline?job=7");
  assert.deepEqual([one.fromMs, one.toMs], [START + 700, START + 760]);
  assert.deepEqual([one.jobCount, one.jobs.map((j) => j.jobId), one.stages.map((s) => [s.stageId, s.jobId]), one.density], [1, [7], [[7, 7]], null]);
  const part = await get("many", "timeline?job=7&fromMs=710&toMs=720");
  assert.deepEqual([part.fromMs, part.toMs, part.jobs.map((j) => j.jobId)], [START + 710, START + 720, [7]]);
  assert.deepEqual((await get("many", "timeline?job=7&fromMs=2000&toMs=3000")).jobs, []);
  assert.deepEqual((await get("many", "timeline?job=99999")).jobs, []);
  await get("many", "timeline?job=x", 400);
});
