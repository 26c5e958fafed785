// SPDX-License-Identifier: Apache-2.0
/** Tracking a fix: from a finding, and in the next run of the same job whether it helped, in the words of the comparison of both runs. What is tracked is kept in this browser. */
import { useState } from "preact/hooks";
import { apiPath, get, wordedPath } from "../api.js";
import { seconds } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import * as prefs from "../lib/prefs.js";
import { isTracked, ofJob, outcomeOf, read, toggled } from "../model/tracked.js";
import { Sentences } from "./sentences.jsx";
import { toast } from "./toast.jsx";
import { useData } from "./use-data.js";

const NAME = "tracked";
const kept = () => read(prefs.list(NAME));

/** @param {{ appRef: string, finding: import("../types").Finding }} props */
export function TrackButton({ appRef, finding: f }) {
  const [, redraw] = useState(0);
  const what = { ref: appRef, rule: f.rule, kind: f.subject.kind, key: f.subject.key };
  const on = isTracked(kept(), what);
  const turn = async () => {
    try {
      /** @type {import("../types").Baseline} */
      const { runKey } = await get(apiPath(["apps", appRef, "baseline"]));
      if (runKey === null) return toast(t("tracked.noJob"));
      prefs.save({ [NAME]: toggled(kept(), { ...what, job: runKey }) });
      redraw((n) => n + 1);
      toast(t(on ? "tracked.ended" : "tracked.begun"));
    } catch {
      toast(t("tracked.failed"));
    }
  };
  return (
    <button type="button" class="btn is-small" aria-pressed={on} title={t("tracked.title")} onClick={turn}>
      {t(on ? "tracked.on" : "tracked.track")}
    </button>
  );
}

/**
 * What became of the fixes that were tracked in an earlier run of this job. Nothing is asked where nothing is tracked.
 * @param {{ ref: string }} app @param {string | number} version @param {boolean} isRead
 */
export function useTracked(app, version, isRead) {
  const [, redraw] = useState(0);
  const all = kept();
  const usual = /** @type {import("./use-data.js").Asked<import("../types").Baseline>} */ (useData(isRead && all.length ? apiPath(["apps", app.ref, "baseline"]) : null, version));
  const of = ofJob(all, usual.data?.runKey ?? null, app.ref);
  /** @type {import("./use-data.js").Asked<import("../types").Comparison>} */
  const asked = useData(of.length ? wordedPath(["compare"], { base: of[0].ref, new: app.ref }) : null, version);
  const end = () => {
    prefs.save({ [NAME]: of.reduce((texts, x) => toggled(read(texts), x), prefs.list(NAME)) });
    redraw((n) => n + 1);
  };
  return { of, compared: asked.data, end };
}

/** @param {{ appRef: string } & ReturnType<typeof useTracked>} props */
export function TrackedNote({ appRef, of, compared, end }) {
  const { base, new: now } = compared ?? {};
  if (!of.length || !compared || !base || !now || base.startMs >= now.startMs) return null;
  const done = of.flatMap((x) => outcomeOf(x, compared) ?? []);
  return (
    <div class="banner is-info" role="note" aria-label={t("tracked.label")}>
      <div class="grow">
        {done.map((f) => (
          <p key={`${f.rule} ${f.baseSubject}`}>
            <Sentences
              items={[
                <b>{t("tracked.of", f.name)}</b>,
                t(/** @type {import("../lib/i18n.js").Key} */ (`tracked.news.${f.elsewhere ? "elsewhere" : f.news}`)),
                f.basePriceMs === null ? null : t("tracked.cost", seconds(f.basePriceMs), f.newPriceMs === null ? null : seconds(f.newPriceMs)),
              ]}
            />
          </p>
        ))}
        <p>{compared.state === "done" && done.length ? compared.sentence : t("tracked.unknown", compared.sentence)}</p>
      </div>
      <a class="nowrap" href={paths.compare(appRef, of[0].ref)}>
        {t("compare.open")}
      </a>
      <button type="button" class="btn is-small no-print" onClick={end}>
        {t("tracked.end")}
      </button>
    </div>
  );
}
