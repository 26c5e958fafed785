// SPDX-License-Identifier: Apache-2.0
/** What the search over everything offers: which texts match, and how what was opened is remembered. */

/** Something to go to. @typedef {{ group: "recent" | "page" | "finding" | "stage" | "job" | "sql" | "exec" | "conf" | "run", to: string, label: string, note: string }} Option */

/** Every word is in it, in any order and case. @param {string} text @param {string} q */
export function matches(text, q) {
  const low = text.toLowerCase();
  return q.toLowerCase().split(/\s+/).filter(Boolean).every((word) => low.includes(word));
}

/** Matches, those that begin with the text first; otherwise their order stays. @template T @param {T[]} items @param {string} q @param {(item: T) => string} text @param {number} most */
export function found(items, q, text, most) {
  const low = q.toLowerCase();
  const begins = (/** @type {T} */ item) => (text(item).toLowerCase().startsWith(low) ? 0 : 1);
  return items
    .filter((item) => matches(text(item), q))
    .map((item, i) => ({ item, i }))
    .sort((a, b) => begins(a.item) - begins(b.item) || a.i - b.i)
    .slice(0, most)
    .map((x) => x.item);
}

const RECENT = 8;

/** The list of what was opened last, the newest first, with one more. @param {string[]} list @param {Option} option */
export function remember(list, option) {
  const entry = JSON.stringify([option.to, option.label, option.note]);
  return [entry, ...recalled(list).filter((o) => o.to !== option.to).map((o) => JSON.stringify([o.to, o.label, o.note]))].slice(0, RECENT);
}

/** Junk in it is left out, and so is what leads elsewhere. @param {string[]} list @returns {Option[]} */
export function recalled(list) {
  return list.flatMap((text) => {
    try {
      const [to, label, note] = JSON.parse(text);
      const sound = [to, label, note].every((x) => typeof x === "string") && /^\/(?!\/)/.test(to);
      return sound ? [{ group: /** @type {const} */ ("recent"), to, label, note }] : [];
    } catch {
      return [];
    }
  });
}
