// SPDX-License-Identifier: Apache-2.0

/**
 * A run as the pages take it. In the first moments of a load the server knows the state and no more than that: what is missing becomes unknown or empty, and
 * `loading` is there until the log was read to its end.
 * @param {import("../types").AppAnswer} answer @returns {import("../types").App}
 */
export function settled(answer) {
  const underWay = answer.state === "loading" || answer.state === "waiting";
  return {
    ...answer,
    loading: answer.loading ?? (underWay ? { readBytes: answer.readBytes, totalBytes: answer.totalBytes, lines: null } : null),
    log: answer.log ?? { files: null, bytes: answer.totalBytes, textBytes: null, lines: null, layout: answer.layout, codecs: null, path: answer.logPath },
    cores: answer.cores ?? { max: null },
    slowestStages: answer.slowestStages ?? [],
    failedJobs: answer.failedJobs ?? [],
    failedStages: answer.failedStages ?? [],
  };
}
