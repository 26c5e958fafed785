// SPDX-License-Identifier: Apache-2.0
// Old addresses: spec/files.md §6.1, §6.2, §6.7; attempts (pain.md P091); redirects behind proxies (P097).
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { ROOT, makeFolder, makeStore, sendBytes, startServer } from "./support/server.mjs";

const ODD = `a/b%25'"<x>`;

function makeLogs(t) {
  const folder = makeFolder(t);
  const put = (name, options) => writeFileSync(join(folder, name), smallLog(options));
  put("client", { id: "application_1_0001" });
  put("one", { id: "application_1_0002", attempt: "1" });
  put("two", { id: "application_1_0002", attempt: "2" });
  put("second-only", { id: "application_1_0003", attempt: "2" });
  put("word", { id: "application_1_0004", attempt: "attempt1" });
  put("odd", { id: ODD });
  put("running", { id: "running", ended: false });
  for (const place of ["x", "y"]) {
    mkdirSync(join(folder, place));
    writeFileSync(join(folder, place, "same"), smallLog({ id: "same" }));
  }
  return folder;
}

test("history", async (t) => {
  const store = makeStore(t, [makeLogs(t)]);
  const server = await startServer(t, ["--store", store]);
  const leads = async (path, to, headers = {}) => {
    const answer = await server.get(path, { headers });
    assert.deepEqual([answer.status, answer.headers.location], [302, to], path);
    return answer;
  };

  await t.test("the start page", async () => {
    await leads("/history", "/");
    await leads("/history/", "/");
    await leads("/?showIncomplete=true", "/?complete=false");
    await leads("/?showIncomplete=false", "/?complete=true");
    assert.equal((await server.get("/?showIncomplete=maybe")).status, 400);
    const ids = async (query) => JSON.parse((await server.get(`/api/afterglow/v1/apps?${query}`)).text).items.map((item) => item.appId);
    assert.deepEqual(await ids("complete=false"), ["running"]);
    assert.equal((await ids("complete=true")).includes("running"), false);
  });

  await t.test("pages of a run without attempts", async () => {
    const app = "/history/application_1_0001";
    await leads(app, "/a/application_1_0001");
    await leads(`${app}/`, "/a/application_1_0001");
    await leads(`${app}/jobs`, "/a/application_1_0001/jobs");
    await leads(`${app}/jobs/job/?id=1`, "/a/application_1_0001/jobs/1");
    await leads(`${app}/stages/stage/?id=3&attempt=0&task.sort=Duration&task.desc=true`, "/a/application_1_0001/stages/3.0?sort=-durationMs");
    await leads(`${app}/executors/threadDump/?executorId=1`, "/a/application_1_0001/executors?exec=1");
    await leads(`${app}/SQL/execution/?id=4`, "/a/application_1_0001/sql/4");
    await leads(`${app}/storage/rdd/?id=7&block.sort=Size+in+Memory&block.desc=true`, "/a/application_1_0001/storage/7?sort=-memory");
    await leads(`${app}/StreamingQuery/statistics?id=8d268dc2-bc9c-4be8-97a9-b135d2943028`, "/a/application_1_0001/streaming/8d268dc2-bc9c-4be8-97a9-b135d2943028");
    await leads(`${app}/sqlserver/`, "/a/application_1_0001/sessions");
    await leads(`${app}/sqlserver/session/?id=a%2Fb%22%3Cx%3E`, "/a/application_1_0001/sessions/a%2Fb%22%3Cx%3E");
    await leads(`${app}/connect/session/?id=${"x".repeat(600)}`, "/a/application_1_0001/sessions");
    await leads(`${app}/streaming/batch/?id=1767225600000`, "/a/application_1_0001/dstreams?batch=1767225600000");
    await leads(`${app}/nothing`, "/a/application_1_0001");
  });

  await t.test("attempts", async () => {
    // YARN's list always names an attempt, also of runs whose log has none.
    await leads("/history/application_1_0001/1", "/a/application_1_0001");
    await leads("/history/application_1_0001/7/environment/", "/a/application_1_0001/env");
    await leads("/history/application_1_0002", "/a/application_1_0002.2");
    await leads("/history/application_1_0002/jobs/", "/a/application_1_0002.2/jobs");
    await leads("/history/application_1_0002/1/jobs/job/?id=0", "/a/application_1_0002.1/jobs/0");
    await leads("/history/application_1_0002/2/stages/", "/a/application_1_0002.2/stages");
    await leads("/history/application_1_0003", "/a/application_1_0003");
    await leads("/history/application_1_0003/2/storage/", "/a/application_1_0003/storage");
    await leads("/history/application_1_0004/attempt1/executors/", "/a/application_1_0004/executors");
    for (const path of ["/history/application_1_0002/3", "/history/application_1_0003/1/jobs/"]) assert.equal((await server.get(path)).status, 404, path);
    // What is led to is there, and is the attempt that was asked for.
    for (const [ref, attempt] of [
      ["application_1_0002.1", "1"],
      ["application_1_0002.2", "2"],
      ["application_1_0003", "2"],
    ])
      assert.equal(JSON.parse((await server.get(`/api/afterglow/v1/apps/${ref}`)).text).attemptId, attempt);
    // Copies of one run: the best one, by its key.
    const { location } = (await server.get("/history/same/jobs/")).headers;
    assert.match(location, /^\/a\/same-[0-9a-f]{8}\/jobs$/);
  });

  await t.test("every order and filter that an address can become is one that our lists take", async () => {
    const source = readFileSync(join(ROOT, "server/history_address.c"), "utf8"),
      lists = {
        job_columns: "jobs",
        stage_columns: "stages",
        task_columns: "stages/0.0/tasks",
        block_columns: "storage/7/partitions",
        sql_columns: "sql",
        query_columns: "streaming",
        session_columns: "sessions",
        statement_columns: "operations",
      };
    let looked = 0;
    for (const [table, list] of Object.entries(lists))
      for (const [, key] of new RegExp(`${table}\\[\\] = \\{(.*?)\\};`, "s").exec(source)[1].matchAll(/\{"[^"]+", "([^"]+)"\}/g)) {
        await server.json(`apps/application_1_0001/${list}?sort=-${key}&page=2&limit=1000`);
        looked++;
      }
    assert.ok(looked > 40, String(looked));
    for (const status of ["running", "succeeded", "failed"]) await server.json(`apps/application_1_0001/jobs?status=${status}`);
    for (const status of ["running", "completed", "failed"]) await server.json(`apps/application_1_0001/sql?status=${status}`);
    for (const status of ["active", "pending", "complete", "skipped", "failed"]) await server.json(`apps/application_1_0001/stages?status=${status}`);
  });

  await t.test("unknown runs", async () => {
    for (const id of ["none", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`]) {
      const answer = await server.get(`/history/${encodeURIComponent(id)}/jobs/`);
      assert.equal(answer.status, 404);
      assert.equal(answer.headers["content-type"], "text/html;charset=utf-8");
      assert.doesNotMatch(answer.text, /<script|<img/);
    }
    assert.match((await server.get("/history/none")).text, /Application none not found\./);
    assert.match((await server.get("/history/%3Cb%3E")).text, /Application &lt;b&gt; not found\./);
  });

  await t.test("ids of any characters, encoded once and again", async () => {
    const once = encodeURIComponent(ODD),
      found = (await server.get(`/history/${once}/jobs/`)).headers.location;
    assert.match(found, /^\/a\/[A-Za-z0-9_.-]+\/jobs$/);
    await leads(`/history/${encodeURIComponent(once)}/jobs/`, found);
    await leads(`/history/${encodeURIComponent(encodeURIComponent(once))}/1/jobs/`, found);
    assert.equal(JSON.parse((await server.get(`/api/afterglow/v1/apps/${found.split("/")[2]}`)).text).appId, ODD);
    assert.equal((await server.get("/history/%zz")).status, 400);
  });

  await t.test("proxies: the prefix is in every redirect, hostile ones are not", async () => {
    for (const name of ["X-Forwarded-Context", "X-Forwarded-Prefix"]) {
      await leads("/history/application_1_0001/jobs/", "/gate/way/a/application_1_0001/jobs", { [name]: "/gate/way/" });
      await leads("/gate/way/history/application_1_0001/jobs/", "/gate/way/a/application_1_0001/jobs", { [name]: "/gate/way" });
      await leads("/?showIncomplete=true", "/gate/?complete=false", { [name]: "/gate" });
      // A prefix that is called as one of our own places, and a proxy that takes it off, one that does not, and none.
      for (const path of ["/history/application_1_0001/jobs/", "/history/application_1_0001/1/jobs/", "/history/history/application_1_0001/jobs/"])
        await leads(path, "/history/a/application_1_0001/jobs", { [name]: "/history" });
      for (const prefix of ["/history", "/api", "/a"]) {
        for (const path of ["/a/application_1_0001", "/api/v1/version", "/healthz"])
          for (const there of [path, prefix + path]) assert.equal((await server.get(there, { headers: { [name]: prefix } })).status, 200, `${there} below ${prefix}`);
        assert.equal((await server.get("/api/v1/none", { headers: { [name]: prefix } })).status, 404);
        assert.match((await server.get("/history/none", { headers: { [name]: prefix } })).text, /Application none not found\./);
      }
      for (const evil of ["//evil", "/\\evil", "https://evil", "/a b", "/..", '/"><script>'])
        await leads("/history/application_1_0001/", "/a/application_1_0001", { [name]: evil });
    }
  });

  await t.test("no address leads away or splits a head", async () => {
    for (const path of [
      "/history//evil.example",
      "/history//evil.example/jobs",
      "/history/%2F%2Fevil.example",
      "/history/application_1_0001//evil.example",
      "/history/application_1_0001/%2F%2Fevil.example/",
      "/history/application_1_0001/%0d%0aSet-Cookie:%20x=1",
      "/history/application_1_0001/jobs/job/?id=%0d%0aSet-Cookie:%20x=1",
      "/history/application_1_0001/jobs/?completedJob.sort=%0d%0aSet-Cookie:%20x=1&completedJob.page=//evil.example",
      "/history/%0d%0aSet-Cookie:%20x=1",
      "/?showIncomplete=%0d%0aSet-Cookie:%20x=1",
      "//evil.example/history",
      "/history/../../etc/passwd",
    ]) {
      const head = (await sendBytes(server.port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).split("\r\n\r\n")[0];
      assert.doesNotMatch(head, /set-cookie/i, path);
      const location = /\r\nLocation: (.*)/i.exec(head);
      if (location) assert.match(location[1], /^\/(a\/application_1_0001(\/jobs(\?status=succeeded)?)?)?\r?$/, path);
    }
  });

  await t.test("YARN's proxy gets a page instead of a redirect", async () => {
    const by = async (headers) => server.get("/history/application_1_0001/1/jobs/", { headers });
    const answer = await by({ Cookie: "a=b; proxy-user=alice", Host: "shs.example:18080" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.location, undefined);
    assert.match(answer.headers["content-type"], /^text\/html/);
    assert.match(answer.text, /<meta http-equiv="refresh" content="0; url=http:\/\/shs\.example:18080\/a\/application_1_0001\/jobs">/);
    const forged = await by({ Cookie: "proxy-user=x", Host: `evil"><script>` });
    assert.doesNotMatch(forged.text, /script|evil/);
    for (const cookie of ["xproxy-user=1", "a=proxy-user", "proxy-users=1"]) assert.equal((await by({ Cookie: cookie })).status, 302, cookie);
  });

  await t.test("redirects carry the protecting headers and no server name", async () => {
    for (const path of ["/history/application_1_0001", "/history/none", "/api/v1/version", "/healthz", "/assets/none.js", "/"]) {
      const { headers } = await server.get(path);
      assert.equal(headers["x-content-type-options"], "nosniff", path);
      assert.equal(headers["x-frame-options"], "SAMEORIGIN", path);
      assert.equal(headers["x-xss-protection"], "1; mode=block", path);
      assert.match(headers["content-security-policy"], /default-src '(self|none)'.*frame-ancestors 'self'/, path);
      assert.doesNotMatch(headers["content-security-policy"], /unsafe/);
      assert.equal(headers.server, undefined, path);
      assert.equal(headers["strict-transport-security"], undefined, path);
    }
  });
});

test("frames and transport security as configured", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog());
  const store = makeStore(t, [folder]);
  const settings = join(makeFolder(t), "settings.conf");
  writeFileSync(settings, "spark.ui.allowFramingFrom https://portal.example\nspark.ui.strictTransportSecurity max-age=31536000\nspark.ui.proxyBase /base\n");
  const server = await startServer(t, ["--store", store, "--properties-file", settings]);
  for (const path of ["/", "/api/v1/version", "/nothing"]) {
    const plain = await server.get(path);
    assert.equal(plain.headers["x-frame-options"], "ALLOW-FROM https://portal.example");
    assert.match(plain.headers["content-security-policy"], /frame-ancestors 'self' https:\/\/portal\.example$/);
    assert.equal(plain.headers["strict-transport-security"], undefined);
    assert.equal((await server.get(path, { headers: { "X-Forwarded-Proto": "https" } })).headers["strict-transport-security"], "max-age=31536000");
  }
  assert.equal((await server.get("/history/app-1/jobs/")).headers.location, "/base/a/app-1/jobs");
});
