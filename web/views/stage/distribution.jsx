// SPDX-License-Identifier: Apache-2.0
import { Section } from "../../components/facts.jsx";
import { QuantileStrip } from "../../components/quantile-strip.jsx";
import { Table } from "../../components/table.jsx";
import { quantity, times } from "../../lib/format.js";
import { t, word } from "../../lib/i18n.js";
import { telling } from "../../model/metrics.js";

/** @typedef {import("../../types").Quantile} Quantile */

const POINTS = /** @type {const} */ (["min", "p25", "p50", "p75", "p95", "p99", "max"]);

/** The middle and the end are what people compare. @param {Quantile} q @param {typeof POINTS[number]} p @param {boolean} hot */
const pointClass = (q, p, hot) => (q[p] === 0 ? "dim3" : p === "max" && hot ? "strong bad" : p === "p50" || p === "max" ? "strong" : "dim");

/** Every metric over the successful tasks. @param {{ stage: import("../../types").Stage }} props */
export function Distribution({ stage: s }) {
  const rows = telling(s.quantiles);
  const left = s.quantiles.length - rows.length;
  const isHot = (/** @type {Quantile} */ q) => q.name === "durationMs" && Boolean(s.skew?.grade);
  return (
    <Section title={t("q.title")} note={t("q.note", rows[0]?.count ?? 0)}>
      <Table
        caption={t("q.title")}
        rows={rows}
        rowKey={(q) => q.name}
        columns={[
          { id: "name", label: t("col.metric"), class: "is-metric", cell: (q) => <span class={q.name === "durationMs" ? "strong" : ""}>{word("metric", q.name)}</span> },
          ...POINTS.map(
            (p) =>
              /** @type {import("../../components/table.jsx").Column<Quantile>} */ ({
                id: p,
                label: t(`q.${p}`),
                num: true,
                cell: (q) => <span class={pointClass(q, p, isHot(q))}>{quantity(q[p], q.unit)}</span>,
              }),
          ),
          {
            id: "ratio",
            label: t("q.ratio"),
            title: t("col.ratio"),
            num: true,
            cell: (q) => <span class={isHot(q) ? "strong bad" : "dim"}>{times(q.p50 > 0 ? q.max / q.p50 : null)}</span>,
          },
          { id: "strip", label: <span class="sr">{t("q.strip")}</span>, class: "is-strip", cell: (q) => <QuantileStrip q={q} hot={isHot(q)} /> },
          { id: "sum", label: t("q.sum"), num: true, cell: (q) => <span class="dim">{q.name.startsWith("peak") ? "" : quantity(q.sum, q.unit)}</span> },
        ]}
      />
      {left ? <p class="note dim3">{t("q.zero", left)}</p> : null}
    </Section>
  );
}
