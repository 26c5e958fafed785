// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
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
