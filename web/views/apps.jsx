// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { apiPath } from "../api.js";
import { Progress } from "../components/app-head.jsx";
import { Bar, Clip, Count, TwoLines } from "../components/cells.jsx";
import { Outcome } from "../components/chips.jsx";
import { badColumn, barColumn, bytesColumn, countColumn, durationColumn, sparse } from "../components/columns.jsx";
import { Choice, GradeChoice, Search, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Severity } from "../components/severity.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { typing, useData, usePoll } from "../components/use-data.js";
import { bytes, count, duration, exactMs, percent, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { alike, pathEnd } from "../model/app.js";

/** @typedef {import("../types").AppItem} AppItem */

/** The list is asked again this often while logs wait or are read, and else. */
const READING_MS = 2000;
const QUIET_MS = 10_000;
const FILTERS = ["q", "state", "outcome", "complete", "grade", "user", "from", "to", "minDurationMs", "flags"];

/** @typedef {import("../components/list.jsx").Listing<AppItem, import("../types").AppList>} Runs */

/** Every run of the store: which one do I want, and which ones hurt? */
export function Apps() {
  const [version, setVersion] = useState(0);
  /** @type {Runs} */
  const runs = useList(["apps"], { sort: "-start", filters: FILTERS, version });
  const { data } = runs.asked;
  const counts = data?.counts;
  usePoll(counts && (counts.loading || counts.waiting || !counts.all) ? READING_MS : QUIET_MS, () => {
    if (!typing()) setVersion((n) => n + 1);
  });
  return (
    <>
      <div class="head">
        <div class="head-main">
          <div class="head-title">
            <h1>{t("apps.title")}</h1>
          </div>
          <div class="head-meta">
            {counts ? (
              <>
                <span>{t("apps.stored", counts.all)}</span>
                {counts.loading || counts.waiting ? <span role="status">{t("apps.underway", counts.loading, counts.waiting)}</span> : null}
                {counts.failed ? <a href={paths.apps({ state: "failed" })}>{t("apps.unreadable", counts.failed)}</a> : null}
              </>
            ) : (
              <span>&nbsp;</span>
            )}
          </div>
        </div>
      </div>
      <Tools>
        <Search name="q" label={t("apps.search")} />
        <Choice name="outcome" label={t("col.outcome")} any={t("apps.anyOutcome")} options={words("outcome", ["succeeded", "failed", "unknown"])} />
        <Choice
          name="complete"
          label={t("apps.end")}
          any={t("apps.anyEnd")}
          options={[
            ["true", t("apps.ended")],
            ["false", t("apps.notEnded")],
          ]}
        />
        <Choice
          name="state"
          label={t("col.state")}
          any={t("apps.anyState")}
          options={words("state", ["loaded", "partial", "loading", "waiting", "failed", "gone", "skipped"])}
        />
        <GradeChoice />
        <Choice
          name="minDurationMs"
          label={t("apps.atLeast")}
          any={t("apps.anyDuration")}
          options={[60_000, 600_000, 3_600_000].map((ms) => [String(ms), t("apps.longer", duration(ms))])}
        />
        <span class="grow" />
        {data && counts ? (
          <span class="dim small" role="status">
            {t("apps.shown", count(data.total), count(counts.all))}
          </span>
        ) : null}
      </Tools>
      <ListTable
        of={{ ...runs, filtered: Boolean(counts?.all) }}
        rows={14}
        caption={t("apps.title")}
        columns={columns(alike(data?.items ?? []))}
        rowKey={(a) => a.ref ?? `log ${a.logId} ${a.logPath}`}
        class="apps"
        link={(a) => (a.ref ? paths.app(a.ref) : null)}
        rowClass={(a) => (a.state === "gone" ? "is-off" : "")}
        span={(a) =>
          a.ref === null
            ? { from: "start", node: <Reason app={a} /> }
            : a.state === "loading" || a.state === "waiting"
              ? { from: "duration", node: <UnderWay app={a} /> }
              : null
        }
        none={<FirstStart version={version} />}
        noMatch={t("apps.none")}
        noMatchText={t("apps.noneText", counts?.all ?? 0)}
      />
    </>
  );
}

/** @param {Set<AppItem>} twins rows that only the place of their log tells apart @returns {import("../components/table.jsx").Column<AppItem>[]} */
const columns = (twins) => [
  { id: "name", label: t("col.application"), sort: "name", class: "is-name", cell: (a) => <Name app={a} place={twins.has(a)} /> },
  { id: "outcome", label: t("col.outcome"), cell: (a) => <Outcome app={a} /> },
  {
    id: "start",
    label: t("col.startedZone", zoneName()),
    sort: "start",
    num: true,
    class: "is-left",
    cell: (a) => (
      <span class="nowrap" title={time(a.startMs)}>
        {time(a.startMs, false)}
      </span>
    ),
  },
  barColumn("col.duration", (a) => a.durationMs, {
    cell: (a, max) => (
      <Bar
        value={a.durationMs}
        max={max}
        text={(a.complete === false ? "≥ " : "") + duration(a.durationMs)}
        title={a.complete === false ? t("apps.atLeastSo") : exactMs(a.durationMs)}
      />
    ),
  }),
  { id: "skew", label: t("col.skew"), title: t("col.skew.title"), cell: (a) => <Graded grade={a.skewGrade} /> },
  { id: "gc", label: t("col.gc"), title: t("col.gcMark.title"), cell: (a) => <Graded grade={a.gcGrade} /> },
  countColumn("col.jobs", (a) => a.jobCount, {
    cell: (a) => (
      <>
        {a.failedJobCount ? (
          <b class="bad" title={t("rail.jobsFailed", a.failedJobCount)}>
            {count(a.failedJobCount)} /{" "}
          </b>
        ) : null}
        <Count value={a.jobCount} />
      </>
    ),
  }),
  countColumn("col.stages", (a) => a.stageCount),
  countColumn("col.tasks", (a) => a.taskCount),
  badColumn("col.failedTasks", (a) => a.failedTaskCount),
  durationColumn("col.taskTime", (a) => a.taskTimeMs),
  sparse(bytesColumn("col.input", (a) => a.inputBytes)),
  sparse(bytesColumn("col.shuffleRead", (a) => a.shuffleReadBytes)),
  sparse(bytesColumn("col.spill", (a) => a.diskSpillBytes)),
  { id: "user", label: t("col.user"), sort: "user", cell: (a) => <Clip text={a.user} class="is-user" /> },
  { id: "version", label: "Spark", sort: "sparkVersion", cell: (a) => <Clip text={a.sparkVersion} class="is-version" /> },
];

/** @param {{ app: AppItem, place: boolean }} props place: say where the log lies */
function Name({ app: a, place }) {
  const file = a.logPath?.split("/").filter(Boolean).pop() ?? "\u2014";
  if (!a.ref) return <TwoLines first={file} second={a.logPath} title={a.logPath} />;
  // One link over both lines, so that it is large enough to hit.
  return (
    <a class="two-lines name-link" href={paths.app(a.ref)}>
      <div class="clip" title={a.name ?? undefined}>
        {a.name ?? a.appId ?? a.ref}
      </div>
      <div class="clip small" title={a.logPath ?? undefined}>
        {a.appId}
        {a.attemptId ? ` · ${t("head.attempt", a.attemptId)}` : ""}
      </div>
      {place && a.logPath !== null ? (
        <div class="clip small" title={a.logPath}>
          {pathEnd(a.logPath)}
        </div>
      ) : null}
    </a>
  );
}

/** Why a log could not be read. @param {{ app: AppItem }} props */
function Reason({ app: a }) {
  return (
    <div class="clip reason" title={a.reason ?? undefined}>
      {a.reason ?? t("apps.noReason")} <span class="dim3">{bytes(a.totalBytes)}</span>
    </div>
  );
}

/** @param {{ app: AppItem }} props */
function UnderWay({ app: a }) {
  if (a.state === "waiting") return <span class="dim">{t("apps.waiting", bytes(a.totalBytes))}</span>;
  const done = a.readBytes !== null && a.totalBytes ? a.readBytes / a.totalBytes : null;
  return (
    <div class="under-way">
      <Progress done={done} label={t("reading.label")} />
      <span class="dim nowrap">{done === null ? t("reading.title") : `${percent(done)} · ${t("reading.bytes", bytes(a.readBytes), bytes(a.totalBytes))}`}</span>
    </div>
  );
}

/** @param {{ grade: import("../types").Grade }} props */
const Graded = ({ grade }) =>
  grade === null ? <span class="dim3">{"\u2014"}</span> : grade ? <Severity level={grade} word /> : <span class="dim3">{t("sev.none")}</span>;

/** Nothing has been read yet: what was looked at, and how it goes. @param {{ version: number }} props */
function FirstStart({ version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").Status>} */ (useData(apiPath(["status"]), version));
  return (
    <Loaded from={asked} rows={3}>
      {(s) => (
        <Empty title={t("first.title")}>
          {s.places === null ? null : s.places.length ? (
            s.places.map((p) => (
              <p key={p.uri}>
                {p.lastScanMs === null
                  ? t("first.notScanned", p.name ?? p.uri)
                  : t("first.scanned", p.name ?? p.uri, duration(Math.max(0, s.nowMs - p.lastScanMs)), p.entryCount ?? 0)}
                {p.lastError ? <b class="bad"> {p.lastError}</b> : null}
              </p>
            ))
          ) : (
            <p>{t("first.noPlace")}</p>
          )}
          {s.logs ? <p>{t("first.logs", s.logs.waiting, s.logs.loading, s.logs.failed, s.logs.skipped)}</p> : null}
          {s.ingest.running || s.ingest.enabled === false ? null : (
            <p>
              <b class="bad">{t("first.noIngest")}</b> {s.ingest.message}
            </p>
          )}
        </Empty>
      )}
    </Loaded>
  );
}
