// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { go, hrefWith, patchQuery } from "../lib/router.js";
import { sorted } from "../model/sort.js";
import { Download } from "./download.jsx";

/**
 * A table that shows one page of a list. Sort and page live in the URL under `<id>sort`, `<id>page`, `<id>limit`; the server sorts, or the table itself where it has
 * the whole list. Numbers and their heads stand right. Clicking a row opens what its link opens; the first cell holds that link for keyboard and middle click.
 *
 * @template T
 * @typedef {{ id: string, label: import("preact").ComponentChildren, title?: string, name?: string, num?: boolean, class?: string,
 *   cell: (row: T, max: number) => import("preact").ComponentChildren, value?: (row: T) => string | number | null | undefined,
 *   sort?: string, ascending?: boolean, present?: (row: T) => unknown, bar?: boolean }} Column
 *   name: in the choice of columns, where the label is short; value: what is sorted and compared; sort: its key in the URL; ascending: the first click sorts upward though it is a number; present: the column is shown if
 *   a row has this; bar: cell gets the largest value of the column
 */

/** @typedef {{ from: string, node: import("preact").ComponentChildren } | null} Span */

/**
 * @template T
 * @typedef {{ id?: string, caption: string, columns: Column<T>[], rows: T[], rowKey: (row: T) => string | number, sort?: string, whole?: boolean, most?: number,
 *   link?: (row: T) => string | null, rowClass?: (row: T) => string, selected?: (row: T) => boolean, span?: (row: T) => Span,
 *   page?: { total: number, page: number, limit: number }, list?: { csv: string, json: string, total: number }, class?: string }} TableProps
 *   sort: the sort in force, none: heads do not sort; whole: the rows are the whole list, sorted here; most: and no more than so many of it are shown;
 *   span: from that column on the row is one cell; page: makes a pager; list: where the API has all of it
 */

/** A table that is there whole is offered for copying from so many rows on. */
const WORTH_COPYING = 5;

/** @template T @param {TableProps<T>} props */
export function Table({ id = "", caption, columns, rows: given, rowKey, sort, whole, most, link, rowClass, selected, span, page, list, class: extra }) {
  const shown = columns.filter((c) => c.present === undefined || given.some(c.present));
  const max = shown.map((c) => (c.bar ? columnMax(given, c.value) : 0));
  const rows = whole ? sorted(given, sort ?? "", sortKeys(columns)).slice(0, most) : given;
  const [key, down] = [sort?.replace(/^-/, ""), sort?.startsWith("-")];
  const wrap = useRef(/** @type {HTMLDivElement | null} */ (null));
  const sorts = (/** @type {Column<T>} */ c) => sort !== undefined && c.sort !== undefined;
  /** @param {Column<T>} c */
  const sortBy = (c) => {
    const descend = c.sort === key ? !down : Boolean(c.num) && !c.ascending;
    patchQuery({ [id + "sort"]: (descend ? "-" : "") + c.sort, [id + "page"]: null });
  };
  /** One listener for all rows: a list has many. @param {MouseEvent & { currentTarget: HTMLTableSectionElement }} e */
  const open = (e) => {
    if (!link || !(e.target instanceof Element) || e.target.closest("a, button, input, summary, label") || String(getSelection() ?? "")) return;
    const row = [...e.currentTarget.rows].findIndex((tr) => tr.contains(/** @type {Element} */ (e.target)));
    const to = row < 0 ? null : link(rows[row]);
    if (!to) return;
    if (e.metaKey || e.ctrlKey) window.open(to, "_blank", "noopener");
    else go(to);
  };
  return (
    <div class={"tbl-box " + (extra ?? "")}>
      <Wide box={wrap} caption={caption}>
        <table class="tbl">
          <caption class="sr">{caption}</caption>
          <thead>
            <tr>
              {shown.map((c) => (
                <th
                  key={c.id}
                  scope="col"
                  class={(c.num ? "num " : "") + (c.class ?? "")}
                  title={c.title}
                  aria-sort={!sorts(c) ? undefined : c.sort !== key ? "none" : down ? "descending" : "ascending"}
                >
                  {!sorts(c) ? (
                    c.label
                  ) : (
                    <button type="button" onClick={() => sortBy(c)}>
                      {c.label}
                      <span class="tbl-arrow" aria-hidden="true">
                        {c.sort === key ? (down ? "↓" : "↑") : ""}
                      </span>
                    </button>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody onClick={open}>
            {rows.map((row) => (
              <Row
                key={rowKey(row)}
                row={row}
                columns={shown}
                max={max}
                opens={Boolean(link?.(row))}
                class={rowClass?.(row) ?? ""}
                selected={selected?.(row) ?? false}
                span={span?.(row) ?? null}
              />
            ))}
          </tbody>
        </table>
      </Wide>
      {page || rows.length >= WORTH_COPYING ? (
        <div class="tbl-foot no-print">
          {page ? <Pager id={id} {...page} /> : null}
          <Download list={list} table={() => wrap.current?.querySelector("table") ?? null} />
        </div>
      ) : null}
    </div>
  );
}

/**
 * @template T
 * @param {{ row: T, columns: Column<T>[], max: number[], opens: boolean, class: string, selected: boolean, span: Span }} props
 */
function Row({ row, columns, max, opens, class: c, selected, span }) {
  const cut = span ? columns.findIndex((x) => x.id === span.from) : -1;
  const cells = cut < 0 ? columns : columns.slice(0, cut);
  return (
    <tr class={[c, opens ? "is-link" : "", selected ? "is-sel" : ""].join(" ").trim() || undefined} aria-selected={selected || undefined}>
      {cells.map((x, i) => (
        <td key={x.id} class={((x.num ? "num " : "") + (x.class ?? "")).trim() || undefined}>
          {x.cell(row, max[i])}
        </td>
      ))}
      {cut >= 0 ? <td colSpan={columns.length - cut}>{span?.node}</td> : null}
    </tr>
  );
}

/** Largest number of a column. @template T @param {T[]} rows @param {Column<T>["value"]} value */
const columnMax = (rows, value) => rows.reduce((m, r) => Math.max(m, Number(value?.(r) ?? 0)), 0);

/** @template T @param {Column<T>[]} columns */
const sortKeys = (columns) => Object.fromEntries(columns.flatMap((c) => (c.sort !== undefined && c.value !== undefined ? [[c.sort, c.value]] : [])));

/**
 * A table wider than its place scrolls inside it, with its own sticky head; one that fits leaves scrolling, and the head, to the page. A part of its own, so that rows are not drawn anew for that.
 * @param {{ box: import("preact").RefObject<HTMLDivElement | null>, caption: string, children: import("preact").ComponentChildren }} props
 */
function Wide({ box: ref, caption, children }) {
  const [wide, setWide] = useState(false);
  useLayoutEffect(() => {
    const box = ref.current,
      table = box?.firstElementChild;
    if (!box || !table) return undefined;
    const look = () => setWide(table.scrollWidth > box.clientWidth + 1 || /** @type {HTMLElement} */ (table).offsetWidth > box.clientWidth + 1);
    const o = new ResizeObserver(look);
    o.observe(box);
    o.observe(table);
    look();
    return () => o.disconnect();
  }, []);
  return (
    <div class={"tbl-wrap" + (wide ? " is-wide" : "")} ref={ref} {...(wide ? { tabIndex: 0, role: "region", "aria-label": caption } : {})}>
      {children}
    </div>
  );
}

const LIMITS = [25, 50, 100, 500];

/** @param {{ id: string, total: number, page: number, limit: number }} props */
export function Pager({ id, total, page, limit }) {
  const pages = Math.max(1, Math.ceil(total / limit));
  if (total <= LIMITS[0]) return null;
  /** @param {Event} e */
  const jump = (e) => {
    const n = Math.min(pages, Math.max(1, Math.round(Number(/** @type {HTMLInputElement} */ (e.currentTarget).value)) || 1));
    patchQuery({ [id + "page"]: n === 1 ? null : n });
  };
  const to = (/** @type {number} */ n) => hrefWith({ [id + "page"]: n === 1 ? null : n });
  return (
    <nav class="pager no-print" aria-label={t("pager.label")}>
      <span>{t("pager.range", count((page - 1) * limit + 1), count(Math.min(total, page * limit)), count(total))}</span>
      {pages > 1 ? (
        <>
          {page > 1 ? (
            <a class="btn is-small" data-turn="back" rel="prev" href={to(page - 1)}>
              {t("pager.previous")}
            </a>
          ) : (
            <span class="btn is-small is-off">{t("pager.previous")}</span>
          )}
          <label>
            {t("pager.page")} <input type="number" min="1" max={pages} value={page} onChange={jump} /> {t("pager.of", count(pages))}
          </label>
          {page < pages ? (
            <a class="btn is-small" data-turn="on" rel="next" href={to(page + 1)}>
              {t("pager.next")}
            </a>
          ) : (
            <span class="btn is-small is-off">{t("pager.next")}</span>
          )}
        </>
      ) : null}
      <label>
        {t("pager.rows")}{" "}
        <select value={String(limit)} onChange={(e) => patchQuery({ [id + "limit"]: e.currentTarget.value, [id + "page"]: null })}>
          {(LIMITS.includes(limit) ? LIMITS : [...LIMITS, limit]).map((n) => (
            <option key={n} value={String(n)}>
              {count(n)}
            </option>
          ))}
        </select>
      </label>
    </nav>
  );
}
