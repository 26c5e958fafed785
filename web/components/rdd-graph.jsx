// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { apiPath } from "../api.js";
import { DASH, count } from "../lib/format.js";
import { language, t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, namesIn, patchQuery, toggleName } from "../lib/router.js";
import { callSite } from "../model/app.js";
import { OPERATION, drawRdds } from "../model/rdd-boxes.js";
import { Fold } from "./fold.jsx";
import { Graph } from "./graph.jsx";
import { Empty, Failure, Loaded } from "./states.jsx";
import { Table } from "./table.jsx";
import { useData } from "./use-data.js";
import { usePieces } from "./use-pieces.js";

/** @typedef {import("../types").RddGraph} RddGraph */
/** @typedef {import("../types").GraphStage} GraphStage */

/** Stages that are asked for without more ado. */
const MOST_STAGES = 2000;

/**
 * The RDDs of a job, or of one stage, and what they are made of: a box an operation, a frame a stage, dashed lines shuffles. In the address: `open`, stages that were folded or unfolded;
 * `node`, the chosen box; `view`, where one looks.
 * @param {{ app: import("../types").App, of: (string | number)[], version: string }} props of: its address below the run: ["jobs", 3] or ["stages", "5.0"]
 */
export function RddGraph({ app, of, version }) {
  const path = (/** @type {number} */ stage) => apiPath(["apps", app.ref, ...of, "graph"], stage ? { stage: String(stage) } : {});
  const asked = /** @type {import("./use-data.js").Asked<RddGraph>} */ (useData(path(0), version));
  const rest = usePieces({ next: asked.data?.nextStage ?? null, path, items: (/** @type {RddGraph} */ g) => g.stages, after: (g) => g.nextStage, most: MOST_STAGES, version });
  const stages = useMemo(() => [...(asked.data?.stages ?? []), ...rest.items], [asked.data, rest.items]);
  return (
    <Loaded from={asked} rows={10}>
      {() =>
        rest.error ? (
          <Failure error={rest.error} />
        ) : stages.some((s) => s.rdds.length) ? (
          <Drawn app={app} file={[app.ref, ...of].join("-")} stages={stages} />
        ) : (
          <Empty title={t("dag.none")} text={t("dag.noneText")} />
        )
      }
    </Loaded>
  );
}

/** @param {{ app: import("../types").App, file: string, stages: GraphStage[] }} props file: name for the drawing */
function Drawn({ app, file, stages }) {
  const q = current().query;
  const [open, node] = [q.get("open"), q.get("node")];
  const drawing = useMemo(() => drawRdds(stages, namesIn(current().query, "open")), [stages, open]);
  const { boxes } = drawing;
  const chosen = node === null ? -1 : boxes.findIndex((b) => nameOf(b) === node);
  const frames = useMemo(
    () =>
      [...drawing.frames].map(([key, f]) => {
        const s = /** @type {GraphStage} */ (stages.find((x) => `s${x.stageId}` === key));
        return {
          ...f,
          key,
          title: t("stage.title", s.stageId),
          note: [s.skipped ? t("status.skipped") : null, callSite(s.name)].filter(Boolean).join(" · "),
          href: paths.stage(app.ref, s.stageId, s.attempt),
          class: s.skipped ? "is-off" : "",
        };
      }),
    [drawing, language()],
  );
  const toggle = (/** @type {number} */ i) => toggleName("open", boxes[i].key);
  const rows = stages.flatMap((s) => s.rdds.map((r) => ({ s, r })));
  return (
    <>
      <Graph
        label={t("dag.label")}
        {...drawing}
        frames={frames}
        file={file}
        text={(i) => (boxes[i].folded ? [t("dag.folded", boxes[i].stage.rddCount)] : [operationName(boxes[i]), ...boxes[i].rdds.map(rddName)])}
        chosen={chosen < 0 ? null : chosen}
        choose={(i) => patchQuery({ node: nameOf(boxes[i]) }, { replace: true })}
        open={toggle}
        tone={(i) => (boxes[i].folded ? "is-folded is-small" : boxes[i].rdds.some((r) => r.barrier) ? "is-changed" : "")}
        content={(i) => <Operation box={boxes[i]} open={() => toggle(i)} />}
      />
      <Fold name="rdds" title={t("dag.table", rows.length)}>
        <Table
          caption={t("dag.title")}
          rows={rows.slice(0, ROWS)}
          rowKey={({ s, r }) => `${s.stageId} ${r.id}`}
          columns={[
            { id: "rdd", label: t("dag.rdd"), num: true, cell: ({ r }) => (r.cached ? <a href={paths.rdd(app.ref, r.id)}>{r.id}</a> : r.id) },
            { id: "stage", label: t("col.stage"), num: true, cell: ({ s }) => <a href={paths.stage(app.ref, s.stageId, s.attempt)}>{s.stageId}</a> },
            { id: "name", label: t("col.name"), cell: ({ r }) => r.name ?? DASH },
            { id: "scope", label: t("dag.operation"), cell: ({ r }) => r.scopes.map((x) => x.name).join(" › ") || DASH },
            { id: "site", label: t("dag.callSite"), class: "is-text", cell: ({ r }) => <span class="clip" title={r.callsite ?? undefined}>{callSite(r.callsite)}</span> },
            { id: "of", label: t("dag.madeOf"), cell: ({ r }) => r.parentIds.join(", ") },
            { id: "parts", label: t("dag.partitions"), num: true, cell: ({ r }) => count(r.numPartitions) },
            { id: "marks", label: t("dag.marks"), cell: ({ r }) => marksOf(r).join(", ") },
          ]}
        />
        {rows.length > ROWS ? <p class="note">{t("list.more", rows.length - ROWS)}</p> : null}
      </Fold>
    </>
  );
}

/** Of a box in the address: its stage and its first RDD. @param {import("../model/rdd-boxes.js").OperationBox} b */
const nameOf = (b) => `${b.stage.stageId}.${b.rdds[0]?.id ?? ""}`;

/** More rows than that nobody reads; the drawing has them all. */
const ROWS = 500;

/** @param {import("../types").GraphRdd} r */
const marksOf = (r) => [r.cached ? t("dag.cached") : "", r.barrier ? t("dag.barrier") : "", r.determinism && r.determinism !== "determinate" ? word("dag", r.determinism) : ""].filter(Boolean);

/** @param {import("../model/rdd-boxes.js").OperationBox} b */
const operationName = (b) => (b.name ?? b.rdds[0].name)?.split("\n")[0] ?? DASH;

/** @param {import("../types").GraphRdd} r */
const rddName = (r) => [`${r.name ?? DASH} [${r.id}]`, ...marksOf(r)].join(" · ");

/** @param {{ box: import("../model/rdd-boxes.js").OperationBox, open: () => void }} props */
function Operation({ box: b, open }) {
  if (b.folded)
    return (
      <div class="gbox-line">
        <span class="clip dim">{t("dag.folded", b.stage.rddCount)}</span>
        {b.rdds.some((r) => r.cached) ? <Cached /> : null}
        <span class="gbox-fold" title={t("plan.unfold")} onClick={open}>
          +
        </span>
      </div>
    );
  return (
    <>
      <div class="gbox-line">
        <b class="clip">{operationName(b)}</b>
      </div>
      {b.rdds.slice(0, OPERATION.most).map((r) => (
        <div key={r.id} class="gbox-line gbox-sub" title={`${r.name ?? ""} [${r.id}]\n${r.callsite ?? ""}`}>
          <span class="clip">
            {r.name ?? DASH} [{r.id}]
          </span>
          {r.cached ? <Cached /> : null}
          {r.barrier ? <b>{t("dag.barrier")}</b> : null}
        </div>
      ))}
      {b.rdds.length > OPERATION.most ? <div class="gbox-sub">{t("list.more", b.rdds.length - OPERATION.most)}</div> : null}
    </>
  );
}

const Cached = () => (
  <>
    <i class="gbox-dot" />
    {t("dag.cached")}
  </>
);
