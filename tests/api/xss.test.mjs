// SPDX-License-Identifier: Apache-2.0
// Hostile text in every string of a log and of a request (pain.md P098), as far as the server answers: JSON stays JSON, pages hold it escaped, and no answer allows a script inside a page.
// What a browser makes of it is tests/web/hostile-text.test.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";

import { HOSTILE, hostile, writeHostileLogs } from "./support/hostile_log.mjs";
import { makeFolder, makeStore, startServer } from "./support/server.mjs";

function isHarmless(answer, path) {
  const policy = answer.headers["content-security-policy"];
  assert.match(policy, /(default-src|script-src) '(self|none)'/, path);
  assert.doesNotMatch(policy, /unsafe|data:.*script|\*/, path);
  assert.equal(answer.headers["x-content-type-options"], "nosniff", path);
  const type = answer.headers["content-type"] ?? "";
  if (type.startsWith("text/html")) assert.doesNotMatch(answer.text, /<img|onerror=alert\(1\)>|<\/script>"/, path);
  if (type.startsWith("application/json")) JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(answer.bytes));
  assert.doesNotMatch(String(answer.headers.location ?? ""), /[<>"']|^\/\/|^https?:/, path);
  for (const [name, value] of Object.entries(answer.headers)) assert.doesNotMatch(String(value), /<img/, `${path} ${name}`);
}

test("P098 xss", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, [writeHostileLogs(makeFolder(t))])]);
  const { items } = await server.json("apps");
  assert.equal(items.length, 3);
  let looked = 0;
  const look = async (path, status = 200) => {
    const answer = await server.get(path);
    assert.equal(answer.status, status, `${path}: ${answer.text.slice(0, 200)}`);
    isHarmless(answer, path);
    looked++;
    return answer;
  };
  const json = async (path) => JSON.parse((await look(path)).text);

  await t.test("every answer about them is JSON, with the text as it was logged", async () => {
    for (const { ref, appId, name, user } of items) {
      for (const text of [appId, name, user]) assert.ok(text.endsWith(HOSTILE), text);
      const own = `/api/afterglow/v1/apps/${encodeURIComponent(ref)}`,
        v1 = `/api/v1/applications/${encodeURIComponent(appId)}`;
      const info = await json(v1);
      assert.ok(info.name.endsWith(HOSTILE) && info.attempts[0].sparkUser.endsWith(HOSTILE));
      await json(own);
      for (const each of ["health", "jobs", "stages", "executors", "environment", "storage", "sql", "streaming", "sessions", "operations", "dstreams"]) await json(`${own}/${each}`);
      for (const job of (await json(`${own}/jobs`)).items) assert.ok((await json(`${own}/jobs/${job.jobId}`)).name.endsWith(HOSTILE));
      for (const { stageId, attempt } of (await json(`${own}/stages`)).items) {
        assert.ok((await json(`${own}/stages/${stageId}.${attempt}`)).name.endsWith(HOSTILE));
        await json(`${own}/stages/${stageId}.${attempt}/tasks`);
        for (const each of ["", "/taskList", "?withSummaries=true"]) await json(`${v1}/stages/${stageId}/${attempt}${each}`);
      }
      for (const { id } of (await json(`${own}/sql`)).items) {
        const execution = await json(`${own}/sql/${id}`);
        for (const { version } of execution.plans) assert.ok((await json(`${own}/sql/${id}/plans/${version}`)).text.endsWith(HOSTILE));
        assert.ok((await json(`${v1}/sql/${id}`)).description.endsWith(HOSTILE));
      }
      for (const { runId } of (await json(`${own}/streaming`)).items) await json(`${own}/streaming/${encodeURIComponent(runId)}`);
      for (const { id } of (await json(`${own}/operations`)).items) await json(`${own}/operations/${encodeURIComponent(id)}`);
      for (const each of ["jobs", "stages?details=true&withSummaries=true", "executors", "allexecutors", "allmiscellaneousprocess", "environment", "storage/rdd", "sql?length=1000", "sql/sqlTable"]) await json(`${v1}/${each}`);
      const [settings] = (await json(`${v1}/environment`)).sparkProperties;
      for (const text of settings) assert.ok(text.endsWith(HOSTILE), text);
      for (const executor of await json(`${v1}/allexecutors`)) assert.ok(executor.id.includes(HOSTILE) && executor.hostPort.includes(HOSTILE), executor.id);
      for (const page of ["", "/jobs", "/stages", "/executors", "/env"]) await look(`/a/${encodeURIComponent(ref)}${page}`);
    }
    for (const path of ["/", "/api/v1/applications", "/api/afterglow/v1/apps", "/api/afterglow/v1/status", "/api/v1/version"]) await look(path);
  });

  await t.test("a failed task, a job and a query say what they were logged with", async () => {
    const of = (name) => encodeURIComponent(items.find((item) => item.name.startsWith(name)).appId);
    const tasks = await json(`/api/v1/applications/${of("small")}/stages/1/0/taskList?status=failed`);
    assert.match(tasks[0].errorMessage, /<img src=x onerror=alert\(1\)><\/script>"'\u2028/);
    assert.ok(tasks[0].host.endsWith(HOSTILE));
    const jobs = await json(`/api/v1/applications/${of("small")}/jobs/0`);
    assert.deepEqual([jobs.description, jobs.jobGroup], [hostile("first <b>job</b>"), hostile("group_1")]);
    assert.ok(jobs.name.endsWith(HOSTILE));
    const [query] = (await json(`/api/afterglow/v1/apps/${encodeURIComponent(items.find((item) => item.name.startsWith("streaming")).ref)}/streaming`)).items;
    assert.equal(query.name, hostile("q"));
  });

  await t.test("what is in a request comes back escaped or not at all", async () => {
    const text = encodeURIComponent(HOSTILE);
    const [{ ref, appId }] = items;
    const own = `/api/afterglow/v1/apps/${encodeURIComponent(ref)}`,
      v1 = `/api/v1/applications/${encodeURIComponent(appId)}`;
    const paths = [
      ...["", "/a/", "/history/", "/assets/", "/api/", "/api/v1/", "/api/v1/applications/", "/api/afterglow/v1/", "/api/afterglow/v1/apps/"].flatMap((before) => [`${before}${text}`, `${before}${text}/${text}`, `${before}${text}/jobs/`]).map((path) => (path.startsWith("/") ? path : `/${path}`)),
      ...["jobs/", "stages/", "stages/0/", "stages/0/0/", "executors/", "storage/rdd/", "sql/", "streaming/"].map((each) => `${v1}/${each}${text}`),
      `${v1}/executors/${text}/threads`,
      ...["jobs/", "stages/", "stages/0.0/", "sql/", "streaming/", "operations/"].map((each) => `${own}/${each}${text}`),
      ...["status", "minDate", "maxDate", "minEndDate", "limit", text].map((name) => `/api/v1/applications?${name}=${text}`),
      ...["status", "details", "quantiles", "taskStatus", "withSummaries"].map((name) => `${v1}/stages?${name}=${text}`),
      ...["offset", "length", "sortBy", "status"].map((name) => `${v1}/stages/0/0/taskList?${name}=${text}`),
      `${v1}/stages/0/0/taskSummary?quantiles=${text}`,
      ...["offset", "length", "details"].map((name) => `${v1}/sql?${name}=${text}`),
      `${v1}/sql/sqlTable?draw=1&search%5Bvalue%5D=${text}&order%5B0%5D%5Bcolumn%5D=${text}`,
      ...["q", "sort", "limit", "page", "cursor", "status", "grade", "complete", text].flatMap((name) => [`/api/afterglow/v1/apps?${name}=${text}`, `${own}/jobs?${name}=${text}`, `${own}/stages?${name}=${text}`, `${own}/sql?${name}=${text}`]),
      `/?showIncomplete=${text}`,
      `/?${text}=${text}`,
      `/history/${encodeURIComponent(appId)}/jobs/?completedJob.sort=${text}&id=${text}`,
      `/history/${encodeURIComponent(appId)}/${text}/`,
    ];
    for (const path of paths) {
      const answer = await server.get(path);
      assert.ok(answer.status < 500 || answer.status === 503, `${path}: ${answer.status}`);
      isHarmless(answer, path);
      looked++;
    }
    for (const headers of [{ Cookie: `proxy-user=${encodeURIComponent(HOSTILE)}`, Host: "evil<img src=x>" }, { "X-Forwarded-Context": "/<img src=x>" }, { "X-Forwarded-Prefix": `/"><img src=x>` }])
      for (const path of ["/", `/history/${encodeURIComponent(appId)}/jobs/`, `/a/${encodeURIComponent(ref)}`, "/nothing"]) isHarmless(await server.get(path, { headers }), `${path} ${JSON.stringify(headers)}`);
  });

  assert.ok(looked > 200, String(looked));
});
