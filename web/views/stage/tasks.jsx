// SPDX-License-Identifier: Apache-2.0
import { Clip, Joined } from "../../components/cells.jsx";
import { Chip } from "../../components/chips.jsx";
import { useColumns } from "../../components/column-choice.jsx";
import { barColumn, bytesColumn, countColumn, durationColumn, linkColumn, momentColumn, sparse } from "../../components/columns.jsx";
import { Section } from "../../components/facts.jsx";
import { Choice, FilterChip, Search, Tools, words } from "../../components/filters.jsx";
import { ListTable, useList } from "../../components/list.jsx";
import { phaseColumn } from "../../components/phase-bar.jsx";
import { DASH, count, duration, nanoseconds, offset } from "../../lib/format.js";
import { t, word } from "../../lib/i18n.js";
import { current, hrefWith } from "../../lib/router.js";
import { summary } from "../../model/errors.js";
import { restOf, taskParts } from "../../model/phases.js";
import { Logs } from "./why.jsx";

/** @typedef {import("../../types").TaskItem} TaskItem */
/** @typedef {import("../../components/table.jsx").Column<TaskItem>} Column */

/** Parameters of the API, and the keys of the address where these are other ones: `exec` picks an executor on the whole page. @type {(string | [string, string])[]} */
const FILTERS = ["status", ["executor", "exec"], "host", "locality", "speculative", "partition", "q", "minDurationMs", "from", "to"];
/** Least durations to choose from, ms. */
const AT_LEAST = [1000, 10_000, 60_000, 600_000];

/**
 * The tasks of a stage: sorted, filtered and paged by the server. `task` picks one, which is explained above.
 * @param {{ app: import("../../types").App, stage: import("../../types").Stage, analysis: import("../../types").StageAnalysis | null, name: string, version: string }} props
 */
export function Tasks({ app, stage: s, analysis, name, version }) {
  /** @type {import("../../components/list.jsx").Listing<TaskItem, import("../../types").TaskList>} */
  const tasks = useList(["apps", app.ref, "stages", name, "tasks"], { sort: "-durationMs", limit: 25, filters: FILTERS, version });
  const { data } = tasks.asked;
  const f = tasks.filters;
  const picked = current().query.get("task");
  const { shown, tool } = useColumns("stage.tasks", columns(app, s, restOf(analysis)), EXTRA, new Set(["task"]));
  const most = s.maxMs ?? 0;
  const at = (/** @type {string | null} */ ms) => (app.startMs === null ? DASH : offset(Number(ms) - app.startMs));
  return (
    <Section
      title={t("nav.tasks")}
      id="tasks"
      note={data ? (data.total === data.allTasks ? t("tasks.note", data.allTasks) : t("tasks.filtered", count(data.total), count(data.allTasks))) : "\u00a0"}
    >
      <Tools>
        <Search name="q" label={t("tasks.search")} />
        <Choice name="status" label={t("col.outcome")} any={t("filter.anyStatus")} options={words("task", ["success", "failed", "killed", "running"])} />
        {s.executors.length > 1 ? (
          <Choice name="exec" label={t("col.executor")} any={t("tasks.anyExecutor")} options={s.executors.map((x) => [x.executorId, t("tasks.onExecutor", x.executorId)])} />
        ) : null}
        <Choice
          name="locality"
          label={t("col.locality")}
          any={t("tasks.anyLocality")}
          options={words("locality", ["PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"])}
        />
        <Choice
          name="minDurationMs"
          label={t("col.duration")}
          any={t("tasks.anyDuration")}
          options={AT_LEAST.filter((ms) => ms < most).map((ms) => [String(ms), t("apps.longer", duration(ms))])}
        />
        {s.speculation?.tasks ? (
          <Choice
            name="speculative"
            label={t("fact.speculative")}
            any={t("tasks.anySpeculative")}
            options={[
              ["1", t("tasks.speculativeOnly")],
              ["0", t("tasks.speculativeNone")],
            ]}
          />
        ) : null}
        {f.host === null ? null : <FilterChip name="host" text={f.host} />}
        {f.partition === null ? null : <FilterChip name="partition" text={t("tasks.partition", f.partition)} />}
        {f.from === null && f.to === null ? null : <FilterChip names={["from", "to"]} text={t("tasks.between", at(f.from), at(f.to))} />}
        {tasks.filtered ? (
          <a class="btn is-plain" href={hrefWith(Object.fromEntries([...FILTERS.map((x) => (typeof x === "string" ? x : x[1])), "page"].map((key) => [key, null])))}>
            {t("filter.clear")}
          </a>
        ) : null}
        <span class="tools-end">{tool}</span>
      </Tools>
      <ListTable
        of={tasks}
        rows={12}
        caption={t("nav.tasks")}
        columns={shown}
        rowKey={(x) => x.taskId}
        selected={(x) => String(x.taskId) === picked}
        link={toTask}
        rowClass={(x) => (x.status === "success" ? "" : "is-" + x.status)}
        noMatch={t("tasks.none")}
      />
    </Section>
  );
}

const toTask = (/** @type {TaskItem} */ x) => hrefWith({ task: x.taskId });

const EXTRA = new Set([
  "partition", "logs", "executorRunTimeMs", "executorCpuTimeNs", "executorDeserializeCpuTimeNs", "resultSerializationTimeMs", "gettingResultTimeMs", "resultSizeBytes", "memorySpilledBytes",
  "outputRecords", "shuffleWriteRecords", "shuffleWriteTimeNs", "shuffleRemoteReadBytes", "shuffleLocalReadBytes", "shuffleRemoteReadToDiskBytes", "shuffleRemoteBlocksFetched",
  "shuffleLocalBlocksFetched",
]);

/** @param {import("../../types").App} app @param {import("../../types").Stage} s @param {string} rest @returns {Column[]} */
function columns(app, s, rest) {
  const logs = new Map(s.executors.map((x) => [x.executorId, x.logs]));
  const number = (/** @type {string} */ key) => (/** @type {TaskItem} */ x) => /** @type {number | null} */ (x[key]);
  /**
   * A metric of schema.sql, left out where no task of the page has any of it.
   * @param {typeof bytesColumn} make @param {string} key @param {boolean} [brief] it has a short name for its head @returns {Column}
   */
  const metric = (make, key, brief) => sparse(make(/** @type {import("../../lib/i18n.js").Key} */ (`metric.${brief ? "short." : ""}${key}`), number(key), { title: word("metric", key), name: word("metric", key) }));
  const nsColumn = (/** @type {string} */ key) => /** @type {Column} */ ({ id: key, label: word("metric", key), num: true, sort: key, present: number(key), cell: (x) => nanoseconds(number(key)(x)) });
  return [
    linkColumn("col.task", toTask, (x) => x.taskId, { sort: "taskId", ascending: true }),
    { id: "index", label: t("col.index"), num: true, sort: "index", ascending: true, cell: (x) => count(x.index) },
    { id: "partition", label: t("col.partition"), num: true, sort: "partitionId", ascending: true, cell: (x) => count(x.partitionId) },
    {
      id: "attempt",
      label: t("col.attempt"),
      num: true,
      sort: "attempt",
      present: (x) => x.attempt || x.speculative,
      cell: (x) => (
        <>
          {x.speculative ? <span class="dim3">{t("tasks.speculative")} </span> : null}
          {x.attempt || x.speculative || x.status === "failed" || x.status === "killed" ? <a href={hrefWith({ partition: x.partitionId ?? x.index, page: null })}>{count(x.attempt)}</a> : count(x.attempt)}
        </>
      ),
    },
    {
      id: "status",
      label: t("col.outcome"),
      cell: (x) => (x.status === "success" ? <span class="dim nowrap">{t("task.success")}</span> : <Chip of="task" state={x.status} />),
    },
    { id: "executor", label: t("col.executor"), sort: "executor", cell: (x) => x.executorId ?? DASH },
    { id: "host", label: t("col.host"), sort: "host", cell: (x) => <Clip text={x.host} class="is-host dim" /> },
    { id: "logs", label: t("col.logs"), cell: (x) => <Logs logs={logs.get(x.executorId ?? "") ?? []} /> },
    { id: "locality", label: t("col.locality"), sort: "locality", cell: (x) => <span class="dim">{word("locality", x.locality)}</span> },
    momentColumn("col.launched", (x) => x.launchMs, app.startMs, { sort: "launchMs" }),
    barColumn("col.duration", (x) => x.durationMs, { sort: "durationMs" }),
    phaseColumn((x) => taskParts(x, rest)),
    metric(durationColumn, "executorRunTimeMs"),
    nsColumn("executorCpuTimeNs"),
    ...["jvmGcTimeMs", "schedulerDelayMs", "executorDeserializeTimeMs", "shuffleFetchWaitTimeMs"].map((key) => metric(durationColumn, key, true)),
    nsColumn("executorDeserializeCpuTimeNs"),
    ...["resultSerializationTimeMs", "gettingResultTimeMs"].map((key) => metric(durationColumn, key)),
    metric(bytesColumn, "inputBytes", true),
    metric(countColumn, "inputRecords", true),
    metric(bytesColumn, "shuffleReadBytes", true),
    metric(countColumn, "shuffleRecordsRead", true),
    ...["shuffleRemoteReadBytes", "shuffleLocalReadBytes", "shuffleRemoteReadToDiskBytes"].map((key) => metric(bytesColumn, key)),
    ...["shuffleRemoteBlocksFetched", "shuffleLocalBlocksFetched"].map((key) => metric(countColumn, key)),
    metric(bytesColumn, "shuffleWriteBytes", true),
    metric(countColumn, "shuffleWriteRecords"),
    nsColumn("shuffleWriteTimeNs"),
    metric(bytesColumn, "outputBytes", true),
    metric(countColumn, "outputRecords"),
    metric(bytesColumn, "memorySpilledBytes"),
    metric(bytesColumn, "diskSpilledBytes", true),
    metric(bytesColumn, "peakExecutionMemoryBytes", true),
    metric(bytesColumn, "resultSizeBytes"),
    {
      id: "accumulables",
      label: t("accumulables.title"),
      present: (x) => x.accumulables.length,
      cell: (x) => <Joined items={x.accumulables}>{([name, value]) => `${name ?? DASH}: ${value ?? DASH}`}</Joined>,
    },
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
