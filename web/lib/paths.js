// SPDX-License-Identifier: Apache-2.0
/** Addresses of our pages, in one place. */
import { current, href } from "./router.js";

/** @typedef {import("./router.js").Query} Query */

/** Keys of thresholds that a person moved begin so. They are about the whole run: every link inside it carries them on. */
export const THRESHOLD = "threshold.";

/** Those of an address, as the server takes them. @param {URLSearchParams} query @returns {Record<string, string>} */
export const thresholds = (query) => Object.fromEntries([...query].filter(([key]) => key.startsWith(THRESHOLD)).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Those to carry to a page of this run. @param {string} ref */
function moved(ref) {
  const { parts, query } = current();
  return (parts[0] === "a" ? parts[1] : parts[0] === "compare" ? query.get("b") : null) === ref ? thresholds(query) : {};
}

/** A page of a run. @param {string} ref @param {(string | number)[]} parts @param {Query} [q] */
const inside = (ref, parts, q) => href(["a", ref, ...parts], { ...moved(ref), ...q });

/** The present page without filter, sort or selection. */
export const here = () => href(current().parts, thresholds(current().query));

export const apps = (/** @type {Query} */ q = {}) => href([], q);
export const app = (/** @type {string} */ ref, /** @type {Query} */ q = {}) => inside(ref, [], q);
/** A finding, opened. @param {string} ref @param {string} id as findingId() names it */
export const finding = (ref, id) => app(ref, { finding: id });
export const page = (/** @type {string} */ ref, /** @type {string} */ name, /** @type {Query} */ q = {}) => inside(ref, [name], q);
export const job = (/** @type {string} */ ref, /** @type {number} */ id) => inside(ref, ["jobs", id]);
export const stage = (/** @type {string} */ ref, /** @type {number} */ id, /** @type {number} */ attempt, /** @type {Query} */ q = {}) =>
  inside(ref, ["stages", `${id}.${attempt}`], q);
/** The same by its key: "3.0". */
export const stageKey = (/** @type {string} */ ref, /** @type {string} */ key, /** @type {Query} */ q = {}) => inside(ref, ["stages", key], q);
export const sql = (/** @type {string} */ ref, /** @type {number | string} */ id, /** @type {Query} */ q = {}) => inside(ref, ["sql", id], q);
/** A run against another one; without `base` against the earlier runs of its job. */
export const compare = (/** @type {string} */ ref, /** @type {string | null} */ base = null) => href(["compare"], { ...moved(ref), b: ref, a: base });
export const rdd = (/** @type {string} */ ref, /** @type {number | string} */ id) => inside(ref, ["storage", id]);

export const stream = (/** @type {string} */ ref, /** @type {string} */ runId) => inside(ref, ["streaming", runId]);
export const session = (/** @type {string} */ ref, /** @type {string} */ id) => inside(ref, ["sessions", id]);
export const operation = (/** @type {string} */ ref, /** @type {number} */ id) => inside(ref, ["operations", id]);
export const status = () => href(["status"]);

/** The page of what a finding, or a row of its evidence, is about. @param {string} ref @param {import("../types").SubjectKind} kind @param {string} key */
export function subject(ref, kind, key) {
  const [first, second] = key.split("/");
  if (kind === "job") return inside(ref, ["jobs", key]);
  if (kind === "stage") return stageKey(ref, key);
  if (kind === "sql") return sql(ref, key);
  if (kind === "node") return sql(ref, first, second ? { node: second } : {});
  if (kind === "rdd") return rdd(ref, key);
  if (kind === "exec") return page(ref, "executors", { exec: key });
  if (kind === "host") return page(ref, "executors", { host: key });
  if (kind === "conf") return page(ref, "env", { q: key === "-" ? null : key });
  if (kind === "query") return stream(ref, key);
  if (kind === "batch") return page(ref, "streaming");
  if (kind === "log") return page(ref, "log");
  return app(ref);
}

/** An address from a log, if it is one that a browser may open: a log can hold any text. @param {string} text */
export function outside(text) {
  try {
    const u = new URL(text);
    return u.protocol === "http:" || u.protocol === "https:" ? u.href : null;
  } catch {
    return null;
  }
}
