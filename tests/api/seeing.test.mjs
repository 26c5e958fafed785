// SPDX-License-Identifier: Apache-2.0
// Seeing inside: /readyz, /metrics, the server's state, and what an administrator can have done to a run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { becomes, eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";
import { basic, makeUsers } from "./support/tls.mjs";

const asAlice = { headers: basic("alice", "wonder land") };
const asBob = { headers: basic("bob", "b") };
const OURS = { "X-Afterglow-Action": "1" };

/** A server that watches a folder with these logs. @param {Record<string, string>} logs by file name */
async function watch(t, logs, lines = [], env = {}) {
  const folder = makeFolder(t);
  const dir = join(folder, "logs");
  spawnSync("mkdir", [dir]);
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(dir, name), text);
  const settings = join(folder, "settings.conf");
  writeFileSync(settings, lines.join("\n") + "\n");
  const store = join(folder, "store");
  const server = await startServer(t, ["--logs", dir, "--store", store, "--properties-file", settings], { AFTERGLOW_UPDATE_INTERVAL: "1s", ...env });
  const ready = () => eventually(async () => (await server.get("/readyz")).status === 200);
  const act = (ref, what, headers = OURS) => server.get(`/api/afterglow/v1/apps/${ref}/${what}`, { method: "POST", headers });
  return { ...server, folder, dir, store, ready, act };
}

const two = () => ({ "app-1": smallLog({ id: "app-1" }), "app-2": smallLog({ id: "app-2", user: "bob" }) });
const loaded = (server, n) => eventually(async () => (await server.json("apps")).items.filter((a) => a.state === "loaded").length === n);
const worker = (server) => Number(spawnSync("pgrep", ["-P", String(server.pid)], { encoding: "utf8" }).stdout);

/** Samples by their name with labels, and the types of families. */
function parse(text) {
  const samples = new Map();
  const types = new Map();
  const helped = new Set();
  for (const line of text.trimEnd().split("\n")) {
    const [, comment, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (comment === "HELP") helped.add(name);
    else if (comment === "TYPE") types.set(name, rest);
    else {
      const [, key, value] = /^([a-z_]+(?:\{(?:[a-z]+="[^"]*",?)+\})?) (\S+)$/.exec(line) ?? assert.fail(`no sample: ${line}`);
      assert.ok(!samples.has(key), `${key} twice`);
      samples.set(key, Number(value));
      const family = key.replace(/\{.*/, "");
      assert.ok(types.has(family) || types.get(family.replace(/_(bucket|sum|count)$/, "")) === "histogram", `${family} has no type`);
    }
  }
  assert.deepEqual([...types.keys()].sort(), [...helped].sort());
  return { samples, types };
}
const metrics = async (server, options) => parse((await server.get("/metrics", options)).text);

test("/readyz is true", async (t) => {
  await t.test("not before the list is", async (t) => {
    const logs = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`app-${i}`, smallLog({ id: `app-${i}` })]));
    const server = await watch(t, logs);
    const said = [];
    for (let answer; (answer = await server.get("/readyz")).status !== 200; ) said.push(`${answer.status} ${answer.text}`);
    assert.equal((await server.json("apps")).total, 120);
    assert.ok(said.every((each) => each.startsWith("503 not ready\n") && !each.includes(server.dir)), said[0]);
    assert.ok(said.length === 0 || said.at(-1).includes("list: the first look at the log directories is not done"));
  });

  await t.test("nor without the process that reads logs, whose counts go on in the next one", async (t) => {
    const server = await watch(t, two());
    await loaded(server, 2);
    // A second later there is a new one: if that was too short to be seen, it goes, too.
    const text = await eventually(async () => {
      const pid = worker(server);
      if (pid) process.kill(pid, "SIGKILL");
      const { status, text } = await server.get("/readyz");
      return status === 503 && text;
    });
    assert.equal(text, "not ready\nworker: the ingest process is not running");
    assert.equal((await server.get("/healthz")).text, "ok");
    await server.ready();
    writeFileSync(join(server.dir, "app-3"), smallLog({ id: "app-3" }));
    await loaded(server, 3);
    const { samples } = await metrics(server);
    assert.equal(samples.get('afterglow_loads_total{result="loaded"}'), 3);
    const { restarts } = (await server.json("status")).ingest;
    assert.ok(restarts >= 1);
    assert.equal(samples.get("afterglow_worker_restarts_total"), restarts);
  });

  await t.test("nor without a catalogue; a place that is away does not count", async (t) => {
    const store = makeStore(t, [join(makeFolderOf(t, two()))]);
    const server = await startServer(t, ["--store", store]);
    assert.deepEqual([(await server.get("/readyz")).status, (await server.get("/readyz")).text], [200, "ok"]);
    for (const name of readdirSync(store).filter((each) => each.startsWith("catalog.db"))) rmSync(join(store, name));
    assert.deepEqual([(await server.get("/readyz")).status, (await server.get("/readyz")).text], [503, "not ready\ncatalogue: it cannot be read"]);
    const away = await startServer(t, ["--store", join(makeFolder(t), "store"), "--logs", "/nowhere/at/all"]);
    await eventually(async () => (await away.get("/readyz")).status === 200);
  });
});

function makeFolderOf(t, logs) {
  const folder = makeFolder(t);
  for (const [name, text] of Object.entries(logs)) writeFileSync(join(folder, name), text);
  return folder;
}

test("/metrics counts what was done", async (t) => {
  const cut = smallLog({ id: "app-3" }).slice(0, -20);
  const logs = { ...two(), "app-3": cut, "app-4": '{"Event":"SparkListenerLogStart"\n', "notes.txt": "nothing of ours\n" };
  const server = await watch(t, logs);
  await server.ready();
  await eventually(async () => !/(waiting|loading)"\} [1-9]/.test((await server.get("/metrics")).text));
  for (const path of ["/a/secret-run", "/secret-page", "/api/afterglow/v1/apps/secret-run", "/api/v1/applications/secret-run/jobs"]) await server.get(path);
  for (let i = 0; i < 3; i++) await server.json("apps/app-1");
  // A request counts once its answer is sent, which is a moment after it came.
  const done = (text, route, status, n) => text.includes(`_count{route="${route}",status="${status}"} ${n}\n`);
  const [run, page] = ["/api/afterglow/v1/apps/{ref}", "/a/{ref}"];
  const answer = await eventually(async () => {
    const answer = await server.get("/metrics");
    return done(answer.text, run, "2xx", 3) && done(answer.text, run, "4xx", 1) && done(answer.text, page, "2xx", 1) && done(answer.text, "none", "4xx", 1) && answer;
  });
  assert.equal(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  assert.doesNotMatch(answer.text, /secret|app-1/);
  const { samples, types } = parse(answer.text);
  const at = (name) => samples.get(`afterglow_${name}`);
  const state = await server.json("server");

  assert.equal(at('loads_total{result="loaded"}'), 2);
  assert.equal(at('loads_total{result="partial"}'), state.logs.partial);
  assert.equal(at('load_failures_total{reason="unreadable"}'), state.logs.failed);
  assert.equal(state.logs.partial + state.logs.failed, 2);
  assert.equal(at("load_read_bytes_total"), ["app-1", "app-2", "app-3", "app-4"].reduce((sum, name) => sum + Buffer.byteLength(logs[name]), 0));
  assert.equal(at("load_duration_seconds_count"), 2 + state.logs.partial);
  for (const [name, n] of Object.entries(state.logs)) assert.equal(at(`logs{state="${name}"}`), n, name);
  assert.equal(at('log_troubles{reason="not_a_log"}'), 1);
  for (const { reason, count } of state.troubles) assert.equal(at(`log_troubles{reason="${reason}"}`), count);
  assert.equal(at(`place_up{place="${server.dir}"}`), 1);
  assert.equal(at(`place_entries{place="${server.dir}"}`), 5);
  assert.ok(Date.now() / 1000 - at(`place_last_scan_time_seconds{place="${server.dir}"}`) < 600);

  const route = 'route="/api/afterglow/v1/apps/{ref}",status="2xx"';
  assert.equal(at(`http_request_duration_seconds_count{${route}}`), 3);
  assert.equal(at(`http_request_duration_seconds_bucket{${route},le="+Inf"}`), 3);
  assert.equal(at('http_request_duration_seconds_count{route="/api/afterglow/v1/apps/{ref}",status="4xx"}'), 1);
  assert.equal(at('http_request_duration_seconds_count{route="none",status="4xx"}'), 1);
  assert.equal(at('http_request_duration_seconds_count{route="/a/{ref}",status="2xx"}'), 1);
  const buckets = [...samples].filter(([key]) => key.startsWith(`afterglow_http_request_duration_seconds_bucket{${route}`)).map(([, n]) => n);
  assert.deepEqual(buckets, [...buckets].sort((a, b) => a - b));
  assert.equal(buckets.length, 11);

  assert.equal(at("answer_cache_hits_total"), 2, "of three times the same the first is made");
  assert.ok(at('resident_memory_bytes{process="server"}') > 1e6 && at('resident_memory_bytes{process="worker"}') > 1e6);
  const runs = readdirSync(join(server.store, "apps")).filter((name) => name.endsWith(".db")).length;
  await eventually(async () => (await metrics(server)).samples.get("afterglow_store_runs") === runs);
  assert.equal(at("worker_up"), 1);
  for (const [name, type] of types) {
    assert.equal(name.endsWith("_total"), type === "counter", name);
    assert.match(name, /^afterglow_[a-z_]+$/);
  }
});

test("/metrics is not for everybody", async (t) => {
  const start = async (lines) => {
    const folder = makeFolder(t);
    const settings = join(folder, "settings.conf");
    writeFileSync(settings, [`afterglow.login.usersFile ${makeUsers(folder)}`, ...lines].join("\n"));
    return startServer(t, ["--store", makeStore(t, [makeFolderOf(t, two())]), "--properties-file", settings]);
  };
  const near = await start([]);
  const status = async (server, headers) => (await server.get("/metrics", { headers })).status;
  assert.equal(await status(near), 200, "this machine has no need of a login");
  assert.equal(await status(near, { "X-Forwarded-For": "203.0.113.9" }), 401, "for whom the proxy asks");
  assert.equal(await status(near, { "X-Forwarded-For": "127.0.0.1" }), 401, "a client that says what it likes");
  for (const header of ["Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"]) assert.equal(await status(near, { [header]: "x" }), 401, header);
  for (const path of ["/readyz", "/healthz"]) assert.equal((await near.get(path, { headers: { "X-Forwarded-For": "203.0.113.9" } })).status, 200);
  assert.equal((await near.get("/api/afterglow/v1/server")).status, 401);

  const far = await start(["afterglow.metrics.from 203.0.113.0/24", "spark.history.ui.acls.enable true", "spark.history.ui.admin.acls bob", "afterglow.auth.groupsFile /dev/null"]);
  assert.equal(await status(far), 401);
  assert.equal(await status(far, { "X-Forwarded-For": "203.0.113.9" }), 200);
  assert.equal(await status(far, asBob.headers), 200, "who sees every run");
  assert.equal(await status(far, asAlice.headers), 403);
  assert.equal((await far.get("/api/afterglow/v1/server", asBob)).status, 200);
  assert.equal((await far.get("/api/afterglow/v1/server", asAlice)).status, 403);
});

test("a run is read anew", async (t) => {
  const server = await watch(t, two());
  await loaded(server, 2);
  const before = await server.json("apps/app-1");
  const answer = await server.act("app-1", "reload");
  assert.deepEqual([answer.status, JSON.parse(answer.text)], [202, { asked: "reload", key: before.key }]);
  const after = await eventually(async () => {
    const app = await server.get("/api/afterglow/v1/apps/app-1");
    return app.status === 200 && JSON.parse(app.text).generation > before.generation && JSON.parse(app.text);
  });
  assert.deepEqual([after.state, after.taskCount], ["loaded", before.taskCount]);

  rmSync(join(server.dir, "app-1"));
  await eventually(async () => (await server.json("apps/app-1")).state === "gone");
  assert.deepEqual([(await server.act("app-1", "reload")).status, JSON.parse((await server.act("app-1", "reload")).text).error], [409, "log_gone"]);
  assert.equal((await server.act("app-9", "reload")).status, 404);
});

test("a run is forgotten until its log changes", async (t) => {
  const text = smallLog({ id: "app-1" });
  const server = await watch(t, two());
  await loaded(server, 2);
  const { key } = await server.json("apps/app-1");
  const file = join(server.store, "apps", `${key}.db`);
  assert.ok(existsSync(file));
  assert.equal((await server.act("app-1", "forget")).status, 202);
  await eventually(async () => (await server.json("apps")).total === 1);
  assert.equal((await server.get("/api/afterglow/v1/apps/app-1")).status, 404);
  await eventually(() => !existsSync(file));
  assert.equal(readFileSync(join(server.dir, "app-1"), "utf8"), text, "the log is not touched");
  await becomes(async () => (await metrics(server)).samples.get('afterglow_log_troubles{reason="forgotten"}'), 1);

  process.kill(worker(server), "SIGKILL"); // and a new one does not bring it back
  await eventually(async () => (await server.json("status")).ingest.restarts === 1);
  await server.ready();
  const scans = async () => (await metrics(server)).samples.get('afterglow_scans_total{result="done"}');
  const now = await scans();
  await eventually(async () => (await scans()) > now + 1);
  assert.equal((await server.json("apps")).total, 1);

  appendFileSync(join(server.dir, "app-1"), '{"Event":"SparkListenerOfSomebody"}\n');
  await eventually(async () => (await server.json("apps")).total === 2);
  await loaded(server, 2);
});

test("not everybody may have something done", async (t) => {
  await t.test("where nobody is named, this machine alone, and no page of another site", async (t) => {
    const server = await watch(t, two());
    await loaded(server, 2);
    const refusal = async (headers, what = "forget") => {
      const answer = await server.act("app-1", what, headers);
      return [answer.status, JSON.parse(answer.text).error];
    };
    assert.deepEqual(await refusal({}), [403, "wrong_origin"]);
    assert.deepEqual(await refusal({ ...OURS, Origin: "https://elsewhere.example" }), [403, "wrong_origin"]);
    assert.deepEqual(await refusal({ ...OURS, "Sec-Fetch-Site": "cross-site" }), [403, "wrong_origin"]);
    assert.deepEqual(await refusal({ ...OURS, "X-Forwarded-For": "203.0.113.9" }), [403, "forbidden"]);
    for (const host of ["elsewhere.example", "127.0.0.1.elsewhere.example", "localhost.elsewhere.example:80", "10.0.0.1", "[::2]:80"])
      assert.deepEqual(await refusal({ ...OURS, Host: host }), [403, "forbidden"], host);
    const get = await server.get("/api/afterglow/v1/apps/app-1/forget", { headers: OURS });
    assert.deepEqual([get.status, get.headers.allow], [405, "POST"]);
    for (const path of ["/api/afterglow/v1/apps/app-1", "/api/afterglow/v1/forget", "/reload"]) {
      const post = await server.get(path, { method: "POST", headers: OURS });
      assert.deepEqual([post.status, post.headers.allow], [405, "GET, HEAD, OPTIONS"], path);
    }
    assert.equal((await server.json("apps")).total, 2);
    for (const host of ["localhost:1", "127.0.0.2", "[::1]:80"]) {
      await loaded(server, 2);
      await eventually(async () => (await server.act("app-1", "reload", { ...OURS, Host: host })).status === 202);
    }
  });

  await t.test("where there are names, those who see every run; and it is noted", async (t) => {
    const folder = makeFolder(t);
    const audit = join(folder, "audit.jsonl");
    const server = await watch(t, two(), [
      `afterglow.login.usersFile ${makeUsers(folder)}`, "spark.history.ui.acls.enable true", "spark.history.ui.admin.acls bob", "afterglow.auth.groupsFile /dev/null", `afterglow.audit.file ${audit}`,
    ]);
    await eventually(async () => JSON.parse((await server.get("/api/afterglow/v1/status", asBob)).text).logs?.loaded === 2);
    assert.equal((await server.act("app-1", "reload")).status, 401);
    assert.equal((await server.act("app-1", "reload", { ...OURS, ...asAlice.headers })).status, 403, "it is her own run, and not hers to reload");
    assert.equal((await server.act("app-1", "forget", { ...OURS, ...asBob.headers, "X-Forwarded-For": "203.0.113.9" })).status, 202);
    const changes = () => readFileSync(audit, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line)).filter((each) => each.kind === "change");
    await eventually(() => changes().length === 3);
    // Lines are written by several threads, each when its answer is gone.
    const noted = changes().map((each) => [each.user, each.run, each.status, each.allowed]).sort((a, b) => String(a[0]).localeCompare(String(b[0])));
    assert.deepEqual(noted, [["alice", "app-1", 403, false], ["bob", "app-1", 202, true], [null, "app-1", 401, false]]);
  });

  await t.test("where nothing reads logs, nobody", async (t) => {
    const server = await startServer(t, ["--store", makeStore(t, [makeFolderOf(t, two())])]);
    const answer = await server.get("/api/afterglow/v1/apps/app-1/reload", { method: "POST", headers: OURS });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error], [503, "no_worker"]);
  });
});

test("the server's state hides secrets, and tells what is set", async (t) => {
  const server = await watch(t, two(), ["spark.ssl.historyServer.keyStorePassword hunter2", "spark.ui.proxyBase /x"]);
  await loaded(server, 2);
  const answer = await server.get("/api/afterglow/v1/server");
  assert.doesNotMatch(answer.text, /hunter2/);
  const state = JSON.parse(answer.text);
  const setting = (key) => state.settings.find((each) => each.key === key);
  assert.equal(setting("spark.ssl.historyServer.keyStorePassword").value, "*********(redacted)");
  assert.deepEqual(setting("spark.ui.proxyBase"), { key: "spark.ui.proxyBase", value: "/x", default: null, from: "file" });
  assert.equal(setting("spark.history.fs.update.interval").from, "environment");
  assert.equal(setting("afterglow.load"), undefined);
  const files = readdirSync(join(server.store, "apps")).filter((name) => name.endsWith(".db"));
  assert.deepEqual(state.disk.largest.map((each) => `${each.key}.db`).sort(), files.sort());
  // A file system may give a file its blocks a while after it was written.
  const blocks = (key) => statSync(join(server.store, "apps", `${key}.db`)).blocks * 512;
  await eventually(async () => (await server.json("server")).disk.largest.every(({ key, bytes }) => bytes === blocks(key)));
  assert.equal((await server.get("/status")).status, 200);
});
