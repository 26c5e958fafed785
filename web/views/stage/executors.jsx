// SPDX-License-Identifier: Apache-2.0
import { Clip } from "../../components/cells.jsx";
import { useColumns } from "../../components/column-choice.jsx";
import { badColumn, barColumn, bytesColumn, countColumn, dataColumns, durationColumn, gcColumn, heapColumn, linkColumn, sparse } from "../../components/columns.jsx";
import { Section } from "../../components/facts.jsx";
import { phaseColumn } from "../../components/phase-bar.jsx";
import { Table } from "../../components/table.jsx";
import { percent, times } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { current, hrefWith } from "../../lib/router.js";
import { byHost, restOf, sumParts } from "../../model/phases.js";
import { Logs } from "./why.jsx";

/** @typedef {import("../../types").Stage} StageData */
/** @typedef {import("../../types").StageExecutor} Executor */

const SHOWN = 10;

/** What each executor did in the stage; choosing one filters the tasks and lights it in the charts. @param {{ stage: StageData, analysis: import("../../types").StageAnalysis | null }} props */
export function ByExecutor({ stage: s, analysis }) {
  const q = current().query;
  const total = s.executors.length;
  const { shown, tool } = useColumns("stage.executors", executorColumns(s, restOf(analysis)), EXTRA, new Set(["executor"]));
  // The tasks stand below: many executors must not push them out of sight. The choice is in the URL like any other.
  const few = total <= SHOWN + 2;
  const all = q.get("executors") === "all";
  return (
    <Section
      title={t("byExecutor.title")}
      note={
        <>
          {t("byExecutor.note", s.executors.filter((x) => x.taskCount).length)} {analysis?.eta2 ? t("byExecutor.eta2", percent(analysis.eta2)) : null}
        </>
      }
      tools={
        <>
          {all ? <a href={hrefWith({ executors: null })}>{t("byExecutor.fewer", SHOWN)}</a> : few ? null : <a href={hrefWith({ executors: "all" })}>{t("byExecutor.all", total)}</a>}
          {tool}
        </>
      }
    >
      <Table
        id="e"
        whole
        most={few || all ? undefined : SHOWN}
        caption={t("byExecutor.title")}
        rows={s.executors}
        rowKey={(x) => x.executorId}
        sort={q.get("esort") ?? "-taskTime"}
        selected={(x) => q.get("exec") === x.executorId}
        link={toExecutor}
        columns={shown}
      />
    </Section>
  );
}

/** A second click takes the choice back. @param {Executor} x */
const toExecutor = (x) => hrefWith({ exec: current().query.get("exec") === x.executorId ? null : x.executorId, page: null });
const EXTRA = new Set(["succeededTasks", "run", "peakOffHeap", "peakOnHeapExecution", "peakOffHeapExecution", "peakOnHeapStorage", "peakOffHeapStorage", "peakDirect", "peakMapped", "spillMemory"]);

/** @param {StageData} s @param {string} rest @returns {import("../../components/table.jsx").Column<Executor>[]} */
function executorColumns(s, rest) {
  /** @param {import("../../lib/i18n.js").Key} head @param {string} peak */
  const peakColumn = (head, peak) => bytesColumn(head, (/** @type {Executor} */ x) => x.peaks?.[peak], { sort: undefined });
  return [
    linkColumn("col.executor", toExecutor, (x) => x.executorId, { title: t("byExecutor.filter") }),
    {
      id: "host",
      label: t("col.host"),
      sort: "host",
      value: (x) => x.host,
      cell: (x) => (
        <>
          <Clip text={x.host} class="is-host" />
          {x.isExcluded ? <span class="chip is-warn">{t("executors.excluded")}</span> : null}
        </>
      ),
    },
    { id: "logs", label: t("col.logs"), present: (x) => x.logs.length, cell: (x) => <Logs logs={x.logs} /> },
    countColumn("col.tasks", (x) => x.taskCount),
    countColumn("col.succeededTasks", (x) => x.succeededTasks),
    sparse(badColumn("col.failedTasks", (x) => x.failedTasks, { sort: "failed" })),
    sparse(countColumn("col.killedTasks", (x) => x.killedTasks)),
    barColumn("col.taskTime", (x) => x.taskTimeMs),
    durationColumn("col.median", (x) => x.medianMs),
    {
      id: "relative",
      label: t("col.relative"),
      title: t("col.relative.title"),
      num: true,
      sort: "relative",
      value: (x) => (s.medianMs && x.medianMs !== null ? x.medianMs / s.medianMs : null),
      cell: (x) => <span class="dim">{times(s.medianMs && x.medianMs !== null ? x.medianMs / s.medianMs : null)}</span>,
    },
    durationColumn("col.max", (x) => x.maxMs),
    phaseColumn((x) => sumParts(x, rest)),
    durationColumn("col.run", (x) => x.runTimeMs),
    gcColumn({ sort: "gc" }),
    ...dataColumns(),
    bytesColumn("col.spillMemory", (x) => x.memorySpilledBytes),
    heapColumn(),
    peakColumn("col.peakOffHeap", "jvmOffHeapMemoryBytes"),
    peakColumn("col.peakOnHeapExecution", "onHeapExecutionMemoryBytes"),
    peakColumn("col.peakOffHeapExecution", "offHeapExecutionMemoryBytes"),
    peakColumn("col.peakOnHeapStorage", "onHeapStorageMemoryBytes"),
    peakColumn("col.peakOffHeapStorage", "offHeapStorageMemoryBytes"),
    peakColumn("col.peakDirect", "directPoolMemoryBytes"),
    peakColumn("col.peakMapped", "mappedPoolMemoryBytes"),
  ];
}

/** The same by host, where there is more than one. @param {{ stage: StageData, analysis: import("../../types").StageAnalysis | null }} props */
export function ByHost({ stage: s, analysis }) {
  const q = current().query;
  const rows = byHost(s.executors);
  if (rows.length < 2) return null;
  /** @typedef {import("../../model/phases.js").HostRow} HostRow */
  const mean = (/** @type {HostRow} */ x) => (x.taskTimeMs !== null && x.taskCount ? x.taskTimeMs / x.taskCount : null);
  const to = (/** @type {HostRow} */ x) => hrefWith({ host: q.get("host") === x.host ? null : x.host, page: null });
  const all = q.get("executors") === "all";
  return (
    <Section title={t("byHost.title")} note={t("byHost.note", rows.length)}>
      <Table
        id="h"
        whole
        most={all ? undefined : SHOWN}
        caption={t("byHost.title")}
        rows={rows}
        rowKey={(x) => String(x.host)}
        sort={q.get("hsort") ?? "-taskTime"}
        selected={(x) => q.get("host") !== null && q.get("host") === x.host}
        link={to}
        columns={[
          linkColumn("col.host", to, (x) => x.host ?? "\u2014", { sort: "host" }),
          countColumn("col.executors", (x) => x.executorCount),
          countColumn("col.tasks", (x) => x.taskCount),
          sparse(badColumn("col.failedTasks", (x) => x.failedTasks)),
          barColumn("col.taskTime", (x) => x.taskTimeMs),
          durationColumn("col.mean", mean),
          phaseColumn((x) => sumParts(x, restOf(analysis))),
          ...dataColumns(),
        ]}
      />
    </Section>
  );
}
