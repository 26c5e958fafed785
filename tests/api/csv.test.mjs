// SPDX-License-Identifier: Apache-2.0
// Lists as CSV: every list says the same as its JSON, all pages of it, and no spreadsheet runs what a log holds.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { before, test } from "node:test";
import { gunzipSync } from "node:zlib";

import { event, smallLog, stageInfo, taskEnd, taskInfo } from "./support/log.mjs";
import { dstreamLog } from "./support/streaming_log.mjs";
import { LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";

/** Names that a spreadsheet would calculate, and what RFC 4180 quotes. */
const NAMES = ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\tTab", 'a "quoted", one', "two\nlines", " blank", "-", "a;=1+1\t=2", "Ж – 中文", "plain"];
const START = 1700000000000;

/** @type {{server: any}} */
const at = { server: null };
before(async (t) => {
  const folder = makeFolder(t);
  NAMES.forEach((name, i) => writeFileSync(join(folder, `app-${100 + i}`), smallLog({ id: `app-${100 + i}`, name })));
  writeFileSync(join(folder, "app-dstreams"), dstreamLog());
  const samples = ["failures", "healthy_rdd", "gc_pressure", "healthy_sql", "thrift_ops", "connect_ops", "streaming_windows", "in_progress"];
  at.server = await startServer(t, ["--store", makeStore(t, [folder, ...samples.map((name) => join(LOGS, name))])]);
});

/** Records of RFC 4180; fails on what it does not allow. */
function parseCsv(text) {
  const records = [];
  for (let i = 0; i < text.length; ) {
    const record = [];
    for (;;) {
      if (text[i] === '"') {
        let cell = "";
        for (i++; ; i++) {
          assert.ok(i < text.length, "a quote is not closed");
          if (text[i] !== '"') cell += text[i];
          else if (text[i + 1] === '"') cell += text[i++];
          else break;
        }
        record.push(cell);
        i++;
      } else {
        const end = /[,\r\n"]/.exec(text.slice(i));
        assert.notEqual(end?.[0], '"', "a quote inside a cell that has none around it");
        record.push(text.slice(i, i + (end?.index ?? 0)));
        i += end?.index ?? 0;
      }
      if (text[i] !== ",") break;
      i++;
    }
    assert.equal(text.slice(i, i + 2), "\r\n", `a record ends without CRLF: ${JSON.stringify(record)}`);
    i += 2;
    records.push(record);
  }
  return records;
}

/** A cell as the document says: of members of objects, of arrays of plain values, of the rest. */
const cellOf = (value) => {
  if (value === null || value === undefined) return "";
  const text = Array.isArray(value) && value.every((each) => typeof each !== "object") ? value.join(" ") : typeof value === "object" ? JSON.stringify(value) : String(value);
  const written = typeof value === "string" || typeof value === "object";
  return written && /^[=+\-@\x00-\x1f]/.test(text) ? `'${text}` : text;
};
const valueAt = (item, column) => column.split(".").reduce((value, key) => value?.[key], item);

/** The list as both; every column of every item is compared. */
async function same(path) {
  const separator = path.includes("?") ? "&" : "?";
  const { items, total } = await at.server.json(`${path}${separator}limit=1000`);
  assert.equal(items.length, total, `${path}: the test looks at one page`);
  const answer = await at.server.get(`/api/afterglow/v1/${path}${separator}format=csv&limit=1&page=7`);
  assert.equal(answer.status, 200, path);
  assert.match(answer.headers["content-type"], /^text\/csv;charset=utf-8/);
  assert.match(answer.headers["content-disposition"], /^attachment; filename="[A-Za-z0-9_.-]+\.csv"$/);
  const [head = [], ...rows] = parseCsv(answer.text);
  assert.equal(rows.length, items.length, path);
  assert.equal(new Set(head).size, head.length, `${path}: a column twice`);
  items.forEach((item, i) => {
    for (const [key, value] of Object.entries(item)) {
      const members = head.filter((column) => column.startsWith(`${key}.`));
      assert.ok(head.includes(key) !== members.length > 0, `${path}: ${key} is no column`);
      for (const member of members.length && value !== null ? Object.keys(value) : []) assert.ok(head.includes(`${key}.${member}`), `${path}: ${key}.${member} is no column`);
    }
    head.forEach((column, k) => {
      const value = valueAt(item, column);
      // JSON's numbers went through a double: what is written is compared where it is exact.
      const expected = typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER ? rows[i][k] : cellOf(value);
      const actual = typeof value === "number" ? String(Number(rows[i][k])) : rows[i][k];
      assert.equal(actual, typeof value === "number" ? String(Number(expected)) : expected, `${path}: ${column} of row ${i}`);
    });
  });
  return { head, rows, items };
}

test("every list of every run is the same as CSV", async () => {
  const { items } = await same("apps");
  let rows = 0;
  for (const { ref } of items.filter((each) => each.ref)) {
    const app = `apps/${encodeURIComponent(ref)}`;
    for (const list of ["jobs", "stages", "executors", "hosts", "processes", "sql", "storage", "receiver-blocks", "streaming", "sessions", "operations", "dstreams"]) rows += (await same(`${app}/${list}`)).rows.length;
    for (const { stageId, attempt } of (await at.server.json(`${app}/stages?limit=3`)).items) rows += (await same(`${app}/stages/${stageId}.${attempt}/tasks`)).rows.length;
    for (const { id } of (await at.server.json(`${app}/storage?limit=2`)).items) rows += (await same(`${app}/storage/${id}/partitions`)).rows.length;
  }
  assert.ok(rows > 500, `${rows} rows`);
  const [base, run] = items.filter((each) => each.name === "plain" || each.name === "+1").map((each) => each.ref);
  for (const list of ["stages", "queries"]) await same(`compare/${list}?base=${base}&new=${run}`);
});

test("it has what passes the filters, in the order that is asked for", async () => {
  const { items } = await same("apps/app-100/stages/0.0/tasks?status=success&sort=-durationMs");
  assert.deepEqual(items.map((item) => item.durationMs), [600, 500, 400, 300, 200, 100]);
  assert.equal((await same("apps/app-100/stages/0.0/tasks?executor=10")).rows.length, 2);
});

test("texts that begin like a formula have an apostrophe, numbers do not", async () => {
  const { head, rows } = await same("apps?q=app-1&sort=start");
  const names = rows.map((row) => row[head.indexOf("name")]).sort();
  assert.deepEqual(names, ["'=HYPERLINK(1)", "'+1", "'-1", "'@SUM(A1)", "'\tTab", "'-", 'a "quoted", one', "two\nlines", " blank", "a;=1+1\t=2", "Ж – 中文", "plain"].sort());
  assert.ok(rows.every((row) => row[head.indexOf("startMs")] === String(START)));
});

test("columns name units, and members of objects", async () => {
  const { head } = await same("apps/app-100/stages");
  for (const column of ["durationMs", "inputBytes", "cpuTimeNs", "skew.durationRatio", "gc.share"]) assert.ok(head.includes(column), column);
});

test("a list without items is an empty file", async () => {
  const answer = await at.server.get("/api/afterglow/v1/apps/app-100/jobs?q=nothing-like-this&format=csv");
  assert.deepEqual([answer.status, answer.text], [200, ""]);
});

test("names of files hold nothing that a header or a file system minds", async () => {
  const name = async (path) => (await at.server.get(`/api/afterglow/v1/${path}`)).headers["content-disposition"];
  assert.equal(await name("apps?format=csv"), 'attachment; filename="apps.csv"');
  assert.equal(await name("apps/app-100/stages/0.0/tasks?format=csv"), 'attachment; filename="app-100-stages-0.0-tasks.csv"');
});

test("it has a tag of its own, is compressed, and answers HEAD", async () => {
  const path = "/api/afterglow/v1/apps/app-100/stages?format=csv";
  const plain = await at.server.get(path);
  assert.ok(plain.headers.etag);
  assert.equal((await at.server.get(path, { headers: { "If-None-Match": plain.headers.etag } })).status, 304);
  assert.notEqual((await at.server.get(path.replace("?format=csv", ""))).text, plain.text);
  const head = await at.server.get(path, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers["content-length"], head.text], [200, plain.headers["content-length"], ""]);
  assert.equal((await at.server.get(path, { headers: { "Accept-Encoding": "gzip" } })).headers["content-encoding"], "gzip");
});

test("another format is refused, and errors are no files", async () => {
  assert.equal((await at.server.json("apps?format=xml", 400)).error, "bad_parameter");
  const missing = await at.server.get("/api/afterglow/v1/apps/nobody/jobs?format=csv");
  assert.deepEqual([missing.status, missing.headers["content-type"], missing.headers["content-disposition"]], [404, "application/json", undefined]);
});

test("a long table of tasks is made while it is sent", async (t) => {
  const TASKS = 2500;
  const folder = makeFolder(t);
  const infos = Array.from({ length: TASKS }, (_, i) => taskInfo(1000 + i, i, "1", START + 2000 + i));
  const stage = stageInfo(9, "many", TASKS, { "Submission Time": START + 2000 });
  const lines = smallLog({ id: "app-long" }).trimEnd().split("\n");
  const tasks = infos.flatMap((info) => [event("TaskStart", { "Stage ID": 9, "Stage Attempt ID": 0, "Task Info": info }), taskEnd(9, info, info["Launch Time"] + 10 + ((info.Index * 7) % TASKS))]);
  lines.splice(-1, 0, event("StageSubmitted", { "Stage Info": stage, Properties: {} }), ...tasks);
  writeFileSync(join(folder, "app-long"), lines.join("\n") + "\n");
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const path = "/api/afterglow/v1/apps/app-long/stages/9.0/tasks?sort=-durationMs&format=csv";
  const get = async (headers = {}) => {
    const answer = await server.get(path, { headers });
    assert.equal(answer.headers["transfer-encoding"], "chunked");
    return answer;
  };

  const { text, headers } = await get();
  const [names, ...rows] = text.split("\r\n").slice(0, -1).map((line) => line.split(","));
  assert.equal(rows.length, TASKS);
  const column = (name) => rows.map((row) => Number(row[names.indexOf(name)]));
  assert.deepEqual(column("durationMs"), Array.from({ length: TASKS }, (_, i) => TASKS + 9 - i));
  assert.equal(new Set(column("taskId")).size, TASKS);

  await t.test("compressed, it is the same; a client that has it is told so; the head alone has the same headers", async () => {
    const answer = await get({ "Accept-Encoding": "gzip" });
    assert.equal(answer.headers["content-encoding"], "gzip");
    assert.equal(gunzipSync(answer.bytes).toString(), text);
    assert.equal((await server.get(path, { headers: { "If-None-Match": headers.etag } })).status, 304);
    const head = await server.get(path, { method: "HEAD" });
    assert.deepEqual([head.status, head.text, head.headers["content-type"]], [200, "", headers["content-type"]]);
  });

  await t.test("clients that go away, and more at once than are sent so", async () => {
    for (let i = 0; i < 20; i++)
      await new Promise((resolve) => {
        const socket = connect(server.port, "127.0.0.1", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));
        socket.once("data", () => socket.destroy()).on("close", resolve);
      });
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.get(path)));
    for (const answer of answers) assert.ok(answer.text === text);
    await get(); // none of their places was lost
  });
});
