// SPDX-License-Identifier: Apache-2.0
/** Below the path of a gateway everything works as at the root: assets, calls, links, reload, Back. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { address, api, openBrowser, openPage, reload, url, visit } from "./support/browser.mjs";
import { startProxy } from "./support/server.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {Awaited<ReturnType<typeof startProxy>>} */
let proxy;
before(async () => {
  browser = await openBrowser();
  proxy = await startProxy(url, "/gateway/spark");
});
after(async () => {
  await browser.close();
  await proxy.stop();
});

describe("below a prefix", () => {
  it("loads, follows links and reloads without leaving it", async () => {
    const ref = (await api("apps?sort=-tasks&limit=1")).items[0].ref;
    const { page, wrong } = await openPage(browser.context);
    /** @type {string[]} */
    const outside = [];
    page.on("request", (r) => {
      if (!r.url().startsWith(proxy.url)) outside.push(r.url());
    });
    await visit(page, `?sort=-tasks`, proxy.url);
    await page.click("main tbody tr:first-child a");
    await page.waitForSelector(".verdict");
    assert.equal((await address(page)).href, `${proxy.url}a/${ref}`);
    await page.click(".rail a:has-text('Stages')");
    await page.waitForURL(`${proxy.url}a/${ref}/stages`);
    await page.waitForSelector("main tbody tr");
    await page.click("main tbody tr:first-child a");
    await page.waitForSelector("#tasks tbody tr");
    await reload(page);
    assert.ok(await page.$("#tasks tbody tr"));
    await page.goBack();
    await page.waitForURL(`${proxy.url}a/${ref}/stages`);
    assert.deepEqual(outside, []);
    assert.deepEqual(wrong, []);
    await page.close();
  });
});
