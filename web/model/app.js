// SPDX-License-Identifier: Apache-2.0

/**
 * A run as the pages take it. In the first moments of a load the server knows the state and no more than that: what is missing becomes unknown or empty, and
 * `loading` is there until the log was read to its end.
 * @param {import("../types").AppAnswer} answer @returns {import("../types").App}
 */
export function settled(answer) {
  const underWay = answer.state === "loading" || answer.state === "waiting";
  return {
    ...answer,
    loading: answer.loading ?? (underWay ? { readBytes: answer.readBytes, totalBytes: answer.totalBytes, lines: null } : null),
    log: answer.log ?? { files: null, bytes: answer.totalBytes, textBytes: null, lines: null, layout: answer.layout, upload: null, codecs: null, path: answer.logPath },
    cores: answer.cores ?? { max: null },
    slowestStages: answer.slowestStages ?? [],
    failedJobs: answer.failedJobs ?? [],
    failedStages: answer.failedStages ?? [],
  };
}

/** Enough of a path to tell two logs of the same application apart. @param {string | null} path */
export const pathEnd = (path) => (path === null ? null : path.split("/").filter(Boolean).slice(-2).join("/"));

/**
 * A call site without the folders of its file, which say least and push the line number out of sight: `collect at /opt/x/jobs/etl.py:20` → `collect at etl.py:20`.
 * @param {string | null} name
 */
export const callSite = (name) => name?.replace(/ at \S*\/([^/\s]+:\d+)$/, " at $1") ?? null;

/**
 * Rows that nothing but the place of their log tells apart: the same id and attempt.
 * @param {import("../types").AppItem[]} rows @returns {Set<import("../types").AppItem>}
 */
export function alike(rows) {
  const id = (/** @type {import("../types").AppItem} */ a) => JSON.stringify([a.appId, a.attemptId]);
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (const a of rows) if (a.appId !== null) seen.set(id(a), (seen.get(id(a)) ?? 0) + 1);
  return new Set(rows.filter((a) => (seen.get(id(a)) ?? 0) > 1));
}

/**
 * May the log of this run still grow? It was read and has no end, it is still in its place, and its name does not say that Spark has closed it: a single file carries
 * `.inprogress` until then, a zip is never written to.
 * @param {Pick<import("../types").AppItem, "complete" | "state" | "layout" | "logPath">} a
 */
export function growing(a) {
  if (a.complete !== false || (a.state !== "loaded" && a.state !== "partial") || a.layout === "zip") return false;
  return a.layout !== "single" || a.logPath === null || a.logPath.endsWith(".inprogress");
}

/** May things of the run come that are not there yet? @param {import("../types").App} a */
export const mayCome = (a) => a.loading !== null || growing(a);

/**
 * Stages by duration, those still running among them with what they took up to the last event. The server cannot rank a stage without an end.
 * @param {import("../types").StageItem[]} ended @param {import("../types").StageItem[]} open @param {number | null} nowMs of the log, its last event @param {number} most
 * @returns {{ rows: import("../types").StageItem[], atLeast: Set<import("../types").StageItem> }} atLeast: those whose duration is a lower bound
 */
export function slowest(ended, open, nowMs, most) {
  const soFar = open
    .filter((s) => s.durationMs === null && s.submissionMs !== null && nowMs !== null && nowMs >= s.submissionMs)
    .map((s) => ({ ...s, durationMs: (nowMs ?? 0) - (s.submissionMs ?? 0) }));
  const name = (/** @type {import("../types").StageItem} */ s) => `${s.stageId}.${s.attempt}`;
  const running = new Set(soFar.map(name));
  const rows = [...ended.filter((s) => !running.has(name(s))), ...soFar].sort((a, b) => (b.durationMs ?? -1) - (a.durationMs ?? -1)).slice(0, most);
  return { rows, atLeast: new Set(soFar) };
}

/** GC share of task time. @param {number | null | undefined} gcMs @param {number | null | undefined} taskMs */
export function share(gcMs, taskMs) {
  return gcMs === null || gcMs === undefined || !taskMs ? null : gcMs / taskMs;
}
