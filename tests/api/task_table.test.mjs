// SPDX-License-Identifier: Apache-2.0
// taskTable of /api/v1 against the captured answers of a Spark 4.3 History Server: tasks that failed, were killed and worked, by every column, with searches.
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { LOGS, makeFolder, makeStore, ROOT, startServer } from "./support/server.mjs";

// Each task stands once, in a line of its own; answers hold ids.
const lines = readFileSync(join(ROOT, "tests/data/captures/task-table-logs-failures.jsonl"), "utf8").trim().split("\n").map(JSON.parse);
const taskOf = new Map(lines.filter(({ task }) => task).map(({ task }) => [task.taskId, task]));
const captures = lines.filter(({ path }) => path);
const TABLE = "/api/v1/applications/app-20261129213331-0000/stages/1/0/taskTable";

test("taskTable", async (t) => {
  // A task without an end lasts until the log's modification time, which was this one there.
  const logs = makeFolder(t);
  cpSync(join(LOGS, "failures"), logs, { recursive: true });
  for (const name of readdirSync(logs)) utimesSync(join(logs, name), new Date("2026-01-01T00:00:00Z"), new Date("2026-01-01T00:00:00Z"));
  const server = await startServer(t, ["--store", makeStore(t, [logs])]);

  await t.test("what is captured is worth comparing", () => {
    assert.deepEqual([captures.length, captures.filter(({ status }) => status === 200).length, taskOf.size], [130, 126, 21]);
  });

  for (const { path, status, body } of captures)
    await t.test(decodeURIComponent(path), async () => {
      const answer = await server.get(`/api/v1/${path}`);
      if (status === 500) {
        // an unknown column, or no parameters at all
        assert.deepEqual([answer.status, answer.headers["content-type"].split(";")[0]], [400, "text/plain"]);
        assert.match(answer.text, /^The parameters? ".*\.$/);
      } else {
        assert.deepEqual([answer.status, answer.headers["content-type"]], [200, "application/json"]);
        assert.deepEqual(JSON.parse(answer.text), { ...body, aaData: body.aaData.map((id) => taskOf.get(id)) });
      }
    });

  await t.test("hostile parameters are refused or find nothing", async () => {
    const good = { numTasks: "11", columnNameToSort: "Index", "order[0][dir]": "asc", start: "0", length: "5", "search[value]": "" };
    const statusOf = async (changed) => (await server.get(`${TABLE}?${new URLSearchParams({ ...good, ...changed })}`)).status;
    assert.equal(await statusOf({}), 200);
    for (const name of ["numTasks", "start", "length"])
      for (const value of ["", "x", "1e3", "0x10", "9".repeat(400), "2147483648", "1;2", "١"]) assert.equal(await statusOf({ [name]: value }), 400, `${name}=${value}`);
    for (const value of ["", "index", "task_id", "ID' --", "ID\n", "%", "A".repeat(4000)]) assert.equal(await statusOf({ columnNameToSort: value }), 400, value);
    for (const value of ["'", "%", "_%_%", '"}', "\u0001", "<script>", "1".repeat(4000), "💥"]) {
      const answer = await server.get(`${TABLE}?${new URLSearchParams({ ...good, "search[value]": value })}`);
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [200, { aaData: [], recordsTotal: "11", recordsFiltered: "0" }], value);
    }
    assert.equal((await server.get(`${TABLE}?search[value]=%00`)).status, 400);
    assert.equal(await statusOf({ start: "-2147483648", length: "2147483647" }), 200);
  });

  await t.test("a stage, an attempt, an application that are not there", async () => {
    const query = "numTasks=3&columnNameToSort=ID&order[0][dir]=asc&start=0&length=5";
    assert.deepEqual(JSON.parse((await server.get(`${TABLE.replace("/1/0/", "/1/9/")}?${query}`)).text), { aaData: [], recordsTotal: "3", recordsFiltered: "3" });
    const answer = await server.get(`${TABLE.replace("213331-0000", "213331-0000/1")}?${query}`);
    assert.deepEqual([answer.status, answer.text], [404, "no such app: app-20261129213331-0000/1"]);
  });
});
