// SPDX-License-Identifier: Apache-2.0
/** Addresses to give away: the present one, with what a preference adds to what is seen; and pinned views, `pinned` in the address of a page. Filters keep that key; links to other pages do not carry it on. */
import { columns } from "./prefs.js";
import { base, current, href, patched } from "./router.js";

export const PINNED = "pinned";

/** The columns of a table in an address: those that are shown, in their order. A table that can be chosen from has the name of its preference in `data-columns`. @param {string} table */
export const columnsKey = (table) => `columns.${table}`;

/** The present page as somebody else would see it: not as a pinned view, and with the columns that were chosen here. */
export function addressToShare() {
  const { path, query } = current();
  const tables = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-columns]"))].map((el) => el.dataset.columns ?? "");
  const seen = tables.map((table) => [columnsKey(table), query.get(columnsKey(table)) ?? columns(table)?.join(",")]);
  const q = patched(query, { ...Object.fromEntries(seen), [PINNED]: null }).toString();
  return base() + path + (q ? "?" + q : "");
}

/** The present page, no pinned view. */
export function liveAddress() {
  const { path, query } = current();
  const q = patched(query, { [PINNED]: null }).toString();
  return base() + path + (q ? "?" + q : "");
}

/** What follows the run in an address of ours, as the server takes it; null: it is no page of a run. @param {string} address a path with the prefix */
export function belowRun(address) {
  const rest = address.startsWith(base()) ? address.slice(base().length) : "";
  return /^a\/[^/?]+(.*)$/s.exec(rest)?.[1] ?? null;
}

/** Do two of these mean the same, however they are encoded? @param {string | null} a @param {string} b */
export function sameView(a, b) {
  const [x, y] = [a ?? "", b].map((text) => new URL(text, "http://run/"));
  return a !== null && x.pathname === y.pathname && String(x.searchParams) === String(y.searchParams);
}

/** The short address, whole. @param {string} token */
export const pinHref = (token) => new URL(href(["p", token]), location.href).href;
