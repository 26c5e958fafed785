// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dotOf, dotText, svgOf, xmlText } from "../model/graph-file.js";

/** Two boxes in a frame, a third outside, a dashed line with a label. @param {string} evil a text of a log */
const picture = (evil) => ({
  label: "query 1",
  width: 300,
  height: 200,
  boxes: [
    { x: 0, y: 0, w: 224, h: 40 },
    { x: 0, y: 60, w: 224, h: 22 },
    { x: 0, y: 140, w: 224, h: 22 },
  ],
  lines: [
    { from: 0, to: 1 },
    { from: 1, to: 2, dashed: true, label: evil },
  ],
  frames: [{ key: "1.0", rects: [{ x: 0, y: 0, w: 224, h: 82 }], x: 0, y: 0, title: "Stage 1", note: evil }],
  text: (/** @type {number} */ i) => [["Scan", evil, null][0] ?? "", i === 0 ? evil : null, i === 2 ? "3 s" : ""],
  stressed: (/** @type {number} */ i) => i === 2,
});

describe("a drawing as a file", () => {
  it("escapes what XML would take for its own, and drops what XML cannot hold", () => {
    assert.equal(xmlText(`<b a="x" c='y'>&amp;`), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
    assert.equal(xmlText("a\u0000b\u000bc\ud800d\ufffee 😀"), "a\ufffdb\ufffdc\ufffdd\ufffde 😀");
  });

  it("escapes what DOT would take for its own", () => {
    assert.equal(dotText('say "hi" \\N \\" \n end\u0000'), '"say \\"hi\\" \\\\N \\\\\\" \\n end"');
    assert.equal(dotText("<b>html</b>"), '"<b>html</b>"'); // in quotes it is no HTML label
  });

  it("has a node a box, a cluster a frame, an edge a line", () => {
    const dot = dotOf(picture('a "b" \\l'));
    assert.equal(
      dot,
      `digraph "query 1" {
  node [shape=box, fontname="sans-serif", fontsize=10];
  subgraph cluster_0 {
    label="Stage 1\\na \\"b\\" \\\\l";
    b0 [label="Scan\\na \\"b\\" \\\\l"];
    b1 [label="Scan"];
  }
  b2 [label="Scan\\n3 s", penwidth=3];
  b0 -> b1;
  b1 -> b2 [style=dashed, label="a \\"b\\" \\\\l"];
}
`,
    );
  });

  it("draws the same in SVG, with no markup of the log's", () => {
    const svg = svgOf(picture('</title><script>alert("1")</script>&'), (token) => (token === "--sev-critical" ? "#a00" : "#123"));
    assert.ok(!/<script|<\/title></.test(svg.replace(/<\/title><rect/g, "")));
    assert.equal(svg.match(/<svg x=/g)?.length, 3);
    assert.equal(svg.match(/stroke="#a00"/g)?.length, 1);
    assert.equal(svg.match(/stroke-dasharray/g)?.length, 1);
    assert.match(svg, /viewBox="-24 -40 348 264"/);
    assert.match(svg, /d="M112 40C112 50 112 50 112 60"/); // from the foot of the first box to the head of the second
  });
});
