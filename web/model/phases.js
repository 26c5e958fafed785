// SPDX-License-Identifier: Apache-2.0
/**
 * What a task, or the tasks of a stage or executor together, did while they had their slots: Spark's own times, clipped so that they sum to the task time, as the server's account does
 * (analysis/task_parts.h). Names are buckets of the account (model/buckets.js), in the order in which they usually happen: Spark logs only sums.
 */

/** @typedef {number | null | undefined} N */
/** @typedef {{ ms: N, runMs: N, deserializeMs: N, serializeMs: N, gettingResultMs?: N, gcMs: N, cpuNs: N, fetchMs: N, writeNs: N }} Times */
/** @typedef {{ bucket: string, ms: number }} Part */

/** Empty without task time, and without a run time to divide. @param {Times} times @param {string} rest what run time is that nothing measures @returns {Part[]} those with time in them; they sum to ms */
export function parts(times, rest = "other") {
  let left = times.ms ?? 0;
  if (left <= 0 || times.runMs === null || times.runMs === undefined) return [];
  const take = (/** @type {N} */ wanted) => {
    const taken = Math.min(Math.max(wanted ?? 0, 0), left);
    left -= taken;
    return taken;
  };
  const run = take(times.runMs),
    deser = take(times.deserializeMs),
    ser = take(times.serializeMs),
    getres = take(times.gettingResultMs),
    delay = left;
  left = run;
  const gcInRun = take(times.gcMs),
    fetch = take(times.fetchMs),
    cpu = take((times.cpuNs ?? 0) / 1e6),
    shwrite = take((times.writeNs ?? 0) / 1e6),
    other = left;
  const gcInDeser = Math.min((times.gcMs ?? 0) - gcInRun, deser);
  return Object.entries({ delay, deser: deser - gcInDeser, fetch, cpu, gc: gcInRun + gcInDeser, [rest]: other, shwrite, ser, getres })
    .filter(([, ms]) => ms > 0)
    .map(([bucket, ms]) => ({ bucket, ms }));
}

/** Python's workers do what Spark does not measure, where the account says that the stage has some. @param {import("../types").StageAnalysis | null} analysis */
export const restOf = (analysis) => (analysis?.cost.some((b) => b.bucket === "python") ? "python" : "other");

/** @param {import("../types").TaskItem} t @param {string} [rest] */
export const taskParts = (t, rest) =>
  t.status === "failed" || t.status === "killed"
    ? t.durationMs
      ? [{ bucket: "lost", ms: t.durationMs }]
      : []
    : parts({
        ms: t.durationMs, runMs: t.executorRunTimeMs, deserializeMs: t.executorDeserializeTimeMs, serializeMs: /** @type {N} */ (t.resultSerializationTimeMs),
        gettingResultMs: t.gettingResultTimeMs, gcMs: t.jvmGcTimeMs, cpuNs: t.executorCpuTimeNs, fetchMs: t.shuffleFetchWaitTimeMs, writeNs: t.shuffleWriteTimeNs,
      }, rest);

/** Of a stage's or an executor's sums. @param {{ taskTimeMs: N, runTimeMs: N, gcTimeMs: N, cpuTimeNs: N, deserializeTimeMs: N, resultSerializationTimeMs: N, fetchWaitTimeMs: N, shuffleWriteTimeNs: N }} s @param {string} [rest] */
export const sumParts = (s, rest) =>
  parts({
    ms: s.taskTimeMs, runMs: s.runTimeMs, deserializeMs: s.deserializeTimeMs, serializeMs: s.resultSerializationTimeMs, gcMs: s.gcTimeMs, cpuNs: s.cpuTimeNs, fetchMs: s.fetchWaitTimeMs,
    writeNs: s.shuffleWriteTimeNs,
  }, rest);

/** Sums of executors that had tasks by host, the most task time first. Unknown sums stay unknown. @param {import("../types").StageExecutor[]} executors @returns {HostRow[]} */
export function byHost(executors) {
  /** @type {Map<string | null, HostRow>} */
  const rows = new Map();
  for (const x of executors) {
    if (!x.taskCount) continue;
    const row = rows.get(x.host) ?? /** @type {HostRow} */ ({ host: x.host, executorCount: 0, ...Object.fromEntries(SUMMED.map((k) => [k, null])) });
    row.executorCount++;
    for (const k of SUMMED) if (x[k] !== null) row[k] = (row[k] ?? 0) + /** @type {number} */ (x[k]);
    rows.set(x.host, row);
  }
  return [...rows.values()].sort((a, b) => (b.taskTimeMs ?? 0) - (a.taskTimeMs ?? 0));
}
const SUMMED = /** @type {const} */ ([
  "taskCount", "succeededTasks", "failedTasks", "killedTasks", "taskTimeMs", "runTimeMs", "gcTimeMs", "cpuTimeNs", "deserializeTimeMs", "resultSerializationTimeMs", "fetchWaitTimeMs",
  "shuffleWriteTimeNs", "inputBytes", "shuffleReadBytes", "shuffleWriteBytes", "outputBytes", "diskSpilledBytes",
]);
/** @typedef {{ host: string | null, executorCount: number } & Record<typeof SUMMED[number], number | null>} HostRow */

/**
 * The time of an executor's slots: what its tasks did, and the rest of its life, idle. More tasks than slots leave nothing idle.
 * @param {import("../types").ExecutorItem} x @returns {Part[]}
 */
export function slotParts(x) {
  const busy = sumParts(x);
  const slots = x.maxTasks ?? x.totalCores;
  const idle = busy.length && x.aliveMs !== null && slots !== null ? x.aliveMs * slots - (x.taskTimeMs ?? 0) : 0;
  return idle > 0 ? [...busy, { bucket: "idle", ms: idle }] : busy;
}
