// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { TwoLines } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { barColumn, countColumn, linkColumn, momentColumn } from "../components/columns.jsx";
import { Facts, Section, durationFact, shareFact } from "../components/facts.jsx";
import { FindingList, Judged, isRead, useQueryFindings } from "../components/findings.jsx";
import { Fold } from "../components/fold.jsx";
import { FailureText, MetaText, ObjectHead } from "../components/object-head.jsx";
import { PairTable } from "../components/pair-table.jsx";
import { NestedTable } from "../components/queries.jsx";
import { Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { after, useData } from "../components/use-data.js";
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { mayCome } from "../model/app.js";
import { QueryPlan } from "./query-plan.jsx";
import { PlanText } from "./query-text.jsx";

/** @typedef {import("../types").Sql} Sql */
/** @typedef {import("../types").App} App */
/** @template T @typedef {import("../components/use-data.js").Asked<T>} Asked */

const PANDAS = "pandas_on_Spark.";
/** A statement that the head of the page cuts. */
const LONG = 90;
/** Of more jobs than that the rest is counted. */
const MOST_JOBS = 200;

/** Is it the plan? One SQL execution. @param {{ app: App, id: string, version: string }} props */
export function Query({ app, id, version }) {
  const asked = /** @type {Asked<Sql>} */ (useData(apiPath(["apps", app.ref, "sql", id]), version));
  const findings = useQueryFindings(app.ref, version, id);
  return (
    <Loaded from={isRead(version) ? after(asked, findings) : asked} rows={12} facts back={{ to: paths.page(app.ref, "sql"), label: t("query.toList"), toCome: mayCome(app) }}>
      {(query) => <Found app={app} query={query} findings={findings} version={version} />}
    </Loaded>
  );
}

/** @param {{ app: App, query: Sql, findings: Asked<import("../types").Findings>, version: string }} props */
function Found({ app, query: q, findings, version }) {
  const nested = q.rootExecutionId !== null && q.rootExecutionId !== q.id;
  const taskMs = q.stages.length ? q.stages.reduce((a, s) => a + (s.taskTimeMs ?? 0), 0) : null;
  const [pandas, own] = [q.configs.filter(([k]) => k.startsWith(PANDAS)), q.configs.filter(([k]) => !k.startsWith(PANDAS))];
  return (
    <>
      <ObjectHead title={t("query.title", q.id)} of={{ ...q, name: null, sqlExecutionId: null }} runStartMs={app.startMs}>
        {nested ? <a href={paths.sql(app.ref, q.rootExecutionId ?? 0)}>{t("query.partOf", q.rootExecutionId ?? 0)}</a> : null}
        {q.jobGroup ? <MetaText text={t("job.group", q.jobGroup)} /> : null}
        {q.jobTags.length ? <MetaText text={t("job.tags", q.jobTags.join(", "))} /> : null}
        {q.queryId ? <MetaText text={t("query.queryId", q.queryId)} /> : null}
      </ObjectHead>
      <FailureText text={q.error} />
      {q.status === "unknown" ? <p class="note">{t("query.noEnd")}</p> : null}
      <Facts
        items={[
          shareFact(q.durationMs, app.durationMs),
          [t("col.jobs"), count(q.jobCount), q.failedJobCount ? t("fact.failed", q.failedJobCount) : null],
          [t("col.stages"), count(q.stages.length), t("query.ran")],
          durationFact("col.taskTime", taskMs),
          [t("col.operators"), count(operators(q))],
          q.plans.length ? [t("col.planChanges"), count(q.planChangeCount), q.plans.length > 1 ? t("query.updates", q.plans.length - 1) : null] : null,
        ]}
      />
      <Judged from={findings} version={version} rows={3}>
        {(f) => <FindingList appRef={app.ref} findings={f.findings} />}
      </Judged>
      <QueryPlan app={app} query={q} findings={findings.data?.findings ?? []} version={version} />
      <PlanText app={app} query={q} version={version} />
      {q.description && (q.description.length > LONG || q.description.includes("\n")) ? (
        <Section title={t("col.description")}>
          <pre class="text-block">{q.description}</pre>
        </Section>
      ) : null}
      <Jobs app={app} jobs={q.jobs} />
      <Nested app={app} query={q} version={version} />
      {own.length ? <Configs title={t("query.configs")} note={t("query.configsNote")} pairs={own} /> : null}
      {pandas.length ? <Configs title={t("query.pandas")} pairs={pandas.map(([k, v]) => [k.slice(PANDAS.length), v])} /> : null}
      {q.details ? (
        <Section title={t("stage.details")}>
          <Fold name="details" title={t("stage.detailsShow")}>
            <pre class="text-block">{q.details}</pre>
          </Fold>
        </Section>
      ) : null}
    </>
  );
}

/** Generated code is no operator. @param {Sql} q */
const operators = (q) => (!q.nodes.length ? null : q.nextNode === null ? q.nodes.filter((n) => !n.isCluster).length : q.nodeCount);

/** @param {{ title: string, note?: string, pairs: [string, string | null][] }} props */
const Configs = ({ title, note, pairs }) => (
  <Section title={title} note={note}>
    <PairTable caption={title} pairs={pairs} heads={["col.key", "col.value"]} />
  </Section>
);

/** @param {{ app: App, jobs: import("../types").JobItem[] }} props */
function Jobs({ app, jobs }) {
  if (!jobs.length) return null;
  return (
    <Section title={t("nav.jobs")}>
      <Table
        id="job"
        caption={t("nav.jobs")}
        whole
        most={MOST_JOBS}
        rows={jobs}
        rowKey={(j) => j.jobId}
        sort={current().query.get("jobsort") ?? "id"}
        link={(j) => paths.job(app.ref, j.jobId)}
        columns={[
          linkColumn("col.job", (j) => paths.job(app.ref, j.jobId), (j) => j.jobId, { ascending: true }),
          { id: "what", label: t("col.description"), class: "is-text", cell: (j) => <TwoLines first={j.description ?? j.name} second={j.tags.join(", ")} /> },
          { id: "status", label: t("col.status"), cell: (j) => <Chip of="status" state={j.status} /> },
          momentColumn("col.started", (j) => j.submissionMs, app.startMs, { sort: "submission" }),
          barColumn("col.duration", (j) => j.durationMs),
          { id: "stages", label: t("col.stages"), num: true, cell: (j) => t("jobs.stages", j.completedStages ?? 0, j.skippedStages ?? 0) },
          countColumn("col.tasks", (j) => j.numTasks, { sort: undefined }),
        ]}
      />
      {jobs.length > MOST_JOBS ? <p class="note">{t("list.more", jobs.length - MOST_JOBS)}</p> : null}
    </Section>
  );
}

/** What this query started below itself, or what was started beside it. @param {{ app: App, query: Sql, version: string }} props */
function Nested({ app, query: q, version }) {
  const root = q.rootExecutionId ?? q.id;
  const asked = /** @type {Asked<import("../types").List<import("../types").SqlItem>>} */ (
    useData(apiPath(["apps", app.ref, "sql"], { root, sort: "id", limit: 1000 }), version)
  );
  const others = asked.data?.items.filter((x) => x.id !== q.id) ?? [];
  if (!others.length) return null;
  return (
    <Section title={t("query.nested")} note={t(root === q.id ? "query.nestedNote" : "query.besideNote")}>
      <NestedTable app={app} caption={t("query.nested")} rows={others} />
      {asked.data && asked.data.total > asked.data.items.length ? <p class="note">{t("list.more", asked.data.total - asked.data.items.length)}</p> : null}
    </Section>
  );
}
