// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from "preact/hooks";
import { seconds } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { worstStage, ofPage, worst } from "../model/findings.js";
import { wrong } from "../model/health.js";
import { GradeMark } from "./severity.jsx";

/** @typedef {import("../lib/i18n.js").Key} Key */
/** @typedef {import("../types").Findings} Findings */
/** @typedef {import("../model/findings.js").PageName} PageName */
/**
 * One page of the reading order. `question`: of findings.questions; level null: not known yet, its place is kept free; savingMs: of the dearest of its findings; says: the sentence of the
 * first; none: why it has nothing to show.
 * @typedef {{ id: string, to: string, step?: number, sub?: boolean, apart?: boolean, ask?: string, question: keyof NonNullable<Findings["questions"]>, level?: number | null,
 *   savingMs?: number | null, label?: string, says?: string, none?: string | null }} Entry
 */

/** A mark that is no finding's. @typedef {{ level: number, label: string } | null} Mark */

/** @param {number | null | undefined} n @param {number} level @param {Key} text @returns {Mark} */
const counted = (n, level, text) => (n ? { level, label: t(text, n) } : null);

/**
 * Reading order: where to look first, second, third. A mark is the worst of a page's findings, or what the run itself says (it failed, something was lost).
 * @param {string} ref
 * @param {import("../types").App | undefined} app
 * @param {Findings | undefined} findings undefined: not judged yet
 * @returns {Entry[]}
 */
export function entries(ref, app, findings) {
  const stage = (findings ? worstStage(findings.findings) : null) ?? slowestOf(app);
  const empty = findings?.emptyPages;
  /** @param {PageName} page @param {Mark} [mark] */
  const marked = (page, mark = null) => marks(findings && ofPage(findings.findings, page), mark);
  /** They stand there where they have something to show. @param {string} id @returns {Entry} */
  const streamed = (id) => ({ id, to: paths.page(ref, id), sub: true, question: "streaming", ...marked("streaming") });
  const broken = app && !app.loading ? wrong(app.health).length : 0;
  return [
    { id: "overview", to: paths.app(ref), question: "overview", ...wholeRun(app, findings) },
    { id: "jobs", to: paths.page(ref, "jobs"), step: 1, question: "jobs", ...marked("jobs", counted(app?.failedJobCount, 4, "rail.jobsFailed")), none: empty?.jobs },
    { id: "stages", to: paths.page(ref, "stages"), step: 2, question: "stages", ...marked("stages", counted(app?.failedStageCount, 4, "rail.stagesFailed")) },
    {
      id: "tasks",
      to: stage === null ? paths.page(ref, "stages") : paths.stageKey(ref, stage),
      step: 3,
      question: "tasks",
      ask: stage === null ? undefined : t("nav.tasks.stage", stage.replace(/\.0$/, "")),
      ...marks(findings?.findings.filter((f) => f.subject.kind === "stage" && f.subject.key === stage), counted(app?.failedTaskCount, 1, "rail.tasksFailed")),
    },
    { id: "executors", to: paths.page(ref, "executors"), step: 4, question: "executors", ...marked("executors", counted(app?.lostExecutorCount, 3, "rail.lost")) },
    { id: "storage", to: paths.page(ref, "storage"), sub: true, question: "storage", ...marked("storage"), none: empty?.storage },
    ...(app?.processCount ? [/** @type {Entry} */ ({ id: "processes", to: paths.page(ref, "processes"), sub: true, question: "executors" })] : []),
    { id: "env", to: paths.page(ref, "env"), step: 5, question: "environment", ...marked("env") },
    { id: "sql", to: paths.page(ref, "sql"), step: 6, question: "sql", ...marked("sql"), none: empty?.sql },
    ...(app?.streamingQueryCount ? [streamed("streaming")] : []),
    ...(app?.dstreamBatchCount ? [streamed("dstreams")] : []),
    ...(app?.sessionCount || app?.operationCount ? [/** @type {Entry} */ ({ id: "sessions", to: paths.page(ref, "sessions"), question: "sql" })] : []),
    { id: "compare", to: paths.compare(ref), apart: true, question: "compare" },
    {
      id: "log",
      to: paths.page(ref, "log"),
      question: "overview",
      level: app && !app.loading ? (broken ? 2 : 0) : null,
      label: broken ? t("rail.log", broken) : undefined,
    },
  ];
}

/** @param {import("../types").App | undefined} app */
const slowestOf = (app) => (app?.slowestStages[0] ? `${app.slowestStages[0].stageId}.${app.slowestStages[0].attempt}` : null);

/** @param {import("../types").App | undefined} app @param {Findings | undefined} findings */
function wholeRun(app, findings) {
  if (app?.outcome === "failed") return { level: 4, label: t("rail.failed"), savingMs: null };
  return findings ? worst(findings.findings) : { level: null, savingMs: null };
}

/** Of a page, by its findings and by what the run itself says. @param {import("../types").Finding[] | undefined} own undefined: not judged yet @param {Mark} mark */
function marks(own, mark) {
  const of = own ? worst(own) : null;
  const level = mark || of ? Math.max(mark?.level ?? 0, of?.level ?? 0) : null;
  return { level, savingMs: of?.savingMs ?? null, label: mark && mark.level >= (of?.level ?? 0) ? mark.label : undefined, says: own?.[0]?.sentence };
}

/** @param {{ entries: Entry[], here: string, foot: string | null }} props */
export function Rail({ entries: list, here, foot }) {
  const rail = useRef(/** @type {HTMLElement | null} */ (null));
  // On a phone it is one line, longer than the screen: the page that is shown is in sight. Not by scrollIntoView, which would move the page too.
  useLayoutEffect(() => {
    const [box, at] = [rail.current, rail.current?.querySelector("[aria-current]")];
    if (box && at instanceof HTMLElement && box.scrollWidth > box.clientWidth) box.scrollLeft = at.offsetLeft - (box.clientWidth - at.offsetWidth) / 2;
  }, [here, list.map((x) => `${x.level} ${x.none}`).join()]); // marks come later, and make it longer
  return (
    <nav class="rail" ref={rail} aria-label={t("nav.order")}>
      <div class="rail-title" aria-hidden="true">
        {t("nav.order")}
      </div>
      {list.map((x) => (
        <>
          {x.apart ? <hr /> : null}
          <a key={x.id} href={x.to} class={x.sub ? "is-sub" : undefined} aria-current={here === x.id ? "page" : undefined} title={x.none ?? undefined}>
            <span class={"rail-step" + (x.step ? "" : " is-none")} aria-hidden="true">
              {x.step ?? ""}
            </span>
            <span class="rail-name">{t(/** @type {Key} */ (`nav.${x.id}`))}</span>
            <span class="rail-mark">
              {x.savingMs ? <span class="rail-save">{seconds(x.savingMs)}</span> : null}
              {x.none && !x.level ? <span class="rail-save">{t("sev.none")}</span> : x.level === null || x.level === undefined ? null : <GradeMark level={x.level} label={x.label} />}
            </span>
            <span class="rail-ask">{x.ask ?? t(/** @type {Key} */ (`nav.${x.id}.ask`))}</span>
          </a>
        </>
      ))}
      <div class="rail-foot">{foot}</div>
    </nav>
  );
}
