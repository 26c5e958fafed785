// SPDX-License-Identifier: Apache-2.0
/** What the list of applications is filtered by. All of it lives in the URL; what does not stand in the line stands behind a button, and as a chip while it is in force. */
import { wordedPath } from "../api.js";
import { count, duration, fromTimeField, timeField, zoned } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import { current, patchQuery } from "../lib/router.js";
import { Popover } from "./column-choice.jsx";
import { Choice, FilterChip, words } from "./filters.jsx";
import { useData } from "./use-data.js";

/** @typedef {import("../types").Facet} Facet */

/** Those behind the button. */
const FURTHER = ["state", "data", "rule", "user", "queue", "place", "from", "to", "minDurationMs", "job", "complete", "flags"];

/** @param {Facet[]} facets @returns {[string, string][]} */
const choices = (facets) => facets.map((f) => [f.value, `${f.name ?? f.value} (${count(f.runCount)})`]);

/** The button with the panel. @param {{ version: number }} props */
export function FurtherFilters({ version }) {
  const query = current().query;
  const inForce = FURTHER.filter((name) => query.has(name)).length;
  return (
    <Popover label={inForce ? t("apps.filtersOn", inForce) : t("apps.filters")} class="further" button="btn">
      <Panel version={version} />
    </Popover>
  );
}

/** What there is to choose from is asked for when it is opened. @param {{ version: number }} props */
function Panel({ version }) {
  const asked = /** @type {import("./use-data.js").Asked<import("../types").Facets>} */ (useData(wordedPath(["facets"]), version));
  const facets = asked.data;
  return (
    <div class="further-rows" role="group" aria-label={t("apps.filters")}>
      <Labelled text={t("col.state")}>
        <Choice name="state" label={t("col.state")} any={t("apps.anyState")} options={words("state", ["loaded", "partial", "loading", "waiting", "listed", "failed", "gone", "skipped"])} />
      </Labelled>
      <Labelled text={t("apps.data")}>
        <Choice name="data" label={t("apps.data")} any={t("apps.anyData")} options={words("apps.data", ["damaged", "incomplete"])} />
      </Labelled>
      <Labelled text={t("apps.rule")}>
        <Choice name="rule" label={t("apps.rule")} any={t("apps.anyRule")} options={choices(facets?.rules ?? [])} />
      </Labelled>
      <Labelled text={t("apps.atLeast")}>
        <Choice
          name="minDurationMs"
          label={t("apps.atLeast")}
          any={t("apps.anyDuration")}
          options={[60_000, 600_000, 3_600_000].map((ms) => [String(ms), t("apps.longer", duration(ms))])}
        />
      </Labelled>
      <Labelled text={t("apps.from")}>
        <Moment name="from" />
      </Labelled>
      <Labelled text={t("apps.to")}>
        <Moment name="to" />
      </Labelled>
      <Labelled text={t("col.user")}>
        <Named name="user" label={t("col.user")} facets={facets?.users ?? []} />
      </Labelled>
      <Labelled text={t("apps.queue")}>
        <Named name="queue" label={t("apps.queue")} facets={facets?.queues ?? []} />
      </Labelled>
      {facets && (facets.places.length > 1 || current().query.has("place")) ? (
        <Labelled text={t("apps.place")}>
          <Choice name="place" label={t("apps.place")} any={t("apps.anyPlace")} options={choices(facets.places)} />
        </Labelled>
      ) : null}
    </div>
  );
}

/** @param {{ text: string, children: import("preact").ComponentChildren }} props */
const Labelled = ({ text, children }) => (
  <div class="further-row">
    <span aria-hidden="true">{text}</span>
    {children}
  </div>
);

/** A name, exactly, with the most frequent ones offered. @param {{ name: string, label: string, facets: Facet[] }} props */
function Named({ name, label, facets }) {
  return (
    <>
      <input
        type="text"
        class="filter-text"
        list={`further-${name}`}
        aria-label={label}
        value={current().query.get(name) ?? ""}
        onChange={(e) => patchQuery({ [name]: e.currentTarget.value.trim(), page: null })}
      />
      <datalist id={`further-${name}`}>
        {facets.map((f) => (
          <option key={f.value} value={f.value}>
            {count(f.runCount)}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** A number from the URL; junk there is none. @param {string} name */
function numberOf(name) {
  const text = current().query.get(name);
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

/** @param {{ name: "from" | "to" }} props */
const Moment = ({ name }) => (
  <input
    type="datetime-local"
    class="filter-text"
    aria-label={t(`apps.${name}`)}
    value={timeField(numberOf(name))}
    onChange={(e) => patchQuery({ [name]: fromTimeField(e.currentTarget.value), page: null })}
  />
);

/** What is in force of those behind the button. @param {{ rows: import("../types").AppItem[] | undefined, version: number }} props */
export function FilterChips({ rows, version }) {
  const query = current().query;
  // Rules have names that only the server knows.
  const asked = /** @type {import("./use-data.js").Asked<import("../types").Facets>} */ (useData(query.has("rule") ? wordedPath(["facets"]) : null, version));
  /** @type {[string, string][]} */
  const chips = [];
  for (const name of FURTHER) {
    const value = query.get(name);
    if (value !== null) chips.push([name, chipText(name, value, rows, asked.data)]);
  }
  if (!chips.length) return null;
  return (
    <div class="tbl-tools no-print">
      {chips.map(([name, text]) => (
        <FilterChip key={name} name={name} text={text} />
      ))}
    </div>
  );
}

/** @param {string} name @param {string} value @param {import("../types").AppItem[] | undefined} rows @param {import("../types").Facets | undefined} facets */
function chipText(name, value, rows, facets) {
  if (name === "state") return word("state", value);
  if (name === "data") return word("apps.data", value);
  if (name === "complete") return t(value === "true" ? "apps.ended" : "apps.notEnded");
  if (name === "minDurationMs") return t("apps.longer", duration(numberOf(name)));
  if (name === "from" || name === "to") return `${t(`apps.${name}`)} ${zoned(numberOf(name), false)}`;
  if (name === "job") return t("apps.sameJob", rows?.find((a) => a.key === value)?.name ?? rows?.[0]?.name ?? value);
  if (name === "rule") return `${t("apps.rule")}: ${facets?.rules.find((f) => f.value === value)?.name ?? value}`;
  return `${word("apps.chip", name)}: ${value}`;
}
