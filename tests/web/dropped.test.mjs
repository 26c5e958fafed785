// SPDX-License-Identifier: Apache-2.0
/** pain.md P048: the driver's queue overflowed and 33 of 100 task ends, the end of the stage and that of the job are not in the log. Nothing runs for ever, and every page says what is missing. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { added, at, end, head, text } from "../api/support/executor_log.mjs";
import { event, stageInfo, taskEnd, taskInfo } from "../api/support/log.mjs";
import { openBrowser, openPage, visit } from "./support/browser.mjs";
import { WAYS, startBothWays } from "./support/server.mjs";

const RUN = "app-dropped",
  TASKS = 100,
  LOST = 33;

/** @param {string} folder */
function writeDropped(folder) {
  const info = stageInfo(0, "count at A.scala:1", TASKS);
  const lines = [
    ...head(RUN),
    added("1", 100, "host-1"),
    event("JobStart", { "Job ID": 0, "Submission Time": at(1000), "Stage IDs": [0], "Stage Infos": [info], Properties: {} }),
    event("StageSubmitted", { "Stage Info": { ...info, "Submission Time": at(1000) }, Properties: {} }),
  ];
  for (let i = 0; i < TASKS; i++) {
    const task = taskInfo(i, i, "1", at(2000));
    lines.push(event("TaskStart", { "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": task }));
    if (i % 3 || i === TASKS - 1) lines.push(taskEnd(0, task, at(3000 + i)));
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, RUN), text([...lines, end(60_000)]));
  return folder;
}

/** @type {Awaited<ReturnType<typeof openBrowser>>} */
let browser;
/** @type {Awaited<ReturnType<typeof startBothWays>>} */
let server;
before(async () => {
  browser = await openBrowser();
  server = await startBothWays(writeDropped);
});
after(async () => {
  await browser.close();
  await server.stop();
});

for (const way of WAYS)
  it(`P048 dropped: ${LOST} of ${TASKS} tasks are missing, on every page, ${way}`, async () => {
    const { page, wrong } = await openPage(browser.context);
    for (const path of ["", "/jobs", "/jobs/0", "/stages", "/stages/0.0", "/executors", "/log"]) {
      await visit(page, `a/${RUN}${path}`, server.roots[way]);
      assert.match(await page.locator(".banner").innerText(), new RegExp(`\\b${LOST} of ${TASKS} tasks have a start and no end`), path);
      const chips = await page.locator("main .chip").allInnerTexts();
      assert.ok(!chips.includes("Running"), `${path}: ${chips}`);
      if (path === "/jobs") assert.ok(chips.includes("Unknown"), `${chips}`);
      // A difference may well be negative: the overview has what-ifs.
      if (path) assert.doesNotMatch(await page.locator("main").innerText(), /(^|\s)[-−]\d/m, path);
    }
    assert.deepEqual(wrong, []);
    await page.close();
  });
