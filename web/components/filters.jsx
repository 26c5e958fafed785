// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { t, word } from "../lib/i18n.js";
import { current, patchQuery } from "../lib/router.js";

/** The line of filters above a table. @param {{ children: import("preact").ComponentChildren }} props */
export const Tools = ({ children }) => <div class="tbl-tools no-print">{children}</div>;

/**
 * Text filter that lives in the URL under `name`; `/` goes here. Typing replaces, so Back leaves the page and not a letter.
 * A filter begins at the first page of its list.
 * @param {{ name: string, label: string }} props
 */
export function Search({ name, label }) {
  const fromUrl = current().query.get(name) ?? "";
  const [text, setText] = useState(fromUrl);
  const timer = useRef(0);
  const sent = useRef(fromUrl);
  useEffect(() => {
    if (fromUrl !== sent.current) {
      // Back, or a link that clears the filters
      sent.current = fromUrl;
      setText(fromUrl);
    }
  }, [fromUrl]);
  useEffect(() => () => clearTimeout(timer.current), []);
  /** @param {string} value */
  const put = (value) => {
    sent.current = value;
    patchQuery({ [name]: value, page: null }, { replace: true });
  };
  return (
    <input
      type="search"
      class="filter-text"
      data-search
      placeholder={label}
      aria-label={label}
      value={text}
      onInput={(e) => {
        const value = e.currentTarget.value;
        setText(value);
        clearTimeout(timer.current);
        timer.current = window.setTimeout(() => put(value.trim()), 250);
      }}
      onKeyDown={(e) => {
        if (e.key === "Enter") {
          clearTimeout(timer.current);
          put(e.currentTarget.value.trim());
        }
      }}
    />
  );
}

/** Choice that lives in the URL. @param {{ name: string, label: string, any: string, options: [string, string][] }} props any: the text of no choice */
export function Choice({ name, label, any, options }) {
  const value = current().query.get(name) ?? "";
  return (
    <select class="filter-choice" aria-label={label} value={value} onChange={(e) => patchQuery({ [name]: e.currentTarget.value, page: null })}>
      <option value="">{any}</option>
      {options.map(([v, text]) => (
        <option key={v} value={v}>
          {text}
        </option>
      ))}
      {value === "" || options.some(([v]) => v === value) ? null : <option value={value}>{value}</option>}
    </select>
  );
}

/** Options from an enumeration of the API. @param {string} family of texts @param {string[]} values @returns {[string, string][]} */
export const words = (family, values) => values.map((v) => [v, word(family, v)]);

/** Runs or stages by their worst mark. */
export const GradeChoice = () => (
  <Choice
    name="grade"
    label={t("col.severity")}
    any={t("apps.anySeverity")}
    options={[
      ["1", t("apps.fromNote")],
      ["2", t("apps.fromLow")],
      ["3", t("apps.fromModerate")],
      ["4", t("apps.severeOnly")],
    ]}
  />
);

/** A filter in force that is not a choice, with a way out. @param {{ name?: string, names?: string[], text: string }} props names: of one that has several keys in the address */
export function FilterChip({ name = "", names = [name], text }) {
  return (
    <span class="chip is-filter">
      {text}{" "}
      <button type="button" aria-label={t("filter.remove")} title={t("filter.remove")} onClick={() => patchQuery(Object.fromEntries([...names, "page"].map((key) => [key, null])))}>
        ×
      </button>
    </span>
  );
}
