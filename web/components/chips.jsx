// SPDX-License-Identifier: Apache-2.0
import { word } from "../lib/i18n.js";

/** @type {Record<string, string>} */
const TONE = {
  succeeded: "is-ok",
  complete: "is-ok",
  completed: "is-ok",
  success: "is-ok",
  failed: "is-bad",
  killed: "is-warn",
  partial: "is-warn",
  noEnd: "is-warn",
  abandoned: "is-warn",
  unreadable: "is-bad",
  loading: "is-info",
  arriving: "is-info",
};

/** @param {{ of: string, state: string }} props of: family of texts, for example "outcome" */
export const Chip = ({ of, state }) => <span class={"chip " + (TONE[state] ?? "")}>{word(of, state)}</span>;

/** How a run ended, as far as the list knows. @param {{ app: import("../types").AppItem }} props */
export function Outcome({ app }) {
  if (app.state === "failed" && !app.ref) return <Chip of="outcome" state="unreadable" />;
  if (app.state === "waiting" || app.state === "loading") return <Chip of="state" state={app.state} />;
  if (app.outcome === "failed") return <Chip of="outcome" state="failed" />;
  if (app.state === "listed" && app.outcome === null) return <Chip of="state" state="listed" />;
  if (app.complete === false && app.flags.includes("abandoned")) return <Chip of="outcome" state="abandoned" />;
  if (app.complete === false) return <Chip of="outcome" state="noEnd" />;
  return <Chip of="outcome" state={app.outcome ?? "unknown"} />;
}
