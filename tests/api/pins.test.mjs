// SPDX-License-Identifier: Apache-2.0
// Pinned views: /p/{token} leads to a page of a run with all that stands in its address, for those who may see the run.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";
import { basic, makeUsers } from "./support/tls.mjs";

const OURS = { "X-Afterglow-Action": "1" };
const VIEW = "/stages/0.0?task=3&q=%22%3Cb%3E";

async function watch(t, lines = []) {
  const folder = makeFolder(t), dir = join(folder, "logs"), settings = join(folder, "settings.conf");
  mkdirSync(dir);
  writeFileSync(join(dir, "app-1"), smallLog({ id: "app-1" }));
  writeFileSync(join(dir, "app-2"), smallLog({ id: "app-2", user: "bob" }));
  writeFileSync(settings, lines.join("\n") + "\n");
  const start = () => startServer(t, ["--logs", dir, "--store", join(folder, "store"), "--properties-file", settings], { AFTERGLOW_UPDATE_INTERVAL: "1h" });
  const server = await start();
  return { ...server, start };
}
const pinTo = async (server, ref, address, headers = OURS) => {
  const answer = await server.get(`/api/afterglow/v1/apps/${ref}/pin?address=${encodeURIComponent(address)}`, { method: "POST", headers });
  return { status: answer.status, ...JSON.parse(answer.text) };
};
const written = (server, token, options) => eventually(async () => (await server.get(`/p/${token}`, options)).status === 302);

test("a pinned view", async (t) => {
  const server = await watch(t, ["afterglow.pins.max 3"]);
  await eventually(async () => (await server.get("/api/afterglow/v1/apps/app-1/findings")).status === 200 && (await server.get("/api/afterglow/v1/apps/app-2/findings")).status === 200);
  const { key } = await server.json("apps/app-1");
  const before = Date.now();
  const { status, token } = await pinTo(server, "app-1", VIEW);
  assert.equal(status, 202);
  assert.match(token, /^[a-z2-9]{12}$/);
  await written(server, token);

  await t.test("leads to the page, with what stood in its address, below a prefix too", async () => {
    const to = async (headers) => (await server.get(`/p/${token}`, { headers })).headers.location;
    assert.equal(await to({}), `/a/${key}${VIEW}&pinned=${token}`);
    assert.equal(await to({ "X-Forwarded-Prefix": "/gateway" }), `/gateway/a/${key}${VIEW}&pinned=${token}`);
    const said = await server.json(`pins/${token}`);
    assert.ok(said.pinnedMs >= before && said.pinnedMs <= Date.now());
    assert.deepEqual({ ...said, pinnedMs: 0 }, { key, address: VIEW, pinnedMs: 0, author: null, readAnew: false, judgedAnew: false });
  });

  await t.test("is one, however often it is pinned, and there are so many and no more", async () => {
    assert.deepEqual(await pinTo(server, "app-1", VIEW), { status: 200, token });
    const { token: overview } = await pinTo(server, "app-1", "");
    await written(server, overview);
    assert.equal((await server.get(`/p/${overview}`)).headers.location, `/a/${key}?pinned=${overview}`);
    const { token: other } = await pinTo(server, "app-2", VIEW);
    await written(server, other);
    const full = await pinTo(server, "app-1", "/jobs");
    assert.deepEqual([full.status, full.error], [409, "full"]);
    assert.equal((await pinTo(server, "app-1", VIEW)).token, token, "one that is there is still given");
  });

  await t.test("is nothing but an address inside the run", async () => {
    const refused = ["jobs", "//elsewhere.example", "/../../status", "/jobs/./x", "/jobs#x", "/jobs?q=a b", "/jobs?q=\n", "/jobs?q=<b>", "/\\elsewhere.example", "/é", `/jobs?q=${"x".repeat(2000)}`];
    for (const address of refused) assert.equal((await pinTo(server, "app-1", address)).error, "bad_parameter", address);
    assert.equal((await server.get("/api/afterglow/v1/apps/app-1/pin", { method: "POST", headers: OURS })).status, 400);
    assert.equal((await pinTo(server, "app-9", VIEW)).status, 404);
    assert.deepEqual([(await pinTo(server, "app-1", VIEW, {})).error, (await pinTo(server, "app-1", VIEW, { ...OURS, Origin: "https://elsewhere.example" })).error], ["wrong_origin", "wrong_origin"]);
    assert.equal((await server.get("/api/afterglow/v1/apps/app-1/pin?address=")).status, 405);
    for (const path of ["/p/aaaaaaaaaaaa", "/p/%00", "/p/..", "/p/", "/api/afterglow/v1/pins/aaaaaaaaaaaa"]) assert.ok((await server.get(path)).status >= 400, path);
  });

  await t.test("is still there after a restart", async () => {
    await server.stop();
    const again = await server.start();
    await written(again, token);
  });
});

test("a pinned view is for those who may see its run", async (t) => {
  const folder = makeFolder(t);
  const server = await watch(t, [`afterglow.login.usersFile ${makeUsers(folder)}`, "spark.history.ui.acls.enable true", "spark.history.ui.admin.acls bob", "afterglow.auth.groupsFile /dev/null"]);
  const alice = { headers: basic("alice", "wonder land") }, bob = { headers: basic("bob", "b") };
  await eventually(async () => JSON.parse((await server.get("/api/afterglow/v1/status", bob)).text).logs?.loaded === 2);
  assert.equal((await pinTo(server, "app-2", VIEW, { ...OURS, ...alice.headers })).status, 403, "bob's run");
  assert.equal((await server.get(`/api/afterglow/v1/apps/app-1/pin?address=`, { method: "POST", headers: OURS })).status, 401);
  const { token } = await pinTo(server, "app-2", VIEW, { ...OURS, ...bob.headers });
  await written(server, token, bob);
  assert.equal(JSON.parse((await server.get(`/api/afterglow/v1/pins/${token}`, bob)).text).author, "bob");
  const hidden = await server.get(`/p/${token}`, alice), none = await server.get("/p/aaaaaaaaaaaa", alice);
  assert.deepEqual([hidden.status, hidden.text], [404, none.text], "as if there were none");
  assert.equal((await server.get(`/api/afterglow/v1/pins/${token}`, alice)).status, 404);
  assert.equal((await server.get(`/p/${token}`)).status, 401);
});

test("where nothing reads logs, nothing is pinned", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-1"), smallLog({ id: "app-1" }));
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  assert.deepEqual([(await pinTo(server, "app-1", VIEW)).error], ["no_worker"]);
});
