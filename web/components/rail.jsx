// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { runGrades, worstKnown } from "../model/grades.js";
import { wrong } from "../model/health.js";
import { Severity } from "./severity.jsx";

/** @typedef {import("../lib/i18n.js").Key} Key */
/** @typedef {{ id: string, to: string, step?: number, sub?: boolean, ask?: string, level?: number | null, label?: string, apart?: boolean }} Entry */

/**
 * Reading order: where to look first, second, third. Marks stand where the log showed something; level null: not known yet, its place is kept free.
 * @param {string} ref
 * @param {import("../types").App | undefined} app
 * @returns {Entry[]}
 */
export function entries(ref, app) {
  const slowest = app?.slowestStages[0];
  const ended = app && app.stageCount !== null;
  /** @type {(level: number | null | undefined) => number | null} */
  const known = (level) => (ended && level !== null && level !== undefined ? level : null);
  const { skew, gc } = app ? runGrades(app) : { skew: null, gc: null };
  // A failed task was tried again, or its stage carries the mark: news, no more.
  const tasks = worstKnown(skew, app?.failedTaskCount ? 1 : app?.failedTaskCount);
  const broken = app && !app.loading ? wrong(app.health).length : 0;
  return [
    {
      id: "overview",
      to: paths.app(ref),
      level: known(worstKnown(skew, gc, app?.outcome === "failed" ? 4 : null)),
      label: app?.outcome === "failed" ? t("rail.failed") : undefined,
    },
    {
      id: "jobs",
      to: paths.page(ref, "jobs"),
      step: 1,
      level: known(app?.failedJobCount ? 4 : app?.failedJobCount),
      label: app?.failedJobCount ? t("rail.jobsFailed", app.failedJobCount) : undefined,
    },
    {
      id: "stages",
      to: paths.page(ref, "stages"),
      step: 2,
      level: known(worstKnown(skew, gc, app?.failedStageCount ? 4 : app?.failedStageCount)),
      label: app?.failedStageCount ? t("rail.stagesFailed", app.failedStageCount) : undefined,
    },
    {
      id: "tasks",
      to: slowest ? paths.stage(ref, slowest.stageId, slowest.attempt) : paths.page(ref, "stages"),
      step: 3,
      ask: slowest ? t("nav.tasks.slowest", slowest.stageId) : undefined,
      level: known(tasks),
      label: tasks === 1 && app?.failedTaskCount ? t("rail.tasksFailed", app.failedTaskCount) : undefined,
    },
    {
      id: "executors",
      to: paths.page(ref, "executors"),
      step: 4,
      level: known(worstKnown(gc, app?.lostExecutorCount ? 3 : null)),
      label: app?.lostExecutorCount ? t("rail.lost", app.lostExecutorCount) : undefined,
    },
    { id: "storage", to: paths.page(ref, "storage"), sub: true },
    { id: "env", to: paths.page(ref, "env"), step: 5 },
    { id: "sql", to: paths.page(ref, "sql"), step: 6 },
    { id: "compare", to: paths.compare(ref), apart: true },
    { id: "log", to: paths.page(ref, "log"), level: app && !app.loading ? (broken ? 2 : 0) : null, label: broken ? t("rail.log", broken) : undefined },
  ];
}

/** @param {{ entries: Entry[], here: string, foot: string | null }} props */
export function Rail({ entries: list, here, foot }) {
  return (
    <nav class="rail" aria-label={t("nav.order")}>
      <div class="rail-title" aria-hidden="true">
        {t("nav.order")}
      </div>
      {list.map((x) => (
        <>
          {x.apart ? <hr /> : null}
          <a key={x.id} href={x.to} class={x.sub ? "is-sub" : undefined} aria-current={here === x.id ? "page" : undefined}>
            <span class={"rail-step" + (x.step ? "" : " is-none")} aria-hidden="true">
              {x.step ?? ""}
            </span>
            <span class="rail-name">{t(/** @type {Key} */ (`nav.${x.id}`))}</span>
            {x.level === undefined ? null : <span class="rail-mark">{x.level === null ? null : <Severity level={x.level} label={x.label} />}</span>}
            <span class="rail-ask">{x.ask ?? t(/** @type {Key} */ (`nav.${x.id}.ask`))}</span>
          </a>
        </>
      ))}
      <div class="rail-foot">{foot}</div>
    </nav>
  );
}
