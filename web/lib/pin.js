// SPDX-License-Identifier: Apache-2.0
/** Key of the address by which a page knows that it was opened as a pinned view. Filters keep it; links to other pages do not carry it on. */
import { base, current, href, patched } from "./router.js";

export const PINNED = "pinned";

/** The present page without it: what can be pinned, and what a pinned view is held against. */
export const unpinned = () => {
  const { path, query } = current();
  const q = patched(query, { [PINNED]: null }).toString();
  return base() + path + (q ? "?" + q : "");
};

/** What follows the run in an address of ours, as the server takes it; null: it is no page of a run. @param {string} address a path with the prefix */
export function belowRun(address) {
  const rest = address.startsWith(base()) ? address.slice(base().length) : "";
  return /^a\/[^/?]+(.*)$/s.exec(rest)?.[1] ?? null;
}

/** The short address, whole. @param {string} token */
export const pinHref = (token) => new URL(href(["p", token]), location.href).href;
