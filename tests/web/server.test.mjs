// SPDX-License-Identifier: Apache-2.0
/** The server's state: the numbers are those of the API, a run can be read anew from here, and nothing is asked for by those who may not see it. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import axe from "axe-core";
import { address, api, openBrowser, openPage, prefer, settled, visit } from "./support/browser.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let wrong;

before(async () => {
  browser = await openBrowser();
  ({ page, wrong } = await openPage(browser.context));
  await prefer(page, { theme: "light", lang: "en", zone: "utc" });
});
after(() => browser.close());

const digits = (/** @type {string | null | undefined} */ text) => (text ?? "").replace(/[^\d]/g, "");
const section = (/** @type {string} */ title) => page.locator("section.sec", { has: page.getByRole("heading", { name: title, exact: true }) });

describe("the server's state", () => {
  it("is reached from the list", async () => {
    await visit(page, "");
    await page.getByRole("link", { name: "Server status" }).click();
    await page.getByRole("heading", { level: 1, name: "Server" }).waitFor();
    await settled(page);
    assert.equal((await address(page)).pathname, "/status");
    assert.equal(await page.title(), "Server · Afterglow");
  });

  it("shows the numbers of the API", async () => {
    const state = await api("server");
    const shown = await section("Logs by state").locator("dd").allTextContents();
    const states = ["waiting", "loading", "loaded", "partial", "listed", "failed", "skipped", "gone"];
    assert.deepEqual(shown.map(digits), states.map((name) => String(state.logs[name])));
    const counts = await section("What failed, and why").locator("tbody td.num").allTextContents();
    assert.deepEqual(counts.map(digits), state.troubles.map((/** @type {{ count: number }} */ x) => String(x.count)));
    assert.equal(await section("Disk by application").locator("tbody tr").count(), state.disk.largest.length);
    assert.equal(await section("Settings that differ from the default").locator("tbody tr").count(), state.settings.length);
  });

  it("is clean for everybody, wide and narrow, in both languages", async () => {
    for (const [width, lang, theme] of /** @type {const} */ ([[1440, "en", "light"], [390, "zh-CN", "dark"]])) {
      await page.setViewportSize({ width, height: 900 });
      await prefer(page, { theme, lang, zone: "utc" });
      await visit(page, "status");
      await page.waitForSelector("section.sec");
      await page.evaluate(axe.source);
      const found = await page.evaluate(async () => (await /** @type {any} */ (window).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] })).violations.map((/** @type {any} */ v) => `${v.id}: ${v.nodes[0].target}`));
      assert.deepEqual(found, []);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await prefer(page, { theme: "light", lang: "en", zone: "utc" });
  });

  it("asks what a button says, and tells what was answered", async () => {
    await visit(page, "status");
    const state = await api("server");
    const run = state.disk.largest[0];
    /** @type {string[]} */
    const asked = [];
    // The server of the suites is everybody's: what it would do is tests/api's business.
    await page.route(/\/(reload|forget)$/, (route) => {
      asked.push(`${route.request().method()} ${new URL(route.request().url()).pathname} ${route.request().headers()["x-afterglow-action"]}`);
      return route.fulfill(asked.length === 1 ? { status: 202, json: { asked: "reload", key: run.key } } : { status: 409, json: { status: 409, error: "being_read", detail: "it is being read" } });
    });
    const row = section("Disk by application").locator("tbody tr").first();
    await row.getByRole("button", { name: /^Read anew: / }).click();
    await page.locator(".toast", { hasText: "is read anew" }).waitFor({ state: "attached" });
    page.once("dialog", (dialog) => dialog.dismiss());
    await row.getByRole("button", { name: /^Forget: / }).click();
    page.once("dialog", (dialog) => dialog.accept());
    await row.getByRole("button", { name: /^Forget: / }).click();
    await page.locator(".toast", { hasText: "Nothing was done: it is being read" }).waitFor({ state: "attached" });
    assert.deepEqual(asked, [`POST /api/afterglow/v1/apps/${run.key}/reload 1`, `POST /api/afterglow/v1/apps/${run.key}/forget 1`]);
    await page.unroute(/\/(reload|forget)$/);
    wrong.splice(0, wrong.length, ...wrong.filter((each) => !each.includes("409"))); // Chromium's own word on it
  });

  it("is not offered to those who may not see it", async () => {
    await page.route(/\/api\/afterglow\/v1\/status$/, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), store: null, places: null, logs: null } });
    });
    await visit(page, "");
    assert.equal(await page.getByRole("link", { name: "Server status" }).count(), 0);
    await page.unroute(/\/api\/afterglow\/v1\/status$/);
    assert.deepEqual(wrong, []);
  });
});
