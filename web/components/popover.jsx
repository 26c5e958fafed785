// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";

/**
 * A button that opens a panel below itself; Esc, a click elsewhere and leaving it by keyboard close it. The browser keeps whether it is open.
 * @param {{ label: import("preact").ComponentChildren, name: string, class?: string, onOpen?: () => void, children: import("preact").ComponentChildren }} props name: of the panel
 */
export function Popover({ label, name, class: c, onOpen, children }) {
  const ref = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useEffect(() => {
    /** @param {Event} e */
    const away = (e) => {
      const box = ref.current;
      if (box?.open && e.target instanceof Node && !box.contains(e.target)) box.open = false;
    };
    addEventListener("pointerdown", away);
    addEventListener("focusin", away);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("focusin", away);
    };
  }, []);
  return (
    <details
      class={"pop " + (c ?? "")}
      ref={ref}
      onToggle={() => {
        if (ref.current?.open) onOpen?.();
      }}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || !ref.current?.open) return;
        e.stopPropagation();
        ref.current.open = false;
        ref.current.querySelector("summary")?.focus();
      }}
    >
      <summary class="btn">{label}</summary>
      <div class="pop-panel" role="group" aria-label={name}>
        {children}
      </div>
    </details>
  );
}
