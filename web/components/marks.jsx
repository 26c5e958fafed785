// SPDX-License-Identifier: Apache-2.0
import { DASH, percent, seconds, times } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { isMarked, wordBeside } from "../model/findings.js";
import { GradeMark } from "./severity.jsx";

/** @typedef {(rule: string) => string} To where the finding of that rule is shown */

/** Largest against median duration; what the tasks read stands below where it sticks out. @param {{ skew: import("../types").Skew | null, to?: To }} props */
export function SkewMark({ skew, to }) {
  if (!skew || skew.durationRatio === null) return <span class="dim3">{DASH}</span>;
  const says =
    skew.bytesRatio !== null && skew.bytes
      ? t("skew.title", times(skew.durationRatio), times(skew.bytesRatio), t(skew.bytes === "input" ? "col.input" : "col.shuffleRead"))
      : t("skew.titleDuration", times(skew.durationRatio));
  const data = wordBeside(skew, skew.bytesHeight);
  return (
    <>
      <Mark number={skew} text={times(skew.durationRatio)} says={says} to={to} />
      {data ? <High word={t(`mark.data.${data}`)} text={times(skew.bytesRatio)} title={says} /> : null}
    </>
  );
}

/** GC time against task time. @param {{ gc: import("../types").Gc | null, to?: To }} props */
export function GcMark({ gc, to }) {
  if (!gc || gc.share === null) return <span class="dim3">{DASH}</span>;
  return <Mark number={gc} text={percent(gc.share)} says={t("gc.title", percent(gc.share))} to={to} />;
}

/**
 * A number with the grade of the finding about it, which leads there. Where none fired nothing looks like one: how high the number is stands beside it as a word, and the tooltip tells what it costs.
 * @param {{ number: import("../types").JudgedNumber, text: string, says: string, to?: To }} props
 */
function Mark({ number: n, text, says, to }) {
  const cost = n.priceMs === null ? says : t("mark.costs", says, seconds(n.priceMs));
  if (isMarked(n))
    return (
      <a class="mark is-on" href={to?.(n.rule)} title={cost}>
        <GradeMark level={n.grade} word />
        <span class="mark-value" data-sev={n.grade}>
          {text}
        </span>
      </a>
    );
  const word = wordBeside(n);
  if (word) return <High word={t(`mark.${word}`)} text={text} title={n.grade === null ? says : t("mark.noFinding", cost)} />;
  return (
    <span class="mark" title={says}>
      <span class="mark-value">{text}</span>
    </span>
  );
}

/** @param {{ word: string, text: string, title: string }} props */
const High = ({ word, text, title }) => (
  <span class="mark is-high" title={title}>
    <span class="mark-word">{word}</span>
    <span class="mark-value">{text}</span>
  </span>
);
