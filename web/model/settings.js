// SPDX-License-Identifier: Apache-2.0
/** Spark properties in the order of the environment page: those that a finding names first, then those that differ from what Spark takes by itself, then the rest; values of this run alone apart. */

/** @typedef {import("../types").Finding} Finding */
/** @typedef {import("../types").Setting} Setting */
/** @typedef {{ name: string, value: string | null, setting: Setting | null, namedBy: Finding[], level: number, group: 0 | 1 | 2, perRun: boolean }} Property */

/** Which findings speak of a setting: about it, with it in their evidence, or of a rule that it matters to. @param {Finding[]} findings @param {string} name @param {Setting | null} setting */
const naming = (findings, name, setting) =>
  findings.filter(
    (f) =>
      // One that speaks of all settings together names none.
      !(f.subject.kind === "conf" && f.subject.key === "-") &&
      ((f.subject.kind === "conf" && f.subject.key === name) ||
      f.evidence.rows.some((r) => r.kind === "conf" && r.key === name) ||
      (setting?.state === "effective" && setting.differs && setting.rules.includes(f.rule))),
  );

/**
 * @param {import("../types").Environment} data @param {Finding[]} findings the server's order: the most important first @param {(f: Finding) => number} level
 * @returns {Property[]}
 */
export function properties(data, findings, level) {
  const entries = data.sections.find((s) => s.name === "spark")?.entries ?? [];
  const perRun = new Set(data.perRun);
  const known = new Map(data.settings.filter((s) => !s.atRunTime).map((s) => [s.name, s]));
  // What a session set has no entry of its own in the environment, or another value there.
  const sessions = data.settings.filter((s) => s.atRunTime);
  /** @type {Property[]} */
  const all = [
    ...entries.map(([name, value]) => ({ name, value, setting: known.get(name) ?? null })),
    ...sessions.map((s) => ({ name: s.name, value: s.value, setting: s })),
  ].map((p) => {
    const namedBy = naming(findings, p.name, p.setting);
    const worst = namedBy.reduce((n, f) => Math.max(n, level(f)), 0);
    return { ...p, namedBy, level: worst, group: namedBy.length ? 0 : p.setting?.differs ? 1 : 2, perRun: perRun.has(p.name) && !namedBy.length };
  });
  return all.sort((a, b) => a.group - b.group || b.level - a.level || (a.group === 1 ? (b.setting?.distance ?? 0) - (a.setting?.distance ?? 0) : 0) || a.name.localeCompare(b.name));
}

/** What a secret was replaced with before it was stored. @param {string | null} value */
export const redacted = (value) => Boolean(value?.includes("(redacted)"));
