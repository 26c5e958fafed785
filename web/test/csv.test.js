// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csv } from "../lib/csv.js";

describe("csv", () => {
  it("is rows of cells, quoted where they need it", () =>
    assert.equal(csv([["What", "Time"], ['a "b", c', "1 s"], ["x;y", ""]]), 'What,Time\r\n"a ""b"", c",1 s\r\n"x;y",\r\n'));

  it("lets no text of a log be a formula, and leaves numbers alone", () =>
    assert.equal(csv([["=1+1", "@x", "-1", "-1.5", "-1 s", "+6.61 s", "−1.93 s"]]), "'=1+1,'@x,-1,-1.5,'-1 s,'+6.61 s,−1.93 s\r\n"));
});
