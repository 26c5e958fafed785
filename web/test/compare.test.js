// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bridge, measured, ownWords, ticks } from "../model/compare.js";

describe("bridge", () => {
  it("begins each part where the one before it ended, and ends at the run", () => {
    const b = bridge(20_000, [{ ms: 5000 }, { ms: -2000 }, { ms: 1 }]);
    assert.deepEqual(
      b.steps.map(({ fromMs, toMs }) => [fromMs, toMs]),
      [
        [20_000, 25_000],
        [25_000, 23_000],
        [23_000, 23_001],
      ],
    );
    assert.equal(b.endMs, 23_001);
  });

  it("begins its axis at zero", () => {
    const b = bridge(20_000, [{ ms: 2000 }]);
    assert.deepEqual([b.lowMs, b.highMs, b.cut], [0, 22_000, false]);
  });

  it("cuts the axis where the difference is under a tenth of the run", () => {
    const b = bridge(20_000, [{ ms: 3000 }, { ms: -1001 }]);
    assert.deepEqual([b.lowMs, b.highMs, b.cut], [20_000 - 240, 23_000 + 240, true]);
  });

  it("stands for runs without a difference, and for parts below zero", () => {
    assert.deepEqual(bridge(20_000, []), { steps: [], endMs: 20_000, lowMs: 0, highMs: 20_000, cut: false });
    assert.equal(bridge(1000, [{ ms: -1500 }, { ms: 1400 }]).lowMs, -500);
  });
});

describe("ticks", () => {
  it("are round", () => {
    assert.deepEqual(ticks(0, 29_032, 5), [0, 10_000, 20_000]);
    assert.deepEqual(ticks(19_760, 23_240, 5), [20_000, 21_000, 22_000, 23_000]);
  });
  it("do not fail without a range", () => assert.deepEqual(ticks(5, 5, 5), [5]));
});

describe("words of a setting", () => {
  it("leaves short values and values of one run as they are", () => {
    assert.equal(ownWords("a b", "a c"), null);
    assert.equal(ownWords("a".repeat(100), null), null);
  });
  it("tells the words that the other run does not have", () => {
    const common = Array.from({ length: 30 }, (_, i) => `-Dx${i}=1`).join(" ");
    assert.deepEqual(ownWords(`${common} -Da=1`, `-Db=2 ${common}`), { own: ["-Da=1"], common: 30 });
  });
});

it("metrics that neither run has are not shown", () => {
  assert.deepEqual(measured([{ base: 0, new: null }, { base: null, new: 1 }]), [{ base: null, new: 1 }]);
});
