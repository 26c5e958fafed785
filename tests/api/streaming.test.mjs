// SPDX-License-Identifier: Apache-2.0
// Structured Streaming, DStreams, Thrift and Connect sessions, over logs of known numbers.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";
import { dstreamLog, idle, jobEnd, jobStart, logOf, progress, START, started, terminated, thriftLog } from "./support/streaming_log.mjs";

const column = (list, key) => list.items.map((item) => item[key]);

/** Rows of eight batches, when their triggers began and how long they took: those behind the figures 81.39 and 157.05 that Spark's own tests expect of its page. */
const ORACLE = [
  [3, 0, 7110],
  [363, 7153, 622],
  [63, 7778, 522],
  [52, 8302, 415],
  [42, 8719, 387],
  [38, 9108, 437],
  [44, 9547, 351],
  [36, 9901, 341],
];

function oracleLines() {
  return ORACLE.map(([rows, at, duration], i) =>
    progress("oracle", i, START + at, {
      rows,
      duration,
      inputRate: i ? (rows * 1000) / (at - ORACLE[i - 1][1]) : "NaN",
      processedRate: (rows * 1000) / duration,
      sink: { description: "out", numOutputRows: i === 7 ? -1 : 1 },
    }),
  );
}

const stateOf = (rows, memory, dropped) => ({ operatorName: "dedupe", numRowsTotal: rows, numRowsUpdated: 1, memoryUsedBytes: memory, numRowsDroppedByWatermark: dropped, customMetrics: { hits: rows, last: -1 } });

test("structured streaming", async (t) => {
  const folder = makeFolder(t);
  const lines = [
    started("oracle", START),
    ...oracleLines(),
    started("stopped", START + 1000, { jobTags: ["x", "y"] }),
    // The same run, batch and trigger time again: the later record counts. The order of lines is not that of time.
    progress("stopped", 1, START + 4000, { rows: 1, inputRate: 1, processedRate: 1, duration: 10 }),
    progress("stopped", 0, START + 2000, { rows: 5, inputRate: 5, processedRate: "Infinity", duration: 20 }),
    progress("stopped", 1, START + 4000, {
      rows: 7,
      inputRate: 7,
      processedRate: 9,
      duration: 30,
      eventTime: { watermark: "2026-01-01T00:00:01.500Z", max: "2026-01-01T00:00:03.000Z" },
      stateOperators: [stateOf(10, 100, 2), stateOf(20, 200, 3)],
      observedMetrics: { seen: { values: [1] } },
      durationMs: { triggerExecution: 30, walCommit: 4 },
    }),
    idle("stopped", START + 9000),
    terminated("stopped"),
    progress("nameless", 3, START + 5000, { name: null }),
    terminated("nameless", "org.x.Failed: no\n\tat org.x.Y(Y.scala:1)", "SOME_CLASS"),
    started("quiet", START + 3000),
    jobStart(0, START + 2000, { "spark.jobGroup.id": "stopped" }),
    jobEnd(0, START + 2001, false),
    jobStart(1, START + 2000, { "spark.jobGroup.id": "stopped" }),
  ];
  writeFileSync(join(folder, "app-stream"), logOf("app-stream", lines));
  writeFileSync(join(folder, "app-live.inprogress"), logOf("app-live", [started("live", START)], { ended: false }));
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);

  await t.test("the averages are those of Spark's own test", async () => {
    const item = (await server.json("apps/app-stream/streaming?q=oracle")).items[0];
    assert.equal(item.recentInputRowsPerSecond.toFixed(2), "81.39");
    assert.equal(item.recentProcessedRowsPerSecond.toFixed(2), "157.05");
    assert.equal(item.meanInputRowsPerSecond.toFixed(2), "81.39");
    assert.equal(item.progressCount, 8);
    assert.equal(item.latestBatchId, 7);
    assert.equal(item.inputRows, 3 + 363 + 63 + 52 + 42 + 38 + 44 + 36);
    assert.equal(item.durationMs, 9901);
    assert.equal(item.maxBatchDurationMs, 7110);
    assert.equal(item.status, "unknown"); // the application ended, the query's end is not in the log
  });

  await t.test("runs, what became of them, and in which order", async () => {
    assert.equal((await server.json("apps/app-live")).streamingQueryCount, 1);
    assert.equal((await server.json("apps/app-stream")).streamingQueryCount, 4);
    const list = await server.json("apps/app-stream/streaming?sort=start");
    assert.deepEqual(column(list, "runId"), ["oracle", "stopped", "quiet", "nameless"]); // the start of the last is not known
    assert.deepEqual(column(list, "status"), ["unknown", "finished", "unknown", "failed"]);
    assert.deepEqual(column(list, "startSeen"), [true, true, true, false]);
    const [, stopped, quiet, nameless] = list.items;
    assert.deepEqual([stopped.queryId, stopped.name, stopped.jobTags], ["id-of-stopped", "stopped", ["x", "y"]]);
    assert.deepEqual([stopped.progressCount, stopped.idleCount, stopped.latestBatchId, stopped.inputRows], [2, 1, 1, 12]);
    assert.deepEqual([stopped.recentInputRowsPerSecond, stopped.recentProcessedRowsPerSecond], [6, 4.5]);
    assert.deepEqual([stopped.lastTriggerMs, stopped.lastIdleMs, stopped.durationMs], [START + 4000, START + 9000, 8000]);
    assert.deepEqual([stopped.jobCount, stopped.failedJobCount, stopped.error], [2, 1, null]);
    assert.deepEqual([quiet.progressCount, quiet.recentInputRowsPerSecond, quiet.inputRows, quiet.latestBatchId, quiet.durationMs], [0, null, null, null, null]);
    assert.deepEqual([nameless.name, nameless.startMs, nameless.error, nameless.errorClass], [null, null, "org.x.Failed: no", "SOME_CLASS"]);
    assert.deepEqual(column(await server.json("apps/app-stream/streaming?status=failed"), "runId"), ["nameless"]);
    assert.deepEqual(column(await server.json("apps/app-stream/streaming?status=running"), "runId"), []);
    assert.deepEqual(column(await server.json("apps/app-stream/streaming?status=unknown&sort=-batches"), "runId"), ["oracle", "quiet"]);
    assert.deepEqual(column(await server.json("apps/app-live/streaming?status=running"), "status"), ["running"]);
    // The page is cut first and filled afterwards: rows and their order are those of the whole list.
    const whole = (await server.json("apps/app-stream/streaming?sort=start")).items;
    const byKey = { name: "name", duration: "durationMs", batches: "progressCount", inputRows: "inputRows", inputRate: "meanInputRowsPerSecond", processedRate: "meanProcessedRowsPerSecond" };
    for (const [sort, key] of Object.entries(byKey)) {
      for (const descending of [false, true]) {
        const rows = [];
        for (let page = 1; page <= whole.length; page++) rows.push(...(await server.json(`apps/app-stream/streaming?sort=${descending ? "-" : ""}${sort}&limit=1&page=${page}`)).items);
        assert.deepEqual(
          [...rows].sort((a, b) => a.startMs - b.startMs || a.runId.localeCompare(b.runId)),
          [...whole].sort((a, b) => a.startMs - b.startMs || a.runId.localeCompare(b.runId)),
          sort,
        );
        const values = column({ items: rows }, key).map((value) => (value === 0 && sort === "batches" ? null : value));
        const given = values.filter((value) => value !== null);
        assert.deepEqual(given, [...given].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1)), sort);
        assert.deepEqual(values.slice(0, given.length), given, "what is not known comes last");
      }
    }
    await server.json("apps/app-stream/streaming?sort=nonsense", 400);
    await server.json("apps/app-stream/streaming?status=ok", 400);
  });

  await t.test("one run as columns, in the order of time", async () => {
    const run = await server.json("apps/app-stream/streaming/stopped");
    assert.equal(run.progressPerPoint, 1);
    assert.deepEqual(run.series.batchId, [0, 1]);
    assert.deepEqual(run.series.triggerMs, [START + 2000, START + 4000]);
    assert.deepEqual(run.series.inputRows, [5, 7]);
    assert.deepEqual(run.series.processedRowsPerSecond, [null, 9]);
    assert.deepEqual(run.series.outputRows, [null, null]);
    assert.deepEqual(run.series.watermarkGapMs, [null, 2500]);
    assert.deepEqual(run.series.stateRowsTotal, [null, 30]);
    assert.deepEqual(run.series.stateRowsRemoved, [null, null]);
    assert.deepEqual(run.series.stateMemoryBytes, [null, 300]);
    assert.deepEqual(run.series.stateRowsDropped, [null, 5]);
    assert.deepEqual(
      run.phases.map((phase) => [phase.name, phase.triggerCount, phase.totalMs, phase.maxMs, phase.durationMs]),
      [
        ["addBatch", 1, 19, 19, [19, null]],
        ["triggerExecution", 2, 50, 30, [20, 30]],
        ["walCommit", 1, 4, 4, [null, 4]],
      ],
    );
    assert.equal(run.latest.sink, "sink");
    assert.equal(run.latest.observedMetrics, '{"seen":{"values":[1]}}');
    assert.equal(run.latest.eventTimeMaxMs, START + 3000);
    assert.deepEqual(column({ items: run.latest.stateOperators }, "rowsTotal"), [10, 20]);
    assert.deepEqual(run.latest.stateOperators[1].customMetrics, [
      ["hits", 20],
      ["last", -1],
    ]);
    assert.deepEqual([run.latest.sources.length, run.latest.sources[0].description, run.latest.sources[0].inputRows, run.latest.sources[0].metrics], [1, "source", 7, null]);
    assert.match((await server.json("apps/app-stream/streaming/nameless")).error, /\n\tat org\.x\.Y/);
    const quiet = await server.json("apps/app-stream/streaming/quiet");
    assert.deepEqual([quiet.latest, quiet.phases, quiet.series.batchId], [null, [], []]);
    await server.json("apps/app-stream/streaming/none", 404);
  });
});

test("a long run comes in at most 10,000 points", async (t) => {
  const folder = makeFolder(t);
  const count = 25000; // three records a point
  const lines = [started("long", START), started("other", START)];
  for (let i = 0; i < count; i++) lines.push(progress("long", i, START + 1000 * i, { rows: 2, inputRate: i % 3, processedRate: 1, duration: 10 + (i % 3), stateOperators: [stateOf(i, 1, 1)] }));
  lines.splice(17, 0, progress("other", 0, START)); // another query between them
  writeFileSync(join(folder, "app-long"), logOf("app-long", lines));
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const run = await server.json("apps/app-long/streaming/long");
  assert.equal(run.progressCount, count);
  assert.equal(run.progressPerPoint, 3);
  const points = Math.ceil(count / 3);
  for (const values of Object.values(run.series)) assert.equal(values.length, points);
  assert.deepEqual(run.series.batchId.slice(0, 3), [0, 3, 6]);
  assert.deepEqual([run.series.progressCount[0], run.series.progressCount.at(-1)], [3, 1]);
  assert.deepEqual([run.series.inputRows[0], run.series.inputRowsPerSecond[0], run.series.batchDurationMs[0], run.series.maxBatchDurationMs[0]], [6, 1, 11, 12]);
  assert.deepEqual(run.phases[0].durationMs.slice(0, 2), [10, 10]); // addBatch: 9, 10, 11
  assert.deepEqual(run.series.stateRowsTotal.slice(0, 8), [2, 5, 8, 11, 14, 17, 20, 23]); // the largest of each three
  assert.deepEqual([run.series.stateRowsDropped[5], run.series.stateRowsTotal.at(-1)], [3, count - 1]);
  // the last hundred: i = 24900 … 24999, inputRate i % 3, 33 times 0 + 1 + 2 and one more 0
  assert.equal(run.recentInputRowsPerSecond, 0.99);
  assert.equal(run.latestBatchId, count - 1);
});

test("what Spark 4.3 and 3.5 wrote", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, [join(LOGS, "streaming_windows"), join(LOGS, "streaming_windows_3_5")])]);
  for (const [app, batches] of [
    ["local-1796004563189", [7, 2, 0]],
    ["local-1796004724586", [7, 1, 0]],
  ]) {
    const list = await server.json(`apps/${app}/streaming?sort=start`);
    assert.deepEqual(column(list, "name"), ["windows", "fails", null]);
    assert.deepEqual(column(list, "status"), ["finished", "failed", "unknown"]);
    assert.deepEqual(column(list, "progressCount"), batches);
    assert.deepEqual(column(list, "idleCount"), [0, 0, 3]);
    assert.ok(list.items.every((item) => item.startSeen));
    assert.ok(list.items[0].jobCount > 0 && list.items[1].failedJobCount === 1);
    const windows = await server.json(`apps/${app}/streaming/${list.items[0].runId}`);
    assert.deepEqual(column({ items: windows.latest.stateOperators }, "operator"), ["stateStoreSave"]);
    assert.match(windows.latest.observedMetrics, /^\{"seen":\{"values":\[/);
    assert.match(windows.latest.sources[0].description, /^RateStreamV2/);
    assert.equal(windows.latest.sink, "MemorySink");
    assert.equal(windows.inputRows, windows.series.inputRows.reduce((a, b) => a + b));
    assert.deepEqual(windows.series.batchId, [...Array(batches[0]).keys()]);
  }
});

test("Thrift and Connect sessions", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, [join(LOGS, "thrift_ops"), join(LOGS, "connect_ops")])]);
  const thrift = "apps/local-1795989525674";
  const connect = "apps/local-1795989938920";

  await t.test("sessions", async () => {
    const sessions = await server.json(`${thrift}/sessions?sort=start`);
    assert.deepEqual(column(sessions, "user"), ["alice", "bob"]);
    assert.deepEqual(column(sessions, "status"), ["closed", "closed"]);
    assert.deepEqual(column(sessions, "operationCount"), [4, 2]);
    assert.deepEqual(column(sessions, "failedOperationCount"), [1, 1]);
    assert.deepEqual(column(sessions, "durationMs"), [4830, 903]);
    assert.deepEqual(column(await server.json(`${thrift}/sessions?q=BOB`), "ip"), ["127.0.0.1"]);
    assert.equal((await server.json(`${thrift}/sessions?server=connect`)).total, 0);
    const [first] = column(sessions, "sessionId");
    assert.deepEqual(column(await server.json(`${thrift}/sessions?session=${first}`), "sessionId"), [first]);
    assert.equal((await server.json(`${thrift}/sessions?session=${first.slice(1)}`)).total, 0);
    const [session] = (await server.json(`${connect}/sessions`)).items;
    assert.deepEqual((await server.json(`${connect}/sessions`)).services, [{ host: "localhost", port: 15002, startMs: 1795989938818, endMs: 1795989955033 }]);
    assert.deepEqual((await server.json(`${thrift}/sessions`)).services, []);
    assert.deepEqual([sessions.openSessionCount, sessions.openOperationCount], [0, 0]);
    assert.deepEqual([session.server, session.user, session.ip, session.operationCount, session.durationMs], ["connect", "svc-reports", null, 9, 12734]);
  });

  await t.test("the run says what it has, and that all of it was read", async () => {
    const counts = (app) => ["sqlExecutionCount", "streamingQueryCount", "sessionCount", "operationCount", "dstreamBatchCount"].map((key) => app[key]);
    assert.deepEqual(counts(await server.json(thrift)), [9, 0, 2, 6, 0]);
    assert.deepEqual(counts(await server.json(connect)), [6, 0, 1, 9, 0]);
    const { events } = await server.json(`${connect}/health`);
    assert.deepEqual(events.filter((each) => !each.handled), []);
    assert.equal(events.filter((each) => /ConnectService(Started|End)$/.test(each.event)).length, 2);
  });

  await t.test("statements of a Thrift server with their jobs", async () => {
    const list = await server.json(`${thrift}/operations?sort=start`);
    assert.deepEqual(column(list, "outcome"), ["finished", "finished", "finished", "failed", "finished", "failed"]);
    assert.ok(list.items.every((item) => item.state === "closed" && item.startSeen && item.jobTag === null));
    assert.deepEqual(column(list, "jobIds"), [[0], [], [1, 2], [], [3, 4], [5]]);
    // By spark.jobGroup.id of the executions: also those that failed, or had nothing to run.
    assert.deepEqual(column(list, "sqlExecutionIds"), [[1], [2, 3], [4], [5], [7], [8]]);
    assert.deepEqual(column(list, "executionTimeMs").slice(0, 2), [1331, 261]);
    assert.deepEqual(column(list, "durationMs").slice(0, 2), [1500, 298]);
    assert.equal(list.items[0].statement, "select 1");
    assert.deepEqual(column(await server.json(`${thrift}/operations?outcome=failed&sort=start`), "user"), ["alice", "bob"]);
    assert.equal((await server.json(`${thrift}/operations?q=NO_SUCH`)).total, 1);
    assert.equal((await server.json(`${thrift}/operations?session=${list.items[4].sessionId}`)).total, 2);
    assert.equal((await server.json(`${thrift}/operations?state=started`)).total, 0);
    const failed = await server.json(`${thrift}/operations/${list.items[3].id}`);
    assert.match(failed.error, /^\[TABLE_OR_VIEW_NOT_FOUND\]/);
    assert.match(failed.trace, /\n\tat org\.apache\.spark/);
    assert.equal(failed.plan, null);
    assert.match((await server.json(`${thrift}/operations/${list.items[0].id}`)).plan, /== Physical Plan ==/);
    await server.json(`${thrift}/operations/99`, 404);
    await server.json(`${thrift}/operations/99999999999999999999`, 404);
    await server.json(`${thrift}/operations?outcome=closed`, 400);
  });

  await t.test("operations of Spark Connect with their jobs and executions", async () => {
    const list = await server.json(`${connect}/operations?sort=start`);
    assert.equal(list.total, 9);
    const [first] = list.items;
    assert.deepEqual([first.jobIds, first.tags, first.producedRows, first.jobGroup], [[0, 1], ["report-7"], 10, null]);
    // By jobTags of the executions: 2 has no job.
    assert.deepEqual(column(list, "sqlExecutionIds"), [[0], [], [1], [2], [], [3], [], [4], [5]]);
    assert.deepEqual(column(list, "jobIds"), [[0, 1], [], [2], [], [], [3, 4], [], [5], [6]]);
    assert.deepEqual([first.startMs, first.finishMs, first.closeMs], [1795989942826, 1795989947180, 1795989947354]);
    assert.deepEqual(column(list, "outcome").filter((word) => word !== "finished"), ["failed", "canceled"]);
    assert.deepEqual((await server.json(`${connect}/operations?outcome=canceled`)).items[0].jobIds, [6]);
    assert.deepEqual(column(await server.json(`${connect}/operations?sort=-rows&limit=2`), "producedRows"), [10, 3]);
  });
});

test("what sessions and statements are open where a log stops", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-thrift.inprogress"), thriftLog());
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const list = await server.json("apps/app-thrift/sessions?sort=start");
  assert.deepEqual(column(list, "status"), ["closed", "open"]);
  assert.deepEqual([list.openSessionCount, list.openOperationCount], [1, 1]);
  assert.deepEqual((await server.json("apps/app-thrift/sessions?server=connect")).openSessionCount, 1, "of the run, whatever is filtered");
});

test("DStream batches from the properties of jobs", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-dstreams"), dstreamLog());
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const list = await server.json("apps/app-dstreams/dstreams");
  assert.deepEqual([list.total, list.intervalMs, list.intervalFits], [3, 2000, true]);
  assert.equal((await server.json("apps/app-dstreams")).dstreamBatchCount, 3);
  assert.deepEqual(column(list, "batchMs"), [START, START + 2000, START + 6000]);
  assert.deepEqual(column(list, "status"), ["succeeded", "failed", "unknown"]);
  assert.deepEqual(column(list, "schedulingDelayMs"), [100, 1000, 50]);
  assert.deepEqual(column(list, "processingTimeMs"), [800, 1500, null]);
  assert.deepEqual(column(list, "totalDelayMs"), [900, 2500, null]);
  assert.deepEqual(column(list, "jobCount"), [3, 1, 1]);
  assert.deepEqual(column(list, "failedJobCount"), [0, 1, 0]);
  assert.deepEqual(
    list.items[0].outputOps.map((op) => [op.outputOpId, op.name, op.jobIds, op.startMs - START, op.endMs - START, op.status]),
    [
      [0, "print at A", [2, 3], 100, 700, "succeeded"],
      [1, "save at B", [4], 700, 900, "succeeded"],
    ],
  );
  assert.deepEqual(
    list.receivers.map((receiver) => [receiver.streamId, receiver.jobIds, receiver.startMs - START, receiver.endMs, receiver.status]),
    [[7, [0, 1], 0, null, "unknown"]],
  );
  assert.deepEqual(column(await server.json("apps/app-dstreams/dstreams?sort=-totalDelay&limit=1"), "batchMs"), [START + 2000]);
  assert.deepEqual(column(await server.json(`apps/app-dstreams/dstreams?batch=${START + 2000}`), "batchMs"), [START + 2000]);
  assert.equal((await server.json(`apps/app-dstreams/dstreams?batch=${START + 1}`)).total, 0);
});

const ORACLE_LOG = join(process.env.AFTERGLOW_SHARED ?? join(LOGS, "../../../../shared"), "logs/public/spark-suite/local-1596020211915");

test("the log that Spark's own tests use", { skip: !existsSync(ORACLE_LOG) && "it is not in the shared logs" }, async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, [ORACLE_LOG])]);
  const list = await server.json("apps/local-1596020211915/streaming");
  assert.equal(list.total, 1);
  const [item] = list.items;
  assert.deepEqual([item.progressCount, item.latestBatchId], [8, 7]);
  assert.equal(item.recentInputRowsPerSecond.toFixed(2), "81.39");
  assert.equal(item.recentProcessedRowsPerSecond.toFixed(2), "157.05");
  assert.equal(item.runId, "e225d92f-2545-48f8-87a2-9c0309580f8a");
  assert.equal(item.queryId, "8d268dc2-bc9c-4be8-97a9-b135d2943028");
});
