// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromTimeField, setZone, shareChange, timeField } from "../lib/format.js";
import { barAt, bars, median, slower, trend, usual } from "../model/history.js";
import { found, matches, recalled, remember } from "../model/palette.js";

const history = (/** @type {(number | null)[]} */ ...durations) => ({
  total: durations.length,
  runs: durations.map((durationMs, i) => ({ key: String(i), startMs: i, durationMs, outcome: null, grade: null })),
});

describe("runs of a job", () => {
  it("have a median; what is not known has none", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 2, 3]), 2.5);
    assert.equal(median([]), null);
    assert.equal(usual(history(10, null, 30)), 20);
  });
  it("go somewhere from the third on: the newest against the median of those before", () => {
    assert.equal(trend(history(100, 100, 150)), 0.5);
    assert.equal(trend(history(100, 300, 100)), -0.5);
    assert.equal(trend(history(100, 150)), null);
    assert.equal(trend(history(100, 100, null)), null);
    assert.equal(trend(history(0, 0, 5)), null);
    assert.equal(trend(history()), null);
  });
  it("are held against those that came to their end", () => {
    const ended = (/** @type {("succeeded" | "failed" | "unknown")[]} */ ...outcomes) => {
      const h = history(100, 200, 10, 300);
      return { ...h, runs: h.runs.map((r, i) => ({ ...r, outcome: outcomes[i] })) };
    };
    const whole = ended("succeeded", "succeeded", "failed", "succeeded");
    assert.equal(usual(whole), 200);
    assert.equal(trend(whole), 1, "300 against the median of 100 and 200, which the failed one does not pull down");
    const growing = ended("succeeded", "succeeded", "succeeded", "unknown");
    assert.equal(usual(growing), 100);
    assert.equal(trend(growing), null, "its duration is a lower bound");
  });
  it("are slower than those before where that is more than two seconds, two per cent and three sigma", () => {
    assert.equal(slower(history(20_000, 20_000, 20_000, 30_000), "3"), 0.5);
    assert.equal(slower(history(20_000, 20_000, 20_000, 27_000), "2"), null, "as long as those before");
    assert.equal(slower(history(20_000, 20_000, 20_000, 22_000), "3"), null, "two seconds");
    assert.equal(slower(history(200_000, 200_000, 200_000, 204_000), "3"), null, "two per cent");
    assert.equal(slower(history(18_000, 20_000, 22_000, 28_000), "3"), null, "median distance 2 s: sigma 2.97 s, and 8.9 s are within three");
    assert.equal(slower(history(18_000, 20_000, 22_000, 30_000), "3"), 0.5);
    assert.equal(slower(history(20_000, 20_000, 27_000), "2"), null, "two before");
    assert.equal(slower(history(20_000, 20_000, 20_000, 27_000), "gone"), null);
  });
  it("change by a share with its sign", () => {
    assert.equal(shareChange(0.257), "+26\u202f%");
    assert.equal(shareChange(-0.11), "\u221211\u202f%");
    assert.equal(shareChange(0), "±0\u202f%");
    assert.equal(shareChange(null), "\u2014");
  });
});

describe("the search over everything", () => {
  it("wants every word, in any order and case", () => {
    assert.ok(matches("Stage 14: Collect at job.py", "collect STAGE"));
    assert.ok(!matches("Stage 14", "stage 15"));
    assert.ok(matches("anything", "  "));
  });
  it("puts what begins so first, keeps the order otherwise, and stops", () => {
    const items = ["a stage", "stage b", "c stage", "stage d"];
    assert.deepEqual(found(items, "stage", (x) => x, 3), ["stage b", "stage d", "a stage"]);
  });
  it("remembers what was opened, once each, the newest first, eight at most", () => {
    const option = (/** @type {number} */ n) => ({ group: /** @type {const} */ ("page"), to: `/a/${n}`, label: `run ${n}`, note: "" });
    /** @type {string[]} */
    let list = [];
    for (let n = 0; n < 10; n++) list = remember(list, option(n));
    list = remember(list, option(5));
    assert.deepEqual(recalled(list).map((o) => o.to), ["/a/5", "/a/9", "/a/8", "/a/7", "/a/6", "/a/4", "/a/3", "/a/2"]);
    assert.equal(recalled(list)[0].group, "recent");
  });
  it("leaves out what is junk or leads elsewhere", () => {
    assert.deepEqual(recalled(["{", "[]", '["https://x/","a",""]', '["//x/","a",""]', '["javascript:x","a",""]', '["/a/1",2,""]']), []);
  });
});

describe("fields for times", () => {
  it("speak in the chosen zone and come back", () => {
    setZone("utc");
    assert.equal(timeField(Date.UTC(2026, 0, 2, 3, 4)), "2026-01-02T03:04");
    assert.equal(fromTimeField("2026-01-02T03:04"), Date.UTC(2026, 0, 2, 3, 4));
    assert.equal(timeField(null), "");
    assert.equal(fromTimeField(""), null);
    assert.equal(fromTimeField("nonsense"), null);
    setZone("local");
    assert.equal(fromTimeField(timeField(Date.UTC(2026, 6, 2, 3, 4))), Date.UTC(2026, 6, 2, 3, 4));
  });
});

describe("the bars of runs", () => {
  it("draws those that look alike in one, by their share of the longest", () => {
    const runs = /** @type {any[]} */ ([
      { key: "a", durationMs: 50, outcome: "succeeded" },
      { key: "b", durationMs: null, outcome: "failed" },
      { key: "c", durationMs: 100, outcome: "succeeded" },
      { key: "d", durationMs: 25, outcome: "succeeded" },
    ]);
    assert.deepEqual(bars(runs, "c", 3), [
      { kind: "", d: "M0 16v-8h4v8z" },
      { kind: "is-bad", d: "M5 16v-1h4v1z" },
      { kind: "is-this", d: "M10 16v-16h4v16z" },
      { kind: "is-over", d: "M15 16v-4h4v4z" },
    ]);
  });

  it("finds the bar under the pointer", () => {
    assert.deepEqual([-1, 0, 4, 5, 19, 400].map((x) => barAt(4, x)), [0, 0, 0, 1, 3, 3]);
  });
});
