// SPDX-License-Identifier: Apache-2.0
// What the ingest process of a server may do (base/confine.h, cli/worker_rights.h).
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, startServer } from "./support/server.mjs";

const QUICK = { AFTERGLOW_UPDATE_INTERVAL: "100ms" };
const ingest = async (server) => (await server.json("server")).ingest;
const loaded = async (server) => (await server.json("apps?state=loaded")).total;

/** The level that holds, once the directories were looked at. */
async function level(server) {
  return (await eventually(async () => (await server.json("server")).ready.list && ingest(server))).confined;
}

test("the ingest process reads its log directories and nothing else", async (t) => {
  const folder = makeFolder(t);
  const logs = join(folder, "logs");
  mkdirSync(logs);
  mkdirSync(join(folder, "elsewhere"));
  writeFileSync(join(logs, "app-1"), smallLog());
  writeFileSync(join(folder, "elsewhere", "app-2"), smallLog({ id: "app-2" }));
  symlinkSync("../elsewhere/app-2", join(logs, "app-2"));
  const server = await startServer(t, ["--store", join(folder, "store"), "--logs", logs], QUICK);
  if (!(await level(server))) return t.skip("this kernel has no Landlock");
  await eventually(async () => (await loaded(server)) === 1);
  const [child] = readdirSync(`/proc/${server.pid}/task`).flatMap((thread) => readFileSync(`/proc/${server.pid}/task/${thread}/children`, "utf8").trim().split(/\s+/).filter(Boolean));
  assert.match(readFileSync(`/proc/${child}/status`, "utf8"), /^NoNewPrivs:\s+1$/m);
  // a link out of the directory is followed by nobody; the list says so
  const troubles = (await server.json("server")).troubles;
  assert.deepEqual(troubles.map((x) => [x.reason, x.count, x.latest[0].logPath]), [["not_permitted", 1, join(logs, "app-2")]]);
});

test("a directory that comes later is read, by a process that may", async (t) => {
  const folder = makeFolder(t);
  const logs = join(folder, "logs");
  const server = await startServer(t, ["--store", join(folder, "store"), "--logs", logs], QUICK);
  if (!(await level(server))) return t.skip("this kernel has no Landlock");
  assert.equal((await ingest(server)).restarts, 0);
  mkdirSync(logs);
  writeFileSync(join(logs, "app-1"), smallLog());
  await eventually(async () => (await loaded(server)) === 1);
  const { restarts, message } = await ingest(server);
  assert.equal(restarts, 1);
  assert.match(message, /exit status 1/);

  renameSync(logs, join(folder, "old"));
  mkdirSync(logs);
  writeFileSync(join(logs, "app-2"), smallLog({ id: "app-2" }));
  await eventually(async () => (await server.json("apps?q=app-2&state=loaded")).total === 1);
  assert.equal((await ingest(server)).restarts, 2);
});

test("the cleaner may delete, and only where it is on", async (t) => {
  const folder = makeFolder(t);
  const logs = join(folder, "logs");
  mkdirSync(logs);
  const old = Date.now() / 1000 - 30 * 86400;
  writeFileSync(join(logs, "app-1"), smallLog());
  utimesSync(join(logs, "app-1"), old, old);
  writeFileSync(join(folder, "conf"), "spark.history.fs.cleaner.enabled true\nspark.history.fs.cleaner.interval 200ms\n");
  const server = await startServer(t, ["--store", join(folder, "store"), "--logs", logs, "--properties-file", join(folder, "conf")], QUICK);
  await level(server);
  await eventually(() => readdirSync(logs).length === 0);
});
