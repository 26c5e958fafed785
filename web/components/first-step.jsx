// SPDX-License-Identifier: Apache-2.0
/** What to do first, right below the verdict: for who reads no further. The server says it; the cure to copy is the first of the finding that it is about. */
import { t } from "../lib/i18n.js";
import { hrefWith } from "../lib/router.js";
import { findingId, firstFinding } from "../model/findings.js";
import { CopyButton } from "./copy.jsx";
import { Place } from "./place.jsx";

/** @param {{ appRef: string, of: import("../types").Findings }} props */
export function FirstStep({ appRef, of }) {
  const step = of.firstStep;
  if (!step) return null;
  const finding = firstFinding(of);
  const fix = finding?.fixes[0];
  return (
    <section class="first-step" aria-labelledby="first-step">
      <h2 id="first-step">{t("step.title")}</h2>
      <p class="first-step-text">{step.text}</p>
      {finding && step.where ? (
        <p>
          <span class="dim">{t("step.where")}</span> <Place appRef={appRef} of={finding.subject} />
          {step.code ? (
            <>
              {" · "}
              <code>{step.code}</code>
            </>
          ) : null}
        </p>
      ) : null}
      {step.origin ? (
        <p>
          <span class="dim">{t("step.origin")}</span> <code>{step.origin}</code>
        </p>
      ) : null}
      {step.saving ? <p>{step.saving}</p> : null}
      {fix ? (
        <div class="first-step-fix">
          <pre aria-label={fix.title}>{fix.code}</pre>
          <CopyButton label={t("copy.code")} text={() => fix.code} />
        </div>
      ) : null}
      {finding ? (
        <p class="first-step-why no-print">
          <a href={hrefWith({ finding: findingId(finding) })}>{t("step.why")}</a>
        </p>
      ) : null}
    </section>
  );
}
