// SPDX-License-Identifier: Apache-2.0
const WIDTH = 180;

/**
 * Line min–max, box p25–p75, median, p95, max; a place is value ÷ max, so that a long tail is long. The numbers stand beside it.
 * @param {{ q: import("../types").Quantile, hot: boolean }} props
 */
export function QuantileStrip({ q, hot }) {
  const X = (/** @type {number} */ v) => 3 + (q.max > 0 ? v / q.max : 0) * (WIDTH - 8);
  return (
    <svg class="qstrip" viewBox={`0 0 ${WIDTH} 18`} preserveAspectRatio="none" aria-hidden="true">
      <line class="rng" x1={X(q.min)} x2={X(q.max)} y1="9" y2="9" vector-effect="non-scaling-stroke" />
      <rect class="box" x={X(q.p25)} width={Math.max(1, X(q.p75) - X(q.p25))} y="4" height="10" />
      <line class="med" x1={X(q.p50)} x2={X(q.p50)} y1="2" y2="16" vector-effect="non-scaling-stroke" />
      <rect class="dot" x={X(q.p95) - 0.6} width="1.2" y="6" height="6" />
      <rect class={hot ? "hot" : "dot"} x={X(q.max) - 1.4} width="2.8" y="4" height="10" />
    </svg>
  );
}
