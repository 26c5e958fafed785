// SPDX-License-Identifier: Apache-2.0
/** Sorting of the small lists that the server sends whole, with the server's rules: `key` ascends, `-key` descends, unknown last either way. */

/** @template T @param {T[]} rows @param {string} sort @param {Record<string, (row: T) => string | number | null | undefined>} keys unknown sort keys leave the order */
export function sorted(rows, sort, keys) {
  const down = sort.startsWith("-");
  const get = keys[sort.replace(/^-/, "")];
  if (!get) return rows;
  return [...rows].sort((a, b) => {
    const x = get(a),
      y = get(b);
    if (x === y) return 0;
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    const order = typeof x === "string" && typeof y === "string" ? x.localeCompare(y, undefined, { numeric: true }) : x < y ? -1 : 1;
    return down ? -order : order;
  });
}
