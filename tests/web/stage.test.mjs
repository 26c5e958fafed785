// SPDX-License-Identifier: Apache-2.0
/** The page of a stage: its numbers are the API's, one selection runs through all of it, and the timeline zooms without getting in the way. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { address, api, openBrowser, openPage, prefer, reload, rest, settled, url, visit } from "./support/browser.mjs";
import { RETRIED, SKEWED } from "./support/log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let wrong;
let known = false;
/** 120 tasks of 500 … 619 ms on four slots; task 65, index 57, took 20 s and read 40 times as much. */
const STAGE = `a/${SKEWED}/stages/1.0`,
  API = `apps/${SKEWED}/stages/1.0`,
  SLOWEST = 65;

before(async () => {
  browser = await openBrowser();
  ({ page, wrong } = await openPage(browser.context));
  await prefer(page, { theme: "light", lang: "en", zone: "utc" });
  known = (await api(`apps/${SKEWED}`)).ref !== undefined;
});
after(() => browser.close());

const query = async () => (await address(page)).searchParams;
const cells = (/** @type {string} */ within, /** @type {number} */ n) => page.$$eval(`${within} tbody tr td:nth-child(${n})`, (list) => list.map((c) => c.textContent ?? ""));
const table = (/** @type {string} */ caption) => `table:has(caption:text-is('${caption}'))`;
/** A test over the written logs. @param {string} name @param {() => Promise<void>} f */
const test = (name, f) =>
  it(name, async (t) => {
    if (!known) return t.skip("the server under test does not hold the written logs");
    wrong.length = 0;
    await f();
    assert.deepEqual(wrong, []);
  });

describe("the page of a stage", () => {
  test("says first what the server says, and shows its findings with the first one open", async () => {
    await visit(page, STAGE);
    const { verdict, findings } = await api(`apps/${SKEWED}/findings?stage=1.0`);
    assert.equal(await page.textContent(".verdict-say"), verdict);
    const rows = await page.$$eval("[data-finding]", (list) => list.map((e) => e.getAttribute("aria-expanded")));
    assert.equal(rows[0], "true");
    assert.ok(findings.length >= 1 && rows.length >= 1);
    await page.click("[data-finding]");
    await page.waitForSelector("[data-finding][aria-expanded=false]");
    await reload(page);
    assert.equal(await page.getAttribute("[data-finding]", "aria-expanded"), "false", "closed stays closed");
  });

  test("has the API's numbers", async () => {
    await visit(page, STAGE);
    const stage = await api(API),
      analysis = await api(`${API}/analysis`);
    const facts = Object.fromEntries(await page.$$eval(".facts > div", (list) => list.map((e) => [e.querySelector("dt")?.textContent, e.querySelector("dd")?.firstChild?.textContent])));
    assert.equal(facts.Tasks, "120");
    // 119 tasks of 500 … 619 ms without the 557 of index 57, and 20 s: 86.6 s, on four slots.
    assert.equal(stage.taskTimeMs, 119 * 500 + (119 * 120) / 2 - 57 - 500 + 500 + 20_000 - 500 + 500);
    assert.equal(facts["Task time"], "86.6\u202fslot·s");
    assert.equal(facts.Ideal, "21.6\u202fs");
    assert.deepEqual(
      (await cells(table("Causes of slowness"), 1)).length,
      analysis.causes.length,
    );
    // 500 … 619 without 557, and 20 s: 120 values, of which Spark takes number 0, 30, 60, 90, 114, 118 and 119; from number 57 on they are one ms further.
    const durations = await page.$$eval(`${table("Distribution over tasks")} tbody tr:first-child td`, (list) => list.map((c) => c.textContent));
    assert.deepEqual(durations.slice(0, 8), ["Duration", "500\u202fms", "530\u202fms", "561\u202fms", "591\u202fms", "615\u202fms", "619\u202fms", "20.0\u202fs"]);
    const shares = await page.$$eval(".acct-bar > *", (list) => list.length);
    assert.equal(shares, analysis.window.filter((/** @type {any} */ b) => b.slotMs > 0).length);
    await page.click("a:text-is('What it cost')");
    await page.waitForURL(/account=cost/);
    await settled(page);
    assert.equal(await page.$$eval(".acct-bar > *", (list) => list.length), analysis.cost.filter((/** @type {any} */ b) => b.slotMs > 0).length);
  });

  test("explains the slowest task, and any other that is picked", async () => {
    await visit(page, STAGE);
    const why = await api(`apps/${SKEWED}/tasks/${SLOWEST}/why`);
    assert.equal(await page.textContent("#task .why-say"), why.sentence);
    const [typical, own] = await page.$$eval("#task .why-line .num", (list) => list.slice(0, 2).map((e) => e.textContent));
    assert.deepEqual([typical, own], ["561\u202fms", "20.0\u202fs"], "560.5 ms: half-way between the two in the middle");
    const ends = await page.$$eval("#task .why-track", (tracks) =>
      tracks.slice(2).map((t) => {
        const i = /** @type {HTMLElement} */ (t.firstElementChild);
        return [Number(i.style.getPropertyValue("--x")), Number(i.style.getPropertyValue("--w"))];
      }),
    );
    assert.ok(Math.abs(ends.reduce((sum, [, w]) => sum + w, 0) - 1) < 1e-6, "the causes' bars add up to the excess");
    await page.click("#tasks tbody tr:nth-child(3) a");
    await page.waitForURL(/task=\d+/);
    const picked = (await query()).get("task");
    assert.notEqual(picked, String(SLOWEST));
    await page.waitForFunction((id) => document.querySelector("#task h2")?.textContent?.includes(`task ${id}`), picked);
    assert.equal(await page.getAttribute("#tasks tbody tr.is-sel", "aria-selected"), "true");
    await page.goBack();
    await page.waitForFunction((id) => document.querySelector("#task h2")?.textContent?.includes(`task ${id}`), SLOWEST);
  });

  test("shows the attempts of a partition together", async () => {
    await visit(page, `a/${RETRIED}/stages/0.0?task=3`);
    const attempts = await page.waitForSelector(`${table("Partition 3 had 2 attempts")}`);
    assert.deepEqual(await attempts.$$eval("tbody tr", (rows) => rows.map((r) => [...r.children].slice(0, 3).map((c) => c.textContent))), [
      ["3", "0", "Failed"],
      ["8", "1", "OK"],
    ]);
    await page.click("#task a:text-is('Show them below')");
    await page.waitForURL(/partition=3/);
    await settled(page);
    assert.deepEqual((await cells("#tasks", 1)).sort(), ["3", "8"]);
    await page.click(".chip.is-filter button");
    await page.waitForFunction(() => !location.search.includes("partition"));
  });

  test("leads from an error to its tasks", async () => {
    await visit(page, `a/${RETRIED}/stages/0.0`);
    await page.click(`${table("Errors")} tbody a.bad`);
    await page.waitForURL(/[?&]q=/);
    await settled(page);
    assert.deepEqual(await cells("#tasks", 1), ["3"]);
  });

  test("draws duration by data on an axis that can be chosen, and a click picks the task", async () => {
    await visit(page, STAGE);
    const s = await api(`${API}/scatter?x=shuffleReadBytes`);
    assert.deepEqual(
      await cells(table("The longest tasks"), 1),
      s.points.taskId.slice(0, 8).map(String),
    );
    // The longest task has the most data, too: its mark is in the corner at the top right.
    const box = await (await page.waitForSelector(".scatter canvas")).boundingBox();
    assert.ok(box);
    await page.$eval(".scatter canvas", (e) => e.scrollIntoView({ block: "center" }));
    const { x, y, width } = /** @type {any} */ (await (await page.$(".scatter canvas"))?.boundingBox());
    let hit = false;
    for (let dx = 10; dx < 90 && !hit; dx += 4)
      for (let dy = 8; dy < 60 && !hit; dy += 4) {
        await page.mouse.move(x + width - dx, y + dy);
        hit = await page.evaluate((id) => document.querySelector(".tip:not([hidden])")?.textContent?.includes(`Task ${id},`) ?? false, SLOWEST);
      }
    assert.ok(hit, "the tooltip names the longest task");
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForURL(new RegExp(`task=${SLOWEST}\\b`));
    await page.selectOption("select[aria-label='Measure of data']", "shuffleWriteBytes");
    await page.waitForURL(/x=shuffleWriteBytes/);
    await reload(page);
    assert.equal(await page.inputValue("select[aria-label='Measure of data']"), "shuffleWriteBytes");
  });

  test("lights one executor everywhere", async () => {
    await visit(page, STAGE);
    await page.click(`${table("By executor")} tbody a:text-is('2')`);
    await page.waitForURL(/exec=2/);
    await settled(page);
    assert.equal(await page.getAttribute(`${table("By executor")} tr.is-sel`, "aria-selected"), "true");
    assert.equal(await page.inputValue("select[aria-label='Executor']"), "2");
    const total = (await api(`${API}/tasks?executor=2&limit=1`)).total;
    assert.match((await page.textContent("#tasks .sec-note")) ?? "", new RegExp(`^${total} of 120 `));
    await page.click(`${table("By executor")} tbody a:text-is('2')`);
    await page.waitForFunction(() => !location.search.includes("exec="));
    assert.deepEqual(await cells(table("By host"), 1), ["host-1.example", "host-2.example"].sort((a, b) => (a < b ? -1 : 1)).filter(Boolean).sort(await byTaskTime()));
  });

  test("counts the executors that had tasks, not those that were only there", async () => {
    await page.route(`${url}api/afterglow/v1/${API}*`, async (route) => {
      const answer = await route.fetch();
      const stage = await answer.json();
      const idle = Object.fromEntries(Object.entries(stage.executors[0]).map(([key, value]) => [key, typeof value === "number" ? 0 : value]));
      await route.fulfill({ response: answer, json: { ...stage, executors: [...stage.executors, { ...idle, executorId: "driver" }] } });
    });
    await visit(page, STAGE);
    const note = await page.textContent("section:has(h2:text-is('By executor')) .sec-note");
    const rows = await cells(table("By executor"), 1);
    await page.unrouteAll({ behavior: "wait" });
    assert.match(note ?? "", /^2 executors had tasks/);
    assert.deepEqual([...rows].sort(), ["1", "2", "driver"]);
  });
});

/** Hosts stand by their task time, the most first. */
async function byTaskTime() {
  const { executors } = await api(API);
  const time = (/** @type {string} */ host) => executors.find((/** @type {any} */ x) => x.host === host).taskTimeMs;
  return (/** @type {string} */ a, /** @type {string} */ b) => time(b) - time(a);
}

describe("tasks over time", () => {
  const canvas = ".tl-canvas";
  const box = async () => {
    await page.waitForSelector(canvas);
    await page.$eval(canvas, (e) => e.scrollIntoView({ block: "center" }));
    return /** @type {{ x: number, y: number, width: number, height: number }} */ (await (await page.$(canvas))?.boundingBox());
  };

  test("leave the wheel to the page until they are clicked, then zoom, and the table lists what is shown", async () => {
    await visit(page, STAGE);
    const { x, y, width, height } = await box();
    const before = await page.evaluate(() => scrollY);
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.wheel(0, 200);
    await page.waitForFunction((was) => scrollY !== was, before);
    await rest(page, 1000); // a wheel scrolls smoothly: on a page that still moves nothing is hit
    assert.equal((await query()).get("from"), null);
    const at = await box();
    await page.mouse.click(at.x + at.width - 8, at.y + 6);
    await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
    const still = await page.evaluate(() => scrollY);
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -100);
    await page.waitForURL(/from=\d+&to=\d+/);
    await rest(page, 1000); // the address follows a moment after the last turn
    assert.equal(await page.evaluate(() => scrollY), still);
    const [from, to] = [(await query()).get("from"), (await query()).get("to")];
    const { total } = await api(`${API}/tasks?from=${from}&to=${to}&limit=1`);
    assert.ok(total < 120);
    assert.match((await page.textContent("#tasks .sec-note")) ?? "", new RegExp(`^${total} of 120 `));
    await reload(page);
    assert.deepEqual([(await query()).get("from"), (await query()).get("to")], [from, to], "a link shows the same part");
    assert.equal(await page.isEnabled("button:text-is('Whole stage')"), true);
  });

  test("pan by dragging, and follow the keys", async () => {
    const tl = await api(`${API}/timeline`);
    const middle = tl.beginMs + 8000;
    await visit(page, `${STAGE}?from=${middle}&to=${middle + 2000}`);
    const { x, y, width, height } = await box();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 - 100, y + height / 2, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction((was) => Number(new URLSearchParams(location.search).get("from")) > was, middle);
    await rest(page, 1000);
    assert.equal(Number((await query()).get("to")) - Number((await query()).get("from")), 2000, "a pan keeps the length");
    const from = Number((await query()).get("from"));
    await page.focus(canvas);
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction((was) => Number(new URLSearchParams(location.search).get("from")) === was - 300, from);
    await page.keyboard.press("+");
    await page.waitForFunction(() => Number(new URLSearchParams(location.search).get("to")) - Number(new URLSearchParams(location.search).get("from")) === 1200);
    await page.keyboard.press("0");
    await page.waitForFunction(() => !location.search.includes("from="));
    assert.equal(await page.evaluate(() => document.activeElement?.className.includes("tl-canvas")), true);
  });

  test("name the task under the pointer, and pick it by a click", async () => {
    await visit(page, STAGE);
    const tl = await api(`${API}/timeline`);
    const i = tl.tasks.taskId.indexOf(SLOWEST);
    const lanes = tl.rows.slice(0, tl.tasks.row[i]).reduce((/** @type {number} */ n, /** @type {any} */ r) => n + r.slots, 0) + tl.tasks.lane[i];
    const { x, y, width, height } = await box();
    const middle = (tl.tasks.launchOffsetMs[i] + tl.tasks.durationMs[i] / 2) / (tl.endMs - tl.beginMs);
    const [px, py] = [x + 96 + middle * (width - 102), y + 20 + ((lanes + 0.5) / 4) * (height - 22)];
    await page.mouse.move(px, py);
    await page.waitForFunction((id) => document.querySelector(".tip:not([hidden])")?.textContent?.includes(`Task ${id},`), SLOWEST);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForURL(new RegExp(`task=${SLOWEST}\\b`));
  });

  test("say in words what they show", async () => {
    await visit(page, STAGE);
    assert.match((await page.getAttribute(canvas, "aria-label")) ?? "", /^120 tasks on 2 executors over /);
    assert.equal(await page.getAttribute(canvas, "tabindex"), "0");
  });
});

describe("the table of tasks", () => {
  test("shows the columns that were chosen, here and after a reload, and its usual ones again", async () => {
    await visit(page, STAGE);
    const heads = async () => {
      await page.waitForSelector("#tasks thead th");
      return page.$$eval("#tasks thead th", (list) => list.map((h) => (h.textContent ?? "").replace(/[↑↓]/g, "")));
    };
    const usual = await heads();
    assert.ok(!usual.includes("Partition") && usual.includes("Locality"));
    await page.click("#tasks button:text-is('Columns')");
    await page.click("#tasks label:has-text('Partition') input");
    await page.click("#tasks label:has-text('Locality') input");
    await page.keyboard.press("Escape");
    assert.equal(await page.$("#tasks .pop-box"), null);
    await reload(page);
    const chosen = await heads();
    assert.ok(chosen.includes("Partition") && !chosen.includes("Locality"));
    await page.click("#tasks button:text-is('Columns')");
    await page.click("#tasks button:text-is('As usual')");
    assert.deepEqual(await heads(), usual);
    assert.equal((await address(page)).search, "", "a preference is no part of a link");
  });

  test("finds a task by index, and narrows by duration", async () => {
    await visit(page, `${STAGE}?q=57`);
    const found = (await api(`${API}/tasks?q=57&sort=-durationMs`)).items.map((/** @type {any} */ x) => String(x.taskId));
    assert.ok(found.includes(String(SLOWEST)), "its index is 57");
    assert.deepEqual(await cells("#tasks", 1), found);
    await visit(page, STAGE);
    await page.selectOption("#tasks select[aria-label='Duration']", "10000");
    await page.waitForURL(/minDurationMs=10000/);
    await settled(page);
    assert.deepEqual(await cells("#tasks", 1), [String(SLOWEST)]);
  });
});

describe("the list of stages", () => {
  test("ranks stages by what they would save, and leaves those of one job", async () => {
    await visit(page, `a/${SKEWED}/stages`);
    await page.click("main th:has-text('To win back') button");
    await page.waitForURL(/sort=-saving/);
    await settled(page);
    const first = (await api(`apps/${SKEWED}/stages?sort=-saving&limit=1`)).items[0];
    const row = (await page.textContent("main .tbl-box tbody tr:first-child")) ?? "";
    assert.match(row, new RegExp(`^${first.stageId}`));
    assert.ok(first.savingMs > 0);
    await page.click("main .tbl-box tbody tr:first-child a[title^='Job']");
    await page.waitForURL(/job=\d+/);
    await settled(page);
    const job = (await query()).get("job");
    const { total } = await api(`apps/${SKEWED}/stages?job=${job}`);
    assert.equal((await page.$$("main .tbl-box tbody tr")).length, total);
    assert.ok(url);
  });
});
