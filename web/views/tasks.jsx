// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Clip, Joined } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { barColumn, bytesColumn, countColumn, durationColumn, linkColumn, momentColumn, sparse } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { Choice, FilterChip, Search, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty, Failure } from "../components/states.jsx";
import { useData } from "../components/use-data.js";
import { DASH, count, duration, percent, quantity, time, zoneName } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import { current, here, hrefWith, patchQuery } from "../lib/router.js";
import { summary } from "../model/errors.js";
import { metricsOf, unitOf } from "../model/metrics.js";

/** @typedef {import("../types").TaskItem} TaskItem */
/** @typedef {import("../components/table.jsx").Column<TaskItem>} Column */

const FILTERS = ["status", "executor", "host", "locality", "q", "minDurationMs"];

/**
 * The tasks of a stage: sorted, filtered and paged by the server. `?task=` opens one with all that the log says about it.
 * @param {{ app: import("../types").App, stage: import("../types").Stage, name: string, version: string }} props
 */
export function Tasks({ app, stage, name, version }) {
  /** @type {import("../components/list.jsx").Listing<TaskItem, import("../types").TaskList>} */
  const tasks = useList(["apps", app.ref, "stages", name, "tasks"], { sort: "-durationMs", limit: 25, filters: FILTERS, version });
  const { data } = tasks.asked;
  const { host, minDurationMs } = tasks.filters;
  const picked = current().query.get("task");
  return (
    <>
      {picked !== null && /^\d+$/.test(picked) ? <OneTask app={app} name={name} id={picked} version={version} /> : null}
      <Section
        title={t("nav.tasks")}
        id="tasks"
        note={
          data ? (data.total === data.allTasks ? t("tasks.note", data.allTasks) : t("tasks.filtered", count(data.total), count(data.allTasks))) : "\u00a0"
        }
      >
        <Tools>
          <Search name="q" label={t("tasks.search")} />
          <Choice name="status" label={t("col.outcome")} any={t("filter.anyStatus")} options={words("task", ["success", "failed", "killed", "running"])} />
          {stage.executors.length > 1 ? (
            <Choice
              name="executor"
              label={t("col.executor")}
              any={t("tasks.anyExecutor")}
              options={stage.executors.map((x) => [x.executorId, t("tasks.onExecutor", x.executorId)])}
            />
          ) : null}
          {host === null ? null : <FilterChip name="host" text={host} />}
          {minDurationMs === null ? null : <FilterChip name="minDurationMs" text={t("apps.longer", duration(Number(minDurationMs)))} />}
          {tasks.filtered ? (
            <a class="btn is-plain" href={here()}>
              {t("filter.clear")}
            </a>
          ) : null}
        </Tools>
        <ListTable
          of={tasks}
          rows={12}
          caption={t("nav.tasks")}
          columns={columns(app)}
          rowKey={(x) => x.taskId}
          selected={(x) => String(x.taskId) === picked}
          link={toTask}
          rowClass={(x) => (x.status === "success" ? "" : "is-" + x.status)}
          noMatch={t("tasks.none")}
        />
      </Section>
    </>
  );
}

const toTask = (/** @type {TaskItem} */ x) => hrefWith({ task: x.taskId });

/** @param {import("../types").App} app @returns {Column[]} */
function columns(app) {
  /**
   * A metric of schema.sql, left out where no task of the page has any of it.
   * @param {typeof bytesColumn} make @param {string} key @returns {Column}
   */
  const metric = (make, key) =>
    sparse(
      make(/** @type {import("../lib/i18n.js").Key} */ (`metric.short.${key}`), (/** @type {TaskItem} */ x) => /** @type {number | null} */ (x[key]), {
        title: word("metric", key),
      }),
    );
  return [
    linkColumn("col.task", toTask, (x) => x.taskId, { sort: "taskId", ascending: true }),
    { id: "index", label: t("col.index"), num: true, sort: "index", ascending: true, cell: (x) => count(x.index) },
    {
      id: "attempt",
      label: t("col.attempt"),
      num: true,
      sort: "attempt",
      present: (x) => x.attempt || x.speculative,
      cell: (x) => (
        <>
          {x.speculative ? <span class="dim3">{t("tasks.speculative")} </span> : null}
          {count(x.attempt)}
        </>
      ),
    },
    {
      id: "status",
      label: t("col.outcome"),
      cell: (x) => (x.status === "success" ? <span class="dim">{t("task.success")}</span> : <Chip of="task" state={x.status} />),
    },
    { id: "executor", label: t("col.executor"), sort: "executor", cell: (x) => x.executorId ?? DASH },
    { id: "host", label: t("col.host"), sort: "host", cell: (x) => <Clip text={x.host} class="is-host dim" /> },
    { id: "locality", label: t("col.locality"), cell: (x) => <span class="dim">{word("locality", x.locality)}</span> },
    momentColumn("col.launched", (x) => x.launchMs, app.startMs, { sort: "launchMs" }),
    barColumn("col.duration", (x) => x.durationMs, { sort: "durationMs" }),
    ...["jvmGcTimeMs", "schedulerDelayMs", "executorDeserializeTimeMs", "shuffleFetchWaitTimeMs"].map((key) => metric(durationColumn, key)),
    metric(bytesColumn, "inputBytes"),
    metric(countColumn, "inputRecords"),
    metric(bytesColumn, "shuffleReadBytes"),
    metric(countColumn, "shuffleRecordsRead"),
    ...["shuffleWriteBytes", "outputBytes", "diskSpilledBytes", "peakExecutionMemoryBytes"].map((key) => metric(bytesColumn, key)),
    {
      id: "error",
      label: t("col.message"),
      sort: "error",
      present: (x) => x.error,
      cell: (x) =>
        x.error ? (
          <span class="clip error-line" title={x.error}>
            {summary(x.error)}
          </span>
        ) : (
          ""
        ),
    },
  ];
}

/** Everything about one task. @param {{ app: import("../types").App, name: string, id: string, version: string }} props */
function OneTask({ app, name, id, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").TaskList>} */ (
    useData(apiPath(["apps", app.ref, "stages", name, "tasks"], { q: id, limit: 50 }), version)
  );
  const task = asked.data?.items.find((x) => String(x.taskId) === id);
  const metrics = task ? metricsOf(task) : [];
  const measured = metrics.filter((m) => m.value !== 0),
    zero = metrics.filter((m) => m.value === 0);
  const close = (
    <button type="button" class="btn is-small" onClick={() => patchQuery({ task: null }, { replace: true })}>
      {t("tasks.close")}
    </button>
  );
  if (asked.error && !asked.data)
    return (
      <Section title={t("tasks.one", id)} tools={close}>
        <Failure error={asked.error} retry={asked.retry} />
      </Section>
    );
  if (!asked.data) return null;
  return (
    <Section
      title={t("tasks.one", id)}
      tools={close}
      note={task ? t("tasks.oneNote", count(task.index), count(task.attempt), task.executorId ?? "\u2014", task.host ?? "\u2014") : null}
    >
      {task ? (
        <>
          <dl class="metrics">
            <div>
              <dt>{t("col.outcome")}</dt>
              <dd>{word("task", task.status)}</dd>
            </div>
            <div>
              <dt>{t("col.launched")}</dt>
              <dd>
                {time(task.launchMs)} {zoneName(task.launchMs ?? undefined)}
              </dd>
            </div>
            {measured.map(({ name: key, value }) => (
              <div key={key}>
                <dt>{word("metric", key)}</dt>
                <dd>
                  {quantity(value, unitOf(key))}
                  {unitOf(key) === "ms" && key !== "durationMs" && task.durationMs ? <small>{percent(value / task.durationMs)}</small> : null}
                </dd>
              </div>
            ))}
          </dl>
          {zero.length ? (
            <details class="fold">
              <summary>{t("tasks.zero", zero.length)}</summary>
              <p class="note dim">
                <Joined items={zero}>{(m) => word("metric", m.name)}</Joined>
              </p>
            </details>
          ) : null}
          {task.error ? <pre class="text-block">{task.error}</pre> : null}
        </>
      ) : (
        <Empty title={t("tasks.notHere", id)} />
      )}
    </Section>
  );
}
