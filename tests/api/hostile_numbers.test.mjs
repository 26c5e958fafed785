// SPDX-License-Identifier: Apache-2.0
// A log whose numbers are at the end of what 64 bits hold: every route answers, sums stop at 2^63 - 1, and what counts or measures in whole units stays a whole number.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";

const MOST = "9223372036854775807";

/** The small log; times of ends and all metrics of tasks, and memory of executors, are 2^63 - 1. */
function hostileLog() {
  const of = (line) => {
    if (/SparkListenerTask(Start|End)/.test(line))
      line = line
        .replace(/"(Finish Time|Getting Result Time)":[1-9]\d*/g, `"$1":${MOST}`)
        .replace(/"([A-Z][A-Za-z ]*(?:Bytes|Time|Read|Spilled|Size|Written|Fetched|Memory)[A-Za-z ]*)":(\d{1,12})([,}])/g, `"$1":${MOST}$3`);
    return line.replace(/"(Completion Time)":17\d+/g, `"$1":${MOST}`).replace(/"(Maximum [A-Za-z]*Memory)":\d+/g, `"$1":${MOST}`).replace(/"Total Cores":4/g, '"Total Cores":2147483647');
  };
  return smallLog({ id: "app-hostile" }).split("\n").map(of).join("\n");
}

/** Members that are written as no whole number though their names say a whole unit. */
const odd = (text) => [...text.matchAll(/"(\w+(?:Ms|Bytes|Ns|Count|Tasks|Records))":-?(?:\d+\.\d+(?:e\+?\d+)?|\d+e\+?\d+)/g)].map((found) => found[0]);

test("numbers at the end of the range", async (t) => {
  const logs = makeFolder(t);
  writeFileSync(join(logs, "app-hostile"), hostileLog());
  const store = makeStore(t, [logs]);
  const server = await startServer(t, ["--store", store]);
  const app = "/api/afterglow/v1/apps/app-hostile", v1 = "/api/v1/applications/app-hostile";
  for (const path of [
    "/api/afterglow/v1/apps", app,
    ...["jobs", "jobs/0", "stages", "stages/0.0", "stages/0.0/tasks", "stages/0.0/tasks?sort=gettingResultTimeMs", "stages/0.0/tasks?format=csv", "stages/0.0/timeline", "stages/0.0/scatter?x=inputBytes",
      "stages/0.0/analysis", "executors", "executors/timeline", "hosts", "timeline", "chain", "account", "what-ifs", "findings", "baseline", "tasks/1/why", "search?q=a", "storage", "report?format=json"].map((path) => `${app}/${path}`),
    ...["jobs", "stages", "stages/0/0?details=true&withSummaries=true", "stages/0/0/taskSummary", "stages/0/0/taskList", "allexecutors", "storage/rdd"].map((path) => `${v1}/${path}`),
  ]) {
    const answer = await server.get(path);
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 200)}`);
    assert.deepEqual(odd(answer.text), [], path);
  }
  const totals = (await server.get(`${app}/executors`)).text;
  for (const key of ["gcTimeMs", "inputBytes", "shuffleReadBytes", "shuffleWriteBytes"]) assert.ok(totals.includes(`"${key}":${MOST}`), key);
  const tasks = (await server.get(`${app}/stages/0.0/tasks`)).text;
  // 2^63 - 1 less the start, 1700000001010
  assert.ok(tasks.includes('"durationMs":9223370336854774797') && tasks.includes('"gettingResultTimeMs":0') && tasks.includes('"schedulerDelayMs":0') && tasks.includes(`"shuffleReadBytes":${MOST}`));
  assert.equal((await server.stop()) && 0, 0);

  await t.test("a catalogue that is made again from the runs knows them too", async (t) => {
    for (const file of ["catalog.db", "catalog.db-wal", "catalog.db-shm"]) rmSync(join(store, file), { force: true });
    rmSync(join(logs, "app-hostile"));
    const again = await startServer(t, ["--store", store, "--logs", logs]);
    const item = await eventually(async () => (await again.json("apps")).items?.[0]);
    assert.equal(item.appId, "app-hostile");
    assert.ok((await again.get("/api/afterglow/v1/apps")).text.includes(`"shuffleReadBytes":${MOST}`));
  });
});

test("a result that was fetched after the task's end", async (t) => {
  const logs = makeFolder(t);
  writeFileSync(join(logs, "app-late"), smallLog({ id: "app-late" }).replaceAll('"Getting Result Time":0', '"Getting Result Time":1999999999999'));
  const server = await startServer(t, ["--store", makeStore(t, [logs])]);
  const own = JSON.parse((await server.get("/api/afterglow/v1/apps/app-late/stages/0.0/tasks")).text).items;
  assert.ok(own.length > 0);
  for (const task of own) assert.deepEqual([task.gettingResultTimeMs, task.schedulerDelayMs], [null, 4]); // its time, but for 5 ms of run time less and 1 ms to deserialise
  const { quantiles } = await server.json("apps/app-late/stages/0.0");
  const delays = quantiles.find((each) => each.name === "schedulerDelayMs");
  assert.deepEqual([delays.count, delays.min, delays.max, quantiles.find((each) => each.name === "gettingResultTimeMs")], [own.length, 4, 4, undefined]);
  for (const task of JSON.parse((await server.get("/api/v1/applications/app-late/stages/0/0/taskList")).text)) assert.equal(task.gettingResultTime, Date.parse(task.launchTime.replace("GMT", "Z")) + task.duration - 1999999999999);
});
