// SPDX-License-Identifier: Apache-2.0
/** A run over time: rows, places, ticks, and the part that is shown. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clock, setLocale } from "../lib/format.js";
import { part, placeIn, rowsOf, stepped, timeTicks } from "../model/timeline.js";

/** @param {number} jobId @param {number} skippedStages @returns {any} */
const job = (jobId, skippedStages = 0) => ({ jobId, skippedStages });
/** @param {number} stageId @param {number | null} jobId @returns {any} */
const stage = (stageId, jobId) => ({ stageId, attempt: 0, jobId });

describe("the timeline of a run", () => {
  it("has a row for each job, its stages and the ones that it skipped; stages of nobody come last", () => {
    const rows = rowsOf(/** @type {any} */ ({ jobs: [job(0), job(1, 2)], stages: [stage(0, 0), stage(3, 1), stage(1, 0), stage(9, null)] }));
    assert.deepEqual(
      rows.map((r) => (r.kind === "job" ? `job ${r.job.jobId}` : r.kind === "stage" ? r.stage.stageId : `skipped ${r.count}`)),
      ["job 0", 0, 1, "job 1", 3, "skipped 2", 9],
    );
    assert.equal(rowsOf(/** @type {any} */ ({ jobs: [job(1, 2)], stages: [] })).length, 1);
  });

  it("places moments in the part that is shown, and cuts at its ends", () => {
    assert.equal(placeIn({ fromMs: 100, toMs: 300 }, 150), 0.25);
    assert.equal(placeIn({ fromMs: 100, toMs: 300 }, 50), 0);
    assert.equal(placeIn({ fromMs: 100, toMs: 300 }, 900), 1);
    assert.equal(placeIn({ fromMs: 100, toMs: 100 }, 100), 0);
  });

  it("has round ticks, never more than asked for", () => {
    assert.deepEqual(timeTicks(0, 27_056, 8), [0, 5000, 10_000, 15_000, 20_000, 25_000]);
    assert.deepEqual(timeTicks(12_300, 12_900, 8), [12_300, 12_400, 12_500, 12_600, 12_700, 12_800, 12_900]);
    assert.deepEqual(timeTicks(5, 5, 8), []);
    for (const wall of [3, 700, 61_000, 5.4e6, 9e7, 8e13]) assert.ok(timeTicks(0, wall, 8).length <= 9, String(wall));
  });

  it("writes them in one form", () => {
    setLocale("en");
    assert.deepEqual(
      [clock(400, 1500), clock(2500, 19_000), clock(95_000, 211_000), clock(3_725_000, 7_200_000), clock(100_000_000, 400_000_000)],
      ["400\u202fms", "2.5\u202fs", "1:35", "1:02:05", "1d\u202f03h"],
    );
    assert.deepEqual([clock(97_000, 552, 97_500), clock(97_150, 552, 97_500), clock(9_900, 1500, 10_500), clock(9_100, 500, 9_600)], ["97.0\u202fs", "97.15\u202fs", "9.9\u202fs", "9,100\u202fms"]);
  });

  it("shows a part that lies in the run and is not too short, whichever way it was dragged", () => {
    assert.deepEqual(part(900, 300, 1000), { fromMs: 300, toMs: 900 });
    assert.deepEqual(part(-50, 2000, 1000), { fromMs: 0, toMs: 1000 });
    assert.deepEqual(part(999, 999, 1000), { fromMs: 990, toMs: 1000 });
    assert.deepEqual(part(0, 4, 5), { fromMs: 0, toMs: 5 });
  });

  it("zooms around the middle and moves by a share, never out of the run", () => {
    assert.deepEqual(stepped({ fromMs: 200, toMs: 600 }, 1000, { zoom: 0.5 }), { fromMs: 300, toMs: 500 });
    assert.deepEqual(stepped({ fromMs: 200, toMs: 600 }, 1000, { zoom: 4 }), { fromMs: 0, toMs: 1000 });
    assert.deepEqual(stepped({ fromMs: 200, toMs: 600 }, 1000, { move: 0.25 }), { fromMs: 300, toMs: 700 });
    assert.deepEqual(stepped({ fromMs: 600, toMs: 1000 }, 1000, { move: 0.25 }), { fromMs: 600, toMs: 1000 });
  });
});
