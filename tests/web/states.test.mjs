// SPDX-License-Identifier: Apache-2.0
/** Loading, empty, error, still being read, not read yet: the server's answers are changed on the way to the page. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { address, api, openBrowser, openPage, prefer, rest, settled, url, visit } from "./support/browser.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
let ref = "";
/** @type {any} */
let app;
const API = "**/api/afterglow/v1/";

before(async () => {
  browser = await openBrowser();
  ref = (await api("apps?sort=-tasks&limit=1")).items[0].ref;
  app = await api(`apps/${ref}`);
});
beforeEach(async () => {
  await page?.close();
  ({ page } = await openPage(browser.context));
  await prefer(page, { theme: "light", lang: "en", zone: "utc" });
});
after(() => browser.close());

/** Holds answers back until what is returned is called. @param {string} path */
async function hold(path) {
  /** @type {() => void} */
  let release = () => {};
  const released = new Promise((done) => (release = () => done(undefined)));
  await page.route(API + path, async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  return release;
}

/** From the next document on. */
const noteShifts = () =>
  page.addInitScript(() => {
    /** @type {any} */ (window).shift = 0;
    new PerformanceObserver((list) => {
      for (const e of /** @type {any[]} */ (list.getEntries())) /** @type {any} */ (window).shift += e.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
const shifted = () => page.evaluate(() => /** @type {number} */ (/** @type {any} */ (window).shift));

describe("a page", () => {
  it("shows boxes when the answer takes long", async () => {
    const release = await hold(`apps/${ref}/stages**`);
    await page.goto(`${url}a/${ref}/stages`);
    await page.waitForSelector(".skeleton");
    release();
    await page.waitForSelector("main tbody tr");
    assert.equal(await page.$(".skeleton"), null);
  });

  it("pushes nothing down, not even boxes, when its parts come one after the other", async () => {
    const job = (await api(`apps/${ref}/jobs?limit=1`)).items[0].jobId;
    await noteShifts();
    const parts = [];
    for (const path of ["findings**", "account**", "timeline**", "stages**"]) parts.push(await hold(`apps/${ref}/${path}`));
    await page.goto(`${url}a/${ref}/jobs/${job}`);
    for (const release of parts) {
      await page.waitForSelector(".skeleton");
      release();
      await page.waitForTimeout(500); // until the next one is slow; shorter would only see less
    }
    await page.waitForSelector("main tbody tr");
    await settled(page);
    assert.ok((await shifted()) < 0.02, String(await shifted()));
  });

  it("begins a list below the names of its filters, which may need a line more than their ids", async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    await noteShifts();
    const release = await hold("facets**");
    const listed = page.waitForResponse(/\/apps\?/);
    await page.goto(`${url}?grade=1&rule=CONF.FAR&minDurationMs=60000&from=1000000000000&data=incomplete&user=alice`);
    await listed;
    release();
    await page.waitForSelector(".is-filter");
    await settled(page);
    assert.ok((await shifted()) < 0.02, String(await shifted()));
  });

  it("keeps what it shows while a slow answer is awaited", async () => {
    await visit(page, `a/${ref}/stages`);
    const rows = await page.$$eval("main tbody tr", (r) => r.length);
    const release = await hold(`apps/${ref}/stages**`);
    await page.click("main th:has-text('Tasks') button");
    await page.waitForSelector(".loaded.is-stale");
    assert.equal(await page.$$eval("main tbody tr", (r) => r.length), rows);
    release();
    await page.waitForSelector(".loaded:not(.is-stale)");
  });

  it("says which call failed and how, keeps the rest, and tries again", async () => {
    let broken = true;
    await page.route(`${API}apps/${ref}/stages**`, (route) =>
      broken
        ? route.fulfill({
            status: 500,
            contentType: "application/json",
            body: JSON.stringify({ status: 500, error: "internal", detail: "the file is on fire" }),
          })
        : route.continue(),
    );
    await page.goto(`${url}a/${ref}/stages`);
    const text = await page.textContent("[role=alert]");
    assert.match(text ?? "", /the file is on fire/);
    assert.match(text ?? "", /status 500/);
    assert.match(text ?? "", new RegExp(`apps/${ref}/stages`));
    await page.waitForSelector(".rail"); // the frame stays
    broken = false;
    await page.click("[role=alert] button");
    await page.waitForSelector("main tbody tr");
    assert.equal(await page.$("[role=alert]"), null);
  });

  it("says so when the server is gone", async () => {
    await page.route(`${API}apps**`, (route) => route.abort());
    await page.goto(url);
    assert.match((await page.textContent("[role=alert]")) ?? "", /cannot be reached/);
  });

  it("explains an id that nobody knows", async () => {
    await visit(page, "a/app-nobody-knows");
    assert.match((await page.textContent("main")) ?? "", /No such application/);
    assert.ok(await page.$("main a"), "and leads back to the list");
  });

  it("explains an address without a page", async () => {
    await visit(page, `a/${ref}/nonsense`);
    assert.match((await page.textContent("main")) ?? "", /No such page/);
  });

  it("waits for a log that has not been read, and changes by itself", async () => {
    let asked = 0;
    await page.route(`${API}apps/${ref}`, (route) =>
      ++asked < 3
        ? route.fulfill({
            status: 409,
            contentType: "application/json",
            body: JSON.stringify({ status: 409, error: "not_loaded", detail: "waits", state: "waiting" }),
          })
        : route.continue(),
    );
    await page.goto(`${url}a/${ref}`);
    await page.waitForSelector("text=This log has not been read yet");
    await page.waitForSelector(".verdict");
    assert.equal(asked, 3);
  });

  it("hears a server whose answers take longer than the pause between two looks", async () => {
    let asked = 0;
    await page.route(`${API}apps/${ref}`, async (route) => {
      asked++;
      if (asked === 1) return route.fulfill({ status: 409, json: { status: 409, error: "not_loaded", detail: "waits", state: "waiting" } });
      await page.evaluate(() => new Promise((done) => setTimeout(done, 2500))); // a look is due every second
      return route.continue();
    });
    await page.goto(`${url}a/${ref}`);
    await page.waitForSelector(".verdict");
    assert.equal(asked, 2);
  });

  it("does not wait for a run that was put away and whose log is gone", async () => {
    const row = { ...app, state: "gone", loaded: false };
    await page.route(`${API}apps?**`, (route) => route.fulfill({ json: { total: 1, page: 1, limit: 50, next: null, counts: {}, items: [row] } }));
    await page.route(`${API}apps/${ref}`, (route) =>
      route.fulfill({ status: 409, contentType: "application/json", body: JSON.stringify({ status: 409, error: "not_loaded", detail: "put away", state: "gone" }) }),
    );
    await page.goto(`${url}a/${ref}`);
    await page.waitForSelector("text=Only the row of this run is left");
    assert.equal(await page.$("[role=progressbar]"), null);
  });

  it("follows a log that is being read without a jump, and stops when it is done", async () => {
    let asked = 0,
      n = 1;
    await page.route(`${API}apps/${ref}`, (route) => {
      asked++;
      return route.fulfill({
        json: n < 4 ? { ...app, loading: { readBytes: n * 25, totalBytes: 100, lines: n }, complete: false, state: "loading", taskCount: n * 10 } : app,
      });
    });
    await page.goto(`${url}a/${ref}`);
    await page.waitForSelector("[role=progressbar][aria-valuenow='25']");
    await page.waitForSelector(".facts"); // with the answer about stages that run
    const before = await page.evaluate(() => document.querySelector(".facts")?.getBoundingClientRect().top);
    n = 3;
    await page.waitForSelector("[role=progressbar][aria-valuenow='75']");
    assert.equal(await page.evaluate(() => document.querySelector(".facts")?.getBoundingClientRect().top), before);
    n = 4;
    await page.waitForSelector("[role=progressbar]", { state: "detached" });
    const then = asked;
    await rest(page, 2500);
    assert.equal(asked, then, "a finished run is not polled");
  });

  it("shows a log that has only just begun to be read, with everything about it unknown", async () => {
    const unknown = Object.fromEntries(Object.entries(app).map(([k, v]) => [k, typeof v === "number" || typeof v === "string" ? null : v]));
    const { wrong, page: fresh } = await openPage(browser.context);
    await fresh.route(`${API}apps/${ref}`, (route) =>
      route.fulfill({
        json: {
          ...unknown,
          ref,
          complete: false,
          state: "loading",
          health: null,
          loading: null,
          slowestStages: null,
          failedJobs: [],
          failedStages: [],
          log: null,
          cores: null,
        },
      }),
    );
    for (const path of ["", "/stages", "/log"]) {
      await fresh.goto(`${url}a/${ref}${path}`);
      await fresh.waitForSelector("[role=progressbar]");
      assert.doesNotMatch((await fresh.textContent("main")) ?? "", /NaN|undefined|null|\b0 jobs/, path);
    }
    assert.deepEqual(wrong, []);
    await fresh.close();
  });

  it("loses only the part that an unforeseen answer is in", async () => {
    await page.route(`${API}apps/${ref}/environment*`, (route) => route.fulfill({ json: { sections: null } }));
    await page.goto(`${url}a/${ref}/env`);
    await page.waitForSelector("[role=alert]");
    await page.waitForSelector(".rail");
    await page.waitForSelector("h1");
    await page.click(".rail a:has-text('Jobs')");
    await page.waitForSelector("main tbody tr");
    assert.equal(await page.$("[role=alert]"), null);
  });

  /** Opens a page, whose clock then goes on only where it is told to. @param {string} path @param {() => Promise<void>} look */
  const withClock = async (path, look) => {
    await page.clock.install();
    await visit(page, path);
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
    await look().finally(() => page.clock.resume()); // it is that of the next test's page, too
  };
  /** Calls that an open page makes by itself in so long. @param {number} ms */
  const callsWithin = async (ms) => {
    let calls = 0;
    // Code of further views, which comes once, is no question about a run.
    const hear = (/** @type {import("playwright-core").Request} */ r) => {
      calls += Number(r.url().includes("/api/"));
    };
    page.on("request", hear);
    await page.clock.runFor(ms);
    await settled(page);
    page.off("request", hear);
    return calls;
  };
  /** Goes on until something was asked: that was at most 1.5 s ago then. */
  const untilAsked = async () => {
    while (!(await callsWithin(500)));
    await callsWithin(1000);
  };

  it("asks nothing by itself for a finished run", async () => {
    for (const path of [`a/${ref}`, `a/${ref}/stages`]) await withClock(path, async () => assert.equal(await callsWithin(60_000), 0, path));
  });

  it("asks for the list again every 10 s, while it is visible and nobody types", () =>
    withClock("", async () => {
      await untilAsked();
      assert.equal(await callsWithin(7_000), 0);
      assert.equal(await callsWithin(3_000), 2, "the list, and which places are away");
      /** @type {string[]} */
      const asked = [];
      const hear = (/** @type {import("playwright-core").Request} */ r) => {
        if (r.url().includes("/api/")) asked.push(r.url());
      };
      page.on("request", hear);
      for (let i = 1; i <= 12; i++) {
        await page.fill("main input[type=search]", "s".repeat(i));
        await page.clock.runFor(1000);
      }
      await settled(page);
      page.off("request", hear);
      assert.equal(new Set(asked).size, asked.length, "each text is asked for once, no beat comes between");
      assert.equal(asked.length, 12);
      await page.evaluate(() => Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true }));
      await callsWithin(1000);
      assert.equal(await callsWithin(30_000), 0);
    }));

  it("asks again every 10 s for an id that nobody knows", () =>
    withClock("a/app-nobody-knows", async () => {
      await untilAsked();
      assert.equal(await callsWithin(10_000), 1);
      await page.waitForSelector("text=No such application");
    }));

  it("leads from a stage or a job that is not there back to its list", async () => {
    for (const [path, list] of [
      ["stages/9999", "stages"],
      ["jobs/9999", "jobs"],
    ]) {
      await visit(page, `a/${ref}/${path}`);
      assert.equal(await page.$("[role=alert] button"), null, "trying again would find no more");
      await page.click("[role=alert] a");
      await page.waitForSelector("main tbody tr");
      assert.equal((await address(page)).pathname, `/a/${ref}/${list}`);
    }
  });

  it("says of what is not there that it may come, while the log grows, and only then", async () => {
    await visit(page, `a/${ref}/jobs/9999`);
    assert.doesNotMatch((await page.textContent("[role=alert]")) ?? "", /it may come/);
    await page.route(`${API}apps/${ref}`, (route) => route.fulfill({ json: { ...app, complete: false, state: "loaded", layout: "single", logPath: "/l/app.inprogress" } }));
    await visit(page, `a/${ref}/jobs/9999`);
    await page.locator("[role=alert]", { hasText: "it may come" }).waitFor();
  });

  it("marks failed stages and failed tasks in the rail", async () => {
    const found = await api(`apps/${ref}/findings`);
    await page.route(`${API}apps/${ref}/findings**`, (route) => route.fulfill({ json: { ...found, findings: [] } }));
    await page.route(`${API}apps/${ref}`, (route) => route.fulfill({ json: { ...app, failedStageCount: 2, failedTaskCount: 3, slowestStages: [] } }));
    await visit(page, `a/${ref}`);
    assert.equal(await page.getAttribute(".rail a:has-text('Stages') .sev", "data-sev"), "4");
    assert.equal(await page.getAttribute(".rail a:has-text('Stages') .sev", "title"), "2 stages failed");
    assert.equal(await page.getAttribute(".rail a:has-text('Tasks') .sev", "data-sev"), "1");
    assert.equal(await page.getAttribute(".rail a:has-text('Tasks') .sev", "title"), "3 tasks failed");
  });

  it("says that a log is gone, and that an unended task is no damage", async () => {
    await page.route(`${API}apps/${ref}`, (route) => route.fulfill({ json: { ...app, state: "gone", health: { ...app.health, tasksWithoutEnd: 1 } } }));
    await visit(page, `a/${ref}`);
    const notes = await page.$$eval(".banner", (b) => b.map((x) => [x.className, x.textContent ?? ""]));
    assert.ok(notes.every(([c]) => c.includes("is-quiet")));
    assert.ok(notes.some(([, text]) => /gone from its place/.test(text)));
    assert.ok(notes.some(([, text]) => /1 task has a start and no end/.test(text)));
  });

  it("links to the other attempts, and tells logs of the same id apart in the list", async () => {
    const twin = { ...app, key: "twin", ref: "twin", logPath: "/old/place/app-1" };
    await page.route(`${API}apps?**`, (route) =>
      route.fulfill({ json: { items: [app, twin], total: 2, page: 1, limit: 50, next: null, counts: { all: 2, loading: 0, waiting: 0, failed: 0 } } }),
    );
    await visit(page, `a/${ref}`);
    assert.match((await page.getAttribute(".say-others a", "href")) ?? "", /a\/twin$/);
    await visit(page, "");
    assert.match((await page.textContent("main tbody tr:nth-child(2)")) ?? "", /place\/app-1/);
  });

  it("tells what it looked at when there is no log yet", async () => {
    await page.route(`${API}apps?**`, (route) =>
      route.fulfill({ json: { items: [], total: 0, page: 1, limit: 50, next: null, counts: { all: 0, loading: 0, waiting: 0, failed: 0 } } }),
    );
    await page.route(`${API}status`, (route) =>
      route.fulfill({
        json: {
          version: "0",
          build: "0",
          store: "/s",
          nowMs: 10_000,
          places: [{ uri: "/var/log/spark", name: null, lastScanMs: 6000, lastError: "permission denied", failingSinceMs: 5000, entryCount: 0 }],
          logs: { waiting: 0, loading: 0, loaded: 0, partial: 0, listed: 0, failed: 0, skipped: 0, gone: 0 },
          uploads: { enabled: false, allowed: false, maxBytes: null },
          ingest: { running: true, restarts: 0, message: null },
        },
      }),
    );
    await page.goto(url);
    const text = await page.textContent(".state");
    assert.match(text ?? "", /\/var\/log\/spark was scanned 4\.00\u202fs ago/);
    assert.match(text ?? "", /permission denied/);
  });

  it("says which places do not answer, since when and why", async () => {
    const place = { uri: "hdfs://prod/spark-logs", name: "Prod", lastScanMs: 9000, lastError: "GETFILESTATUS of nn1:9870: StandbyException", failingSinceMs: 5000, entryCount: 3 };
    await page.route(`${API}status`, (route) =>
      route.fulfill({
        json: {
          version: "0",
          build: "0",
          store: "/s",
          nowMs: 10_000,
          places: [place, { ...place, uri: "/fine", name: null, lastError: null, failingSinceMs: null }],
          logs: null,
          uploads: { enabled: false, allowed: false, maxBytes: null },
          ingest: { running: true, restarts: 0, message: null },
        },
      }),
    );
    await page.goto(url);
    assert.match((await page.textContent(".banner")) ?? "", /Prod has not answered since 1970-01-01 00:00:05\. GETFILESTATUS of nn1:9870: StandbyException/);
    assert.equal(await page.locator(".banner").count(), 1);
  });

  it("shows logs that wait, are read, or could not be, with progress and reason", async () => {
    const nothing = Object.fromEntries(Object.keys(app).map((k) => [k, null]));
    const base = { ...nothing, flags: [], costs: [], loaded: false, complete: false, layout: "single" };
    await page.route(`${API}apps?**`, (route) =>
      route.fulfill({
        json: {
          total: 6,
          page: 1,
          limit: 50,
          next: null,
          counts: { all: 6, loading: 1, waiting: 1, failed: 1 },
          items: [
            { ...base, ref: "app-1", appId: "app-1", name: "loading_one", state: "loading", readBytes: 50, totalBytes: 200, logPath: "/l/app-1", logId: 1 },
            { ...base, ref: "app-2", appId: "app-2", name: "waiting_one", state: "waiting", totalBytes: 2048, logPath: "/l/app-2", logId: 2 },
            { ...base, ref: null, state: "failed", reason: "zstd: unknown frame", totalBytes: 10, logPath: "/l/broken.zstd", logId: 3 },
            { ...base, ref: "app-4", appId: "app-4", name: "listed_one", state: "listed", complete: true, totalBytes: 10, logPath: "/l/app-4", logId: 4 },
            { ...base, ref: "app-5", appId: "app-5", name: "away_one", state: "listed", complete: true, outcome: "succeeded", taskCount: 12, totalBytes: 10, logPath: "/l/app-5", logId: 5 },
            { ...base, ref: "app-6", appId: "app-6", name: "lost_one", state: "loaded", loaded: true, flags: ["abandoned"], totalBytes: 10, logPath: "/l/app-6", logId: 6 },
          ],
        },
      }),
    );
    await page.goto(url);
    await page.waitForSelector("main tbody tr");
    const rows = await page.$$eval("main tbody tr", (r) => r.map((x) => x.textContent ?? ""));
    assert.match(rows[0], /loading_one.*Being read.*25\u202f%/);
    assert.match(rows[1], /waiting_one.*Waiting.*2\.00\u202fKiB/);
    assert.match(rows[2], /broken\.zstd.*Not readable.*zstd: unknown frame/);
    assert.match(rows[3], /listed_one.*Read when opened/);
    assert.match(rows[4], /away_one.*Succeeded.*12/); // put away: what is known of it stays
    assert.match(rows[5], /lost_one.*Abandoned/);
    assert.equal(await page.getAttribute("main tbody tr:first-child [role=progressbar]", "aria-valuenow"), "25");
  });
});
