// SPDX-License-Identifier: Apache-2.0
import { AccountBar } from "../../components/account.jsx";
import { Bar } from "../../components/cells.jsx";
import { Section } from "../../components/facts.jsx";
import { Sentences } from "../../components/sentences.jsx";
import { Table } from "../../components/table.jsx";
import { duration, exactMs, percent } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { current, hrefWith } from "../../lib/router.js";

/** @typedef {import("../../types").StageAnalysis} Analysis */

/** Where the slots' time went: while the stage ran (window), or what of it the stage has to answer for (cost). @param {{ analysis: Analysis }} props */
export function StageAccount({ analysis: a }) {
  const view = current().query.get("account") === "cost" ? "cost" : "window";
  const buckets = a[view];
  if (!a.window.length && !a.cost.length) return null;
  return (
    <Section
      title={t("account.title")}
      note={t(view === "cost" ? "stage.account.cost" : "stage.account.window")}
      tools={
        <span class="seg">
          {/** @type {const} */ (["window", "cost"]).map((v) => (
            <a key={v} href={hrefWith({ account: v === "window" ? null : v })} aria-current={v === view ? "true" : undefined}>
              {t(`stage.view.${v}`)}
            </a>
          ))}
        </span>
      }
    >
      <AccountBar buckets={buckets} totalMs={buckets.reduce((sum, b) => sum + b.slotMs, 0)} />
    </Section>
  );
}

/** The outliers' excess over the median by what explains it. @param {{ stage: import("../../types").Stage, analysis: Analysis }} props */
export function Causes({ stage: s, analysis: a }) {
  if (!a.causes.length) return null;
  const total = a.causes.reduce((sum, c) => sum + (c.ms ?? 0), 0);
  const most = Math.max(...a.causes.map((c) => c.ms ?? 0));
  return (
    <Section title={t("causes.title")} note={t("causes.note", a.outlierCount, duration(a.outlierCutMs), duration(total), duration(s.medianMs))}>
      <Table
        class="is-narrow"
        caption={t("causes.title")}
        rows={a.causes}
        rowKey={(c) => c.cause}
        columns={[
          { id: "cause", label: t("col.cause"), class: "is-metric", cell: (c) => <span class={c.cause === a.cause ? "strong" : ""}>{c.name ?? c.cause}</span> },
          {
            id: "ms",
            label: t("col.excess"),
            num: true,
            class: "is-bar",
            cell: (c) => <Bar value={c.ms} max={most} text={duration(c.ms)} hot={c.cause === a.cause} title={exactMs(c.ms)} />,
          },
          { id: "share", label: t("col.share"), num: true, class: "is-small", cell: (c) => percent((c.ms ?? 0) / total) },
        ]}
      />
      {a.recCapMs || a.recSpreadMs ? (
        <p class="note dim">
          <Sentences items={[a.recCapMs ? t("causes.cap", duration(a.recCapMs)) : null, a.recSpreadMs ? t("causes.spread", duration(a.recSpreadMs)) : null]} />
        </p>
      ) : null}
    </Section>
  );
}
