// SPDX-License-Identifier: Apache-2.0
/** Two runs side by side: the bridge from one wall time to the other, and how numbers of both stand to each other. */

/** The difference is under this share of the run: then an axis from zero would hide it, and the chart says that its axis is cut. */
const CUT_BELOW = 0.1;
/** Room of a cut axis, as a share of what is shown. */
const MARGIN = 0.08;

/**
 * @template {{ ms: number }} P
 * @typedef {{ part: P, fromMs: number, toMs: number }} Step
 */

/**
 * Each part begins where the one before it ended; the last one ends at the run's wall time, because the parts sum to the difference.
 * @template {{ ms: number }} P
 * @param {number} baseMs @param {P[]} parts @returns {{ steps: Step<P>[], endMs: number, lowMs: number, highMs: number, cut: boolean }} lowMs, highMs: of the axis
 */
export function bridge(baseMs, parts) {
  let at = baseMs;
  const steps = parts.map((part) => ({ part, fromMs: at, toMs: (at += part.ms) }));
  const ends = [baseMs, ...steps.map((s) => s.toMs)];
  const high = Math.max(...ends),
    low = Math.min(...ends);
  const cut = Math.abs(at - baseMs) < CUT_BELOW * baseMs && high > low && low > 0;
  const margin = (high - low) * MARGIN;
  return { steps, endMs: at, lowMs: cut ? Math.max(0, low - margin) : Math.min(0, low), highMs: cut ? high + margin : high, cut };
}

/** Round places on an axis, about `most` of them, in ms: 1, 2 or 5 of a decade. @param {number} low @param {number} high @param {number} most @returns {number[]} */
export function ticks(low, high, most) {
  const rough = (high - low) / most;
  if (!(rough > 0)) return [low];
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * decade).find((n) => n >= rough) ?? 10 * decade;
  const out = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) out.push(i * step);
  return out;
}

/** Numbers that either run has. @template {{ base: number | null, new: number | null }} M @param {M[]} metrics @returns {M[]} */
export const measured = (metrics) => metrics.filter((m) => m.base || m.new);

/** Values of options are long; only their words tell. */
const LONG_VALUE = 80;

/**
 * A long value of a setting as the words that the other run does not have, and how many both have. null: short enough, or one run has none.
 * @param {string | null} value @param {string | null} other @returns {{ own: string[], common: number } | null}
 */
export function ownWords(value, other) {
  if (value === null || other === null || (value.length < LONG_VALUE && other.length < LONG_VALUE)) return null;
  const words = (/** @type {string} */ text) => text.split(/[\s,]+/).filter(Boolean);
  const theirs = new Set(words(other));
  const own = words(value).filter((w) => !theirs.has(w));
  return { own, common: words(value).length - own.length };
}
