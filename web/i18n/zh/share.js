// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/share.js").share>} */
export const share = {
  "share.open": "分享",
  "share.link": "复制链接",
  "share.linkTitle": "复制此视图的地址，包括其中选中的内容（y）",
  "share.linkCopied": "已复制此视图的链接",
  "share.notCopied": "浏览器不允许：没有复制任何内容",
  "share.copyTable": "将所示内容复制为 Markdown",
  "share.tableCopied": "表格已复制为 Markdown",
  "share.copyFinding": "复制为 Markdown",
  "share.copyVerdict": "将结论复制为 Markdown",
  "share.verdictCopied": "结论已复制为 Markdown",
  "keys.copy": "复制此视图的链接",
  "download.open": "下载",
  "download.csv": (n) => `CSV，${count(n)} 行`,
  "download.json": "JSON，本页",
  "report.open": "报告",
  "report.title": "将本次运行的报告保存为文件",
  "report.whenRead": "日志读完之后才有报告。",
  "report.html": "HTML，用于打印或发送",
  "report.markdown": "Markdown",
  "report.json": "JSON",
  "report.text": "纯文本",
};
