// SPDX-License-Identifier: Apache-2.0
/** What somebody chose or dropped, as logs to send. */

/** @template F @typedef {{ name: string, folder: string | null, files: F[] }} Log folder: its own name, of a log that is one */

/** How the folder of a rolling log is called. */
const ROLLING = "eventlog_v2_";

/**
 * A file by itself is a log. Files that lie in one folder are sent together: it is a rolling log, or the server finds the logs in it. A folder below is one of its own, so that of many rolling logs none is
 * mixed with another. What is hidden (.crc beside an event log, .DS_Store), itself or by its folder, is no part of a log, nor is a folder in a rolling log.
 * @template F @param {{ path: string, file: F }[]} found path: from what was chosen or dropped downwards, with its own name @returns {Log<F>[]}
 */
export function logsOf(found) {
  /** @type {Map<string, Log<F>>} */
  const logs = new Map();
  for (const { path, file } of found) {
    const names = path.split("/");
    if (names.some((name) => name.startsWith(".")) || names.slice(0, -2).some((name) => name.startsWith(ROLLING))) continue;
    const folder = names.at(-2) ?? null;
    const key = folder === null ? `file ${logs.size}` : names.slice(0, -1).join("/");
    const log = logs.get(key);
    if (log) log.files.push(file);
    else logs.set(key, { name: folder ?? names[0], folder, files: [file] });
  }
  return [...logs.values()];
}

/** Place of a file in its folder: what was written first comes first, so that it can be read as it comes, and the file that says "complete" last. @param {string} name */
const place = (name) => (name.startsWith("appstatus_") ? Infinity : Number(/^events_(\d+)_/.exec(name)?.[1] ?? 0));

/** In the order in which they are sent. @template {{ name: string }} F @param {F[]} files @returns {F[]} */
export const inOrder = (files) => [...files].sort((a, b) => (place(a.name) === place(b.name) ? 0 : place(a.name) - place(b.name)));
