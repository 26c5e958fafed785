// SPDX-License-Identifier: Apache-2.0
import { wordedPath } from "../api.js";
import { seconds } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { findingId, level, ofPage } from "../model/findings.js";
import { Section } from "./facts.jsx";
import { Severity } from "./severity.jsx";
import { Loaded } from "./states.jsx";
import { useData } from "./use-data.js";

/** @typedef {import("../types").Findings} Findings */

/** As many as the API gives at once; `total` says how many there are. */
const MOST = 1000;

/** Analysis comes with the end of a load, which app.jsx writes into the version. Before that nothing is asked. @param {string} version */
export const isRead = (version) => version.endsWith("done");

/** All findings of a run. Every page asks for the same address, so that they are fetched once. @param {string} ref @param {string} version @returns {import("./use-data.js").Asked<Findings>} */
export const useFindings = (ref, version) => useData(wordedPath(["apps", ref, "findings"], { limit: MOST }), version);

/** Findings about one thing: a stage, a job, a query. @param {string} ref @param {string} version @param {import("../types").SubjectKind} kind @param {string} key @returns {import("./use-data.js").Asked<Findings>} */
export const useSubjectFindings = (ref, version, kind, key) => useData(wordedPath(["apps", ref, "findings"], { kind, key, limit: MOST }), version);

/** Findings that bear on a stage attempt: about it, or with evidence that names it, as a slow host's does. @param {string} ref @param {string} version @param {string} key @returns {import("./use-data.js").Asked<Findings>} */
export const useStageFindings = (ref, version, key) => useData(isRead(version) ? wordedPath(["apps", ref, "findings"], { stage: key, limit: MOST }) : null, version);

/** What a page of the reading order says first: its findings, or that nothing was found. @param {{ appRef: string, version: string, page: import("../model/findings.js").PageName }} props */
export function PageFindings({ appRef, version, page }) {
  const asked = useFindings(appRef, version);
  return <Loaded from={asked}>{(all) => <FindingList appRef={appRef} findings={ofPage(all.findings, page)} />}</Loaded>;
}

/** @param {{ appRef: string, findings: import("../types").Finding[] }} props */
export function FindingList({ appRef, findings }) {
  if (!findings.length) return null;
  return (
    <Section title={t("findings.title")}>
      <ul class="findings">
        {findings.map((f) => (
          <li key={findingId(f)}>
            <Severity level={level(f)} />
            <span class="findings-price num">{f.price ? seconds(f.price.ms) : ""}</span>
            <a href={paths.subject(appRef, f.subject.kind, f.subject.key)}>{f.subject.name}</a>
            <span>{f.sentence}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
