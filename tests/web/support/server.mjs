// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeLogs } from "./log.mjs";
import { ASSETS, BINARY } from "./where.mjs";

/** Reading the small logs and listening take less than a second; sanitizer builds on a busy machine take more. */
const PATIENCE_MS = 300_000;

/** Writes logs, reads them into a fresh store and serves that. @returns {Promise<{ url: string, stop: () => Promise<void> } | string>} a string: why it cannot */
export async function startServer() {
  if (!existsSync(BINARY)) return `no program at ${BINARY}, and no AFTERGLOW_URL`;
  return startOver(writeLogs);
}

/** The same with other logs, each suite that calls it with a server of its own. @param {(folder: string) => string} write makes the folder and returns it */
export async function startOver(write) {
  const folder = mkdtempSync(join(tmpdir(), "afterglow-web-"));
  const logs = write(join(folder, "logs")),
    store = join(folder, "store");
  // Status 3: read, but some input was damaged. One of the logs is cut on purpose.
  await promisify(execFile)(BINARY, ["ingest", "--store", store, logs]).catch((e) => {
    if (e.code !== 3) throw e;
  });
  return serve(folder, ["--store", store]);
}

/** The two ways to reach a server. */
export const WAYS = ["at the root", "below a prefix"];

/** Serves the logs that `write` writes, at the root and below the path of a gateway. @param {(folder: string) => string} write */
export async function startBothWays(write) {
  const server = await startOver(write),
    proxy = await startProxy(server.url, "/gateway/spark");
  return {
    roots: /** @type {Record<string, string>} */ ({ [WAYS[0]]: server.url, [WAYS[1]]: proxy.url }),
    stop: async () => {
      await proxy.stop();
      await server.stop();
    },
  };
}

/** Watches the folder `logs`, as it is and as it changes. @param {string} folder for the store; it goes when the server is stopped @param {string} logs */
export const startWatching = (folder, logs) => serve(folder, ["--logs", logs, "--store", join(folder, "store")]);

/** Has nothing yet, and takes logs that are added in the browser. @param {string} folder likewise */
export const startTaking = (folder) => serve(folder, ["--store", join(folder, "store")], { AFTERGLOW_UPLOADS: join(folder, "added"), AFTERGLOW_UPDATE_INTERVAL: "1h" });

/** @param {string} folder @param {string[]} args @param {Record<string, string>} [env] @returns {Promise<{ url: string, stop: () => Promise<void> }>} */
async function serve(folder, args, env = {}) {
  const child = spawn(BINARY, ["serve", ...args, "--listen", "127.0.0.1:0", ...(ASSETS ? ["--assets", ASSETS] : [])], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let said = "";
  /** @type {string} */
  const url = await new Promise((found, failed) => {
    const timer = setTimeout(() => failed(new Error(`the server did not say where it listens: ${said}`)), PATIENCE_MS);
    const hear = (/** @type {Buffer} */ chunk) => {
      said += chunk;
      const m = said.match(/listening on (http:\/\/\S+)/);
      if (m) {
        clearTimeout(timer);
        found(m[1].endsWith("/") ? m[1] : m[1] + "/");
      }
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
  });
  return {
    url,
    stop: async () => {
      const gone = new Promise((done) => child.on("exit", done));
      child.kill("SIGTERM");
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A proxy that puts the server below a path, as a gateway does: the path is taken off and told in X-Forwarded-Prefix. @param {string} target @param {string} prefix "/a/b" */
export async function startProxy(target, prefix) {
  const to = new URL(target);
  const proxy = createServer((req, res) => {
    const path = req.url ?? "/";
    if (!path.startsWith(prefix + "/")) {
      res.writeHead(404).end("outside the prefix");
      return;
    }
    const up = request(
      {
        host: to.hostname,
        port: to.port,
        method: req.method,
        path: path.slice(prefix.length),
        headers: { ...req.headers, host: to.host, "x-forwarded-prefix": prefix },
      },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    up.on("error", () => res.writeHead(502).end());
    // What breaks off before it is whole does so behind the gateway, too.
    req.on("close", () => {
      if (!req.complete) up.destroy();
    });
    req.pipe(up);
  });
  await new Promise((ready) => proxy.listen(0, "127.0.0.1", () => ready(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (proxy.address());
  return {
    url: `http://127.0.0.1:${port}${prefix}/`,
    stop: () =>
      new Promise((done) => {
        proxy.closeAllConnections();
        proxy.close(done);
      }),
  };
}
