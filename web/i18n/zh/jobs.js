// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/jobs.js").jobs>} */
export const jobs = {
  "job.title": (id) => `作业 ${id}`,
  "job.group": (g) => `分组 ${g}`,
  "job.tags": (g) => `标签 ${g}`,
  "job.query": (id) => `查询 ${id}`,
  "job.noEnd": "日志中没有这个作业的结束记录，时长未知。",
  "job.stagesNote": "最慢的在前；跳过的在最后，其输出仍可用",
  "job.properties": "属性",
  "job.propertiesNote": "与环境不同之处",
  "job.propertiesShow": (n) => `显示 ${count(n)} 个属性`,
  "jobs.scheduling": "作业调度",
  "jobs.schedulingUsual": "Spark 的默认值",
  "jobs.note": "每个 action 一个；未另行排序时最慢的在前",
  "jobs.search": "描述或调用位置",
  "jobs.noMatch": "没有匹配的作业",
  "jobs.none": "没有作业运行",
  "jobs.noneText": "日志有应用开始，但没有作业开始：会话只定义了 DataFrame，或在第一个 action 之前结束。",
  "jobs.failedStages": (n) => `${count(n)} 失败`,
  "jobs.stages": (ran, skipped) => (skipped ? `${count(ran)} + 跳过 ${count(skipped)}` : count(ran)),

};
