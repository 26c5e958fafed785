// SPDX-License-Identifier: Apache-2.0
import { Bar, Clip, Moment } from "../components/cells.jsx";
import { bytesColumn, countColumn, durationColumn, sparse } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { PageFindings, isRead, useFindings } from "../components/findings.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { DASH, count } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** @typedef {import("../types").CachedRdd} CachedRdd */
/** @typedef {import("../types").App} App */

/** Did the cache hold, and was it used? @param {{ app: App, version: string }} props */
export function Storage({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<CachedRdd, import("../types").Storage>} */
  const rdds = useList(["apps", app.ref, "storage"], { sort: "-memory", limit: 100, version });
  const findings = useFindings(app.ref, version);
  const why = findings.data?.emptyPages?.storage;
  const data = rdds.asked.data;
  const logged = data?.blockUpdatesLogged ?? true;
  return (
    <Together of={[isRead(version) ? findings : null, rdds.asked]} rows={6}>
      {() => (
        <>
          <PageFindings appRef={app.ref} version={version} page="storage" />
          <Section title={t("storage.title")} note={t(logged ? "storage.note" : "storage.noteNoSizes")}>
            {data?.items.length && why ? <p class="note">{why}</p> : null}
            <ListTable
              of={rdds}
              rows={5}
              caption={t("storage.title")}
              columns={columns(app, logged)}
              rowKey={(r) => r.id}
              link={(r) => paths.rdd(app.ref, r.id)}
              noMatch=""
              none={
                <Empty title={t("storage.none")} text={why ?? t("storage.noneText")}>
                  {logged ? null : <SwitchOn />}
                </Empty>
              }
              foot={logged ? null : <SwitchOn class="note" />}
            />
          </Section>
          <ReceiverBlocks app={app} version={version} />
        </>
      )}
    </Together>
  );
}

/** The setting that makes Spark log what was held. @param {{ class?: string }} props */
export const SwitchOn = ({ class: c }) => (
  <p class={c}>
    {t("storage.switchOn")} <code>spark.eventLog.logBlockUpdates.enabled=true</code>
  </p>
);

/** @param {{ verdict: CachedRdd["verdict"] }} props */
export const Verdict = ({ verdict }) =>
  verdict === null ? (
    <span class="dim3">{DASH}</span>
  ) : (
    <span class={"chip " + (verdict === "useful" ? "is-ok" : verdict === "unproven" ? "" : "is-warn")} title={word("cache.meaning", verdict)}>
      {word("cache", verdict)}
    </span>
  );

/** How much of it is, or was, in the cache. @param {{ rdd: CachedRdd, cached: number | null, logged: boolean }} props */
export const Cached = ({ rdd, cached, logged }) =>
  cached === null || !logged ? (
    <span title={t("storage.unknown")}>{t("storage.ofParts", DASH, count(rdd.numPartitions))}</span>
  ) : (
    <Bar value={cached} max={rdd.numPartitions ?? 1} text={t("storage.ofParts", count(cached), count(rdd.numPartitions))} />
  );

/** The first line of a name: that of a cached query is its plan. @param {string | null} name */
export const firstLine = (name) => name?.split("\n", 1)[0] ?? null;

/** @param {App} app @param {boolean} logged does the log say what was held? @returns {import("../components/table.jsx").Column<CachedRdd>[]} */
const columns = (app, logged) => [
  {
    id: "id",
    label: "RDD",
    sort: "id",
    num: true,
    class: "is-small",
    ascending: true,
    cell: (r) => (
      <a class="strong" href={paths.rdd(app.ref, r.id)}>
        {r.id}
      </a>
    ),
  },
  { id: "name", label: t("col.what"), sort: "name", class: "is-text", cell: (r) => <Clip text={firstLine(r.name)} title={r.name} /> },
  { id: "verdict", label: t("storage.verdict"), present: (r) => r.verdict, cell: (r) => <Verdict verdict={r.verdict} /> },
  { id: "level", label: t("col.level"), class: "nowrap", cell: (r) => r.storageLevel ?? DASH },
  { id: "cached", label: t("col.cached"), num: true, class: "is-bar", sort: "fraction", cell: (r) => <Cached rdd={r} cached={r.cachedPartitions} logged={logged} /> },
  sparse({ id: "most", label: t("storage.most"), title: t("storage.most.title"), num: true, value: (r) => r.mostPartitions, cell: (r) => count(r.mostPartitions) }),
  bytesColumn("col.memory", (r) => (logged ? r.memoryUsedBytes : null)),
  bytesColumn("col.disk", (r) => (logged ? r.diskUsedBytes : null)),
  sparse(bytesColumn("storage.mostMemory", (/** @type {CachedRdd} */ r) => r.mostMemoryBytes)),
  sparse(countColumn("storage.evicted", (/** @type {CachedRdd} */ r) => r.evictedPartitions, { sort: undefined })),
  countColumn("storage.reads", (r) => r.readCount, { title: t("storage.reads.title") }),
  sparse(durationColumn("storage.build", (/** @type {CachedRdd} */ r) => r.buildMs, { sort: undefined })),
  sparse(durationColumn("storage.saved", (/** @type {CachedRdd} */ r) => r.savedMs)),
  {
    id: "released",
    label: t("col.released"),
    num: true,
    cell: (r) => (r.unpersisted ? r.unpersistMs === null ? t("storage.released") : <Moment ms={r.unpersistMs} startMs={app.startMs} /> : <span class="dim">{t("storage.kept")}</span>),
  },
];

/** Blocks of receivers (DStreams), as on the History Server's page: by executor, then one by one. @param {{ app: App, version: string }} props */
function ReceiverBlocks({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<import("../types").ReceiverBlock, import("../types").ReceiverBlocks>} */
  const blocks = useList(["apps", app.ref, "receiver-blocks"], { id: "block", sort: "block", limit: 25, version });
  const data = blocks.asked.data;
  if (!data?.total) return null;
  const id = (/** @type {string} */ executor) => <a href={paths.page(app.ref, "executors", { exec: executor })}>{executor}</a>;
  return (
    <Section title={t("receivers.title")} note={t("receivers.note")}>
      <Table
        caption={t("receivers.byExecutor")}
        rows={data.executors}
        rowKey={(x) => x.executorId}
        class="is-narrow"
        columns={[
          { id: "executor", label: t("col.executor"), cell: (x) => id(x.executorId) },
          { id: "address", label: t("rdd.address"), cell: (x) => x.address ?? DASH },
          bytesColumn("col.memory", (x) => x.memoryUsedBytes),
          bytesColumn("col.disk", (x) => x.diskUsedBytes),
          countColumn("receivers.blocks", (x) => x.blockCount),
        ]}
      />
      <ListTable
        of={blocks}
        rows={3}
        caption={t("receivers.title")}
        rowKey={(b) => `${b.blockName} ${b.executorId}`}
        noMatch=""
        columns={[
          { id: "block", label: t("rdd.block"), sort: "block", cell: (b) => b.blockName },
          countColumn("receivers.copies", (b) => b.replication, { sort: undefined }),
          { id: "executor", label: t("col.executor"), sort: "executor", cell: (b) => id(b.executorId) },
          { id: "address", label: t("rdd.address"), cell: (b) => b.address ?? DASH },
          { id: "level", label: t("col.level"), cell: (b) => t(b.useDisk ? "col.disk" : b.deserialized ? "col.memory" : "receivers.serialized") },
          bytesColumn("col.memory", (b) => b.memoryUsedBytes),
          bytesColumn("col.disk", (b) => b.diskUsedBytes),
        ]}
      />
    </Section>
  );
}
