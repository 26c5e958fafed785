// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Section } from "../components/facts.jsx";
import { Choice, FilterChip, Search } from "../components/filters.jsx";
import { ran, stageColumns, stageName } from "../components/stage-columns.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table, tableQuery } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, patchQuery } from "../lib/router.js";

/** Which stage is slow? Slowest first; what is marked says why. @param {{ app: import("../types").App, version: string }} props */
export function Stages({ app, version }) {
  const q = current().query;
  const table = tableQuery("", { sort: "-duration" });
  const filters = { q: q.get("q"), status: q.get("status"), grade: q.get("grade"), job: q.get("job"), skipped: q.get("skipped") };
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").List<import("../types").StageItem>>} */ (
    useData(apiPath(["apps", app.ref, "stages"], { ...filters, ...table }), version)
  );
  const filtered = Object.values(filters).some((v) => v !== null);
  const hidden = q.get("skipped") === "0";
  return (
    <Section title={t("nav.stages")} note={t("stages.note")}>
      <div class="tbl-tools no-print">
        <Search name="q" label={t("stages.search")} reset="page" />
        <Choice
          name="status"
          label={t("col.status")}
          reset="page"
          options={[
            ["", t("filter.anyStatus")],
            ...["complete", "failed", "active", "pending", "skipped"].map(
              (s) => /** @type {[string, string]} */ ([s, t(/** @type {import("../lib/i18n.js").Key} */ (`status.${s}`))]),
            ),
          ]}
        />
        <Choice
          name="grade"
          label={t("apps.marks")}
          reset="page"
          options={[
            ["", t("apps.anyMark")],
            ["3", t("apps.moderate")],
            ["4", t("apps.severe")],
          ]}
        />
        {filters.job !== null ? <FilterChip name="job" text={t("job.title", filters.job)} remove={t("filter.remove")} reset="page" /> : null}
        <button type="button" class="btn" aria-pressed={hidden} onClick={() => patchQuery({ skipped: hidden ? null : "0", page: null })}>
          {t(hidden ? "stages.showSkipped" : "stages.hideSkipped")}
        </button>
      </div>
      <Loaded from={asked} rows={12}>
        {(list) =>
          list.items.length ? (
            <>
              <Table
                caption={t("nav.stages")}
                rows={list.items}
                rowKey={stageName}
                sort={table.sort}
                page={list}
                link={(s) => paths.stage(app.ref, s.stageId, s.attempt)}
                rowClass={(s) => (ran(s) ? "" : "is-off")}
                columns={stageColumns({ ref: app.ref, startMs: app.startMs, rows: list.items, sortable: true })}
              />
              <p class="note dim3">{t("stages.legend")}</p>
            </>
          ) : filtered ? (
            <Empty title={t("stages.noMatch")}>
              <p>
                <a href={paths.page(app.ref, "stages")}>{t("filter.clear")}</a>
              </p>
            </Empty>
          ) : (
            <Empty title={t("stages.none")}>
              <p>{t("stages.noneText")}</p>
            </Empty>
          )
        }
      </Loaded>
    </Section>
  );
}
