// SPDX-License-Identifier: Apache-2.0
/** Looking closer at a part of a run: `from` and `to` in the address, ms from its begin. All pictures over the run's time of a page show the same part. */
import { useRef, useState } from "preact/hooks";
import { t } from "../lib/i18n.js";
import { current, hrefWith, patchQuery } from "../lib/router.js";
import { part, stepped } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Span} Span */

/** @param {string | null} text */
const msOf = (text) => (text === null || text === "" || !Number.isFinite(Number(text)) ? null : Math.max(0, Math.round(Number(text))));

/** The part that the address names; null: the whole run. @returns {Span | null} */
export function askedPart() {
  const q = current().query;
  const [fromMs, toMs] = [msOf(q.get("from")) ?? 0, msOf(q.get("to"))];
  return toMs !== null && toMs > fromMs ? { fromMs, toMs } : null;
}

/** The way back from a part. @param {{ label?: "timeline.wholeJob" }} props */
export const WholeRun = ({ label }) =>
  askedPart() ? (
    <a class="btn is-small" href={hrefWith({ from: null, to: null })}>
      {t(label ?? "timeline.whole")}
    </a>
  ) : null;

/**
 * A timeline: drag over it to look closer, double click for the whole run; with the keyboard + − ← → 0. Never the wheel: that scrolls the page.
 * @param {{ axis: string, span: Span, whole: Span, children: import("preact").ComponentChildren }} props axis: selector of what is as wide as the time; whole: what there is to see
 */
export function Zoomable({ axis, span, whole, children }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [drag, setDrag] = useState(/** @type {{ from: number, to: number } | null} */ (null));
  const track = () => box.current?.querySelector(axis)?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
  /** Share of the way along the track. @param {PointerEvent} e */
  const share = (e) => Math.max(0, Math.min(1, (e.clientX - track().left) / track().width));
  /** The part that is dragged over, in pixels of the box. @param {number} a @param {number} b */
  const bandOf = (a, b) => {
    const { left, width } = track();
    return { left: left - (box.current?.getBoundingClientRect().left ?? 0) + Math.min(a, b) * width, width: Math.abs(b - a) * width };
  };
  const wallMs = whole.toMs - whole.fromMs;
  /** @param {Span} next from the begin of the whole */
  const show = (next) => {
    const all = next.fromMs <= 0 && next.toMs >= wallMs;
    patchQuery({ from: all ? null : next.fromMs + whole.fromMs, to: all ? null : next.toMs + whole.fromMs });
  };
  const end = () => {
    if (drag && Math.abs(drag.to - drag.from) > 0.005) {
      const ms = (/** @type {number} */ s) => span.fromMs - whole.fromMs + s * (span.toMs - span.fromMs);
      show(part(ms(drag.from), ms(drag.to), wallMs));
    }
    setDrag(null);
  };
  /** @param {KeyboardEvent} e */
  const key = (e) => {
    /** @type {Record<string, { zoom?: number, move?: number }>} */
    const keys = { "+": { zoom: 0.5 }, "=": { zoom: 0.5 }, "-": { zoom: 2 }, ArrowLeft: { move: -0.25 }, ArrowRight: { move: 0.25 } };
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "0") show({ fromMs: 0, toMs: wallMs });
    else if (keys[e.key]) show(stepped({ fromMs: span.fromMs - whole.fromMs, toMs: span.toMs - whole.fromMs }, wallMs, keys[e.key]));
    else return;
    e.preventDefault();
  };
  const band = drag ? bandOf(drag.from, drag.to) : { left: 0, width: 0 };
  return (
    <div
      class="zoomable"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={t("timeline.zoom")}
      title={t("timeline.zoom")}
      onKeyDown={key}
      onDblClick={() => show({ fromMs: 0, toMs: wallMs })}
      onPointerDown={(e) => {
        if (e.button !== 0 || e.pointerType === "touch" || (e.target instanceof Element && e.target.closest("a, details"))) return;
        const s = share(e);
        e.currentTarget.setPointerCapture(e.pointerId);
        setDrag({ from: s, to: s });
      }}
      onPointerMove={(e) => {
        if (drag) setDrag({ ...drag, to: share(e) });
      }}
      onPointerUp={end}
      onPointerCancel={() => setDrag(null)}
    >
      {children}
      {drag ? <i class="zoomable-part" style={{ "--left": `${band.left}px`, "--wide": `${band.width}px` }} /> : null}
    </div>
  );
}
