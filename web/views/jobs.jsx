// SPDX-License-Identifier: Apache-2.0
import { Lasted, TaskCount, TwoLines, WithBad } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { badColumn, barColumn, countColumn, linkColumn, momentColumn } from "../components/columns.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { PageFindings, isRead } from "../components/findings.jsx";
import { Choice, Search, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty, InOrder } from "../components/states.jsx";
import { Timeline, useTimeline } from "../components/timeline.jsx";
import { count, percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { callSite, runningFor } from "../model/app.js";

/** @typedef {import("../types").JobItem} JobItem */

/** Which action is slow? @param {{ app: import("../types").App, version: string }} props */
export function Jobs({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<JobItem>} */
  const jobs = useList(["apps", app.ref, "jobs"], { sort: "-duration", filters: ["q", "status"], version });
  const timeline = useTimeline(app.ref, version);
  return (
    <>
      <Facts
        items={[
          durationFact("col.duration", app.durationMs, app.complete || app.durationMs === null ? null : t("fact.soFar")),
          [t("col.jobs"), count(app.jobCount), app.failedJobCount ? t("fact.failed", app.failedJobCount) : null],
          app.health?.jobsWithoutEnd ? [t("status.unknown"), count(app.health.jobsWithoutEnd)] : null,
          [t("jobs.scheduling"), app.schedulerMode ?? "FIFO", app.schedulerMode ? null : t("jobs.schedulingUsual")],
        ]}
      />
      <PageFindings appRef={app.ref} version={version} page="jobs" />
      <Section title={t("nav.jobs")} note={t("jobs.note")}>
        <Tools>
          <Search name="q" label={t("jobs.search")} />
          <Choice name="status" label={t("col.status")} any={t("filter.anyStatus")} options={words("status", ["succeeded", "failed", "running", "unknown"])} />
        </Tools>
        <ListTable
          of={jobs}
          rows={10}
          caption={t("nav.jobs")}
          columns={columns(app)}
          rowKey={(j) => j.jobId}
          link={(j) => paths.job(app.ref, j.jobId)}
          none={<Empty title={t("jobs.none")} text={t("jobs.noneText")} />}
          noMatch={t("jobs.noMatch")}
        />
      </Section>
      {isRead(version) ? <InOrder parts={[[[jobs.asked, timeline], <Timeline app={app} version={version} asked={timeline} />]]} /> : null}
    </>
  );
}

/** @param {import("../types").App} app @returns {import("../components/table.jsx").Column<JobItem>[]} */
const columns = (app) => [
  linkColumn("col.job", (j) => paths.job(app.ref, j.jobId), (j) => j.jobId, { ascending: true }),
  {
    id: "name",
    label: t("col.description"),
    sort: "name",
    class: "is-text",
    cell: (j) => (
      <TwoLines first={j.description ?? callSite(j.name)} title={j.description ?? j.name} second={j.description ? callSite(j.name) : null} secondTitle={j.name} />
    ),
  },
  { id: "status", label: t("col.status"), cell: (j) => <Chip of="status" state={j.status} /> },
  momentColumn("col.started", (j) => j.submissionMs, app.startMs, { sort: "submission" }),
  barColumn("col.duration", (j) => j.durationMs ?? runningFor(j, app), { cell: (j, max) => <Lasted ms={j.durationMs} openMs={runningFor(j, app)} max={max} /> }),
  { id: "share", label: t("col.ofRun"), num: true, cell: (j) => percent(j.durationMs !== null && app.durationMs ? j.durationMs / app.durationMs : null) },
  {
    id: "stages",
    label: t("col.stages"),
    num: true,
    sort: "stages",
    cell: (j) => (
      <WithBad bad={j.failedStages ? t("jobs.failedStages", j.failedStages) : null}>{t("jobs.stages", j.completedStages ?? 0, j.skippedStages ?? 0)}</WithBad>
    ),
  },
  countColumn("col.tasks", (j) => j.numTasks, { cell: (j) => <TaskCount of={j} done={j.completedIndices} /> }),
  badColumn("col.failedTasks", (j) => j.failedTasks),
  {
    id: "group",
    label: t("col.group"),
    present: (j) => j.jobGroup,
    cell: (j) => (
      <span class="clip is-user dim" title={j.jobGroup ?? undefined}>
        {j.jobGroup ?? ""}
      </span>
    ),
  },
  {
    id: "sql",
    label: t("col.query"),
    num: true,
    present: (j) => j.sqlExecutionId !== null,
    cell: (j) => (j.sqlExecutionId === null ? "" : <a href={paths.sql(app.ref, j.sqlExecutionId)}>{count(j.sqlExecutionId)}</a>),
  },
];
