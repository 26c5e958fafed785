// SPDX-License-Identifier: Apache-2.0
/**
 * Tagged template for sentences that hold elements: parts`Ran for ${<b>…</b>}` is the list of its pieces, ready as children.
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values
 */
export function parts(strings, ...values) {
  /** @type {unknown[]} */
  const out = [];
  strings.forEach((s, i) => {
    if (s) out.push(s);
    if (i < values.length) out.push(values[i]);
  });
  return out;
}
