// SPDX-License-Identifier: Apache-2.0
// New logs while others keep the loaders busy, and in a place that is not due to be looked at. How long it takes beside a log of 10 GB: tools/bench --only arrivals.
import assert from "node:assert/strict";
import { renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { event, smallLog } from "./support/log.mjs";
import { becomes, eventually, makeFolder, startServer } from "./support/server.mjs";
import { startWebhdfs } from "./support/webhdfs.mjs";

const put = (folder, name, text) => {
  writeFileSync(join(folder, `.${name}`), text);
  renameSync(join(folder, `.${name}`), join(folder, name));
};

test("small logs are loaded while a giant is, and the giants one after another", async (t) => {
  const remote = makeFolder(t);
  const local = makeFolder(t);
  const padding = `${event("Filler", { x: "y".repeat(1 << 20) })}\n`;
  for (const id of ["giant-1", "giant-2"]) {
    const lines = smallLog({ id }).split("\n");
    put(remote, id, [...lines.slice(0, 7), padding.repeat(66).trimEnd(), ...lines.slice(7)].join("\n"));
  }
  const { size } = statSync(join(remote, "giant-1"));
  let release;
  const released = new Promise((done) => (release = done));
  // Its head and tail can be read, so that it is listed; its middle waits for us.
  const hdfs = await startWebhdfs({ root: remote, held: (path, offset) => (path.includes("giant") && offset > 8 << 20 && offset < size - (8 << 20) ? released : undefined) });
  t.after(() => hdfs.stop());
  const settings = join(makeFolder(t), "spark-defaults.conf");
  writeFileSync(settings, "spark.history.fs.update.interval 200ms\nspark.history.fs.numReplayThreads 2\nafterglow.places.timeout 10min\n");
  const server = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", local, `webhdfs://127.0.0.1:${hdfs.port}/`, "--properties-file", settings]);
  const giants = async () => (await server.json("apps?q=giant")).items.map((run) => run.state).sort();
  await becomes(giants, ["loading", "waiting"]);

  for (const [folder, id] of [[local, "app-near"], [remote, "app-far"], [local, "app-last"]]) {
    put(folder, id, smallLog({ id }));
    await eventually(async () => (await server.json(`apps?q=${id}`)).items[0]?.state === "loaded");
    assert.equal((await server.get(`/api/v1/applications/${id}/jobs`)).status, 200);
    assert.deepEqual(await giants(), ["loading", "waiting"]);
  }
  release();
  await becomes(giants, ["loaded", "loaded"]);
});

test("a directory in which something was made or deleted is looked at before its time", async (t) => {
  const still = makeFolder(t);
  const stirred = makeFolder(t);
  put(stirred, "app-old", smallLog({ id: "app-old" }));
  const server = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", still, stirred], { AFTERGLOW_UPDATE_INTERVAL: "2min" });
  const lastScan = async (folder) => (await server.json("status")).places.find((place) => place.uri === folder)?.lastScanMs;
  await eventually(async () => (await lastScan(still)) && (await lastScan(stirred)) && (await server.json("apps?q=app-old")).items[0]?.loaded);
  // Where both were looked at in between, which a busy machine may bring about, it says nothing: once more.
  const stir = async (number) => {
    const before = await lastScan(still);
    put(stirred, `app-new-${number}`, smallLog({ id: `app-new-${number}` }));
    await eventually(async () => (await server.json(`apps?q=app-new-${number}`)).items[0]?.loaded);
    return (await lastScan(still)) === before;
  };
  let early = false;
  for (let number = 0; number < 10 && !early; number++) early = await stir(number);
  assert.ok(early, "a new log was seen although the first of the places, which is looked at before it, was not due");
});
