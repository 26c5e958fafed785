// SPDX-License-Identifier: Apache-2.0
// `afterglow list --json` says all that the catalogue knows: a column added to schema.sql is a key there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { BINARY, LOGS, ROOT, makeStore } from "./support/server.mjs";

const INTERNAL = ["fingerprint"];

function columns(table) {
  const body = readFileSync(join(ROOT, "schema.sql"), "utf8").match(new RegExp(`CREATE TABLE ${table} \\((.*?)\\n\\) STRICT`, "s"))[1];
  return [...body.replace(/--.*/g, "").matchAll(/(\w+) (?:INTEGER|TEXT|REAL)\b/g)].map((match) => match[1]);
}

test("every column of the catalogue is a key", (t) => {
  const done = spawnSync(BINARY, ["list", "--store", makeStore(t, [join(LOGS, "tiny_app")]), "--json"], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  const row = JSON.parse(done.stdout);
  const wanted = new Set([...columns("log"), ...columns("app"), ...columns("run_use")].filter((column) => !INTERNAL.includes(column)));
  assert.ok(wanted.size > 40);
  assert.deepEqual(Object.keys(row).sort(), [...wanted].map((column) => column.replace(/_(.)/g, (_, letter) => letter.toUpperCase())).sort());
});
