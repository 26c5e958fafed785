// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { BadCount, Bar, Bytes, Clip, Duration, PeakHeap, columnMax } from "../components/cells.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { Choice } from "../components/filters.jsx";
import { GcMark } from "../components/marks.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table, tableQuery } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { bytes, count, duration, exactMs, offset, percent, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { share } from "../model/grades.js";

/** @typedef {import("../types").ExecutorItem} ExecutorItem */

/** Were the executors busy, idle, lost? @param {{ app: import("../types").App, version: string }} props */
export function Executors({ app, version }) {
  const table = tableQuery("", { sort: "id", limit: 100 });
  const active = current().query.get("active");
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").List<ExecutorItem>>} */ (
    useData(apiPath(["apps", app.ref, "executors"], { active, ...table }), version)
  );
  return (
    <>
      <Facts
        items={[
          [t("col.executors"), count(app.executorCount), app.lostExecutorCount ? t("fact.lost", app.lostExecutorCount) : null],
          app.cores.max ? [t("fact.coresPeak"), count(app.cores.max)] : null,
          [t("col.taskTime"), duration(app.taskTimeMs), null, exactMs(app.taskTimeMs)],
          app.taskTimeMs ? [t("fact.gcShare"), percent(share(app.gcTimeMs, app.taskTimeMs)), t("fact.ofTaskTime")] : null,
        ]}
      />
      <Section title={t("nav.executors")} note={t("executors.note")}>
        <div class="tbl-tools no-print">
          <Choice
            name="active"
            label={t("col.status")}
            reset="page"
            options={[
              ["", t("executors.all")],
              ["1", t("executors.alive")],
              ["0", t("executors.removed")],
            ]}
          />
        </div>
        <Loaded from={asked} rows={6}>
          {(list) =>
            list.items.length ? (
              <Table
                caption={t("nav.executors")}
                columns={columns(app, list.items)}
                rows={list.items}
                rowKey={(x) => `${x.executorId} ${x.addMs}`}
                sort={table.sort}
                page={list}
                rowClass={(x) => (x.active ? "" : "is-removed")}
              />
            ) : active !== null ? (
              <Empty title={t("executors.noMatch")}>
                <p>
                  <a href={paths.page(app.ref, "executors")}>{t("filter.clear")}</a>
                </p>
              </Empty>
            ) : (
              <Empty title={t("executors.none")}>
                <p>{t("executors.noneText")}</p>
              </Empty>
            )
          }
        </Loaded>
      </Section>
    </>
  );
}

/** @param {import("../types").App} app @param {ExecutorItem[]} rows @returns {import("../components/table.jsx").Column<ExecutorItem>[]} */
function columns(app, rows) {
  const max = columnMax(rows, (x) => x.taskTimeMs);
  const any = (/** @type {(x: ExecutorItem) => unknown} */ get) => rows.some((x) => get(x));
  return [
    { id: "id", label: t("col.executor"), sort: "id", cell: (x) => <span class="strong">{x.executorId}</span> },
    { id: "host", label: t("col.host"), cell: (x) => <Clip text={x.hostPort ?? x.host} class="is-host" /> },
    { id: "status", label: t("col.status"), cell: (x) => <Status x={x} app={app} /> },
    { id: "cores", label: t("col.cores"), num: true, cell: (x) => count(x.totalCores) },
    {
      id: "add",
      label: t("col.added"),
      num: true,
      sort: "add",
      ascending: true,
      cell: (x) =>
        x.addMs !== null && app.startMs !== null ? <span title={`${time(x.addMs)} ${zoneName(x.addMs)}`}>{offset(x.addMs - app.startMs)}</span> : "\u2014",
    },
    { id: "alive", label: t("col.aliveFor"), num: true, cell: (x) => <Duration ms={x.aliveMs} /> },
    { id: "tasks", label: t("col.tasks"), num: true, sort: "tasks", cell: (x) => count(x.taskCount) },
    { id: "failedTasks", label: t("col.failedTasks"), num: true, sort: "failedTasks", cell: (x) => <BadCount value={x.failedTasks} /> },
    {
      id: "taskTime",
      label: t("col.taskTime"),
      num: true,
      sort: "taskTime",
      cell: (x) => <Bar value={x.taskTimeMs} max={max} text={duration(x.taskTimeMs)} title={exactMs(x.taskTimeMs)} />,
    },
    { id: "busy", label: t("col.busy"), title: t("col.busy.title"), num: true, cell: (x) => percent(x.busyShare) },
    { id: "gc", label: t("col.gc"), title: t("col.gc.title"), num: true, sort: "gcShare", cell: (x) => <GcMark gc={x.gc} /> },
    {
      id: "heap",
      label: t("col.peakHeap"),
      num: true,
      off: !any((x) => x.peaks?.jvmHeapMemoryBytes),
      cell: (x) => <PeakHeap peaks={x.peaks} />,
    },
    {
      id: "memory",
      label: t("col.storageMemory"),
      title: t("col.storageMemory.title"),
      num: true,
      cell: (x) => (
        <span title={t("executors.memory", bytes(x.maxOnHeapMemoryBytes), bytes(x.maxOffHeapMemoryBytes))}>
          {x.memoryUsedBytes ? `${bytes(x.memoryUsedBytes)} / ` : ""}
          {bytes(x.maxMemoryBytes)}
        </span>
      ),
    },
    { id: "input", label: t("col.input"), num: true, sort: "input", off: !any((x) => x.inputBytes), cell: (x) => <Bytes value={x.inputBytes} /> },
    {
      id: "shuffleRead",
      label: t("col.shuffleRead"),
      num: true,
      sort: "shuffleRead",
      off: !any((x) => x.shuffleReadBytes),
      cell: (x) => <Bytes value={x.shuffleReadBytes} />,
    },
    {
      id: "shuffleWrite",
      label: t("col.shuffleWrite"),
      num: true,
      sort: "shuffleWrite",
      off: !any((x) => x.shuffleWriteBytes),
      cell: (x) => <Bytes value={x.shuffleWriteBytes} />,
    },
    {
      id: "logs",
      label: t("col.logs"),
      class: "nowrap",
      off: !any((x) => x.logs?.length),
      cell: (x) =>
        (x.logs ?? []).map(([name, url], i) => {
          const to = paths.outside(url);
          return (
            <>
              {i ? ", " : ""}
              {to ? (
                <a href={to} target="_blank" rel="noopener noreferrer">
                  {name}
                </a>
              ) : (
                <span title={url}>{name}</span>
              )}
            </>
          );
        }),
    },
  ];
}

/** @param {{ x: ExecutorItem, app: import("../types").App }} props */
function Status({ x, app }) {
  const excluded = x.isExcluded || x.excludedInStages?.length;
  const note = excluded ? (
    <span class="chip is-warn" title={x.excludedInStages?.length ? t("executors.excludedIn", x.excludedInStages.join(", ")) : undefined}>
      {t("executors.excluded")}
    </span>
  ) : null;
  if (x.active)
    return (
      <>
        <span class="dim">{t("executors.stayed")}</span> {note}
      </>
    );
  return (
    <div class="two-lines is-status">
      <div>
        {x.removeMs !== null && app.startMs !== null ? t("executors.removedAt", offset(x.removeMs - app.startMs)) : t("executors.removed")} {note}
      </div>
      <div class="clip dim3 small" title={x.removeReason ?? undefined}>
        {x.removeReason ?? ""}
      </div>
    </div>
  );
}
