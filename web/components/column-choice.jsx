// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../lib/i18n.js";
import { columns as chosen, saveColumns } from "../lib/prefs.js";

/** @template T @typedef {import("./table.jsx").Column<T>} Column */

/**
 * Which columns of a table are shown: those that have something to say and are not `extra`, or as a person has chosen, which is kept as a preference. An extra one that was chosen is shown
 * even where it has nothing to say.
 * @template T
 * @param {string} table name of the preference @param {Column<T>[]} all @param {Set<string>} extra ids of columns that are shown only when chosen @param {Set<string>} fixed ids that are always shown
 * @returns {{ shown: Column<T>[], tool: import("preact").ComponentChildren }}
 */
export function useColumns(table, all, extra, fixed) {
  const [ids, setIds] = useState(() => chosen(table));
  /** @param {string[] | null} next */
  const put = (next) => {
    saveColumns(table, next);
    setIds(next);
  };
  const isOn = (/** @type {Column<T>} */ c) => fixed.has(c.id) || (ids ? ids.includes(c.id) : !extra.has(c.id));
  const shown = all.filter(isOn).map((c) => (ids && extra.has(c.id) ? { ...c, present: undefined } : c));
  const tool = (
    <Popover label={t("columns.choose")}>
      <fieldset class="columns">
        <legend class="sr">{t("columns.choose")}</legend>
        {all.map((c) => (
          <label key={c.id}>
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
        ))}
      </fieldset>
      <button type="button" class="btn is-small" disabled={ids === null} onClick={() => put(null)}>
        {t("columns.usual")}
      </button>
    </Popover>
  );
  return { shown, tool };
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
