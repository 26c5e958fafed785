// SPDX-License-Identifier: Apache-2.0
/** Values over time: the top of their axis, shares and sums of bins. */

/** The round number (1, 2, 5 of a decade) that holds a value. @param {number} value @param {number} [base] 1024 for bytes */
export function roundUp(value, base = 10) {
  if (!(value > 0)) return 1;
  const decade = base ** Math.floor(Math.log(value) / Math.log(base) + 1e-9);
  const steps = base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
  return decade * (steps.find((s) => s * decade >= value * (1 - 1e-9)) ?? base);
}

/** @param {number[]} values */
export const sum = (values) => values.reduce((a, b) => a + b, 0);
