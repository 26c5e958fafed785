// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { apiPath } from "../../api.js";
import { Canvas } from "../../components/canvas.jsx";
import { Section } from "../../components/facts.jsx";
import { Search } from "../../components/filters.jsx";
import { Sentences } from "../../components/sentences.jsx";
import { Empty, Loaded } from "../../components/states.jsx";
import { hideTip, showTip } from "../../components/tip.jsx";
import { useData } from "../../components/use-data.js";
import { clock, count, duration, offset, percent } from "../../lib/format.js";
import { language, t, word } from "../../lib/i18n.js";
import { current, patchQuery } from "../../lib/router.js";
import { look } from "../../model/buckets.js";
import { timeTicks } from "../../model/timeline.js";
import { asked as askedWindow, cellAt, clamp, densityPixels, layout, rowAt, span, taskAt, zoomed } from "../../model/task-timeline.js";

/** @typedef {import("../../types").TaskTimeline} TaskTimeline */
/** @typedef {import("../../components/canvas.jsx").Ink} Ink */

const TOP = 20,
  RIGHT = 6,
  /** From so many lanes on a box filters executors. */
  FILTERED_FROM = 24,
  /** So long after the last move the zoom goes into the URL, ms. */
  SETTLE_MS = 250,
  /** A press that moves less is a click, pixels. */
  CLICK_PX = 4,
  MOST_BINS = 2000;
const labelWidth = (/** @type {number} */ width) => (width < 600 ? 52 : 96);

/** A lane a slot, grouped by executor: density first, tasks when zoomed. @param {{ app: import("../../types").App, stage: import("../../types").Stage, name: string, version: string }} props */
export function Timeline({ app, stage: s, name, version }) {
  const filter = current().query.get("lanes");
  const path = ["apps", app.ref, "stages", name, "timeline"];
  const whole = /** @type {import("../../components/use-data.js").Asked<TaskTimeline>} */ (useData(apiPath(path, { bins: 1200, filter, lang: language() }), version));
  return (
    <Section
      id="timeline"
      title={t("tl.title")}
      note={t("tl.note")}
      tools={(whole.data?.rows.reduce((n, r) => n + r.slots, 0) ?? 0) > FILTERED_FROM || filter !== null ? <Search name="lanes" label={t("tl.filter")} /> : null}
    >
      <Loaded from={whole} rows={8}>
        {(base) =>
          base.beginMs === null || base.endMs === null || !base.rows.length ? (
            <Empty title={t(filter === null ? "tl.none" : "tl.noLane")} />
          ) : (
            <Lanes base={base} path={path} filter={filter} app={app} stage={s} version={version} />
          )
        }
      </Loaded>
    </Section>
  );
}

/** @param {{ base: TaskTimeline, path: string[], filter: string | null, app: import("../../types").App, stage: import("../../types").Stage, version: string }} props */
function Lanes({ base, path, filter, app, stage: s, version }) {
  const q = current().query;
  const [begin, end] = [/** @type {number} */ (base.beginMs), Math.max(/** @type {number} */ (base.endMs), /** @type {number} */ (base.beginMs) + 1)];
  const number = (/** @type {string} */ key, /** @type {number} */ otherwise) => (/^\d{1,15}$/.test(q.get(key) ?? "") ? Number(q.get(key)) : otherwise);
  const inUrl = clamp(number("from", begin), number("to", end), begin, end);
  const [view, setView] = useState(inUrl);
  const settle = useRef(0);
  // Back, a link, another log: the URL is what holds unless somebody is moving.
  useEffect(() => {
    if (!settle.current) setView(inUrl);
  }, [inUrl[0], inUrl[1]]);
  useEffect(() => () => clearTimeout(settle.current), []);
  const [from, to] = view;
  const more = base.tasks ? null : askedWindow(from, to, begin, end);
  const detail = /** @type {import("../../components/use-data.js").Asked<TaskTimeline>} */ (
    useData(more && apiPath(path, { from: more[0], to: more[1], bins: MOST_BINS, filter, lang: language() }), version)
  );
  const fine = more && detail.data && detail.data.rows.length === base.rows.length ? detail.data : null;
  // Rows keep their places whatever the window: only lanes beyond an executor's slots would add some, and those are the fine answer's.
  const shape = useMemo(() => layout((fine?.tasks ? fine : base).rows), [base, fine]);
  const [task, exec] = [q.get("task"), q.get("exec")];
  const images = useRef(/** @type {Map<TaskTimeline, { key: string, image: HTMLCanvasElement }>} */ (new Map()));
  const draw = useCallback(
    /** @type {import("preact").ComponentProps<typeof Canvas>["draw"]} */
    (g, width, height, ink) => drawLanes({ g, width, height, ink, base, fine, shape, from, to, task, exec, images: images.current }),
    [base, fine, shape, from, to, task, exec],
  );
  /** @param {[number, number]} wanted */
  const move = (wanted) => {
    const [a, b] = clamp(...wanted, begin, end);
    setView([a, b]);
    clearTimeout(settle.current);
    settle.current = window.setTimeout(() => {
      settle.current = 0;
      patchQuery(a <= begin && b >= end ? { from: null, to: null, page: null } : { from: Math.round(a), to: Math.round(b), page: null }, { replace: true });
    }, SETTLE_MS);
  };
  const zoom = (/** @type {number} */ factor, at = (from + to) / 2) => move(zoomed(from, to, at, factor));
  const reset = () => move([begin, end]);
  const timeAt = (/** @type {MouseEvent} */ e) => {
    const width = /** @type {HTMLElement} */ (e.currentTarget).clientWidth,
      left = labelWidth(width);
    return from + ((e.offsetX - left) / Math.max(1, width - left - RIGHT)) * (to - from);
  };
  const drag = useRef(/** @type {{ x: number, from: number, to: number, moved: boolean } | null} */ (null));
  const shown = fine ?? base;
  /** The task under the pointer. @param {MouseEvent} e */
  const taskUnder = (e) => {
    const pixel = (to - from) / Math.max(1, /** @type {HTMLElement} */ (e.currentTarget).clientWidth);
    return taskAt(shown, shape.places, timeAt(e), e.offsetY - TOP, pixel * 3);
  };
  /** @param {MouseEvent} e @param {boolean} wasClick */
  const tell = (e, wasClick) => {
    const i = taskUnder(e);
    if (i >= 0 && shown.tasks) {
      if (wasClick) patchQuery({ task: shown.tasks.taskId[i] });
      else showTip(e, taskText(shown, i, app.startMs));
      return;
    }
    const row = rowAt(shape.places, e.offsetY - TOP);
    const cell = row < 0 || e.offsetX < labelWidth(/** @type {HTMLElement} */ (e.currentTarget).clientWidth) ? [] : cellAt(shown, row, timeAt(e));
    if (wasClick || row < 0 || !cell.length) hideTip();
    else showTip(e, cellText(shown, row, cell, timeAt(e), app.startMs));
  };
  const phases = shown.tasks?.phases ?? shown.density?.phases ?? [];
  return (
    <div class="tl">
      <Canvas
        class="tl-canvas"
        height={TOP + shape.height + 2}
        draw={draw}
        label={t("tl.label", base.allTasks, base.executorCount, duration(end - begin))}
        tabIndex={0}
        onWheel={(e) => {
          // Only after a click: the page must scroll past it.
          if (document.activeElement !== e.currentTarget && !e.ctrlKey) return;
          e.preventDefault();
          hideTip();
          zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.004), timeAt(e));
        }}
        onDblClick={reset}
        onKeyDown={(e) => {
          const step = (to - from) * 0.15;
          /** @type {Record<string, () => void>} */
          const keys = { "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1.6), 0: reset, ArrowLeft: () => move([from - step, to - step]), ArrowRight: () => move([from + step, to + step]) };
          if (!keys[e.key] || e.ctrlKey || e.altKey || e.metaKey) return;
          e.preventDefault();
          keys[e.key]();
        }}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          drag.current = { x: e.offsetX, from, to, moved: false };
          e.currentTarget.setPointerCapture(e.pointerId);
        }}
        onPointerMove={(e) => {
          const d = drag.current;
          if (!d) return tell(e, false);
          const width = e.currentTarget.clientWidth;
          if (Math.abs(e.offsetX - d.x) >= CLICK_PX) d.moved = true;
          if (!d.moved) return undefined;
          hideTip();
          const by = ((d.x - e.offsetX) / (width - labelWidth(width) - RIGHT)) * (d.to - d.from);
          return move([d.from + by, d.to + by]);
        }}
        onPointerUp={(e) => {
          const d = drag.current;
          drag.current = null;
          if (d && !d.moved) tell(e, true);
        }}
        onPointerCancel={() => {
          drag.current = null;
        }}
        onPointerLeave={hideTip}
      />
      <div class="tl-foot">
        <span class="tl-zoom no-print">
          <button type="button" class="btn is-small" onClick={() => zoom(0.6)} aria-label={t("tl.closer")} title={t("tl.closer")}>
            +
          </button>
          <button type="button" class="btn is-small" onClick={() => zoom(1.6)} aria-label={t("tl.farther")} title={t("tl.farther")}>
            −
          </button>
          <button type="button" class="btn is-small" disabled={from <= begin && to >= end} onClick={reset}>
            {t("tl.reset")}
          </button>
        </span>
        <ul class="legend">
          {phases.map((p) => (
            <li key={p.bucket}>
              <span class="swatch" style={{ "--c": `var(--ph-${look(p.bucket).phase})` }} />
              {p.name ?? p.bucket}
            </li>
          ))}
        </ul>
        <span class="dim3">
          <Sentences
            items={[(fine ?? base).tasks ? t("tl.singly") : t("tl.density", base.taskCount), shape.lanes ? null : t("tl.wholes"), s.activeTasks ? t("tl.open") : null]}
          />
        </span>
      </div>
    </div>
  );
}

/** @param {TaskTimeline} tl @param {number} i @param {number | null} startMs */
function taskText(tl, i, startMs) {
  const tasks = /** @type {NonNullable<TaskTimeline["tasks"]>} */ (tl.tasks);
  const launch = (tl.beginMs ?? 0) + tasks.launchOffsetMs[i];
  const row = tl.rows[tasks.row[i]];
  return [
    t("tl.task", tasks.taskId[i], count(tasks.index[i]), count(tasks.attempt[i]) + (tasks.speculative[i] ? " " + t("tasks.speculative") : "")),
    t("tl.taskWhen", duration(tasks.durationMs[i]), startMs === null ? duration(tasks.launchOffsetMs[i]) : offset(launch - startMs), row.firstExecutorId ?? "\u2014", word("task", tasks.status[i])),
    ...tasks.phases.filter((p) => p.values[i] > 0).map((p) => `${p.name ?? p.bucket} ${duration(p.values[i])}`),
  ].join("\n");
}

/** @param {TaskTimeline} tl @param {number} row @param {ReturnType<typeof cellAt>} cell @param {number} atMs @param {number | null} startMs */
function cellText(tl, row, cell, atMs, startMs) {
  const busy = Math.min(
    1,
    cell.reduce((sum, c) => sum + c.share, 0),
  );
  return [
    `${rowName(tl.rows[row])}${tl.rows[row].host ? ", " + tl.rows[row].host : ""}`,
    t("tl.cell", startMs === null ? duration(atMs - (tl.beginMs ?? 0)) : offset(atMs - startMs), percent(busy), tl.rows[row].slots),
    ...cell.map((c) => `${c.name ?? c.bucket} ${percent(c.share)}`),
  ].join("\n");
}

/** @param {import("../../types").TimelineRow} r @param {boolean} [brief] */
const rowName = (r, brief) =>
  r.executorCount > 1
    ? t(brief ? "tl.rangeBrief" : "tl.range", r.firstExecutorId, r.lastExecutorId)
    : brief || r.firstExecutorId === "driver"
      ? (r.firstExecutorId ?? "\u2014")
      : t("tasks.onExecutor", r.firstExecutorId ?? "\u2014");

/** @param {string} css @returns {[number, number, number]} of a token's colour: #rgb or #rrggbb */
function triple(css) {
  const hex = css.length === 4 ? [...css.slice(1)].map((c) => c + c).join("") : css.slice(1);
  const value = (/** @type {number} */ i) => parseInt(hex.slice(i, i + 2), 16) || 0;
  return [value(0), value(2), value(4)];
}

/**
 * @param {{ g: CanvasRenderingContext2D, width: number, height: number, ink: Ink, base: TaskTimeline, fine: TaskTimeline | null, shape: ReturnType<typeof layout>, from: number, to: number,
 *   task: string | null, exec: string | null, images: Map<TaskTimeline, { key: string, image: HTMLCanvasElement }> }} o
 */
function drawLanes(o) {
  const { g, width, ink, base, fine, shape, from, to } = o;
  const left = labelWidth(width),
    w = width - left - RIGHT;
  const X = (/** @type {number} */ ms) => left + ((ms - from) / (to - from)) * w;
  drawAxis(o, left, w, X);
  drawLabels(o, left, w);
  g.save();
  g.beginPath();
  g.rect(left, TOP, w, shape.height);
  g.clip();
  const covers = fine && (fine.fromMs ?? 0) <= Math.max(from, base.beginMs ?? 0) && (fine.toMs ?? 0) >= Math.min(to, base.endMs ?? 0);
  for (const tl of covers ? [fine] : fine ? [base, fine] : [base]) {
    if (tl === fine && !covers) {
      g.fillStyle = ink("--bg");
      g.fillRect(X(fine.fromMs ?? 0), TOP, X(fine.toMs ?? 0) - X(fine.fromMs ?? 0), shape.height);
    }
    if (tl?.tasks) drawTasks(tl, o, X);
    else if (tl?.density) drawDensity(tl, o, X);
  }
  if (o.exec !== null) {
    g.globalAlpha = 0.65;
    g.fillStyle = ink("--bg");
    base.rows.forEach((r, i) => {
      if (r.executorCount > 1 || r.firstExecutorId !== o.exec) g.fillRect(left, TOP + shape.places[i].y, w, shape.places[i].height);
    });
    g.globalAlpha = 1;
  }
  g.restore();
}

/** @param {Parameters<typeof drawLanes>[0]} o @param {number} left @param {number} w @param {(ms: number) => number} X */
function drawAxis({ g, ink, base, shape, from, to }, left, w, X) {
  const begin = base.beginMs ?? 0;
  g.textBaseline = "middle";
  g.textAlign = "center";
  for (const at of timeTicks(from - begin, to - begin, Math.max(2, Math.floor(w / 90)))) {
    const x = X(begin + at);
    g.fillStyle = ink("--chart-grid");
    g.fillRect(x, TOP - 4, 1, shape.height + 4);
    g.fillStyle = ink("--text-3");
    if (x > left + 12 && x < left + w - 16) g.fillText(clock(at, to - from, to - begin), x, 7);
  }
}

/** @param {Parameters<typeof drawLanes>[0]} o @param {number} left @param {number} w */
function drawLabels({ g, ink, base, shape, exec }, left, w) {
  g.textAlign = "left";
  let free = -1;
  base.rows.forEach((r, i) => {
    const { y, height } = shape.places[i];
    g.fillStyle = ink("--chart-grid");
    g.fillRect(left, TOP + y + height, w, 1);
    if (y + height / 2 - 6 < free) return;
    free = y + height / 2 + 6;
    g.fillStyle = ink(r.firstExecutorId === exec ? "--accent" : "--text-2");
    g.fillText(rowName(r, left < 90), 0, TOP + y + height / 2, left - 6);
  });
}

/** Drawn once as pixels, then only stretched: a pan costs nothing, however many tasks there are. @param {TaskTimeline} tl @param {Parameters<typeof drawLanes>[0]} o @param {(ms: number) => number} X */
function drawDensity(tl, { g, ink, shape, images, base }, X) {
  const d = /** @type {NonNullable<TaskTimeline["density"]>} */ (tl.density);
  const key = `${ink("--bg")} ${shape.height} ${shape.places.length}`;
  let kept = images.get(tl);
  if (kept?.key !== key) {
    const image = document.createElement("canvas");
    image.width = d.bins;
    image.height = Math.max(1, shape.height);
    const pixels = densityPixels(tl, shape.places, image.height, (bucket) => triple(ink(`--ph-${look(bucket).phase}`)));
    image.getContext("2d")?.putImageData(new ImageData(pixels, d.bins, image.height), 0, 0);
    for (const other of images.keys()) if (other !== base) images.delete(other);
    images.set(tl, (kept = { key, image }));
  }
  g.imageSmoothingEnabled = false;
  const x = X(tl.fromMs ?? 0);
  g.drawImage(kept.image, x, TOP, X(tl.toMs ?? 0) - x, shape.height);
}

/** @param {TaskTimeline} tl @param {Parameters<typeof drawLanes>[0]} o @param {(ms: number) => number} X */
function drawTasks(tl, { g, ink, shape, from, to, task }, X) {
  const tasks = /** @type {NonNullable<TaskTimeline["tasks"]>} */ (tl.tasks);
  const inks = tasks.phases.map((p) => ink(`--ph-${look(p.bucket).phase}`));
  const [bg, lost, absent] = [ink("--bg"), ink("--ph-lost"), ink("--ph-absent")];
  /** @type {[number, number, number, number] | null} */
  let hot = null;
  for (let i = 0; i < tasks.taskId.length; i++) {
    const [a, b] = span(tl, i);
    if (b < from || a > to) continue;
    const { y, height, lane } = shape.places[tasks.row[i]];
    const top = TOP + y + Math.min(tasks.lane[i] * lane, height - lane),
      h = lane > 4 ? lane - 1 : lane;
    const x = X(a),
      w = Math.max(1, X(b) - x);
    if (String(tasks.taskId[i]) === task) hot = [x, top, w, h];
    const length = tasks.durationMs[i];
    if (tasks.status[i] === "failed" || tasks.status[i] === "killed" || w < 3 || !length) {
      g.fillStyle = tasks.status[i] === "failed" || tasks.status[i] === "killed" ? lost : length === null ? absent : (inks[longest(tasks.phases, i)] ?? absent);
      g.fillRect(x, top, w, h);
    } else {
      let at = x;
      tasks.phases.forEach((p, k) => {
        const pw = (p.values[i] / length) * w;
        if (pw <= 0) return;
        g.fillStyle = inks[k];
        g.fillRect(at, top, Math.min(pw + 0.3, x + w - at), h);
        at += pw;
      });
    }
    if (w > 3) {
      g.fillStyle = bg;
      g.fillRect(x + w - 0.8, top, 0.8, h);
    }
  }
  if (hot) {
    g.strokeStyle = ink("--text");
    g.lineWidth = 2;
    g.strokeRect(hot[0] - 1, hot[1] - 1, hot[2] + 2, hot[3] + 2);
  }
}

/** The phase that took most of a task. @param {import("../../types").TimelinePhase[]} phases @param {number} i */
const longest = (phases, i) => phases.reduce((best, p, k) => (p.values[i] > (phases[best]?.values[i] ?? 0) ? k : best), 0);
