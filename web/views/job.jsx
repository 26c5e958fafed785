// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { JobAccount, useJobAccount } from "../components/account-sections.jsx";
import { FindingList, Judged, Later, isRead, useSubjectFindings } from "../components/findings.jsx";
import { Facts, Section, shareFact } from "../components/facts.jsx";
import { Fold } from "../components/fold.jsx";
import { Choice, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { FailureText, MetaText, ObjectHead } from "../components/object-head.jsx";
import { PairTable } from "../components/pair-table.jsx";
import { RddGraph } from "../components/rdd-graph.jsx";
import { STAGE_STATUSES, stageColumns, stageRows } from "../components/stage-columns.jsx";
import { Empty, InOrder, Loaded } from "../components/states.jsx";
import { Timeline, useTimeline } from "../components/timeline.jsx";
import { useData } from "../components/use-data.js";
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { mayCome } from "../model/app.js";

/** @typedef {import("../types").Job} JobData */

/** So many reasons why tasks were killed are named. */
const KILL_REASONS = 3;

/** One job and the stages it asked for. @param {{ app: import("../types").App, id: string, version: string }} props */
export function Job({ app, id, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<JobData>} */ (useData(apiPath(["apps", app.ref, "jobs", id], paths.thresholds(current().query)), version));
  return (
    <Loaded from={asked} rows={6} facts back={{ to: paths.page(app.ref, "jobs"), label: t("error.toJobs"), toCome: mayCome(app) }}>
      {(job) => <Found app={app} job={job} version={version} />}
    </Loaded>
  );
}

/** @param {{ app: import("../types").App, job: JobData, version: string }} props */
function Found({ app, job, version }) {
  const read = isRead(version);
  const findings = useSubjectFindings(app.ref, version, "job", String(job.jobId));
  const account = useJobAccount(app.ref, version, job.jobId);
  const timeline = useTimeline(app.ref, version, job.jobId);
  return (
    <>
      <ObjectHead title={t("job.title", job.jobId)} of={job} runStartMs={app.startMs} query={paths.sql(app.ref, job.sqlExecutionId ?? 0)}>
        {job.jobGroup ? <MetaText text={t("job.group", job.jobGroup)} /> : null}
        {job.tags.length ? <MetaText text={t("job.tags", job.tags.join(", "))} /> : null}
      </ObjectHead>
      <FailureText text={job.failure} />
      {job.status === "unknown" ? <p class="note">{t("job.noEnd")}</p> : null}
      <Facts
        items={[
          shareFact(job.durationMs, app.durationMs),
          [
            t("col.stages"),
            count(job.completedStages === null ? null : job.completedStages + (job.failedStages ?? 0)),
            job.failedStages ? t("fact.failed", job.failedStages) : job.skippedStages ? t("fact.skipped", job.skippedStages) : null,
          ],
          [t("col.tasks"), count(job.completedTasks), t("fact.ofAll", count(job.numTasks))],
          job.failedTasks ? [t("col.failedTasks"), count(job.failedTasks)] : null,
          job.killedTasks ? [t("col.killedTasks"), count(job.killedTasks), job.killReasons.slice(0, KILL_REASONS).map((k) => `${count(k.count)} ${k.reason ?? ""}`).join(", ")] : null,
          job.skippedTasks ? [t("fact.skippedTasks"), count(job.skippedTasks), t("fact.outputReused")] : null,
        ]}
      />
      <InOrder
        parts={[
          [read ? [findings] : [], read ? <Judged from={findings} version={version}>{(of) => <FindingList appRef={app.ref} findings={of.findings} />}</Judged> : <Later />],
          [read ? [account] : [], read ? <JobAccount version={version} asked={account} /> : null],
          [read ? [timeline] : [], read && job.submissionMs !== null ? <Timeline app={app} version={version} asked={timeline} job={job} /> : null],
          [[], <Parts app={app} job={job} version={version} />],
        ]}
      />
    </>
  );
}

/** What it consists of. @param {{ app: import("../types").App, job: JobData, version: string }} props */
function Parts({ app, job, version }) {
  /** @type {import("../components/list.jsx").Listing<import("../types").StageItem>} */
  const stages = useList(["apps", app.ref, "stages"], { sort: "-duration", limit: 100, filters: ["status"], fixed: { job: String(job.jobId), ...paths.thresholds(current().query) }, version });
  // Columns that lead to the stages of one job or query would lead here; task time has a bar.
  const columns = stageColumns({ ref: app.ref, startMs: app.startMs }).filter((c) => !["job", "sql", "taskTime"].includes(c.id));
  return (
    <InOrder
      parts={[
        [
          [stages.asked],
          <Section title={t("nav.stages")} note={t("job.stagesNote")}>
            {job.stages.length > 1 ? (
              <Tools>
                <Choice name="status" label={t("col.status")} any={t("filter.anyStatus")} options={words("status", STAGE_STATUSES)} />
              </Tools>
            ) : null}
            <ListTable
              of={stages}
              rows={Math.min(10, job.stages.length)}
              caption={t("nav.stages")}
              columns={columns}
              {...stageRows(app.ref)}
              none={<Empty title={t("stages.none")} />}
              noMatch={t("stages.noMatch")}
            />
          </Section>,
        ],
        [
          [],
          <>
            {job.properties.length ? (
              <Section title={t("job.properties")} note={t("job.propertiesNote")}>
                <Fold name="properties" title={t("job.propertiesShow", job.properties.length)}>
                  <PairTable caption={t("job.properties")} pairs={job.properties} heads={["col.key", "col.value"]} />
                </Fold>
              </Section>
            ) : null}
            <Section title={t("dag.title")} note={t("dag.note")}>
              <RddGraph app={app} of={["jobs", job.jobId]} version={version} />
            </Section>
          </>,
        ],
      ]}
    />
  );
}
