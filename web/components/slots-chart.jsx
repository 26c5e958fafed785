// SPDX-License-Identifier: Apache-2.0
import { useCallback } from "preact/hooks";
import { clock, count, offset, percent, slotTime } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { boundLines } from "../model/executors.js";
import { timeTicks } from "../model/timeline.js";
import { sum } from "../model/time-axis.js";
import { Canvas } from "./canvas.jsx";
import { ChartNumbers } from "./time-chart.jsx";
import { hideTip, showTip } from "./tip.jsx";
import { Zoomable } from "./zoomable.jsx";

/** @typedef {import("../types").ExecutorTimeline} ExecutorTimeline */

/** Pixels: the curve of all slots, the line of one executor, half a cross. */
const CURVE = 84,
  LINE = 16,
  CROSS = 4;
/** Dashes of the lines that the settings draw, and the ink of each. What dynamic allocation began with is said of its first moment alone: a mark so wide. */
const DASHES = { least: [2, 3], start: [], asked: [6, 3], most: [6, 3] };
const BOUND_INK = { least: "--text-2", start: "--accent", asked: "--text-2", most: "--text-2" };
const START_MARK = 24;
/** Behind it a label would leave the axis. */
const LAST_TICK = 0.9;

/**
 * Slots over time: how many were there (grey) and had a task (green), of all executors, how many the settings asked for, and below a line for each: a cross where one was lost. Drag over it to look closer.
 * @param {{ data: ExecutorTimeline, link: (executorId: string) => string, picked: string | null }} props
 */
export function SlotsChart({ data, link, picked }) {
  const { binMs, aliveMs, busyMs } = data;
  const begin = data.fromMs - data.beginMs,
    span = binMs * aliveMs.length;
  /** Begin of a bin, from that of the run. @param {number} i */
  const at = (i) => begin + i * binMs;
  // Tasks end a little later in the driver's books than on their slot: more of them than slots were there is no more slots.
  const peak = (Math.max(0, ...aliveMs) || Math.max(0, ...busyMs)) / binMs;
  const { top, lines } = boundLines(data.bounds, peak);
  const draw = useCallback(
    /** @type {Parameters<typeof Canvas>[0]["draw"]} */
    (g, width, height, ink) => {
      bars(g, aliveMs, binMs * top, width, height, ink("--surface-3"));
      bars(g, busyMs, binMs * top, width, height, ink("--ph-cpu"));
      g.lineWidth = 1.5;
      for (const { name, slots } of lines) {
        if (slots === null || !top || (name === "start" && begin > 0)) continue;
        const y = Math.min(height - 1, Math.max(3, height * (1 - slots / top)));
        g.strokeStyle = ink(BOUND_INK[name]);
        g.setLineDash(DASHES[name]);
        g.beginPath();
        g.moveTo(0, y);
        g.lineTo(name === "start" ? START_MARK : width, y);
        g.stroke();
      }
      g.setLineDash([]);
    },
    [data],
  );
  const busy = sum(busyMs),
    alive = sum(aliveMs);
  return (
    <Zoomable axis=".slots-axis" span={{ fromMs: begin, toMs: begin + span }} whole={{ fromMs: 0, toMs: data.endMs - data.beginMs }}>
    <div class="slots">
      <span />
      <div class="slots-axis" aria-hidden="true">
        {timeTicks(begin, begin + span, 8).filter((ms) => ms - begin < LAST_TICK * span).map((ms) => (
          <span key={ms} style={{ "--v": (ms - begin) / span }}>
            {clock(ms, span, begin + span)}
          </span>
        ))}
      </div>
      <span />
      <span class="slots-name">
        {t("slots.busy")}
        <small>{t("slots.of", Math.round(peak))}</small>
      </span>
      <Canvas
        height={CURVE}
        label={t("slots.label", percent(alive ? busy / alive : null), Math.round(peak))}
        draw={draw}
        onMouseMove={(e) => {
          const i = binAt(e, aliveMs.length);
          showTip(e, t("slots.tip", offset(at(i)), count(busyMs[i] / binMs), count(aliveMs[i] / binMs)));
        }}
        onMouseLeave={hideTip}
      />
      <span class="num">{slotTime(busy)}</span>
      <Bounds bounds={data.bounds} lines={lines} />
      {data.items.map((line) => (
        <Line key={`${line.executorId} ${line.addMs}`} line={line} data={data} to={link(line.executorId)} picked={picked === line.executorId} />
      ))}
      <ChartNumbers
        caption={t("slots.title")}
        count={aliveMs.length}
        heads={[t("chart.time"), t("slots.busy"), t("slots.alive")]}
        row={(i) => [offset(at(i)), count(busyMs[i] / binMs), count(aliveMs[i] / binMs)]}
      />
    </div>
    </Zoomable>
  );

  /** @param {MouseEvent} e @param {number} bins */
  function binAt(e, bins) {
    const box = /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect();
    return Math.max(0, Math.min(bins - 1, Math.floor(((e.clientX - box.left) / box.width) * bins)));
  }
}

/** What the settings asked for, in words: also what has no line. @param {{ bounds: import("../types").ExecutorBounds, lines: ReturnType<typeof boundLines>["lines"] }} props */
function Bounds({ bounds, lines }) {
  if (!bounds.dynamic && !lines.length) return null;
  return (
    <p class="slots-bounds small dim">
      {t(bounds.dynamic ? "slots.dynamic" : "slots.static")}
      {lines.map(({ name, executors, slots }) => (
        <span key={name}>
          {" · "}
          {slots === null ? null : <span class={`slots-dash is-${name}`} aria-hidden="true" />}
          {t(`slots.bound.${name}`, executors)}
          {slots === null ? t("slots.notDrawn") : null}
        </span>
      ))}
      {bounds.dynamic && !lines.length ? ` · ${t("slots.noBounds")}` : null}
      {bounds.dynamic ? ` · ${t("slots.notLogged")}` : null}
    </p>
  );
}

/** @param {{ line: import("../types").ExecutorLine, data: ExecutorTimeline, to: string, picked: boolean }} props */
function Line({ line, data, to, picked }) {
  const { fromMs, binMs } = data;
  const bins = line.busyMs.length,
    endMs = fromMs + binMs * bins;
  const from = Math.max(line.addMs ?? fromMs, fromMs),
    until = Math.min(line.removeMs ?? endMs, endMs);
  const slots = Math.max(line.slots, 1);
  const busy = sum(line.busyMs),
    there = Math.max(0, until - from) * line.slots;
  const draw = useCallback(
    /** @type {Parameters<typeof Canvas>[0]["draw"]} */
    (g, width, height, ink) => {
      const x = (/** @type {number} */ ms) => ((ms - fromMs) / (binMs * bins)) * width;
      g.fillStyle = ink("--surface-3");
      // A driver on a cluster is there and has no slot.
      const tall = line.slots ? height - 8 : 2;
      if (until > from) g.fillRect(x(from), (height - tall) / 2, Math.max(1, x(until) - x(from)), tall);
      g.save();
      g.translate(0, 4);
      bars(g, line.busyMs, binMs * slots, width, height - 8, ink("--ph-cpu"));
      g.restore();
      if (!line.lost || (line.removeMs ?? endMs) < fromMs || (line.removeMs ?? endMs) > endMs) return;
      const at = Math.min(width - CROSS, x(until));
      g.strokeStyle = ink("--sev-critical");
      g.lineWidth = 2;
      g.beginPath();
      for (const way of [1, -1]) {
        g.moveTo(at - CROSS, height / 2 - CROSS * way);
        g.lineTo(at + CROSS, height / 2 + CROSS * way);
      }
      g.stroke();
    },
    [line, data],
  );
  const use = there ? busy / there : null;
  return (
    <>
      <a class={"slots-name clip" + (picked ? " is-on" : "")} href={to} title={line.host ?? undefined}>
        {t("slots.executor", line.executorId)} <small>{line.host ?? ""}</small>
      </a>
      <Canvas height={LINE} label={t("slots.lineLabel", line.executorId, percent(use), line.lost)} draw={draw} />
      <span class="num">
        {percent(use)}
        {line.lost ? <b class="bad"> {t("slots.lost")}</b> : null}
      </span>
    </>
  );
}

/** A bar a bin, from the bottom, without a gap between them. @param {CanvasRenderingContext2D} g @param {number[]} values @param {number} top @param {number} width @param {number} height @param {string} colour */
function bars(g, values, top, width, height, colour) {
  g.fillStyle = colour;
  values.forEach((v, i) => {
    const h = top > 0 ? Math.min(1, v / top) * height : 0;
    const x = Math.floor((i / values.length) * width);
    if (h > 0) g.fillRect(x, height - Math.max(h, 0.5), Math.ceil(((i + 1) / values.length) * width) - x, Math.max(h, 0.5));
  });
}
