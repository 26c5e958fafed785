// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** What a finding, or a row of its evidence, is about. @typedef {{ kind: import("../types").SubjectKind, key: string, name: string }} Subject */

const ID_SHOWN = 8;

/** In words; the server's, but for what reads better on a page. @param {Subject} subject */
export function placeName({ kind, key, name }) {
  const [query, node] = key.split("/");
  if (kind === "node" && node) return t("find.node", query, node);
  if (kind === "conf" && key === "-") return t("nav.env");
  // The id of a run of a streaming query: its sentence has the query's name.
  return kind === "query" && key.length > ID_SHOWN ? name.replace(key, `${key.slice(0, ID_SHOWN)}\u2026`) : name;
}

/**
 * Where that is; the application is everywhere.
 * @param {{ appRef: string, of: Subject, within?: Subject, tasks?: Record<string, string> }} props within: a task's page is its stage's; tasks: which of a stage's to list
 */
export const Place = ({ appRef, of, within, tasks }) =>
  of.kind === "app" ? (
    <>{placeName(of)}</>
  ) : (
    <a
      href={
        of.kind === "task" && within?.kind === "stage"
          ? paths.stageKey(appRef, within.key, { task: of.key })
          : of.kind === "stage"
            ? paths.stageKey(appRef, of.key, tasks)
            : paths.subject(appRef, of.kind, of.key)
      }
    >
      {placeName(of)}
    </a>
  );
