// SPDX-License-Identifier: Apache-2.0
/**
 * A run over time: slots busy against alive, what the driver did without a job, executors that came and went, jobs with their stages. What the run waited for is outlined; the rest has
 * slack. Drag over the top to look closer; `from` and `to` in the address are ms from the begin of the run.
 */
import { useCallback } from "preact/hooks";
import { wordedPath } from "../api.js";
import { DASH, clock, count, duration, offset, percent, seconds } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith } from "../lib/router.js";
import { callSite } from "../model/app.js";
import { look } from "../model/buckets.js";
import { SLOW_TASK } from "../model/findings.js";
import { onPath, part, placeIn, rowsOf, timeTicks } from "../model/timeline.js";
import { Canvas } from "./canvas.jsx";
import { Section } from "./facts.jsx";
import { Judged, isRead, useFound } from "./findings.jsx";
import { hideTip, showTip, tip } from "./tip.jsx";
import { useData } from "./use-data.js";
import { WholeRun, Zoomable, askedPart } from "./zoomable.jsx";

/** @typedef {import("../types").Timeline} Data */
/** @typedef {import("../model/timeline.js").Span} Span */

const SLOTS_HEIGHT = 58,
  DENSITY_HEIGHT = 72;
/** Beyond so many rows stages stand only below the job that is open. */
const MOST_ROWS = 150;
/** So many long gaps are named below the picture. */
const NAMED_GAPS = 5;

/** @param {string} ref @param {string} version @param {number | null} [job] the only one @returns {import("./use-data.js").Asked<Data>} */
export const useTimeline = (ref, version, job = null) => useData(isRead(version) ? wordedPath(["apps", ref, "timeline"], { job, ...askedPart() }) : null, version);

/** @param {{ app: import("../types").App, version: string, asked: import("./use-data.js").Asked<Data>, job?: import("../types").JobItem }} props job: the only one that was asked for */
export function Timeline({ app, version, asked, job }) {
  const part = askedPart();
  /** @param {Data} data @returns {Span} ms from the begin of the run */
  const whole = (data) => ({
    fromMs: Math.max(0, (job?.submissionMs ?? data.beginMs) - data.beginMs),
    toMs: Math.min(data.endMs, job?.completionMs ?? data.endMs) - data.beginMs,
  });
  return (
    <Section title={t("timeline.title")} note={t(job ? "timeline.noteJob" : "timeline.note")} tools={<WholeRun label={job && "timeline.wholeJob"} />}>
      <Judged from={asked} version={version} rows={8}>
        {(data) => <Picture app={app} data={data} whole={whole(data)} span={part ?? whole(data)} />}
      </Judged>
    </Section>
  );
}

/** @param {{ app: import("../types").App, data: Data, whole: Span, span: Span }} props whole: what there is to see; span: what is shown of it; ms from the begin of the run */
function Picture({ app, data, whole, span }) {
  /** Of a moment, epoch ms. @param {number | null} ms */
  const at = (ms) => placeIn(span, (ms ?? data.endMs) - data.beginMs);
  if (whole.toMs <= whole.fromMs) return <p class="find-later">{t("timeline.noTime")}</p>;
  return (
    <div class="wf">
      <Zoomable span={span} whole={whole} axis=".wf-axis">
        <div class="wf-row is-axis">
          <span />
          <div class="wf-axis">
            {timeTicks(span.fromMs, span.toMs, 8).map((ms) => (
              <span key={ms} style={{ "--a": placeIn(span, ms) }}>
                {clock(ms, span.toMs - span.fromMs, span.toMs)}
              </span>
            ))}
          </div>
          <span />
        </div>
        <div class="wf-row is-slots">
          <span class="wf-lab">
            <span>
              {t("timeline.slots")}
              <br />
              <span class="dim3">{t("timeline.ofSlots", data.slotPeak)}</span>
            </span>
          </span>
          <Slots data={data} span={span} />
          <span class="num">{percent(busyShare(data, span))}</span>
        </div>
      </Zoomable>
      <Driver data={data} at={at} />
      {data.executors.length ? <Executors data={data} at={at} app={app} /> : null}
      {data.density ? <Density data={data} /> : <Rows app={app} data={data} at={at} />}
      <LongestGaps data={data} />
    </div>
  );
}

/** Busy against alive, of what is shown. @param {Data} data @param {Span} span */
function busyShare(data, span) {
  let alive = 0,
    busy = 0;
  const end = data.beginMs + span.toMs;
  data.slots.forEach((s, i) => {
    const length = Math.min(end, data.slots[i + 1]?.fromMs ?? data.endMs) - Math.max(s.fromMs, data.beginMs + span.fromMs);
    if (length <= 0) return;
    alive += s.alive * length;
    busy += s.busy * length;
  });
  return alive > 0 ? busy / alive : null;
}

/** Steps, not curves: nothing is smoothed. @param {{ data: Data, span: Span }} props */
function Slots({ data, span }) {
  const draw = useCallback(
    (/** @type {CanvasRenderingContext2D} */ g, /** @type {number} */ width, /** @type {number} */ height, /** @type {import("./canvas.jsx").Ink} */ ink) => {
      const most = Math.max(1, data.slotPeak);
      const X = (/** @type {number} */ ms) => ((ms - data.beginMs - span.fromMs) / (span.toMs - span.fromMs)) * width;
      const Y = (/** @type {number} */ n) => height - 1 - (Math.min(n, most) / most) * (height - 4);
      /** @param {"alive" | "busy"} what @param {string} colour */
      const area = (what, colour) => {
        g.fillStyle = ink(colour);
        g.beginPath();
        g.moveTo(X(data.slots[0]?.fromMs ?? data.beginMs), height);
        data.slots.forEach((s, i) => {
          g.lineTo(X(s.fromMs), Y(s[what]));
          g.lineTo(X(data.slots[i + 1]?.fromMs ?? data.endMs), Y(s[what]));
        });
        g.lineTo(X(data.endMs), height);
        g.fill();
      };
      area("alive", "--surface-3");
      area("busy", "--ph-cpu");
      g.fillStyle = ink("--line-strong");
      g.fillRect(0, height - 1, width, 1);
    },
    [data, span.fromMs, span.toMs],
  );
  /** @param {MouseEvent} e */
  const tell = (e) => {
    const box = /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect();
    const ms = data.beginMs + span.fromMs + ((e.clientX - box.left) / box.width) * (span.toMs - span.fromMs);
    const step = data.slots.filter((s) => s.fromMs <= ms).pop();
    if (step) showTip(e, t("timeline.slotsAt", offset(ms - data.beginMs), count(step.busy), count(step.alive)));
  };
  return (
    <Canvas
      height={SLOTS_HEIGHT}
      label={t("timeline.slotsLabel", percent(busyShare(data, span)), data.slotPeak)}
      draw={draw}
      onMouseMove={tell}
      onMouseLeave={hideTip}
    />
  );
}

/** @param {import("../types").TimelineGap | import("../types").DriverGap} g */
export const gapName = (g) => ("name" in g && g.name ? g.name : g.bucket) + (g.sub ? `: ${word("account.sub", g.sub)}` : "");

/** Nothing but the driver worked, or nobody did. @param {{ data: Data, at: (ms: number | null) => number }} props */
function Driver({ data, at }) {
  const total = data.gaps.reduce((s, g) => s + g.toMs - g.fromMs, 0);
  return (
    <div class="wf-row">
      <span class="wf-lab">{t("timeline.driver")}</span>
      <span class="wf-track">
        {data.gaps.map((g) => (
          <i
            key={`${g.fromMs}.${g.bucket}`}
            class="is-gap"
            style={{ "--a": at(g.fromMs), "--b": at(g.toMs), "--c": `var(--ph-${look(g.bucket).phase})` }}
            {...tip(() => `${gapName(g)}\n${duration(g.toMs - g.fromMs)} ${t("account.gapBetween", g.jobBefore, g.jobAfter)}\n${offset(g.fromMs - data.beginMs)}`)}
          />
        ))}
      </span>
      <span class="num">{data.gapCount > data.gaps.length ? `≥ ${duration(total)}` : duration(total)}</span>
    </div>
  );
}

/** A line where one came, a cross where one went. @param {{ app: import("../types").App, data: Data, at: (ms: number | null) => number }} props */
function Executors({ app, data, at }) {
  const inside = (/** @type {number | null} */ ms) => ms !== null && ms >= data.fromMs && ms <= data.toMs;
  const gone = data.executors.filter((e) => inside(e.removeMs));
  const came = data.executors.filter((e) => inside(e.addMs));
  return (
    <a class="wf-row" href={paths.page(app.ref, "executors")}>
      <span class="wf-lab">
        {t("timeline.executors")}
        <span class="dim3 clip">{t("timeline.cameWent", came.length, gone.length)}</span>
      </span>
      <span class="wf-track">
        {came.map((e) => (
          <i
            key={`a${e.executorId}.${e.addMs}`}
            class="is-added"
            style={{ "--a": at(e.addMs), "--b": at(e.addMs) }}
            {...tip(() => t("timeline.added", e.executorId, offset((e.addMs ?? 0) - data.beginMs)))}
          />
        ))}
        {gone.map((e) => (
          <i
            key={`r${e.executorId}.${e.removeMs}`}
            class="is-removed"
            style={{ "--a": at(e.removeMs), "--b": at(e.removeMs) }}
            {...tip(() => `${t("timeline.removed", e.executorId, offset((e.removeMs ?? 0) - data.beginMs))}\n${e.removeReason ?? ""}`)}
          />
        ))}
      </span>
      <span class="num dim3">{data.executorCount > data.executors.length ? t("timeline.firstOf", data.executors.length, data.executorCount) : ""}</span>
    </a>
  );
}

/** @param {{ app: import("../types").App, data: Data, at: (ms: number | null) => number }} props */
function Rows({ app, data, at }) {
  const open = current().query.get("job");
  const all = rowsOf(data);
  const folds = all.length > MOST_ROWS && data.stages.length > 0;
  const rows = folds ? all.filter((r) => r.kind === "job" || String(r.kind === "stage" ? r.stage.jobId : r.jobId) === open) : all;
  return (
    <div class={"wf-rows" + (rows.length > 40 ? " is-many" : "")} {...(rows.length > 40 ? { tabIndex: 0, role: "group", "aria-label": t("nav.jobs") } : {})}>
      {rows.map((r) =>
        r.kind === "job" ? (
          <JobRow key={`j${r.job.jobId}`} app={app} job={r.job} at={at} folds={folds} open={open === String(r.job.jobId)} beginMs={data.beginMs} endMs={data.endMs} />
        ) : r.kind === "stage" ? (
          <StageRow key={`s${r.stage.stageId}.${r.stage.attempt}`} app={app} stage={r.stage} at={at} beginMs={data.beginMs} endMs={data.endMs} />
        ) : (
          <div class="wf-row is-off" key={`k${r.jobId}`}>
            <span class="wf-lab is-in">{t("timeline.skipped", r.count)}</span>
          </div>
        ),
      )}
      {data.stages.length && data.stageCount > data.stages.length ? <p class="note">{t("timeline.cutStages", data.stages.length, data.stageCount)}</p> : null}
      {data.jobCount && !data.stages.length && data.stageCount ? <p class="note">{t("timeline.noStages", data.jobCount)}</p> : null}
    </div>
  );
}

/** Without an end in the log it lasted at least until that of the run. @param {{ fromMs: number | null, toMs: number | null }} of @param {number} endMs */
const lengthText = ({ fromMs, toMs }, endMs) => (fromMs === null ? DASH : toMs === null ? `≥ ${duration(endMs - fromMs)}` : duration(toMs - fromMs));

/** @param {{ app: import("../types").App, job: import("../types").TimelineJob, at: (ms: number | null) => number, folds: boolean, open: boolean, beginMs: number, endMs: number }} props */
function JobRow({ app, job, at, folds, open, beginMs, endMs }) {
  const what = job.description ?? callSite(job.name) ?? "";
  const text = () =>
    `${t("job.title", job.jobId)} ${what}\n${job.toMs === null ? t("timeline.noEnd") : duration(job.toMs - job.fromMs)} ${offset(job.fromMs - beginMs)}\n${
      onPath(job) ? t("timeline.onPathFor", duration(job.onPathMs)) : t("timeline.offPath")
    }`;
  return (
    <a
      class={"wf-row is-job" + (onPath(job) ? "" : " is-off")}
      href={folds ? hrefWith({ job: open ? null : job.jobId }) : paths.job(app.ref, job.jobId)}
      aria-expanded={folds ? open : undefined}
    >
      <span class="wf-lab">
        <span class="clip">
          <b>{t("job.title", job.jobId)}</b> {what}
        </span>
      </span>
      <span class="wf-track">
        <i class={"is-job" + (job.failed ? " is-failed" : "") + (job.toMs === null ? " is-open" : "")} style={{ "--a": at(job.fromMs), "--b": at(job.toMs) }} {...tip(text)} />
      </span>
      <span class="num">{lengthText(job, endMs)}</span>
    </a>
  );
}

/** @param {{ app: import("../types").App, stage: import("../types").TimelineStage, at: (ms: number | null) => number, beginMs: number, endMs: number }} props */
function StageRow({ app, stage: s, at, beginMs, endMs }) {
  const length = s.toMs !== null && s.fromMs !== null ? s.toMs - s.fromMs : null;
  const path = onPath(s);
  const matters = useFound()(SLOW_TASK, "stage", `${s.stageId}.${s.attempt}`);
  const text = () =>
    [
      `${t("stage.title", s.attempt ? `${s.stageId}.${s.attempt}` : s.stageId)} ${callSite(s.name) ?? ""}`,
      `${length === null ? t("timeline.noEnd") : duration(length)}, ${t("timeline.tasks", s.numTasks ?? 0)} ${offset((s.fromMs ?? beginMs) - beginMs)}`,
      path ? t("timeline.onPathFor", duration(s.onPathMs)) : s.slackMs ? t("timeline.slack", seconds(s.slackMs)) : t("timeline.offPath"),
      s.lastTaskId === null ? "" : t("timeline.lastTask", s.lastTaskId, duration((s.lastTaskToMs ?? 0) - (s.lastTaskFromMs ?? 0))),
    ]
      .filter(Boolean)
      .join("\n");
  return (
    <a class={"wf-row" + (path ? "" : " is-off")} href={paths.stage(app.ref, s.stageId, s.attempt)}>
      <span class="wf-lab is-in">
        {t("stage.title", s.attempt ? `${s.stageId}.${s.attempt}` : s.stageId)}
        <span class="dim3 clip">
          {t("timeline.tasks", s.numTasks ?? 0)}
          {s.failed ? `, ${t("status.failed")}` : s.failedTasks ? `, ${t("fact.failed", s.failedTasks)}` : ""}
        </span>
      </span>
      <span class="wf-track" {...tip(text)}>
        {!path && s.slackMs && s.toMs !== null ? <i class="is-slack" style={{ "--a": at(s.toMs), "--b": at(s.toMs + s.slackMs) }} /> : null}
        <i class={(path ? "is-path" : "") + (s.failed ? " is-failed" : "") + (s.toMs === null ? " is-open" : "")} style={{ "--a": at(s.fromMs), "--b": at(s.toMs) }} />
        {s.lastTaskFromMs !== null ? (
          <i class={"is-last" + (s.lastTaskSlow ? " is-slow" : "") + (s.lastTaskSlow && matters ? " is-found" : "")} style={{ "--a": at(s.lastTaskFromMs), "--b": at(s.lastTaskToMs) }} />
        ) : null}
      </span>
      <span class="num">{lengthText(s, endMs)}</span>
    </a>
  );
}

/** Too many jobs for rows: how many ran at the same time, and where some failed. @param {{ data: Data }} props */
function Density({ data }) {
  const d = data.density;
  const most = Math.max(1, ...(d?.running ?? []));
  const failed = (d?.failed ?? []).reduce((a, b) => a + b, 0);
  const draw = useCallback(
    (/** @type {CanvasRenderingContext2D} */ g, /** @type {number} */ width, /** @type {number} */ height, /** @type {import("./canvas.jsx").Ink} */ ink) => {
      const part = width / (d?.running.length ?? 1);
      g.fillStyle = ink("--chart-mark");
      d?.running.forEach((n, i) => g.fillRect(i * part, height - (n / most) * (height - 10), part, (n / most) * (height - 10)));
      g.fillStyle = ink("--sev-critical");
      d?.failed.forEach((n, i) => {
        if (n) g.fillRect(i * part - 1, 0, Math.max(3, part), 6);
      });
    },
    [d, most],
  );
  return (
    <>
      <div class="wf-row is-slots">
        <span class="wf-lab">
          <span>
            {t("nav.jobs")}
            <br />
            <span class="dim3">{t("timeline.atOnce", count(Math.round(most * 10) / 10))}</span>
          </span>
        </span>
        <Canvas height={DENSITY_HEIGHT} label={t("timeline.densityLabel", data.jobCount, count(Math.round(most * 10) / 10), failed)} draw={draw} />
        <span class="num">{count(data.jobCount)}</span>
      </div>
      <p class="note">{t("timeline.dense", data.jobCount)}</p>
    </>
  );
}

/** The picture names none of its gaps: this does. @param {{ data: Data }} props */
function LongestGaps({ data }) {
  const longest = [...data.gaps].sort((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs)).slice(0, NAMED_GAPS);
  if (!longest.length) return null;
  return (
    <div class="note wf-gaps">
      {t("timeline.longest")}
      <ul>
        {longest.map((g) => (
          <li key={g.fromMs}>
            <a href={hrefWith(around(g, data))}>{duration(g.toMs - g.fromMs)}</a> {gapName(g)}
            {g.jobBefore !== null || g.jobAfter !== null ? <span class="dim3"> {t("account.gapBetween", g.jobBefore, g.jobAfter)}</span> : null}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The part of the run around something, as the address has it. @param {{ fromMs: number, toMs: number }} of @param {{ beginMs: number, endMs: number }} run */
export function around(of, run) {
  const margin = Math.max(500, (of.toMs - of.fromMs) / 4);
  const p = part(of.fromMs - run.beginMs - margin, of.toMs - run.beginMs + margin, run.endMs - run.beginMs);
  return { from: p.fromMs, to: p.toMs };
}
