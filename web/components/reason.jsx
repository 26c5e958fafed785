// SPDX-License-Identifier: Apache-2.0
/** Why a log is not read, or not all of it. */
import { language, t, tx, word } from "../lib/i18n.js";

/** Kinds of damage with a name here (ingest/flags.c). */
const DAMAGE = new Set(["cut", "lines", "gap", "name", "empty", "unreadable", "not-a-log"]);

/** What the server says of a file or a machine is English, with their own errors in it: other pages say that it is, to a screen reader too. @param {{ text: string }} props */
export const ServerSays = ({ text }) => (language() === "en" ? text : <span>{tx("apps.serverSays", <span lang="en">{text}</span>)}</span>);

/**
 * What is wrong with a log, null: nothing is known to be. In other languages than the server's the kinds of damage are named.
 * @param {{ flags: string[], reason: string | null }} a @returns {import("preact").ComponentChildren}
 */
export function damageOf(a) {
  const kinds = language() === "en" ? [] : a.flags.filter((flag) => DAMAGE.has(flag));
  if (kinds.length) return kinds.map((flag) => word("apps.damage", flag)).join(t("list.comma"));
  return a.reason === null ? null : <ServerSays text={a.reason} />;
}
