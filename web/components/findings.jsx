// SPDX-License-Identifier: Apache-2.0
/**
 * Findings: what was wrong, what it cost, what to change. Rows by importance that open in place (`finding` in the address), small ones in one row, and below what was checked and does
 * not show. Sentences, grades and prices are the server's; thresholds that a person moved stand in the address and go to the server with every question.
 */
import { createContext } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { wordedPath } from "../api.js";
import { percent, seconds } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { cameByLink, current, hrefWith, patchQuery } from "../lib/router.js";
import { byRule, findingId, folded, isFound, level, ofPage, pageOf, readable } from "../model/findings.js";
import { Section } from "./facts.jsx";
import { FindingBody } from "./finding-body.jsx";
import { Place } from "./place.jsx";
import { GradeMark } from "./severity.jsx";
import { Loaded } from "./states.jsx";
import { Unfired } from "./unfired.jsx";
import { useData } from "./use-data.js";

/** @typedef {import("../types").Finding} Finding */
/** @typedef {import("../types").Findings} Findings */
/** @typedef {import("./use-data.js").Asked<Findings>} AskedFindings */

/** As many as the API gives at once; `total` says how many there are. */
const MOST = 1000;

/** Analysis comes with the end of a load, which app.jsx writes into the version. Before that nothing is asked. @param {string} version */
export const isRead = (version) => version.endsWith("done");

/** @param {string} ref @param {string} version @param {Record<string, string>} more @returns {AskedFindings} */
const useAsked = (ref, version, more, wanted = true) =>
  useData(wanted && isRead(version) ? wordedPath(["apps", ref, "findings"], { ...more, limit: MOST, ...paths.thresholds(current().query) }) : null, version);

/** Asked once for the whole page, by the frame. @type {import("preact").Context<{ asked: AskedFindings, version: string }>} */
const OfRun = createContext(/** @type {any} */ (null));

/** @param {{ appRef: string, version: string, children: (asked: AskedFindings) => import("preact").ComponentChildren }} props */
export function FindingsOfRun({ appRef, version, children }) {
  const asked = useAsked(appRef, version, {});
  return <OfRun.Provider value={{ asked, version }}>{children(asked)}</OfRun.Provider>;
}

/** All findings of the run. @param {string} _ref @param {string} _version @returns {AskedFindings} */
export const useFindings = (_ref, _version) => useContext(OfRun).asked;

/** Whether a finding is about a number of the page: see isFound. @returns {(rules: string[], kind: import("../types").SubjectKind, key: string, value?: number) => boolean} */
export function useFound() {
  const findings = useContext(OfRun)?.asked.data?.findings ?? [];
  return (...of) => isFound(findings, ...of);
}

/** Findings about one thing: a stage, a job, a query. @param {string} ref @param {string} version @param {import("../types").SubjectKind} kind @param {string} key @returns {AskedFindings} */
export const useSubjectFindings = (ref, version, kind, key) => useAsked(ref, version, { kind, key });

/** Those about a query: it itself, an operator of its plan, a job or a stage of it. @param {string} ref @param {string} version @param {string} id @returns {AskedFindings} */
export const useQueryFindings = (ref, version, id) => useAsked(ref, version, { sql: id });

export const Later = () => <p class="find-later">{t("find.later")}</p>;

/**
 * Something made of answers of analysis: its four looks, and a fifth, while the log is read.
 * @template T
 * @param {{ from: import("./use-data.js").Asked<T>, version: string, rows?: number, children: (data: T) => import("preact").ComponentChildren }} props
 */
export function Judged({ from, version, rows, children }) {
  if (!isRead(version)) return <Later />;
  if (from.data === undefined && from.error?.status === 409) return <p class="find-later">{t("find.notJudged")}</p>;
  return (
    <Loaded from={from} rows={rows}>
      {children}
    </Loaded>
  );
}

/** Findings that bear on a stage attempt: about it, or with evidence that names it, as a slow host's does. @param {string} ref @param {string} version @param {string} key @returns {AskedFindings} */
export const useStageFindings = (ref, version, key) => useAsked(ref, version, { stage: key });

/** What a page of the reading order says first: its findings, or that nothing was found. @param {{ appRef: string, version: string, page: import("../model/findings.js").PageName, none?: string }} props none: how it says so */
export function PageFindings({ appRef, version, page, none }) {
  const asked = useFindings(appRef, version);
  return (
    <Judged from={asked} version={version} rows={3}>
      {(all) => <FindingList appRef={appRef} findings={ofPage(all.findings, page)} here={page} none={none} />}
    </Judged>
  );
}

/**
 * @param {{ appRef: string, findings: Finding[], title?: string, note?: import("preact").ComponentChildren, tools?: import("preact").ComponentChildren, unfold?: boolean,
 *   rest?: boolean, openFirst?: boolean, none?: string, here?: import("../model/findings.js").PageName }} props
 *   unfold: small ones, too, have rows; of one rule (`rule`, `more`) all have; rest: below, what was checked and does not show; openFirst: where the address opens none, the first is open; none: said where nothing is worth changing; here: the page it is on
 */
export function FindingList({ appRef, findings: given, title, note, tools, unfold = false, rest = false, openFirst = false, none = t(rest ? "find.none" : "find.noneHere"), here = "overview" }) {
  const run = useContext(OfRun);
  const findings = readable(given);
  const wallMs = run.asked.data?.wallMs ?? 0;
  const query = current().query;
  const open = query.get("finding") ?? (openFirst && findings.length ? findingId(findings[0]) : null);
  const inPlace = findings.some((f) => findingId(f) === open);
  const all = useAsked(appRef, run.version, { all: "true" }, (inPlace || rest) && (open !== null || query.has("checked")));
  const everything = all.data?.findings ?? findings;
  const parts = folded(findings, wallMs);
  const whole = unfold || query.has("small") || parts.small.some((f) => findingId(f) === open);
  const shown = whole ? findings : parts.shown;
  const max = Math.max(1, ...findings.map((f) => f.price?.highMs ?? 0));
  const row = (/** @type {Finding} */ f) => (
    <FindingRow key={findingId(f)} appRef={appRef} finding={f} wallMs={wallMs} max={max} open={open === findingId(f)} none={openFirst ? "-" : null} all={everything} here={here} />
  );
  return (
    <Section
      title={title ?? t("findings.title")}
      note={note}
      tools={
        <>
          {tools}
          {rest ? null : <a href={paths.page(appRef, "findings")}>{t("find.toAll")}</a>}
        </>
      }
    >
      {parts.shown.length ? null : (
        <p class="find-none">
          <GradeMark level={0} /> {none}
        </p>
      )}
      {findings.length ? (
        <ul class="find">
          {byRule(shown, (rule, more) => query.get("more") === rule || query.get("rule") === rule || more.some((f) => findingId(f) === open)).map((x) =>
            "more" in x ? query.get("rule") === x.rule ? null : <FoldRow key={x.rule} text={t("find.more", x.more.length, x.name)} open={x.whole} to={hrefWith({ more: x.whole ? null : x.rule })} /> : row(x),
          )}
          {parts.small.length && !unfold ? <SmallRow small={parts.small} wallMs={wallMs} open={whole} /> : null}
        </ul>
      ) : null}
      {rest ? <Unfired from={all} open={query.has("checked")} opened={inPlace ? null : open} row={row} /> : null}
    </Section>
  );
}

/** Opens the finding in place, or closes it. @param {string} id @param {boolean} open @param {string | null} none what the address says where none is open */
const toggle = (id, open, none) => patchQuery({ finding: open ? none : id }, { replace: true });

/** @param {{ appRef: string, finding: Finding, wallMs: number, max: number, open: boolean, none: string | null, all: Finding[], here: import("../model/findings.js").PageName }} props max: ms at the right end of the bands */
function FindingRow({ appRef, finding: f, wallMs, max, open, none, all, here }) {
  const id = findingId(f);
  const price = f.price && (f.price.ms > 0 || f.price.highMs > 0) ? f.price : null;
  // What is about the whole run has its numbers on a page of its own.
  const page = f.subject.kind === "app" ? pageOf(f) : "overview";
  const shows = level(f) > 0 && !f.mute && !f.suppressedBy;
  const row = useRef(/** @type {HTMLButtonElement | null} */ (null));
  // A link, or the search, leads to it wherever it is on the page; one who opened it by hand sees it already.
  useEffect(() => {
    if (open && current().query.get("finding") === id && cameByLink()) row.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  return (
    <li class={"find-item" + (open ? " is-open" : "")} data-sev={level(f)}>
      <div class="find-line">
        <button ref={row} type="button" class="find-row" aria-expanded={open} data-finding={id} onClick={() => toggle(id, open, none)}>
          <span class="find-price">
            {price ? seconds(price.ms) : <span class="dim3">{t("find.unpriced")}</span>}
            {price ? <small>{price.weak ? t("find.atMost", seconds(price.highMs)) : wallMs ? t("fact.ofRun", percent(price.ms / wallMs)) : null}</small> : null}
          </span>
          <span class="find-scale">
            {shows ? <GradeMark level={level(f)} word /> : <span class="chip">{t(f.mute ? "find.muted" : f.suppressedBy ? "find.held" : "find.quiet")}</span>}
            {price ? (
              <span class="find-band" title={t("find.range", seconds(price.lowMs), seconds(price.highMs))}>
                <i style={{ "--v": price.ms / max }} />
                {price.highMs > price.lowMs ? <u style={{ "--lo": price.lowMs / max, "--hi": price.highMs / max }} /> : null}
              </span>
            ) : null}
          </span>
          <span class="find-say">
            <span class="find-title">{f.name}</span>
            <span class="find-text">{f.sentence}</span>
          </span>
        </button>
        <span class="find-where">
          {page === "overview" || page === here ? <Place appRef={appRef} of={f.subject} /> : <a href={page === "compare" ? paths.compare(appRef) : paths.page(appRef, page)}>{t(`nav.${page}`)}</a>}
        </span>
      </div>
      {open ? <FindingBody appRef={appRef} finding={f} all={all} /> : null}
    </li>
  );
}

/** Several in one row, counted. @param {{ text: string, names?: string, open: boolean, to: string }} props */
const FoldRow = ({ text, names, open, to }) => (
  <li class="find-item">
    <div class="find-line">
      <a class="find-fold" href={to} aria-expanded={open}>
        {open ? t("find.fold") : text}
        {open || !names ? null : <span class="dim3">{names}</span>}
      </a>
    </div>
  </li>
);

/** @param {{ small: Finding[], wallMs: number, open: boolean }} props */
const SmallRow = ({ small, wallMs, open }) => (
  <FoldRow
    text={t("find.smaller", small.length, seconds(wallMs / 100))}
    names={[...new Set(small.map((f) => f.name))].join(t("list.comma"))}
    open={open}
    to={hrefWith({ small: open ? null : 1 })}
  />
);

/** So many findings are named; more are counted. */
const NAMED_TOGETHER = 3;

/** What the findings that save most would save together, and which they are: savings overlap and are never added up. Of a run that failed nothing: first it has to work. @param {{ app: import("../types").App, of: Findings }} props */
export function JointSaving({ app, of }) {
  if (of.joint.length < 2 || app.outcome === "failed") return null;
  const best = of.joint[of.joint.length - 1].savingMs;
  const enough = of.joint.find((j) => j.savingMs >= best * 0.8) ?? of.joint[of.joint.length - 1];
  const together = of.joint.slice(0, enough.k).flatMap((j) => of.findings.find((f) => f.rule === j.rule && f.subject.key === j.key) ?? []);
  if (together.length < 2) return null;
  const sum = together.reduce((s, f) => s + (f.price?.ms ?? 0), 0);
  const what = together.length > NAMED_TOGETHER ? t("find.dearest", together.length) : together.map((f) => (f.subject.kind === "app" ? f.name : t("find.nameOf", f.name, f.subject.name))).join(t("list.comma"));
  return <>{t(sum > enough.savingMs * 1.01 ? "find.joint" : "find.jointSum", what, seconds(enough.savingMs), percent(enough.savingMs / of.wallMs), seconds(sum))}</>;
}

/** "12 findings, 3 to act on". @param {Finding[]} findings */
export const countText = (findings) => t("find.count", findings.length, findings.filter((f) => level(f) >= 3).length);

