// SPDX-License-Identifier: Apache-2.0
/** Executors, storage, environment, streaming and sessions: what they show is what the API says, filters and selections are in the URL, old addresses lead here. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { api, arrive, openBrowser, openPage, prefer, reload, settled, url, visit } from "./support/browser.mjs";
import { DSTREAMS, LOSSES, SKEWED, STORED, STREAMING, THRIFT } from "./support/log.mjs";

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {import("playwright-core").Page} */
let page;
/** @type {string[]} */
let wrong;
let known = false;

before(async () => {
  browser = await openBrowser();
  ({ page, wrong } = await openPage(browser.context));
  await prefer(page, { theme: "light", lang: "en", zone: "utc" });
  known = (await api(`apps/${LOSSES}`)).ref !== undefined;
});
after(() => browser.close());

/** Texts of a section's rows, cell by cell. @param {string} title */
const rows = (title) =>
  page.$$eval(
    "section.sec",
    (sections, wanted) =>
      [...(sections.find((s) => s.querySelector("h2")?.textContent === wanted)?.querySelectorAll("tbody tr") ?? [])].map((tr) =>
        [...tr.querySelectorAll("td")].map((td) => (td.textContent ?? "").replace(/\u202f/g, " ").trim()),
      ),
    title,
  );
const text = () => page.innerText("main");

describe("executors", () => {
  it("tell losses from farewells, in words, and lead from a loss to its executor", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${LOSSES}/executors`);
    const lost = await rows("Lost executors");
    const said = (await api(`apps/${LOSSES}/executors?state=lost&sort=remove`)).items;
    assert.deepEqual(
      lost.map((r) => r[0]),
      said.map((/** @type {any} */ x) => x.executorId),
    );
    assert.deepEqual(lost[0].slice(2, 5), ["+10.0 s", said[0].lossReason, `137${said[0].exitMeaning}`]);
    assert.deepEqual(
      (await rows("Totals")).map((r) => r[0]),
      ["Active (3)", "Dead (6)", "Total (9)"],
    );
    await page.click("section:has(h2:text-is('Lost executors')) tbody tr:first-child a");
    await page.waitForURL(/[?&]exec=1\b/);
    await page.waitForSelector("h2:text-is('Executor 1')");
    await settled(page);
    assert.match(await text(), /Exit status: 137/);
    await page.goBack();
    await page.waitForFunction(() => !location.search.includes("exec="));
    await settled(page);
    assert.equal((await rows("Executors")).length, 9);
  });

  it("are drawn with as many slots as there were, above their axis on paper, too", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${LOSSES}/executors`);
    const { aliveMs, binMs } = await api(`apps/${LOSSES}/executors/timeline?bins=600`);
    assert.equal(await page.textContent(".slots .slots-name small"), `of ${Math.round(Math.max(...aliveMs) / binMs)}`);
    await page.emulateMedia({ media: "print" });
    const width = (/** @type {string} */ selector) => page.$eval(selector, (e) => Math.round(e.getBoundingClientRect().width));
    assert.equal(await width(".slots canvas"), await width(".slots-axis"));
    await page.emulateMedia({ media: null });
  });

  it("filter by host and state in the URL, and clear it", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${LOSSES}/executors`);
    await page.click("section:has(h2:text-is('Hosts')) a:text-is('h1')");
    await page.waitForURL(/[?&]host=h1\b/);
    await settled(page);
    await page.selectOption("select.filter-choice", "lost");
    await page.waitForURL(/state=lost/);
    await settled(page);
    await reload(page);
    assert.deepEqual(
      (await rows("Executors")).map((r) => r[0]),
      ["1", "4"],
    );
    // The chart's lines are the same ones.
    assert.deepEqual(await page.$$eval(".slots a.slots-name", (all) => all.map((a) => a.firstChild?.textContent)), ["Executor 1", "Executor 4"]);
    await page.click(".chip.is-filter button");
    await page.waitForURL((u) => !u.search.includes("host="));
  });

  it("show the slots that the server counted", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${SKEWED}/executors`);
    const { busyMs, aliveMs } = await api(`apps/${SKEWED}/executors/timeline?bins=360`);
    const sum = (/** @type {number[]} */ a) => a.reduce((x, y) => x + y, 0);
    assert.match((await text()).replace(/\u202f/g, " "), new RegExp(`Busy\\s+${Math.round((100 * sum(busyMs)) / sum(aliveMs))} %`));
    // The numbers of the chart are a table, one click away.
    await page.click(".chart-numbers summary");
    const numbers = await page.$$eval(".chart-numbers tbody tr", (all) => all.map((tr) => Number(tr.querySelectorAll("td")[2].textContent)));
    assert.equal(numbers.length, aliveMs.length);
    assert.equal(Math.max(...numbers), 4);
  });

  it("remember the columns that somebody chose", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${LOSSES}/executors`);
    const heads = () => page.$$eval("section:has(h2:text-is('Executors')) thead th", (all) => all.map((th) => th.textContent));
    assert.ok(!(await heads()).includes("Resource profile"));
    await page.click("button:text-is('Columns')");
    await page.check("label:has-text('Resource profile') input");
    assert.ok((await heads()).includes("Resource profile"));
    // A column is moved with the keys, and keeps the focus; another one is drawn to its place; a link shows them so to somebody else, and the address here says nothing of it.
    const [, second, third, fourth] = await heads();
    await page.focus(".grip[aria-label^='Move Host']");
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction((name) => document.activeElement?.getAttribute("aria-label")?.startsWith(`Move ${name}`), second);
    assert.deepEqual((await heads()).slice(1, 4), [third, second, fourth]);
    assert.equal(await page.textContent(".columns [role=status]"), `${second}: 2 of ${(await page.$$("button.grip")).length}`);
    const place = async (/** @type {string} */ id) => /** @type {{ x: number, y: number }} */ (await page.locator(`[data-column=${id}] .grip`).boundingBox());
    const [from, to] = [await place("cores"), await place("host")];
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 8, to.y + 8, { steps: 3 });
    await page.mouse.up();
    assert.deepEqual((await heads()).slice(1, 4), [third, fourth, second]);
    assert.equal(new URL(page.url()).search, "");
    await page.evaluate(() => localStorage.removeItem("afterglow"));
    const link = `a/${LOSSES}/executors?columns.executors=id,cores,host,profile`;
    await visit(page, link);
    assert.deepEqual((await heads()).map((h) => h?.replace(/[↑↓]/, "")), ["Executor", "Cores", "Host", "Resource profile"]);
    await page.click("button:text-is('Columns')");
    await page.uncheck("label:has-text('Host') input");
    assert.equal(new URL(page.url()).search, "", "what one chooses oneself is a preference");
    await reload(page);
    await page.waitForSelector("th:text-is('Resource profile')");
    await page.click("button:text-is('Columns')");
    await page.click(".pop-box > button");
    assert.ok(!(await heads()).includes("Resource profile"));
    await prefer(page, { theme: "light", lang: "en", zone: "utc" });
  });
});

describe("storage", () => {
  it("keeps released RDDs, and opens one with its partitions in the order asked for", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${STORED}/storage`);
    const list = await rows("Cached data");
    assert.deepEqual(
      list.map((r) => [r[0], r[1]]),
      [
        ["7", "kept"],
        ["8", "released"],
      ],
    );
    assert.ok(list[0].includes("11 of 12"), list[0].join(" | "));
    await page.click("tbody a:text-is('7')");
    await page.locator("section:has(h2:text-is('Cached partitions')) tbody tr").first().waitFor();
    await settled(page);
    assert.equal((await rows("Cached partitions")).length, 11);
    await page.click("section:has(h2:text-is('Cached partitions')) th:has-text('Memory') button");
    await page.waitForURL(/sort=-memory/);
    await settled(page);
    assert.equal((await rows("Cached partitions"))[0][0], "rdd_7_10");
    assert.equal((await rows("Receiver blocks")).length, 0);
    await visit(page, `a/${STORED}/storage/99`);
    assert.match(await text(), /Not found|there is no RDD/);
  });
});

describe("environment", () => {
  it("puts what differs first, says the default, and hides what is other in every run", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${LOSSES}/env`);
    const shown = await rows("Spark properties");
    const key = (/** @type {string} */ k) => shown.find((r) => r.includes(k));
    assert.ok(key("spark.executor.memory")?.includes("1g"), "the default stands beside the value");
    assert.equal(key("spark.app.id"), undefined);
    const differing = shown.map((r) => r.includes("same") || r.includes("—"));
    assert.ok(!differing.slice(0, differing.indexOf(true)).includes(true));
    await page.click("a:has-text('per-run value')");
    await page.waitForURL(/noise=1/);
    await settled(page);
    assert.ok((await rows("Spark properties")).some((r) => r.includes("spark.app.id")));
    await page.goBack();
    await page.fill("input.filter-text", "OVERHEAD");
    await page.waitForURL(/q=OVERHEAD/);
    await settled(page);
    assert.deepEqual((await rows("Spark properties")).map((r) => r.find((c) => c.startsWith("spark."))), ["spark.executor.memoryOverhead"]);
  });

  it("breaks a key behind a dot, and gives it away whole", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await page.route(`${url}api/afterglow/v1/apps/${LOSSES}/environment*`, async (route) => {
      const answer = await route.fetch();
      const said = await answer.json();
      said.sections.find((/** @type {{ name: string }} */ each) => each.name === "spark").entries.push(["spark.unsafe.sorter.spill.reader.buffer.size.in.the.last.place", "1"]);
      await route.fulfill({ response: answer, json: said });
    });
    await visit(page, `a/${LOSSES}/env`);
    const [text, before] = await page.locator(".settings td.is-key code", { hasText: "sorter" }).evaluate((code) => {
      const out = [];
      let top = null,
        before = "";
      for (const node of code.childNodes)
        for (let i = 0; i < (node.nodeValue ?? "").length; i++) {
          const range = document.createRange();
          range.setStart(node, i);
          range.setEnd(node, i + 1);
          const y = range.getBoundingClientRect().top;
          if (top !== null && y > top + 2) out.push(before);
          top = y;
          before = (node.nodeValue ?? "")[i];
        }
      return [/** @type {HTMLElement} */ (code).innerText, out];
    });
    await page.unrouteAll({ behavior: "wait" });
    assert.equal(text, "spark.unsafe.sorter.spill.reader.buffer.size.in.the.last.place");
    assert.deepEqual([...new Set(before)], ["."], "each line begins behind a dot");
  });
});

describe("streaming", () => {
  it("shows the rates and batches of a query as the API has them", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    await visit(page, `a/${STREAMING}/streaming`);
    const [run] = (await api(`apps/${STREAMING}/streaming?q=windows`)).items;
    const row = (await rows("Streaming queries")).find((r) => r[0] === "windows") ?? [];
    assert.ok(row.includes(String(Math.round(run.recentInputRowsPerSecond * 100) / 100)), row.join(" | "));
    await page.click("a:text-is('windows')");
    await page.waitForURL(new RegExp(run.runId));
    await page.waitForSelector("h2:text-is('Batches')");
    await settled(page);
    const batches = await rows("Batches");
    assert.equal(batches.length, run.progressCount);
    assert.equal(batches[0][0], String(run.latestBatchId));
    assert.ok((await page.$$(".time-chart canvas")).length >= 4);
    await visit(page, `a/${DSTREAMS}/dstreams`);
    await page.waitForSelector("h2:text-is('Batches')");
    assert.equal((await rows("Batches")).length, 3);
  });
});

describe("sessions", () => {
  it("lead from a session to a statement, its error and its job", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    const failed = (await api(`apps/${THRIFT}/operations?outcome=failed`)).items.find((/** @type {any} */ o) => o.jobIds.length);
    await visit(page, `a/${THRIFT}/sessions`);
    await page.selectOption("select[aria-label='Outcome']", "failed");
    await page.waitForURL(/outcome=failed/);
    await settled(page);
    await page.click(`a[href$="/operations/${failed.id}"]`);
    await page.waitForSelector(`h2:text-is('Statement ${failed.id}')`);
    await settled(page);
    assert.ok((await text()).includes(failed.error.split("\n")[0].slice(0, 60)));
    await page.click(`a[href$="/sessions/${failed.sessionId}"]`);
    await page.waitForURL(new RegExp(`sessions/${failed.sessionId}`));
    await page.waitForSelector(`a[href$="/operations/${failed.id}"]`);
    await page.click(`section a[href$="/jobs/${failed.jobIds[0]}"]`);
    await page.waitForURL(new RegExp(`jobs/${failed.jobIds[0]}$`));
  });
});

describe("old addresses", () => {
  it("lead to the page of the same thing", async (t) => {
    if (!known) return t.skip("the written logs are not on this server");
    const [run] = (await api(`apps/${STREAMING}/streaming`)).items,
      [session] = (await api(`apps/${THRIFT}/sessions`)).items;
    for (const [old, heading] of [
      [`history/${STORED}/storage/rdd/?id=7`, "RDD 7"],
      [`history/${STREAMING}/StreamingQuery/statistics/?id=${run.runId}`, run.name ?? "<no name>"],
      [`history/${THRIFT}/sqlserver/session/?id=${session.sessionId}`, `Session ${session.sessionId}`],
      [`history/${LOSSES}/executors/threadDump/?executorId=2`, "Executor 2"],
    ]) {
      await arrive(page, url + old);
      await page.waitForSelector(`h2:text-is("${heading}")`);
    }
    assert.deepEqual(wrong.filter((w) => !w.includes("404")), []);
  });
});
