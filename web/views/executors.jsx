// SPDX-License-Identifier: Apache-2.0
import { apiPath, wordedPath } from "../api.js";
import { Bar, Clip } from "../components/cells.jsx";
import { badColumn, barColumn, bytesColumn, countColumn, dataColumns, durationColumn, gcColumn, momentColumn, sparse } from "../components/columns.jsx";
import { useColumns } from "../components/column-choice.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { FilterChip, Choice, Tools } from "../components/filters.jsx";
import { FindingList, Judged, PageFindings, isRead, useFindings, useFound } from "../components/findings.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { LogLinks } from "../components/log-links.jsx";
import { phaseColumn } from "../components/phase-bar.jsx";
import { SlotsChart } from "../components/slots-chart.jsx";
import { Empty, Loaded, Together } from "../components/states.jsx";
import { Pager } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { WholeRun, askedPart } from "../components/zoomable.jsx";
import { bytes, count, offset, percent, quantity } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { current, hrefWith } from "../lib/router.js";
import { PEAKS, busyShare, measured, processRss } from "../model/executors.js";
import { share } from "../model/app.js";
import { NEAR_LIMIT } from "../model/findings.js";
import { unitOf } from "../model/metrics.js";
import { slotParts } from "../model/phases.js";
import { ExecutorTotals, Exclusions, Hosts, Losses, OneExecutor } from "./executor-parts.jsx";
import { ProcessTable, useProcesses } from "./processes.jsx";

/** @typedef {import("../types").ExecutorItem} ExecutorItem */
/** @typedef {import("../types").ExecutorList} ExecutorList */
/** @typedef {import("../types").App} App */

const FILTERS = ["exec", "host", "state"];
/** Lost executors that are listed by themselves. */
const LOST = { state: "lost", sort: "remove", limit: 25 };
/** Columns that are shown when somebody chooses them. */
const EXTRA = new Set(["removedAt", "killedTasks", "completeTasks", "activeTasks", "gcTime", "onHeap", "offHeap", "rddBlocks", "diskUsed", "remote", "profile", ...PEAKS]);
const STATES = ["active", "removed", "lost", "excluded"];
/** Bins of the chart: about one for three pixels of a wide window. */
const BINS = 360;

/** Were the executors busy, idle, lost? @param {{ app: App, version: string }} props */
export function Executors({ app, version }) {
  const q = current().query;
  const part = askedPart();
  const slots = ["apps", app.ref, "executors", "timeline"];
  const filter = Object.fromEntries(FILTERS.map((name) => [name, q.get(name)]));
  /** @type {import("../components/list.jsx").Listing<ExecutorItem, ExecutorList>} */
  const executors = useList(["apps", app.ref, "executors"], { sort: "id", limit: 100, filters: FILTERS, version, worded: true });
  const timeline = /** @type {import("../components/use-data.js").Asked<import("../types").ExecutorTimeline>} */ (
    useData(apiPath(slots, { ...filter, ...part, bins: BINS, page: q.get("linespage"), limit: q.get("lineslimit") ?? 25 }), version)
  );
  // The facts are about the whole run, also while the chart shows a part of it.
  const whole = /** @type {typeof timeline} */ (useData(part ? apiPath(slots, { bins: BINS, limit: 1 }) : null, version));
  const lost = /** @type {import("../components/use-data.js").Asked<ExecutorList>} */ (useData(wordedPath(["apps", app.ref, "executors"], LOST), version));
  /** @type {import("../components/list.jsx").Listing<import("../types").HostItem>} */
  const hosts = useList(["apps", app.ref, "hosts"], { id: "hosts", sort: "-taskTime", limit: 25, version });
  const processes = useProcesses(app, version);
  const findings = useFindings(app.ref, version);
  const list = executors.asked.data;
  const line = part ? whole.data : timeline.data;
  const { shown, tool } = useColumns("executors", columns(app), EXTRA, new Set(["id"]));
  return (
    <Together of={[executors.asked, timeline, lost, hosts.asked, processes.asked, isRead(version) ? findings : null]} rows={16} facts>
      {() => (
        <>
          {filter.exec ? <OfExecutor app={app} id={filter.exec} version={version} list={list} /> : <PageFindings appRef={app.ref} version={version} page="executors" />}
          {filter.exec ? null : <Summary app={app} list={list} line={line} />}
          {app.executorCount === 0 && !list?.items.length ? null : (
            <Section title={t("slots.title")} note={t("slots.note")} tools={<WholeRun />}>
              <Loaded from={timeline} rows={8}>
                {(data) => (
                  <>
                    <SlotsChart data={data} link={(id) => hrefWith({ exec: id })} picked={filter.exec ?? null} />
                    <Pager id="lines" {...data} />
                  </>
                )}
              </Loaded>
            </Section>
      )}
      <Losses app={app} of={lost} most={LOST.limit} />
      <Section title={t("nav.executors")} note={t("executors.note")} tools={tool}>
        <Tools>
          <Choice name="state" label={t("col.status")} any={t("executors.all")} options={STATES.map((s) => [s, t(/** @type {import("../lib/i18n.js").Key} */ (`executors.state.${s}`))])} />
          {filter.host ? <FilterChip name="host" text={`${t("col.host")}: ${filter.host}`} /> : null}
          {filter.exec ? <FilterChip name="exec" text={t("slots.executor", filter.exec)} /> : null}
        </Tools>
        <ListTable
          of={executors}
          rows={6}
          caption={t("nav.executors")}
          columns={shown}
          rowKey={(x) => `${x.executorId} ${x.addMs}`}
          rowClass={(x) => (x.active ? "" : "is-removed")}
          link={(x) => hrefWith({ exec: x.executorId })}
          selected={(x) => x.executorId === filter.exec}
          none={<Empty title={t("executors.none")} text={t("executors.noneText")} />}
          noMatch={t("executors.noMatch")}
        />
      </Section>
      {list ? <ExecutorTotals totals={list.totals} /> : null}
      <Hosts app={app} of={hosts} />
      {list ? <Exclusions app={app} list={list} /> : null}
      {processes.asked.data?.total ? <ProcessTable app={app} of={processes} /> : null}
    </>
      )}
    </Together>
  );
}

/** @param {{ app: App, list: ExecutorList | undefined, line: import("../types").ExecutorTimeline | undefined }} props */
function Summary({ app, list, line }) {
  const lost = list ? list.totals.reduce((n, x) => n + x.lostCount, 0) : null;
  const gone = list?.totals.find((x) => !x.active)?.executorCount ?? 0;
  const first = line?.aliveMs.findIndex((v) => v > 0) ?? -1;
  return (
    <Facts
      items={[
        [t("col.executors"), count(app.executorCount), list ? (lost ? t("fact.lost", lost) : gone ? t("executors.goneNote", gone) : t("executors.allStayed")) : " "],
        app.cores.max ? [t("fact.coresPeak"), count(app.cores.max)] : null,
        [t("col.busy"), percent(line ? busyShare(line.busyMs, line.aliveMs) : null), t("executors.busyNote")],
        [t("executors.firstReady"), line && first >= 0 ? offset(first * line.binMs) : "—"],
        durationFact("col.taskTime", app.taskTimeMs),
        app.taskTimeMs ? [t("fact.gcShare"), percent(share(app.gcTimeMs, app.taskTimeMs)), app.gcTimeMs === null ? null : t("fact.ofTaskTime")] : null,
      ]}
    />
  );
}

/** The findings and the numbers of the executor that was picked. @param {{ app: App, id: string, version: string, list: ExecutorList | undefined }} props */
function OfExecutor({ app, id, version, list }) {
  const findings = useFindings(app.ref, version);
  return (
    <>
      <Judged from={findings} version={version}>
        {(all) => <FindingList appRef={app.ref} findings={all.findings.filter((f) => f.subject.kind === "exec" && f.subject.key === id)} />}
      </Judged>
      {(list?.items ?? [])
        .filter((x) => x.executorId === id)
        .map((x) => (
          <OneExecutor key={x.addMs} x={x} />
        ))}
    </>
  );
}

/** A peak beside its limit: red where a finding is about it. @param {{ of: string, value: number | null | undefined, limit: number | null | undefined }} props of: the executor */
function AgainstLimit({ of, value, limit }) {
  const found = useFound();
  if (!value || !limit) return <>{bytes(value || null)}</>;
  return <Bar value={value} max={limit} text={bytes(value)} hot={found(NEAR_LIMIT, "exec", of, value / limit)} title={t("executors.ofLimit", percent(value / limit), bytes(limit))} />;
}

/** @param {number | null} used @param {number | null} available */
const usedOf = (used, available) => (
  <>
    {used === null ? "" : `${bytes(used)} / `}
    {bytes(available)}
  </>
);

/** @param {App} app @returns {import("../components/table.jsx").Column<ExecutorItem>[]} */
const columns = (app) => [
  {
    id: "id",
    label: t("col.executor"),
    sort: "id",
    cell: (x) => (
      <a class="strong" href={hrefWith({ exec: x.executorId })}>
        {x.executorId}
      </a>
    ),
  },
  { id: "host", label: t("col.host"), sort: "host", cell: (x) => <Clip text={x.hostPort ?? x.host} class="is-host" /> },
  { id: "status", label: t("executors.status"), cell: (x) => <Status x={x} app={app} /> },
  { id: "cores", label: t("col.cores"), num: true, cell: (x) => count(x.totalCores) },
  momentColumn("col.added", (x) => x.addMs, app.startMs, { sort: "add" }),
  momentColumn("col.removedAt", (/** @type {ExecutorItem} */ x) => x.removeMs, app.startMs, { sort: "remove" }),
  durationColumn("col.aliveFor", (x) => x.aliveMs, { sort: undefined }),
  countColumn("col.tasks", (x) => x.taskCount),
  badColumn("col.failedTasks", (x) => x.failedTasks),
  countColumn("col.killedTasks", (/** @type {ExecutorItem} */ x) => x.killedTasks, { sort: undefined }),
  countColumn("col.completeTasks", (/** @type {ExecutorItem} */ x) => x.completedTasks, { sort: undefined }),
  countColumn("col.activeTasks", (/** @type {ExecutorItem} */ x) => x.activeTasks, { sort: undefined }),
  barColumn("col.taskTime", (x) => x.taskTimeMs),
  { id: "busy", label: t("col.busy"), title: t("col.busy.title"), num: true, cell: (x) => percent(x.busyShare) },
  { ...phaseColumn(slotParts), label: t("executors.slotTime"), title: t("executors.slotTimeTitle"), present: (x) => x.runTimeMs },
  gcColumn(),
  durationColumn("col.gcTime", (/** @type {ExecutorItem} */ x) => x.gcTimeMs, { sort: undefined }),
  {
    id: "heap",
    label: t("col.peakHeap"),
    title: t("col.peakHeap.title"),
    num: true,
    sort: "heap",
    class: "is-bar",
    present: (x) => measured(x.peaks, "jvmHeapMemoryBytes"),
    cell: (x) => <AgainstLimit of={x.executorId} value={measured(x.peaks, "jvmHeapMemoryBytes")} limit={x.heapLimitBytes} />,
  },
  {
    id: "unified",
    label: t("col.peakUnified"),
    title: t("col.peakUnified.title"),
    num: true,
    class: "is-bar",
    present: (x) => x.peaks?.onHeapUnifiedMemoryBytes,
    cell: (x) => <AgainstLimit of={x.executorId} value={x.peaks?.onHeapUnifiedMemoryBytes} limit={x.maxOnHeapMemoryBytes} />,
  },
  {
    id: "rss",
    label: t("col.peakRss"),
    title: t("col.peakRss.title"),
    num: true,
    class: "is-bar",
    present: (x) => processRss(x.peaks),
    cell: (x) => <AgainstLimit of={x.executorId} value={processRss(x.peaks)} limit={x.containerLimitBytes} />,
  },
  { id: "memory", label: t("col.storageMemory"), title: t("col.storageMemory.title"), num: true, cell: (x) => usedOf(x.memoryUsedBytes, x.maxMemoryBytes) },
  { id: "onHeap", label: t("col.onHeapStorage"), num: true, cell: (x) => usedOf(x.onHeapUsedBytes, x.maxOnHeapMemoryBytes) },
  { id: "offHeap", label: t("col.offHeapStorage"), num: true, cell: (x) => usedOf(x.offHeapUsedBytes, x.maxOffHeapMemoryBytes) },
  countColumn("col.rddBlocks", (/** @type {ExecutorItem} */ x) => x.rddBlocks, { sort: undefined }),
  bytesColumn("col.diskUsed", (/** @type {ExecutorItem} */ x) => x.diskUsedBytes, { sort: undefined }),
  ...dataColumns(),
  { id: "remote", label: t("executors.remote"), title: t("executors.remoteTitle"), num: true, cell: (x) => percent(x.shuffleRemoteReadBytes === null || !x.shuffleReadBytes ? null : x.shuffleRemoteReadBytes / x.shuffleReadBytes) },
  ...PEAKS.map((name) => /** @type {import("../components/table.jsx").Column<ExecutorItem>} */ ({
    id: name,
    label: t(/** @type {import("../lib/i18n.js").Key} */ (`peak.${name}`)),
    num: true,
    cell: (x) => quantity(measured(x.peaks, name), unitOf(name)),
  })),
  { id: "profile", label: t("col.profile"), num: true, cell: (x) => count(x.resourceProfileId) },
  sparse({ id: "resources", label: t("col.resources"), value: (x) => x.resources?.map(([name, addresses]) => `${name}: ${addresses}`).join(", "), cell: (x) => x.resources?.map(([name, addresses]) => `${name}: ${addresses}`).join(", ") }),
  { id: "logs", label: t("col.logs"), class: "nowrap no-print", present: (x) => x.logs?.length, cell: (x) => <LogLinks logs={x.logs} /> },
];

/** Did it stay, was it excluded, and if it went, why? @param {{ x: ExecutorItem, app: App }} props */
export function Status({ x, app }) {
  const excluded = x.isExcluded || x.excludedInStages?.length;
  const note = excluded ? (
    <span class="chip is-warn" title={x.excludedInStages?.length ? t("executors.excludedIn", x.excludedInStages.join(", ")) : undefined}>
      {t("executors.excluded")}
    </span>
  ) : null;
  if (x.active && !x.lost)
    return (
      <>
        <span class="dim nowrap">{t("executors.stayed")}</span> {note}
      </>
    );
  const at = x.removeMs !== null && app.startMs !== null ? offset(x.removeMs - app.startMs) : null;
  return (
    <div class="two-lines is-status">
      <div class={x.lost ? "bad" : ""}>
        {at === null ? t(x.lost ? "executors.state.lost" : "executors.removed") : t(x.lost ? "executors.lostAt" : "executors.removedAt", at)} {note}
      </div>
      <div class="clip dim3 small" title={x.removeReason ?? undefined}>
        {x.lossReason ?? x.removeReason ?? ""}
      </div>
    </div>
  );
}
