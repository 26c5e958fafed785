// SPDX-License-Identifier: Apache-2.0
// What the head of a page says to a tab and to a chat: title and verdict of what stands at the address, escaped, for those who may see it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { LOGS, makeFolder, makeStore, startServer } from "./support/server.mjs";

const SLOW = "app-20261129213238-0000";
const BASE = "app-20261129213216-0000";
const CUT = "app-20261129220656-0000";
/** What would end the element it stands in, begin a script, or turn the text of what follows. */
const HOSTILE = `</title><script>alert(1)</script><meta http-equiv="refresh" content="0;url=//evil">"'&\u202e`;

/** @type {{server: any}} */
const at = { server: null };
before(async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-hostile"), smallLog({ id: "app-hostile", name: HOSTILE + "long ".repeat(200) }));
  at.server = await startServer(t, ["--store", makeStore(t, [folder, ...["regression_base", "regression_slow", "skew_hot_key"].map((name) => join(LOGS, name))])]);
});

const unescape = (text) => text.replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

/** Title and meta elements of a page. */
function headOf(html) {
  const head = html.slice(html.indexOf("<head>"), html.indexOf("</head>"));
  const titles = [...head.matchAll(/<title>([^<]*)<\/title>/g)].map((found) => unescape(found[1]));
  const meta = Object.fromEntries([...head.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)].map(([, name, content]) => [name, unescape(content)]));
  return { titles, meta };
}
const head = async (path, headers = {}) => {
  const answer = await at.server.get(path, { headers });
  assert.equal(answer.status, 200, path);
  return headOf(answer.text);
};

test("a run: its name, and the verdict that its findings begin with", async () => {
  const { verdict } = await at.server.json(`apps/${SLOW}/findings`);
  const { titles, meta } = await head(`/a/${SLOW}`);
  assert.equal(titles.length, 1);
  assert.ok(titles[0].startsWith(`nightly_sales: ${verdict.slice(0, 60)}`), titles[0]);
  assert.ok(titles[0].endsWith(" · Afterglow"));
  assert.deepEqual(
    [meta["og:title"], meta["og:description"], meta.description, meta["og:site_name"], meta["twitter:card"]],
    ["nightly_sales", verdict, verdict, "Afterglow", "summary"],
  );
  assert.equal(Object.keys(meta).some((name) => name.includes("image")), false);
});

test("a stage, a job, a query: what is wrong with just that", async () => {
  const ref = (await at.server.json("apps?q=skew_hot_key")).items[0].ref;
  const { findings } = await at.server.json(`apps/${ref}/findings`);
  const { subject } = findings.find((finding) => finding.rule === "STAGE.SKEW_DATA");
  const { verdict } = await at.server.json(`apps/${ref}/findings?kind=stage&key=${subject.key}`);
  const { meta } = await head(`/a/${ref}/stages/${subject.key}`);
  assert.equal(meta["og:title"], `Stage ${subject.key.replace(/\.0$/, "")} of skew_hot_key`);
  assert.equal(meta["og:description"], verdict);
  assert.equal((await head(`/a/${SLOW}/jobs/0`)).meta["og:title"], "Job 0 of nightly_sales");
  const query = (await head(`/a/${SLOW}/sql/0?node=8`)).meta;
  assert.equal(query["og:title"], "Query 0 of nightly_sales");
  assert.match(query["og:description"], /SortMergeJoin/);
});

test("a comparison: its sentence", async () => {
  const { sentence } = await at.server.json(`compare?base=${BASE}&new=${SLOW}`);
  const { meta } = await head(`/compare?b=${SLOW}&a=${BASE}`);
  assert.deepEqual([meta["og:title"], meta["og:description"]], ["nightly_sales compared", sentence]);
  assert.match((await head(`/compare?b=${SLOW}`)).meta["og:description"], /Too few earlier runs/);
});

test("sections are called by their name, other pages by the run", async () => {
  for (const [path, title] of [["stages", "Stages of nightly_sales"], ["env", "Environment of nightly_sales"], ["log", "Event log of nightly_sales"], ["nothing/of/ours", "nightly_sales"], ["stages/1/2/3", "nightly_sales"]])
    assert.equal((await head(`/a/${SLOW}/${path}`)).meta["og:title"], title);
  assert.equal((await head("/")).meta["og:title"], "Spark applications");
  assert.equal((await head("/?q=x")).titles[0], "Spark applications · Afterglow");
});

test("what is not there is said", async () => {
  assert.equal((await head("/a/nobody")).meta["og:description"], "There is no run of this name.");
  for (const path of ["stages/99.0", "stages/0.7", "stages/x", "jobs/0x", "jobs/-1", "sql/77", "storage/9999"])
    assert.equal((await head(`/a/${SLOW}/${path}`)).meta["og:description"], "There is no such thing in this run.", path);
});

test("a hostile name stays text, and is cut", async () => {
  for (const path of ["", "/stages/0.0", "/stages"]) {
    const { text } = await at.server.get(`/a/app-hostile${path}`);
    assert.equal(text.match(/<title>/g).length, 1);
    for (const each of ["<script>alert", "<meta http-equiv", "\u202e"]) assert.equal(text.includes(each), false, each);
    const { titles, meta } = headOf(text);
    assert.ok(titles[0].length < 300 && meta["og:title"].length < 300);
    assert.match(meta["og:title"], /<\/title><script>alert/);
  }
  const id = encodeURIComponent(`"><script>x</script>`);
  const { text } = await at.server.get(`/a/${SLOW}/streaming/${id}`);
  assert.equal(text.includes("<script>x"), false);
  assert.equal((await at.server.get(`/a/${id}`)).text.includes("<script>x"), false);
});

test("in the language that the client likes best", async () => {
  const { meta } = await head(`/a/${SLOW}/stages/6.0`, { "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8" });
  assert.equal(meta["og:title"], "nightly_sales 的阶段 6");
  assert.equal((await at.server.json(`apps/${SLOW}/findings?kind=stage&key=6.0&lang=zh-CN`)).verdict, meta["og:description"]);
  assert.equal((await head(`/a/${SLOW}/stages/6.0`, { "Accept-Language": "en,zh;q=0.5" })).meta["og:title"], "Stage 6 of nightly_sales");
});

test("the tag changes with what is said and with nothing else", async () => {
  const tag = async (path, headers = {}) => {
    const answer = await at.server.get(path, { headers });
    for (const name of ["Accept-Encoding", "Accept-Language", "X-Forwarded-Prefix"]) assert.ok(answer.headers.vary.includes(name), answer.headers.vary);
    assert.equal(answer.headers["cache-control"], "no-cache");
    return answer.headers.etag;
  };
  const english = await tag(`/a/${SLOW}`);
  assert.equal(await tag(`/a/${SLOW}`), english);
  assert.notEqual(await tag(`/a/${SLOW}`, { "Accept-Language": "zh" }), english);
  assert.notEqual(await tag(`/a/${SLOW}`, { "X-Forwarded-Prefix": "/gate" }), english);
  assert.notEqual(await tag(`/a/${BASE}`), english);
  assert.equal((await at.server.get(`/a/${SLOW}`, { headers: { "If-None-Match": english } })).status, 304);
  assert.equal((await at.server.get(`/a/${SLOW}`, { headers: { "If-None-Match": english, "Accept-Language": "zh" } })).status, 200);
});

test("behind a prefix the base holds it, and the rest is the same", async () => {
  const plain = await at.server.get(`/a/${SLOW}`);
  const behind = await at.server.get(`/a/${SLOW}`, { headers: { "X-Forwarded-Prefix": "/gate/way" } });
  assert.equal(behind.text, plain.text.replace('<base href="/">', '<base href="/gate/way/">'));
  assert.deepEqual(headOf((await at.server.get(`/gate/way/compare?b=${SLOW}&a=${BASE}`, { headers: { "X-Forwarded-Prefix": "/gate/way" } })).text).meta["og:title"], "nightly_sales compared");
});

test("files of the pages are kept for ever as before", async () => {
  const script = (await at.server.get("/")).text.match(/src="(assets\/app\.[^"]+)"/)[1];
  assert.match((await at.server.get(`/${script}`)).headers["cache-control"], /immutable/);
});

test("a run that goes on is called by its name", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-open.inprogress"), smallLog({ id: "app-open", name: "still going", ended: false }));
  const server = await startServer(t, ["--store", makeStore(t, [folder])]);
  assert.equal(headOf((await server.get("/a/app-open")).text).meta["og:title"], "still going");
});

test("who may not see a run learns nothing of it", async (t) => {
  const folder = makeFolder(t);
  for (const id of ["app-mine", "app-yours"]) {
    const lines = smallLog({ id, name: `secret name of ${id}`, user: id === "app-mine" ? "alice" : "bob" });
    writeFileSync(join(folder, id), lines.replace('"Spark Properties":{', '"Spark Properties":{"spark.ui.view.acls":"",'));
  }
  const properties = join(folder, "..", "acl.conf");
  writeFileSync(properties, "spark.history.ui.acls.enable true\nafterglow.auth.header X-User\n");
  const server = await startServer(t, ["--store", makeStore(t, [folder]), "--properties-file", properties]);
  const asked = (path) => server.get(path, { headers: { "X-User": "alice" } });
  const mine = await asked("/a/app-mine/stages/0.0");
  assert.equal(headOf(mine.text).meta["og:title"], "Stage 0 of secret name of app-mine");
  assert.match(mine.headers.vary, /X-User/);
  assert.match(mine.headers["cache-control"], /private/);
  for (const path of ["/a/app-yours", "/a/app-yours/stages/0.0", "/compare?b=app-yours", "/compare?b=app-mine&a=app-yours", "/compare?b=app-yours&a=app-mine"]) {
    const answer = await asked(path);
    assert.equal(answer.status, 403, path);
    assert.equal(answer.text.includes("secret name of app-yours"), false, path);
  }
  const usual = await asked("/compare?b=app-mine");
  assert.equal(usual.text.includes("app-yours"), false);
});
