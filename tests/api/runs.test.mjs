// SPDX-License-Identifier: Apache-2.0
// What the list of runs tells of their analysis: the same as their own pages, of new runs and of those that came into a catalogue that was made anew.
import assert from "node:assert/strict";
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog, START } from "./support/log.mjs";
import { becomes, LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";

const SAMPLES = ["failures", "gc_pressure", "skew_hot_key", "healthy_sql", "in_progress"].map((name) => join(LOGS, name));
const GRADES = ["ok", "info", "low", "moderate", "severe"];

/** A row of the list says of its run what the run's own findings say. */
async function agrees(server, item, lang) {
  const found = await server.json(`apps/${item.ref}/findings?limit=1000&lang=${lang}`);
  const shown = found.findings;
  assert.equal(item.grade, Math.max(0, ...shown.map((f) => GRADES.indexOf(f.grade))), item.name);
  assert.equal(item.completeness, found.completeness);
  assert.equal(item.verdict, found.verdict);
  assert.equal(item.savingMs, found.joint.length ? found.joint.at(-1).savingMs : null);
  for (const cost of item.costs) {
    const first = shown.find((f) => f.rule === cost.rule);
    assert.deepEqual([cost.name, cost.priceMs], [first.name, first.price?.ms ?? null]);
  }
  assert.ok(item.costs.length <= 3);
  const account = await server.json(`apps/${item.ref}/account`);
  const busy = ["cpu", "gc", "deser", "ser", "fetch", "shwrite", "python", "spill_io", "storage_io", "other", "run_unsplit", "delay", "getres", "nometrics", "lost"];
  const slotMs = account.buckets.filter((b) => busy.includes(b.bucket)).reduce((n, b) => n + b.slotMs, 0);
  if (account.allocatedMs) assert.ok(Math.abs(item.busyShare - Math.min(1, slotMs / account.allocatedMs)) < 1e-9, item.name);
}

test("the list tells what was found", async (t) => {
  const store = makeStore(t, SAMPLES);
  const server = await startServer(t, ["--store", store]);

  await t.test("in each language, as the pages of the runs do", async () => {
    for (const lang of ["en", "zh-CN"]) {
      const { items } = await server.json(`apps?lang=${lang}`);
      assert.equal(items.length, SAMPLES.length);
      for (const item of items) await agrees(server, item, lang);
      const own = await server.json(`apps/${items[0].ref}?lang=${lang}`);
      assert.deepEqual([own.verdict, own.costs], [items[0].verdict, items[0].costs]);
    }
    await server.json("apps?lang=fr", 400);
  });

  await t.test("and finds runs by it", async () => {
    const { items } = await server.json("apps?sort=-severity");
    const key = (a) => [a.grade, a.savingMs ?? 0];
    for (const [i, item] of items.slice(1).entries()) assert.ok(key(items[i])[0] > item.grade || (items[i].grade === item.grade && key(items[i])[1] >= key(item)[1]));
    for (const grade of [1, 2, 3, 4]) assert.equal((await server.json(`apps?grade=${grade}`)).total, items.filter((a) => a.grade >= grade).length);
    const { rules } = await server.json("facets");
    for (const rule of rules) assert.equal((await server.json(`apps?rule=${rule.value}`)).total, rule.runCount, rule.value);
    assert.deepEqual((await server.json("apps?rule=STAGE.SKEW_DATA")).items.map((a) => a.name), ["skew_hot_key"]);
    assert.ok((await server.json("apps?q=uneven%20data")).items.every((a) => a.name === "skew_hot_key"));
    await server.json("apps?rule=NO.SUCH_RULE", 400);
    assert.deepEqual((await server.json("apps?data=incomplete")).items.map((a) => a.complete), [false]);
    await server.json("apps?data=good", 400);
  });
});

test("a catalogue that is made anew gets all of it back, in the background", async (t) => {
  const store = makeStore(t, SAMPLES);
  const server = await startServer(t, ["--store", store]);
  const before = (await server.json("apps?sort=name&history=5")).items;
  await server.stop();
  const told = ({ key, grade, savingMs, busyShare, completeness, costs, verdict, skewGrade, gcGrade, history }) => ({ key, grade, savingMs, busyShare, completeness, costs, verdict, skewGrade, gcGrade, history });
  const again = async () => {
    const next = await startServer(t, ["--store", store, "--logs", makeFolder(t)]);
    await becomes(async () => (await next.json("apps?sort=name&history=5")).items.map(told), before.map(told));
    await next.stop();
  };
  await t.test("after it was lost", async () => {
    for (const end of ["", "-wal", "-shm"]) rmSync(join(store, `catalog.db${end}`), { force: true });
    await again();
  });
  await t.test("after a new version of the program", async () => {
    const file = openSync(join(store, "catalog.db"), "r+");
    writeSync(file, Buffer.from([0, 0, 0, 6]), 0, 4, 60); // PRAGMA user_version, in the header of the file
    closeSync(file);
    await again();
  });
});

test("runs of one job know each other", async (t) => {
  const folder = makeFolder(t);
  for (let i = 1; i <= 5; i++) writeFileSync(join(folder, `app-${i}`), smallLog({ id: `app-${i}`, name: i === 5 ? "other" : "nightly 2026-01-0" + i }).replaceAll(String(START).slice(0, 6), String(170001 + i)));
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const { items } = await server.json("apps?history=3&sort=start");
  assert.deepEqual(items.map((a) => [a.appId, a.history.total]), [["app-1", 4], ["app-2", 4], ["app-3", 4], ["app-4", 4], ["app-5", 1]]);
  const runs = (a) => a.history.runs.map((r) => items.find((x) => x.key === r.key).appId);
  assert.deepEqual(runs(items[3]), ["app-2", "app-3", "app-4"]);
  assert.deepEqual(runs(items[0]), ["app-1"]); // none before it: those that end with it
  assert.deepEqual(items[3].history.runs.map((r) => [r.startMs, r.durationMs, r.outcome]), items.slice(1, 4).map((a) => [a.startMs, a.durationMs, a.outcome]));
  assert.equal((await server.json("apps?sort=start")).items[0].history, undefined);

  const jobs = await server.json("apps?group=job&sort=start");
  assert.deepEqual([jobs.total, jobs.counts.all, jobs.items.map((a) => a.appId)], [2, 5, ["app-4", "app-5"]]);
  assert.deepEqual((await server.json(`apps?group=job&to=${items[1].startMs}`)).items.map((a) => a.appId), ["app-2"]);
  const same = await server.json(`apps?job=${items[1].key}&sort=start`);
  assert.deepEqual(same.items.map((a) => a.appId), ["app-1", "app-2", "app-3", "app-4"]);
  assert.equal((await server.json("apps?job=nobody")).total, 0);
  await server.json("apps?group=user", 400);
  await server.json("apps?history=61", 400);
});

test("search within a run", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, [join(LOGS, "failures"), join(LOGS, "healthy_sql")])]);
  const { items } = await server.json("apps?sort=name");
  const [failures, sql] = items.map((a) => a.ref);
  const find = async (ref, q, more = "") => (await server.json(`apps/${ref}/search?q=${encodeURIComponent(q)}${more}`)).items;

  const { items: stages } = await server.json(`apps/${failures}/stages?sort=-duration`);
  const byName = await find(failures, "stage");
  assert.deepEqual(byName.filter((x) => x.kind === "stage").map((x) => x.key), stages.slice(0, 6).map((s) => `${s.stageId}.${s.attempt}`));
  const exact = await find(failures, "stage 1");
  assert.equal(exact[0].key.split(".")[0], "1");
  assert.equal((await find(failures, "1")).find((x) => x.kind === "stage").key.split(".")[0], "1");
  assert.deepEqual((await find(failures, "1 stage")).map((x) => x.key).sort(), exact.map((x) => x.key).sort()); // every word, in any order
  const [failed] = stages.filter((s) => s.failure);
  const word = failed.failure.match(/\w{8,}/)[0];
  assert.ok((await find(failures, word)).some((x) => x.kind === "stage" && x.key === `${failed.stageId}.${failed.attempt}`), word);
  const { items: queries } = await server.json(`apps/${sql}/sql?sort=-duration`);
  assert.equal((await find(sql, `query ${queries[0].id}`)).find((x) => x.kind === "sql").key, String(queries[0].id));
  assert.equal((await find(sql, "spark.master")).find((x) => x.kind === "conf").key, "spark.master");
  assert.ok((await find(sql, "driver")).some((x) => x.kind === "exec"));
  assert.deepEqual(await find(sql, ""), []);
  assert.deepEqual(await find(sql, "%"), []);
  assert.deepEqual(await find(sql, "_____"), []);
  assert.equal((await find(failures, "e", "&limit=1")).filter((x) => x.kind === "stage").length, 1);
  await server.json(`apps/${sql}/search?q=x&limit=51`, 400);
  await server.json("apps/nobody/search?q=x", 404);
  assert.ok((await find(sql, "x ".repeat(100))).length === 0);
});
