// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Bar, Bytes, Clip, Count, Duration, columnMax } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { Section } from "../components/facts.jsx";
import { Choice, FilterChip, Search } from "../components/filters.jsx";
import { Empty, Failure, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { count, duration, exactMs, offset, percent, quantity, time, zoneName } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith, patchQuery } from "../lib/router.js";
import { summary } from "../model/errors.js";
import { metricsOf, unitOf } from "../model/metrics.js";

/** @typedef {import("../types").TaskItem} TaskItem */
/** @typedef {import("../components/table.jsx").Column<TaskItem>} Column */

const DEFAULT_SORT = "-durationMs";
const DEFAULT_LIMIT = 25;

/**
 * The tasks of a stage: sorted, filtered and paged by the server. `?task=` opens one with all that the log says about it.
 * @param {{ app: import("../types").App, stage: import("../types").Stage, name: string, version: string }} props
 */
export function Tasks({ app, stage, name, version }) {
  const q = current().query;
  const filters = {
    status: q.get("status"),
    executor: q.get("executor"),
    host: q.get("host"),
    locality: q.get("locality"),
    q: q.get("q"),
    minDurationMs: q.get("minDurationMs"),
  };
  const sort = q.get("sort") ?? DEFAULT_SORT;
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").TaskList>} */ (
    useData(apiPath(["apps", app.ref, "stages", name, "tasks"], { ...filters, sort, page: q.get("page"), limit: q.get("limit") ?? DEFAULT_LIMIT }), version)
  );
  const picked = q.get("task");
  const clear = paths.stage(app.ref, stage.stageId, stage.attempt);
  const hosts = new Set(stage.executors.map((x) => x.host));
  return (
    <>
      {picked !== null && /^\d+$/.test(picked) ? <OneTask app={app} name={name} id={picked} version={version} /> : null}
      <Section
        title={t("nav.tasks")}
        id="tasks"
        note={
          asked.data
            ? asked.data.total === asked.data.allTasks
              ? t("tasks.note", asked.data.allTasks)
              : t("tasks.filtered", count(asked.data.total), count(asked.data.allTasks))
            : " "
        }
      >
        <div class="tbl-tools no-print">
          <Search name="q" label={t("tasks.search")} reset="page" />
          <Choice
            name="status"
            label={t("col.outcome")}
            reset="page"
            options={[
              ["", t("filter.anyStatus")],
              ...["success", "failed", "killed", "running"].map(
                (s) => /** @type {[string, string]} */ ([s, t(/** @type {import("../lib/i18n.js").Key} */ (`task.${s}`))]),
              ),
            ]}
          />
          {stage.executors.length > 1 ? (
            <Choice
              name="executor"
              label={t("col.executor")}
              reset="page"
              options={[
                ["", t("tasks.anyExecutor")],
                ...stage.executors.map((x) => /** @type {[string, string]} */ ([x.executorId, t("tasks.onExecutor", x.executorId)])),
              ]}
            />
          ) : null}
          {hosts.size > 1 && filters.host === null ? null : filters.host !== null ? (
            <FilterChip name="host" text={filters.host} remove={t("filter.remove")} reset="page" />
          ) : null}
          {filters.minDurationMs !== null ? (
            <FilterChip name="minDurationMs" text={t("apps.longer", duration(Number(filters.minDurationMs)))} remove={t("filter.remove")} reset="page" />
          ) : null}
          {Object.values(filters).some((v) => v !== null) ? (
            <a class="btn is-plain" href={clear}>
              {t("filter.clear")}
            </a>
          ) : null}
        </div>
        <Loaded from={asked} rows={12}>
          {(list) =>
            list.items.length ? (
              <Table
                caption={t("nav.tasks")}
                columns={columns(app, list.items)}
                rows={list.items}
                rowKey={(x) => x.taskId}
                sort={sort}
                page={list}
                selected={(x) => String(x.taskId) === picked}
                link={(x) => hrefWith({ task: x.taskId })}
                rowClass={(x) => (x.status === "success" ? "" : "is-" + x.status)}
              />
            ) : (
              <Empty title={t("tasks.none")}>
                <p>
                  <a href={clear}>{t("filter.clear")}</a>
                </p>
              </Empty>
            )
          }
        </Loaded>
      </Section>
    </>
  );
}

/** @param {import("../types").App} app @param {TaskItem[]} rows @returns {Column[]} */
function columns(app, rows) {
  const max = columnMax(rows, (x) => x.durationMs);
  const any = (/** @type {string} */ key) => rows.some((x) => x[key]);
  /** @param {string} key @returns {Column} */
  const ms = (key) => ({
    id: key,
    label: word("metric.short", key),
    title: word("metric", key),
    num: true,
    sort: key,
    off: !any(key),
    cell: (x) => <Duration ms={/** @type {number | null} */ (x[key])} />,
  });
  /** @param {string} key @returns {Column} */
  const size = (key) => ({
    id: key,
    label: word("metric.short", key),
    title: word("metric", key),
    num: true,
    sort: key,
    off: !any(key),
    cell: (x) => <Bytes value={/** @type {number | null} */ (x[key])} />,
  });
  /** @param {string} key @returns {Column} */
  const number = (key) => ({
    id: key,
    label: word("metric.short", key),
    title: word("metric", key),
    num: true,
    sort: key,
    off: !any(key),
    cell: (x) => <Count value={/** @type {number | null} */ (x[key])} />,
  });
  return [
    {
      id: "taskId",
      label: t("col.task"),
      sort: "taskId",
      ascending: true,
      cell: (x) => (
        <a class="strong" href={hrefWith({ task: x.taskId })}>
          {x.taskId}
        </a>
      ),
    },
    { id: "index", label: t("col.index"), num: true, sort: "index", ascending: true, cell: (x) => count(x.index) },
    {
      id: "attempt",
      label: t("col.attempt"),
      num: true,
      sort: "attempt",
      off: !any("attempt") && !any("speculative"),
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
    { id: "executor", label: t("col.executor"), sort: "executor", cell: (x) => x.executorId ?? "\u2014" },
    { id: "host", label: t("col.host"), sort: "host", cell: (x) => <Clip text={x.host} class="is-host dim" /> },
    { id: "locality", label: t("col.locality"), cell: (x) => <span class="dim">{word("locality", x.locality)}</span> },
    {
      id: "launchMs",
      label: t("col.launched"),
      num: true,
      sort: "launchMs",
      ascending: true,
      cell: (x) =>
        x.launchMs !== null && app.startMs !== null ? (
          <span title={`${time(x.launchMs)} ${zoneName(x.launchMs)}`}>{offset(x.launchMs - app.startMs)}</span>
        ) : (
          "\u2014"
        ),
    },
    {
      id: "durationMs",
      label: t("col.duration"),
      num: true,
      sort: "durationMs",
      cell: (x) => <Bar value={x.durationMs} max={max} text={duration(x.durationMs)} title={exactMs(x.durationMs)} />,
    },
    ms("jvmGcTimeMs"),
    ms("schedulerDelayMs"),
    ms("executorDeserializeTimeMs"),
    ms("shuffleFetchWaitTimeMs"),
    size("inputBytes"),
    number("inputRecords"),
    size("shuffleReadBytes"),
    number("shuffleRecordsRead"),
    size("shuffleWriteBytes"),
    size("outputBytes"),
    size("diskSpilledBytes"),
    size("peakExecutionMemoryBytes"),
    {
      id: "error",
      label: t("col.message"),
      sort: "error",
      off: !rows.some((x) => x.error),
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
            {metricsOf(task).map(({ name: key, value }) => (
              <div key={key} class={value === 0 ? "is-zero" : ""}>
                <dt>{word("metric", key)}</dt>
                <dd>
                  {quantity(value, unitOf(key))}
                  {unitOf(key) === "ms" && key !== "durationMs" && task.durationMs && value ? <small>{percent(value / task.durationMs)}</small> : null}
                </dd>
              </div>
            ))}
          </dl>
          {task.error ? <pre class="text-block">{task.error}</pre> : null}
        </>
      ) : (
        <Empty title={t("tasks.notHere", id)} />
      )}
    </Section>
  );
}
