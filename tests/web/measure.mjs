// SPDX-License-Identifier: Apache-2.0
/**
 * How long pages take in a browser, for tests/bench: `AFTERGLOW_URL=… node measure.mjs RUNS NAME=PATH=SELECTOR… [frames=PATH=SELECTOR]`. Prints a JSON object: for each name the medians of first paint
 * (`paintMs`), of the moment when something matches SELECTOR (`usableMs`), both from the start of the navigation in a browser that has the code already, and of what the page's thread worked
 * until then (`workMs`); for `frames` the frames a second
 * while the picture that matches SELECTOR is zoomed and dragged. Ends with 77 where there is no browser.
 */
import { existsSync } from "node:fs";
import { arrive, openBrowser, openPage, url } from "./support/browser.mjs";
import { CHROMIUM } from "./support/where.mjs";

if (!existsSync(CHROMIUM)) process.exit(77);
/** How long a picture is moved. */
const MOVED_MS = 3000;
const [runs, ...wanted] = process.argv.slice(2);
const browser = await openBrowser();
/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** @param {string} path @param {string} selector */
async function once(path, selector) {
  const { page } = await openPage(browser.context);
  const cdp = await browser.context.newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const worked = async () => ((await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration")?.value ?? NaN) * 1000;
  const before = await worked();
  await page.goto(url + path, { waitUntil: "commit" });
  const usable = await page.waitForFunction((s) => (document.querySelector(s) ? performance.now() : 0), selector, { polling: "raf" });
  const work = (await worked()) - before;
  const paint = await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime, undefined, { polling: "raf" });
  const seen = { paintMs: await paint.jsonValue(), usableMs: await usable.jsonValue(), workMs: work };
  await page.close();
  return seen;
}

/** @param {string} path @param {string} selector */
async function frames(path, selector) {
  const { page } = await openPage(browser.context);
  await arrive(page, url + path);
  const picture = page.locator(selector).first();
  await picture.scrollIntoViewIfNeeded();
  const box = /** @type {{ x: number, y: number, width: number, height: number }} */ (await picture.boundingBox());
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.evaluate(() => {
    const w = /** @type {any} */ (window);
    w.frames_ = 0;
    const beat = () => {
      w.frames_++;
      requestAnimationFrame(beat);
    };
    requestAnimationFrame(beat);
  });
  const begun = Date.now();
  for (let i = 0; Date.now() - begun < MOVED_MS; i++) {
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, i % 20 < 10 ? -120 : 120);
    await page.keyboard.up("Control");
    await page.mouse.down();
    await page.mouse.move(x + (i % 2 ? 60 : -60), y, { steps: 3 });
    await page.mouse.up();
  }
  const seconds = (Date.now() - begun) / 1000;
  const drawn = await page.evaluate(() => /** @type {any} */ (window).frames_);
  await page.close();
  return drawn / seconds;
}

/** @type {Record<string, any>} */
const said = {};
for (const what of wanted) {
  const [name, ...rest] = what.split("="),
    selector = /** @type {string} */ (rest.pop()),
    path = rest.join("=");
  if (name === "frames") {
    said.framesPerSecond = await frames(path, selector);
    continue;
  }
  await once(path, selector);
  const seen = [];
  for (let i = 0; i < Number(runs); i++) seen.push(await once(path, selector));
  said[name] = { paintMs: median(seen.map((s) => s.paintMs)), usableMs: median(seen.map((s) => s.usableMs)), workMs: median(seen.map((s) => s.workMs)) };
}
await browser.close();
console.log(JSON.stringify(said));
