// SPDX-License-Identifier: Apache-2.0
/** What a list is asked for, out of the address of the page: components/list.jsx, and first.js, which asks before the page is there. */
import { apiPath } from "./api-path.js";

/**
 * @typedef {{ sort: string, limit?: number, filters?: (string | [parameter: string, key: string])[], fixed?: Record<string, string | null>, id?: string }} ListOptions
 *   sort and limit: those of an address that names none; filters: by name, or as parameter of the API and key of the page's address where these differ; fixed: parameters that are not in the
 *   address of the page; id: `sort`, `page` and `limit` stand behind it in the address
 */

/** @param {URLSearchParams} q @param {ListOptions["filters"]} [filters] @returns {Record<string, string | null>} by parameter of the API; null: not in force */
export const filtersIn = (q, filters = []) => Object.fromEntries(filters.map((f) => (typeof f === "string" ? [f, q.get(f)] : [f[0], q.get(f[1])])));

/** @param {(string | number)[]} parts of the API's address @param {URLSearchParams} q @param {ListOptions} o */
export const listPath = (parts, q, { sort, limit = 50, filters, fixed, id = "" }) =>
  apiPath(parts, { ...fixed, ...filtersIn(q, filters), sort: q.get(id + "sort") ?? sort, page: q.get(id + "page"), limit: q.get(id + "limit") ?? limit });

/** With fewer runs than this their bars get no wider; the API is asked for so many of each job. */
const RUNS = 20;
export const APP_FILTERS = ["q", "outcome", "grade", "state", "data", "rule", "user", "queue", "place", "from", "to", "minDurationMs", "job", "complete", "flags"];

/** How the list of applications is asked. @param {URLSearchParams} q @param {string} lang @returns {ListOptions} */
export const appsAsked = (q, lang) => ({ sort: "-start", filters: APP_FILTERS, fixed: { history: String(RUNS), lang, ...(q.get("group") === "job" ? { group: "job" } : {}) } });

/** @param {URLSearchParams} q @param {string} lang */
export const appsPath = (q, lang) => listPath(["apps"], q, appsAsked(q, lang));
