// SPDX-License-Identifier: Apache-2.0
/** What a person chose once: theme, language, zone, columns of tables. Kept in local storage, never part of a link; junk there is ignored. */

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

/** @param {Partial<Prefs>} change */
export function save(change) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...stored(), ...change }));
  } catch {
    // private window without storage: the choice lasts until the page goes
  }
}

/** Columns of a table that a person switched on or off, by their ids. @param {string} table @returns {Record<string, boolean>} */
export function chosenColumns(table) {
  const all = /** @type {Record<string, unknown> | undefined} */ (stored().columns)?.[table];
  return all && typeof all === "object" ? /** @type {Record<string, boolean>} */ (all) : {};
}

/** @param {string} table @param {Record<string, boolean>} choice */
export function chooseColumns(table, choice) {
  const columns = stored().columns;
  save(/** @type {any} */ ({ columns: { ...(columns && typeof columns === "object" ? columns : {}), [table]: choice } }));
}
