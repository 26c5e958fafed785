// SPDX-License-Identifier: Apache-2.0
import { wordedPath } from "../api.js";
import { duration, offset, percent, slotTime } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, patchQuery } from "../lib/router.js";
import { callSite } from "../model/app.js";
import { AccountBar } from "./account.jsx";
import { Bar, Clip } from "./cells.jsx";
import { Section } from "./facts.jsx";
import { Judged, isRead } from "./findings.jsx";
import { stageName } from "./stage-columns.jsx";
import { around, gapName } from "./timeline.jsx";
import { Table } from "./table.jsx";
import { useData } from "./use-data.js";

/** @typedef {import("../types").Account} Account */

/** @param {string} ref @param {string} version @param {Record<string, string | number | null>} of @returns {import("./use-data.js").Asked<Account>} */
const useAsked = (ref, version, of) => useData(isRead(version) ? wordedPath(["apps", ref, "account"], of) : null, version);

/** Of the run, and what holds the block that the address names. @param {string} ref @param {string} version */
export const useRunAccount = (ref, version) => useAsked(ref, version, { gaps: 0, holders: current().query.get("block") });

/** Of a job: what went on in all slots while it ran. @param {string} ref @param {string} version @param {number} job */
export const useJobAccount = (ref, version, job) => useAsked(ref, version, { job });

/**
 * Where the time of the whole run went; a block that is clicked (`block`) tells what holds it.
 * @param {{ app: import("../types").App, version: string, asked: import("./use-data.js").Asked<Account> }} props
 */
export function AccountSection({ app, version, asked }) {
  const picked = current().query.get("block");
  const a = asked.data;
  return (
    <Section title={t("account.title")} note={a && a.frameMs > 0 ? t("account.note", a.slotPeak, duration(a.wallMs), slotTime(a.frameMs)) : null}>
      <Judged from={asked} version={version} rows={4}>
        {(account) => (
          <>
            <AccountBar
              buckets={account.buckets}
              totalMs={account.frameMs}
              picked={picked}
              pick={(bucket) => patchQuery({ block: picked === bucket ? null : bucket }, { replace: true })}
            />
            {picked ? <Holders app={app} of={account} bucket={picked} /> : null}
          </>
        )}
      </Judged>
    </Section>
  );
}

/** What was going on while a job ran, in all slots. @param {{ version: string, asked: import("./use-data.js").Asked<Account> }} props */
export const JobAccount = ({ version, asked }) => (
  <Section title={t("account.title")} note={t("account.jobNote")}>
    <Judged from={asked} version={version} rows={3}>
      {(a) => (a.buckets.length ? <AccountBar buckets={a.buckets} totalMs={a.buckets.reduce((s, b) => s + b.slotMs, 0)} /> : <p class="find-later">{t("account.none")}</p>)}
    </Judged>
  </Section>
);

/** @param {{ app: import("../types").App, of: Account, bucket: string }} props */
function Holders({ app, of, bucket }) {
  const block = of.buckets.find((b) => b.bucket === bucket);
  if (!block || !of.holders) return null;
  return (
    <div class="acct-held">
      <h3>{t("account.held", block.name ?? bucket)}</h3>
      {block.meaning ? <p class="dim">{block.meaning}</p> : null}
      <HolderTables app={app} of={of} holders={of.holders} block={block} />
    </div>
  );
}

/** @param {{ app: import("../types").App, of: Account, holders: NonNullable<Account["holders"]>, block: import("../types").Bucket }} props */
function HolderTables({ app, of, holders, block }) {
  const { stages, jobs, gaps } = holders;
  /** @type {import("./table.jsx").Column<import("../types").Holder>[]} */
  const columns = [
    { id: "name", label: t("col.what"), class: "is-text", cell: (x) => <Clip text={callSite(x.name)} title={x.name} /> },
    {
      id: "slotMs",
      label: block.name ?? block.bucket,
      num: true,
      bar: true,
      class: "is-bar",
      value: (x) => x.slotMs,
      cell: (x, max) => <Bar value={x.slotMs} max={max} text={slotTime(x.slotMs)} />,
    },
    { id: "block", label: t("account.ofBlock"), num: true, cell: (x) => percent(block.slotMs ? x.slotMs / block.slotMs : null) },
    { id: "own", label: t("account.ofOwn"), num: true, cell: (x) => percent(x.allSlotMs ? x.slotMs / x.allSlotMs : null) },
  ];
  if (stages.length)
    return (
      <Table
        class="is-mid"
        caption={t("account.heldStages")}
        rows={stages}
        rowKey={(s) => `${s.stageId}.${s.attempt}`}
        link={(s) => paths.stage(app.ref, s.stageId, s.attempt)}
        columns={[
          { id: "stage", label: t("col.stage"), cell: (s) => <a href={paths.stage(app.ref, s.stageId, s.attempt)}>{stageName(s)}</a> },
          ...columns,
        ]}
      />
    );
  if (gaps.length)
    return (
      <Table
        class="is-mid"
        caption={t("account.heldGaps")}
        rows={gaps}
        rowKey={(g) => g.fromMs}
        columns={[
          {
            id: "from",
            label: t("account.from"),
            cell: (g) => (
              <a href={paths.app(app.ref, { block: block.bucket, ...around(g, of) })} title={t("account.inTimeline")}>
                {offset(g.fromMs - of.beginMs)}
              </a>
            ),
          },
          { id: "length", label: t("col.duration"), num: true, bar: true, class: "is-bar", value: (g) => g.toMs - g.fromMs, cell: (g, max) => <Bar value={g.toMs - g.fromMs} max={max} text={duration(g.toMs - g.fromMs)} /> },
          { id: "between", label: t("account.between"), cell: (g) => t("account.gapBetween", g.jobBefore, g.jobAfter) },
          { id: "what", label: t("col.what"), cell: (g) => (g.sub ? gapName({ ...g, bucket: block.name ?? g.bucket }) : (block.name ?? g.bucket)) },
        ]}
      />
    );
  if (jobs.length)
    return (
      <Table
        class="is-mid"
        caption={t("account.heldJobs")}
        rows={jobs}
        rowKey={(j) => j.jobId}
        link={(j) => paths.job(app.ref, j.jobId)}
        columns={[{ id: "job", label: t("col.job"), cell: (j) => <a href={paths.job(app.ref, j.jobId)}>{j.jobId}</a> }, ...columns]}
      />
    );
  return <p class="dim">{t("account.noDetail")}</p>;
}
