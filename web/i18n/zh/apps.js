// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/apps.js").apps>} */
export const apps = {
  "apps.title": "应用",
  "apps.stored": (n) => `已知 ${count(n)} 份日志`,
  "apps.underway": (l, w) => `${count(l)} 份读取中，${count(w)} 份等待`,
  "apps.unreadable": (n) => `${count(n)} 份无法读取`,
  "apps.search": "名称、ID 或用户",
  "apps.anyOutcome": "全部结果",
  "apps.end": "结束",
  "apps.anyEnd": "是否结束不限",
  "apps.ended": "已结束",
  "apps.notEnded": "未读到结束",
  "apps.anyState": "全部状态",
  "apps.marks": "倾斜与 GC",
  "apps.anyMark": "全部倾斜与 GC",
  "apps.moderate": "中等及严重",
  "apps.severe": "仅严重",
  "apps.atLeast": "时长",
  "apps.anyDuration": "全部时长",
  "apps.longer": (d) => `≥ ${d}`,
  "apps.shown": (n, all) => `${n} / ${all}`,
  "apps.none": "没有匹配的应用",
  "apps.noneText": (n) => `已知 ${count(n)} 份日志，没有一份符合这些筛选。`,
  "apps.noReason": "没有记录原因",
  "apps.waiting": (b) => `等待读取，${b}`,
  "apps.atLeastSo": "至少：日志没有结尾",
  "first.title": "尚未读取任何日志",
  "first.notScanned": (p) => `${p} 尚未扫描。`,
  "first.scanned": (p, ago, n) => `${p} 于 ${ago} 前扫描，有 ${count(n)} 个条目。`,
  "first.noPlace": "没有监视任何目录：请用 --logs 目录 启动服务器。",
  "first.logs": (w, l, f, s) => `${count(w)} 份等待，${count(l)} 份读取中，${count(f)} 份无法读取，${count(s)} 个不是日志。`,
  "first.noIngest": "读取日志的进程没有运行。",

};
