// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/palette.js").palette>} */
export const palette = {
  "palette.title": "搜索全部",
  "palette.ask": "页面、发现、阶段、作业、查询、Executor、设置或其他运行",
  "palette.askRuns": "按名称、ID、用户或规则查找运行",
  "palette.sql": (id) => `查询 ${id}`,
  "palette.exec": (id) => `Executor ${id}`,
  "palette.none": "没有匹配项",
  "palette.count": (n) => `${count(n)} 个匹配项`,
  "palette.move": "移动",
  "palette.open": "打开",
  "palette.of.recent": "最近打开",
  "palette.of.page": "页面",
  "palette.of.finding": "发现",
  "palette.of.stage": "阶段",
  "palette.of.job": "作业",
  "palette.of.sql": "查询",
  "palette.of.exec": "Executor",
  "palette.of.conf": "设置",
  "palette.of.run": "运行",
  "keys.filter": "筛选表格",
};
