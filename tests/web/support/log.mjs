// SPDX-License-Identifier: Apache-2.0
/** Event logs as Spark 3.5 writes them, small, with what the tests look for in known places. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lossesLog, storageLog } from "../../api/support/executor_log.mjs";
import { dstreamLog } from "../../api/support/streaming_log.mjs";
import { QUERIES, sqlLog } from "./sql-log.mjs";

export const HOSTILE = "<script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">";
export const SKEWED = "app-20260101100000-0001",
  FAILED = "app-20260101110000-0002",
  CUT = "app-20260101120000-0003",
  SMALL = "app-20260101130000-0004",
  RETRIED = "app-20260101170000-0009";
/** Runs that are written elsewhere: lost executors, cached RDDs, DStreams (tests/api/support), a streaming query that fails and a Thrift server (tests/data/logs). */
export const LOSSES = "app-losses",
  STORED = "app-storage",
  DSTREAMS = "app-dstreams",
  STREAMING = "local-1796004724586",
  THRIFT = "local-1795989525674";
const DATA = join(dirname(fileURLToPath(import.meta.url)), "../../data/logs");

const NO_LEVEL = { "Use Disk": false, "Use Memory": false, "Use Off Heap": false, Deserialized: false, Replication: 1 };
const CACHED = { ...NO_LEVEL, "Use Memory": true, Deserialized: true };

/** @param {number} id @param {string} name @param {number} tasks @param {object} [more] */
const stageInfo = (id, name, tasks, more = {}) => ({
  "Stage ID": id,
  "Stage Attempt ID": 0,
  "Stage Name": name,
  "Number of Tasks": tasks,
  "RDD Info": [
    {
      "RDD ID": id * 2,
      Name: "MapPartitionsRDD",
      Callsite: name,
      "Parent IDs": [],
      "Storage Level": id === 0 ? CACHED : NO_LEVEL,
      Barrier: false,
      "Number of Partitions": tasks,
      "Number of Cached Partitions": 0,
      "Memory Size": 0,
      "Disk Size": 0,
    },
  ],
  "Parent IDs": id ? [id - 1] : [],
  Details: "org.example.Job.main(Job.scala:1)\njava.lang.Thread.run(Thread.java:1)",
  Accumulables: [],
  "Resource Profile Id": 0,
  ...more,
});

/**
 * One run: events in the order of the log.
 * @param {{ id: string, name: string, user?: string, startMs: number, stages: { name: string, durations: number[], bytes?: number[], gc?: number, fail?: { index: number,
 * error: string, retried?: boolean } }[], description?: string, end?: boolean }} run retried: a second attempt succeeds, and so does the stage
 */
function events({ id, name, user = "alice", startMs, stages, description, end = true }) {
  /** @type {object[]} */
  const out = [
    { Event: "SparkListenerLogStart", "Spark Version": "3.5.7" },
    {
      Event: "SparkListenerResourceProfileAdded",
      "Resource Profile Id": 0,
      "Executor Resource Requests": { cores: { "Resource Name": "cores", Amount: 2, "Discovery Script": "", Vendor: "" } },
      "Task Resource Requests": { cpus: { "Resource Name": "cpus", Amount: 1.0 } },
    },
    {
      Event: "SparkListenerEnvironmentUpdate",
      "JVM Information": { "Java Home": "/usr/lib/jvm/java-17", "Java Version": "17.0.15", "Scala Version": "version 2.12.18" },
      "Spark Properties": {
        "spark.app.name": name,
        "spark.master": "spark://example:7077",
        "spark.submit.deployMode": "client",
        "spark.executor.memory": "4g",
        "spark.executor.extraJavaOptions": "-XX:+UseG1GC ".repeat(30),
      },
      "Hadoop Properties": Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`hadoop.key.${i}`, `value ${i}`])),
      "System Properties": { "java.io.tmpdir": "/tmp", "user.timezone": "Etc/UTC" },
      "Metrics Properties": {},
      "Classpath Entries": { "/opt/spark/jars/x.jar": "System Classpath" },
    },
    { Event: "SparkListenerApplicationStart", "App Name": name, "App ID": id, Timestamp: startMs, User: user },
    ...[1, 2].flatMap((n) => [
      {
        Event: "SparkListenerExecutorAdded",
        Timestamp: startMs + 1000 * n,
        "Executor ID": String(n),
        "Executor Info": {
          Host: `host-${n}.example`,
          "Total Cores": 2,
          "Log Urls": { stdout: `http://host-${n}.example/logs/stdout`, stderr: "javascript:document.title='broken'" },
          Attributes: {},
          Resources: {},
          "Resource Profile Id": 0,
        },
      },
      {
        Event: "SparkListenerBlockManagerAdded",
        "Block Manager ID": { "Executor ID": String(n), Host: `host-${n}.example`, Port: 7000 + n },
        "Maximum Memory": 455501414,
        Timestamp: startMs + 1000 * n,
        "Maximum Onheap Memory": 455501414,
        "Maximum Offheap Memory": 0,
      },
    ]),
  ];
  let now = startMs + 4000,
    task = 0;
  stages.forEach((s, i) => {
    const failed = s.fail !== undefined && !s.fail.retried;
    out.push({
      Event: "SparkListenerJobStart",
      "Job ID": i,
      "Submission Time": now,
      "Stage Infos": [...(i ? [stageInfo(i - 1, stages[i - 1].name, stages[i - 1].durations.length)] : []), stageInfo(i, s.name, s.durations.length)],
      "Stage IDs": i ? [i - 1, i] : [i],
      Properties: { "spark.job.description": description, "callSite.short": s.name, "spark.scheduler.pool": "default" },
    });
    out.push({ Event: "SparkListenerStageSubmitted", "Stage Info": stageInfo(i, s.name, s.durations.length, { "Submission Time": now }), Properties: {} });
    const free = [now, now, now, now]; // four slots, two an executor
    const retry = s.fail?.retried ? [s.fail.index] : [];
    [...s.durations.keys(), ...retry].forEach((index, place) => {
      const ms = s.durations[index],
        attempt = place >= s.durations.length ? 1 : 0;
      const slot = free.indexOf(Math.min(...free)),
        launch = free[slot],
        finish = launch + ms,
        error = s.fail?.index === index && !attempt ? s.fail.error : null;
      free[slot] = finish;
      const info = {
        "Task ID": task++,
        Index: index,
        Attempt: attempt,
        "Partition ID": index,
        "Launch Time": launch,
        "Executor ID": String(1 + (slot >> 1)),
        Host: `host-${1 + (slot >> 1)}.example`,
        Locality: "NODE_LOCAL",
        Speculative: false,
        "Getting Result Time": 0,
        "Finish Time": 0,
        Failed: false,
        Killed: false,
        Accumulables: [],
      };
      out.push({ Event: "SparkListenerTaskStart", "Stage ID": i, "Stage Attempt ID": 0, "Task Info": info });
      if (!end && i === stages.length - 1 && index >= s.durations.length - 2) return; // cut: the last tasks have no end
      out.push({
        Event: "SparkListenerTaskEnd",
        "Stage ID": i,
        "Stage Attempt ID": 0,
        "Task Type": "ResultTask",
        "Task End Reason":
          error === null
            ? { Reason: "Success" }
            : {
                Reason: "ExceptionFailure",
                "Class Name": "java.lang.IllegalStateException",
                Description: error,
                "Stack Trace": [],
                "Full Stack Trace": error,
                "Accumulator Updates": [],
              },
        "Task Info": { ...info, "Finish Time": finish, Failed: error !== null },
        "Task Metrics": {
          "Executor Deserialize Time": 3,
          "Executor Deserialize CPU Time": 3_000_000,
          "Executor Run Time": ms - 5,
          "Executor CPU Time": (ms - 5) * 700_000,
          "Peak Execution Memory": 1 << 20,
          "Result Size": 1500,
          "JVM GC Time": Math.round(ms * (s.gc ?? 0.01)),
          "Result Serialization Time": 0,
          "Memory Bytes Spilled": 0,
          "Disk Bytes Spilled": 0,
          "Shuffle Read Metrics": {
            "Remote Blocks Fetched": 1,
            "Local Blocks Fetched": 1,
            "Fetch Wait Time": 2,
            "Remote Bytes Read": s.bytes?.[index] ?? 0,
            "Remote Bytes Read To Disk": 0,
            "Local Bytes Read": 0,
            "Total Records Read": 10,
          },
          "Shuffle Write Metrics": { "Shuffle Bytes Written": 1000, "Shuffle Write Time": 2_000_000, "Shuffle Records Written": 10 },
          "Input Metrics": { "Bytes Read": 0, "Records Read": 0 },
          "Output Metrics": { "Bytes Written": 0, "Records Written": 0 },
          "Updated Blocks": [],
        },
      });
    });
    now = Math.max(...free) + 10;
    if (!end && i === stages.length - 1) return;
    out.push({
      Event: "SparkListenerStageCompleted",
      "Stage Info": stageInfo(i, s.name, s.durations.length, {
        "Submission Time": free[0] && now - 10 - Math.max(1, Math.max(...free) - Math.min(...free)),
        "Completion Time": now,
        ...(failed ? { "Failure Reason": `Job aborted due to stage failure: ${s.fail?.error}` } : {}),
      }),
    });
    out.push({
      Event: "SparkListenerJobEnd",
      "Job ID": i,
      "Completion Time": now + 1,
      "Job Result": failed
        ? { Result: "JobFailed", Exception: { Message: `Job aborted due to stage failure: ${s.fail?.error}`, "Stack Trace": [] } }
        : { Result: "JobSucceeded" },
    });
    now += 500;
  });
  if (end) out.push({ Event: "SparkListenerApplicationEnd", Timestamp: now });
  return out.map((e) => JSON.stringify(e)).join("\n") + "\n";
}

/** @param {number} n @param {(i: number) => number} f */
const each = (n, f) => Array.from({ length: n }, (_, i) => f(i));

/** Writes the logs into a folder and returns it. @param {string} folder */
export function writeLogs(folder) {
  mkdirSync(folder, { recursive: true });
  const put = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(join(folder, name), text);
  put(
    SKEWED,
    events({
      id: SKEWED,
      name: "skewed_join",
      startMs: 1767261600000,
      stages: [
        { name: "parquet at Job.scala:10", durations: each(8, () => 1200) },
        // 120 tasks: more than two pages of 50. One has 40 times the time and the bytes.
        {
          name: "collect at Job.scala:20",
          durations: each(120, (i) => (i === 57 ? 20_000 : 500 + i)),
          bytes: each(120, (i) => (i === 57 ? 400_000_000 : 10_000_000)),
        },
        { name: "count at Job.scala:30", durations: each(40, () => 900), gc: 0.4 },
      ],
    }),
  );
  put(
    FAILED,
    events({
      id: FAILED,
      name: HOSTILE,
      user: '"><b>mallory</b>',
      startMs: 1767265200000,
      description: `${HOSTILE} **not bold** [no link](javascript:alert)`,
      stages: [
        {
          name: `${HOSTILE} at ${"long".repeat(60)}.scala:1`,
          durations: each(6, () => 300),
          fail: { index: 2, error: `${HOSTILE}\n\tat org.example.Broken.run(Broken.scala:7)` },
        },
      ],
    }),
  );
  const cut = events({
    id: CUT,
    name: "killed_driver",
    startMs: 1767268800000,
    end: false,
    stages: [{ name: "save at Job.scala:5", durations: each(30, () => 700) }],
  });
  put(`${CUT}.inprogress`, cut + '{"Event":"SparkListenerTaskEnd","Stage ID":0,"Sta');
  put(LOSSES, lossesLog());
  put(STORED, storageLog());
  put(DSTREAMS, dstreamLog());
  for (const own of ["streaming_windows_3_5", "thrift_ops"]) cpSync(join(DATA, own), join(folder, own), { recursive: true });
  put(SMALL, events({ id: SMALL, name: "tiny", startMs: 1767272400000, stages: [{ name: "count at Job.scala:1", durations: [120, 130] }] }));
  put(
    RETRIED,
    events({
      id: RETRIED,
      name: "flaky",
      startMs: 1767276000000,
      stages: [{ name: "save at Job.scala:8", durations: each(8, () => 2000), fail: { index: 3, error: "java.io.IOException: connection reset", retried: true } }],
    }),
  );
  put(QUERIES, sqlLog(HOSTILE));
  // More runs than a page of the list holds.
  for (let i = 0; i < 60; i++)
    put(
      `app-20251231000000-${1000 + i}`,
      events({
        id: `app-20251231000000-${1000 + i}`,
        name: `nightly_${i % 7}`,
        user: i % 2 ? "bob" : "carol",
        startMs: 1767139200000 + i * 60_000,
        stages: [{ name: "count at Job.scala:1", durations: [100 + i, 120] }],
      }),
    );
  return folder;
}
