// SPDX-License-Identifier: Apache-2.0
/** Addresses of the API: relative to the base of the document, so a proxy's prefix needs no thought. */

const ROOT = "api/afterglow/v1/";

/** The whole address, for fetch and for links. @param {string} path as apiPath makes it */
export const apiHref = (path) => new URL(ROOT + path, document.baseURI).href;

/** @param {(string | number)[]} parts @param {URLSearchParams | Record<string, string | number | null | undefined>} [query] */
export function apiPath(parts, query) {
  const q = new URLSearchParams();
  for (const [k, v] of query instanceof URLSearchParams ? query : Object.entries(query ?? {})) {
    if (v !== null && v !== undefined && v !== "") q.set(k, String(v));
  }
  const s = q.toString();
  return parts.map((p) => encodeURIComponent(p)).join("/") + (s ? "?" + s : "");
}
