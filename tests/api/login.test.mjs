// SPDX-License-Identifier: Apache-2.0
// Names and passwords, what the audit log says of those who come, and the name that each request has.
import assert from "node:assert/strict";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";
import { ALICE, BOB, basic, makeUsers, tryServe } from "./support/tls.mjs";

const asAlice = { headers: basic("alice", "wonder land") };
const asBob = { headers: basic("bob", "b") };

function makeSmallStore(t) {
  const folder = makeFolder(t);
  for (const [id, user] of [["app-1", "alice"], ["app-2", "bob"]]) writeFileSync(join(folder, id), smallLog({ id, user }));
  return makeStore(t, [folder]);
}

async function startLogin(t, lines = [], args = []) {
  const folder = makeFolder(t);
  const users = makeUsers(folder);
  const settings = join(folder, "settings.conf");
  writeFileSync(settings, [`afterglow.login.usersFile ${users}`, ...lines].join("\n"));
  const server = await startServer(t, ["--store", makeSmallStore(t), "--properties-file", settings, ...args]);
  return { ...server, folder, users };
}

test("everybody is asked for a name and a password", async (t) => {
  const server = await startLogin(t);
  const challenge = 'Basic realm="Afterglow", charset="UTF-8"';

  await t.test("in the form of whatever lives at the address", async () => {
    for (const path of ["/", "/a/app-1", "/compare?a=app-1&b=app-2", "/history/app-1/jobs/", "/nothing/here", "/app.js"]) {
      const answer = await server.get(path);
      assert.deepEqual([answer.status, answer.headers["www-authenticate"], answer.headers["content-type"]], [401, challenge, "text/html;charset=utf-8"], path);
      assert.match(answer.text, /A name and a password are needed\./);
      assert.doesNotMatch(answer.text, /app-1/);
    }
    for (const path of ["/api/v1/applications", "/api/v1/version", "/api/v1/applications/app-1/logs", "/api/nothing"]) {
      const answer = await server.get(path);
      assert.deepEqual([answer.status, answer.headers["www-authenticate"], answer.text], [401, challenge, "A name and a password are needed."], path);
    }
    const own = await server.get("/api/afterglow/v1/apps");
    assert.deepEqual([own.status, own.headers["www-authenticate"], JSON.parse(own.text)], [401, challenge, { status: 401, error: "unauthorized", detail: "A name and a password are needed." }]);
    assert.equal((await server.get("/", { method: "OPTIONS" })).status, 401);
    assert.equal((await server.get("/", { method: "HEAD" })).status, 401);
    assert.equal((await server.get("/api/afterglow/v1/uploads?upload=00112233445566778899aabbccddeeff&name=x", { method: "POST", body: "x", headers: { "X-Afterglow-Upload": "1" } })).status, 401);
  });

  await t.test("but for health, which has no password", async () => {
    assert.deepEqual([(await server.get("/healthz")).status, (await server.get("/healthz")).text], [200, "ok"]);
    assert.equal((await server.get("/healthz", { headers: basic("alice", "no") })).status, 200);
    for (const path of ["/healthz/", "/healthz/x", "//healthz", "/x/../healthz", "/api/healthz", "/healthz%2f..%2fapi"]) assert.equal((await server.get(path)).status, 401, path);
  });

  await t.test("what is right lets in, everywhere", async () => {
    for (const path of ["/", "/a/app-1", "/api/v1/applications", "/api/v1/applications/app-2/jobs", "/api/afterglow/v1/apps", "/api/afterglow/v1/status"])
      assert.equal((await server.get(path, asAlice)).status, 200, path);
    const answer = await server.get("/api/afterglow/v1/apps", asBob);
    assert.match(answer.headers["cache-control"], /^private/);
    assert.match(answer.headers.vary, /Authorization/);
    assert.equal((await server.get("/api/v1/version", { headers: { authorization: asBob.headers.authorization.replace("Basic", "bAsIc") } })).status, 200);
  });

  await t.test("what is wrong does not", async () => {
    for (const headers of [basic("alice", "b"), basic("bob", "wonder land"), basic("Bob", "b"), basic("bob", ""), basic("nobody", "b"), { authorization: "Basic" }, { authorization: "Basic !!!" }, { authorization: "Bearer b" }, { authorization: "Basic YTpiAGM=" }, { "X-Forwarded-User": "alice" }])
      assert.equal((await server.get("/api/v1/version", { headers })).status, 401, JSON.stringify(headers));
    assert.equal((await server.get("/api/v1/applications?doAs=alice")).status, 401);
    assert.equal((await server.get("/api/v1/version", asBob)).status, 200);
  });
});

test("many at once, and a connection that stays", async (t) => {
  const server = await startLogin(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => server.get(i % 2 ? "/api/v1/applications" : "/healthz", { agent, ...(i % 3 ? asAlice : asBob) })));
  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200]);
  assert.equal((await server.get("/api/v1/version", { agent })).status, 401, "the connection has no name, requests have");
  agent.destroy();
});

test("access lists judge the name", async (t) => {
  const server = await startLogin(t, ["spark.history.ui.acls.enable true", "spark.history.ui.admin.acls bob", "afterglow.auth.groupsFile /dev/null"]);
  const ids = async (options) => JSON.parse((await server.get("/api/v1/applications", options)).text).map((app) => app.id).sort();
  assert.deepEqual(await ids(asAlice), ["app-1"]);
  assert.deepEqual(await ids(asBob), ["app-1", "app-2"]);
  const forbidden = await server.get("/api/v1/applications/app-2/jobs", asAlice);
  assert.deepEqual([forbidden.status, forbidden.text], [403, 'user "alice" is not authorized']);
  assert.equal((await server.get("/api/v1/applications/app-2/jobs?doAs=bob", asAlice)).status, 403);
  assert.equal((await server.get("/api/v1/applications/app-2/jobs?doAs=alice", asBob)).status, 403, "an administrator sees what they see");
});

test("a proxy's word goes before a password, and only a believed proxy's", async (t) => {
  const lines = ["spark.history.ui.acls.enable true", "afterglow.auth.header X-User", "afterglow.auth.groupsFile /dev/null"];
  const ids = async (server, headers) => JSON.parse((await server.get("/api/v1/applications", { headers })).text).map((app) => app.id).sort();
  const near = await startLogin(t, lines);
  assert.deepEqual(await ids(near, { "X-User": "bob" }), ["app-2"]);
  assert.deepEqual(await ids(near, { "X-User": "bob", ...asAlice.headers }), ["app-2"]);
  assert.deepEqual(await ids(near, asAlice.headers), ["app-1"]);
  assert.equal((await near.get("/api/v1/applications", { headers: { "X-User": "" } })).status, 401);
  const far = await startLogin(t, [...lines, "afterglow.auth.proxies 10.0.0.1"]);
  assert.equal((await far.get("/api/v1/applications", { headers: { "X-User": "bob" } })).status, 401);
  assert.deepEqual(await ids(far, { "X-User": "bob", ...asAlice.headers }), ["app-1"]);
});

test("who guesses has to wait", async (t) => {
  const server = await startLogin(t);
  const from = (client, user, password) => server.get("/api/v1/version", { headers: { "X-Forwarded-For": client, ...basic(user, password) } });
  assert.equal((await from("192.0.2.1", "alice", "wonder land")).status, 200);
  let last;
  let wrong = 0;
  for (let i = 0; i < 30 && last?.status !== 429; i++) {
    last = await from("192.0.2.9", `user${i}`, "guess");
    wrong += last.status === 401;
  }
  assert.deepEqual([last.status, wrong, last.text], [429, 11, "passwords were wrong too often, or too many are being checked; try again later"]);
  assert.equal(last.headers["retry-after"], "1");
  const own = await server.get("/api/afterglow/v1/apps", { headers: { "X-Forwarded-For": "192.0.2.9", ...basic("x", "y") } });
  assert.deepEqual([own.status, JSON.parse(own.text).error], [429, "too_many_attempts"]);
  assert.equal((await from("192.0.2.9", "alice", "wonder land")).status, 200, "what is known already is no guess");
  assert.equal((await from("192.0.2.9", "bob", "b")).status, 429, "from there nothing new is looked at");
  assert.equal((await from("192.0.2.1", "bob", "b")).status, 200, "others are not concerned");
  assert.equal((await from("192.0.2.9", "user0", "guess")).status, 401, "what was wrong stays wrong");
});

test("a changed file of users counts within seconds, a broken one does not", async (t) => {
  const server = await startLogin(t);
  const status = async (options) => (await server.get("/api/v1/version", options)).status;
  assert.deepEqual([await status(asAlice), await status(asBob)], [200, 200]);
  writeFileSync(server.users, BOB);
  await eventually(async () => (await status(asAlice)) === 401);
  assert.equal(await status(asBob), 200);
  writeFileSync(server.users, `${ALICE}carol:$apr1$Il8aK2hq$xQbVV2Rz1yY2O0mBv1fSQ/\n`);
  await eventually(() => /line 2: the password of carol is MD5 \(apr1\); only bcrypt is taken: htpasswd -B; the old file of users stays/.test(server.errors()));
  assert.equal(await status(asBob), 200);
  assert.doesNotMatch(server.errors(), /\$apr1|\$2b/, "no hash is said");
});

test("a file of users that is none keeps the server from starting", async (t) => {
  const folder = makeFolder(t);
  for (const [text, said] of [["alice:plain\n", /the password of alice is plain or unknown; only bcrypt is taken: htpasswd -B/], ["", /it names nobody/]]) {
    const users = makeUsers(folder, text);
    const { said: all, code } = await tryServe(["--store", makeSmallStore(t), "--listen", "127.0.0.1:0"], { AFTERGLOW_LOGIN_USERS_FILE: users });
    assert.equal(code, 1);
    assert.match(all, said);
  }
});

test("the audit log says who opened what", async (t) => {
  const folder = makeFolder(t);
  const path = join(folder, "audit.jsonl");
  const server = await startLogin(t, ["spark.history.ui.acls.enable true", "afterglow.auth.groupsFile /dev/null", "spark.history.ui.admin.acls bob", `afterglow.audit.file ${path}`]);
  const lines = () => readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  // A line comes once the answer is sent: that of a later request may stand before it.
  const all = async (...asked) => eventually(() => ((found) => found.every(Boolean) && found)(asked.map(([user, address]) => lines().find((line) => line.address === address && line.user === user))));
  const forwarded = { headers: { ...asAlice.headers, "X-Forwarded-For": "192.0.2.7", "X-Request-Id": "from-proxy-1" } };
  await server.get("/healthz");
  await server.get("/a/app-1/stages/0.0", forwarded);
  await server.get("/api/v1/applications/app-2/logs", asAlice);
  await server.get("/api/v1/applications/app-2/logs", asBob);
  await server.get("/", { headers: basic('"}\n{"user', "x") });
  await server.get("/api/v1/applications/app-1/jobs?doAs=alice", asBob);
  const zip = "/api/v1/applications/app-2/logs";
  const [page, refused, download, wrong, spoken] = await all(["alice", "/a/app-1/stages/0.0"], ["alice", zip], ["bob", zip], [null, "/"], ["bob", "/api/v1/applications/app-1/jobs?doAs=alice"]);
  assert.equal(lines().length, 5);
  assert.deepEqual([spoken.user, spoken.as, spoken.run, spoken.status], ["bob", "alice", "app-1", 200]);
  assert.ok(Math.abs(Date.parse(page.time) - Date.now()) < 600_000);
  assert.deepEqual({ ...page, time: 0 }, { time: 0, request: "from-proxy-1", peer: "192.0.2.7", via: "127.0.0.1", user: "alice", kind: "page", run: "app-1", method: "GET", address: "/a/app-1/stages/0.0", status: 200, allowed: true });
  assert.deepEqual([refused.user, refused.kind, refused.run, refused.status, refused.allowed, refused.peer, refused.via], ["alice", "download", "app-2", 403, false, "127.0.0.1", undefined]);
  assert.deepEqual([download.user, download.status, download.allowed], ["bob", 200, true]);
  assert.deepEqual([wrong.user, wrong.claimed, wrong.status, wrong.allowed], [null, '"}\n{"user', 401, false]);

  renameSync(path, `${path}.1`);
  await eventually(async () => {
    await server.get("/a/app-1", asAlice);
    return existsSync(path) && lines().length;
  });
  renameSync(path, `${path}.2`);
  process.kill(server.pid, "SIGHUP");
  await eventually(async () => existsSync(path));
  assert.equal((await server.get("/healthz")).status, 200, "SIGHUP ends nothing");
});

test("each request has a name, in the log and in its answer", async (t) => {
  const server = await startServer(t, ["--store", makeSmallStore(t), "--log-level", "debug"], { AFTERGLOW_LOG_FORMAT: "json" });
  const one = await server.get("/a/app-1");
  const two = await server.get("/nothing", { headers: { "X-Request-Id": "edge-7.b_C" } });
  const three = await server.get("/nothing", { headers: { "X-Request-Id": 'no"name' } });
  assert.match(one.headers["x-request-id"], /^[0-9a-f]{8}-[0-9a-f]+$/);
  assert.equal(two.headers["x-request-id"], "edge-7.b_C");
  assert.match(three.headers["x-request-id"], /^[0-9a-f]{8}-[0-9a-f]+$/);
  assert.notEqual(three.headers["x-request-id"], one.headers["x-request-id"]);
  const logged = await eventually(() => {
    const all = server.errors().split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((line) => line.message === "http");
    return all.length >= 3 && all;
  });
  const wanted = [[one.headers["x-request-id"], "/a/app-1", 200, "debug"], ["edge-7.b_C", "/nothing", 404, "debug"], [three.headers["x-request-id"], "/nothing", 404, "debug"]];
  // A line is written when its answer is gone, by one of several threads: lines come in any order.
  assert.deepEqual(logged.map(({ request, path, status, level }) => [request, path, status, level]).sort(), wanted.sort());
  await server.stop();

  const far = await startServer(t, ["--store", makeSmallStore(t)], { SPARK_HISTORY_OPTS: "-Dafterglow.auth.proxies=10.0.0.1" });
  assert.match((await far.get("/", { headers: { "X-Request-Id": "mine" } })).headers["x-request-id"], /^[0-9a-f]{8}-/);
});

test("a History Server's filters are missed aloud, unless something asks in their place", async (t) => {
  const store = makeSmallStore(t);
  const folder = makeFolder(t);
  const settings = join(folder, "spark-defaults.conf");
  for (const [lines, warns] of [[[], true], [[`afterglow.login.usersFile ${makeUsers(folder)}`], false], [["afterglow.auth.header X-User"], false]]) {
    writeFileSync(settings, ["spark.ui.filters org.apache.hadoop.security.authentication.server.AuthenticationFilter", ...lines].join("\n"));
    const { said, code } = await tryServe(["--store", store, "--listen", "127.0.0.1:0", "--properties-file", settings]);
    assert.equal(code, null);
    assert.equal(/spark\.ui\.filters names Java classes, which are not run here/.test(said), warns, lines.join());
  }
});
