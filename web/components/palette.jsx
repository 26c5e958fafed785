// SPDX-License-Identifier: Apache-2.0
/** Search everything: pages, findings, stages, jobs, queries, executors and settings of the open run, then other runs. A combobox in a dialog: the input keeps the focus. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { apiPath, wordedPath } from "../api.js";
import { duration, seconds, zoned } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import * as prefs from "../lib/prefs.js";
import { current, go } from "../lib/router.js";
import { findingId } from "../model/findings.js";
import { found, recalled, remember } from "../model/palette.js";
import { useData } from "./use-data.js";

/** @typedef {import("../model/palette.js").Option} Option */
/** @typedef {import("../lib/i18n.js").Key} Key */
/** @template T @typedef {import("./use-data.js").Asked<T>} Asked */

/** The server is asked when somebody pauses so long. */
const PAUSE_MS = 120;
const MOST_PAGES = 6,
  MOST_FINDINGS = 6,
  MOST_RUNS = 8;

/** @param {string} q @returns {string} what was typed, once it rests */
function useRested(q) {
  const [rested, setRested] = useState(q);
  useEffect(() => {
    const timer = setTimeout(() => setRested(q), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [q]);
  return rested;
}

/**
 * @param {string} q @param {string | null} ref of the open run @param {string} version @param {{ id: string, to: string }[]} entries its pages
 * @returns {{ options: Option[], answered: boolean }}
 */
function useOptions(q, ref, version, entries) {
  const rested = useRested(q);
  const things = /** @type {Asked<{ items: import("../types").Found[] }>} */ (useData(ref !== null && rested ? apiPath(["apps", ref, "search"], { q: rested }) : null, version));
  const findings = /** @type {Asked<import("../types").Findings>} */ (useData(ref !== null ? wordedPath(["apps", ref, "findings"], { limit: 1000, ...paths.thresholds(current().query) }) : null, version));
  const runs = /** @type {Asked<import("../types").AppList>} */ (useData(rested ? wordedPath(["apps"], { q: rested, limit: MOST_RUNS }) : null));
  /** @type {Option[]} */
  const pages = entries.map((e) => ({ group: "page", to: e.to, label: t(/** @type {Key} */ (`nav.${e.id}`)), note: "" }));
  if (!q) return { options: [...recalled(prefs.list("recent")), ...pages], answered: true };
  /** @type {Option[]} */
  const options = found(pages, q, (p) => p.label, MOST_PAGES);
  for (const f of found(findings.data?.findings ?? [], q, (f) => `${f.name} ${f.rule} ${f.subject.name} ${f.sentence}`, MOST_FINDINGS))
    options.push({
      group: "finding",
      to: paths.finding(/** @type {string} */ (ref), findingId(f)),
      label: `${f.name}: ${f.subject.name}`,
      note: f.price ? seconds(f.price.ms) : "",
    });
  for (const thing of ref !== null ? (things.data?.items ?? []) : []) options.push(ofThing(/** @type {string} */ (ref), thing));
  for (const a of runs.data?.items ?? [])
    if (a.ref !== null && a.ref !== ref)
      options.push({ group: "run", to: paths.app(a.ref), label: a.name ?? a.appId ?? a.ref, note: [zoned(a.startMs, false), duration(a.durationMs), a.user].filter(Boolean).join(" · ") });
  return { options, answered: rested === q && !things.stale && !runs.stale };
}

/** @param {string} ref @param {import("../types").Found} thing @returns {Option} */
function ofThing(ref, thing) {
  const note = thing.durationMs === null ? "" : duration(thing.durationMs);
  const to = paths.subject(ref, thing.kind, thing.key);
  if (thing.kind === "conf") return { group: "conf", to, label: thing.key, note: thing.label ?? "" };
  const name = { stage: t("stage.title", thing.key.replace(/\.0$/, "")), job: t("job.title", thing.key), sql: t("palette.sql", thing.key), exec: t("palette.exec", thing.key) }[thing.kind];
  return { group: thing.kind, to, label: thing.label ? `${name}: ${thing.label}` : name, note };
}

/** @param {{ appRef: string | null, version: string, entries: { id: string, to: string }[], close: () => void }} props */
export function Palette({ appRef, version, entries, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null)),
    over = useRef(false);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const q = text.trim();
  const { options, answered } = useOptions(q, appRef, version, entries);
  const here = Math.min(at, options.length - 1);
  // Before the next key comes: what is typed behind the one that opens it belongs here.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => document.getElementById(`palette-${here}`)?.scrollIntoView({ block: "nearest" }), [here]);
  // Once: the dialog's own event comes a moment later, when the next key may have opened the search again.
  const shut = () => {
    if (over.current) return;
    over.current = true;
    dialog.current?.close();
    close();
  };
  /** @param {Option} option @param {boolean} [apart] in a tab of its own */
  const open = (option, apart) => {
    prefs.save({ recent: remember(prefs.list("recent"), option) });
    if (apart) {
      window.open(option.to, "_blank", "noopener");
      return;
    }
    shut();
    go(option.to);
  };
  /** @param {KeyboardEvent} e */
  const key = (e) => {
    // While a word is put together in another script, Enter and the arrows belong to that.
    if (e.isComposing || !options.length) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") setAt((here + (e.key === "ArrowDown" ? 1 : options.length - 1)) % options.length);
    else if (e.key === "Home" && e.ctrlKey) setAt(0);
    else if (e.key === "End" && e.ctrlKey) setAt(options.length - 1);
    else if (e.key === "Enter") open(options[here], e.ctrlKey || e.metaKey);
    else return;
    e.preventDefault();
  };
  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label={t("palette.title")}
      onCancel={shut}
      onClose={shut}
      onClick={(e) => {
        if (e.target === dialog.current) shut();
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={options.length ? `palette-${here}` : undefined}
        aria-label={t("palette.title")}
        placeholder={t(appRef === null ? "palette.askRuns" : "palette.ask")}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={key}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label={t("palette.title")}>
        {grouped(options).map(({ group, from, items }) => (
          <div key={group} role="group" aria-label={t(`palette.of.${group}`)}>
            <div class="palette-group" aria-hidden="true">
              {t(`palette.of.${group}`)}
            </div>
            {items.map((o, i) => (
              <div
                key={o.to + o.label}
                id={`palette-${from + i}`}
                role="option"
                aria-selected={from + i === here}
                class="palette-option"
                onClick={(e) => open(o, e.ctrlKey || e.metaKey)}
                onMouseMove={() => setAt(from + i)}
              >
                <span class="clip">{o.label}</span>
                <span class="palette-note clip">{o.note}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
      {q && !options.length ? <p class="palette-none">{answered ? t("palette.none") : "\u00a0"}</p> : null}
      <div class="sr" role="status">
        {answered && q ? t("palette.count", options.length) : ""}
      </div>
      <div class="palette-foot" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> {t("palette.move")}
        </span>
        <span>
          <kbd>Enter</kbd> {t("palette.open")}
        </span>
        <span>
          <kbd>Esc</kbd> {t("keys.close")}
        </span>
      </div>
    </dialog>
  );
}

/** @param {Option[]} options those of a group stand together */
function grouped(options) {
  /** @type {{ group: Option["group"], from: number, items: Option[] }[]} */
  const groups = [];
  options.forEach((o, i) => {
    const last = groups[groups.length - 1];
    if (last?.group === o.group) last.items.push(o);
    else groups.push({ group: o.group, from: i, items: [o] });
  });
  return groups;
}
