// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { bytes, duration, percent, shortCount } from "../lib/format.js";
import { language, t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { pipelineTime, sizeOf, subtitle } from "../model/plan.js";
import { Graph } from "./graph.jsx";
import { Severity } from "./severity.jsx";

/** @typedef {import("../model/plan-boxes.js").Box} Box */
/** @typedef {import("../model/plan.js").Plan} Plan */

/** Driver time below this is not worth the room. */
const DRIVER_MS = 50;

/** What it reads, joins or sorts by, and how much. @param {import("../model/plan.js").Operator} o */
export function what(o) {
  const size = sizeOf(o.node);
  return [subtitle(o.node), size === null ? null : bytes(size)].filter(Boolean).join(", ");
}

/**
 * A query's plan, drawn.
 * @param {{ appRef: string, file: string, plan: Plan, drawing: import("../model/plan-boxes.js").Drawing, stages: import("../types").SqlStageTime[], node: number | null,
 *   choose: (operator: number) => void, toggle: (key: string) => void, levels: Map<number, number>, marks: Map<number, string>, found: Set<number>, stage: string | null,
 *   tools: import("preact").ComponentChildren, beginAt: number | null }} props
 *   levels: of findings about operators; marks: what changed at an operator; found: operators that a search found; stage: to be pointed at
 */
export function PlanGraph({ appRef, file, plan, drawing, stages, node, choose, toggle, levels, marks, found, stage, tools, beginAt }) {
  const { boxes, edges, bands, boxOf, width, height } = drawing;
  const most = useMemo(() => edges.reduce((m, e) => Math.max(m, e.rows ?? 0), 1), [edges]);
  const lines = useMemo(
    () =>
      edges.map((e) => ({
        from: e.from,
        to: e.to,
        lane: e.lane,
        dashed: e.shuffle,
        width: e.rows ? 1 + 3 * (Math.log10(e.rows + 1) / Math.log10(most + 1)) ** 3 : 1,
        label: e.label ? t("plan.rows", shortCount(e.rows)) : null,
      })),
    [edges, language()],
  );
  const frames = useMemo(() => {
    const of = new Map(stages.map((s) => [`${s.stageId}.${s.attempt}`, s]));
    return [...bands].map(([key, b]) => {
      const s = of.get(key);
      const [id, attempt] = key.split(".").map(Number);
      return {
        ...b,
        key,
        class: key === stage ? "is-sel" : "",
        title: t("stage.title", attempt ? key : id),
        note: s ? t("plan.stageTook", duration(s.durationMs), percent(plan.taskMs ? (s.taskTimeMs ?? 0) / plan.taskMs : null)) : null,
        href: paths.stage(appRef, id, attempt),
      };
    });
  }, [bands, stages, stage, language()]);
  const level = (/** @type {Box} */ b) => b.all.reduce((l, o) => Math.max(l, levels.get(o.id) ?? 0), 0);
  const share = (/** @type {Box} */ b) => (b.ownMs === null || !plan.taskMs ? null : b.ownMs / plan.taskMs);
  /** @param {number} i */
  const tone = (i) => {
    const b = boxes[i];
    return [
      b.small ? "is-small" : "",
      level(b) > 2 ? "is-hot" : level(b) > 1 ? "is-noted" : "",
      b.all.some((o) => found.has(o.id)) ? "is-found" : "",
      b.all.some((o) => marks.has(o.id)) ? "is-changed" : "",
      b.kind === "one" ? "" : "is-folded",
    ]
      .filter(Boolean)
      .join(" ");
  };
  return (
    <Graph
      label={t("plan.label")}
      {...{ width, height, boxes, lines, frames, tools, tone, file }}
      text={(i) => [nameOf(boxes[i]), timeOf(boxes[i]), markOf(boxes[i], marks) ?? subOf(boxes[i])]}
      chosen={node === null ? null : (boxOf.get(node) ?? null)}
      beginAt={beginAt === null ? null : (boxOf.get(beginAt) ?? null)}
      choose={(i) => choose(boxes[i].main.id)}
      open={(i) => {
        const b = boxes[i];
        if (b.kind !== "one") toggle(b.key);
        else if (b.main.cluster !== null) toggle(`c${b.main.cluster}`);
      }}
      content={(i) => <Content box={boxes[i]} plan={plan} share={share(boxes[i])} level={level(boxes[i])} mark={markOf(boxes[i], marks)} toggle={toggle} />}
    />
  );
}

/** @param {Box} b @param {Map<number, string>} marks */
const markOf = (b, marks) => b.all.map((o) => marks.get(o.id)).find(Boolean) ?? null;

/** @param {Box} b */
const nameOf = (b) => (b.kind === "code" ? t("plan.code", b.main.codegen ?? "") : b.kind === "chain" ? t("plan.operators", b.all.length) : b.main.name);

/** @param {Box} b */
const subOf = (b) => (b.kind === "cache" ? t("plan.cached", b.all.length - 1) : b.kind === "one" ? what(b.main) : b.all.map((o) => o.name).join(", "));

/** What it took, where Spark measured it. @param {Box} b */
const timeOf = (b) => (b.ownMs !== null ? duration(b.ownMs) : b.driverMs !== null && b.driverMs >= DRIVER_MS ? t("plan.driver", duration(b.driverMs)) : "");

/** @param {{ box: Box, plan: Plan, share: number | null, level: number, mark: string | null, toggle: (key: string) => void }} props */
function Content({ box: b, plan, share, level, mark, toggle }) {
  const sub = subOf(b);
  const cluster = b.tab === null ? undefined : plan.clusters.get(b.tab);
  const took = cluster ? pipelineTime(cluster) : null;
  return (
    <>
      <div class="gbox-line" title={b.kind === "one" ? (b.main.node.description ?? b.main.name).slice(0, 1000) : b.all.map((o) => o.name).join(", ")}>
        {level ? <Severity level={level} /> : null}
        <b class="clip">{nameOf(b)}</b>
        {b.small ? <span class="clip dim">{mark ?? sub}</span> : null}
        <span class="num">{timeOf(b)}</span>
        {b.kind === "one" ? null : <Fold name="plan.unfold" open={() => toggle(b.key)} sign="+" />}
      </div>
      {b.small ? null : <div class={"gbox-sub clip" + (mark ? " is-mark" : "")}>{mark ?? sub}</div>}
      {share ? <i class="gbox-share" style={{ "--v": Math.min(1, share) }} /> : null}
      {cluster ? (
        <div class="gbox-tab">
          <span class="clip">{t("plan.codeTook", b.main.codegen ?? "", took === null ? "" : duration(took))}</span>
          <Fold name="plan.fold" open={() => toggle(`c${b.tab}`)} sign="−" />
        </div>
      ) : null}
    </>
  );
}

/** For the mouse; Enter does the same. @param {{ name: import("../lib/i18n.js").Key, open: () => void, sign: string }} props */
const Fold = ({ name, open, sign }) => (
  <span
    class="gbox-fold"
    title={t(name)}
    onClick={(e) => {
      e.stopPropagation();
      open();
    }}
  >
    {sign}
  </span>
);
