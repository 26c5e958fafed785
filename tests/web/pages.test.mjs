// SPDX-License-Identifier: Apache-2.0
/** Every page, wide and narrow, light and dark, English and Chinese: draws without an error, fits its window, and axe-core has nothing to say. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import axe from "axe-core";
import { api, openBrowser, openPage, prefer, visit } from "./support/browser.mjs";
import { DSTREAMS, LOSSES, STORED, STREAMING, THRIFT } from "./support/log.mjs";
import { QUERIES } from "./support/sql-log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {[name: string, path: string][]} */
const pages = [
  ["applications", ""],
  ["failed runs", "?outcome=failed&sort=-tasks"],
  ["nothing matches", "?q=no-such-run-anywhere"],
  ["jobs", "?group=job&sort=-saving"],
  ["filters in force", "?grade=1&rule=CONF.FAR&minDurationMs=60000&from=1000000000000&data=incomplete&user=alice"],
];

before(async () => {
  browser = await openBrowser();
  const list = await api("apps?limit=1000");
  const apps = list.items
    .filter((/** @type {any} */ a) => a.ref && a.loaded)
    .sort((/** @type {any} */ a, /** @type {any} */ b) => (b.taskCount ?? 0) - (a.taskCount ?? 0));
  const biggest = apps[0],
    failed = apps.find((/** @type {any} */ a) => a.outcome === "failed"),
    open = apps.find((/** @type {any} */ a) => a.complete === false),
    skewed = apps.find((/** @type {any} */ a) => a.skewGrade === 4);
  assert.ok(biggest, "the server under test holds at least one loaded run");
  for (const [kind, app] of Object.entries({ biggest, failed, open, skewed })) {
    if (!app || (kind !== "biggest" && app.ref === biggest.ref)) continue;
    const at = `a/${encodeURIComponent(app.ref)}`;
    const all = await api(`apps/${encodeURIComponent(app.ref)}/stages?limit=2&sort=-duration`),
      jobs = await api(`apps/${encodeURIComponent(app.ref)}/jobs?limit=1`);
    const s = all.items[0];
    const { findings } = await api(`apps/${encodeURIComponent(app.ref)}/findings?limit=1`);
    pages.push([`${kind}: overview`, at], [`${kind}: stages`, `${at}/stages`], [`${kind}: findings`, `${at}/findings?checked=1`]);
    if (findings?.[0]) {
      const { rule, subject } = findings[0];
      pages.push([`${kind}: overview, opened`, `${at}?block=cpu&executors=3&finding=${encodeURIComponent(`${rule}:${subject.kind}:${subject.key}`)}`]);
    }
    if (s) pages.push([`${kind}: stage`, `${at}/stages/${s.stageId}.${s.attempt}`]);
    if (kind === "biggest" || kind === "failed") {
      if (jobs.items[0]) pages.push([`${kind}: job`, `${at}/jobs/${jobs.items[0].jobId}`]);
      pages.push(
        [`${kind}: jobs`, `${at}/jobs`],
        [`${kind}: executors`, `${at}/executors`],
        [`${kind}: environment`, `${at}/env`],
        [`${kind}: environment, all of Hadoop`, `${at}/env?section=hadoop`],
        [`${kind}: storage`, `${at}/storage`],
        [`${kind}: SQL`, `${at}/sql`],
      );
    }
    pages.push([`${kind}: event log`, `${at}/log`]);
    if (s && kind === "biggest") {
      const tasks = await api(`apps/${encodeURIComponent(app.ref)}/stages/${s.stageId}.${s.attempt}/tasks?limit=1`);
      if (tasks.items[0]) pages.push(["one task", `${at}/stages/${s.stageId}.${s.attempt}?task=${tasks.items[0].taskId}`]);
    }
  }
  if (apps.some((/** @type {any} */ a) => a.ref === LOSSES)) {
    const runs = (await api(`apps/${STREAMING}/streaming`)).items,
      [session] = (await api(`apps/${THRIFT}/sessions`)).items,
      statements = (await api(`apps/${THRIFT}/operations`)).items;
    pages.push(
      ["lost executors", `a/${LOSSES}/executors`],
      ["one executor", `a/${LOSSES}/executors?exec=1`],
      ["processes", `a/${LOSSES}/processes`],
      ["no process", `a/${STORED}/processes`],
      ["cached RDDs", `a/${STORED}/storage`],
      ["one RDD", `a/${STORED}/storage/7`],
      ["a released RDD", `a/${STORED}/storage/8`],
      ["every setting", `a/${LOSSES}/env?noise=1&section=all`],
      ["streaming queries", `a/${STREAMING}/streaming`],
      ...runs.map((/** @type {any} */ r) => /** @type {[string, string]} */ ([`streaming query ${r.name}`, `a/${STREAMING}/streaming/${r.runId}`])),
      ["no streaming query", `a/${STORED}/streaming`],
      ["DStreams", `a/${DSTREAMS}/dstreams`],
      ["no DStreams", `a/${STORED}/dstreams`],
      ["sessions", `a/${THRIFT}/sessions`],
      ["one session", `a/${THRIFT}/sessions/${session.sessionId}`],
      ["no session", `a/${STORED}/sessions`],
      ...statements.slice(0, 2).map((/** @type {any} */ o) => /** @type {[string, string]} */ ([`statement ${o.id}`, `a/${THRIFT}/operations/${o.id}`])),
    );
  }
  // The run that support/sql-log.mjs wrote, where the server has it.
  const queries = apps.find((/** @type {any} */ a) => a.appId === QUERIES);
  if (queries)
    for (const path of ["sql", "sql/0?node=5", "sql/0?version=diff&fold=code", "sql/1", "sql/2?view=20", "jobs/0"]) pages.push([`queries: ${path}`, `a/${encodeURIComponent(queries.ref)}/${path}`]);
  const usual = apps.find((/** @type {any} */ a) => /^nightly/.test(a.name ?? "") && a.startMs > 1767139200000 + 30 * 60_000) ?? biggest;
  const b = encodeURIComponent(usual.ref);
  pages.push(
    ["compare with what is usual", `compare?b=${b}`],
    ["compare with a chosen run", `compare?b=${b}&a=${encodeURIComponent(biggest.ref)}&choose=1&of=queries`],
    ["compare, too few runs", `compare?b=${encodeURIComponent(biggest.ref)}`],
  );
  if (open) pages.push(["compare with an incomplete log", `compare?b=${encodeURIComponent(open.ref)}&a=${encodeURIComponent(biggest.ref)}`]);
});
after(() => browser.close());

/** What axe finds. Its source is evaluated by the debugger, which the content security policy does not concern. @param {import("playwright-core").Page} page */
async function accessibility(page) {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const found = await /** @type {any} */ (window).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
    return found.violations.map(
      (/** @type {any} */ v) =>
        `${v.id}: ${v.help}: ${v.nodes
          .slice(0, 3)
          .map((/** @type {any} */ n) => `${n.target.join(" ")} ${n.any?.[0]?.message ?? ""}`)
          .join(" | ")}`,
    );
  });
}

// axe takes most of the time; each theme and each width is examined once.
for (const [theme, width, lang, examine] of /** @type {const} */ ([
  ["light", 1440, "en", true],
  ["dark", 1440, "zh-CN", false],
  ["light", 1024, "zh-CN", false],
  ["dark", 1024, "en", true],
])) {
  describe(`${theme}, ${width} pixels, ${lang}`, () => {
    it("draws every page cleanly", async () => {
      const { page, wrong } = await openPage(browser.context);
      await page.setViewportSize({ width, height: width === 1440 ? 900 : 768 });
      await page.addInitScript(() => {
        /** @type {any} */ (window).shift = 0;
        new PerformanceObserver((list) => {
          for (const e of /** @type {any[]} */ (list.getEntries())) if (!e.hadRecentInput) /** @type {any} */ (window).shift += e.value;
        }).observe({ type: "layout-shift", buffered: true });
      });
      await prefer(page, { theme, lang, zone: "utc" });
      /** @type {string[]} */
      const breaches = [];
      for (const [name, path] of pages) {
        wrong.length = 0;
        await visit(page, path);
        const seen = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth - innerWidth,
          theme: document.documentElement.dataset.theme,
          lang: document.documentElement.lang,
          h1: document.querySelectorAll("h1").length,
          failure: document.querySelector(".is-failure")?.textContent,
          // Advice and code of a finding may well speak of null.
          nan: [...document.querySelectorAll(".find-body")].reduce((text, e) => text.replace(/** @type {HTMLElement} */ (e).innerText, ""), document.body.innerText).match(/\bNaN\b|undefined|\[object|\bnull\b/)?.[0],
          shift: /** @type {any} */ (window).shift,
          // Chinese has no space after its own stops.
          gap: [...document.querySelectorAll(".verdict, .banner")].map((e) => e.textContent?.match(/.{0,8}[。：，；] .{0,8}/)?.[0]).find(Boolean),
          label: [...document.querySelectorAll(".chart text")].filter((e) => {
            const [text, chart] = [e.getBoundingClientRect(), e.closest("svg")?.getBoundingClientRect()];
            return chart && (text.left < chart.left - 1 || text.right > chart.right + 1);
          }).length,
          // A table or a drawing that does not fit scrolls inside its box; nothing else may be cut off at the right.
          cut: [...document.querySelectorAll("main *")].filter((e) => !e.closest(".tbl-wrap, .graph-window, svg") && e.getBoundingClientRect().right > innerWidth + 1).length,
        }));
        if (seen.wide > 0) breaches.push(`${name}: ${seen.wide} pixels wider than the window`);
        if (seen.cut) breaches.push(`${name}: ${seen.cut} elements are cut at the right`);
        if (seen.gap) breaches.push(`${name}: a space after a full-width stop: ${seen.gap}`);
        if (seen.label) breaches.push(`${name}: ${seen.label} labels of a chart are cut`);
        if (seen.theme !== theme || seen.lang !== lang) breaches.push(`${name}: ${seen.theme} ${seen.lang}`);
        if (seen.failure) breaches.push(`${name}: ${seen.failure}`);
        if (seen.nan && !/environment|setting|statement/.test(name)) breaches.push(`${name}: shows ${seen.nan}`);
        if (seen.h1 > 1) breaches.push(`${name}: ${seen.h1} first headings`);
        if (seen.shift > 0.02) breaches.push(`${name}: layout shifts by ${seen.shift}`);
        breaches.push(...wrong.map((w) => `${name}: ${w}`), ...(examine ? await accessibility(page) : []).map((/** @type {string} */ v) => `${name}: ${v}`));
      }
      assert.deepEqual(breaches, []);
      await page.close();
    });
  });
}
