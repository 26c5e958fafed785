// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { t } from "../lib/i18n.js";
import * as prefs from "../lib/prefs.js";
import { Popover } from "./popover.jsx";

/**
 * Which columns of a table are shown: a preference, never part of a link. Columns that are in the list of neither, because the program is newer, are shown as they are by default.
 *
 * @template T
 * @typedef {import("./table.jsx").Column<T> & { name?: string, optional?: boolean, fixed?: boolean }} ChosenColumn
 *   name: in the chooser, where the label is no text; optional: hidden until it is chosen; fixed: always shown
 */

/**
 * @template T
 * @param {string} table under this name the choice is kept @param {ChosenColumn<T>[]} all
 * @returns {{ columns: ChosenColumn<T>[], chooser: import("preact").ComponentChildren }}
 */
export function useColumns(table, all) {
  const key = `columns.${table}`;
  const [changed, setChanged] = useState(() => new Set(prefs.list(key)));
  /** Kept are those that are not as by default. @param {string} id */
  const toggle = (id) => {
    const next = new Set(changed);
    if (!next.delete(id)) next.add(id);
    set(next);
  };
  /** @param {Set<string>} next */
  const set = (next) => {
    setChanged(next);
    prefs.save({ [key]: next.size ? [...next] : undefined });
  };
  const shown = (/** @type {ChosenColumn<T>} */ c) => c.fixed || Boolean(c.optional) === changed.has(c.id);
  const chooser = (
    <Popover label={t("columns.title")} name={t("columns.title")} class="chooser is-right">
      {all
        .filter((c) => !c.fixed)
        .map((c) => (
          <label key={c.id} title={c.title}>
            <input type="checkbox" checked={shown(c)} onChange={() => toggle(c.id)} /> {c.name ?? c.label}
          </label>
        ))}
      <button type="button" class="btn is-small" disabled={!changed.size} onClick={() => set(new Set())}>
        {t("columns.reset")}
      </button>
    </Popover>
  );
  return { columns: all.filter(shown), chooser };
}
