// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alike, callSite, growing, pathEnd, settled, share, slowest } from "../model/app.js";
import { apart, countTicks, labelPlaces, logPlace, logTicks, thin } from "../model/axis.js";
import { summary } from "../model/errors.js";
import { checks, noted, wrong } from "../model/health.js";
import { metricsOf, telling, unitOf } from "../model/metrics.js";
import { sorted } from "../model/sort.js";

/** @type {import("../types").Health} a log with nothing wrong */
const SOUND = {
  complete: true,
  flags: [],
  badLineCount: 0,
  cut: false,
  missingFiles: [],
  compacted: false,
  noLogStart: false,
  noApplicationStart: false,
  noEnvironment: false,
  repeatedApplicationStartCount: 0,
  jobsWithoutEnd: 0,
  stagesWithoutEnd: 0,
  tasksWithoutEnd: 0,
  jobsWithoutStart: 0,
  stagesWithoutStart: 0,
  tasksWithoutStart: 0,
  duplicateEventCount: 0,
  unknownEventCount: 0,
  outOfRangeNumberCount: 0,
  clockStepCount: 0,
  repairedTextCount: 0,
};

describe("health", () => {
  it("finds nothing in a sound log", () => assert.deepEqual(wrong(SOUND), []));

  it("takes unknown as not wrong", () => {
    const h = /** @type {any} */ (Object.fromEntries(Object.keys(SOUND).map((k) => [k, k === "complete" ? true : null])));
    assert.deepEqual(wrong(h), []);
  });

  it("raises what changes numbers, and only notes what does not", () => {
    const h = { ...SOUND, complete: false, badLineCount: 3, missingFiles: [2, 5], unknownEventCount: 7 };
    assert.deepEqual(
      wrong(h).map((c) => [c.id, c.count]),
      [
        ["end", null],
        ["lines", 3],
        ["files", 2],
      ],
    );
    assert.equal(checks(h).find((c) => c.id === "unknownEvents")?.level, 1);
  });
});

describe("an unended task", () => {
  it("is a note in a log that is otherwise whole, damage beside other damage", () => {
    assert.deepEqual(wrong({ ...SOUND, tasksWithoutEnd: 1 }), []);
    assert.equal(noted({ ...SOUND, tasksWithoutEnd: 3 }), 3);
    assert.deepEqual(
      wrong({ ...SOUND, complete: false, tasksWithoutEnd: 1 }).map((c) => c.id),
      ["end", "tasksOpen"],
    );
    assert.equal(noted({ ...SOUND, cut: true, tasksWithoutEnd: 1 }), 0);
    assert.equal(noted(SOUND), 0);
  });
});

describe("a log that may grow", () => {
  const open = { complete: false, state: /** @type {const} */ ("loaded"), layout: "single", logPath: "/l/app-1.zstd.inprogress" };
  it("has no end and no finished name", () => {
    assert.equal(growing(open), true);
    assert.equal(growing({ ...open, layout: "rolling", logPath: "/l/eventlog_v2_app-1" }), true);
    assert.equal(growing({ ...open, logPath: "/l/app-1.zstd" }), false);
  });
  it("is not one that is complete, gone, failed or still unknown", () => {
    assert.equal(growing({ ...open, complete: true }), false);
    assert.equal(growing({ ...open, complete: null }), false);
    for (const state of /** @type {const} */ (["gone", "failed", "waiting", "loading"])) assert.equal(growing({ ...open, state }), false);
  });
});

describe("the list", () => {
  it("tells rows with the same id and attempt apart by the end of the path", () => {
    const row = (/** @type {string | null} */ appId, /** @type {string | null} */ attemptId) => /** @type {any} */ ({ appId, attemptId });
    const rows = [row("a", null), row("a", null), row("b", "1"), row("b", "2"), row(null, null), row(null, null)];
    assert.deepEqual([...alike(rows)], rows.slice(0, 2));
    assert.equal(pathEnd("file:///logs/old/app-1"), "old/app-1");
    assert.equal(pathEnd("app-1/"), "app-1");
    assert.equal(pathEnd(null), null);
  });
});

describe("slowest stages", () => {
  const stage = (/** @type {number} */ stageId, /** @type {number | null} */ durationMs, submissionMs = 1000) =>
    /** @type {any} */ ({ stageId, attempt: 0, durationMs, submissionMs });
  it("hold running ones with what they took up to the last event", () => {
    const { rows, atLeast } = slowest([stage(1, 900), stage(2, 300)], [stage(3, null, 1500), stage(4, null, 9000)], 2000, 5);
    assert.deepEqual(
      rows.map((s) => [s.stageId, s.durationMs, atLeast.has(s)]),
      [
        [1, 900, false],
        [3, 500, true],
        [2, 300, false],
      ],
    );
  });
  it("know nothing about running ones without a last event", () => assert.deepEqual(slowest([], [stage(3, null)], null, 5).rows, []));
});

describe("app", () => {
  it("takes a run whose load has only begun as being read, with the rest unknown", () => {
    const begun = /** @type {any} */ ({
      state: "loading",
      loading: null,
      log: null,
      cores: null,
      slowestStages: null,
      failedJobs: null,
      failedStages: null,
      readBytes: null,
      totalBytes: 7,
      layout: "single",
      logPath: "/l",
    });
    const app = settled(begun);
    assert.deepEqual(app.loading, { readBytes: null, totalBytes: 7, lines: null });
    assert.equal(app.log.lines, null);
    assert.equal(app.cores.max, null);
    assert.deepEqual(app.slowestStages, []);
  });

  it("does not take a finished run as being read", () => assert.equal(settled(/** @type {any} */ ({ state: "loaded" })).loading, null));
});

describe("shares", () => {
  it("knows no share without task time", () => {
    assert.equal(share(5, 0), null);
    assert.equal(share(null, 10), null);
    assert.equal(share(0, 10), 0);
  });
});

describe("sort", () => {
  const rows = [
    { id: "10", v: 2 },
    { id: "9", v: null },
    { id: "driver", v: 7 },
    { id: "1", v: 0 },
  ];
  const keys = { id: (/** @type {any} */ r) => r.id, v: (/** @type {any} */ r) => r.v };

  it("puts unknown last whichever way it sorts", () => {
    assert.deepEqual(
      sorted(rows, "v", keys).map((r) => r.v),
      [0, 2, 7, null],
    );
    assert.deepEqual(
      sorted(rows, "-v", keys).map((r) => r.v),
      [7, 2, 0, null],
    );
  });

  it("sorts numbers inside text as numbers", () =>
    assert.deepEqual(
      sorted(rows, "id", keys).map((r) => r.id),
      ["1", "9", "10", "driver"],
    ));

  it("leaves the order for a key from a mistyped link", () => assert.equal(sorted(rows, "-nonsense", keys), rows));
});

describe("errors", () => {
  it("takes the first line", () =>
    assert.equal(summary("\njava.lang.IllegalStateException: no\n\tat Foo.bar(Foo.java:1)\n"), "java.lang.IllegalStateException: no"));

  it("takes what a Python traceback ends with", () => {
    const text = [
      "org.apache.spark.api.python.PythonException: Traceback (most recent call last):",
      '  File "w.py", line 9, in main',
      "    f()",
      "    ^^^",
      "ValueError: planted: 2",
      "",
      "\tat org.apache.spark.api.python.Base(P.scala:5)",
      "Caused by: x",
    ].join("\n");
    assert.equal(summary(text), "ValueError: planted: 2");
  });

  it("falls back to the first line of a traceback without an end", () =>
    assert.equal(summary("PythonException: Traceback (most recent call last):\n  File x\n    y"), "PythonException: Traceback (most recent call last):"));

  it("cuts endless lines", () => assert.equal(summary("x".repeat(5000)).length, 400));
});

describe("metrics", () => {
  it("reads the unit from the name", () => {
    assert.deepEqual(["durationMs", "executorCpuTimeNs", "resultSizeBytes", "inputRecords"].map(unitOf), ["ms", "ns", "bytes", "count"]);
  });

  it("leaves out what is 0 for every task and keeps the reading order", () => {
    const q = (/** @type {string} */ name, /** @type {number} */ max) => /** @type {any} */ ({ name, min: 0, max });
    assert.deepEqual(
      telling([q("inputBytes", 5), q("diskSpilledBytes", 0), q("durationMs", 9), q("pushLocalMergedReadBytes", 1)]).map((x) => x.name),
      ["durationMs", "inputBytes", "pushLocalMergedReadBytes"],
    );
  });

  it("shows every number of a task but its identity", () => {
    const task = /** @type {any} */ ({
      taskId: 7,
      index: 1,
      attempt: 0,
      launchMs: 1,
      durationMs: 5,
      executorRunTimeMs: 0,
      inputBytes: null,
      host: "h",
      speculative: false,
      someNewMetricBytes: 3,
    });
    assert.deepEqual(metricsOf(task), [
      { name: "durationMs", value: 5 },
      { name: "executorRunTimeMs", value: 0 },
      { name: "someNewMetricBytes", value: 3 },
    ]);
  });
});

describe("call sites", () => {
  it("lose the folders of their file, and nothing else", () => {
    assert.equal(callSite("collect at /opt/spark/jobs/etl.py:20"), "collect at etl.py:20");
    assert.equal(callSite("parquet at NativeMethodAccessorImpl.java:0"), "parquet at NativeMethodAccessorImpl.java:0");
    assert.equal(callSite("load s3://bucket/a/b of 2/3"), "load s3://bucket/a/b of 2/3");
    assert.equal(callSite(null), null);
  });
});

describe("axis", () => {
  it("places equal factors at equal distances", () => {
    assert.ok(Math.abs(logPlace(10, 1, 1000) - 1 / 3) < 1e-12);
    assert.equal(logPlace(0, 1, 1000), 0);
    assert.equal(logPlace(5000, 1, 1000), 1);
    assert.equal(logPlace(5, 5, 5), 0);
  });

  it("has few, round ticks over any range", () => {
    assert.deepEqual(logTicks(100, 6000), [100, 300, 1000, 3000]);
    for (const [a, b] of [
      [1, 1e7],
      [143, 5400],
      [900, 1000],
      [0.2, 3],
    ]) {
      const n = logTicks(a, b).length;
      assert.ok(n >= 1 && n <= 12, `${n} ticks from ${a} to ${b}`);
    }
  });

  it("has round ticks over any number of tasks", () => {
    assert.deepEqual(countTicks(1), [1]);
    assert.deepEqual(countTicks(3), [1, 2]);
    assert.deepEqual(countTicks(13), [1, 2, 10]);
    assert.deepEqual(countTicks(319_879), [1, 50_000, 200_000]);
  });

  it("keeps two labels inside and apart", () => {
    assert.deepEqual(labelPlaces(200, 500, 100, 0, 1000), [200, 500]);
    assert.deepEqual(labelPlaces(10, 500, 100, 0, 1000), [50, 500]);
    assert.deepEqual(labelPlaces(60, 80, 100, 0, 1000), [50, 150]);
    assert.deepEqual(labelPlaces(500, 520, 100, 0, 1000), [460, 560]);
    assert.deepEqual(labelPlaces(980, 1000, 100, 0, 1000), [850, 950]);
  });

  it("keeps ticks apart by their places, not their count", () => {
    // 800 ms to 2 s on 240 pixels: 800 and 900 ms lie 31 apart, 0.9 and 1 s 28, 1 and 1.5 s 106.
    const X = (/** @type {number} */ v) => 40 + logPlace(v, 800, 2000) * 240;
    assert.deepEqual(logTicks(800, 2000), [800, 900, 1000, 1500, 2000]);
    assert.deepEqual(apart(logTicks(800, 2000), X, 80), [800, 1500]);
    assert.deepEqual(apart([], X, 80), []);
  });

  it("thins a list evenly", () => assert.deepEqual(thin([1, 2, 3, 4, 5, 6, 7], 3), [1, 4, 7]));
});
