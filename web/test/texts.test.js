// SPDX-License-Identifier: Apache-2.0
/** One noun for one thing, on the pages and in the sentences of the server that stand on them: those of spec/findings.md, whose Chinese is the specification. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { zh } from "../i18n/zh.js";

/** Texts of a book or of a part of the server's messages, by key. @param {any} book @param {string} at @returns {[string, string][]} */
const texts = (book, at = "") =>
  Object.entries(book).flatMap(([key, v]) => (v !== null && typeof v === "object" ? texts(v, `${at}${key}.`) : /** @type {[string, string][]} */ ([[at + key, String(v)]])));

const server = JSON.parse(readFileSync(new URL("../../analysis/messages/zh-CN.json", import.meta.url), "utf8"));
const CHINESE = /[\u4e00-\u9fff]/;

describe("nouns in Chinese", () => {
  for (const [where, book] of Object.entries({ "the pages": zh, "the server's sentences": server })) {
    it(`are the same in ${where}`, () => {
      const wrong = texts(book).filter(([, text]) => /(?<![\w.])(?:Stage|Task|Job)s?(?![\w.])/.test(text) || /执行器|驱动程序|洗牌|混洗/.test(text));
      assert.deepEqual(wrong, []);
      const spaced = texts(book).filter(([, text]) => CHINESE.test(text) && /(?:作业|阶段|任务) (?=[\u4e00-\u9fff])|[\u4e00-\u9fff] (?=作业|阶段|任务)/.test(text));
      assert.deepEqual(spaced, []);
    });
  }
});
