// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { AccountSection, useRunAccount } from "../components/account-sections.jsx";
import { Clip, Joined } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { countColumn, durationColumn, linkColumn } from "../components/columns.jsx";
import { Facts, Section, bytesFact, durationFact } from "../components/facts.jsx";
import { FindingList, JointSaving, Judged, Later, countText, isRead, useFindings } from "../components/findings.jsx";
import { FirstStep } from "../components/first-step.jsx";
import { ReadingOrder } from "../components/reading-order.jsx";
import { Sentences } from "../components/sentences.jsx";
import { StageTable, stageColumns, stageLink, stageName } from "../components/stage-columns.jsx";
import { Empty, InOrder, Skeleton, pending } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { Timeline, useTimeline } from "../components/timeline.jsx";
import { useData } from "../components/use-data.js";
import { TrackedNote, useTracked } from "../components/tracked.jsx";
import { WhatIfSection } from "../components/what-ifs.jsx";
import { DASH, count, duration, exactMs, percent, times } from "../lib/format.js";
import { t, tx } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { callSite, pathEnd, share, slowest } from "../model/app.js";
import { look } from "../model/buckets.js";
import { summary } from "../model/errors.js";
import { sticksOut, worst } from "../model/findings.js";

/** @typedef {import("../types").App} App */
/** @template T @typedef {import("../components/use-data.js").Asked<T>} Asked<T> */

const SLOWEST = 5;

/** Where did the time go, and what do I fix first? @param {{ app: App, version: string }} props */
export function Overview({ app, version }) {
  const findings = useFindings(app.ref, version);
  const account = useRunAccount(app.ref, version);
  const timeline = useTimeline(app.ref, version);
  const read = isRead(version);
  const tracked = useTracked(app, version, read);
  /** @type {Asked<import("../types").WhatIfs>} */
  const whatIfs = useData(read ? apiPath(["apps", app.ref, "what-ifs"]) : null, version);
  // What they are called stands in the verdict: it is waited for, or a line more would push down what is below.
  const others = /** @type {Asked<import("../types").AppList>} */ (useData(app.appId === null ? null : apiPath(["apps"], { q: app.appId, sort: "-start", limit: 20 })));
  const named = app.appId === null ? [] : [others];
  // Of those without an end the first ones submitted have taken longest.
  const mayRun = app.complete === false || Boolean(app.loading);
  const running = /** @type {Asked<import("../types").List<import("../types").StageItem>>} */ (
    useData(mayRun ? apiPath(["apps", app.ref, "stages"], { status: "active", sort: "submission", limit: SLOWEST, ...paths.thresholds(current().query) }) : null, version)
  );
  const { rows: slow, atLeast } = slowest(app.slowestStages, mayRun ? (running.data?.items ?? []) : [], app.lastEventMs, SLOWEST);
  if ((mayRun && pending(running)) || (!read && named.some(pending))) return running.slow || others.slow ? <Skeleton rows={8} facts /> : null;
  const facts = (
    <>
      {app.outcome !== "failed" || !read ? <Failures app={app} /> : null}
      <Slowest app={app} rows={slow} atLeast={atLeast} />
    </>
  );
  if (!read)
    return (
      <>
        <Sentence app={app} slow={slow[0]} open={slow.length > 0 && atLeast.has(slow[0])} others={others.data} />
        <KeyNumbers app={app} />
        <Later />
        {facts}
      </>
    );
  const verdict = findings.data ? (
    <Verdict app={app} of={findings.data} account={account.data} whatIfs={whatIfs.data} others={others.data} />
  ) : (
    <Sentence app={app} slow={slow[0]} open={slow.length > 0 && atLeast.has(slow[0])} others={others.data} />
  );
  const list = (
    <Judged from={findings} version={version} rows={5}>
      {(all) => <FindingList appRef={app.ref} findings={all.findings} note={t("findings.note")} tools={<span class="dim">{countText(all.findings)}</span>} rest />}
    </Judged>
  );
  const spent = <AccountSection app={app} version={version} asked={account} />;
  return (
    <InOrder
      parts={[
        [
          [findings, account, whatIfs, ...named],
          <>
            {verdict}
            {findings.data ? <FirstStep appRef={app.ref} of={findings.data} /> : null}
            <TrackedNote appRef={app.ref} {...tracked} />
          </>,
        ],
        [
          [],
          app.outcome === "failed" ? (
            <>
              {list}
              <Failures app={app} />
              {spent}
            </>
          ) : (
            <>
              {spent}
              {list}
            </>
          ),
        ],
        [[timeline], <Timeline app={app} version={version} asked={timeline} />],
        [
          [],
          <>
            <WhatIfSection app={app} version={version} asked={whatIfs} />
            <ReadingOrder app={app} findings={findings.data} version={version} />
            <Section title={t("overview.numbers")}>
              <KeyNumbers app={app} />
            </Section>
            {facts}
          </>,
        ],
      ]}
    />
  );
}

/** The slowest stages, those still running among them. @param {{ app: App, rows: import("../types").StageItem[], atLeast: Set<import("../types").StageItem> }} props */
function Slowest({ app, rows, atLeast }) {
  if (!rows.length) return app.loading ? null : <Empty title={t("overview.noStage")} text={t(app.jobCount ? "overview.noStageText" : "jobs.noneText")} />;
  return (
    <Section
      title={t("overview.slowest")}
      note={t(atLeast.size ? "overview.slowestOpen" : "overview.slowestNote")}
      tools={<a href={paths.page(app.ref, "stages")}>{t("overview.allStages", app.stageCount)}</a>}
    >
      <StageTable app={app} caption={t("overview.slowest")} rows={rows} columns={stageColumns(app, { brief: true, atLeast })} />
    </Section>
  );
}

/** @param {{ app: App }} props */
const Failures = ({ app }) => (
  <>
    {app.failedJobs.length ? <FailedJobs app={app} /> : null}
    {app.failedStages.length ? <FailedStages app={app} /> : null}
  </>
);

/** What happened, what it cost, and how far to believe that. @param {{ app: App, of: import("../types").Findings, account: import("../types").Account | undefined, whatIfs: import("../types").WhatIfs | undefined, others: import("../types").AppList | undefined }} props */
function Verdict({ app, of, account, whatIfs, others }) {
  const { level } = worst(of.findings);
  return (
    <div class="verdict" data-sev={app.outcome === "failed" ? 4 : level}>
      <p class="verdict-say">{of.verdict}</p>
      <p class="verdict-sub">
        <Sentences
          items={[
            account && account.frameMs > 0 ? t("say.used", percent(usedShare(account)), percent(idleShare(account))) : null,
            whatIfs && whatIfs.simulationError !== null ? t("say.simulator", percent(Math.abs(whatIfs.simulationError))) : null,
            <JointSaving app={app} of={of} />,
            <Others app={app} list={others} />,
          ]}
        />
      </p>
    </div>
  );
}

/** @param {import("../types").Account} a @param {(bucket: string) => boolean} which */
const bucketShare = (a, which) => a.buckets.filter((b) => which(b.bucket)).reduce((s, b) => s + b.slotMs, 0) / a.frameMs;
/** @param {import("../types").Account} a */
const usedShare = (a) => bucketShare(a, (b) => b === "cpu" || b === "run_unsplit");
/** @param {import("../types").Account} a */
const idleShare = (a) => bucketShare(a, (b) => look(b).idle && b !== "lost");

/**
 * One sentence of facts: how long, how much, what was slowest and its share.
 * @param {{ app: App, slow: import("../types").StageItem | undefined, open: boolean, others: import("../types").AppList | undefined }} props slow: the slowest stage; open: it has no end yet
 */
function Sentence({ app, slow: s, open, others }) {
  const long = <b title={exactMs(app.durationMs)}>{duration(app.durationMs)}</b>;
  const failed = app.failedJobs[0];
  // Totals come with the end of a load; until then the stages that are in speak for themselves.
  const reading = Boolean(app.loading) && app.durationMs === null;
  const used = app.cores.max && app.durationMs && app.taskTimeMs !== null ? app.taskTimeMs / (app.cores.max * app.durationMs) : null;
  return (
    <div class="verdict" data-sev={app.outcome === "failed" ? 4 : undefined}>
      <p class="verdict-say">
        <Sentences
          items={[
            ...(reading
              ? []
              : [
                  <>
                    {app.outcome === "failed" ? tx("say.failed", long) : app.complete ? tx("say.ran", long) : tx("say.ranAtLeast", long)}
                    {t("say.gap")}
                    {tx("say.amount", app.jobCount ?? 0, app.stageCount ?? 0, app.taskCount ?? 0)}
                  </>,
                ]),
            failed ? tx("say.firstFailed", <a href={paths.job(app.ref, failed.jobId)}>{t("job.title", failed.jobId)}</a>) : null,
            s && s.durationMs !== null
              ? tx(
                  reading || open ? "say.slowestSoFar" : "say.slowest",
                  <a href={paths.stage(app.ref, s.stageId, s.attempt)}>{t("stage.title", stageName(s))}</a>,
                  <b title={open ? t("fact.noEndYet") : exactMs(s.durationMs)}>{`${open ? "≥ " : ""}${duration(s.durationMs)}`}</b>,
                  app.durationMs ? percent(s.durationMs / app.durationMs) : null,
                )
              : reading
                ? t("say.nothingYet")
                : null,
            s?.skew && sticksOut(s.skew.height) ? tx("say.slowestSkew", times(s.skew.durationRatio)) : null,
          ]}
        />
      </p>
      <p class="verdict-sub">
        <Sentences
          items={[
            used === null ? null : t("say.cores", app.cores.max ?? 0, percent(used)),
            app.taskTimeMs ? t("say.gc", percent(share(app.gcTimeMs, app.taskTimeMs))) : null,
            <Others app={app} list={others} />,
          ]}
        />
      </p>
    </div>
  );
}

/** Other attempts of the same application, or other logs of it. @param {{ app: App, list: import("../types").AppList | undefined }} props */
function Others({ app, list }) {
  const others = (list?.items ?? []).filter((a) => a.appId === app.appId && a.key !== app.key && a.ref !== null);
  if (!others.length) return null;
  return (
    <span class="say-others">
      {t("overview.others")}
      {t("say.gap")}
      <Joined items={others}>
        {(a) => (
          <a href={paths.app(a.ref ?? "")} title={a.logPath ?? undefined}>
            {a.attemptId !== null && a.attemptId !== app.attemptId ? t("overview.other", a.attemptId) : (pathEnd(a.logPath) ?? a.ref)}
          </a>
        )}
      </Joined>
      {list && list.total > list.items.length ? (
        <>
          {" "}
          <a href={paths.apps({ q: app.appId ?? "" })}>{t("overview.othersAll")}</a>
        </>
      ) : null}
    </span>
  );
}

/** @param {{ app: App }} props */
function KeyNumbers({ app }) {
  return (
    <Facts
      items={[
        durationFact("col.duration", app.durationMs, app.complete || app.durationMs === null ? null : t("fact.soFar")),
        durationFact("col.taskTime", app.taskTimeMs),
        [t("col.jobs"), count(app.jobCount), app.failedJobCount ? t("fact.failed", app.failedJobCount) : null],
        [t("col.stages"), count(app.stageCount), app.failedStageCount ? t("fact.failed", app.failedStageCount) : null],
        [t("col.tasks"), count(app.taskCount), app.failedTaskCount ? t("fact.failed", app.failedTaskCount) : null],
        [
          t("col.executors"),
          count(app.executorCount),
          app.lostExecutorCount ? t("fact.lost", app.lostExecutorCount) : app.cores.max ? t("fact.cores", app.cores.max) : null,
        ],
        app.taskTimeMs ? [t("fact.gcShare"), percent(share(app.gcTimeMs, app.taskTimeMs)), t("fact.ofTaskTime")] : null,
        bytesFact("col.input", app.inputBytes),
        bytesFact("col.output", app.outputBytes),
        bytesFact("col.shuffleRead", app.shuffleReadBytes),
        bytesFact("col.shuffleWrite", app.shuffleWriteBytes),
        bytesFact("col.spill", app.diskSpillBytes),
        app.exitCode === null ? null : [t("fact.exitCode"), String(app.exitCode)],
      ]}
    />
  );
}

/** @typedef {{ description: string | null, name: string | null, failure: string | null }} Failed a job or a stage */

/** @template {Failed} T @returns {import("../components/table.jsx").Column<T>} */
const what = () => ({ id: "what", label: t("col.what"), class: "is-text", cell: (x) => <Clip text={x.description ?? callSite(x.name)} title={x.description ?? x.name} /> });

/** @template {Failed} T @returns {import("../components/table.jsx").Column<T>} */
const failure = () => ({
  id: "failure",
  label: t("col.failure"),
  class: "is-wide",
  cell: (x) => (
    <span class="clip mono" title={x.failure ?? undefined}>
      {x.failure === null ? DASH : summary(x.failure)}
    </span>
  ),
});

/** @param {{ app: App }} props */
function FailedJobs({ app }) {
  const to = (/** @type {import("../types").JobItem} */ j) => paths.job(app.ref, j.jobId);
  return (
    <Section title={t("overview.failedJobs")} note={t("overview.failedNote", app.failedJobCount ?? app.failedJobs.length, app.failedJobs.length)}>
      <Table
        caption={t("overview.failedJobs")}
        rows={app.failedJobs}
        rowKey={(j) => j.jobId}
        link={to}
        columns={[linkColumn("col.job", to, (j) => j.jobId), what(), durationColumn("col.duration", (j) => j.durationMs), failure()]}
      />
    </Section>
  );
}

/** @param {{ app: App }} props */
function FailedStages({ app }) {
  return (
    <Section title={t("overview.failedStages")} note={t("overview.failedNote", app.failedStageCount ?? app.failedStages.length, app.failedStages.length)}>
      <StageTable
        app={app}
        caption={t("overview.failedStages")}
        rows={app.failedStages}
        columns={[
          stageLink(app.ref),
          what(),
          { id: "status", label: t("col.status"), cell: (s) => <Chip of="status" state={s.status} /> },
          countColumn("col.failedTasks", (s) => s.failedTasks),
          failure(),
        ]}
      />
    </Section>
  );
}
