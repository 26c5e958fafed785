// SPDX-License-Identifier: Apache-2.0
/** An open page follows a log that grows: by a server of its own, which watches a folder. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openBrowser, openPage } from "./support/browser.mjs";
import { CUT, writeLogs } from "./support/log.mjs";
import { startWatching } from "./support/server.mjs";
import { BINARY } from "./support/where.mjs";

/** The store looks every 10 s, and so does the page; a busy machine takes its time. */
const PATIENCE_MS = 120_000;

describe("an open page", { skip: existsSync(BINARY) ? false : `no program at ${BINARY}` }, () => {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser;
  /** @type {Awaited<ReturnType<typeof startWatching>>} */
  let server;
  let log = "";
  /** @type {string[]} */
  let rest = [];

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "afterglow-follow-"));
    const name = `${CUT}.inprogress`;
    const lines = readFileSync(join(writeLogs(join(folder, "all")), name), "utf8").split("\n").slice(0, -1);
    const ends = lines.flatMap((l, i) => (l.includes('"SparkListenerTaskEnd"') ? [i] : []));
    // 28 of 30 tasks have an end in the whole log; the first 20 of them are there at first.
    const first = ends[19] + 1;
    rest = lines.slice(first);
    mkdirSync(join(folder, "logs"));
    log = join(folder, "logs", name);
    writeFileSync(log, lines.slice(0, first).join("\n") + "\n");
    server = await startWatching(folder, join(folder, "logs"));
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  it("shows new tasks of a log that grows, without reload, without going blank and without scrolling", { timeout: 2 * PATIENCE_MS }, async () => {
    const { page, wrong } = await openPage(browser.context);
    await page.setViewportSize({ width: 1440, height: 320 });
    const tasks = () => page.textContent(".facts > div:has(dt:text-is('Tasks')) dd");
    await page.goto(`${server.url}a/${CUT}`);
    await page.waitForSelector(".facts", { timeout: PATIENCE_MS });
    assert.equal(await tasks(), "20");
    await page.waitForSelector(".head:has-text('updates every 10 s while the log grows')");
    // The only stage has no end: it is the slowest so far.
    assert.match((await page.textContent("main table:has(caption:text-is('Slowest stages')) tbody tr")) ?? "", /≥/);
    await page.evaluate(() => {
      const w = /** @type {any} */ (window);
      w.sameDocument = true;
      w.blank = 0;
      new MutationObserver(() => {
        if (!document.querySelector(".facts") || !document.querySelector("main tbody tr")) w.blank++;
      }).observe(document.body, { childList: true, subtree: true });
      scrollTo(0, 60);
    });
    const scrolled = await page.evaluate(() => scrollY);
    assert.ok(scrolled > 0);
    appendFileSync(log, rest.map((l) => l + "\n").join(""));
    await page.waitForFunction(
      () => [...document.querySelectorAll(".facts > div")].some((d) => d.querySelector("dt")?.textContent === "Tasks" && d.querySelector("dd")?.textContent === "28"),
      undefined,
      { timeout: PATIENCE_MS },
    );
    assert.deepEqual(
      await page.evaluate(() => {
        const w = /** @type {any} */ (window);
        return [w.sameDocument, w.blank, scrollY];
      }),
      [true, 0, scrolled],
    );
    assert.deepEqual(wrong, []);
  });
});
