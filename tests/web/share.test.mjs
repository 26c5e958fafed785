// SPDX-License-Identifier: Apache-2.0
/** What one takes away of a page: its link, tables as CSV, JSON and Markdown, the report, paper. */
import assert from "node:assert/strict";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, describe, it } from "node:test";
import { eventually } from "../api/support/server.mjs";
import { api, arrive, openBrowser, openPage, prefer, reload, url, visit } from "./support/browser.mjs";
import { FAILED, HOSTILE, SKEWED, SMALL, STREAMING, writeLogs } from "./support/log.mjs";
import { startWatching } from "./support/server.mjs";

const DATA = join(dirname(fileURLToPath(import.meta.url)), "../data/logs");

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {Awaited<ReturnType<typeof openPage>>} */
let at;
before(async () => {
  browser = await openBrowser();
  await browser.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  at = await openPage(browser.context);
  await prefer(at.page, { lang: "en", theme: "dark", zone: "utc" });
});
after(() => browser.close());

/** What is copied by an act, which takes a moment longer than the act. @param {() => Promise<unknown>} act @returns {Promise<string>} */
async function copied(act) {
  await at.page.evaluate(() => navigator.clipboard.writeText(""));
  await act();
  return eventually(() => at.page.evaluate(() => navigator.clipboard.readText()));
}
/** It is gone after a moment, and what it said stays in the document. @param {string} text */
const said = (text) => at.page.locator(".toast", { hasText: text }).waitFor({ state: "attached" });
/** What a link or a button downloads. @param {() => Promise<unknown>} act */
async function downloaded(act) {
  const [file] = await Promise.all([at.page.waitForEvent("download"), act()]);
  return { name: file.suggestedFilename(), text: readFileSync(/** @type {string} */ (await file.path()), "utf8") };
}
const open = (/** @type {string} */ selector) => at.page.locator(`${selector} summary`).first().click();

describe("a list", () => {
  it("is downloaded as CSV: all pages of what passes the filter", async () => {
    await visit(at.page, `a/${SKEWED}/stages/1.0?minDurationMs=505&sort=index&page=2`);
    const { total } = await api(`apps/${SKEWED}/stages/1.0/tasks?minDurationMs=505&limit=1`);
    await open(".tbl-foot:has(.pager)");
    const { name, text } = await downloaded(() => at.page.locator(".menu[open] a", { hasText: "CSV" }).click());
    assert.equal(name, `${SKEWED}-stages-1.0-tasks.csv`);
    const rows = text.trimEnd().split("\r\n");
    assert.equal(rows.length, total + 1);
    assert.match(rows[0], /^taskId,index,.*durationMs/);
    assert.ok(total > 100);
  });

  it("is copied as Markdown, as it is shown", async () => {
    await visit(at.page, `a/${SKEWED}/stages`);
    await open(".tbl-foot");
    const lines = (await copied(() => at.page.locator(".menu[open] button").click())).split("\n");
    await said("copied");
    const shown = await at.page.locator("main .tbl").first().locator("tbody tr").count();
    assert.equal(lines.length, shown + 2);
    assert.ok(lines.every((line) => line.startsWith("| ") && line.endsWith(" |")));
    assert.match(lines[1], /---:/);
    assert.ok(lines.some((line) => line.includes("collect at Job.scala:20")));
  });

  it("that is there whole is downloaded as CSV, as it is shown", async () => {
    await visit(at.page, `a/${SKEWED}/env?section=all&noise=1`);
    const box = at.page.locator("main .tbl-box", { has: at.page.locator("caption:text-is('Spark properties')") });
    await box.locator(".tbl-foot summary").click();
    const { name, text } = await downloaded(() => box.locator(".menu[open] button", { hasText: "CSV" }).click());
    assert.equal(name, `${SKEWED}-env-Spark-properties.csv`);
    const rows = text.trimEnd().split("\r\n");
    assert.equal(rows.length, (await box.locator("tbody tr").count()) + 1);
    assert.ok(rows.some((row) => row.includes("spark.app.name") && row.includes("skewed_join")), text);
  });

  it("keeps hostile text in its cell", async () => {
    await visit(at.page, `a/${FAILED}/stages`);
    const table = at.page.locator(".tbl-foot summary");
    if (await table.count()) {
      await table.first().click();
      const text = await copied(() => at.page.locator(".menu[open] button").click());
      assert.equal(/(^|[^\\])<script>/.test(text), false);
      assert.equal(text.split("\n").length, 3);
    }
    assert.ok((await at.page.innerText("main")).includes(HOSTILE.slice(0, 8)));
  });
});

describe("a run", () => {
  it("has its report in four forms", async () => {
    await visit(at.page, `a/${SKEWED}`);
    const { verdict } = await api(`apps/${SKEWED}/findings`);
    for (const [form, ending] of [["HTML", "html"], ["Markdown", "md"], ["JSON", "json"], ["Text", "txt"]]) {
      await open(".head-tools");
      const { name, text } = await downloaded(() => at.page.locator(".head-tools .menu[open] a", { hasText: form }).click());
      assert.equal(name, `${SKEWED}-report.${ending}`);
      assert.ok(text.replace(/\s+/g, " ").includes(verdict.split(" ").slice(0, 4).join(" ")), `${form} does not say ${verdict}`);
    }
  });

  it("is linked by y, with what is selected, where nothing can be pinned", async () => {
    await visit(at.page, `a/${SKEWED}/stages/1.0?task=57`);
    const link = await copied(() => at.page.keyboard.press("y"));
    await said("Link to this view copied");
    assert.equal(link, `${url}a/${SKEWED}/stages/1.0?task=57`);
    // This server reads no logs, so nobody would write a pinned view down.
    assert.match(at.wrong.splice(0).join(), /^console: [^,]*\b503\b[^,]*$/);
  });

  it("gives its verdict, and a finding, as Markdown", async () => {
    const { verdict, findings } = await api(`apps/${SKEWED}/findings`);
    await visit(at.page, `a/${SKEWED}`);
    await at.page.locator(".head-tools summary", { hasText: "Share" }).click();
    const first = await copied(() => at.page.locator(".head-tools .menu[open] button", { hasText: "verdict" }).click());
    await said("Verdict copied");
    assert.ok(first.startsWith("[skewed\\_join]("), first);
    assert.ok(first.replaceAll("\\", "").includes(verdict.replaceAll("\\", "")), first);
    const [finding] = findings;
    await visit(at.page, `a/${SKEWED}?finding=${encodeURIComponent(`${finding.rule}:${finding.subject.kind}:${finding.subject.key}`)}`);
    const second = await copied(() => at.page.locator(".find-actions button", { hasText: "Markdown" }).click());
    assert.ok(second.replaceAll("\\", "").includes(finding.sentence.replaceAll("\\", "")), second);
  });

  it("has a menu for the keyboard", async () => {
    await visit(at.page, `a/${SMALL}`);
    await at.page.locator(".head-tools summary").first().focus();
    await at.page.keyboard.press("Enter");
    await at.page.keyboard.press("Tab");
    assert.match(await at.page.evaluate(() => document.activeElement?.getAttribute("href") ?? ""), /report\?format=html/);
    await at.page.keyboard.press("Escape");
    await at.page.waitForFunction(() => !document.querySelector(".menu[open]") && document.activeElement?.tagName === "SUMMARY");
  });
});

describe("where logs are read", () => {
  /** @type {Awaited<ReturnType<typeof startWatching>>} */
  let server;
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "afterglow-share-")), logs = join(folder, "logs");
    mkdirSync(logs);
    copyFileSync(join(writeLogs(join(folder, "all")), SMALL), join(logs, SMALL));
    for (const run of ["regression_base", "regression_slow"]) cpSync(join(DATA, run), logs, { recursive: true });
    server = await startWatching(folder, logs);
    const are = async () => (await (await fetch(`${server.url}api/afterglow/v1/apps`)).json()).items.filter((/** @type {any} */ a) => a.state === "loaded" && a.grade !== null).length;
    await eventually(async () => (await are()) === 3);
  });
  after(async () => {
    await arrive(at.page, `${url}healthz`); // a page that is open asks on, and notes that nobody answers
    await server.stop();
  });

  it("a view is pinned by y: a short address leads to it, says so, and what was changed", async () => {
    await visit(at.page, `a/${SMALL}/stages/0.0?task=1`, server.url);
    const link = await copied(() => at.page.keyboard.press("y"));
    await said("Short address");
    assert.match(link, /\/p\/[a-z2-9]{12}$/);
    await eventually(async () => (await fetch(link, { redirect: "manual" })).status === 302);
    await arrive(at.page, link);
    assert.match(at.page.url(), /\/stages\/0\.0\?task=1&pinned=[a-z2-9]{12}$/);
    const note = at.page.locator(".is-pinned");
    assert.match(await note.innerText(), /^Pinned view\. Pinned at .*Open the live view$/s);
    assert.ok((await at.page.locator("tr.is-sel").count()) > 0);
    await at.page.locator("th button", { hasText: "Duration" }).first().click();
    await note.getByText("You have changed what it shows.").waitFor();
    await note.getByText("Back to the pinned view").click();
    await at.page.waitForURL(/\?task=1&pinned=[a-z2-9]{12}$/);
    await note.getByText("Open the live view").click();
    await note.waitFor({ state: "detached" });
    assert.ok(at.page.url().endsWith(`/stages/0.0?task=1`));
  });

  it("a fix that is tracked is held against the next run of its job", async () => {
    const [slow, base] = (await (await fetch(`${server.url}api/afterglow/v1/apps?q=nightly_sales&sort=-start`)).json()).items;
    const { findings } = await (await fetch(`${server.url}api/afterglow/v1/compare?base=${base.ref}&new=${slow.ref}`)).json();
    const gone = findings.find((/** @type {any} */ f) => f.news === "gone");
    await visit(at.page, `a/${base.ref}?small=1&finding=${gone.rule}:${gone.subjectKind}:${gone.baseSubject}`, server.url);
    await at.page.click("button:text-is('Track this fix')");
    await at.page.waitForSelector("button[aria-pressed=true]:text-is('Fix tracked')");
    assert.equal(await at.page.locator("[aria-label='What became of a tracked fix']").count(), 0, "it has no earlier run");
    await visit(at.page, `a/${slow.ref}`, server.url);
    const note = at.page.locator("[aria-label='What became of a tracked fix']");
    assert.match(await note.innerText(), new RegExp(`^Tracked fix, ${gone.name}: the finding is gone`));
    await note.getByText("Stop tracking").click();
    await note.waitFor({ state: "detached" });
  });
});

describe("an address", () => {
  it("shows the same in another browser", async () => {
    const other = await openBrowser();
    try {
      const there = await openPage(other.context);
      await prefer(there.page, { lang: "en", theme: "light", zone: "utc" });
      const views = [
        "?q=nightly_3&sort=-duration&page=1",
        `a/${SKEWED}`,
        `a/${SKEWED}/jobs?sort=id`,
        `a/${SKEWED}/stages?status=complete&sort=-tasks`,
        `a/${SKEWED}/stages/1.0?task=57&sort=-shuffleReadBytes&page=2`,
        `a/${SKEWED}/env?q=memory`,
        `compare?b=${SKEWED}&a=${SMALL}&changed=true&sort=name`,
      ];
      for (const path of views) {
        await visit(at.page, path);
        const link = at.page.url();
        await arrive(there.page, link);
        await there.page.waitForSelector("main > *");
        assert.equal(await there.page.innerText("main"), await at.page.innerText("main"), path);
        assert.equal(await there.page.title(), await at.page.title(), path);
      }
      assert.deepEqual(there.wrong, []);
    } finally {
      await other.close();
    }
  });
});

describe("paper", () => {
  it("is light, without bar, rail and buttons, and cuts nothing", async () => {
    await visit(at.page, `a/${SKEWED}/stages/1.0`);
    const pdf = await at.page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20_000);
    assert.equal(await at.page.evaluate(() => document.documentElement.dataset.theme), "dark", "the theme is back");
    await at.page.emulateMedia({ media: "print" });
    const seen = await at.page.evaluate(() => {
      dispatchEvent(new Event("beforeprint"));
      const style = (/** @type {string} */ selector) => [...document.querySelectorAll(selector)].map((e) => getComputedStyle(e));
      const out = {
        theme: document.documentElement.dataset.theme,
        hidden: style(".bar, .rail, .btn, .tbl-tools, .pager, .menu").filter((s) => s.display !== "none").length,
        cut: style(".tbl-wrap").filter((s) => s.overflowX !== "visible" || s.maxHeight !== "none").length,
        heads: style(".tbl thead").filter((s) => s.display !== "table-header-group").length,
        // Drawn for half a window, it would fill the sheet.
        large: [...document.querySelectorAll(".scatter canvas")].filter((e) => e.getBoundingClientRect().width > 460).length,
      };
      dispatchEvent(new Event("afterprint"));
      return out;
    });
    await at.page.emulateMedia({ media: null });
    assert.deepEqual(seen, { theme: "light", hidden: 0, cut: 0, heads: 0, large: 0 });
  });

  it("holds the widest tables: a browser prints what sticks out smaller, by a third at most, and cuts the rest", async () => {
    const ROOM = 703; // pixels between the margins of a sheet of A4
    await at.page.setViewportSize({ width: ROOM, height: 1000 });
    await at.page.emulateMedia({ media: "print" });
    for (const path of ["", "?group=job", `a/${SKEWED}`, `a/${SKEWED}/stages`, `a/${SKEWED}/stages/1.0`, `a/${SKEWED}/executors`, `a/${STREAMING}/streaming`]) {
      await visit(at.page, path);
      const wide = await at.page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= ROOM * 1.5, `${path || "the list"}: ${wide} pixels`);
    }
    await at.page.emulateMedia({ media: null });
    await at.page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe("language and zone", () => {
  it("the page says which, and numbers and times follow", async () => {
    await prefer(at.page, { lang: "zh-CN", theme: "light", zone: "local" });
    await visit(at.page, "");
    assert.equal(await at.page.evaluate(() => document.documentElement.lang), "zh-CN");
    assert.ok((await at.page.innerText(".tbl thead")).includes("UTC+5:30"), "the head of the column names the zone");
    const utc = (await api("apps?sort=-start&limit=1")).items[0].startMs;
    const local = new Date(utc + 5.5 * 3_600_000).toISOString().slice(0, 16).replace("T", " ");
    assert.ok((await at.page.innerText("main")).includes(local));
    await at.page.getByRole("button", { name: "English" }).click();
    await at.page.waitForFunction(() => document.documentElement.lang === "en");
    await reload(at.page);
    assert.equal(await at.page.evaluate(() => document.documentElement.lang), "en", "the choice stays");
    await prefer(at.page, { lang: "en", theme: "dark", zone: "utc" });
  });

  it("had no error", () => assert.deepEqual(at.wrong, []));
});
