// SPDX-License-Identifier: Apache-2.0
// A small event log as text, with numbers a person can add up:
//
//   job 0 (succeeded)  stages 0, 1     job 1 (failed)  stage 2     job 2  stage 3, without ends
//   stage 0  6 tasks of 100 … 600 ms on executors 1, 2, 10 in turn; stage 1  2 tasks, 1 failed; stage 2  1 task, failed; stage 3  1 task that never ends
export const event = (name, members) => JSON.stringify({ Event: `SparkListener${name}`, ...members });

export const stageInfo = (id, name, tasks, more = {}) => ({
  "Stage ID": id,
  "Stage Attempt ID": 0,
  "Stage Name": name,
  "Number of Tasks": tasks,
  "RDD Info": [],
  "Parent IDs": id ? [id - 1] : [],
  Details: `details of ${name}`,
  Accumulables: [],
  "Resource Profile Id": 0,
  ...more,
});

export const taskInfo = (id, index, executor, launch, more = {}) => ({
  "Task ID": id,
  Index: index,
  Attempt: 0,
  "Partition ID": index,
  "Launch Time": launch,
  "Executor ID": executor,
  Host: `host-${executor}`,
  Locality: "PROCESS_LOCAL",
  Speculative: false,
  "Getting Result Time": 0,
  "Finish Time": 0,
  Failed: false,
  Killed: false,
  Accumulables: [],
  ...more,
});

const metrics = (run, gc, shuffleRead) => ({
  "Executor Deserialize Time": 1,
  "Executor Deserialize CPU Time": 1000000,
  "Executor Run Time": run,
  "Executor CPU Time": run * 900000,
  "Peak Execution Memory": 0,
  "Result Size": 1000,
  "JVM GC Time": gc,
  "Result Serialization Time": 0,
  "Memory Bytes Spilled": 0,
  "Disk Bytes Spilled": 0,
  "Shuffle Read Metrics": {
    "Remote Blocks Fetched": 1,
    "Local Blocks Fetched": 2,
    "Fetch Wait Time": 0,
    "Remote Bytes Read": shuffleRead,
    "Remote Bytes Read To Disk": 0,
    "Local Bytes Read": 5,
    "Total Records Read": 7,
  },
  "Shuffle Write Metrics": { "Shuffle Bytes Written": 10, "Shuffle Write Time": 1000, "Shuffle Records Written": 1 },
  "Input Metrics": { "Bytes Read": 100, "Records Read": 10 },
  "Output Metrics": { "Bytes Written": 0, "Records Written": 0 },
  "Updated Blocks": [],
});

export const taskEnd = (stage, info, end, more = {}) =>
  event("TaskEnd", {
    "Stage ID": stage,
    "Stage Attempt ID": 0,
    "Task Type": "ResultTask",
    "Task End Reason": { Reason: "Success" },
    "Task Info": { ...info, "Finish Time": end },
    "Task Metrics": metrics(end - info["Launch Time"] - 5, 3, 1000 * (info.Index + 1)),
    ...more,
  });

export const START = 1700000000000;

/** @param {{id?: string, attempt?: string, name?: string, user?: string, ended?: boolean}} options */
export function smallLog({ id = "app-1", attempt, name = "small", user = "alice", ended = true } = {}) {
  const at = (ms) => START + ms;
  const lines = [
    event("LogStart", { "Spark Version": "3.5.7" }),
    event("BlockManagerAdded", {
      "Block Manager ID": { "Executor ID": "driver", Host: "host-d", Port: 1 },
      "Maximum Memory": 1000,
      Timestamp: at(0),
      "Maximum Onheap Memory": 1000,
      "Maximum Offheap Memory": 0,
    }),
    event("EnvironmentUpdate", {
      "JVM Information": { "Java Version": "17" },
      "Spark Properties": { "spark.master": "spark://m:7077", "spark.app.id": id },
      "Hadoop Properties": {},
      "System Properties": {},
      "Metrics Properties": {},
      "Classpath Entries": {},
    }),
    event("ApplicationStart", { "App Name": name, "App ID": id, Timestamp: at(0), User: user, ...(attempt ? { "App Attempt ID": attempt } : {}) }),
    ...["1", "2", "10"].map((e) =>
      event("ExecutorAdded", {
        Timestamp: at(100),
        "Executor ID": e,
        "Executor Info": { Host: `host-${e}`, "Total Cores": 4, "Log Urls": { stdout: `http://host-${e}/stdout` }, Attributes: {}, Resources: {}, "Resource Profile Id": 0 },
      }),
    ),
    event("JobStart", {
      "Job ID": 0,
      "Submission Time": at(1000),
      "Stage IDs": [0, 1],
      "Stage Infos": [stageInfo(0, "map at A.scala:1", 6), stageInfo(1, "reduce 100% at A.scala:2", 2)],
      Properties: { "spark.job.description": "first <b>job</b>", "spark.jobGroup.id": "group_1" },
    }),
    event("StageSubmitted", { "Stage Info": stageInfo(0, "map at A.scala:1", 6, { "Submission Time": at(1000) }), Properties: {} }),
  ];
  const executors = ["1", "2", "10"];
  for (let i = 0; i < 6; i++) {
    const info = taskInfo(i, i, executors[i % 3], at(1010));
    lines.push(event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": info }), taskEnd(0, info, at(1010 + 100 * (i + 1))));
  }
  lines.push(event("StageCompleted", { "Stage Info": stageInfo(0, "map at A.scala:1", 6, { "Submission Time": at(1000), "Completion Time": at(2000) }) }));
  lines.push(event("StageSubmitted", { "Stage Info": stageInfo(1, "reduce 100% at A.scala:2", 2, { "Submission Time": at(2000) }), Properties: {} }));
  const failure = {
    Reason: "ExceptionFailure",
    "Class Name": "java.lang.RuntimeException",
    Description: "boom 50%_",
    "Stack Trace": [],
    "Full Stack Trace": "java.lang.RuntimeException: boom 50%_\n\tat A",
    "Accumulator Updates": [],
  };
  const good = taskInfo(6, 0, "1", at(2000)),
    bad = taskInfo(7, 1, "2", at(2000), { Failed: true });
  lines.push(event("TaskStart", { "Stage ID": 1, "Stage Attempt ID": 0, "Task Info": good }), event("TaskStart", { "Stage ID": 1, "Stage Attempt ID": 0, "Task Info": bad }));
  lines.push(taskEnd(1, good, at(2300)), taskEnd(1, bad, at(2400), { "Task End Reason": failure }));
  lines.push(event("StageCompleted", { "Stage Info": stageInfo(1, "reduce 100% at A.scala:2", 2, { "Submission Time": at(2000), "Completion Time": at(2500) }) }));
  lines.push(event("JobEnd", { "Job ID": 0, "Completion Time": at(2500), "Job Result": { Result: "JobSucceeded" } }));
  lines.push(event("JobStart", { "Job ID": 1, "Submission Time": at(3000), "Stage IDs": [2], "Stage Infos": [stageInfo(2, "count at B.scala:1", 1)], Properties: {} }));
  lines.push(event("StageSubmitted", { "Stage Info": stageInfo(2, "count at B.scala:1", 1, { "Submission Time": at(3000) }), Properties: {} }));
  const fatal = taskInfo(8, 0, "10", at(3000), { Failed: true });
  lines.push(event("TaskStart", { "Stage ID": 2, "Stage Attempt ID": 0, "Task Info": fatal }), taskEnd(2, fatal, at(3100), { "Task End Reason": failure }));
  lines.push(
    event("StageCompleted", {
      "Stage Info": stageInfo(2, "count at B.scala:1", 1, { "Submission Time": at(3000), "Completion Time": at(3200), "Failure Reason": "Job aborted: boom" }),
    }),
  );
  lines.push(event("JobEnd", { "Job ID": 1, "Completion Time": at(3250), "Job Result": { Result: "JobFailed", Exception: { Message: "Job aborted: boom", "Stack Trace": [] } } }));
  lines.push(event("JobStart", { "Job ID": 2, "Submission Time": at(4000), "Stage IDs": [3], "Stage Infos": [stageInfo(3, "endless at C.scala:1", 1)], Properties: {} }));
  lines.push(event("StageSubmitted", { "Stage Info": stageInfo(3, "endless at C.scala:1", 1, { "Submission Time": at(4000) }), Properties: {} }));
  lines.push(event("TaskStart", { "Stage ID": 3, "Stage Attempt ID": 0, "Task Info": taskInfo(9, 0, "1", at(4000)) }));
  if (ended) lines.push(event("ApplicationEnd", { Timestamp: at(5000) }));
  return lines.join("\n") + "\n";
}
