// SPDX-License-Identifier: Apache-2.0
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Pages from a folder (web/dist) instead of those in the program. */
export const ASSETS = process.env.AFTERGLOW_ASSETS ?? "";
export const BINARY = process.env.AFTERGLOW_BINARY ?? join(ROOT, "build/release/afterglow");
