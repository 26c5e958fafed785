// SPDX-License-Identifier: Apache-2.0
// Patterns of the operator's own: what they find is hidden before it is stored, and in the environment of older runs when it is shown, as a History Server 4.3 does with
// spark.redaction.regex of its own configuration. A pattern in a log means nothing, as there: the application applied it when it wrote.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog, START } from "./support/log.mjs";
import { BINARY, makeFolder, makeStore, startServer } from "./support/server.mjs";

const PATTERNS = String.raw`spark.redaction.regex=(?i)zebra
spark.redaction.string.regex=\\b\\d{3}-\\d{4}\\b
spark.sql.redaction.string.regex=(?<=customer )\\w+
spark.sql.redaction.options.regex=(?i)endpoint
`;

function logWithOwn(id) {
  const lines = smallLog({ id }).trimEnd().split("\n");
  return lines
    .map((line) => {
      const event = JSON.parse(line);
      if (event.Event === "SparkListenerEnvironmentUpdate") {
        Object.assign(event["Spark Properties"], { "spark.my.zebra": "stripes", "spark.other": "a zebra inside", "spark.okapi": "shown", "spark.redaction.regex": "(?i)okapi" });
        event["Classpath Entries"] = { "/opt/zebra.jar": "System Classpath" };
      }
      if (event.Event === "SparkListenerJobStart") Object.assign(event.Properties, { "spark.job.description": "call 555-1234 for customer bob", "my.zebra": "stripes" });
      return JSON.stringify(event);
    })
    .concat(
      JSON.stringify({
        Event: "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
        executionId: 1,
        description: "customer bob",
        details: "",
        physicalPlanDescription: "Filter (phone = 555-1234)",
        sparkPlanInfo: { nodeName: "Filter", simpleString: "Filter (phone = 555-1234)", metadata: {}, metrics: [], children: [] },
        time: START,
        modifiedConfigs: { "x.endpoint": "stripes", "x.plain": "shown" },
      }),
      "",
    )
    .join("\n");
}

const sparkProperties = async (server, id) => {
  const v1 = JSON.parse((await server.get(`/api/v1/applications/${id}/environment`)).text);
  const own = (await server.json(`apps/${id}/environment`)).sections.find((section) => section.name === "spark").entries;
  assert.deepEqual(Object.fromEntries(own), Object.fromEntries(v1.sparkProperties));
  assert.equal(v1.classpathEntries.some(([path]) => path === "/opt/zebra.jar"), true, "the class path is left alone");
  return Object.fromEntries(v1.sparkProperties);
};
const HIDDEN = "*********(redacted)";

test("patterns of the operator", async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, "app-own"), logWithOwn("app-own"));
  const settings = join(makeFolder(t), "settings.conf");
  writeFileSync(settings, PATTERNS);

  await t.test("are applied before anything is stored", async (t) => {
    const store = makeStore(t, ["--properties-file", settings, folder]);
    const server = await startServer(t, ["--store", store]); // without the patterns
    const properties = await sparkProperties(server, "app-own");
    assert.deepEqual([properties["spark.my.zebra"], properties["spark.other"], properties["spark.okapi"]], [HIDDEN, HIDDEN, "shown"]);
    const [job] = JSON.parse((await server.get("/api/v1/applications/app-own/jobs")).text);
    assert.equal(job.description, `call ${HIDDEN} for customer ${HIDDEN}`);
    const [query] = JSON.parse((await server.get("/api/v1/applications/app-own/sql")).text);
    assert.equal(query.description, `customer ${HIDDEN}`);
    assert.match(query.planDescription, /phone = \*+\(redacted\)/);
    assert.deepEqual(query.modifiedConfigs, { "x.endpoint": HIDDEN, "x.plain": "shown" });
    await server.stop();
    for (const name of readdirSync(store, { recursive: true }).filter((name) => /\.db/.test(name)))
      for (const secret of ["stripes", "555-1234", "customer bob"]) assert.equal(readFileSync(join(store, name)).includes(secret), false, `${secret} in ${name}`);
  });

  await t.test("hide in the environment of a run that was loaded before", async (t) => {
    const store = makeStore(t, [folder]);
    const before = await startServer(t, ["--store", store]);
    assert.equal((await sparkProperties(before, "app-own"))["spark.my.zebra"], "stripes");
    const { etag } = (await before.get("/api/v1/applications/app-own/environment")).headers;
    await before.stop();
    const server = await startServer(t, ["--store", store, "--properties-file", settings]);
    const properties = await sparkProperties(server, "app-own");
    assert.deepEqual([properties["spark.my.zebra"], properties["spark.other"], properties["spark.okapi"]], [HIDDEN, HIDDEN, "shown"]);
    assert.equal((await server.get("/api/v1/applications/app-own/environment", { headers: { "If-None-Match": etag } })).status, 200, "no 304 for what showed more");
  });

  await t.test("that are none are refused", () => {
    const bad = join(folder, "unused-store");
    for (const key of ["spark.redaction.regex", "spark.redaction.string.regex", "spark.sql.redaction.options.regex", "spark.sql.redaction.string.regex"]) {
      writeFileSync(settings, `${key}=(unclosed\n`);
      const done = spawnSync(BINARY, ["ingest", "--properties-file", settings, "--store", bad, folder], { encoding: "utf8" });
      assert.equal(done.status, 2, done.stderr);
      assert.match(done.stderr, new RegExp(`${key}: not a regular expression: .*\\(at character 9\\)`));
    }
  });
});
