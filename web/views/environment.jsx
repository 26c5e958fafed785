// SPDX-License-Identifier: Apache-2.0
import { wordedPath } from "../api.js";
import { Joined, KeyName } from "../components/cells.jsx";
import { Section } from "../components/facts.jsx";
import { Search, Tools } from "../components/filters.jsx";
import { PageFindings, isRead, useFindings } from "../components/findings.jsx";
import { Fold } from "../components/fold.jsx";
import { NoMatch } from "../components/list.jsx";
import { PairTable } from "../components/pair-table.jsx";
import { Severity } from "../components/severity.jsx";
import { Empty, Loaded, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { DASH, count } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith } from "../lib/router.js";
import { level } from "../model/findings.js";
import { properties, redacted } from "../model/settings.js";

/** @typedef {import("../types").Environment} EnvironmentData */
/** @typedef {import("../types").App} App */
/** @typedef {import("../model/settings.js").Property} Property */

const ORDER = /** @type {const} */ (["spark", "jvm", "system", "hadoop", "metrics", "classpath"]);

/** Is it the configuration? @param {{ app: App, version: string }} props */
export function Environment({ app, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<EnvironmentData>} */ (useData(wordedPath(["apps", app.ref, "environment"]), version));
  const findings = useFindings(app.ref, version);
  return (
    <Together of={[isRead(version) ? findings : null, asked]} rows={14}>
      {() => (
        <>
          <PageFindings appRef={app.ref} version={version} page="env" />
          <Loaded from={asked}>{(data) => <Found app={app} data={data} findings={findings.data?.findings ?? []} />}</Loaded>
        </>
      )}
    </Together>
  );
}

/** @param {{ app: App, data: EnvironmentData, findings: import("../types").Finding[] }} props */
function Found({ app, data, findings }) {
  const q = current().query;
  const text = (q.get("q") ?? "").toLowerCase();
  const picked = q.get("section");
  const noise = q.get("noise") === "1";
  const match = (/** @type {(string | null | undefined)[]} */ ...words) => !text || words.some((w) => w?.toLowerCase().includes(text));
  const spark = properties(data, findings, level).filter((p) => match(p.name, p.value, p.setting?.meaning));
  // A search looks at values of this run alone, too.
  const shownSpark = spark.filter((p) => noise || text || !p.perRun);
  const all = ORDER.map((name) => {
    const entries = data.sections.find((s) => s.name === name)?.entries ?? [];
    return { name, total: entries.length, entries: entries.filter((e) => match(e[0], e[1])), count: name === "spark" ? shownSpark.length : null };
  });
  const total = all.reduce((n, s) => n + s.total, 0);
  // Without a choice: what people come for. A search looks everywhere.
  const shown = all.filter((s) => (picked ? picked === s.name || picked === "all" : text ? true : s.name === "spark" || s.name === "jvm") && (s.count ?? s.entries.length));
  const found = shown.reduce((n, s) => n + (s.count ?? s.entries.length), 0);
  if (!total) return <Empty title={t("env.none")} text={t("env.noneText")} />;
  const profiles = !text && (!picked || picked === "all") ? data.resourceProfiles.filter((p) => p.executor.length || p.task.length) : [];
  return (
    <>
      <Tools>
        <Search name="q" label={t("env.search")} />
        <nav class="seg" aria-label={t("env.sections")}>
          <a href={hrefWith({ section: null })} aria-current={picked === null ? "true" : undefined}>
            {t(text ? "env.everywhere" : "env.main")}
          </a>
          {all
            .filter((s) => s.total)
            .map((s) => (
              <a key={s.name} href={hrefWith({ section: s.name })} aria-current={picked === s.name ? "true" : undefined}>
                {word("env.section", s.name)} <small>{count(s.count ?? s.entries.length)}</small>
              </a>
            ))}
        </nav>
        <span class="grow" />
        <span class="dim small" role="status">
          {t("env.shown", count(found), count(total))}
        </span>
      </Tools>
      {shown.map((s) =>
        s.name === "spark" ? (
          <SparkProperties key={s.name} app={app} rows={shownSpark} hidden={spark.length - shownSpark.length} noise={noise} />
        ) : s.name === "classpath" ? (
          <ClassPath key={s.name} data={data} entries={s.entries} />
        ) : (
          <Section key={s.name} title={word("env.section", s.name)} note={t("env.entries", s.entries.length)}>
            <PairTable caption={word("env.section", s.name)} pairs={s.entries} heads={["col.key", "col.value"]} />
          </Section>
        ),
      )}
      {shown.length ? null : <NoMatch title={t("env.noMatch")} text={t("env.noMatchText", count(total))} />}
      {profiles.map((p) => (
        <Profile key={p.id} profile={p} />
      ))}
    </>
  );
}

const MOST_NAMES = 3;

/** @param {{ app: App, rows: Property[], hidden: number, noise: boolean }} props */
function SparkProperties({ app, rows, hidden, noise }) {
  return (
    <Section
      title={word("env.section", "spark")}
      note={t("env.sparkNote")}
      tools={
        hidden || noise ? (
          <a class="btn is-small" href={hrefWith({ noise: noise ? null : 1 })}>
            {noise ? t("env.hidePerRun") : t("env.showPerRun", hidden)}
          </a>
        ) : null
      }
    >
      <Table
        caption={word("env.section", "spark")}
        rows={rows}
        rowKey={(p) => `${p.name} ${p.setting?.atRunTime ?? false} ${p.value}`}
        class="pairs settings"
        columns={[
          {
            id: "mark",
            label: <span class="sr">{t("col.mark")}</span>,
            class: "is-mark",
            present: (p) => p.namedBy.length,
            cell: (p) => (p.namedBy.length ? <Severity level={p.level} /> : null),
          },
          { id: "name", label: t("col.key"), class: "is-key", cell: (p) => <KeyName text={p.name} /> },
          { id: "value", label: t("col.value"), class: "is-value", cell: (p) => <Value p={p} /> },
          {
            id: "default",
            label: t("env.default"),
            title: t("env.default.title", app.sparkVersion ?? ""),
            class: "is-default",
            cell: (p) =>
              p.setting === null ? (
                <span class="dim3">{DASH}</span>
              ) : p.setting.differs ? (
                p.setting.defaultValue === null ? (
                  <span class="dim3">{t("env.noDefault")}</span>
                ) : (
                  <code class="value">{p.setting.defaultValue}</code>
                )
              ) : (
                <span class="dim3">{t("env.same")}</span>
              ),
          },
          { id: "meaning", label: t("env.meaning"), class: "is-meaning", cell: (p) => <Meaning p={p} /> },
          {
            id: "named",
            label: t("env.namedBy"),
            present: (p) => p.namedBy.length,
            cell: (p) => (
              <Joined items={p.namedBy} most={MOST_NAMES}>
                {(f) => <a href={paths.subject(app.ref, f.subject.kind, f.subject.key)}>{f.subject.kind === "conf" || f.subject.kind === "app" ? f.name : `${f.name}, ${f.subject.name}`}</a>}
              </Joined>
            ),
          },
        ]}
      />
    </Section>
  );
}

/** @param {{ p: Property }} props */
const Value = ({ p }) =>
  p.value === null ? (
    <span class="dim3">{DASH}</span>
  ) : redacted(p.value) ? (
    <>
      <code class="value dim">{p.value}</code> <span class="chip" title={t("env.redacted.title")}>{t("env.redacted")}</span>
    </>
  ) : (
    <LongValue of={p.name} text={p.value} strong={p.setting?.differs} />
  );

/** Options of a JVM fill pages: so much of a value is shown at first. */
const SHOWN_CHARS = 160;

/** @param {{ of: string, text: string, strong?: boolean }} props of: its key */
const LongValue = ({ of, text, strong }) => {
  const c = "value" + (strong ? " strong" : "");
  return text.length <= SHOWN_CHARS ? (
    <code class={c}>{text}</code>
  ) : (
    <Fold name={of.replaceAll(",", "_")} title={<code class={c}>{text.slice(0, SHOWN_CHARS)}…</code>}>
      <code class={c}>{text}</code>
    </Fold>
  );
};

/** @param {{ p: Property }} props */
function Meaning({ p }) {
  const s = p.setting;
  return (
    <>
      <span class="dim">{s?.meaning ?? ""}</span>
      {s && s.state !== "effective" ? <span class="chip is-warn">{t(/** @type {import("../lib/i18n.js").Key} */ (`env.state.${s.state}`), s.meant)}</span> : null}
      {s?.atRunTime ? <span class="chip">{t("env.atRunTime")}</span> : null}
    </>
  );
}

/** Duplicate libraries first; their entries are marked. @param {{ data: EnvironmentData, entries: [string, string | null][] }} props */
function ClassPath({ data, entries }) {
  const conflict = new Map(data.jarPaths.map((j) => [j.path, data.jarConflicts[j.conflict]]));
  const words = (/** @type {import("../types").JarConflict} */ c) =>
    c.scala ? t("jars.scala", c.artefact, c.first, c.second) : t("jars.twice", c.artefact, c.first, c.second);
  return (
    <Section title={word("env.section", "classpath")} note={t("env.entries", entries.length)}>
      {data.jarConflicts.length ? (
        <div class="banner">
          <Severity level={2} label={t("jars.mark")} />
          <div>
            {t("jars.title", data.jarConflicts.length)}
            <ul>
              {data.jarConflicts.slice(0, 10).map((c) => (
                <li key={`${c.artefact} ${c.first} ${c.second}`}>
                  {words(c)}
                  {c.sparksOwn ? ` ${t("jars.sparksOwn")}` : ""}
                </li>
              ))}
            </ul>
            {data.jarConflicts.length > 10 ? t("list.more", data.jarConflicts.length - 10) : null}
          </div>
        </div>
      ) : null}
      <Table
        caption={word("env.section", "classpath")}
        rows={[...entries].sort((a, b) => Number(conflict.has(b[0])) - Number(conflict.has(a[0])))}
        rowKey={(e) => e[0]}
        class="pairs"
        columns={[
          {
            id: "mark",
            label: <span class="sr">{t("col.mark")}</span>,
            class: "is-mark",
            present: (e) => conflict.has(e[0]),
            cell: (e) => {
              const c = conflict.get(e[0]);
              return c ? <Severity level={2} label={words(c)} /> : null;
            },
          },
          { id: "path", label: t("col.path"), cell: (e) => <code class="value">{e[0]}</code> },
          { id: "source", label: t("col.source"), cell: (e) => <code class="value">{e[1] ?? DASH}</code> },
        ]}
      />
    </Section>
  );
}

/** @param {{ profile: EnvironmentData["resourceProfiles"][number] }} props */
const Profile = ({ profile: p }) => (
  <Section title={t("env.profile", p.id)} note={t("env.profileNote")}>
    <Table
      caption={t("env.profile", p.id)}
      rows={[...p.executor.map((r) => ({ of: "executor", r })), ...p.task.map((r) => ({ of: "task", r }))]}
      rowKey={(x) => x.of + x.r.name}
      class="is-narrow"
      columns={[
        { id: "of", label: t("col.for"), cell: (x) => t(x.of === "task" ? "col.task" : "col.executor") },
        { id: "name", label: t("col.resource"), cell: (x) => <code>{x.r.name}</code> },
        { id: "amount", label: t("col.amount"), num: true, cell: (x) => count(x.r.amount) },
        {
          id: "vendor",
          label: t("col.vendor"),
          present: (x) => x.r.vendor || x.r.discoveryScript,
          cell: (x) => [x.r.vendor, x.r.discoveryScript].filter(Boolean).join(", "),
        },
      ]}
    />
  </Section>
);
