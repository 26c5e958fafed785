// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../lib/i18n.js";
import { columnsKey } from "../lib/pin.js";
import { columns as chosen, saveColumns } from "../lib/prefs.js";
import { current, patchQuery } from "../lib/router.js";
import { columnOrder, moved } from "../model/columns.js";

/** @template T @typedef {import("./table.jsx").Column<T>} Column */

/**
 * Which columns of a table are shown, and in which order: those that have something to say and are not `extra`, or as a person has chosen, which is kept as a preference. An extra one that was chosen is shown
 * even where it has nothing to say. An address that somebody gave away (lib/pin.js) shows what they chose, until one chooses oneself.
 * @template T
 * @param {string} table name of the preference @param {Column<T>[]} all @param {Set<string>} extra ids of columns that are shown only when chosen @param {Set<string>} fixed ids that are always shown
 * @returns {{ shown: Column<T>[], tool: import("preact").ComponentChildren }}
 */
export function useColumns(table, all, extra, fixed) {
  const [own, setOwn] = useState(() => chosen(table));
  const linked = current().query.get(columnsKey(table));
  const ids = linked === null ? own : linked.split(",");
  /** @param {string[] | null} next */
  const put = (next) => {
    saveColumns(table, next);
    setOwn(next);
    if (linked !== null) patchQuery({ [columnsKey(table)]: null }, { replace: true });
  };
  const isOn = (/** @type {Column<T>} */ c) => fixed.has(c.id) || (ids ? ids.includes(c.id) : !extra.has(c.id));
  const order = columnOrder(
    all.map((c) => c.id),
    fixed,
    ids,
  ).flatMap((id) => all.find((c) => c.id === id) ?? []);
  const shown = order.filter(isOn).map((c) => (ids && extra.has(c.id) ? { ...c, present: undefined } : c));
  const tool = (
    <span data-columns={table}>
      <Popover label={t("columns.choose")}>
        <ColumnList all={order} isOn={isOn} fixed={fixed} put={put} />
        <button type="button" class="btn is-small" disabled={ids === null} onClick={() => put(null)}>
          {t("columns.usual")}
        </button>
      </Popover>
    </span>
  );
  return { shown, tool };
}

/** Keys that move a column, by how many places. @type {Record<string, number>} */
const STEPS = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

/**
 * The columns to choose from, one below the other. What is shown has a grip: it is drawn to its place, or moved with the arrow keys.
 * @template T
 * @param {{ all: Column<T>[], isOn: (c: Column<T>) => boolean, fixed: Set<string>, put: (ids: string[]) => void }} props all: in their order
 */
function ColumnList({ all, isOn, fixed, put }) {
  const box = useRef(/** @type {HTMLFieldSetElement | null} */ (null));
  const [said, setSaid] = useState("");
  const grips = all.filter((c) => isOn(c) && !fixed.has(c.id)).map((c) => c.id);
  // A move that goes on reads what the last one left.
  const now = useRef({ grips, put });
  now.current = { grips, put };
  /** @param {Column<T>} c @param {number} to */
  const move = (c, to) => {
    const next = moved(now.current.grips, c.id, to);
    if (next.join() === now.current.grips.join()) return;
    now.current.put([...fixed, ...next]);
    setSaid(t("columns.movedTo", String(c.name ?? c.label), next.indexOf(c.id) + 1, next.length));
  };
  /** @param {Column<T>} c @param {KeyboardEvent} e */
  const key = (c, e) => {
    const step = STEPS[e.key];
    if (!step || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    move(c, grips.indexOf(c.id) + step);
    // A row that is moved in the document loses the focus.
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (box.current?.querySelector(`[data-column="${CSS.escape(c.id)}"] .grip`))?.focus());
  };
  /** @param {Column<T>} c @param {PointerEvent} e */
  const drag = (c, e) => {
    if (e.button !== 0) return;
    /** @param {PointerEvent} e */
    const over = (e) => {
      const row = document.elementFromPoint(e.clientX, e.clientY)?.closest("[data-column]");
      const to = row instanceof HTMLElement && box.current?.contains(row) ? now.current.grips.indexOf(row.dataset.column ?? "") : -1;
      if (to >= 0) move(c, to);
    };
    const end = () => {
      removeEventListener("pointermove", over);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
    };
    addEventListener("pointermove", over);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  };
  return (
    <fieldset class="columns" ref={box}>
      <legend class="sr">{t("columns.choose")}</legend>
      <p class="small dim">{t("columns.how")}</p>
      {all.map((c) => (
        <div key={c.id} class="columns-row" data-column={c.id}>
          {grips.includes(c.id) ? (
            <button type="button" class="grip" aria-label={t("columns.move", String(c.name ?? c.label))} onKeyDown={(e) => key(c, e)} onPointerDown={(e) => drag(c, e)}>
              <span aria-hidden="true">⋮⋮</span>
            </button>
          ) : (
            <span class="grip" />
          )}
          <label>
            <input
              type="checkbox"
              checked={isOn(c)}
              disabled={fixed.has(c.id)}
              onChange={(e) => {
                const on = e.currentTarget.checked;
                put(all.filter((x) => (x.id === c.id ? on : isOn(x))).map((x) => x.id));
              }}
            />{" "}
            {c.name ?? c.label}
          </label>
        </div>
      ))}
      <span class="sr" role="status">
        {said}
      </span>
    </fieldset>
  );
}

/** @typedef {import("preact").ComponentChildren} Children */

/**
 * A button that opens a box below it. Escape and a click elsewhere close it.
 * @param {{ label: string, class?: string, button?: string, children: Children | ((close: () => void) => Children) }} props class: of both; button: of the button
 */
export function Popover({ label, class: c, button = "btn is-small", children }) {
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLSpanElement | null} */ (null));
  useEffect(() => {
    if (!open) return undefined;
    /** @param {Event} e */
    const away = (e) => {
      const inside = e.target instanceof Node && box.current?.contains(e.target);
      if (e instanceof KeyboardEvent ? e.key === "Escape" : !inside) setOpen(false);
      if (e instanceof KeyboardEvent && e.key === "Escape") box.current?.querySelector("button")?.focus();
    };
    addEventListener("pointerdown", away);
    addEventListener("keydown", away);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("keydown", away);
    };
  }, [open]);
  return (
    <span class={"pop " + (c ?? "")} ref={box}>
      <button type="button" class={button} aria-expanded={open} onClick={() => setOpen(!open)}>
        {label}
      </button>
      {open ? <span class="pop-box">{typeof children === "function" ? children(() => setOpen(false)) : children}</span> : null}
    </span>
  );
}
