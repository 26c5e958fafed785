// SPDX-License-Identifier: Apache-2.0
// What is loaded, kept and deleted: afterglow.load, afterglow.store.*, `afterglow clean`. (The cleaner's rules: cleaner.py; running jobs: P021 in cases.test.mjs.)
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { BINARY, becomes, eventually, makeFolder, startServer } from "./support/server.mjs";
import { startWebhdfs } from "./support/webhdfs.mjs";

const QUICK = { AFTERGLOW_UPDATE_INTERVAL: "200ms" };

/** A folder with app-1 … app-N, and where the store will be. */
function prepare(t, count) {
  const logs = makeFolder(t);
  const store = join(makeFolder(t), "store");
  for (let i = 1; i <= count; i++) writeFileSync(join(logs, `app-${i}`), smallLog({ id: `app-${i}` }));
  return { logs, store };
}

const statesOf = async (server) => Object.fromEntries((await server.json("apps?sort=name")).items.map((item) => [item.appId, item.state]));
const statusOf = async (server, app) => (await server.get(`/api/afterglow/v1/apps/${app}`)).status;
const dbs = (store) => readdirSync(join(store, "apps")).filter((name) => name.endsWith(".db"));
const clean = (store, logs, args, env = {}) => spawnSync(BINARY, ["clean", "--store", store, "--logs", logs, ...args], { encoding: "utf8", env: { ...process.env, ...QUICK, ...env } });
const lines = (text) => text.trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));

test("opened: a run is listed until somebody opens it, by page or by /api/v1", async (t) => {
  const { logs, store } = prepare(t, 3);
  const server = await startServer(t, ["--store", store, "--logs", logs], { ...QUICK, AFTERGLOW_LOAD: "opened" });
  await eventually(async () => (await server.json("apps?state=listed")).total === 3);
  const [listed] = (await server.json("apps?q=app-1")).items;
  assert.deepEqual([listed.state, listed.loaded, listed.complete, listed.outcome, listed.taskCount, listed.grade], ["listed", false, true, null, null, null]);
  assert.ok(listed.name && listed.startMs && listed.endMs);
  assert.equal((await server.json("status")).logs.listed, 3);
  assert.deepEqual(dbs(store), []);

  const refused = await server.json("apps/app-1", 409);
  assert.deepEqual([refused.error, refused.state], ["not_loaded", "listed"]);
  await eventually(async () => (await server.get("/api/afterglow/v1/apps/app-1")).status === 200);
  assert.equal((await server.get("/api/v1/applications/app-2/jobs")).status, 503);
  await eventually(async () => (await server.get("/api/v1/applications/app-2/jobs")).status === 200);
  await becomes(() => statesOf(server), { "app-1": "loaded", "app-2": "loaded", "app-3": "listed" });
  await becomes(() => dbs(store).length, 2);
  assert.equal((await server.get("/api/v1/applications")).status, 200); // lists open nothing
  await server.stop();

  await t.test("what was listed is loaded once everything shall be", async () => {
    const all = await startServer(t, ["--store", store, "--logs", logs], QUICK);
    await eventually(async () => (await statesOf(all))["app-3"] === "loaded");
  });
});

test("opened: a run that is opened is followed while it grows, others are not loaded for growing", async (t) => {
  const { logs, store } = prepare(t, 0);
  const text = smallLog({ id: "app-1" }).trimEnd().split("\n");
  const cut = text.findIndex((line) => line.includes("SparkListenerJobEnd")) + 1;
  for (const id of ["app-1", "app-2"]) writeFileSync(join(logs, `${id}.inprogress`), `${text.slice(0, cut).join("\n").replaceAll("app-1", id)}\n`);
  const server = await startServer(t, ["--store", store, "--logs", logs], { ...QUICK, AFTERGLOW_LOAD: "opened" });
  await eventually(async () => (await server.json("apps?state=listed")).total === 2);
  await eventually(async () => (await server.get("/api/afterglow/v1/apps/app-1")).status === 200);
  const before = (await server.json("apps?q=app-1")).items[0].jobCount;
  for (const id of ["app-1", "app-2"]) appendFileSync(join(logs, `${id}.inprogress`), `${text.slice(cut).join("\n").replaceAll("app-1", id)}\n`);
  await eventually(async () => (await server.json("apps?q=app-1")).items[0].jobCount > before);
  await eventually(async () => (await server.json("apps?q=app-2")).items[0].complete === true); // its tail was read again
  await becomes(() => statesOf(server), { "app-1": "loaded", "app-2": "listed" }); // what grew is judged before the run is loaded again
});

test("budget: runs are put away least useful first, keep their rows, and are loaded again", async (t) => {
  const { logs, store } = prepare(t, 4);
  const open = ["--store", store, "--logs", logs];
  const first = await startServer(t, open, QUICK);
  await eventually(async () => (await first.json("apps?state=loaded")).total === 4);
  const each = statSync(join(store, "apps", dbs(store)[0])).size;
  assert.equal((await first.get("/api/afterglow/v1/apps/app-3")).status, 200); // opened
  const [whole] = (await first.json("apps?q=app-1")).items;
  await first.stop();

  const limited = { ...QUICK, AFTERGLOW_STORE_MAX_BYTES: String(Math.floor(each * 1.5)) };
  const dry = lines(clean(store, logs, ["--json"], limited).stdout);
  assert.deepEqual([dry.length, new Set(dry.map((line) => `${line.kind} ${line.why} ${line.runStays} ${line.deleted}`))], [3, new Set(["run space row false"])]);
  assert.ok(!dry.some((line) => line.appId === "app-3"));
  assert.equal(dbs(store).length, 4);

  const server = await startServer(t, open, limited);
  await becomes(() => statesOf(server), { "app-1": "listed", "app-2": "listed", "app-3": "loaded", "app-4": "listed" });
  await eventually(() => dbs(store).length === 1);
  const [row] = (await server.json("apps?q=app-1")).items;
  assert.equal(row.loaded, false);
  for (const key of Object.keys(whole)) if (!["state", "loaded"].includes(key)) assert.deepEqual(row[key], whole[key], key);
  assert.equal((await server.json("apps/app-1", 409)).state, "listed");
  await eventually(async () => (await server.get("/api/afterglow/v1/apps/app-1")).status === 200);
  // Both were opened a moment ago, so they stay although it is too much.
  await becomes(() => statesOf(server), { "app-1": "loaded", "app-2": "listed", "app-3": "loaded", "app-4": "listed" });

  await t.test("a run whose log is gone goes last, and then its row says so", async () => {
    await server.stop();
    rmSync(join(logs, "app-4"));
    const after = await startServer(t, open, { ...QUICK });
    await eventually(async () => (await statesOf(after))["app-4"] === "gone");
    const lost = await after.json("apps/app-4", 409);
    assert.equal(lost.state, "gone");
    assert.match(lost.detail, /only its row in the list is left/);
    assert.equal((await after.get("/api/v1/applications/app-4/jobs")).status, 404); // nothing to come back for
    assert.equal((await after.get("/api/v1/applications/app-4")).status, 200);
    assert.equal((await after.json("apps?q=app-4")).items[0].verdict, (await after.json("apps?q=app-2")).items[0].verdict);
    writeFileSync(join(logs, "app-4"), smallLog({ id: "app-4" }));
    await eventually(async () => (await statusOf(after, "app-4")) === 200);
  });
});

test("age of what is kept: runs that nobody opens are put away", async (t) => {
  const { logs, store } = prepare(t, 2);
  const conf = join(makeFolder(t), "keep.conf");
  writeFileSync(conf, "afterglow.store.maxAge=1s\n");
  const server = await startServer(t, ["--store", store, "--logs", logs], QUICK);
  await eventually(async () => (await server.json("apps?state=loaded")).total === 2);
  await server.stop();
  await new Promise((later) => setTimeout(later, 2100)); // times of files have seconds
  const done = clean(store, logs, ["--json", "--delete", "--properties-file", conf]);
  assert.equal(done.status, 0, done.stderr);
  assert.deepEqual(lines(done.stdout).map((line) => [line.kind, line.why, line.deleted]), [["run", "age", true], ["run", "age", true]]);
  assert.deepEqual(dbs(store), []);

  await t.test("a directory is not loaded again for that, a log that is named is", () => {
    const states = (...what) => lines(spawnSync(BINARY, ["ingest", "--json", "--store", store, ...what], { encoding: "utf8" }).stdout).map((line) => line.state);
    assert.deepEqual(states(logs), ["listed", "listed"]);
    assert.deepEqual(states(join(logs, "app-1")), ["loaded"]);
    assert.equal(dbs(store).length, 1);
  });
});

test("a run that was put away is loaded again when its log ends, not for each line", async (t) => {
  const { logs, store } = prepare(t, 0);
  const text = smallLog({ id: "app-1" }).trimEnd().split("\n");
  const cut = text.findIndex((line) => line.includes("SparkListenerJobEnd")) + 1;
  const log = join(logs, "app-1.inprogress");
  writeFileSync(log, `${text.slice(0, cut).join("\n")}\n`);
  assert.equal(spawnSync(BINARY, ["ingest", "--store", store, logs]).status, 0);
  assert.equal(clean(store, logs, ["--delete"], { AFTERGLOW_STORE_MAX_BYTES: "1" }).status, 0);
  assert.deepEqual(dbs(store), []);
  const server = await startServer(t, ["--store", store, "--logs", logs], QUICK);
  const row = async () => (await server.json("apps")).items[0];
  await eventually(async () => (await server.json("status")).logs.listed === 1);
  appendFileSync(log, `${text.slice(cut, -1).join("\n")}\n`);
  const told = async () => {
    const { totalBytes, state, complete, loaded } = await row();
    return [totalBytes, state, complete, loaded];
  };
  await becomes(told, [statSync(log).size, "listed", false, false]);
  assert.deepEqual(dbs(store), []);
  appendFileSync(log, `${text.at(-1)}\n`);
  await becomes(told, [statSync(log).size, "loaded", true, true]);
});

test("clean: a dry run says what would go and changes nothing, --delete does it", async (t) => {
  const { logs, store } = prepare(t, 3);
  const old = Date.now() / 1000 - 8 * 86400;
  for (const name of ["app-1", "app-2"]) utimesSync(join(logs, name), old, old);
  writeFileSync(join(logs, "README"), "no log");
  utimesSync(join(logs, "README"), old, old);
  const read = spawnSync(BINARY, ["ingest", "--store", store, logs], { encoding: "utf8" });
  assert.equal(read.status, 0, read.stderr);
  await new Promise((later) => setTimeout(later, 300)); // an interval of scans

  const table = clean(store, logs, []);
  assert.equal(table.status, 0, table.stderr);
  assert.match(table.stdout, /^WHAT +WHY +SIZE +LAST USED \(UTC\) +RUN AND LOG\nlog +age +\S+ kB +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +app-1 +\S+app-1\nlog +age .*app-2\n\n2 of 3 logs and 0 loaded runs would go, \S+ kB; /);
  assert.match(table.stdout, /cleaner.enabled is false/);
  const dry = lines(clean(store, logs, ["--json"]).stdout);
  assert.deepEqual(dry.map((line) => [line.kind, line.why, line.appId, line.runStays, line.deleted, line.error]), [["log", "age", "app-1", "whole", false, null], ["log", "age", "app-2", "whole", false, null]]);
  assert.equal(dry[0].bytes, statSync(join(logs, "app-1")).size);
  assert.ok(existsSync(join(logs, "app-1")));

  await t.test("elsewhere nothing goes", () => {
    assert.equal(clean(store, makeFolder(t), ["--json", "--delete"]).stdout, "");
    assert.ok(existsSync(join(logs, "app-1")));
  });
  await t.test("a log that changed since the last scan stays", () => {
    appendFileSync(join(logs, "app-2"), '{"Event":"SparkListenerLogStart","Spark Version":"3.5.7"}\n');
    utimesSync(join(logs, "app-2"), old, old);
    const done = clean(store, logs, ["--json", "--delete"]);
    assert.equal(done.status, 1);
    assert.deepEqual(lines(done.stdout).map((line) => [line.appId, line.deleted, line.error]), [["app-1", true, null], ["app-2", false, "it has changed since the last scan"]]);
    assert.deepEqual(readdirSync(logs).sort(), ["README", "app-2", "app-3"]);
  });
  await t.test("the run stays", async () => {
    const server = await startServer(t, ["--store", store, "--logs", logs], QUICK);
    await eventually(async () => (await statesOf(server))["app-1"] === "gone");
    const [row] = (await server.json("apps?q=app-1")).items;
    assert.equal(row.reason, "the cleaner deleted the log (age)");
    assert.equal(await statusOf(server, "app-1"), 200);
  });
});

test("clean: logs in HDFS go by the same rules, and a place that refuses holds up no other", async (t) => {
  const far = makeFolder(t);
  const closed = makeFolder(t);
  const store = join(makeFolder(t), "store");
  const conf = join(makeFolder(t), "spark-defaults.conf");
  const old = Date.now() / 1000 - 8 * 86400;
  const put = (folder, name, text) => {
    writeFileSync(join(folder, name), text);
    utimesSync(join(folder, name), old, old);
  };
  const start = async (root, mayDelete) => {
    const hdfs = await startWebhdfs({ root, mayDelete });
    t.after(() => hdfs.stop());
    return `webhdfs://127.0.0.1:${hdfs.port}/`;
  };
  for (const id of ["app-1", "app-2"]) put(far, id, smallLog({ id }));
  writeFileSync(join(far, "app-new"), smallLog({ id: "app-new" }));
  put(far, "app-runs.inprogress", smallLog({ id: "app-runs", ended: false })); // a name node tells an old time of a log that is being written
  put(far, "README", "no log");
  for (const id of ["app-3", "app-4"]) {
    mkdirSync(join(far, `eventlog_v2_${id}`));
    put(far, `eventlog_v2_${id}/events_1_${id}`, smallLog({ id }));
    put(far, `eventlog_v2_${id}/appstatus_${id}`, "");
  }
  put(far, "eventlog_v2_app-3/.events_1_app-3.crc", "crc"); // Hadoop's check sum, copied there from a local directory
  put(far, "eventlog_v2_app-4/notes", "no log");
  put(closed, "app-5", smallLog({ id: "app-5" }));
  const places = [await start(far, true), await start(closed, false)];
  writeFileSync(conf, `spark.history.fs.logDirectory ${places.join(",")}\nspark.history.fs.update.interval 200ms\nspark.history.fs.cleaner.interval 200ms\n`);
  const open = ["--store", store, "--properties-file", conf];
  const first = await startServer(t, open);
  await eventually(async () => (await first.json("apps?state=loaded")).total === 7);
  await first.stop();
  const names = (folder) => readdirSync(folder).sort();
  const before = names(far);
  /** Not spawnSync: the name nodes are in this process. */
  const clean = (...args) =>
    new Promise((done) => {
      const child = spawn(BINARY, ["clean", "--json", ...open, ...args]);
      let text = "";
      child.stdout.on("data", (piece) => (text += piece));
      child.on("close", (status) => done([status, lines(text).map((line) => [line.appId, line.why, line.deleted, line.error]).sort()]));
    });

  await t.test("a dry run lists them", async () => {
    await becomes(() => clean(), [0, ["app-1", "app-2", "app-3", "app-4", "app-5"].map((app) => [app, "age", false, null])]); // once a second scan could have seen them
    assert.deepEqual(names(far), before);
  });
  await t.test("one that changed since the last scan stays, and so does one that may not be deleted", async () => {
    appendFileSync(join(far, "app-2"), "\n");
    utimesSync(join(far, "app-2"), old, old);
    const [status, told] = await clean("--delete");
    assert.equal(status, 1);
    assert.deepEqual(told.slice(0, 4), [["app-1", "age", true, null], ["app-2", "age", false, "it has changed since the last scan"], ["app-3", "age", true, null], ["app-4", "age", true, null]]);
    assert.match(told[4][3], /^DELETE of 127.0.0.1:\d+: AccessControlException: Permission denied/);
    assert.deepEqual(names(far), before.filter((name) => name !== "app-1" && name !== "eventlog_v2_app-3"));
    put(far, "app-6", smallLog({ id: "app-6" }));
    assert.deepEqual(names(join(far, "eventlog_v2_app-4")), ["notes"]);
    assert.deepEqual(names(closed), ["app-5"]);
  });
  await t.test("the server's cleaner goes on behind a refusal, says it once a time, and its runs stay", async () => {
    const server = await startServer(t, open, { SPARK_HISTORY_OPTS: "-Dspark.history.fs.cleaner.enabled=true" });
    await becomes(() => names(far), ["README", "app-2", "app-new", "app-runs.inprogress", "eventlog_v2_app-4"]); // app-2 was seen to grow just now
    await eventually(() => /app-5: cannot be deleted: .*AccessControlException/.test(server.errors()));
    await becomes(() => statesOf(server), { "app-1": "gone", "app-2": "loaded", "app-3": "gone", "app-4": "skipped", "app-5": "loaded", "app-6": "gone", "app-new": "loaded", "app-runs": "loaded" });
    assert.equal(await statusOf(server, "app-1"), 200);
    assert.deepEqual(names(closed), ["app-5"]);
  });
});
