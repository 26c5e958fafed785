// SPDX-License-Identifier: Apache-2.0
/** Addresses of our pages, in one place. */
import { href } from "./router.js";

/** @typedef {import("./router.js").Query} Query */

export const apps = (/** @type {Query} */ q = {}) => href([], q);
export const app = (/** @type {string} */ ref, /** @type {Query} */ q = {}) => href(["a", ref], q);
export const page = (/** @type {string} */ ref, /** @type {string} */ name, /** @type {Query} */ q = {}) => href(["a", ref, name], q);
export const job = (/** @type {string} */ ref, /** @type {number} */ id) => href(["a", ref, "jobs", id]);
export const stage = (/** @type {string} */ ref, /** @type {number} */ id, /** @type {number} */ attempt, /** @type {Query} */ q = {}) =>
  href(["a", ref, "stages", `${id}.${attempt}`], q);

/** An address from a log, if it is one that a browser may open: a log can hold any text. @param {string} text */
export function outside(text) {
  try {
    const u = new URL(text);
    return u.protocol === "http:" || u.protocol === "https:" ? u.href : null;
  } catch {
    return null;
  }
}
