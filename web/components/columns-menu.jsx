// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../lib/i18n.js";
import { chooseColumns, chosenColumns } from "../lib/prefs.js";

/** @template T @typedef {import("./table.jsx").Column<T> & { optional?: boolean }} Optional optional: hidden until somebody chooses it */

/**
 * Columns that a person may choose, kept as a preference. The first one stays.
 * @template T
 * @param {string} table name of the preference @param {Optional<T>[]} columns all there are
 * @returns {{ shown: Optional<T>[], menu: import("preact").ComponentChildren }}
 */
export function useColumns(table, columns) {
  const [choice, setChoice] = useState(() => chosenColumns(table));
  const on = (/** @type {Optional<T>} */ c) => (typeof choice[c.id] === "boolean" ? choice[c.id] : !c.optional);
  /** @param {Record<string, boolean>} next */
  const choose = (next) => {
    chooseColumns(table, next);
    setChoice(next);
  };
  const menu = (
    <Menu label={t("columns.choose")}>
      {columns.slice(1).map((c) => (
        <label key={c.id}>
          <input type="checkbox" checked={on(c)} onChange={(e) => choose({ ...choice, [c.id]: e.currentTarget.checked })} /> {c.label}
        </label>
      ))}
      <button type="button" class="btn is-small" onClick={() => choose({})}>
        {t("columns.reset")}
      </button>
    </Menu>
  );
  // A column that somebody asked for is shown, even where it is empty.
  return { shown: columns.filter((c, i) => i === 0 || on(c)).map((c) => (choice[c.id] ? { ...c, present: undefined } : c)), menu };
}

/** A button with what it opens; Escape and a click elsewhere close it. @param {{ label: string, children: import("preact").ComponentChildren }} props */
function Menu({ label, children }) {
  const ref = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useEffect(() => {
    /** @param {Event} e */
    const close = (e) => {
      const el = ref.current;
      if (!el?.open || (e.type === "click" && e.target instanceof Node && el.contains(e.target)) || (e instanceof KeyboardEvent && e.key !== "Escape")) return;
      el.open = false;
      if (e instanceof KeyboardEvent) el.querySelector("summary")?.focus();
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details class="menu no-print" ref={ref}>
      <summary class="btn is-small">{label}</summary>
      <div class="menu-body">{children}</div>
    </details>
  );
}
