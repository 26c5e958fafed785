// SPDX-License-Identifier: Apache-2.0
import { DASH, percent, quantity } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { hrefWith } from "../lib/router.js";
import { findingId, isAny, relations, unfired } from "../model/findings.js";
import { placeName } from "./place.jsx";
import { Loaded } from "./states.jsx";

/** @typedef {import("../types").Finding} Finding */

/**
 * What was checked and does not show: rules that did not fire, with how near they came; findings that another one explains; rules that could not be judged, and why. Asked when it is opened.
 * @param {{ from: import("./use-data.js").Asked<import("../types").Findings>, open: boolean, opened: string | null, row: (f: Finding) => import("preact").ComponentChildren }} props
 *   opened: id of one of them that is open
 */
export function Unfired({ from, open, opened, row }) {
  const wanted = opened === null ? undefined : from.data?.findings.find((f) => findingId(f) === opened);
  return (
    <>
      {wanted ? <ul class="find">{row(wanted)}</ul> : null}
      <p class="find-checked no-print">
        <a href={hrefWith({ checked: open ? null : 1 })} aria-expanded={open}>
          {t(open ? "find.hideChecked" : "find.showChecked")}
        </a>
      </p>
      {open ? <Loaded from={from}>{(all) => <Lists of={all} />}</Loaded> : null}
    </>
  );
}

/** @param {{ of: import("../types").Findings }} props */
function Lists({ of }) {
  const { quiet, held, muted } = unfired(of.findings);
  return (
    <>
      {of.total > of.findings.length ? <p class="note">{t("find.cut", of.findings.length, of.total)}</p> : null}
      <List title={t("find.quietTitle", quiet.length)} rows={quiet} last={t("find.margin")} text={(f) => (f.margin === null ? DASH : percent(f.margin))} />
      <List title={t("find.heldTitle", held.length)} rows={held} last={t("find.explainedBy")} text={(f) => relations(f, of.findings).by?.name ?? f.suppressedBy ?? DASH} />
      <Muted rows={muted} />
    </>
  );
}

/** Rules by the reason why they could not be judged. @param {{ rows: Finding[] }} props */
function Muted({ rows }) {
  /** @type {Map<string, Finding[]>} */
  const reasons = new Map();
  for (const f of rows) reasons.set(f.muteText ?? DASH, [...(reasons.get(f.muteText ?? DASH) ?? []), f]);
  if (!rows.length) return null;
  return (
    <div class="find-rest">
      <h3>{t("find.mutedTitle", rows.length)}</h3>
      <dl>
        {[...reasons].map(([why, of]) => (
          <div key={why}>
            <dt>{why}</dt>
            <dd>
              {of.map((f, i) => [
                i ? ", " : "",
                <a key={findingId(f)} href={hrefWith({ finding: findingId(f) })}>
                  {f.name}
                </a>,
              ])}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The step that would be reached first. @param {Finding} f */
function firstStep(f) {
  const s = f.ladder.steps.find((x) => x !== null) ?? null;
  if (s === null) return DASH;
  return isAny(s) ? "> 0" : `${f.ladder.down ? "≤" : "≥"} ${quantity(s, f.measure.unit)}`;
}

/** @param {{ title: string, rows: Finding[], last: string, text: (f: Finding) => string }} props */
function List({ title, rows, last, text }) {
  if (!rows.length) return null;
  return (
    <div class="tbl-box find-rest">
      <h3>{title}</h3>
      <div class="tbl-wrap find-table" tabIndex={0} role="region" aria-label={title}>
        <table class="tbl">
          <thead>
            <tr>
              <th scope="col">{t("find.rule")}</th>
              <th scope="col">{t("find.where")}</th>
              <th scope="col" class="num">
                {t("find.nearest")}
              </th>
              <th scope="col" class="num">
                {t("find.firesAt")}
              </th>
              <th scope="col">{last}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((f) => (
              <tr key={findingId(f)}>
                <td>
                  <a href={hrefWith({ finding: findingId(f) })}>{f.name}</a>
                </td>
                <td class="dim">{f.mute === "no_subject" ? "" : placeName(f.subject)}</td>
                <td class="num">{quantity(f.measure.value, f.measure.unit)}</td>
                <td class="num dim">{firstStep(f)}</td>
                <td>{text(f)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

