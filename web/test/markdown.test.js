// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { block, code, escape, link, table } from "../lib/markdown.js";

describe("markdown", () => {
  it("escapes what would be markup", () => {
    assert.equal(escape("a|b `c` *d* _e_ [f](g) <h> \\ ~i~"), "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f\\](g) \\<h\\> \\\\ \\~i\\~");
    assert.equal(escape("# not a heading"), "\\# not a heading");
    assert.equal(escape("- not a list"), "\\- not a list");
    assert.equal(escape("1. not a list"), "1\\. not a list");
    assert.equal(escape("−0.40 s, 3.5"), "−0.40 s, 3.5");
  });

  it("keeps a text in its line", () => assert.equal(escape("one\n\ttwo\r\n three"), "one two three"));

  it("puts as many backticks around code as it needs", () => {
    assert.equal(code("spark.sql.x"), "`spark.sql.x`");
    assert.equal(code("a `b` ``c``"), "``` a `b` ``c`` ```");
    assert.equal(block("a\n```\nb\n", "sql"), "````sql\na\n```\nb\n````");
  });

  it("makes tables whose cells hold anything", () => {
    assert.equal(table(["What", "Time"], [["a|b", "1 s"], ["line\nbreak"]], [false, true]), "| What | Time |\n| --- | ---: |\n| a\\|b | 1 s |\n| line break |  |");
  });

  it("keeps an address in its brackets", () => assert.equal(link("a [b]", "http://x/a(1) 2"), "[a \\[b\\]](http://x/a%281%29%202)"));
});
