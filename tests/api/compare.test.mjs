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
