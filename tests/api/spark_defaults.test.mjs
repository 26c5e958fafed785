// SPDX-License-Identifier: Apache-2.0
// A History Server's spark-defaults.conf moves over as it is: what each of its keys does here, and which do nothing (docker/README.md has the same table, which is held to this).
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { added, end, head, text } from "./support/executor_log.mjs";
import { smallLog } from "./support/log.mjs";
import { ROOT, becomes, eventually, makeFolder, send, startServer } from "./support/server.mjs";
import { HAS_OPENSSL, makeKeystore, makePair, sendSecure } from "./support/tls.mjs";

const skip = HAS_OPENSSL ? false : "openssl is not installed";
const DAY_S = 86400;

/** Keys that the administrator's guide lists as doing nothing: the first column of its table. */
const idleKeys = () => {
  const [, table] = /<!-- idle keys -->([\s\S]*?)<!-- end -->/.exec(readFileSync(join(ROOT, "docker/README.md"), "utf8"));
  return [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, keys]) => [...keys.matchAll(/`(spark\.[^`]+)`/g)].map(([, key]) => key));
};
/** What a History Server 4.3.0 reads of its spark-defaults.conf: the keys in its classes internal/config/History, SSLOptions, SecurityManager and ui/*. (Old names of keys: test_settings.c; Kerberos against a KDC: real_places.py.) All that 3.5.7 reads are among them. */
const KEYS_OF_4_3 = [
  ...[
    "provider", "retainedApplications", "custom.executor.log.url", "custom.executor.log.url.applyIncompleteApplication", "store.maxDiskUsage", "store.path", "store.serializer",
    "store.hybridStore.enabled", "store.hybridStore.maxMemoryUsage", "store.hybridStore.diskBackend", "ui.acls.enable", "ui.admin.acls", "ui.admin.acls.groups", "ui.maxApplications", "ui.port",
    "ui.title", "kerberos.enabled", "kerberos.principal", "kerberos.keytab", "fs.logDirectory", "fs.logDirectory.names", "fs.update.interval", "fs.update.batchSize",
    "fs.update.scanDisabledPathPatterns", "fs.safemodeCheck.interval", "fs.inProgressOptimization.enabled", "fs.endEventReparseChunkSize", "fs.numReplayThreads", "fs.numCompactThreads",
    "fs.cleaner.enabled", "fs.cleaner.interval", "fs.cleaner.maxAge", "fs.cleaner.maxNum", "fs.driverlog.cleaner.enabled", "fs.driverlog.cleaner.interval", "fs.driverlog.cleaner.maxAge",
    "fs.eventLog.maxLineLength", "fs.eventLog.onDemandLoadEnabled", "fs.eventLog.rolling.onDemandLoadEnabled", "fs.eventLog.rolling.maxFilesToRetain",
    "fs.eventLog.rolling.compaction.score.threshold",
  ].map((key) => `spark.history.${key}`),
  ...[
    "enabled", "port", "keyStore", "keyStorePassword", "keyPassword", "keyStoreType", "certChain", "privateKey", "privateKeyPassword", "needClientAuth", "trustStore", "trustStorePassword",
    "trustStoreType", "trustStoreReloadingEnabled", "trustStoreReloadIntervalMs", "protocol", "enabledAlgorithms", "openSslEnabled",
  ].map((key) => `spark.ssl.historyServer.${key}`),
  ...[
    "filters", "allowFramingFrom", "strictTransportSecurity", "proxyBase", "proxyRedirectUri", "xXssProtection", "xContentTypeOptions.enabled", "contentSecurityPolicy.enabled",
    "contentSecurityPolicy.frameAncestors.enabled", "timelineEnabled", "timeline.jobs.maximum", "timeline.stages.maximum", "timeline.executors.maximum", "timeline.tasks.maximum",
    "groupSQLSubExecutionEnabled", "requestHeaderSize", "jetty.stopTimeout", "jetty.sniHostCheckEnabled", "showErrorStacks", "view.acls", "view.acls.groups",
  ].map((key) => `spark.ui.${key}`),
  "spark.acls.enable", "spark.admin.acls", "spark.admin.acls.groups", "spark.modify.acls", "spark.modify.acls.groups", "spark.user.groups.mapping", "spark.redaction.regex",
];
/** Those that a server of these tests was started with. */
const tried = new Set();
const countsToServer = (key) => /^spark\.(history|ssl\.historyServer)\./.test(key);

/** Two ports that were free a moment ago. */
async function freePorts() {
  const servers = await Promise.all([0, 0].map(() => new Promise((resolve) => { const server = createServer().listen(0, "127.0.0.1", () => resolve(server)); })));
  const ports = servers.map((server) => server.address().port);
  for (const server of servers) server.close();
  return ports;
}

/** Its executor's logs are on a machine that is gone; ended or not. */
const executorLog = (id, ended) =>
  text([
    ...head(id, { "spark.myservice.pin": "1234", "spark.ui.view.acls": "bob" }),
    added("1", 100, "host-1", 2, { "Log Urls": { stdout: "http://gone/stdout" }, Attributes: { CONTAINER_ID: "c_7", CLUSTER_ID: "blue", LOG_FILES: "stdout,stderr" } }),
    ...(ended ? [end(1000)] : []),
  ]);

function writeLog(folder, name, content, daysOld = 0) {
  const path = join(folder, name);
  writeFileSync(path, content);
  const seconds = Date.now() / 1000 - daysOld * DAY_S;
  utimesSync(path, seconds, seconds);
  return path;
}

/** As start-history-server.sh: the file, and nothing that says otherwise; only the store is ours to name. */
async function start(t, lines, env = {}) {
  const folder = makeFolder(t);
  const file = join(folder, "spark-defaults.conf");
  writeFileSync(file, `${lines.join("\n")}\n`);
  for (const line of lines) tried.add(line.split(/\s/)[0]);
  return startServer(t, ["--properties-file", file], { AFTERGLOW_STORE: join(folder, "store"), ...env }, []);
}

const linksOf = (executors) => executors.find((each) => each.id === "1").executorLogs;

test("a History Server's spark-defaults.conf, with https and everything else that is usual", { skip }, async (t) => {
  const [production, trial] = [makeFolder(t), makeFolder(t)];
  const keystore = makeKeystore(makeFolder(t), "kept", "changeit");
  const [port, securePort] = await freePorts();
  writeLog(production, "app-1", smallLog({ id: "app-1" }));
  writeLog(production, "app-ended", executorLog("app-ended", true));
  writeLog(production, "app-open.inprogress", executorLog("app-open", false));
  const old = writeLog(trial, "app-old", smallLog({ id: "app-old" }), 31);
  const young = writeLog(trial, "app-young", smallLog({ id: "app-young" }), 29);
  const idle = idleKeys();
  const server = await start(t, [
    "# of the cluster: applications read this file, too",
    "spark.master                                yarn",
    "spark.executor.memory                       4g",
    "spark.eventLog.enabled                      true",
    `spark.eventLog.dir                          file:${production}`,
    `spark.yarn.historyServer.address            history.example:${port}`,
    "",
    `spark.history.fs.logDirectory               file:${production},file://${trial}`,
    "spark.history.fs.logDirectory.names         production, trial",
    "spark.history.fs.update.interval            200ms",
    "spark.history.fs.numReplayThreads           3",
    "spark.history.fs.cleaner.enabled            true",
    "spark.history.fs.cleaner.interval           1s",
    "spark.history.fs.cleaner.maxAge             30d",
    "spark.history.fs.cleaner.maxNum             2147483647",
    "spark.history.store.maxDiskUsage            10g",
    `spark.history.ui.port                       ${port}`,
    "spark.history.ui.acls.enable                true",
    "spark.history.ui.admin.acls                 root",
    "spark.history.ui.admin.acls.groups          admins",
    "spark.history.custom.executor.log.url       https://logs.example/{{CLUSTER_ID}}/{{CONTAINER_ID}}/{{FILE_NAME}}",
    "spark.history.custom.executor.log.url.applyIncompleteApplication false",
    "spark.ui.filters                            org.apache.hadoop.security.authentication.server.AuthenticationFilter",
    "spark.org.apache.hadoop.security.authentication.server.AuthenticationFilter.param.type kerberos",
    "spark.ui.allowFramingFrom                   https://portal.example",
    "spark.ui.strictTransportSecurity            max-age=31536000",
    "spark.ui.proxyBase                          /history",
    "spark.history.kerberos.enabled              true",
    "spark.history.kerberos.keytab               /etc/security/keytabs/spark.keytab",
    "spark.history.kerberos.principal            spark/history.example@EXAMPLE",
    "spark.redaction.regex                       (?i)secret|password|token|pin",
    "spark.ssl.historyServer.enabled             true",
    `spark.ssl.historyServer.port                ${securePort}`,
    `spark.ssl.historyServer.keyStore            ${keystore}`,
    "spark.ssl.historyServer.keyStorePassword    changeit",
    ...idle.map((key) => `${key} 1`),
  ]);
  const secure = async (path, headers = {}) => {
    const answer = await sendSecure(securePort, path, { headers });
    assert.equal(answer.status, 200, path);
    return answer;
  };
  const json = async (path) => JSON.parse((await secure(path)).text);
  const list = () => json("/api/v1/applications");
  await eventually(async () => (await json("/api/afterglow/v1/apps?state=loaded")).total + (await json("/api/afterglow/v1/apps?state=partial")).total === 4 && !existsSync(old));

  await t.test("ports and certificate", async () => {
    assert.equal(server.port, securePort);
    assert.equal((await secure("/healthz")).name, "kept");
    const plain = await send(port, "/history/app-1", { headers: { host: `spark.example:${port}` } });
    assert.deepEqual([plain.status, plain.headers.location], [302, `https://spark.example:${securePort}/history/app-1`]);
  });

  await t.test("logs from both directories, by their names", async () => {
    assert.deepEqual((await list()).map((app) => app.id).sort(), ["app-1", "app-ended", "app-old", "app-open", "app-young"]);
    assert.deepEqual((await json("/api/afterglow/v1/status")).places.map((place) => place.name).sort(), ["production", "trial"]);
    assert.equal((await json("/api/afterglow/v1/apps?place=trial")).total, 2);
  });

  await t.test("looked at again after the interval", async () => {
    // Six scans in a time that fits three at most of the default of 10 s.
    const seen = new Set();
    await eventually(async () => seen.add((await json("/api/afterglow/v1/status")).places[0].lastScanMs).size >= 6);
  });

  await t.test("the cleaner: older than its age goes, the run stays", async () => {
    assert.ok(!existsSync(old) && existsSync(young));
    assert.equal((await json("/api/v1/applications/app-old/jobs")).length, 3);
  });

  await t.test("addresses of executors' logs, of runs that have ended", async () => {
    const [ended, open] = await Promise.all(["app-ended", "app-open"].map((app) => json(`/api/v1/applications/${app}/allexecutors`)));
    assert.deepEqual(linksOf(ended), { stdout: "https://logs.example/blue/c_7/stdout", stderr: "https://logs.example/blue/c_7/stderr" });
    assert.deepEqual(linksOf(open), { stdout: "http://gone/stdout" });
  });

  await t.test("headers and addresses of pages", async () => {
    const page = await secure("/history/a/app-1");
    assert.match(page.text, /<base href="\/history\/">/);
    assert.equal(page.headers["strict-transport-security"], "max-age=31536000");
    assert.equal(page.headers["x-frame-options"], "ALLOW-FROM https://portal.example");
  });

  await t.test("what its pattern finds is hidden", async () => {
    const properties = Object.fromEntries((await json("/api/v1/applications/app-ended/environment")).sparkProperties);
    assert.equal(properties["spark.myservice.pin"], "*********(redacted)");
    assert.equal(properties["spark.master"], "yarn");
  });

  await t.test("nothing is dropped, whatever the limits say", async () => {
    assert.equal((await json("/api/v1/applications/app-1/jobs")).length, 3);
    assert.equal((await json("/api/v1/applications/app-1/stages")).length, 4);
    assert.equal((await json("/api/v1/applications/app-1/stages/0/0/taskList?length=100")).length, 6);
    assert.equal((await list()).length, 5, "spark.history.ui.maxApplications 1");
  });

  await t.test("filters are not run, which is told; nobody is named, so access lists bar nobody, which is told", async () => {
    assert.match(server.errors(), /spark\.ui\.filters names Java classes, which are not run here/);
    assert.match(server.errors(), /access lists are on and neither .* is set: nobody is named, so everything is shown to everybody/);
    assert.equal((await secure("/api/v1/applications/app-ended/jobs", { "x-user": "eve" })).status, 200);
  });

  await t.test("keys that do nothing are named, each once, and no others", () => {
    assert.ok(idle.length > 20);
    const told = [...server.errors().matchAll(/(spark\.\S+) does nothing here/g)].map(([, key]) => key);
    assert.deepEqual(told.sort(), idle.filter(countsToServer).sort());
  });
});

test("the same with a certificate in PEM, a limit of number, one of disk, and access lists that know who asks", { skip }, async (t) => {
  const logs = makeFolder(t);
  const { certificate, key } = makePair(makeFolder(t), "chain");
  const groups = join(makeFolder(t), "group");
  writeFileSync(groups, "admins:x:1:carol\n");
  for (let i = 1; i <= 6; i++) writeLog(logs, `app-${i}`, smallLog({ id: `app-${i}`, user: `user${i}` }), i);
  writeLog(logs, "app-ended", executorLog("app-ended", true));
  const lines = [
    `spark.history.fs.logDirectory           ${logs}`,
    "spark.history.fs.updateInterval         1",                 // its name until 1.4, in seconds
    "spark.history.fs.numReplayThreads       7",
    "spark.history.fs.cleaner.enabled        true",
    "spark.history.fs.cleaner.interval.seconds 1",
    "spark.history.fs.cleaner.maxAge         365d",
    "spark.history.fs.cleaner.maxNum         4",
    "spark.history.store.maxDiskUsage        1g",
    "spark.history.ui.port                   0",
    "spark.history.ui.acls.enable            true",
    "spark.history.ui.admin.acls             root",
    "spark.history.ui.admin.acls.groups      admins",
    "spark.ssl.historyServer.enabled         true",
    "spark.ssl.historyServer.port            0",
    `spark.ssl.historyServer.certChain       ${certificate}`,
    `spark.ssl.historyServer.privateKey      ${key}`,
  ];
  const server = await start(t, lines, { SPARK_HISTORY_OPTS: `-Xmx4g -Dafterglow.auth.header=X-User -Dafterglow.auth.groupsFile=${groups} -Dspark.history.fs.numReplayThreads=5` });
  const ask = (path, user) => sendSecure(server.port, path, { headers: { "x-user": user } });
  const idsFor = async (user) => JSON.parse((await ask("/api/v1/applications", user)).text).map((app) => app.id).sort();

  await t.test("the number of logs", async () => {
    await becomes(() => readdirSync(logs).sort(), ["app-1", "app-2", "app-3", "app-ended"]); // the oldest went
    assert.equal((await idsFor("root")).length, 7, "their runs stay");
  });

  await t.test("the certificate", async () => assert.equal((await sendSecure(server.port, "/healthz")).name, "chain"));

  await t.test("access lists", async () => {
    assert.deepEqual(await idsFor("user2"), ["app-2"]);
    assert.deepEqual(await idsFor("bob"), ["app-ended"], "the log's own spark.ui.view.acls");
    assert.deepEqual((await idsFor("carol")).length, 7, "of a group of administrators");
    assert.deepEqual(await idsFor("eve"), []);
    assert.equal((await ask("/api/v1/applications/app-1/jobs", "eve")).status, 403);
  });

  await t.test("SPARK_HISTORY_OPTS is stronger than the file", async () => {
    const children = readdirSync(`/proc/${server.pid}/task`).flatMap((thread) => readFileSync(`/proc/${server.pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean));
    assert.equal(children.length, 1);
    // Its own thread, one that looks at the directory, four that list, two that check databases made elsewhere, five that load; those that a load has of its own have ended.
    await becomes(() => readdirSync(`/proc/${children[0]}/task`).length, 1 + 1 + 4 + 2 + 5);
  });
});

test("the budget of the disk store is that of ours", async (t) => {
  const logs = makeFolder(t);
  for (let i = 1; i <= 3; i++) writeLog(logs, `app-${i}`, smallLog({ id: `app-${i}` }), i);
  const server = await start(t, [`spark.history.fs.logDirectory ${logs}`, "spark.history.ui.port 0", "spark.history.fs.update.interval 200ms", "spark.history.store.maxDiskUsage 1"]);
  await eventually(async () => (await server.json("apps?state=listed")).total === 3);
});

test("a client's certificate that is asked for keeps the server from starting, as it would not be looked at", { skip }, async (t) => {
  const { certificate, key } = makePair(makeFolder(t), "chain");
  const logs = makeFolder(t);
  const lines = [`spark.history.fs.logDirectory ${logs}`, "spark.history.ui.port 0", "spark.ssl.historyServer.enabled true", "spark.ssl.historyServer.port 0", "spark.ssl.historyServer.needClientAuth true"];
  await assert.rejects(start(t, [...lines, `spark.ssl.historyServer.certChain ${certificate}`, `spark.ssl.historyServer.privateKey ${key}`, "spark.ssl.historyServer.privateKeyPassword none"]), /needClientAuth/);
});

test("the principal of Kerberos has a key in its keytab, or the server does not start", async (t) => {
  // One key, as ktutil writes it: of sp@R, type 1, no time, version 2, encryption type 18, four bytes.
  const keytab = join(makeFolder(t), "spark.keytab");
  writeFileSync(keytab, Buffer.from("0502" + "0000001e" + "0001" + "000152" + "00027370" + "00000001" + "00000000" + "02" + "0012" + "00046b6b6b6b" + "00000002", "hex"));
  const lines = (principal, on = true) => [
    `spark.history.fs.logDirectory ${makeFolder(t)}`, "spark.history.ui.port 0", `spark.history.kerberos.enabled ${on}`, `spark.history.kerberos.keytab ${keytab}`, `spark.history.kerberos.principal ${principal}`,
  ];
  await assert.rejects(start(t, lines("sq@R")), /spark\.history\.kerberos\.principal: .*spark\.keytab has no key of sq@R/);
  for (const server of [await start(t, lines("sp@R")), await start(t, lines("sq@R", false))]) assert.equal((await server.get("/healthz")).status, 200);
});

test("no key of 4.3.0 is left out above", { skip }, (t) => {
  if (tried.size < 20) return t.skip("the tests above did not run");
  assert.deepEqual(KEYS_OF_4_3.filter((key) => !tried.has(key)), []);
});
