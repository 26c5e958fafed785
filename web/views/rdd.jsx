// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Joined } from "../components/cells.jsx";
import { bytesColumn } from "../components/columns.jsx";
import { Facts, Section, bytesFact, durationFact } from "../components/facts.jsx";
import { FindingList, Judged, isRead, useSubjectFindings } from "../components/findings.jsx";
import { Fold } from "../components/fold.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { MetaText } from "../components/object-head.jsx";
import { Empty, Loaded, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { DASH, bytes, count, offset, percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { callSite, mayCome } from "../model/app.js";
import { SwitchOn, Verdict, firstLine } from "./storage.jsx";

/** @typedef {import("../types").Rdd} RddData */
/** @typedef {import("../types").App} App */

/** What was kept of one RDD, where, and who read it? @param {{ app: App, id: string, version: string }} props */
export function Rdd({ app, id, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<RddData>} */ (useData(apiPath(["apps", app.ref, "storage", id]), version));
  const found = useSubjectFindings(app.ref, version, "rdd", id);
  // Storage lists what was to be kept; a finding can be about an RDD that should have been.
  const notKept = asked.data === undefined && asked.error?.status === 404 && Boolean(found.data?.findings.length);
  return (
    <Together of={[asked, isRead(version) ? found : null]} rows={10} facts>
      {() =>
        notKept ? (
          <NotKept app={app} id={id} findings={found.data?.findings ?? []} />
        ) : (
          <Loaded from={asked} rows={10} facts back={{ to: paths.page(app.ref, "storage"), label: t("nav.storage"), toCome: mayCome(app) }}>
            {(rdd) => (
              <>
                <div class="head is-sub">
                  <div class="head-main">
                    <div class="head-title">
                      <h2 class="head-name">{t("rdd.title", id)}</h2>
                      <Verdict verdict={rdd.verdict} />
                    </div>
                    <div class="head-meta">
                      {rdd.name ? <MetaText text={firstLine(rdd.name) ?? ""} /> : null}
                      {rdd.callsite ? <MetaText text={callSite(rdd.callsite) ?? ""} /> : null}
                    </div>
                  </div>
                </div>
                <Judged from={found} version={version}>
                  {(all) => <FindingList appRef={app.ref} findings={all.findings} />}
                </Judged>
                <Numbers app={app} rdd={rdd} />
                {rdd.name?.includes("\n") ? (
                  <Fold name="plan" title={t("rdd.plan")}>
                    <pre class="text-block">{rdd.name}</pre>
                  </Fold>
                ) : null}
                <Stages app={app} rdd={rdd} />
                <Holders app={app} rdd={rdd} />
                <Partitions app={app} rdd={rdd} version={version} />
              </>
            )}
          </Loaded>
        )
      }
    </Together>
  );
}

/** @param {{ app: App, id: string, findings: import("../types").Finding[] }} props */
const NotKept = ({ app, id, findings }) => (
  <>
    <div class="head is-sub">
      <div class="head-main">
        <h2 class="head-name">{t("rdd.title", id)}</h2>
      </div>
    </div>
    <FindingList appRef={app.ref} findings={findings} openFirst />
    <Empty title={t("rdd.notKept")} text={t("rdd.notKeptText")}>
      <p>
        <a href={paths.page(app.ref, "storage")}>{t("nav.storage")}</a>
      </p>
    </Empty>
  </>
);

/** @param {{ app: App, rdd: RddData }} props */
function Numbers({ app, rdd }) {
  const known = rdd.blockUpdatesLogged;
  const at = (/** @type {number | null} */ ms) => (ms !== null && app.startMs !== null ? offset(ms - app.startMs) : DASH);
  return (
    <Facts
      items={[
        [t("col.level"), rdd.storageLevel ?? DASH],
        [t("col.cached"), known ? count(rdd.cachedPartitions) : DASH, t("fact.ofAll", count(rdd.numPartitions))],
        rdd.mostPartitions !== null ? [t("storage.most"), count(rdd.mostPartitions), rdd.mostMemoryBytes ? bytes(rdd.mostMemoryBytes) : null] : null,
        known ? bytesFact("col.memory", rdd.memoryUsedBytes) : null,
        known ? bytesFact("col.disk", rdd.diskUsedBytes) : null,
        rdd.evictedPartitions ? [t("storage.evicted"), count(rdd.evictedPartitions)] : null,
        rdd.readCount !== null ? [t("storage.reads"), count(rdd.readCount), rdd.lastReadMs !== null ? t("rdd.lastRead", at(rdd.lastReadMs)) : null] : null,
        rdd.buildMs !== null ? durationFact("storage.build", rdd.buildMs) : null,
        rdd.savedMs !== null ? durationFact("storage.saved", rdd.savedMs) : null,
        rdd.missingShare !== null ? [t("rdd.missing"), percent(rdd.missingShare), t("rdd.missingNote")] : null,
        [t("col.released"), rdd.unpersisted ? at(rdd.unpersistMs) : t("storage.kept")],
      ]}
    />
  );
}

/** @param {{ app: App, rdd: RddData }} props */
const Stages = ({ app, rdd }) =>
  rdd.stages.length ? (
    <Section title={t("rdd.stages")} note={t("rdd.stagesNote", rdd.readCount)}>
      <Table
        caption={t("rdd.stages")}
        rows={rdd.stages}
        rowKey={(s) => `${s.stageId}.${s.attempt}`}
        class="is-narrow"
        link={(s) => paths.stage(app.ref, s.stageId, s.attempt)}
        columns={[
          {
            id: "stage",
            label: t("col.stage"),
            cell: (s) => (
              <a class="strong" href={paths.stage(app.ref, s.stageId, s.attempt)}>
                {s.attempt ? `${s.stageId}.${s.attempt}` : s.stageId}
              </a>
            ),
          },
          { id: "what", label: t("col.what"), class: "is-text", cell: (s) => <span class="clip">{callSite(s.name)}</span> },
          {
            id: "role",
            label: t("rdd.role"),
            cell: (s) =>
              s.stageId === rdd.builtBy?.stageId && s.attempt === rdd.builtBy.attempt
                ? t("rdd.built")
                : s.status === "skipped"
                  ? t("rdd.skipped")
                  : s.stageId === rdd.lastReadBy?.stageId && s.attempt === rdd.lastReadBy.attempt
                    ? t("rdd.lastReader")
                    : "",
          },
        ]}
      />
    </Section>
  ) : null;

/** @param {number | null} used @param {number | null} left */
const withRest = (used, left) => (
  <>
    {bytes(used)} <span class="dim3">{left === null ? "" : t("rdd.remaining", bytes(left))}</span>
  </>
);

/** @param {{ app: App, rdd: RddData }} props */
const Holders = ({ app, rdd }) =>
  rdd.executors.length ? (
    <Section title={t("rdd.holders", rdd.executors.length)} note={t("rdd.holdersNote")}>
      <Table
        caption={t("rdd.holders", rdd.executors.length)}
        rows={rdd.executors}
        rowKey={(x) => x.executorId}
        columns={[
          { id: "executor", label: t("col.executor"), cell: (x) => <a href={paths.page(app.ref, "executors", { exec: x.executorId })}>{x.executorId}</a> },
          { id: "address", label: t("rdd.address"), cell: (x) => x.address ?? DASH },
          bytesColumn("col.memory", (x) => x.memoryUsedBytes),
          { id: "onHeap", label: t("rdd.onHeap"), num: true, cell: (x) => withRest(x.onHeapUsedBytes, x.onHeapRemainingBytes) },
          { id: "offHeap", label: t("rdd.offHeap"), num: true, cell: (x) => withRest(x.offHeapUsedBytes, x.offHeapRemainingBytes) },
          bytesColumn("col.disk", (x) => x.diskUsedBytes),
        ]}
      />
    </Section>
  ) : null;

/** @param {{ app: App, rdd: RddData, version: string }} props */
function Partitions({ app, rdd, version }) {
  /** @type {import("../components/list.jsx").Listing<import("../types").RddPartition>} */
  const partitions = useList(["apps", app.ref, "storage", rdd.id, "partitions"], { sort: "name", limit: 50, version });
  const address = new Map(rdd.executors.map((x) => [x.executorId, x.address]));
  return (
    <Section title={t("rdd.partitions")} note={t("rdd.partitionsNote")}>
      <ListTable
        of={partitions}
        rows={6}
        caption={t("rdd.partitions")}
        rowKey={(p) => p.blockName}
        noMatch=""
        none={
          <Empty title={t("rdd.none")} text={t(rdd.blockUpdatesLogged ? (rdd.unpersisted ? "rdd.noneReleased" : "rdd.noneHeld") : "rdd.noneUnknown")}>
            {rdd.blockUpdatesLogged ? null : <SwitchOn />}
          </Empty>
        }
        columns={[
          { id: "name", label: t("rdd.block"), sort: "name", cell: (p) => <span class="strong">{p.blockName}</span> },
          { id: "level", label: t("col.level"), sort: "level", cell: (p) => p.storageLevel ?? DASH },
          bytesColumn("col.memory", (p) => p.memoryUsedBytes),
          bytesColumn("col.disk", (p) => p.diskUsedBytes),
          {
            id: "executors",
            label: t("col.executors"),
            sort: "executors",
            cell: (p) => (
              <Joined items={p.executors} most={8}>
                {(e) => (
                  <a href={paths.page(app.ref, "executors", { exec: e })} title={address.get(e) ?? undefined}>
                    {e}
                  </a>
                )}
              </Joined>
            ),
          },
        ]}
      />
    </Section>
  );
}
