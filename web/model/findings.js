// SPDX-License-Identifier: Apache-2.0
/** Which page of the reading order a finding belongs to, the level of its mark, which are shown and which folded, and the order in which they are read, and thresholds that a person moved. The server gives them by grade and price. */

import { THRESHOLD } from "../lib/paths.js";

/** @typedef {import("../types").Finding} Finding */
/** @typedef {"overview" | "compare" | "jobs" | "stages" | "executors" | "storage" | "env" | "sql" | "streaming" | "log"} PageName */

/** Of a mark (components/severity.jsx). @type {Record<import("../types").FindingGrade, number>} */
export const LEVELS = { ok: 0, info: 1, low: 2, moderate: 3, severe: 4 };

/** The other way round. @type {import("../types").FindingGrade[]} */
export const GRADES = ["ok", "info", "low", "moderate", "severe"];

/** @param {Finding} f */
export const level = (f) => LEVELS[f.grade] ?? 0;

/** By what it is about; what is about the whole run has a page by its rule. @type {Record<import("../types").SubjectKind, PageName>} */
const PAGE_OF = {
  app: "overview", job: "jobs", stage: "stages", task: "stages", exec: "executors", host: "executors", sql: "sql", node: "sql", rdd: "storage", query: "streaming", batch: "streaming",
  conf: "env", log: "log",
};

/** Of one about the whole run: the page that answers what it is about, by its rule or the first word of that (spec/findings.md 8.1). @type {Record<string, PageName>} */
const PAGE_OF_RULE = {
  "APP.DRIVER_GAP": "jobs", "APP.START_WAIT": "jobs", "RUN.REGRESSION": "compare", APP: "executors", CONF: "env", EXEC: "executors", JOB: "jobs", RDD: "storage", SQL: "sql", STAGE: "stages", TASK: "stages",
};

/** @param {Finding} f @returns {PageName} */
export const pageOf = (f) => (f.subject.kind === "app" ? (PAGE_OF_RULE[f.rule] ?? PAGE_OF_RULE[f.rule.split(".", 1)[0]]) : PAGE_OF[f.subject.kind]) ?? "overview";

/** @param {Finding[]} findings @param {PageName} page */
export const ofPage = (findings, page) => findings.filter((f) => pageOf(f) === page);

/** Parts of a list for readers, in the order of readable reports (analysis/report_parts.h). @type {Finding["part"][]} */
const PARTS = ["lead", "cause", "symptom", "note", "usual"];

/** As they are read: what the verdict names, causes, what these lead to, notes, and last what every run has; in each part the server's order. @param {Finding[]} findings */
export const readable = (findings) => PARTS.flatMap((part) => findings.filter((f) => f.part === part));

/** The worst level among them, and what the dearest would save; what is no fault leaves no mark. @param {Finding[]} findings @returns {{ level: number, savingMs: number | null }} */
export function worst(findings) {
  let l = 0;
  /** @type {number | null} */
  let savingMs = null;
  for (const f of findings) {
    if (!f.noFault) l = Math.max(l, level(f));
    if (f.price && f.price.ms > (savingMs ?? 0)) savingMs = f.price.ms;
  }
  return { level: l, savingMs };
}

/** Rules that judge how long a stage's slowest task took. */
export const SLOW_TASK = ["STAGE.SKEW_DATA", "STAGE.STRAGGLER"];

/** The task that the first of them names as the slow one; null: none does. @param {Finding[]} findings of a stage, in the server's order @returns {string | null} */
export const slowTask = (findings) =>
  findings.find((f) => SLOW_TASK.includes(f.rule) && level(f) > 0)?.evidence.rows.find((row) => row.kind === "task" && row.role === "culprit")?.key ?? null;

/** Rules that judge how near a peak came to its limit: a share. */
export const NEAR_LIMIT = ["EXEC.MEM_NEAR", "DRIVER.MEM"];

/**
 * Is there a finding of one of these rules about it, and about this value? Only then a number may look like one.
 * @param {Finding[]} findings @param {string[]} rules @param {import("../types").SubjectKind} kind @param {string} key @param {number} [value] as the rule measures it
 */
export const isFound = (findings, rules, kind, key, value) =>
  findings.some((f) => rules.includes(f.rule) && f.subject.kind === kind && f.subject.key === key && level(f) > 0 && (value === undefined || Math.abs((f.measure.value ?? NaN) - value) < 0.001));

/** Does a number stick out by itself? @param {import("../types").Height | undefined} height @returns {height is "high" | "veryHigh"} */
export const sticksOut = (height) => height === "high" || height === "veryHigh";

/** Has a number the mark of a finding? @param {import("../types").JudgedNumber} n @returns {n is import("../types").JudgedNumber & { grade: number, rule: string }} */
export const isMarked = (n) => Boolean(n.grade) && n.rule !== null;

/**
 * The word beside a number, of how far it or a further number of the same fact sticks out. One fact has one grade: none where a finding's mark stands there.
 * @param {import("../types").JudgedNumber} n @param {import("../types").Height} [height]
 */
export const wordBeside = (n, height = n.height) => (!isMarked(n) && sticksOut(height) ? height : null);

/** The stage that is worth a look at its tasks: the one that the verdict names, or the first that a reader comes to with more than a note. As in an address: "3.0". @param {Finding[]} findings */
export const worstStage = (findings) => readable(findings).find((f) => f.subject.kind === "stage" && level(f) > 1)?.subject.key ?? null;

/** Names one finding of a run, in an address. @param {Finding} f */
export const findingId = (f) => `${f.rule}:${f.subject.kind}:${f.subject.key}`;

/** The server's filter of a task list as the address of a stage's page has it, where `exec` picks an executor. @param {string | null} filter @returns {Record<string, string>} */
export const taskQuery = (filter) => Object.fromEntries([...new URLSearchParams(filter ?? "")].map(([key, value]) => [key === "executor" ? "exec" : key, value]));

/** As the server names the one that explains another. @param {Finding} f */
const asSuppressor = (f) => `${f.rule} ${f.subject.kind} ${f.subject.key}`;

/** What explains a finding away, and what it explains away itself. @param {Finding} f @param {Finding[]} all */
export const relations = (f, all) => ({
  by: f.suppressedBy === null ? null : (all.find((x) => asSuppressor(x) === f.suppressedBy) ?? null),
  of: all.filter((x) => x.suppressedBy !== null && x.suppressedBy === asSuppressor(f)),
});

/** Below this share of the run a note is one of the small ones. */
const SMALL_SHARE = 0.01;
/** So few small ones need no row that hides them. */
const FEW = 2;

/** At most a note, not worth a hundredth of the run, and not what the verdict names. @param {Finding} f @param {number} wallMs */
const isSmall = (f, wallMs) => f.part !== "lead" && level(f) <= 1 && (f.price === null || f.price.ms < wallMs * SMALL_SHARE);

/** Those that matter, and the small ones that share a row. @param {Finding[]} findings @param {number} wallMs */
export function folded(findings, wallMs) {
  const small = findings.filter((f) => isSmall(f, wallMs));
  if (small.length <= FEW) return { shown: findings, small: [] };
  return { shown: findings.filter((f) => !isSmall(f, wallMs)), small };
}

/** So many findings of one rule have rows of their own; the rest share one, behind the last of them. */
const OF_A_RULE = 3;

/**
 * Rows: a finding, or the further ones of its rule in one.
 * @param {Finding[]} findings @param {(rule: string, more: Finding[]) => boolean} whole are the further ones of this rule to be shown one by one?
 * @returns {(Finding | { rule: string, name: string, more: Finding[], whole: boolean })[]}
 */
export function byRule(findings, whole) {
  /** @type {Map<string, Finding[]>} */
  const of = new Map();
  for (const f of findings) of.set(f.rule, [...(of.get(f.rule) ?? []), f]);
  return findings.flatMap((f) => {
    const all = of.get(f.rule) ?? [];
    const place = all.indexOf(f);
    if (all.length <= OF_A_RULE + FEW || place < OF_A_RULE - 1) return [f];
    const more = all.slice(OF_A_RULE);
    const open = whole(f.rule, more);
    if (place === OF_A_RULE - 1) return [f, { rule: f.rule, name: f.name, more, whole: open }];
    return open ? [f] : [];
  });
}

/**
 * What was checked and does not show: rules that did not fire, each with the subject that came nearest; findings that another one explains; rules that were not judged.
 * @param {Finding[]} all as the server answers with all=true
 */
export function unfired(all) {
  const fired = new Set(all.filter((f) => level(f) > 0 && !f.mute && !f.suppressedBy).map((f) => f.rule));
  /** @type {Map<string, Finding>} */
  const quiet = new Map();
  /** @type {Map<string, Finding>} */
  const muted = new Map();
  const held = all.filter((f) => f.suppressedBy !== null && !f.mute);
  for (const f of all) {
    if (fired.has(f.rule) || f.suppressedBy !== null) continue;
    const of = f.mute ? muted : quiet;
    const there = of.get(f.rule);
    if (!there || (f.margin ?? -1) > (there.margin ?? -1)) of.set(f.rule, f);
  }
  for (const rule of quiet.keys()) muted.delete(rule);
  const nearest = (/** @type {Map<string, Finding>} */ of) => [...of.values()].sort((a, b) => (b.margin ?? -1) - (a.margin ?? -1));
  return { quiet: nearest(quiet), held, muted: nearest(muted) };
}

// -- thresholds that a person moved: query keys `threshold.RULE`, whose value is the four steps

/** @param {string} rule */
export const thresholdKey = (rule) => THRESHOLD + rule;
/** @param {string} key */
export const ruleOfKey = (key) => key.slice(THRESHOLD.length);

/** Steps that stand in an address; the usual ones where they are missing or no steps. @param {string | null | undefined} text @param {(number | null)[]} usual */
export function stepsOf(text, usual) {
  const parts = (text ?? "").split(",");
  if (parts.length !== usual.length) return usual;
  const steps = parts.map((p) => (p === "-" ? null : Number(p)));
  return steps.some((s) => s !== null && !Number.isFinite(s)) ? usual : steps;
}

/** A step that anything above 0 reaches: it has no size that could be moved. @param {number | null} step */
export const isAny = (step) => step !== null && step > 0 && step < 1e-100;

/** By how much the steps were moved: the factor of the last one that is not 0. @param {(number | null)[]} steps @param {(number | null)[]} usual */
export function factorOf(steps, usual) {
  for (let i = usual.length - 1; i >= 0; i--) {
    const [a, b] = [steps[i], usual[i]];
    if (a && b && !isAny(b)) return a / b;
  }
  return 1;
}

/** Six digits are enough for a threshold, and keep an address short. @param {number} x */
function short(x) {
  if (!x) return 0;
  const scale = 10 ** (5 - Math.floor(Math.log10(Math.abs(x))));
  return Math.round(x * scale) / scale;
}

/** All steps times a factor, as an address has them; null: the usual ones, which need not stand there. @param {(number | null)[]} usual @param {number} factor */
export const movedSteps = (usual, factor) => (Math.abs(factor - 1) < 1e-9 ? null : usual.map((s) => (s === null ? "-" : String(isAny(s) ? s : short(s * factor)))).join(","));

/** How many steps a measure passes: 0 to 4. @param {import("../types").Ladder} ladder @param {(number | null)[]} steps @param {number | null} measure */
export function passed(ladder, steps, measure) {
  if (measure === null) return 0;
  let n = 0;
  steps.forEach((s, i) => {
    if (s !== null && (ladder.down ? measure <= s : measure >= s)) n = i + 1;
  });
  return n;
}

/** The one that the first step is about. @param {import("../types").Findings} of @returns {Finding | undefined} */
export const firstFinding = ({ firstStep: step, findings }) => findings.find((f) => step && f.rule === step.rule && f.subject.kind === step.kind && f.subject.key === step.key);
