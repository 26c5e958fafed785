// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { apiPath } from "../api.js";
import { CopyButton } from "../components/copy.jsx";
import { Section } from "../components/facts.jsx";
import { Fold, isUnfolded } from "../components/fold.jsx";
import { Loaded } from "../components/states.jsx";
import { useData } from "../components/use-data.js";
import { bytes, count } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { current, patchQuery } from "../lib/router.js";
import { wantedVersion } from "./query-plan.jsx";

/** @typedef {import("../types").Sql} Sql */

/** The plan as Spark printed it, of the version that is shown; asked for when it is opened. @param {{ app: import("../types").App, query: Sql, version: string }} props */
export function PlanText({ app, query: q, version }) {
  const plan = wantedVersion(q);
  if (!plan || plan.textBytes === null) return null;
  return (
    <Section title={t("query.text")} note={t("query.textNote", bytes(plan.textBytes))}>
      <Fold name="text" title={t("query.textShow")}>
        {isUnfolded("text") ? <Text path={apiPath(["apps", app.ref, "sql", q.id, "plans", plan.version])} version={version} /> : null}
      </Fold>
    </Section>
  );
}

/** Matches are marked up to so many; the count is of all. */
const MARKED = 500;

/** @param {{ path: string, version: string }} props */
function Text({ path, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").SqlPlan>} */ (useData(path, version));
  return <Loaded from={asked}>{(plan) => <Searched text={plan.text ?? ""} />}</Loaded>;
}

/** What is looked for is `intext` in the address, which of the matches `match`. @param {{ text: string }} props */
function Searched({ text }) {
  const q = current().query;
  const find = q.get("intext") ?? "";
  const at = Math.max(0, Math.round(Number(q.get("match"))) || 0);
  const here = useRef(/** @type {HTMLElement | null} */ (null));
  const places = find ? indexes(text, find) : [];
  useEffect(() => here.current?.scrollIntoView({ block: "nearest" }), [at, find]);
  /** @type {import("preact").ComponentChildren[]} */
  const parts = [];
  let end = 0;
  places.slice(0, MARKED).forEach((p, i) => {
    parts.push(text.slice(end, p), <mark ref={i === at ? here : undefined} class={i === at ? "is-on" : undefined}>{text.slice(p, p + find.length)}</mark>);
    end = p + find.length;
  });
  parts.push(text.slice(end));
  const shown = Math.min(places.length, MARKED);
  return (
    <>
      <div class="tbl-tools no-print">
        <input
          type="search"
          class="filter-text"
          placeholder={t("query.textFind")}
          aria-label={t("query.textFind")}
          value={find}
          onInput={(e) => patchQuery({ intext: e.currentTarget.value, match: null }, { replace: true })}
          onKeyDown={(e) => {
            if (e.key === "Enter" && shown) patchQuery({ match: (at + (e.shiftKey ? shown - 1 : 1)) % shown || null }, { replace: true });
          }}
        />
        <span class="dim small" role="status">
          {find ? t("plan.found", shown ? at + 1 : 0, count(places.length)) : ""}
        </span>
        <CopyButton label={t("copy.code")} text={() => text} />
      </div>
      <pre class="text-block is-plan" tabIndex={0}>
        {parts}
      </pre>
    </>
  );
}

/** Where a text is in another, capitals aside. @param {string} text @param {string} find */
function indexes(text, find) {
  const [low, what] = [text.toLowerCase(), find.toLowerCase()];
  const out = [];
  for (let at = low.indexOf(what); at >= 0; at = low.indexOf(what, at + what.length)) out.push(at);
  return out;
}
