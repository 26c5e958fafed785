// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { copy } from "../lib/clipboard.js";
import { t } from "../lib/i18n.js";

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
