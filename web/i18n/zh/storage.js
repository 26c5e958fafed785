// SPDX-License-Identifier: Apache-2.0

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/storage.js").storage>} */
export const storage = {
  "storage.title": "缓存的数据",
  "storage.note": "unpersist 之后仍保留；大小为日志结尾时的值",
  "storage.noteNoSizes": "unpersist 之后仍保留；这份日志没有记录实际保存了多少",
  "storage.ofParts": (n, all) => `${n} / ${all}`,
  "storage.unknown": "日志没有记录保存了多少分区",
  "storage.released": "是",
  "storage.kept": "否",
  "storage.none": "没有缓存任何数据",
  "storage.noneText": "这个应用的 Stage 都没有使用 persist() 或 cache()。",
  "storage.switchOn": "要看到大小和实际保存的分区，请在运行应用时设置",
};
