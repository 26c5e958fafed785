// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Clip, Joined } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { useColumns } from "../components/column-choice.jsx";
import { barColumn, countColumn, durationColumn, momentColumn, sparse } from "../components/columns.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { Choice, Search, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { FailureText, TextBlock } from "../components/object-head.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { useData } from "../components/use-data.js";
import { DASH, count, offset, time, zoneName } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { mayCome } from "../model/app.js";

/** @typedef {import("../types").OperationItem} OperationItem */
/** @typedef {import("../types").App} App */

/** Columns that are shown when somebody chooses them. */
const EXTRA = new Set(["finished", "closed", "group", "jobTag", "operationId"]);

/** The statements of all sessions, or of one. @param {{ app: App, version: string, session?: string }} props */
export function Operations({ app, version, session }) {
  /** @type {import("../components/list.jsx").Listing<OperationItem>} */
  const operations = useList(["apps", app.ref, "operations"], { sort: "-start", filters: ["q", "state", "outcome"], version, fixed: { session: session ?? null } });
  const { shown, tool } = useColumns("operations", columns(app, session), EXTRA, new Set(["statement"]));
  return (
    <Section title={t("operations.title")} note={t("operations.note")}>
      <Tools>
        <Search name="q" label={t("operations.search")} />
        <Choice name="outcome" label={t("col.status")} any={t("filter.anyStatus")} options={words("operation", ["finished", "failed", "timedOut", "canceled"])} />
        <Choice
          name="state"
          label={t("operations.state")}
          any={t("operations.anyState")}
          options={words("operation", ["started", "compiled", "ready", "finished", "failed", "timedOut", "canceled", "closed"])}
        />
        <span class="tools-end">{tool}</span>
      </Tools>
      <ListTable
        of={operations}
        rows={6}
        caption={t("operations.title")}
        columns={shown}
        rowKey={(o) => o.id}
        link={(o) => paths.operation(app.ref, o.id)}
        noMatch={t("operations.noMatch")}
        none={<Empty title={t("operations.none")} text={t("operations.noneText")} />}
      />
    </Section>
  );
}

/** @param {App} app @param {number[]} ids */
const jobs = (app, ids) => (
  <Joined items={ids} most={6}>
    {(id) => <a href={paths.job(app.ref, id)}>{id}</a>}
  </Joined>
);
/** @param {App} app @param {number[]} ids */
const queries = (app, ids) => (
  <Joined items={ids} most={6}>
    {(id) => <a href={paths.sql(app.ref, id)}>{id}</a>}
  </Joined>
);

/** Its outcome says more than the state behind it: a failed statement that was closed is a failed one. @param {{ o: OperationItem }} props */
const State = ({ o }) => (
  <>
    <Chip of="operation" state={o.outcome ?? o.state} />
    {o.outcome && o.outcome !== o.state ? <span class="dim3 small"> {word("operation", o.state)}</span> : null}
  </>
);

/** @param {App} app @param {string | undefined} session @returns {import("../components/table.jsx").Column<OperationItem>[]} */
const columns = (app, session) => [
  {
    id: "statement",
    label: t("operations.statement"),
    class: "is-text",
    cell: (o) => (
      <a class="strong clip mono" href={paths.operation(app.ref, o.id)} title={o.statement ?? undefined}>
        {o.statement?.trim() || o.operationId || String(o.id)}
      </a>
    ),
  },
  { id: "state", label: t("operations.state"), class: "nowrap", sort: "state", cell: (o) => <State o={o} /> },
  { id: "user", label: t("col.user"), sort: "user", cell: (o) => <Clip text={o.user} class="is-user" /> },
  ...(session === undefined
    ? [
        /** @type {import("../components/table.jsx").Column<OperationItem>} */ ({
          id: "session",
          label: t("col.session"),
          cell: (o) =>
            o.sessionId === null ? (
              DASH
            ) : (
              <a class="clip is-user mono" href={paths.session(app.ref, o.sessionId)} title={o.sessionId}>
                {o.sessionId}
              </a>
            ),
        }),
      ]
    : []),
  momentColumn("col.started", (o) => o.startMs, app.startMs, { sort: "start" }),
  momentColumn("operations.finished", (/** @type {OperationItem} */ o) => o.finishMs, app.startMs, { id: "finished", sort: "finish" }),
  momentColumn("operations.closed", (/** @type {OperationItem} */ o) => o.closeMs, app.startMs, { id: "closed", sort: undefined }),
  barColumn("operations.executionTime", (o) => o.executionTimeMs, { sort: "executionTime" }),
  durationColumn("col.duration", (o) => o.durationMs, { title: t("operations.duration.title") }),
  { id: "jobs", label: t("col.jobs"), class: "ids", present: (o) => o.jobIds.length, cell: (o) => jobs(app, o.jobIds) },
  { id: "sql", label: t("operations.queries"), class: "ids", present: (o) => o.sqlExecutionIds.length, cell: (o) => queries(app, o.sqlExecutionIds) },
  sparse(countColumn("operations.rows", (/** @type {OperationItem} */ o) => o.producedRows, { sort: "rows" })),
  { id: "group", label: t("col.group"), cell: (o) => <Clip text={o.jobGroup} class="is-user mono" /> },
  { id: "jobTag", label: t("operations.jobTag"), cell: (o) => <Clip text={o.jobTag} class="is-user mono" /> },
  { id: "operationId", label: t("operations.id"), cell: (o) => <Clip text={o.operationId} class="is-user mono" /> },
  { id: "tags", label: t("operations.tags"), present: (o) => o.tags.length, cell: (o) => <Clip text={o.tags.join(", ")} class="is-user" /> },
  { id: "error", label: t("col.failure"), class: "is-text", present: (o) => o.error, cell: (o) => <Clip text={o.error?.split("\n", 1)[0] ?? null} title={o.error} class={o.error ? "bad" : "dim3"} /> },
];

/** One statement: what was asked, how it went, which jobs and queries ran for it. @param {{ app: App, id: string, version: string }} props */
export function Operation({ app, id, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").Operation>} */ (useData(apiPath(["apps", app.ref, "operations", id]), version));
  const at = (/** @type {number | null} */ ms) => (ms !== null && app.startMs !== null ? offset(ms - app.startMs) : DASH);
  return (
    <Loaded from={asked} rows={8} facts back={{ to: paths.page(app.ref, "sessions"), label: t("nav.sessions"), toCome: mayCome(app) }}>
      {(o) => (
        <>
          <div class="head is-sub">
            <div class="head-main">
              <div class="head-title">
                <h2 class="head-name">{t("operation.title", id)}</h2>
                <State o={o} />
              </div>
              <div class="head-meta">
                <span>{word("server", o.server)}</span>
                {o.operationId ? <code>{o.operationId}</code> : null}
                {o.sessionId ? <a href={paths.session(app.ref, o.sessionId)}>{t("session.title", o.sessionId)}</a> : null}
                {o.startMs !== null ? (
                  <span>
                    {time(o.startMs)} {zoneName(o.startMs)}
                  </span>
                ) : null}
              </div>
            </div>
          </div>
          <FailureText text={o.error} />
          <Facts
            items={[
              durationFact("operations.executionTime", o.executionTimeMs),
              durationFact("col.duration", o.durationMs, t("operations.untilClosed")),
              [t("col.started"), at(o.startMs)],
              [t("operations.finished"), at(o.finishMs)],
              [t("operations.closed"), at(o.closeMs)],
              [t("col.user"), o.user ?? DASH],
              o.producedRows !== null ? [t("operations.rows"), count(o.producedRows)] : null,
              o.jobIds.length ? [t("col.jobs"), jobs(app, o.jobIds)] : null,
              o.sqlExecutionIds.length ? [t("operations.queries"), queries(app, o.sqlExecutionIds)] : null,
              o.jobGroup ? [t("col.group"), <code class="value">{o.jobGroup}</code>] : null,
              o.jobTag ? [t("operations.jobTag"), <code class="value">{o.jobTag}</code>] : null,
              o.tags.length ? [t("operations.tags"), o.tags.join(", ")] : null,
            ]}
          />
          <TextBlock title={t("operations.statement")} text={o.statement} />
          <TextBlock title={t("operations.plan")} text={o.plan} />
          <TextBlock title={t("operations.trace")} text={o.trace} />
        </>
      )}
    </Loaded>
  );
}
