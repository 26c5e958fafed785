// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { inOrder, logsOf } from "../model/added.js";

const of = (/** @type {string[]} */ ...paths) => logsOf(paths.map((path) => ({ path, file: path.slice(path.lastIndexOf("/") + 1) })));

test("files are a log each, a folder is sent as one, those below it by themselves", () => {
  assert.deepEqual(of("a", "b"), [
    { name: "a", folder: null, files: ["a"] },
    { name: "b", folder: null, files: ["b"] },
  ]);
  assert.deepEqual(of("logs/app-1", "logs/eventlog_v2_x/events_1_x", "logs/app-2", "logs/deep/eventlog_v2_x/events_1_x"), [
    { name: "logs", folder: "logs", files: ["app-1", "app-2"] },
    { name: "eventlog_v2_x", folder: "eventlog_v2_x", files: ["events_1_x"] },
    { name: "eventlog_v2_x", folder: "eventlog_v2_x", files: ["events_1_x"] },
  ]);
});

test("what is hidden is no part of a log, nor is a folder in a rolling one", () => {
  assert.deepEqual(of(".hidden", "logs/.DS_Store", "logs/.git/config", "eventlog_v2_x/below/notes", "eventlog_v2_x/.events_1_x.crc", "eventlog_v2_x/appstatus_x"), [
    { name: "eventlog_v2_x", folder: "eventlog_v2_x", files: ["appstatus_x"] },
  ]);
});

test("files of a rolling log go in the order they were written, the mark of its end last", () => {
  const named = (/** @type {string} */ name) => ({ name });
  assert.deepEqual(
    inOrder(["appstatus_x", "events_10_x", "events_2_x", "events_1_x.compact"].map(named)).map((f) => f.name),
    ["events_1_x.compact", "events_2_x", "events_10_x", "appstatus_x"],
  );
});
