// SPDX-License-Identifier: Apache-2.0

/** @type {import("../../lib/i18n.js").Same<typeof import("../en/sql.js").sql>} */
export const sql = {
  "sql.title": "查询页面尚未提供",
  "sql.text": "本次运行的查询、执行计划和指标均已保存，可通过程序接口读取。Spark 为它们运行的内容在这里：",
  "sql.data": "查询数据（JSON）",
  "sql.jobs": "Jobs，带有所属查询的编号",
  "sql.stages": "Stages，最慢的在前",

};
