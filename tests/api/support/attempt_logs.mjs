// SPDX-License-Identifier: Apache-2.0
// Runs with and without attempt ids, and one id in two folders (pain.md P091).
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { smallLog } from "./log.mjs";

/** file: what is in it; the name of a run says which file it must come from. */
export const FILES = {
  plain: { id: "app-plain" },
  "both-1": { id: "app-both", attempt: "1" },
  "both-2": { id: "app-both", attempt: "2" },
  second: { id: "app-second", attempt: "2" },
  word: { id: "app-word", attempt: "attempt-x" },
  "east/same": { id: "app-same" },
  "west/same": { id: "app-same" },
};

/** Writes them into a folder and returns it. */
export function writeAttemptLogs(folder) {
  for (const [name, options] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), smallLog({ ...options, name }));
  }
  return folder;
}
