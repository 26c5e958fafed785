// SPDX-License-Identifier: Apache-2.0
/** A log can hold any text, and its text must never become markup, code or a link. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { api, openBrowser, openPage, prefer, visit } from "./support/browser.mjs";
import { FAILED, HOSTILE, SKEWED } from "./support/log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
let there = false;
before(async () => {
  browser = await openBrowser();
  there = (await api(`apps/${FAILED}`)).ref !== undefined;
});
after(() => browser.close());

describe("hostile text", () => {
  it("shows as text on every page", async (t) => {
    if (!there) return t.skip("the server under test does not hold the written logs");
    const { page, wrong } = await openPage(browser.context);
    await prefer(page, { theme: "light", lang: "en", zone: "utc" });
    for (const [path, shows] of /** @type {[string, boolean][]} */ ([
      ["?q=mallory", true],
      [`a/${FAILED}`, true],
      [`a/${FAILED}/jobs`, true],
      [`a/${FAILED}/jobs/0`, true],
      [`a/${FAILED}/stages`, true],
      [`a/${FAILED}/stages/0.0`, true],
      [`a/${FAILED}/stages/0.0?task=2&status=failed`, true],
      [`a/${FAILED}/env`, true],
      [`a/${FAILED}/log`, true],
    ])) {
      await visit(page, path);
      const seen = await page.evaluate(() => ({
        text: document.body.textContent ?? "",
        scripts: document.querySelectorAll("body script, main img, main b b, main iframe").length,
        title: document.title,
        links: [...document.querySelectorAll("a")].map((a) => a.href).filter((h) => !/^https?:/.test(h)),
      }));
      assert.equal(seen.text.includes(HOSTILE), shows, path);
      assert.equal(seen.scripts, 0, path);
      assert.notEqual(seen.title, "broken", path);
      assert.deepEqual(seen.links, [], path);
    }
    assert.deepEqual(wrong, []);
    await page.close();
  });

  it("does not become a link when a log address is a script", async (t) => {
    if (!there) return t.skip("the server under test does not hold the written logs");
    const { page } = await openPage(browser.context);
    await prefer(page, { theme: "light", lang: "en", zone: "utc" });
    await visit(page, `a/${SKEWED}/executors`);
    const logs = await page.$$eval("main td a[target=_blank]", (links) => links.map((a) => a.textContent));
    assert.deepEqual(logs, ["stdout", "stdout"]);
    await page.close();
  });
});
