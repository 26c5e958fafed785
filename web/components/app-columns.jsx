// SPDX-License-Identifier: Apache-2.0
/** The columns of the list of applications. */
import { useState } from "preact/hooks";
import { bytes, count, duration, exactMs, percent, seconds, shareChange, time, zoned, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { pathEnd } from "../model/app.js";
import { BARS_HEIGHT, barAt, bars, barsWidth, slower, trend, usual } from "../model/history.js";
import { Progress } from "./app-head.jsx";
import { CompareText } from "./app-tools.jsx";
import { Bar, Clip, Count, Duration, TwoLines } from "./cells.jsx";
import { Outcome } from "./chips.jsx";
import { badColumn, barColumn, bytesColumn, countColumn, durationColumn } from "./columns.jsx";
import { ServerSays, damageOf } from "./reason.jsx";
import { Severity } from "./severity.jsx";
import { hideTip, showTip } from "./tip.jsx";

/** @typedef {import("../types").AppItem} AppItem */
/** @typedef {import("./table.jsx").Column<AppItem>} AppColumn */

/** Always shown: what a row is, and where a log that is not read says why. */
export const FIXED = new Set(["severity", "name", "start", "duration"]);
/** Shown when chosen. */
export const EXTRA = new Set(["user", "queue", "completeness", "jobs", "stages", "executors", "taskTime", "input", "shuffleRead", "spill", "logSize", "place", "state"]);

/** How long a run took; of a log without an end: at least. @param {AppItem} a */
const atLeast = (a) => (a.complete === false && a.durationMs !== null ? "≥ " : "") + duration(a.durationMs);

const DASH = <span class="dim3">{"\u2014"}</span>;

/**
 * @param {{ twins: Set<AppItem>, byJob: boolean }} of twins: rows that only the place of their log tells apart; byJob: a row is a job, and shows its newest run
 * @returns {AppColumn[]}
 */
export function appColumns({ twins, byJob }) {
  /** @type {AppColumn[]} */
  const ofJobs = [
    { id: "usual", label: t("apps.usual"), title: t("apps.usual.title"), num: true, cell: (a) => (a.history ? <Duration ms={usual(a.history)} /> : DASH) },
    { id: "trend", label: t("apps.trend"), title: t("apps.trend.title"), num: true, cell: (a) => <Trend app={a} /> },
  ];
  return [
    {
      id: "severity",
      label: (
        <>
          <span aria-hidden="true">!</span>
          <span class="sr">{t("col.severity")}</span>
        </>
      ),
      title: t("col.severity"),
      name: t("col.severity"),
      sort: "severity",
      num: true,
      class: "is-mark is-left",
      cell: (a) => (a.grade === null ? null : <Severity level={a.grade} />),
    },
    { id: "name", label: t("col.application"), sort: "name", class: "is-name", cell: (a) => <Name app={a} place={twins.has(a)} /> },
    { id: "outcome", label: t("col.outcome"), cell: (a) => <Outcome app={a} /> },
    {
      id: "start",
      label: t("col.startedZone", zoneName()),
      sort: "start",
      num: true,
      class: "is-left",
      cell: (a) => (
        <span class="nowrap" title={zoned(a.startMs)}>
          {time(a.startMs, false)}
        </span>
      ),
    },
    barColumn("col.duration", (a) => a.durationMs, {
      cell: (a, max) => (
        <Bar
          value={a.durationMs}
          max={max}
          text={atLeast(a)}
          title={a.complete === false ? t("apps.atLeastSo") : exactMs(a.durationMs)}
        />
      ),
    }),
    { id: "runs", label: t("apps.runs"), title: t("apps.runs.title"), cell: (a) => <Runs app={a} /> },
    { id: "compare", class: "no-print", label: <span class="sr">{t("compare.open")}</span>, name: t("compare.open"), cell: (a) => (a.ref !== null && a.loaded ? <CompareText app={a} /> : "") },
    ...(byJob ? ofJobs : []),
    {
      id: "saving",
      label: t("apps.saving"),
      title: t("apps.saving.title"),
      num: true,
      sort: "saving",
      cell: (a) => (a.savingMs === null ? DASH : <span class={a.savingMs ? "" : "dim3"}>{seconds(a.savingMs)}</span>),
    },
    { id: "costs", label: t("apps.costs"), title: t("apps.costs.title"), class: "is-costs", cell: (a) => <Costs app={a} /> },
    {
      id: "busy",
      label: t("apps.busy"),
      title: t("apps.busy.title"),
      num: true,
      sort: "busy",
      cell: (a) => (a.busyShare === null ? DASH : percent(a.busyShare)),
    },
    countColumn("col.tasks", (a) => a.taskCount),
    badColumn("col.failedTasks", (a) => a.failedTaskCount),
    { id: "version", label: "Spark", sort: "sparkVersion", cell: (a) => <Clip text={a.sparkVersion} class="is-version" /> },
    { id: "user", label: t("col.user"), sort: "user", cell: (a) => <Clip text={a.user} class="is-user" /> },
    { id: "queue", label: t("apps.queue"), sort: "queue", cell: (a) => <Clip text={a.queue} class="is-user" /> },
    {
      id: "completeness",
      label: t("apps.completeness"),
      title: t("apps.completeness.title"),
      num: true,
      sort: "completeness",
      ascending: true,
      cell: (a) => (a.completeness === null ? DASH : percent(a.completeness / 100)),
    },
    countColumn("col.jobs", (a) => a.jobCount, { cell: (a) => <WithFailed value={a.jobCount} failed={a.failedJobCount} of="rail.jobsFailed" /> }),
    countColumn("col.stages", (a) => a.stageCount, { cell: (a) => <WithFailed value={a.stageCount} failed={a.failedStageCount} of="rail.stagesFailed" /> }),
    countColumn("col.executors", (a) => a.executorCount, {
      sort: undefined,
      cell: (a) => <WithFailed value={a.executorCount} failed={a.lostExecutorCount} of="rail.lost" />,
    }),
    durationColumn("col.taskTime", (a) => a.taskTimeMs),
    bytesColumn("col.input", (a) => a.inputBytes),
    bytesColumn("col.shuffleRead", (a) => a.shuffleReadBytes),
    bytesColumn("col.spill", (a) => a.diskSpillBytes),
    bytesColumn("apps.logSize", (a) => a.totalBytes, { sort: undefined }),
    { id: "place", label: t("apps.place"), cell: (a) => <Clip text={a.place} class="is-host" /> },
    { id: "state", label: t("col.state"), sort: "state", cell: (a) => <Clip text={t(/** @type {any} */ (`state.${a.state}`))} title={a.reason} /> },
  ];
}

/** @param {{ app: AppItem, place: boolean }} props place: say where the log lies */
function Name({ app: a, place }) {
  const file = a.logPath?.split("/").filter(Boolean).pop() ?? "\u2014";
  if (!a.ref) return <TwoLines first={file} second={a.logPath} title={a.logPath} />;
  // One link over all lines, so that it is large enough to hit.
  return (
    <a class="two-lines name-link" href={paths.app(a.ref)}>
      <div class="clip" title={a.name ?? undefined}>
        {a.name ?? a.appId ?? a.ref}
      </div>
      <div class="clip small" title={a.logPath ?? undefined}>
        {a.appId}
        {a.attemptId ? ` · ${t("head.attempt", a.attemptId)}` : ""}
        {a.user ? ` · ${a.user}` : ""}
      </div>
      {a.costs.length || a.durationMs !== null ? (
        <div class="clip small phone">
          {atLeast(a)}
          {a.costs.length ? ` · ${a.costs[0].name}${a.costs[0].priceMs ? ` ${seconds(a.costs[0].priceMs)}` : ""}` : ""}
        </div>
      ) : null}
      {place && a.logPath !== null ? (
        <div class="clip small" title={a.logPath}>
          {pathEnd(a.logPath)}
        </div>
      ) : null}
    </a>
  );
}

/**
 * Wall times of the runs of its job, this one dark: one link, whose address is that of the bar under the pointer, since a link a bar made half the elements of the list. By keyboard the number leads to the list of them.
 * @param {{ app: AppItem }} props
 */
function Runs({ app: a }) {
  const [over, setOver] = useState(/** @type {number | null} */ (null));
  const h = a.history;
  if (!h || h.total < 2) return DASH;
  const r = over === null ? null : h.runs[over];
  const all = t("apps.runsAll", h.total),
    late = slower(h, a.key);
  const look = (/** @type {PointerEvent} */ e) => {
    const i = barAt(h.runs.length, e.offsetX),
      at = h.runs[i];
    setOver(i);
    if (e.pointerType === "mouse") showTip(e, `${zoned(at.startMs)}\n${duration(at.durationMs)}${at.outcome === "failed" ? `\n${t("outcome.failed")}` : ""}`);
  };
  const leave = () => {
    setOver(null);
    hideTip();
  };
  return (
    <span class="runs">
      <a
        class="runs-bars"
        aria-hidden="true"
        tabIndex={-1}
        href={r ? paths.app(r.key) : undefined}
        {...(r ? { onPointerMove: look, onPointerDown: look, onMouseLeave: leave } : { onPointerEnter: look })}
      >
        <svg width={barsWidth(h.runs.length)} height={BARS_HEIGHT}>
          {bars(h.runs, a.key, over).map(({ kind, d }) => (
            <path key={kind} class={kind} d={d} />
          ))}
        </svg>
      </a>
      <a class="runs-all" href={paths.apps({ job: a.key })} title={all} aria-label={all}>
        {count(h.total)}
      </a>
      {late === null || !a.ref ? null : (
        <a class="runs-late" href={paths.compare(a.ref)} title={t("apps.slower.title")}>
          {shareChange(late)}
        </a>
      )}
    </span>
  );
}

/** @param {{ app: AppItem }} props */
function Trend({ app: a }) {
  const change = a.history ? trend(a.history) : null;
  if (change === null) return DASH;
  return <span class={Math.abs(change) < 0.01 ? "dim3" : ""}>{shareChange(change)}</span>;
}

/** The dearest rules with their seconds, or what else is to be said of it in a line. @param {{ app: AppItem }} props */
function Costs({ app: a }) {
  const damage = a.state === "partial" && a.complete !== false ? damageOf(a) : null;
  return (
    <div class="clip" title={[damage && a.reason, a.verdict].filter(Boolean).join("\n") || undefined}>
      {damage ? <b class="warn">{damage}</b> : null}
      {damage && a.costs.length ? " · " : null}
      {a.costs.length
        ? a.costs.map((c, i) => (
            <>
              {i ? t("list.comma") : ""}
              {i ? c.name : <span class="strong">{c.name}</span>}
              {c.priceMs ? <span class="dim"> {seconds(c.priceMs)}</span> : null}
            </>
          ))
        : null}
      {a.costs.length === 0 && !damage ? <span class="dim3">{a.verdict ?? "\u2014"}</span> : null}
    </div>
  );
}

/** @param {{ value: number | null, failed: number | null, of: "rail.jobsFailed" | "rail.stagesFailed" | "rail.lost" }} props */
const WithFailed = ({ value, failed, of }) => (
  <>
    {failed ? (
      <b class="bad" title={t(of, failed)}>
        {count(failed)} /{" "}
      </b>
    ) : null}
    <Count value={value} />
  </>
);

/** Why a log could not be read. @param {{ app: AppItem }} props */
export function Reason({ app: a }) {
  return (
    <div class="clip reason" title={a.reason ?? undefined}>
      {damageOf(a) ?? t("apps.noReason")} <span class="dim3">{bytes(a.totalBytes)}</span>
    </div>
  );
}

/** @param {{ app: AppItem }} props */
export function UnderWay({ app: a }) {
  if (a.state === "waiting")
    return (
      <span class="dim">
        {t("apps.waiting", bytes(a.totalBytes))}
        {a.reason ? (
          <>
            {" · "}
            <ServerSays text={a.reason} />
          </>
        ) : null}
      </span>
    );
  const done = a.readBytes !== null && a.totalBytes ? a.readBytes / a.totalBytes : null;
  return (
    <div class="under-way">
      <Progress done={done} label={t("reading.label")} />
      <span class="dim nowrap">{done === null ? t("reading.title") : `${percent(done)} · ${t("reading.bytes", bytes(a.readBytes), bytes(a.totalBytes))}`}</span>
    </div>
  );
}
