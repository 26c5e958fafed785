// SPDX-License-Identifier: Apache-2.0
/**
 * Runs the browser tests: `node run.mjs [NAME…]` (names of *.test.mjs without ending). The server under test is the one at AFTERGLOW_URL, or the program in
 * AFTERGLOW_BINARY or build/release/afterglow, started over logs that support/log.mjs writes; AFTERGLOW_ASSETS=../../web/dist takes the pages from there. Ends with 77,
 * and a line that says why, where it cannot run.
 */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHROMIUM } from "./support/where.mjs";
import { startServer } from "./support/server.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** @param {string} why */
function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

if (!existsSync(CHROMIUM)) skip(`no ${CHROMIUM} (Debian's package chromium)`);
for (const name of ["playwright-core", "axe-core"])
  if (!existsSync(join(here, "node_modules", name))) skip(`the npm packages of tests/web are not installed (npm ci)`);

const wanted = process.argv.slice(2);
const suites = readdirSync(here)
  .filter((f) => f.endsWith(".test.mjs") && (!wanted.length || wanted.includes(f.slice(0, -".test.mjs".length))))
  .sort();
// Without a file node would run all it finds.
if (!suites.length) {
  console.error(`no such suite: ${wanted.join(" ")}`);
  process.exit(2);
}

const server = process.env.AFTERGLOW_URL ? { url: process.env.AFTERGLOW_URL, stop: async () => {} } : await startServer();
if (typeof server === "string") skip(server);
else if (!(await (await fetch(server.url)).text()).includes('<div id="app">')) {
  await server.stop();
  skip("the program was built without pages");
} else {
  const child = spawn(process.execPath, ["--test", ...suites], { cwd: here, stdio: "inherit", env: { ...process.env, AFTERGLOW_URL: server.url } });
  const status = await new Promise((done) => child.on("exit", (code) => done(code ?? 1)));
  await server.stop();
  process.exitCode = status;
}
