// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { isTracked, ofJob, outcomeOf, read, toggled } from "../model/tracked.js";

const fix = (/** @type {object} */ more = {}) => ({ job: "nightly|etl|", ref: "app-1", rule: "STAGE.SKEW_DATA", kind: "stage", key: "3.0", ...more });

test("a fix is tracked and let go, fifty at most, and junk is ignored", () => {
  const one = toggled([], fix());
  assert.ok(isTracked(read(one), fix()));
  assert.equal(isTracked(read(one), fix({ key: "4.0" })), false);
  assert.deepEqual(toggled(read(one), fix()), []);
  let texts = /** @type {string[]} */ ([]);
  for (let i = 0; i < 60; i++) texts = toggled(read(texts), fix({ key: `${i}.0` }));
  assert.deepEqual([texts.length, read(texts)[0].key], [50, "10.0"]);
  assert.deepEqual(read(["", "{", "null", "7", '{"job":1}']), []);
});

test("a run is held against the run of its job in which something was tracked last, and never against itself", () => {
  const all = [fix(), fix({ ref: "app-2" }), fix({ ref: "app-2", key: "5.0" }), fix({ job: "other", ref: "app-9" })];
  assert.deepEqual(ofJob(all, "nightly|etl|", "app-3").map((x) => `${x.ref} ${x.key}`), ["app-2 3.0", "app-2 5.0"]);
  assert.deepEqual(ofJob(all, "nightly|etl|", "app-2").map((x) => x.ref), ["app-1"]);
  assert.deepEqual(ofJob(all, null, "app-3"), []);
});

test("what became of it is what the comparison says of that very finding", () => {
  const at = (/** @type {string} */ rule, /** @type {string} */ baseSubject, /** @type {string} */ news) => ({ rule, subjectKind: "stage", baseSubject, news });
  const compared = /** @type {any} */ ({ findings: [at("STAGE.SPILL", "3.0", "same"), at("STAGE.SKEW_DATA", "4.0", "worse"), at("STAGE.SKEW_DATA", "3.0", "gone")] });
  assert.deepEqual([outcomeOf(fix(), compared)?.news, outcomeOf(fix(), compared)?.elsewhere], ["gone", false]);
  compared.findings.push({ ...at("STAGE.SKEW_DATA", "", "new"), baseSubject: null });
  assert.equal(outcomeOf(fix(), compared)?.elsewhere, true);
  assert.equal(outcomeOf(fix({ key: "7.0" }), compared), null);
});
