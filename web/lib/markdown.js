// SPDX-License-Identifier: Apache-2.0
/** Text as Markdown, for tickets and chats. Text from a log may hold anything: what Markdown would take for markup is escaped, so that it reads there as it does here. */

/** Text in a line: no markup, no line breaks. @param {string} text */
export const escape = (text) =>
  text
    .replace(/\s*[\r\n]+\s*/g, " ")
    .replace(/[\\`*_[\]<>|~]/g, "\\$&")
    .replace(/^(\s*\d*)([#+.)-])(?=\s)/, "$1\\$2");

/** Code in a line: as many backticks around it as it needs. @param {string} text */
export function code(text) {
  const line = text.replace(/[\r\n]+/g, " ");
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map((m) => m[0].length));
  const fence = "`".repeat(longest + 1);
  const blank = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return fence + blank + line + blank + fence;
}

/** A block of code. @param {string} text @param {string} [language] */
export function block(text, language = "") {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n*$/, "")}\n${fence}`;
}

/** @param {string} text @param {string} to an address of ours */
export const link = (text, to) => `[${escape(text)}](${to.replace(/[()\s]/g, (c) => encodeURIComponent(c).replace("(", "%28").replace(")", "%29"))})`;

/** @param {string[]} head @param {string[][]} rows texts, as many in each row @param {boolean[]} [right] columns of numbers */
export function table(head, rows, right = []) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  return [line(head.map(escape)), line(head.map((_, i) => (right[i] ? "---:" : "---"))), ...rows.map((r) => line(head.map((_, i) => escape(r[i] ?? ""))))].join("\n");
}
