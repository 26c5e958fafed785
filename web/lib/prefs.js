// SPDX-License-Identifier: Apache-2.0
/** What a person chose once: theme, language, zone, the columns of tables, what was opened last. Kept in local storage, never part of a link; junk there is ignored. */

/** @typedef {{ theme: "light" | "dark", lang: "en" | "zh-CN", zone: "local" | "utc" }} Prefs */

const KEY = "afterglow";

/** @returns {Record<string, unknown>} */
function stored() {
  try {
    const v = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return v && typeof v === "object" ? v : {};
  } catch {
    return {};
  }
}

/** @returns {Prefs} */
export function load() {
  const s = stored();
  const dark = document.documentElement.dataset.theme === "dark";
  return {
    theme: s.theme === "dark" || s.theme === "light" ? s.theme : dark ? "dark" : "light",
    lang: s.lang === "en" || s.lang === "zh-CN" ? s.lang : navigator.language.startsWith("zh") ? "zh-CN" : "en",
    zone: s.zone === "utc" || s.zone === "local" ? s.zone : "local",
  };
}

/** Columns chosen for a table, by its name. @returns {Record<string, unknown>} */
function storedColumns() {
  const v = stored().columns;
  return v && typeof v === "object" ? /** @type {Record<string, unknown>} */ (v) : {};
}

/** null: those that it shows by itself. @param {string} table @returns {string[] | null} */
export function columns(table) {
  const v = storedColumns()[table];
  return Array.isArray(v) ? v.filter((x) => typeof x === "string") : null;
}

/** @param {string} table @param {string[] | null} ids */
export function saveColumns(table, ids) {
  const { [table]: _, ...others } = storedColumns();
  write({ columns: ids === null ? others : { ...others, [table]: ids } });
}

/** A list of texts that was saved under a name. @param {string} name @returns {string[]} */
export function list(name) {
  const v = stored()[name];
  return Array.isArray(v) ? v.filter((x) => typeof x === "string") : [];
}

/** @param {Partial<Prefs> | Record<string, string[]>} change */
export const save = (change) => write(change);

/** @param {Record<string, unknown>} change */
function write(change) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...stored(), ...change }));
  } catch {
    // private window without storage: the choice lasts until the page goes
  }
}
