// SPDX-License-Identifier: Apache-2.0
/** A run that freezes viewers which draw an element for each thing (pain.md P080): 5,000 jobs, 1,000 executors that come and go, 10,000 tasks in one stage, and odd text wherever a person or a cluster writes some. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { added, end, head, text } from "../../api/support/executor_log.mjs";
import { event, stageInfo, START, taskEnd, taskInfo } from "../../api/support/log.mjs";

export const HEAVY = "app-heavy";
export const JOBS = 5000,
  EXECUTORS = 1000,
  TASKS = 10_000;
/** What breaks pages that paste text into code, or read ids out of text. */
export const ODD = ["it's", 'a "quoted" word', "back\\slash", "line\nbreak", "separator\u2028here", "</script><b>bold</b>", "(Job 3)"];
/** Text of a job, or why an executor went. @param {number} n */
export const oddText = (n) => `${ODD[n % ODD.length]} ${n}`;

const JOB_MS = 100;

const at = (/** @type {number} */ ms) => START + ms;
/** Job n runs stage n, one after another, from 10 s on; job 0 has all the tasks of stage 0 (50 ms each, on executor 0), the others one of 80 ms. */
export function heavyLog() {
  const begin = 10_000,
    first = 60_000;
  const lines = head(HEAVY);
  for (let e = 0; e < EXECUTORS; e++) lines.push(added(String(e), e, `host-${e % 50}`, 2));
  for (let j = 0, task = 0; j < JOBS; j++) {
    const tasks = j ? 1 : TASKS,
      from = j ? begin + first + (j - 1) * JOB_MS : begin,
      to = j ? from + JOB_MS - 10 : begin + first - 10;
    const info = (more = {}) => stageInfo(j, `count at Heavy.scala:${j}`, tasks, { "Parent IDs": [], ...more });
    lines.push(
      event("JobStart", { "Job ID": j, "Submission Time": at(from), "Stage IDs": [j], "Stage Infos": [info()], Properties: { "spark.job.description": oddText(j) } }),
      event("StageSubmitted", { "Stage Info": info({ "Submission Time": at(from) }), Properties: {} }),
    );
    for (let i = 0; i < tasks; i++, task++) {
      const launch = from + (j ? 0 : Math.floor((i * (first - 100)) / TASKS)),
        run = taskInfo(task, i, String(j ? j % EXECUTORS : i % 8), at(launch));
      lines.push(event("TaskStart", { "Stage ID": j, "Stage Attempt ID": 0, "Task Info": run }), taskEnd(j, run, at(launch + (j ? 80 : 50))));
    }
    lines.push(
      event("StageCompleted", { "Stage Info": info({ "Submission Time": at(from), "Completion Time": at(to) }) }),
      event("JobEnd", { "Job ID": j, "Completion Time": at(to), "Job Result": { Result: "JobSucceeded" } }),
    );
  }
  const last = begin + first + JOBS * JOB_MS;
  for (let e = 0; e < EXECUTORS; e++) lines.push(event("ExecutorRemoved", { Timestamp: at(last + e), "Executor ID": String(e), "Removed Reason": oddText(e) }));
  lines.push(end(last + EXECUTORS));
  return text(lines);
}

/** Writes it into a folder and returns that. @param {string} folder */
export function writeHeavyLog(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, HEAVY), heavyLog());
  return folder;
}
