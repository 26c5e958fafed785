// SPDX-License-Identifier: Apache-2.0
// What the planted faults of the sample logs must look like (their labels: tests/data/logs/README.md), and that healthy runs stay quiet.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { LOGS, makeStore, startServer } from "./support/server.mjs";

const SKEWED = ["skew_hot_key", "straggler_even_bytes"];
const COLLECTING = ["gc_pressure"];
const QUIET = ["healthy_rdd", "healthy_sql", "tiny_app", "regression_base", "long_lineage_iterative", "tiny_tasks", "spill_sort", "idle_executors"];

test("grades of the samples", async (t) => {
  const server = await startServer(t, [
    "--store",
    makeStore(
      t,
      [...SKEWED, ...COLLECTING, ...QUIET].map((name) => join(LOGS, name)),
    ),
  ]);
  const worst = new Map();
  for (const { ref, logPath } of (await server.json("apps?limit=1000")).items) {
    const name = logPath.slice(LOGS.length + 1).split("/")[0];
    const stages = (await server.json(`apps/${encodeURIComponent(ref)}/stages?limit=1000`)).items;
    worst.set(name, { skew: Math.max(...stages.map((stage) => stage.skew.grade)), gc: Math.max(...stages.map((stage) => stage.gc.grade)), stages, ref });
  }
  for (const name of SKEWED) assert.deepEqual([worst.get(name).skew, worst.get(name).gc], [4, 0], name);
  for (const name of COLLECTING) assert.deepEqual([worst.get(name).skew, worst.get(name).gc], [0, 4], name);
  for (const name of QUIET) assert.deepEqual([worst.get(name).skew, worst.get(name).gc], [0, 0], name);

  await t.test("the hot key is told from the straggler by its bytes", () => {
    const [hot] = worst.get("skew_hot_key").stages.filter((stage) => stage.skew.grade === 4);
    assert.equal(hot.skew.bytes, "shuffleRead");
    assert.ok(hot.skew.bytesRatio > 100 && hot.skew.durationRatio > 20);
    const [straggler] = worst.get("straggler_even_bytes").stages.filter((stage) => stage.skew.grade === 4);
    assert.ok(straggler.skew.bytes === null || straggler.skew.bytesRatio < 3);
  });

  await t.test("the grade filter finds what the pages mark", async () => {
    for (const { ref, stages } of worst.values())
      for (const grade of [3, 4])
        assert.equal(
          (await server.json(`apps/${encodeURIComponent(ref)}/stages?grade=${grade}`)).total,
          stages.filter((stage) => Math.max(stage.skew.grade, stage.gc.grade) >= grade).length,
        );
  });
});
