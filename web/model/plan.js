// SPDX-License-Identifier: Apache-2.0
/**
 * What a query's plan says about its operators: which stage they ran in, what time Spark measured for them alone, how many rows they gave on, and one line that tells
 * two of a kind apart. Data flows from producers to consumers; names and metrics are Spark's (spec/sql.md 10).
 */

/** @typedef {import("../types").SqlNode} SqlNode */
/** @typedef {import("../types").SqlMetric} SqlMetric */
/** @typedef {import("../types").SqlStageTime} StageTime */

/**
 * @typedef {{ node: SqlNode, id: number, name: string, from: number[], to: number[], cluster: number | null, codegen: string | null, stage: string | null,
 *   ownMs: number | null, driverMs: number | null, rows: number | null, rowsIn: number | null }} Operator
 *   from, to: ids of producers and consumers; codegen: its number in "WholeStageCodegen (2)"; stage: "6.0"; ownMs: task time; rowsIn: of all producers together
 * @typedef {{ operators: Operator[], byId: Map<number, Operator>, clusters: Map<number, SqlNode>, taskMs: number, measuredMs: number }} Plan
 *   operators: by id, without clusters; taskMs: of all its stages; measuredMs: how much of it Spark measured for single operators
 */

export const stageKey = (/** @type {{ stageId: number, attempt: number }} */ s) => `${s.stageId}.${s.attempt}`;

/** Spark 2 wrote how a metric is shown into its name. @param {SqlMetric} m */
export const metricName = (m) => (m.name ?? "").trim().replace(/ (total )?\(min, med, max\)$/, "");

/** Times of tasks that Spark measures around one operator. Those of the first kind are all of an operator's time, the others are parts that do not overlap. */
const WHOLE = /^(op time|exclusive time)$/;
const PART =
  /^(sort time|time in aggregation build|aggregate time|scan time|shuffle write time|fetch wait time|time to build hash map|build time|task commit time|time to (start|initialize|run) Python workers|JDBC query execution time|time to (update|remove|commit changes))$/;
/** Times of the driver: listing files, building what is broadcast, committing. */
const DRIVER = /^(time to (collect|build|broadcast)|metadata time|job commit time|dynamic partition pruning time)( \(ms\))?$/;

/** @param {SqlMetric} m */
const ms = (m) => (m.total === null ? null : m.unit === "ns" ? m.total / 1e6 : m.total);

/** @param {SqlNode} n @param {(m: SqlMetric, name: string) => boolean} take @returns {number | null} */
function sum(n, take) {
  /** @type {number | null} */
  let all = null;
  for (const m of n.metrics) if (m.total !== null && take(m, metricName(m))) all = (all ?? 0) + (ms(m) ?? 0);
  return all;
}
const inTasks = (/** @type {SqlMetric} */ m) => (m.unit === "ms" || m.unit === "ns") && m.maxTaskId !== null;

/** Task time that Spark measured for this operator itself; null: none. @param {SqlNode} n */
export const ownTime = (n) => sum(n, (m, name) => inTasks(m) && WHOLE.test(name)) ?? sum(n, (m, name) => inTasks(m) && PART.test(name));
/** Time of the driver for it. @param {SqlNode} n */
export const driverTime = (n) => sum(n, (m, name) => !inTasks(m) && DRIVER.test(name));
/** Of a code-generated cluster: time of its pipeline, over all tasks. @param {SqlNode} n */
export const pipelineTime = (n) => sum(n, (m, name) => inTasks(m) && name === "duration");

/** @param {SqlNode} n @param {string} name */
const total = (n, name) => n.metrics.find((m) => metricName(m) === name)?.total ?? null;
/** Rows that it gave on. @param {SqlNode} n */
export const rowsOut = (n) => total(n, "number of output rows") ?? total(n, "output rows") ?? total(n, "shuffle records written") ?? total(n, "records read");

/** An operator behind which another stage or the driver goes on. @param {string} name */
export const isExchange = (name) => name.includes("Exchange") || name.startsWith("Subquery");
export const isShuffle = (/** @type {string} */ name) => name.includes("Exchange") && !name.includes("Broadcast");
const isCacheScan = (/** @type {string} */ name) => /^(Gpu)?InMemoryTableScan|^Scan In-memory/.test(name);

/** @param {SqlNode[]} nodes @param {import("../types").SqlEdge[]} edges @param {StageTime[]} times @returns {Plan} */
export function planOf(nodes, edges, times) {
  const clusters = new Map(nodes.filter((n) => n.isCluster).map((n) => [n.id, n]));
  const operators = nodes.filter((n) => !n.isCluster).map((n) => operator(n, clusters));
  const byId = new Map(operators.map((o) => [o.id, o]));
  const seen = new Set();
  for (const e of edges) {
    const [a, b] = [byId.get(e.fromId), byId.get(e.toId)];
    if (!a || !b || a === b || seen.has(`${a.id} ${b.id}`)) continue;
    seen.add(`${a.id} ${b.id}`);
    a.to.push(b.id);
    b.from.push(a.id);
  }
  const taskTime = new Map(times.map((t) => [stageKey(t), t.taskTimeMs ?? 0]));
  settleStages(operators, byId, clusters, taskTime);
  for (const o of operators) o.rowsIn = o.from.length ? addKnown(o.from.map((id) => flow(/** @type {Operator} */ (byId.get(id)), byId))) : null;
  return { operators, byId, clusters, taskMs: [...taskTime.values()].reduce((a, b) => a + b, 0), measuredMs: measured(operators, taskTime) };
}

/** @param {SqlNode} node @param {Map<number, SqlNode>} clusters @returns {Operator} */
function operator(node, clusters) {
  const cluster = node.clusterId !== null && clusters.has(node.clusterId) ? node.clusterId : null;
  const codegen = cluster === null ? null : (clusters.get(cluster)?.name.match(/\((\d+)\)/)?.[1] ?? "");
  return {
    node, id: node.id, name: node.name.trim(), from: [], to: [], cluster, codegen, stage: null, ownMs: ownTime(node), driverMs: driverTime(node),
    rows: rowsOut(node), rowsIn: null,
  };
}

/** Sum of what is known of it; null where something is not. @param {(number | null)[]} values @returns {number | null} */
const addKnown = (values) => values.reduce((/** @type {number | null} */ a, b) => (a === null || b === null ? null : a + b), 0);

/** Operators that give on each row they get, and count none. */
const PASSES = /^(Project|GpuProject|Sort|GpuSort|ColumnarToRow|RowToColumnar|InputAdapter|AQEShuffleRead|CustomShuffleReader|WriteFiles|AdaptiveSparkPlan|Gpu\w*CoalesceBatches|GpuColumnarToRow|GpuRowToColumnar)/;
/** Rows on the way out of an operator, also where only an earlier one counted them. @param {Operator} o @param {Map<number, Operator>} byId @returns {number | null} */
export function flow(o, byId) {
  for (let hops = 0; hops < 50 && o.rows === null && o.from.length === 1 && PASSES.test(o.name); hops++) o = /** @type {Operator} */ (byId.get(o.from[0]));
  return o.rows;
}

/**
 * Each operator's stage: of those whose tasks reported for it or for its cluster the one with most task time, an exchange's the one that wrote it (the first); one that reported
 * nothing is where its consumer is, unless an exchange lies between.
 * @param {Operator[]} operators @param {Map<number, Operator>} byId @param {Map<number, SqlNode>} clusters @param {Map<string, number>} taskTime
 */
function settleStages(operators, byId, clusters, taskTime) {
  const mine = (/** @type {SqlNode | undefined} */ n) => (n?.stages ?? []).map(stageKey).filter((k) => taskTime.has(k));
  const busiest = (/** @type {string[]} */ keys) => keys.reduce((/** @type {string | null} */ best, k) => (best === null || (taskTime.get(k) ?? 0) > (taskTime.get(best) ?? 0) ? k : best), null);
  for (const o of operators) {
    const own = mine(o.node);
    if (isExchange(o.name)) o.stage = isShuffle(o.name) ? (own[0] ?? null) : null;
    else o.stage = busiest(o.cluster === null ? [] : mine(clusters.get(o.cluster))) ?? busiest(own);
  }
  // From the result towards the leaves: ids are given in that order (a consumer's is smaller than its producers').
  for (const o of operators) {
    if (o.stage !== null || isExchange(o.name)) continue;
    const consumer = o.to.map((id) => byId.get(id)).find((c) => c && c.stage !== null && (isShuffle(c.name) || !isExchange(c.name)));
    if (consumer) o.stage = consumer.stage;
  }
  // A result that reported nothing is where its only producer is.
  for (const o of [...operators].reverse()) if (o.stage === null && !isExchange(o.name) && o.from.length === 1) {
    const p = /** @type {Operator} */ (byId.get(o.from[0]));
    if (!isExchange(p.name)) o.stage = p.stage;
  }
}

/** Parts of generated code hold what they wait for: a stage's operators cover its task time at most. @param {Operator[]} operators @param {Map<string, number>} taskTime */
function measured(operators, taskTime) {
  /** @type {Map<string, number>} */
  const by = new Map();
  for (const o of operators) if (o.ownMs !== null && o.stage !== null) by.set(o.stage, (by.get(o.stage) ?? 0) + o.ownMs);
  return [...by].reduce((all, [k, v]) => all + Math.min(v, taskTime.get(k) ?? 0), 0);
}

/** Operators below a cache that an earlier query filled: none of their metrics was reported in this one. @param {Plan} plan @returns {Map<number, number[]>} by the scan of the cache */
export function cachedInputs(plan) {
  /** @type {Map<number, number[]>} */
  const out = new Map();
  for (const scan of plan.operators) {
    if (!isCacheScan(scan.name) || !scan.from.length) continue;
    const below = new Set([scan.id]);
    for (const id of below) for (const k of plan.byId.get(id)?.from ?? []) below.add(k);
    below.delete(scan.id);
    const rest = [...below].map((id) => /** @type {Operator} */ (plan.byId.get(id)));
    const leaves = rest.some((o) => o.to.some((c) => c !== scan.id && !below.has(c)));
    if (!leaves && rest.every((o) => o.node.metrics.every((m) => m.reportedCount === null))) out.set(scan.id, [...below]);
  }
  return out;
}

// -- one line that tells two operators of a kind apart

/** As long as a box could show, and no more work for a text of megabytes. */
const SUB_CHARACTERS = 90;
const SHUFFLED = /(?:hash|range|roundrobin)partitioning\([^)]*\)|SinglePartition/i;
const JOIN = /, (Inner|Cross|LeftOuter|RightOuter|FullOuter|LeftSemi|LeftAnti|ExistenceJoin)/;

/** @param {SqlNode} n @returns {string} */
export function subtitle(n) {
  const name = n.name.trim();
  const text = (n.description ?? "").slice(0, 2000).replace(/#\d+L?\b/g, "");
  const rest = text.startsWith(name) ? text.slice(name.length).trim() : text;
  const list = (/** @type {string} */ s) => s.match(/\[([^\]]*)\]/)?.[1] ?? "";
  if (isShuffle(name)) return (text.match(SHUFFLED)?.[0] ?? "").slice(0, SUB_CHARACTERS);
  if (name.includes("Broadcast") && name.includes("Exchange")) return text.includes("IdentityBroadcastMode") ? "nested loop" : "";
  if (name.includes("Scan")) return lastPart(n.metadata.find(([k]) => k === "Location")?.[1] ?? "") ?? list(rest).slice(0, SUB_CHARACTERS);
  if (name.includes("Join")) return [list(rest), text.match(JOIN)?.[1]].filter(Boolean).join(", ").slice(0, SUB_CHARACTERS);
  if (name.includes("Sort") || name.startsWith("TakeOrdered")) return list(rest).replace(/ (ASC|NULLS (FIRST|LAST))\b/g, "").slice(0, SUB_CHARACTERS);
  const keys = rest.match(/keys?=\[([^\]]*)\]/)?.[1];
  if (keys !== undefined) return keys.slice(0, SUB_CHARACTERS);
  return rest.replace(/^[[(](.*)[\])]$/s, "$1").replace(/\s+/g, " ").slice(0, SUB_CHARACTERS);
}

/** "InMemoryFileIndex(1 paths)[file:/data/sales, …]": sales. @param {string} location */
const lastPart = (location) => location.match(/\[[^\],]*?([^/\],]+)\/?[\],]/)?.[1].slice(0, SUB_CHARACTERS);

/** Bytes that say how big its work was: read from files, or put into a shuffle or a broadcast. @param {SqlNode} n */
export const sizeOf = (n) => total(n, "size of files read") ?? total(n, "shuffle bytes written") ?? total(n, "data size") ?? total(n, "written output");

// -- two versions of a plan

/** Numbers that each planning gives anew. @param {SqlNode} n */
const lasting = (n) => `${n.name} ${(n.description ?? "").replace(/,? ?\[(plan_id=|id=#)\d+\]/g, "").replace(/isFinalPlan=\w+/, "")}`;

/**
 * Operators of one version that another does not have: nodes have no names that last, but the texts of their expressions do.
 * @param {SqlNode[]} of @param {SqlNode[]} beside @returns {SqlNode[]}
 */
export function missingFrom(of, beside) {
  /** @type {Map<string, number>} */
  const there = new Map();
  for (const n of beside) if (!n.isCluster) there.set(lasting(n), (there.get(lasting(n)) ?? 0) + 1);
  return of.filter((n) => {
    if (n.isCluster) return false;
    const left = there.get(lasting(n)) ?? 0;
    if (left) there.set(lasting(n), left - 1);
    return !left;
  });
}
