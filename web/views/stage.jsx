// SPDX-License-Identifier: Apache-2.0
import { apiPath, wordedPath } from "../api.js";
import { FindingList, isRead, useStageFindings } from "../components/findings.jsx";
import { Section } from "../components/facts.jsx";
import { Fold } from "../components/fold.jsx";
import { FailureText } from "../components/object-head.jsx";
import { ran } from "../components/stage-columns.jsx";
import { StageDag } from "../components/stage-dag.jsx";
import { Empty, Loaded, Skeleton } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { mayCome } from "../model/app.js";
import { slowTask } from "../model/findings.js";
import { Causes, StageAccount } from "./stage/account.jsx";
import { Charts } from "./stage/charts.jsx";
import { Distribution } from "./stage/distribution.jsx";
import { Errors } from "./stage/errors.jsx";
import { ByExecutor, ByHost } from "./stage/executors.jsx";
import { Head, Numbers, StageVerdict } from "./stage/head.jsx";
import { Tasks } from "./stage/tasks.jsx";
import { Timeline } from "./stage/timeline.jsx";
import { WhySlow } from "./stage/why.jsx";

/** @typedef {import("../types").Stage} StageData */
/** @typedef {import("../types").App} App */
/** @typedef {import("../types").Finding} Finding */
/** @template T @typedef {import("../components/use-data.js").Asked<T>} Asked */

/** Why is this stage slow? Why was this task slow? The parts of the page are in views/stage/. @param {{ app: App, id: string, version: string }} props id: "14.0" */
export function Stage({ app, id, version }) {
  const name = /^\d+$/.test(id) ? `${id}.0` : id;
  const asked = /** @type {Asked<StageData>} */ (useData(apiPath(["apps", app.ref, "stages", name], paths.thresholds(current().query)), version));
  return (
    <Loaded from={asked} rows={10} facts back={{ to: paths.page(app.ref, "stages"), label: t("error.toStages"), toCome: mayCome(app) }}>
      {(stage) => <Found app={app} stage={stage} version={version} />}
    </Loaded>
  );
}

/** Max ÷ median from which the slowest task is explained without being asked about. */
const EXPLAINED_FROM = 2;

/** The task to explain: the one that was picked, else the one that the verdict names, else the slowest where it is that much slower. @param {StageData} s @param {Finding[]} findings of the stage @returns {string | null} */
function explained(s, findings) {
  const picked = current().query.get("task");
  if (picked !== null && /^\d+$/.test(picked)) return picked;
  const named = slowTask(findings);
  if (named !== null) return named;
  return s.slowestTaskId !== null && s.medianMs && s.maxMs && s.maxMs >= EXPLAINED_FROM * s.medianMs ? String(s.slowestTaskId) : null;
}

/** @param {{ app: App, stage: StageData, version: string }} props */
function Found({ app, stage: s, version }) {
  const name = `${s.stageId}.${s.attempt}`;
  const judged = isRead(version) && ran(s);
  const analysis = /** @type {Asked<import("../types").StageAnalysis>} */ (useData(judged ? wordedPath(["apps", app.ref, "stages", name, "analysis"]) : null, version));
  const findings = useStageFindings(app.ref, version, name);
  const known = !judged || findings.data !== undefined || findings.error;
  const task = ran(s) && known ? explained(s, findings.data?.findings ?? []) : null;
  const tasks = /** @type {Asked<import("../types").TaskList>} */ (useData(task === null ? null : apiPath(["apps", app.ref, "stages", name, "tasks"], { task, limit: 1 }), version));
  // What analysis has to say stands above everything, and the task next: the page waits for them rather than jump. A stage without an analysis (404), or a run without one (409), has nothing to say.
  const waits = (judged && [analysis, findings].some((x) => x.data === undefined && !x.error)) || (task !== null && tasks.data === undefined && !tasks.error);
  return (
    <>
      <Head app={app} stage={s} />
      {waits ? (
        <Skeleton rows={10} facts />
      ) : (
        <>
          {ran(s) ? (
            <Ran app={app} stage={s} analysis={analysis.data ?? null} findings={findings.data ?? null} task={task} tasks={tasks} version={version} />
          ) : (
            <Empty
              title={t(s.status === "skipped" ? "stage.wasSkipped" : "stage.isPending", s.stageId)}
              text={t(s.status === "skipped" ? "stage.wasSkippedText" : "stage.isPendingText")}
            />
          )}
          <StageDag app={app} name={name} version={version} />
          {s.details ? (
            <Section title={t("stage.details")}>
              <Fold name="details" title={t("stage.detailsShow")}>
                <pre class="text-block">{s.details}</pre>
              </Fold>
            </Section>
          ) : null}
        </>
      )}
    </>
  );
}

/**
 * @param {{ app: App, stage: StageData, analysis: import("../types").StageAnalysis | null, findings: import("../types").Findings | null, task: string | null,
 *   tasks: Asked<import("../types").TaskList>, version: string }} props task: to explain; tasks: the answer about it
 */
function Ran({ app, stage: s, analysis: a, findings, task, tasks, version }) {
  const name = `${s.stageId}.${s.attempt}`;
  return (
    <>
      <StageVerdict app={app} stage={s} analysis={a} findings={findings} isJudged={isRead(version)} />
      <Numbers app={app} stage={s} analysis={a} />
      <FailureText text={s.failure} />
      {s.errors.length || s.killReasons.length ? <Errors stage={s} /> : null}
      {findings ? <FindingList appRef={app.ref} findings={findings.findings} openFirst /> : null}
      {s.endedTasks || s.activeTasks ? (
        <>
          {task === null ? null : <WhySlow app={app} stage={s} id={task} isPicked={current().query.get("task") === task} asked={tasks} version={version} />}
          {a ? (
            <>
              <Causes stage={s} analysis={a} />
              <StageAccount analysis={a} />
            </>
          ) : null}
          {s.quantiles.length ? <Distribution stage={s} /> : null}
          <Charts app={app} stage={s} name={name} version={version} />
          {s.executors.length ? <ByExecutor stage={s} analysis={a} /> : null}
          <ByHost stage={s} analysis={a} />
          <Timeline app={app} stage={s} name={name} version={version} />
          <Tasks app={app} stage={s} analysis={a} name={name} version={version} />
          {s.accumulables.length ? <Accumulables stage={s} /> : null}
        </>
      ) : (
        <Empty title={t("stage.noTask")} text={t("stage.noTaskText")} />
      )}
    </>
  );
}

/** @param {{ stage: StageData }} props */
function Accumulables({ stage: s }) {
  return (
    <Section title={t("accumulables.title")}>
      <Table
        caption={t("accumulables.title")}
        rows={s.accumulables}
        rowKey={(a) => a.id}
        columns={[
          { id: "id", label: t("col.id"), class: "is-small", cell: (a) => <span class="dim">{a.id}</span> },
          { id: "name", label: t("col.name"), class: "is-text", cell: (a) => a.name ?? t("accumulables.unnamed", a.id) },
          { id: "value", label: t("col.value"), cell: (a) => <code class="value">{a.value ?? "\u2014"}</code> },
        ]}
      />
    </Section>
  );
}
