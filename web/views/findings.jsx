// SPDX-License-Identifier: Apache-2.0
import { Choice, Tools, words } from "../components/filters.jsx";
import { FindingList, JointSaving, Judged, countText, useFindings } from "../components/findings.jsx";
import { NoMatch } from "../components/list.jsx";
import { Sentences } from "../components/sentences.jsx";
import { t } from "../lib/i18n.js";
import { current } from "../lib/router.js";

/** Everything that was found, by what it is about. @param {{ app: import("../types").App, version: string }} props */
export function Findings({ app, version }) {
  const asked = useFindings(app.ref, version);
  return (
    <Judged from={asked} version={version} rows={10}>
      {(all) => <Found app={app} all={all} />}
    </Judged>
  );
}

const QUESTIONS = ["slow", "memory", "config", "failure", "data", "streaming"];
const GRADES = ["severe", "moderate", "low", "info"];

/** @param {{ app: import("../types").App, all: import("../types").Findings }} props */
function Found({ app, all }) {
  const q = current().query;
  const [question, grade, rule] = [q.get("question"), q.get("grade"), q.get("rule")];
  const findings = all.findings.filter((f) => (!question || f.question === question) && (!grade || f.grade === grade) && (!rule || f.rule === rule));
  /** @type {Map<string, string>} */
  const rules = new Map(all.findings.map((f) => [f.rule, f.name]));
  const filtered = Boolean(question || grade || rule);
  return (
    <>
      <div class="verdict">
        <p class="verdict-say">{all.verdict}</p>
        <p class="verdict-sub">
          <Sentences items={[<JointSaving app={app} of={all} />, all.total > all.findings.length ? t("find.cutList", all.findings.length, all.total) : null]} />
        </p>
      </div>
      <Tools>
        <Choice name="question" label={t("find.question")} any={t("find.anyQuestion")} options={words("question", QUESTIONS)} />
        <Choice name="grade" label={t("find.grade")} any={t("find.anyGrade")} options={words("grade", GRADES)} />
        <Choice name="rule" label={t("find.rule")} any={t("find.anyRule")} options={[...rules]} />
      </Tools>
      {filtered && !findings.length ? (
        <NoMatch title={t("find.noMatch")} />
      ) : (
        <FindingList
          appRef={app.ref}
          findings={findings}
          title={t("findings.page")}
          note={t("findings.note")}
          tools={<span class="dim">{countText(findings)}</span>}
          unfold
          rest
        />
      )}
    </>
  );
}
