// SPDX-License-Identifier: Apache-2.0
/** Axes of charts over time: places of ticks in round numbers, and the top of an axis of values. */

const SECOND = 1000,
  MINUTE = 60 * SECOND,
  HOUR = 60 * MINUTE,
  DAY = 24 * HOUR;
/** Steps that people count time in. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * DAY),
];

/** Offsets from the begin, from 0 on, at most `most` of them behind it. @param {number} spanMs @param {number} most @returns {number[]} */
export function timeTicks(spanMs, most) {
  const step = STEPS.find((s) => spanMs / s <= most) ?? spanMs;
  const out = [];
  for (let at = 0; at <= spanMs; at += step) out.push(at);
  return out;
}

/** The round number (1, 2, 5 of a decade) that holds a value. @param {number} value @param {number} [base] 1024 for bytes */
export function roundUp(value, base = 10) {
  if (!(value > 0)) return 1;
  const decade = base ** Math.floor(Math.log(value) / Math.log(base) + 1e-9);
  const steps = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
  return decade * (steps.find((s) => s * decade >= value * (1 - 1e-9)) ?? base);
}

/** Shares 0…1 of slots in use by bin; null where there was no slot. @param {number[]} busyMs @param {number[]} aliveMs */
export const useByBin = (busyMs, aliveMs) => busyMs.map((b, i) => (aliveMs[i] > 0 ? Math.min(1, b / aliveMs[i]) : null));

/** @param {number[]} values */
export const sum = (values) => values.reduce((a, b) => a + b, 0);
