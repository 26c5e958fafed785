// SPDX-License-Identifier: Apache-2.0
/** Which page of the reading order a finding belongs to, and the level of its mark. Findings keep the server's order: the most important first. */

/** @typedef {import("../types").Finding} Finding */
/** @typedef {"overview" | "jobs" | "stages" | "executors" | "storage" | "env" | "sql" | "streaming" | "log"} PageName */

/** Of a mark (components/severity.jsx). @type {Record<import("../types").FindingGrade, number>} */
export const LEVELS = { ok: 0, info: 1, low: 2, moderate: 3, severe: 4 };

/** @param {Finding} f */
export const level = (f) => LEVELS[f.grade] ?? 0;

/** By what it is about. @type {Record<import("../types").SubjectKind, PageName>} */
const PAGE_OF = {
  app: "overview", job: "jobs", stage: "stages", task: "stages", exec: "executors", host: "executors", sql: "sql", node: "sql", rdd: "storage", query: "streaming", batch: "streaming",
  conf: "env", log: "log",
};

/** @param {Finding} f @returns {PageName} */
export const pageOf = (f) => PAGE_OF[f.subject.kind] ?? "overview";

/** @param {Finding[]} findings @param {PageName} page */
export const ofPage = (findings, page) => findings.filter((f) => pageOf(f) === page);

/** The worst level among them, and what the dearest would save. @param {Finding[]} findings @returns {{ level: number, savingMs: number | null }} */
export function worst(findings) {
  let l = 0;
  /** @type {number | null} */
  let savingMs = null;
  for (const f of findings) {
    l = Math.max(l, level(f));
    if (f.price && f.price.ms > (savingMs ?? 0)) savingMs = f.price.ms;
  }
  return { level: l, savingMs };
}

/** Names one finding of a run, in an address. @param {Finding} f */
export const findingId = (f) => `${f.rule}:${f.subject.kind}:${f.subject.key}`;
