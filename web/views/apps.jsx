// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { apiPath } from "../api.js";
import { Progress } from "../components/app-head.jsx";
import { BadCount, Bar, Bytes, Clip, Count, Duration, columnMax } from "../components/cells.jsx";
import { Outcome } from "../components/chips.jsx";
import { Choice, Search } from "../components/filters.jsx";
import { Severity } from "../components/severity.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table, tableQuery } from "../components/table.jsx";
import { typing, useData, usePoll } from "../components/use-data.js";
import { bytes, count, duration, exactMs, percent, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { alike, pathEnd } from "../model/app.js";

/** @typedef {import("../types").AppItem} AppItem */

/** The list is asked again this often while logs wait or are read, and else. */
const READING_MS = 2000;
const QUIET_MS = 10_000;
const FILTERS = ["q", "state", "outcome", "complete", "grade", "user", "from", "to", "minDurationMs", "flags"];

/** Every run of the store: which one do I want, and which ones hurt? */
export function Apps() {
  const q = current().query;
  const table = tableQuery("", { sort: "-start" });
  const filters = Object.fromEntries(FILTERS.map((k) => [k, q.get(k)]));
  const [version, setVersion] = useState(0);
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").AppList>} */ (
    useData(apiPath(["apps"], { ...filters, ...table }), version)
  );
  const counts = asked.data?.counts;
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
      <div class="tbl-tools no-print">
        <Search name="q" label={t("apps.search")} reset="page" />
        <Choice
          name="outcome"
          label={t("col.outcome")}
          reset="page"
          options={[
            ["", t("apps.anyOutcome")],
            ["succeeded", t("outcome.succeeded")],
            ["failed", t("outcome.failed")],
            ["unknown", t("outcome.unknown")],
          ]}
        />
        <Choice
          name="complete"
          label={t("apps.end")}
          reset="page"
          options={[
            ["", t("apps.anyEnd")],
            ["true", t("apps.ended")],
            ["false", t("apps.notEnded")],
          ]}
        />
        <Choice
          name="state"
          label={t("col.state")}
          reset="page"
          options={[
            ["", t("apps.anyState")],
            ...["loaded", "partial", "loading", "waiting", "failed", "gone", "skipped"].map(
              (s) => /** @type {[string, string]} */ ([s, t(/** @type {import("../lib/i18n.js").Key} */ (`state.${s}`))]),
            ),
          ]}
        />
        <Choice
          name="grade"
          label={t("apps.marks")}
          reset="page"
          options={[
            ["", t("apps.anyMark")],
            ["3", t("apps.moderate")],
            ["4", t("apps.severe")],
          ]}
        />
        <Choice
          name="minDurationMs"
          label={t("apps.atLeast")}
          reset="page"
          options={[
            ["", t("apps.anyDuration")],
            ...[60_000, 600_000, 3_600_000].map((ms) => /** @type {[string, string]} */ ([String(ms), t("apps.longer", duration(ms))])),
          ]}
        />
        <span class="grow" />
        {asked.data && counts ? (
          <span class="dim small" role="status">
            {t("apps.shown", count(asked.data.total), count(counts.all))}
          </span>
        ) : null}
      </div>
      <Loaded from={asked} rows={14}>
        {(list) =>
          list.items.length ? (
            <List list={list} sort={table.sort} />
          ) : list.counts.all ? (
            <Empty title={t("apps.none")}>
              <p>{t("apps.noneText", list.counts.all)}</p>
              <p>
                <a href={paths.apps()}>{t("apps.clear")}</a>
              </p>
            </Empty>
          ) : (
            <FirstStart version={version} />
          )
        }
      </Loaded>
    </>
  );
}

/** @param {{ list: import("../types").AppList, sort: string }} props */
function List({ list, sort }) {
  const rows = list.items;
  const max = columnMax(rows, (a) => a.durationMs);
  const twins = alike(rows);
  const some = (/** @type {(a: AppItem) => unknown} */ get) => rows.some((a) => get(a));
  /** @type {import("../components/table.jsx").Column<AppItem>[]} */
  const columns = [
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
    {
      id: "duration",
      label: t("col.duration"),
      num: true,
      sort: "duration",
      cell: (a) => (
        <Bar
          value={a.durationMs}
          max={max}
          text={(a.complete === false ? "≥ " : "") + duration(a.durationMs)}
          title={a.complete === false ? t("apps.atLeastSo") : exactMs(a.durationMs)}
        />
      ),
    },
    { id: "skew", label: t("col.skew"), title: t("col.skew.title"), cell: (a) => <Graded grade={a.skewGrade} /> },
    { id: "gc", label: t("col.gc"), title: t("col.gcMark.title"), cell: (a) => <Graded grade={a.gcGrade} /> },
    {
      id: "jobs",
      label: t("col.jobs"),
      num: true,
      sort: "jobs",
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
    },
    { id: "stages", label: t("col.stages"), num: true, sort: "stages", cell: (a) => <Count value={a.stageCount} /> },
    { id: "tasks", label: t("col.tasks"), num: true, sort: "tasks", cell: (a) => <Count value={a.taskCount} /> },
    { id: "failedTasks", label: t("col.failedTasks"), num: true, sort: "failedTasks", cell: (a) => <BadCount value={a.failedTaskCount} /> },
    { id: "taskTime", label: t("col.taskTime"), num: true, sort: "taskTime", cell: (a) => <Duration ms={a.taskTimeMs} /> },
    { id: "input", label: t("col.input"), num: true, sort: "input", off: !some((a) => a.inputBytes), cell: (a) => <Bytes value={a.inputBytes} /> },
    {
      id: "shuffleRead",
      label: t("col.shuffleRead"),
      num: true,
      sort: "shuffleRead",
      off: !some((a) => a.shuffleReadBytes),
      cell: (a) => <Bytes value={a.shuffleReadBytes} />,
    },
    { id: "spill", label: t("col.spill"), num: true, sort: "spill", off: !some((a) => a.diskSpillBytes), cell: (a) => <Bytes value={a.diskSpillBytes} /> },
    { id: "user", label: t("col.user"), sort: "user", cell: (a) => <Clip text={a.user} class="is-user" /> },
    { id: "version", label: "Spark", sort: "sparkVersion", cell: (a) => <Clip text={a.sparkVersion} class="is-version" /> },
  ];
  return (
    <Table
      caption={t("apps.title")}
      columns={columns}
      rows={rows}
      rowKey={(a) => a.ref ?? `log ${a.logId} ${a.logPath}`}
      sort={sort}
      page={list}
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
    />
  );
}

/** @param {{ app: AppItem, place: boolean }} props place: say where the log lies */
function Name({ app: a, place }) {
  const file = a.logPath?.split("/").filter(Boolean).pop() ?? "\u2014";
  if (!a.ref)
    return (
      <div class="two-lines">
        <div class="clip strong" title={a.logPath ?? undefined}>
          {file}
        </div>
        <div class="clip dim3 small" title={a.logPath ?? undefined}>
          {a.logPath}
        </div>
      </div>
    );
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
          {s.places.length ? (
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
          <p>{t("first.logs", s.logs.waiting, s.logs.loading, s.logs.failed, s.logs.skipped)}</p>
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
