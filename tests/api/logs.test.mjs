// SPDX-License-Identifier: Apache-2.0
// Event logs as a zip: what goes in comes out, in constant memory, and nothing else does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { LOGS, ROOT, makeFolder, makeStore, sanitized, startServer } from "./support/server.mjs";
import { unzip, zipDirectory, zipEnd } from "./support/zip.mjs";

const DEFLATED = 8;
const MB = 1 << 20;
const path = (app, attempt) => `/api/v1/applications/${app}${attempt ? `/${attempt}` : ""}/logs`;

const residentBytes = (pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;

/** Takes an answer without keeping it: its length, its last bytes, and the most memory that the server had meanwhile. */
function drain(server, address, tailBytes = 65536) {
  return new Promise((resolveAnswer, reject) => {
    const out = request({ host: "127.0.0.1", port: server.port, path: address }, (answer) => {
      let [length, most, count, keptBytes] = [0, 0, 0, 0];
      const kept = [];
      answer.on("data", (piece) => {
        length += piece.length;
        kept.push(piece);
        keptBytes += piece.length;
        while (keptBytes - kept[0].length >= tailBytes) keptBytes -= kept.shift().length;
        if (count++ % 1024 === 0) most = Math.max(most, residentBytes(server.pid));
      });
      answer.on("end", () => resolveAnswer({ length, tail: Buffer.concat(kept), most }));
      answer.on("error", reject);
    });
    out.on("error", reject);
    out.end();
  });
}

/** Entries of an archive of which only the tail was kept. */
function directoryOf({ length, tail }) {
  const end = zipEnd(tail);
  const at = tail.length - (length - end.offset);
  return zipDirectory(tail.subarray(at, at + end.bytes));
}

test("logs", async (t) => {
  const folder = makeFolder(t);
  for (const name of ["attempts", "rolling_lz4"]) cpSync(join(LOGS, name), join(folder, name), { recursive: true });
  for (const app of ["app-plain", "app-grows", "app-gone", "app-link", "app-large", "app-huge"]) writeFileSync(join(folder, app), smallLog({ id: app }));
  writeFileSync(join(folder, "secret"), "secret");
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const zip = async (...args) => unzip((await server.get(path(...args))).bytes);

  await t.test("a log is one entry, named and stored as on disk", async () => {
    const answer = await server.get(path("app-plain"));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers["content-type"], "application/octet-stream");
    assert.equal(answer.headers["content-disposition"], "attachment; filename=eventLogs-app-plain.zip");
    const [entry, ...others] = unzip(answer.bytes);
    assert.deepEqual(others, []);
    assert.equal(entry.name, "app-plain");
    assert.equal(entry.method, DEFLATED);
    assert.deepEqual(entry.bytes, readFileSync(join(folder, "app-plain")));
  });

  await t.test("all attempts, the newest first, or one", async () => {
    const app = "application_1795900000000_0042";
    const names = ["application_1795900000000_0042_2.zstd", "application_1795900000000_0042_1.zstd.inprogress"];
    const all = await zip(app);
    assert.deepEqual(
      all.map((entry) => entry.name),
      names,
    );
    for (const entry of all) {
      assert.equal(entry.method, DEFLATED);
      assert.deepEqual(entry.bytes, readFileSync(join(folder, "attempts", entry.name)));
    }
    assert.deepEqual(
      (await zip(app, 1)).map((entry) => entry.name),
      [names[1]],
    );
    assert.equal((await server.get(path(app, 2))).headers["content-disposition"], `attachment; filename=eventLogs-${app}-2.zip`);
    const missing = await server.get(path(app, 3));
    assert.deepEqual([missing.status, missing.text], [404, `no such app: ${app}/3`]);
  });

  await t.test("a rolling log is a directory with all its files", async () => {
    const name = "eventlog_v2_local-1795990121751";
    const [directory, ...files] = await zip("local-1795990121751");
    assert.equal(directory.name, `${name}/`);
    assert.deepEqual(
      files.map((file) => file.name),
      readdirSync(join(folder, "rolling_lz4", name))
        .filter((file) => !file.startsWith(".")) // Hadoop's checksums
        .sort()
        .reverse()
        .map((file) => `${name}/${file}`),
    );
    for (const file of files) assert.deepEqual(file.bytes, readFileSync(join(folder, "rolling_lz4", file.name)));
  });

  await t.test("HEAD says the same and reads nothing", async () => {
    const answer = await server.get(path("app-plain"), { method: "HEAD" });
    assert.deepEqual([answer.status, answer.bytes.length, answer.headers["content-type"]], [200, 0, "application/octet-stream"]);
    assert.equal(answer.headers["content-length"], undefined); // nobody knows it yet
  });

  await t.test("a log that has grown since it was loaded comes whole", async () => {
    appendFileSync(join(folder, "app-grows"), "{}\n".repeat(1000));
    assert.deepEqual((await zip("app-grows"))[0].bytes, readFileSync(join(folder, "app-grows")));
  });

  await t.test("a log that is gone, or has become a link", async () => {
    rmSync(join(folder, "app-gone"));
    rmSync(join(folder, "app-link"));
    symlinkSync("secret", join(folder, "app-link"));
    for (const app of ["app-gone", "app-link"]) {
      const answer = await server.get(path(app));
      assert.deepEqual([answer.status, answer.headers["content-type"].split(";")[0], answer.text], [503, "text/plain", `Event logs are not available for app: ${app}.`]);
      const own = await server.get(`/api/afterglow/v1/apps/${app}/logs`);
      assert.deepEqual([own.status, JSON.parse(own.text).error], [404, "log_gone"]);
    }
  });

  await t.test("nothing in the address reaches the disk", async () => {
    for (const app of ["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "app-plain%00"]) assert.ok([400, 404].includes((await server.get(path(app))).status), app);
    mkdirSync(join(folder, "elsewhere"));
    renameSync(join(folder, "app-plain"), join(folder, "elsewhere", "app-plain"));
    assert.equal((await server.get(path("app-plain"))).status, 503);
  });

  await t.test("memory does not follow the length of a log", async () => {
    const bytes = (sanitized() ? 128 : 512) * MB;
    truncateSync(join(folder, "app-large"), bytes); // text with a hole: deflated
    const before = residentBytes(server.pid);
    const answer = await drain(server, path("app-large"));
    assert.equal(directoryOf(answer)[0].size, bytes);
    assert.ok(answer.most - before < 32 * MB, `${(answer.most - before) / MB} MB more`);
  });

  await t.test("every reader has every byte: Java's from the front, unzip's and Python's from the directory", async (each) => {
    const archive = join(makeFolder(t), "logs.zip");
    for (const app of ["local-1795990121751", "application_1795900000000_0042", "app-grows"]) {
      const { bytes } = await server.get(path(app));
      writeFileSync(archive, bytes);
      const expected = zipDirectory(bytes.subarray(zipEnd(bytes).offset)).map((entry) => `${entry.name} ${entry.size} ${entry.crc}`);
      await each.test(`Java, ${app}`, { skip: spawnSync("java", ["-version"]).status !== 0 && "there is no Java" }, () => {
        const read = spawnSync("java", [join(ROOT, "tests/api/support/ReadZip.java"), archive], { encoding: "utf8" });
        assert.deepEqual(read.stdout.trimEnd().split("\n"), expected, read.stderr);
      });
      await each.test(`Python, ${app}`, { skip: spawnSync("python3", ["-V"]).status !== 0 && "there is no Python" }, () => {
        const read = spawnSync("python3", ["-c", "import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\nfor e in z.infolist(): print(e.filename, e.file_size, e.CRC)", archive], { encoding: "utf8" });
        assert.deepEqual(read.stdout.trimEnd().split("\n"), expected, read.stderr);
      });
      await each.test(`unzip, ${app}`, { skip: spawnSync("unzip", ["-v"]).status !== 0 && "there is no unzip" }, () => {
        const read = spawnSync("unzip", ["-tq", archive], { encoding: "utf8" });
        assert.equal(read.status, 0, read.stdout + read.stderr);
      });
    }
  });

  await t.test("a log beyond 4 GB has 64-bit lengths", { skip: sanitized() && "under the sanitizers it takes minutes" }, async () => {
    const bytes = 4100 * MB;
    writeFileSync(join(folder, "app-huge"), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])); // as zstd begins: not compressed again
    truncateSync(join(folder, "app-huge"), bytes);
    const before = residentBytes(server.pid);
    const answer = await drain(server, path("app-huge"));
    const [entry] = directoryOf(answer);
    assert.deepEqual([entry.name, entry.method, entry.size], ["app-huge", DEFLATED, bytes]);
    assert.ok(entry.packed > bytes && entry.packed < bytes * 1.0002, `${entry.packed}`); // five bytes for each block
    assert.ok(answer.length > entry.packed && answer.length < entry.packed + 1000);
    assert.ok(answer.most - before < 32 * MB, `${(answer.most - before) / MB} MB more`);
  });
});
