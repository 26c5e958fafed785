// SPDX-License-Identifier: Apache-2.0
/** pain.md P091: runs with no attempt id, with 1 and 2, only 2, a word, and one id in two folders: links lead to the right one, and so do addresses without an attempt. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { FILES, writeAttemptLogs } from "../api/support/attempt_logs.mjs";
import { smallLog } from "../api/support/log.mjs";
import { unzip } from "../api/support/zip.mjs";
import { address, openBrowser, openPage, settled, visit } from "./support/browser.mjs";
import { WAYS, startBothWays } from "./support/server.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {Awaited<ReturnType<typeof startBothWays>>} */
let server;
before(async () => {
  browser = await openBrowser();
  server = await startBothWays(writeAttemptLogs);
});
after(async () => {
  await browser.close();
  await server.stop();
});

for (const way of WAYS)
  describe(`P091 attempts, ${way}`, () => {
    /** @type {import("playwright-core").Page} */
    let page;
    /** @type {string[]} */
    let wrong;
    before(async () => ({ page, wrong } = await openPage(browser.context)));
    after(async () => {
      assert.deepEqual(wrong, []);
      await page.close();
    });
    const list = () => visit(page, "?sort=name", server.roots[way]);
    /** The row of a run, by its name. @param {string} name */
    const row = (name) => page.locator("main tbody tr", { has: page.locator(`.name-link div:text-is("${name}")`) });

    it("names attempts in the list only where there are some", async () => {
      await list();
      for (const [name, of] of Object.entries(FILES)) {
        const text = await row(name).innerText();
        assert.equal(/attempt /i.test(text), "attempt" in of, text);
        if ("attempt" in of) assert.ok(text.includes(`attempt ${of.attempt}`), text);
      }
    });

    for (const [name, of] of Object.entries(FILES))
      it(`opens ${name}, and its log is that run's`, async () => {
        await list();
        await row(name).locator(".name-link").click();
        await page.waitForSelector(".verdict");
        await settled(page);
        assert.equal(await page.locator("main h1").innerText(), name);
        assert.ok((await page.title()).includes(name), await page.title());
        // Every page of the run stays with it.
        for (const entry of ["Jobs", "Stages", "Executors", "Environment", "Event log"]) {
          await page.locator(".rail a", { hasText: entry }).first().click();
          await settled(page);
          assert.equal(await page.locator("main h1").innerText(), name, entry);
        }
        const [file] = await Promise.all([page.waitForEvent("download"), page.locator("main a[download][href$='/logs']").click()]);
        const inside = unzip(readFileSync(await file.path()));
        assert.deepEqual(
          inside.map((x) => x.bytes.toString()),
          [smallLog({ ...of, name })],
        );
      });

    it("leads from one attempt to the other", async () => {
      await visit(page, "a/app-both.1", server.roots[way]);
      const other = page.locator(".say-others a");
      await other.waitFor();
      await other.click();
      await page.waitForURL(`${server.roots[way]}a/app-both.2`);
      await page.locator("main h1:text-is('both-2')").waitFor();
    });

    it("opens the newest where an address names none, and the one it names", async () => {
      for (const [from, to] of [
        ["history/app-both/jobs/", "a/app-both.2/jobs"],
        ["history/app-both/1/stages/", "a/app-both.1/stages"],
        ["history/app-second/", "a/app-second"],
        ["history/app-word/attempt-x/executors/", "a/app-word/executors"],
        ["history/app-plain/1/jobs/", "a/app-plain/jobs"],
      ]) {
        await visit(page, from, server.roots[way]);
        assert.equal((await address(page)).href, server.roots[way] + to);
        assert.ok(await page.locator("main h1").innerText());
      }
    });
  });
