// SPDX-License-Identifier: Apache-2.0
/** Every page, wide, narrow and on a phone, light and dark, English and Chinese: draws without an error, fits its window, and axe-core has nothing to say. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import axe from "axe-core";
import { openBrowser, openPage, prefer, visit } from "./support/browser.mjs";
import { listPages } from "./support/pages.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {[name: string, path: string][]} */
let pages = [];

before(async () => {
  browser = await openBrowser();
  pages = await listPages();
});
after(() => browser.close());

/** What axe finds. Its source is evaluated by the debugger, which the content security policy does not concern. @param {import("playwright-core").Page} page */
async function accessibility(page) {
  await page.evaluate(axe.source);
  await page.evaluate(() => scrollTo(0, 0)); // an opened finding is scrolled to, and at some places the bar then covers half of a button
  return page.evaluate(async () => {
    const found = await /** @type {any} */ (window).axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"] });
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
  ["light", 390, "en", false],
])) {
  describe(`${theme}, ${width} pixels, ${lang}`, () => {
    it("draws every page cleanly", async () => {
      const { page, wrong } = await openPage(browser.context);
      await page.setViewportSize({ width, height: width === 1024 ? 768 : 900 });
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
          nan: [...document.querySelectorAll(".find-body, .first-step")].reduce((text, e) => text.replace(/** @type {HTMLElement} */ (e).innerText, ""), document.body.innerText).match(/\bNaN\b|undefined|\[object|\bnull\b/)?.[0],
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
