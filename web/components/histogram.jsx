// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count, duration, shortCount } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { apart, countTicks, labelPlaces, logPlace, logTicks } from "../model/axis.js";

const HEIGHT = 190,
  LEFT = 40,
  RIGHT = 14,
  BOTTOM = 22,
  TOP = 18,
  LABEL = 104,
  /** Room of a tick's label and a half, which one at an end takes to one side. */
  TICK = 80;

/**
 * Durations on a logarithmic axis, because skew is a factor: equal factors get equal widths. Heights by square root, so that one task beside 20,000
 * stays visible. Both are said in the heading.
 *
 * @param {{ edges: number[], counts: number[], median: number | null, p95: number | null, max: number | null, hot: boolean }} props hot: the slowest task is the subject
 */
export function Histogram({ edges, counts, median, p95, max, hot }) {
  const [ref, width] = useWidth();
  const low = Math.max(edges[0], 1e-3),
    high = Math.max(edges[edges.length - 1], low * 1.01);
  const X = (/** @type {number} */ v) => LEFT + logPlace(v, low, high) * (width - LEFT - RIGHT);
  const most = Math.max(1, ...counts);
  const Y = (/** @type {number} */ n) => HEIGHT - BOTTOM - Math.sqrt(n / most) * (HEIGHT - BOTTOM - TOP);
  const total = counts.reduce((a, b) => a + b, 0);
  const last = counts.length - 1 - [...counts].reverse().findIndex((n) => n > 0);
  const ys = countTicks(most).filter((n) => n === 1 || Y(1) - Y(n) > 14);
  const [first, second] = labelPlaces(X(median ?? low), X(p95 ?? high), LABEL, 0, width);
  /** @param {number | null} value @param {string} name @param {number} place of the label @param {string} style */
  const line = (value, name, place, style) =>
    value === null ? null : (
      <g key={name}>
        <line x1={X(value)} x2={X(value)} y1={TOP - 2} y2={HEIGHT - BOTTOM} class={style} />
        <text class="is-strong" x={place} y={TOP - 6} text-anchor="middle">
          {name} {duration(value)}
        </text>
      </g>
    );
  return (
    <div class="chart hist" ref={ref}>
      {width > 0 ? (
        <svg width={width} height={HEIGHT} role="img" aria-label={t("hist.label", count(total), duration(edges[0]), duration(max ?? high), duration(median))}>
          {ys.map((n) => (
            <g key={n}>
              <line class="grid" x1={LEFT} x2={width - RIGHT} y1={Y(n)} y2={Y(n)} />
              <text x={LEFT - 6} y={Y(n) + 4} text-anchor="end">
                {shortCount(n)}
              </text>
            </g>
          ))}
          {counts.map((n, i) =>
            n ? (
              <rect
                key={i}
                class={hot && i === last ? "hist-bar is-hot" : "hist-bar"}
                x={X(edges[i]) + 0.5}
                y={Y(n)}
                width={Math.max(1.5, X(edges[i + 1]) - X(edges[i]) - 1)}
                height={HEIGHT - BOTTOM - Y(n)}
              >
                <title>{t("hist.bar", n, duration(edges[i]), duration(edges[i + 1]))}</title>
              </rect>
            ) : null,
          )}
          <line class="axis" x1={LEFT} x2={width - RIGHT} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
          {apart(logTicks(low, high), X, TICK).map((v) => (
            <text key={v} x={X(v)} y={HEIGHT - 6} text-anchor={anchor(X(v), width)}>
              {duration(v)}
            </text>
          ))}
          {line(median, t("q.p50"), first, "hist-line")}
          {line(p95, t("q.p95"), second, "hist-line is-second")}
        </svg>
      ) : null}
    </div>
  );
}

/** Ticks near an end turn inward. @param {number} x @param {number} width */
const anchor = (x, width) => (x < 60 ? "start" : x > width - 70 ? "end" : "middle");

function useWidth() {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return undefined;
    const look = () => setWidth(Math.floor(box.clientWidth));
    const o = new ResizeObserver(look);
    o.observe(box);
    look();
    return () => o.disconnect();
  }, []);
  return /** @type {const} */ ([ref, width]);
}
