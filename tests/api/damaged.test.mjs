// SPDX-License-Identifier: Apache-2.0
// What /api/v1 must answer about damaged logs: tests/data/damaged/answers.json, written down by hand from the specification, with the reason.
// null there: the key must be absent. A number as text: beyond what JavaScript holds exactly. Keys that are not named are not compared, elements of a list are, all of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { makeStore, ROOT, startServer } from "./support/server.mjs";

const FOLDER = join(ROOT, "tests/data/damaged");
const answers = JSON.parse(readFileSync(join(FOLDER, "answers.json"), "utf8"));
const ids = new Map(JSON.parse(readFileSync(join(FOLDER, "cases.json"), "utf8")).map((each) => [each.case, each.app_id]));

/** JSON whose numbers beyond 2^53 are kept as text. */
const parse = (text) => JSON.parse(text.replace(/([:[,]\s*)(-?\d{16,})(?=[\s,\]}])/g, (whole, before, number) => (Number.isSafeInteger(Number(number)) ? whole : `${before}"${number}"`)));

function holds(wanted, given, where) {
  if (wanted === null) assert.equal(given, undefined, where);
  else if (Array.isArray(wanted)) {
    assert.equal(given?.length, wanted.length, where);
    wanted.forEach((each, i) => holds(each, given[i], `${where}/${i}`));
  } else if (typeof wanted === "object") for (const [key, value] of Object.entries(wanted)) holds(value, given?.[key], `${where}/${key}`);
  else assert.equal(given, wanted, where);
}

test("damaged logs", async (t) => {
  const server = await startServer(t, ["--store", makeStore(t, answers.map((each) => join(FOLDER, each.case)))]);
  for (const { case: name, answers: wanted, unknown = [] } of answers)
    await t.test(name, async () => {
      for (const [path, body] of Object.entries(wanted)) {
        const answer = await server.get(`/api/v1/applications/${ids.get(name)}${path && "/"}${path}`);
        assert.equal(answer.status, 200, path);
        holds(body, parse(answer.text), path);
      }
      for (const id of unknown) assert.equal((await server.get(`/api/v1/applications/${id}`)).status, 404);
    });
});
