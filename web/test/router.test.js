// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse, patched } from "../lib/router.js";

describe("router", () => {
  it("takes the prefix of a proxy off the path", () => {
    const r = parse("/spark/afterglow/a/app-1.2/stages/14.0", "?sort=-id", "/spark/afterglow/");
    assert.deepEqual(r.parts, ["a", "app-1.2", "stages", "14.0"]);
    assert.equal(r.query.get("sort"), "-id");
  });

  it("reads the root as no parts", () => {
    assert.deepEqual(parse("/", "", "/").parts, []);
    assert.deepEqual(parse("/p/", "", "/p/").parts, []);
  });

  it("decodes escapes and survives malformed ones", () => {
    assert.deepEqual(parse("/a/x%2Fy", "", "/").parts, ["a", "x/y"]);
    assert.deepEqual(parse("/a/100%", "", "/").parts, ["a", "100%"]);
  });

  it("changes only the named keys and drops empty ones", () => {
    assert.equal(patched(new URLSearchParams("sort=-id&page=3&q=x"), { page: null, q: "", limit: 25 }).toString(), "sort=-id&limit=25");
  });
});
