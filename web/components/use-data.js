// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { get, remembered } from "../api.js";

/**
 * One call of the API for one place on a page. What was shown stays until the next answer is there, so a slow server never blanks a page; `slow` is
 * true once 150 ms have passed without an answer. `version` changes when the data behind the same address did (a log that is still being read).
 *
 * @template T
 * @typedef {{ data: T | undefined, error: import("../api.js").ApiError | null, slow: boolean, stale: boolean, waits: () => boolean, retry: () => void }} Asked<T> waits: an answer is on its way
 */

const SLOW_MS = 150;
/** An answer that takes longer is not hoped for. */
const LOST_MS = 60_000;

/** @template T @param {string | null} path as apiPath makes it; null: nothing to ask @param {string | number} [version] @returns {Asked<T>} */
export function useData(path, version = 0) {
  const [state, setState] = useState(
    /** @type {() => { path: string | null, data: T | undefined, error: any, slow: boolean }} */ (
      () => ({
        path,
        data: path === null ? undefined : /** @type {T | undefined} */ (remembered(path)),
        error: null,
        slow: false,
      })
    ),
  );
  const [tries, setTries] = useState(0);
  const askedAt = useRef(-Infinity);
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => setState((s) => ({ ...s, slow: true })), SLOW_MS);
    askedAt.current = performance.now();
    get(path, abort.signal)
      .then(
        (data) => setState((s) => (s.path === path && s.data === data && !s.error && !s.slow ? s : { path, data, error: null, slow: false })),
        (error) => {
          if (!abort.signal.aborted) setState((s) => ({ path, data: s.path === path ? s.data : undefined, error, slow: false }));
        },
      )
      .finally(() => {
        clearTimeout(timer);
        if (!abort.signal.aborted) askedAt.current = -Infinity;
      });
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [path, version, tries]);
  const own = state.path === path;
  const known = own || path === null ? undefined : /** @type {T | undefined} */ (remembered(path));
  return {
    data: own ? state.data : (known ?? state.data),
    error: own ? state.error : null,
    slow: state.slow,
    stale: !own && known === undefined,
    waits: () => performance.now() - askedAt.current < LOST_MS,
    retry: () => setTries((n) => n + 1),
  };
}

/** What stands below something that is asked for too waits for it, so that it does not jump when that comes. @template T @param {Asked<T>} asked @param {Asked<any>} first @returns {Asked<T>} */
export const after = (asked, first) => (first.data === undefined && !first.error ? { ...asked, data: undefined, error: null, slow: first.slow } : asked);

/** A list does not change under somebody who types: so long after the last key nothing is asked. */
const TYPING_MS = 2000;
let typedAt = -TYPING_MS;
addEventListener(
  "input",
  () => {
    typedAt = performance.now();
  },
  true,
);
export const typing = () => performance.now() - typedAt < TYPING_MS;

/**
 * Calls `look` every `everyMs`, only while the page is visible; a page that comes back into view looks at once. null: never. While the answer to the look before is on its way there is no other:
 * it would throw that one away, and a server that takes longer than a beat would never be heard.
 * @param {number | null} everyMs @param {Asked<any>} asked what is looked at @param {() => void} look
 */
export function usePoll(everyMs, asked, look) {
  const now = useRef({ asked, look });
  now.current = { asked, look };
  useEffect(() => {
    if (everyMs === null) return undefined;
    const beat = () => {
      if (document.visibilityState === "visible" && !now.current.asked.waits()) now.current.look();
    };
    const timer = setInterval(beat, everyMs);
    document.addEventListener("visibilitychange", beat);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", beat);
    };
  }, [everyMs]);
}
