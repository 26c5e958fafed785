// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import { apiPath } from "../api.js";
import { Bar, Bytes, Moment } from "../components/cells.jsx";
import { countColumn, durationColumn } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { Fold } from "../components/fold.jsx";
import { PlanGraph, what } from "../components/plan-graph.jsx";
import { Empty, Failure, Skeleton } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { usePieces } from "../components/use-pieces.js";
import { DASH, count, duration, percent } from "../lib/format.js";
import { language, t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, hrefWith, patchQuery, toggleName } from "../lib/router.js";
import { level } from "../model/findings.js";
import { draw } from "../model/plan-boxes.js";
import { missingFrom, planOf } from "../model/plan.js";
import { sorted } from "../model/sort.js";
import { NodePanel } from "./query-node.jsx";

/** @typedef {import("../types").Sql} Sql */
/** @typedef {import("../types").App} App */
/** @typedef {import("../types").SqlPlan} SqlPlan */
/** @typedef {import("../model/plan.js").Operator} Operator */
/** @template T @typedef {import("../components/use-data.js").Asked<T>} Asked */

/** So many operators are drawn without asking. */
const MOST_NODES = 10_000;

/** The version of the plan that the address asks for: the last one unless it says otherwise. @param {Sql} q @returns {import("../types").SqlPlanVersion | undefined} */
export function wantedVersion(q) {
  const word = current().query.get("version");
  return (word === "initial" ? q.plans[0] : q.plans.find((p) => String(p.version) === word)) ?? q.plans[q.plans.length - 1];
}

/** Operators of one version: those that came with the query where it is the last, the others asked for, in pieces where there are many. @param {App} app @param {Sql} q @param {number | null} wanted null: none @param {string} version */
function useGraph(app, q, wanted, version) {
  const path = (/** @type {number} */ next) => apiPath(["apps", app.ref, "sql", q.id, "plans", wanted ?? 0], next ? { node: String(next) } : {});
  const last = q.plans[q.plans.length - 1]?.version;
  const asked = /** @type {Asked<SqlPlan>} */ (useData(wanted === null || wanted === last ? null : path(0), version));
  const first = wanted === null ? null : wanted === last ? q : asked.data?.version === wanted ? asked.data : null;
  const all = current().query.get("all") === "1";
  const rest = usePieces({
    next: first?.nextNode ?? null,
    path,
    items: (/** @type {SqlPlan} */ p) => p.nodes,
    after: (p) => p.nextNode,
    most: all ? Infinity : MOST_NODES,
    version,
  });
  const nodes = useMemo(() => (first && rest.whole ? [...first.nodes, ...rest.items] : null), [first, rest.items.length, rest.whole]);
  return { asked, error: rest.error, nodes, edges: first?.edges ?? [], nodeCount: first?.nodeCount ?? 0 };
}

/** The plan: drawn, with the operator that was chosen beside it, and as a table. @param {{ app: App, query: Sql, findings: import("../types").Finding[], version: string }} props */
export function QueryPlan({ app, query: q, findings, version }) {
  const wanted = wantedVersion(q);
  if (!wanted || (!q.nodes.length && q.plans.length === 1)) return <Section title={t("query.plan")}><Empty title={t("query.noPlan")} text={t("query.noPlanText")} /></Section>;
  return <Versions app={app} query={q} wanted={wanted.version} findings={findings} version={version} />;
}

/** @param {{ app: App, query: Sql, wanted: number, findings: import("../types").Finding[], version: string }} props */
function Versions({ app, query: q, wanted, findings, version }) {
  const last = q.plans[q.plans.length - 1].version;
  const compare = current().query.get("version") === "diff";
  const graph = useGraph(app, q, wanted, version);
  const plan = useMemo(() => (graph.nodes ? planOf(graph.nodes, graph.edges, q.stages) : null), [graph.nodes, graph.edges, q.stages]);
  const before = useGraph(app, q, compare && last ? 0 : null, version).nodes;
  const diff = useMemo(
    () => (graph.nodes && before ? { gone: missingFrom(before, graph.nodes), added: missingFrom(graph.nodes, before) } : null),
    [graph.nodes, before],
  );
  return (
    <>
      <Section title={t("query.plan")} note={t("plan.note", plan?.taskMs ? percent(plan.measuredMs / plan.taskMs) : null)} tools={q.plans.length > 1 ? <Switch query={q} wanted={wanted} compare={compare} /> : null}>
        {graph.error ? <Failure error={graph.error} /> : null}
        {graph.asked.error ? <Failure error={graph.asked.error} retry={graph.asked.retry} /> : null}
        {plan ? (
          plan.operators.length ? (
            <Drawn app={app} query={q} plan={plan} left={graph.nodeCount - (graph.nodes?.length ?? 0)} findings={wanted === last ? findings : []} changes={wanted === last} diff={diff} />
          ) : (
            <Empty title={t("query.noPlan")} text={t("query.tooLarge")} />
          )
        ) : (
          <Skeleton rows={12} />
        )}
      </Section>
      <Changes app={app} query={q} gone={diff?.gone ?? null} />
    </>
  );
}

/** @param {{ query: Sql, wanted: number, compare: boolean }} props */
function Switch({ query: q, wanted, compare }) {
  const last = q.plans[q.plans.length - 1].version;
  const to = (/** @type {string | null} */ v) => hrefWith({ version: v, node: null, open: null, view: null });
  return (
    <>
      <span class="seg">
        <a href={to("initial")} aria-current={wanted === 0}>
          {t("plan.initial")}
        </a>
        <a href={to(null)} aria-current={wanted === last && !compare}>
          {t(q.plans[q.plans.length - 1].final ? "plan.final" : "plan.latest")}
        </a>
        <a href={to("diff")} aria-current={compare}>
          {t("plan.diff")}
        </a>
      </span>
      {q.plans.length > 2 ? (
        <select
          class="filter-choice"
          aria-label={t("plan.version")}
          value={String(wanted)}
          onChange={(e) => patchQuery({ version: e.currentTarget.value === String(last) ? null : e.currentTarget.value, node: null, open: null, view: null })}
        >
          {q.plans.map((p) => (
            <option key={p.version} value={String(p.version)}>
              {p.version === 0 ? t("plan.asBegun") : t("plan.update", p.version)}
            </option>
          ))}
        </select>
      ) : null}
    </>
  );
}

/** Of findings about operators of this query the worst level of each. @param {import("../types").Finding[]} findings @returns {Map<number, number>} */
function levelsOf(findings) {
  const out = new Map();
  for (const f of findings) {
    if (f.subject.kind !== "node") continue;
    const id = Number(f.subject.key.split("/")[1]);
    out.set(id, Math.max(out.get(id) ?? 0, level(f)));
  }
  return out;
}

/**
 * @param {{ app: App, query: Sql, plan: import("../model/plan.js").Plan, left: number, findings: import("../types").Finding[], changes: boolean,
 *   diff: { gone: import("../types").SqlNode[], added: import("../types").SqlNode[] } | null }} props left: nodes that were not asked for; changes: those of the query are about these
 */
function Drawn({ app, query: q, plan, left, findings, changes, diff }) {
  const params = current().query;
  const [open, code, find, stage] = [params.get("open") ?? "", params.get("fold") === "code", (params.get("find") ?? "").trim().toLowerCase(), params.get("stage")];
  const levels = useMemo(() => levelsOf(findings), [findings]);
  const marks = useMemo(() => {
    /** @type {Map<number, string>} */
    const out = new Map((diff?.added ?? []).map((n) => [n.id, t("plan.new")]));
    if (changes) for (const c of q.changes) if (c.nodeId !== null) out.set(c.nodeId, changeText(c));
    return out;
  }, [changes, q.changes, diff, language()]);
  const found = useMemo(() => new Set(find ? plan.operators.filter((o) => matches(o, find)).map((o) => o.id) : []), [plan, find]);
  const [asked, usual] = [numberOf(params.get("node")), useMemo(() => first(plan, levels), [plan, levels])];
  const node = asked !== null && plan.byId.has(asked) ? asked : null;
  const flagged = useMemo(() => new Set([...levels.keys(), ...marks.keys(), ...(node === null ? [] : [node])]), [levels, marks, node]);
  const drawing = useMemo(() => draw(plan, { toggled: new Set(open.split(",").filter(Boolean)), code, flagged }), [plan, open, code, flagged]);
  const toggle = (/** @type {string} */ key) => toggleName("open", key);
  const choose = (/** @type {number} */ id) => patchQuery({ node: id }, { replace: true });
  const shown = node ?? usual;
  const inStage = stage === null ? null : (drawing.boxes.find((b) => b.stage === (stage.includes(".") ? stage : `${stage}.0`))?.main.id ?? null);
  return (
    <>
      {left > 0 ? (
        <p class="note">
          {t("plan.cut", count(left))} <a href={hrefWith({ all: 1 })}>{t("plan.all")}</a>
        </p>
      ) : null}
      <div class="plan">
        <PlanGraph
          appRef={app.ref}
          file={`${app.ref}-query-${q.id}`}
          {...{ plan, drawing, choose, toggle, levels, marks, found }}
          stages={q.stages}
          node={shown}
          stage={stage === null || stage.includes(".") ? stage : `${stage}.0`}
          beginAt={node ?? inStage ?? usual}
          tools={
            <>
              <Find found={found} choose={choose} node={node} />
              {plan.clusters.size ? (
                <button type="button" class="btn is-small" aria-pressed={code} onClick={() => patchQuery({ fold: code ? null : "code", open: null })}>
                  {t("plan.foldCode")}
                </button>
              ) : null}
            </>
          }
        />
        {shown === null ? null : <NodePanel app={app} plan={plan} id={shown} change={marks.get(shown) ?? null} />}
      </div>
      <OperatorTable app={app} plan={plan} marks={marks} node={shown} />
    </>
  );
}

/** @param {string | null} text */
const numberOf = (text) => (text !== null && /^\d+$/.test(text) ? Number(text) : null);

/** What to look at first: the operator with the worst finding, or with most time of its own. @param {import("../model/plan.js").Plan} plan @param {Map<number, number>} levels @returns {number | null} */
function first(plan, levels) {
  /** @type {Operator | null} */
  let best = null;
  const weight = (/** @type {Operator} */ o) => (levels.get(o.id) ?? 0) * 1e15 + (o.ownMs ?? 0);
  for (const o of plan.operators) if (!best || weight(o) > weight(best)) best = o;
  return best?.id ?? null;
}

/** @param {Operator} o @param {string} find in small letters */
const matches = (o, find) => `${o.name} ${o.node.description ?? ""} ${o.node.metadata.map((m) => m.join(" ")).join(" ")}`.toLowerCase().includes(find);

/** Search in the drawing: what it finds is marked, Enter goes from one to the next. @param {{ found: Set<number>, choose: (id: number) => void, node: number | null }} props */
function Find({ found, choose, node }) {
  const [text, setText] = useState(current().query.get("find") ?? "");
  const ids = [...found];
  const at = node === null ? -1 : ids.indexOf(node);
  return (
    <>
      <input
        type="search"
        class="filter-text"
        data-search
        placeholder={t("plan.find")}
        aria-label={t("plan.find")}
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          patchQuery({ find: e.currentTarget.value }, { replace: true });
        }}
        onKeyDown={(e) => {
          if (e.key === "Enter" && ids.length) choose(ids[(at + (e.shiftKey ? ids.length - 1 : 1)) % ids.length]);
        }}
      />
      <span class="dim small" role="status">
        {text ? t("plan.found", at + 1, count(ids.length)) : ""}
      </span>
    </>
  );
}

const PAGE = 25;

/** The same as a table: for those who do not see the drawing, and for those who look for the dearest operator. @param {{ app: App, plan: import("../model/plan.js").Plan, marks: Map<number, string>, node: number | null }} props */
function OperatorTable({ app, plan, marks, node }) {
  const q = current().query;
  const sort = q.get("opsort") ?? "-own";
  const limit = Number(q.get("oplimit")) || PAGE;
  const page = Math.max(1, Math.min(Number(q.get("oppage")) || 1, Math.ceil(plan.operators.length / limit)));
  const rows = useMemo(
    () =>
      sorted(plan.operators, sort, {
        own: (o) => o.ownMs,
        driver: (o) => o.driverMs,
        rows: (o) => o.rows,
        in: (o) => o.rowsIn,
        name: (o) => o.name,
        id: (o) => o.id,
        stage: (o) => (o.stage === null ? null : Number(o.stage)),
      }),
    [plan, sort],
  );
  return (
    <Section title={t("plan.operatorsByTime")} note={t("plan.operatorsNote")}>
      <Table
        id="op"
        caption={t("plan.operatorsByTime")}
        rows={rows.slice((page - 1) * limit, page * limit)}
        rowKey={(o) => o.id}
        sort={sort}
        page={{ total: rows.length, page, limit }}
        selected={(o) => o.id === node}
        columns={[
          {
            id: "name",
            label: t("col.operator"),
            sort: "name",
            class: "is-name",
            cell: (o) => (
              <a class="strong" href={hrefWith({ node: o.id, view: null })}>
                {o.name} <span class="dim3">{o.id}</span>
              </a>
            ),
          },
          {
            id: "what",
            label: t("col.what"),
            class: "is-text",
            cell: (o) => (
              <span class={"clip " + (marks.has(o.id) ? "" : "dim")} title={o.node.description ?? undefined}>
                {marks.get(o.id) ?? what(o)}
              </span>
            ),
          },
          { id: "stage", label: t("col.stage"), num: true, sort: "stage", ascending: true, present: (o) => o.stage !== null, cell: (o) => <StageLink app={app} stage={o.stage} /> },
          {
            id: "own",
            label: t("plan.own"),
            title: t("plan.ownTitle"),
            num: true,
            sort: "own",
            bar: true,
            class: "is-bar",
            value: (o) => o.ownMs,
            present: (o) => o.ownMs !== null,
            cell: (o, max) => <Bar value={o.ownMs} max={max} text={duration(o.ownMs)} />,
          },
          { id: "share", label: t("plan.ofQuery"), num: true, present: (o) => o.ownMs !== null, cell: (o) => percent(o.ownMs === null || !plan.taskMs ? null : o.ownMs / plan.taskMs) },
          { ...durationColumn("plan.driverTime", (/** @type {Operator} */ o) => o.driverMs), id: "driver", sort: "driver", present: (o) => o.driverMs },
          { ...countColumn("plan.rowsIn", (/** @type {Operator} */ o) => o.rowsIn), id: "in", sort: "in", present: (o) => o.rowsIn !== null },
          { ...countColumn("plan.rowsOut", (/** @type {Operator} */ o) => o.rows), id: "rows", sort: "rows", present: (o) => o.rows !== null },
        ]}
      />
    </Section>
  );
}

/** @param {{ app: App, stage: string | null }} props */
export function StageLink({ app, stage }) {
  if (stage === null) return <span class="dim3">{DASH}</span>;
  const [id, attempt] = stage.split(".").map(Number);
  return <a href={paths.stage(app.ref, id, attempt)}>{attempt ? stage : id}</a>;
}

// -- what adaptive execution changed

/** @param {import("../types").SqlPlanChange} c */
function changeText(c) {
  const n = (/** @type {number | null} */ v) => count(v);
  switch (c.kind) {
    case "coalesced":
      return t("change.coalesced", n(c.partitionsBefore), n(c.partitionsAfter));
    case "skew split":
      return t("change.split", n(c.skewedPartitions), n(c.splits));
    case "local read":
      return t("change.local");
    case "join":
      return t("change.join", c.before ?? "?", c.after ?? "?");
    case "empty side removed":
      return t("change.empty");
    case "exchange reused":
      return t("change.reused");
    case "broadcast abandoned":
      return t("change.abandoned");
    default:
      return c.kind;
  }
}

/** @param {{ app: App, query: Sql, gone: import("../types").SqlNode[] | null }} props gone: operators of the first plan that the last one lacks; null: not compared */
function Changes({ app, query: q, gone }) {
  if (q.plans.length < 2) return null;
  const last = q.plans[q.plans.length - 1];
  return (
    <Section title={t("change.title")} note={last.final ? t("change.note", q.plans.length - 1) : t("change.notFinal", q.plans.length - 1)}>
      {q.changes.length ? (
        <Table
          caption={t("change.title")}
          rows={q.changes}
          rowKey={(c) => `${c.version} ${c.kind} ${c.nodeId} ${c.nodeText}`}
          columns={[
            { id: "what", label: t("change.what"), cell: (c) => <b>{changeText(c)}</b> },
            {
              id: "node",
              label: t("col.operator"),
              class: "is-text",
              cell: (c) =>
                c.nodeId === null ? (
                  <span class="clip dim" title={c.nodeText ?? undefined}>
                    {c.nodeText}
                  </span>
                ) : (
                  <a class="clip" title={c.nodeText ?? undefined} href={hrefWith({ node: c.nodeId, version: null, view: null })}>
                    {c.nodeText}
                  </a>
                ),
            },
            {
              id: "version",
              label: t("change.when"),
              num: true,
              cell: (c) => (
                <>
                  <a href={hrefWith({ version: c.version === last.version ? null : c.version, node: null, view: null })}>{t("plan.update", c.version)}</a>{" "}
                  <Moment ms={c.loggedMs} startMs={app.startMs} />
                </>
              ),
            },
            { id: "stage", label: t("change.feeds"), num: true, present: (c) => c.stageId !== null, cell: (c) => <StageLink app={app} stage={c.stageId === null ? null : `${c.stageId}.${c.stageAttempt}`} /> },
            { id: "min", label: t("change.min"), title: t("change.sizes"), num: true, present: (c) => c.minBytes !== null, cell: (c) => <Bytes value={c.minBytes} /> },
            { id: "med", label: t("col.median"), title: t("change.sizes"), num: true, present: (c) => c.medianBytes !== null, cell: (c) => <Bytes value={c.medianBytes} /> },
            { id: "max", label: t("col.max"), title: t("change.sizes"), num: true, present: (c) => c.maxBytes !== null, cell: (c) => <Bytes value={c.maxBytes} /> },
            { id: "shuffle", label: t("change.written"), num: true, present: (c) => c.shuffleBytes !== null, cell: (c) => <Bytes value={c.shuffleBytes} /> },
          ]}
        />
      ) : (
        <p class="note">{t(q.planChangeCount === null ? "change.later" : "change.none")}</p>
      )}
      {(q.planChangeCount ?? 0) > q.changes.length ? <p class="note">{t("list.more", (q.planChangeCount ?? 0) - q.changes.length)}</p> : null}
      {gone ? gone.length ? <Gone nodes={gone} /> : <p class="note">{t("change.goneNone")}</p> : null}
    </Section>
  );
}

/** @param {{ nodes: import("../types").SqlNode[] }} props */
const Gone = ({ nodes }) => (
  <Fold name="gone" usual={nodes.length < 20} title={t("change.gone", nodes.length)}>
    <ul class="gone">
      {nodes.slice(0, 500).map((n) => (
        <li key={n.id}>
          <b>{n.name.trim()}</b> <span class="dim">{(n.description ?? "").slice(0, 300)}</span>
        </li>
      ))}
    </ul>
    {nodes.length > 500 ? <p class="note">{t("list.more", nodes.length - 500)}</p> : null}
  </Fold>
);
