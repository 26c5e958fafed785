// SPDX-License-Identifier: Apache-2.0
// What people suffered from with other viewers, as logs of a few lines whose right answers are known by hand: ../shared/spec/pain.md, part B. Each test has its number and short name.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { event, stageInfo, START, taskEnd, taskInfo } from "./support/log.mjs";
import { eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";

const at = (ms) => START + ms;

const head = (id, name = id) => [
  event("LogStart", { "Spark Version": "3.5.1" }),
  event("ApplicationStart", { "App Name": name, "App ID": id, Timestamp: at(0), User: "alice" }),
  event("ExecutorAdded", { Timestamp: at(100), "Executor ID": "1", "Executor Info": { Host: "h1", "Total Cores": 2, "Log Urls": {}, Attributes: {}, Resources: {} } }),
];
const applicationEnd = (ms) => event("ApplicationEnd", { Timestamp: at(ms) });
const jobStart = (id, ms, stages) => event("JobStart", { "Job ID": id, "Submission Time": at(ms), "Stage IDs": stages.map((s) => s["Stage ID"]), "Stage Infos": stages, Properties: {} });
const jobEnd = (id, ms, result = { Result: "JobSucceeded" }) => event("JobEnd", { "Job ID": id, "Completion Time": at(ms), "Job Result": result });
const submitted = (info, ms) => event("StageSubmitted", { "Stage Info": { ...info, "Submission Time": at(ms) }, Properties: {} });
const completed = (info, from, to, more = {}) => event("StageCompleted", { "Stage Info": { ...info, "Submission Time": at(from), "Completion Time": at(to), ...more } });
const taskStart = (stage, info, attempt = 0) => event("TaskStart", { "Stage ID": stage, "Stage Attempt ID": attempt, "Task Info": info });

const exception = {
  Reason: "ExceptionFailure",
  "Class Name": "java.lang.RuntimeException",
  Description: "boom",
  "Stack Trace": [],
  "Full Stack Trace": "java.lang.RuntimeException: boom",
  "Accumulator Updates": [],
};

/** The same order for a seed, everywhere. */
function shuffled(items, seed) {
  const out = [...items];
  let state = seed;
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (i + 1);
    [out[i], out[other]] = [out[other], out[i]];
  }
  return out;
}

async function serve(t, logs) {
  const folder = makeFolder(t);
  for (const [name, bytes] of Object.entries(logs)) writeFileSync(join(folder, name), bytes);
  return startServer(t, ["--store", makeStore(t, [folder])], { LC_ALL: "C" });
}

const v1 = async (server, path) => {
  const answer = await server.get(`/api/v1/applications/${path}`);
  assert.equal(answer.status, 200, path);
  return JSON.parse(answer.text);
};

test("P030 cutline: a log cut anywhere in a line loses that line alone", async (t) => {
  const info = stageInfo(0, "count", 2);
  const tasks = [0, 1].map((i) => taskInfo(i, i, "1", at(3000)));
  const lines = [...head("app-cut"), jobStart(0, 2000, [info]), submitted(info, 2500), ...tasks.map((task) => taskStart(0, task)), taskEnd(0, tasks[0], at(5000))];
  const last = taskEnd(0, tasks[1], at(5000));
  const before = `${lines.join("\n")}\n`;
  const logs = {};
  for (let cut = 0; cut <= last.length; cut += cut > 40 && cut < last.length - 40 ? 23 : 1) logs[`app-cut-${String(cut).padStart(5, "0")}`] = before.replaceAll("app-cut", `app-cut-${cut}`) + last.slice(0, cut);
  const server = await serve(t, logs);
  const list = await server.json("apps?limit=1000");
  assert.equal(list.total, Object.keys(logs).length);
  for (const item of list.items) {
    const cut = Number(item.appId.slice("app-cut-".length));
    const { items } = await server.json(`apps/${item.ref}/stages`);
    assert.equal(items[0].completeTasks, cut === last.length ? 2 : 1, item.appId);
    assert.equal(item.complete, false);
    assert.ok(item.flags.includes("cut"), item.appId);
  }
});

test("P032 utf8: bytes that are no text cost only themselves", async (t) => {
  const name = "每日报表 🚀";
  const info = stageInfo(0, "count", 1);
  const task = taskInfo(0, 0, "1", at(3000), { Failed: true });
  const failure = { ...exception, Description: "@MARK@", "Full Stack Trace": "java.lang.RuntimeException: @MARK@" };
  const text = [
    ...head("app-utf8", name),
    jobStart(0, 2000, [info]),
    submitted(info, 2500),
    taskStart(0, task),
    taskEnd(0, task, at(5000), { "Task End Reason": failure }),
    completed(info, 2500, 5100, { "Failure Reason": "@MARK@" }),
    jobEnd(0, 5200, { Result: "JobFailed", Exception: { Message: "@MARK@", "Stack Trace": [] } }),
    applicationEnd(6000),
  ].join("\n");
  const [first, ...rest] = text.split("@MARK@");
  const mark = Buffer.concat([Buffer.from("caf"), Buffer.from([0xe9]), Buffer.from("-\\ud800-\\u0000-\u2028!")]);
  const server = await serve(t, { "app-utf8": Buffer.concat([Buffer.from(first), ...rest.flatMap((piece) => [mark, Buffer.from(piece)]), Buffer.from("\n")]) });
  const strict = new TextDecoder("utf-8", { fatal: true });
  for (const path of ["/api/v1/applications", "/api/v1/applications/app-utf8/stages?details=true", "/api/v1/applications/app-utf8/jobs", "/api/afterglow/v1/apps/app-utf8", "/api/afterglow/v1/apps/app-utf8/stages/0.0"]) {
    const answer = await server.get(path);
    assert.equal(answer.status, 200, path);
    JSON.parse(strict.decode(answer.bytes));
  }
  assert.equal((await v1(server, "app-utf8")).name, name);
  const [stage] = await v1(server, "app-utf8/stages?details=true");
  assert.match(stage.tasks["0"].errorMessage, /caf\ufffd-/);
  assert.match(stage.tasks["0"].errorMessage, /\u2028!/);
});

/** Two stages of 100 tasks; of each, the ends of tasks 3, 13, 23 failed and 5, 15 were killed, and what they had to do ran again. */
function twoStages(id) {
  const infos = [stageInfo(0, "map", 95), stageInfo(1, "reduce", 95)];
  const front = [...head(id), jobStart(0, 1000, infos), ...infos.map((info, i) => submitted(info, 1000 + i))];
  const loose = [];
  for (const [stage, info] of infos.entries()) {
    for (let i = 0; i < 100; i++) {
      const fails = i < 25 && i % 10 === 3;
      const killed = i < 20 && i % 10 === 5;
      const index = i < 95 ? i : [3, 13, 23, 5, 15][i - 95];
      const task = taskInfo(stage * 100 + i, index, "1", at(2000 + i), { Attempt: i < 95 ? 0 : 1, Failed: fails, Killed: killed });
      const reason = fails ? exception : killed ? { Reason: "TaskKilled", "Kill Reason": "another attempt succeeded", "Accumulator Updates": [] } : { Reason: "Success" };
      loose.push(taskStart(stage, task), taskEnd(stage, task, at(3000 + 7 * i), { "Task End Reason": reason }));
    }
    loose.push(completed(info, 1000 + stage, 9000));
  }
  loose.push(jobEnd(0, 9500));
  return { front, loose, back: [applicationEnd(10000)] };
}

test("P046 lateend: totals do not depend on the order of ends", async (t) => {
  const logs = {};
  const text = (id, seed) => {
    const { front, loose, back } = twoStages(id);
    return `${[...front, ...(seed ? shuffled(loose, seed) : loose), ...back].join("\n")}\n`;
  };
  for (let seed = 0; seed <= 20; seed++) logs[`app-order-${seed}`] = text(`app-order-${seed}`, seed);
  const server = await serve(t, logs);
  const figures = async (id) => ({
    app: ((item) => [item.taskCount, item.failedTaskCount, item.taskTimeMs, item.jobCount, item.failedJobCount, item.outcome, item.inputBytes])((await server.json(`apps?q=${id}`)).items.find((item) => item.appId === id)),
    jobs: (await server.json(`apps/${id}/jobs`)).items,
    stages: (await server.json(`apps/${id}/stages?sort=id`)).items,
    executors: (await server.json(`apps/${id}/executors`)).items,
    summary: [await v1(server, `${id}/stages/0/0/taskSummary`), await v1(server, `${id}/stages/1/0/taskSummary`)],
  });
  const right = await figures("app-order-0");
  for (const stage of right.stages) assert.deepEqual([stage.completeTasks, stage.failedTasks, stage.killedTasks], [95, 3, 2]);
  assert.deepEqual([right.jobs[0].completedTasks, right.jobs[0].failedTasks, right.jobs[0].killedTasks], [190, 6, 4]);
  assert.equal(right.app[2], 2 * (100 * 1000 + (7 - 1) * ((99 * 100) / 2)));
  for (let seed = 1; seed <= 20; seed++) assert.deepEqual(await figures(`app-order-${seed}`), right, `order ${seed}`);
});

test("P048 dropped: what the log lost is unknown, not running", async (t) => {
  const info = stageInfo(0, "count", 100);
  const lines = [...head("app-drop"), jobStart(0, 1000, [info]), submitted(info, 1000)];
  for (let i = 0; i < 100; i++) {
    const task = taskInfo(i, i, "1", at(2000));
    lines.push(taskStart(0, task));
    if (i % 3 !== 0 || i === 99) lines.push(taskEnd(0, task, at(3000 + i)));
  }
  const lost = 33;
  const server = await serve(t, {
    "app-drop-1": `${[...lines, applicationEnd(60000)].join("\n").replaceAll("app-drop", "app-drop-1")}\n`,
    "app-drop-2": `${lines.join("\n").replaceAll("app-drop", "app-drop-2")}\n`,
  });
  for (const id of ["app-drop-1", "app-drop-2"]) {
    const { items: jobs } = await server.json(`apps/${id}/jobs`);
    const { items: stages } = await server.json(`apps/${id}/stages`);
    const { health } = await server.json(`apps/${id}/health`);
    assert.deepEqual([jobs[0].completedTasks, jobs[0].failedTasks, jobs[0].killedTasks], [100 - lost, 0, 0]);
    assert.equal(stages[0].completeTasks, 100 - lost);
    assert.equal(health.tasksWithoutEnd, lost);
    assert.equal(health.jobsWithoutEnd, 1);
    assert.equal(health.stagesWithoutEnd, 1);
    for (const each of [...jobs, ...stages]) for (const [key, value] of Object.entries(each)) assert.ok(typeof value !== "number" || value >= 0, `${id} ${key} ${value}`);
  }
  const { items: ended } = await server.json("apps/app-drop-1/jobs");
  assert.equal(ended[0].status, "unknown");
  assert.equal((await server.json("apps/app-drop-1/stages")).items[0].status, "unknown");
  const cut = (await server.json("apps?q=app-drop-2")).items[0];
  assert.equal(cut.durationMs, 3098 + 1, "until the last event in the log, however late one looks");
});

test("P050 skipped: skipped, shared and retried stages are counted where they ran", async (t) => {
  const stage = (id, tasks, attempt = 0) => stageInfo(id, `stage ${id}`, tasks, { "Stage Attempt ID": attempt });
  const lines = head("app-skip");
  let nextTask = 0;
  const run = (id, attempt, indices, ms) => {
    for (const index of indices) {
      const task = taskInfo(nextTask++, index, "1", at(ms));
      lines.push(taskStart(id, task, attempt), taskEnd(id, task, at(ms + 100), { "Stage Attempt ID": attempt }));
    }
  };
  lines.push(jobStart(1, 1000, [stage(0, 4), stage(1, 2)]), submitted(stage(0, 4), 1000));
  run(0, 0, [0, 1, 2, 3], 1100);
  lines.push(completed(stage(0, 4), 1000, 1300), submitted(stage(1, 2), 1300));
  const fetch = taskInfo(nextTask++, 0, "1", at(1400), { Failed: true });
  const lost = { Reason: "FetchFailed", "Block Manager Address": { "Executor ID": "1", Host: "h1", Port: 1 }, "Shuffle ID": 0, "Map ID": 0, "Map Index": 0, "Reduce ID": 0, Message: "gone" };
  lines.push(taskStart(1, fetch), taskEnd(1, fetch, at(1500), { "Task End Reason": lost }), completed(stage(1, 2), 1300, 1500, { "Failure Reason": "gone" }), submitted(stage(1, 2, 1), 1600));
  run(1, 1, [0, 1], 1700);
  lines.push(completed(stage(1, 2, 1), 1600, 1900), jobEnd(1, 2000));
  lines.push(jobStart(2, 3000, [stage(0, 4), stage(2, 3)]));
  lines.push(submitted(stage(0, 1, 1), 3000));
  run(0, 1, [0], 3100);
  lines.push(completed(stage(0, 1, 1), 3000, 3300), submitted(stage(2, 3), 3300));
  run(2, 0, [0, 1, 2], 3400);
  lines.push(completed(stage(2, 3), 3300, 3600), jobEnd(2, 3700));
  lines.push(jobStart(3, 4000, [stage(0, 4), stage(4, 1)]), submitted(stage(4, 1), 4000));
  run(4, 0, [0], 4100);
  lines.push(completed(stage(4, 1), 4000, 4300), jobEnd(3, 4400), applicationEnd(5000));
  const server = await serve(t, { "app-skip": `${lines.join("\n")}\n` });
  const jobs = new Map((await server.json("apps/app-skip/jobs")).items.map((job) => [job.jobId, job]));
  for (const job of jobs.values()) assert.ok(job.completedIndices <= job.numTasks, `job ${job.jobId}`);
  assert.deepEqual([jobs.get(1).completedTasks, jobs.get(1).failedTasks, jobs.get(1).skippedStages], [6, 1, 0]);
  assert.deepEqual([jobs.get(2).completedTasks, jobs.get(2).skippedStages], [4, 0]);
  assert.deepEqual([jobs.get(3).completedTasks, jobs.get(3).skippedStages], [1, 1]);
  const { items } = await server.json("apps/app-skip/stages?sort=id");
  const counts = new Map(items.map((each) => [`${each.stageId}.${each.attempt}`, each.completeTasks]));
  assert.deepEqual([counts.get("0.0"), counts.get("0.1"), counts.get("1.0"), counts.get("1.1"), counts.get("2.0"), counts.get("4.0")], [4, 1, 0, 2, 3, 1]);
  assert.equal((await server.json("apps?q=app-skip")).items[0].taskTimeMs, 12 * 100);
});

const DAY_SECONDS = 86400;

/** Three runs as P021 has them; the first gets a line a second, and its modification time stays old, as a name node's does. */
function retained(t) {
  const folder = makeFolder(t);
  const now = Date.now() / 1000;
  const put = (name, days, lines) => {
    const path = join(folder, name);
    writeFileSync(path, `${lines.join("\n")}\n`);
    utimesSync(path, now - days * DAY_SECONDS, now - days * DAY_SECONDS);
    return path;
  };
  const growing = put("app-1.inprogress", 15, head("app-1"));
  const ended = put("app-2", 15, [...head("app-2"), applicationEnd(9000)]);
  const untouched = put("app-3.inprogress", 60, head("app-3"));
  const beat = setInterval(() => {
    if (!existsSync(growing)) return; // it must not come back by our writing
    appendFileSync(growing, `${event("ExecutorAdded", { Timestamp: at(2000), "Executor ID": "2", "Executor Info": { Host: "h2", "Total Cores": 2, "Log Urls": {}, Attributes: {} } })}\n`);
    utimesSync(growing, now - 15 * DAY_SECONDS, now - 15 * DAY_SECONDS);
  }, 1000);
  t.after(() => clearInterval(beat));
  const conf = join(makeFolder(t), "clean.conf");
  const serveWith = (more) => {
    const settings = { "update.interval": "500ms", "cleaner.enabled": "true", "cleaner.interval": "1s", "cleaner.maxAge": "14d" };
    writeFileSync(conf, [...Object.entries(settings).map(([key, value]) => `spark.history.fs.${key}=${value}`), ...more].join("\n"));
    return startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", folder, "--properties-file", conf]);
  };
  return { growing, ended, untouched, serveWith };
}

const flagsOf = async (server) => new Map((await server.json("apps")).items.map((item) => [item.appId, item.flags]));

test("P021 cleanlive: retention spares running jobs", async (t) => {
  const { growing, ended, untouched, serveWith } = retained(t);
  const server = await serveWith([]);
  await eventually(() => !existsSync(ended));
  const size = statSync(growing).size;
  await eventually(() => statSync(growing).size > size);
  await eventually(async () => {
    const flags = await flagsOf(server);
    return flags.get("app-3")?.includes("abandoned") && flags.get("app-1")?.includes("abandoned") === false;
  });
  assert.ok(existsSync(untouched));
  const runs = (await server.json("apps")).items;
  const states = new Map(runs.map((run) => [run.appId, run.state]));
  assert.ok(["loaded", "waiting", "loading"].includes(states.get("app-1")), states.get("app-1")); // its new line may just be read
  assert.deepEqual([states.size, states.get("app-2"), states.get("app-3")], [3, "gone", "loaded"]);
  assert.equal((await server.get("/api/v1/applications/app-2/jobs")).status, 200); // its log went, the run did not
});

test("P021 cleanlive: abandoned logs go where that is asked for, growing ones stay", async (t) => {
  const { growing, untouched, serveWith } = retained(t);
  await serveWith(["afterglow.cleaner.abandoned=true", "afterglow.abandoned.age=60s"]);
  await eventually(() => !existsSync(untouched));
  const size = statSync(growing).size;
  await eventually(() => statSync(growing).size > size + 300);
});
