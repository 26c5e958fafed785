// SPDX-License-Identifier: Apache-2.0
/** Tasks by duration and data: which data, where points stand on logarithmic axes, and how far a task is above the median speed. */

/** What explains a duration best, first. */
const USUAL = ["shuffleReadBytes", "inputBytes", "shuffleRecordsRead", "inputRecords", "shuffleWriteBytes", "outputBytes"];

/**
 * Measures worth an axis: sizes and counts with a value. Of tasks that read and wrote nothing there are none: a duration by the size of a result says nothing.
 * @param {import("../types").Quantile[]} quantiles @returns {string[]} the usual one first
 */
export function choices(quantiles) {
  const names = quantiles.filter((q) => (q.unit === "bytes" || q.unit === "count") && q.max > 0).map((q) => q.name);
  if (!names.some((n) => USUAL.includes(n))) return [];
  const rank = (/** @type {string} */ n) => (USUAL.indexOf(n) + 1 || USUAL.length + 1);
  return names.sort((a, b) => rank(a) - rank(b));
}

/** Ends of a logarithmic axis with room at both. @param {number} low > 0 @param {number} high @returns {[number, number]} */
export function padded(low, high) {
  const a = Math.log10(low),
    b = Math.log10(Math.max(high, low));
  const room = b - a < 0.5 ? (0.7 - (b - a)) / 2 : (b - a) * 0.06;
  return [10 ** (a - room), 10 ** (b + room)];
}

/** Ticks of bytes are powers of 2. @param {number} low > 0 @param {number} high @param {number} most */
export function byteTicks(low, high, most) {
  const a = Math.log2(low),
    b = Math.log2(high);
  let step = 1;
  while ((b - a) / step > most) step *= 2;
  const out = [];
  for (let e = Math.ceil(a / step) * step; e <= b; e += step) if (e >= 0) out.push(2 ** e);
  return out;
}

/** How much longer than the median speed says; null without data or speed. @param {number | null} ms @param {number | null} x @param {number | null} msPerUnit */
export const slower = (ms, x, msPerUnit) => (ms !== null && x && msPerUnit ? ms / (x * msPerUnit) : null);

