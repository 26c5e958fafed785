// SPDX-License-Identifier: Apache-2.0
import { count, duration, exactMs, offset } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { summary } from "../model/errors.js";
import { stageLevel } from "../model/grades.js";
import { Bar, Bytes, Duration, columnMax } from "./cells.jsx";
import { Chip } from "./chips.jsx";
import { GcMark, SkewMark } from "./marks.jsx";
import { Severity } from "./severity.jsx";

/** @typedef {import("../types").StageItem} StageItem */

export const stageName = (/** @type {{ stageId: number, attempt: number }} */ s) => (s.attempt ? `${s.stageId}.${s.attempt}` : String(s.stageId));
export const ran = (/** @type {StageItem} */ s) => s.status !== "skipped" && s.status !== "pending";

/**
 * Columns of a list of stages. Columns of data that no row of this page has are left out.
 * @param {{ ref: string, startMs: number | null, rows: StageItem[], sortable: boolean, brief?: boolean, atLeast?: Set<StageItem> }} o atLeast: rows with a lower bound as duration
 * @returns {import("./table.jsx").Column<StageItem>[]}
 */
export function stageColumns({ ref, startMs, rows, sortable, brief, atLeast }) {
  const max = columnMax(rows, (s) => s.durationMs);
  const any = (/** @type {(s: StageItem) => number | null} */ get) => rows.some((s) => get(s));
  const sort = (/** @type {string} */ key) => (sortable ? key : undefined);
  /**
   * @param {string} id
   * @param {import("../lib/i18n.js").Key} label
   * @param {(s: StageItem) => number | null} get
   * @param {string} key
   * @returns {import("./table.jsx").Column<StageItem>}
   */
  const data = (id, label, get, key) => ({
    id,
    label: t(label),
    num: true,
    off: !any(get),
    sort: sort(key),
    cell: (s) => (ran(s) ? <Bytes value={get(s)} /> : ""),
  });
  return [
    {
      id: "mark",
      label: <span class="sr">{t("col.mark")}</span>,
      class: "is-mark",
      cell: (s) => (!ran(s) ? "" : s.status === "failed" ? <Severity level={4} label={t("status.failed")} /> : <Severity level={stageLevel(s)} />),
    },
    {
      id: "id",
      label: t("col.stage"),
      sort: sort("id"),
      ascending: true,
      cell: (s) => (
        <a class="strong" href={paths.stage(ref, s.stageId, s.attempt)}>
          {stageName(s)}
        </a>
      ),
    },
    { id: "name", label: t("col.what"), class: "is-text", cell: (s) => <StageWhat stage={s} /> },
    {
      id: "status",
      label: t("col.status"),
      off: rows.every((s) => s.status === "complete" || s.status === "skipped"),
      cell: (s) => (s.status === "complete" ? <span class="dim">{t("status.complete")}</span> : <Chip of="status" state={s.status} />),
    },
    {
      id: "submission",
      label: t("col.started"),
      num: true,
      ascending: true,
      off: brief,
      sort: sort("submission"),
      cell: (s) => (s.submissionMs !== null && startMs !== null ? offset(s.submissionMs - startMs) : ""),
    },
    {
      id: "duration",
      label: t("col.duration"),
      num: true,
      sort: sort("duration"),
      cell: (s) =>
        !ran(s) ? (
          ""
        ) : atLeast?.has(s) ? (
          <Bar value={s.durationMs} max={max} text={`≥ ${duration(s.durationMs)}`} title={t("stage.soFar")} />
        ) : (
          <Bar value={s.durationMs} max={max} text={duration(s.durationMs)} title={exactMs(s.durationMs)} />
        ),
    },
    {
      id: "tasks",
      label: t("col.tasks"),
      num: true,
      sort: sort("tasks"),
      cell: (s) => (
        <div class="two-lines">
          <div class={ran(s) ? "" : "dim3"}>{count(s.numTasks)}</div>
          {s.failedTasks ? <div class="bad small">{t("stage.failedTasks", s.failedTasks)}</div> : null}
        </div>
      ),
    },
    { id: "median", label: t("col.median"), num: true, sort: sort("median"), cell: (s) => (ran(s) ? <Duration ms={s.medianMs} /> : "") },
    { id: "max", label: t("col.max"), num: true, sort: sort("max"), cell: (s) => (ran(s) ? <Duration ms={s.maxMs} /> : "") },
    {
      id: "ratio",
      label: t("col.ratio"),
      title: t("col.ratio.title"),
      num: true,
      sort: sort("ratio"),
      cell: (s) => (ran(s) ? <SkewMark skew={s.skew} /> : ""),
    },
    { id: "gc", label: t("col.gc"), title: t("col.gc.title"), num: true, sort: sort("gcShare"), cell: (s) => (ran(s) ? <GcMark gc={s.gc} /> : "") },
    data("input", "col.input", (s) => s.inputBytes, "input"),
    data("shuffleRead", "col.shuffleRead", (s) => s.shuffleReadBytes, "shuffleRead"),
    data("shuffleWrite", "col.shuffleWrite", (s) => s.shuffleWriteBytes, "shuffleWrite"),
    data("output", "col.output", (s) => s.outputBytes, "output"),
    data("spill", "col.spill", (s) => s.diskSpilledBytes, "spill"),
  ];
}

/** @param {{ stage: StageItem }} props */
function StageWhat({ stage: s }) {
  const first = s.description ?? s.name;
  return (
    <div class="two-lines">
      <div class="clip" title={first ?? undefined}>
        {first ?? "\u2014"}
      </div>
      <div class="clip dim3 small" title={s.name ?? undefined}>
        {s.status === "skipped"
          ? t("stage.skipped")
          : s.status === "complete"
            ? s.description
              ? s.name
              : ""
            : ((s.failure !== null ? summary(s.failure) : null) ?? (s.description ? s.name : word("status.long", s.status)))}
      </div>
    </div>
  );
}
