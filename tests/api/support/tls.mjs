// SPDX-License-Identifier: Apache-2.0
// Certificates made for a test by openssl, users, and requests by https.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";

import { BINARY } from "./server.mjs";

export const HAS_OPENSSL = spawnSync("openssl", ["version"]).status === 0;

const openssl = (...args) => execFileSync("openssl", args, { stdio: ["ignore", "pipe", "pipe"] });

/** A certificate for localhost and its key as PEM files. @returns {{certificate: string, key: string}} */
export function makePair(folder, name, kind = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]) {
  const [certificate, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  openssl("req", "-x509", "-newkey", ...kind, "-nodes", "-keyout", key, "-out", certificate, "-days", "30", "-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1");
  return { certificate, key };
}

/** An authority: its certificate, and pairs that it signs. */
export function makeAuthority(folder, name) {
  const { certificate: authority, key: authorityKey } = makePair(folder, name);
  const sign = (host) => {
    const [certificate, key, wish, names] = ["pem", "key", "csr", "ext"].map((kind) => join(folder, `${name}-${host}.${kind}`));
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", wish, "-subj", `/CN=${host}`);
    writeFileSync(names, `subjectAltName=${/^[0-9.]+$/.test(host) ? "IP" : "DNS"}:${host}`);
    openssl("x509", "-req", "-in", wish, "-CA", authority, "-CAkey", authorityKey, "-CAcreateserial", "-days", "30", "-extfile", names, "-out", certificate);
    return { certificate, key };
  };
  return { authority, sign };
}

/** The same, valid on one day in 2020. */
export function makePastPair(folder, name) {
  const [certificate, key, wish, config] = ["pem", "key", "csr", "cnf"].map((kind) => join(folder, `${name}.${kind}`));
  openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", wish, "-subj", `/CN=${name}`);
  writeFileSync(join(folder, "index.txt"), "");
  writeFileSync(config, `[ca]\ndefault_ca=one\n[one]\ndatabase=${folder}/index.txt\nnew_certs_dir=${folder}\ndefault_md=sha256\nrand_serial=yes\npolicy=any\n[any]\ncommonName=supplied\n`);
  openssl("ca", "-batch", "-notext", "-config", config, "-selfsign", "-keyfile", key, "-in", wish, "-out", certificate, "-startdate", "20200101000000Z", "-enddate", "20200102000000Z");
  return { certificate, key };
}

/** Both in a PKCS#12 keystore. */
export function makeKeystore(folder, name, password) {
  const { certificate, key } = makePair(folder, name);
  const keystore = join(folder, `${name}.p12`);
  openssl("pkcs12", "-export", "-in", certificate, "-inkey", key, "-out", keystore, "-passout", `pass:${password}`);
  return keystore;
}

/** alice has "wonder land", bob "b"; bcrypt at its lowest cost. */
export const ALICE = "alice:$2b$04$YvTc/cciy6jd5S7DsSo1dOXMRu1kZMFi4IPwdgRguNIL6DI0qpjXC\n";
export const BOB = "bob:$2b$04$w6fw.SyGOhKz9rtpSg3oI.qrxVe.kL9cidYgsOiAOtWE.fohyyXGa\n";

export function makeUsers(folder, text = ALICE + BOB) {
  const path = join(folder, "users");
  writeFileSync(path, text);
  return path;
}

export const basic = (user, password) => ({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` });

/** One request by https to this machine; the certificate is told, not judged. */
export function sendSecure(port, path, { method = "GET", headers = {}, agent = false, ...tls } = {}) {
  return new Promise((resolveAnswer, reject) => {
    const out = request({ host: "127.0.0.1", port, path, method, headers, agent, rejectUnauthorized: false, ...tls }, (answer) => {
      const pieces = [];
      const { subject } = answer.socket.getPeerCertificate();
      const protocol = answer.socket.getProtocol();
      answer.on("data", (piece) => pieces.push(piece));
      answer.on("end", () => resolveAnswer({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(pieces).toString("utf8"), name: subject?.CN, protocol }));
      answer.on("error", reject);
    });
    out.on("error", reject);
    out.end();
  });
}

/** Runs `serve` until it ends or says where it listens. @returns {Promise<{said: string, code: number | null}>} code null: it listened, and was stopped */
export function tryServe(args, env = {}) {
  return new Promise((resolveResult) => {
    const child = spawn(BINARY, ["serve", ...args], { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
    let said = "";
    let listened = false;
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      if (!listened && /listening on /.test(said)) {
        listened = true;
        child.kill("SIGTERM");
      }
    });
    child.once("close", (code) => resolveResult({ said, code: listened ? null : code }));
  });
}
