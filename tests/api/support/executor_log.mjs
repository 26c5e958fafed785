// SPDX-License-Identifier: Apache-2.0
// Event logs as text about executors that come and go and about what they cache, with numbers a person can add up.
import { event, stageInfo, START, taskEnd, taskInfo } from "./log.mjs";

export const at = (ms) => START + ms;
export const added = (id, ms, host, cores = 2, more = {}) =>
  event("ExecutorAdded", {
    Timestamp: at(ms),
    "Executor ID": id,
    "Executor Info": { Host: host, "Total Cores": cores, "Log Urls": {}, Attributes: {}, Resources: {}, "Resource Profile Id": 0, ...more },
  });
export const removed = (id, ms, reason) => event("ExecutorRemoved", { Timestamp: at(ms), "Executor ID": id, "Removed Reason": reason });
export const head = (id, spark = {}, more = {}) => [
  event("LogStart", { "Spark Version": "3.5.7" }),
  event("EnvironmentUpdate", {
    "JVM Information": { "Scala Version": "version 2.12.18" },
    "Spark Properties": { "spark.master": "yarn", "spark.app.id": id, ...spark },
    "Hadoop Properties": {},
    "System Properties": {},
    "Metrics Properties": {},
    "Classpath Entries": more.classpath ?? {},
  }),
  event("ApplicationStart", { "App Name": id, "App ID": id, Timestamp: at(0), User: "alice" }),
];
export const end = (ms) => event("ApplicationEnd", { Timestamp: at(ms) });
export const text = (lines) => lines.join("\n") + "\n";

const unlucky = taskInfo(0, 0, "8", at(2000), { Failed: true });
/** A minute on three machines. Of eight executors one is given back, one goes with the application, one stays; the others are lost, the eighth without a word but that of its task. */
export const lossesLog = () =>
  text([
    ...head("app-losses", { "spark.executor.memory": "2g", "spark.executor.memoryOverhead": "512", "spark.executor.pyspark.memory": "256m", "spark.driver.memory": "3g" }),
    event("BlockManagerAdded", { "Block Manager ID": { "Executor ID": "driver", Host: "h0", Port: 1 }, "Maximum Memory": 1000, Timestamp: at(0) }),
    ...["1", "2", "3", "4", "5", "6", "7", "8"].map((id, i) => added(id, 1000, `h${1 + (i % 3)}`)),
    event("JobStart", { "Job ID": 0, "Submission Time": at(2000), "Stage IDs": [0], "Stage Infos": [stageInfo(0, "map at A.scala:1", 1)], Properties: {} }),
    event("StageSubmitted", { "Stage Info": stageInfo(0, "map at A.scala:1", 1, { "Submission Time": at(2000) }), Properties: {} }),
    event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": unlucky }),
    taskEnd(0, unlucky, at(5000), {
      "Task End Reason": { Reason: "ExecutorLostFailure", "Executor ID": "8", "Exit Caused By App": true, "Loss Reason": "worker lost" },
      "Task Metrics": undefined,
    }),
    removed("1", 10_000, "Container marked as failed. Exit status: 137. Killed by external signal"),
    removed("2", 20_000, "Executor heartbeat timed out after 130000 ms"),
    removed("3", 30_000, "Container c_1 exited from explicit termination request."),
    removed("4", 40_000, "Command exited with code 50"),
    removed("5", 45_000, "Remote RPC client went to the moon"),
    removed("6", 58_000, "Remote RPC client disassociated"),
    JSON.stringify({ Event: "org.apache.spark.scheduler.SparkListenerExecutorExcluded", time: at(15_000), executorId: "7", taskFailures: 2 }),
    JSON.stringify({
      Event: "org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded",
      time: at(500),
      processId: "yarn-am",
      info: { hostPort: "h1:8042", cores: 1, logUrlInfo: { stdout: "http://h1/stdout" } },
    }),
    end(60_000),
  ]);

/** One core for two seconds, and in the driver's books two tasks that took all of them: each ends when its result was fetched. */
export function crowdedLog() {
  const tasks = [0, 1].map((i) => taskInfo(i, i, "1", at(2000)));
  return text([
    ...head("app-crowded"),
    added("1", 2000, "h1", 1),
    event("JobStart", { "Job ID": 0, "Submission Time": at(2000), "Stage IDs": [0], "Stage Infos": [stageInfo(0, "map at A.scala:1", 2)], Properties: {} }),
    event("StageSubmitted", { "Stage Info": stageInfo(0, "map at A.scala:1", 2, { "Submission Time": at(2000) }), Properties: {} }),
    ...tasks.map((task) => event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": task })),
    ...tasks.map((task) => taskEnd(0, task, at(4000))),
    end(4000),
  ]);
}

/** Two RDDs: 7 with 11 of its 12 partitions on two executors, 8 that is released; a receiver's block on both. */
export function storageLog() {
  const level = { "Use Disk": false, "Use Memory": true, Deserialized: true, Replication: 1 };
  const rdd = (id, name, partitions) => ({
    "RDD ID": id, Name: name, Callsite: "cache at A.scala:1", "Parent IDs": [], "Storage Level": level, "Number of Partitions": partitions, "Number of Cached Partitions": 0,
    "Memory Size": 0, "Disk Size": 0,
  });
  const stage = (more = {}) => stageInfo(0, "map at A.scala:1", 2, { "RDD Info": [rdd(7, "kept", 12), rdd(8, "released", 1)], "Submission Time": at(1000), ...more });
  const block = (name, executor, memory) =>
    event("BlockUpdated", {
      "Block Updated Info": {
        "Block Manager ID": { "Executor ID": executor, Host: `h${executor}`, Port: 7 }, "Block ID": name, "Storage Level": level, "Memory Size": memory, "Disk Size": 0,
      },
    });
  const info = taskInfo(0, 0, "1", at(1010));
  return text([
    ...head("app-storage"),
    ...["1", "2"].flatMap((id) => [
      added(id, 100, `h${id}`),
      event("BlockManagerAdded", { "Block Manager ID": { "Executor ID": id, Host: `h${id}`, Port: 7 }, "Maximum Memory": 10_000, Timestamp: at(100), "Maximum Onheap Memory": 10_000 }),
    ]),
    event("JobStart", { "Job ID": 0, "Submission Time": at(1000), "Stage IDs": [0], "Stage Infos": [stage()], Properties: {} }),
    event("StageSubmitted", { "Stage Info": stage(), Properties: {} }),
    ...Array.from({ length: 11 }, (_, i) => block(`rdd_7_${i}`, i % 2 ? "2" : "1", 100 + i)),
    block("rdd_8_0", "1", 50),
    block("input-0-1767225600000", "1", 30),
    block("input-0-1767225600000", "2", 30),
    event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": info }),
    taskEnd(0, info, at(1500)),
    event("StageCompleted", { "Stage Info": stage({ "Completion Time": at(2000) }) }),
    event("JobEnd", { "Job ID": 0, "Completion Time": at(2000), "Job Result": { Result: "JobSucceeded" } }),
    event("UnpersistRDD", { "RDD ID": 8 }),
    end(3000),
  ]);
}
