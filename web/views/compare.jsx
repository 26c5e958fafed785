// SPDX-License-Identifier: Apache-2.0
import { apiPath, wordedPath } from "../api.js";
import { Bar, Bytes, Clip, Count, Duration, KeyName } from "../components/cells.jsx";
import { Outcome } from "../components/chips.jsx";
import { linkColumn } from "../components/columns.jsx";
import { Bridge } from "../components/bridge.jsx";
import { RunHistory } from "../components/run-history.jsx";
import { Section } from "../components/facts.jsx";
import { Fold } from "../components/fold.jsx";
import { Choice, Search, Tools } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Sentences } from "../components/sentences.jsx";
import { Severity } from "../components/severity.jsx";
import { Empty, InOrder, Loaded, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { DASH, duration, exactMs, percent, quantity, seconds, time, times, zoned, zoneName } from "../lib/format.js";
import { t, tx, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith } from "../lib/router.js";
import { callSite } from "../model/app.js";
import { measured, ownWords } from "../model/compare.js";
import { LEVELS } from "../model/findings.js";

/** @typedef {import("../types").App} App */
/** @typedef {import("../types").Comparison} Comparison */
/** @typedef {import("../types").PairItem} PairItem */
/** @typedef {import("../types").ComparedFinding} ComparedFinding */
/** @typedef {import("../types").ComparedMetric} ComparedMetric */
/** Addresses of both runs. @typedef {{ base: string | null, run: string }} Refs */

/** Is it worse than before, and by what? Without `a` in the address the run is held against the earlier runs of its job. @param {{ app: App, version: string }} props */
export function Compare({ app, version }) {
  const query = current().query;
  const chosen = query.get("a");
  /** @type {import("../components/use-data.js").Asked<Comparison>} */
  const asked = useData(app.loading ? null : wordedPath(["compare"], { base: chosen ?? "usual", new: app.ref }), version);
  // Asked for before somebody chooses: then the list opens at its height, and pushes nothing down later.
  const others = /** @type {import("../components/use-data.js").Asked<import("../types").AppList>} */ (
    useData(app.loading ? null : apiPath(["apps"], { q: query.get("q") ?? app.name, sort: "-start", limit: 25, state: "loaded" }))
  );
  const c = asked.data;
  const base = chosen ?? c?.baseline?.members.find((m) => m.isReference)?.key ?? null;
  const refs = { base: c?.base ? base : null, run: app.ref };
  const ofQueries = query.get("of") === "queries";
  /** @type {import("../components/list.jsx").Listing<PairItem>} */
  const pairs = useList(["compare", ofQueries ? "queries" : "stages"], {
    sort: "-size",
    limit: 25,
    filters: ["changed"],
    version,
    fixed: { base: refs.base ?? "", new: app.ref },
    asks: c?.state === "done" && refs.base !== null,
  });
  if (app.loading) return <Empty title={t("compare.title")} text={t("compare.whenRead")} />;
  return (
    <Together of={[asked, others]} rows={10} facts>
      {() => (
        <Loaded from={asked} rows={10} facts>
          {(c) => (
            <>
              <Head c={c} refs={refs} chosen={chosen !== null} />
              <Said c={c} chosen={chosen !== null} />
              {query.get("choose") !== null || c.state === "too_few" ? <Chooser app={app} asked={others} /> : null}
              {c.state === "incomplete" ? <Incomplete c={c} refs={refs} /> : null}
              {c.state === "done" ? <Bridge of={c} refs={refs} /> : null}
              {c.baseline && c.baseline.members.length ? <RunHistory of={c} run={app.ref} /> : null}
              {c.state === "done" && refs.base !== null ? (
                <InOrder
                  parts={[
                    [[], c.stages?.length ? <Unusual c={c} refs={refs} /> : null],
                    [[pairs.asked], <Pairs c={c} base={refs.base} run={app.ref} pairs={pairs} ofQueries={ofQueries} />],
                    [
                      [],
                      <>
                        <Findings c={c} refs={refs} />
                        <Settings c={c} refs={refs} />
                        <Metrics c={c} />
                      </>,
                    ],
                  ]}
                />
              ) : null}
            </>
          )}
        </Loaded>
      )}
    </Together>
  );
}

/** @param {{ c: Comparison, refs: Refs, chosen: boolean }} props */
function Head({ c, refs, chosen }) {
  const members = c.baseline?.members ?? [];
  const run = (/** @type {import("../types").ComparedRun} */ r, /** @type {string} */ ref) => (
    <a href={paths.app(ref)}>{zoned(r.startMs)}</a>
  );
  return (
    <div class="head is-sub">
      <div class="head-main">
        <div class="head-title">
          <h2 class="head-name">{chosen ? t("compare.againstRun", c.base?.name ?? refs.base ?? DASH) : t("compare.againstUsual")}</h2>
        </div>
        <div class="head-meta">
          <span>{tx("compare.thisRun", run(c.new, refs.run), duration(c.new.wallMs))}</span>
          {c.base && refs.base !== null ? (
            <span>
              {chosen
                ? tx("compare.chosen", run(c.base, refs.base), duration(c.base.wallMs))
                : tx("compare.automatic", members.length, duration(c.usualMs), run(c.base, refs.base), duration(c.base.wallMs))}
            </span>
          ) : null}
        </div>
      </div>
      <div class="head-tools no-print">
        {chosen ? (
          <a class="btn is-small" href={paths.compare(refs.run)}>
            {t("compare.useUsual")}
          </a>
        ) : null}
        <a class="btn is-small" href={hrefWith({ choose: current().query.get("choose") === null ? 1 : null, q: null })}>
          {t("compare.choose")}
        </a>
        {refs.base === null ? null : (
          <a class="btn is-small" href={paths.compare(refs.base, refs.run)}>
            {t("compare.swap")}
          </a>
        )}
      </div>
    </div>
  );
}

/** The server's sentence, and how far to believe it. @param {{ c: Comparison, chosen: boolean }} props */
function Said({ c, chosen }) {
  const members = c.baseline?.members.length ?? 0;
  const level = c.state !== "done" ? undefined : c.verdict === "slower" ? Math.max(2, LEVELS[c.regressionGrade] ?? 0) : 0;
  return (
    <div class="verdict" data-sev={level}>
      <p class="verdict-say">{c.sentence}</p>
      <p class="verdict-sub">
        <Sentences
          items={
            c.state !== "done"
              ? []
              : [
                  chosen ? t("compare.oneRun") : t("compare.rank", c.baseline?.slowerThan ?? 0, members),
                  c.codeChanged ? t("compare.codeChanged", percent(c.matchedShare ?? null)) : t("compare.addsUp"),
                  c.partlyKnown ? t("compare.partlyKnown") : null,
                  c.baseline?.drifts ? t("compare.drifts", members) : null,
                  c.baseline?.otherShape ? t("compare.otherShape") : null,
                ]
          }
        />
      </p>
    </div>
  );
}

/** What of which log is missing. @param {{ c: Comparison, refs: Refs }} props */
function Incomplete({ c, refs }) {
  const sides = /** @type {[import("../types").ComparedRun | null, string | null][]} */ ([
    [c.new, refs.run],
    [c.base, refs.base],
  ]);
  return (
    <Empty title={t("compare.incomplete")}>
      <ul>
        {sides.map(([r, ref]) =>
          r && ref !== null ? (
            <li key={ref}>
              <Sentences items={[t("compare.thereIs", r.name ?? ref, r.completeness), r.endAtLeast ? t("compare.noEnd", duration(r.wallMs)) : null]} /> <a href={paths.page(ref, "log")}>{t("banner.what")}</a>
            </li>
          ) : null,
        )}
      </ul>
    </Empty>
  );
}

/** Runs to compare with: those of the same name, or what is searched for. @param {{ app: App, asked: import("../components/use-data.js").Asked<import("../types").AppList> }} props */
function Chooser({ app, asked }) {
  const q = current().query.get("q");
  const others = (/** @type {import("../types").AppList} */ list) => list.items.filter((a) => a.ref !== null && a.key !== app.key);
  const to = (/** @type {import("../types").AppItem} */ a) => paths.compare(app.ref, a.ref);
  return (
    <Section title={t("compare.chooseTitle")} note={q === null ? t("compare.sameName") : "\u00a0"}>
      <Tools>
        <Search name="q" label={t("apps.search")} />
      </Tools>
      <div class="chooser">
        <Loaded from={asked} rows={4}>
          {(list) =>
            others(list).length ? (
              <Table
                caption={t("compare.chooseTitle")}
                rows={others(list)}
                rowKey={(a) => a.ref ?? ""}
                link={to}
                columns={[
                  linkColumn("col.application", to, (a) => a.name ?? a.appId ?? DASH),
                  { id: "start", label: t("col.startedZone", zoneName()), cell: (a) => <span class="nowrap">{time(a.startMs)}</span> },
                  { id: "outcome", label: t("col.outcome"), cell: (a) => <Outcome app={a} /> },
                  { id: "duration", label: t("col.duration"), num: true, cell: (a) => <Duration ms={a.durationMs} /> },
                  { id: "tasks", label: t("col.tasks"), num: true, cell: (a) => <Count value={a.taskCount} /> },
                  { id: "user", label: t("col.user"), cell: (a) => <Clip text={a.user} class="is-user" /> },
                  { id: "id", label: t("compare.id"), cell: (a) => <Clip text={a.ref} class="mono" /> },
                ]}
              />
            ) : (
              <Empty title={t(q === null ? "compare.noOther" : "apps.none")} />
            )
          }
        </Loaded>
      </div>
    </Section>
  );
}

/** A difference: with its sign, worse and better told apart by colour too, unless it says nothing. @param {{ ms: number | null, quiet?: boolean }} props quiet: runs differ so much anyway */
const Delta = ({ ms, quiet = false }) =>
  ms === null ? (
    <span class="dim3">{DASH}</span>
  ) : quiet || Math.abs(ms) < 5 ? (
    <span class="dim3" title={exactMs(ms)}>
      {seconds(ms, true)}
    </span>
  ) : (
    <b class={ms > 0 ? "is-worse" : "is-better"} title={exactMs(ms)}>
      {seconds(ms, true)}
    </b>
  );

/** Stages that the earlier runs say are out of their range. @param {{ c: Comparison, refs: Refs }} props */
function Unusual({ c, refs }) {
  return (
    <Section title={t("compare.unusual")} note={t("compare.unusualNote")}>
      <Table
        caption={t("compare.unusual")}
        rows={c.stages ?? []}
        rowKey={(s) => `${s.id} ${s.of}`}
        link={(s) => paths.stage(refs.run, s.id, 0)}
        columns={[
          linkColumn("col.stage", (s) => paths.stage(refs.run, s.id, 0), (s) => s.id),
          { id: "what", label: t("col.what"), class: "is-text", cell: (s) => <Clip text={callSite(s.name)} title={s.name} /> },
          { id: "of", label: t("compare.of"), cell: (s) => t(/** @type {import("../lib/i18n.js").Key} */ (`compare.of.${s.of}`)) },
          { id: "usual", label: t("compare.usual"), num: true, cell: (s) => <Duration ms={s.usualMs} /> },
          { id: "now", label: t("compare.new"), num: true, cell: (s) => <Duration ms={s.ms} /> },
          { id: "delta", label: t("compare.difference"), num: true, cell: (s) => <Delta ms={s.ms - s.usualMs} /> },
        ]}
      />
    </Section>
  );
}

/**
 * Stages or queries of both runs, matched by what they do.
 * @param {{ c: Comparison, base: string, run: string, pairs: import("../components/list.jsx").Listing<PairItem>, ofQueries: boolean }} props
 */
function Pairs({ c, base, run, pairs, ofQueries }) {
  const to = (/** @type {string} */ ref, /** @type {number | null} */ id) => (id === null ? null : ofQueries ? paths.sql(ref, id) : paths.stage(ref, id, 0));
  const max = Math.max(0, ...(pairs.asked.data?.items ?? []).flatMap((p) => [p.baseMs ?? 0, p.newMs ?? 0]));
  /** @type {(id: "base" | "new", ref: string) => import("../components/table.jsx").Column<PairItem>[]} */
  const side = (id, ref) => [
    {
      id: id + "Id",
      label: t(id === "base" ? "compare.inBase" : "compare.inNew"),
      num: true,
      cell: (p) => {
        const link = to(ref, p[`${id}Id`]);
        return link === null ? <span class="dim3">{DASH}</span> : <a href={link}>{p[`${id}Id`]}</a>;
      },
    },
    {
      id,
      label: t(id === "base" ? "compare.base" : "compare.new"),
      num: true,
      class: "is-bar",
      sort: id,
      cell: (p) => <Bar value={p[`${id}Ms`]} max={max} text={duration(p[`${id}Ms`])} title={exactMs(p[`${id}Ms`])} />,
    },
  ];
  const both = (/** @type {import("preact").ComponentChildren} */ a, /** @type {import("preact").ComponentChildren} */ b) => (
    <span class="dim">
      {a} → {b}
    </span>
  );
  /** @type {import("../components/table.jsx").Column<PairItem>[]} */
  const columns = [
    { id: "name", label: t("col.what"), class: "is-text", sort: "name", cell: (p) => <Clip text={callSite(p.name)} title={p.name} /> },
    ...side("base", base),
    ...side("new", run),
    { id: "difference", label: t("compare.difference"), num: true, sort: "difference", cell: (p) => <Delta ms={p.differenceMs} quiet={!p.changed} /> },
    { id: "state", label: t("compare.change"), cell: (p) => <Change pair={p} /> },
    ...(ofQueries
      ? []
      : /** @type {import("../components/table.jsx").Column<PairItem>[]} */ ([
          { id: "tasks", label: t("col.tasks"), num: true, cell: (p) => both(<Count value={p.baseTaskCount} />, <Count value={p.newTaskCount} />) },
          { id: "read", label: t("compare.read"), num: true, cell: (p) => both(<Bytes value={p.baseReadBytes} />, <Bytes value={p.newReadBytes} />) },
        ])),
  ];
  return (
    <Section title={t("compare.pairs")} note={t("compare.pairsNote", percent(c.matchedShare ?? null))}>
      <Tools>
        <span class="seg">
          {/** @type {const} */ (["stages", "queries"]).map((of) => (
            <a key={of} href={hrefWith({ of: of === "stages" ? null : of, page: null, sort: null })} aria-current={(of === "queries") === ofQueries ? "true" : undefined}>
              {t(`compare.${of}`)}
            </a>
          ))}
        </span>
        <Choice name="changed" label={t("compare.change")} any={t("compare.all")} options={[["true", t("compare.onlyChanged")]]} />
      </Tools>
      <ListTable
        of={pairs}
        rows={8}
        caption={t("compare.pairs")}
        columns={columns}
        rowKey={(p) => `${p.baseId} ${p.newId}`}
        rowClass={(p) => (p.changed ? "" : "is-off")}
        none={<Empty title={t(ofQueries ? "compare.noQueries" : "compare.noStages")} />}
        noMatch={t("compare.nothingChanged")}
        noMatchText={t("compare.nothingChangedText")}
      />
    </Section>
  );
}

/** @param {{ pair: PairItem }} props */
const Change = ({ pair: p }) =>
  p.state !== "both" ? (
    <span class={"chip " + (p.state === "added" ? "is-warn" : "")}>{word("compare.state", p.state)}</span>
  ) : p.planChanged ? (
    <span class="chip is-warn">{t("compare.planChanged")}</span>
  ) : p.changed ? (
    <span class="chip">{t("compare.changed")}</span>
  ) : (
    <span class="dim3">{t("compare.alike")}</span>
  );

/** So many notes of one rule have rows; those beyond are a click away. */
const NOTES_SHOWN = 5;

/** Those to show at once, and the further notes of a rule that came or went with every job. @param {ComparedFinding[]} findings @returns {[ComparedFinding[], ComparedFinding[]]} */
function manyNotes(findings) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  const isMore = (/** @type {ComparedFinding} */ f) => {
    if ([f.baseGrade, f.newGrade].some((g) => g !== null && g !== "ok" && g !== "info")) return false;
    const n = (seen.get(f.news + f.rule) ?? 0) + 1;
    seen.set(f.news + f.rule, n);
    return n > NOTES_SHOWN;
  };
  const more = new Set(findings.filter(isMore));
  return [findings.filter((f) => !more.has(f)), [...more]];
}

/** Those that came, went or changed; those that both runs have are a click away. @param {{ c: Comparison, refs: Refs }} props */
function Findings({ c, refs }) {
  const all = c.findings ?? [];
  const changed = all.filter((f) => f.news !== "same");
  const [news, more] = manyNotes(changed);
  const same = all.filter((f) => f.news === "same");
  return (
    <Section title={t("findings.title")}>
      {news.length ? <FindingTable caption={t("findings.title")} rows={news} refs={refs} /> : <Empty title={t("compare.noNews")} />}
      {more.length ? (
        <Fold name="notes" title={t("compare.moreNotes", more.length)}>
          <FindingTable caption={t("compare.moreNotes", more.length)} rows={more} refs={refs} />
        </Fold>
      ) : null}
      {same.length ? (
        <Fold name="same" title={t("compare.same", same.length)}>
          <FindingTable caption={t("compare.same", same.length)} rows={same} refs={refs} />
        </Fold>
      ) : null}
    </Section>
  );
}

/** @param {{ caption: string, rows: ComparedFinding[], refs: Refs }} props */
function FindingTable({ caption, rows, refs }) {
  const side = (/** @type {string | null} */ grade, /** @type {number | null} */ ms) =>
    grade === null ? (
      <span class="dim3">{DASH}</span>
    ) : (
      <span class="mark">
        {ms === null ? "" : seconds(ms)} <Severity level={LEVELS[/** @type {import("../types").FindingGrade} */ (grade)] ?? 0} />
      </span>
    );
  const place = (/** @type {ComparedFinding} */ f) => {
    const [ref, key] = f.newSubject !== null ? [refs.run, f.newSubject] : [refs.base ?? "", f.baseSubject ?? "-"];
    const [query, node] = f.subjectKind === "node" ? key.split("/") : [];
    return { to: paths.subject(ref, f.subjectKind, key), text: key === "-" ? word("kind", f.subjectKind) : node ? t("find.node", query, node) : `${word("kind", f.subjectKind)} ${key}` };
  };
  return (
    <Table
      caption={caption}
      rows={rows}
      rowKey={(f) => `${f.rule} ${f.baseSubject} ${f.newSubject}`}
      columns={[
        { id: "news", label: t("compare.news"), cell: (f) => <span class={"chip " + NEWS[f.news]}>{word("compare.news", f.news)}</span> },
        { id: "rule", label: t("compare.finding"), class: "is-text", cell: (f) => <Clip text={f.name} title={f.rule} /> },
        { id: "where", label: t("compare.where"), cell: (f) => <a href={place(f).to}>{place(f).text}</a> },
        { id: "base", label: t("compare.base"), num: true, cell: (f) => side(f.baseGrade, f.basePriceMs) },
        { id: "new", label: t("compare.new"), num: true, cell: (f) => side(f.newGrade, f.newPriceMs) },
      ]}
    />
  );
}
/** @type {Record<ComparedFinding["news"], string>} */
const NEWS = { new: "is-bad", worse: "is-warn", better: "is-ok", gone: "is-ok", same: "" };

/** @param {{ c: Comparison, refs: Refs }} props */
function Settings({ c, refs }) {
  const settings = c.settings ?? [];
  const cell = (/** @type {string | null} */ value, /** @type {string | null} */ other) => {
    if (value === null) return <span class="dim3">{t("compare.notSet")}</span>;
    const words = ownWords(value, other);
    return words === null ? (
      <code class="value">{value}</code>
    ) : (
      <span title={value}>
        <code class="value">{words.own.join(" ")}</code> {words.common ? <span class="dim3">{t("compare.common", words.common)}</span> : null}
      </span>
    );
  };
  return (
    <Section title={t("compare.settings")} note={t("compare.settingsNote", c.hiddenSettingCount ?? 0)}>
      {settings.length ? (
        <Table
          caption={t("compare.settings")}
          rows={settings}
          rowKey={(s) => s.name}
          class="pairs is-two"
          columns={[
            {
              id: "name",
              label: t("col.key"),
              class: "is-key",
              cell: (s) => (
                <a href={paths.page(s.new === null ? (refs.base ?? refs.run) : refs.run, "env", { q: s.name })}>
                  <KeyName text={s.name} />
                </a>
              ),
            },
            { id: "group", label: t("compare.about"), cell: (s) => word("compare.group", s.group) },
            { id: "base", label: t("compare.base"), class: "is-value", cell: (s) => cell(s.base, s.new) },
            { id: "new", label: t("compare.new"), class: "is-value", cell: (s) => cell(s.new, s.base) },
          ]}
        />
      ) : (
        <Empty title={t("compare.noSettings")} />
      )}
    </Section>
  );
}

/** @param {number | null} value @param {string} unit */
const metric = (value, unit) => (unit === "share" ? percent(value) : quantity(value, /** @type {"ms"} */ (unit)));

/** @param {{ c: Comparison }} props */
function Metrics({ c }) {
  const range = (/** @type {ComparedMetric} */ m) =>
    m.usual === null || m.usual.median === null ? (
      <span class="dim3">{DASH}</span>
    ) : (
      `${metric(m.usual.median, m.unit)} ± ${metric(m.usual.allowed, m.unit)}`
    );
  return (
    <Section title={t("compare.metrics")} note={c.baseline ? t("compare.metricsNote") : null}>
      <Table
        caption={t("compare.metrics")}
        rows={measured(c.metrics ?? [])}
        rowKey={(m) => m.metric}
        columns={[
          { id: "name", label: t("col.metric"), cell: (m) => m.name },
          { id: "base", label: t("compare.base"), num: true, cell: (m) => metric(m.base, m.unit) },
          { id: "new", label: t("compare.new"), num: true, cell: (m) => metric(m.new, m.unit) },
          {
            id: "difference",
            label: t("compare.difference"),
            num: true,
            cell: (m) => (m.unit === "ms" ? <Delta ms={m.base === null || m.new === null ? null : m.new - m.base} quiet={m.usual?.changed === false} /> : relative(m)),
          },
          { id: "usual", label: t("compare.range"), num: true, present: (m) => m.usual, cell: range },
          {
            id: "changed",
            label: t("compare.change"),
            present: (m) => m.usual,
            cell: (m) => (m.usual?.changed ? <span class="chip is-warn">{t((m.usual.z ?? 0) > 0 ? "compare.above" : "compare.below")}</span> : <span class="dim3">{t("compare.alike")}</span>),
          },
        ]}
      />
    </Section>
  );
}

/** By how much of what it was; from twice as much on, how many times. @param {ComparedMetric} m */
const relative = (m) =>
  m.base === null || m.new === null || !m.base ? (
    <span class="dim3">{DASH}</span>
  ) : m.new >= 2 * m.base ? (
    times(m.new / m.base)
  ) : (
    `${m.new > m.base ? "+" : ""}${percent((m.new - m.base) / m.base)}`
  );
