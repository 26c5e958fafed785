// SPDX-License-Identifier: Apache-2.0
/** Findings: which are shown, folded, held back; thresholds that a person moves. Values worked out by hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thresholds } from "../lib/paths.js";
import { NEAR_LIMIT, byRule, factorOf, folded, isFound, isMarked, movedSteps, ofPage, pageOf, passed, readable, relations, slowTask, stepsOf, sticksOut, taskQuery, unfired, wordBeside, worst, worstStage } from "../model/findings.js";

/** @param {string} rule @param {string} grade @param {object} [more] @returns {any} */
const finding = (rule, grade, more = {}) => ({
  rule,
  grade,
  name: rule,
  subject: { kind: "stage", key: "1.0", name: "stage 1.0" },
  part: "cause",
  price: null,
  margin: null,
  mute: null,
  suppressedBy: null,
  ...more,
});
const price = (/** @type {number} */ ms) => ({ ms, lowMs: ms / 2, highMs: ms * 2, scenario: "W1", weak: false });

describe("findings", () => {
  it("name the slow task where they judge one", () => {
    const rows = (/** @type {string[][]} */ ...list) => ({ evidence: { rows: list.map(([kind, key, role]) => ({ kind, key, role, name: key, cells: [] })) } });
    const failed = finding("TASK.FAILURES", "severe", rows(["task", "8", "culprit"]));
    const straggler = finding("STAGE.STRAGGLER", "low", rows(["stage", "1.0", "context"], ["task", "9", "peer"], ["task", "29", "culprit"], ["task", "25", "culprit"]));
    assert.equal(slowTask([failed, straggler]), "29");
    assert.equal(slowTask([failed, { ...straggler, grade: "ok" }]), null);
    assert.equal(slowTask([]), null);
  });

  it("are read part by part, in each as the server has them", () => {
    const list = [finding("STAGE.WARMUP", "moderate", { part: "usual" }), finding("APP.LOW_UTIL", "moderate", { part: "symptom" }), finding("A", "moderate"), finding("B", "low"), finding("C", "info", { part: "note" }), finding("D", "info", { part: "lead" })];
    assert.deepEqual(readable(list).map((f) => f.rule), ["D", "A", "B", "APP.LOW_UTIL", "C", "STAGE.WARMUP"]);
  });

  it("never fold what the verdict names", () => {
    const list = [finding("A", "info", { part: "lead" }), ...["B", "C", "D"].map((rule) => finding(rule, "info", { part: "note" }))];
    assert.deepEqual(folded(list, 100_000).shown.map((f) => f.rule), ["A"]);
  });

  it("fold where they are notes below a hundredth of the run, and more than two", () => {
    const list = [
      finding("A", "moderate", { price: price(10) }),
      finding("B", "info", { price: price(999) }),
      finding("C", "info", { price: price(1000) }),
      finding("D", "info"),
      finding("E", "info"),
    ];
    const { shown, small } = folded(list, 100_000);
    assert.deepEqual(
      [shown, small].map((l) => l.map((f) => f.rule)),
      [
        ["A", "C"],
        ["B", "D", "E"],
      ],
    );
    assert.deepEqual(folded(list.slice(0, 4), 100_000), { shown: list.slice(0, 4), small: [] });
  });

  it("of one rule beyond the third share a row behind it, unless it is open, and only where there are more than five", () => {
    const list = ["A", "B", "A", "A", "C", "A", "A", "A", "B"].map((rule, i) => finding(rule, "low", { subject: { kind: "stage", key: `${i}.0`, name: "" } }));
    const said = (/** @type {boolean} */ whole) => byRule(list, () => whole).map((x) => ("more" in x ? `+${x.more.length}` : x.rule + x.subject.key[0]));
    assert.deepEqual(said(false), ["A0", "B1", "A2", "A3", "+3", "C4", "B8"]);
    assert.deepEqual(said(true), ["A0", "B1", "A2", "A3", "+3", "C4", "A5", "A6", "A7", "B8"]);
    assert.equal(byRule(list.slice(0, 7), () => false).length, 7);
  });

  it("mark a page with the worst grade and the largest saving, which need not be one finding's", () => {
    assert.deepEqual(worst([finding("A", "severe"), finding("B", "low", { price: price(700) }), finding("C", "info", { price: price(300) })]), { level: 4, savingMs: 700 });
    assert.deepEqual(worst([]), { level: 0, savingMs: null });
  });

  it("belong to the page that answers what they are about, also those about the whole run", () => {
    const page = (/** @type {string} */ rule, /** @type {string} */ kind) => pageOf(finding(rule, "low", { subject: { kind, key: "-", name: "" } }));
    assert.equal(page("STAGE.SLOW_HOST", "exec"), "executors");
    assert.equal(page("APP.SQL_DRIVER", "sql"), "sql");
    assert.deepEqual(["APP.LOW_UTIL", "APP.OVERALLOC", "APP.WAIT_EXECUTORS", "EXEC.MEM_OVER"].map((rule) => page(rule, "app")), Array(4).fill("executors"), "who worked, who waited");
    assert.deepEqual(["APP.DRIVER_GAP", "APP.START_WAIT", "JOB.MANY_SMALL"].map((rule) => page(rule, "app")), Array(3).fill("jobs"), "which action, and what was between them");
    assert.deepEqual([page("SQL.AQE_OFF", "app"), page("STAGE.WARMUP", "app"), page("RUN.REGRESSION", "app")], ["sql", "stages", "compare"]);
    assert.deepEqual(ofPage([finding("APP.LOW_UTIL", "moderate", { subject: { kind: "app", key: "-" } }), finding("A", "low")], "executors").map((f) => f.rule), ["APP.LOW_UTIL"]);
  });

  it("leave no mark where they are no fault", () => {
    assert.deepEqual(worst([finding("STAGE.SKIPPED", "info", { noFault: true })]), { level: 0, savingMs: null });
  });

  it("list their tasks with the keys of the stage's page", () => {
    assert.deepEqual(taskQuery("status=success&executor=a%26b&minDurationMs=1501"), { status: "success", exec: "a&b", minDurationMs: "1501" });
    assert.deepEqual(taskQuery(null), {});
  });

  it("lead to the tasks of the first stage that has more than a note", () => {
    const of = (/** @type {string} */ key, /** @type {string} */ grade) => finding("A", grade, { subject: { kind: "stage", key, name: "" } });
    assert.equal(worstStage([finding("B", "severe", { subject: { kind: "app", key: "-", name: "" } }), of("4.1", "moderate"), of("2.0", "low")]), "4.1");
    assert.equal(worstStage([of("4.1", "severe"), { ...of("2.0", "moderate"), part: "lead" }]), "2.0", "the verdict's");
    assert.equal(worstStage([of("4.1", "info")]), null);
  });

  it("tell what explains them and what they explain", () => {
    const skew = finding("STAGE.SKEW_DATA", "severe");
    const spill = finding("STAGE.SPILL", "low", { suppressedBy: "STAGE.SKEW_DATA stage 1.0" });
    assert.deepEqual(relations(spill, [skew, spill]), { by: skew, of: [] });
    assert.deepEqual(relations(skew, [skew, spill]), { by: null, of: [spill] });
    assert.deepEqual(relations(spill, [spill]), { by: null, of: [] });
  });

  it("that do not show: one row a rule, the nearest; held back; not judged", () => {
    const { quiet, held, muted } = unfired([
      finding("FIRED", "low"),
      finding("FIRED", "ok", { margin: 0.9 }),
      finding("FIRED", "low", { mute: "off_path" }),
      finding("QUIET", "ok", { margin: 0.2 }),
      finding("QUIET", "ok", { margin: 0.6, subject: { kind: "stage", key: "2.0", name: "" } }),
      finding("QUIET", "ok", { margin: 3, mute: "tiny_stage" }),
      finding("HELD", "low", { suppressedBy: "FIRED stage 1.0" }),
      finding("MUTED", "low", { mute: "local" }),
      finding("NEARER", "ok", { margin: 0.7 }),
    ]);
    assert.deepEqual(
      quiet.map((f) => [f.rule, f.margin]),
      [
        ["NEARER", 0.7],
        ["QUIET", 0.6],
      ],
    );
    assert.deepEqual(
      [held, muted].map((l) => l.map((f) => f.rule)),
      [["HELD"], ["MUTED"]],
    );
  });
});

describe("thresholds", () => {
  const usual = [0.1, 0.2, null, 0.5];

  it("stand in the address as the server takes them", () => {
    assert.deepEqual(thresholds(new URLSearchParams("finding=x&threshold.B=1,2,3,4&threshold.A=-,-,-,9")), { "threshold.A": "-,-,-,9", "threshold.B": "1,2,3,4" });
    assert.equal(movedSteps(usual, 2), "0.2,0.4,-,1");
    assert.equal(movedSteps(usual, 1), null);
    assert.equal(movedSteps([104857600, null, null, null], 1 / 3), "34952500,-,-,-");
    assert.equal(movedSteps([2.2250738585072014e-308, 0.02, 0.1, 0.3], 0.5), "2.2250738585072014e-308,0.01,0.05,0.15");
  });

  it("are read back, and what is none is not taken", () => {
    assert.deepEqual(stepsOf("0.2,0.4,-,1", usual), [0.2, 0.4, null, 1]);
    for (const wrong of [null, "", "1", "1,2,3", "a,b,c,d", "1,2,3,NaN"]) assert.deepEqual(stepsOf(wrong, usual), usual);
    assert.equal(factorOf([0.2, 0.4, null, 1], usual), 2);
    assert.equal(factorOf(usual, usual), 1);
    assert.equal(factorOf([2.2250738585072014e-308, null, null, null], [2.2250738585072014e-308, null, null, null]), 1);
  });

  it("are passed from below or from above; the highest one counts", () => {
    assert.equal(passed({ down: false, withPrice: false, steps: usual }, usual, 0.2), 2);
    assert.equal(passed({ down: false, withPrice: false, steps: usual }, usual, 0.6), 4);
    assert.equal(passed({ down: true, withPrice: false, steps: [0.9, 0.75, 0.5, 0.25] }, [0.9, 0.75, 0.5, 0.25], 0.5), 3);
    assert.equal(passed({ down: false, withPrice: false, steps: usual }, usual, null), 0);
  });
});

describe("a number that looks like a finding", () => {
  const near = /** @type {any} */ ({ rule: "EXEC.MEM_NEAR", subject: { kind: "exec", key: "3" }, grade: "low", measure: { value: 0.91, unit: "share" } });
  it("is one that a finding is about", () => {
    assert.equal(isFound([near], NEAR_LIMIT, "exec", "3", 0.9101), true);
    assert.equal(isFound([near], NEAR_LIMIT, "exec", "3"), true);
    assert.equal(isFound([near], NEAR_LIMIT, "exec", "3", 0.97), false, "another of its peaks");
    assert.equal(isFound([near], NEAR_LIMIT, "exec", "4", 0.91), false);
    assert.equal(isFound([near], ["EXEC.GC_LONG"], "exec", "3", 0.91), false);
    assert.equal(isFound([{ ...near, grade: "ok" }], NEAR_LIMIT, "exec", "3", 0.91), false, "thresholds were moved");
    assert.equal(isFound([], NEAR_LIMIT, "exec", "3", 0.99), false);
  });
});

describe("a number", () => {
  /** @param {import("../types").Height} height @param {object} [more] */
  const number = (height, more = {}) => ({ grade: /** @type {import("../types").Grade} */ (0), rule: null, priceMs: null, height, ...more });

  it("has a word in two steps where it sticks out and no finding judges it", () => {
    const words = (/** @type {object} */ more) => /** @type {const} */ (["veryHigh", "high", "usual", null]).map((height) => wordBeside(number(height, more)));
    assert.deepEqual(words({}), ["veryHigh", "high", null, null]);
    assert.deepEqual(words({ grade: null }), ["veryHigh", "high", null, null], "not judged: of an executor, or before the end of a load");
    assert.deepEqual([sticksOut("veryHigh"), sticksOut("high"), sticksOut("usual"), sticksOut(null), sticksOut(undefined)], [true, true, false, false, false]);
  });

  it("has the mark of its finding and no word beside it, also of a further number of the same fact", () => {
    for (const grade of [1, 2, 3, 4]) {
      const judged = number("veryHigh", { grade, rule: "STAGE.SKEW_DATA" });
      assert.deepEqual([isMarked(judged), wordBeside(judged), wordBeside(judged, "high")], [true, null, null]);
    }
    assert.deepEqual([isMarked(number("usual")), wordBeside(number("usual"), "high"), wordBeside(number("high"), null)], [false, "high", null]);
  });
});
