// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { t } from "../lib/i18n.js";
import { current, patchQuery } from "../lib/router.js";
import { copyPinned } from "./pinned.jsx";

/** @typedef {import("../lib/i18n.js").Key} Key */

/** After `g`. @type {[letter: string, page: string, text: Key][]} */
export const GO = [
  ["a", "apps", "nav.apps"],
  ["o", "overview", "nav.overview"],
  ["j", "jobs", "nav.jobs"],
  ["s", "stages", "nav.stages"],
  ["t", "tasks", "nav.tasks"],
  ["e", "executors", "nav.executors"],
  ["m", "storage", "nav.storage"],
  ["p", "processes", "nav.processes"],
  ["c", "env", "nav.env"],
  ["q", "sql", "nav.sql"],
  ["b", "compare", "nav.compare"],
  ["f", "findings", "findings.title"],
  ["r", "streaming", "nav.streaming"],
  ["n", "sessions", "nav.sessions"],
  ["l", "log", "nav.log"],
];

/** First key of a chord is forgotten after this. */
const CHORD_MS = 1200;

/**
 * Keys of the page. They never fire while typing, and never with Ctrl, Alt or Meta, but for Ctrl K (on a Mac, Cmd K).
 * @param {{ go: (page: string) => void, search: () => void, help: () => void }} actions
 */
export function useKeys({ go, search, help }) {
  const chord = useRef(0);
  useEffect(() => {
    /** @param {KeyboardEvent} e */
    const down = (e) => {
      const at = e.target instanceof Element ? e.target : null;
      if (document.querySelector("dialog[open]")) return;
      if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") {
        e.preventDefault();
        search();
        return;
      }
      if (e.ctrlKey || e.altKey || e.metaKey) return;
      if (at?.closest("input, textarea, select, [contenteditable]")) {
        if (e.key === "Escape") /** @type {HTMLElement} */ (at).blur();
        return;
      }
      if (chord.current && e.timeStamp - chord.current < CHORD_MS) {
        chord.current = 0;
        const hit = GO.find(([letter]) => letter === e.key);
        if (hit) {
          e.preventDefault();
          go(hit[1]);
        }
        return;
      }
      chord.current = 0;
      if (e.key === "g") chord.current = e.timeStamp;
      else if (e.key === "?") help();
      else if (e.key === "y") copyPinned();
      else if (e.key === "Escape") unselect();
      else if (e.key === "/") {
        e.preventDefault();
        search();
      } else if (e.key === "f") focus("[data-search]", e);
      else if (e.key === "n" || e.key === "p") finding(e.key === "n" ? 1 : -1, e);
      else if (e.key === "j" || e.key === "k") move(e.key === "j" ? 1 : -1, e);
      else if (e.key === "[") /** @type {HTMLElement | null} */ (document.querySelector("[data-turn=back]"))?.click();
      else if (e.key === "]") /** @type {HTMLElement | null} */ (document.querySelector("[data-turn=on]"))?.click();
    };
    addEventListener("keydown", down);
    return () => removeEventListener("keydown", down);
  });
}

/** @param {string} selector @param {KeyboardEvent} e */
function focus(selector, e) {
  const el = document.querySelector(selector);
  if (!(el instanceof HTMLInputElement)) return;
  e.preventDefault();
  el.focus();
  el.select();
}

/** What a person picks on a page, in the order in which Escape lets go of it. */
const PICKED = ["task", "node", "partition", "exec", "host", "block"];

/** Something that is open closes first, by itself. */
function unselect() {
  if (document.querySelector(".menu[open], .pop-box")) return;
  const { query } = current();
  const key = PICKED.find((name) => query.has(name));
  if (key) patchQuery({ [key]: null, page: null }, { replace: true });
}

/** To the link of the next row that has one; Enter then opens it by itself. @param {number} by @param {KeyboardEvent} e */
function move(by, e) {
  const links = [...document.querySelectorAll("main .tbl tbody tr")].map((tr) => tr.querySelector("a")).filter((a) => a !== null);
  if (!links.length) return;
  const row = document.activeElement?.closest("tr");
  const here = row ? links.findIndex((a) => row.contains(a)) : -1;
  const next = links[Math.min(links.length - 1, Math.max(0, here + by))];
  e.preventDefault();
  next?.focus();
}

/** Opens the next finding of the page and goes there: from where the focus is, else to the one that is open; from the last one nowhere. @param {number} by @param {KeyboardEvent} e */
function finding(by, e) {
  const rows = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main [data-finding]"))];
  const here = rows.findIndex((row) => row.closest("li")?.contains(document.activeElement));
  const open = rows.findIndex((row) => row.getAttribute("aria-expanded") === "true");
  const next = rows[here >= 0 ? here + by : open >= 0 ? open : by > 0 ? 0 : rows.length - 1];
  if (!next) return;
  e.preventDefault();
  if (next.getAttribute("aria-expanded") !== "true") next.click();
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

/** @param {{ close: () => void }} props */
export function KeyHelp({ close }) {
  const ref = useRef(/** @type {HTMLDialogElement | null} */ (null)),
    over = useRef(false);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  // Once, as in palette.jsx: the dialog's own event comes a moment later.
  const shut = () => {
    if (over.current) return;
    over.current = true;
    ref.current?.close();
    close();
  };
  /** @type {[string, string][]} */
  const rows = [
    ["/", t("keys.search")],
    ["Ctrl K", t("keys.search")],
    ["f", t("keys.filter")],
    ["j k", t("keys.rows")],
    ["Enter", t("keys.open")],
    ["n p", t("keys.findings")],
    ["[ ]", t("keys.pages")],
    ["+ −", t("keys.zoom")],
    ["← →", t("keys.along")],
    ["0", t("keys.whole")],
    ["y", t("keys.copy")],
    ...GO.map(([letter, , text]) => /** @type {[string, string]} */ ([`g ${letter}`, t(text)])),
    ["?", t("keys.title")],
    ["Esc", t("keys.clear")],
  ];
  return (
    <dialog
      class="keys"
      ref={ref}
      onCancel={shut}
      onClose={shut}
      aria-labelledby="keys-title"
      onClick={(e) => {
        if (e.target === ref.current) shut();
      }}
    >
      <div class="keys-body">
        <h2 id="keys-title">{t("keys.title")}</h2>
        <dl>
          {rows.map(([key, text]) => (
            <div key={key}>
              <dt>
                {key.split(" ").map((k) => (
                  <kbd key={k}>{k}</kbd>
                ))}
              </dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <button type="button" class="btn" onClick={shut}>
          {t("keys.close")}
        </button>
      </div>
    </dialog>
  );
}
