// SPDX-License-Identifier: Apache-2.0
import { duration, seconds, zoned } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { go } from "../lib/router.js";
import { Duration } from "./cells.jsx";
import { linkColumn } from "./columns.jsx";
import { Section } from "./facts.jsx";
import { Fold } from "./fold.jsx";
import { Table } from "./table.jsx";
import { tip } from "./tip.jsx";

const HEIGHT = 96,
  TOP = 6;
/** With fewer runs the columns get no wider. */
const FEWEST = 12;

/**
 * What the earlier runs took, oldest first, and this one: columns from zero, the median as a line, what is usual as a band.
 * @param {{ of: import("../types").Comparison, run: string }} props
 */
export function RunHistory({ of: c, run }) {
  const members = [...(c.baseline?.members ?? [])].reverse();
  const all = [...members.map((m) => ({ ...m, isThis: false })), { key: run, startMs: c.new.startMs, wallMs: c.new.wallMs, isReference: false, isThis: true }];
  const band = c.state === "too_few" ? null : c.wall;
  const high = Math.max(...all.map((m) => m.wallMs), band?.median && band.allowed ? band.median + band.allowed : 0, 1);
  const y = (/** @type {number} */ ms) => TOP + (HEIGHT - TOP) * (1 - ms / high);
  const step = 100 / Math.max(all.length, FEWEST);
  const [low, up] = band?.median && band.allowed ? [y(Math.max(0, band.median - band.allowed)), y(band.median + band.allowed)] : [0, 0];
  const about = (/** @type {typeof all[number]} */ m) => `${zoned(m.startMs)}\n${duration(m.wallMs)}${m.isReference ? `\n${t("history.reference")}` : ""}`;
  return (
    <Section title={t("history.title")} note={band?.median ? t("history.note", duration(band.median), seconds(band.allowed)) : "\u00a0"}>
      <figure class="history chart">
        <svg width="100%" height={HEIGHT + 1} role="img" aria-label={t("history.label", members.length, duration(c.new.wallMs), duration(band?.median ?? null))}>
          {low ? <rect class="history-band" x="0" width="100%" y={up} height={low - up} /> : null}
          {all.map((m, i) => (
            <rect
              key={m.key}
              class={"history-bar" + (m.isThis ? " is-this" : m.isReference ? " is-reference" : "")}
              x={`${(i + 0.15) * step}%`}
              width={`${step * 0.7}%`}
              y={y(m.wallMs)}
              height={HEIGHT - y(m.wallMs)}
              onClick={() => go(m.isThis ? paths.app(m.key) : paths.compare(run, m.key))}
              {...tip(() => about(m))}
            />
          ))}
          {band?.median ? <line class="history-median" x1="0" x2="100%" y1={y(band.median)} y2={y(band.median)} /> : null}
          <line class="axis" x1="0" x2="100%" y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
        </svg>
      </figure>
      <Fold name="history" title={t("history.table")}>
        <Table
          caption={t("history.title")}
          rows={[...all].reverse()}
          rowKey={(m) => m.key}
          class="is-narrow"
          columns={[
            linkColumn("col.started", (m) => paths.app(m.key), (m) => `${zoned(m.startMs)}`),
            { id: "wall", label: t("col.duration"), num: true, cell: (m) => <Duration ms={m.wallMs} /> },
            { id: "is", label: "", cell: (m) => (m.isThis ? t("bridge.this") : m.isReference ? t("history.reference") : "") },
            { id: "with", label: "", cell: (m) => (m.isThis ? "" : <a href={paths.compare(run, m.key)}>{t("history.with")}</a>) },
          ]}
        />
      </Fold>
    </Section>
  );
}
