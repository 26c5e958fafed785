// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Clip, Joined } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { badColumn, barColumn, countColumn, dataColumns, durationColumn, gcColumn, heapColumn, linkColumn, sparse } from "../components/columns.jsx";
import { Facts, Section, bytesFact, durationFact, shareFact } from "../components/facts.jsx";
import { Histogram } from "../components/histogram.jsx";
import { GcMark, SkewMark } from "../components/marks.jsx";
import { FailureText, ObjectHead } from "../components/object-head.jsx";
import { QuantileStrip } from "../components/quantile-strip.jsx";
import { ran } from "../components/stage-columns.jsx";
import { StageDag } from "../components/stage-dag.jsx";
import { Sentences } from "../components/sentences.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { count, duration, exactMs, percent, quantity, times } from "../lib/format.js";
import { t, tx, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith } from "../lib/router.js";
import { share, stageLevel } from "../model/grades.js";
import { summary } from "../model/errors.js";
import { telling } from "../model/metrics.js";
import { Tasks } from "./tasks.jsx";

/** @typedef {import("../types").Stage} StageData */
/** @typedef {import("../types").App} App */

/** Why is this stage slow? Why was this task slow? @param {{ app: App, id: string, version: string }} props id: "14.0" */
export function Stage({ app, id, version }) {
  const name = /^\d+$/.test(id) ? `${id}.0` : id;
  const asked = /** @type {import("../components/use-data.js").Asked<StageData>} */ (useData(apiPath(["apps", app.ref, "stages", name]), version));
  return (
    <Loaded from={asked} rows={10} facts back={{ to: paths.page(app.ref, "stages"), label: t("error.toStages") }}>
      {(stage) => <Found app={app} stage={stage} version={version} />}
    </Loaded>
  );
}

/** @param {{ app: App, stage: StageData, version: string }} props */
function Found({ app, stage: s, version }) {
  const name = `${s.stageId}.${s.attempt}`;
  const level = s.status === "failed" ? 4 : stageLevel(s);
  return (
    <>
      <Head app={app} stage={s} />
      {ran(s) ? (
        <>
          <div class="verdict" data-sev={level}>
            <p class="verdict-say">
              <Sentence stage={s} app={app} />
            </p>
          </div>
          <Numbers app={app} stage={s} />
          <FailureText text={s.failure} />
          {s.errors.length || s.killReasons.length ? <Errors stage={s} /> : null}
          {s.endedTasks || s.activeTasks ? (
            <>
              {s.quantiles.length ? <Distribution stage={s} /> : null}
              {s.histogram && s.histogram.counts.some((n) => n > 0) ? (
                <Section title={t("hist.title")} note={t("hist.note")}>
                  <Histogram
                    edges={s.histogram.edgesMs}
                    counts={s.histogram.counts}
                    median={s.medianMs}
                    p95={s.p95Ms}
                    max={s.maxMs}
                    hot={Boolean(s.skew?.grade)}
                  />
                </Section>
              ) : null}
              {s.executors.length ? <ByExecutor stage={s} /> : null}
              {s.accumulables.length ? <Accumulables stage={s} /> : null}
              <Tasks app={app} stage={s} name={name} version={version} />
            </>
          ) : (
            <Empty title={t("stage.noTask")} text={t("stage.noTaskText")} />
          )}
        </>
      ) : (
        <Empty
          title={t(s.status === "skipped" ? "stage.wasSkipped" : "stage.isPending", s.stageId)}
          text={t(s.status === "skipped" ? "stage.wasSkippedText" : "stage.isPendingText")}
        />
      )}
      <StageDag app={app} name={name} version={version} />
      {s.details ? (
        <Section title={t("stage.details")}>
          <details class="fold">
            <summary>{t("stage.detailsShow")}</summary>
            <pre class="text-block">{s.details}</pre>
          </details>
        </Section>
      ) : null}
    </>
  );
}

/** @param {{ app: App, stage: StageData }} props */
function Head({ app, stage: s }) {
  const others = (s.attempts ?? []).filter((a) => a !== s.attempt);
  const title = (
    <>
      {t("stage.title", s.stageId)}
      {s.attempt || others.length ? <span class="dim"> {t("stage.attempt", s.attempt)}</span> : null}
    </>
  );
  return (
    <ObjectHead title={title} of={s} runStartMs={app.startMs} query={paths.sql(app.ref, s.sqlExecutionId ?? 0, { stage: `${s.stageId}.${s.attempt}` })}>
      {s.jobIds.length ? (
        <span>
          <Joined items={s.jobIds} most={8}>
            {(j) => <a href={paths.job(app.ref, j)}>{t("job.title", j)}</a>}
          </Joined>
        </span>
      ) : null}
      {s.parents?.length ? (
        <span>
          {t("stage.after")}{" "}
          <Joined items={s.parents} most={12}>
            {(p) => <a href={paths.stage(app.ref, p, 0)}>{p}</a>}
          </Joined>
        </span>
      ) : null}
      {others.length ? (
        <span>
          {t("stage.otherAttempts")} <Joined items={others}>{(a) => <a href={paths.stage(app.ref, s.stageId, a)}>{a}</a>}</Joined>
        </span>
      ) : null}
    </ObjectHead>
  );
}

/** @param {{ app: App, stage: StageData }} props */
function Sentence({ stage: s, app }) {
  const wall = <b title={exactMs(s.durationMs)}>{duration(s.durationMs)}</b>;
  const of = s.durationMs !== null && app.durationMs ? percent(s.durationMs / app.durationMs) : null;
  return (
    <Sentences
      items={[
        s.status === "failed"
          ? tx("say.stageFailed", wall)
          : s.durationMs === null
            ? tx("say.stageOpen", s.endedTasks ?? 0, count(s.numTasks))
            : tx("say.stageRan", wall, of, s.numTasks ?? 0),
        s.skew?.grade ? tx("say.stageSkew", <b>{duration(s.maxMs)}</b>, <b>{times(s.skew.durationRatio)}</b>, duration(s.medianMs)) : null,
        s.skew?.grade && s.skew.bytesRatio !== null && s.skew.bytes
          ? t("say.stageSkewBytes", times(s.skew.bytesRatio), t(s.skew.bytes === "input" ? "say.input" : "say.shuffle"))
          : null,
        s.gc?.grade ? tx("say.stageGc", <b>{percent(s.gc.share)}</b>) : null,
      ]}
    />
  );
}

/** @param {{ app: App, stage: StageData }} props */
function Numbers({ app, stage: s }) {
  const l = s.locality;
  const kinds = l
    ? /** @type {const} */ ([
        ["process", l.process],
        ["node", l.node],
        ["rack", l.rack],
        ["any", l.any],
        ["none", l.none],
      ]).filter((x) => x[1])
    : [];
  return (
    <Facts
      items={[
        shareFact(s.durationMs, app.durationMs),
        [t("col.tasks"), count(s.completeTasks), s.completeTasks === s.numTasks ? null : t("fact.ofAll", count(s.numTasks))],
        s.failedTasks ? [t("col.failedTasks"), <span class="bad">{count(s.failedTasks)}</span>] : null,
        s.killedTasks ? [t("col.killedTasks"), count(s.killedTasks)] : null,
        durationFact("col.taskTime", s.taskTimeMs),
        s.taskTimeMs && s.cpuTimeNs !== null ? [t("fact.cpu"), percent(s.cpuTimeNs / 1e6 / s.taskTimeMs), t("fact.ofTaskTime")] : null,
        [t("col.ratio"), <SkewMark skew={s.skew} />],
        [t("col.gc"), <GcMark gc={s.gc ?? { grade: null, share: share(s.gcTimeMs, s.taskTimeMs) }} />],
        bytesFact("col.input", s.inputBytes, s.inputRecords),
        bytesFact("col.output", s.outputBytes, s.outputRecords),
        bytesFact("col.shuffleRead", s.shuffleReadBytes, s.shuffleReadRecords),
        bytesFact("col.shuffleWrite", s.shuffleWriteBytes, s.shuffleWriteRecords),
        bytesFact("fact.spillMemory", s.memorySpilledBytes),
        bytesFact("fact.spillDisk", s.diskSpilledBytes),
        s.speculation?.tasks
          ? [t("fact.speculative"), count(s.speculation.tasks), s.speculation.completed ? t("fact.wonRace", s.speculation.completed) : null]
          : null,
        kinds.length
          ? [
              t("fact.locality"),
              <Joined items={kinds}>
                {([k, n]) => (
                  <>
                    {count(n)}
                    <small>{word("locality", k)}</small>
                  </>
                )}
              </Joined>,
            ]
          : null,
      ]}
    />
  );
}

/** @param {{ stage: StageData }} props */
function Errors({ stage: s }) {
  const rows = [
    ...s.errors.map((e) => ({ text: e.text, n: e.count, task: e.firstTaskId, kind: "failed" })),
    ...s.killReasons.map((k) => ({ text: k.reason, n: k.count, task: /** @type {number | null} */ (null), kind: "killed" })),
  ];
  return (
    <Section title={t("errors.title")} note={t("errors.note")}>
      <Table
        caption={t("errors.title")}
        rows={rows}
        rowKey={(r) => r.kind + r.text}
        columns={[
          { id: "n", label: t("col.tasks"), num: true, class: "is-small", cell: (r) => <b class="bad">{count(r.n)}</b> },
          { id: "kind", label: t("col.outcome"), cell: (r) => <Chip of="task" state={r.kind} /> },
          {
            id: "first",
            label: t("errors.first"),
            cell: (r) => (r.task === null ? "" : <a href={hrefWith({ task: r.task, status: r.kind, page: null })}>{r.task}</a>),
          },
          {
            id: "text",
            label: t("col.message"),
            class: "is-message",
            cell: (r) => (
              <details class="error">
                <summary title={t("errors.whole")}>
                  <code>{summary(r.text)}</code>
                </summary>
                {summary(r.text) !== r.text.trim() || r.text.length > 120 ? <pre class="text-block">{r.text}</pre> : null}
              </details>
            ),
          },
        ]}
      />
    </Section>
  );
}

const POINTS = /** @type {const} */ (["min", "p25", "p50", "p75", "p95", "p99", "max"]);

/** The middle and the end are what people compare. @param {import("../types").Quantile} q @param {typeof POINTS[number]} p @param {boolean} hot */
const pointClass = (q, p, hot) => (q[p] === 0 ? "dim3" : p === "max" && hot ? "strong bad" : p === "p50" || p === "max" ? "strong" : "dim");

/** @param {{ stage: StageData }} props */
function Distribution({ stage: s }) {
  const rows = telling(s.quantiles);
  const left = s.quantiles.length - rows.length;
  const isHot = (/** @type {import("../types").Quantile} */ q) => q.name === "durationMs" && Boolean(s.skew?.grade);
  return (
    <Section title={t("q.title")} note={t("q.note", rows[0]?.count ?? 0)}>
      <Table
        caption={t("q.title")}
        rows={rows}
        rowKey={(q) => q.name}
        columns={[
          { id: "name", label: t("col.metric"), class: "is-metric", cell: (q) => <span class={q.name === "durationMs" ? "strong" : ""}>{word("metric", q.name)}</span> },
          ...POINTS.map(
            (p) =>
              /** @type {import("../components/table.jsx").Column<import("../types").Quantile>} */ ({
                id: p,
                label: t(`q.${p}`),
                num: true,
                cell: (q) => <span class={pointClass(q, p, isHot(q))}>{quantity(q[p], q.unit)}</span>,
              }),
          ),
          {
            id: "ratio",
            label: t("q.ratio"),
            title: t("col.ratio"),
            num: true,
            cell: (q) => <span class={isHot(q) ? "strong bad" : "dim"}>{times(q.p50 > 0 ? q.max / q.p50 : null)}</span>,
          },
          { id: "strip", label: <span class="sr">{t("q.strip")}</span>, class: "is-strip", cell: (q) => <QuantileStrip q={q} hot={isHot(q)} /> },
          { id: "sum", label: t("q.sum"), num: true, cell: (q) => <span class="dim">{q.name.startsWith("peak") ? "" : quantity(q.sum, q.unit)}</span> },
        ]}
      />
      {left ? <p class="note dim3">{t("q.zero", left)}</p> : null}
    </Section>
  );
}

const SHOWN_EXECUTORS = 10;

/** @param {{ stage: StageData }} props */
function ByExecutor({ stage: s }) {
  const q = current().query;
  const total = s.executors.length;
  // The tasks stand below: many executors must not push them out of sight. The choice is in the URL like any other.
  const few = total <= SHOWN_EXECUTORS + 2;
  const all = q.get("executors") === "all";
  return (
    <Section
      title={t("byExecutor.title")}
      note={t("byExecutor.note", total)}
      tools={
        all ? (
          <a href={hrefWith({ executors: null })}>{t("byExecutor.fewer", SHOWN_EXECUTORS)}</a>
        ) : few ? null : (
          <a href={hrefWith({ executors: "all" })}>{t("byExecutor.all", total)}</a>
        )
      }
    >
      <Table
        id="e"
        whole
        most={few || all ? undefined : SHOWN_EXECUTORS}
        caption={t("byExecutor.title")}
        rows={s.executors}
        rowKey={(x) => x.executorId}
        sort={q.get("esort") ?? "-taskTime"}
        selected={(x) => q.get("executor") === x.executorId}
        link={byExecutor}
        columns={executorColumns()}
      />
    </Section>
  );
}

/** Its tasks, below. @param {import("../types").StageExecutor} x */
const byExecutor = (x) => hrefWith({ executor: x.executorId, page: null });

/** @returns {import("../components/table.jsx").Column<import("../types").StageExecutor>[]} */
const executorColumns = () => [
  linkColumn("col.executor", byExecutor, (x) => x.executorId, { title: t("byExecutor.filter") }),
  {
    id: "host",
    label: t("col.host"),
    sort: "host",
    value: (x) => x.host,
    cell: (x) => (
      <>
        <Clip text={x.host} class="is-host" />
        {x.isExcluded ? <span class="chip is-warn">{t("executors.excluded")}</span> : null}
      </>
    ),
  },
  countColumn("col.tasks", (x) => x.taskCount),
  sparse(badColumn("col.failedTasks", (x) => x.failedTasks, { sort: "failed" })),
  sparse(countColumn("col.killedTasks", (x) => x.killedTasks, { sort: undefined })),
  barColumn("col.taskTime", (x) => x.taskTimeMs),
  durationColumn("col.mean", (x) => (x.taskTimeMs !== null && x.taskCount ? x.taskTimeMs / x.taskCount : null), { sort: undefined }),
  gcColumn({ sort: "gc" }),
  ...dataColumns(),
  heapColumn(),
];

/** @param {{ stage: StageData }} props */
function Accumulables({ stage: s }) {
  return (
    <Section title={t("accumulables.title")}>
      <Table
        caption={t("accumulables.title")}
        rows={s.accumulables}
        rowKey={(a) => a.id}
        columns={[
          { id: "name", label: t("col.name"), class: "is-text", cell: (a) => a.name ?? t("accumulables.unnamed", a.id) },
          { id: "value", label: t("col.value"), cell: (a) => <code class="value">{a.value ?? "\u2014"}</code> },
        ]}
      />
    </Section>
  );
}
