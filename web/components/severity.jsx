// SPDX-License-Identifier: Apache-2.0
import { t, word } from "../lib/i18n.js";
import { GRADES } from "../model/findings.js";

/** Shape is the level: ring, dot, triangle, diamond, octagon with a bar. It reads in grey, in print and aloud. @type {Record<number, () => import("preact").ComponentChildren>} */
const SHAPES = {
  0: () => <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="1.6" />,
  1: () => <circle cx="6" cy="6" r="3.2" fill="currentColor" />,
  2: () => <path d="M6 1.6 11 10.4H1z" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linejoin="round" />,
  3: () => <path d="M6 .6 11.4 6 6 11.4.6 6z" fill="currentColor" />,
  4: () => (
    <>
      <path d="M3.7.5h4.6l3.2 3.2v4.6l-3.2 3.2H3.7L.5 8.3V3.7z" fill="currentColor" />
      <path class="sev-bang" d="M6 3v3.6M6 8.2v1" stroke-width="1.5" />
    </>
  ),
};

/** The mark of a finding, or of the worst of several: the same shapes, the words of grades. @param {{ level: number, word?: boolean, label?: string }} props */
export const GradeMark = ({ level, word: said, label }) => <Severity level={level} word={said} label={label ?? word("grade", GRADES[level])} />;

/** @param {{ level: number, word?: boolean, label?: string }} props word: the word stands beside the mark; label: other words than the level's */
export function Severity({ level, word: said, label }) {
  const text = label ?? t(/** @type {import("../lib/i18n.js").Key} */ (`sev.${level}`));
  return (
    <span class="sev" data-sev={level} title={said ? undefined : text}>
      <svg
        width="12"
        height="12"
        viewBox="0 0 12 12"
        role={said ? undefined : "img"}
        aria-label={said ? undefined : text}
        aria-hidden={said ? "true" : undefined}
      >
        {SHAPES[level]?.()}
      </svg>
      {said ? <span>{text}</span> : null}
    </span>
  );
}
