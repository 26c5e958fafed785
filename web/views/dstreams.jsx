// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { Joined } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { badColumn, countColumn, durationColumn } from "../components/columns.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { FilterChip, Tools } from "../components/filters.jsx";
import { PageFindings, isRead, useFindings } from "../components/findings.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { TimeChart } from "../components/time-chart.jsx";
import { count, duration, offset, time, zoned, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current } from "../lib/router.js";

/** @typedef {import("../types").DstreamBatch} Batch */
/** @typedef {import("../types").App} App */

/** Did the batches keep up with their interval? @param {{ app: App, version: string }} props */
export function Dstreams({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<Batch, import("../types").DstreamList>} */
  const batches = useList(["apps", app.ref, "dstreams"], { sort: "-batch", limit: 100, filters: ["batch"], version });
  const data = batches.asked.data;
  const picked = current().query.get("batch");
  const findings = useFindings(app.ref, version);
  return (
    <Together of={[isRead(version) ? findings : null, batches.asked]} rows={6} facts>
      {() => (
        <>
          <PageFindings appRef={app.ref} version={version} page="streaming" />
          {data?.total ? (
            <Facts
              items={[
                [t("dstreams.batches"), count(app.dstreamBatchCount)],
                [t("dstreams.interval"), duration(data.intervalMs), data.intervalMs === null ? null : t(data.intervalFits ? "dstreams.fits" : "dstreams.guess")],
                [t("dstreams.receivers"), count(data.receivers.length)],
              ]}
            />
          ) : null}
          {data && data.items.length > 1 ? <Delays items={data.items} intervalMs={data.intervalMs} /> : null}
          <Section title={t("dstreams.title")} note={t("dstreams.note")}>
            {picked ? (
              <Tools>
                <FilterChip name="batch" text={t("dstreams.one", zoned(Number(picked)))} />
              </Tools>
            ) : null}
            <ListTable
              of={batches}
              rows={6}
              caption={t("dstreams.title")}
              rowKey={(b) => b.batchMs}
              columns={columns(app, data?.intervalMs ?? null)}
              noMatch={t("dstreams.noMatch")}
              none={<Empty title={t("dstreams.none")} text={t("dstreams.noneText")} />}
            />
          </Section>
          {data?.receivers.length ? <Receivers app={app} receivers={data.receivers} /> : null}
        </>
      )}
    </Together>
  );
}

/** @param {{ items: Batch[], intervalMs: number | null }} props */
function Delays({ items, intervalMs }) {
  const rows = useMemo(() => [...items].sort((a, b) => a.batchMs - b.batchMs), [items]);
  const series = useMemo(
    () => [
      { name: t("dstreams.processing"), values: rows.map((b) => b.processingTimeMs), ink: "--ph-cpu" },
      { name: t("dstreams.scheduling"), values: rows.map((b) => b.schedulingDelayMs), ink: "--ph-fetch" },
      ...(intervalMs === null ? [] : [{ name: t("dstreams.interval"), values: rows.map(() => intervalMs), ink: "--ph-driver" }]),
    ],
    [rows, intervalMs],
  );
  const times = useMemo(() => rows.map((b) => b.batchMs), [rows]);
  return (
    <TimeChart
      title={t("dstreams.delays")}
      label={t("dstreams.chartLabel", rows.length)}
      timesMs={times}
      fromMs={rows[0].batchMs}
      series={series}
      text={duration}
      tip={(i) => [zoned(rows[i].batchMs), ...series.map((s) => `${s.name}: ${duration(s.values[i])}`)].join("\n")}
    />
  );
}

/** @param {App} app @param {number[]} ids */
const jobs = (app, ids) => (
  <Joined items={ids} most={6}>
    {(id) => <a href={paths.job(app.ref, id)}>{id}</a>}
  </Joined>
);

/** @param {App} app @param {number | null} intervalMs @returns {import("../components/table.jsx").Column<Batch>[]} */
const columns = (app, intervalMs) => [
  { id: "batch", label: t("dstreams.time", zoneName()), sort: "batch", cell: (b) => <span class="strong nowrap">{time(b.batchMs)}</span> },
  { id: "status", label: t("col.status"), cell: (b) => <Chip of="status" state={b.status} /> },
  countColumn("dstreams.records", (b) => b.inputRecords, { sort: undefined, title: t("dstreams.records.title") }),
  durationColumn("dstreams.scheduling", (b) => b.schedulingDelayMs, { sort: "schedulingDelay" }),
  {
    id: "processing",
    label: t("dstreams.processing"),
    num: true,
    sort: "processingTime",
    cell: (b) => <span class={intervalMs !== null && (b.processingTimeMs ?? 0) > intervalMs ? "bad" : ""}>{duration(b.processingTimeMs)}</span>,
  },
  durationColumn("dstreams.total", (b) => b.totalDelayMs, { sort: "totalDelay" }),
  {
    id: "ops",
    label: t("dstreams.ops"),
    cell: (b) => (
      <ul class="plain">
        {b.outputOps.map((op) => (
          <li key={op.outputOpId}>
            {t("dstreams.op", op.outputOpId)} <span class={op.status === "failed" ? "bad" : "dim"}>{op.name ?? ""}</span>{" "}
            {op.startMs !== null && op.endMs !== null ? duration(op.endMs - op.startMs) : ""} · {t("col.jobs")} {jobs(app, op.jobIds)}
          </li>
        ))}
      </ul>
    ),
  },
  countColumn("col.jobs", (b) => b.jobCount),
  badColumn("col.failedTasks", (b) => b.failedJobCount, { sort: undefined }),
];

/** @param {{ app: App, receivers: import("../types").DstreamList["receivers"] }} props */
const Receivers = ({ app, receivers }) => (
  <Section title={t("dstreams.receivers")} note={t("dstreams.receiversNote")}>
    <Table
      caption={t("dstreams.receivers")}
      rows={receivers}
      rowKey={(r) => r.streamId}
      class="is-narrow"
      columns={[
        { id: "id", label: t("dstreams.stream"), num: true, class: "is-small", cell: (r) => count(r.streamId) },
        { id: "status", label: t("col.status"), cell: (r) => <Chip of="status" state={r.status} /> },
        { id: "from", label: t("col.started"), num: true, cell: (r) => (r.startMs !== null && app.startMs !== null ? offset(r.startMs - app.startMs) : "—") },
        durationColumn("col.duration", (r) => (r.startMs !== null && r.endMs !== null ? r.endMs - r.startMs : null), { sort: undefined }),
        { id: "jobs", label: t("dstreams.starts"), cell: (r) => jobs(app, r.jobIds) },
      ]}
    />
  </Section>
);
