// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { get } from "../api.js";

/**
 * The rest of an answer that comes in pieces: asks for one after the other, from `next` on, and hands out what they hold once all are there.
 * @template T, P
 * @param {{ next: number | null, path: (next: number) => string, items: (piece: P) => T[], after: (piece: P) => number | null, most: number, version: string }} o
 *   next: null: there is no rest; most: no further piece after so many items
 * @returns {{ items: T[], whole: boolean, error: import("../api.js").ApiError | null }} whole: nothing more is awaited
 */
export function usePieces({ next, path, items, after, most, version }) {
  const first = next === null ? null : path(next);
  const [state, setState] = useState({ key: "", items: /** @type {T[]} */ ([]), error: /** @type {any} */ (null) });
  const key = `${first} ${most} ${version}`;
  useEffect(() => {
    if (next === null) return undefined;
    const abort = new AbortController();
    (async () => {
      /** @type {T[]} */
      const all = [];
      for (let at = /** @type {number | null} */ (next); at !== null && all.length < most; ) {
        const piece = /** @type {P} */ (await get(path(at), abort.signal));
        for (const x of items(piece)) all.push(x);
        at = after(piece);
      }
      return all;
    })().then(
      (all) => setState({ key, items: all, error: null }),
      (error) => {
        if (!abort.signal.aborted) setState({ key, items: [], error });
      },
    );
    return () => abort.abort();
  }, [key]);
  const there = next === null || state.key === key;
  return { items: next !== null && there ? state.items : [], whole: there, error: there && next !== null ? state.error : null };
}
