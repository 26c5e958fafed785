// SPDX-License-Identifier: Apache-2.0
// Starts the program under test ($AFTERGLOW_BINARY) on a free port over a store made for the test, and stops it again.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect, isDeepStrictEqual } from "node:util";

export const ROOT = process.env.AFTERGLOW_ROOT ?? resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const BINARY = process.env.AFTERGLOW_BINARY ?? join(ROOT, "build/release/afterglow");
export const LOGS = join(ROOT, "tests/data/logs");
/** Is it a build with the address sanitizer? It is slow, and looks at memory: amounts are for the other build. */
export const sanitized = () => readFileSync(BINARY).includes("__asan_init");

/** A limit is for what hangs: on a machine that does ten other things a second becomes a minute. */
export const PATIENCE_MS = 300_000;

const undoings = new WeakMap();

/** What a test made goes when it ends, the last first: a server must have ended before the folder goes that its ingest process would make anew. (node's own order is the first first.) */
function atEnd(t, undo) {
  if (!undoings.has(t)) {
    undoings.set(t, []);
    t.after(async () => {
      for (const last of undoings.get(t).reverse()) await last();
    });
  }
  undoings.get(t).push(undo);
}

/** A folder that is removed when the test ends. */
export function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), "afterglow-api-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The head of the answer, at least, to bytes over a bare socket: for requests that no client library would send. */
export function sendBytes(port, text) {
  return new Promise((resolveText, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      answer += piece;
      if (answer.includes("\r\n\r\n")) socket.end();
    });
    socket.on("close", () => resolveText(answer)).on("error", reject);
  });
}

/** Loads logs into a new store. */
export function makeStore(t, logs) {
  const store = join(makeFolder(t), "store");
  const done = spawnSync(BINARY, ["ingest", "--store", store, ...logs], { encoding: "utf8", timeout: PATIENCE_MS });
  if (done.status !== 0 && done.status !== 3) throw new Error(`ingest ended with ${done.status ?? done.signal}: ${done.stderr}`);
  return store;
}

/** @returns {Promise<{base: string, port: number, pid: number, errors: () => string, get: Function, json: Function, stop: (signal?: string) => Promise<number>}>} */
export async function startServer(t, args, env = {}, listen = ["--listen", "127.0.0.1:0"]) {
  const child = spawn(BINARY, ["serve", ...listen, ...args], { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  let errors = "";
  const ended = new Promise((resolveEnd) => child.once("exit", (code, signal) => resolveEnd(code ?? signal)));
  const stop = async (signal = "SIGTERM") => {
    child.kill(signal);
    return ended;
  };
  atEnd(t, () => stop("SIGTERM"));
  const base = await new Promise((resolveBase, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text) => {
      errors += text;
      const found = /listening on (https?:[^\s"]+)\//.exec(errors);
      if (found) resolveBase(found[1]);
    });
    ended.then((code) => reject(new Error(`serve ended with ${code}: ${errors}`)));
  });
  const port = Number(new URL(base).port);
  const get = (path, options = {}) => send(port, path, options);
  /** The JSON of an answer of our own API, after a look at its status. */
  const json = async (path, status = 200) => {
    const answer = await get(`/api/afterglow/v1/${path}`);
    if (answer.status !== status) throw new Error(`${path}: status ${answer.status}: ${answer.text.slice(0, 300)}`);
    return JSON.parse(answer.text);
  };
  return { base, port, pid: child.pid, errors: () => errors, get, json, stop };
}

/** One request as it is written: no redirects, no decompression, any path, any method. */
export function send(port, path, { method = "GET", headers = {}, agent, body } = {}) {
  return new Promise((resolveAnswer, reject) => {
    const out = request({ host: "127.0.0.1", port, path, method, headers, agent }, (answer) => {
      const pieces = [];
      answer.on("data", (piece) => pieces.push(piece));
      answer.on("end", () => {
        const bytes = Buffer.concat(pieces);
        resolveAnswer({ status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString("utf8") });
      });
      answer.on("error", reject);
    });
    out.on("error", reject);
    out.end(body);
  });
}

/** Asks again until the check holds. */
export async function eventually(check) {
  for (const end = Date.now() + PATIENCE_MS; ;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it did not come true in time: ${check}`);
    await new Promise((resolveLater) => setTimeout(resolveLater, 50));
  }
}

/** Asks again until the answer is what it shall become. */
export async function becomes(ask, wanted) {
  let last;
  const same = async () => isDeepStrictEqual((last = await ask()), wanted);
  await eventually(same).catch(() => {
    throw new Error(`it became ${inspect(last, { depth: 5 })}, not ${inspect(wanted, { depth: 5 })}`);
  });
}
