// SPDX-License-Identifier: Apache-2.0
import { apiHref } from "../api.js";
import { csv } from "../lib/csv.js";
import { t } from "../lib/i18n.js";
import * as markdown from "../lib/markdown.js";
import { current } from "../lib/router.js";
import { saveText } from "../lib/save.js";
import { Menu } from "./menu.jsx";
import { copyAndSay } from "./toast.jsx";

/** What a person reads in a cell: its text, or the name of the mark that stands for one. @param {Element} cell */
function cellText(cell) {
  const text = /** @type {HTMLElement} */ (cell).innerText.replace(/\s+/g, " ").trim();
  const mark = cell.querySelector("[aria-label]:is(svg, [role=img])")?.getAttribute("aria-label");
  return text || mark || "";
}

/** A table as it is shown: this page of it, these columns. @param {HTMLTableElement} table @returns {{ heads: string[], rows: string[][], numbers: boolean[] }} */
function textsOf(table) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  return {
    heads: heads.map((h) => cellText(h).replace(/ ?[↑↓]$/, "")),
    rows: [...table.tBodies].flatMap((body) => [...body.rows]).map((row) => [...row.cells].map(cellText)),
    numbers: heads.map((h) => h.classList.contains("num")),
  };
}

/** @param {HTMLTableElement} table */
function tableMarkdown(table) {
  const { heads, rows, numbers } = textsOf(table);
  return markdown.table(heads, rows, numbers);
}

/** Named after the page and the table. @param {HTMLTableElement} table */
function saveTable(table) {
  const { heads, rows } = textsOf(table);
  const { parts, query } = current();
  const name = [...parts.filter((part) => part !== "a"), query.get("b"), table.caption?.textContent].filter(Boolean).join("-");
  saveText(`${name.replace(/[^\p{L}\p{N}._]+/gu, "-")}.csv`, "text/csv", csv([heads, ...rows]));
}

/**
 * What one may take away of a table: all rows of a list as CSV or, as much as is shown, as JSON; what is there whole as CSV as it is shown; what is shown as Markdown.
 * @param {{ list?: { csv: string, json: string, total: number } | null, table: () => HTMLTableElement | null }} props list: addresses of the API
 */
export const Download = ({ list, table }) => (
  <Menu label={t("download.open")} class="is-up">
    {!list ? (
      <button
        type="button"
        onClick={() => {
          const shown = table();
          if (shown) saveTable(shown);
        }}
      >
        {t("download.shown")}
      </button>
    ) : (
      <>
        <a href={apiHref(list.csv)} download="">
          {t("download.csv", list.total)}
        </a>
        <a href={apiHref(list.json)} download="afterglow.json">
          {t("download.json")}
        </a>
      </>
    )}
    <button
      type="button"
      onClick={() => {
        const shown = table();
        if (shown) copyAndSay(tableMarkdown(shown), "share.tableCopied");
      }}
    >
      {t("share.copyTable")}
    </button>
  </Menu>
);
