// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { smallLog } from "./support/log.mjs";
import { BINARY, LOGS, PATIENCE_MS, eventually, makeFolder, makeStore, sendBytes, startServer } from "./support/server.mjs";

const APP = "/api/afterglow/v1/apps/app-1";

function makePages(t) {
  const pages = makeFolder(t);
  writeFileSync(join(pages, "index.html"), '<!doctype html><html><head><base href="/"><title>x</title></head></html>');
  mkdirSync(join(pages, "assets"));
  writeFileSync(join(pages, "assets", "app-ABCDEFGH.js"), "export {};\n");
  writeFileSync(join(pages, ".secret"), "no");
  return pages;
}

test("http", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog());
  const store = makeStore(t, [folder]);
  const server = await startServer(t, ["--store", store, "--assets", makePages(t)]);

  await t.test("health", async () => {
    const answer = await server.get("/healthz");
    assert.deepEqual([answer.status, answer.text], [200, "ok"]);
  });

  await t.test("every answer carries the protecting headers, pages a policy too", async () => {
    for (const path of ["/", APP, "/healthz", "/nothing", "/api/v1/version", "/api/v1/nothing"]) {
      const { headers } = await server.get(path);
      assert.equal(headers["x-content-type-options"], "nosniff", path);
      assert.equal(headers["x-frame-options"], "SAMEORIGIN", path);
      assert.equal(headers["x-xss-protection"], "1; mode=block", path);
      assert.match(headers["cache-control"], /no-cache/, path);
    }
    for (const path of ["/", "/a/app-1", "/nothing"]) {
      const policy = (await server.get(path)).headers["content-security-policy"];
      assert.match(policy, /default-src 'self'/);
      assert.doesNotMatch(policy, /unsafe/);
    }
  });

  await t.test("HEAD has the headers of GET and no body", async () => {
    for (const path of [APP, "/", "/nothing"]) {
      const [get, head] = [await server.get(path), await server.get(path, { method: "HEAD" })];
      assert.equal(head.bytes.length, 0);
      assert.equal(head.status, get.status);
      for (const name of ["content-length", "content-type", "etag", "cache-control"]) assert.equal(head.headers[name], get.headers[name], `${path} ${name}`);
    }
  });

  await t.test("a client that has the answer gets 304", async () => {
    const first = await server.get(APP);
    assert.ok(first.headers.etag);
    for (const tag of [first.headers.etag, first.headers.etag.replace("W/", ""), `"x", ${first.headers.etag}`, "*"]) {
      const again = await server.get(APP, { headers: { "If-None-Match": tag } });
      assert.deepEqual([again.status, again.bytes.length, again.headers.etag], [304, 0, first.headers.etag]);
    }
    assert.equal((await server.get(APP, { headers: { "If-None-Match": '"other"' } })).status, 200);
    assert.equal((await server.get(`${APP}/jobs/99`, { headers: { "If-None-Match": '"other"' } })).status, 404);
  });

  await t.test("a 304 has the headers of the answer that the client has: a browser puts them over the old ones", async (step) => {
    const compiled = await startServer(step, ["--store", store]);
    if ((await compiled.get("/")).status !== 200) return step.skip("built without pages");
    for (const path of [APP, "/", "/a/app-1"]) {
      const whole = await compiled.get(path);
      const again = await compiled.get(path, { headers: { "If-None-Match": whole.headers.etag } });
      assert.equal(again.status, 304, path);
      for (const name of ["content-security-policy", "vary", "cache-control", "x-frame-options"]) assert.equal(again.headers[name], whole.headers[name], `${path} ${name}`);
    }
  });

  await t.test("lists have a tag, which a change of the catalogue changes at once", async () => {
    const lists = ["/api/afterglow/v1/apps", "/api/afterglow/v1/apps?q=app-1", "/api/v1/applications", "/api/v1/applications?status=completed&minDate=2000-01-01", "/api/v1/applications/app-1"];
    for (let round = 2; round < 5; round++) {
      const before = new Map();
      for (const path of lists) before.set(path, await server.get(path));
      for (const [path, first] of before) {
        assert.ok(first.headers.etag, path);
        const same = await server.get(path, { headers: { "If-None-Match": first.headers.etag } });
        assert.deepEqual([same.status, same.bytes.length, same.headers.etag], [304, 0, first.headers.etag], path);
        assert.deepEqual((await server.get(path)).text, first.text, path);
      }
      writeFileSync(join(folder, `app-${round}`), smallLog({ id: `app-${round}` }));
      assert.equal(spawnSync(BINARY, ["ingest", "--store", store, folder]).status, 0);
      for (const [path, first] of before) assert.notEqual((await server.get(path, { headers: { "If-None-Match": first.headers.etag } })).status, 304, path);
      assert.equal(JSON.parse((await server.get(lists[0])).text).total, round);
      assert.equal(JSON.parse((await server.get(lists[2])).text).length, round);
    }
    // A running application is in such a list until that moment comes: the clock is no part of the tag.
    assert.equal((await server.get("/api/v1/applications?maxEndDate=2999-01-01")).headers.etag, undefined);
    // Nobody has an answer that there is not.
    for (const path of ["/api/v1/applications/none", "/api/v1/applications/app-1/1"]) assert.equal((await server.get(path, { headers: { "If-None-Match": "*" } })).status, 404, path);
    for (let round = 2; round < 5; round++) rmSync(join(folder, `app-${round}`));
  });

  await t.test("an answer is the same each time, and each coding of it", async () => {
    for (const path of [`${APP}/environment`, `${APP}/jobs`, `${APP}/jobs?limit=1`, "/api/v1/applications/app-1/jobs", "/api/v1/applications/app-1/stages"]) {
      const first = await server.get(path);
      const packed = await server.get(path, { headers: { "Accept-Encoding": "gzip" } });
      for (let i = 0; i < 3; i++) {
        const again = await server.get(path);
        assert.deepEqual([again.status, again.text, again.headers["content-encoding"]], [200, first.text, undefined], path);
        for (const name of ["etag", "content-type", "vary", "cache-control"]) assert.equal(again.headers[name], first.headers[name], `${path} ${name}`);
        const packedAgain = await server.get(path, { headers: { "Accept-Encoding": "gzip" } });
        assert.equal(packedAgain.headers["content-encoding"], packed.headers["content-encoding"], path);
        assert.deepEqual(packedAgain.bytes, packed.bytes, path);
      }
    }
    assert.notEqual((await server.get(`${APP}/jobs`)).text, (await server.get(`${APP}/jobs?limit=1`)).text);
  });

  await t.test("gzip where the client takes it and it is worth it", async () => {
    const plain = await server.get(`${APP}/stages/0.0`);
    const packed = await server.get(`${APP}/stages/0.0`, { headers: { "Accept-Encoding": "gzip" } });
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.equal(packed.headers["content-encoding"], "gzip");
    assert.match(packed.headers.vary, /Accept-Encoding/);
    assert.ok(packed.bytes.length < plain.bytes.length / 2);
    assert.equal(gunzipSync(packed.bytes).toString(), plain.text);
    assert.equal((await server.get("/healthz", { headers: { "Accept-Encoding": "gzip" } })).headers["content-encoding"], undefined);
    assert.equal((await server.get(`${APP}/stages/0.0`, { headers: { "Accept-Encoding": "gzip;q=0" } })).headers["content-encoding"], undefined);
  });

  await t.test("only GET, HEAD and OPTIONS", async () => {
    for (const method of ["POST", "PUT", "DELETE", "TRACE", "PATCH"]) {
      const answer = await server.get(APP, { method });
      assert.deepEqual([answer.status, answer.headers.allow], [405, "GET, HEAD, OPTIONS"], method);
      assert.equal(JSON.parse(answer.text).error, "method_not_allowed");
    }
    assert.match(await sendBytes(server.port, "BREW / HTTP/1.1\r\nHost: x\r\n\r\n"), /^HTTP\/1\.1 405 /);
    for (const path of ["/", "/nothing", APP, "/api/v1/applications/nope/jobs", "/history/x/"]) {
      const answer = await server.get(path, { method: "OPTIONS" });
      assert.deepEqual([answer.status, answer.headers.allow, answer.text], [200, "GET, HEAD, OPTIONS", ""], path);
    }
    assert.equal((await server.get("/api/v1/no/thing/here", { method: "OPTIONS" })).status, 404);
  });

  await t.test("small bodies are read and mean nothing", async () => {
    const plain = await server.get(APP);
    for (const body of ["{}", "x".repeat(65536)]) {
      const answer = await server.get(APP, { method: "GET", headers: { "Content-Length": String(body.length) }, body });
      assert.deepEqual([answer.status, answer.text], [200, plain.text]);
    }
    const chunked = await sendBytes(server.port, "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert.equal(chunked.match(/HTTP\/1\.1 200 /g)?.length, 2, chunked);
    for (const length of ["65537", "9999999999999", "99999999999999999999", "-1", "x"])
      assert.match(await sendBytes(server.port, `GET / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`), /^HTTP\/1\.1 (413|400) |^$/, length);
    const chunk = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    assert.doesNotMatch(await sendBytes(server.port, `GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(6)}0\r\n\r\n`).catch(() => ""), / 200 /);
    assert.match(await sendBytes(server.port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999\r\n\r\n"), /^HTTP\/1\.1 405 /);
    assert.equal((await server.get(APP, { headers: { "Content-Length": "0" } })).status, 200);
  });

  await t.test("limits of an address", async () => {
    assert.equal((await server.get(`/nothing?${"x".repeat(8000)}`)).status, 404);
    assert.equal((await server.get(`/${"x".repeat(8192)}`)).status, 414);
    assert.equal((await server.get(`${APP}?${"x".repeat(8192)}`)).status, 414);
    assert.equal((await server.get(`${APP}/jobs?${"a=1&".repeat(256)}`)).status, 200);
    const many = await server.get(`${APP}/jobs?${"a=1&".repeat(257)}`);
    assert.deepEqual([many.status, JSON.parse(many.text).error], [400, "too_many_parameters"]);
    /* More than fit into the library's memory of a connection, which then answered nothing and let the request lie. */
    assert.equal((await server.get(`${APP}/jobs?${"a=1&".repeat(2000)}`)).status, 400);
    for (const path of [`${APP}/%`, `${APP}/%zz`, `${APP}?q=%0`, `${APP}/%00`]) assert.equal((await server.get(path)).status, 400, path);
    assert.match(await sendBytes(server.port, `GET / HTTP/1.1\r\nHost: x\r\n${"A: b\r\n".repeat(20000)}\r\n`), /^HTTP\/1\.1 4\d\d /);
    assert.match(await sendBytes(server.port, `GET /${"x".repeat(100000)} HTTP/1.1\r\nHost: x\r\n\r\n`), /^HTTP\/1\.1 4\d\d /);
    assert.equal((await server.get("/healthz")).status, 200);
  });

  await t.test("an error says so in the form of its place", async () => {
    const own = await server.get("/api/afterglow/v1/nothing");
    assert.deepEqual([own.status, own.headers["content-type"], JSON.parse(own.text).error], [404, "application/json", "not_found"]);
    assert.equal((await server.get("/api/v1/nothing")).status, 404);
    const page = await server.get("/nothing/here");
    assert.deepEqual([page.status, page.headers["content-type"]], [404, "text/html;charset=utf-8"]);
    assert.doesNotMatch((await server.get("/<script>")).text, /<script>/);
  });

  await t.test("pages at their addresses, files by their names, nothing else of the folder", async () => {
    for (const path of ["/", "/a/app-1", "/a/app-1/", "/a/app-1/stages/0.0", "/a/app%2F1/jobs"]) {
      const answer = await server.get(path);
      assert.deepEqual([answer.status, answer.headers["content-type"]], [200, "text/html;charset=utf-8"], path);
      assert.match(answer.text, /<base href="\/">/);
    }
    const script = await server.get("/assets/app-ABCDEFGH.js");
    assert.deepEqual([script.status, script.headers["content-type"], script.text], [200, "text/javascript;charset=utf-8", "export {};\n"]);
    for (const path of [
      "/a",
      "/a/",
      "/index.html",
      "/.secret",
      "/assets/../.secret",
      "/assets/%2e%2e/.secret",
      "/%2e%2e/etc/passwd",
      "/assets",
      "/assets/",
    ])
      assert.equal((await server.get(path)).status, 404, path);
    for (const path of ["/a//", "//etc/passwd", "/assets//x"]) assert.equal((await server.get(path)).status, 400, path);
  });

  await t.test("below the prefix of a proxy, which is taken off where it is there", async () => {
    for (const name of ["X-Forwarded-Context", "X-Forwarded-Prefix"]) {
      const headers = { [name]: "/gate/way/" };
      assert.match((await server.get("/", { headers })).text, /<base href="\/gate\/way\/">/);
      assert.match((await server.get("/gate/way/a/app-1", { headers })).text, /<base href="\/gate\/way\/">/);
      assert.match((await server.get("/gate/way", { headers })).text, /<base href="\/gate\/way\/">/);
      assert.equal((await server.get(`/gate/way${APP}`, { headers })).status, 200);
      assert.equal((await server.get("/gate/way/assets/app-ABCDEFGH.js", { headers })).status, 200);
    }
    for (const evil of ["//evil.example", '/"><script>', "/a/../b", "https://evil.example"])
      assert.match((await server.get("/", { headers: { "X-Forwarded-Prefix": evil } })).text, /<base href="\/">/, evil);
  });

  await t.test("a connection is kept for further requests", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let sockets = 0;
    const create = agent.createConnection;
    agent.createConnection = function createConnection(...args) {
      sockets++;
      return create.apply(this, args);
    };
    for (const path of ["/healthz", APP, "/nothing", "/"]) await server.get(path, { agent });
    agent.destroy();
    assert.equal(sockets, 1);
  });

  await t.test("many clients at once all get the same answer", async () => {
    const paths = [APP, `${APP}/stages`, `${APP}/stages/0.0`, `${APP}/stages/0.0/tasks`, `${APP}/executors`, "/api/afterglow/v1/apps", "/", "/api/v1/applications"];
    const expected = new Map(await Promise.all(paths.map(async (path) => [path, (await server.get(path)).text])));
    await Promise.all(
      Array.from({ length: 32 }, async (_, client) => {
        for (let i = 0; i < 25; i++) {
          const path = paths[(client + i) % paths.length];
          const answer = await server.get(path);
          assert.equal(answer.status, 200);
          assert.equal(answer.text, expected.get(path), path);
        }
      }),
    );
  });

  await t.test("a taken port is told, with what to do", () => {
    const second = spawnSync(BINARY, ["serve", "--store", store, "--listen", `127.0.0.1:${server.port}`], { encoding: "utf8", timeout: PATIENCE_MS });
    assert.equal(second.status, 1);
    assert.match(second.stderr, /another program has it; choose another with --listen/);
  });

  await t.test("SIGTERM ends it in order, whoever is connected", async () => {
    const idle = connect(server.port, "127.0.0.1");
    idle.on("error", () => {});
    await new Promise((resolve) => idle.once("connect", resolve));
    idle.write("GET / HT");
    assert.equal(await server.stop("SIGTERM"), 0);
    idle.destroy();
  });
});

test("spark.ui.proxyBase is a prefix too", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog());
  writeFileSync(join(folder, "x.conf"), "spark.ui.proxyBase /base\n");
  const server = await startServer(t, ["--store", makeStore(t, [join(folder, "app-1")]), "--assets", makePages(t), "--properties-file", join(folder, "x.conf")]);
  assert.match((await server.get("/")).text, /<base href="\/base\/">/);
  assert.equal((await server.get(`/base${APP}`)).status, 200);
  assert.match((await server.get("/", { headers: { "X-Forwarded-Prefix": "/other" } })).text, /<base href="\/base\/">/);
});

test("a store that is not there is told", (t) => {
  const done = spawnSync(BINARY, ["serve", "--store", join(makeFolder(t), "none"), "--listen", "127.0.0.1:0"], { encoding: "utf8", timeout: PATIENCE_MS });
  assert.equal(done.status, 1);
  assert.match(done.stderr, /there is no store/);
});

test("a long answer comes whole, and is an error where no temporary file can be made", async (t) => {
  const store = makeStore(t, [join(LOGS, "big_stage")]);
  const good = await startServer(t, ["--store", store]);
  const { ref } = (await good.json("apps?sort=-tasks")).items[0];
  const path = `/api/afterglow/v1/apps/${ref}/stages/0.0/tasks?limit=1000`;
  const long = await good.get(path);
  assert.ok(long.bytes.length > 1 << 20);
  assert.equal(JSON.parse(long.text).items.length, 1000);
  const packed = await good.get(path, { headers: { "Accept-Encoding": "gzip" } });
  assert.equal(gunzipSync(packed.bytes).toString(), long.text);
  const poor = await startServer(t, ["--store", store], { TMPDIR: "/nonexistent" });
  const refused = await poor.get(path);
  assert.deepEqual([refused.status, JSON.parse(refused.text).error], [500, "internal"]);
  assert.equal((await poor.get(path.replace("1000", "10"))).status, 200);
});

test("clients that come at once are dealt out to all threads", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, [join(LOGS, "healthy_rdd")])]);
  // Each thread has an epoll set, which the system lists with what is watched in it: its connections, and one or two of its own.
  const watched = () =>
    readdirSync(`/proc/${server.pid}/fdinfo`)
      .map((fd) => readFileSync(`/proc/${server.pid}/fdinfo/${fd}`, "utf8").match(/^tfd:/gm)?.length ?? 0)
      .filter(Boolean);
  const before = watched().reduce((a, b) => a + b, 0);
  const sockets = await Promise.all(Array.from({ length: 64 }, () => new Promise((resolve) => { const socket = connect(server.port, "127.0.0.1", () => resolve(socket)); })));
  const sets = await eventually(() => watched().reduce((a, b) => a + b, 0) === before + 64 && watched());
  for (const socket of sockets) socket.destroy();
  assert.ok(sets.length >= 4, `${sets.length} threads`);
  assert.ok(Math.max(...sets) - Math.min(...sets) <= 4, `connections by thread: ${sets}`);
});
