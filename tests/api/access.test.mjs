// SPDX-License-Identifier: Apache-2.0
// Who may see what: spec/files.md §7.1 and §7.2, the same on lists, pages, both interfaces and old addresses.
import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, makeStore, startServer } from "./support/server.mjs";

/** The small log with access lists in its environment. */
function logWith(options, properties) {
  return smallLog(options)
    .split("\n")
    .map((line) => {
      if (!line.includes("SparkListenerEnvironmentUpdate")) return line;
      const event = JSON.parse(line);
      Object.assign(event["Spark Properties"], properties);
      return JSON.stringify(event);
    })
    .join("\n");
}

const RUNS = {
  plain: {},
  viewed: { "spark.ui.view.acls": " bob , ,carol", "spark.admin.acls": "dan" },
  grouped: { "spark.ui.view.acls.groups": "team-a", "spark.admin.acls.groups": "team-b" },
  open: { "spark.ui.view.acls": "*" },
  opengroups: { "spark.ui.view.acls.groups": "*" },
  // The run's own switches and lists for changes mean nothing here.
  own: { "spark.acls.enable": "false", "spark.modify.acls": "bob", "spark.ui.view.acls": "" },
};

function makeLogs(t) {
  const folder = makeFolder(t);
  for (const [id, properties] of Object.entries(RUNS)) writeFileSync(join(folder, id), logWith({ id, user: "alice" }, properties));
  return folder;
}

/** A request by a user with groups, through the believed proxy that the test is. */
const by = (user, groups) => ({ headers: { ...(user === null ? {} : { "X-User": user }), ...(groups ? { "X-Groups": groups } : {}) } });

/** Which runs the user sees, by every way there is. They must agree. */
async function seen(server, who, query = "") {
  const q = query ? `?${query}` : "";
  const list = JSON.parse((await server.get(`/api/afterglow/v1/apps${q}`, who)).text);
  const ids = list.items.map((item) => item.appId).sort();
  assert.equal(list.total, ids.length);
  assert.equal(list.counts.all, ids.length);
  const v1 = JSON.parse((await server.get(`/api/v1/applications${q}`, who)).text);
  assert.deepEqual(v1.map((app) => app.id).sort(), ids, "the two lists");
  for (const id of Object.keys(RUNS)) {
    const expected = ids.includes(id);
    for (const path of [`/api/afterglow/v1/apps/${id}`, `/api/afterglow/v1/apps/${id}/jobs`, `/api/v1/applications/${id}`, `/api/v1/applications/${id}/jobs`, `/api/v1/applications/${id}/stages/0/0`])
      assert.equal((await server.get(path + q, who)).status, expected ? 200 : 403, `${path} for ${JSON.stringify(who)} ${query}`);
    for (const other of ids.slice(0, 1))
      for (const query of [`base=${id}&new=${other}`, `base=${other}&new=${id}`, `base=usual&new=${id}`])
        assert.equal((await server.get(`/api/afterglow/v1/compare?${query}${q ? `&${q.slice(1)}` : ""}`, who)).status, expected ? 200 : 403, `compare ${query} for ${JSON.stringify(who)}`);
    for (const other of ids.slice(0, 1))
      for (const [path, query] of [["/compare", `a=${id}&b=${other}`], ["/compare", `a=${other}&b=${id}`], ...["stages", "queries"].flatMap((what) => [[`/api/afterglow/v1/compare/${what}`, `base=${id}&new=${other}`], [`/api/afterglow/v1/compare/${what}`, `base=${other}&new=${id}`]])])
        assert.equal((await server.get(`${path}?${query}${q ? `&${q.slice(1)}` : ""}`, who)).status, expected ? 200 : 403, `${path} ${query} for ${JSON.stringify(who)}`);
    assert.equal((await server.get(`/a/${id}${q}`, who)).status, expected ? 200 : 403, `page of ${id}`);
    assert.equal((await server.get(`/a/${id}/stages/0.0${q}`, who)).status, expected ? 200 : 403, `lower page of ${id}`);
    assert.equal((await server.get(`/history/${id}/jobs/${q}`, who)).status, expected ? 302 : 403, `old address of ${id}`);
    assert.equal((await server.get(`/api/afterglow/v1/apps/${id}/logs${q}`, who)).status, expected ? 200 : 403, `download of ${id} by our address`);
    if (!expected) assert.notEqual((await server.get(`/api/v1/applications/${id}/logs${q}`, who)).status, 200, `download of ${id}`);
  }
  return ids;
}

const ALL = Object.keys(RUNS).sort();
const OPEN = ["open", "opengroups"];

test("access", async (t) => {
  const folder = makeLogs(t);
  const store = makeStore(t, [folder]);
  const settings = join(makeFolder(t), "settings.conf");
  writeFileSync(
    settings,
    `spark.history.ui.acls.enable true
spark.history.ui.admin.acls root, sue
spark.history.ui.admin.acls.groups operators
afterglow.auth.header X-User
afterglow.auth.groupsHeader X-Groups
`,
  );
  const server = await startServer(t, ["--store", store, "--properties-file", settings]);

  await t.test("the matrix", async () => {
    assert.deepEqual(await seen(server, by(null)), ALL, "nobody is named");
    assert.deepEqual(await seen(server, by("alice")), ALL, "the run's own user");
    assert.deepEqual(await seen(server, by("eve")), OPEN, "another");
    assert.deepEqual(await seen(server, by("")), OPEN, "an empty name is a name, as there");
    assert.deepEqual(await seen(server, by("bob")), [...OPEN, "viewed"].sort());
    assert.deepEqual(await seen(server, by("carol")), [...OPEN, "viewed"].sort());
    assert.deepEqual(await seen(server, by("dan")), [...OPEN, "viewed"].sort(), "administrator by the log");
    assert.deepEqual(await seen(server, by("Bob")), OPEN, "names are compared exactly");
    assert.deepEqual(await seen(server, by("bo")), OPEN);
    assert.deepEqual(await seen(server, by("eve", "x,team-a")), ["grouped", ...OPEN]);
    assert.deepEqual(await seen(server, by("eve", " team-b ")), ["grouped", ...OPEN]);
    assert.deepEqual(await seen(server, by("root")), ALL, "administrator of the server");
    assert.deepEqual(await seen(server, by("sue")), ALL);
    assert.deepEqual(await seen(server, by("eve", "operators")), ALL, "administrators by group");
  });

  await t.test("a header that comes twice names nobody: one of them may be the client's own", async () => {
    for (const users of [["root", "eve"], ["eve", "root"], ["root", "root"], ["root", ""]])
      for (const path of ["/api/v1/applications", "/api/v1/applications/open/jobs", "/api/afterglow/v1/apps", "/a/open", "/history/open"])
        assert.equal((await server.get(path, { headers: { "X-User": users } })).status, 403, `${path} for ${users}`);
    for (const groups of [["operators", "x"], ["x", "operators"], ["team-a", "team-b"]]) assert.deepEqual(await seen(server, { headers: { "X-User": "eve", "X-Groups": groups } }), OPEN, groups.join());
  });

  await t.test("doAs: administrators speak for others, everybody for themselves", async () => {
    assert.deepEqual(await seen(server, by("root"), "doAs=bob"), [...OPEN, "viewed"].sort());
    assert.deepEqual(await seen(server, by("bob"), "doAs=bob"), [...OPEN, "viewed"].sort());
    assert.deepEqual(await seen(server, by(null), "doAs=eve"), OPEN);
    const answer = await server.get("/api/v1/applications/open/jobs?doAs=root", by("eve"));
    assert.deepEqual([answer.status, answer.text], [403, "User eve is not allowed to impersonate others."]);
    assert.equal((await server.get("/?doAs=root", by("eve"))).status, 403);
  });

  await t.test("refusals in the words of each interface", async () => {
    const v1 = await server.get("/api/v1/applications/plain/jobs", by("eve"));
    assert.deepEqual([v1.status, v1.text, v1.headers["content-type"]], [403, 'user "eve" is not authorized', "text/plain;charset=utf-8"]);
    const own = await server.get("/api/afterglow/v1/apps/plain", by("eve"));
    assert.deepEqual(JSON.parse(own.text), { status: 403, error: "forbidden", detail: 'user "eve" is not authorized' });
    const page = await server.get("/a/plain", by("<b>eve</b>"));
    assert.equal(page.status, 403);
    assert.match(page.text, /User &lt;b&gt;eve&lt;\/b&gt; is not authorized to access this page\./);
    assert.doesNotMatch(page.text, /<b>eve/);
  });

  await t.test("what is not there is no secret", async () => {
    assert.equal((await server.get("/api/v1/applications/none/jobs", by("eve"))).text, "no such app: none");
    assert.equal((await server.get("/api/afterglow/v1/apps/none", by("eve"))).status, 404);
    assert.equal((await server.get("/history/none", by("eve"))).status, 404);
  });

  await t.test("filters and searches find nothing that is barred", async () => {
    for (const query of ["q=plain", "user=alice", "state=loaded", "sort=name&limit=1", "complete=true"]) {
      const list = JSON.parse((await server.get(`/api/afterglow/v1/apps?${query}`, by("eve"))).text);
      assert.ok(
        list.items.every((item) => OPEN.includes(item.appId)),
        query,
      );
      assert.ok(list.total <= 2, query);
    }
  });

  await t.test("the status tells paths and counts to those who see everything", async () => {
    const text = async (who) => (await server.get("/api/afterglow/v1/status", by(who))).text;
    const [hers, all] = [JSON.parse(await text("eve")), JSON.parse(await text("root"))];
    assert.deepEqual([hers.store, hers.places, hers.logs, hers.ingest.message], [null, null, null, null]);
    assert.deepEqual([hers.version, hers.ingest.enabled, hers.ingest.running], [all.version, all.ingest.enabled, all.ingest.running]);
    assert.equal(all.logs.loaded, ALL.length);
    assert.ok(all.store.startsWith("/") && Array.isArray(all.places));
    assert.ok(!(await text("eve")).includes(all.store));
  });

  await t.test("no cache may give the answer of one to another", async () => {
    const mine = await server.get("/api/afterglow/v1/apps/plain", by("alice"));
    assert.match(mine.headers["cache-control"], /private/);
    assert.match(mine.headers.vary, /X-User/);
    const etag = mine.headers.etag;
    assert.equal((await server.get("/api/afterglow/v1/apps/plain", { headers: { "X-User": "alice", "If-None-Match": etag } })).status, 304);
    assert.equal((await server.get("/api/afterglow/v1/apps/plain", { headers: { "X-User": "eve", "If-None-Match": etag } })).status, 403);
    assert.equal((await server.get("/a/plain", by("alice"))).headers.vary.includes("X-User"), true);
  });

  await t.test("lists: who sees everything gets them by a tag, nobody else gets such a list", async () => {
    for (const path of ["/api/afterglow/v1/apps?sort=name", "/api/v1/applications?limit=50", "/api/v1/applications/plain"]) {
      const all = await server.get(path, by("root"));
      assert.ok(all.headers.etag, path);
      assert.equal((await server.get(path, { headers: { "X-User": "root", "If-None-Match": all.headers.etag } })).status, 304, path);
      for (const headers of [{ "X-User": "eve" }, { "X-User": "eve", "If-None-Match": all.headers.etag }, { "X-User": "eve", "If-None-Match": "*" }]) {
        const hers = await server.get(path, { headers });
        assert.equal(hers.headers.etag, undefined, path);
        if (path.endsWith("/plain")) assert.equal(hers.status, 403);
        else assert.deepEqual([hers.status, JSON.parse(hers.text.replace(/^\[/, '{"items":[').replace(/\]$/, "]}")).items.length], [200, OPEN.length], path);
      }
      assert.deepEqual((await server.get(path, by("root"))).text, all.text, path);
    }
  });

  await t.test("a name is no command, and a name that is none sees nothing", async () => {
    const mark = join(folder, "mark");
    for (const user of [`\`touch ${mark}\``, `$(touch ${mark})`, `x; touch ${mark}`]) {
      const answer = await server.get("/api/afterglow/v1/apps/plain", by(user));
      assert.equal(answer.status, 403);
      assert.equal((await server.get(`/api/afterglow/v1/apps/plain?doAs=${encodeURIComponent(user)}`, by("eve"))).status, 403);
    }
    assert.equal(existsSync(mark), false);
    assert.equal((await server.get("/api/afterglow/v1/apps", by("x".repeat(300)))).status, 403);
    assert.equal((await server.get("/api/afterglow/v1/apps", by("root,eve"))).status, 403);
  });

  await t.test("health needs no name", async () => {
    assert.equal((await server.get("/healthz", by("eve"))).status, 200);
  });
});

test("a header from an address that is not believed", async (t) => {
  const store = makeStore(t, [makeLogs(t)]);
  const settings = join(makeFolder(t), "settings.conf");
  for (const lists of [true, false]) {
    writeFileSync(settings, `spark.history.ui.acls.enable=${lists}\nafterglow.auth.header=X-User\nafterglow.auth.proxies=10.0.0.0/8, 2001:db8::1\nspark.history.ui.admin.acls=root\n`);
    const server = await startServer(t, ["--store", store, "--properties-file", settings]);
    for (const who of [by("root"), by("alice"), by(null)])
      for (const path of ["/", "/a/open", "/history/open", "/api/v1/applications", "/api/v1/applications/open", "/api/v1/applications/open/logs", "/api/afterglow/v1/apps", "/api/afterglow/v1/apps/open", "/api/afterglow/v1/status"])
        assert.equal((await server.get(path, who)).status, 403, `${path}, lists ${lists}`);
    assert.equal((await server.get("/healthz")).status, 200);
    await server.stop();
  }
});

test("without access lists, or without a header, everybody sees everything", async (t) => {
  const store = makeStore(t, [makeLogs(t)]);
  const settings = join(makeFolder(t), "settings.conf");
  writeFileSync(settings, "afterglow.auth.header=X-User\n");
  const off = await startServer(t, ["--store", store, "--properties-file", settings]);
  assert.deepEqual(await seen(off, by("eve")), ALL);
  await off.stop();
  writeFileSync(settings, "spark.history.ui.acls.enable=true\n");
  const nameless = await startServer(t, ["--store", store, "--properties-file", settings]);
  assert.deepEqual(await seen(nameless, by("eve")), ALL, "nobody is ever named");
});

test("groups from a file and from the system", async (t) => {
  const store = makeStore(t, [makeLogs(t)]);
  const folder = makeFolder(t);
  const settings = join(folder, "settings.conf");
  writeFileSync(join(folder, "groups"), "# comment\nteam-a:x:100:eve, fay\nother:x:101:gus\nbroken line\n");
  writeFileSync(settings, `spark.history.ui.acls.enable=true\nafterglow.auth.header=X-User\nafterglow.auth.groupsFile=${join(folder, "groups")}\n`);
  const file = await startServer(t, ["--store", store, "--properties-file", settings]);
  assert.deepEqual(await seen(file, by("eve")), ["grouped", ...OPEN]);
  assert.deepEqual(await seen(file, by("fay")), ["grouped", ...OPEN]);
  assert.deepEqual(await seen(file, by("gus")), OPEN);
  assert.deepEqual(await seen(file, by("eve", "team-b")), ["grouped", ...OPEN], "a header that nobody asked for says nothing");
  await file.stop();
  writeFileSync(settings, "spark.history.ui.acls.enable=true\nafterglow.auth.header=X-User\nspark.history.ui.admin.acls.groups=root\n");
  const system = await startServer(t, ["--store", store, "--properties-file", settings]);
  assert.deepEqual(await seen(system, by("root")), ALL, "root is in group root on every machine");
  assert.deepEqual(await seen(system, by("nobody-of-this-name")), OPEN);
});

test("runs that are listed and not loaded yet, and a list that was made again", async (t) => {
  const folder = makeLogs(t);
  const store = join(makeFolder(t), "store");
  const settings = join(makeFolder(t), "settings.conf");
  writeFileSync(settings, "spark.history.ui.acls.enable=true\nafterglow.auth.header=X-User\nspark.history.ui.admin.acls=root\n");
  const server = await startServer(t, ["--store", store, "--logs", folder, "--properties-file", settings]);
  // Logs that nothing has been read of yet are items without an id, and for those who see everything.
  const ids = async (who) => JSON.parse((await server.get("/api/afterglow/v1/apps", who)).text).items.flatMap((item) => item.appId ?? []);
  // From the first row on: whatever eve sees at any moment is what she may see.
  await eventually(async () => {
    for (const id of await ids(by("eve"))) assert.ok(OPEN.includes(id), id);
    for (const id of await ids(by("bob"))) assert.ok([...OPEN, "viewed"].includes(id), id);
    if ((await ids(by("root"))).length < ALL.length) return false;
    assert.deepEqual((await ids(by("bob"))).sort(), [...OPEN, "viewed"].sort());
    return JSON.parse((await server.get("/api/afterglow/v1/status", by("root"))).text).logs.loaded === ALL.length;
  });
  await server.stop();
  for (const name of ["catalog.db", "catalog.db-wal", "catalog.db-shm"]) rmSync(join(store, name), { force: true });
  rmSync(folder, { recursive: true });
  const again = await startServer(t, ["--store", store, "--logs", makeFolder(t), "--properties-file", settings]);
  await eventually(async () => JSON.parse((await again.get("/api/afterglow/v1/apps", by("root"))).text).items?.length === ALL.length);
  const rebuilt = JSON.parse((await again.get("/api/afterglow/v1/apps", by("bob"))).text).items.map((item) => item.appId);
  assert.deepEqual(rebuilt.sort(), [...OPEN, "viewed"].sort());
});

// What a live Spark 4.3.0 History Server answered (+: 200, -: 403) to these users about these runs, with a servlet filter that names the user and a group mapping of its own:
// root1 and the group sre are its administrators; ops1 is in the group ops, sre1 in sre and ops, for bad1 the mapping fails.
const LIVE_RUNS = [
  ["none", {}],
  ["users", { "spark.ui.view.acls": " ann , bob,," }],
  ["star", { "spark.ui.view.acls": "*" }],
  ["groups", { "spark.ui.view.acls.groups": "ops" }],
  ["admin", { "spark.admin.acls": "logadmin", "spark.admin.acls.groups": "sre" }],
  ["empty", { "spark.ui.view.acls": "" }, ""],
  ["off", { "spark.acls.enable": "false", "spark.ui.acls.enable": "false" }],
  ["modify", { "spark.modify.acls": "ann" }],
  ["att/1", { "spark.ui.view.acls": "ann" }],
  ["att/2", { "spark.ui.view.acls": "bob" }],
  ["groupstar", { "spark.ui.view.acls.groups": "*" }],
];
const LIVE = {
  "(nobody)": "+++++++++++",
  ann: "-++-----+-+",
  bob: "-++------++",
  owner: "+++++-+++++",
  root1: "+++++++++++",
  ops1: "--++------+",
  sre1: "+++++++++++",
  bad1: "--+-------+",
  logadmin: "--+-+-----+",
  stranger: "--+-------+",
};

test("as a live History Server decides", async (t) => {
  const folder = makeFolder(t);
  for (const [run, properties, user = "owner"] of LIVE_RUNS) {
    const [id, attempt] = run.split("/");
    writeFileSync(join(folder, run.replace("/", "_")), logWith({ id, user, attempt }, properties));
  }
  const other = makeFolder(t);
  writeFileSync(join(other, "groups"), "ops:x:1:ops1,sre1\nsre:x:2:sre1\n");
  writeFileSync(
    join(other, "settings"),
    `spark.history.ui.acls.enable true\nspark.history.ui.admin.acls root1,root2\nspark.history.ui.admin.acls.groups sre\nafterglow.auth.header X-User\nafterglow.auth.groupsFile ${join(other, "groups")}\n`,
  );
  const server = await startServer(t, ["--store", makeStore(t, [folder]), "--properties-file", join(other, "settings")]);
  for (const [user, wanted] of Object.entries(LIVE)) {
    let given = "";
    for (const [run] of LIVE_RUNS) {
      const { status } = await server.get(`/api/v1/applications/${run}/environment`, by(user === "(nobody)" ? null : user));
      given += { 200: "+", 403: "-" }[status] ?? `(${status})`;
    }
    assert.equal(given, wanted, user);
  }
});
