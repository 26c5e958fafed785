// SPDX-License-Identifier: Apache-2.0
// Executors over time, by machine and with their losses in words; other processes; cached RDDs and blocks; settings against their defaults: over logs whose numbers can be added up by hand.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { added, at, crowdedLog, end, head, lossesLog, removed, storageLog, text } from "./support/executor_log.mjs";
import { smallLog, START } from "./support/log.mjs";
import { LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";

const MIB = 2 ** 20;

test("executors", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog());
  writeFileSync(join(folder, "app-losses"), lossesLog());
  writeFileSync(join(folder, "app-crowded"), crowdedLog());
  // Logs that stop: one two seconds after an executor went, the other eight.
  for (const [id, ms] of [["app-stopped-soon", 5000], ["app-stopped-late", 11_000]])
    writeFileSync(join(folder, `${id}.inprogress`), text([...head(id), added("1", 1000, "h1"), removed("1", 3000, "worker lost"), added("2", ms, "h2")]));
  const asks = {
    // Spark's Utils.getDynamicAllocationInitialExecutors: the largest of the three.
    "app-dynamic": ["yarn", { "dynamicAllocation.enabled": "true", "dynamicAllocation.minExecutors": "2", "dynamicAllocation.initialExecutors": "3", "executor.instances": "4", "dynamicAllocation.maxExecutors": "9" }, [4, 4]],
    "app-unset": ["yarn", { "dynamicAllocation.enabled": "TRUE", "dynamicAllocation.minExecutors": "many", "dynamicAllocation.maxExecutors": "-1" }, [2, 4]],
    "app-static": ["yarn", { "executor.instances": "5", "executor.cores": "4", "task.cpus": "2", "dynamicAllocation.maxExecutors": "9" }, []],
    "app-local": ["local[4]", { "dynamicAllocation.enabled": "true", "executor.instances": "5" }, []],
  };
  for (const [id, [master, conf, cores]] of Object.entries(asks)) {
    const spark = Object.fromEntries(Object.entries({ master, ...conf }).map(([name, value]) => [`spark.${name}`, value]));
    writeFileSync(join(folder, id), text([...head(id, spark), ...cores.map((each, i) => added(String(i + 1), 1000, "h1", each)), end(5000)]));
  }
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const losses = (query = "") => server.json(`apps/app-losses/executors${query}`);

  await t.test("slots over time add up, of all and of each executor", async () => {
    // 5 s in 5 bins; three executors with 4 slots each from 100 ms on; tasks: support/log.mjs. One has no end and runs to the end of the run.
    const all = await server.json("apps/app-1/executors/timeline?bins=5");
    assert.deepEqual([all.fromMs, all.binMs], [START, 1000]);
    assert.deepEqual(all.aliveMs, [10_800, 12_000, 12_000, 12_000, 12_000]);
    assert.deepEqual(all.busyMs, [0, 2100, 700, 100, 1000]);
    const line = (id) => all.items.find((each) => each.executorId === id);
    assert.deepEqual(line("1").busyMs, [0, 500, 300, 0, 1000]);
    assert.deepEqual(line("2").busyMs, [0, 700, 400, 0, 0]);
    assert.deepEqual(line("10").busyMs, [0, 900, 0, 100, 0]);
    assert.deepEqual([line("driver").slots, line("10").slots, line("10").addMs], [0, 4, at(100)]);
    // Bins that do not fit: the last one is shorter, and sums stay.
    const odd = await server.json("apps/app-1/executors/timeline?bins=7");
    assert.equal(odd.busyMs.reduce((a, b) => a + b), 3900);
    assert.equal(odd.aliveMs.length, Math.ceil(5000 / odd.binMs));
    // A page has the same sums above it.
    const page = await server.json("apps/app-1/executors/timeline?bins=5&limit=1&page=3");
    assert.deepEqual([page.items.map((each) => each.executorId), page.total, page.busyMs], [["2"], 4, all.busyMs]);
    assert.deepEqual((await server.json("apps/app-1/executors/timeline?exec=10&bins=5")).items.map((each) => each.executorId), ["10"]);
    // A part of the run: 1 s to 3 s in bins of 1 s; the run's own ends stay said.
    const part = await server.json("apps/app-1/executors/timeline?bins=2&fromMs=1000&toMs=3000");
    assert.deepEqual([part.beginMs, part.endMs, part.fromMs, part.binMs], [START, at(5000), at(1000), 1000]);
    assert.deepEqual([part.aliveMs, part.busyMs], [[12_000, 12_000], [2100, 700]]);
    assert.deepEqual(part.items.find((each) => each.executorId === "1").busyMs, [500, 300]);
    // What lies behind the end is cut off there.
    assert.deepEqual((await server.json("apps/app-1/executors/timeline?bins=1&fromMs=4000&toMs=90000")).busyMs, [1000]);
    for (const wrong of ["bins=0", "bins=1001", "limit=201", "state=gone", "fromMs=-1", "fromMs=5&toMs=5"]) await server.json(`apps/app-1/executors/timeline?${wrong}`, 400);
  });

  await t.test("what an executor's tasks did is the sum over its stages", async () => {
    const { items } = await server.json("apps/app-1/executors");
    for (const x of items) {
      let runTimeMs = 0, seen = 0;
      for (const stage of (await server.json("apps/app-1/stages")).items)
        for (const part of (await server.json(`apps/app-1/stages/${stage.stageId}.${stage.attempt}`)).executors)
          if (part.executorId === x.executorId && part.runTimeMs !== null) [runTimeMs, seen] = [runTimeMs + part.runTimeMs, seen + 1];
      assert.equal(x.runTimeMs, seen ? runTimeMs : null, x.executorId);
    }
    assert.ok(items.some((x) => x.runTimeMs > 0) && items.some((x) => x.runTimeMs === null));
  });

  await t.test("how many executors were asked for is said as far as the settings do, and never guessed", async () => {
    const bounds = async (id) => Object.values((await server.json(`apps/${id}/executors/timeline?bins=1`)).bounds);
    // dynamic, at least, at the start, at most, slots of one
    assert.deepEqual(await bounds("app-dynamic"), [true, 2, 4, 9, 4]);
    assert.deepEqual(await bounds("app-unset"), [true, null, null, null, null], "values that are none, and executors of different sizes");
    assert.deepEqual(await bounds("app-static"), [false, null, 5, null, 2], "none came: 4 cores for tasks of 2");
    assert.deepEqual(await bounds("app-local"), [false, null, null, null, null]);
    assert.deepEqual(await bounds("app-1"), [false, null, null, null, 4]);
  });

  await t.test("a loss is told from a farewell, with its reason and exit code in words", async () => {
    const told = Object.fromEntries((await losses()).items.map((each) => [each.executorId, [each.lost, each.exitCode, each.lossReason, each.exitMeaning]]));
    assert.deepEqual(told["1"], [
      true,
      137,
      "killed from outside (exit code 137): a memory limit is possible",
      "it was killed from outside (signal 9): a memory limit is possible",
    ]);
    assert.deepEqual(told["2"], [true, null, "it stopped answering (heartbeat timed out)", null]);
    assert.deepEqual(told["3"], [false, null, null, null], "YARN's words for a container that Spark gave back");
    assert.deepEqual(told["4"], [true, 50, null, "an exception that nobody caught"]);
    assert.deepEqual(told["5"], [true, null, null, null], "its own text says more than we");
    assert.deepEqual(told["6"], [false, null, null, null], "two seconds before the end: with the application");
    assert.deepEqual(told["7"], [false, null, null, null]);
    assert.deepEqual(told["8"], [true, null, "the log does not say why", null], "its removal is not in the log, but its task says so (pain.md P065)");
    const chinese = (await losses("?exec=2&lang=zh-CN")).items[0].lossReason;
    assert.match(chinese, /心跳/);
    assert.deepEqual((await losses("?state=lost")).items.map((each) => each.executorId), ["1", "2", "4", "5", "8"]);
    assert.deepEqual((await losses("?state=excluded")).items.map((each) => each.executorId), ["7"]);
    assert.deepEqual((await losses("?state=active")).items.map((each) => each.executorId), ["driver", "7", "8"]);
    assert.deepEqual((await losses("?host=h1&state=removed")).items.map((each) => each.executorId), ["1", "4"]);
    assert.deepEqual((await losses("?sort=-remove&limit=2")).items.map((each) => each.executorId), ["6", "5"]);
  });

  await t.test("who was lost is the same for the list of runs and for the run's own page, also where the log has no end", async () => {
    for (const [id, lost] of [["app-stopped-soon", ["1"]], ["app-stopped-late", ["1"]]]) {
      const { items } = await server.json(`apps/${id}/executors`);
      assert.deepEqual(items.filter((each) => each.lost).map((each) => each.executorId), lost, id);
      assert.equal((await server.json(`apps/${id}`)).lostExecutorCount, lost.length, id);
    }
    const { executors } = await server.json("apps/app-losses/timeline");
    assert.deepEqual(executors.filter((each) => each.lost).map((each) => each.executorId), ["1", "2", "4", "5", "8"], "and for the picture of the run");
  });

  await t.test("nobody is busy for more than all of the time", async () => {
    const [x] = (await server.json("apps/app-crowded/executors?exec=1")).items;
    assert.deepEqual([x.taskTimeMs, x.aliveMs, x.totalCores, x.busyShare], [4000, 2000, 1, 1]);
  });

  await t.test("limits of memory come from the settings", async () => {
    const { items } = await losses();
    const of = (id) => items.find((each) => each.executorId === id);
    assert.deepEqual([of("1").heapLimitBytes, of("1").containerLimitBytes], [2048 * MIB, (2048 + 512 + 256) * MIB]);
    assert.deepEqual([of("driver").heapLimitBytes, of("driver").containerLimitBytes], [3072 * MIB, null]);
    // A standalone worker has no containers, and 1 GiB is what Spark takes by itself.
    const small = (await server.json("apps/app-1/executors?exec=1")).items[0];
    assert.deepEqual([small.heapLimitBytes, small.containerLimitBytes], [1024 * MIB, null]);
  });

  await t.test("totals are of all, whatever the filters", async () => {
    const { totals, exclusions } = await losses("?state=lost");
    assert.deepEqual(
      totals.map((each) => [each.active, each.executorCount, each.lostCount, each.totalCores]),
      [
        [true, 3, 1, 4],
        [false, 6, 4, 12],
      ],
    );
    assert.deepEqual(exclusions, [{ lifted: false, timeMs: at(15_000), executorId: "7", host: null, stageId: null, stageAttempt: null, failures: 2 }]);
  });

  await t.test("hosts", async () => {
    const { items, total } = await server.json("apps/app-losses/hosts");
    assert.deepEqual(
      items.map((each) => [each.host, each.executorCount, each.removedCount, each.lostCount, each.totalCores]),
      [
        ["h1", 3, 2, 2, 6],
        ["h2", 3, 2, 3, 6],
        ["h3", 2, 2, 0, 4],
      ],
    );
    assert.equal(total, 3);
    const busiest = (await server.json("apps/app-1/hosts?sort=-taskTime&limit=1")).items[0];
    assert.deepEqual([busiest.host, busiest.taskTimeMs, busiest.taskCount], ["host-2", 1100, 3]);
  });

  await t.test("other processes", async () => {
    const { items } = await server.json("apps/app-losses/processes");
    assert.deepEqual(items, [{ processId: "yarn-am", hostPort: "h1:8042", addMs: at(500), totalCores: 1, logs: [["stdout", "http://h1/stdout"]] }]);
    assert.equal((await server.json("apps/app-1/processes")).total, 0);
  });
});

test("storage", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-storage"), storageLog());
  const server = await startServer(t, ["--store", makeStore(t, [folder, join(LOGS, "long_lineage_iterative")])]);

  await t.test("rows stay after unpersist", async () => {
    const { items, blockUpdatesLogged } = await server.json("apps/app-storage/storage");
    assert.equal(blockUpdatesLogged, true);
    assert.deepEqual(
      items.map((r) => [r.id, r.name, r.unpersisted, r.numPartitions, r.cachedPartitions, r.mostPartitions, r.mostMemoryBytes]),
      [
        [7, "kept", false, 12, 11, 11, 1155],
        [8, "released", true, 1, 0, 1, 50],
      ],
    );
    assert.deepEqual(items[0].builtBy, { stageId: 0, attempt: 0 });
  });

  await t.test("one RDD: who holds how much, and its partitions by number", async () => {
    const one = await server.json("apps/app-storage/storage/7");
    assert.deepEqual(one.executors.map((x) => [x.executorId, x.memoryUsedBytes]).sort(), [
      ["1", 630],
      ["2", 525],
    ]);
    // Blocks of receivers are none of an RDD's memory, there as here.
    assert.equal(one.executors.find((x) => x.executorId === "2").memoryRemainingBytes, 10_000 - 525);
    assert.deepEqual(one.stages, [{ stageId: 0, attempt: 0, name: "map at A.scala:1", status: "complete" }]);
    const names = async (query) => (await server.json(`apps/app-storage/storage/7/partitions?${query}`)).items.map((p) => p.blockName);
    assert.deepEqual(await names("limit=3"), ["rdd_7_0", "rdd_7_1", "rdd_7_2"]);
    assert.deepEqual(await names("limit=2&sort=-name"), ["rdd_7_10", "rdd_7_9"]);
    assert.deepEqual(await names("limit=1&sort=-memory"), ["rdd_7_10"]);
    assert.deepEqual((await server.json("apps/app-storage/storage/7/partitions?limit=1")).items[0], {
      blockName: "rdd_7_0", storageLevel: "Memory Deserialized 1x Replicated", memoryUsedBytes: 100, diskUsedBytes: 0, executors: ["1"],
    });
    await server.json("apps/app-storage/storage/9", 404);
    assert.equal((await server.json("apps/app-storage/storage/8/partitions")).total, 0);
  });

  await t.test("blocks of receivers", async () => {
    const { items, executors } = await server.json("apps/app-storage/receiver-blocks?sort=executor");
    assert.deepEqual(items.map((b) => [b.blockName, b.executorId, b.replication, b.memoryUsedBytes]), [
      ["input-0-1767225600000", "1", 2, 30],
      ["input-0-1767225600000", "2", 2, 30],
    ]);
    assert.deepEqual(executors.map((x) => [x.executorId, x.blockCount, x.memoryUsedBytes]), [
      ["1", 1, 30],
      ["2", 1, 30],
    ]);
  });

  await t.test("the cache audit of a real run: one RDD is read by all iterations, and each iteration's by the next", async () => {
    const { ref } = (await server.json("apps?q=long_lineage")).items[0];
    const { items } = await server.json(`apps/${ref}/storage`);
    assert.equal(items.length, 16);
    assert.deepEqual([items[0].readCount, new Set(items.map((r) => r.verdict))], [15, new Set(["useful"])]);
    assert.deepEqual((await server.json(`apps/${ref}/storage?sort=-reads&limit=1`)).items[0].id, items[0].id);
  });
});

test("settings against their defaults", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(
    join(folder, "app-conf"),
    text([
      ...head(
        "app-conf",
        {
          "spark.executor.memory": "4g", // 1g by itself
          "spark.driver.memory": "1024m", // the same as 1g
          "spark.sql.shuffle.partitons": "8", // misspelt
          "spark.executor.id": "driver",
          "spark.driver.port": "12345",
          "spark.eventLog.logBlockUpdates.enabled": "true",
          "spark.hadoop.fs.s3a.secret.key": "s3cr3t-value",
          "spark.something.of.my.own": "x",
        },
        { classpath: { "/a/guava-14.0.jar": "Added By User", "/b/guava-27.0.jar": "System Classpath", "/a/other-1.0.jar": "System Classpath", "/a/thing_2.13-1.0.jar": "Added By User" } },
      ),
      added("1", 100, "h1"),
      end(3000),
    ]),
  );
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const environment = await server.json("apps/app-conf/environment");
  const of = (name) => environment.settings.find((each) => each.name === name);
  assert.deepEqual([of("spark.executor.memory").differs, of("spark.executor.memory").defaultValue, of("spark.executor.memory").meaning], [true, "1g", "Heap of an executor"]);
  assert.equal(of("spark.executor.memory").distance, 2, "log2 of 4g / 1g");
  assert.deepEqual([of("spark.driver.memory").differs, of("spark.driver.memory").distance], [false, 0]);
  assert.deepEqual([of("spark.sql.shuffle.partitons").state, of("spark.sql.shuffle.partitons").meant], ["misspelt", "spark.sql.shuffle.partitions"]);
  assert.equal(of("spark.something.of.my.own"), undefined);
  assert.deepEqual(environment.perRun, ["spark.app.id", "spark.driver.port", "spark.executor.id"]);
  assert.equal((await server.json("apps/app-conf/environment?lang=zh-CN")).settings.find((each) => each.name === "spark.executor.memory").meaning, "Executor 堆内存");
  await server.json("apps/app-conf/environment?lang=xx", 400);
  assert.doesNotMatch(JSON.stringify(environment), /s3cr3t/);
  assert.deepEqual(
    environment.jarConflicts.map((each) => [each.artefact, each.first, each.second, each.scala]),
    [
      ["guava", "14.0", "27.0", false],
      ["thing", "2.13", "2.12", true],
    ],
  );
  assert.deepEqual(environment.jarPaths, [
    { path: "/a/guava-14.0.jar", conflict: 0 },
    { path: "/a/thing_2.13-1.0.jar", conflict: 1 },
    { path: "/b/guava-27.0.jar", conflict: 0 },
  ]);
});
