// SPDX-License-Identifier: Apache-2.0
import { Joined } from "../components/cells.jsx";
import { Table } from "../components/table.jsx";
import { count, duration, exactBytes, historyBytes, historyDuration, percent } from "../lib/format.js";
import { t, tx } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { hrefWith } from "../lib/router.js";
import { metricName, pipelineTime } from "../model/plan.js";

/** @typedef {import("../types").SqlMetric} SqlMetric */
/** @typedef {import("../types").App} App */

/** All that the log holds about one operator. @param {{ app: App, plan: import("../model/plan.js").Plan, id: number, change: string | null }} props */
export function NodePanel({ app, plan, id, change }) {
  const o = plan.byId.get(id);
  if (!o) return null;
  const cluster = o.cluster === null ? undefined : plan.clusters.get(o.cluster);
  const took = cluster ? pipelineTime(cluster) : null;
  const own = reported(o.node);
  const silent = o.node.metrics.length - own.length;
  return (
    <aside class="plan-side" aria-label={t("plan.side")}>
      <h3 aria-live="polite">
        {o.name} <span class="dim3">{id}</span>
      </h3>
      <p class="dim">
        {o.ownMs !== null
          ? t("plan.sideOwn", duration(o.ownMs), plan.taskMs ? percent(o.ownMs / plan.taskMs) : null)
          : took !== null
            ? t("plan.sideCode", o.codegen ?? "", duration(took))
            : t("plan.sideNone")}
        {o.driverMs === null ? "" : t("say.gap") + t("plan.sideDriver", duration(o.driverMs))}
      </p>
      {change ? <p class="plan-change">{change}</p> : null}
      {o.node.stages.length ? (
        <p>
          {t("plan.sideStages")}{" "}
          <Joined items={o.node.stages} most={20}>
            {(s) => <a href={paths.stage(app.ref, s.stageId, s.attempt)}>{s.attempt ? `${s.stageId}.${s.attempt}` : s.stageId}</a>}
          </Joined>
        </p>
      ) : null}
      {o.from.length || o.to.length ? (
        <p class="dim">
          {o.from.length ? tx("plan.sideFrom", <Neighbours plan={plan} ids={o.from} />) : null}
          {o.to.length ? tx("plan.sideTo", <Neighbours plan={plan} ids={o.to} />) : null}
        </p>
      ) : null}
      {own.length ? <Metrics app={app} metrics={own} caption={o.name} /> : <p class="note">{t("plan.noMetrics")}</p>}
      {cluster && took !== null ? <Metrics app={app} metrics={reported(cluster)} caption={cluster.name} head={cluster.name} /> : null}
      {silent ? <p class="note">{t("plan.silent", silent)}</p> : null}
      {o.node.metadata.map(([k, v]) => (
        <div key={k} class="plan-meta">
          <h4>{k}</h4>
          <code class="value">{v}</code>
        </div>
      ))}
      {o.node.description ? (
        <>
          <h4>{t("plan.printed")}</h4>
          <pre class="text-block">{o.node.description}</pre>
        </>
      ) : null}
    </aside>
  );
}

/** Metrics that nobody reported have no numbers. @param {import("../types").SqlNode} n */
const reported = (n) => n.metrics.filter((m) => m.reportedCount !== null);

/** @param {{ plan: import("../model/plan.js").Plan, ids: number[] }} props */
const Neighbours = ({ plan, ids }) => (
  <Joined items={ids} most={10}>
    {(id) => (
      <a href={hrefWith({ node: id, view: null })}>
        {plan.byId.get(id)?.name} {id}
      </a>
    )}
  </Joined>
);

/** A number of a metric in the History Server's form. @param {SqlMetric} m @param {number | null} value */
function text(m, value) {
  if (value === null) return "";
  if (m.unit === "bytes") return historyBytes(value);
  if (m.unit === "ms") return historyDuration(value);
  if (m.unit === "ns") return historyDuration(Math.trunc(value / 1e6));
  return count(m.unit === "tenths" ? value / 10 : value);
}
/** @param {SqlMetric} m @param {number | null} value */
const exact = (m, value) => (value === null ? undefined : m.unit === "bytes" ? exactBytes(value) : `${count(value)} ${m.unit === "ms" || m.unit === "ns" ? m.unit : ""}`);

/** Each with its total, and below it how it was spread over tasks. @param {{ app: App, metrics: SqlMetric[], caption: string, head?: string }} props */
const Metrics = ({ app, metrics, caption, head }) => (
  <Table
    caption={caption}
    rows={metrics}
    rowKey={(m) => m.accumulatorId}
    columns={[
      {
        id: "name",
        label: head ?? t("col.metric"),
        cell: (m) => (
          <>
            {metricName(m)}
            {m.max === null ? null : (
              <div class="small dim">
                {tx("plan.spread", <Number metric={m} value={m.min} />, <Number metric={m} value={m.median} />, <Number metric={m} value={m.max} />)} <Where app={app} metric={m} />
              </div>
            )}
          </>
        ),
      },
      // An average has no total.
      { id: "total", label: t("plan.total"), num: true, cell: (m) => (m.unit === "tenths" ? null : <Number metric={m} value={m.total} />) },
    ]}
  />
);

/** @param {{ metric: SqlMetric, value: number | null }} props */
const Number = ({ metric: m, value }) => <span title={exact(m, value)}>{text(m, value)}</span>;

/** Whose the largest value is. Of sums nobody keeps it. @param {{ app: App, metric: SqlMetric }} props */
const Where = ({ app, metric: m }) =>
  m.maxStageId === null ? (
    <>{m.type === "sum" ? "" : `(${t("plan.driverWord")})`}</>
  ) : (
    <a href={paths.stage(app.ref, m.maxStageId, m.maxStageAttempt ?? 0, { task: m.maxTaskId })}>{t("plan.where", `${m.maxStageId}.${m.maxStageAttempt ?? 0}`, m.maxTaskId ?? 0)}</a>
  );
