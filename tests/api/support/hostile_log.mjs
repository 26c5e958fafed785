// SPDX-License-Identifier: Apache-2.0
// Logs with hostile text behind every string (pain.md P098): a small run, a query of Spark SQL, and one with everything of streaming and of a Thrift server.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { smallLog } from "./log.mjs";
import { LOGS } from "./server.mjs";
import { idle, jobEnd, jobStart, logOf, progress, START, started, terminated } from "./streaming_log.mjs";

/** An element that runs code, the end of a script, quotes, a line separator of JavaScript. */
export const HOSTILE = `<img src=x onerror=alert(1)></script>"'\u2028`;

// Strings that are syntax: what else stood there would be another event, no text.
const SYNTAX = new Set(["Event", "Reason", "Result", "Locality", "Metadata", "metricType", "timestamp", "spark.sql.execution.id", "spark.sql.execution.root.id", "Update", "Value", "App Attempt ID", "Block ID", "id", "runId"]);

export const hostile = (text) => `${text}${HOSTILE}`;

/** The same value with hostile text behind every string, and in every name of a setting. Equal strings stay equal, so ids still fit. */
function poison(value, key = "") {
  if (typeof value === "string") return SYNTAX.has(key) ? value : hostile(value);
  if (Array.isArray(value)) return value.map((each) => poison(each, key));
  if (value === null || typeof value !== "object") return value;
  const names = / Properties$|^Log Urls$|^Attributes$|^Classpath Entries$|^modifiedConfigs$/.test(key) ? hostile : (name) => name;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [names(name), poison(each, name)]));
}

const poisoned = (log) =>
  `${log
    .trimEnd()
    .split("\n")
    .map((line) => JSON.stringify(poison(JSON.parse(line))))
    .join("\n")}\n`;

const thrift = (name, members) => JSON.stringify({ Event: `org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer${name}`, ...members });

/** name: log */
const RUNS = {
  small: smallLog({ id: "small" }),
  sql: readFileSync(join(LOGS, "python_udf/app-20261129215617-0000"), "utf8"),
  streaming: logOf("streaming", [
    smallLog({ id: "streaming" })
      .split("\n")
      .find((line) => line.includes("EnvironmentUpdate")),
    started("q", START + 1000),
    progress("q", 0, START + 2000, { rows: 5, duration: 100 }),
    idle("q", START + 3000),
    terminated("q", "java.lang.RuntimeException: no", "NO"),
    thrift("SessionCreated", { ip: "10.0.0.1", sessionId: "s1", userName: "bob", startTime: START + 1000 }),
    thrift("OperationStart", { id: "o1", sessionId: "s1", statement: "select 1", groupId: "g1", startTime: START + 1100, userName: "bob" }),
    thrift("OperationError", { id: "o1", errorMsg: "no", errorTrace: "at A", finishTime: START + 1200 }),
    jobStart(0, START + 4000, { "spark.streaming.internal.batchTime": String(START), "spark.streaming.internal.outputOpId": "0" }),
    jobEnd(0, START + 4100),
  ]),
};

/** Writes them into a folder and returns it. */
export function writeHostileLogs(folder) {
  mkdirSync(folder, { recursive: true });
  for (const [name, log] of Object.entries(RUNS)) writeFileSync(join(folder, name), poisoned(log));
  return folder;
}
