// SPDX-License-Identifier: Apache-2.0
/** Links, downloads, copies, reports. */
import { some } from "./some.js";

export const share = {
  "share.open": "Share",
  "share.link": "Copy the link",
  "share.linkTitle": "Copy the address of this view, with what is selected in it (y)",
  "share.linkCopied": "Link to this view copied",
  "share.notCopied": "The browser did not allow it: nothing was copied",
  "share.copyTable": "Copy what is shown as Markdown",
  "share.tableCopied": "Table copied as Markdown",
  "share.copyFinding": "Copy as Markdown",
  "share.copyVerdict": "Copy the verdict as Markdown",
  "share.verdictCopied": "Verdict copied as Markdown",
  "keys.copy": "copy the link of this view",
  "download.open": "Download",
  "download.csv": (/** @type {number} */ n) => `CSV, ${some(n, "row")}`,
  "download.json": "JSON, this page",
  "report.open": "Report",
  "report.title": "The report of this run as a file",
  "report.whenRead": "There is a report when the log is read to its end.",
  "report.html": "HTML, to print or send",
  "report.markdown": "Markdown",
  "report.json": "JSON",
  "report.text": "Text",
};
