// SPDX-License-Identifier: Apache-2.0
import { apiHref, wordedPath } from "../api.js";
import { t } from "../lib/i18n.js";
import * as markdown from "../lib/markdown.js";
import * as paths from "../lib/paths.js";
import { Menu } from "./menu.jsx";
import { copyPinned } from "./pinned.jsx";
import { copyAndSay, copyLink } from "./toast.jsx";

/** @typedef {{ ref: string | null, loading?: unknown, loaded: boolean }} Run */

/** To the comparison of a run with the earlier runs of its job. While a log is read there is nothing to compare. @param {{ app: Run }} props */
export const CompareLink = ({ app }) =>
  app.ref === null || app.loading || !app.loaded ? (
    <span class="btn is-small is-off" title={t("compare.whenRead")}>
      {t("compare.open")}
    </span>
  ) : (
    <a class="btn is-small" href={paths.compare(app.ref)} title={t("compare.openTitle")}>
      {t("compare.open")}
    </a>
  );

/** The same in a row of a list. @param {{ app: { ref: string | null } }} props */
export const CompareText = ({ app }) => (
  <a class="small nowrap" href={paths.compare(app.ref ?? "")} title={t("compare.openTitle")}>
    {t("compare.open")}
  </a>
);

/** What this page says first, with its name and link. */
function verdictMarkdown() {
  const said = document.querySelector("main .verdict-say")?.textContent ?? "";
  return `${markdown.link(document.title.replace(/ · Afterglow$/, ""), location.href)}${said ? `: ${markdown.escape(said)}` : ""}`;
}

/** What one may do with a run as a whole: compare it, take its report away, send a link. @param {{ app: Run & { ref: string } }} props */
export function AppTools({ app }) {
  /** Endings that browsers and mail programs know. @type {[format: string, ending: string][]} */
  const forms = [
    ["html", "html"],
    ["markdown", "md"],
    ["json", "json"],
    ["text", "txt"],
  ];
  return (
    <div class="head-tools no-print">
      <CompareLink app={app} />
      {app.loading || !app.loaded ? (
        <span class="btn is-small is-off" title={t("report.whenRead")}>
          {t("report.open")}
        </span>
      ) : (
        <Menu label={t("report.open")} title={t("report.title")}>
          {forms.map(([format, ending]) => (
            <a key={format} href={apiHref(wordedPath(["apps", app.ref, "report"], { format }))} download={`${app.ref}-report.${ending}`}>
              {t(/** @type {import("../lib/i18n.js").Key} */ (`report.${format}`))}
            </a>
          ))}
        </Menu>
      )}
      <Menu label={t("share.open")}>
        <button type="button" title={t("share.linkTitle")} onClick={copyLink}>
          {t("share.link")}
        </button>
        <button type="button" title={t("pin.copyTitle")} onClick={copyPinned}>
          {t("pin.copy")} <kbd aria-hidden="true">y</kbd>
        </button>
        <button type="button" onClick={() => copyAndSay(verdictMarkdown(), "share.verdictCopied")}>
          {t("share.copyVerdict")}
        </button>
      </Menu>
    </div>
  );
}
