// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { language, t } from "../lib/i18n.js";
import { filtersIn, listPath } from "../lib/list-path.js";
import { here } from "../lib/paths.js";
import { current } from "../lib/router.js";
import { Empty, Loaded } from "./states.jsx";
import { Table } from "./table.jsx";
import { useData } from "./use-data.js";

/**
 * A list that the server sorts, filters and pages. What it is asked for stands in the URL: `sort`, `page`, `limit` and the filters by their names. A view says
 * which list (`useList`), and which columns and words (`ListTable`).
 *
 * @template T
 * @template {import("../types").List<T>} [L=import("../types").List<T>]
 * @typedef {{ asked: import("./use-data.js").Asked<L>, sort: string, filters: Record<string, string | null>, filtered: boolean, id?: string, csv: string, json: string }} Listing
 *   filters: those that the view named, null where not in force; filtered: one is; id: of the table, where a page has several; csv, json: addresses of the API for what passes the
 *   filters, for what is shown
 */

/**
 * @template T
 * @template {import("../types").List<T>} L
 * @param {(string | number)[]} parts of the API's address
 * @param {import("../lib/list-path.js").ListOptions & { version: string | number, worded?: boolean, asks?: boolean }} o worded: the answer has sentences; asks: where it is false nothing is
 *   asked yet
 * @returns {Listing<T, L>}
 */
export function useList(parts, { version, worded, asks = true, ...o }) {
  const q = current().query;
  const of = worded ? { ...o, fixed: { ...o.fixed, lang: language() } } : o;
  const filters = filtersIn(q, of.filters);
  const sort = q.get((of.id ?? "") + "sort") ?? of.sort;
  const json = listPath(parts, q, of);
  const asked = /** @type {import("./use-data.js").Asked<L>} */ (useData(asks ? json : null, version));
  return {
    asked, sort, filters, filtered: Object.values(filters).some((x) => x !== null), id: of.id, csv: apiPath(parts, { ...of.fixed, ...filters, sort, format: "csv" }), json,
  };
}

/**
 * The four looks of such a list.
 * @template T
 * @template {import("../types").List<T>} L
 * @param {{ of: Listing<T, L>, rows: number, none?: import("preact").ComponentChildren, noMatch: string, noMatchText?: string,
 *   foot?: import("preact").ComponentChildren } & Omit<import("./table.jsx").TableProps<T>, "id" | "rows" | "sort" | "page" | "whole" | "most">} props
 *   rows: boxes while it loads; none: the list is empty; noMatch: the filters leave nothing of it
 */
export function ListTable({ of, rows, none, noMatch, noMatchText, foot, ...table }) {
  return (
    <Loaded from={of.asked} rows={rows}>
      {(list) =>
        list.items.length ? (
          <>
            <Table {...table} id={of.id} rows={list.items} sort={of.sort} page={list} list={{ csv: of.csv, json: of.json, total: list.total }} />
            {foot}
          </>
        ) : of.filtered || none === undefined ? (
          <NoMatch title={noMatch} text={noMatchText} />
        ) : (
          none
        )
      }
    </Loaded>
  );
}

/** Filters that leave nothing, and the way out of them. @param {{ title: string, text?: string }} props */
export const NoMatch = ({ title, text }) => (
  <Empty title={title} text={text}>
    <p>
      <a href={here()}>{t("filter.clear")}</a>
    </p>
  </Empty>
);
