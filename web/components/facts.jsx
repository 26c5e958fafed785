// SPDX-License-Identifier: Apache-2.0
import { bytes, duration, exactBytes, exactMs, percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";

/** @typedef {[label: string, value: import("preact").ComponentChildren, note?: import("preact").ComponentChildren, title?: string] | null} Fact null: left out */

/** @param {import("../lib/i18n.js").Key} label @param {number | null} ms @param {import("preact").ComponentChildren} [note] @returns {Fact} */
export const durationFact = (label, ms, note) => [t(label), duration(ms), note, exactMs(ms)];

/** Duration of a part of a run, and its share of it. @param {number | null} ms @param {number | null} runMs @returns {Fact} */
export const shareFact = (ms, runMs) => durationFact("col.duration", ms, ms !== null && runMs ? t("fact.ofRun", percent(ms / runMs)) : null);

/** Left out where there is nothing. @param {import("../lib/i18n.js").Key} label @param {number | null} value @param {number | null} [records] @returns {Fact} */
export const bytesFact = (label, value, records) =>
  value || records ? [t(label), bytes(value), records ? t("fact.records", records) : null, exactBytes(value)] : null;

/** Key numbers in a strip. @param {{ items: Fact[] }} props */
export function Facts({ items }) {
  return (
    <dl class="facts">
      {items.map((f) =>
        f === null ? null : (
          <div key={f[0]} title={f[3]}>
            <dt>{f[0]}</dt>
            <dd>
              {f[1]}
              {f[2] ? <small>{f[2]}</small> : null}
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/**
 * Heading of a section with a note and tools.
 * @param {{ title: string, note?: import("preact").ComponentChildren, tools?: import("preact").ComponentChildren, children: import("preact").ComponentChildren, id?:
 * string }} props
 */
export function Section({ title, note, tools, children, id }) {
  return (
    <section class="sec" id={id}>
      <div class="sec-head">
        <h2>{title}</h2>
        <span class="sec-note">{note}</span>
        {tools ? <span class="sec-tools no-print">{tools}</span> : null}
      </div>
      {children}
    </section>
  );
}
