// SPDX-License-Identifier: Apache-2.0
// Remote places beside local ones. The server at the other end is a small one (support/webhdfs.mjs); tests/support/real_places.py has a real HDFS and S3.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { BINARY, LOGS, eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";
import { HAS_OPENSSL, makeAuthority } from "./support/tls.mjs";
import { startWebhdfs } from "./support/webhdfs.mjs";
import { unzip } from "./support/zip.mjs";

const put = (folder, name, text) => {
  writeFileSync(join(folder, `.${name}`), text);
  renameSync(join(folder, `.${name}`), join(folder, name));
};

const dump = (store, app) => spawnSync(BINARY, ["dump", "--store", store, app], { encoding: "utf8" }).stdout;

test("a remote place is read as a directory is, and one that is away holds up nothing", async (t) => {
  const remote = makeFolder(t);
  const local = makeFolder(t);
  const store = join(makeFolder(t), "store");
  const properties = join(makeFolder(t), "spark-defaults.conf");
  const tokenFile = join(makeFolder(t), "token");
  cpSync(join(LOGS, "big_stage"), join(remote, "big_stage"), { recursive: true });
  cpSync(join(LOGS, "gc_pressure"), join(remote, "gc_pressure"), { recursive: true });
  writeFileSync(tokenFile, "SECRET-TOKEN\n");
  writeFileSync(join(remote, "README"), "no log\n");
  let hdfs = await startWebhdfs({ root: remote, names: ["../up", "a\nb", "x".repeat(100000)] });
  t.after(() => hdfs.stop());
  writeFileSync(
    properties,
    `spark.history.fs.logDirectory hdfs://prod/, ${local}
spark.history.fs.logDirectory.names Far,Near
spark.history.fs.update.interval 200ms
afterglow.hdfs.nameNodes prod=127.0.0.1:${hdfs.port}
afterglow.hdfs.tokenFile ${tokenFile}
afterglow.places.timeout 500ms
spark.hadoop.fs.s3a.secret.key SECRET-KEY
`,
  );
  const server = await startServer(t, ["--store", store, "--properties-file", properties]);
  const place = async (name) => (await server.json("status")).places.find((p) => p.name === name);

  await t.test("its logs are loaded as from a disk", async () => {
    await eventually(async () => (await server.json("apps?state=loaded")).total === 2);
    assert.equal(await place("Far").then((p) => p.uri), "hdfs://prod/");
    const here = makeStore(t, [join(LOGS, "big_stage"), join(LOGS, "gc_pressure")]);
    for (const app of ["local-1795989991379", "app-20261129212445-0000"]) {
      // Another key, place and time of reading.
      const lines = (text) => text.split("\n").filter((line) => !/prod|afterglow|tests\/data|^load\b/.test(line) && !line.includes("load ")).length;
      assert.ok(lines(dump(store, app)) > 100);
      const expected = lines(dump(here, app));
      await eventually(() => lines(dump(store, app)) === expected);
    }
    const [app] = JSON.parse((await server.get("/api/v1/applications")).text).filter((a) => a.id === "local-1795989991379");
    assert.equal(app.attempts[0].logSourceName, "Far");
    assert.equal(app.attempts[0].logSourceFullPath, "hdfs://prod/");
  });

  await t.test("names that no file can have are told and lead nowhere", async () => {
    const { items } = await server.json("apps?state=skipped&limit=50");
    const odd = items.filter((i) => i.reason === "a name that no file can have").map((i) => i.logPath.replace("hdfs://prod/", "")).filter((name) => !name.includes("/"));
    assert.deepEqual(odd.sort(), ["???up", "a?b", "x".repeat(100)]);
  });

  await t.test("what does not change is not asked for again", async () => {
    hdfs.asked.length = 0;
    await eventually(async () => hdfs.asked.filter((a) => a === "LISTSTATUS_BATCH /").length > 6);
    assert.deepEqual(hdfs.asked.filter((a) => a.startsWith("OPEN")), []);
    assert.deepEqual(hdfs.asked.filter((a) => a.includes("eventlog_v2")), []);
  });

  await t.test("a growing log costs its new bytes, through its rename", async () => {
    const lines = smallLog({ id: "app-grows" }).trimEnd().split("\n");
    put(remote, "app-grows.inprogress", `${lines.slice(0, 8).join("\n")}\n`);
    await eventually(async () => (await server.json("apps?q=app-grows")).items[0]?.loaded);
    appendFileSync(join(remote, "app-grows.inprogress"), `${lines.slice(8).join("\n")}\n`);
    await eventually(async () => (await server.json("apps?q=app-grows")).items[0]?.taskCount > 3);
    renameSync(join(remote, "app-grows.inprogress"), join(remote, "app-grows"));
    await eventually(async () => (await server.json("apps?q=app-grows")).items[0]?.logPath === "hdfs://prod/app-grows");
    assert.equal((await server.json("apps?q=app-grows")).total, 1);
  });

  await t.test("its logs can be downloaded, rolling ones as a folder", async () => {
    const answer = await server.get("/api/v1/applications/local-1795989991379/logs");
    assert.equal(answer.status, 200);
    const entries = unzip(answer.bytes);
    const folder = "eventlog_v2_local-1795989991379";
    const found = entries.find((e) => e.name === `${folder}/events_2_local-1795989991379.zstd`);
    assert.deepEqual(Buffer.from(found.bytes), readFileSync(join(LOGS, "big_stage", folder, "events_2_local-1795989991379.zstd")));
    assert.equal(entries[0].name, `${folder}/`);
    assert.equal(entries.length, 5);
  });

  await t.test("while it is away its runs stay, other places are read, and it says since when and why", async () => {
    const before = Date.now();
    hdfs.standby(true);
    const away = await eventually(async () => {
      const p = await place("Far");
      return p.failingSinceMs && p;
    });
    assert.ok(away.failingSinceMs >= before && away.failingSinceMs <= Date.now());
    assert.match(away.lastError, /StandbyException/);
    put(local, "app-near", smallLog({ id: "app-near" }));
    await eventually(async () => (await server.json("apps?q=app-near")).items[0]?.loaded);
    assert.ok((await place("Far")).failingSinceMs, "which is away all the time");
    await eventually(async () => (await server.json("apps?state=loaded")).total === 4);
    const { status } = await server.get("/api/v1/applications/local-1795989991379/jobs");
    assert.equal(status, 200);
    assert.equal((await place("Near")).failingSinceMs, null);
    hdfs.standby(false);
    await eventually(async () => (await place("Far")).failingSinceMs === null);
  });

  await t.test("secrets are in no line and no answer", async () => {
    const said = server.errors() + JSON.stringify(await server.json("status")) + JSON.stringify(await server.json("apps"));
    assert.ok(!/SECRET/.test(said));
    assert.ok(/Far|prod/.test(said));
  });
});

test("a run that no scan has seen yet is found when somebody asks for it", async (t) => {
  const remote = makeFolder(t);
  const local = makeFolder(t);
  const hdfs = await startWebhdfs({ root: remote });
  t.after(() => hdfs.stop());
  const server = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", local, `webhdfs://127.0.0.1:${hdfs.port}/`], { AFTERGLOW_UPDATE_INTERVAL: "1h" });
  await eventually(async () => (await server.json("status")).places.filter((p) => p.lastScanMs).length === 2);
  const source = join(LOGS, "attempts");

  await t.test("by its REST resource, in a directory", async () => {
    put(local, "app-20260101000000-0001", smallLog({ id: "app-20260101000000-0001" }));
    const answer = await server.get("/api/v1/applications/app-20260101000000-0001");
    assert.equal(answer.status, 200);
    assert.equal(JSON.parse(answer.text).id, "app-20260101000000-0001");
  });

  await t.test("by its page, in a remote place, as a rolling log with another spelling of its name", async () => {
    mkdirSync(join(remote, "eventlog_v2_app-2-x_y"));
    put(join(remote, "eventlog_v2_app-2-x_y"), "events_1_app-2-x_y", smallLog({ id: "App-2-x.y" }));
    put(join(remote, "eventlog_v2_app-2-x_y"), "appstatus_app-2-x_y", "");
    assert.equal((await server.get("/history/App-2-x.y/")).status, 302);
    assert.equal((await server.json("apps?q=App-2-x.y")).total, 1);
  });

  await t.test("with an attempt and a codec in its name", async () => {
    copyFileSync(join(source, "application_1795900000000_0042_2.zstd"), join(remote, "application_1795900000000_0042_2.zstd"));
    const answer = await server.get("/api/v1/applications/application_1795900000000_0042");
    assert.equal(answer.status, 200);
  });

  await t.test("and what is nowhere is not there, at once the second time", async () => {
    assert.equal((await server.get("/api/v1/applications/app-404")).status, 404);
    const before = hdfs.asked.length;
    assert.equal((await server.get("/api/v1/applications/app-404")).status, 404);
    assert.equal(hdfs.asked.length, before);
    for (const odd of ["..%2f..%2fetc%2f1", "a%0ascan1", "%00x1", "x".repeat(300) + "1", "no-digit"]) await server.get(`/api/v1/applications/${odd}`);
    assert.equal(hdfs.asked.length, before);
  });
  rmSync(join(remote, "eventlog_v2_app-2-x_y"), { recursive: true });
});

test("what comes to HDFS is seen by the time of its directory, long before the interval is over", async (t) => {
  const remote = makeFolder(t);
  const hdfs = await startWebhdfs({ root: remote });
  t.after(() => hdfs.stop());
  const server = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", `webhdfs://127.0.0.1:${hdfs.port}/`], { AFTERGLOW_UPDATE_INTERVAL: "40s" });
  await eventually(async () => (await server.json("status")).places[0]?.lastScanMs);
  const came = Date.now();
  put(remote, "app-early", smallLog({ id: "app-early" }));
  await eventually(async () => (await server.json("apps?q=app-early")).total === 1);
  assert.ok(Date.now() - came < 25000, `${Date.now() - came} ms`);
});

test("HDFS by TLS: an authority of one's own is believed, no other is, and no way leads back to http", { skip: !HAS_OPENSSL }, async (t) => {
  const folder = makeFolder(t);
  const remote = makeFolder(t);
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "SECRET-TOKEN");
  put(remote, "app-1", smallLog({ id: "app-1" }));
  const { authority, sign } = makeAuthority(folder, "authority");
  const start = async (how) => {
    const hdfs = await startWebhdfs({ root: remote, tls: sign("127.0.0.1"), ...how });
    t.after(() => hdfs.stop());
    return hdfs;
  };
  let stores = 0;
  const serve = (properties) => {
    const file = join(folder, `${++stores}.conf`);
    writeFileSync(file, `spark.history.fs.update.interval 200ms\nafterglow.hdfs.user me\n${properties.join("\n")}\n`);
    return startServer(t, ["--store", join(folder, `store-${stores}`), "--properties-file", file]);
  };
  const place = async (server) => (await server.json("status")).places[0];

  await t.test("as Hadoop's settings say where it is, with a delegation token", async () => {
    const hdfs = await start({});
    const server = await serve([
      "spark.history.fs.logDirectory hdfs://prod/",
      "spark.hadoop.dfs.http.policy HTTPS_ONLY",
      `spark.hadoop.dfs.namenode.https-address.prod 127.0.0.1:${hdfs.port}`,
      `afterglow.places.caFile ${authority}`,
      `afterglow.hdfs.tokenFile ${tokenFile}`,
    ]);
    await eventually(async () => (await server.json("apps?state=loaded")).total === 1);
    assert.ok(hdfs.asked.includes("OPEN /app-1"));
    assert.deepEqual([...new Set(hdfs.tokens)], ["SECRET-TOKEN"]);
    put(folder, "token", "RENEWED-TOKEN"); // by others, while we run
    await eventually(() => hdfs.tokens.at(-1) === "RENEWED-TOKEN");
    assert.ok(!/-TOKEN/.test(server.errors()));
  });

  await t.test("by its address, as a user", async () => {
    const hdfs = await start({});
    const server = await serve([`spark.history.fs.logDirectory swebhdfs://127.0.0.1:${hdfs.port}/`, `afterglow.places.caFile ${authority}`]);
    await eventually(async () => (await server.json("apps?state=loaded")).total === 1);
    assert.deepEqual([...new Set(hdfs.tokens)], ["me"]);
  });

  const refusals = [
    ["an authority that nobody named", {}, []],
    ["another authority", {}, [`afterglow.places.caFile ${makeAuthority(folder, "other").authority}`]],
    ["a certificate for another host", { tls: sign("example.org") }, [`afterglow.places.caFile ${authority}`]],
  ];
  for (const [name, how, properties] of refusals)
    await t.test(`not with ${name}`, async () => {
      const hdfs = await start(how);
      const server = await serve([`spark.history.fs.logDirectory swebhdfs://127.0.0.1:${hdfs.port}/`, ...properties]);
      const told = await eventually(async () => (await place(server))?.lastError);
      assert.match(told, /certificate/i);
      assert.deepEqual(hdfs.asked, []);
    });

  await t.test("a data node without TLS is not followed", async () => {
    const plain = await start({ tls: undefined });
    const hdfs = await start({ nodes: `http://127.0.0.1:${plain.port}` });
    const server = await serve([`spark.history.fs.logDirectory swebhdfs://127.0.0.1:${hdfs.port}/`, `afterglow.places.caFile ${authority}`]);
    const failed = await eventually(async () => (await server.json("apps?state=failed")).items[0]);
    assert.match(failed.reason, /an address without https/);
    assert.deepEqual(plain.asked, []);
  });
});
