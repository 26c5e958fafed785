// SPDX-License-Identifier: Apache-2.0
// The RDD operation graph of jobs and stages, by the rules of spec/core.md 2.10.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { event, stageInfo, START } from "./support/log.mjs";
import { makeFolder, makeStore, startServer } from "./support/server.mjs";

const LEVEL = { "Use Disk": false, "Use Memory": false, "Use Off Heap": false, Deserialized: false, Replication: 1 };
const rdd = (id, name, parents, scope, more = {}) => ({
  "RDD ID": id,
  Name: name,
  ...(scope ? { Scope: JSON.stringify(scope) } : {}),
  Callsite: `${name} at a:${id}`,
  "Parent IDs": parents,
  "Storage Level": LEVEL,
  Barrier: false,
  DeterministicLevel: "DETERMINATE",
  "Number of Partitions": 2,
  "Number of Cached Partitions": 0,
  "Memory Size": 0,
  "Disk Size": 0,
  ...more,
});
const stage = (id, rdds, more = {}) => stageInfo(id, `stage ${id}`, 2, { "RDD Info": rdds, ...more });
const range = (count, from = 0) => Array.from({ length: count }, (_, i) => from + i);

test("RDDs by stage", async (t) => {
  // Stages 0 and 1 as in the worked trace 8.8, with a shuffle and a barrier stage behind; job 1 finds the output of stage 0 still there and lists it as stage 2.
  const first = [rdd(1, "MapPartitionsRDD", [0], { id: "1", name: "map", parent: { id: "9", name: "outer" } }, { "Storage Level": { ...LEVEL, "Use Memory": true } }), rdd(0, "data.txt", [], { id: "0", name: "textFile" })];
  const second = [rdd(3, "MapPartitionsRDD", [2], null, { Barrier: true, DeterministicLevel: "INDETERMINATE" }), rdd(2, "ShuffledRDD", [1], { id: "2", name: "reduceByKey" })];
  const times = (id) => ({ "Submission Time": START + id, "Completion Time": START + id + 1 });
  const job = (id, stages) => event("JobStart", { "Job ID": id, "Submission Time": START, "Stage IDs": stages.map((s) => s["Stage ID"]), "Stage Infos": stages, Properties: {} });
  // 1,999 and 2 RDDs fill a piece; a third stage begins the next one. One of 10,001 RDDs is cut.
  const wide = [stage(10, range(1999, 100).map((id) => rdd(id, "r", []))), stage(11, [rdd(5000, "r", []), rdd(5001, "r", [])]), stage(12, range(10001, 6000).map((id) => rdd(id, "r", [])))];
  const lines = [
    event("LogStart", { "Spark Version": "3.5.7" }),
    event("ApplicationStart", { "App Name": "graph", "App ID": "app-graph", Timestamp: START, User: "alice" }),
    job(0, [stage(0, first), stage(1, second)]),
    ...[0, 1].flatMap((id) => [
      event("StageSubmitted", { "Stage Info": stage(id, id ? second : first, times(id)), Properties: {} }),
      event("StageCompleted", { "Stage Info": stage(id, id ? second : first, times(id)) }),
    ]),
    event("JobEnd", { "Job ID": 0, "Completion Time": START + 5, "Job Result": { Result: "JobSucceeded" } }),
    job(1, [stage(2, first, { "Parent IDs": [] }), stage(3, second, { "Parent IDs": [2] })]),
    event("StageSubmitted", { "Stage Info": stage(3, second, times(3)), Properties: {} }),
    event("StageCompleted", { "Stage Info": stage(3, second, times(3)) }),
    event("JobEnd", { "Job ID": 1, "Completion Time": START + 8, "Job Result": { Result: "JobSucceeded" } }),
    job(2, wide),
    event("ApplicationEnd", { Timestamp: START + 9 }),
  ];
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-graph"), `${lines.join("\n")}\n`);
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const at = "apps/app-graph";

  const { stages, nextStage } = await server.json(`${at}/jobs/0/graph`);
  assert.equal(nextStage, null);
  assert.deepEqual(
    stages.map(({ stageId, attempt, name, skipped, parentIds, rddCount }) => [stageId, attempt, name, skipped, parentIds, rddCount]),
    [
      [0, 0, "stage 0", false, [], 2],
      [1, 0, "stage 1", false, [0], 2],
    ],
  );
  assert.deepEqual(stages[0].rdds, [
    { id: 0, name: "data.txt", callsite: "data.txt at a:0", numPartitions: 2, parentIds: [], cached: false, barrier: false, determinism: "determinate", scopes: [{ id: "0", name: "textFile" }] },
    {
      id: 1,
      name: "MapPartitionsRDD",
      callsite: "MapPartitionsRDD at a:1",
      numPartitions: 2,
      parentIds: [0],
      cached: true,
      barrier: false,
      determinism: "determinate",
      scopes: [
        { id: "9", name: "outer" },
        { id: "1", name: "map" },
      ],
    },
  ]);
  assert.deepEqual(
    stages[1].rdds.map(({ id, parentIds, barrier, determinism, scopes }) => [id, parentIds, barrier, determinism, scopes.length]),
    [
      [2, [1], false, "determinate", 1],
      [3, [2], true, "indeterminate", 0],
    ],
  );
  assert.deepEqual(
    (await server.json(`${at}/jobs/1/graph`)).stages.map(({ stageId, skipped }) => [stageId, skipped]),
    [
      [2, true],
      [3, false],
    ],
  );
  assert.deepEqual((await server.json(`${at}/stages/1.0/graph`)).stages, [stages[1]]);

  const piece = await server.json(`${at}/jobs/2/graph`);
  assert.deepEqual([piece.stages.map(({ stageId }) => stageId), piece.nextStage], [[10, 11], 12]);
  const last = await server.json(`${at}/jobs/2/graph?stage=12`);
  assert.deepEqual([last.stages.map(({ rddCount, rdds }) => [rddCount, rdds.length]), last.nextStage], [[[10001, 10000]], null]);

  for (const path of ["jobs/99/graph", "stages/99.0/graph"]) await server.json(`${at}/${path}`, 404);
  await server.json(`${at}/jobs/0/graph?stage=x`, 400);
});
