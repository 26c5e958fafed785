// SPDX-License-Identifier: Apache-2.0
/** A log can hold any text, and its text must never become markup, code or a link (pain.md P098). */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { HOSTILE as EVERYWHERE, writeHostileLogs } from "../api/support/hostile_log.mjs";
import { api, arrive, openBrowser, openPage, prefer, visit } from "./support/browser.mjs";
import { FAILED, HOSTILE, SKEWED } from "./support/log.mjs";
import { WAYS, startBothWays } from "./support/server.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
let there = false;
before(async () => {
  browser = await openBrowser();
  there = (await api(`apps/${FAILED}`)).ref !== undefined;
});
after(() => browser.close());

describe("hostile text among good one", () => {
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

describe("P098 hostile-text", () => {
  /** @type {Awaited<ReturnType<typeof startBothWays>>} */
  let server;
  before(async () => {
    server = await startBothWays(writeHostileLogs);
  });
  after(() => server.stop());

  /** Every page of every run: what the API lists, with hostile ids in the addresses. @param {string} root @returns {Promise<[path: string, shows: boolean][]>} */
  async function everyPage(root) {
    const get = async (/** @type {string} */ path) => (await fetch(`${root}api/afterglow/v1/${path}`)).json();
    const at = encodeURIComponent;
    /** @type {[string, boolean][]} */
    const pages = [["", true]];
    for (const { ref } of (await get("apps")).items) {
      const own = `a/${at(ref)}`,
        of = async (/** @type {string} */ each) => (await get(`apps/${at(ref)}/${each}`)).items;
      for (const page of ["", "/findings?checked=1", "/jobs", "/stages", "/executors", "/env?section=all&noise=1", "/storage", "/sql", "/streaming", "/sessions", "/processes", "/dstreams", "/log"]) pages.push([own + page, true]);
      for (const { jobId } of await of("jobs")) pages.push([`${own}/jobs/${jobId}`, true]);
      for (const { stageId, attempt } of await of("stages")) pages.push([`${own}/stages/${stageId}.${attempt}?view=cost`, true]);
      for (const { executorId } of await of("executors")) pages.push([`${own}/executors?exec=${at(executorId)}`, true]);
      for (const { id } of await of("sql")) pages.push([`${own}/sql/${id}?node=1`, true], [`${own}/sql/${id}?version=diff`, true]);
      for (const { runId } of await of("streaming")) pages.push([`${own}/streaming/${at(runId)}`, true]);
      for (const { sessionId } of await of("sessions")) pages.push([`${own}/sessions/${at(sessionId)}`, true]);
      for (const { id } of await of("operations")) pages.push([`${own}/operations/${id}`, true]);
      pages.push([`compare?b=${at(ref)}`, true]);
    }
    // What stands in an address comes back as text, or not at all.
    const text = at(EVERYWHERE);
    for (const path of [`?q=${text}&user=${text}&sort=${text}&rule=${text}`, `a/${text}`, `a/small/${text}`, `a/small/jobs/${text}`, `compare?b=${text}&a=${text}`, `${text}`, `status?q=${text}`, `#${text}`, `a/small#${text}`]) pages.push([path, false]);
    return pages;
  }

  for (const way of WAYS)
    it(`shows as it was typed on every page, ${way}`, async () => {
      const root = server.roots[way];
      const { page } = await openPage(browser.context);
      await prefer(page, { theme: "light", lang: "en", zone: "utc" }, root);
      /** @type {string[]} */
      const elsewhere = [];
      page.on("request", (r) => {
        if (!r.url().startsWith(root)) elsewhere.push(r.url());
      });
      page.on("dialog", (d) => {
        elsewhere.push(`a dialog: ${d.message()}`);
        void d.dismiss();
      });
      /** @type {string[]} */
      const thrown = [];
      page.on("pageerror", (e) => thrown.push(e.message));
      for (const [path, shows] of await everyPage(root)) {
        const answer = await arrive(page, root + path);
        const policy = answer?.headers()["content-security-policy"] ?? "";
        assert.match(policy, /(default|script)-src 'self'/, path);
        assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval/, path);
        if (answer?.status() === 200) await page.waitForSelector("main > *");
        const seen = await page.evaluate(() => ({
          text: document.body.textContent ?? "",
          titles: [...document.querySelectorAll("[title]")].map((e) => e.getAttribute("title") ?? "").join("\n"),
          alien: document.querySelectorAll("body script, body img, body iframe").length,
          links: [...document.querySelectorAll("a")].map((a) => a.href).filter((h) => !/^https?:/.test(h)),
        }));
        if (shows) assert.ok((seen.text + seen.titles).includes(EVERYWHERE), `${path}: ${seen.text.slice(0, 500)}`);
        assert.doesNotMatch(seen.text, /&lt;img|&amp;lt;/, path);
        assert.equal(seen.alien, 0, path);
        assert.deepEqual(seen.links, [], path);
      }
      assert.deepEqual(elsewhere, []);
      assert.deepEqual(thrown, []);
      await page.close();
    });
});
