// SPDX-License-Identifier: Apache-2.0
/** A table as a file for spreadsheets (RFC 4180), by the rules of the server's lists (server/api/list_csv.c). */

/** Texts come from a log: none may begin like a formula. Numbers are left alone. @param {string} text */
function cell(text) {
  const safe = /^[=+\-@]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^ | $/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** @param {string[][]} rows texts, the heads first */
export const csv = (rows) => rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
