// SPDX-License-Identifier: Apache-2.0
// Files of the store that are damaged: noticed, set aside, made anew from the logs; who asks meanwhile gets an honest answer, and the server lives.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, copyFileSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { BINARY, LOGS, eventually, makeFolder, startServer } from "./support/server.mjs";

const QUICK = { AFTERGLOW_UPDATE_INTERVAL: "200ms" };
const PAGE = 4096;
const NAMES = ["tiny_app", "skew_hot_key"];
const asked = "apps/app-20261129212258-0000/stages?limit=500";
const wanted = (answer) => answer.items.map((stage) => [stage.id, stage.attempt, stage.taskCount, stage.durationMs]);

/** A store with two loaded runs, not served: its folder, its logs, the file of the second run, and what is said of that. */
function filled(t) {
  const folder = makeFolder(t);
  const logs = join(folder, "logs");
  const store = join(folder, "store");
  mkdirSync(logs);
  for (const name of NAMES) cpSync(join(LOGS, name), join(logs, name), { recursive: true });
  const loaded = spawnSync(BINARY, ["ingest", "--store", store, logs], { encoding: "utf8" });
  assert.equal(loaded.status, 0, loaded.stderr);
  const file = join(store, "apps", readdirSync(join(store, "apps")).find((name) => name.startsWith("app-20261129212258")));
  return { logs, store, file };
}

const serve = (t, { store, logs }) => startServer(t, ["--store", store, "--logs", logs], QUICK);
const damaged = (store) => (existsSync(join(store, "damaged")) ? readdirSync(join(store, "damaged")) : []);

function overwrite(file, from, to, byte = 0xa5) {
  const fd = openSync(file, "r+");
  writeSync(fd, Buffer.alloc(to - from, byte), 0, to - from, from);
  closeSync(fd);
}

function otherDatabase(file) {
  const done = spawnSync("python3", ["-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('create table t(a)'); c.execute('insert into t values(1)'); c.commit()", `${file}.new`]);
  assert.equal(done.status, 0, String(done.stderr));
  copyFileSync(`${file}.new`, file);
  unlinkSync(`${file}.new`);
}

const DAMAGES = {
  "pages that hold something else": (file) => overwrite(file, 2 * PAGE, statSync(file).size - PAGE),
  "the second half cut off": (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / PAGE) * PAGE),
  "cut off within its head": (file) => truncateSync(file, 50),
  "no bytes at all": (file) => truncateSync(file, 0),
  "noise": (file) => overwrite(file, 0, statSync(file).size),
  "another program's database": otherDatabase,
};

/** Asks until the run is loaded; every answer on the way is one that says what is the matter. */
async function comesBack(server, expected) {
  const seen = new Set();
  await eventually(async () => {
    const answer = await server.get(`/api/afterglow/v1/${asked}`);
    if (answer.status === 200) return assert.deepEqual(wanted(JSON.parse(answer.text)), expected) ?? true;
    const { error, detail } = JSON.parse(answer.text);
    seen.add(`${answer.status} ${error}`);
    assert.ok((answer.status === 409 && error === "not_loaded") || (answer.status === 500 && error === "damaged" && /made anew/.test(detail)), answer.text);
    return false;
  });
  return seen;
}

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`the file of a run while it is served: ${what}`, async (t) => {
    const made = filled(t);
    const server = await serve(t, made);
    await eventually(async () => (await server.json("server")).ready.list);
    const expected = wanted(await server.json("apps/app-20261129212258-0000/stages?limit=400"));
    assert.ok(expected.length > 0);
    damage(made.file);
    await comesBack(server, expected);
    const { disk, ingest } = await server.json("server");
    assert.equal(ingest.restarts, 0);
    assert.deepEqual(damaged(made.store), [made.file.split("/").pop()]);
    await eventually(async () => (await server.json("server")).disk.setAside.count === 1);
    assert.deepEqual((await server.json("server")).disk.setAside.names, [`damaged/${made.file.split("/").pop()}`]);
    assert.match((await server.get("/metrics")).text, /^afterglow_store_set_aside_files 1$/m);
    assert.ok(disk.runCount >= 1);
    await eventually(async () => (await server.json("apps?state=loaded")).total === 2); // the file is there a moment before its row says so
  });

  test(`the file of a run while nothing runs: ${what}`, async (t) => {
    const made = filled(t);
    const first = await serve(t, made);
    const expected = wanted(await first.json(asked));
    await first.stop();
    damage(made.file);
    const server = await serve(t, made);
    await comesBack(server, expected);
    assert.deepEqual(damaged(made.store), [made.file.split("/").pop()]);
  });
}

test("a damaged file whose log is gone stays, and its run says so", async (t) => {
  const made = filled(t);
  rmSync(join(made.logs, "skew_hot_key"), { recursive: true });
  const server = await serve(t, made);
  await eventually(async () => (await server.json("apps?state=gone")).total === 1);
  overwrite(made.file, 2 * PAGE, statSync(made.file).size - PAGE);
  for (let n = 0; n < 3; n++) {
    const answer = await server.get(`/api/afterglow/v1/${asked}`);
    assert.equal(answer.status, 500);
    assert.match(JSON.parse(answer.text).detail, /where that is still there/);
  }
  await eventually(() => /its log is not there/.test(server.errors()));
  assert.ok(existsSync(made.file));
  assert.deepEqual(damaged(made.store), []);
});

const catalogue = ({ store }) => join(store, "catalog.db");
const aside = ({ store }) => readdirSync(store).filter((name) => /^catalog\.db\.old-\d+$/.test(name));
const LISTS = {
  "noise": (made) => overwrite(catalogue(made), 0, statSync(catalogue(made)).size),
  "pages that hold something else": (made) => overwrite(catalogue(made), PAGE, statSync(catalogue(made)).size),
  "cut off": (made) => truncateSync(catalogue(made), 3 * PAGE),
  "of a newer version": (made) => overwrite(catalogue(made), 60, 64, 0x7f), // user_version in SQLite's head
  "another program's database": (made) => otherDatabase(catalogue(made)),
};

for (const [what, damage] of Object.entries(LISTS)) {
  test(`the catalogue before the start: ${what}`, async (t) => {
    const made = filled(t);
    for (const end of ["-wal", "-shm"]) rmSync(catalogue(made) + end, { force: true });
    damage(made);
    const server = await serve(t, made);
    await eventually(async () => {
      const answer = await server.get("/api/afterglow/v1/apps?state=loaded");
      return answer.status === 200 && JSON.parse(answer.text).total === 2;
    }, 40);
    assert.equal(aside(made).length, 1);
    await eventually(async () => (await server.json("server")).disk.setAside.names.includes(aside(made)[0]));
    await eventually(() => /catalog\.db could not be used/.test(server.errors())); // the worker says it through a pipe of its own
  });
}

for (const [what, damage] of [["pages that hold something else", LISTS["pages that hold something else"]], ["deleted", (made) => unlinkSync(catalogue(made))]]) {
  test(`the catalogue while it is served: ${what}`, async (t) => {
    const made = filled(t);
    const server = await serve(t, made);
    await eventually(async () => (await server.json("apps?state=loaded")).total === 2);
    await eventually(() => !existsSync(catalogue(made) + "-wal") || statSync(catalogue(made) + "-wal").size >= 0);
    damage(made);
    writeFileSync(join(made.logs, "app-new"), readFileSync(join(made.logs, "tiny_app", readdirSync(join(made.logs, "tiny_app"))[0])).toString().replaceAll("local-1795989117127", "app-new"));
    await eventually(async () => {
      const answer = await server.get("/api/afterglow/v1/apps?state=loaded");
      if (answer.status !== 200) assert.ok(/damaged|busy/.test(JSON.parse(answer.text).error), answer.text);
      return answer.status === 200 && JSON.parse(answer.text).total === 3;
    }, 40);
  });
}
