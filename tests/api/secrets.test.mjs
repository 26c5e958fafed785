// SPDX-License-Identifier: Apache-2.0
// Secrets stay hidden (pain.md P102): in no answer, no file of the store, no line of the server's log; what only looks like one stays readable.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { smallLog, START } from "./support/log.mjs";
import { eventually, makeFolder, startServer } from "./support/server.mjs";

const SECRETS = ["hunter2", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI", "sessionsecretvalue"];

const jdbc = "jdbc:mysql://me:hunter2@db.example:3306/shop";
const sql = `CREATE TABLE t USING jdbc OPTIONS (url '${jdbc}', password 'hunter2', 'secret_key' = 'wJalrXUtnFEMI')`;

/** Queries, streams and sessions, with secrets in every text of theirs. */
function secretQueries() {
  const line = (event, members) => JSON.stringify({ Event: event, ...members });
  const execution = (name, members) => line(`org.apache.spark.sql.execution.ui.SparkListenerSQL${name}`, { executionId: 7, ...members });
  const query = (name, members) => line(`org.apache.spark.sql.streaming.StreamingQueryListener$Query${name}Event`, members);
  const thrift = (name, members) => line(`org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer${name}`, members);
  const plan = (text) => ({
    nodeName: `Scan JDBCRelation(${jdbc}) ${text}`,
    simpleString: `Scan JDBCRelation(shop) [url=${jdbc}, password=hunter2] ${text}`,
    metadata: { Location: jdbc, options: "{password=hunter2, dbtable=shop}", token: "sessionsecretvalue" },
    metrics: [{ name: "rows password=hunter2", accumulatorId: 77, metricType: "sum" }],
    children: [{ nodeName: "Filter", simpleString: "Filter (secret_key = 'wJalrXUtnFEMI')", metadata: {}, metrics: [], children: [] }],
  });
  const text = (name) => `== Physical Plan ==\n${name} Scan JDBCRelation(shop) [url: ${jdbc}, password: hunter2]\n${sql}\n`;
  const id = { id: "6b3e0000-0000-0000-0000-000000000001", runId: "6b3e0000-0000-0000-0000-000000000002" };
  return [
    execution("ExecutionStart", {
      rootExecutionId: 7,
      description: sql,
      details: `org.apache.spark.sql.Dataset.load(${JSON.stringify(jdbc)})`,
      physicalPlanDescription: text("first"),
      sparkPlanInfo: plan("first"),
      time: START + 1000,
      modifiedConfigs: { "spark.shop.password": "hunter2", "spark.shop.url": jdbc, "spark.shop.options": "password=hunter2,user=me", "spark.sql.shuffle.partitions": "7" },
      jobTags: ["token=hunter2"],
      jobGroupId: `load ${jdbc}`,
    }),
    execution("AdaptiveExecutionUpdate", { physicalPlanDescription: text("second"), sparkPlanInfo: plan("second") }),
    execution("AdaptiveSQLMetricUpdates", { sqlPlanMetrics: [{ name: "late password=hunter2", accumulatorId: 78, metricType: "sum" }] }),
    execution("ExecutionEnd", { time: START + 2000, errorMessage: `java.sql.SQLException: refused: ${jdbc}\n${sql}` }),
    query("Started", { ...id, name: "copy password=hunter2", timestamp: "2023-11-14T22:13:21.000Z", jobTags: ["token=hunter2"] }),
    query("Progress", {
      progress: {
        ...id,
        name: "copy password=hunter2",
        timestamp: "2023-11-14T22:13:22.000Z",
        batchId: 0,
        batchDuration: 10,
        durationMs: { triggerExecution: 10 },
        eventTime: {},
        stateOperators: [],
        sources: [{ description: `KafkaV2[Subscribe[shop]] password=hunter2 ${jdbc}`, startOffset: '{"token":"sessionsecretvalue"}', endOffset: '{"password":"hunter2"}', latestOffset: null, numInputRows: 1, inputRowsPerSecond: 1, processedRowsPerSecond: 1, metrics: {} }],
        sink: { description: `JdbcSink ${jdbc}`, numOutputRows: 1 },
        observedMetrics: { "password=hunter2": { password: "hunter2" } },
      },
    }),
    query("Terminated", { ...id, exception: `java.sql.SQLException: refused: ${jdbc} password=hunter2`, errorClassOnException: null }),
    thrift("SessionCreated", { ip: "10.0.0.1", sessionId: "s1", userName: "bob", startTime: START + 1000 }),
    thrift("OperationStart", { id: "o1", sessionId: "s1", statement: sql, groupId: "g1", startTime: START + 1100, userName: "bob" }),
    thrift("OperationParsed", { id: "o1", executionPlan: text("parsed") }),
    thrift("OperationError", { id: "o1", errorMsg: `refused: ${jdbc}`, errorTrace: `java.sql.SQLException: ${sql}`, finishTime: START + 1200 }),
    line("org.apache.spark.sql.connect.service.SparkListenerConnectSessionStarted", { sessionId: "c1", userId: "bob", eventTime: START + 1000, extraTags: {} }),
    line("org.apache.spark.sql.connect.service.SparkListenerConnectOperationStarted", { jobTag: "tag-1", operationId: "p1", eventTime: START + 1100, sessionId: "c1", userId: "bob", userName: "bob", statementText: sql, sparkSessionTags: ["token=hunter2"], extraTags: {} }),
    line("org.apache.spark.sql.connect.service.SparkListenerConnectOperationFailed", { jobTag: "tag-1", operationId: "p1", eventTime: START + 1200, errorMessage: `refused: ${jdbc}`, extraTags: {} }),
  ].join("\n");
}

const profile = {
  Event: "SparkListenerResourceProfileAdded",
  "Resource Profile Id": 1,
  "Executor Resource Requests": { gpu: { "Resource Name": "gpu", Amount: 1, "Discovery Script": "/opt/gpus --token=hunter2", Vendor: jdbc } },
  "Task Resource Requests": { gpu: { "Resource Name": "gpu", Amount: 0.5 } },
};

/** The small log with secrets in every kind of text. */
function secretLog() {
  return (
    smallLog({ id: "secrets", name: `daily --password hunter2` })
      .trimEnd()
      .split("\n")
      .map((line) => {
        const event = JSON.parse(line);
        if (event.Event === "SparkListenerEnvironmentUpdate") {
          Object.assign(event["Spark Properties"], {
            "spark.hadoop.fs.s3a.secret.key": "wJalrXUtnFEMI",
            "spark.hadoop.fs.s3a.session.token": "sessionsecretvalue",
            "spark.shop.url": jdbc,
            "spark.shop.odbc": "Server=db;UID=me;Pwd=hunter2;Encrypt=yes",
          });
          event["Hadoop Properties"] = { "fs.s3a.access.key": "AKIAIOSFODNN7EXAMPLE", "fs.note": "key AKIAIOSFODNN7EXAMPLE" };
          event["System Properties"] = { "sun.java.command": "org.apache.spark.deploy.SparkSubmit --conf x.password=hunter2 app.jar" };
          event["Metrics Properties"] = { "sink.url": "https://me:hunter2@metrics.example/in" };
          event["Classpath Entries"] = { "/opt/secret-lib.jar": "System Classpath" };
        }
        if (event.Event === "SparkListenerExecutorAdded") {
          event["Executor Info"]["Log Urls"] = { stdout: "https://me:hunter2@logs.example/stdout" };
          event["Executor Info"].Attributes = { NOTE: "password=hunter2" };
        }
        if (event.Event === "SparkListenerJobStart") {
          event.Properties = { "spark.job.description": sql, "spark.jobGroup.id": `load ${jdbc}`, "spark.job.tags": "a,token=hunter2", "my.password": "hunter2", "my.url": jdbc, "my.sql": sql };
          for (const stage of event["Stage Infos"]) stage.Details = `read(${JSON.stringify(sql)})\nShop.scala:7`;
        }
        const stage = event["Stage Info"];
        if (stage) {
          stage["Stage Name"] = "load password=hunter2 at Shop.scala:7";
          stage.Details = sql;
          if (stage["Failure Reason"]) stage["Failure Reason"] = `cannot connect to ${jdbc}`;
          stage.Accumulables = [{ ID: 1, Name: "my.accumulator", Value: `{"password":"hunter2"}`, Internal: false }];
          stage["RDD Info"] = [
            { "RDD ID": 1, Name: `scan ${jdbc}`, Callsite: `load(${JSON.stringify(sql)})`, Scope: JSON.stringify({ id: "4", name: `Scan JDBCRelation(${jdbc})`, parent: { id: "3", name: "WholeStageCodegen password=hunter2" } }), "Parent IDs": [], "Storage Level": { "Use Disk": false, "Use Memory": true, "Use Off Heap": false, Deserialized: true, Replication: 1 }, "Number of Partitions": 1, "Number of Cached Partitions": 0, "Memory Size": 0, "Disk Size": 0 },
          ];
        }
        if (event.Event === "SparkListenerStageSubmitted") event.Properties = { "spark.job.description": sql };
        const reason = event["Task End Reason"];
        if (reason?.Description) {
          reason.Description = `refused: ${jdbc}`;
          reason["Full Stack Trace"] = `java.sql.SQLException: refused: ${jdbc}\n\tat org.example.TokenManager.open(TokenManager.scala:75)`;
        }
        if (event["Task Info"] && event.Event === "SparkListenerTaskEnd") event["Task Info"].Accumulables = [{ ID: 2, Name: "seen", Update: "token=hunter2", Value: "token=hunter2", Internal: false }];
        if (event["Job Result"]?.Exception) event["Job Result"].Exception.Message = `Job aborted: ${jdbc}`;
        return JSON.stringify(event);
      })
      .join("\n") +
    `\n${JSON.stringify(profile)}\n${secretQueries()}\n{"Event":"SparkListenerJobStart","Properties":{"x.password":"hunter2"},"broken\nnot json ${jdbc} password=hunter2\n` +
    `${"x".repeat(120)} jdbc:mysql://me:hunter2hunter2hunter2hunter2@db\n`
  );
}

/** What is done, or `otherwise` where a file went away meanwhile. */
function unlessGone(act, otherwise) {
  try {
    return act();
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return otherwise;
  }
}

/** Every file below a folder. */
const files = (folder) =>
  unlessGone(() => readdirSync(folder), []).flatMap((name) => {
    const path = join(folder, name);
    return unlessGone(() => statSync(path).isDirectory(), false) ? files(path) : [path];
  });

function assertClean(text, where) {
  for (const secret of SECRETS) assert.equal(text.includes(secret), false, `${secret} in ${where}: …${text.slice(Math.max(0, text.indexOf(secret) - 120), text.indexOf(secret) + 20)}`);
}

test("secrets", async (t) => {
  const folder = makeFolder(t),
    store = join(makeFolder(t), "store");
  writeFileSync(join(folder, "secrets.inprogress"), secretLog());
  const server = await startServer(t, ["--store", store, "--logs", folder, "--log-level", "debug"]);
  const clean = () => {
    for (const path of files(store)) assertClean(unlessGone(() => readFileSync(path).toString("latin1"), ""), path);
    assertClean(server.errors(), "the server's log");
  };
  await eventually(async () => {
    clean();
    return JSON.parse((await server.get("/api/afterglow/v1/apps")).text).items?.[0]?.loaded;
  });

  await t.test("no file of the store holds one, its -wal neither", () => {
    assert.ok(files(store).some((path) => path.endsWith(".db")));
    clean();
  });

  await t.test("no answer holds one", async () => {
    const own = "/api/afterglow/v1/apps/secrets",
      v1 = "/api/v1/applications/secrets";
    const paths = [
      "/api/afterglow/v1/apps",
      "/api/v1/applications",
      own,
      ...["sql", "sql/7", "sql/7/plans/0", "sql/7/plans/1", "streaming", "streaming/6b3e0000-0000-0000-0000-000000000002", "sessions", "operations", "operations/1", "operations/2", "dstreams"].map((p) => `${own}/${p}`),
      ...["health", "jobs", "jobs/0", "jobs/1", "stages", "stages/0.0", "stages/1.0", "stages/2.0", "stages/1.0/tasks", "executors", "environment", "storage"].map((p) => `${own}/${p}`),
      ...["jobs", "stages?details=true", "stages/1/0", "stages/1/0/taskList", "executors", "allexecutors", "environment", "storage/rdd", "sql", "sql/7", "sql/sqlTable"].map((p) => `${v1}/${p}`),
    ];
    for (const path of paths) {
      const answer = await server.get(path);
      assert.equal(answer.status, 200, path);
      assertClean(answer.text, path);
    }
  });

  await t.test("what is around them stays readable", async () => {
    const environment = JSON.parse((await server.get("/api/v1/applications/secrets/environment")).text);
    const value = (list, key) => environment[list].find((pair) => pair[0] === key)[1];
    assert.deepEqual(environment.classpathEntries, [["/opt/secret-lib.jar", "System Classpath"]]);
    assert.equal(value("sparkProperties", "spark.hadoop.fs.s3a.secret.key"), "*********(redacted)");
    assert.equal(value("sparkProperties", "spark.shop.url"), "jdbc:mysql://me:*********(redacted)@db.example:3306/shop");
    assert.equal(value("sparkProperties", "spark.shop.odbc"), "Server=db;UID=me;Pwd=*********(redacted);Encrypt=yes");
    assert.equal(value("systemProperties", "sun.java.command"), "*********(redacted)");
    const job = JSON.parse((await server.get("/api/v1/applications/secrets/jobs/0")).text);
    assert.equal(
      job.description,
      "CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:mysql://me:*********(redacted)@db.example:3306/shop', password '*********(redacted)', 'secret_key' = '*********(redacted)')",
    );
    assert.equal(JSON.parse((await server.get("/api/afterglow/v1/apps/secrets")).text).name, "daily --password *********(redacted)");
    const [task] = JSON.parse((await server.get("/api/v1/applications/secrets/stages/1/0/taskList?status=failed")).text);
    assert.match(task.errorMessage, /TokenManager\.open\(TokenManager\.scala:75\)/);
  });

  await t.test("so do queries, streams and statements", async () => {
    const hidden = "*********(redacted)";
    const execution = await server.json("apps/secrets/sql/7");
    assert.deepEqual([execution.planVersionCount, execution.jobTags], [2, [`token=${hidden}`]]);
    assert.deepEqual(execution.configs, [
      ["spark.shop.options", hidden],
      ["spark.shop.password", hidden],
      ["spark.shop.url", hidden],
      ["spark.sql.shuffle.partitions", "7"],
    ]);
    assert.deepEqual(
      execution.nodes.map(({ name, metrics }) => [name, metrics.map((metric) => metric.name)]),
      [
        [`Scan JDBCRelation(jdbc:mysql://me:${hidden}@db.example:3306/shop) second`, [`rows password=${hidden}`]],
        ["Filter", []],
      ],
    );
    const { text } = await server.json("apps/secrets/sql/7/plans/1");
    assert.ok(text.startsWith("== Physical Plan ==\nsecond Scan JDBCRelation(shop)") && text.includes(hidden), text);
    const [theirs] = JSON.parse((await server.get("/api/v1/applications/secrets/sql")).text);
    assert.match(theirs.description, /^CREATE TABLE t USING jdbc OPTIONS \(url 'jdbc:mysql:\/\/me:\*+\(redacted\)@db\.example:3306\/shop'/);
    assert.equal((await server.json("apps/secrets/operations/1")).statement, theirs.description);
    assert.equal((await server.json("apps/secrets/operations/2")).statement, theirs.description);
  });

  await t.test("an address with one does not come into the server's log", async () => {
    await server.get("/api/v1/applications/secrets/jobs?password=hunter2");
    await server.get("/api/v1/applications/none/jobs?access_token=hunter2");
    await eventually(() => server.errors().includes("access_token="));
    clean();
  });

  await t.test("a search for one finds nothing", async () => {
    for (const path of ["apps?q=hunter2", "apps/secrets/jobs?q=hunter2", "apps/secrets/stages?q=hunter2", "apps/secrets/stages/1.0/tasks?q=hunter2", "apps/secrets/sql?q=hunter2", "apps/secrets/operations?q=hunter2"]) assert.equal((await server.json(path)).total, 0, path);
  });
});
