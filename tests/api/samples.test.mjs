// SPDX-License-Identifier: Apache-2.0
// What the planted faults of the sample logs must look like (their labels: tests/data/logs/README.md), that healthy runs stay quiet, and that one fact has one grade everywhere.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { LOGS, makeStore, startServer } from "./support/server.mjs";

const SKEWED = ["skew_hot_key", "straggler_even_bytes"];
const COLLECTING = ["gc_pressure"];
const QUIET = ["healthy_rdd", "healthy_sql", "tiny_app", "regression_base", "long_lineage_iterative", "tiny_tasks", "spill_sort", "idle_executors"];

const SKEW_RULES = ["STAGE.SKEW_DATA", "STAGE.STRAGGLER"];
const GC_RULES = ["STAGE.GC_HIGH"];
const GRADES = ["ok", "info", "low", "moderate", "severe"];
/** So high that nothing passes; a word is left where a rule has a floor of its own. */
const MOVED = "threshold.STAGE.STRAGGLER=100,200,300,400&threshold.STAGE.SKEW_DATA=1000,2000,3000,4000&threshold.STAGE.GC_HIGH=0.9,0.95,0.97,0.99";
const worst = (findings) => Math.max(0, ...findings.map((f) => GRADES.indexOf(f.grade)));

/** Each number has the grade of the finding about it, and a stage that of its worst. */
function gradesHold(stages, findings, name) {
  for (const stage of stages) {
    if (stage.status === "skipped") {
      assert.deepEqual([stage.findingGrade, stage.skew.grade, stage.gc.grade], [null, null, null]);
      continue;
    }
    const key = `${stage.stageId}.${stage.attempt}`;
    const own = findings.filter((f) => f.subject.kind === "stage" && f.subject.key === key);
    for (const [what, rules] of [["skew", SKEW_RULES], ["gc", GC_RULES]]) {
      const about = own.filter((f) => rules.includes(f.rule));
      assert.equal(stage[what].grade, worst(about), `${name} stage ${key} ${what}`);
      assert.equal(stage[what].rule === null, about.length === 0);
      if (about.length) assert.ok(about.some((f) => f.rule === stage[what].rule && GRADES.indexOf(f.grade) === stage[what].grade));
    }
    assert.equal(GRADES.indexOf(stage.findingGrade), worst(own), `${name} stage ${key}`);
  }
}

test("numbers of the samples", async (t) => {
  const server = await startServer(t, [
    "--store",
    makeStore(
      t,
      [...SKEWED, ...COLLECTING, ...QUIET].map((name) => join(LOGS, name)),
    ),
  ]);
  const runs = new Map();
  for (const run of (await server.json("apps?limit=1000")).items) {
    const name = run.logPath.slice(LOGS.length + 1).split("/")[0];
    const at = `apps/${encodeURIComponent(run.ref)}`;
    runs.set(name, { run, at, stages: (await server.json(`${at}/stages?limit=1000`)).items, findings: (await server.json(`${at}/findings?limit=1000`)).findings });
  }
  const sticksOut = (height) => height === "high" || height === "veryHigh";
  const high = (name, what) => runs.get(name).stages.some((stage) => sticksOut(stage[what].height) || sticksOut(stage[what].bytesHeight));
  for (const name of SKEWED) assert.deepEqual([high(name, "skew"), high(name, "gc")], [true, false], name);
  for (const name of COLLECTING) assert.deepEqual([high(name, "skew"), high(name, "gc")], [false, true], name);
  for (const name of QUIET) assert.deepEqual([high(name, "skew"), high(name, "gc")], [false, false], name);

  await t.test("the hot key is told from the straggler by its bytes", () => {
    const [hot] = runs.get("skew_hot_key").stages.filter((stage) => stage.skew.rule === "STAGE.SKEW_DATA");
    assert.equal(hot.skew.bytes, "shuffleRead");
    assert.ok(hot.skew.bytesRatio > 100 && hot.skew.durationRatio > 20);
    assert.deepEqual([hot.skew.height, hot.skew.bytesHeight], ["veryHigh", "veryHigh"]);
    const [straggler] = runs.get("straggler_even_bytes").stages.filter((stage) => stage.skew.rule === "STAGE.STRAGGLER");
    assert.ok(straggler.skew.bytes === null || straggler.skew.bytesRatio < 3);
    assert.equal(straggler.skew.height, "veryHigh");
  });

  await t.test("a number has the grade of its finding, a run that of the worst", () => {
    for (const [name, { run, stages, findings }] of runs) {
      gradesHold(stages, findings, name);
      const of = (rules) => worst(findings.filter((f) => rules.includes(f.rule)));
      assert.deepEqual([run.skewGrade, run.gcGrade], [of(SKEW_RULES), of(GC_RULES)], name);
    }
    assert.ok(runs.get("straggler_even_bytes").run.skewGrade > 0 && runs.get("gc_pressure").run.gcGrade > 0);
  });

  await t.test("filter and sort by grade find what the pages mark, with moved thresholds, too", async () => {
    for (const [name, { at }] of runs)
      for (const moved of ["", MOVED]) {
        const { findings } = await server.json(`${at}/findings?limit=1000&${moved}`);
        const { items } = await server.json(`${at}/stages?limit=1000&sort=-finding&${moved}`);
        gradesHold(items, findings, `${name} ${moved}`);
        if (moved) for (const { skew, gc } of items) assert.ok(Math.max(skew.grade ?? 0, gc.grade ?? 0) <= 1);
        const grades = items.map((stage) => GRADES.indexOf(stage.findingGrade));
        const found = grades.filter((grade) => grade > 0);
        assert.deepEqual(grades.slice(0, found.length), [...found].sort((a, b) => b - a), `${name}: ${grades}`);
        for (const grade of [1, 2, 3, 4]) assert.equal((await server.json(`${at}/stages?grade=${grade}&${moved}`)).total, grades.filter((g) => g >= grade).length, `${name} from ${grade} ${moved}`);
        const one = await server.json(`${at}/stages/${items[0].stageId}.${items[0].attempt}?${moved}`);
        assert.deepEqual([one.findingGrade, one.skew, one.gc], [items[0].findingGrade, items[0].skew, items[0].gc]);
        gradesHold((await server.json(`${at}?${moved}`)).slowestStages, findings, name);
        gradesHold((await server.json(`${at}/jobs/${items[0].jobIds[0]}?${moved}`)).stages, findings, name);
      }
    const { at } = runs.get("skew_hot_key");
    for (const path of ["", "/stages", "/stages/0.0", "/jobs/0"]) assert.equal((await server.get(`/api/afterglow/v1/${at}${path}?threshold.STAGE.GC_HIGH=2,1`)).status, 400, path);
  });

  await t.test("no rule judges the collections of an executor", async () => {
    const { items } = await server.json(`${runs.get("gc_pressure").at}/executors`);
    assert.ok(items.length);
    for (const { gc } of items) assert.deepEqual([gc.grade, gc.rule, gc.priceMs], [null, null, null]);
  });

  await t.test("a number is high from its step on, and never without one", () => {
    let veryHigh = 0;
    for (const [name, { stages }] of runs)
      for (const { skew, gc, stageId } of stages)
        for (const [height, value, first, second] of [
          [skew.height, skew.durationRatio, 3, 10],
          [skew.bytesHeight, skew.bytesRatio, 3, 10],
          [gc.height, gc.share, 0.1, 0.3],
        ]) {
          const what = `${name} stage ${stageId}: ${height} ${value}`;
          assert.equal(height === null, value === null, what);
          if (height === "high") assert.ok(value >= first && value <= second, what);
          if (height === "veryHigh") assert.ok(value >= second, what);
          veryHigh += height === "veryHigh" ? 1 : 0;
        }
    assert.ok(veryHigh > 0);
  });
});

test("stages page by page are the list, by every order and filter", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, ["long_lineage_iterative", "failures"].map((name) => join(LOGS, name)))]);
  const orders = "id submission duration tasks failedTasks input output shuffleRead shuffleWrite spill gcShare taskTime median max ratio saving finding onPath".split(" ");
  for (const { ref } of (await server.json("apps")).items)
    for (const sort of orders.flatMap((order) => [order, `-${order}`]))
      for (const filter of ["", "&grade=1", "&status=complete", "&q=a"]) {
        const all = await server.json(`apps/${ref}/stages?sort=${sort}&limit=1000${filter}`);
        const pages = [];
        for (let page = 1; pages.length < all.total; page++) {
          const { items } = await server.json(`apps/${ref}/stages?sort=${sort}&limit=9&page=${page}${filter}`);
          assert.ok(items.length, `${ref} ${sort} ${filter}`);
          pages.push(...items);
        }
        assert.deepEqual(pages, all.items, `${ref} ${sort} ${filter}`);
        if (filter === "&grade=1") assert.ok(all.items.every((stage) => stage.findingGrade !== "ok"), ref);
      }
});
