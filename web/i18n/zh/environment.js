// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/environment.js").environment>} */
export const environment = {
  "env.search": "键或值",
  "env.sections": "分区",
  "env.main": "主要",
  "env.everywhere": "全部",
  "env.shown": (n, all) => `${n} / ${all} 项`,
  "env.entries": (n) => `${count(n)} 项`,
  "env.none": "日志中没有环境信息",
  "env.noneText": "日志没有环境记录。压缩过或截断的日志可能缺少它。",
  "env.noMatch": "没有匹配项",
  "env.noMatchText": (n) => `日志中有 ${n} 项。`,
  "env.profile": (id) => `资源配置 ${id}`,
  "env.profileNote": "每个 Executor 和 Task 的请求",
  "env.section.spark": "Spark 属性",
  "env.section.jvm": "运行时",
  "env.section.system": "系统属性",
  "env.section.hadoop": "Hadoop 属性",
  "env.section.metrics": "指标属性",
  "env.section.classpath": "类路径",

};
