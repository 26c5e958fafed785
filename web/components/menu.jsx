// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";

/**
 * A button that opens a few choices: links and buttons. It closes on Escape, on a choice and on a click elsewhere.
 * @param {{ label: string, title?: string, class?: string, children: import("preact").ComponentChildren }} props
 */
export function Menu({ label, title, class: c, children }) {
  const ref = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useEffect(() => {
    const close = () => {
      if (ref.current) ref.current.open = false;
    };
    /** @param {MouseEvent} e */
    const click = (e) => {
      const at = e.target instanceof Element ? e.target : null;
      if (ref.current?.open && (!at || !ref.current.contains(at) || at.closest(".menu-items a, .menu-items button"))) close();
    };
    /** @param {KeyboardEvent} e */
    const key = (e) => {
      if (e.key !== "Escape" || !ref.current?.open) return;
      close();
      ref.current.querySelector("summary")?.focus();
    };
    document.addEventListener("click", click);
    document.addEventListener("keydown", key);
    return () => {
      document.removeEventListener("click", click);
      document.removeEventListener("keydown", key);
    };
  }, []);
  return (
    <details class={"menu no-print " + (c ?? "")} ref={ref}>
      <summary class="btn is-small" title={title}>
        {label}
      </summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}
