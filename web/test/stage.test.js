// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { byHost, parts, restOf, slotParts, sumParts, taskParts } from "../model/phases.js";
import { byteTicks, choices, padded, slower } from "../model/scatter.js";
import { asked, cellAt, clamp, densityPixels, layout, rowAt, span, taskAt, zoomed } from "../model/task-timeline.js";

const TIMES = { ms: 1000, runMs: 900, deserializeMs: 50, serializeMs: 10, gettingResultMs: 0, gcMs: 100, cpuNs: 600e6, fetchMs: 20, writeNs: 30e6 };
const sum = (/** @type {{ ms: number }[]} */ list) => list.reduce((n, p) => n + p.ms, 0);
const of = (/** @type {{ bucket: string, ms: number }[]} */ list) => Object.fromEntries(list.map((p) => [p.bucket, p.ms]));

describe("phases", () => {
  it("sum to the task's time", () => {
    const list = parts(TIMES);
    assert.deepEqual(of(list), { delay: 40, deser: 50, fetch: 20, cpu: 600, gc: 100, other: 150, shwrite: 30, ser: 10 });
    assert.equal(sum(list), 1000);
  });

  it("stay within it where Spark's times do not: run time comes first", () => {
    const list = parts({ ...TIMES, ms: 920, gcMs: 950 });
    assert.equal(sum(list), 920);
    assert.deepEqual(of(list), { gc: 920 }, "900 of the run and the 20 that are left for deserialisation");
  });

  it("say nothing of a task without run time or length", () => {
    assert.deepEqual(parts({ ...TIMES, runMs: null }), []);
    assert.deepEqual(parts({ ...TIMES, ms: null }), []);
    assert.deepEqual(parts({ ...TIMES, ms: 0 }), []);
  });

  it("are lost as a whole where the task failed", () => {
    const task = /** @type {any} */ ({ status: "failed", durationMs: 700, executorRunTimeMs: 600 });
    assert.deepEqual(taskParts(task), [{ bucket: "lost", ms: 700 }]);
    assert.deepEqual(taskParts({ ...task, durationMs: null }), []);
  });

  it("call what nothing measures by the account's word", () => {
    assert.equal(restOf(/** @type {any} */ ({ cost: [{ bucket: "python" }] })), "python");
    assert.equal(restOf(null), "other");
    assert.equal(of(parts(TIMES, "python")).python, 150);
  });

  it("are summed by host, unknown staying unknown, executors without tasks left out", () => {
    const x = (/** @type {any} */ more) => /** @type {any} */ ({ host: "a", taskCount: 1, taskTimeMs: 10, gcTimeMs: null, inputBytes: 0, ...more });
    const rows = byHost([x({}), x({ taskTimeMs: 5 }), x({ host: "b", taskTimeMs: 100 }), x({ host: "c", taskCount: 0 })]);
    assert.deepEqual(
      rows.map((r) => [r.host, r.executorCount, r.taskCount, r.taskTimeMs, r.gcTimeMs]),
      [
        ["b", 1, 1, 100, null],
        ["a", 2, 2, 15, null],
      ],
    );
    assert.deepEqual(sumParts(/** @type {any} */ ({ taskTimeMs: 10, runTimeMs: null })), []);
  });
});

/** Two executors: two tasks beside each other on the first, one on the second that has no end. @type {import("../types").TaskTimeline} */
const SINGLE = {
  beginMs: 1000, endMs: 2000, fromMs: 1000, toMs: 2000, allTasks: 3, taskCount: 3, executorCount: 2, pickedExecutorCount: 2,
  rows: [
    { executorCount: 1, firstExecutorId: "1", lastExecutorId: "1", host: "a", slots: 2, taskCount: 2 },
    { executorCount: 1, firstExecutorId: "2", lastExecutorId: "2", host: "b", slots: 2, taskCount: 1 },
  ],
  tasks: {
    taskId: [7, 8, 9], index: [0, 1, 2], attempt: [0, 0, 0], row: [0, 0, 1], lane: [0, 1, 0], launchOffsetMs: [0, 100, 500], waitMs: [0, 20, 0], durationMs: [400, 300, null],
    status: ["success", "success", "unknown"], speculative: [0, 0, 0], phases: [],
  },
};

/** One row of two bins: half of the slots computed in the first, and something failed in the second. @type {import("../types").TaskTimeline} */
const DENSE = {
  ...SINGLE, tasks: undefined, rows: [SINGLE.rows[0]],
  density: { bins: 2, scale: 200, phases: [{ bucket: "cpu", name: "computing", values: [100, 0] }, { bucket: "lost", name: "lost", values: [0, 1] }] },
};

describe("tasks over time", () => {
  it("clamps a window to what there is", () => {
    assert.deepEqual(clamp(0, 5000, 1000, 2000), [1000, 2000]);
    assert.deepEqual(clamp(1900, 2100, 1000, 2000), [1800, 2000], "moved, not shortened");
    assert.deepEqual(clamp(1500, 1501, 1000, 2000), [1500, 1520], "no closer than 20 ms");
    assert.deepEqual(clamp(0, 9, 1000, 1005), [1000, 1005]);
  });

  it("zooms around the pointer", () => assert.deepEqual(zoomed(1000, 2000, 1200, 0.5), [1100, 1600]));

  it("asks for a window on a grid that holds what is shown, and for nothing when the whole is fine enough", () => {
    assert.equal(asked(1000, 1600, 1000, 2000), null);
    for (const [from, to] of [[5000, 5100], [5017, 5117], [1000, 1100], [99_900, 100_000]]) {
      const window = asked(from, to, 1000, 100_000);
      assert.ok(window && window[0] <= from && window[1] >= to, `${from}: ${window}`);
      assert.ok(window[1] - window[0] <= 2 * 128 + 1, "twice the next power of two");
    }
    assert.deepEqual(asked(5000, 5100, 1000, 100_000), asked(5003, 5103, 1000, 100_000), "a small pan has the same address");
  });

  it("gives lanes room while there are few, and draws executors as wholes when there are many", () => {
    const rows = (/** @type {number} */ n, /** @type {number} */ slots, executorCount = 1) => Array.from({ length: n }, () => ({ ...SINGLE.rows[0], slots, executorCount }));
    assert.deepEqual(layout(rows(2, 2)), { places: [{ y: 0, height: 52, lane: 26 }, { y: 55, height: 52, lane: 26 }], height: 107, lanes: true });
    assert.equal(layout(rows(10, 4)).places[0].lane, 8);
    assert.equal(layout(rows(50, 4)).places[0].lane, 3);
    assert.equal(layout(rows(51, 4)).lanes, false);
    assert.equal(layout(rows(3, 4, 5)).lanes, false);
    assert.ok(layout(rows(60, 100)).height <= 660);
  });

  it("finds the task under a pointer", () => {
    const { places } = layout(SINGLE.rows);
    assert.equal(rowAt(places, 56), 1);
    assert.equal(rowAt(places, 53), -1);
    assert.deepEqual(span(SINGLE, 1), [1120, 1400], "drawn from when its lane was free");
    assert.deepEqual(span(SINGLE, 2), [1500, 2000], "without an end: to the end");
    assert.equal(taskAt(SINGLE, places, 1200, 10, 0), 0);
    assert.equal(taskAt(SINGLE, places, 1200, 40, 0), 1);
    assert.equal(taskAt(SINGLE, places, 1410, 40, 0), -1);
    assert.equal(taskAt(SINGLE, places, 1410, 40, 15), 1);
  });

  it("says how full a cell is", () => {
    assert.deepEqual(cellAt(DENSE, 0, 1200), [{ bucket: "cpu", name: "computing", share: 0.5 }]);
    assert.deepEqual(cellAt(DENSE, 0, 2500), []);
    assert.deepEqual(cellAt(SINGLE, 0, 1200), []);
  });

  it("fills pixels from below, and shows the least that failed", () => {
    const height = 10;
    const pixels = densityPixels(DENSE, [{ y: 0, height, lane: 5 }], height, (bucket) => (bucket === "cpu" ? [1, 2, 3] : [9, 9, 9]));
    const at = (/** @type {number} */ x, /** @type {number} */ y) => [...pixels.slice((y * 2 + x) * 4, (y * 2 + x) * 4 + 4)];
    assert.deepEqual(at(0, 9), [1, 2, 3, 255]);
    assert.deepEqual(at(0, 5), [1, 2, 3, 255]);
    assert.deepEqual(at(0, 4), [0, 0, 0, 0], "the idle half stays clear");
    assert.deepEqual(at(1, 9), [9, 9, 9, 255]);
    assert.deepEqual(at(1, 8), [0, 0, 0, 0]);
  });
});

describe("scatter", () => {
  const q = (/** @type {string} */ name, /** @type {any} */ unit, /** @type {number} */ max) => /** @type {any} */ ({ name, unit, max });
  it("offers measures with a value, what was read first", () => {
    assert.deepEqual(choices([q("durationMs", "ms", 5), q("resultSizeBytes", "bytes", 5), q("inputBytes", "bytes", 5), q("shuffleReadBytes", "bytes", 0)]), ["inputBytes", "resultSizeBytes"]);
    assert.deepEqual(choices([q("resultSizeBytes", "bytes", 5)]), [], "nothing was read or written");
  });
  it("leaves room at the ends of its axes", () => {
    const [low, high] = padded(10, 1000);
    assert.ok(low < 10 && high > 1000 && Math.abs(low * high - 10_000) < 1e-6);
    const [a, b] = padded(5, 5);
    assert.ok(a < 5 && b > 5);
  });
  it("ticks bytes by powers of two", () => assert.deepEqual(byteTicks(1000, 70_000, 4), [1024, 4096, 16_384, 65_536]));
  it("compares with the median speed", () => {
    assert.equal(slower(400, 100, 2), 2);
    assert.equal(slower(400, 0, 2), null);
    assert.equal(slower(null, 100, 2), null);
  });
});

it("an executor's slots were with its tasks, or idle, and no longer than it lived", () => {
  const x = { taskTimeMs: 6000, runTimeMs: 5000, deserializeTimeMs: 500, resultSerializationTimeMs: 0, gcTimeMs: 0, cpuTimeNs: 5e9, fetchWaitTimeMs: 0, shuffleWriteTimeNs: 0 };
  const of = (/** @type {object} */ more) => Object.fromEntries(slotParts(/** @type {any} */ ({ ...x, aliveMs: 5000, maxTasks: null, totalCores: 2, ...more })).map((p) => [p.bucket, p.ms]));
  assert.deepEqual(of({}), { delay: 500, deser: 500, cpu: 5000, idle: 4000 });
  assert.deepEqual(of({ maxTasks: 1 }), { delay: 500, deser: 500, cpu: 5000 }, "ends overlap beginnings: nothing is less than nothing");
  assert.equal(of({ aliveMs: null }).idle, undefined);
  assert.deepEqual(of({ runTimeMs: null }), {}, "nobody knows what it did");
});
