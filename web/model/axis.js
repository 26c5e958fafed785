// SPDX-License-Identifier: Apache-2.0
/** Ticks and places on a logarithmic axis of durations, and on a square-root axis of counts. */

/** 1, 2, 5 of each decade, thinned as the range grows. @param {number} low > 0 @param {number} high @returns {number[]} */
export function logTicks(low, high) {
  const a = Math.log10(low),
    b = Math.log10(high);
  const steps = b - a > 2.4 ? [1] : b - a > 1.5 ? [1, 3] : b - a > 0.5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
  const out = [];
  for (let d = Math.floor(a); d <= Math.ceil(b); d++) {
    for (const m of steps) {
      const v = m * 10 ** d;
      if (v >= low && v <= high) out.push(v);
    }
  }
  return out;
}

/** Share 0…1 of the way from low to high by factors. @param {number} value @param {number} low > 0 @param {number} high */
export function logPlace(value, low, high) {
  if (high <= low) return 0;
  return Math.min(1, Math.max(0, (Math.log(Math.max(value, low)) - Math.log(low)) / (Math.log(high) - Math.log(low))));
}

/** Every n-th of a list so that at most `most` are left. @template T @param {T[]} list @param {number} most */
export function thin(list, most) {
  const n = Math.max(1, Math.ceil(list.length / most));
  return list.filter((_, i) => i % n === 0);
}

/** Those of a list, from its begin, whose places are so far apart at least. @param {number[]} list ascending @param {(v: number) => number} place @param {number} least */
export function apart(list, place, least) {
  let last = -Infinity;
  return list.filter((v) => {
    if (place(v) - last < least) return false;
    last = place(v);
    return true;
  });
}

/** 1, 2, 5 of a decade, the largest that is not above n. @param {number} n >= 1 */
function roundDown(n) {
  const decade = 10 ** Math.floor(Math.log10(n));
  return (n >= 5 * decade ? 5 : n >= 2 * decade ? 2 : 1) * decade;
}

/** One, a round count near the top of the axis, and a round one about half-way up by square root. @param {number} most >= 1 @returns {number[]} */
export function countTicks(most) {
  const top = roundDown(most);
  return [...new Set([1, roundDown(Math.max(1, top / 4)), top])];
}

/**
 * Middles of two labels over two places, moved as little as keeps both between left and right and off each other.
 * @param {number} first @param {number} second >= first @param {number} room width of a label @param {number} left @param {number} right
 */
export function labelPlaces(first, second, room, left, right) {
  const inside = (/** @type {number} */ x, /** @type {number} */ half) => Math.max(left + half, Math.min(right - half, x));
  if (second - first >= room) return [inside(first, room / 2), inside(second, room / 2)];
  const middle = inside((first + second) / 2, room);
  return [middle - room / 2, middle + room / 2];
}
