// SPDX-License-Identifier: Apache-2.0
/** Queries: the list, one query with its plan, and what a job's stages compute. The run is that of support/sql-log.mjs. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { address, api, arrive, openBrowser, openPage, prefer, reload, url, visit } from "./support/browser.mjs";
import { HOSTILE } from "./support/log.mjs";
import { QUERIES } from "./support/sql-log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let wrong;
const AT = `a/${QUERIES}`;
const param = async (/** @type {string} */ name) => (await address(page)).searchParams.get(name);
const texts = (/** @type {string} */ selector) => page.locator(selector).allInnerTexts();
/** Narrow no-break spaces stand before units. @param {string} s */
const plain = (s) => s.replace(/[\u202f\u00a0]/g, " ").trim();

const there = (await api(`apps?q=${QUERIES}`)).items.length > 0;
describe("queries", { skip: there ? false : "the server holds other logs" }, () => {
  before(async () => {
    browser = await openBrowser();
    ({ page, wrong } = await openPage(browser.context));
    await prefer(page, { theme: "light", lang: "en", zone: "utc" });
  });
  after(() => browser.close());

  it("lists roots with their jobs, what is nested in them unfolds, filters look at all", async () => {
    await visit(page, `${AT}/sql?sort=id&limit=25`);
    const list = await api(`apps/${QUERIES}/sql?roots=true&sort=id&limit=25`);
    assert.deepEqual(await texts(".tbl tbody tr td:nth-child(2)"), list.items.map((/** @type {any} */ x) => String(x.id)));
    assert.deepEqual([list.total, list.items[0].nestedCount], [62, 1]);
    const first = page.locator(".tbl tbody tr").first();
    assert.match(plain(await first.innerText()), /orders by day[\s\S]*Succeeded[\s\S]*\+1\.00 s[\s\S]*2\.00 s/);
    assert.match((await first.locator(".is-jobs a").getAttribute("href")) ?? "", /\/jobs\/0$/);
    await page.getByRole("button", { name: "1 nested query" }).click();
    await page.getByRole("heading", { name: "Started by query 0" }).waitFor();
    assert.equal(await page.locator(`.tbl a[href$="/sql/1"]`).first().innerText(), "1");
    await page.getByLabel("Outcome").selectOption("failed");
    await page.getByText("part of query 0").waitFor();
    assert.deepEqual(await texts(".tbl tbody tr td:nth-child(2)"), ["1"]);
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll(".tbl tbody tr").length >= 25);
  });

  it("shows what Spark measured for each operator, and only that", async () => {
    await visit(page, `${AT}/sql/0`);
    const rows = (await texts(".tbl-box:has(caption:text('Operators by measured time')) tbody tr")).map((r) => plain(r).split(/\s*\t\s*|\n/));
    const of = (/** @type {string} */ name) => rows.find((r) => r[0].startsWith(name)) ?? [];
    // Operator, what, stage, own time, share of 1,500 ms, driver, rows in, rows out
    assert.deepEqual(of("Scan parquet orders").slice(2), ["0", "300 ms", "20 %", "—", "—", "7"]);
    assert.deepEqual(of("Sort").slice(2), ["1", "50 ms", "3.3 %", "—", "—", "—"]);
    assert.deepEqual(of("BroadcastExchange").slice(-4), ["—", "80 ms", "—", "—"]);
    assert.deepEqual(of("SortMergeJoin").slice(2, 4), ["1", "—"]);
    assert.equal(rows.length, 8);
    assert.ok(plain(await page.locator("main").innerText()).includes("itself (23 % of the query")); // 350 of 1,500 ms
    assert.deepEqual((await texts(".graph-head")).map(plain).sort(), ["Stage 0 900 ms wall, 67 % of task time", "Stage 1 600 ms wall, 33 % of task time"]);
    assert.deepEqual(wrong, []);
  });

  it("goes from operator to operator by keys and by links, in the address", async () => {
    await visit(page, `${AT}/sql/0?node=2`);
    const side = page.locator(".plan-side h3");
    assert.equal(await side.innerText(), "SortMergeJoin 2");
    await page.locator(".graph-window").focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.waitForFunction(() => document.querySelector(".plan-side h3")?.textContent?.startsWith("Exchange"));
    assert.equal(await param("node"), "5");
    await reload(page);
    assert.equal(await side.innerText(), "Exchange 5");
    await page.locator('.plan-side a[href*="node=7"]').click();
    await page.waitForFunction(() => document.querySelector(".plan-side h3")?.textContent?.startsWith("Scan"));
    const time = page.locator(".plan-side tr", { hasText: "scan time" });
    assert.equal(plain(await time.innerText()).replace(/\s+/g, " "), "scan time min 100 ms · median 200 ms · max 200 ms stage 0.0: task 1 300 ms");
    assert.match((await time.locator("a").getAttribute("href")) ?? "", /stages\/0\.0\?task=1$/);
  });

  it("folds generated code, and unfolds it again", async () => {
    await visit(page, `${AT}/sql/0`);
    assert.equal(await page.locator(".gbox").count(), 8);
    await page.getByRole("button", { name: "Fold generated code" }).click();
    await page.locator(".gbox", { hasText: "Generated code (1)" }).waitFor();
    assert.equal(await page.locator(".gbox", { hasText: "Generated code (1)" }).locator(".num").innerText().then(plain), "800 ms");
    await page.locator(".gbox", { hasText: "Generated code (1)" }).dblclick();
    await page.locator(".gbox", { hasText: "Scan parquet orders" }).waitFor();
    assert.equal(await param("open"), "c6");
  });

  it("has every version of the plan, and what adaptive execution changed", async () => {
    await visit(page, `${AT}/sql/0?version=initial`);
    assert.equal(await page.locator(".gbox", { hasText: "AQEShuffleRead" }).count(), 0);
    await page.getByRole("link", { name: "Differences" }).click();
    await page.locator(".gbox.is-changed", { hasText: "AQEShuffleRead" }).waitFor();
    assert.equal(await page.locator(".gbox.is-changed").count(), 1);
    const change = page.locator(".tbl-box:has(caption:text('What adaptive execution changed')) tbody tr");
    assert.match(plain(await change.innerText()), /^16 → 1 partitions\s+AQEShuffleRead coalesced\s+Update 1 \+2\.00 s\s+6\.00 KiB$/);
    assert.ok(await page.getByText("Every operator of the initial plan is in this one.").isVisible());
    await page.getByText("Show the text").click();
    await page.locator(".is-plan").waitFor();
    assert.equal(await page.locator(".is-plan").innerText(), "== Physical Plan ==\nfinal");
  });

  it("finds operators and lines of the text", async () => {
    await visit(page, `${AT}/sql/0?find=exchange`);
    assert.equal(await page.locator(".gbox.is-found").count(), 2);
    await page.getByLabel("Find an operator").press("Enter");
    await page.waitForFunction(() => document.querySelector(".plan-side h3")?.textContent?.includes("Exchange"));
    await visit(page, `${AT}/sql/2`);
    await page.getByText("Show the text").click();
    await page.getByLabel("Find in the text").fill("EXCHANGE");
    await page.waitForFunction(() => document.querySelectorAll("mark").length === 2);
  });

  it("leads from a stage to the operators that ran in it, and from a job to its query", async () => {
    await visit(page, `${AT}/stages/1.0`);
    await page.locator('.head-meta a[href*="/sql/0?stage=1.0"]').click();
    await page.locator(".gframe.is-sel").waitFor({ state: "attached" });
    await visit(page, `${AT}/jobs/0`);
    assert.match((await page.locator(".head-meta a", { hasText: "Query 0" }).getAttribute("href")) ?? "", /\/sql\/0$/);
  });

  it("draws what a job's stages compute", async () => {
    await visit(page, `${AT}/jobs/0`);
    await page.locator(".gbox").first().waitFor();
    assert.deepEqual((await texts(".gbox b")).sort(), ["AQEShuffleRead", "Scan parquet", "WholeStageCodegen (1)", "WholeStageCodegen (2)"]);
    assert.deepEqual((await texts(".graph-head b")).map(plain).sort(), ["Stage 0", "Stage 1"]);
    assert.equal(await page.locator(".gbox", { hasText: "cached" }).innerText().then(plain).then((s) => s.replace(/\s+/g, " ")), "WholeStageCodegen (1) MapPartitionsRDD [1] cached");
    assert.equal(await page.locator(".gline.is-dashed").count(), 1);
    await visit(page, `${AT}/stages/0.0`);
    await page.getByText("Show what it computes").click();
    await page.locator(".gbox").first().waitFor();
    assert.deepEqual((await texts(".gbox b")).sort(), ["Scan parquet", "WholeStageCodegen (1)"]);
  });

  it("keeps hostile text text", async () => {
    await visit(page, `${AT}/sql/1`);
    assert.ok((await page.title()).startsWith("Query 1"));
    assert.ok((await page.locator(".plan-side").innerText()).includes(HOSTILE));
    assert.ok((await page.locator("pre.text-block").first().innerText()).includes("second line"));
    assert.deepEqual(wrong, []);
  });

  it("draws 2,000 operators within a second of work, folded and whole", async () => {
    // Processor time of the page's thread: others use this machine, too.
    const cdp = await browser.context.newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    const worked = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration")?.value ?? NaN;
    for (const more of ["", "&open=" + chains().join(",")]) {
      const before = await worked();
      await arrive(page, `${url}${AT}/sql/2?view=100${more}`);
      await page.locator(".gbox, .grect").first().waitFor({ state: "attached" });
      const took = (await worked()) - before;
      assert.ok(took < 1, `${took} s`);
    }
    await page.getByRole("button", { name: "Fit" }).click();
    await page.locator(".grect").first().waitFor({ state: "attached" });
    assert.equal(await page.locator(".grect").count(), 2000);
  });
});

/** Keys of the folded chains of query 2: the branch that stands at the left begins at the lowest union's id. */
function chains() {
  // Ids are given from the result on: CollectLimit 0, unions 1 … 39, then the branches, each 48 operators above its scan.
  return Array.from({ length: 40 }, (_, b) => `l${40 + b * 49}`);
}
