// SPDX-License-Identifier: Apache-2.0
/** Fixes that a person tracks in this browser: which finding of which run was to be cured, so that the next run of the same job can be held against it. */

/** @typedef {{ job: string, ref: string, rule: string, kind: string, key: string }} Tracked job: the run's key of its job (baseline); ref: the run that had the finding */

/** So many are kept; the oldest go. */
const MOST = 50;
const KEYS = /** @type {const} */ (["job", "ref", "rule", "kind", "key"]);

/** From texts that a browser kept; junk is ignored. @param {string[]} texts @returns {Tracked[]} */
export const read = (texts) =>
  texts.flatMap((text) => {
    try {
      const x = JSON.parse(text);
      return KEYS.every((k) => typeof x?.[k] === "string") ? [x] : [];
    } catch {
      return [];
    }
  });

/** @param {Tracked} x */
const same = (x) => (/** @type {Tracked} */ y) => x.ref === y.ref && x.rule === y.rule && x.kind === y.kind && x.key === y.key;

/** @param {Tracked[]} all @param {Omit<Tracked, "job">} x */
export const isTracked = (all, x) => all.some(same({ ...x, job: "" }));

/** With it as the newest, or without it where it is there. @param {Tracked[]} all @param {Tracked} x @returns {string[]} to keep */
export function toggled(all, x) {
  const others = all.filter((y) => !same(x)(y));
  const next = others.length < all.length ? others : [...all, x].slice(-MOST);
  return next.map(({ job, ref, rule, kind, key }) => JSON.stringify({ job, ref, rule, kind, key }));
}

/** What is tracked of a run's job: of that other run in which something was tracked last. @param {Tracked[]} all @param {string | null} job @param {string} ref of the run that is looked at @returns {Tracked[]} */
export function ofJob(all, job, ref) {
  const others = all.filter((x) => job !== null && x.job === job && x.ref !== ref);
  return others.filter((x) => x.ref === others.at(-1)?.ref);
}

/**
 * What became of a finding in a later run; elsewhere: it is gone, and another one of its rule has come.
 * @param {Tracked} x @param {import("../types").Comparison} compared with the run that had it as base
 */
export function outcomeOf(x, { findings = [] }) {
  const its = findings.find((f) => f.rule === x.rule && f.subjectKind === x.kind && f.baseSubject === x.key);
  return its ? { ...its, elsewhere: its.news === "gone" && findings.some((f) => f.rule === x.rule && f.news === "new") } : null;
}
