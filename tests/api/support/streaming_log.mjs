// SPDX-License-Identifier: Apache-2.0
// Event logs as text with streaming queries, DStream batches and server operations whose numbers can be added up by hand.
export const START = 1767225600000; // 2026-01-01T00:00:00Z

const iso = (ms) => new Date(ms).toISOString();
const line = (event, members) => JSON.stringify({ Event: event, ...members });
const core = (name, members) => line(`SparkListener${name}`, members);
const thrift = (name, members) => line(`org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer${name}`, members);
const query = (name, members) => line(`org.apache.spark.sql.streaming.StreamingQueryListener$Query${name}Event`, members);

/** Lines as a whole log. */
export function logOf(id, lines, { ended = true } = {}) {
  const start = core("ApplicationStart", { "App Name": id, "App ID": id, Timestamp: START, User: "alice" });
  return [core("LogStart", { "Spark Version": "4.3.0" }), start, ...lines, ...(ended ? [core("ApplicationEnd", { Timestamp: START + 600000 })] : [])].join("\n") + "\n";
}

export const started = (run, ms, more = {}) => query("Started", { id: `id-of-${run}`, runId: run, name: run, timestamp: iso(ms), ...more });
export const idle = (run, ms) => query("Idle", { id: `id-of-${run}`, runId: run, timestamp: iso(ms) });
export const terminated = (run, exception = null, errorClass = null) =>
  query("Terminated", { id: `id-of-${run}`, runId: run, exception, errorClassOnException: errorClass });

/** One progress record with one source. */
export const progress = (run, batchId, ms, { rows = 0, inputRate = 0, processedRate = 0, duration = 0, ...more } = {}) =>
  query("Progress", {
    progress: {
      id: `id-of-${run}`,
      runId: run,
      name: run,
      timestamp: iso(ms),
      batchId,
      batchDuration: duration,
      durationMs: { triggerExecution: duration, addBatch: duration - 1 },
      eventTime: {},
      stateOperators: [],
      sources: [{ description: "source", startOffset: null, endOffset: "1", numInputRows: rows, inputRowsPerSecond: inputRate, processedRowsPerSecond: processedRate }],
      sink: { description: "sink", numOutputRows: -1 },
      observedMetrics: {},
      ...more,
    },
  });

export const jobStart = (id, ms, properties, name = "s") =>
  core("JobStart", {
    "Job ID": id,
    "Submission Time": ms,
    "Stage Infos": [{ "Stage ID": id, "Stage Attempt ID": 0, "Stage Name": name, "Number of Tasks": 1, "RDD Info": [], "Parent IDs": [], Details: "", Accumulables: [] }],
    "Stage IDs": [id],
    Properties: properties,
  });
export const jobEnd = (id, ms, succeeded = true) =>
  core("JobEnd", { "Job ID": id, "Completion Time": ms, "Job Result": succeeded ? { Result: "JobSucceeded" } : { Result: "JobFailed", Exception: { Message: "no" } } });

/**
 * Batches of 2 s. The first has two output operations in three jobs, the second fails and is late, the third never ends, one is missing before it. A receiver was restarted.
 *
 *   batch   0 s  op 0: jobs 2, 3  100 … 700 ms    op 1: job 4  700 … 900 ms
 *   batch   2 s  op 0: job 5  3000 … 4500 ms, failed
 *   batch   6 s  op 0: job 6  6050 ms …
 */
export function dstreamLog() {
  const batch = (s, op) => ({ "spark.streaming.internal.batchTime": String(START + s * 1000), "spark.streaming.internal.outputOpId": String(op) });
  const receiver = (id) => ({ "spark.job.description": `Streaming job running receiver ${id}` });
  return logOf("app-dstreams", [
    jobStart(0, START, receiver(7)),
    jobEnd(0, START + 50, false),
    jobStart(1, START + 60, receiver(7)),
    jobStart(2, START + 100, batch(0, 0), "print at A"),
    jobEnd(2, START + 400),
    jobStart(3, START + 400, batch(0, 0), "print at A"),
    jobEnd(3, START + 700),
    jobStart(4, START + 700, batch(0, 1), "save at B"),
    jobEnd(4, START + 900),
    jobStart(5, START + 3000, batch(2, 0)),
    jobEnd(5, START + 4500, false),
    jobStart(6, START + 6050, batch(6, 0)),
  ]);
}

/** Two sessions of a Thrift server, one of them open at the end; three statements: one closed, one with a result, one without. */
export const thriftLog = () =>
  logOf(
    "app-thrift",
    [
      thrift("SessionCreated", { ip: "127.0.0.1", sessionId: "first", userName: "alice", startTime: START + 1000 }),
      ...["closed", "finished", "running"].map((id, i) =>
        thrift("OperationStart", { id, sessionId: id === "closed" ? "first" : "second", statement: `select ${i}`, groupId: id, startTime: START + 2000 + i, userName: "alice" }),
      ),
      thrift("OperationFinish", { id: "closed", finishTime: START + 3000 }),
      thrift("OperationClosed", { id: "closed", closeTime: START + 3100 }),
      thrift("SessionClosed", { sessionId: "first", finishTime: START + 3200 }),
      thrift("SessionCreated", { ip: "127.0.0.1", sessionId: "second", userName: "bob", startTime: START + 4000 }),
      thrift("OperationFinish", { id: "finished", finishTime: START + 5000 }),
    ],
    { ended: false },
  );
