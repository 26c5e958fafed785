// SPDX-License-Identifier: Apache-2.0
/**
 * Four clicks (issue 6): on each log with a planted fault, from the list of applications to the named cause, with nothing known beforehand. Titles, sentences and prices of findings are read
 * without a click; opening one, unfolding the small ones and following it to its place are clicks. The own logs of tests/data always, those of ../shared/logs (AFTERGLOW_SHARED) where they are.
 * Prints what was clicked and read. With AFTERGLOW_PICTURES=FOLDER each walk leaves a picture of the overview, of the opened finding and of its place, to be looked at.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openBrowser, openPage, prefer, settled } from "./support/browser.mjs";
import { startOver } from "./support/server.mjs";
import { ROOT } from "./support/where.mjs";

const MOST_CLICKS = 4;
const OWN = join(ROOT, "tests/data/logs"),
  SHARED = join(process.env.AFTERGLOW_SHARED ?? join(ROOT, "../shared"), "logs");
const PICTURES = process.env.AFTERGLOW_PICTURES;

/** The rules that name a planted fault: ../shared/spec/findings.md §14. @type {Record<string, string[]>} */
const RULES = {
  "skew:data": ["STAGE.SKEW_DATA"],
  "skew:slow-host-or-straggler": ["STAGE.SLOW_HOST", "STAGE.STRAGGLER"],
  straggler: ["STAGE.STRAGGLER"],
  gc: ["STAGE.GC_HIGH"],
  spill: ["STAGE.SPILL"],
  "tiny-tasks": ["STAGE.TINY_TASKS"],
  "too-few-tasks": ["STAGE.FEW_TASKS", "STAGE.SINGLE_TASK"],
  recompute: ["RDD.RECOMPUTE"],
  "task-failures": ["TASK.FAILURES", "JOB.FAILED"],
  "big-result": ["STAGE.RESULT_LARGE"],
  "driver-idle": ["APP.DRIVER_GAP"],
  "idle-executors": ["APP.OVERALLOC", "APP.LOW_UTIL"],
  "broadcast-missed": ["SQL.BROADCAST_MISSED"],
  "cross-join": ["SQL.ROW_EXPLOSION"],
  "python-udf": ["SQL.PYTHON_UDF"],
  "small-files-read": ["SQL.SMALL_FILES_READ"],
};

/** Of a list for readers, in its order: server/openapi.yaml, Finding. */
const PARTS = ["lead", "cause", "symptom", "note", "usual"];

/** Folders of tests/data/logs with a fault in them. @type {Record<string, string>} */
const PLANTED = {
  big_stage: "tiny-tasks",
  connect_ops: "task-failures",
  failures: "task-failures",
  gc_pressure: "gc",
  idle_executors: "idle-executors",
  python_udf: "python-udf",
  regression_slow: "broadcast-missed",
  skew_hot_key: "skew:data",
  slow_executor: "skew:slow-host-or-straggler",
  spill_sort: "spill",
  straggler_even_bytes: "straggler",
  thrift_ops: "task-failures",
  tiny_tasks: "tiny-tasks",
};

/** @param {string} folder what is served @param {(path: string) => string | null} faultOf of a log, by its path below the folder @param {string[]} planted logs with a fault, or the folders they are in */
function walks(folder, faultOf, planted) {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser;
  /** @type {Exclude<Awaited<ReturnType<typeof startOver>>, string>} */
  let server;
  /** @type {import("playwright-core").Page} */
  let page;
  /** @type {string[]} */
  let wrong;
  /** @type {string[][]} */
  const read = [];
  before(async () => {
    browser = await openBrowser();
    server = await startOver(() => folder);
    ({ page, wrong } = await openPage(browser.context));
    await prefer(page, { theme: "light", lang: "en", zone: "utc" }, server.url);
    if (PICTURES) mkdirSync(PICTURES, { recursive: true });
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  it(`reaches the cause in ${MOST_CLICKS} clicks`, async () => {
    const get = async (/** @type {string} */ path) => (await fetch(`${server.url}api/afterglow/v1/${path}`)).json();
    /** @type {string[]} */
    const lost = [];
    const walked = new Set();
    for (const app of (await get("apps?limit=1000&sort=name")).items) {
      const path = app.logPath.slice(folder.length + 1),
        fault = faultOf(path);
      if (!fault) continue;
      walked.add(planted.includes(path) ? path : path.split("/")[0]);
      try {
        const { clicks, row, says } = await walk(page, server.url, app, RULES[fault], path, get);
        read.push([path.split("/").slice(0, -1).join("/"), fault, String(clicks), String(row), says]);
        if (clicks > MOST_CLICKS) lost.push(`${path}: ${clicks} clicks`);
      } catch (e) {
        lost.push(`${path} (${fault}): ${e instanceof Error ? e.message : e}`);
      }
    }
    console.log(["log", "planted", "clicks", "row", "what is read"].join(" | "));
    for (const line of read) console.log(line.join(" | "));
    assert.deepEqual(lost, []);
    // Of an RDD that was never to be kept the API knows nothing; its page shows what was found.
    assert.deepEqual(wrong.filter((w) => !w.includes("status of 404")), []);
    assert.deepEqual(planted.filter((log) => !walked.has(log)), [], "each planted log is in the list, and was walked");
  });
}

/**
 * @param {import("playwright-core").Page} page @param {string} root @param {any} app as the API lists it @param {string[]} rules those that name the cause @param {string} path
 * @param {(path: string) => Promise<any>} get @returns {Promise<{ clicks: number, row: number, says: string }>} row: how many findings are read until it
 */
async function walk(page, root, app, rules, path, get) {
  let clicks = 0;
  const click = async (/** @type {import("playwright-core").Locator} */ what) => {
    await what.click();
    clicks++;
  };
  const picture = async (/** @type {string} */ what) => {
    if (!PICTURES) return;
    await settled(page);
    await page.screenshot({ path: join(PICTURES, `${path.split("/").slice(0, -1).join("-")}-${what}.png`) });
  };
  await page.goto(root);
  await page.getByRole("searchbox").first().fill(app.appId);
  await page.waitForURL(/[?&]q=/); // the rows that stand there until then are about to go
  await settled(page);
  await click(page.locator(`main tbody a[href$="/a/${app.ref}"]`).first());
  await page.waitForSelector(".find-row");
  await settled(page);
  await picture("1-overview");
  const rows = page.locator(rules.map((rule) => `.find-row[data-finding^="${rule}:"]`).join(", "));
  const seen = await page.locator("main").innerText();
  if (!(await rows.count())) await click(page.locator("a.find-fold[href*='small=']"));
  const id = await rows.first().getAttribute("data-finding"),
    row = 1 + (await page.locator(".find-row").evaluateAll((all, wanted) => all.findIndex((r) => r.getAttribute("data-finding") === wanted), id));
  const { findings } = await get(`apps/${app.ref}/findings?lang=en`);
  // What the verdict names stands on top, and what every run has below all that can be mended.
  const order = (await page.locator(".find-row").evaluateAll((all) => all.map((r) => r.getAttribute("data-finding")))).map(
    (shown) => PARTS.indexOf(findings.find((/** @type {any} */ f) => `${f.rule}:${f.subject.kind}:${f.subject.key}` === shown).part),
  );
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
  const cause = findings.find((/** @type {any} */ f) => `${f.rule}:${f.subject.kind}:${f.subject.key}` === id);
  assert.ok(seen.includes(cause.name), `${cause.name} is named before anything is opened`);
  await click(rows.first());
  const item = page.locator(".find-item.is-open");
  await item.locator(".find-body").waitFor();
  await picture("2-opened");
  await settled(page);
  const text = await item.innerText();
  for (const part of [cause.name, cause.sentence, cause.advice]) assert.ok(text.includes(part), `${part} is not in ${text}`);
  assert.equal((await item.locator(".find-where").innerText()).length > 0, true);
  assert.equal(/no price/.test(await item.locator(".find-price").innerText()), !(cause.price && (cause.price.ms > 0 || cause.price.highMs > 0)), text);
  // What the program itself did wrong is told by its message; there is no setting to copy.
  assert.ok(cause.fixes.length || cause.rule === "JOB.FAILED", `${cause.rule} has no fix`);
  if (cause.fixes.length) {
    assert.ok(await item.locator(".find-fix pre").first().isVisible());
    assert.equal(await item.locator(".find-fix pre").first().textContent(), cause.fixes[0].code);
  }
  // Where it is, with the cause in sight there, too.
  const place = item.locator(".find-where a");
  if (await place.count()) {
    await click(place);
    await page.waitForURL((u) => !u.pathname.endsWith(`/a/${app.ref}`));
    await page.locator("main", { hasText: cause.sentence }).waitFor();
    await picture("3-place");
  }
  return { clicks, row, says: `${cause.name}: ${cause.sentence}` };
}

describe("four clicks to the cause, own logs", () => walks(OWN, (path) => PLANTED[path.split("/")[0]] ?? null, Object.keys(PLANTED)));

describe("four clicks to the cause, ../shared/logs", { skip: existsSync(join(SHARED, "labels.json")) ? false : "../shared/logs is not there" }, () => {
  const labels = existsSync(join(SHARED, "labels.json")) ? JSON.parse(readFileSync(join(SHARED, "labels.json"), "utf8")) : {};
  walks(SHARED, (path) => labels[path]?.must[0] ?? null, Object.keys(labels).filter((path) => labels[path].must.length));
});
