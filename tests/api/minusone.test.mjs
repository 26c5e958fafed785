// SPDX-License-Identifier: Apache-2.0
// Metrics of SQL plans that begin at -1, "not set" (pain.md P059): such values are in no number. What the History Server's interface says of them: spec/sql.md §3.3.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { event, stageInfo, START, taskEnd, taskInfo } from "./support/log.mjs";
import { makeFolder, makeStore, startServer } from "./support/server.mjs";

const SQL = "org.apache.spark.sql.execution.ui.SparkListener";
const at = (ms) => START + ms;
const sql = (name, members) => JSON.stringify({ Event: `${SQL}SQL${name}`, ...members });

/** Accumulator: name, type, what tasks 0, 1, 2 report. */
const METRICS = [
  { id: 1, name: "spill size", type: "size", updates: [-1, -1, 10] },
  { id: 2, name: "sort time", type: "timing", updates: [-1, -1, -1] },
  { id: 3, name: "build size", type: "size", updates: [0, 0, 5] },
  { id: 4, name: "never", type: "nsTiming", updates: [] },
  { id: 5, name: "data size", type: "size", updates: [], driver: 4096 },
];

function log() {
  const plan = { nodeName: "Sort", simpleString: "Sort", metadata: {}, children: [], metrics: METRICS.map(({ id, name, type }) => ({ name, accumulatorId: id, metricType: type })) };
  const info = stageInfo(0, "count", 3);
  const lines = [
    event("LogStart", { "Spark Version": "4.3.0" }),
    event("ApplicationStart", { "App Name": "minus", "App ID": "app-minus", Timestamp: at(0), User: "alice" }),
    sql("ExecutionStart", { executionId: 0, rootExecutionId: 0, description: "q", details: "", physicalPlanDescription: "Sort", sparkPlanInfo: plan, time: at(1000), modifiedConfigs: {} }),
    event("JobStart", { "Job ID": 0, "Submission Time": at(2000), "Stage IDs": [0], "Stage Infos": [info], Properties: { "spark.sql.execution.id": "0" } }),
    event("StageSubmitted", { "Stage Info": { ...info, "Submission Time": at(2000) }, Properties: { "spark.sql.execution.id": "0" } }),
  ];
  for (const i of [0, 1, 2]) {
    const accumulables = METRICS.filter(({ updates }) => updates.length).map(({ id, name, updates }) => ({ ID: id, Name: name, Update: String(updates[i]), Value: "0", Internal: true, "Count Failed Values": true, Metadata: "sql" }));
    const task = taskInfo(i, i, "1", at(2100), { Accumulables: accumulables });
    lines.push(event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": taskInfo(i, i, "1", at(2100)) }), taskEnd(0, task, at(2200)));
  }
  lines.push(
    JSON.stringify({ Event: `${SQL}DriverAccumUpdates`, executionId: 0, accumUpdates: METRICS.filter(({ driver }) => driver).map(({ id, driver }) => [id, driver]) }),
    event("StageCompleted", { "Stage Info": { ...info, "Submission Time": at(2000), "Completion Time": at(2300) } }),
    event("JobEnd", { "Job ID": 0, "Completion Time": at(2400), "Job Result": { Result: "JobSucceeded" } }),
    sql("ExecutionEnd", { executionId: 0, time: at(2500), errorMessage: "" }),
    event("ApplicationEnd", { Timestamp: at(3000) }),
  );
  return `${lines.join("\n")}\n`;
}

test("P059 minusone", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-minus"), log());
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);

  await t.test("/api/v1 has the History Server's words", async () => {
    const [{ nodes }] = JSON.parse((await server.get("/api/v1/applications/app-minus/sql")).text);
    assert.deepEqual(nodes[0].metrics, [
      { name: "spill size", value: "10.0 B" }, // values not below 0: one, so the value alone
      { name: "sort time", value: "0 ms" }, // none: the formatted 0
      { name: "build size", value: "total (min, med, max (stageId: taskId))\n5.0 B (0.0 B, 0.0 B, 5.0 B (stage 0.0: task 2))" }, // 0 was given
      { name: "data size", value: "4.0 KiB" }, // the driver's only
    ]);
  });

  await t.test("our own interface knows what nobody reported", async () => {
    const { nodes } = await server.json("apps/app-minus/sql/0");
    const metrics = new Map(nodes[0].metrics.map((metric) => [metric.name, metric]));
    const numbers = (name) => ["reportedCount", "total", "min", "median", "max", "maxTaskId"].map((key) => metrics.get(name)[key]);
    assert.deepEqual(numbers("spill size"), [1, 10, 10, 10, 10, 2]);
    assert.deepEqual(numbers("sort time"), [null, null, null, null, null, null]);
    assert.deepEqual(numbers("build size"), [3, 5, 0, 0, 5, 2]);
    assert.deepEqual(numbers("never"), [null, null, null, null, null, null]);
    assert.deepEqual(numbers("data size"), [1, 4096, null, null, null, null]);
  });
});
