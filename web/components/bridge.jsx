// SPDX-License-Identifier: Apache-2.0
import { duration, exactMs, seconds, zoned } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as markdown from "../lib/markdown.js";
import * as paths from "../lib/paths.js";
import { callSite } from "../model/app.js";
import { bridge, ticks } from "../model/compare.js";
import { Joined } from "./cells.jsx";
import { Section } from "./facts.jsx";
import { tip } from "./tip.jsx";
import { copyAndSay } from "./toast.jsx";

/** @typedef {import("../types").ComparedPart} Part */
/** @typedef {{ base: string | null, run: string }} Refs */

const BAR_PX = 14;
/** A part too small to see is drawn this wide, in percent. */
const LEAST = 0.25;

/**
 * From what the earlier run took to what this one took, part by part, each with what is behind it. A table, whose one column is the chart.
 * @param {{ of: import("../types").Comparison, refs: Refs }} props
 */
export function Bridge({ of: c, refs }) {
  const { steps, lowMs, highMs, cut } = bridge(c.usualMs ?? 0, c.parts ?? []);
  const place = (/** @type {number} */ ms) => (100 * (ms - lowMs)) / (highMs - lowMs || 1);
  const marks = ticks(lowMs, highMs, 5);
  const isUsual = c.baseline !== null;
  const bar = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ kind, /** @type {string} */ text) => {
    const [from, to] = [place(Math.min(a, b)), place(Math.max(a, b))];
    return (
      <svg class="bridge-svg" width="100%" height={BAR_PX} aria-hidden="true" {...tip(() => text)}>
        {marks.map((ms) => (
          <line key={ms} class="grid" x1={`${place(ms)}%`} x2={`${place(ms)}%`} y1="0" y2={BAR_PX} />
        ))}
        <rect class={"bridge-bar " + kind} x={`${from}%`} width={`${Math.max(LEAST, to - from)}%`} height={BAR_PX} />
      </svg>
    );
  };
  const total = (/** @type {string} */ label, /** @type {number | null} */ ms, /** @type {import("preact").ComponentChildren} */ note) => (
    <tr class="bridge-total">
      <th scope="row">{label}</th>
      <td class="bridge-chart">{bar(Math.max(0, lowMs), ms ?? 0, "is-total", `${label}\n${duration(ms)}`)}</td>
      <td class="num" title={exactMs(ms)}>
        {duration(ms)}
      </td>
      <td class="bridge-note">{note}</td>
    </tr>
  );
  return (
    <Section
      title={t("bridge.title")}
      tools={
        <button type="button" class="btn is-small" onClick={() => copyAndSay(comparisonMarkdown(c, location.href), "share.verdictCopied")}>
          {t("share.copyVerdict")}
        </button>
      }
      note={[t(isUsual ? "bridge.hatched" : "bridge.hatchedOne"), cut ? t("bridge.cut") : ""].filter(Boolean).join(" ")}
    >
      <svg width="0" height="0" class="bridge-defs" aria-hidden="true">
        <defs>
          {["worse", "better"].map((kind) => (
            <pattern key={kind} id={`hatch-${kind}`} class={`bridge-hatch is-${kind}`} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="2" height="5" />
            </pattern>
          ))}
        </defs>
      </svg>
      <div class="tbl-wrap">
        <table class="tbl bridge">
          <caption class="sr">{t("bridge.title")}</caption>
          <thead>
            <tr>
              <th scope="col">{t("bridge.part")}</th>
              <th scope="col" class="bridge-chart">
                <svg class="bridge-axis" width="100%" height={BAR_PX} aria-hidden="true">
                  {marks.map((ms) => (
                    <text key={ms} x={`${place(ms)}%`} y="11" text-anchor={place(ms) < 4 ? "start" : place(ms) > 96 ? "end" : "middle"}>
                      {duration(ms)}
                    </text>
                  ))}
                </svg>
              </th>
              <th scope="col" class="num">
                {t("compare.difference")}
              </th>
              <th scope="col">{t("bridge.behind")}</th>
            </tr>
          </thead>
          <tbody>
            {total(t(isUsual ? "bridge.usual" : "bridge.base"), c.usualMs, isUsual ? t("bridge.median", c.baseline?.members.length ?? 0) : zoned(c.base?.startMs))}
            {steps.map(({ part, fromMs, toMs }, i) => (
              <tr key={i}>
                <th scope="row" class="bridge-what">
                  {part.text}
                </th>
                <td class="bridge-chart">
                  {bar(
                    fromMs,
                    toMs,
                    (part.ms > 0 ? "is-worse" : "is-better") + (part.withinNoise ? " is-noise" : ""),
                    `${part.text}\n${seconds(part.ms, true)}${part.withinNoise ? `\n${t("bridge.within", seconds(part.noiseMs))}` : ""}`,
                  )}
                </td>
                <td class="num" title={exactMs(part.ms)}>
                  <b class={part.ms > 0 ? "is-worse" : "is-better"}>{seconds(part.ms, true)}</b>
                </td>
                <td class="bridge-note">
                  <Behind part={part} refs={refs} isUsual={isUsual} />
                </td>
              </tr>
            ))}
            {total(t("bridge.this"), c.new.wallMs, c.deltaMs === null ? null : seconds(c.deltaMs, true))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** The sentence and its parts, for a ticket. @param {import("../types").Comparison} c @param {string} here */
const comparisonMarkdown = (c, here) =>
  [
    markdown.link(c.new.name ?? c.new.id ?? "", here) + ": " + markdown.escape(c.sentence),
    markdown.table(
      [t("bridge.part"), t("compare.difference"), t("bridge.behind")],
      (c.parts ?? []).map((p) => [p.text, seconds(p.ms, true), [callSite(p.what), ...p.settings].filter((x) => x !== null).join(", ")]),
      [false, true],
    ),
  ].join("\n\n");

/** Where it is, in either run; which settings may be the reason; how much of it is usual. @param {{ part: Part, refs: Refs, isUsual: boolean }} props */
function Behind({ part, refs, isUsual }) {
  const link = (/** @type {string | null} */ ref, /** @type {number | null} */ id, /** @type {string} */ text) =>
    ref === null || id === null ? null : <a href={part.idKind === "sql" ? paths.sql(ref, id) : paths.stage(ref, id, 0)}>{text}</a>;
  const name = (/** @type {number} */ id) => t(part.idKind === "sql" ? "bridge.query" : "bridge.stage", id);
  const places = [
    part.baseId === null ? null : link(refs.base, part.baseId, t("bridge.before", name(part.baseId))),
    part.newId === null ? null : link(refs.run, part.newId, t("bridge.now", name(part.newId))),
  ].filter((x) => x !== null);
  return (
    <>
      {places.length ? (
        <div>
          <Joined items={places}>{(x) => x}</Joined>
          {part.count > 1 ? ` ${t("list.more", part.count - 1)}` : ""}
        </div>
      ) : null}
      {part.what === null ? null : (
        <div class="clip" title={part.what}>
          {callSite(part.what)}
        </div>
      )}
      {part.settings.length ? (
        <div>
          <Joined items={part.settings}>
            {(name) => (
              <a class="mono" href={paths.page(refs.run, "env", { q: name })}>
                {name}
              </a>
            )}
          </Joined>
        </div>
      ) : null}
      {part.withinNoise && isUsual ? <div>{t("bridge.within", seconds(part.noiseMs))}</div> : null}
    </>
  );
}
