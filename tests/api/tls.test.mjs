// SPDX-License-Identifier: Apache-2.0
// https: certificates as PEM files and keystores, changed while the server runs; the History Server's two ports; who may listen where.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog } from "./support/log.mjs";
import { eventually, makeFolder, makeStore, send, startServer } from "./support/server.mjs";
import { HAS_OPENSSL, makeKeystore, makePair, makePastPair, makeUsers, sendSecure, tryServe } from "./support/tls.mjs";

const skip = HAS_OPENSSL ? false : "openssl is not installed";

function makeSmallStore(t) {
  const log = join(makeFolder(t), "app-1");
  writeFileSync(log, smallLog({ id: "app-1", user: "alice" }));
  return makeStore(t, [log]);
}

function settingsFile(t, lines) {
  const path = join(makeFolder(t), "settings.conf");
  writeFileSync(path, lines.join("\n"));
  return path;
}

test("https with a certificate and key in PEM", { skip }, async (t) => {
  const store = makeSmallStore(t);
  const folder = makeFolder(t);
  const { certificate, key } = makePair(folder, "first");
  const settings = settingsFile(t, [`afterglow.tls.certificate ${certificate}`, `afterglow.tls.key ${key}`, "spark.ui.strictTransportSecurity max-age=31536000"]);
  const server = await startServer(t, ["--store", store, "--properties-file", settings]);
  assert.match(server.base, /^https:/);

  await t.test("answers, and says so to browsers", async () => {
    const page = await sendSecure(server.port, "/a/app-1");
    assert.deepEqual([page.status, page.name, page.headers["strict-transport-security"]], [200, "first", "max-age=31536000"]);
    const list = await sendSecure(server.port, "/api/v1/applications");
    assert.deepEqual(JSON.parse(list.text).map((app) => app.id), ["app-1"]);
    assert.equal((await sendSecure(server.port, "/api/v1/applications/app-1/logs")).status, 200, "a stream");
  });

  await t.test("TLS 1.2 and 1.3, nothing older", async () => {
    assert.equal((await sendSecure(server.port, "/healthz")).protocol, "TLSv1.3");
    assert.equal((await sendSecure(server.port, "/healthz", { maxVersion: "TLSv1.2" })).protocol, "TLSv1.2");
    for (const version of ["TLSv1", "TLSv1.1"]) await assert.rejects(sendSecure(server.port, "/healthz", { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" }), version);
  });

  await t.test("who speaks http there is told", async () => {
    const answer = await send(server.port, "/a/app-1");
    assert.deepEqual([answer.status, answer.text], [400, "This address is answered by https only: write https:// instead of http://.\n"]);
  });

  await t.test("connections that say nothing, or nonsense, hold nobody up", async () => {
    const silent = Array.from({ length: 20 }, () => connect(server.port, "127.0.0.1").on("error", () => {}));
    const mad = connect(server.port, "127.0.0.1").on("error", () => {});
    mad.write(Buffer.from([0x16, 3, 1, 0xff, 0xff, 1, 2, 3]));
    assert.equal((await sendSecure(server.port, "/healthz")).status, 200);
    for (const socket of [...silent, mad]) socket.destroy();
  });

  await t.test("a changed pair is shown without a restart; a broken one is not", async () => {
    const second = makePair(folder, "second", ["rsa:2048"]);
    copyFileSync(second.certificate, certificate); // until the key follows, they do not belong together
    await eventually(() => /the key is not that of the certificate; the old certificate stays/.test(server.errors()));
    assert.equal((await sendSecure(server.port, "/healthz")).name, "first");
    copyFileSync(second.key, key);
    await eventually(async () => (await sendSecure(server.port, "/healthz")).name === "second");
    await eventually(() => /info the certificate changed and was read/.test(server.errors()));

    writeFileSync(certificate, readFileSync(certificate).subarray(0, 300));
    await eventually(() => /is no certificate in PEM/.test(server.errors()));
    assert.equal((await sendSecure(server.port, "/healthz")).name, "second");

    const third = makePair(folder, "third"); // by another name, as Kubernetes turns its links
    renameSync(third.key, key);
    renameSync(third.certificate, certificate);
    await eventually(async () => (await sendSecure(server.port, "/healthz")).name === "third");

    const past = makePastPair(folder, "past");
    renameSync(past.key, key);
    renameSync(past.certificate, certificate);
    await eventually(() => /the new certificate has run out, or is not valid yet; the old certificate stays/.test(server.errors()));
    assert.equal((await sendSecure(server.port, "/healthz")).name, "third");
  });
});

test("the History Server's keys: a port of its own for https, and the other one leads there", { skip }, async (t) => {
  const store = makeSmallStore(t);
  const folder = makeFolder(t);
  const keystore = makeKeystore(folder, "kept", "changeit");
  const settings = settingsFile(t, ["spark.ssl.historyServer.enabled true", "spark.ssl.historyServer.port 0", `spark.ssl.keyStore ${keystore}`, "spark.ssl.keyStorePassword changeit", "spark.ssl.protocol TLSv1.2", `afterglow.audit.file ${join(folder, "audit")}`]);
  const server = await startServer(t, ["--store", store, "--properties-file", settings]);
  const plain = await eventually(() => /(http:\S+)\/ leads there/.exec(server.errors())?.[1]);
  const plainPort = Number(new URL(plain).port);
  assert.notEqual(plainPort, server.port);
  assert.equal((await sendSecure(server.port, "/api/v1/applications")).name, "kept");

  for (const [path, host, to] of [
    ["/history/app-1/jobs/?x=%20y", "spark.example:18080", `https://spark.example:${server.port}/history/app-1/jobs/?x=%20y`],
    ["/", "spark.example", `https://spark.example:${server.port}/`],
    ["/healthz", "[::1]:18080", `https://[::1]:${server.port}/healthz`],
    ["/", "[::1]", `https://[::1]:${server.port}/`],
  ]) {
    const answer = await send(plainPort, path, { headers: { host } });
    assert.deepEqual([answer.status, answer.headers.location], [302, to]);
  }
  for (const host of ["evil/x", 'a"b', "a b", "a@b"]) {
    const answer = await send(plainPort, "/", { headers: { host } });
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined], host);
  }
  const audited = () => readFileSync(join(folder, "audit"), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line).address);
  await eventually(() => audited().length > 0);
  assert.deepEqual(audited(), ["/api/v1/applications"], "the plain port opens nothing");
  for (const path of ["@elsewhere.example/", "http://elsewhere.example/", ".elsewhere.example/"]) assert.equal((await send(plainPort, path)).status, 400, path);
  assert.equal((await send(plainPort, "/api/afterglow/v1/uploads?upload=1", { method: "POST", body: "x", headers: { host: "h" } })).status, 302);
});

test("what cannot be shown is said when the server starts", { skip }, async (t) => {
  const store = makeSmallStore(t);
  const folder = makeFolder(t);
  const [first, second] = [makePair(folder, "first"), makePair(folder, "second")];
  const keystore = makeKeystore(folder, "kept", "changeit");
  const [jks, text] = [join(folder, "old.jks"), join(folder, "text")];
  writeFileSync(jks, Buffer.concat([Buffer.from([0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2]), Buffer.alloc(100)]));
  writeFileSync(text, "no certificate");
  const on = "spark.ssl.historyServer.enabled true";
  for (const [lines, said] of [
    [[on, `spark.ssl.historyServer.keyStore ${jks}`], /is a Java keystore \(JKS\).*keytool -importkeystore -srckeystore OLD -destkeystore NEW\.p12 -deststoretype PKCS12/],
    [[on, `spark.ssl.historyServer.keyStore ${keystore}`, "spark.ssl.historyServer.keyStorePassword wrong"], /the password \(spark\.ssl\.historyServer\.keyStorePassword\) is not its/],
    [[on, `spark.ssl.historyServer.keyStore ${text}`], /is no PKCS#12 keystore/],
    [[on, `spark.ssl.historyServer.keyStore ${join(folder, "none")}`], /cannot be read: No such file or directory/],
    [[on], /there is no certificate: set afterglow\.tls\.certificate, or spark\.ssl\.historyServer\.keyStore/],
    [[on, `spark.ssl.historyServer.keyStore ${keystore}`, "spark.ssl.historyServer.needClientAuth true"], /clients cannot be asked for certificates here/],
    [[`afterglow.tls.certificate ${text}`], /is no certificate in PEM/],
    [[`afterglow.tls.certificate ${first.certificate}`], /is no private key in PEM/],
    [[`afterglow.tls.certificate ${first.certificate}`, `afterglow.tls.key ${second.key}`], /the key is not that of the certificate/],
    [[`afterglow.tls.certificate ${first.certificate}`, `afterglow.tls.key ${join(folder, "none")}`], /cannot be read: No such file or directory/],
  ]) {
    const { said: all, code } = await tryServe(["--store", store, "--listen", "127.0.0.1:0", "--properties-file", settingsFile(t, lines)]);
    assert.match(all, said);
    assert.notEqual(code, null, lines.join());
    assert.doesNotMatch(all, /changeit|wrong"/);
  }
  // Of all services, or only for their talk: nothing here.
  const other = settingsFile(t, [`spark.ssl.keyStore ${jks}`, `spark.ssl.certChain ${text}`, "spark.ssl.rpc.enabled true"]);
  assert.equal((await tryServe(["--store", store, "--listen", "127.0.0.1:0", "--properties-file", other])).code, null);
});

test("nobody listens to others without knowing who asks, unless told so", { skip }, async (t) => {
  const store = makeSmallStore(t);
  const folder = makeFolder(t);
  const { certificate, key } = makePair(folder, "first");
  const tls = [`afterglow.tls.certificate ${certificate}`, `afterglow.tls.key ${key}`];
  const login = [`afterglow.login.usersFile ${makeUsers(folder)}`];
  const tell = async (listen, lines) => tryServe(["--store", store, "--listen", listen, "--properties-file", settingsFile(t, lines)]);
  const three = /afterglow\.tls\.certificate and afterglow\.login\.usersFile, or afterglow\.auth\.header, or afterglow\.listen\.insecure \(AFTERGLOW_LISTEN_INSECURE=true\)$/m;
  for (const [lines, why] of [
    [[], /everybody could see every run/],
    [tls, /everybody could see every run/],
    [login, /passwords would cross the network in clear/],
    [["spark.history.ui.acls.enable true"], /everybody could see every run/],
  ])
    for (const listen of ["0.0.0.0:0", ":0"]) {
      const { said, code } = await tell(listen, lines);
      assert.equal(code, 1, `${listen} with ${lines}`);
      assert.match(said, three);
      assert.match(said, why);
    }
  for (const lines of [[...tls, ...login], ["afterglow.auth.header X-User"], ["afterglow.listen.insecure true"], ["afterglow.listen.insecure true", ...login]])
    assert.equal((await tell("0.0.0.0:0", lines)).code, null, lines.join());
  for (const listen of ["127.0.0.1:0", "localhost:0", "127.3.4.5:0"]) assert.equal((await tell(listen, [])).code, null, listen);
  // A History Server's file as it is: its port, and the address that is ours by default.
  assert.equal((await tryServe(["--store", store, "--properties-file", settingsFile(t, ["spark.history.ui.port 0", "spark.history.fs.logDirectory /nowhere"])])).code, null);
});
