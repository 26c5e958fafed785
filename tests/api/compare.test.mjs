// SPDX-License-Identifier: Apache-2.0
// Two runs side by side over HTTP, and what is usual for a job.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";

import { LOGS, makeStore, startServer } from "./support/server.mjs";

/** @type {{server: any}} */
const at = { server: null };
const BASE = "app-20261129213216-0000";
const SLOW = "app-20261129213238-0000";

before(async (t) => {
  at.server = await startServer(t, ["--store", makeStore(t, ["regression_base", "regression_slow", "rerun_noise"].map((name) => join(LOGS, name)))]);
});

test("the slow run lost its broadcast joins and an executor", async () => {
  const { verdict, deltaMs, parts, settings, sentence, regressionGrade } = await at.server.json(`compare?base=${BASE}&new=${SLOW}`);
  assert.equal(verdict, "slower");
  assert.equal(regressionGrade, "moderate");
  assert.equal(
    parts.reduce((sum, { ms }) => sum + ms, 0),
    deltaMs,
  );
  assert.deepEqual(
    parts
      .slice(0, 2)
      .map(({ part }) => part)
      .sort(),
    ["plan", "slots"],
  );
  assert.deepEqual(
    settings.map(({ name }) => name),
    ["spark.master", "spark.sql.autoBroadcastJoinThreshold"],
  );
  assert.match(sentence, /lost broadcast join/);
  assert.match((await at.server.json(`compare?base=${BASE}&new=${SLOW}&lang=zh-CN`)).sentence, /失去广播连接/);
});

test("a finding that only one run has has no subject in the other", async () => {
  const grades = ["ok", "info", "low", "moderate", "severe"];
  const seen = new Set();
  for (const [base, run] of [[BASE, SLOW], [SLOW, BASE]]) {
    const { findings } = await at.server.json(`compare?base=${base}&new=${run}`);
    for (const f of findings) {
      seen.add(f.news);
      assert.deepEqual([f.baseSubject === null, f.newSubject === null], [f.news === "new", f.news === "gone"], `${f.rule} ${f.news}`);
      assert.deepEqual([f.baseGrade === null, f.newGrade === null], [f.news === "new", f.news === "gone"], `${f.rule} ${f.news}`);
      if (f.baseGrade !== null && f.newGrade !== null)
        assert.equal(f.news, ["better", "same", "worse"][Math.sign(grades.indexOf(f.newGrade) - grades.indexOf(f.baseGrade)) + 1]);
    }
  }
  assert.ok(seen.has("new") && seen.has("gone") && seen.has("same"), [...seen].join(" "));
});

test("three runs of one job: too few earlier ones for what is usual", async () => {
  const usual = await at.server.json("compare?base=usual&new=app-20261129210813-0000");
  assert.equal(usual.state, "too_few");
  assert.deepEqual([usual.base, usual.verdict, usual.baseline.members.length], [null, null, 2]);
  const baseline = await at.server.json("apps/app-20261129210813-0000/baseline");
  assert.deepEqual([baseline.enough, baseline.usualMs, baseline.runKey], [false, null, "hourly_ingest|alice|"]);
  assert.equal(baseline.members[0].wallMs, 22589);
  assert.equal(baseline.metrics.find(({ metric }) => metric === "wall").value, 24355);
});

test("what makes no sense is refused", async () => {
  for (const query of ["", "base=usual", `new=${SLOW}`, `base=&new=${SLOW}`, `base=${BASE}&new=${SLOW}&lang=tlh`]) assert.equal((await at.server.json(`compare?${query}`, 400)).error, "bad_parameter", query);
  assert.equal((await at.server.json(`compare?base=nobody&new=${SLOW}`, 404)).error, "not_found");
  assert.equal((await at.server.json(`compare?base=${BASE}&new=nobody`, 404)).error, "not_found");
  assert.equal((await at.server.json("apps/nobody/baseline", 404)).error, "not_found");
});

test("stages of both runs in pairs: each once, with what the run itself says of it", async () => {
  const pairs = await at.server.json(`compare/stages?base=${BASE}&new=${SLOW}&limit=1000`);
  const ran = async (ref) => (await at.server.json(`apps/${ref}/stages?limit=1000`)).items.filter(({ status }) => status !== "skipped");
  for (const [ref, side] of [[BASE, "base"], [SLOW, "new"]]) {
    const stages = await ran(ref);
    const ids = pairs.items.map((pair) => pair[`${side}Id`]).filter((id) => id !== null);
    assert.deepEqual(ids.sort((a, b) => a - b), stages.map(({ stageId }) => stageId).sort((a, b) => a - b), side);
    for (const { stageId, taskTimeMs, numTasks } of stages) {
      const pair = pairs.items.find((each) => each[`${side}Id`] === stageId);
      assert.deepEqual([pair[`${side}TaskTimeMs`], pair[`${side}TaskCount`]], [taskTimeMs, numTasks], `${side} ${stageId}`);
    }
  }
  for (const pair of pairs.items) {
    assert.equal(pair.state, pair.baseId === null ? "added" : pair.newId === null ? "removed" : "both");
    assert.equal(pair.differenceMs, (pair.newMs ?? 0) - (pair.baseMs ?? 0));
  }
  const sizes = pairs.items.map(({ differenceMs }) => Math.abs(differenceMs));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  const changed = await at.server.json(`compare/stages?base=${BASE}&new=${SLOW}&changed=true&sort=id&limit=2&page=2`);
  assert.equal(changed.total, pairs.items.filter((pair) => pair.changed).length);
  assert.deepEqual([changed.page, changed.items.every((pair) => pair.changed)], [2, true]);
  // Each of the three queries reads its tables as before, in another order, and has a stage more for its join.
  assert.deepEqual(pairs.items.filter((pair) => pair.changed).map(({ state }) => state), ["added", "added", "added"]);
  const large = pairs.items.filter(({ baseReadBytes }) => baseReadBytes > 2 ** 28);
  assert.deepEqual(large.map((pair) => pair.newReadBytes), large.map((pair) => pair.baseReadBytes));
  assert.equal(large.length, 3);
});

test("queries in pairs: three with another plan", async () => {
  const pairs = await at.server.json(`compare/queries?base=${BASE}&new=${SLOW}&sort=id`);
  for (const { baseId, newId, baseMs, newMs, planChanged, changed } of pairs.items) {
    assert.deepEqual([planChanged, changed], [true, true]);
    assert.equal(baseMs, (await at.server.json(`apps/${BASE}/sql/${baseId}`)).durationMs);
    assert.equal(newMs, (await at.server.json(`apps/${SLOW}/sql/${newId}`)).durationMs);
  }
  assert.deepEqual(pairs.items.map(({ newId }) => newId), [0, 1, 2]);
  const same = await at.server.json(`compare/queries?base=${BASE}&new=${BASE}`);
  assert.deepEqual([same.total, same.items.some((pair) => pair.changed || pair.planChanged)], [3, false]);
});

test("pairs need two runs, and answer a client that has them with 304", async () => {
  assert.equal((await at.server.json(`compare/stages?base=${BASE}`, 400)).error, "bad_parameter");
  assert.equal((await at.server.json(`compare/queries?base=${BASE}&new=${SLOW}&sort=junk`, 400)).error, "bad_parameter");
  assert.equal((await at.server.json(`compare/stages?base=nobody&new=${SLOW}`, 404)).error, "not_found");
  const path = `/api/afterglow/v1/compare/stages?base=${BASE}&new=${SLOW}`;
  const { headers } = await at.server.get(path);
  assert.ok(headers.etag);
  assert.equal((await at.server.get(path, { headers: { "If-None-Match": headers.etag } })).status, 304);
  assert.notEqual((await at.server.get(path.replace("stages", "queries"))).text, (await at.server.get(path)).text);
});

test("what is within the noise of a comparison is told, and what is other in every run is counted", async () => {
  const { parts, wall, hiddenSettingCount } = await at.server.json(`compare?base=${BASE}&new=${SLOW}`);
  for (const { part, ms, noiseMs, withinNoise } of parts) assert.deepEqual([noiseMs, withinNoise], [wall.allowed, Math.abs(ms) <= 2000], part);
  assert.ok(hiddenSettingCount > 0);
});
