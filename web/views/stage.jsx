// SPDX-License-Identifier: Apache-2.0
import { apiPath, wordedPath } from "../api.js";
import { FindingList, isRead, useStageFindings } from "../components/findings.jsx";
import { Section } from "../components/facts.jsx";
import { FailureText } from "../components/object-head.jsx";
import { ran } from "../components/stage-columns.jsx";
import { StageDag } from "../components/stage-dag.jsx";
import { Empty, Loaded, Skeleton } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
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
/** @template T @typedef {import("../components/use-data.js").Asked<T>} Asked */

/** Why is this stage slow? Why was this task slow? The parts of the page are in views/stage/. @param {{ app: App, id: string, version: string }} props id: "14.0" */
export function Stage({ app, id, version }) {
  const name = /^\d+$/.test(id) ? `${id}.0` : id;
  const asked = /** @type {Asked<StageData>} */ (useData(apiPath(["apps", app.ref, "stages", name]), version));
  return (
    <Loaded from={asked} rows={10} facts back={{ to: paths.page(app.ref, "stages"), label: t("error.toStages") }}>
      {(stage) => <Found app={app} stage={stage} version={version} />}
    </Loaded>
  );
}

/** @param {{ app: App, stage: StageData, version: string }} props */
function Found({ app, stage: s, version }) {
  return (
    <>
      <Head app={app} stage={s} />
      {ran(s) ? (
        <Ran app={app} stage={s} version={version} />
      ) : (
        <Empty
          title={t(s.status === "skipped" ? "stage.wasSkipped" : "stage.isPending", s.stageId)}
          text={t(s.status === "skipped" ? "stage.wasSkippedText" : "stage.isPendingText")}
        />
      )}
      <StageDag app={app} name={`${s.stageId}.${s.attempt}`} version={version} />
      {s.details ? (
        <Section title={t("stage.details")}>
          <details class="fold">
            <summary>{t("stage.detailsShow")}</summary>
            <pre class="text-block">{s.details}</pre>
          </details>
        </Section>
      ) : null}
    </>
  );
}

/** Max ÷ median from which the slowest task is explained without being asked about. */
const EXPLAINED_FROM = 2;

/** @param {{ app: App, stage: StageData, version: string }} props */
function Ran({ app, stage: s, version }) {
  const name = `${s.stageId}.${s.attempt}`;
  const judged = isRead(version);
  const analysis = /** @type {Asked<import("../types").StageAnalysis>} */ (useData(judged ? wordedPath(["apps", app.ref, "stages", name, "analysis"]) : null, version));
  const findings = useStageFindings(app.ref, version, name);
  // What analysis has to say stands above everything: the page waits for it rather than jump. A stage without an analysis (404), or a run without one (409), has nothing to say.
  if (judged && [analysis, findings].some((x) => x.data === undefined && !x.error)) return <Skeleton rows={10} facts />;
  const a = analysis.data ?? null;
  const picked = current().query.get("task");
  const slowest = s.slowestTaskId !== null && s.medianMs && s.maxMs && s.maxMs >= EXPLAINED_FROM * s.medianMs ? String(s.slowestTaskId) : null;
  const explained = picked !== null && /^\d+$/.test(picked) ? picked : slowest;
  return (
    <>
      <StageVerdict app={app} stage={s} analysis={a} findings={findings.data ?? null} isJudged={judged} />
      <Numbers app={app} stage={s} analysis={a} />
      <FailureText text={s.failure} />
      {s.errors.length || s.killReasons.length ? <Errors stage={s} /> : null}
      {findings.data ? <FindingList appRef={app.ref} findings={findings.data.findings} openFirst /> : null}
      {s.endedTasks || s.activeTasks ? (
        <>
          {explained === null ? null : <WhySlow app={app} stage={s} id={explained} isPicked={explained === picked} version={version} />}
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
