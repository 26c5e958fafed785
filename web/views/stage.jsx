// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { BadCount, Bar, Bytes, Clip, Count, PeakHeap, columnMax } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { Histogram } from "../components/histogram.jsx";
import { GcMark, SkewMark } from "../components/marks.jsx";
import { QuantileStrip } from "../components/quantile-strip.jsx";
import { ran } from "../components/stage-columns.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { bytes, count, duration, exactBytes, exactMs, offset, percent, quantity, time, times, zoneName } from "../lib/format.js";
import { t, tx, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith } from "../lib/router.js";
import { share, stageLevel } from "../model/grades.js";
import { summary } from "../model/errors.js";
import { telling } from "../model/metrics.js";
import { sorted } from "../model/sort.js";
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
          {s.failure ? (
            <Section title={t("col.failure")}>
              <pre class="text-block">{s.failure}</pre>
            </Section>
          ) : null}
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
            <Empty title={t("stage.noTask")}>
              <p>{t("stage.noTaskText")}</p>
            </Empty>
          )}
        </>
      ) : (
        <Empty title={t(s.status === "skipped" ? "stage.wasSkipped" : "stage.isPending", s.stageId)}>
          <p>{t(s.status === "skipped" ? "stage.wasSkippedText" : "stage.isPendingText")}</p>
        </Empty>
      )}
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
  return (
    <div class="head is-sub">
      <div class="head-main">
        <div class="head-title">
          <h2 class="head-name">
            {t("stage.title", s.stageId)}
            {s.attempt || others.length ? <span class="dim"> {t("stage.attempt", s.attempt)}</span> : null}
          </h2>
          <Chip of="status" state={s.status} />
        </div>
        <div class="head-meta">
          {s.description ? (
            <span class="clip" title={s.description}>
              {s.description}
            </span>
          ) : null}
          {s.name ? (
            <span class="clip" title={s.name}>
              {s.name}
            </span>
          ) : null}
          {s.jobIds.length ? (
            <span>
              {s.jobIds.slice(0, 8).map((j, i) => (
                <>
                  {i ? ", " : ""}
                  <a href={paths.job(app.ref, j)}>{t("job.title", j)}</a>
                </>
              ))}
              {s.jobIds.length > 8 ? ` ${t("list.more", s.jobIds.length - 8)}` : ""}
            </span>
          ) : null}
          {s.sqlExecutionId !== null ? <span>{t("job.query", s.sqlExecutionId)}</span> : null}
          {s.submissionMs !== null ? (
            <span>
              {time(s.submissionMs)} {zoneName(s.submissionMs)}
              {app.startMs !== null ? ` (${offset(s.submissionMs - app.startMs)})` : ""}
            </span>
          ) : null}
          {s.parents?.length ? (
            <span>
              {t("stage.after")}{" "}
              {s.parents.slice(0, 12).map((p, i) => (
                <>
                  {i ? ", " : ""}
                  <a href={paths.stage(app.ref, p, 0)}>{p}</a>
                </>
              ))}
              {s.parents.length > 12 ? ` ${t("list.more", s.parents.length - 12)}` : ""}
            </span>
          ) : null}
          {others.length ? (
            <span>
              {t("stage.otherAttempts")}{" "}
              {others.map((a, i) => (
                <>
                  {i ? ", " : ""}
                  <a href={paths.stage(app.ref, s.stageId, a)}>{a}</a>
                </>
              ))}
            </span>
          ) : null}
        </div>
      </div>
    </div>
  );
}

/** @param {{ app: App, stage: StageData }} props */
function Sentence({ stage: s, app }) {
  const wall = <b title={exactMs(s.durationMs)}>{duration(s.durationMs)}</b>;
  const of = s.durationMs !== null && app.durationMs ? percent(s.durationMs / app.durationMs) : null;
  return (
    <>
      {s.status === "failed"
        ? tx("say.stageFailed", wall)
        : s.durationMs === null
          ? tx("say.stageOpen", s.endedTasks ?? 0, count(s.numTasks))
          : tx("say.stageRan", wall, of, s.numTasks ?? 0)}
      {s.skew?.grade ? (
        <>
          {" "}
          {tx("say.stageSkew", <b>{duration(s.maxMs)}</b>, <b>{times(s.skew.durationRatio)}</b>, duration(s.medianMs))}
          {s.skew.bytesRatio !== null && s.skew.bytes ? (
            <> {t("say.stageSkewBytes", times(s.skew.bytesRatio), t(s.skew.bytes === "input" ? "say.input" : "say.shuffle"))}</>
          ) : null}
        </>
      ) : null}
      {s.gc?.grade ? <> {tx("say.stageGc", <b>{percent(s.gc.share)}</b>)}</> : null}
    </>
  );
}

/** @param {{ app: App, stage: StageData }} props */
function Numbers({ app, stage: s }) {
  /** @param {import("../lib/i18n.js").Key} label @param {number | null} v @param {number | null} [records] @returns {[string, string, string | null, string] | null} */
  const size = (label, v, records) => (v || records ? [t(label), bytes(v), records ? t("fact.records", records) : null, exactBytes(v)] : null);
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
        [
          t("col.duration"),
          duration(s.durationMs),
          s.durationMs !== null && app.durationMs ? t("fact.ofRun", percent(s.durationMs / app.durationMs)) : null,
          exactMs(s.durationMs),
        ],
        [t("col.tasks"), count(s.completeTasks), s.completeTasks === s.numTasks ? null : t("fact.ofAll", count(s.numTasks))],
        s.failedTasks ? [t("col.failedTasks"), <span class="bad">{count(s.failedTasks)}</span>] : null,
        s.killedTasks ? [t("col.killedTasks"), count(s.killedTasks)] : null,
        [t("col.taskTime"), duration(s.taskTimeMs), null, exactMs(s.taskTimeMs)],
        s.taskTimeMs && s.cpuTimeNs !== null ? [t("fact.cpu"), percent(s.cpuTimeNs / 1e6 / s.taskTimeMs), t("fact.ofTaskTime")] : null,
        [t("col.ratio"), <SkewMark skew={s.skew} />],
        [t("col.gc"), <GcMark gc={s.gc ?? { grade: null, share: share(s.gcTimeMs, s.taskTimeMs) }} />],
        size("col.input", s.inputBytes, s.inputRecords),
        size("col.output", s.outputBytes, s.outputRecords),
        size("col.shuffleRead", s.shuffleReadBytes, s.shuffleReadRecords),
        size("col.shuffleWrite", s.shuffleWriteBytes, s.shuffleWriteRecords),
        size("fact.spillMemory", s.memorySpilledBytes),
        size("fact.spillDisk", s.diskSpilledBytes),
        s.speculation?.tasks
          ? [t("fact.speculative"), count(s.speculation.tasks), s.speculation.completed ? t("fact.wonRace", s.speculation.completed) : null]
          : null,
        kinds.length
          ? [
              t("fact.locality"),
              kinds.map(([k, n], i) => (
                <>
                  {i ? ", " : ""}
                  {count(n)}
                  <small>{word("locality", k)}</small>
                </>
              )),
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

/** @param {{ stage: StageData }} props */
function Distribution({ stage: s }) {
  const rows = telling(s.quantiles);
  const left = s.quantiles.length - rows.length;
  return (
    <Section title={t("q.title")} note={t("q.note", rows[0]?.count ?? 0)}>
      <Table
        caption={t("q.title")}
        rows={rows}
        rowKey={(q) => q.name}
        columns={[
          { id: "name", label: t("col.metric"), class: "is-metric", cell: (q) => word("metric", q.name) },
          {
            id: "strip",
            label: <span class="sr">{t("q.strip")}</span>,
            class: "is-strip",
            cell: (q) => <QuantileStrip q={q} hot={q.name === "durationMs" && Boolean(s.skew?.grade)} />,
          },
          ...POINTS.map(
            (p) =>
              /** @type {import("../components/table.jsx").Column<import("../types").Quantile>} */ ({
                id: p,
                label: t(`q.${p}`),
                num: true,
                cell: (q) => (
                  <span class={q[p] === 0 ? "dim3" : p === "max" && q.name === "durationMs" && s.skew?.grade ? "strong bad" : ""}>
                    {quantity(q[p], q.unit)}
                  </span>
                ),
              }),
          ),
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
  /** @typedef {import("../types").StageExecutor} X */
  const sort = current().query.get("esort") ?? "-taskTime";
  const all = sorted(s.executors, sort, {
    id: (/** @type {X} */ x) => x.executorId,
    host: (x) => x.host,
    tasks: (x) => x.taskCount,
    failed: (x) => x.failedTasks,
    taskTime: (x) => x.taskTimeMs,
    gc: (x) => x.gc?.share,
    input: (x) => x.inputBytes,
    shuffleRead: (x) => x.shuffleReadBytes,
    shuffleWrite: (x) => x.shuffleWriteBytes,
    output: (x) => x.outputBytes,
    spill: (x) => x.diskSpilledBytes,
  });
  const q = current().query;
  // The tasks stand below: many executors must not push them out of sight. The choice is in the URL like any other.
  const whole = q.get("executors") === "all" || all.length <= SHOWN_EXECUTORS + 2;
  const rows = whole ? all : all.slice(0, SHOWN_EXECUTORS);
  const max = columnMax(all, (x) => x.taskTimeMs);
  const any = (/** @type {(x: X) => number | null} */ get) => all.some((x) => get(x));
  return (
    <Section
      title={t("byExecutor.title")}
      note={t("byExecutor.note", all.length)}
      tools={
        whole && q.get("executors") !== "all" ? null : (
          <a href={hrefWith({ executors: whole ? null : "all" })}>{whole ? t("byExecutor.fewer", SHOWN_EXECUTORS) : t("byExecutor.all", all.length)}</a>
        )
      }
    >
      <Table
        id="e"
        caption={t("byExecutor.title")}
        rows={rows}
        rowKey={(x) => x.executorId}
        sort={sort}
        selected={(x) => q.get("executor") === x.executorId}
        link={(x) => hrefWith({ executor: x.executorId, page: null })}
        columns={[
          {
            id: "id",
            label: t("col.executor"),
            sort: "id",
            cell: (x) => (
              <a class="strong" href={hrefWith({ executor: x.executorId, page: null })} title={t("byExecutor.filter")}>
                {x.executorId}
              </a>
            ),
          },
          {
            id: "host",
            label: t("col.host"),
            sort: "host",
            cell: (x) => (
              <>
                {<Clip text={x.host} class="is-host" />}
                {x.isExcluded ? <span class="chip is-warn">{t("executors.excluded")}</span> : null}
              </>
            ),
          },
          { id: "tasks", label: t("col.tasks"), num: true, sort: "tasks", cell: (x) => count(x.taskCount) },
          {
            id: "failed",
            label: t("col.failedTasks"),
            num: true,
            sort: "failed",
            off: !any((x) => x.failedTasks),
            cell: (x) => <BadCount value={x.failedTasks} />,
          },
          { id: "killed", label: t("col.killedTasks"), num: true, off: !any((x) => x.killedTasks), cell: (x) => <Count value={x.killedTasks} /> },
          {
            id: "taskTime",
            label: t("col.taskTime"),
            num: true,
            sort: "taskTime",
            cell: (x) => <Bar value={x.taskTimeMs} max={max} text={duration(x.taskTimeMs)} title={exactMs(x.taskTimeMs)} />,
          },
          { id: "mean", label: t("col.mean"), num: true, cell: (x) => duration(x.taskTimeMs !== null && x.taskCount ? x.taskTimeMs / x.taskCount : null) },
          { id: "gc", label: t("col.gc"), title: t("col.gc.title"), num: true, sort: "gc", cell: (x) => <GcMark gc={x.gc} /> },
          { id: "input", label: t("col.input"), num: true, sort: "input", off: !any((x) => x.inputBytes), cell: (x) => <Bytes value={x.inputBytes} /> },
          {
            id: "shuffleRead",
            label: t("col.shuffleRead"),
            num: true,
            sort: "shuffleRead",
            off: !any((x) => x.shuffleReadBytes),
            cell: (x) => <Bytes value={x.shuffleReadBytes} />,
          },
          {
            id: "shuffleWrite",
            label: t("col.shuffleWrite"),
            num: true,
            sort: "shuffleWrite",
            off: !any((x) => x.shuffleWriteBytes),
            cell: (x) => <Bytes value={x.shuffleWriteBytes} />,
          },
          { id: "output", label: t("col.output"), num: true, sort: "output", off: !any((x) => x.outputBytes), cell: (x) => <Bytes value={x.outputBytes} /> },
          {
            id: "spill",
            label: t("col.spill"),
            num: true,
            sort: "spill",
            off: !any((x) => x.diskSpilledBytes),
            cell: (x) => <Bytes value={x.diskSpilledBytes} />,
          },
          {
            id: "heap",
            label: t("col.peakHeap"),
            num: true,
            off: !any((x) => x.peaks?.jvmHeapMemoryBytes ?? null),
            cell: (x) => <PeakHeap peaks={x.peaks} />,
          },
        ]}
      />
    </Section>
  );
}

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
