// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Bar, Clip } from "../components/cells.jsx";
import { bytesColumn } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { DASH, count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { current } from "../lib/router.js";

/** Did the cache hold? @param {{ app: import("../types").App, version: string }} props */
export function Storage({ app, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").Storage>} */ (useData(apiPath(["apps", app.ref, "storage"]), version));
  return (
    <Loaded from={asked} rows={5}>
      {(data) => (
        <Section title={t("storage.title")} note={data.blockUpdatesLogged ? t("storage.note") : t("storage.noteNoSizes")}>
          {data.rdds.length ? (
            <>
              <Table
                whole
                caption={t("storage.title")}
                rows={data.rdds}
                rowKey={(r) => r.id}
                sort={current().query.get("sort") ?? "id"}
                columns={columns(data.blockUpdatesLogged)}
              />
              {data.blockUpdatesLogged ? null : <SwitchOn class="note" />}
            </>
          ) : (
            <Empty title={t("storage.none")} text={t("storage.noneText")}>
              {data.blockUpdatesLogged ? null : <SwitchOn />}
            </Empty>
          )}
        </Section>
      )}
    </Loaded>
  );
}

/** The setting that makes Spark log what was held. @param {{ class?: string }} props */
const SwitchOn = ({ class: c }) => (
  <p class={c}>
    {t("storage.switchOn")} <code>spark.eventLog.logBlockUpdates.enabled=true</code>
  </p>
);

/** @param {boolean} logged does the log say what was held? @returns {import("../components/table.jsx").Column<import("../types").CachedRdd>[]} */
const columns = (logged) => [
  { id: "id", label: "RDD", sort: "id", value: (r) => r.id, cell: (r) => <span class="strong">{r.id}</span> },
  { id: "name", label: t("col.what"), sort: "name", value: (r) => r.name, class: "is-text", cell: (r) => <Clip text={r.name} /> },
  { id: "level", label: t("col.level"), cell: (r) => r.storageLevel ?? DASH },
  {
    id: "cached",
    label: t("col.cached"),
    num: true,
    sort: "cached",
    value: (r) => (r.cachedPartitions !== null && r.numPartitions ? r.cachedPartitions / r.numPartitions : null),
    cell: (r) =>
      r.cachedPartitions === null || (!logged && !r.cachedPartitions) ? (
        <span title={t("storage.unknown")}>{t("storage.ofParts", DASH, count(r.numPartitions))}</span>
      ) : (
        <Bar value={r.cachedPartitions} max={r.numPartitions ?? 1} text={t("storage.ofParts", count(r.cachedPartitions), count(r.numPartitions))} />
      ),
  },
  bytesColumn("col.memory", (r) => r.memoryUsedBytes),
  bytesColumn("col.disk", (r) => r.diskUsedBytes),
  { id: "released", label: t("col.released"), cell: (r) => <span class="dim">{t(r.unpersisted ? "storage.released" : "storage.kept")}</span> },
];
