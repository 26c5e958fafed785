// SPDX-License-Identifier: Apache-2.0
import { useColumns } from "../components/column-choice.jsx";
import { Section } from "../components/facts.jsx";
import { Choice, FilterChip, GradeChoice, Search, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { PageFindings } from "../components/findings.jsx";
import { STAGE_STATUSES, stageColumns, stageRows } from "../components/stage-columns.jsx";
import { Empty } from "../components/states.jsx";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, patchQuery } from "../lib/router.js";

const EXTRA = new Set(["sql", "pool", "taskTime"]);

/** Which stage is slow? Slowest first; what is marked says why. @param {{ app: import("../types").App, version: string }} props */
export function Stages({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<import("../types").StageItem>} */
  const stages = useList(["apps", app.ref, "stages"], { sort: "-duration", filters: ["q", "status", "grade", "job", "sql", "pool", "skipped"], fixed: paths.thresholds(current().query), version });
  const { job, sql, pool, skipped } = stages.filters;
  const hidden = skipped === "0";
  const { shown, tool } = useColumns("stages", stageColumns(app), EXTRA, new Set(["mark", "stage"]));
  return (
    <>
    <PageFindings appRef={app.ref} version={version} page="stages" />
    <Section title={t("nav.stages")} note={t("stages.note")}>
      <Tools>
        <Search name="q" label={t("stages.search")} />
        <Choice
          name="status"
          label={t("col.status")}
          any={t("filter.anyStatus")}
          options={words("status", STAGE_STATUSES)}
        />
        <GradeChoice />
        {job !== null ? <FilterChip name="job" text={t("job.title", job)} /> : null}
        {sql !== null ? <FilterChip name="sql" text={t("job.query", sql)} /> : null}
        {pool !== null ? <FilterChip name="pool" text={t("stages.pool", pool)} /> : null}
        <button type="button" class="btn" aria-pressed={hidden} onClick={() => patchQuery({ skipped: hidden ? null : "0", page: null })}>
          {t(hidden ? "stages.showSkipped" : "stages.hideSkipped")}
        </button>
        <span class="tools-end">{tool}</span>
      </Tools>
      <ListTable
        of={stages}
        rows={12}
        caption={t("nav.stages")}
        columns={shown}
        {...stageRows(app.ref)}
        foot={<p class="note dim3">{t("stages.legend")}</p>}
        none={<Empty title={t("stages.none")} text={t("stages.noneText")} />}
        noMatch={t("stages.noMatch")}
      />
    </Section>
    </>
  );
}
