// SPDX-License-Identifier: Apache-2.0
/** pain.md P080 and P081: 5,000 jobs, 1,000 executors that come and go, 10,000 tasks, and text that breaks viewers. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openBrowser, openPage, settled, visit } from "./support/browser.mjs";
import { EXECUTORS, HEAVY, JOBS, ODD, TASKS, oddText, writeHeavyLog } from "./support/heavy-log.mjs";
import { WAYS, startBothWays } from "./support/server.mjs";

/** The page's own work, of its thread: others use this machine, too. What a clock says is measured in tests/bench. */
const MOST_SECONDS = 3;
/** An element for each thing would be tens of thousands. */
const MOST_ELEMENTS = 7500;

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {Awaited<ReturnType<typeof startBothWays>>} */
let server;
before(async () => {
  browser = await openBrowser();
  server = await startBothWays(writeHeavyLog);
});
after(async () => {
  await browser.close();
  await server.stop();
});

/** What a browser makes of a line break in running text. @param {string} text */
const inLine = (text) => text.replace(/\s+/g, " ");

for (const way of WAYS)
  describe(`P080 heavy-timeline, ${way}`, () => {
    /** @type {import("playwright-core").Page} */
    let page;
    /** @type {string[]} */
    let wrong;
    /** @type {() => Promise<number>} */
    let worked;
    before(async () => {
      ({ page, wrong } = await openPage(browser.context));
      const cdp = await browser.context.newCDPSession(page);
      await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
      worked = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration")?.value ?? NaN;
    });
    after(async () => {
      assert.deepEqual(wrong, []);
      await page.close();
    });
    /** Opens a page and says how long its thread worked for it. @param {string} path @param {string} selector */
    const opened = async (path, selector) => {
      const earlier = await worked();
      await visit(page, `a/${HEAVY}${path}`, server.roots[way]);
      await page.waitForSelector(selector);
      const [took, elements] = [(await worked()) - earlier, await page.evaluate(() => document.querySelectorAll("*").length)];
      assert.ok(took < MOST_SECONDS, `${path}: ${took} s`);
      assert.ok(elements < MOST_ELEMENTS, `${path}: ${elements} elements`);
    };
    const tip = async () => inLine(await page.locator(".tip").innerText());

    it("shows the whole run, and says what it leaves out", async () => {
      await opened("", ".wf canvas");
      const said = await page.locator(".wf").innerText();
      assert.ok(said.includes("5,000 jobs are too many for rows"), said);
      assert.ok(said.includes(`500 of ${EXECUTORS.toLocaleString("en")}`), said);
      // One that went: its reason is as the log has it. They are drawn over one another, so the last is on top.
      await page.locator(".wf i.is-removed").last().hover({ force: true });
      const gone = (await tip()).match(/^Executor (\d+) .*?(\d+)$/);
      assert.ok(gone, await tip());
      assert.ok((await tip()).endsWith(inLine(oddText(Number(gone[1])))), await tip());
    });

    it("looks closer: rows are found by their number, whatever their text says", async () => {
      // Job n runs from 70 s + (n - 1) * 100 ms on: 100 s … 101.5 s are jobs 301 … 315, with every odd text twice.
      await opened("?from=100000&to=101500", ".wf-row.is-job");
      for (const job of [301, 302, 303, 304, 305, 306, 307]) {
        const row = page.locator(".wf-row.is-job", { has: page.locator(`b:text-is("Job ${job}")`) });
        assert.equal(await row.count(), 1, `job ${job}`);
        assert.ok(inLine(await row.innerText()).includes(`Job ${job} ${inLine(oddText(job))}`), await row.innerText());
        assert.ok((await row.getAttribute("href"))?.endsWith(`a/${HEAVY}/jobs/${job}`));
        await row.locator(".wf-track i").hover();
        assert.ok((await tip()).startsWith(`Job ${job} ${inLine(oddText(job))} 90 ms`), await tip());
      }
      const three = ODD.indexOf("(Job 3)") + 7 * 43; // 307
      await page.locator(".wf-row.is-job", { hasText: "(Job 3)" }).first().click();
      await page.waitForURL(`${server.roots[way]}a/${HEAVY}/jobs/${three}`);
      await page.locator("main", { hasText: oddText(three) }).waitFor();
      await settled(page);
      assert.ok((await page.title()).includes(`Job ${three}`), await page.title());
    });

    it("lists jobs and executors by pages, with their number and their text", async () => {
      await opened("/jobs?sort=submission", "main tbody tr");
      assert.ok((await page.locator("main").innerText()).includes(JOBS.toLocaleString("en")));
      const text = inLine(await page.locator("main tbody").innerText());
      for (let job = 0; job < ODD.length; job++) assert.ok(text.includes(inLine(oddText(job))), oddText(job));
      await opened("/executors", "main tbody tr >> visible=true");
      const executors = inLine(await page.locator("main").innerText());
      assert.ok(executors.includes(EXECUTORS.toLocaleString("en")));
      for (let e = 0; e < ODD.length; e++) assert.ok(executors.includes(inLine(oddText(e))), oddText(e));
    });

    it("draws the stage of 10,000 tasks", async () => {
      await opened("/stages/0.0", ".tl-canvas");
      assert.ok((await page.locator("main").innerText()).includes(TASKS.toLocaleString("en")));
      assert.equal(await page.locator("#tasks tbody tr").count(), 25);
    });
  });
