// SPDX-License-Identifier: Apache-2.0
import { Section } from "../../components/facts.jsx";
import { Histogram } from "../../components/histogram.jsx";
import { t } from "../../lib/i18n.js";
import { choices } from "../../model/scatter.js";
import { Scatter } from "./scatter.jsx";

/** How durations spread, and whether data explains them. @param {{ app: import("../../types").App, stage: import("../../types").Stage, name: string, version: string }} props */
export function Charts({ app, stage: s, name, version }) {
  const measures = choices(s.quantiles);
  return (
    <div class={measures.length ? "cols" : undefined}>
      {s.histogram && s.histogram.counts.some((n) => n > 0) ? (
        <Section title={t("hist.title")} note={t("hist.note")}>
          <Histogram edges={s.histogram.edgesMs} counts={s.histogram.counts} median={s.medianMs} p95={s.p95Ms} max={s.maxMs} hot={Boolean(s.skew?.grade)} />
        </Section>
      ) : null}
      {measures.length ? <Scatter app={app} name={name} measures={measures} version={version} /> : null}
    </div>
  );
}
