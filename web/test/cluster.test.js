// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { boundLines, busyShare, limitOf, measured, processRss } from "../model/executors.js";
import { properties, redacted } from "../model/settings.js";
import { batches, drawnPhases, spread } from "../model/streaming.js";
import { roundUp, sum } from "../model/time-axis.js";

test("an axis of values ends at a round number that holds them", () => {
  assert.deepEqual([0, 1, 1.2, 5, 7, 10, 4300].map((v) => roundUp(v)), [1, 1, 2, 5, 10, 10, 5000]);
  assert.deepEqual([900, 1024, 1025, 3 * 1024 ** 2].map((v) => roundUp(v, 1024)), [1024, 1024, 2048, 4 * 1024 ** 2]);
  assert.equal(sum([1, 2, 3]), 6);
});

test("slots are busy for a share of their time, never for more than all of it", () => {
  assert.equal(busyShare([0, 50, 100], [100, 100, 100]), 0.5);
  assert.equal(busyShare([0, 110, 10], [0, 100, 10]), 1, "a task ends later in the driver's books than on its slot");
  assert.equal(busyShare([10, 100, 90], [0, 100, 100]), 1, "a task began before its executor was known");
  assert.equal(busyShare([0, 0], [0, 0]), null, "no slots");
  assert.equal(busyShare([5, 5, 5], [0, 0, 1]), null, "it ran on a driver whose slots nobody knows");
});

test("a peak of 0 is unknown where it cannot be 0", () => {
  const peaks = { jvmHeapMemoryBytes: 0, onHeapExecutionMemoryBytes: 0, processTreeJvmRssMemoryBytes: 0, processTreePythonRssMemoryBytes: 0 };
  assert.deepEqual(
    ["jvmHeapMemoryBytes", "onHeapExecutionMemoryBytes", "processTreePythonRssMemoryBytes", "majorGcCount"].map((n) => measured(peaks, n)),
    [null, 0, null, null],
  );
  assert.equal(processRss(peaks), null);
  const tree = { processTreeJvmRssMemoryBytes: 100, processTreePythonRssMemoryBytes: 0, processTreeOtherRssMemoryBytes: 20 };
  assert.equal(processRss(tree), 120);
  assert.equal(measured(tree, "processTreePythonRssMemoryBytes"), 0, "the tree was looked at, and there was no Python");
  assert.equal(measured(null, "jvmHeapMemoryBytes"), null);
});

test("each peak is held against its own limit", () => {
  const x = /** @type {any} */ ({ heapLimitBytes: 1, maxOnHeapMemoryBytes: 2, maxMemoryBytes: 3, maxOffHeapMemoryBytes: 0, containerLimitBytes: 4 });
  assert.deepEqual(
    ["jvmHeapMemoryBytes", "onHeapStorageMemoryBytes", "offHeapUnifiedMemoryBytes", "processTreeJvmRssMemoryBytes", "directPoolMemoryBytes"].map((n) => limitOf(x, n)),
    [1, 2, null, 4, null],
  );
});

test("settings: named by a finding, then far from the default, then the rest; what a finding names is never hidden", () => {
  /** @param {string} name @param {object} [more] */
  const setting = (name, more) => ({ name, value: "v", defaultValue: "d", distance: 1, state: "effective", meant: null, fired: 0, atRunTime: false, differs: true, meaning: null, rules: [], ...more });
  const finding = (/** @type {string} */ rule, /** @type {string} */ kind, /** @type {string} */ key, /** @type {string} */ grade) => ({ rule, subject: { kind, key, name: key }, grade, evidence: { rows: [] } });
  const data = /** @type {any} */ ({
    sections: [{ name: "spark", entries: ["a.rest", "b.near", "c.far", "d.low", "e.severe", "x.port", "y.port"].map((name) => [name, "v"]) }],
    settings: [
      setting("b.near"),
      setting("c.far", { distance: 5 }),
      setting("d.low", { rules: ["R.LOW"] }),
      setting("f.session", { atRunTime: true, distance: 3 }),
      setting("a.rest", { differs: false, distance: 0, rules: ["R.LOW"] }),
    ],
    perRun: ["x.port", "y.port"],
  });
  const findings = /** @type {any} */ ([finding("R.SEVERE", "conf", "e.severe", "severe"), finding("R.LOW", "stage", "1.0", "low"), finding("R.PORT", "conf", "y.port", "info"), finding("FAR", "conf", "-", "severe")]);
  findings[3].evidence.rows = [{ kind: "conf", key: "a.rest" }];
  const found = properties(data, findings, (f) => ({ severe: 4, low: 2, info: 1 })[/** @type {string} */ (f.grade)] ?? 0);
  assert.deepEqual(
    found.map((p) => [p.name, p.group, p.level, p.perRun]),
    [
      ["e.severe", 0, 4, false],
      ["d.low", 0, 2, false],
      ["y.port", 0, 1, false],
      ["c.far", 1, 0, false],
      ["f.session", 1, 0, false],
      ["b.near", 1, 0, false],
      ["a.rest", 2, 0, false],
      ["x.port", 2, 0, true],
    ],
  );
  assert.equal(redacted("jdbc://u:*********(redacted)@h"), true);
  assert.equal(redacted(null), false);
});

test("batches come newest first, and a trigger as a whole is none of its phases", () => {
  const run = /** @type {any} */ ({ series: { triggerMs: [1, 2, 3], batchId: [7, 8, null] } });
  assert.deepEqual(batches(run).map((b) => [b.index, b.batchId]), [
    [2, null],
    [1, 8],
    [0, 7],
  ]);
  const phases = /** @type {any} */ ([
    { name: "walCommit", totalMs: 2 },
    { name: "triggerExecution", totalMs: 99 },
    { name: "addBatch", totalMs: 50 },
    { name: "getBatch", totalMs: 0 },
  ]);
  assert.deepEqual(drawnPhases(phases).map((p) => p.name), ["addBatch", "walCommit"]);
});

test("values are counted in equal bins between their ends, whatever is unknown", () => {
  const bins = spread([0, null, 1, 2, 10, 10], 5);
  assert.deepEqual(bins.map((b) => [b.from, b.to, b.count]), [[0, 2, 2], [2, 4, 1], [4, 6, 0], [6, 8, 0], [8, 10, 2]]);
  assert.deepEqual(spread([3, 3], 10), [{ from: 3, to: 3, count: 2 }]);
  assert.deepEqual(spread([null, NaN], 10), []);
});

test("what the settings asked for is a line in slots where that is known and has room", () => {
  const bounds = { dynamic: true, leastExecutors: 1, startExecutors: 2, mostExecutors: 4, slotsEach: 4 };
  const drawn = (/** @type {object} */ more, /** @type {number} */ peak) => {
    const { top, lines } = boundLines({ ...bounds, ...more }, peak);
    return [top, ...lines.map((line) => `${line.name} ${line.executors} ${line.slots}`)];
  };
  assert.deepEqual(drawn({}, 8), [16, "least 1 4", "start 2 8", "most 4 16"]);
  assert.deepEqual(drawn({}, 7), [8, "least 1 4", "start 2 8", "most 4 null"], "more than twice what was there: named alone");
  assert.deepEqual(drawn({ slotsEach: null }, 8), [8, "least 1 null", "start 2 null", "most 4 null"]);
  assert.deepEqual(drawn({ dynamic: false, leastExecutors: null, mostExecutors: null }, 12), [12, "asked 2 8"]);
});
