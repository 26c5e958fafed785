// SPDX-License-Identifier: Apache-2.0
import { DASH, bytes, count, duration, exactBytes, exactMs } from "../lib/format.js";

/**
 * Number with its bar to the left, from zero, scaled to the column's maximum.
 * @param {{ value: number | null | undefined, max: number, text: string, hot?: boolean, title?: string }} props
 */
export function Bar({ value, max, text, hot, title }) {
  if (value === null || value === undefined) return <span class="dim3">{DASH}</span>;
  return (
    <span class={"ibar" + (hot ? " is-hot" : "")} style={{ "--v": max > 0 ? Math.max(0, Math.min(1, value / max)) : 0 }} title={title}>
      <u aria-hidden="true" />
      <b>{text}</b>
    </span>
  );
}

/** @param {{ ms: number | null | undefined }} props */
export const Duration = ({ ms }) =>
  ms === null || ms === undefined ? (
    <span class="dim3">{DASH}</span>
  ) : (
    <span class={ms ? "" : "dim3"} title={exactMs(ms)}>
      {duration(ms)}
    </span>
  );
/** @param {{ value: number | null | undefined }} props */
export const Bytes = ({ value }) =>
  value === null || value === undefined ? (
    <span class="dim3">{DASH}</span>
  ) : (
    <span class={value ? "" : "dim3"} title={exactBytes(value)}>
      {bytes(value)}
    </span>
  );
/** @param {{ value: number | null | undefined }} props */
export const Count = ({ value }) => <span class={value ? "" : "dim3"}>{count(value)}</span>;
/** Spark logs 0 for a peak that it never measured: a heap is never empty. @param {{ peaks: Record<string, number | null> | null }} props */
export const PeakHeap = ({ peaks }) => <Bytes value={peaks?.jvmHeapMemoryBytes || null} />;
/** A count that is bad news unless it is zero. @param {{ value: number | null | undefined }} props */
export const BadCount = ({ value }) => (value ? <b class="bad">{count(value)}</b> : <span class="dim3">{count(value)}</span>);

/** Largest value of a column on this page. @template T @param {T[]} rows @param {(row: T) => number | null | undefined} get */
export const columnMax = (rows, get) => rows.reduce((m, r) => Math.max(m, get(r) ?? 0), 0);

/** Text on one line, the whole of it in the tooltip. @param {{ text: string | null | undefined, class?: string }} props */
export const Clip = ({ text, class: c }) => (
  <span class={"clip " + (c ?? "")} title={text ?? undefined}>
    {text ?? DASH}
  </span>
);
