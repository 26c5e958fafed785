// SPDX-License-Identifier: Apache-2.0
import { Clip, Joined } from "../components/cells.jsx";
import { badColumn, barColumn, countColumn, dataColumns, durationColumn, gcColumn, heapColumn, momentColumn } from "../components/columns.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { Choice, Tools } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty } from "../components/states.jsx";
import { bytes, count, offset, percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { share } from "../model/grades.js";

/** @typedef {import("../types").ExecutorItem} ExecutorItem */

/** Were the executors busy, idle, lost? @param {{ app: import("../types").App, version: string }} props */
export function Executors({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<ExecutorItem>} */
  const executors = useList(["apps", app.ref, "executors"], { sort: "id", limit: 100, filters: ["active"], version });
  return (
    <>
      <Facts
        items={[
          [t("col.executors"), count(app.executorCount), app.lostExecutorCount ? t("fact.lost", app.lostExecutorCount) : null],
          app.cores.max ? [t("fact.coresPeak"), count(app.cores.max)] : null,
          durationFact("col.taskTime", app.taskTimeMs),
          app.taskTimeMs ? [t("fact.gcShare"), percent(share(app.gcTimeMs, app.taskTimeMs)), t("fact.ofTaskTime")] : null,
        ]}
      />
      <Section title={t("nav.executors")} note={t("executors.note")}>
        <Tools>
          <Choice
            name="active"
            label={t("col.status")}
            any={t("executors.all")}
            options={[
              ["1", t("executors.alive")],
              ["0", t("executors.removed")],
            ]}
          />
        </Tools>
        <ListTable
          of={executors}
          rows={6}
          caption={t("nav.executors")}
          columns={columns(app)}
          rowKey={(x) => `${x.executorId} ${x.addMs}`}
          rowClass={(x) => (x.active ? "" : "is-removed")}
          none={<Empty title={t("executors.none")} text={t("executors.noneText")} />}
          noMatch={t("executors.noMatch")}
        />
      </Section>
    </>
  );
}

/** @param {import("../types").App} app @returns {import("../components/table.jsx").Column<ExecutorItem>[]} */
const columns = (app) => [
  { id: "id", label: t("col.executor"), sort: "id", cell: (x) => <span class="strong">{x.executorId}</span> },
  { id: "host", label: t("col.host"), cell: (x) => <Clip text={x.hostPort ?? x.host} class="is-host" /> },
  { id: "status", label: t("col.status"), cell: (x) => <Status x={x} app={app} /> },
  { id: "cores", label: t("col.cores"), num: true, cell: (x) => count(x.totalCores) },
  momentColumn("col.added", (x) => x.addMs, app.startMs, { sort: "add" }),
  durationColumn("col.aliveFor", (x) => x.aliveMs, { sort: undefined }),
  countColumn("col.tasks", (x) => x.taskCount),
  badColumn("col.failedTasks", (x) => x.failedTasks),
  barColumn("col.taskTime", (x) => x.taskTimeMs),
  { id: "busy", label: t("col.busy"), title: t("col.busy.title"), num: true, cell: (x) => percent(x.busyShare) },
  gcColumn(),
  heapColumn(),
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
  ...dataColumns(),
  {
    id: "logs",
    label: t("col.logs"),
    class: "nowrap",
    present: (x) => x.logs?.length,
    cell: (x) => <Joined items={x.logs ?? []}>{([name, url]) => <LogLink name={name} url={url} />}</Joined>,
  },
];

/** @param {{ name: string, url: string }} props */
function LogLink({ name, url }) {
  const to = paths.outside(url);
  return to ? (
    <a href={to} target="_blank" rel="noopener noreferrer">
      {name}
    </a>
  ) : (
    <span title={url}>{name}</span>
  );
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
        <span class="dim nowrap">{t("executors.stayed")}</span> {note}
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
