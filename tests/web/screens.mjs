// SPDX-License-Identifier: Apache-2.0
/**
 * Pictures of every page of a server that runs, for eyes: `AFTERGLOW_URL=… node screens.mjs FOLDER [WORD]`, called by tools/screens. WORD: only pictures whose name contains it, such as "stage" or "390-dark-en".
 * FOLDER/index.html shows them side by side. Ends with 1 where a page said that something is wrong.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage, prefer, visit } from "./support/browser.mjs";
import { listPages } from "./support/pages.mjs";

const [folder, word = ""] = process.argv.slice(2);
/** Widths of a desk, a small notebook and a phone, with the height that is seen at once; pictures show the whole page. */
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
];
mkdirSync(folder, { recursive: true });
const browser = await openBrowser();
const all = await listPages();
const nameOf = (/** @type {string[]} */ ...parts) => parts.join("-").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase() + ".png";
/** @type {string[]} */
const rows = [];
let failures = 0;
for (const theme of ["light", "dark"])
  for (const lang of ["en", "zh-CN"])
    for (const [width, height] of SIZES) {
      const pages = all.map(([name, path]) => [nameOf(name, String(width), theme, lang), path]).filter(([file]) => file.includes(word));
      if (!pages.length) continue;
      const { page, wrong } = await openPage(browser.context);
      await page.setViewportSize({ width, height });
      await prefer(page, { theme, lang, zone: "utc" });
      for (const [file, path] of pages) {
        await visit(page, path);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wider > 0) wrong.push(`${file}: ${wider} pixels wider than the window`);
        await page.screenshot({ path: join(folder, file), fullPage: true });
        rows.push(`<figure><img src="${file}" loading="lazy" width="480" alt=""><figcaption>${file}</figcaption></figure>`);
      }
      for (const w of wrong) console.error(w);
      failures += wrong.length;
      await page.close();
    }
await browser.close();
writeFileSync(join(folder, "index.html"), `<!doctype html><meta charset="utf-8"><title>Pages</title>${rows.join("\n")}`);
console.log(`${rows.length} pictures of ${all.length} pages in ${folder}, ${failures} errors on them`);
process.exitCode = failures ? 1 : 0;
