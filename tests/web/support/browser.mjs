// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { chromium } from "playwright-core";
import { CHROMIUM } from "./where.mjs";

export const url = /** @type {string} */ (process.env.AFTERGLOW_URL ?? "").replace(/\/?$/, "/");
export const api = async (/** @type {string} */ path) => (await fetch(`${url}api/afterglow/v1/${path}`)).json();

/** A limit is for what hangs: on a machine that does ten other things a page takes its time. */
const PATIENCE_MS = 300_000;
/** So many frames in a row without a new question, and nothing more comes: an answer is drawn in the first, what hangs on it is asked for after the second. */
const QUIET_FRAMES = 6;

/** What each page has asked for and not got yet, and how often it has asked. @type {WeakMap<import("playwright-core").Page, { open: Set<import("playwright-core").Request>, count: number }>} */
const asked = new WeakMap();

/** @param {import("playwright-core").Page} page */
function count(page) {
  /** @type {{ open: Set<import("playwright-core").Request>, count: number }} */
  const own = { open: new Set(), count: 0 };
  /** The next document, from the question for it until it is there. @type {import("playwright-core").Request | null} */
  let next = null;
  const ended = (/** @type {import("playwright-core").Request} */ r) => {
    own.open.delete(r);
    if (r === next) next = null;
  };
  asked.set(page, own);
  page.on("request", (r) => {
    if (r.isNavigationRequest() && r.frame() === page.mainFrame()) next = r;
    own.open.add(r);
    own.count++;
  });
  page.on("framenavigated", (frame) => {
    if (frame !== page.mainFrame() || !next) return;
    // Nobody waits for what the document before it asked for, which the browser does not always say the end of.
    own.open = new Set([next].filter((r) => own.open.has(r)));
    next = null;
  });
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
}

/** A browser with an empty profile. @returns {Promise<{ context: import("playwright-core").BrowserContext, close: () => Promise<void> }>} */
export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), "afterglow-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    timezoneId: "Asia/Kolkata",
    viewport: { width: 1440, height: 900 },
    args: ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  context.pages().forEach(count);
  context.on("page", count);
  return {
    context,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/**
 * A page that notes what went wrong on it: errors in the console (blocked by the content security policy, too), uncaught exceptions.
 * @param {import("playwright-core").BrowserContext} context
 */
export async function openPage(context) {
  const page = await context.newPage();
  /** @type {string[]} */
  const wrong = [];
  page.on("console", (m) => {
    // Chromium asks for an icon where a plain answer, such as /healthz, names none.
    if ((m.type() === "error" || m.type() === "warning") && !m.location().url.endsWith("/favicon.ico")) wrong.push(`console: ${m.text()}`);
  });
  page.on("pageerror", (e) => wrong.push(`exception: ${e.message}`));
  return { page, wrong };
}

/**
 * Waits until a page has all it asked for, and has drawn it. Half a second without a request, which the browser calls idle, is long on a quiet machine and short on a busy one; frames are as slow as the page is.
 * @param {import("playwright-core").Page} page
 */
export async function settled(page) {
  const own = /** @type {{ open: Set<import("playwright-core").Request>, count: number }} */ (asked.get(page));
  const end = Date.now() + PATIENCE_MS;
  for (let before = -1; before !== own.count || own.open.size; ) {
    if (Date.now() > end) throw new Error(`still on its way: ${[...own.open].map((r) => r.url()).join(" ")}`);
    before = own.count;
    await page.waitForFunction((frames) => {
      const w = /** @type {any} */ (window);
      w.framesSeen = (w.framesSeen ?? 0) + 1;
      return w.framesSeen % frames === 0;
    }, QUIET_FRAMES);
  }
}

/** What is read comes to be `wanted`, sooner or later. For what a page shows a moment after its last answer. @template T @param {() => Promise<T>} read @param {unknown} wanted */
export async function becomes(read, wanted) {
  for (const end = Date.now() + PATIENCE_MS / 5; ; await new Promise((done) => setTimeout(done, 50))) {
    const now = await read();
    if (isDeepStrictEqual(now, wanted)) return;
    if (Date.now() > end) assert.deepEqual(now, wanted);
  }
}

/** Opens an address and waits until nothing loads any more. @param {import("playwright-core").Page} page @param {string} address */
export async function arrive(page, address) {
  const answer = await page.goto(address);
  await settled(page);
  return answer;
}

/** A page of ours. @param {import("playwright-core").Page} page @param {string} path @param {string} [root] */
export async function visit(page, path, root = url) {
  await page.goto(root + path);
  await page.waitForSelector("main > *");
  await settled(page);
}

/** The same page once more, from the start. @param {import("playwright-core").Page} page */
export async function reload(page) {
  await page.reload();
  await page.waitForSelector("main > *");
  await settled(page);
}

/** Where a page is now. What playwright says of that it hears a moment later. @param {import("playwright-core").Page} page */
export const address = async (page) => new URL(await page.evaluate(() => location.href));

/** Lets what a page does after a pause come true: its timers fall due in their order, however slow it is. @param {import("playwright-core").Page} page @param {number} ms longer than the pause */
export async function rest(page, ms) {
  await page.evaluate((wait) => new Promise((done) => setTimeout(done, wait)), ms);
  await settled(page);
}

/** Preferences as a person would have chosen them. @param {import("playwright-core").Page} page @param {object} prefs @param {string} [root] */
export async function prefer(page, prefs, root = url) {
  await page.goto(root + "healthz");
  await page.evaluate((p) => localStorage.setItem("afterglow", JSON.stringify(p)), prefs);
}
