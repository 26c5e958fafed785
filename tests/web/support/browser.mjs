// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { CHROMIUM } from "./where.mjs";

export const url = /** @type {string} */ (process.env.AFTERGLOW_URL ?? "").replace(/\/?$/, "/");
export const api = async (/** @type {string} */ path) => (await fetch(`${url}api/afterglow/v1/${path}`)).json();

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
  context.setDefaultTimeout(20_000);
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

/** Opens an address and waits until nothing loads any more. @param {import("playwright-core").Page} page @param {string} path @param {string} [root] */
export async function visit(page, path, root = url) {
  await page.goto(root + path, { waitUntil: "networkidle" });
  await page.waitForSelector("main > *");
}

/** Preferences as a person would have chosen them. @param {import("playwright-core").Page} page @param {object} prefs @param {string} [root] */
export async function prefer(page, prefs, root = url) {
  await page.goto(root + "healthz");
  await page.evaluate((p) => localStorage.setItem("afterglow", JSON.stringify(p)), prefs);
}
