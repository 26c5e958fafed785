// SPDX-License-Identifier: Apache-2.0
/**
 * The URL is the state: path below the base address of the document, and query. What a person would want to go back from is pushed, what changes
 * while typing replaces. Addresses handed out are absolute paths with the prefix, so that links work from every page and behind every proxy.
 */

/** @typedef {{ path: string, parts: string[], query: URLSearchParams, search: string }} Route */
/** @typedef {Record<string, string | number | null | undefined>} Query */

/** @type {string | null} */
let prefix = null;
/** Prefix with a slash at the end: that of the document, which stays the same. A list asks for it with each of its links. */
export const base = () => (prefix ??= new URL(document.baseURI).pathname.replace(/[^/]*$/, ""));

/** A malformed escape in a pasted link is no reason to fail. @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} pathname @param {string} search @param {string} prefix @returns {Route} */
export function parse(pathname, search, prefix) {
  const path = pathname.startsWith(prefix) ? pathname.slice(prefix.length) : pathname.replace(/^\//, "");
  return { path, parts: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(search), search };
}

/** @type {Route | null} */
let parsed = null;
let parsedFrom = "";
/** Parsed once an address: every link inside a run asks for it. */
export function current() {
  const from = location.pathname + location.search;
  if (!parsed || from !== parsedFrom) [parsed, parsedFrom] = [parse(location.pathname, location.search, base()), from];
  return parsed;
}

/** @param {URLSearchParams} old @param {Query} patch null and "" remove a key */
export function patched(old, patch) {
  const q = new URLSearchParams(old);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null || value === undefined || value === "") q.delete(key);
    else q.set(key, String(value));
  }
  return q;
}

/** Address of a page: href(["a", ref, "jobs"], { sort: "-id" }). @param {(string | number)[]} parts @param {Query} [query] */
export function href(parts, query) {
  const q = Object.entries(query ?? {}).flatMap(([key, value]) => (value === null || value === undefined || value === "" ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(value)}`])).join("&");
  return base() + parts.map((p) => encodeURIComponent(p)).join("/") + (q ? "?" + q : "");
}

/** The present page with a few query keys changed. @param {Query} patch */
export function hrefWith(patch) {
  const r = current();
  const q = patched(r.query, patch).toString();
  return base() + r.path + (q ? "?" + q : "");
}

/** @type {Set<() => void>} */
const listeners = new Set();
/** @param {() => void} listener @returns {() => void} ends it */
export function onChange(listener) {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
const tell = () => listeners.forEach((l) => l());

/** @param {string} to address as href() makes it @param {{ replace?: boolean }} [how] */
export function go(to, how = {}) {
  if (to === location.pathname + location.search) return;
  if (how.replace) {
    history.replaceState(history.state, "", to);
  } else {
    history.replaceState({ y: scrollY }, "");
    wanted = 0;
    const samePage = new URL(to, location.href).pathname === location.pathname;
    history.pushState({ y: samePage ? scrollY : 0 }, "", to);
    if (!samePage) scrollTo(0, 0);
  }
  tell();
}

/** @param {Query} patch @param {{ replace?: boolean }} [how] */
export const patchQuery = (patch, how) => go(hrefWith(patch), how);

/** Names in a key of an address, a comma between them. @param {URLSearchParams} query @param {string} key */
export const namesIn = (query, key) => new Set((query.get(key) ?? "").split(",").filter(Boolean));

/** Puts a name into such a key of the present address, or takes it out. @param {string} key @param {string} name */
export function toggleName(key, name) {
  const names = namesIn(current().query, key);
  if (!names.delete(name)) names.add(name);
  patchQuery({ [key]: [...names].join(",") }, { replace: true });
}

/** Is the present page one that somebody came to, not back to? @returns {boolean} */
export const cameByLink = () => !wanted;

/** Where the page that Back leads to was scrolled. */
let wanted = 0;
/** Called as parts of a page get their data: tries until the page is tall enough. A person who scrolls first has the last word. */
export function restoreScroll() {
  if (!wanted) return;
  scrollTo(0, wanted);
  if (scrollY >= wanted - 2) wanted = 0;
}

/** Wires the browser's own navigation: Back and Forward, and clicks on links of ours. Called once. */
export function start() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", (e) => {
    wanted = Number(e.state?.y) || 0;
    tell();
  });
  addEventListener("beforeunload", () => history.replaceState({ y: scrollY }, ""));
  wanted = Number(history.state?.y) || 0;
  for (const touch of ["wheel", "touchmove", "keydown", "pointerdown"])
    addEventListener(
      touch,
      () => {
        wanted = 0;
      },
      { passive: true },
    );
  document.addEventListener("click", (e) => {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const a = e.target instanceof Element ? e.target.closest("a") : null;
    if (
      !(a instanceof HTMLAnchorElement) ||
      a.target ||
      a.origin !== location.origin ||
      !a.pathname.startsWith(base()) ||
      a.hasAttribute("download") ||
      a.dataset.outside !== undefined
    )
      return;
    e.preventDefault();
    go(a.pathname + a.search);
  });
}
