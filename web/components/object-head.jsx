// SPDX-License-Identifier: Apache-2.0
import { offset, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { Chip } from "./chips.jsx";
import { Section } from "./facts.jsx";

/**
 * Head of the page of one thing in a run: which, how did it end, what is it, when.
 * @param {{ title: import("preact").ComponentChildren, runStartMs: number | null, query?: string, children?: import("preact").ComponentChildren,
 *   of: { status: string, description: string | null, name: string | null, submissionMs: number | null, sqlExecutionId: number | null } }} props
 *   query: address of the query that it ran for; children: more lines of small print
 */
export function ObjectHead({ title, runStartMs, of, query, children }) {
  return (
    <div class="head is-sub">
      <div class="head-main">
        <div class="head-title">
          <h2 class="head-name">{title}</h2>
          <Chip of="status" state={of.status} />
        </div>
        <div class="head-meta">
          {[of.description, of.name].map((text) => (text ? <MetaText text={text} /> : null))}
          {of.submissionMs !== null ? (
            <span>
              {time(of.submissionMs)} {zoneName(of.submissionMs)}
              {runStartMs !== null ? ` (${offset(of.submissionMs - runStartMs)})` : ""}
            </span>
          ) : null}
          {of.sqlExecutionId !== null ? <a href={query}>{t("job.query", of.sqlExecutionId)}</a> : null}
          {children}
        </div>
      </div>
    </div>
  );
}

/** A line of small print that may be long. @param {{ text: string }} props */
export const MetaText = ({ text }) => (
  <span class="clip" title={text}>
    {text}
  </span>
);

/** Long text from a log, under its heading; it scrolls, so the keyboard must get into it. @param {{ title: string, note?: string, text: string | null }} props */
export const TextBlock = ({ title, note, text }) =>
  text ? (
    <Section title={title} note={note}>
      <pre class="text-block" tabIndex={0} role="region" aria-label={title}>
        {text}
      </pre>
    </Section>
  ) : null;

/** Why it failed, in full. @param {{ text: string | null }} props */
export const FailureText = ({ text }) => <TextBlock title={t("col.failure")} text={text} />;
