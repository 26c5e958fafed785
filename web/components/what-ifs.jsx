// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath } from "../api.js";
import { duration, percent, seconds, times } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { current, patchQuery } from "../lib/router.js";
import { Section } from "./facts.jsx";
import { Judged, isRead } from "./findings.jsx";
import { Loaded } from "./states.jsx";
import { useData } from "./use-data.js";

/** @typedef {import("../types").WhatIfs} WhatIfs */
/** @typedef {import("../types").WhatIf} WhatIf */

/** Above this error of the simulator the server says nothing (spec/findings.md 6.4). */
const MOST_ERROR = 0.15;

/** The run again under other conditions. @param {{ app: import("../types").App, version: string, asked: import("./use-data.js").Asked<WhatIfs> }} props */
export function WhatIfSection({ app, version, asked }) {
  return (
    <Section title={t("whatif.title")} note={t("whatif.note")}>
      <Judged from={asked} version={version} rows={4}>
        {(of) =>
          of.simulationError === null ? (
            <p class="find-later">{t("whatif.none")}</p>
          ) : Math.abs(of.simulationError) > MOST_ERROR ? (
            <p class="find-later">{t("whatif.withheld", percent(Math.abs(of.simulationError)))}</p>
          ) : (
            <>
              <OtherExecutors app={app} version={version} wallMs={of.wallMs} />
              <Stored of={of} />
            </>
          )
        }
      </Judged>
    </Section>
  );
}

/** Asked of the server once nobody has moved it for so long. */
const SETTLED_MS = 250;

/** Any number of executors, `executors` in the address. @param {{ app: import("../types").App, version: string, wallMs: number }} props */
function OtherExecutors({ app, version, wallMs }) {
  const there = app.executorCount || 1;
  const wanted = Math.max(1, Math.min(100_000, Math.round(Number(current().query.get("executors"))) || 0)) * Number(current().query.has("executors"));
  const [value, setValue] = useState(wanted || there);
  const timer = useRef(0);
  useEffect(() => {
    if (wanted) setValue(wanted);
  }, [wanted]);
  useEffect(() => () => clearTimeout(timer.current), []);
  /** @type {import("./use-data.js").Asked<WhatIfs>} */
  const asked = useData(wanted && isRead(version) ? apiPath(["apps", app.ref, "what-ifs"], { executors: wanted }) : null, version);
  /** @param {{ currentTarget: HTMLInputElement }} e */
  const change = (e) => {
    const n = Math.max(1, Math.min(100_000, Math.round(Number(e.currentTarget.value)) || 1));
    setValue(n);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => patchQuery({ executors: n }, { replace: true }), SETTLED_MS);
  };
  return (
    <div class={"whatif-ask" + (wanted ? "" : " no-print")}>
      <label>
        {t("whatif.executors")}{" "}
        <input type="range" min="1" max={Math.max(10, there * 4, value)} value={value} onInput={change} aria-label={t("whatif.executors")} class="no-print" />{" "}
        <input type="number" min="1" max="100000" value={value} onInput={change} aria-label={t("whatif.executors")} />
      </label>
      <span aria-live="polite">
        {wanted ? (
          <Loaded from={asked} rows={1}>
            {(of) => (of.executors ? <Outcome of={of.executors} wallMs={wallMs} /> : <>{t("whatif.unknown")}</>)}
          </Loaded>
        ) : (
          <span class="dim3">{t("whatif.there", there)}</span>
        )}
      </span>
    </div>
  );
}

/** "17.8 s (15.5 s to 20.2 s): 9.2 s less". @param {{ of: WhatIf, wallMs: number }} props */
const Outcome = ({ of, wallMs }) => (
  <>
    {t("whatif.takes", duration(of.wallMs), duration(of.lowMs), duration(of.highMs))} {differs(of.wallMs - wallMs)}
  </>
);

/** @param {number} ms */
const differs = (ms) => (ms === 0 ? t("whatif.same") : ms < 0 ? t("whatif.less", seconds(-ms)) : t("whatif.more", seconds(ms)));

/** In words. @param {WhatIf} w */
function named(w) {
  if (w.scenario !== "W9") return t(/** @type {import("../lib/i18n.js").Key} */ (`whatif.${w.scenario}`));
  if (/^[+-]/.test(w.subject)) return t(w.subject.startsWith("+") ? "whatif.oneMore" : "whatif.oneLess");
  return t("whatif.slots", times(Number(w.subject)));
}

/** Slots first, by their number; then the rest. @param {WhatIf} a @param {WhatIf} b */
function inOrder(a, b) {
  const rank = (/** @type {WhatIf} */ w) => (w.scenario !== "W9" ? 1000 + Number(w.scenario.slice(1)) : w.subject === "-1" ? 0.999 : w.subject === "+1" ? 1.001 : Number(w.subject));
  return rank(a) - rank(b);
}

/** @param {{ of: WhatIfs }} props */
function Stored({ of }) {
  const all = of.whatIfs.filter((w) => !(w.scenario === "W9" && w.subject === "1")).sort(inOrder);
  const rows = alike(all.filter((w) => w.wallMs !== of.wallMs));
  const none = all.filter((w) => w.wallMs === of.wallMs);
  const max = Math.max(of.wallMs, ...rows.map(([w]) => w.highMs));
  return (
    <>
      {rows.length ? <Outcomes of={of} rows={rows} max={max} /> : null}
      {none.length ? <p class="note">{t("whatif.noDifference", none.map(named))}</p> : null}
    </>
  );
}

/** Neighbours with the same outcome together. @param {WhatIf[]} list @returns {WhatIf[][]} */
function alike(list) {
  /** @type {WhatIf[][]} */
  const groups = [];
  for (const w of list) {
    const last = groups[groups.length - 1];
    if (last && ["wallMs", "lowMs", "highMs"].every((k) => last[0][/** @type {"wallMs"} */ (k)] === w[/** @type {"wallMs"} */ (k)])) last.push(w);
    else groups.push([w]);
  }
  return groups;
}

/** @param {{ of: WhatIfs, rows: WhatIf[][], max: number }} props max: ms at the right end of the bars */
function Outcomes({ of, rows, max }) {
  return (
    <table class="tbl whatif">
      <caption class="sr">{t("whatif.title")}</caption>
      <thead>
        <tr>
          <th scope="col">{t("whatif.if")}</th>
          <th scope="col" class="num">
            {t("whatif.wall")}
          </th>
          <th scope="col">{t("whatif.range")}</th>
          <th scope="col" class="num">
            {t("whatif.differs")}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([w, ...same]) => (
          <tr key={w.scenario + w.subject}>
            <td>{t("whatif.names", [w, ...same].map(named))}</td>
            <td class="num">{duration(w.wallMs)}</td>
            <td>
              <span class="find-band" title={t("find.range", duration(w.lowMs), duration(w.highMs))}>
                <i style={{ "--v": w.wallMs / max }} />
                {w.highMs > w.lowMs ? <u style={{ "--lo": w.lowMs / max, "--hi": w.highMs / max }} /> : null}
              </span>
            </td>
            <td class="num">{seconds(w.wallMs - of.wallMs, true)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
