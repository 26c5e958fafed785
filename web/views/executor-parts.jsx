// SPDX-License-Identifier: Apache-2.0
/** Parts of the executors page below and beside its list: losses, totals, hosts, exclusions, and all about one executor. */
import { Bar, Clip, TwoLines } from "../components/cells.jsx";
import { badColumn, barColumn, bytesColumn, countColumn, dataColumns, gcColumn, momentColumn, sparse } from "../components/columns.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { useFound } from "../components/findings.jsx";
import { Fold } from "../components/fold.jsx";
import { ListTable } from "../components/list.jsx";
import { LogLinks } from "../components/log-links.jsx";
import { GcMark } from "../components/marks.jsx";
import { FailureText } from "../components/object-head.jsx";
import { PairTable } from "../components/pair-table.jsx";
import { Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { DASH, bytes, count, offset, percent, quantity } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { PEAKS, limitOf, measured } from "../model/executors.js";
import { NEAR_LIMIT } from "../model/findings.js";
import { unitOf } from "../model/metrics.js";

/** @typedef {import("../types").App} App */
/** @typedef {import("../types").ExecutorItem} ExecutorItem */
/** @typedef {import("../types").ExecutorList} ExecutorList */
/** @typedef {import("../lib/i18n.js").Key} Key */

/** What was lost, and why, in words. @param {{ app: App, of: import("../components/use-data.js").Asked<ExecutorList>, most: number }} props */
export function Losses({ app, of, most }) {
  const lost = of.data?.total ?? 0;
  if (!lost) return null;
  return (
    <Section title={t("losses.title")} note={lost > most ? t("losses.some", most, lost) : t("losses.note")}>
      <Loaded from={of}>
        {(data) => (
          <Table
            caption={t("losses.title")}
            rows={data.items}
            rowKey={(x) => `${x.executorId} ${x.addMs}`}
            link={(x) => paths.page(app.ref, "executors", { exec: x.executorId })}
            columns={[
              {
                id: "id",
                label: t("col.executor"),
                cell: (x) => (
                  <a class="strong" href={paths.page(app.ref, "executors", { exec: x.executorId })}>
                    {x.executorId}
                  </a>
                ),
              },
              { id: "host", label: t("col.host"), cell: (x) => <Clip text={x.host} class="is-host" /> },
              { id: "at", label: t("losses.at"), num: true, cell: (x) => (x.removeMs !== null && app.startMs !== null ? offset(x.removeMs - app.startMs) : DASH) },
              { id: "why", label: t("losses.why"), class: "is-reason", cell: (x) => x.lossReason ?? <span class="dim3">{DASH}</span> },
              { id: "exit", label: t("fact.exitCode"), present: (x) => x.exitCode !== null, cell: (x) => <ExitCode x={x} /> },
              badColumn("col.failedTasks", (x) => x.failedTasks),
              { id: "text", label: t("losses.text"), class: "is-text", cell: (x) => <Clip text={x.removeReason} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** @param {{ x: ExecutorItem }} props */
const ExitCode = ({ x }) => (x.exitCode === null ? <span class="dim3">{DASH}</span> : <TwoLines first={String(x.exitCode)} second={x.exitMeaning} />);

/** As on the History Server's page: those that were there at the end, the others, and all. @param {{ totals: import("../types").ExecutorTotals[] }} props */
export function ExecutorTotals({ totals }) {
  if (!totals.length) return null;
  const rows = totals.map((x) => ({ ...x, key: x.active ? "active" : "removed" }));
  if (totals.length > 1) rows.push({ ...added(totals[0], totals[1]), key: "all" });
  return (
    <Section title={t("totals.title")} note={t("totals.note")}>
      <Table
        caption={t("totals.title")}
        rows={rows}
        rowKey={(x) => x.key}
        columns={[
          { id: "state", label: t("executors.status"), class: "nowrap", cell: (x) => t(/** @type {Key} */ (`totals.${x.key}`), x.executorCount) },
          sparse(countColumn("col.rddBlocks", (x) => x.rddBlocks || null)),
          { id: "memory", label: t("col.storageMemory"), num: true, present: (x) => x.memoryUsedBytes || x.maxMemoryBytes, cell: (x) => `${bytes(x.memoryUsedBytes)} / ${bytes(x.maxMemoryBytes)}` },
          { id: "onHeap", label: t("col.onHeapStorage"), num: true, present: (x) => x.onHeapUsedBytes || x.maxOnHeapMemoryBytes, cell: (x) => `${bytes(x.onHeapUsedBytes)} / ${bytes(x.maxOnHeapMemoryBytes)}` },
          { id: "offHeap", label: t("col.offHeapStorage"), num: true, present: (x) => x.maxOffHeapMemoryBytes, cell: (x) => `${bytes(x.offHeapUsedBytes)} / ${bytes(x.maxOffHeapMemoryBytes)}` },
          sparse(bytesColumn("col.diskUsed", (x) => x.diskUsedBytes || null)),
          countColumn("col.cores", (x) => x.totalCores),
          countColumn("col.tasks", (x) => x.taskCount),
          badColumn("col.failedTasks", (x) => x.failedTasks),
          countColumn("col.completeTasks", (x) => x.completedTasks),
          countColumn("col.activeTasks", (x) => x.activeTasks),
          { id: "time", label: t("totals.time"), num: true, cell: (x) => `${quantity(x.taskTimeMs, "ms")} (${quantity(x.gcTimeMs, "ms")})` },
          ...dataColumns(),
          countColumn("executors.excluded", (x) => x.excludedCount),
        ]}
      />
    </Section>
  );
}

/** @param {import("../types").ExecutorTotals} a @param {import("../types").ExecutorTotals} b @returns {import("../types").ExecutorTotals} */
function added(a, b) {
  /** @type {any} */
  const out = {};
  for (const [key, value] of Object.entries(a)) {
    const other = /** @type {any} */ (b)[key];
    out[key] = typeof value === "number" || typeof other === "number" ? Number(value ?? 0) + Number(other ?? 0) : value;
  }
  return out;
}

/** @param {{ app: App, of: import("../components/list.jsx").Listing<import("../types").HostItem> }} props */
export function Hosts({ app, of: hosts }) {
  // One machine tells nothing that its executors do not.
  if ((hosts.asked.data?.total ?? 0) < 2) return null;
  const to = (/** @type {import("../types").HostItem} */ h) => paths.page(app.ref, "executors", { host: h.host });
  return (
    <Section title={t("hosts.title")} note={t("hosts.note")}>
      <ListTable
        of={hosts}
        rows={4}
        caption={t("hosts.title")}
        rowKey={(h) => h.host}
        link={to}
        noMatch=""
        columns={[
          {
            id: "host",
            label: t("col.host"),
            sort: "host",
            cell: (h) => (
              <a class="strong" href={to(h)}>
                {h.host}
              </a>
            ),
          },
          countColumn("col.executors", (h) => h.executorCount),
          sparse(badColumn("hosts.lost", (h) => h.lostCount || null, { sort: undefined })),
          sparse(badColumn("executors.excluded", (h) => h.excludedCount || null, { sort: undefined })),
          countColumn("col.cores", (h) => h.totalCores, { sort: undefined }),
          countColumn("col.tasks", (h) => h.taskCount),
          badColumn("col.failedTasks", (h) => h.failedTasks),
          barColumn("col.taskTime", (h) => h.taskTimeMs),
          gcColumn(),
          ...dataColumns(),
        ]}
      />
    </Section>
  );
}

/** When Spark stopped using an executor or a machine, and began again. @param {{ app: App, list: ExecutorList }} props */
export function Exclusions({ app, list }) {
  if (!list.exclusions.length) return null;
  return (
    <Section title={t("exclusions.title")} note={t("exclusions.note")}>
      <Table
        caption={t("exclusions.title")}
        rows={list.exclusions}
        rowKey={(x) => JSON.stringify(x)}
        columns={[
          momentColumn("exclusions.at", (x) => x.timeMs, app.startMs, { sort: undefined }),
          { id: "who", label: t("exclusions.who"), cell: (x) => (x.executorId !== null ? t("slots.executor", x.executorId) : `${t("col.host")} ${x.host ?? DASH}`) },
          { id: "what", label: t("exclusions.what"), cell: (x) => t(x.lifted ? "exclusions.lifted" : "executors.excluded") },
          {
            id: "for",
            label: t("exclusions.scope"),
            cell: (x) =>
              x.stageId === null ? (
                t("exclusions.all")
              ) : (
                <a href={paths.stage(app.ref, x.stageId, x.stageAttempt ?? 0)}>{t("exclusions.stage", `${x.stageId}.${x.stageAttempt ?? 0}`)}</a>
              ),
          },
          countColumn("exclusions.failures", (x) => x.failures, { sort: undefined }),
        ]}
      />
    </Section>
  );
}

/** @param {{ x: ExecutorItem }} props */
export function OneExecutor({ x }) {
  const found = useFound();
  const peaks = PEAKS.map((name) => ({ name, value: measured(x.peaks, name), limit: limitOf(x, name) })).filter((p) => p.value !== null);
  return (
    <Section title={t("slots.executor", x.executorId)} note={x.hostPort ?? x.host}>
      <Facts
        items={[
          [t("executors.alive"), x.active ? t("executors.stayed") : t("executors.removed")],
          durationFact("col.aliveFor", x.aliveMs),
          [t("col.cores"), count(x.totalCores)],
          [t("col.tasks"), count(x.taskCount), x.failedTasks ? t("fact.failed", x.failedTasks) : null],
          durationFact("col.taskTime", x.taskTimeMs),
          [t("col.busy"), percent(x.busyShare)],
          [t("col.gc"), <GcMark gc={x.gc} />, x.gc?.share ? t("fact.ofTaskTime") : null],
          x.exitCode !== null ? [t("fact.exitCode"), String(x.exitCode), x.exitMeaning] : null,
          x.lossReason ? [t("losses.why"), x.lossReason] : null,
          x.logs?.length ? [t("col.logs"), <LogLinks logs={x.logs} />] : null,
        ]}
      />
      <FailureText text={x.removeReason} />
      {peaks.length ? (
        <Table
          caption={t("executors.peaks")}
          rows={peaks}
          rowKey={(p) => p.name}
          class="is-narrow"
          columns={[
            { id: "name", label: t("executors.peaks"), cell: (p) => t(/** @type {Key} */ (`peak.${p.name}`)) },
            { id: "value", label: t("executors.peak"), num: true, class: "is-bar", cell: (p) => <Bar value={p.value} max={p.limit ?? 0} text={quantity(p.value, unitOf(p.name))} hot={Boolean(p.limit) && found(NEAR_LIMIT, "exec", x.executorId, (p.value ?? 0) / (p.limit ?? 1))} /> },
            { id: "limit", label: t("executors.limit"), num: true, cell: (p) => bytes(p.limit) },
            { id: "share", label: t("executors.ofLimitShort"), num: true, cell: (p) => percent(p.limit ? (p.value ?? 0) / p.limit : null) },
          ]}
        />
      ) : (
        <p class="note dim">{t("executors.noPeaks")}</p>
      )}
      {x.attributes?.length || x.resources?.length ? (
        <Fold name="attributes" title={t("executors.attributes")}>
          <PairTable caption={t("executors.attributes")} pairs={[...(x.attributes ?? []), ...(x.resources ?? [])]} heads={["col.name", "col.value"]} />
        </Fold>
      ) : null}
    </Section>
  );
}
