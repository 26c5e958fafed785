// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { BadCount, Bar, columnMax } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { Section } from "../components/facts.jsx";
import { Choice, Search } from "../components/filters.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table, tableQuery } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { count, duration, exactMs, offset, percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";

/** @typedef {import("../types").JobItem} JobItem */

/** Which action is slow? @param {{ app: import("../types").App, version: string }} props */
export function Jobs({ app, version }) {
  const q = current().query;
  const table = tableQuery("", { sort: "-duration" });
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").List<JobItem>>} */ (
    useData(apiPath(["apps", app.ref, "jobs"], { q: q.get("q"), status: q.get("status"), ...table }), version)
  );
  const filtered = q.has("q") || q.has("status");
  return (
    <Section title={t("nav.jobs")} note={t("jobs.note")}>
      <div class="tbl-tools no-print">
        <Search name="q" label={t("jobs.search")} reset="page" />
        <Choice
          name="status"
          label={t("col.status")}
          reset="page"
          options={[
            ["", t("filter.anyStatus")],
            ["succeeded", t("status.succeeded")],
            ["failed", t("status.failed")],
            ["running", t("status.running")],
            ["unknown", t("status.unknown")],
          ]}
        />
      </div>
      <Loaded from={asked} rows={10}>
        {(list) =>
          list.items.length ? (
            <Table
              caption={t("nav.jobs")}
              columns={columns(app, list.items)}
              rows={list.items}
              rowKey={(j) => j.jobId}
              sort={table.sort}
              page={list}
              link={(j) => paths.job(app.ref, j.jobId)}
            />
          ) : filtered ? (
            <Empty title={t("jobs.noMatch")}>
              <p>
                <a href={paths.page(app.ref, "jobs")}>{t("filter.clear")}</a>
              </p>
            </Empty>
          ) : (
            <Empty title={t("jobs.none")}>
              <p>{t("jobs.noneText")}</p>
            </Empty>
          )
        }
      </Loaded>
    </Section>
  );
}

/** @param {import("../types").App} app @param {JobItem[]} rows @returns {import("../components/table.jsx").Column<JobItem>[]} */
function columns(app, rows) {
  const max = columnMax(rows, (j) => j.durationMs);
  return [
    {
      id: "id",
      label: t("col.job"),
      sort: "id",
      ascending: true,
      cell: (j) => (
        <a class="strong" href={paths.job(app.ref, j.jobId)}>
          {j.jobId}
        </a>
      ),
    },
    {
      id: "name",
      label: t("col.description"),
      sort: "name",
      class: "is-text",
      cell: (j) => (
        <div class="two-lines">
          <div class="clip" title={j.description ?? j.name ?? undefined}>
            {j.description ?? j.name ?? "\u2014"}
          </div>
          {j.description && j.name ? <div class="clip dim3 small">{j.name}</div> : null}
        </div>
      ),
    },
    { id: "status", label: t("col.status"), cell: (j) => <Chip of="status" state={j.status} /> },
    {
      id: "submission",
      label: t("col.started"),
      num: true,
      ascending: true,
      sort: "submission",
      cell: (j) => (j.submissionMs !== null && app.startMs !== null ? offset(j.submissionMs - app.startMs) : "\u2014"),
    },
    {
      id: "duration",
      label: t("col.duration"),
      num: true,
      sort: "duration",
      cell: (j) => <Bar value={j.durationMs} max={max} text={duration(j.durationMs)} title={exactMs(j.durationMs)} />,
    },
    { id: "share", label: t("col.ofRun"), num: true, cell: (j) => percent(j.durationMs !== null && app.durationMs ? j.durationMs / app.durationMs : null) },
    {
      id: "stages",
      label: t("col.stages"),
      num: true,
      sort: "stages",
      cell: (j) => (
        <div class="two-lines">
          <div>{t("jobs.stages", j.completedStages ?? 0, j.skippedStages ?? 0)}</div>
          {j.failedStages ? <div class="bad small">{t("jobs.failedStages", j.failedStages)}</div> : null}
        </div>
      ),
    },
    { id: "tasks", label: t("col.tasks"), num: true, sort: "tasks", cell: (j) => count(j.numTasks) },
    { id: "failedTasks", label: t("col.failedTasks"), num: true, sort: "failedTasks", cell: (j) => <BadCount value={j.failedTasks} /> },
    {
      id: "group",
      label: t("col.group"),
      off: !rows.some((j) => j.jobGroup),
      cell: (j) => (
        <span class="clip is-user dim" title={j.jobGroup ?? undefined}>
          {j.jobGroup ?? ""}
        </span>
      ),
    },
    { id: "sql", label: t("col.query"), num: true, off: !rows.some((j) => j.sqlExecutionId !== null), cell: (j) => count(j.sqlExecutionId) },
  ];
}
