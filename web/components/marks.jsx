// SPDX-License-Identifier: Apache-2.0
import { DASH, percent, seconds, times } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { GradeMark } from "./severity.jsx";

/** @typedef {(rule: string) => string} To where the finding of that rule is shown */

/** Largest against median duration. @param {{ skew: import("../types").Skew | null, to?: To }} props */
export function SkewMark({ skew, to }) {
  if (!skew || skew.durationRatio === null) return <span class="dim3">{DASH}</span>;
  const says =
    skew.bytesRatio !== null && skew.bytes
      ? t("skew.title", times(skew.durationRatio), times(skew.bytesRatio), t(skew.bytes === "input" ? "col.input" : "col.shuffleRead"))
      : t("skew.titleDuration", times(skew.durationRatio));
  return <Mark number={skew} text={times(skew.durationRatio)} says={says} to={to} />;
}

/** GC time against task time. @param {{ gc: import("../types").Gc | null, to?: To }} props */
export function GcMark({ gc, to }) {
  if (!gc || gc.share === null) return <span class="dim3">{DASH}</span>;
  return <Mark number={gc} text={percent(gc.share)} says={t("gc.title", percent(gc.share))} to={to} />;
}

/**
 * A number with the grade of the finding about it, which leads there. Where none fired nothing looks like one: that the number is high stands beside it as a word, and the tooltip tells what it costs.
 * @param {{ number: import("../types").JudgedNumber, text: string, says: string, to?: To }} props
 */
function Mark({ number: n, text, says, to }) {
  const cost = n.priceMs === null ? says : t("mark.costs", says, seconds(n.priceMs));
  if (n.grade && n.rule !== null)
    return (
      <a class="mark is-on" href={to?.(n.rule)} title={cost}>
        <GradeMark level={n.grade} word />
        <span class="mark-value" data-sev={n.grade}>
          {text}
        </span>
      </a>
    );
  return (
    <span class={"mark" + (n.high ? " is-high" : "")} title={n.high && n.grade !== null ? t("mark.noFinding", cost) : says}>
      {n.high ? <span class="mark-word">{t("mark.high")}</span> : null}
      <span class="mark-value">{text}</span>
    </span>
  );
}
