// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, startServer } from "./support/server.mjs";

/** Process ids of the server's children; a thread of the server is the parent, so those of every thread count. */
function ingestOf(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(/\s+/))
    .filter(Boolean)
    .map(Number);
}

const alive = (pid) => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

test("the server watches its ingest process", async (t) => {
  const logs = makeFolder(t);
  const store = join(makeFolder(t), "store");
  writeFileSync(join(logs, "app-1"), smallLog());
  const server = await startServer(t, ["--store", store, "--logs", logs], { AFTERGLOW_UPDATE_INTERVAL: "200ms" });

  await t.test("logs that are there appear, and so do logs that come", async () => {
    await eventually(async () => (await server.json("apps?state=loaded")).total === 1);
    writeFileSync(join(logs, ".app-2"), smallLog({ id: "app-2" }));
    renameSync(join(logs, ".app-2"), join(logs, "app-2"));
    await eventually(async () => (await server.json("apps?state=loaded")).total === 2);
    const status = await server.json("status");
    assert.deepEqual([status.ingest.enabled, status.ingest.running, status.ingest.restarts, status.ingest.message], [true, true, 0, null]);
    assert.equal(status.logs.loaded, 2);
    assert.deepEqual(
      status.places.map((place) => place.lastError),
      [null],
    );
  });

  await t.test("one that dies is started again, and why it died is told", async () => {
    const [before] = ingestOf(server.pid);
    process.kill(before, "SIGKILL");
    const status = await eventually(async () => {
      const now = await server.json("status");
      return now.ingest.restarts === 1 && now.ingest.running && now;
    });
    assert.match(status.ingest.message, /signal 9/);
    assert.notEqual(ingestOf(server.pid)[0], before);
    writeFileSync(join(logs, ".app-3"), smallLog({ id: "app-3" }));
    renameSync(join(logs, ".app-3"), join(logs, "app-3"));
    await eventually(async () => (await server.json("apps?state=loaded")).total === 3);
  });

  await t.test("SIGTERM ends both", async () => {
    const [child] = ingestOf(server.pid);
    assert.ok(alive(child));
    assert.equal(await server.stop("SIGTERM"), 0);
    assert.ok(!alive(child));
  });
});

test("a server that is killed takes its ingest process along", async (t) => {
  const server = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", makeFolder(t)]);
  const [child] = await eventually(() => ingestOf(server.pid).length === 1 && ingestOf(server.pid));
  assert.equal(await server.stop("SIGKILL"), "SIGKILL");
  await eventually(() => !alive(child));
});

test("lists are empty before the first scan", async (t) => {
  const server = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", makeFolder(t)]);
  const list = await server.json("apps");
  assert.deepEqual([list.items, list.total, list.counts.all], [[], 0, 0]);
  await server.json("apps/app-1", 404);
});

test("a run that is asked for while the list of runs is being made may be asked for again", async (t) => {
  const store = join(makeFolder(t), "store");
  const server = await startServer(t, ["--store", store, "--logs", makeFolder(t)]);
  await eventually(async () => (await server.get("/readyz")).status === 200);
  const [child] = ingestOf(server.pid);
  process.kill(child, "SIGSTOP");
  const made = readFileSync(join(store, "catalog.db"));
  const older = Buffer.from(made);
  older.writeUInt32BE(6, 60); // PRAGMA user_version, in the header of the file
  const v1 = "/api/v1/applications";
  const states = { "not there": null, "just begun": Buffer.alloc(0), "of another version": older };
  for (const [name, bytes] of Object.entries(states)) {
    for (const file of ["catalog.db", "catalog.db-wal", "catalog.db-shm"]) rmSync(join(store, file), { force: true });
    if (bytes) writeFileSync(join(store, "catalog.db"), bytes);
    const lists = [await server.get(v1), await server.get("/api/afterglow/v1/apps")];
    assert.deepEqual([lists[0].status, JSON.parse(lists[0].text), lists[1].status, JSON.parse(lists[1].text).items], [200, [], 200, []], name);
    for (const path of [`${v1}/a`, `${v1}/a/1`, `${v1}/a/logs`, `${v1}/a/1/logs`, `${v1}/a/jobs`, `${v1}/a/1/stages`, "/api/afterglow/v1/apps/a", "/history/a/1/jobs/"]) {
      const answer = await server.get(path);
      assert.deepEqual([answer.status, answer.headers["retry-after"]], [503, "2"], `${name}: ${path}: ${answer.text}`);
      assert.match(answer.text, /the list of runs is just being made/);
    }
    assert.equal((await server.get("/a/a")).status, 200, name);
  }
  process.kill(child, "SIGCONT");
});

test("where nobody makes a list of runs, there is no run", async (t) => {
  const server = await startServer(t, ["--store", makeFolder(t)]);
  for (const path of ["applications/a", "applications/a/1", "applications/a/logs", "applications/a/1/logs", "applications/a/jobs"]) assert.equal((await server.get(`/api/v1/${path}`)).status, 404, path);
  assert.equal((await server.get("/api/v1/applications/a/logs")).text, "no such app: a/1");
});
