// SPDX-License-Identifier: Apache-2.0
import { count } from "../../lib/format.js";

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/overview.js").overview>} */
export const overview = {
  "overview.slowest": "最慢的 Stage",
  "overview.slowestNote": "按时长",
  "overview.allStages": (n) => (n === null ? "全部 Stage" : `全部 ${count(n)} 个 Stage`),
  "overview.noStage": "没有 Stage 运行",
  "overview.noStageText": "所有 Stage 都被跳过，或日志在第一个之前就停止了。",
  "overview.others": "同一应用：",
  "overview.othersAll": "以及更多",
  "overview.other": (n) => `第 ${n} 次尝试`,
  "overview.slowestOpen": "按时长；运行中的按目前用时",
  "overview.marked": "其他有倾斜或 GC 压力的 Stage",
  "overview.markedNote": "最慢的在前",
  "overview.allMarked": "全部有标记的 Stage",
  "overview.failedJobs": "失败的 Job",
  "overview.failedStages": "失败的 Stage",
  "overview.failedNote": (all, shown) => (all > shown ? `显示 ${count(shown)} / ${count(all)}` : ""),

};
