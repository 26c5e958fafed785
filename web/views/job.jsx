// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Chip } from "../components/chips.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { stageColumns, stageName, ran } from "../components/stage-columns.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { count, duration, exactMs, offset, percent, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** @typedef {import("../types").Job} JobData */

/** One job and the stages it asked for. @param {{ app: import("../types").App, id: string, version: string }} props */
export function Job({ app, id, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<JobData>} */ (useData(apiPath(["apps", app.ref, "jobs", id]), version));
  return (
    <Loaded from={asked} rows={6} facts back={{ to: paths.page(app.ref, "jobs"), label: t("error.toJobs") }}>
      {(job) => <Found app={app} job={job} />}
    </Loaded>
  );
}

/** @param {{ app: import("../types").App, job: JobData }} props */
function Found({ app, job }) {
  const rows = [...job.stages].sort((a, b) => Number(ran(b)) - Number(ran(a)) || (b.durationMs ?? -1) - (a.durationMs ?? -1));
  return (
    <>
      <div class="head is-sub">
        <div class="head-main">
          <div class="head-title">
            <h2 class="head-name">{t("job.title", job.jobId)}</h2>
            <Chip of="status" state={job.status} />
          </div>
          <div class="head-meta">
            {job.description ? (
              <span class="clip" title={job.description}>
                {job.description}
              </span>
            ) : null}
            {job.name ? (
              <span class="clip" title={job.name}>
                {job.name}
              </span>
            ) : null}
            {job.submissionMs !== null ? (
              <span>
                {time(job.submissionMs)} {zoneName(job.submissionMs)}
                {app.startMs !== null ? ` (${offset(job.submissionMs - app.startMs)})` : ""}
              </span>
            ) : null}
            {job.jobGroup ? (
              <span class="clip" title={job.jobGroup}>
                {t("job.group", job.jobGroup)}
              </span>
            ) : null}
            {job.tags.length ? <span class="clip">{t("job.tags", job.tags.join(", "))}</span> : null}
            {job.sqlExecutionId !== null ? <span>{t("job.query", job.sqlExecutionId)}</span> : null}
          </div>
        </div>
      </div>
      {job.failure ? (
        <Section title={t("col.failure")}>
          <pre class="text-block">{job.failure}</pre>
        </Section>
      ) : null}
      {job.status === "unknown" ? <p class="note">{t("job.noEnd")}</p> : null}
      <Facts
        items={[
          [
            t("col.duration"),
            duration(job.durationMs),
            job.durationMs !== null && app.durationMs ? t("fact.ofRun", percent(job.durationMs / app.durationMs)) : null,
            exactMs(job.durationMs),
          ],
          [
            t("col.stages"),
            count(job.completedStages === null ? null : job.completedStages + (job.failedStages ?? 0)),
            job.failedStages ? t("fact.failed", job.failedStages) : job.skippedStages ? t("fact.skipped", job.skippedStages) : null,
          ],
          [t("col.tasks"), count(job.completedTasks), t("fact.ofAll", count(job.numTasks))],
          job.failedTasks ? [t("col.failedTasks"), count(job.failedTasks)] : null,
          job.killedTasks ? [t("col.killedTasks"), count(job.killedTasks)] : null,
          job.skippedTasks ? [t("fact.skippedTasks"), count(job.skippedTasks), t("fact.outputReused")] : null,
        ]}
      />
      <Section title={t("nav.stages")} note={t("job.stagesNote")}>
        {rows.length ? (
          <Table
            caption={t("nav.stages")}
            rows={rows}
            rowKey={stageName}
            link={(s) => paths.stage(app.ref, s.stageId, s.attempt)}
            rowClass={(s) => (ran(s) ? "" : "is-off")}
            columns={stageColumns({ ref: app.ref, startMs: app.startMs, rows, sortable: false })}
          />
        ) : (
          <Empty title={t("stages.none")} />
        )}
      </Section>
      {job.properties.length ? (
        <Section title={t("job.properties")} note={t("job.propertiesNote")}>
          <details class="fold">
            <summary>{t("job.propertiesShow", job.properties.length)}</summary>
            <Table
              caption={t("job.properties")}
              rows={job.properties}
              rowKey={(p) => p[0]}
              columns={[
                { id: "k", label: t("col.key"), class: "is-key", cell: (p) => <code>{p[0]}</code> },
                { id: "v", label: t("col.value"), cell: (p) => <code class="value">{p[1] ?? "\u2014"}</code> },
              ]}
            />
          </details>
        </Section>
      ) : null}
    </>
  );
}
