// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/overview.js").overview>} */
export const overview = {
  "overview.slowest": "最慢的阶段",
  "overview.slowestNote": "按时长",
  "overview.allStages": (n) => (n === null ? "全部阶段" : `全部 ${count(n)} 个阶段`),
  "overview.noStage": "没有阶段运行",
  "overview.noStageText": "所有阶段都被跳过，或日志在第一个之前就停止了。",
  "overview.others": "同一应用：",
  "overview.othersAll": "以及更多",
  "overview.other": (n) => `第 ${n} 次尝试`,
  "overview.slowestOpen": "按时长；运行中的按目前用时",
  "overview.failedJobs": "失败的作业",
  "overview.failedStages": "失败的阶段",
  "overview.failedNote": (all, shown) => (all > shown ? `显示 ${count(shown)} / ${count(all)}` : ""),
  "overview.numbers": "数字",
  "order.title": "按此顺序阅读",
  "order.note": "每页回答什么，以及对本次运行的结论",
  "order.nothing": "未见异常。",
  "say.used": (cpu, idle) => `槽位有 ${cpu} 的时间在计算，${idle} 的时间空闲或不在。`,
  "say.simulator": (e) => `可节省的时间来自模拟；用同一模拟重现本次运行，误差为 ${e}。`,
  "step.title": "先做这件事",
  "step.where": "位置：",
  "step.origin": "源头：",
  "step.why": "原因与证据",
};
