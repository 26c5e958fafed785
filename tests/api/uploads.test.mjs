// SPDX-License-Identifier: Apache-2.0
// Logs that are added through HTTP: what is taken, where it goes, and what is refused.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { becomes, eventually, makeFolder, startServer } from "./support/server.mjs";

let drawn = 0;
const newId = () => (++drawn).toString(16).padStart(32, "0");
const ADDRESS = "/api/afterglow/v1/uploads";
const OURS = { "X-Afterglow-Upload": "1" };

/** A server with uploads into a folder of its own; `settings` are lines of a properties file. */
async function start(t, settings = []) {
  const folder = makeFolder(t);
  const dir = join(folder, "added");
  const file = join(folder, "settings");
  writeFileSync(file, [`afterglow.uploads.dir=${dir}`, ...settings].join("\n") + "\n");
  const server = await startServer(t, ["--store", join(folder, "store"), "--properties-file", file], { AFTERGLOW_UPDATE_INTERVAL: "1h" });
  const put = async (query, body, headers = OURS) => {
    const answer = await server.get(`${ADDRESS}?${new URLSearchParams(query)}`, { method: "POST", headers, body });
    return { status: answer.status, headers: answer.headers, ...JSON.parse(answer.text) };
  };
  return { server, dir, put };
}

/** All files below, without those of the directory itself. */
function files(dir) {
  for (;;)
    try {
      return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile());
    } catch (error) {
      if (error.code !== "ENOENT" || !existsSync(dir)) throw error; // a folder below it went meanwhile
    }
}
const loadedRun = (server, id, is = "whole", state = "loaded") =>
  eventually(async () => {
    const upload = await server.json(`uploads/${id}`);
    return upload.state === state && upload.is === is && upload;
  });
/** What a page says of a run whose log was added. */
const run = async (server, ref) => {
  const app = await server.json(`apps/${ref}`);
  return [app.appId, app.complete, app.log.upload];
};

/** Sends a body in pieces, when it is told to. */
function slowly(server, query, bytes) {
  const socket = connect(server.port, "127.0.0.1");
  const said = new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk) => (text += chunk)).on("close", () => resolve(text)).on("error", () => resolve(text));
  });
  socket.write(`POST ${ADDRESS}?${new URLSearchParams(query)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Afterglow-Upload: 1\r\nContent-Length: ${bytes}\r\n\r\n`);
  return { write: (piece) => socket.write(piece), breakOff: () => socket.destroy(), said };
}

/** The lines of a log, in two parts of which the first is large enough to be looked at on its way. */
function inTwo(id) {
  const lines = smallLog({ id }).split(/(?<=\n)/);
  const filler = JSON.stringify({ Event: "SparkListenerOfSomebody", text: "x".repeat(100_000) }) + "\n";
  return [[...lines.slice(0, lines.length >> 1), filler].join(""), lines.slice(lines.length >> 1).join("")];
}

test("a log that is added", async (t) => {
  const { server, dir, put } = await start(t, ["afterglow.uploads.perMinute=1000"]);
  const id = newId();

  await t.test("is read at once and leads to its run", async () => {
    assert.deepEqual((await server.json("status")).uploads, { enabled: true, allowed: true, maxBytes: 2 * 1024 ** 3 });
    const log = smallLog({ id: "app-added" });
    const { headers, ...answer } = await put({ upload: id, name: "app-added" }, log);
    assert.deepEqual(answer, { status: 201, upload: id, name: "app-added", bytes: Buffer.byteLength(log), complete: true });
    const upload = await loadedRun(server, id);
    const run = await server.json(`apps/${upload.ref}`);
    assert.equal(run.appId, "app-added");
    assert.equal(run.logPath, join(dir, id, "app-added"));
    assert.equal(readFileSync(run.logPath, "utf8"), log);
    assert.equal((statSync(run.logPath).mode & 0o137) === 0, true); // nobody executes it, others do not read it
  });

  await t.test("may be a rolling log, file by file, which is read from the first on", async () => {
    const rolling = newId();
    const lines = smallLog({ id: "app-rolled" }).split(/(?<=\n)/);
    const folder = "eventlog_v2_app-rolled";
    const half = lines.length >> 1;
    assert.equal((await put({ upload: rolling, folder, name: "events_1_app-rolled" }, lines.slice(0, half).join(""))).complete, false);
    const begun = await loadedRun(server, rolling, "arriving");
    assert.deepEqual(await run(server, begun.ref), ["app-rolled", false, "arriving"]);
    assert.equal((await put({ upload: rolling, folder, name: "events_2_app-rolled" }, lines.slice(half).join(""))).complete, false);
    assert.equal((await put({ upload: rolling, folder, name: "appstatus_app-rolled", last: "true" }, "")).complete, true);
    const upload = await loadedRun(server, rolling);
    assert.deepEqual([upload.is, upload.ref], ["whole", begun.ref]);
    await becomes(() => run(server, upload.ref), ["app-rolled", true, "whole"]);
    assert.equal((await server.json(`apps/${upload.ref}`)).layout, "rolling");
  });

  await t.test("may be a rolling log whose files come faster than they are read: what came during a load does not wait for the next scan", async () => {
    for (const id of ["app-fast-1", "app-fast-2", "app-fast-3"]) {
      const upload = newId(), folder = `eventlog_v2_${id}`;
      for (const [i, line] of smallLog({ id }).split(/(?<=\n)/).entries()) assert.equal((await put({ upload, folder, name: `events_${i + 1}_${id}` }, line)).status, 201);
      await put({ upload, folder, name: `appstatus_${id}`, last: "true" }, "");
      const { ref } = await loadedRun(server, upload);
      await becomes(() => run(server, ref), [id, true, "whole"]);
    }
  });

  await t.test("may be a folder of another kind, of which nothing is seen before it is whole", async () => {
    const upload = newId();
    assert.equal((await put({ upload, folder: "some-logs", name: "app-below" }, smallLog({ id: "app-below" }))).complete, false);
    assert.equal(existsSync(join(dir, upload)), false);
    assert.deepEqual([(await server.json(`uploads/${upload}`)).is, (await server.json(`uploads/${upload}`)).state], ["arriving", null]);
    assert.equal((await put({ upload, folder: "some-logs", name: "app-beside", last: "true" }, smallLog({ id: "app-beside" }))).complete, true);
    assert.equal((await loadedRun(server, upload)).is, "whole");
  });

  await t.test("that is no log says so", async () => {
    const other = newId();
    assert.equal((await put({ upload: other, name: "photo.png" }, "\x89PNG and so on")).status, 201);
    const upload = await eventually(async () => {
      const now = await server.json(`uploads/${other}`);
      return ![null, "waiting", "loading"].includes(now.state) && now;
    });
    assert.deepEqual([upload.state, upload.ref], ["skipped", null]);
    assert.ok(upload.reason);
  });

  await t.test("that is there already leads to the run that is", async () => {
    const copy = newId();
    assert.equal((await put({ upload: copy, name: "a-copy" }, smallLog({ id: "app-added" }))).status, 201);
    const upload = await eventually(async () => {
      const now = await server.json(`uploads/${copy}`);
      return now.ref && now.state !== "waiting" && now.state !== "loading" && now;
    });
    assert.equal((await server.json(`apps/${upload.ref}`)).appId, "app-added");
  });

  await t.test("two may come at once", async () => {
    const ids = [newId(), newId()];
    const logs = ids.map((_, i) => smallLog({ id: `app-at-once-${i}` }));
    const answers = await Promise.all(ids.map((upload, i) => put({ upload, name: "same-name" }, logs[i])));
    assert.deepEqual(
      answers.map((a) => a.status),
      [201, 201],
    );
    for (const [i, upload] of ids.entries()) assert.equal(readFileSync(join(dir, upload, "same-name"), "utf8"), logs[i]);
  });

  await t.test("has the client's name as far as it is harmless", async () => {
    for (const [name, kept] of [
      ["../../../etc/passwd", "passwd"],
      ["..\\..\\windows\\x", "x"],
      ["..", "log"],
      [".", "log"],
      ["", "log"],
      [".hidden", "_hidden"],
      ["/", "log"],
      ["a b\n<script>\u0000é", "a_b__script____"],
      ["x".repeat(1000) + ".zstd", "x".repeat(195) + ".zstd"],
      ["-rf", "-rf"],
    ]) {
      const upload = newId();
      const answer = await put({ upload, name: name.replace("\u0000", "\u0001") }, "x");
      assert.equal(answer.status, 201, JSON.stringify(name));
      assert.equal(answer.name, kept, JSON.stringify(name));
      assert.deepEqual(readdirSync(join(dir, upload)), [kept]);
    }
    const upload = newId();
    await put({ upload, folder: "../..", name: "a", last: "true" }, "x");
    assert.deepEqual(readdirSync(join(dir, upload)), ["log"]);
  });

  await t.test("has an id of our form, once", async () => {
    for (const upload of ["", "../x", "0".repeat(31), "0".repeat(33), "G".repeat(32), "/".repeat(32)]) assert.equal((await put({ upload, name: "a" }, "x")).status, 400);
    assert.equal((await put({ upload: id, name: "b" }, "x")).status, 409);
    const twice = newId();
    assert.equal((await put({ upload: twice, folder: "f", name: "a" }, "x")).status, 201);
    assert.equal((await put({ upload: twice, folder: "f", name: "a" }, "y")).status, 409);
    assert.equal((await server.get(`/api/afterglow/v1/uploads/${encodeURIComponent("../x")}`)).status, 404);
  });

  await t.test("other bodies and methods are refused as ever", async () => {
    for (const path of ["/api/afterglow/v1/apps", "/", `${ADDRESS}/x`, "/api/v1/applications"])
      assert.equal((await server.get(path, { method: "POST", headers: OURS, body: "x" })).status, 405, path);
    assert.equal((await server.get(`${ADDRESS}?upload=${newId()}&name=a`, { method: "PUT", headers: OURS, body: "x" })).status, 405);
    assert.equal((await server.get(ADDRESS)).status, 404);
  });
});

test("only pages of this server may send", async (t) => {
  const { server, dir, put } = await start(t, ["afterglow.uploads.perMinute=1000"]);
  const from = (headers) => put({ upload: newId(), name: "a" }, "x", headers).then((a) => a.status);
  const host = `127.0.0.1:${server.port}`;
  assert.equal(await from({}), 403); // any form of any site can do that
  assert.equal(await from({ ...OURS, "Sec-Fetch-Site": "cross-site" }), 403);
  assert.equal(await from({ ...OURS, "Sec-Fetch-Site": "same-site" }), 403);
  assert.equal(await from({ ...OURS, Origin: "https://elsewhere.example" }), 403);
  assert.equal(await from({ ...OURS, Origin: "null" }), 403);
  assert.equal(await from({ ...OURS, Origin: `http://${host}.elsewhere.example` }), 403);
  assert.deepEqual(files(dir), []);
  assert.equal(await from({ ...OURS, Origin: `http://${host}` }), 201);
  assert.equal(await from({ ...OURS, "Sec-Fetch-Site": "same-origin", Origin: "https://portal.example" }), 201); // behind a proxy
  assert.equal(await from({ ...OURS, "X-Forwarded-Host": "portal.example", Origin: "https://portal.example" }), 201);
  const asked = await server.get(ADDRESS, { method: "OPTIONS", headers: { Origin: "https://elsewhere.example", "Access-Control-Request-Method": "POST" } });
  assert.equal(asked.headers["access-control-allow-origin"], undefined);
});

test("what is too much is refused with its limit", async (t) => {
  await t.test("a log, announced or not", async (t) => {
    const { server, dir, put } = await start(t, ["afterglow.uploads.maxBytes=1000", "afterglow.uploads.perMinute=1000"]);
    const refused = await put({ upload: newId(), name: "a" }, "x".repeat(1001));
    assert.deepEqual([refused.status, refused.error], [413, "log_too_large"]);
    const chunked = await put({ upload: newId(), name: "a" }, "x".repeat(200_000), { ...OURS, "Transfer-Encoding": "chunked" });
    assert.deepEqual([chunked.status, chunked.error], [413, "log_too_large"]);
    const parts = newId();
    assert.equal((await put({ upload: parts, folder: "f", name: "a" }, "x".repeat(600))).status, 201);
    assert.equal((await put({ upload: parts, folder: "f", name: "b" }, "x".repeat(600))).status, 413); // one log, however many files
    assert.deepEqual(files(dir).map((f) => f.name), ["a"]);
    assert.equal((await put({ upload: newId(), name: "a" }, "x".repeat(1000))).status, 201);
    assert.equal((await server.json("status")).uploads.maxBytes, 1000);
  });

  await t.test("all of them together", async (t) => {
    const { put } = await start(t, ["afterglow.uploads.maxTotalBytes=1500", "afterglow.uploads.perMinute=1000"]);
    assert.equal((await put({ upload: newId(), name: "a" }, "x".repeat(1000))).status, 201);
    const refused = await put({ upload: newId(), name: "a" }, "x".repeat(501));
    assert.deepEqual([refused.status, refused.error], [413, "uploads_full"]);
    assert.equal((await put({ upload: newId(), name: "a" }, "x".repeat(501), { ...OURS, "Transfer-Encoding": "chunked" })).status, 413);
    assert.equal((await put({ upload: newId(), name: "a" }, "x".repeat(500))).status, 201);
  });

  await t.test("so many within a minute", async (t) => {
    const { put } = await start(t, ["afterglow.uploads.perMinute=2"]);
    const parts = newId();
    for (const name of ["a", "b", "c"]) assert.equal((await put({ upload: parts, folder: "f", name }, "x")).status, 201); // one upload
    assert.equal((await put({ upload: newId(), name: "a" }, "x")).status, 201);
    const refused = await put({ upload: newId(), name: "a" }, "x");
    assert.deepEqual([refused.status, refused.error], [429, "too_many_uploads"]);
    assert.ok(Number(refused.headers["retry-after"]) > 0 && Number(refused.headers["retry-after"]) <= 61);
  });

  await t.test("so many at once, of one sender and of all", async (t) => {
    const { server, dir } = await start(t, [
      "afterglow.uploads.perMinute=1000", "spark.history.ui.acls.enable=true", "afterglow.auth.header=X-User", "afterglow.uploads.users=*",
    ]);
    const status = async (user) => (await server.get(`${ADDRESS}?upload=${newId()}&name=a`, { method: "POST", headers: { ...OURS, "X-User": user }, body: "x" })).status;
    const hold = (user, count) => Promise.all(Array.from({ length: count }, () => beginOnly(server.port, newId(), 100, `X-User: ${user}\r\n`)));
    const held = await hold("alice", 4);
    await eventually(() => files(dir).length === 4);
    assert.deepEqual([await status("alice"), await status("bob")], [429, 201]);
    held.push(...(await hold("bob", 4)));
    await eventually(() => files(dir).length === 9);
    assert.equal(await status("carol"), 429);
    held[0].destroy();
    await eventually(async () => (await status("carol")) === 201);
    await eventually(async () => (await status("alice")) === 201);
    for (const socket of held) socket.destroy();
  });

  await t.test("without names a sender is an address", async (t) => {
    const { server, dir, put } = await start(t, ["afterglow.uploads.perMinute=1000"]);
    const held = await Promise.all(Array.from({ length: 4 }, () => beginOnly(server.port, newId(), 100)));
    await eventually(() => files(dir).length === 4);
    assert.equal((await put({ upload: newId(), name: "a" }, "x")).status, 429);
    for (const socket of held) socket.destroy();
  });

  await t.test("a body that is longer than what is read of a refused one: told at its head, and no memory for it", async (t) => {
    const { server, dir } = await start(t, ["afterglow.uploads.maxBytes=80m", "afterglow.uploads.perMinute=1000"]);
    const memory = () => Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]);
    const before = memory();
    const piece = Buffer.alloc(1 << 20, "x");
    const send = (mebibytes, announced, expects = "") =>
      new Promise((resolve) => {
        let left = mebibytes, text = "";
        const socket = connect(server.port, "127.0.0.1");
        const more = () => {
          while (left-- > 0) if (!socket.write(announced ? piece : Buffer.concat([Buffer.from("100000\r\n"), piece, Buffer.from("\r\n")]))) return;
          if (!announced) socket.write("0\r\n\r\n");
        };
        socket.on("data", (data) => (text += data)).on("drain", more).on("error", () => {}).on("close", () => resolve(text));
        socket.write(`POST ${ADDRESS}?upload=${newId()}&name=a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Afterglow-Upload: 1\r\n${announced ? `Content-Length: ${mebibytes << 20}` : "Transfer-Encoding: chunked"}\r\n${expects}\r\n`);
        if (!expects) more();
      });
    assert.match(await send(79, true), /^HTTP\/1.1 201 /);
    assert.match(await send(120, true, "Expect: 100-continue\r\n"), /^HTTP\/1.1 413 [^]*"log_too_large"/);
    assert.match(await send(120, false), /^HTTP\/1.1 413 [^]*"log_too_large"/); // 80 MiB are taken, 40 dropped
    assert.equal(files(dir).length, 1);
    assert.ok(memory() - before < 8192, `${memory() - before} kB more`);
  });
});

test("a log that comes too slowly is cut off", async (t) => {
  const { server, dir } = await start(t);
  const begun = Date.now();
  const socket = await beginOnly(server.port, newId(), 1_000_000);
  const drip = setInterval(() => socket.write("x"), 500);
  await new Promise((resolve) => socket.on("close", resolve));
  clearInterval(drip);
  assert.ok(Date.now() - begun > 25_000, `after ${Date.now() - begun} ms`);
  await eventually(() => files(dir).length === 0);
});

/** A request that announces more than it sends. */
function beginOnly(port, id, bytes, headers = "") {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`POST ${ADDRESS}?upload=${id}&name=broken HTTP/1.1\r\nHost: x\r\nX-Afterglow-Upload: 1\r\n${headers}Content-Length: ${bytes}\r\n\r\nhalf of it`, () => resolve(socket));
    });
    socket.on("error", () => {});
  });
}

test("a disk that is full is told, and nothing is left on it", async (t) => {
  const folder = makeFolder(t);
  const dir = join(folder, "added");
  mkdirSync(dir);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", dir]).status !== 0) return t.skip("cannot mount a tmpfs here");
  try {
    const server = await startServer(t, ["--store", join(folder, "store")], { AFTERGLOW_UPLOADS: dir, AFTERGLOW_UPDATE_INTERVAL: "1h" });
    const answer = await server.get(`${ADDRESS}?upload=${newId()}&name=a`, { method: "POST", headers: OURS, body: "x".repeat(1_000_000) });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error], [507, "disk_full"]);
    assert.deepEqual(readdirSync(dir), []);
    const small = await server.get(`${ADDRESS}?upload=${newId()}&name=a`, { method: "POST", headers: OURS, body: "x".repeat(10_000) });
    assert.equal(small.status, 201);
    await server.stop();
  } finally {
    spawnSync("umount", ["-l", dir]);
  }
});

test("what breaks off leaves nothing", async (t) => {
  const { server, dir } = await start(t);
  const socket = await beginOnly(server.port, newId(), 1000);
  await eventually(() => files(dir).length === 1);
  socket.destroy();
  await eventually(() => readdirSync(dir).length === 0);
  await eventually(async () => (await server.json("apps")).total === 0); // the worker may have seen its first bytes
});

test("what a server before left unfinished goes, what is finished stays", async (t) => {
  const folder = makeFolder(t);
  const dir = join(folder, "added");
  for (const name of [`.receiving-${"a".repeat(32)}`, "b".repeat(32)]) {
    mkdirSync(join(dir, name), { recursive: true });
    writeFileSync(join(dir, name, "app-1"), smallLog());
  }
  utimesSync(join(dir, `.receiving-${"a".repeat(32)}`), 1, 1);
  const server = await startServer(t, ["--store", join(folder, "store")], { AFTERGLOW_UPLOADS: dir, AFTERGLOW_UPDATE_INTERVAL: "1h" });
  await becomes(() => readdirSync(dir), ["b".repeat(32)]);
  await eventually(async () => (await server.json("apps?state=loaded")).total === 1);
});

test("switched off", async (t) => {
  const server = await startServer(t, ["--store", makeFolder(t)]);
  assert.deepEqual((await server.json("status")).uploads, { enabled: false, allowed: false, maxBytes: null });
  const answer = await server.get(`${ADDRESS}?upload=${newId()}&name=a`, { method: "POST", headers: OURS, body: "x" });
  assert.deepEqual([answer.status, JSON.parse(answer.text).error], [403, "uploads_off"]);
  assert.equal((await server.get(`/api/afterglow/v1/uploads/${newId()}`)).status, 404);
});

test("while access lists decide", async (t) => {
  const { server, dir } = await start(t, [
    "spark.history.ui.acls.enable=true",
    "afterglow.auth.header=X-User",
    "spark.history.ui.admin.acls=root",
    "afterglow.uploads.users=alice",
    "afterglow.uploads.perMinute=1000",
  ]);
  const as = async (user, id = newId(), owner = "alice") =>
    (await server.get(`${ADDRESS}?upload=${id}&name=a`, { method: "POST", headers: { ...OURS, "X-User": user }, body: smallLog({ id: `app-of-${owner}`, user: owner }) })).status;
  const asked = (path, user) => server.get(`/api/afterglow/v1/${path}`, { headers: { "X-User": user } });
  const became = (id, user, check) =>
    eventually(async () => {
      const now = JSON.parse((await asked(`uploads/${id}`, user)).text);
      if (["waiting", "loading", null].includes(now.state)) assert.notEqual(now.mayNotBeSeen, true); // its lists are not read yet
      return check(now) && now;
    });
  assert.equal(await as("bob"), 403);
  assert.deepEqual(files(dir), []);
  const [own, others] = [newId(), newId()];
  assert.equal(await as("alice", own), 201);
  assert.equal(await as("alice", others, "bob"), 201);
  assert.equal(await as("root"), 201);
  const told = async (user) => JSON.parse((await asked("status", user)).text).uploads.allowed;
  assert.deepEqual([await told("bob"), await told("alice"), await told("root")], [false, true, true]);
  assert.equal((await asked(`uploads/${own}`, "bob")).status, 404);
  // Who may add a log may still not see what is in it.
  assert.equal((await became(own, "alice", (now) => now.ref !== null && now.state)).mayNotBeSeen, false);
  assert.equal((await became(others, "alice", (now) => now.mayNotBeSeen)).ref, null);
  assert.ok((await became(others, "root", (now) => now.state)).ref);
});

/** The small log of an application, also as another attempt or user, with further lines that make it larger. */
const larger = (options) => smallLog(options) + smallLog(options);

test("an added log that says it is another's run stands in nobody's way", async (t) => {
  const folder = makeFolder(t);
  const logs = join(folder, "logs");
  mkdirSync(logs);
  writeFileSync(join(logs, "real"), smallLog({ id: "app-real", user: "alice" }));
  const file = join(folder, "settings");
  writeFileSync(
    file,
    [`afterglow.uploads.dir=${join(folder, "added")}`, "spark.history.ui.acls.enable=true", "afterglow.auth.header=X-User", "spark.history.ui.admin.acls=root", "afterglow.uploads.users=mallory,alice", ""].join("\n"),
  );
  const server = await startServer(t, ["--store", join(folder, "store"), "--logs", logs, "--properties-file", file], { AFTERGLOW_UPDATE_INTERVAL: "1h" });
  const asked = (path, user) => server.get(path, { headers: { "X-User": user } });
  const own = async (path, user) => JSON.parse((await asked(`/api/afterglow/v1/${path}`, user)).text);
  const add = async (user, log) => {
    const id = newId();
    assert.equal((await server.get(`${ADDRESS}?upload=${id}&name=a`, { method: "POST", headers: { ...OURS, "X-User": user }, body: log })).status, 201);
    return eventually(async () => {
      const now = await own(`uploads/${id}`, "root");
      return now.state === "loaded" && now.ref;
    });
  };
  await eventually(async () => (await asked("/api/v1/applications/app-real/jobs", "alice")).status === 200);
  const real = (await own("apps/app-real", "alice")).key;
  // Mallory's: of the same attempt and larger, a later attempt, and one of hers that alice may not see.
  const copies = [await add("mallory", larger({ id: "app-real", user: "mallory", name: "forged" })), await add("mallory", smallLog({ id: "app-real", attempt: "99", user: "mallory", name: "forged" }))];
  for (const copy of copies) assert.match(copy, /^~/);

  for (const user of ["alice", "root"]) {
    assert.equal((await own("apps/app-real", user)).key, real);
    const v1 = JSON.parse((await asked("/api/v1/applications/app-real", user)).text);
    assert.deepEqual([v1.name, v1.attempts.length, v1.attempts[0].sparkUser], ["small", 1, "alice"]);
    assert.deepEqual(
      JSON.parse((await asked("/api/v1/applications", user)).text).map((app) => [app.id, app.name]),
      [["app-real", "small"]],
    );
    assert.equal((await asked("/api/v1/applications/app-real/99/jobs", user)).status, 404);
    assert.equal((await asked("/api/v1/applications/app-real/logs", user)).status, 200);
    assert.match((await asked("/history/app-real/jobs/", user)).headers.location, /\/a\/app-real\//);
    // Each row of the list leads to its own run, and that to its own log.
    for (const item of (await own("apps", user)).items) {
      assert.equal((await own(`apps/${item.ref}`, user)).key, item.key);
      assert.match((await asked(`/api/afterglow/v1/apps/${item.ref}/logs`, user)).headers["content-disposition"], /-log\.zip"$/);
    }
  }
  const listed = (await own("apps?history=20", "root")).items;
  assert.deepEqual(listed.map((item) => [item.key, item.history?.total ?? null]).sort(), [[real, 1], [copies[0], null], [copies[1], null]].sort()); // in nobody's history
  assert.equal((await own("apps", "alice")).total, 1);
  assert.equal((await own("apps", "root")).total, 3);
  assert.equal((await asked(`/api/afterglow/v1/apps/${copies[0]}`, "alice")).status, 403);
  assert.equal((await asked("/api/afterglow/v1/apps/app-real", "mallory")).status, 403);
  assert.equal((await own(`apps/${copies[0]}`, "mallory")).name, "forged");

  await t.test("nor does one in the way of another added one", async () => {
    await add("mallory", larger({ id: "app-both", user: "mallory", name: "forged" }));
    await add("alice", smallLog({ id: "app-both", user: "alice", name: "mine" }));
    assert.equal((await own("apps/app-both", "alice")).name, "mine");
    assert.equal((await own("apps/app-both", "mallory")).name, "forged");
    assert.equal(JSON.parse((await asked("/api/v1/applications/app-both", "alice")).text).name, "mine");
    assert.equal((await asked("/api/v1/applications/app-both/jobs", "alice")).status, 200);
  });
});

test("a log that is read while it arrives", async (t) => {
  const { server, dir, put } = await start(t);
  const id = newId();
  const [first, second] = inTwo("app-slow");
  const upload = slowly(server, { upload: id, name: "app-slow" }, first.length + second.length);
  upload.write(first);
  const begun = await loadedRun(server, id, "arriving");
  await becomes(() => run(server, begun.ref), ["app-slow", false, "arriving"]);
  assert.deepEqual(readdirSync(join(dir, id)), ["app-slow.inprogress"]);
  upload.write(second);
  assert.match(await upload.said, /^HTTP\/1.1 201 /);
  const done = await loadedRun(server, id);
  assert.deepEqual([done.is, done.ref], ["whole", begun.ref]);
  // The scan that sees its end comes right after it.
  await becomes(() => run(server, done.ref), ["app-slow", true, "whole"]);
  assert.equal((await server.json(`apps/${done.ref}`)).logPath, join(dir, id, "app-slow"));
  await becomes(() => readdirSync(dir), [id]);

  // A log that Spark was still writing keeps its name, and so what it means.
  const open = newId();
  assert.equal((await put({ upload: open, name: "app-open.inprogress" }, smallLog({ id: "app-open", ended: false }))).status, 201);
  const running = await loadedRun(server, open);
  assert.deepEqual(await run(server, running.ref), ["app-open", false, "whole"]);
  assert.deepEqual(readdirSync(join(dir, open)), ["app-open.inprogress"]);
});

test("a log that breaks off while it is read", async (t) => {
  const { server, dir, put } = await start(t);
  const id = newId();
  const [first, second] = inTwo("app-broken");
  const upload = slowly(server, { upload: id, name: "app-broken" }, first.length + second.length);
  upload.write(first);
  const begun = await loadedRun(server, id, "arriving");
  upload.breakOff();
  await loadedRun(server, id, "gone", "gone");
  await becomes(() => readdirSync(dir), []);
  assert.deepEqual(await run(server, begun.ref), ["app-broken", false, "gone"]);
  assert.equal((await server.json(`apps/${begun.ref}`)).state, "gone");
  assert.equal((await server.json(`uploads/${id}`)).is, "gone");
  // Sent once more it counts, whatever is left of the one before.
  const again = newId();
  assert.equal((await put({ upload: again, name: "app-broken" }, first + second)).status, 201);
  const whole = await loadedRun(server, again);
  await becomes(() => run(server, whole.ref), ["app-broken", true, "whole"]);
});
