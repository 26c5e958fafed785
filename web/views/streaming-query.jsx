// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Clip, Moment } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { bytesColumn, countColumn, durationColumn, sparse } from "../components/columns.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { FindingList, Judged, isRead, useSubjectFindings } from "../components/findings.jsx";
import { Fold } from "../components/fold.jsx";
import { FailureText, TextBlock } from "../components/object-head.jsx";
import { PairTable } from "../components/pair-table.jsx";
import { Empty, Loaded, Together } from "../components/states.jsx";
import { Spread } from "../components/spread.jsx";
import { Table } from "../components/table.jsx";
import { TimeChart } from "../components/time-chart.jsx";
import { useData } from "../components/use-data.js";
import { DASH, bytes, count, duration, time, zoned, zoneName } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";
import { mayCome } from "../model/app.js";
import { PHASE_INKS, batches, drawnPhases } from "../model/streaming.js";
import { round } from "./streaming.jsx";

/** @typedef {import("../types").StreamingQuery} StreamingData */
/** @typedef {import("../types").App} App */

/** One run of a query: did it keep up, where did its batches spend their time, how large is its state? @param {{ app: App, id: string, version: string }} props */
export function StreamingQuery({ app, id, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<StreamingData>} */ (useData(apiPath(["apps", app.ref, "streaming", id]), version));
  const found = useSubjectFindings(app.ref, version, "query", id);
  return (
    <Together of={[asked, isRead(version) ? found : null]} rows={12} facts>
      {() => (
        <Loaded from={asked} rows={12} facts back={{ to: paths.page(app.ref, "streaming"), label: t("nav.streaming"), toCome: mayCome(app) }}>
          {(run) => (
            <>
              <Head app={app} run={run} />
              <Judged from={found} version={version}>
                {(all) => <FindingList appRef={app.ref} findings={all.findings} />}
              </Judged>
              <FailureText text={run.error} />
              <Numbers run={run} />
              {run.latest === null ? (
                <Empty title={t("streaming.noProgress")} text={t("streaming.noProgressText")} />
              ) : (
                <>
                  <Charts run={run} />
                  <Batches app={app} run={run} />
                  <Latest run={run} />
                </>
              )}
            </>
      )}
    </Loaded>
      )}
    </Together>
  );
}

/** @param {{ app: App, run: StreamingData }} props */
const Head = ({ app, run }) => (
  <div class="head is-sub">
    <div class="head-main">
      <div class="head-title">
        <h2 class="head-name">{run.name ?? t("streaming.noName")}</h2>
        <Chip of="status" state={run.status} />
      </div>
      <div class="head-meta">
        <span>
          {t("streaming.runId")} <code>{run.runId}</code>
        </span>
        {run.queryId ? (
          <span>
            {t("streaming.queryId")} <code>{run.queryId}</code>
          </span>
        ) : null}
        {run.startMs !== null ? (
          <span>
            {time(run.startMs)} {zoneName(run.startMs)}
          </span>
        ) : null}
        <a href={paths.page(app.ref, "jobs", { q: run.runId })}>{t("streaming.jobs", run.jobCount)}</a>
      </div>
    </div>
  </div>
);

/** @param {{ run: StreamingData }} props */
const Numbers = ({ run }) => (
  <Facts
    items={[
      durationFact("col.duration", run.durationMs),
      [t("streaming.batches"), count(run.progressCount), run.latestBatchId === null ? null : t("streaming.upTo", run.latestBatchId)],
      [t("streaming.inputRows"), count(run.inputRows)],
      [t("streaming.inputRate"), count(round(run.meanInputRowsPerSecond)), t("streaming.perSecond")],
      [t("streaming.processedRate"), count(round(run.meanProcessedRowsPerSecond)), t("streaming.perSecond")],
      durationFact("streaming.longest", run.maxBatchDurationMs),
      run.idleCount ? [t("streaming.idle"), count(run.idleCount)] : null,
      run.failedJobCount ? [t("streaming.failedJobs"), count(run.failedJobCount)] : null,
      run.errorClass ? [t("streaming.errorClass"), run.errorClass] : null,
    ]}
  />
);

/** @param {{ run: StreamingData }} props */
function Charts({ run }) {
  const s = run.series;
  const fromMs = s.triggerMs.find((v) => v !== null) ?? 0;
  const at = (/** @type {number} */ i) => `${t("streaming.batch", String(s.batchId[i] ?? DASH))} (${zoned(s.triggerMs[i])})`;
  const some = (/** @type {(number | null)[]} */ values) => values.some((v) => v !== null);
  const phases = drawnPhases(run.phases);
  const rate = (/** @type {number | null} */ v) => count(round(v));
  /** @type {{ title: string, series: import("../components/time-chart.jsx").Series[], text: (v: number | null) => string, stacked?: boolean, bytes?: boolean }[]} */
  const charts = [
    {
      title: t("streaming.rates"),
      text: rate,
      series: [
        { name: t("streaming.inputRate"), values: s.inputRowsPerSecond, ink: "--ph-sched" },
        { name: t("streaming.processedRate"), values: s.processedRowsPerSecond, ink: "--ph-cpu" },
      ],
    },
    { title: t("streaming.inputRows"), text: count, series: [{ name: t("streaming.inputRows"), values: s.inputRows, ink: "--chart-mark" }] },
    { title: t("streaming.batchDuration"), text: duration, series: [{ name: t("streaming.batchDuration"), values: s.batchDurationMs, ink: "--chart-mark" }] },
    { title: t("streaming.phases"), text: duration, stacked: true, series: phases.map((p, i) => ({ name: word("phase", p.name), values: p.durationMs, ink: PHASE_INKS[i % PHASE_INKS.length] })) },
    ...(some(s.watermarkGapMs) ? [{ title: t("streaming.watermarkGap"), text: duration, series: [{ name: t("streaming.watermarkGap"), values: s.watermarkGapMs, ink: "--ph-fetch" }] }] : []),
    ...(some(s.stateRowsTotal)
      ? [
          { title: t("streaming.stateRows"), text: count, series: [{ name: t("streaming.stateRows"), values: s.stateRowsTotal, ink: "--ph-deser" }] },
          {
            title: t("streaming.stateChanges"),
            text: count,
            series: [
              { name: t("streaming.stateUpdated"), values: s.stateRowsUpdated, ink: "--ph-deser" },
              { name: t("streaming.stateRemoved"), values: s.stateRowsRemoved, ink: "--ph-io" },
              { name: t("streaming.stateDropped"), values: s.stateRowsDropped, ink: "--ph-gc" },
            ].filter((x) => some(x.values)),
          },
          { title: t("streaming.stateMemory"), text: bytes, bytes: true, series: [{ name: t("streaming.stateMemory"), values: s.stateMemoryBytes, ink: "--ph-deser" }] },
        ]
      : []),
  ];
  return (
    <Section title={t("streaming.overTime")} note={run.progressPerPoint > 1 ? t("streaming.folded", run.progressPerPoint) : t("streaming.overTimeNote")}>
      <div class="time-charts">
        {charts.map((c) => (
          <div key={c.title} class="time-spread">
            <TimeChart
              {...c}
              label={t("streaming.chartLabel", c.title, s.triggerMs.length)}
              timesMs={s.triggerMs}
              fromMs={fromMs}
              tip={(i) => [at(i), ...c.series.map((x) => `${x.name}: ${c.text(x.values[i])}`)].join("\n")}
            />
            {c.stacked ? null : (
              <div class="spreads">
                {c.series.map((x) => (
                  <figure key={x.name} class="time-chart">
                    <figcaption class="dim3">{c.series.length > 1 ? t("spread.of", x.name) : t("spread.title")}</figcaption>
                    <Spread name={x.name} values={x.values} text={c.text} />
                  </figure>
                ))}
              </div>
            )}
          </div>
        ))}
      </div>
    </Section>
  );
}

/** The numbers of the charts, newest first. @param {{ app: App, run: StreamingData }} props */
function Batches({ app, run }) {
  const q = current().query;
  const limit = Math.max(1, Number(q.get("limit")) || 25);
  const rows = batches(run);
  const last = Math.max(1, Math.ceil(rows.length / limit));
  const page = Math.min(last, Math.max(1, Math.floor(Number(q.get("page")) || 1)));
  const phases = drawnPhases(run.phases);
  return (
    <Section title={t("streaming.batches")} note={t("streaming.batchesNote")}>
      <Table
        caption={t("streaming.batches")}
        rows={rows.slice((page - 1) * limit, page * limit)}
        rowKey={(b) => b.index}
        page={{ total: rows.length, page, limit }}
        columns={[
          { id: "batch", label: t("streaming.batchId"), num: true, cell: (b) => (b.batchId === null ? DASH : <span class="strong">{String(b.batchId)}</span>) },
          { id: "trigger", label: t("streaming.trigger"), num: true, cell: (b) => <Moment ms={b.triggerMs} startMs={app.startMs} /> },
          sparse({ id: "records", label: t("streaming.progressRecords"), num: true, value: (b) => (run.progressPerPoint > 1 ? b.progressCount : null), cell: (b) => count(b.progressCount) }),
          durationColumn("col.duration", (b) => b.batchDurationMs),
          ...phases.map((p) => sparse(durationColumn("col.duration", (/** @type {import("../model/streaming.js").Batch} */ b) => p.durationMs[b.index], { id: p.name, label: word("phase", p.name) }))),
          countColumn("streaming.inputRows", (b) => b.inputRows),
          { id: "in", label: t("streaming.inputRate"), num: true, cell: (b) => count(round(b.inputRowsPerSecond)) },
          { id: "out", label: t("streaming.processedRate"), num: true, cell: (b) => count(round(b.processedRowsPerSecond)) },
          sparse(countColumn("streaming.outputRows", (/** @type {import("../model/streaming.js").Batch} */ b) => b.outputRows)),
          sparse(durationColumn("streaming.watermarkGap", (/** @type {import("../model/streaming.js").Batch} */ b) => b.watermarkGapMs)),
          sparse(countColumn("streaming.stateRows", (/** @type {import("../model/streaming.js").Batch} */ b) => b.stateRowsTotal)),
          sparse(countColumn("streaming.stateUpdated", (/** @type {import("../model/streaming.js").Batch} */ b) => b.stateRowsUpdated)),
          sparse(countColumn("streaming.stateRemoved", (/** @type {import("../model/streaming.js").Batch} */ b) => b.stateRowsRemoved)),
          sparse(countColumn("streaming.stateDropped", (/** @type {import("../model/streaming.js").Batch} */ b) => b.stateRowsDropped)),
          sparse(bytesColumn("streaming.stateMemory", (/** @type {import("../model/streaming.js").Batch} */ b) => b.stateMemoryBytes)),
        ]}
      />
    </Section>
  );
}

/** What the last progress said of sources, sink, state and observed metrics. @param {{ run: StreamingData }} props */
function Latest({ run }) {
  const latest = /** @type {import("../types").StreamingLatest} */ (run.latest);
  return (
    <>
      <Section title={t("streaming.sources")} note={t("streaming.latestNote")}>
        <Table
          caption={t("streaming.sources")}
          rows={latest.sources}
          rowKey={(s) => s.ordinal}
          columns={[
            { id: "what", label: t("col.source"), class: "is-text", cell: (s) => <Clip text={s.description} /> },
            countColumn("streaming.inputRows", (s) => s.inputRows),
            { id: "in", label: t("streaming.inputRate"), num: true, cell: (s) => count(round(s.inputRowsPerSecond)) },
            { id: "out", label: t("streaming.processedRate"), num: true, cell: (s) => count(round(s.processedRowsPerSecond)) },
            { id: "start", label: t("streaming.startOffset"), present: (s) => s.startOffset, cell: (s) => <Clip text={s.startOffset} class="mono is-user" /> },
            { id: "end", label: t("streaming.endOffset"), present: (s) => s.endOffset, cell: (s) => <Clip text={s.endOffset} class="mono is-user" /> },
            { id: "latest", label: t("streaming.latestOffset"), present: (s) => s.latestOffset, cell: (s) => <Clip text={s.latestOffset} class="mono is-user" /> },
            { id: "metrics", label: t("col.metric"), present: (s) => s.metrics?.length, cell: (s) => (s.metrics ?? []).map(([k, v]) => `${k} ${v ?? DASH}`).join(", ") },
          ]}
        />
      </Section>
      {latest.stateOperators.length ? (
        <Section title={t("streaming.state")} note={t("streaming.latestNote")}>
          <Table
            caption={t("streaming.state")}
            rows={latest.stateOperators}
            rowKey={(s) => s.ordinal}
            columns={[
              { id: "operator", label: t("streaming.operator"), cell: (s) => s.operator ?? DASH },
              countColumn("streaming.stateRows", (s) => s.rowsTotal),
              countColumn("streaming.stateUpdated", (s) => s.rowsUpdated),
              countColumn("streaming.stateRemoved", (s) => s.rowsRemoved),
              countColumn("streaming.stateDropped", (s) => s.rowsDropped),
              bytesColumn("streaming.stateMemory", (s) => s.memoryBytes),
              durationColumn("streaming.updateTime", (s) => s.updatesTimeMs),
              durationColumn("streaming.removeTime", (s) => s.removalsTimeMs),
              durationColumn("streaming.commitTime", (s) => s.commitTimeMs),
              countColumn("streaming.stores", (s) => s.storeInstances ?? s.shufflePartitions),
            ]}
          />
          {latest.stateOperators
            .filter((s) => s.customMetrics?.length)
            .map((s) => (
              <Fold key={s.ordinal} name={`custom${s.ordinal}`} title={t("streaming.custom", s.operator ?? String(s.ordinal))}>
                <PairTable caption={t("streaming.custom", s.operator ?? "")} pairs={(s.customMetrics ?? []).map(([k, v]) => [k, count(v)])} heads={["col.metric", "col.value"]} />
              </Fold>
            ))}
        </Section>
      ) : null}
      <Section title={t("streaming.sink")} note={t("streaming.latestNote")}>
        <PairTable
          caption={t("streaming.sink")}
          pairs={[[t("streaming.sink"), latest.sink], ...(latest.sinkMetrics ?? [])]}
          heads={["col.name", "col.value"]}
        />
      </Section>
      {latest.eventTimeMaxMs !== null || latest.eventTimeMinMs !== null ? (
        <Facts
          items={[
            [t("streaming.eventMin"), zoned(latest.eventTimeMinMs)],
            [t("streaming.eventMax"), zoned(latest.eventTimeMaxMs)],
            [t("streaming.eventAvg"), zoned(latest.eventTimeAvgMs)],
          ]}
        />
      ) : null}
      <TextBlock title={t("streaming.observed")} note={t("streaming.latestNote")} text={latest.observedMetrics} />
    </>
  );
}
