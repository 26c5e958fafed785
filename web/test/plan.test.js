// SPDX-License-Identifier: Apache-2.0
/** Plans and RDD graphs as boxes; places worked out by hand from the gaps 36 aside, 22 below, 50 where a stage ends. */
import assert from "node:assert/strict";
import test from "node:test";
import { historyBytes, historyDuration } from "../lib/format.js";
import { draw } from "../model/plan-boxes.js";
import { bands, lanes, place } from "../model/plan-layout.js";
import { cachedInputs, driverTime, missingFrom, ownTime, planOf, rowsOut, subtitle } from "../model/plan.js";
import { drawRdds } from "../model/rdd-boxes.js";

const GAPS = { gapX: 10, gapY: 20, wideY: 50 };
const size = (w, h) => ({ w, h });

test("data flows down, a consumer stands in the middle of its producers", () => {
  // 0 the result, 1 and 2 its producers, 3 the producer of 2
  const { places, width, height } = place([size(100, 40), size(100, 40), size(100, 20), size(100, 40)], [{ from: 1, to: 0 }, { from: 2, to: 0, wide: true }, { from: 3, to: 2 }], GAPS);
  assert.deepEqual(places.map((p) => [p.x, p.y, p.row]), [
    [55, 150, 0],
    [0, 60, 1],
    [110, 60, 1],
    [110, 0, 2],
  ]);
  assert.deepEqual([width, height], [210, 190]); // rows: 40, gap 20, 40, wide gap 50, 40
});

test("a box stands above the consumer that is farthest from the result; other edges pass by the boxes between", () => {
  // 3 is read by 2 and by the result
  const links = [{ from: 1, to: 0 }, { from: 2, to: 1 }, { from: 3, to: 2 }, { from: 3, to: 0 }];
  const boxes = Array.from({ length: 4 }, () => size(100, 40));
  const { places } = place(boxes, links, GAPS);
  assert.deepEqual(places.map((p) => p.row), [0, 1, 2, 3]);
  assert.deepEqual(places.map((p) => p.below), [undefined, 0, 1, 2]);
  assert.deepEqual([...lanes(boxes.map((b, i) => ({ ...b, ...places[i] })), places, links).keys()], [3]);
});

test("cycles and loops, which only a broken log has, lose an edge", () => {
  const { places } = place([size(10, 10), size(10, 10)], [{ from: 0, to: 1 }, { from: 1, to: 0 }, { from: 0, to: 0 }], GAPS);
  assert.deepEqual(places.map((p) => p.row).sort(), [0, 1]);
});

test("no box covers another, in a thousand random graphs", () => {
  let seed = 1;
  const random = (n) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % n;
  for (let round = 0; round < 1000; round++) {
    const n = 1 + random(30);
    const boxes = Array.from({ length: n }, () => size(50 + random(200), 20 + random(40)));
    const links = Array.from({ length: n + random(n) }, () => ({ from: random(n), to: random(n) }));
    const { places, width, height } = place(boxes, links, GAPS);
    places.forEach((a, i) => {
      assert.ok(a.x > -1e-6 && a.x + boxes[i].w < width + 1e-6 && a.y >= 0 && a.y + boxes[i].h <= height);
      for (let j = 0; j < i; j++) {
        const b = places[j];
        assert.ok(a.x >= b.x + boxes[j].w - 1e-6 || b.x >= a.x + boxes[i].w - 1e-6 || a.y >= b.y + boxes[j].h || b.y >= a.y + boxes[i].h, `${round}: ${i} over ${j}`);
      }
    });
  }
});

test("very many boxes in a row, or below one, take no stack and no more than their number of steps", () => {
  for (const to of [(i) => i - 1, () => 0]) {
    const n = 50_000;
    const begin = performance.now();
    place(Array.from({ length: n }, () => size(10, 10)), Array.from({ length: n - 1 }, (_, i) => ({ from: i + 1, to: to(i + 1) })), GAPS);
    assert.ok(performance.now() - begin < 10_000); // 0.2 s on a quiet machine; by pairs it would be minutes
  }
});

test("a band is the union of its boxes and of the ways between them", () => {
  const boxes = [{ ...size(100, 40), x: 55, y: 60 }, { ...size(100, 40), x: 0, y: 0 }, { ...size(100, 40), x: 110, y: 0 }];
  const places = [{ x: 55, y: 60, row: 0, below: undefined }, { x: 0, y: 0, row: 1, below: 0 }, { x: 110, y: 0, row: 1, below: 0 }];
  const out = bands(boxes, places, (i) => (i < 2 ? "a" : null));
  assert.deepEqual(out.get("a").rects, [
    { x: 55, y: 60, w: 100, h: 40 },
    { x: 0, y: 0, w: 100, h: 40 },
    { x: 0, y: 0, w: 100, h: 100 }, // down to the row of the consumer
    { x: 0, y: 60, w: 155, h: 40 }, // and along it
  ]);
  assert.deepEqual([out.size, out.get("a").x, out.get("a").y], [1, 0, 0]);
});

// -- plans

let nextId = 0;
const metric = (name, total, more = {}) => ({
  accumulatorId: nextId++, name, type: "sum", unit: "count", valueCount: 2, reportedCount: total === null ? null : 2, total, min: null, median: null, max: null, maxStageId: null,
  maxStageAttempt: null, maxTaskId: null, ...more,
});
const time = (name, total, more = {}) => metric(name, total, { type: "timing", unit: "ms", maxStageId: 0, maxStageAttempt: 0, maxTaskId: 1, ...more });
const ran = (stageId) => [{ stageId, attempt: 0 }];
const node = (id, name, more = {}) => ({ id, clusterId: null, name, description: name, isCluster: false, metadata: [], metrics: [], stages: [], ...more });

test("own time is what Spark measured in tasks around the operator itself, the driver's is apart", () => {
  assert.equal(ownTime(node(0, "Sort", { metrics: [time("sort time", 50), time("peak memory", 9), metric("number of output rows", 3)] })), 50);
  assert.equal(ownTime(node(0, "Exchange", { metrics: [time("shuffle write time", 2_500_000, { unit: "ns" }), time("fetch wait time", 4)] })), 6.5);
  assert.equal(ownTime(node(0, "GpuSort", { metrics: [time("op time", 7_000_000, { unit: "ns" }), time("sort time", 3)] })), 7);
  assert.equal(ownTime(node(0, "WholeStageCodegen", { metrics: [time("sort time total (min, med, max)", 5)] })), 5, "Spark 2 wrote more into the name");
  assert.equal(ownTime(node(0, "Project")), null);
  const broadcast = node(0, "BroadcastExchange", { metrics: [time("time to build", 30, { maxTaskId: null }), time("time to collect", 50, { maxTaskId: null })] });
  assert.deepEqual([ownTime(broadcast), driverTime(broadcast)], [null, 80]);
  assert.equal(rowsOut(node(0, "GpuFilter", { metrics: [metric("output rows", 5)] })), 5);
  assert.equal(rowsOut(node(0, "Exchange", { metrics: [metric("number of output rows", null), metric("shuffle records written", 8)] })), 8);
});

test("one line tells two operators of a kind apart", () => {
  const of = (name, description, metadata = []) => subtitle(node(0, name, { description, metadata }));
  assert.equal(of("Exchange", "Exchange hashpartitioning(k#1L, 200), ENSURE_REQUIREMENTS, [plan_id=12]"), "hashpartitioning(k, 200)");
  assert.equal(of("SortMergeJoin", "SortMergeJoin [a#1], [b#2], LeftOuter"), "a, LeftOuter");
  assert.equal(of("Sort", "Sort [k#1 ASC NULLS FIRST, v#2 DESC NULLS LAST], false, 0"), "k, v DESC");
  assert.equal(of("HashAggregate", "HashAggregate(keys=[k#1], functions=[count(1)])"), "k");
  assert.equal(of("Filter", "Filter isnotnull(k#1)"), "isnotnull(k)");
  assert.equal(of("Scan parquet ", "FileScan parquet [k#1]", [["Location", "InMemoryFileIndex(1 paths)[file:/data/sales, ... 3 entries]"]]), "sales");
  assert.equal(of("Project", null), "");
});

/** scan 5 → filter 4 → exchange 3 | → sort 2 → project 1 → result 0, with the scan and the filter in cluster 9 */
const NODES = [
  node(0, "Result"),
  node(1, "Project"),
  node(2, "Sort", { stages: ran(1), metrics: [time("sort time", 400)] }),
  node(3, "Exchange", { stages: [...ran(0), ...ran(1)], metrics: [metric("shuffle records written", 70)] }),
  node(4, "Filter", { clusterId: 9, metrics: [metric("number of output rows", 70)] }),
  node(5, "Scan parquet", { clusterId: 9, metrics: [metric("number of output rows", 100), time("scan time", 900)] }),
  node(9, "WholeStageCodegen (1)", { isCluster: true, stages: ran(0), metrics: [time("duration", 800)] }),
];
const EDGES = [5, 4, 3, 2, 1].map((id) => ({ fromId: id, toId: id - 1 }));
const STAGES = [
  { stageId: 0, attempt: 0, numTasks: 2, taskTimeMs: 700, durationMs: 400 },
  { stageId: 1, attempt: 0, numTasks: 2, taskTimeMs: 300, durationMs: 200 },
];
const plan = () => planOf(NODES, EDGES, STAGES);

test("operators stand in the stage whose tasks reported for them, exchanges in the one that wrote", () => {
  const p = plan();
  assert.deepEqual(p.operators.map((o) => [o.id, o.stage]), [[0, "1.0"], [1, "1.0"], [2, "1.0"], [3, "0.0"], [4, "0.0"], [5, "0.0"]]);
  assert.deepEqual(p.operators.map((o) => [o.id, o.rowsIn]), [[0, 70], [1, 70], [2, 70], [3, 70], [4, 100], [5, null]]);
  // The scan's 900 ms are more than its stage's tasks took; a stage is covered whole at most: 700 + 300.
  assert.deepEqual([p.taskMs, p.measuredMs], [1000, 1000]);
  assert.equal(p.byId.get(4).codegen, "1");
});

test("a plan as boxes: one line where nothing was measured, a band a stage, rows where they change", () => {
  const d = draw(plan(), { toggled: new Set(), code: false, flagged: new Set() });
  assert.deepEqual(d.boxes.map((b) => [b.key, b.small, b.tab, b.h]), [
    ["n0", true, null, 22],
    ["n1", true, null, 22],
    ["n2", false, null, 40],
    ["n3", true, null, 22],
    ["n4", true, 9, 39], // with the tab of the generated code
    ["n5", false, null, 40],
  ]);
  assert.deepEqual([...d.bands.keys()].sort(), ["0.0", "1.0"]);
  const edge = (from) => d.edges.find((e) => e.from === from);
  assert.deepEqual([edge(3).shuffle, edge(3).wide, edge(3).label, edge(3).rows], [true, true, true, 70]);
  assert.deepEqual([edge(4).label, edge(5).label, edge(2).label, edge(2).rows], [false, true, false, 70]);
  assert.equal(d.height, 40 + 22 + 39 + 22 + 22 + 50 + 40 + 22 + 22 + 22 + 22);
});

test("generated code, cached input and long chains fold into one box each", () => {
  const code = draw(plan(), { toggled: new Set(), code: true, flagged: new Set() });
  assert.deepEqual(code.boxes.map((b) => [b.key, b.all.length, b.ownMs]).at(-1), ["c9", 2, 800]);
  const open = draw(plan(), { toggled: new Set(["c9"]), code: true, flagged: new Set() });
  assert.equal(open.boxes.length, 6);

  const cached = planOf([node(0, "Project"), node(1, "InMemoryTableScan"), node(2, "Sort", { metrics: [time("sort time", null)] }), node(3, "Scan csv")], [3, 2, 1].map((id) => ({ fromId: id, toId: id - 1 })), []);
  assert.deepEqual([...cachedInputs(cached)], [[1, [2, 3]]]);
  const folded = draw(cached, { toggled: new Set(), code: false, flagged: new Set() });
  assert.deepEqual(folded.boxes.map((b) => [b.key, b.all.length]), [["n0", 1], ["m1", 3]]);

  const long = planOf(Array.from({ length: 200 }, (_, i) => node(i, "Project")), Array.from({ length: 199 }, (_, i) => ({ fromId: i + 1, toId: i })), []);
  const chain = draw(long, { toggled: new Set(), code: false, flagged: new Set([100]) });
  assert.deepEqual(chain.boxes.map((b) => [b.key, b.all.length]), [["n0", 1], ["l1", 99], ["n100", 1], ["l101", 98], ["n199", 1]]);
  assert.equal(draw(long, { toggled: new Set(["l1"]), code: false, flagged: new Set([100]) }).boxes.length, 103);
});

test("what one version of a plan has and another lacks, whatever ids planning gave", () => {
  const first = [node(0, "Exchange", { description: "Exchange hashpartitioning(k#1, 16), [plan_id=3]" }), node(1, "SortMergeJoin"), node(2, "Sort"), node(3, "Sort")];
  const last = [node(0, "Exchange", { description: "Exchange hashpartitioning(k#1, 16), [plan_id=99]" }), node(1, "BroadcastHashJoin"), node(2, "Sort"), node(5, "WholeStageCodegen (1)", { isCluster: true })];
  assert.deepEqual(missingFrom(first, last).map((n) => n.id), [1, 3]);
  assert.deepEqual(missingFrom(last, first).map((n) => n.id), [1]);
});

// -- RDDs

test("RDDs of one operation are one box, a skipped stage is one, an edge to another stage is a shuffle", () => {
  const rdd = (id, scope, parentIds, cached = false) => ({ id, name: `r${id}`, callsite: null, numPartitions: 1, parentIds, cached, barrier: false, determinism: null, scopes: scope ? [{ id: scope, name: scope }] : [] });
  const stages = [
    { stageId: 0, attempt: 0, name: "a", skipped: true, parentIds: [], rddCount: 2, rdds: [rdd(0, "textFile", []), rdd(1, "map", [0])] },
    { stageId: 1, attempt: 0, name: "b", skipped: false, parentIds: [0], rddCount: 3, rdds: [rdd(2, "reduceByKey", [1]), rdd(3, "reduceByKey", [2]), rdd(4, null, [3])] },
  ];
  const d = drawRdds(stages, new Set());
  assert.deepEqual(d.boxes.map((b) => [b.key, b.name, b.rdds.map((r) => r.id), b.h]), [
    ["s0", null, [0, 1], 22],
    ["s1", "reduceByKey", [2, 3], 54],
    ["s1", null, [4], 38],
  ]);
  assert.deepEqual(d.lines.map((l) => [l.from, l.to, l.dashed]), [[0, 1, true], [1, 2, false]]);
  assert.equal(drawRdds(stages, new Set(["s0"])).boxes.length, 4);
  // The same RDD computed by two stages is in both.
  const twice = drawRdds([stages[1], { ...stages[1], stageId: 2 }], new Set());
  assert.deepEqual(twice.lines.map((l) => [l.from, l.to]), [[0, 1], [2, 3]]);
});

// -- numbers as the History Server writes them in plans (spec/sql.md 3.4, 3.5)

test("sizes and durations as on the History Server's plans", () => {
  assert.deepEqual([0, 2047, 2048, 2304, 1048678, 2 * 1024 ** 3].map(historyBytes), ["0.0 B", "2047.0 B", "2.0 KiB", "2.3 KiB", "1024.1 KiB", "2.0 GiB"]);
  assert.deepEqual([0, 999, 1150, 1250, 1350, 60_000, 4_500_000].map(historyDuration), ["0 ms", "999 ms", "1.1 s", "1.3 s", "1.4 s", "1.0 m", "1.25 h"]);
  assert.equal(historyBytes(null), "\u2014");
});
