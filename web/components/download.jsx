// SPDX-License-Identifier: Apache-2.0
import { apiHref } from "../api.js";
import { t } from "../lib/i18n.js";
import * as markdown from "../lib/markdown.js";
import { Menu } from "./menu.jsx";
import { copyAndSay } from "./toast.jsx";

/** What a person reads in a cell: its text, or the name of the mark that stands for one. @param {Element} cell */
function cellText(cell) {
  const text = /** @type {HTMLElement} */ (cell).innerText.replace(/\s+/g, " ").trim();
  const mark = cell.querySelector("[aria-label]:is(svg, [role=img])")?.getAttribute("aria-label");
  return text || mark || "";
}

/** A table as it is shown: this page of it, these columns. @param {HTMLTableElement} table */
export function tableMarkdown(table) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).map((row) => [...row.cells].map(cellText));
  return markdown.table(heads.map((h) => cellText(h).replace(/ ?[↑↓]$/, "")), rows, heads.map((h) => h.classList.contains("num")));
}

/**
 * What one may take away of a table: all rows of a list as CSV or, as much as is shown, as JSON; what is shown as Markdown.
 * @param {{ list?: { csv: string, json: string, total: number } | null, table: () => HTMLTableElement | null }} props list: addresses of the API
 */
export const Download = ({ list, table }) => (
  <Menu label={t("download.open")} class="is-up">
    {list ? (
      <>
        <a href={apiHref(list.csv)} download="">
          {t("download.csv", list.total)}
        </a>
        <a href={apiHref(list.json)} download="afterglow.json">
          {t("download.json")}
        </a>
      </>
    ) : null}
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
