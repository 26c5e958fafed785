// SPDX-License-Identifier: Apache-2.0
import { DASH, count, duration, exactMs, seconds } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { hrefWith } from "../lib/router.js";
import { callSite } from "../model/app.js";
import { summary } from "../model/errors.js";
import { LEVELS } from "../model/findings.js";
import { sumParts } from "../model/phases.js";
import { Bar, TwoLines, WithBad } from "./cells.jsx";
import { Chip } from "./chips.jsx";
import { barColumn, dataColumns, durationColumn, gcColumn, linkColumn, momentColumn } from "./columns.jsx";
import { SkewMark } from "./marks.jsx";
import { phaseColumn } from "./phase-bar.jsx";
import { GradeMark, Severity } from "./severity.jsx";
import { Table } from "./table.jsx";

/** @typedef {import("../types").StageItem} StageItem */

export const stageName = (/** @type {{ stageId: number, attempt: number }} */ s) => (s.attempt ? `${s.stageId}.${s.attempt}` : String(s.stageId));
export const STAGE_STATUSES = ["complete", "failed", "active", "pending", "skipped"];
export const ran = (/** @type {StageItem} */ s) => s.status !== "skipped" && s.status !== "pending";

/** The finding of a rule about a stage, opened on its page. @param {string} ref @param {{ stageId: number, attempt: number }} s @param {string} rule */
export const findingOfStage = (ref, s, rule) => paths.stage(ref, s.stageId, s.attempt, { finding: `${rule}:stage:${s.stageId}.${s.attempt}` });

/**
 * Columns of a list of stages. A stage that did not run has no numbers: its cells stay empty.
 * @param {{ ref: string, startMs: number | null, brief?: boolean, atLeast?: Set<StageItem> }} o atLeast: rows with a lower bound as duration
 * @returns {import("./table.jsx").Column<StageItem>[]}
 */
export function stageColumns({ ref, startMs, brief, atLeast }) {
  /** @param {import("./table.jsx").Column<StageItem>} c @returns {import("./table.jsx").Column<StageItem>} */
  const ifRan = (c) => ({ ...c, cell: (s, max) => (ran(s) ? c.cell(s, max) : "") });
  const lengthOf = barColumn("col.duration", (/** @type {StageItem} */ s) => s.durationMs);
  return [
    {
      id: "mark",
      label: <span class="sr">{t("col.mark")}</span>,
      class: "is-mark",
      cell: (s) => (!ran(s) ? "" : s.status === "failed" ? <Severity level={4} label={t("status.failed")} /> : s.findingGrade === null ? "" : <GradeMark level={LEVELS[s.findingGrade]} />),
    },
    stageLink(ref),
    { id: "name", label: t("col.what"), class: "is-text", cell: (s) => <StageWhat stage={s} /> },
    {
      id: "status",
      label: t("col.status"),
      present: (s) => s.status !== "complete" && s.status !== "skipped",
      cell: (s) => (s.status === "complete" ? <span class="dim">{t("status.complete")}</span> : <Chip of="status" state={s.status} />),
    },
    ...(brief
      ? []
      : [
          numberColumn("col.job", (s) => s.jobIds[0] ?? null, (j) => t("job.title", j), "job"),
          numberColumn("col.query", (s) => s.sqlExecutionId, (q) => t("job.query", q), "sql"),
          { id: "pool", label: t("fact.pool"), cell: (/** @type {StageItem} */ s) => s.pool ?? DASH },
        ]),
    ...(brief ? [] : [ifRan(momentColumn("col.started", (/** @type {StageItem} */ s) => s.submissionMs, startMs, { sort: "submission" }))]),
    ifRan({
      ...lengthOf,
      cell: (s, max) =>
        atLeast?.has(s) ? <Bar value={s.durationMs} max={max} text={`≥ ${duration(s.durationMs)}`} title={t("stage.soFar")} /> : lengthOf.cell(s, max),
    }),
    ...(brief
      ? []
      : [
          ifRan({ id: "onPath", label: t("col.onPath"), title: t("col.onPath.title"), num: true, sort: "onPath", present: (s) => s.onPathMs !== null, cell: (s) => <OnPath stage={s} /> }),
          ifRan({
            ...durationColumn("col.saving", (/** @type {StageItem} */ s) => s.savingMs, { title: t("col.saving.title"), sort: "saving" }),
            present: (s) => s.findingGrade !== null,
            cell: (s) => (s.savingMs ? <b title={exactMs(s.savingMs)}>{seconds(s.savingMs)}</b> : <span class="dim3">{DASH}</span>),
          }),
        ]),
    {
      id: "tasks",
      label: t("col.tasks"),
      num: true,
      sort: "tasks",
      cell: (s) => (
        <WithBad bad={s.failedTasks ? t("stage.failedTasks", s.failedTasks) : null}>
          <span class={ran(s) ? "" : "dim3"}>{count(s.numTasks)}</span>
        </WithBad>
      ),
    },
    ...[
      durationColumn("col.median", (/** @type {StageItem} */ s) => s.medianMs),
      durationColumn("col.max", (/** @type {StageItem} */ s) => s.maxMs),
      {
        id: "ratio",
        label: t("col.ratio"),
        title: t("col.ratio.title"),
        num: true,
        sort: "ratio",
        cell: (/** @type {StageItem} */ s) => <SkewMark skew={s.skew} to={(rule) => findingOfStage(ref, s, rule)} />,
      },
      gcColumn({}, (/** @type {StageItem} */ s, rule) => findingOfStage(ref, s, rule)),
      ...(brief ? [] : [phaseColumn((/** @type {StageItem} */ s) => sumParts(s)), durationColumn("col.taskTime", (/** @type {StageItem} */ s) => s.taskTimeMs)]),
      ...dataColumns(),
    ].map(ifRan),
  ];
}

/**
 * The job or query of a stage, as a link that leaves the stages of that one.
 * @param {import("../lib/i18n.js").Key} head @param {(s: StageItem) => number | null} of @param {(n: number) => string} words @param {string} key of the address @returns {import("./table.jsx").Column<StageItem>}
 */
const numberColumn = (head, of, words, key) => ({
  id: key,
  label: t(head),
  num: true,
  present: (s) => of(s) !== null,
  cell: (s) => {
    const n = of(s);
    return n === null ? (
      <span class="dim3">{DASH}</span>
    ) : (
      <a class="strong" href={hrefWith({ [key]: n, page: null })} title={words(n)}>
        {n}
      </a>
    );
  },
});

/** What the run waited of it, or how long it had. @param {{ stage: StageItem }} props */
const OnPath = ({ stage: s }) =>
  s.onPathMs ? (
    <span title={t("col.onPath.title")}>
      <i class="on-path" aria-hidden="true" />
      {duration(s.onPathMs)}
    </span>
  ) : (
    <span class="dim3" title={t("stage.slack.title")}>
      {s.slackMs === null ? DASH : `+${duration(s.slackMs)}`}
    </span>
  );

/** Stages of a page that has them all. @param {{ app: import("../types").App, caption: string, rows: StageItem[], columns: import("./table.jsx").Column<StageItem>[] }} props */
export const StageTable = ({ app, ...table }) => <Table {...stageRows(app.ref)} {...table} />;

/** What a row of a table of stages is. @param {string} ref */
export const stageRows = (ref) => ({
  rowKey: stageName,
  link: (/** @type {StageItem} */ s) => paths.stage(ref, s.stageId, s.attempt),
  rowClass: (/** @type {StageItem} */ s) => (ran(s) ? "" : "is-off"),
});

/** @param {string} ref @returns {import("./table.jsx").Column<StageItem>} */
export const stageLink = (ref) => linkColumn("col.stage", (s) => paths.stage(ref, s.stageId, s.attempt), stageName, { ascending: true });

/** Operators that every plan has and that do not say what a stage is about. */
const PLUMBING = new Set(["AQEShuffleRead", "AdaptiveSparkPlan", "ColumnarToRow", "Exchange", "InputAdapter", "Project"]);

/** @param {{ stage: StageItem }} props */
function StageWhat({ stage: s }) {
  // Stages of one job have one call site: what they worked for in its plan tells them apart.
  const own = [s.description ? callSite(s.name) : "", (s.operators ?? []).map((name) => name.trim()).filter((name) => !PLUMBING.has(name)).join(" · ")].filter(Boolean).join(": ") || null;
  const end = s.failure !== null ? summary(s.failure) : (own ?? word("status.long", s.status));
  return (
    <TwoLines
      first={s.description ?? callSite(s.name)}
      title={s.description ?? s.name}
      second={s.status === "skipped" ? t("stage.skipped") : s.status === "complete" ? own : end}
      secondTitle={[s.name, (s.operators ?? []).join(" · ")].filter(Boolean).join("\n")}
    />
  );
}
