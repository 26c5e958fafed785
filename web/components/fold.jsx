// SPDX-License-Identifier: Apache-2.0
import { current, namesIn, toggleName } from "../lib/router.js";

/** Parts that are open though they usually are closed, or the other way round, by name: a link shows what its sender had open. */
const KEY = "folds";

/** Is it open? For what is asked for only then. @param {string} name @param {boolean} [usual] */
export const isUnfolded = (name, usual = false) => namesIn(current().query, KEY).has(name) !== usual;

/**
 * A part of a page that opens and closes.
 * @param {{ name: string, title: import("preact").ComponentChildren, hint?: string, usual?: boolean, class?: string, children: import("preact").ComponentChildren }} props
 *   name: of a page's parts, without a comma; usual: open unless the address says otherwise
 */
export function Fold({ name, title, hint, usual = false, class: c = "fold", children }) {
  return (
    <details
      class={c}
      open={isUnfolded(name, usual)}
      onToggle={(e) => {
        // Also when the browser opens it for a text that was searched for; never when the address did.
        if (e.currentTarget.open !== isUnfolded(name, usual)) toggleName(KEY, name);
      }}
    >
      <summary title={hint}>{title}</summary>
      {children}
    </details>
  );
}
