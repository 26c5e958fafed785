// SPDX-License-Identifier: Apache-2.0
import { duration, percent } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import { look } from "../model/buckets.js";

/**
 * Task time by what it was spent on, as a thin bar; the title says it in words.
 * @param {{ parts: import("../model/phases.js").Part[] }} props in drawing order
 */
export function PhaseBar({ parts }) {
  const total = parts.reduce((sum, p) => sum + p.ms, 0);
  if (!total) return null;
  const title = parts
    .filter((p) => p.ms / total >= 0.005)
    .map((p) => t("phase.of", word("phase", p.bucket), duration(p.ms), percent(p.ms / total)))
    .join("\n");
  return (
    <span class="phase-bar" title={title} role="img" aria-label={title}>
      {parts.map((p) => (
        <i key={p.bucket} style={{ "--v": p.ms / total, "--c": `var(--ph-${look(p.bucket).phase})` }} />
      ))}
    </span>
  );
}

/** @template T @param {(row: T) => import("../model/phases.js").Part[]} of @returns {import("./table.jsx").Column<T>} */
export const phaseColumn = (of) => ({ id: "phases", label: t("col.phases"), title: t("col.phases.title"), class: "is-phases", cell: (row) => <PhaseBar parts={of(row)} /> });
