// SPDX-License-Identifier: Apache-2.0
/** A drawing of boxes (components/graph.jsx) as a file to take away: SVG as it is placed here, DOT for tools that place by themselves. Texts come from logs: both escape all of them. */

/** @typedef {{ x: number, y: number, w: number, h: number }} Rect */
/** @typedef {{ from: number, to: number, dashed?: boolean, width?: number, label?: string | null, lane?: number }} Line positions of boxes; lane: x of the column in which a long one goes down */
/** @typedef {{ key: string, rects: Rect[], x: number, y: number, title: string, note?: string | null }} Frame round boxes that belong together: x and y of its topmost box */
/** @typedef {{ label: string, width: number, height: number, boxes: Rect[], lines: Line[], frames: Frame[], text: (box: number) => (string | null)[], stressed: (box: number) => boolean }} Picture
 *   text: lines of a box, the first its name; stressed: worth a look */

/** Room round the drawing; heads of frames stand in it. */
export const PAD = { x: 24, top: 40, bottom: 24 };
/** A frame stands out from its boxes by so much. */
export const FRAME = { x: 12, top: 24, bottom: 8 };
/** Height of the bends of a line that goes down in a column of its own: the room between two rows. */
const BEND = 24;

/** From the bottom of a box to the top of another one. @param {Rect} a @param {Rect} b @param {number} [lane] */
export function linePath(a, b, lane) {
  const [x1, y1, x2, y2] = [a.x + a.w / 2, a.y + a.h, b.x + b.w / 2, b.y];
  /** @param {number} fromX @param {number} fromY @param {number} toX @param {number} toY */
  const bend = (fromX, fromY, toX, toY) => `C${fromX} ${(fromY + toY) / 2} ${toX} ${(fromY + toY) / 2} ${toX} ${toY}`;
  if (lane === undefined) return `M${x1} ${y1}${bend(x1, y1, x2, y2)}`;
  const [up, down] = [Math.min(y1 + BEND, y2), Math.max(y2 - BEND, y1)];
  return `M${x1} ${y1}${bend(x1, y1, lane, up)}V${down}${bend(lane, down, x2, y2)}`;
}

/** Outlines of all pieces of a frame. @param {Frame} f */
export const framePath = (f) => f.rects.map((r) => `M${r.x - FRAME.x} ${r.y - FRAME.top}h${r.w + 2 * FRAME.x}v${r.h + FRAME.top + FRAME.bottom}h${-r.w - 2 * FRAME.x}z`).join("");

/** Characters that XML does not have in any form, and halves of such that need two. */
const NO_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const ENTITIES = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" });

/** @param {string} text */
export const xmlText = (text) => text.replace(NO_XML, "\uFFFD").replace(/[&<>"']/g, (c) => ENTITIES[c]);

/** In double quotes; a backslash would begin an escape of DOT's own, as \N, the name of the node. @param {string} text */
export const dotText = (text) => `"${text.replace(/[\0\r]/g, "").replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;

/** More of a text than that is no label. */
const LABEL_CHARS = 300;
/** @param {Picture} p @param {number} i */
const linesOf = (p, i) => p.text(i).flatMap((s) => (s ? [s.replace(/\s+/g, " ").trim().slice(0, LABEL_CHARS)] : []));

const LINE_PX = 16;

/** @param {Picture} p @param {(token: string) => string} ink colours by token */
export function svgOf(p, ink) {
  const colour = (/** @type {string} */ token) => xmlText(ink(token));
  const [w, h] = [p.width + 2 * PAD.x, p.height + PAD.top + PAD.bottom];
  const frames = p.frames.map(
    (f) =>
      `<path d="${framePath(f)}" fill="none" stroke="${colour("--line-strong")}" stroke-width="2"/><path d="${framePath(f)}" fill="${colour("--bg")}"/>` +
      `<text x="${f.x - FRAME.x + 8}" y="${f.y - 8}" fill="${colour("--text-2")}"><tspan font-weight="600" fill="${colour("--text")}">${xmlText(f.title)}</tspan> ${xmlText(f.note ?? "")}</text>`,
  );
  const lines = p.lines.map((l) => {
    const [a, b] = [p.boxes[l.from], p.boxes[l.to]];
    const label = l.label ? `<text x="${a.x + a.w / 2 + 7}" y="${a.y + a.h + 15}" fill="${colour("--text-2")}">${xmlText(l.label)}</text>` : "";
    return `<path d="${linePath(a, b, l.lane)}" fill="none" stroke="${colour("--text-3")}" stroke-width="${l.width ?? 1}"${l.dashed ? ' stroke-dasharray="5 4"' : ""}/>${label}`;
  });
  const boxes = p.boxes.map((b, i) => {
    const [name = "", ...rest] = linesOf(p, i);
    const fit = Math.max(1, Math.floor((b.h - 2) / LINE_PX));
    const bold = `<tspan font-weight="600" fill="${colour("--text")}">${xmlText(name)}</tspan>`;
    // What has no line of its own stands on the last one.
    const text = fit === 1 ? [`${bold} ${xmlText(rest.join(" · "))}`] : [bold, ...[...rest.slice(0, fit - 2), rest.slice(fit - 2).join(" · ")].map(xmlText)];
    // A picture in the picture cuts what is too long for the box.
    return (
      `<svg x="${b.x}" y="${b.y}" width="${b.w}" height="${b.h}"><title>${xmlText([name, ...rest].join("\n"))}</title>` +
      `<rect x=".5" y=".5" width="${b.w - 1}" height="${b.h - 1}" rx="3" fill="${colour("--bg")}" stroke="${colour(p.stressed(i) ? "--sev-critical" : "--line-strong")}"/>` +
      text.map((s, n) => `<text x="8" y="${LINE_PX * (n + 1) - 1}" fill="${colour("--text-2")}">${s}</text>`).join("") +
      "</svg>"
    );
  });
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="${-PAD.x} ${-PAD.top} ${w} ${h}" font-family="system-ui, sans-serif" font-size="11">` +
    `<title>${xmlText(p.label)}</title><rect x="${-PAD.x}" y="${-PAD.top}" width="${w}" height="${h}" fill="${colour("--surface")}"/>\n${[...frames, ...lines, ...boxes].join("\n")}\n</svg>\n`
  );
}

/** @param {Picture} p */
export function dotOf(p) {
  const inside = (/** @type {Frame} */ f, /** @type {Rect} */ b) => f.rects.some((r) => b.x >= r.x && b.y >= r.y && b.x + b.w <= r.x + r.w && b.y + b.h <= r.y + r.h);
  const node = (/** @type {number} */ i) => `b${i} [label=${dotText(linesOf(p, i).join("\n"))}${p.stressed(i) ? ", penwidth=3" : ""}];`;
  const frameOf = p.boxes.map((b) => p.frames.findIndex((f) => inside(f, b)));
  return [
    `digraph ${dotText(p.label)} {`,
    '  node [shape=box, fontname="sans-serif", fontsize=10];',
    ...p.frames.flatMap((f, k) => [
      `  subgraph cluster_${k} {`,
      `    label=${dotText([f.title, f.note].filter(Boolean).join("\n"))};`,
      ...p.boxes.flatMap((_, i) => (frameOf[i] === k ? [`    ${node(i)}`] : [])),
      "  }",
    ]),
    ...p.boxes.flatMap((_, i) => (frameOf[i] < 0 ? [`  ${node(i)}`] : [])),
    ...p.lines.map((l) => {
      const how = [l.dashed ? "style=dashed" : "", l.label ? `label=${dotText(l.label)}` : ""].filter(Boolean).join(", ");
      return `  b${l.from} -> b${l.to}${how ? ` [${how}]` : ""};`;
    }),
    "}\n",
  ].join("\n");
}
