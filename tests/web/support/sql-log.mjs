// SPDX-License-Identifier: Apache-2.0
/**
 * A run with queries, with numbers a person can add up.
 *
 *   query 0  orders ⋈ days: began as a sort-merge join, was read as one partition (16 → 1); job 0 with stages 0 (2 tasks of 400 and 600 ms) and 1 (1 task of 500 ms)
 *            scan time 100 + 200 ms, sort time 50 ms, rows 3 + 4 → 7; building what is broadcast took the driver 80 ms
 *   query 1  nested in 0, failed, hostile in every text; query 2  a plan of 2,000 operators; queries 3 … 62  small ones, for pages
 */
export const QUERIES = "app-20260101140000-0005";
const START = 1767276000000;
const P = "org.apache.spark.sql.execution.ui.SparkListener";

/** @typedef {{ nodeName: string, simpleString: string, children: Node[], metadata: Record<string, string>, metrics: object[] }} Node */
/** @param {string} nodeName @param {string} text @param {Node[]} children @param {[id: number, name: string, type: string][]} [metrics] @param {Record<string, string>} [metadata] @returns {Node} */
const node = (nodeName, text, children, metrics = [], metadata = {}) => ({
  nodeName,
  simpleString: text,
  children,
  metadata,
  metrics: metrics.map(([accumulatorId, name, metricType]) => ({ name, accumulatorId, metricType })),
});

/** @param {boolean} final @param {Node} left @param {Node} right */
const root = (final, left, right) =>
  node("AdaptiveSparkPlan", `AdaptiveSparkPlan isFinalPlan=${final}`, [
    node("WholeStageCodegen (2)", "WholeStageCodegen (2)", [
      node("SortMergeJoin", "SortMergeJoin [day#1], [day#2], Inner", [node("InputAdapter", "InputAdapter", [left]), node("InputAdapter", "InputAdapter", [right])], [[10, "number of output rows", "sum"]]),
    ], [[11, "duration", "timing"]]),
  ]);
const scan = node(
  "Scan parquet orders",
  "FileScan parquet orders[day#1]",
  [],
  [
    [1, "number of output rows", "sum"],
    [2, "scan time", "timing"],
    [3, "size of files read", "size"],
  ],
  { Location: "InMemoryFileIndex(1 paths)[file:/data/orders]", PushedFilters: "[IsNotNull(day)]" },
);
const exchange = (/** @type {number} */ plan) =>
  node("Exchange", `Exchange hashpartitioning(day#1, 16), ENSURE_REQUIREMENTS, [plan_id=${plan}]`, [node("WholeStageCodegen (1)", "WholeStageCodegen (1)", [scan], [[4, "duration", "timing"]])], [
    [5, "shuffle bytes written", "size"],
    [6, "number of partitions", "sum"],
  ]);
const broadcast = node("BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode(List(day#2),false), [plan_id=9]", [node("LocalTableScan", "LocalTableScan [day#2]", [], [[7, "number of output rows", "sum"]])], [
  [8, "time to build", "timing"],
]);
const sort = (/** @type {Node} */ child) => node("Sort", "Sort [day#1 ASC NULLS FIRST], false, 0", [child], [[9, "sort time", "timing"]]);
const first = root(false, sort(exchange(7)), broadcast);
const last = root(
  true,
  sort(node("AQEShuffleRead", "AQEShuffleRead coalesced", [node("ShuffleQueryStage", "ShuffleQueryStage 0", [exchange(8)])], [[12, "number of partitions", "sum"]])),
  broadcast,
);

/** 2,000 operators: 40 branches of 49 below unions, each a scan below a chain of projections and filters. @returns {Node} */
function large() {
  const branches = Array.from({ length: 40 }, (_, b) => {
    let at = node(`Scan parquet t${b}`, `FileScan parquet t${b}[x#${b}]`, [], [[1000 + b, "scan time", "timing"]]);
    for (let i = 0; i < 48; i++) at = i % 2 ? node("Project", `Project [x#${b} AS y${i}]`, [at]) : node("Filter", `Filter (x#${b} > ${i})`, [at]);
    return at;
  });
  let top = branches[0];
  for (const b of branches.slice(1)) top = node("Union", "Union", [top, b]);
  return node("CollectLimit", "CollectLimit 21", [top]);
}

const LEVEL = { "Use Disk": false, "Use Memory": false, "Use Off Heap": false, Deserialized: false, Replication: 1 };
/** @param {number} id @param {string} name @param {string} scope @param {number[]} parents @param {boolean} [cached] */
const rdd = (id, name, scope, parents, cached = false) => ({
  "RDD ID": id,
  Name: name,
  Scope: JSON.stringify({ id: scope, name: scope }),
  Callsite: "collect at Query.scala:1",
  "Parent IDs": parents,
  "Storage Level": { ...LEVEL, "Use Memory": cached },
  Barrier: false,
  "Number of Partitions": 2,
  "Number of Cached Partitions": 0,
  "Memory Size": 0,
  "Disk Size": 0,
});
const RDDS = [[rdd(0, "FileScanRDD", "Scan parquet", []), rdd(1, "MapPartitionsRDD", "WholeStageCodegen (1)", [0], true)], [rdd(2, "ShuffledRowRDD", "AQEShuffleRead", [1]), rdd(3, "MapPartitionsRDD", "WholeStageCodegen (2)", [2])]];

/** @param {number} id @param {object} [more] */
const stage = (id, more = {}) => ({
  "Stage ID": id,
  "Stage Attempt ID": 0,
  "Stage Name": "collect at Query.scala:1",
  "Number of Tasks": id ? 1 : 2,
  "RDD Info": RDDS[id],
  "Parent IDs": id ? [0] : [],
  Details: "",
  Accumulables: [],
  "Resource Profile Id": 0,
  ...more,
});
const PROPERTIES = { "spark.sql.execution.id": "0", "spark.sql.execution.root.id": "0" };

/** @param {number} stageId @param {number} task @param {number} index @param {number} launch @param {number} ms @param {Record<number, number>} values SQL metrics by id */
function taskEnd(stageId, task, index, launch, ms, values) {
  return {
    Event: "SparkListenerTaskEnd",
    "Stage ID": stageId,
    "Stage Attempt ID": 0,
    "Task Type": "ResultTask",
    "Task End Reason": { Reason: "Success" },
    "Task Info": {
      "Task ID": task,
      Index: index,
      Attempt: 0,
      "Partition ID": index,
      "Launch Time": launch,
      "Executor ID": "1",
      Host: "host-1",
      Locality: "ANY",
      Speculative: false,
      "Getting Result Time": 0,
      "Finish Time": launch + ms,
      Failed: false,
      Killed: false,
      Accumulables: Object.entries(values).map(([id, v]) => ({ ID: Number(id), Name: "m", Update: String(v), Value: String(v), Internal: true, "Count Failed Values": true, Metadata: "sql" })),
    },
    "Task Metrics": { "Executor Run Time": ms - 10, "Executor CPU Time": (ms - 10) * 900_000, "JVM GC Time": 0, "Result Size": 100 },
  };
}

/** @param {string} hostile text for every place that takes one */
export function sqlLog(hostile) {
  const at = (/** @type {number} */ ms) => START + ms;
  /** @param {number} executionId @param {string} description @param {Node} sparkPlanInfo @param {number} ms @param {number} [rootExecutionId] */
  const start = (executionId, description, sparkPlanInfo, ms, rootExecutionId = executionId) => ({
    Event: `${P}SQLExecutionStart`,
    executionId,
    rootExecutionId,
    description,
    details: "",
    physicalPlanDescription: `== Physical Plan ==\n${description}\nExchange one\nexchange two`,
    sparkPlanInfo,
    time: at(ms),
    modifiedConfigs: { "spark.sql.shuffle.partitions": "16", "pandas_on_Spark.compute.max_rows": "1000" },
    jobTags: ["nightly"],
  });
  const end = (/** @type {number} */ executionId, /** @type {number} */ ms, errorMessage = "") => ({ Event: `${P}SQLExecutionEnd`, executionId, time: at(ms), errorMessage });
  const bad = node(`${hostile}Exchange`, `${hostile} [plan_id=1]`, [], [[900, hostile, "sum"]], { Location: hostile });
  const times = (/** @type {number} */ id) => ({ "Submission Time": at(id ? 2200 : 1100), "Completion Time": at(id ? 2800 : 2000) });
  return [
    { Event: "SparkListenerLogStart", "Spark Version": "3.5.7" },
    { Event: "SparkListenerApplicationStart", "App Name": "sql_queries", "App ID": QUERIES, Timestamp: START, User: "dora" },
    { Event: "SparkListenerExecutorAdded", Timestamp: at(100), "Executor ID": "1", "Executor Info": { Host: "host-1", "Total Cores": 2, "Log Urls": {} } },
    start(0, "orders by day", first, 1000),
    { Event: "SparkListenerJobStart", "Job ID": 0, "Submission Time": at(1050), "Stage IDs": [0, 1], "Stage Infos": [stage(0), stage(1)], Properties: PROPERTIES },
    { Event: "SparkListenerStageSubmitted", "Stage Info": stage(0, { "Submission Time": at(1100) }), Properties: PROPERTIES },
    taskEnd(0, 0, 0, at(1100), 400, { 1: 3, 2: 100, 3: 1000, 4: 300, 5: 2048 }),
    taskEnd(0, 1, 1, at(1100), 600, { 1: 4, 2: 200, 4: 500, 5: 4096 }),
    { Event: "SparkListenerStageCompleted", "Stage Info": stage(0, { ...times(0), Accumulables: [1, 2, 3, 4, 5].map(sql) }) },
    { Event: `${P}DriverAccumUpdates`, executionId: 0, accumUpdates: [[6, 16], [8, 80], [12, 1]] },
    { Event: `${P}SQLAdaptiveExecutionUpdate`, executionId: 0, physicalPlanDescription: "== Physical Plan ==\nfinal", sparkPlanInfo: last },
    { Event: "SparkListenerStageSubmitted", "Stage Info": stage(1, { "Submission Time": at(2200) }), Properties: PROPERTIES },
    taskEnd(1, 2, 0, at(2200), 500, { 9: 50, 10: 7, 11: 450 }),
    { Event: "SparkListenerStageCompleted", "Stage Info": stage(1, { ...times(1), Accumulables: [9, 10, 11].map(sql) }) },
    { Event: "SparkListenerJobEnd", "Job ID": 0, "Completion Time": at(2850), "Job Result": { Result: "JobSucceeded" } },
    start(1, hostile, bad, 2860, 0),
    end(1, 2870, `[BAD.CLASS] ${hostile}\nsecond line`),
    end(0, 3000),
    start(2, "two thousand operators", large(), 3100),
    end(2, 3200),
    ...Array.from({ length: 60 }, (_, i) => [start(3 + i, `small query ${i}`, node("LocalTableScan", "LocalTableScan [x#1]", []), 3300 + i * 10), end(3 + i, 3301 + i * 10)]).flat(),
    { Event: "SparkListenerApplicationEnd", Timestamp: at(5000) },
  ]
    .map((e) => JSON.stringify(e) + "\n")
    .join("");
}

/** @param {number} ID */
const sql = (ID) => ({ ID, Name: "m", Value: "1", Internal: true, "Count Failed Values": true, Metadata: "sql" });
