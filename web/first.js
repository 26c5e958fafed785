// SPDX-License-Identifier: Apache-2.0
/**
 * Runs before anything is painted, and before the code of the page is there. A file of its own because the content security policy forbids inline script, and bundled whole, since it imports what the page does. It
 * - says light or dark, without which a dark page would flash white,
 * - fetches the texts in the reader's language, whose files its own tag names (tools/build.mjs),
 * - asks the server what the page begins with; api.js takes the answer over.
 */
import { apiHref, apiPath } from "./lib/api-path.js";
import { appsPath } from "./lib/list-path.js";
import { thresholds } from "./lib/paths.js";
import { load } from "./lib/prefs.js";
import { current } from "./lib/router.js";

document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
const prefs = load();
document.documentElement.dataset.theme = prefs.theme;

const texts = document.currentScript?.dataset[prefs.lang === "en" ? "en" : "zh"];
if (texts) document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href: texts }));

const { parts, query } = current();
const path = !parts.length ? appsPath(query, prefs.lang) : parts[0] === "a" && parts[1] ? apiPath(["apps", parts[1]], thresholds(query)) : null;
if (path !== null) {
  const answer = fetch(apiHref(path), { headers: { Accept: "application/json" }, credentials: "same-origin" });
  answer.catch(() => undefined); // whoever takes it over is told
  globalThis.askedFirst = { path, answer };
}
