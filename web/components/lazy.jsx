// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api.js";
import { Failure } from "./states.jsx";

/** @type {(() => Promise<unknown>)[]} */
const views = [];

/** Fetches the code of all views, so that the next page is there at once. A file that does not come is asked for again when its view is shown. */
export const warm = () => views.forEach((load) => load().catch(() => undefined));

/**
 * A view whose code is fetched when it is first shown. A program that was replaced no longer has the file that an old page asks for: then the page is loaded anew.
 * @template P
 * @param {() => Promise<(props: P) => import("preact").ComponentChildren>} load
 * @returns {(props: P) => import("preact").ComponentChildren}
 */
export function lazy(load) {
  /** @type {((props: P) => import("preact").ComponentChildren) | null} */
  let View = null;
  views.push(load);
  return (props) => {
    const [failed, setFailed] = useState(false);
    const [, redraw] = useState(0);
    useEffect(() => {
      if (View) return;
      load().then(
        (found) => {
          View = found;
          redraw((n) => n + 1);
        },
        () => setFailed(true),
      );
    }, []);
    if (View) return <View {.../** @type {any} */ (props)} />;
    return failed ? <Failure error={new ApiError(document.title, 0, "unreachable", "")} retry={() => location.reload()} /> : null;
  };
}
