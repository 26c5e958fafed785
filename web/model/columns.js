// SPDX-License-Identifier: Apache-2.0
/** The order of a table's columns, by their ids. */

/**
 * All columns in the order in which they stand: as the table has them, until a person moved one. Then those that are always shown stand first, for they say what a row is; behind them those that were chosen, as chosen, and
 * each of the others behind the one that it follows in the table.
 * @param {string[]} all @param {Set<string>} fixed always shown @param {string[] | null} chosen shown ones in their order; null: nobody chose @returns {string[]}
 */
export function columnOrder(all, fixed, chosen) {
  const free = all.filter((id) => !fixed.has(id));
  const kept = [...new Set(chosen ?? [])].filter((id) => free.includes(id));
  const usual = free.filter((id) => kept.includes(id));
  if (kept.every((id, i) => id === usual[i])) return all;
  const order = [...kept];
  free.forEach((id, i) => {
    if (!kept.includes(id)) order.splice(i ? order.indexOf(free[i - 1]) + 1 : 0, 0, id);
  });
  return [...all.filter((id) => fixed.has(id)), ...order];
}

/** With one of them at another place. @param {string[]} ids @param {string} id @param {number} to its new index; what lies outside is the nearest end @returns {string[]} */
export function moved(ids, id, to) {
  const others = ids.filter((x) => x !== id);
  others.splice(Math.max(0, Math.min(others.length, to)), 0, id);
  return others;
}
