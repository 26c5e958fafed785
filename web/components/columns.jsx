// SPDX-License-Identifier: Apache-2.0
/**
 * Columns that many tables have. A maker gets the words of the head, whose last part is the column's id and sort key too, and how to read the value of a row;
 * `more` overrides any part of the column. `sparse` leaves a column out where no row has anything in it.
 */
import { duration, exactMs } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { BadCount, Bar, Bytes, Count, Duration, Moment } from "./cells.jsx";
import { GcMark } from "./marks.jsx";

/** @typedef {import("../lib/i18n.js").Key} Key */
/** @typedef {number | null | undefined} Value */
/** @template T @typedef {import("./table.jsx").Column<T>} Column */
/** @template T @typedef {Partial<Column<T>>} More */

const idOf = (/** @type {Key} */ head) => head.slice(head.lastIndexOf(".") + 1);

/**
 * @template T
 * @param {Key} head @param {(row: T) => Value} value @param {(value: Value, max: number) => import("preact").ComponentChildren} draw @param {More<T>} [more]
 * @returns {Column<T>}
 */
function column(head, value, draw, more) {
  const id = idOf(head);
  return { id, label: t(head), num: true, sort: id, value, cell: (row, max) => draw(value(row), max), ...more };
}

/** @template T @param {Key} head @param {(row: T) => Value} value @param {More<T>} [more] */
export const bytesColumn = (head, value, more) => column(head, value, (v) => <Bytes value={v} />, more);
/** @template T @param {Key} head @param {(row: T) => Value} value @param {More<T>} [more] */
export const countColumn = (head, value, more) => column(head, value, (v) => <Count value={v} />, more);
/** A count that is bad news. @template T @param {Key} head @param {(row: T) => Value} value @param {More<T>} [more] */
export const badColumn = (head, value, more) => column(head, value, (v) => <BadCount value={v} />, more);
/** @template T @param {Key} head @param {(row: T) => Value} value @param {More<T>} [more] */
export const durationColumn = (head, value, more) => column(head, value, (v) => <Duration ms={v} />, more);
/** A duration with its bar. @template T @param {Key} head @param {(row: T) => Value} value @param {More<T>} [more] */
export const barColumn = (head, value, more) =>
  column(head, value, (v, max) => <Bar value={v} max={max} text={duration(v)} title={exactMs(v)} />, { bar: true, class: "is-bar", ...more });
/** A moment as its distance from the start of the run. @template T @param {Key} head @param {(row: T) => Value} value @param {number | null} startMs @param {More<T>} [more] */
export const momentColumn = (head, value, startMs, more) => column(head, value, (v) => <Moment ms={v} startMs={startMs} />, { ascending: true, ...more });

/** @template T @param {Column<T>} column @returns {Column<T>} */
export const sparse = (column) => ({ present: column.value, ...column });

/**
 * Opens the thing of the row.
 * @template T
 * @param {Key} head @param {(row: T) => string} to @param {(row: T) => string | number} text @param {More<T>} [more] @returns {Column<T>}
 */
export const linkColumn = (head, to, text, more) => ({
  id: idOf(head),
  label: t(head),
  sort: "id",
  value: text,
  cell: (row) => (
    <a class="strong" href={to(row)} title={more?.title}>
      {text(row)}
    </a>
  ),
  ...more,
});

/** GC time against task time. @template {{ gc: import("../types").Gc | null }} T @param {More<T>} [more] @param {(row: T, rule: string) => string} [to] where the finding of that rule is shown @returns {Column<T>} */
export const gcColumn = (more, to) => ({
  id: "gc",
  label: t("col.gc"),
  title: t("col.gc.title"),
  num: true,
  sort: "gcShare",
  value: (row) => row.gc?.share,
  cell: (row) => <GcMark gc={row.gc} to={to && ((rule) => to(row, rule))} />,
  ...more,
});

/** Spark logs 0 for a peak that it never measured: a heap is never empty. @template {{ peaks: Record<string, number | null> | null }} T @returns {Column<T>} */
export const heapColumn = () => sparse(bytesColumn("col.peakHeap", (/** @type {T} */ row) => row.peaks?.jvmHeapMemoryBytes || null, { sort: undefined }));

/** @typedef {{ inputBytes?: Value, shuffleReadBytes?: Value, shuffleWriteBytes?: Value, outputBytes?: Value, diskSpilledBytes?: Value }} Data */
/** What came in, went out and did not fit. @template {Data} T @returns {Column<T>[]} */
export const dataColumns = () => [
  sparse(bytesColumn("col.input", (/** @type {T} */ row) => row.inputBytes)),
  sparse(bytesColumn("col.shuffleRead", (/** @type {T} */ row) => row.shuffleReadBytes)),
  sparse(bytesColumn("col.shuffleWrite", (/** @type {T} */ row) => row.shuffleWriteBytes)),
  sparse(bytesColumn("col.output", (/** @type {T} */ row) => row.outputBytes)),
  sparse(bytesColumn("col.spill", (/** @type {T} */ row) => row.diskSpilledBytes)),
];
