// SPDX-License-Identifier: Apache-2.0
import { apiHref, apiPath } from "../api.js";
import { Bytes, Clip, Count } from "../components/cells.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { PageFindings, isRead, useFindings } from "../components/findings.jsx";
import { Severity } from "../components/severity.jsx";
import { Loaded, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { DASH, bytes, count, duration, exactBytes, offset, percent } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { callSite } from "../model/app.js";
import { checks } from "../model/health.js";

/** @typedef {import("../types").App} App */
/** @typedef {import("../types").LogHealth} LogHealth */
/** @typedef {import("../lib/i18n.js").Key} Key */

/** Is the data complete? Every number on other pages rests on this. @param {{ app: App, version: string }} props */
export function Log({ app, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<LogHealth>} */ (useData(apiPath(["apps", app.ref, "health"]), version));
  const findings = useFindings(app.ref, version);
  const log = app.log;
  return (
    <Together of={[isRead(version) ? findings : null, asked]} rows={14} facts>
      {() => (
        <>
          <PageFindings appRef={app.ref} version={version} page="log" />
          <Facts
            items={[
              [t("col.lines"), count(log.lines)],
              [
                t("log.size"),
                bytes(log.bytes),
                log.textBytes !== null && log.bytes !== null && log.bytes < 0.995 * log.textBytes
                  ? t("log.uncompressed", bytes(log.textBytes), percent(log.textBytes ? log.bytes / log.textBytes : null))
                  : null,
                exactBytes(log.bytes),
              ],
              [t("log.files"), count(log.files), log.layout ? word("layout", log.layout) : null],
              log.codecs?.length ? [t("log.codec"), log.codecs.map((c) => word("codec", c)).join(", ")] : null,
              app.lastEventMs !== null && app.startMs !== null ? [t("log.last"), offset(app.lastEventMs - app.startMs)] : null,
            ]}
          />
          <p class="note">
            {log.path ? (
              <>
                <span class="dim">{t("log.path")}</span> <code class="value">{log.path}</code>{" "}
              </>
            ) : null}
            {app.state === "gone" ? null : (
              <a href={apiHref(apiPath(["apps", app.ref, "logs"]))} download="">
                {t("log.download")}
              </a>
            )}
          </p>
          <Loaded from={asked} rows={14}>
            {(data) => (
              <>
                <Checks app={app} data={data} />
                <Open app={app} version={version} />
                {data.problems.length ? <Problems data={data} /> : null}
                <Files data={data} />
                <Events data={data} />
              </>
            )}
          </Loaded>
        </>
      )}
    </Together>
  );
}

/** @param {{ app: App, data: LogHealth }} props */
function Checks({ app, data }) {
  // What is wrong comes first; apart from that the order stays.
  const rows = [...checks(data.health)].sort((a, b) => b.level - a.level);
  if (!rows.length) return null;
  return (
    <Section title={t("checks.title")} note={t("checks.note")}>
      <Table
        caption={t("checks.title")}
        rows={rows}
        rowKey={(c) => c.id}
        class="checks"
        columns={[
          {
            id: "mark",
            label: <span class="sr">{t("col.mark")}</span>,
            class: "is-mark",
            cell: (c) => <Severity level={c.level} label={c.level ? t(c.level === 2 ? "check.bad" : "check.note") : undefined} />,
          },
          { id: "name", label: t("col.check"), cell: (c) => t(/** @type {Key} */ (`check.${c.id}`)) },
          {
            id: "found",
            label: t("col.found"),
            num: true,
            cell: (c) => (
              <span class={c.level ? "strong" : "dim"}>
                {c.count === null
                  ? t(c.id === "end" ? (c.level ? "check.missing" : "check.present") : c.level ? "check.yes" : "check.no")
                  : c.id === "lines" && app.log.lines
                    ? t("check.ofLines", count(c.count), count(app.log.lines))
                    : count(c.count)}
              </span>
            ),
          },
          {
            id: "effect",
            label: t("col.effect"),
            cell: (c) => (
              <span class="dim">
                {c.level ? t(/** @type {Key} */ (`check.${c.id}.effect`)) : ""}
                {c.id === "files" && c.level ? t("say.gap") + (data.health?.missingFiles?.join(", ") ?? "") : ""}
              </span>
            ),
          },
        ]}
      />
    </Section>
  );
}

/** So many of what was open are named; the lists have all of them. */
const MOST_OPEN = 10;

/** What was running when the log stopped. @param {{ app: App, version: string }} props */
function Open({ app, version }) {
  const h = app.health;
  const jobs = useOpen(app, "jobs", "running", h?.jobsWithoutEnd, version);
  const stages = useOpen(app, "stages", "active", h?.stagesWithoutEnd, version);
  const rows = [
    ...(/** @type {import("../types").JobItem[]} */ (jobs)).map((j) => ({
      key: `job ${j.jobId}`,
      to: paths.job(app.ref, j.jobId),
      kind: t("job.title", j.jobId),
      name: j.description ?? callSite(j.name),
      fromMs: j.submissionMs,
      done: j.numTasks === null ? null : [j.completedTasks, j.numTasks],
    })),
    ...(/** @type {import("../types").StageItem[]} */ (stages)).map((s) => ({
      key: `stage ${s.stageId}.${s.attempt}`,
      to: paths.stage(app.ref, s.stageId, s.attempt),
      kind: t("stage.title", s.attempt ? `${s.stageId}.${s.attempt}` : String(s.stageId)),
      name: callSite(s.name),
      fromMs: s.submissionMs,
      done: s.numTasks === null ? null : [s.completeTasks, s.numTasks],
    })),
  ];
  if (!rows.length) return null;
  return (
    <Section title={t("open.title")} note={t("open.note")}>
      <Table
        caption={t("open.title")}
        rows={rows}
        rowKey={(r) => r.key}
        link={(r) => r.to}
        columns={[
          {
            id: "what",
            label: t("col.what"),
            class: "nowrap",
            cell: (r) => (
              <a class="strong" href={r.to}>
                {r.kind}
              </a>
            ),
          },
          { id: "name", label: t("col.description"), class: "is-text", cell: (r) => <Clip text={r.name} /> },
          { id: "from", label: t("col.started"), num: true, cell: (r) => (r.fromMs !== null && app.startMs !== null ? offset(r.fromMs - app.startMs) : DASH) },
          { id: "for", label: t("open.atLeast"), num: true, cell: (r) => duration(r.fromMs !== null && app.lastEventMs !== null ? app.lastEventMs - r.fromMs : null) },
          { id: "done", label: t("open.done"), num: true, cell: (r) => (r.done ? t("check.ofLines", count(r.done[0]), count(r.done[1])) : DASH) },
        ]}
      />
    </Section>
  );
}

/**
 * Jobs or stages without an end: going on in a log that may grow, unknown in one that has ended.
 * @param {App} app @param {"jobs" | "stages"} kind @param {string} going @param {number | null | undefined} known how many there are @param {string} version @returns {unknown[]}
 */
function useOpen(app, kind, going, known, version) {
  const ask = (/** @type {string} */ status) => (known ? apiPath(["apps", app.ref, kind], { status, sort: "submission", limit: MOST_OPEN }) : null);
  const asked = [useData(ask(going), version), useData(ask("unknown"), version)];
  return asked.flatMap((a) => (known && a.data ? /** @type {import("../types").List<unknown>} */ (a.data).items : []));
}

/** @param {{ data: LogHealth }} props */
function Problems({ data }) {
  return (
    <Section title={t("problems.title")} note={t("problems.note", data.problems.length)}>
      <Table
        caption={t("problems.title")}
        rows={data.problems}
        rowKey={(p) => `${p.kind} ${p.fileNo} ${p.lineNo} ${p.textOffset} ${p.reason}`}
        columns={[
          { id: "kind", label: t("problems.kind"), cell: (p) => word("problem", p.kind) },
          { id: "file", label: t("col.file"), num: true, cell: (p) => count(p.fileNo) },
          { id: "line", label: t("col.line"), num: true, cell: (p) => count(p.lineNo) },
          { id: "offset", label: t("problems.offset"), num: true, cell: (p) => count(p.textOffset) },
          { id: "reason", label: t("col.reason"), class: "is-text", cell: (p) => p.reason },
          { id: "sample", label: t("problems.sample"), class: "is-wide", cell: (p) => <Clip text={p.sample} class="mono" /> },
        ]}
      />
    </Section>
  );
}

/** @param {{ data: LogHealth }} props */
function Files({ data }) {
  return (
    <Section title={t("files.title")} note={t("files.note")}>
      <Table
        caption={t("files.title")}
        rows={data.files}
        rowKey={(f) => f.fileNo}
        columns={[
          { id: "no", label: t("col.file"), num: true, class: "is-small", cell: (f) => count(f.fileNo) },
          {
            id: "name",
            label: t("col.name"),
            class: "is-text",
            cell: (f) => (
              <span class="clip" title={f.name}>
                {f.name}
                {f.compact ? <span class="chip">{t("files.compact")}</span> : null}
              </span>
            ),
          },
          { id: "codec", label: t("log.codec"), cell: (f) => word("codec", f.codec) },
          { id: "stored", label: t("log.size"), num: true, cell: (f) => <Bytes value={f.storedBytes} /> },
          { id: "text", label: t("files.text"), num: true, cell: (f) => <Bytes value={f.textBytes} /> },
          { id: "lines", label: t("col.lines"), num: true, cell: (f) => <Count value={f.lineCount} /> },
          {
            id: "problem",
            label: t("files.problem"),
            cell: (f) => (f.problem ? <span class="bad">{f.problem}</span> : <span class="dim3">{t("files.fine")}</span>),
          },
        ]}
      />
    </Section>
  );
}

/** @param {{ data: LogHealth }} props */
function Events({ data }) {
  const rows = [...data.events].sort((a, b) => b.seen - a.seen);
  return (
    <Section title={t("events.title")} note={t("events.note", rows.filter((e) => !e.handled).length, rows.reduce((n, e) => n + (e.handled ? 0 : e.seen), 0))}>
      <Table
        caption={t("events.title")}
        rows={rows}
        rowKey={(e) => e.event}
        class="is-narrow"
        columns={[
          { id: "event", label: t("col.event"), cell: (e) => <code class="value">{e.event}</code> },
          { id: "seen", label: t("col.seen"), num: true, cell: (e) => count(e.seen) },
          {
            id: "handled",
            label: t("col.read"),
            cell: (e) => <span class={e.handled ? "dim" : "strong"}>{t(e.handled ? "events.read" : "events.skipped")}</span>,
          },
        ]}
      />
    </Section>
  );
}
