// SPDX-License-Identifier: Apache-2.0
/** The list of applications, the search over everything, and logs that are added. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import axe from "axe-core";
import { address, api, arrive, openBrowser, openPage, prefer, reload, rest, settled, url, visit } from "./support/browser.mjs";
import { HOSTILE, SKEWED, writeLogs } from "./support/log.mjs";
import { startProxy, startTaking } from "./support/server.mjs";
import { BINARY } from "./support/where.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let wrong;
let known = false;

before(async () => {
  browser = await openBrowser();
  ({ page, wrong } = await openPage(browser.context));
  await prefer(page, { theme: "light", lang: "en", zone: "utc" });
  known = (await api(`apps/${SKEWED}`)).ref !== undefined;
});
after(() => browser.close());

const texts = (/** @type {string} */ selector) => page.$$eval(selector, (all) => all.map((e) => (e.textContent ?? "").trim()));
const query = async () => (await address(page)).searchParams;
/** Digits and stops alone: how a page writes a number is the business of lib/format.js. @param {string | undefined} text */
const digits = (text) => (text ?? "").replace(/[^\d.]/g, "");

async function violations() {
  await page.evaluate(axe.source);
  return page.evaluate(async () =>
    (await /** @type {any} */ (window).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] })).violations.map(
      (/** @type {any} */ v) => `${v.id}: ${v.nodes[0].target}`,
    ),
  );
}

describe("the list of applications", () => {
  it("says of each run what the API says", async () => {
    await visit(page, "?sort=-saving");
    const { items } = await api("apps?sort=-saving&history=20");
    assert.deepEqual(
      await page.$$eval("main tbody tr", (rows) => rows.map((r) => r.querySelector(".name-link")?.getAttribute("href"))),
      items.map((/** @type {any} */ a) => (a.ref ? new URL(`a/${encodeURIComponent(a.ref)}`, url).pathname : null)).map((/** @type {any} */ x) => x ?? undefined),
    );
    const head = await texts("main thead th");
    const at = (/** @type {string} */ name) => head.findIndex((h) => h.startsWith(name)) + 1;
    for (const [i, a] of items.entries()) {
      if (!a.loaded) continue;
      const cell = async (/** @type {string} */ name) => (await page.textContent(`main tbody tr:nth-child(${i + 1}) td:nth-child(${at(name)})`)) ?? "";
      assert.equal(digits(await cell("Tasks")), String(a.taskCount));
      const costs = await cell("What costs it");
      for (const c of a.costs) assert.ok(costs.includes(c.name), `${costs}: ${c.name}`);
      const outlines = await page.$$eval(`main tbody tr:nth-child(${i + 1}) .runs-bars path`, (paths) => paths.map((p) => p.getAttribute("d")).join(""));
      assert.equal(outlines.split("M").length - 1, a.history && a.history.total > 1 ? a.history.runs.length : 0);
    }
  });

  it("asks for what it shows once, before its code is there", async () => {
    const asked = /** @type {string[]} */ ([]);
    const note = (/** @type {import("playwright-core").Request} */ r) => r.url().includes("/api/") && asked.push(r.url());
    page.on("request", note);
    for (const address of ["", "?sort=-saving&q=a&group=job&limit=25", ...(known ? [`a/${SKEWED}`] : [])]) {
      await page.goto("about:blank"); // what was shown asks no more
      asked.length = 0;
      let before = 0;
      await page.route(/\/app\.\w+\.js$/, async (route) => { // the code comes when the question was asked, or after a while to no avail
        for (let n = 0; n < 600 && !asked.length; n++) await new Promise((next) => setTimeout(next, 50));
        before = asked.length;
        await route.continue();
      });
      await visit(page, address);
      await page.unroute(/\/app\.\w+\.js$/);
      assert.equal(before, 1, address);
      assert.equal(asked.filter((x) => x === asked[0]).length, 1, asked.join(" "));
    }
    page.off("request", note);
  });

  it("leads from a bar to its run", async () => {
    await visit(page, "");
    const { items } = await api("apps?sort=-start&history=20");
    const row = items.findIndex((/** @type {any} */ a) => a.history?.total > 1);
    if (row < 0) return;
    const { runs } = items[row].history;
    const bars = page.locator(`main tbody tr:nth-child(${row + 1}) .runs-bars`);
    for (const [i, run] of [...runs.entries()].slice(-2)) {
      await bars.hover({ position: { x: i * 5 + 2, y: 8 } });
      assert.equal(await bars.getAttribute("href"), new URL(`a/${encodeURIComponent(run.key)}`, url).pathname);
      assert.ok((await page.textContent(".tip"))?.length);
    }
    await bars.click({ position: { x: 2, y: 8 } });
    await page.waitForURL(`**/a/${encodeURIComponent(runs[0].key)}`);
  });

  it("keeps filters in the address, shows them, and takes them back", async () => {
    await visit(page, "");
    await page.click(".further > button");
    await page.waitForFunction(() => document.querySelectorAll(".further select[aria-label=Finding] option").length > 1);
    const rule = await page.$eval(".further select[aria-label=Finding] option:nth-child(2)", (o) => /** @type {HTMLOptionElement} */ (o).value);
    await page.selectOption(".further select[aria-label=Finding]", rule);
    await page.waitForURL(/[?&]rule=/);
    await page.fill(".further input[aria-label='Started from']", "2001-02-03T04:05");
    await page.dispatchEvent(".further input[aria-label='Started from']", "change");
    await page.waitForURL(/[?&]from=/);
    assert.equal((await query()).get("from"), String(Date.UTC(2001, 1, 3, 4, 5)));
    await page.keyboard.press("Escape");
    await settled(page);
    const { total } = await api(`apps?rule=${rule}&from=${Date.UTC(2001, 1, 3, 4, 5)}`);
    assert.equal((await page.$$("main tbody tr")).length, Math.min(50, total));
    await reload(page);
    assert.equal((await page.$$("main tbody tr")).length, Math.min(50, total));
    assert.equal((await page.$$(".is-filter")).length, 2);
    const { rules } = await api("facets");
    assert.ok((await texts(".is-filter")).some((x) => x.includes(rules.find((/** @type {any} */ r) => r.value === rule).name)));
    await page.click(".is-filter:has-text('2001') button");
    await page.waitForFunction(() => !location.search.includes("from="));
    await page.goBack();
    await page.waitForURL(/[?&]from=/);
  });

  it("folds to jobs, and leads from a job to its runs", async () => {
    await visit(page, "");
    await page.click("button:has-text('By job')");
    await page.waitForURL(/[?&]group=job\b/);
    await settled(page);
    const jobs = await api("apps?group=job&history=20");
    assert.equal((await page.$$("main tbody tr")).length, Math.min(50, jobs.total));
    const many = jobs.items.findIndex((/** @type {any} */ a) => a.history?.total > 1);
    if (many < 0) return;
    assert.ok((await texts("main thead th")).includes("Usual"));
    await page.click(`main tbody tr:nth-child(${many + 1}) .runs-all`);
    await page.waitForURL(/[?&]job=/);
    await settled(page);
    assert.equal((await page.$$("main tbody tr")).length, jobs.items[many].history.total);
    assert.equal((await page.$$(".runs-bars path.is-this")).length, jobs.items[many].history.total);
  });

  it("shows the columns that were chosen, also after a reload, and never in a link", async () => {
    await visit(page, "");
    await page.click("button:has-text('Columns')");
    await page.click(".columns label:has-text('Queue')");
    await page.click(".columns label:has-text('Outcome')");
    await reload(page);
    const head = await texts("main thead th");
    assert.ok(head.includes("Queue") && !head.includes("Outcome"));
    assert.equal((await address(page)).search, "");
    await page.click("button:has-text('Columns')");
    await page.click("button:has-text('As usual'), .pop-box > button");
    await page.keyboard.press("Escape");
    assert.ok((await texts("main thead th")).includes("Outcome"));
  });

  it("fits a phone: what a run cost stands below its name", async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await visit(page, "");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.ok(await page.isVisible("main tbody tr:first-child .phone"));
    const { items } = await api("apps");
    const lines = await page.$$eval("main tbody tr", (rows) => rows.map((r) => r.querySelector(".phone")?.textContent ?? ""));
    assert.deepEqual(
      lines.map((l) => l.startsWith("≥ ")),
      items.map((/** @type {any} */ a) => a.complete === false && a.durationMs !== null),
    );
    await page.click(".further > button");
    await settled(page);
    const box = await page.$eval(".further .pop-box", (b) => b.getBoundingClientRect().toJSON());
    assert.ok(box.left >= 0 && box.right <= 390, JSON.stringify(box));
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe("the search over everything", () => {
  it("opens with / and with Ctrl K, from everywhere, and gives the focus back", async () => {
    await visit(page, "");
    await page.keyboard.press("/");
    await page.waitForSelector("dialog.palette[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog.palette", { state: "detached" });
    await page.focus(".filter-text");
    await page.keyboard.press("Control+k");
    await page.waitForSelector("dialog.palette[open]");
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog.palette", { state: "detached" });
    await page.waitForFunction(() => document.activeElement?.className === "filter-text");
  });

  it("takes what is typed right behind its key, finds a stage by its number and goes there", async (t) => {
    if (!known) return t.skip("the server under test does not hold the written logs");
    const { items } = await api(`apps/${SKEWED}/stages?limit=1&sort=id`);
    const [stage] = items;
    await visit(page, `a/${SKEWED}`);
    await page.keyboard.press("/");
    await page.keyboard.type(`stage ${stage.stageId}`);
    await page.waitForSelector(`.palette-option:has-text("Stage ${stage.stageId}")`);
    assert.equal(await page.inputValue(".palette input"), `stage ${stage.stageId}`);
    const input = await page.$("[role=combobox]");
    assert.equal(await input?.getAttribute("aria-controls"), "palette-list");
    /** @param {string} text */
    const reach = async (text) => {
      for (let i = 0; i < 40; i++) {
        const id = await input?.getAttribute("aria-activedescendant");
        if ((await page.textContent(`#${id}`))?.startsWith(text)) return;
        await page.keyboard.press("ArrowDown");
      }
      assert.fail(`${text} is not there`);
    };
    await reach(`Stage ${stage.stageId}`);
    assert.equal((await page.$$("[role=option][aria-selected=true]")).length, 1);
    assert.deepEqual(await violations(), []);
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/stages/${stage.stageId}\\.${stage.attempt}$`));
    await page.keyboard.press("/");
    await page.waitForSelector(".palette-option");
    assert.match((await texts(".palette-option"))[0], new RegExp(`^Stage ${stage.stageId}`)); // opened last
    await page.keyboard.press("Escape");
  });

  it("finds other runs, findings and settings; what a log says stays text", async (t) => {
    if (!known) return t.skip("the server under test does not hold the written logs");
    await visit(page, `a/${SKEWED}/jobs`);
    const { findings } = await api(`apps/${SKEWED}/findings`);
    for (const [typed, group] of [
      ["spark.app.name", "Settings"],
      ["nightly", "Runs"],
      ...(findings[0] ? [[findings[0].name, "Findings"]] : []),
      ["executors", "Pages"],
    ]) {
      await page.keyboard.press("/");
      await page.keyboard.type(typed);
      await page.waitForSelector(`[role=group][aria-label="${group}"] [role=option]`);
      await page.keyboard.press("Escape");
    }
    await page.keyboard.press("/");
    await page.keyboard.type("<script>");
    await rest(page, 400);
    assert.notEqual(await page.title(), "broken");
    assert.ok((await texts(".palette-option")).every((x) => !x.includes("<script") || HOSTILE.includes("<script")));
    await page.keyboard.press("Escape");
    assert.deepEqual(wrong, []);
  });

  it("finds the server's own page", async () => {
    await visit(page, "");
    await page.keyboard.press("/");
    await page.keyboard.type("server st");
    await page.locator(".palette-option[aria-selected=true]", { hasText: "Server status" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/status$/);
  });

  it("says when nothing matches, and how many do", async () => {
    await visit(page, "");
    await page.keyboard.press("/");
    await page.keyboard.type("no-such-thing-anywhere");
    await page.waitForSelector(".palette-none:has-text('Nothing matches')");
    await page.keyboard.press("Escape");
  });
});

describe("adding a log", () => {
  it("says on the spot that it is switched off", async () => {
    const { uploads } = await api("status");
    if (uploads.enabled) return;
    await visit(page, "");
    assert.equal(await page.$("text=Add a log"), null);
    await drop(page, [{ name: "x", text: "y" }]);
    await page.waitForSelector("[role=alert]:has-text('afterglow.uploads.dir')");
    assert.equal((await address(page)).pathname, new URL(url).pathname);
  });

  it("sends a file that is dropped, and opens the run", async (t) => {
    if (!BINARY) return t.skip("no program to start");
    const folder = mkdtempSync(join(tmpdir(), "afterglow-web-add-"));
    const logs = writeLogs(join(folder, "logs"));
    const server = await startTaking(folder);
    try {
      const other = await openPage(browser.context);
      await arrive(other.page, server.url);
      await other.page.waitForSelector(".state:has-text('No log has been read yet')");
      const name = readdirSync(logs).find((f) => f.includes(SKEWED)) ?? "";
      await drop(other.page, [{ name, text: readFileSync(join(logs, name), "latin1") }]);
      await other.page.waitForURL(/\/a\//);
      await other.page.waitForSelector(".head-title");
      const { items } = await (await fetch(`${server.url}api/afterglow/v1/apps`)).json();
      assert.deepEqual(items.map((/** @type {any} */ a) => a.appId), [SKEWED]);

      await arrive(other.page, server.url);
      await drop(other.page, [{ name: "notes.txt", text: "no log at all" }]);
      await other.page.waitForSelector(".uploads [role=alert]:has-text('not added')");
      await other.page.click(".uploads button");
      await other.page.waitForSelector(".uploads", { state: "detached" });

      // By the button, as somebody without a mouse does it.
      const second = readdirSync(logs).find((f) => !f.includes(SKEWED) && !f.includes(".") && f.startsWith("app-")) ?? "";
      await other.page.click("button:has-text('Add a log')");
      await other.page.setInputFiles(".add input:not([webkitdirectory])", join(logs, second));
      await other.page.waitForURL(/\/a\//);
      // A run that is not read yet is asked for again; Chromium has its own word on the answer.
      assert.deepEqual(other.wrong.filter((each) => !each.includes("409")), []);
      await other.page.close();
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("folders", () => {
  /** Writes a log as Spark rolls it, in `parts` files, with what a file manager and Hadoop leave beside them. @param {string} folder where its own comes @param {string} log @param {string} id @param {number} parts */
  function roll(folder, log, id, parts) {
    const own = join(folder, `eventlog_v2_${id}`);
    mkdirSync(join(own, "below"), { recursive: true });
    const lines = readFileSync(log, "utf8").trimEnd().split("\n"),
      each = Math.ceil(lines.length / parts);
    for (let i = 0; i < parts; i++) writeFileSync(join(own, `events_${i + 1}_${id}`), lines.slice(i * each, (i + 1) * each).map((line) => line + "\n").join(""));
    writeFileSync(join(own, `appstatus_${id}`), "");
    for (const stray of [".DS_Store", `.events_1_${id}.crc`, "below/notes.txt"]) writeFileSync(join(own, stray), "no log");
    return own;
  }

  /** As a file manager drops them. @param {import("playwright-core").Page} at @param {string[]} files */
  async function dropPaths(at, files) {
    const browserSays = await browser.context.newCDPSession(at);
    for (const type of /** @type {const} */ (["dragEnter", "dragOver", "drop"])) await browserSays.send("Input.dispatchDragEvent", { type, x: 600, y: 400, data: { items: [], files, dragOperationsMask: 1 } });
    await browserSays.detach();
  }

  it("that is a rolling log opens as one run; of those that hold several each comes into the list; an empty one is told", async (t) => {
    if (!BINARY) return t.skip("no program to start");
    const folder = mkdtempSync(join(tmpdir(), "afterglow-web-folder-"));
    const logs = writeLogs(join(folder, "logs"));
    const ofId = (/** @type {string} */ id) => join(logs, readdirSync(logs).find((f) => f.includes(id)) ?? "");
    const other = readdirSync(logs).find((f) => !f.includes(SKEWED) && !f.includes(".") && f.startsWith("app-")) ?? "";
    const server = await startTaking(folder);
    const known = async () => (await (await fetch(`${server.url}api/afterglow/v1/apps`)).json()).items;
    try {
      const { page: at, wrong } = await openPage(browser.context);
      await arrive(at, server.url);
      await at.waitForSelector("button:has-text('Add a log')");
      await dropPaths(at, [roll(join(folder, "one"), ofId(SKEWED), SKEWED, 9)]);
      await at.waitForURL(/\/a\//);
      await at.waitForSelector(".head-meta:has-text('complete')"); // all of its files, though they came faster than they were read
      await at.waitForSelector(".uploads", { state: "detached" });
      const [run, ...more] = await known();
      assert.deepEqual([run.appId, run.layout, run.complete, more.length], [SKEWED, "rolling", true, 0]);

      await arrive(at, server.url);
      const many = join(folder, "many");
      roll(join(many, "2026"), ofId(SKEWED), SKEWED, 3);
      mkdirSync(join(many, ".trash"), { recursive: true });
      writeFileSync(join(many, ".trash", "app-old"), "no log");
      copyFileSync(join(logs, other), join(many, other));
      mkdirSync(join(folder, "empty"));
      await at.click("button:has-text('Add a log')");
      await at.setInputFiles(".add input[webkitdirectory]", many);
      await at.waitForSelector(`main tbody .name-link:has-text('${other.replace(/\..*/, "")}')`);
      await at.waitForSelector(".uploads", { state: "detached" });
      assert.equal((await address(at)).pathname, new URL(server.url).pathname, "with several none opens");

      await at.waitForSelector("main tbody tr");
      await dropPaths(at, [join(folder, "empty")]);
      await at.waitForSelector(".uploads [role=alert]:has-text('no file in this folder')");
      assert.deepEqual(wrong.filter((each) => !each.includes("409")), []);
      await at.close();
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("a log that arrives slowly", () => {
  it("opens while it arrives, and says so when it breaks off", async (t) => {
    if (!BINARY) return t.skip("no program to start");
    const folder = mkdtempSync(join(tmpdir(), "afterglow-web-slow-"));
    const server = await startTaking(folder);
    try {
      const proxy = await startProxy(server.url, "/gateway");
      const { page: slow } = await openPage(browser.context);
      await arrive(slow, proxy.url);
      const network = await browser.context.newCDPSession(slow);
      await network.send("Network.enable");
      const limit = (/** @type {{ uploadThroughput?: number }} */ how) =>
        network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1, ...how });
      const logs = writeLogs(join(folder, "logs"));
      const name = readdirSync(logs).find((f) => f.includes(SKEWED)) ?? "";
      // Before its end much that no page shows: it would take minutes to come, and however slow the page is, the end is not there when it breaks off.
      const filler = (JSON.stringify({ Event: "SparkListenerOfSomebody", text: "x".repeat(1000) }) + "\n").repeat(3000);
      const log = readFileSync(join(logs, name), "latin1");
      const end = log.lastIndexOf("\n", log.length - 2) + 1;
      assert.match(log.slice(end), /"SparkListenerApplicationEnd"/);
      await limit({ uploadThroughput: 300_000 });
      await drop(slow, [{ name, text: log.slice(0, end) + filler.repeat(21) }]);
      await slow.waitForURL(/\/a\//);
      await slow.waitForSelector(".banner:has-text('still on its way')");
      assert.equal(await slow.innerText(".head-title .chip"), "Arriving"); // not "Log has no end", which is a fault
      await slow.waitForSelector(".uploads:has-text(' sent')"); // the page has left the list, and the log goes on coming
      const run = (await address(slow)).pathname.replace("/gateway/", "");
      await proxy.stop();
      await slow.waitForSelector(".uploads [role=alert]:has-text('broke off')");
      await slow.click(".uploads button");
      await slow.waitForSelector(".uploads", { state: "detached" });
      await limit({});
      await slow.goto(server.url + run);
      await slow.waitForSelector(".banner:has-text('did not arrive whole')");
      // Sent again, it is whole, and the page that opened meanwhile says so by itself.
      await arrive(slow, server.url);
      await limit({ uploadThroughput: 1_500_000 });
      await drop(slow, [{ name, text: log.slice(0, end) + filler + log.slice(end) }]);
      await slow.waitForURL(/\/a\//);
      await slow.waitForSelector(".head-meta:has-text('complete')");
      await slow.waitForSelector(".uploads", { state: "detached" });
      await slow.close();
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Files are let go over the page. @param {import("playwright-core").Page} at @param {{ name: string, text: string }[]} files text: a byte a character */
async function drop(at, files) {
  const data = await at.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const f of list) transfer.items.add(new File([Uint8Array.from(f.text, (c) => c.charCodeAt(0))], f.name));
    return transfer;
  }, files);
  for (const kind of ["dragenter", "dragover", "drop"]) await at.dispatchEvent("main", kind, { dataTransfer: data });
}
