// SPDX-License-Identifier: Apache-2.0
/** Two runs side by side: numbers of the page are those of the API, the bridge closes, links name both runs, choosing, swapping, back and reload work. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { api, openBrowser, openPage, prefer, reload, settled, visit } from "./support/browser.mjs";
import { CUT, FAILED, HOSTILE, SKEWED, SMALL } from "./support/log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let at;
before(async () => {
  browser = await openBrowser();
  at = await openPage(browser.context);
  await prefer(at.page, { lang: "en", theme: "light", zone: "utc" });
});
after(() => browser.close());

const text = async (/** @type {string} */ selector) => (await at.page.locator(selector).allInnerTexts()).map((x) => x.trim().replace(/\s+/g, " "));
/** "+26.3 s" in ms. */
const ms = (/** @type {string} */ shown) => Math.round(1000 * Number(shown.replace(/[^\d.−]/g, "").replace("−", "-")));

describe("compare", () => {
  it("with a chosen run: says the server's sentence and draws its parts, whose bars meet", async () => {
    await visit(at.page, `compare?b=${SKEWED}&a=${SMALL}`);
    const c = await api(`compare?base=${SMALL}&new=${SKEWED}&lang=en`);
    assert.deepEqual(await text(".verdict-say"), [c.sentence]);
    const shown = await text(".bridge tbody tr:not(.bridge-total) td.num");
    assert.equal(shown.length, c.parts.length);
    shown.forEach((each, i) => assert.ok(Math.abs(ms(each) - c.parts[i].ms) <= Math.max(50, Math.abs(c.parts[i].ms) / 100), `${each} of ${c.parts[i].ms}`));
    const bars = await at.page.$$eval(".bridge-bar", (list) => list.map((e) => [parseFloat(e.getAttribute("x") ?? ""), parseFloat(e.getAttribute("width") ?? "")]));
    const ends = bars.map(([x, w]) => [x, x + w]);
    for (let i = 1; i < bars.length - 1; i++) {
      const before = i === 1 ? ends[0][1] : c.parts[i - 2].ms > 0 ? ends[i - 1][1] : ends[i - 1][0];
      const begins = c.parts[i - 1].ms > 0 ? ends[i][0] : ends[i][1];
      assert.ok(Math.abs(before - begins) < 0.3, `bar ${i} begins at ${begins} and not at ${before}`);
    }
  });

  it("lists the findings that came, went or changed, and on request those that both runs have", async () => {
    const { findings } = await api(`compare?base=${SMALL}&new=${SKEWED}&lang=en`);
    const same = findings.filter((/** @type {any} */ f) => f.news === "same");
    assert.ok(same.length > 0 && same.length < findings.length);
    const rows = (/** @type {string} */ caption) => at.page.locator("main table", { has: at.page.locator(`caption:text-is("${caption}")`) }).locator("tbody tr");
    assert.equal(await rows("Findings").count(), findings.length - same.length);
    const fold = at.page.locator("details.fold", { hasText: "the same in both runs" });
    await fold.locator("summary").first().click();
    await at.page.waitForURL(/folds=same/);
    const names = (await fold.locator("tbody tr td:nth-child(2)").allInnerTexts()).sort();
    assert.deepEqual(names, same.map((/** @type {any} */ f) => f.name).sort());
  });

  it("links stages of both runs", async () => {
    const { items } = await api(`compare/stages?base=${SMALL}&new=${SKEWED}`);
    const links = await at.page.$$eval("main .tbl a", (list) => list.map((a) => a.getAttribute("href")));
    for (const { baseId, newId } of items) {
      if (baseId !== null) assert.ok(links.some((href) => href?.endsWith(`/a/${SMALL}/stages/${baseId}.0`)), `stage ${baseId} before`);
      if (newId !== null) assert.ok(links.some((href) => href?.endsWith(`/a/${SKEWED}/stages/${newId}.0`)), `stage ${newId} now`);
    }
  });

  it("shows only what changed, which a reload keeps and Back takes back", async () => {
    await at.page.selectOption("select[aria-label=Change]", "true");
    await at.page.waitForURL(/changed=true/);
    await reload(at.page);
    assert.equal(await at.page.inputValue("select[aria-label=Change]"), "true");
    await at.page.goBack();
    await at.page.waitForFunction(() => !location.search.includes("changed"));
  });

  it("swaps", async () => {
    await at.page.getByRole("link", { name: "Swap" }).click();
    await at.page.waitForURL(new RegExp(`b=${SMALL}&a=${SKEWED}`));
    const { sentence } = await api(`compare?base=${SKEWED}&new=${SMALL}&lang=en`);
    await at.page.locator(".verdict-say", { hasText: sentence }).waitFor();
  });

  it("holds a run against the earlier ones of its job, and says how they were chosen", async () => {
    const run = (await api("apps?q=nightly_3&sort=-start&limit=1")).items[0].ref;
    await visit(at.page, `a/${run}`);
    await at.page.getByRole("link", { name: "Compare", exact: true }).first().click();
    await at.page.waitForURL(/compare\?b=/);
    const c = await api(`compare?base=usual&new=${run}&lang=en`);
    assert.equal(c.state, "done");
    await at.page.waitForSelector(".history-bar");
    await at.page.locator(".verdict-say", { hasText: c.sentence }).waitFor();
    await settled(at.page);
    assert.match((await text(".head-meta")).join(" "), new RegExp(`median of ${c.baseline.members.length} earlier runs`));
    assert.equal((await at.page.$$(".history-bar")).length, c.baseline.members.length + 1);
    await at.page.locator(".history-bar").first().click();
    await at.page.waitForURL(new RegExp(`a=${c.baseline.members.at(-1).key}`));
  });

  it("without enough earlier runs offers others, and a search", async () => {
    await visit(at.page, `compare?b=${SKEWED}`);
    assert.match((await text(".verdict-say"))[0], /Too few earlier runs \(0 of 3\)/);
    await at.page.fill("main input[type=search]", "tiny");
    await at.page.getByRole("link", { name: "tiny" }).first().click();
    await at.page.waitForURL(new RegExp(`b=${SKEWED}&a=${SMALL}`));
  });

  it("says why an incomplete log is not compared", async () => {
    const c = await api(`compare?base=${SKEWED}&new=${CUT}&lang=en`);
    assert.equal(c.state, "incomplete");
    await visit(at.page, `compare?b=${CUT}&a=${SKEWED}`);
    assert.deepEqual(await text(".verdict-say"), [c.sentence]);
    assert.equal(await at.page.$(".bridge"), null);
    await at.page.locator(`.state a[href$="/a/${CUT}/log"]`).waitFor();
  });

  it("keeps hostile text as text", async () => {
    await visit(at.page, `compare?b=${FAILED}&a=${SMALL}`);
    assert.ok((await at.page.innerText("main")).includes(HOSTILE.slice(0, 20)));
    assert.equal(await at.page.evaluate(() => document.querySelectorAll("main img, main script, main b b").length), 0);
  });

  it("had no error", () => assert.deepEqual(at.wrong, []));
});
