// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { current, patchQuery } from "../lib/router.js";
import { saveText } from "../lib/save.js";
import { FRAME, PAD, dotOf, framePath, linePath, svgOf } from "../model/graph-file.js";
import { Menu } from "./menu.jsx";

/**
 * Placed boxes with the edges between them, in a window that scrolls and zooms. Only what is near the window is in the document, and boxes too small to read are
 * rectangles, so thousands of them cost no more than a screenful. Where one looks stands in the URL (`view`: zoom in per cent, middle of the window). What it shows must
 * also be a table on the page.
 *
 * @typedef {import("../model/graph-file.js").Rect} Rect
 * @typedef {import("../model/graph-file.js").Line} Line
 * @typedef {import("../model/graph-file.js").Frame & { href: string, class?: string }} Frame
 */

const ZOOMS = [0.1, 0.15, 0.25, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.5, 2];
/** Below this nobody can read. */
const READABLE = 0.45;
/** The window counts in steps of so many pixels, and as many around it are drawn: scrolling draws anew once a step. */
const STEP = 400;

/** Colours of the theme that one looks at. */
function ink() {
  const style = getComputedStyle(document.documentElement);
  return (/** @type {string} */ token) => style.getPropertyValue(token).trim();
}

/** @param {string | null} text of the URL */
function viewOf(text) {
  const [zoom, x, y] = (text ?? "").split(",").map(Number);
  return { zoom: zoom > 0 ? Math.min(2, Math.max(0.1, zoom / 100)) : 1, at: Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null };
}

/**
 * @param {{ label: string, width: number, height: number, boxes: Rect[], lines: Line[], frames: Frame[], chosen: number | null, choose: (box: number) => void,
 *   text: (box: number) => (string | null)[], file: string, open?: (box: number) => void, content: (box: number) => import("preact").ComponentChildren, tone: (box: number) => string, tools?: import("preact").ComponentChildren,
 *   beginAt?: number | null }} props
 *   text, file: lines of a box and name of a file, for taking the drawing away; choose: by click or arrow keys; open: by Enter or double click; tone: classes of a box; beginAt: the box to look at first
 */
export function Graph({ label, width, height, boxes, lines, frames, chosen, choose, text, file, open, content, tone, tools, beginAt }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const view = viewOf(current().query.get("view"));
  const { zoom } = view;
  const [span, setSpan] = useState(/** @type {Rect} */ ({ x: -STEP, y: -STEP, w: 4 * STEP, h: 4 * STEP }));
  const timer = useRef(0);
  const drag = useRef(/** @type {{ x: number, y: number, moved: boolean } | null} */ (null));
  const full = { w: width + 2 * PAD.x, h: height + PAD.top + PAD.bottom };

  const look = () => {
    const el = box.current;
    if (!el) return;
    const step = STEP / zoom;
    const next = {
      x: Math.floor(el.scrollLeft / zoom / step) * step - step,
      y: Math.floor(el.scrollTop / zoom / step) * step - step,
      w: Math.ceil(el.clientWidth / STEP + 3) * step,
      h: Math.ceil(el.clientHeight / STEP + 3) * step,
    };
    setSpan((s) => (s.x === next.x && s.y === next.y && s.w === next.w && s.h === next.h ? s : next));
  };
  /** @param {{ x: number, y: number }} p middle of the window */
  const centre = (p) => box.current?.scrollTo(p.x * zoom - box.current.clientWidth / 2, p.y * zoom - box.current.clientHeight / 2);
  const middle = () => {
    const el = /** @type {HTMLElement} */ (box.current);
    return { x: Math.round((el.scrollLeft + el.clientWidth / 2) / zoom), y: Math.round((el.scrollTop + el.clientHeight / 2) / zoom) };
  };
  /** @param {number} i */
  const show = (i) => {
    const [el, b] = [box.current, boxes[i]];
    if (!el || !b) return;
    const [x, y] = [(b.x + PAD.x) * zoom, (b.y + PAD.top) * zoom];
    const out = x < el.scrollLeft || y < el.scrollTop || x + b.w * zoom > el.scrollLeft + el.clientWidth || y + b.h * zoom > el.scrollTop + el.clientHeight;
    if (out) centre({ x: b.x + PAD.x + b.w / 2, y: b.y + PAD.top + b.h / 2 });
  };
  /** @param {number} to */
  const zoomTo = (to) => {
    const m = middle();
    patchQuery({ view: `${Math.round(to * 100)},${m.x},${m.y}` }, { replace: true });
  };
  const fit = () => {
    const el = box.current;
    if (el) zoomTo(Math.max(0.1, Math.floor(Math.min(1, el.clientWidth / full.w, el.clientHeight / full.h) * 100) / 100));
  };
  const larger = () => zoomTo(ZOOMS.find((z) => z > zoom + 0.001) ?? zoom);
  const smaller = () => zoomTo(ZOOMS.filter((z) => z < zoom - 0.001).pop() ?? zoom);

  // A new zoom, or another drawing: back to where one looked, or to what is chosen.
  useLayoutEffect(() => {
    if (view.at) centre(view.at);
    else if (chosen !== null) show(chosen);
    else if (beginAt !== null && beginAt !== undefined) show(beginAt);
    look();
  }, [zoom, boxes]);
  useEffect(() => {
    if (chosen !== null) show(chosen);
  }, [chosen]);
  useEffect(() => {
    const el = box.current;
    if (!el) return undefined;
    const size = new ResizeObserver(look);
    size.observe(el);
    /** On paper nobody scrolls. */
    const all = () => setSpan({ x: 0, y: 0, w: full.w, h: full.h });
    addEventListener("beforeprint", all);
    addEventListener("afterprint", look);
    /** Pinching is a wheel with Ctrl; a plain wheel scrolls. @param {WheelEvent} e */
    const wheel = (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      if (e.deltaY < 0) larger();
      else smaller();
    };
    el.addEventListener("wheel", wheel, { passive: false });
    return () => {
      size.disconnect();
      removeEventListener("beforeprint", all);
      removeEventListener("afterprint", look);
      el.removeEventListener("wheel", wheel);
    };
  }, [zoom, boxes]);
  useEffect(() => () => clearTimeout(timer.current), []);

  /** Where a person scrolled goes into the URL once it rests. */
  const remember = () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      if (!box.current || !box.current.matches(":hover, :focus")) return;
      const m = middle();
      patchQuery({ view: `${Math.round(zoom * 100)},${m.x},${m.y}` }, { replace: true });
    }, 500);
  };
  /** @param {KeyboardEvent} e */
  const key = (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const to = e.key.startsWith("Arrow") ? neighbour(boxes, lines, chosen, e.key) : e.key === "Home" ? boxes.findIndex((_, i) => !lines.some((l) => l.from === i)) : null;
    if (to !== null && to >= 0) choose(to);
    else if (e.key === "Enter" && chosen !== null && open) open(chosen);
    else if (e.key === "+" || e.key === "=") larger();
    else if (e.key === "-") smaller();
    else if (e.key === "0") fit();
    else return;
    e.preventDefault();
  };
  /** @param {Event} e the box under it */
  const under = (e) => {
    const el = e.target instanceof Element ? e.target.closest("[data-box]") : null;
    return el instanceof HTMLElement ? Number(el.dataset.box) : null;
  };
  const picture = () => ({ label: file, width, height, boxes, lines, frames, text, stressed: (/** @type {number} */ i) => tone(i).split(" ").includes("is-hot") });
  const near = (/** @type {Rect} */ r) => r.x < span.x + span.w && r.x + r.w > span.x && r.y < span.y + span.h && r.y + r.h > span.y;
  const seen = boxes.flatMap((b, i) => (near({ ...b, x: b.x + PAD.x, y: b.y + PAD.top }) ? [i] : []));
  const readable = zoom >= READABLE;
  return (
    <div class="graph">
      <div class="graph-tools no-print">
        {tools}
        <Menu label={t("download.open")} title={t("graph.takeTitle")}>
          <button type="button" onClick={() => saveText(`${file}.svg`, "image/svg+xml", svgOf(picture(), ink()))}>
            {t("graph.svg")}
          </button>
          <button type="button" onClick={() => saveText(`${file}.dot`, "text/vnd.graphviz", dotOf(picture()))}>
            {t("graph.dot")}
          </button>
        </Menu>
        <span class="graph-zoom">
          <button type="button" class="btn is-small" onClick={smaller} aria-label={t("graph.smaller")}>
            −
          </button>
          <span class="num">{percent(zoom)}</span>
          <button type="button" class="btn is-small" onClick={larger} aria-label={t("graph.larger")}>
            +
          </button>
          <button type="button" class="btn is-small" onClick={fit}>
            {t("graph.fit")}
          </button>
        </span>
      </div>
      <div
        class="graph-window"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label={label}
        style={{ "--gh": `${Math.ceil(full.h * zoom) + 18}px` }}
        onScroll={() => {
          look();
          remember();
        }}
        onKeyDown={key}
        onClick={(e) => {
          const i = under(e);
          if (i !== null && !drag.current?.moved) choose(i);
        }}
        onDblClick={(e) => {
          const i = under(e);
          if (i !== null) open?.(i);
        }}
        onPointerDown={(e) => {
          if (e.pointerType === "mouse" && e.button === 0) drag.current = { x: e.clientX, y: e.clientY, moved: false };
        }}
        onPointerMove={(e) => {
          const d = drag.current;
          if (!d || !e.buttons) return;
          if (!d.moved && Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) < 4) return;
          d.moved = true;
          box.current?.scrollBy(d.x - e.clientX, d.y - e.clientY);
          [d.x, d.y] = [e.clientX, e.clientY];
        }}
      >
        <div class="graph-room" style={{ width: `${full.w * zoom}px`, height: `${full.h * zoom}px` }} aria-hidden="true">
          <div class="graph-all" style={{ width: `${full.w}px`, height: `${full.h}px`, transform: `scale(${zoom})` }}>
            <svg width={full.w} height={full.h} viewBox={`${-PAD.x} ${-PAD.top} ${full.w} ${full.h}`}>
              <Frames frames={frames} />
              <Lines boxes={boxes} lines={lines} near={near} labels={readable} />
              {readable ? null : <Rects boxes={boxes} seen={seen} tone={tone} />}
            </svg>
            {frames.map((f) => (
              <a key={f.key} class="graph-head" tabIndex={-1} href={f.href} style={{ left: `${f.x + PAD.x - FRAME.x + 8}px`, top: `${f.y + PAD.top - FRAME.top + 3}px` }} title={f.note ?? undefined}>
                <b>{f.title}</b> {f.note}
              </a>
            ))}
            {readable
              ? seen.map((i) => (
                  <div
                    key={i}
                    data-box={i}
                    class={"gbox " + tone(i) + (i === chosen ? " is-sel" : "")}
                    style={{ left: `${boxes[i].x + PAD.x}px`, top: `${boxes[i].y + PAD.top}px`, width: `${boxes[i].w}px`, height: `${boxes[i].h}px` }}
                  >
                    {content(i)}
                  </div>
                ))
              : null}
          </div>
        </div>
      </div>
    </div>
  );
}

/** Outlines of all pieces first, then their fills: the outline of the union is left. @param {{ frames: Frame[] }} props */
const Frames = ({ frames }) =>
  useMemo(
    () =>
      frames.map((f) => {
        const d = framePath(f);
        return (
          <g key={f.key} class={"gframe " + (f.class ?? "")}>
            <path d={d} class="is-line" />
            <path d={d} />
          </g>
        );
      }),
    [frames],
  );

/** @param {{ boxes: Rect[], lines: Line[], near: (r: Rect) => boolean, labels: boolean }} props */
function Lines({ boxes, lines, near, labels }) {
  return lines.map((l, i) => {
    const [a, b] = [boxes[l.from], boxes[l.to]];
    const [x1, y1, x2, y2] = [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y];
    const r = { x: Math.min(x1, x2) + PAD.x, y: Math.min(y1, y2) + PAD.top, w: Math.abs(x2 - x1) + 1, h: Math.abs(y2 - y1) + 1 };
    if (!near(r)) return null;
    return (
      <g key={i}>
        <path class={"gline" + (l.dashed ? " is-dashed" : "")} d={linePath(a, b, l.lane)} stroke-width={l.width ?? 1} />
        {l.label && labels ? (
          <text class="halo" x={x1 + 7} y={y1 + 15}>
            {l.label}
          </text>
        ) : null}
      </g>
    );
  });
}

/** @param {{ boxes: Rect[], seen: number[], tone: (box: number) => string }} props */
const Rects = ({ boxes, seen, tone }) => seen.map((i) => <rect key={i} class={"grect " + tone(i)} data-box={i} x={boxes[i].x} y={boxes[i].y} width={boxes[i].w} height={boxes[i].h} />);

/** Up to a producer, down to a consumer, aside to the next box of the row; the nearest one. @param {Rect[]} boxes @param {Line[]} lines @param {number | null} from @param {string} key */
function neighbour(boxes, lines, from, key) {
  if (from === null) return boxes.length ? 0 : null;
  const mid = (/** @type {number} */ i) => boxes[i].x + boxes[i].w / 2;
  const step = key === "ArrowLeft" ? -1 : 1;
  const among =
    key === "ArrowUp"
      ? lines.filter((l) => l.to === from).map((l) => l.from)
      : key === "ArrowDown"
        ? lines.filter((l) => l.from === from).map((l) => l.to)
        : boxes.flatMap((b, i) => (i !== from && b.y === boxes[from].y && (b.x - boxes[from].x) * step > 0 ? [i] : []));
  return among.reduce((/** @type {number | null} */ best, i) => (best === null || Math.abs(mid(i) - mid(from)) < Math.abs(mid(best) - mid(from)) ? i : best), null);
}
