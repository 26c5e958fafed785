// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Bytes, Clip, Count } from "../components/cells.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { Severity } from "../components/severity.jsx";
import { Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { bytes, count, exactBytes, offset, percent } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import { checks } from "../model/health.js";

/** @typedef {import("../types").App} App */
/** @typedef {import("../types").LogHealth} LogHealth */
/** @typedef {import("../lib/i18n.js").Key} Key */

/** Is the data complete? Every number on other pages rests on this. @param {{ app: App, version: string }} props */
export function Log({ app, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<LogHealth>} */ (useData(apiPath(["apps", app.ref, "health"]), version));
  const log = app.log;
  return (
    <>
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
      {log.path ? (
        <p class="note">
          <span class="dim">{t("log.path")}</span> <code class="value">{log.path}</code>
        </p>
      ) : null}
      <Loaded from={asked} rows={14}>
        {(data) => (
          <>
            <Checks app={app} data={data} />
            {data.problems.length ? <Problems data={data} /> : null}
            <Files data={data} />
            <Events data={data} />
          </>
        )}
      </Loaded>
    </>
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
    <Section title={t("events.title")} note={t("events.note", rows.filter((e) => !e.handled).length)}>
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
