// SPDX-License-Identifier: Apache-2.0
import { useCallback, useRef } from "preact/hooks";
import { apiPath } from "../../api.js";
import { Canvas } from "../../components/canvas.jsx";
import { Section } from "../../components/facts.jsx";
import { Loaded } from "../../components/states.jsx";
import { Table } from "../../components/table.jsx";
import { hideTip, showTip } from "../../components/tip.jsx";
import { useData } from "../../components/use-data.js";
import { count, duration, quantity, shortCount, times } from "../../lib/format.js";
import { t, word } from "../../lib/i18n.js";
import { current, hrefWith, patchQuery } from "../../lib/router.js";
import { logPlace, logTicks, thin } from "../../model/axis.js";
import { byteTicks, padded, slower } from "../../model/scatter.js";

/** @typedef {import("../../types").TaskScatter} TaskScatter */

const HEIGHT = 220,
  LEFT = 50,
  GUTTER = 18,
  RIGHT = 12,
  TOP = 8,
  BOTTOM = 22;
/** Marks that are listed beside the picture. */
const LISTED = 8;
/** Pixels around a mark that count as on it. */
const NEAR = 9;

/** Duration against data, both logarithmic. @param {{ app: import("../../types").App, name: string, measures: string[], version: string }} props measures: what the axis may be */
export function Scatter({ app, name, measures, version }) {
  const wanted = current().query.get("x");
  const x = wanted && measures.includes(wanted) ? wanted : measures[0];
  const asked = /** @type {import("../../components/use-data.js").Asked<TaskScatter>} */ (useData(apiPath(["apps", app.ref, "stages", name, "scatter"], { x }), version));
  return (
    <Section
      title={t("scatter.title")}
      note={t("scatter.note")}
      tools={
        <select class="filter-choice" aria-label={t("scatter.axis")} value={x} onChange={(e) => patchQuery({ x: e.currentTarget.value === measures[0] ? null : e.currentTarget.value })}>
          {measures.map((m) => (
            <option key={m} value={m}>
              {word("metric", m)}
            </option>
          ))}
        </select>
      }
    >
      <div class="scatter-box">
        <Loaded from={asked} rows={8}>
          {(s) => <Plot scatter={s} />}
        </Loaded>
      </div>
    </Section>
  );
}

/** @param {TaskScatter} s @returns {{ x: [number, number], y: [number, number] } | null} the ends of the axes */
function scales(s) {
  if (s.minDurationMs === null || s.maxDurationMs === null) return null;
  return { x: padded(s.minX ?? 1, s.maxX ?? 10), y: padded(s.minDurationMs, s.maxDurationMs) };
}

/** @param {{ scatter: TaskScatter }} props */
function Plot({ scatter: s }) {
  const q = current().query;
  const [task, exec] = [q.get("task"), q.get("exec")];
  /** Where the points were drawn last, for the pointer: x, y, index. @type {{ current: [number, number, number][] }} */
  const marks = useRef([]);
  const draw = useCallback(
    /** @type {import("preact").ComponentProps<typeof Canvas>["draw"]} */
    (g, width, height, ink) => {
      marks.current = drawScatter(s, { g, width, height, ink, task, exec });
    },
    [s, task, exec],
  );
  const unit = s.unit;
  const p = s.points;
  /** @param {MouseEvent} e @returns {number} index of a point, −1: none */
  const under = (e) => {
    let best = -1,
      near = NEAR * NEAR;
    for (const [mx, my, i] of marks.current) {
      const d = (mx - e.offsetX) ** 2 + (my - e.offsetY) ** 2;
      if (d < near) [best, near] = [i, d];
    }
    return best;
  };
  const listed = p.taskId.slice(0, LISTED).map((_, i) => i);
  return (
    <div class="scatter">
      <Canvas
        height={HEIGHT}
        draw={draw}
        label={t("scatter.label", s.taskCount, word("metric", s.x), duration(s.minDurationMs), duration(s.maxDurationMs), quantity(s.minX, unit), quantity(s.maxX, unit))}
        onMouseMove={(e) => {
          const i = under(e);
          if (i < 0) hideTip();
          else showTip(e, t("scatter.tip", p.taskId[i], count(p.index[i]), duration(p.durationMs[i]), quantity(p.x[i], unit), p.executorId[i]));
        }}
        onMouseLeave={hideTip}
        onClick={(e) => {
          const i = under(e);
          if (i >= 0) patchQuery({ task: p.taskId[i] });
        }}
      />
      <Table
        caption={t("scatter.table")}
        rows={listed}
        rowKey={(i) => p.taskId[i]}
        selected={(i) => String(p.taskId[i]) === task}
        link={(i) => hrefWith({ task: p.taskId[i] })}
        columns={[
          {
            id: "task",
            label: t("col.task"),
            cell: (i) => (
              <a class="strong" href={hrefWith({ task: p.taskId[i] })}>
                {p.taskId[i]}
              </a>
            ),
          },
          { id: "duration", label: t("col.duration"), num: true, cell: (i) => duration(p.durationMs[i]) },
          { id: "x", label: word("metric", s.x), num: true, cell: (i) => quantity(p.x[i], unit) },
          {
            id: "slower",
            label: t("scatter.slower"),
            title: t("scatter.slower.title"),
            num: true,
            cell: (i) => <span class="dim">{times(slower(p.durationMs[i], p.x[i], s.medianMsPerUnit))}</span>,
          },
        ]}
      />
      <p class="note dim3">
        {s.fields ? t("scatter.fields", s.taskCount, p.taskId.length, s.outlierCount, duration(s.outlierCutMs)) : t("scatter.longest", Math.min(LISTED, p.taskId.length), p.taskId.length)}
      </p>
    </div>
  );
}

/**
 * @param {TaskScatter} s
 * @param {{ g: CanvasRenderingContext2D, width: number, height: number, ink: import("../../components/canvas.jsx").Ink, task: string | null, exec: string | null }} o
 * @returns {[number, number, number][]} where the points are
 */
function drawScatter(s, { g, width, height, ink, task, exec }) {
  const ends = scales(s);
  if (!ends) return [];
  const gutter = s.dataCount < s.taskCount ? GUTTER : 0;
  const left = LEFT + gutter,
    bottom = height - BOTTOM;
  const X = (/** @type {number | null} */ v) => (v !== null && v > 0 ? left + logPlace(v, ...ends.x) * (width - left - RIGHT) : LEFT + GUTTER / 2 - 2);
  const Y = (/** @type {number} */ v) => bottom - logPlace(Math.max(v, 1), ...ends.y) * (bottom - TOP);
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const v of thin(logTicks(...ends.y), 6)) {
    g.fillStyle = ink("--chart-grid");
    g.fillRect(LEFT, Y(v), width - LEFT - RIGHT, 1);
    g.fillStyle = ink("--text-3");
    g.fillText(duration(v), LEFT - 6, Y(v));
  }
  const room = Math.max(2, Math.floor((width - left) / 76));
  g.textAlign = "center";
  if (s.minX !== null)
    for (const v of s.unit === "bytes" ? byteTicks(...ends.x, room) : thin(logTicks(...ends.x), room)) {
      g.fillStyle = ink("--chart-grid");
      g.fillRect(X(v), TOP, 1, bottom - TOP);
      g.fillStyle = ink("--text-3");
      if (X(v) < width - 24) g.fillText(s.unit === "count" ? shortCount(v) : quantity(v, s.unit), X(v), height - 9);
    }
  if (gutter) {
    g.fillStyle = ink("--text-3");
    g.fillText("0", LEFT + GUTTER / 2 - 2, height - 9);
  }
  g.fillStyle = ink("--line-strong");
  g.fillRect(LEFT, bottom, width - LEFT - RIGHT, 1);
  if (s.fields) drawFields(s, { g, width, left, bottom, ink, X, Y });
  if (s.medianMsPerUnit !== null && s.minX !== null) {
    g.save();
    g.beginPath();
    g.rect(left, TOP, width - left - RIGHT, bottom - TOP);
    g.clip();
    g.strokeStyle = ink("--text-3");
    g.lineWidth = 1;
    g.setLineDash([4, 3]);
    g.beginPath();
    // Slope 1 on logarithmic axes, drawn from beyond one end to beyond the other.
    const at = (/** @type {number} */ x) => bottom - (Math.log((x * /** @type {number} */ (s.medianMsPerUnit)) / ends.y[0]) / Math.log(ends.y[1] / ends.y[0])) * (bottom - TOP);
    g.moveTo(X(ends.x[0]), at(ends.x[0]));
    g.lineTo(X(ends.x[1]), at(ends.x[1]));
    g.stroke();
    g.restore();
  }
  /** @type {[number, number, number][]} */
  const marks = [];
  const many = s.points.taskId.length > 2000;
  let hot = -1;
  s.points.taskId.forEach((id, i) => {
    const [x, y] = [X(s.points.x[i]), Y(s.points.durationMs[i])];
    marks.push([x, y, i]);
    if (String(id) === task) hot = i;
    const other = exec !== null && s.points.executorId[i] !== exec;
    g.globalAlpha = other ? 0.18 : many ? 0.4 : 0.75;
    g.fillStyle = ink(s.points.status[i] === "success" ? "--chart-mark" : "--ph-lost");
    if (many) g.fillRect(x - 1.2, y - 1.2, 2.4, 2.4);
    else {
      g.beginPath();
      g.arc(x, y, 3, 0, 7);
      g.fill();
    }
  });
  g.globalAlpha = 1;
  // The one that was picked, else the longest, is named.
  const named = hot >= 0 ? hot : 0;
  if (marks[named]) drawNamed(s, g, ink, marks[named], width);
  return marks;
}

/** How many tasks are in each field, darker the more. @param {TaskScatter} s @param {{ g: CanvasRenderingContext2D, width: number, left: number, bottom: number, ink: import("../../components/canvas.jsx").Ink, X: (v: number | null) => number, Y: (v: number) => number }} o */
function drawFields(s, { g, left, ink, X, Y }) {
  const f = s.fields;
  if (!f) return;
  const [x0, x1, y0, y1] = [X(s.minX), X(s.maxX), Y(s.minDurationMs ?? 1), Y(s.maxDurationMs ?? 1)];
  const w = s.minX === null ? 0 : Math.max(1, (x1 - x0) / f.columns),
    h = Math.max(1, (y0 - y1) / f.rows);
  let most = 1;
  for (let i = 2; i < f.cells.length; i += 3) most = Math.max(most, f.cells[i]);
  g.fillStyle = ink("--chart-mark");
  for (let i = 0; i < f.cells.length; i += 3) {
    const [column, row, n] = [f.cells[i], f.cells[i + 1], f.cells[i + 2]];
    g.globalAlpha = 0.12 + (0.88 * Math.log(1 + n)) / Math.log(1 + most);
    const x = column < 0 ? left - GUTTER + 2 : x0 + column * w;
    g.fillRect(x, y0 - (row + 1) * h, column < 0 ? GUTTER - 6 : w + 0.3, h + 0.3);
  }
  g.globalAlpha = 1;
}

/** @param {TaskScatter} s @param {CanvasRenderingContext2D} g @param {import("../../components/canvas.jsx").Ink} ink @param {[number, number, number]} mark @param {number} width */
function drawNamed(s, g, ink, [x, y, i], width) {
  g.fillStyle = ink("--chart-hot");
  g.beginPath();
  g.moveTo(x, y - 5.5);
  g.lineTo(x + 5.5, y);
  g.lineTo(x, y + 5.5);
  g.lineTo(x - 5.5, y);
  g.fill();
  const label = t("scatter.named", s.points.taskId[i], duration(s.points.durationMs[i]), quantity(s.points.x[i], s.unit));
  const room = g.measureText(label).width + 12;
  const turn = x + room > width && x - room > LEFT;
  g.textAlign = turn ? "right" : "left";
  g.strokeStyle = ink("--bg");
  g.lineWidth = 4;
  g.lineJoin = "round";
  const [tx, ty] = [x + (turn ? -10 : 10), Math.max(TOP + 8, y)];
  g.strokeText(label, tx, ty);
  g.fillStyle = ink("--text");
  g.fillText(label, tx, ty);
}
