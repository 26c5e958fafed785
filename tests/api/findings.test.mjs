// SPDX-License-Identifier: Apache-2.0
// What analysis found out, over HTTP: findings with thresholds of the request, accounts that close, the chain without holes, what-ifs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { LOGS, makeStore, ROOT, startServer } from "./support/server.mjs";

/** @type {{server: any, app: Record<string, string>}} */
const at = { server: null, app: {} };

before(async (t) => {
  at.server = await startServer(t, ["--store", makeStore(t, ["straggler_even_bytes", "gc_pressure", "tiny_app", "failures"].map((name) => join(LOGS, name)))]);
  for (const { ref, name } of (await at.server.json("apps?limit=100")).items) at.app[name] = `apps/${ref}`;
});

const get = (name, rest, status = 200) => at.server.json(`${at.app[name]}/${rest}`, status);

test("the planted straggler leads, with its price, evidence and a fix", async () => {
  const { verdict, findings, wallMs } = await get("straggler_even_bytes", "findings");
  const [first] = findings;
  assert.equal(first.rule, "STAGE.STRAGGLER");
  assert.deepEqual([first.subject.kind, first.subject.key, first.subject.name], ["stage", "0.0", "stage 0.0"]);
  assert.ok(first.price.lowMs <= first.price.ms && first.price.ms <= first.price.highMs && first.price.ms < wallMs);
  assert.equal(first.evidence.rows[0].role, "culprit");
  assert.ok(first.fixes.length > 0 && first.fixes[0].code.length > 0);
  assert.ok(verdict.startsWith(first.sentence), verdict);
});

test("findings are in order: by grade, then by price", async () => {
  const order = ["severe", "moderate", "low", "info"];
  for (const name of Object.keys(at.app)) {
    const grades = (await get(name, "findings")).findings.map((each) => order.indexOf(each.grade));
    assert.deepEqual(grades, [...grades].sort(), name);
    assert.ok(!grades.includes(-1));
  }
});

test("other thresholds change grades and nothing that was measured", async () => {
  const one = (answer) => answer.findings.find((each) => each.rule === "STAGE.GC_HIGH");
  const usual = one(await get("gc_pressure", "findings?rule=STAGE.GC_HIGH"));
  const higher = one(await get("gc_pressure", "findings?rule=STAGE.GC_HIGH&all=true&threshold.STAGE.GC_HIGH=0.9,0.95,0.97,0.99"));
  assert.notEqual(usual.grade, "ok");
  assert.equal(higher.grade, "ok");
  assert.deepEqual([higher.measure, higher.subject], [usual.measure, usual.subject]);
  assert.ok(higher.margin < 1 && usual.margin >= 1);
  assert.equal((await get("gc_pressure", "findings?rule=STAGE.GC_HIGH&threshold.STAGE.GC_HIGH=0.9,0.95,0.97,0.99")).total, 0);
  assert.equal(one(await get("gc_pressure", "findings?rule=STAGE.GC_HIGH&threshold.STAGE.GC_HIGH=0.01,-,-,-")).grade, "info");
});

test("a finding tells its usual thresholds, its evidence in words, and why it is not judged", async () => {
  const { findings } = await get("gc_pressure", "findings?all=true&limit=1000");
  const gc = findings.find((each) => each.rule === "STAGE.GC_HIGH");
  assert.deepEqual(gc.ladder, { down: false, withPrice: true, steps: [0.05, 0.1, 0.2, 0.3] });
  assert.equal(gc.evidence.rows[0].name, `stage ${gc.evidence.rows[0].key}`);
  assert.ok(gc.evidence.rows.every((row) => row.cells.every((cell) => cell.label.length > 0)));
  const muted = findings.find((each) => each.mute === "no_subject");
  assert.equal(muted.muteText, "the run has nothing of this kind");
  assert.ok(findings.every((each) => (each.mute === null) === (each.muteText === null)));
  const chinese = await get("gc_pressure", "findings?lang=zh-CN");
  assert.equal(chinese.findings.find((each) => each.rule === "STAGE.GC_HIGH").evidence.rows[0].cells.find((cell) => cell.name === "task_time").label, "任务时间");
  assert.equal(chinese.questions.jobs, "哪个动作慢？有没有重复计算？");
});

test("thresholds that make no sense are refused", async () => {
  for (const wrong of ["0.1", "0.1,0.2,0.3", "0.1,0.2,0.3,x", "0.3,0.2,0.1,0.05", "", "1,2,3,4,5", "nan,1,2,3", "inf,-,-,-", "1,,2,3"])
    assert.equal((await get("gc_pressure", `findings?threshold.STAGE.GC_HIGH=${wrong}`, 400)).error, "bad_parameter", wrong);
  assert.equal((await get("gc_pressure", "findings?threshold.NO.RULE=1,2,3,4", 400)).error, "bad_parameter");
  assert.equal((await get("gc_pressure", "findings?lang=tlh", 400)).error, "bad_parameter");
  assert.equal((await get("gc_pressure", "what-ifs?executors=0", 400)).error, "bad_parameter");
  assert.equal((await get("gc_pressure", "account?view=sideways", 400)).error, "bad_parameter");
});

test("every rule left a row, shown or with its margin or its reason", async () => {
  const rules = [...readFileSync(join(ROOT, "analysis/rules.c"), "utf8").matchAll(/^ {4}\{"([A-Z.0-9_]+)",/gm)].map((found) => found[1]);
  const { findings, total } = await get("gc_pressure", "findings?all=true&limit=1000");
  assert.ok(rules.length > 80 && total >= rules.length - 1);
  const seen = new Set(findings.map((each) => each.rule));
  // a comparison with earlier runs needs the catalogue
  assert.deepEqual(rules.filter((each) => !seen.has(each) && each !== "RUN.REGRESSION"), []);
  for (const each of findings) assert.ok(each.grade !== "ok" || each.mute || each.suppressedBy || each.margin !== null || each.measure.value === null, each.rule);
});

test("a page's findings have a verdict of their own", async () => {
  const { verdict, findings } = await get("straggler_even_bytes", "findings?kind=stage&key=0.0");
  assert.ok(findings.every((each) => each.subject.key === "0.0"));
  assert.ok(verdict.startsWith(findings[0].sentence));
  assert.match((await get("straggler_even_bytes", "findings?kind=rdd&key=none")).verdict, /^Nothing stands out/);
});

test("pages that have nothing to show say why", async () => {
  const { emptyPages } = await get("straggler_even_bytes", "findings");
  assert.match(emptyPages.sql, /RDDs only/);
  assert.match(emptyPages.storage, /Nothing was persisted/);
  assert.equal(emptyPages.jobs, null);
  assert.equal((await get("straggler_even_bytes", "findings?rule=JOB.FAILED")).emptyPages, undefined);
});

test("Chinese is Chinese", async () => {
  const { verdict, findings } = await get("straggler_even_bytes", "findings?lang=zh-CN");
  assert.match(verdict, /阶段 0\.0/);
  assert.equal(findings[0].name, "个别任务很慢");
});

test("the account of the application closes, and so do those of stages", async () => {
  for (const name of Object.keys(at.app)) {
    const { buckets, frameMs, wallMs } = await get(name, "account");
    const sum = (key) => buckets.reduce((total, each) => total + (each[key] ?? 0), 0);
    assert.ok(Math.abs(sum("slotMs") - frameMs) <= 0.01 * frameMs, `${name}: ${sum("slotMs")} of ${frameMs}`);
    assert.ok(Math.abs(sum("wallMs") - wallMs) <= 0.01 * wallMs, `${name}: ${sum("wallMs")} of ${wallMs}`);
    assert.ok(buckets.every((each) => each.slotMs >= 0 && each.name && each.meaning));
  }
  assert.equal((await get("gc_pressure", "account?stage=4711.0")).buckets.length, 0);
});

test("the chain has no hole from the begin to the end", async () => {
  for (const name of Object.keys(at.app)) {
    const { beginMs, endMs } = await get(name, "account");
    const { segments } = await get(name, "chain");
    assert.equal(segments[0].fromMs, beginMs);
    assert.equal(segments.at(-1).toMs, endMs);
    for (let i = 1; i < segments.length; i++) assert.equal(segments[i].fromMs, segments[i - 1].toMs);
  }
});

test("what-ifs respect their bounds, and any number of executors can be asked for", async () => {
  const { wallMs, whatIfs, executors } = await get("gc_pressure", "what-ifs?executors=1");
  assert.ok(whatIfs.length > 0 && whatIfs.every((each) => each.lowMs <= each.wallMs && each.wallMs <= each.highMs));
  assert.ok(executors.wallMs > wallMs, "one executor instead of two is slower");
  const many = (await get("gc_pressure", "what-ifs?executors=50")).executors;
  assert.ok(many.wallMs <= wallMs && many.subject === "50");
});

test("a stage says why its tasks were slow", async () => {
  const { verdict, cause, causes, window } = await get("straggler_even_bytes", "stages/0.0/analysis");
  assert.equal(verdict, "few_slow");
  assert.equal(cause, causes[0].cause);
  assert.ok(window.length > 0);
  await get("straggler_even_bytes", "stages/99.0/analysis", 404);
});

test("a task says why it was slow, in seconds that sum up", async () => {
  const { excessMs, cause, causes, sentence } = await get("straggler_even_bytes", "tasks/7/why");
  assert.equal(cause, "waiting");
  assert.ok(excessMs > 10000 && Math.abs(causes.reduce((sum, each) => sum + each.ms, 0) - excessMs) <= 1);
  assert.match(sentence, /^Task 7 took 11\.\d s longer than the median of its stage, > 99 % of it for this reason: waiting/);
  assert.match((await get("straggler_even_bytes", "tasks/7/why?lang=zh")).sentence, /^任务 7 /);
  assert.equal((await get("failures", "tasks/12/why")).excessMs, null, "it failed");
  await get("straggler_even_bytes", "tasks/4711/why", 404);
  await get("straggler_even_bytes", "tasks/99999999999999999999/why", 404);
});
