// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../lib/i18n.js";

/** Pages that came without https have no navigator.clipboard; the old way needs an element that holds the text. @param {string} text @returns {Promise<boolean>} */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "sr";
    const before = document.activeElement;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    if (before instanceof HTMLElement) before.focus();
    return done;
  }
}

const SAID_MS = 2000;

/** @param {{ label: string, text: () => string }} props text: made when it is wanted */
export function CopyButton({ label, text }) {
  const [said, setSaid] = useState(/** @type {import("../lib/i18n.js").Key | null} */ (null));
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const go = async () => {
    setSaid((await copy(text())) ? "copy.done" : "copy.failed");
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(null), SAID_MS);
  };
  return (
    <button type="button" class="btn is-small" onClick={go}>
      <span aria-live="polite">{said ? t(said) : label}</span>
    </button>
  );
}
