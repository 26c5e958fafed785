// SPDX-License-Identifier: Apache-2.0

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/executors.js").executors>} */
export const executors = {
  "executors.note": "日志中出现的全部，包括丢失的",
  "executors.all": "全部 Executor",
  "executors.alive": "结束时存活",
  "executors.removed": "已移除",
  "executors.removedAt": (at) => `于 ${at} 移除`,
  "executors.stayed": "存活",
  "executors.excluded": "已排除",
  "executors.excludedIn": (s) => `在 Stage ${s} 中`,
  "executors.memory": (on, off) => `堆内 ${on}，堆外 ${off}`,
  "executors.none": "日志中没有 Executor",
  "executors.noneText": "日志没有提到任何 Executor：在第一个加入之前就停止了。",
  "executors.noMatch": "没有匹配的 Executor",

};
