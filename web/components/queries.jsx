// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { Clip, Joined } from "./cells.jsx";
import { Chip } from "./chips.jsx";
import { barColumn, linkColumn, momentColumn } from "./columns.jsx";
import { Table } from "./table.jsx";

/** @typedef {import("../types").App} App */

/** Nested executions, as rows of their own. @param {{ app: App, caption: string, rows: import("../types").SqlItem[] }} props */
export const NestedTable = ({ app, caption, rows }) => (
  <Table
    caption={caption}
    rows={rows}
    rowKey={(x) => x.id}
    link={(x) => paths.sql(app.ref, x.id)}
    columns={[
      linkColumn("col.query", (x) => paths.sql(app.ref, x.id), (x) => x.id),
      { id: "what", label: t("col.description"), class: "is-text", cell: (x) => <Clip text={x.description} /> },
      { id: "status", label: t("col.status"), cell: (x) => <Chip of="status" state={x.status} /> },
      momentColumn("col.started", (x) => x.submissionMs, app.startMs),
      barColumn("col.duration", (x) => x.durationMs),
      { id: "jobs", label: t("col.jobs"), cell: (x) => <JobLinks app={app} query={x} /> },
    ]}
  />
);

/** Jobs by state: what failed or runs stands first and says so. @param {{ app: App, query: import("../types").SqlItem }} props */
export function JobLinks({ app, query: q }) {
  const links = (/** @type {number[]} */ ids, /** @type {number} */ all) => (
    <>
      <Joined items={ids.slice(0, 8)}>{(j) => <a href={paths.job(app.ref, j)}>{j}</a>}</Joined>
      {all > Math.min(8, ids.length) ? ` ${t("list.more", all - Math.min(8, ids.length))}` : ""}
    </>
  );
  const running = q.jobCount - q.succeededJobCount - q.failedJobCount;
  return (
    <div class="two-lines is-jobs">
      {q.failedJobCount ? (
        <div>
          <span class="bad small">{t("status.failed")}</span> {links(q.failedJobIds, q.failedJobCount)}
        </div>
      ) : null}
      {running ? (
        <div>
          <span class="dim small">{t("status.unknown")}</span> {links(q.runningJobIds, running)}
        </div>
      ) : null}
      {q.succeededJobCount ? <div>{links(q.succeededJobIds, q.succeededJobCount)}</div> : null}
      {q.jobCount ? null : <span class="dim3">0</span>}
    </div>
  );
}
