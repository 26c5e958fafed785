// SPDX-License-Identifier: Apache-2.0
import { DASH, percent, times } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { Severity } from "./severity.jsx";

/** Largest against median duration: mark, ratio, word. @param {{ skew: import("../types").Skew | null }} props */
export function SkewMark({ skew }) {
  if (!skew || skew.durationRatio === null) return <span class="dim3">{DASH}</span>;
  return (
    <Mark
      level={skew.grade ?? 0}
      text={times(skew.durationRatio)}
      title={
        skew.bytesRatio !== null && skew.bytes
          ? t("skew.title", times(skew.durationRatio), times(skew.bytesRatio), t(skew.bytes === "input" ? "col.input" : "col.shuffleRead"))
          : t("skew.titleDuration", times(skew.durationRatio))
      }
    />
  );
}

/** GC time against task time: mark, share, word. @param {{ gc: import("../types").Gc | null }} props */
export function GcMark({ gc }) {
  if (!gc || gc.share === null) return <span class="dim3">{DASH}</span>;
  return <Mark level={gc.grade ?? 0} text={percent(gc.share)} title={t("gc.title", percent(gc.share))} />;
}

/** @param {{ level: number, text: string, title: string }} props */
function Mark({ level, text, title }) {
  return (
    <span class={"mark" + (level ? " is-on" : "")} title={title}>
      {level ? <Severity level={level} word /> : null}
      <span class="mark-value" data-sev={level || undefined}>
        {text}
      </span>
    </span>
  );
}
