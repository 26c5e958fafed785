// SPDX-License-Identifier: Apache-2.0
import { apiPath, wordedPath } from "../../api.js";
import { Joined } from "../../components/cells.jsx";
import { Chip } from "../../components/chips.jsx";
import { Section } from "../../components/facts.jsx";
import { Fold } from "../../components/fold.jsx";
import { Empty, Loaded, Skeleton } from "../../components/states.jsx";
import { Table } from "../../components/table.jsx";
import { useData } from "../../components/use-data.js";
import { DASH, count, duration, exactMs, offset, percent, quantity, time, times, zoneName } from "../../lib/format.js";
import { t, word } from "../../lib/i18n.js";
import * as paths from "../../lib/paths.js";
import { hrefWith, patchQuery } from "../../lib/router.js";
import { look } from "../../model/buckets.js";
import { metricsOf, unitOf } from "../../model/metrics.js";

/** @typedef {import("../../types").TaskItem} TaskItem */
/** @typedef {import("../../types").Stage} StageData */
/** @typedef {import("../../types").Why} Why */

/** Attempts of one partition that are shown; more have a link. */
const SHOWN_ATTEMPTS = 10;

/**
 * Why one task took as long as it did: what it did against a typical task, its excess by cause, every metric against the stage's median, the other attempts of its partition.
 * @param {{ app: import("../../types").App, stage: StageData, id: string, isPicked: boolean, asked: import("../../components/use-data.js").Asked<import("../../types").TaskList>,
 *   version: string }} props asked: a list of that task alone
 */
export function WhySlow({ app, stage: s, id, isPicked, asked, version }) {
  const task = asked.data?.items[0];
  return (
    <Section
      id="task"
      title={t("why.title", id)}
      note={
        isPicked ? (
          task ? (
            t("tasks.oneNote", count(task.index), count(task.attempt), task.executorId ?? DASH, task.host ?? DASH)
          ) : null
        ) : (
          t("why.slowest")
        )
      }
      tools={
        isPicked ? (
          <button type="button" class="btn is-small" onClick={() => patchQuery({ task: null }, { replace: true })}>
            {t("tasks.close")}
          </button>
        ) : (
          <a href={hrefWith({ task: id })}>{t("why.pick")}</a>
        )
      }
    >
      <Loaded from={asked} rows={8}>
        {(list) => (list.items[0] ? <Explained app={app} stage={s} task={list.items[0]} version={version} /> : <Empty title={t("tasks.notHere", id)} />)}
      </Loaded>
    </Section>
  );
}

/** @param {{ app: import("../../types").App, stage: StageData, task: TaskItem, version: string }} props */
function Explained({ app, stage: s, task, version }) {
  const asked = /** @type {import("../../components/use-data.js").Asked<Why>} */ (useData(wordedPath(["apps", app.ref, "tasks", task.taskId, "why"]), version));
  const executor = s.executors.find((x) => x.executorId === task.executorId);
  return (
    <>
      <div class="cols">
        <div class="why">
          {asked.data ? <Split why={asked.data} /> : asked.error ? <p class="note dim">{asked.error.status === 409 ? t("why.unknown") : asked.error.detail}</p> : <Skeleton rows={6} />}
          <dl class="metrics">
            <Pair name={t("col.outcome")}>
              <Chip of="task" state={task.status} />
            </Pair>
            <Pair name={t("col.launched")}>
              <span title={app.startMs === null || task.launchMs === null ? undefined : offset(task.launchMs - app.startMs)}>
                {time(task.launchMs)} {zoneName(task.launchMs ?? undefined)}
              </span>
            </Pair>
            <Pair name={t("col.locality")}>{word("locality", task.locality)}</Pair>
            <Pair name={t("col.attempt")}>
              {count(task.attempt)}
              {task.speculative ? <small>{t("tasks.speculativeCopy")}</small> : null}
            </Pair>
            {executor?.logs.length ? (
              <Pair name={t("col.logs")}>
                <Logs logs={executor.logs} />
              </Pair>
            ) : null}
          </dl>
        </div>
        <AgainstMedian stage={s} task={task} />
      </div>
      {task.error ? <pre class="text-block">{task.error}</pre> : null}
      <Attempts app={app} name={`${s.stageId}.${s.attempt}`} task={task} version={version} />
    </>
  );
}

/** @param {{ name: string, children: import("preact").ComponentChildren }} props */
const Pair = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Links to an executor's logs, where a log names addresses that a browser may open. @param {{ logs: [string | null, string | null][] }} props */
export const Logs = ({ logs }) => (
  <Joined items={logs}>
    {([name, address]) => {
      const to = address === null ? null : paths.outside(address);
      return to ? (
        <a href={to} target="_blank" rel="noopener noreferrer" data-outside>
          {name ?? to}
        </a>
      ) : (
        (name ?? DASH)
      );
    }}
  </Joined>
);

/** Two bars on one scale, and the excess cause by cause. @param {{ why: Why }} props */
function Split({ why }) {
  if (!why.parts.length) return <p class="why-say">{why.sentence}</p>;
  const scale = Math.max(why.durationMs ?? 0, why.medianMs ?? 0, 1);
  const excess = why.excessMs ?? 0;
  let before = 0;
  return (
    <>
      <p class="why-say">{why.sentence}</p>
      {/** @type {const} */ (["typicalMs", "ms"]).map((key) => (
        <div class="why-line" key={key}>
          <span>{key === "ms" ? t("col.task") + " " + why.taskId : t("why.typical")}</span>
          <span class="why-track">
            {why.parts.map((p) => (
              <i
                key={p.bucket}
                style={{ "--w": p[key] / scale, "--c": `var(--ph-${look(p.bucket).phase})` }}
                title={t("phase.of", p.name ?? p.bucket, duration(p[key]), percent(p[key] / scale))}
              />
            ))}
          </span>
          <span class="num" title={exactMs(key === "ms" ? why.durationMs : why.medianMs)}>
            {duration(key === "ms" ? why.durationMs : why.medianMs)}
          </span>
        </div>
      ))}
      <ul class="legend">
        {why.parts.map((p) => (
          <li key={p.bucket}>
            <span class="swatch" style={{ "--c": `var(--ph-${look(p.bucket).phase})` }} />
            {p.name ?? p.bucket}
          </li>
        ))}
      </ul>
      {excess > 0 ? (
        <>
          <h3>{t("why.excess", duration(why.durationMs), duration(why.medianMs), duration(excess))}</h3>
          {[...why.causes]
            .sort((a, b) => (b.ms ?? 0) - (a.ms ?? 0))
            .map((c) => {
              const from = before / excess;
              before += c.ms ?? 0;
              return (
                <div class="why-line" key={c.cause}>
                  <span class={c.cause === why.cause ? "strong" : ""}>{c.name ?? c.cause}</span>
                  <span class="why-track">
                    <i class={c.cause === why.cause ? "is-hot" : ""} style={{ "--x": from, "--w": (c.ms ?? 0) / excess }} />
                  </span>
                  <span class="num">
                    +{duration(c.ms)} <span class="dim">{percent((c.ms ?? 0) / excess)}</span>
                  </span>
                </div>
              );
            })}
        </>
      ) : null}
    </>
  );
}

/** Every metric of the task beside the median of the stage. @param {{ stage: StageData, task: TaskItem }} props */
function AgainstMedian({ stage: s, task }) {
  const medians = new Map(s.quantiles.map((q) => [q.name, q.p50]));
  const rows = metricsOf(task).map((m) => ({ ...m, median: medians.get(m.name) ?? null }));
  const shown = rows.filter((r) => r.value !== 0 || r.median),
    zero = rows.filter((r) => r.value === 0 && !r.median);
  return (
    <div>
      <Table
        caption={t("why.metrics")}
        rows={shown}
        rowKey={(r) => r.name}
        columns={[
          { id: "name", label: t("col.metric"), class: "is-metric", cell: (r) => word("metric", r.name) },
          { id: "value", label: t("why.this"), num: true, cell: (r) => <span class="strong">{quantity(r.value, unitOf(r.name))}</span> },
          { id: "median", label: t("q.p50"), num: true, cell: (r) => <span class="dim">{quantity(r.median, unitOf(r.name))}</span> },
          { id: "ratio", label: t("why.ratio"), num: true, cell: (r) => <span class="dim">{times(r.median ? r.value / r.median : null)}</span> },
        ]}
      />
      {zero.length ? (
        <Fold name="zero" title={t("tasks.zero", zero.length)}>
          <p class="note dim">
            <Joined items={zero}>{(m) => word("metric", m.name)}</Joined>
          </p>
        </Fold>
      ) : null}
      {task.accumulables.length ? (
        <p class="note">
          {t("accumulables.title")}: <Joined items={task.accumulables}>{([name, value]) => `${name ?? DASH}: ${value ?? DASH}`}</Joined>
        </p>
      ) : null}
    </div>
  );
}

/** What else ran for the same partition: retries and speculative copies. @param {{ app: import("../../types").App, name: string, task: TaskItem, version: string }} props */
function Attempts({ app, name, task, version }) {
  const partition = task.partitionId ?? task.index;
  const asked = /** @type {import("../../components/use-data.js").Asked<import("../../types").TaskList>} */ (
    useData(partition === null ? null : apiPath(["apps", app.ref, "stages", name, "tasks"], { partition, sort: "launchMs", limit: SHOWN_ATTEMPTS }), version)
  );
  const list = asked.data;
  if (!list || list.total < 2) return null;
  return (
    <>
      <h3 class="sub-head">
        {t("why.attempts", count(partition), list.total)} <a href={hrefWith({ partition, page: null })}>{t("why.attemptsAll")}</a>
      </h3>
      <Table
        class="is-narrow"
        caption={t("why.attempts", count(partition), list.total)}
        rows={list.items}
        rowKey={(x) => x.taskId}
        selected={(x) => x.taskId === task.taskId}
        link={(x) => hrefWith({ task: x.taskId })}
        columns={[
          { id: "task", label: t("col.task"), cell: (x) => <a class="strong" href={hrefWith({ task: x.taskId })}>{x.taskId}</a> },
          { id: "attempt", label: t("col.attempt"), cell: (x) => count(x.attempt) + (x.speculative ? " " + t("tasks.speculative") : "") },
          { id: "status", label: t("col.outcome"), cell: (x) => <Chip of="task" state={x.status} /> },
          { id: "executor", label: t("col.executor"), cell: (x) => x.executorId ?? DASH },
          { id: "launched", label: t("col.launched"), num: true, cell: (x) => (app.startMs === null || x.launchMs === null ? DASH : offset(x.launchMs - app.startMs)) },
          { id: "duration", label: t("col.duration"), num: true, cell: (x) => duration(x.durationMs) },
        ]}
      />
    </>
  );
}
