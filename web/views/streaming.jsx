// SPDX-License-Identifier: Apache-2.0
import { Clip } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { badColumn, countColumn, durationColumn, momentColumn, sparse } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { Choice, Search, Tools, words } from "../components/filters.jsx";
import { PageFindings, isRead, useFindings } from "../components/findings.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty, Together } from "../components/states.jsx";
import { DASH, count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** @typedef {import("../types").StreamingItem} StreamingItem */
/** @typedef {import("../types").App} App */

/** Did the streaming queries keep up? @param {{ app: App, version: string }} props */
export function Streaming({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<StreamingItem>} */
  const runs = useList(["apps", app.ref, "streaming"], { sort: "-start", filters: ["q", "status"], version });
  const findings = useFindings(app.ref, version);
  const why = findings.data?.emptyPages?.streaming;
  return (
    <Together of={[isRead(version) ? findings : null]} rows={4}>
      {() => (
        <>
          <PageFindings appRef={app.ref} version={version} page="streaming" />
          <Section title={t("streaming.title")} note={t("streaming.note")}>
            <Tools>
              <Search name="q" label={t("streaming.search")} />
              <Choice name="status" label={t("col.status")} any={t("filter.anyStatus")} options={words("status", ["running", "finished", "failed", "unknown"])} />
            </Tools>
            <ListTable
              of={runs}
              rows={4}
              caption={t("streaming.title")}
              columns={columns(app)}
              rowKey={(r) => r.runId}
              link={(r) => paths.stream(app.ref, r.runId)}
              noMatch={t("streaming.noMatch")}
              none={
                <Empty title={t("streaming.none")} text={why ?? t("streaming.noneText")}>
                  {app.dstreamBatchCount ? (
                    <p>
                      <a href={paths.page(app.ref, "dstreams")}>{t("streaming.toDstreams", app.dstreamBatchCount)}</a>
                    </p>
                  ) : null}
                </Empty>
              }
            />
          </Section>
        </>
      )}
    </Together>
  );
}

/** @param {App} app @returns {import("../components/table.jsx").Column<StreamingItem>[]} */
const columns = (app) => [
  {
    id: "name",
    label: t("col.query"),
    sort: "name",
    class: "is-text",
    cell: (r) => (
      <a class="strong clip" href={paths.stream(app.ref, r.runId)}>
        {r.name ?? t("streaming.noName")}
      </a>
    ),
  },
  { id: "status", label: t("col.status"), cell: (r) => <Chip of="status" state={r.status} /> },
  { id: "error", label: t("col.failure"), class: "is-text", present: (r) => r.error, cell: (r) => <Clip text={r.error} class={r.error ? "bad" : "dim3"} /> },
  momentColumn("col.started", (r) => r.startMs, app.startMs, { sort: "start" }),
  durationColumn("col.duration", (r) => r.durationMs),
  { id: "inputRate", label: t("streaming.inputRate"), title: t("streaming.rate.title"), num: true, sort: "inputRate", cell: (r) => count(round(r.recentInputRowsPerSecond)) },
  { id: "processedRate", label: t("streaming.processedRate"), title: t("streaming.rate.title"), num: true, sort: "processedRate", cell: (r) => count(round(r.recentProcessedRowsPerSecond)) },
  countColumn("streaming.batches", (r) => r.progressCount),
  { id: "latest", label: t("streaming.latest"), num: true, cell: (r) => (r.latestBatchId === null ? DASH : String(r.latestBatchId)) },
  durationColumn("streaming.longest", (r) => r.maxBatchDurationMs, { sort: undefined }),
  countColumn("streaming.inputRows", (r) => r.inputRows),
  countColumn("col.jobs", (r) => r.jobCount, { sort: undefined }),
  sparse(badColumn("streaming.failedJobs", (/** @type {StreamingItem} */ r) => r.failedJobCount || null, { sort: undefined })),
  { id: "id", label: t("streaming.ids"), cell: (r) => <Ids r={r} /> },
];

/** Two decimals, as the History Server shows them. @param {number | null} rate */
export const round = (rate) => (rate === null ? null : Math.round(rate * 100) / 100);

/** @param {{ r: StreamingItem }} props */
const Ids = ({ r }) => (
  <div class="two-lines small mono">
    <div class="clip" title={t("streaming.runId")}>
      {r.runId}
    </div>
    <div class="clip dim3" title={t("streaming.queryId")}>
      {r.queryId ?? ""}
    </div>
  </div>
);
