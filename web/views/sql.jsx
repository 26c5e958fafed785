// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Lasted, TwoLines } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { barColumn, countColumn, linkColumn, momentColumn, sparse } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { Choice, Search, Tools, words } from "../components/filters.jsx";
import { PageFindings, isRead, useFindings } from "../components/findings.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { JobLinks, NestedTable } from "../components/queries.jsx";
import { Severity } from "../components/severity.jsx";
import { Empty, Loaded, Skeleton } from "../components/states.jsx";
import { useData } from "../components/use-data.js";
import { DASH, seconds } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, namesIn, toggleName } from "../lib/router.js";
import { runningFor } from "../model/app.js";
import { LEVELS } from "../model/findings.js";

/** @typedef {import("../types").SqlItem} SqlItem */
/** @typedef {import("../types").App} App */
/** @template T @typedef {import("../components/use-data.js").Asked<T>} Asked */

const FILTERS = ["q", "status", "grade"];
/** So many roots have their nested executions below the list: each is asked for. */
const MOST_OPENED = 50;

/** Which query is slow, and which hurts? @param {{ app: App, version: string }} props */
export function Sql({ app, version }) {
  // Nested executions are below their roots, unless a filter looks for single ones.
  const filtered = FILTERS.some((name) => current().query.has(name));
  /** @type {import("../components/list.jsx").Listing<SqlItem>} */
  const queries = useList(["apps", app.ref, "sql"], { sort: "-duration", filters: FILTERS, version, fixed: { ...(filtered ? {} : { roots: "true" }), ...paths.thresholds(current().query) } });
  const findings = useFindings(app.ref, version);
  const judged = isRead(version) && app.sqlExecutionCount > 0;
  const open = namesIn(current().query, "open");
  // A mark of the list can be that of a stage of the query.
  const marked = queries.asked.data?.items.some((x) => x.worstGrade !== null && LEVELS[x.worstGrade] > 1);
  if (judged && findings.data === undefined && !findings.error) return findings.slow ? <Skeleton rows={10} /> : null;
  return (
    <>
      {judged && findings.data ? <PageFindings appRef={app.ref} version={version} page="sql" none={marked ? t("sql.noneOfPlans") : undefined} /> : null}
      <Section title={t("nav.sql")} note={t("sql.note")}>
        <Tools>
          <Search name="q" label={t("sql.search")} />
          <Choice name="status" label={t("col.status")} any={t("filter.anyStatus")} options={words("status", ["completed", "failed", "running", "unknown"])} />
          <Choice
            name="grade"
            label={t("findings.title")}
            any={t("sql.anyFinding")}
            options={[
              ["info", t("sql.withFinding")],
              ["low", t("sql.atLeast", t("sev.2"))],
              ["moderate", t("sql.atLeast", t("sev.3"))],
              ["severe", t("sev.4")],
            ]}
          />
        </Tools>
        <ListTable
          of={queries}
          rows={10}
          caption={t("nav.sql")}
          columns={columns(app, open)}
          rowKey={(x) => x.id}
          link={(x) => paths.sql(app.ref, x.id)}
          none={<Empty title={t("sql.none")} text={findings.data?.emptyPages?.sql ?? t("sql.noneText")} />}
          noMatch={t("sql.noMatch")}
          foot={filtered ? null : <Opened app={app} ids={[...open].filter((id) => /^\d{1,15}$/.test(id)).slice(0, MOST_OPENED).map(Number)} version={version} />}
        />
      </Section>
    </>
  );
}

/** @param {App} app @param {Set<string>} open roots whose nested executions are shown @returns {import("../components/table.jsx").Column<SqlItem>[]} */
const columns = (app, open) => [
  {
    id: "mark",
    label: <span class="sr">{t("col.mark")}</span>,
    class: "is-mark",
    present: (x) => x.worstGrade !== null,
    cell: (x) => (x.worstGrade === null ? "" : <Severity level={LEVELS[x.worstGrade]} label={x.findingCount ? t("sql.findings", x.findingCount) : undefined} />),
  },
  linkColumn("col.query", (x) => paths.sql(app.ref, x.id), (x) => x.id, { ascending: true }),
  {
    id: "description",
    label: t("col.description"),
    sort: "description",
    class: "is-text",
    cell: (x) => (
      <>
        <TwoLines first={x.description} second={[x.jobGroup, ...x.jobTags].filter(Boolean).join(", ")} />
        {x.errorLine ? (
          <div class="clip bad small" title={x.errorLine}>
            {x.errorLine}
          </div>
        ) : null}
        {x.nestedCount ? (
          <button type="button" class="link small" aria-expanded={open.has(String(x.id))} onClick={() => toggleName("open", String(x.id))}>
            {t("sql.nested", x.nestedCount)}
          </button>
        ) : x.rootExecutionId !== null && x.rootExecutionId !== x.id ? (
          <a class="small" href={paths.sql(app.ref, x.rootExecutionId)}>
            {t("query.partOf", x.rootExecutionId)}
          </a>
        ) : null}
      </>
    ),
  },
  { id: "status", label: t("col.status"), cell: (x) => <Chip of="status" state={x.status} /> },
  momentColumn("col.started", (x) => x.submissionMs, app.startMs, { sort: "submission" }),
  barColumn("col.duration", (x) => x.durationMs ?? runningFor(x, app), { cell: (x, max) => <Lasted ms={x.durationMs} openMs={runningFor(x, app)} max={max} /> }),
  {
    id: "saving",
    label: t("col.saving"),
    title: t("col.saving.title"),
    num: true,
    sort: "saving",
    present: (x) => x.savingMs !== null,
    cell: (x) => <span class={x.savingMs ? "" : "dim3"}>{x.savingMs === null ? DASH : seconds(x.savingMs)}</span>,
  },
  { id: "jobs", label: t("col.jobs"), sort: "jobs", cell: (x) => <JobLinks app={app} query={x} /> },
  countColumn("col.stages", (x) => x.stageCount, { sort: undefined }),
  countColumn("col.planNodes", (x) => x.planNodeCount, { sort: undefined, title: t("col.planNodes.title") }),
  sparse(countColumn("col.planChanges", (x) => x.planChangeCount, { sort: undefined, title: t("col.planChanges.title") })),
];

/** Nested executions of the roots that were opened. @param {{ app: App, ids: number[], version: string }} props */
const Opened = ({ app, ids, version }) => ids.map((id) => <OpenedRoot key={id} app={app} id={id} version={version} />);

/** @param {{ app: App, id: number, version: string }} props */
function OpenedRoot({ app, id, version }) {
  const asked = /** @type {Asked<import("../types").List<SqlItem>>} */ (useData(apiPath(["apps", app.ref, "sql"], { root: id, sort: "id", limit: 1000 }), version));
  return (
    <Section title={t("sql.below", id)}>
      <Loaded from={asked}>{(list) => <NestedTable app={app} caption={t("sql.below", id)} rows={list.items.filter((x) => x.id !== id)} />}</Loaded>
    </Section>
  );
}
