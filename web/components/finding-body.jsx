// SPDX-License-Identifier: Apache-2.0
/** One finding, opened: what to do, the evidence, how the price and the grade came about, and the thresholds to move. */
import { DASH, quantity, seconds, times } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as markdown from "../lib/markdown.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith, patchQuery } from "../lib/router.js";
import { factorOf, findingId, isAny, movedSteps, passed, relations, stepsOf, taskQuery, thresholdKey } from "../model/findings.js";
import { CopyButton } from "./copy.jsx";
import { Fold } from "./fold.jsx";
import { Place, placeName } from "./place.jsx";
import { GradeMark } from "./severity.jsx";
import { TrackButton } from "./tracked.jsx";

/** @typedef {import("../types").Finding} Finding */

/** @param {{ appRef: string, finding: Finding, all: Finding[] }} props all: to name what explains it, and what it explains */
export function FindingBody({ appRef, finding: f, all }) {
  const link = () => location.origin + hrefWith({ finding: findingId(f) });
  return (
    <div class="find-body">
      <div class="find-do">
        <h3>{t("find.do")}</h3>
        <p>{f.advice}</p>
        {f.fixes.map((fix, i) => (
          <Fold class="find-fix" key={fix.id} name={fix.id} usual={i === 0} title={fix.title}>
            <pre>{fix.code}</pre>
            <CopyButton label={t("copy.code")} text={() => fix.code} />
          </Fold>
        ))}
      </div>
      <div class="find-why">
        <h3>{t("find.evidence")}</h3>
        <Evidence appRef={appRef} finding={f} />
        {f.evidence.filter && f.subject.kind === "stage" ? (
          <p>
            <a href={paths.stageKey(appRef, f.subject.key, taskQuery(f.evidence.filter))}>{t("find.tasks")}</a>
          </p>
        ) : null}
        {f.evidence.formula ? (
          <p class="find-formula">
            <code>{f.evidence.formula}</code>
          </p>
        ) : null}
        {f.price ? (
          <p>
            {t("find.priced", word("scenario", f.price.scenario), seconds(f.price.ms), seconds(f.price.lowMs), seconds(f.price.highMs))}
            {f.price.weak ? t("say.gap") + t("find.weak") : null}
          </p>
        ) : null}
        <p>{t("find.confidence", word("confidence", f.confidence))}</p>
        <Relations finding={f} all={all} />
        {f.ladder.steps.some((s) => s !== null) && f.measure.value !== null ? <Thresholds finding={f} /> : null}
        <p class="find-actions no-print">
          <CopyButton label={t("copy.link")} text={link} />
          {f.fixes.length ? <TrackButton appRef={appRef} finding={f} /> : null}
          <CopyButton label={t("share.copyFinding")} text={() => findingMarkdown(f, link())} />
        </p>
      </div>
    </div>
  );
}

/** For a ticket: what, where, what it costs, what to do, the first cure. @param {Finding} f @param {string} link */
function findingMarkdown(f, link) {
  const [fix] = f.fixes;
  return [
    `**${markdown.link(f.name, link)}** (${markdown.escape(placeName(f.subject))}${f.price ? `, ${seconds(f.price.ms)}` : ""})`,
    markdown.escape(f.sentence),
    markdown.escape(f.advice),
    ...(f.evidence.formula ? [markdown.code(f.evidence.formula)] : []),
    ...(fix ? [`${markdown.escape(fix.title)}:`, markdown.block(fix.code, fix.language === "conf" ? "properties" : fix.language)] : []),
  ].join("\n\n");
}

/** The rows behind it, a table for each kind of thing: stages are measured by other numbers than their tasks. @param {{ appRef: string, finding: Finding }} props */
function Evidence({ appRef, finding: f }) {
  const kinds = [...new Set(f.evidence.rows.map((row) => row.kind))];
  return (
    <div class="tbl-wrap find-table" tabIndex={0} role="region" aria-label={t("find.evidence")}>
      {kinds.map((kind) => (
        <EvidenceTable key={kind} appRef={appRef} finding={f} rows={f.evidence.rows.filter((row) => row.kind === kind)} />
      ))}
    </div>
  );
}

/** A number that no row of the table has makes no column. @param {{ appRef: string, finding: Finding, rows: import("../types").EvidenceRow[] }} props */
function EvidenceTable({ appRef, finding: f, rows }) {
  /** @type {Map<string, string>} */
  const heads = new Map();
  for (const row of rows) for (const c of row.cells) if (c.value !== null) heads.set(c.name, c.label);
  return (
    <table class="tbl">
      <thead>
        <tr>
          <th scope="col">{t("find.what")}</th>
          {[...heads].map(([name, label]) => (
            <th key={name} scope="col" class="num">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i} class={row.role === "culprit" ? undefined : "is-peer"}>
            <th scope="row">
              <Place appRef={appRef} of={row} within={f.subject} tasks={taskQuery(f.evidence.filter)} />
              {row.role === "culprit" ? null : <small> {word("find.role", row.role)}</small>}
            </th>
            {[...heads.keys()].map((name) => {
              const cell = row.cells.find((c) => c.name === name);
              return (
                <td key={name} class="num">
                  {cell === undefined || cell.value === null ? <span class="dim3">{cell ? DASH : ""}</span> : quantity(cell.value, cell.unit)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** @param {{ finding: Finding, all: Finding[] }} props */
function Relations({ finding: f, all }) {
  const { by, of } = relations(f, all);
  const link = (/** @type {Finding} */ x) => (
    <a key={findingId(x)} href={hrefWith({ finding: findingId(x) })}>
      {x.name} ({placeName(x.subject)})
    </a>
  );
  return (
    <>
      {f.muteText ? <p>{t("find.mutedBecause", f.muteText)}</p> : null}
      {by ? (
        <p>
          {t("find.heldBy")} {link(by)}
        </p>
      ) : f.suppressedBy ? (
        <p>
          {t("find.heldBy")} <code>{f.suppressedBy}</code>
        </p>
      ) : null}
      {of.length ? (
        <p>
          {t("find.holds")} {of.map((x, i) => [i ? t("list.comma") : "", link(x)])}
        </p>
      ) : null}
    </>
  );
}

/** The slider moves all steps of a rule by one factor; so far either way. */
const FACTOR = 10;
const STEPS = 40;

/** Names of tools whose thresholds these are; what they are to people is their name. @type {Record<string, string>} */
const TOOLS = {
  DF: "DataFlint",
  SL: "Sparklens",
  DE: "Dr. Elephant",
  RT: "RAPIDS tools",
  MCP: "Spark History MCP",
  YQ: "yaooqinn advisor",
  SA: "Spark Advisor",
  CP: "Compass",
  ST: "spark-tui",
  MS: "Microsoft",
  DB: "Databricks",
  SS: "SparkScope",
  CZ: "Cazpian",
  JM: "Joom",
  CO: "Cloudera",
};

/** @param {string | null} mark */
const sourceText = (mark) => (mark === null || mark === "own" ? t("find.source.own") : /^S\d$/.test(mark) ? t("find.source.articles") : (TOOLS[mark] ?? mark));

/** @param {{ finding: Finding }} props */
function Thresholds({ finding: f }) {
  const key = thresholdKey(f.rule);
  const usual = f.ladder.steps;
  const steps = stepsOf(current().query.get(key), usual);
  const factor = factorOf(steps, usual);
  const place = Math.round((Math.log(factor) / Math.log(FACTOR)) * STEPS);
  const reached = passed(f.ladder, steps, f.measure.value);
  return (
    <div class="find-steps">
      <h3>{t("find.thresholds")}</h3>
      <ul>
        {steps.map((s, i) =>
          s === null ? null : (
            <li key={i} class={reached === i + 1 ? "is-on" : undefined}>
              <GradeMark level={i + 1} word />
              <span class="num">{isAny(s) ? "> 0" : `${f.ladder.down ? "≤" : "≥"} ${quantity(s, f.measure.unit)}`}</span>
            </li>
          ),
        )}
        <li>
          <span>{t("find.measured")}</span>
          <b class="num">{quantity(f.measure.value, f.measure.unit)}</b>
        </li>
      </ul>
      <label class="no-print">
        {t("find.move")}
        <input
          type="range"
          min={-STEPS}
          max={STEPS}
          step="1"
          value={place}
          aria-valuetext={times(factor)}
          onInput={(e) => patchQuery({ [key]: movedSteps(usual, FACTOR ** (Number(e.currentTarget.value) / STEPS)), finding: findingId(f) }, { replace: true })}
        />
        <output class="num">{times(factor)}</output>
        <button type="button" class="btn is-small" disabled={place === 0} onClick={() => patchQuery({ [key]: null }, { replace: true })}>
          {t("find.reset")}
        </button>
      </label>
      <p class="dim3">
        {t("find.source", sourceText(f.evidence.source))}
        {f.ladder.withPrice ? t("say.gap") + t("find.withPrice") : null}
      </p>
    </div>
  );
}

