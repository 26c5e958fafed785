// SPDX-License-Identifier: Apache-2.0
/** One line that says what an error is about. The whole text stays one click away. */

/** Longer lines are cut; no table shows more. */
const MAX_CHARACTERS = 400;

/** What Spark says of a job before it tells the error of the task that it gave up on: with the host beside the task's id since 3.0, within it before. */
const GIVEN_UP = /^Job aborted due to stage failure: .*?most recent failure: Lost task [\d.]+ in stage [\d.]+ \(TID \d+[^)]*\)(?: \([^)]*\))?: (?=\S)/;

/**
 * Usually the first line, of a job that was given up without what Spark says before the error. A Python error begins with "Traceback (most recent call last):" and says what happened in the last line of the traceback,
 * before the Java frames:
 *
 *     org.apache.spark.api.python.PythonException: Traceback (most recent call last):
 *       File "worker.py", line 1247, in main
 *     ValueError: planted                            <- this one
 *
 *             at org.apache.spark…
 *
 * @param {string} text
 */
export function summary(text) {
  const lines = text.trim().split("\n");
  const traceback = lines.findIndex((l) => l.includes("Traceback (most recent call last):"));
  let line = lines[0];
  if (traceback >= 0) {
    let end = lines.findIndex((l, i) => i > traceback && (/^\s*at [\w.$]+/.test(l) || l.trim() === ""));
    if (end < 0) end = lines.length;
    const said = lines
      .slice(traceback + 1, end)
      .reverse()
      .find((l) => /^\S/.test(l));
    if (said) line = said;
  }
  return line.trim().replace(GIVEN_UP, "").slice(0, MAX_CHARACTERS);
}
