// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { columnOrder, moved } from "../model/columns.js";

const ALL = ["mark", "name", "outcome", "start", "tasks", "input"];
const FIXED = new Set(["mark", "name", "start"]);
const order = (/** @type {string[] | null} */ chosen) => columnOrder(ALL, FIXED, chosen).join(" ");

test("columns stand as the table has them until one was moved", () => {
  assert.equal(order(null), ALL.join(" "));
  assert.equal(order(["mark", "name", "start", "tasks"]), ALL.join(" "), "fewer of them, none moved");
});

test("moved ones stand as chosen, behind what is always shown, and hidden ones behind their neighbour", () => {
  assert.equal(order(["mark", "name", "start", "input", "outcome"]), "mark name start input outcome tasks");
  assert.equal(order(["input", "tasks", "outcome"]), "mark name start input tasks outcome");
  assert.equal(order(["input", "nothing", "tasks", "input"]), "mark name start outcome input tasks", "junk in a preference or an address");
});

test("a column moves to an index, at most to an end", () => {
  assert.deepEqual(moved(["a", "b", "c"], "a", 1), ["b", "a", "c"]);
  assert.deepEqual(moved(["a", "b", "c"], "c", -1), ["c", "a", "b"]);
  assert.deepEqual(moved(["a", "b", "c"], "a", Infinity), ["b", "c", "a"]);
});
