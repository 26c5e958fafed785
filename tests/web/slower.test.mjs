// SPDX-License-Identifier: Apache-2.0
/**
 * A nightly job that "got worse overnight", as a new user goes after it: the list says which run is slower than its job was, the run says by how much, the comparison says why, in seconds and
 * settings, and its link shows the same to a colleague. Five nights of tests/data/logs/regression_base, each a day apart, and after them regression_slow: the same job on one core instead of two,
 * and without broadcast joins.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openBrowser, openPage, prefer, settled } from "./support/browser.mjs";
import { startOver } from "./support/server.mjs";
import { ROOT } from "./support/where.mjs";

const NIGHTS = 5,
  DAY_MS = 86_400_000,
  SLOW = "app-20261129213238-0000";

/** @param {string} name of a folder with one log */
function logOf(name) {
  const folder = join(ROOT, "tests/data/logs", name),
    [file] = readdirSync(folder);
  return { id: file.replace(".zstd", ""), text: execFileSync("zstd", ["-dcq", join(folder, file)], { maxBuffer: 1 << 26 }).toString() };
}

/** @param {string} folder */
function writeNights(folder) {
  mkdirSync(folder, { recursive: true });
  const base = logOf("regression_base");
  for (let night = 1; night <= NIGHTS; night++) {
    const id = base.id.replace("20261129", `202611${29 - night}`);
    const text = base.text.replaceAll(base.id, id).replace(/\b179\d{10}\b/g, (ms) => String(Number(ms) - night * DAY_MS));
    writeFileSync(join(folder, id), text);
  }
  writeFileSync(join(folder, SLOW), logOf("regression_slow").text);
  return folder;
}

describe("a run that got slower", () => {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser;
  /** @type {Exclude<Awaited<ReturnType<typeof startOver>>, string>} */
  let server;
  /** @type {Awaited<ReturnType<typeof openPage>>} */
  let at;
  /** @type {any} the comparison, of the API */
  let c;
  before(async () => {
    browser = await openBrowser();
    await browser.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    server = await startOver(writeNights);
    at = await openPage(browser.context);
    await prefer(at.page, { theme: "light", lang: "en", zone: "utc" }, server.url);
    c = await (await fetch(`${server.url}api/afterglow/v1/compare?base=usual&new=${SLOW}&lang=en`)).json();
  });
  after(async () => {
    await browser.close();
    await server.stop();
  });

  it("stands out in the list, and no other run does", async () => {
    await at.page.goto(server.url);
    await at.page.locator(`main tbody a[href$="/a/${SLOW}"]`).first().waitFor();
    await settled(at.page);
    const late = at.page.locator(".runs-late");
    assert.equal(await late.count(), 1);
    // 27,056 against 20,444 ms, by hand from the first and last events of both logs
    assert.equal((await late.innerText()).replace(/\s/g, ""), "+32%");
    assert.equal(await at.page.locator("main tbody tr", { has: late }).locator(`a[href$="/a/${SLOW}"]`).count() > 0, true);
  });

  it("says so in its verdict, one click away, and in a finding that leads to the comparison", async () => {
    await at.page.locator(`main tbody a.name-link[href$="/a/${SLOW}"]`).click();
    await at.page.locator(".verdict-say", { hasText: "slower than the usual 20.4 s" }).waitFor();
    await settled(at.page);
    const finding = at.page.locator(".find-item", { has: at.page.locator('[data-finding^="RUN.REGRESSION:"]') });
    assert.equal((await finding.locator(".find-where").innerText()).trim(), "Compare");
    await finding.locator(".find-where a").click();
    await at.page.waitForURL(new RegExp(`compare\\?b=${SLOW}`));
  });

  it("is explained in seconds, by the settings that differ, with its stages beside those of before", async () => {
    await at.page.locator(".verdict-say", { hasText: c.sentence }).waitFor();
    await settled(at.page);
    const main = await at.page.innerText("main");
    assert.equal(c.deltaMs, 27_056 - 20_444);
    assert.match(c.sentence, /^6\.6 s slower than usual \(20\.4 s, 5 earlier runs\)/);
    for (const part of ["spark.master", "local-cluster[2,1,1024]", "local-cluster[1,1,1024]", "spark.sql.autoBroadcastJoinThreshold", "query 0, operator 8"]) assert.ok(main.includes(part), part);
    // What it is about is read from above: causes first, then the runs, then the stages, then findings and settings.
    const heads = await at.page.locator("main h2").allInnerTexts();
    assert.deepEqual(heads.filter((h) => h.trim()).map((h) => h.trim()).slice(-6), ["Where the difference comes from", "Earlier runs of this job", "Side by side", "Findings", "Settings that differ", "Numbers side by side"]);
    const matched = at.page.locator("main table", { has: at.page.locator("caption", { hasText: "Side by side" }) }).locator("tbody tr");
    assert.ok((await matched.count()) >= 10, "all stages of the run have a row");
  });

  it("is given away as a link that shows the same", async () => {
    await at.page.getByRole("button", { name: "Share" }).or(at.page.locator("summary", { hasText: "Share" })).first().click();
    await at.page.getByRole("button", { name: "Copy the link" }).click();
    await settled(at.page);
    const link = await at.page.evaluate(() => navigator.clipboard.readText());
    const other = await openPage(browser.context);
    await other.page.goto(link);
    await other.page.locator(".verdict-say", { hasText: c.sentence }).waitFor();
    assert.deepEqual([...at.wrong, ...other.wrong], []);
  });
});
