// SPDX-License-Identifier: Apache-2.0
/** What one sees stands in the address: what is open, chosen, zoomed or graded otherwise is the same in another browser. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { address, api, arrive, openBrowser, openPage, prefer, settled, url, visit } from "./support/browser.mjs";
import { LOSSES, SKEWED } from "./support/log.mjs";
import { QUERIES } from "./support/sql-log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let wrong;
const param = async (/** @type {string} */ name) => (await address(page)).searchParams.get(name);
const idOf = (/** @type {any} */ f) => `${f.rule}:${f.subject.kind}:${f.subject.key}`;

const there = (await api(`apps/${SKEWED}`)).ref !== undefined && (await api(`apps?q=${QUERIES}`)).items.length > 0;
before(async () => {
  browser = await openBrowser();
  ({ page, wrong } = await openPage(browser.context));
  await prefer(page, { theme: "light", lang: "en", zone: "utc" });
});
after(() => browser.close());

/** The same address in a browser that was never here. @param {(other: import("playwright-core").Page) => Promise<void>} look */
async function elsewhere(look) {
  const stranger = await openBrowser();
  const { page: other } = await openPage(stranger.context);
  await prefer(other, { theme: "light", lang: "en", zone: "utc" });
  await arrive(other, (await address(page)).href);
  await look(other);
  await stranger.close();
}

describe("moved thresholds", { skip: there ? false : "the server holds other logs" }, () => {
  it("go with every link inside the run, grade every page, say so, and go on request", async () => {
    const key = "threshold.STAGE.GC_HIGH"; // stage 2 has a finding of it
    const { findings } = await api(`apps/${SKEWED}/findings?limit=1000`);
    const of = findings.find((/** @type {any} */ f) => f.rule === "STAGE.GC_HIGH" && f.subject.key === "2.0");
    assert.equal(of.grade, "moderate");
    await visit(page, `a/${SKEWED}?${key}=1e9,1e9,1e9,1e9`);
    const links = await page.locator(".rail a, main a").evaluateAll((list) => list.map((a) => a.getAttribute("href") ?? ""));
    const inside = links.filter((to) => to.includes(`/a/${SKEWED}`) && !to.includes("/api/"));
    assert.ok(inside.length > 10);
    assert.deepEqual(inside.filter((to) => !new URL(to, url).searchParams.has(key)), []);
    await page.click(".rail a:has-text('Stages')");
    await page.waitForSelector(".find-moved");
    assert.equal(await param(key), "1e9,1e9,1e9,1e9");
    const row = page.locator(".tbl tbody tr", { has: page.locator(`a[href*="/stages/${of.subject.key}?"]`) }).first();
    await row.waitFor();
    const level = () => row.locator(".sev").first().getAttribute("data-sev").then(Number);
    const grades = ["ok", "info", "low", "moderate", "severe"];
    const others = (await api(`apps/${SKEWED}/findings?limit=1000&${key}=1e9,1e9,1e9,1e9`)).findings.filter((/** @type {any} */ f) => f.subject.kind === "stage" && f.subject.key === of.subject.key);
    assert.equal(await level(), Math.max(0, ...others.map((/** @type {any} */ f) => grades.indexOf(f.grade))));
    // Beside the share of GC stands no mark any more, and filter and sort go by the same grades.
    assert.equal(await row.locator("a.mark[href*=GC_HIGH]").count(), 0);
    const listed = (/** @type {string} */ more) => api(`apps/${SKEWED}/stages?${key}=1e9,1e9,1e9,1e9&${more}`);
    await page.selectOption("select[aria-label=Severity]", "1");
    await page.waitForURL(/[?&]grade=1/);
    const { items } = await listed("grade=1&sort=-duration");
    await page.waitForFunction((n) => document.querySelectorAll("main table.tbl tbody tr").length === n, items.length);
    await page.selectOption("select[aria-label=Severity]", "");
    await row.waitFor();
    await row.locator("td a").first().click();
    await page.waitForURL(/stages\/\d+\.\d+\?/);
    await page.waitForSelector(".find-moved:has-text('thresholds moved')");
    assert.equal(await page.locator(`[data-finding="${idOf(of)}"]`).count(), 0);
    await page.click(".find-moved button");
    await page.locator(`[data-finding="${idOf(of)}"]`).waitFor();
    assert.equal(await param(key), null);
    assert.equal(await page.locator(".find-moved").count(), 0);
    // Another run is graded as ever.
    await visit(page, `a/${SKEWED}?${key}=1e9,1e9,1e9,1e9`);
    assert.equal(await page.locator(`header a[href="${new URL(url).pathname}"]`).first().getAttribute("href"), new URL(url).pathname);
  });
});

describe("what is open", { skip: there ? false : "the server holds other logs" }, () => {
  it("stands in the address: texts, tables below drawings, nested queries", async () => {
    await visit(page, `a/${QUERIES}/sql/2`);
    await page.getByText("Show the text").click();
    await page.getByLabel("Find in the text").fill("EXCHANGE");
    await page.getByLabel("Find in the text").press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("mark").length === 2 && document.querySelectorAll("mark")[1].classList.contains("is-on"));
    assert.deepEqual([await param("folds"), await param("intext"), await param("match")], ["text", "EXCHANGE", "1"]);
    await elsewhere(async (other) => {
      await other.waitForSelector("mark.is-on");
      assert.deepEqual(await other.locator("mark").evaluateAll((marks) => marks.map((m) => m.className)), ["", "is-on"]);
    });
    await page.getByText("Show the text").click();
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("folds"));

    await visit(page, `a/${QUERIES}/sql?sort=id`);
    await page.getByRole("button", { name: "1 nested query" }).click();
    await page.getByRole("heading", { name: "Started by query 0" }).waitFor();
    assert.equal(await param("open"), "0");
    await elsewhere(async (other) => void (await other.getByRole("heading", { name: "Started by query 0" }).waitFor()));
  });

  it("stands in the address: fixes of a finding, closed and opened", async () => {
    const { findings } = await api(`apps/${SKEWED}/findings?limit=1000`);
    const f = findings.find((/** @type {any} */ x) => x.fixes.length > 1);
    await visit(page, `a/${SKEWED}?finding=${encodeURIComponent(idOf(f))}`);
    const open = (/** @type {import("playwright-core").Page} */ at) => at.locator(".find-fix").evaluateAll((list) => list.map((d) => /** @type {HTMLDetailsElement} */ (d).open));
    assert.deepEqual((await open(page)).slice(0, 2), [true, false]);
    await page.locator(".find-fix summary").nth(0).click();
    await page.locator(".find-fix summary").nth(1).click();
    await page.waitForFunction(() => new URL(location.href).searchParams.get("folds")?.includes(","));
    await elsewhere(async (other) => assert.deepEqual((await open(other)).slice(0, 2), [false, true]));
  });

  it("stands in the address: the box that is chosen among the RDDs of a job", async () => {
    await visit(page, `a/${QUERIES}/jobs/0`);
    await page.locator(".gbox").nth(1).click();
    await page.waitForSelector(".gbox.is-sel");
    await settled(page);
    const chosen = await page.locator(".gbox.is-sel").innerText();
    assert.match((await param("node")) ?? "", /^\d+\.\d+$/);
    await elsewhere(async (other) => {
      await other.waitForSelector(".gbox.is-sel");
      assert.equal(await other.locator(".gbox.is-sel").innerText(), chosen);
    });
  });

  it("is let go of by Escape: first the task, then the executor", async () => {
    const { items } = await api(`apps/${SKEWED}/stages/1.0/tasks?limit=1`);
    await visit(page, `a/${SKEWED}/stages/1.0?task=${items[0].taskId}&exec=${items[0].executorId}`);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("task"));
    assert.equal(await param("exec"), items[0].executorId);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("exec"));
  });

  it("lists the stages of a job as its address asks", async () => {
    await visit(page, `a/${QUERIES}/jobs/0?sort=id`);
    const { items } = await api(`apps/${QUERIES}/stages?job=0&sort=id`);
    const box = page.locator(".tbl-box", { has: page.locator("caption:text-is('Stages')") });
    assert.deepEqual(await box.locator("tbody tr td:nth-child(2)").allInnerTexts(), items.map((/** @type {any} */ s) => String(s.stageId)));
    await box.getByRole("button", { name: "Duration" }).click();
    await page.waitForFunction(() => new URL(location.href).searchParams.get("sort") === "-duration");
    await page.goto(`${url}history/${QUERIES}/jobs/job/?id=0&completedStage.sort=Stage+Id&completedStage.desc=true`);
    await page.waitForURL(/jobs\/0\?status=complete&sort=-id/);
    assert.equal(await page.locator("th[aria-sort=descending]").innerText().then((s) => s.replace(/[\s↓]+$/, "")), "Stage");
  });
});

describe("executors over time", { skip: there ? false : "the server holds other logs" }, () => {
  it("zoom by dragging and by keys, in the address, and back", async () => {
    await visit(page, `a/${SKEWED}/executors`);
    const axis = await page.locator(".slots-axis").boundingBox();
    assert.ok(axis);
    const run = await api(`apps/${SKEWED}/executors/timeline?bins=360`);
    const y = axis.y + axis.height + 30;
    await page.mouse.move(axis.x + axis.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(axis.x + axis.width * 0.5, y, { steps: 4 });
    assert.equal(await page.locator(".zoomable-part").count(), 1);
    await page.mouse.up();
    await page.waitForFunction(() => new URL(location.href).searchParams.has("from"));
    const wall = run.binMs * run.aliveMs.length;
    assert.ok(Math.abs(Number(await param("from")) - wall / 4) < wall / 100 + 10, `${await param("from")} of ${wall}`);
    assert.ok(Math.abs(Number(await param("to")) - wall / 2) < wall / 100 + 10);
    // The table of its numbers is that of the API, about this part.
    await page.locator(".chart-numbers summary").click();
    const part = await api(`apps/${SKEWED}/executors/timeline?bins=360&fromMs=${await param("from")}&toMs=${await param("to")}`);
    await page.waitForFunction((n) => document.querySelectorAll(".chart-numbers tbody tr").length === n, part.aliveMs.length);
    const first = await page.locator(".chart-numbers tbody tr").first().innerText();
    assert.match(first.replace(/[\u202f\s]+/g, " "), new RegExp(`^\\+.* ${(part.busyMs[0] / part.binMs).toLocaleString("en-US")} ${(part.aliveMs[0] / part.binMs).toLocaleString("en-US")}$`));
    await elsewhere(async (other) => assert.equal(await other.locator(".chart-numbers tbody tr").first().innerText(), first));
    const before = await param("from");
    await page.focus(".zoomable");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction((from) => Number(new URL(location.href).searchParams.get("from")) > Number(from), before);
    await page.click("a:has-text('Whole run')");
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("from"));
    assert.deepEqual(wrong, []);
  });
});

describe("ways to a page", { skip: there ? false : "the server holds other logs" }, () => {
  it("the search leads to a finding that is open and in sight", async () => {
    const { findings } = await api(`apps/${SKEWED}/findings?limit=1000`);
    const f = findings.at(-1);
    await page.setViewportSize({ width: 1024, height: 500 });
    await visit(page, `a/${SKEWED}/env`);
    await page.keyboard.press("/");
    await page.keyboard.type(f.rule);
    await page.locator(".palette-option", { hasText: f.name }).first().click();
    await page.waitForURL(/finding=/);
    const row = page.locator('[data-finding][aria-expanded="true"]');
    await row.waitFor();
    assert.equal((await row.getAttribute("data-finding"))?.split(":")[0], f.rule);
    await page.waitForFunction(() => {
      const box = document.querySelector('[data-finding][aria-expanded="true"]')?.getBoundingClientRect();
      return box && box.top >= 0 && box.bottom <= innerHeight;
    });
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("processes stand among the pages of a run that has some, and only there", async () => {
    await visit(page, `a/${LOSSES}/executors`);
    await page.click(".rail a:has-text('Processes')");
    await page.waitForURL(/\/processes$/);
    assert.equal(await page.locator(".rail a[aria-current=page] .rail-name").innerText(), "Processes");
    await visit(page, `a/${SKEWED}/executors`);
    assert.equal(await page.locator(".rail a:has-text('Processes')").count(), 0);
  });

  it("a plan can be taken away as a picture and for Graphviz, with what a log says in it as text", async () => {
    await visit(page, `a/${QUERIES}/sql/0`);
    /** @param {string} name */
    const take = async (name) => {
      await page.locator(".graph-tools summary").click();
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return { name: file.suggestedFilename(), text: readFileSync((await file.path()) ?? "", "utf8") };
    };
    const svg = await take("SVG");
    assert.equal(svg.name, `${QUERIES}-query-0.svg`);
    const parsed = await page.evaluate((text) => {
      const doc = new DOMParser().parseFromString(text, "image/svg+xml");
      return { error: doc.querySelector("parsererror")?.textContent ?? null, boxes: doc.querySelectorAll("svg > svg").length, scripts: doc.querySelectorAll("script, image, foreignObject, [onload], [href]").length, text: doc.documentElement.textContent ?? "" };
    }, svg.text);
    assert.deepEqual([parsed.error, parsed.boxes, parsed.scripts], [null, 8, 0]);
    for (const part of ["SortMergeJoin", "Scan parquet orders", "300 ms", "Stage 0"]) assert.ok(parsed.text.replace(/[\u202f\u00a0]/g, " ").includes(part), part);
    const dot = await take("DOT");
    assert.equal(dot.name, `${QUERIES}-query-0.dot`);
    assert.equal(dot.text.match(/^ *b\d+ \[label=/gm)?.length, 8);
    assert.equal(dot.text.match(/subgraph cluster_/g)?.length, 2);
    assert.match(dot.text, /^ {2}b\d+ -> b\d+/m);
  });
});
