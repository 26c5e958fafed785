// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Bar, Bytes } from "../components/cells.jsx";
import { Section } from "../components/facts.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { current } from "../lib/router.js";
import { sorted } from "../model/sort.js";

/** @typedef {import("../types").CachedRdd} CachedRdd */

/** Did the cache hold? @param {{ app: import("../types").App, version: string }} props */
export function Storage({ app, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").Storage>} */ (useData(apiPath(["apps", app.ref, "storage"]), version));
  const sort = current().query.get("sort") ?? "id";
  return (
    <Loaded from={asked} rows={5}>
      {(data) => {
        const rows = sorted(data.rdds, sort, {
          id: (/** @type {CachedRdd} */ r) => r.id,
          name: (r) => r.name,
          cached: (r) => (r.cachedPartitions !== null && r.numPartitions ? r.cachedPartitions / r.numPartitions : null),
          memory: (r) => r.memoryUsedBytes,
          disk: (r) => r.diskUsedBytes,
        });
        return (
          <Section title={t("storage.title")} note={data.blockUpdatesLogged ? t("storage.note") : t("storage.noteNoSizes")}>
            {rows.length ? (
              <Table
                caption={t("storage.title")}
                rows={rows}
                rowKey={(r) => r.id}
                sort={sort}
                columns={[
                  { id: "id", label: "RDD", sort: "id", ascending: true, cell: (r) => <span class="strong">{r.id}</span> },
                  {
                    id: "name",
                    label: t("col.what"),
                    sort: "name",
                    class: "is-text",
                    cell: (r) => (
                      <div class="clip" title={r.name ?? undefined}>
                        {r.name ?? "\u2014"}
                      </div>
                    ),
                  },
                  { id: "level", label: t("col.level"), cell: (r) => r.storageLevel ?? "\u2014" },
                  {
                    id: "cached",
                    label: t("col.cached"),
                    num: true,
                    sort: "cached",
                    cell: (r) =>
                      r.cachedPartitions === null || (!data.blockUpdatesLogged && !r.cachedPartitions) ? (
                        <span title={t("storage.unknown")}>{t("storage.ofParts", "\u2014", count(r.numPartitions))}</span>
                      ) : (
                        <Bar
                          value={r.cachedPartitions}
                          max={r.numPartitions ?? 1}
                          text={t("storage.ofParts", count(r.cachedPartitions), count(r.numPartitions))}
                        />
                      ),
                  },
                  { id: "memory", label: t("col.memory"), num: true, sort: "memory", cell: (r) => <Bytes value={r.memoryUsedBytes} /> },
                  { id: "disk", label: t("col.disk"), num: true, sort: "disk", cell: (r) => <Bytes value={r.diskUsedBytes} /> },
                  { id: "released", label: t("col.released"), cell: (r) => <span class="dim">{t(r.unpersisted ? "storage.released" : "storage.kept")}</span> },
                ]}
              />
            ) : (
              <Empty title={t("storage.none")}>
                <p>{t("storage.noneText")}</p>
                {data.blockUpdatesLogged ? null : (
                  <p>
                    {t("storage.switchOn")} <code>spark.eventLog.logBlockUpdates.enabled=true</code>
                  </p>
                )}
              </Empty>
            )}
            {rows.length && !data.blockUpdatesLogged ? (
              <p class="note">
                {t("storage.switchOn")} <code>spark.eventLog.logBlockUpdates.enabled=true</code>
              </p>
            ) : null}
          </Section>
        );
      }}
    </Loaded>
  );
}
