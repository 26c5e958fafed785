// SPDX-License-Identifier: Apache-2.0
// Attempt ids in every address (pain.md P091): none, 1 and 2, only 2, a word; and one id in two folders. Rules: spec/core.md §3.2.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { writeAttemptLogs } from "./support/attempt_logs.mjs";
import { makeFolder, makeStore, startServer } from "./support/server.mjs";
import { unzip } from "./support/zip.mjs";

// Everything below an application that has an answer in the small log.
const BELOW = [
  "jobs",
  "jobs/0",
  "stages",
  "stages/0",
  "stages/0/0",
  "stages/0/0/taskSummary",
  "stages/0/0/taskList",
  "executors",
  "allexecutors",
  "allmiscellaneousprocess",
  "environment",
  "storage/rdd",
  "sql",
  "logs",
];

const PAGES = { "": "", "/jobs/": "/jobs", "/jobs/job/?id=0": "/jobs/0", "/stages/": "/stages", "/stages/stage/?id=0&attempt=0": "/stages/0.0", "/storage/": "/storage", "/environment/": "/env", "/executors/": "/executors" };

test("P091 attempts", async (t) => {
  const folder = writeAttemptLogs(makeFolder(t));
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  const get = async (path) => {
    const answer = await server.get(`/api/v1/applications/${path}`);
    return { ...answer, body: answer.headers["content-type"].startsWith("application/json") ? JSON.parse(answer.text) : answer.text };
  };
  const archived = async (path) => unzip((await server.get(path)).bytes).map(({ name, bytes }) => [name, bytes.toString()]);
  const archive = (path) => archived(`/api/v1/applications/${path}/logs`);
  const entry = (name) => [name.split("/").at(-1), readFileSync(join(folder, name), "utf8")];

  /** Every address below `path` answers; every one below `other` is unknown. */
  const addressed = async (path, other) => {
    for (const each of BELOW) {
      assert.equal((await get(`${path}/${each}`)).status, 200, `${path}/${each}`);
      if (each === "logs") continue;
      const refused = await get(`${other}/${each}`);
      assert.deepEqual([refused.status, refused.body], [404, `no such app: ${other}`]);
    }
  };
  const leads = async (from, to) => {
    for (const [theirs, ours] of Object.entries(PAGES)) {
      const answer = await server.get(`/history/${from}${theirs}`);
      assert.deepEqual([answer.status, answer.headers.location], [302, `/a/${to}${ours}`], from + theirs);
      assert.equal((await server.get(answer.headers.location)).status, 200);
    }
  };
  const run = (ref) => server.json(`apps/${ref}`);

  await t.test("no attempt id: addressed without one", async () => {
    await addressed("app-plain", "app-plain/1");
    const { body } = await get("app-plain");
    assert.deepEqual([body.name, body.attempts.length, "attemptId" in body.attempts[0]], ["plain", 1, false]);
    assert.deepEqual((await get("app-plain/1")).body, "unknown app app-plain, attempt 1");
    assert.deepEqual(await archive("app-plain"), [entry("plain")]);
    await leads("app-plain", "app-plain");
    // YARN names an attempt always.
    await leads("app-plain/1", "app-plain");
    assert.deepEqual([(await run("app-plain")).name, (await run("app-plain")).attemptId], ["plain", null]);
  });

  await t.test("attempts 1 and 2: each by its own id, the newest without one", async () => {
    await addressed("app-both/1", "app-both");
    await addressed("app-both/2", "app-both/3");
    assert.deepEqual(
      (await get("app-both")).body.attempts.map((attempt) => attempt.attemptId),
      ["2", "1"],
    );
    for (const id of ["1", "2"]) {
      assert.equal((await get(`app-both/${id}`)).body.attemptId, id);
      assert.deepEqual(await archive(`app-both/${id}`), [entry(`both-${id}`)]);
      await leads(`app-both/${id}`, `app-both.${id}`);
      assert.deepEqual([(await run(`app-both.${id}`)).name, (await run(`app-both.${id}`)).attemptId], [`both-${id}`, id]);
    }
    assert.deepEqual((await get("app-both/3")).body, "unknown app app-both, attempt 3");
    assert.deepEqual(await archive("app-both"), [entry("both-2"), entry("both-1")]);
    await leads("app-both", "app-both.2");
    assert.equal((await server.get("/history/app-both/3/jobs/")).status, 404);
  });

  for (const [app, id, name] of [
    ["app-second", "2", "second"],
    ["app-word", "attempt-x", "word"],
  ])
    await t.test(`only attempt ${id}`, async () => {
      await addressed(`${app}/${id}`, app);
      const { body } = await get(app);
      assert.deepEqual([body.name, body.attempts.map((attempt) => attempt.attemptId)], [name, [id]]);
      assert.equal((await get(`${app}/${id}`)).body.attemptId, id);
      assert.equal((await get(`${app}/1`)).status, 404);
      assert.deepEqual(await archive(`${app}/${id}`), [entry(name)]);
      assert.deepEqual(await archive(app), [entry(name)]);
      await leads(app, app);
      await leads(`${app}/${id}`, app);
      assert.deepEqual([(await run(app)).name, (await run(app)).attemptId], [name, id]);
    });

  await t.test("one id in two folders: two runs of the list, each with its own data", async () => {
    const { items } = await server.json("apps?q=app-same");
    assert.deepEqual(items.map((item) => item.name).sort(), ["east/same", "west/same"]);
    assert.notEqual(items[0].ref, items[1].ref);
    for (const { ref, name } of items) {
      assert.equal((await run(ref)).name, name);
      assert.equal((await server.json(`apps/${ref}/jobs`)).total, 3);
      assert.equal((await server.get(`/a/${ref}`)).status, 200);
      assert.deepEqual(await archived(`/api/afterglow/v1/apps/${ref}/logs`), [entry(name)]);
    }
    // The History Server knows one of them; it is the same one in every answer.
    const list = JSON.parse((await server.get("/api/v1/applications")).text).filter((app) => app.id === "app-same");
    assert.deepEqual([list.length, list[0].attempts.length], [1, 1]);
    assert.equal((await get("app-same")).body.name, list[0].name);
    assert.deepEqual(await archive("app-same"), [entry(list[0].name)]);
    const { location } = (await server.get("/history/app-same/jobs/")).headers;
    assert.equal((await run(location.split("/")[2])).name, list[0].name);
    for (const each of BELOW) assert.equal((await get(`app-same/${each}`)).status, 200, each);
  });

  await t.test("the list names attempts only where there are some", async () => {
    const list = JSON.parse((await server.get("/api/v1/applications")).text);
    const attempts = Object.fromEntries(list.map((app) => [app.id, app.attempts.map((attempt) => attempt.attemptId ?? null)]));
    assert.deepEqual(attempts, { "app-plain": [null], "app-both": ["2", "1"], "app-second": ["2"], "app-word": ["attempt-x"], "app-same": [null] });
    const ours = Object.fromEntries((await server.json("apps")).items.map((item) => [item.name, item.attemptId]));
    assert.deepEqual(ours, { plain: null, "both-1": "1", "both-2": "2", second: "2", word: "attempt-x", "east/same": null, "west/same": null });
  });
});
