// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { current, patchQuery } from "../lib/router.js";

/**
 * Text filter that lives in the URL under `name`; `/` goes here. Typing replaces, so Back leaves the page and not a letter.
 * @param {{ name: string, label: string, reset?: string }} props reset: page key to clear
 */
export function Search({ name, label, reset }) {
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
    patchQuery({ [name]: value, ...(reset ? { [reset]: null } : {}) }, { replace: true });
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

/** Choice that lives in the URL. @param {{ name: string, label: string, options: [string, string][], reset?: string }} props first option: "" and its text */
export function Choice({ name, label, options, reset }) {
  const value = current().query.get(name) ?? "";
  return (
    <select
      class="filter-choice"
      aria-label={label}
      value={value}
      onChange={(e) => patchQuery({ [name]: e.currentTarget.value, ...(reset ? { [reset]: null } : {}) })}
    >
      {options.map(([v, text]) => (
        <option key={v} value={v}>
          {text}
        </option>
      ))}
      {options.some(([v]) => v === value) ? null : <option value={value}>{value}</option>}
    </select>
  );
}

/** A filter in force that is not a choice, with a way out. @param {{ name: string, text: string, remove: string, reset?: string }} props */
export function FilterChip({ name, text, remove, reset }) {
  return (
    <span class="chip is-filter">
      {text}{" "}
      <button type="button" aria-label={remove} title={remove} onClick={() => patchQuery({ [name]: null, ...(reset ? { [reset]: null } : {}) })}>
        ×
      </button>
    </span>
  );
}
