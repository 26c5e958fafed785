// SPDX-License-Identifier: Apache-2.0
import { seconds } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { Section } from "./facts.jsx";
import { isRead } from "./findings.jsx";
import { entries } from "./rail.jsx";
import { GradeMark } from "./severity.jsx";

/** Pages of the reading order: what each answers, and what it says of this run. @param {{ app: import("../types").App, findings: import("../types").Findings | undefined, version: string }} props */
export function ReadingOrder({ app, findings, version }) {
  if (!findings?.questions || !isRead(version)) return null;
  const { questions } = findings;
  const rows = entries(app.ref, app, findings).filter((e) => (e.step !== undefined || e.sub) && "level" in e);
  return (
    <Section title={t("order.title")} note={t("order.note")}>
      <ol class="order">
        {rows.map((e) => (
          <li key={e.id}>
            <a href={e.to}>
              <b>{t(/** @type {import("../lib/i18n.js").Key} */ (`nav.${e.id}`))}</b>
              <span class="order-mark">
                {e.level === null || e.level === undefined ? null : <GradeMark level={e.level} label={e.label} word />}
                {e.savingMs ? <span class="num">{seconds(e.savingMs)}</span> : null}
              </span>
              <span>
                <span class="dim3">{questions[e.question]}</span> {e.says ?? e.none ?? e.label ?? t("order.nothing")}
              </span>
            </a>
          </li>
        ))}
      </ol>
    </Section>
  );
}
