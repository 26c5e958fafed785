// SPDX-License-Identifier: Apache-2.0
/**
 * The RDD operation graph as boxes: one an operation (the outermost scope that made its RDDs) of a stage, placed by plan-layout.js, with a frame round each stage. A
 * stage that was skipped, or one with very many operations, is a single box until it is opened.
 */
import { bands, lanes, place } from "./plan-layout.js";

/** @typedef {import("../types").GraphStage} GraphStage */
/** @typedef {import("../types").GraphRdd} GraphRdd */
/** @typedef {{ key: string, stage: GraphStage, name: string | null, rdds: GraphRdd[], folded: boolean, x: number, y: number, w: number, h: number }} OperationBox name: null: its RDDs have no scope, or it is a whole stage */

export const OPERATION = { w: 224, line: 16, top: 22, most: 4 };
const GAPS = { gapX: 36, gapY: 22, wideY: 56 };
/** Together the stages of a job show so many operations; those of the largest stages are folded first. */
const MOST = 400;

/** @param {GraphStage[]} stages @param {Set<string>} toggled keys ("s5") of stages that are folded though they usually are not, or the other way round */
export function drawRdds(stages, toggled) {
  const many = stages.reduce((n, s) => n + s.rdds.length, 0) > MOST;
  /** @type {OperationBox[]} */
  const boxes = [];
  /** @type {Map<string, number>} */
  const at = new Map(); // stage and RDD: its box
  /** @type {Map<number, number[]>} */
  const stagesOf = new Map(); // RDD: stages that hold it
  for (const stage of stages) {
    const folded = (stage.skipped || (many && stage.rdds.length > MOST / 20)) !== toggled.has(`s${stage.stageId}`);
    /** @type {Map<string, number>} */
    const own = new Map();
    if (!stage.rdds.length) boxes.push(boxOf(stage, null, folded));
    for (const r of stage.rdds) {
      const scope = r.scopes[0];
      const key = folded ? "" : scope ? `s ${scope.id}` : `r ${r.id}`;
      let i = own.get(key);
      if (i === undefined) own.set(key, (i = boxes.push(boxOf(stage, folded ? null : (scope?.name ?? null), folded)) - 1));
      boxes[i].rdds.push(r);
      at.set(`${stage.stageId} ${r.id}`, i);
      stagesOf.set(r.id, [...(stagesOf.get(r.id) ?? []), stage.stageId]);
    }
  }
  for (const b of boxes) if (!b.folded) b.h = OPERATION.top + OPERATION.line * Math.min(OPERATION.most, b.rdds.length) + (b.rdds.length > OPERATION.most ? OPERATION.line : 0);
  const lines = edges(stages, at, stagesOf);
  const { places, width, height } = place(boxes, lines, GAPS);
  places.forEach((p, i) => Object.assign(boxes[i], { x: p.x, y: p.y }));
  lanes(boxes, places, lines).forEach((x, i) => (lines[i].lane = x));
  const frames = bands(boxes, places, (i) => boxes[i].key);
  return { boxes, lines, frames, width, height };
}

/** @param {GraphStage} stage @param {string | null} name @param {boolean} folded @returns {OperationBox} */
const boxOf = (stage, name, folded) => ({ key: `s${stage.stageId}`, stage, name, rdds: [], folded, x: 0, y: 0, w: OPERATION.w, h: OPERATION.top });

/** An RDD that several stages compute has a box in each; what comes from outside comes from a stage that this one reads. @param {GraphStage[]} stages @param {Map<string, number>} at @param {Map<number, number[]>} stagesOf */
function edges(stages, at, stagesOf) {
  /** @type {{ from: number, to: number, wide: boolean, dashed: boolean, lane?: number }[]} */
  const out = [];
  const seen = new Set();
  for (const s of stages)
    for (const r of s.rdds)
      for (const p of r.parentIds) {
        const inside = at.get(`${s.stageId} ${p}`);
        const holders = inside === undefined ? (stagesOf.get(p) ?? []) : [];
        const from = inside ?? at.get(`${holders.find((h) => s.parentIds.includes(h)) ?? holders[0]} ${p}`);
        const to = /** @type {number} */ (at.get(`${s.stageId} ${r.id}`));
        if (from === undefined || from === to || seen.has(`${from} ${to}`)) continue;
        seen.add(`${from} ${to}`);
        out.push({ from, to, wide: inside === undefined, dashed: inside === undefined });
      }
  return out;
}
