// SPDX-License-Identifier: Apache-2.0
import { useCallback } from "preact/hooks";
import { clock } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { roundUp } from "../model/time-axis.js";
import { timeTicks } from "../model/timeline.js";
import { Canvas } from "./canvas.jsx";
import { Fold } from "./fold.jsx";
import { hideTip, showTip } from "./tip.jsx";

/** @typedef {{ name: string, values: (number | null)[], ink: string }} Series ink: a token; lines of one chart share its axis */

const HEIGHT = 130,
  FOOT = 18,
  LEFT = 64,
  DOT = 2.5;

/**
 * Values over time: lines, or with `stacked` areas that add up. Unknown values leave a gap. The numbers are in the table that follows (`ChartNumbers`) or elsewhere on the page.
 * @param {{ title: string, label: string, timesMs: (number | null)[], fromMs: number, series: Series[], text: (value: number | null) => string, stacked?: boolean, bytes?: boolean,
 *   tip: (i: number) => string }} props
 */
export function TimeChart({ title, label, timesMs, fromMs, series, text, stacked, bytes, tip }) {
  const last = timesMs.reduce((/** @type {number} */ m, v) => Math.max(m, v ?? 0), fromMs);
  const span = Math.max(1, last - fromMs);
  const sums = timesMs.map((_, i) => series.reduce((m, s) => (stacked ? m + (s.values[i] ?? 0) : Math.max(m, s.values[i] ?? 0)), 0));
  const top = roundUp(sums.reduce((a, b) => Math.max(a, b), 0), bytes ? 1024 : 10);
  const draw = useCallback(
    /** @type {Parameters<typeof Canvas>[0]["draw"]} */
    (g, width, height, ink) => {
      const room = width - LEFT,
        floor = height - FOOT;
      const x = (/** @type {number | null} */ ms) => LEFT + (((ms ?? fromMs) - fromMs) / span) * (room - 4);
      const y = (/** @type {number} */ v) => floor - (v / top) * (floor - 8);
      g.strokeStyle = ink("--chart-grid");
      g.fillStyle = ink("--text-3");
      g.textAlign = "right";
      for (const v of [0, top / 2, top]) {
        g.beginPath();
        g.moveTo(LEFT, Math.round(y(v)) + 0.5);
        g.lineTo(width, Math.round(y(v)) + 0.5);
        g.stroke();
        g.fillText(text(v), LEFT - 6, y(v) + 4);
      }
      g.textAlign = "center";
      for (const at of timeTicks(0, span, Math.max(2, Math.floor(room / 110)))) g.fillText(clock(at, span), Math.min(width - 20, Math.max(LEFT + 14, x(fromMs + at))), height - 4);
      const base = new Float64Array(timesMs.length);
      for (const s of series) {
        g.strokeStyle = g.fillStyle = ink(s.ink);
        g.lineWidth = 1.5;
        g.beginPath();
        if (stacked) area(g, s, base);
        else line(g, s);
      }
      /** @param {CanvasRenderingContext2D} g @param {Series} s */
      function line(g, s) {
        let open = false;
        const isThere = (/** @type {number} */ i) => (s.values[i] ?? null) !== null && (timesMs[i] ?? null) !== null;
        // One without neighbours has no line: it gets a dot.
        s.values.forEach((v, i) => {
          if (v === null || !isThere(i) || isThere(i - 1) || isThere(i + 1)) return;
          g.moveTo(x(timesMs[i]) + DOT, y(v));
          g.arc(x(timesMs[i]), y(v), DOT, 0, 2 * Math.PI);
        });
        g.fill();
        g.beginPath();
        s.values.forEach((v, i) => {
          if (v === null || timesMs[i] === null) open = false;
          else if (open) g.lineTo(x(timesMs[i]), y(v));
          else {
            g.moveTo(x(timesMs[i]) - 1, y(v));
            g.lineTo(x(timesMs[i]) + 1, y(v));
            open = true;
          }
        });
        g.stroke();
      }
      /** @param {CanvasRenderingContext2D} g @param {Series} s @param {Float64Array} base */
      function area(g, s, base) {
        // One point alone has no area: it gets the width of a mark.
        const at = (/** @type {number} */ i) => (timesMs.length === 1 ? [LEFT, LEFT + 6] : [x(timesMs[i])]);
        const points = timesMs.flatMap((_, i) => at(i).map((px) => ({ i, px })));
        for (const { i, px } of points) g.lineTo(px, y(base[i] + (s.values[i] ?? 0)));
        for (const { i, px } of points.reverse()) g.lineTo(px, y(base[i]));
        g.fill();
        s.values.forEach((v, i) => (base[i] += v ?? 0));
      }
    },
    [timesMs, series, top, span],
  );
  /** @param {MouseEvent} e */
  const nearest = (e) => {
    const box = /** @type {HTMLElement} */ (e.currentTarget).getBoundingClientRect();
    const ms = fromMs + ((e.clientX - box.left - LEFT) / Math.max(1, box.width - LEFT)) * span;
    return timesMs.reduce((/** @type {number} */ best, v, i) => (Math.abs((v ?? Infinity) - ms) < Math.abs((timesMs[best] ?? Infinity) - ms) ? i : best), 0);
  };
  return (
    <figure class="time-chart">
      <figcaption>
        <b>{title}</b>
        {series.length > 1
          ? series.map((s) => (
              <span key={s.name} class="time-chart-key">
                <span class="swatch" style={{ "--c": `var(${s.ink})` }} /> {s.name}
              </span>
            ))
          : null}
      </figcaption>
      <Canvas height={HEIGHT} label={label} draw={draw} onMouseMove={(e) => timesMs.length && showTip(e, tip(nearest(e)))} onMouseLeave={hideTip} />
    </figure>
  );
}

/** So many rows of numbers are drawn; a chart of more points is thinned. */
const MOST_ROWS = 400;

/**
 * What a chart shows, as a table one click away.
 * @param {{ caption: string, count: number, heads: string[], row: (i: number) => import("preact").ComponentChildren[] }} props count: points of the chart
 */
export function ChartNumbers({ caption, count: n, heads, row }) {
  const step = Math.max(1, Math.ceil(n / MOST_ROWS));
  return (
    <Fold class="fold chart-numbers" name="numbers" title={t(step > 1 ? "chart.someNumbers" : "chart.numbers", step)}>
      <div class="chart-numbers-box" tabIndex={0} role="region" aria-label={caption}>
        <table class="tbl">
          <caption class="sr">{caption}</caption>
          <thead>
            <tr>
              {heads.map((h) => (
                <th key={h} scope="col" class="num">
                  {h}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: Math.ceil(n / step) }, (_, k) => (
              <tr key={k}>
                {row(k * step).map((cell, c) => (
                  <td key={c} class="num">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Fold>
  );
}
