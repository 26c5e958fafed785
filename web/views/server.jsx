// SPDX-License-Identifier: Apache-2.0
/** The server's state: is it well, what waits, what failed and why, what takes the disk, and how it is set up. */
import { useState } from "preact/hooks";
import { act, apiPath } from "../api.js";
import { Clip } from "../components/cells.jsx";
import { badColumn, bytesColumn, countColumn, durationColumn } from "../components/columns.jsx";
import { Facts, Section } from "../components/facts.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { toast } from "../components/toast.jsx";
import { useData, usePoll } from "../components/use-data.js";
import { DASH, bytes, count, duration, exactBytes, percent, zoned } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** @typedef {import("../types").ServerState} ServerState */
/** @typedef {ServerState["disk"]["largest"][number]} StoredRun */
/** @typedef {{ state: ServerState, done: () => void }} PartProps */

const LOOK_MS = 5000;
const STATES = /** @type {const} */ (["waiting", "loading", "loaded", "partial", "listed", "failed", "skipped", "gone"]);

export function ServerStatus() {
  const [beat, setBeat] = useState(0);
  const asked = /** @type {import("../components/use-data.js").Asked<ServerState>} */ (useData(apiPath(["server"]), beat));
  const again = () => setBeat((n) => n + 1);
  usePoll(asked.error?.status === 403 ? null : LOOK_MS, asked, again);
  return (
    <Loaded from={asked} facts rows={8}>
      {(state) => <State state={state} done={again} />}
    </Loaded>
  );
}

/** @param {PartProps} props */
function State({ state, done }) {
  const { ready } = state;
  const missing = /** @type {const} */ (["catalogue", "list", "worker"]).filter((part) => !ready[part]);
  const up = state.nowMs - (state.server.sinceMs ?? state.nowMs);
  return (
    <>
      <div class="head">
        <div class="head-main">
          <div class="head-title">
            <h1>{t("server.title")}</h1>
          </div>
          <div class="head-meta">
            <span>Afterglow {state.version}</span>
            <span>{t("server.since", zoned(state.server.sinceMs), duration(up))}</span>
            <span class="clip">{state.store}</span>
          </div>
        </div>
      </div>
      {missing.map((part) => (
        <div class="banner" role="status" key={part}>
          <div>
            {t(`server.notReady.${part}`)} {part === "worker" ? state.ingest.message : null}
          </div>
        </div>
      ))}
      <Summary state={state} />
      <Places state={state} />
      <LogStates state={state} />
      <Troubles state={state} done={done} />
      <Largest state={state} done={done} />
      <Processes state={state} />
      <Settings state={state} />
    </>
  );
}

/** @param {{ state: ServerState }} props */
function Summary({ state }) {
  const { logs, disk, ready, server, worker } = state;
  const well = ready.catalogue && ready.list && ready.worker;
  const troubles = state.troubles?.reduce((sum, x) => sum + x.count, 0);
  const memory = (server.residentBytes ?? 0) + (worker.residentBytes ?? 0);
  return (
    <Facts
      items={[
        [t("server.ready"), well ? t("server.ready.yes") : <b class="bad">{t("server.ready.no")}</b>],
        [t("server.queue"), logs ? count(logs.waiting + logs.loading) : DASH, state.waitingBytes ? bytes(state.waitingBytes) : null],
        [t("server.troubles"), troubles === undefined ? DASH : count(troubles)],
        [t("server.disk"), bytes(disk.runBytes + disk.catalogueBytes), null, exactBytes(disk.runBytes + disk.catalogueBytes)],
        [t("server.free"), bytes(disk.freeBytes), null, exactBytes(disk.freeBytes)],
        [t("server.memory"), bytes(memory || null), t("server.memory.parts", bytes(server.residentBytes), bytes(worker.residentBytes))],
      ]}
    />
  );
}

/** @param {{ state: ServerState }} props */
function Places({ state }) {
  if (!state.places) return null;
  return (
    <Section title={t("server.places")}>
      {state.places.length ? (
        <Table
          caption={t("server.places")}
          rows={state.places}
          rowKey={(p) => p.uri}
          columns={[
            { id: "place", label: t("server.place"), cell: (p) => <Clip text={p.name ?? p.uri} title={p.uri} /> },
            {
              id: "state",
              label: t("server.state"),
              class: "is-text",
              cell: (p) =>
                p.lastError !== null ? (
                  <>
                    <b class="bad">{t("server.place.away", zoned(p.failingSinceMs))}</b> <Clip text={p.lastError} />
                  </>
                ) : (
                  t(p.lastScanMs === null ? "server.place.unseen" : "server.place.ok")
                ),
            },
            {
              id: "last",
              label: t("server.lastScan"),
              num: true,
              cell: (p) => (p.lastScanMs === null ? DASH : <span title={zoned(p.lastScanMs)}>{t("server.ago", duration(Math.max(0, state.nowMs - p.lastScanMs)))}</span>),
            },
            durationColumn("server.scanTime", (p) => (p.lastError === null ? p.lastScanDurationMs : null)),
            countColumn("server.entries", (p) => p.entryCount),
          ]}
        />
      ) : (
        <p class="dim">{t("server.places.none")}</p>
      )}
    </Section>
  );
}

/** @param {{ state: ServerState }} props */
const LogStates = ({ state: { logs } }) =>
  logs ? (
    <Section title={t("server.logs")} note={t("server.logs.note")}>
      <Facts items={STATES.map((s) => [t(s === "skipped" ? "server.skipped" : `state.${s}`), logs[s] ? <a href={paths.apps({ state: s })}>{count(logs[s])}</a> : <span class="dim3">{count(logs[s])}</span>])} />
    </Section>
  ) : null;

/** @param {PartProps} props */
function Troubles({ state, done }) {
  if (!state.troubles) return null;
  const latest = state.troubles.flatMap((of) => of.latest.map((log) => ({ ...log, trouble: of.reason })));
  return (
    <>
      <Section title={t("server.failed")}>
        {latest.length ? (
          <Table
            caption={t("server.failed")}
            rows={state.troubles}
            rowKey={(x) => x.reason}
            columns={[
              { id: "why", label: t("server.why"), cell: (x) => <span class="strong">{t(`trouble.${x.reason}`)}</span> },
              badColumn("server.count", (x) => x.count),
              { id: "text", label: t("server.said"), class: "is-text", cell: (x) => t(`trouble.${x.reason}.text`) },
            ]}
          />
        ) : (
          <p class="dim">{t("server.failed.none")}</p>
        )}
      </Section>
      {latest.length ? (
        <Section title={t("server.latest")} note={t("server.latest.note")}>
          <Table
            caption={t("server.latest")}
            rows={latest}
            rowKey={(x) => x.logId}
            columns={[
              { id: "log", label: t("server.log"), cell: (x) => <LogName log={x} /> },
              { id: "why", label: t("server.why"), class: "nowrap", cell: (x) => t(`trouble.${x.trouble}`) },
              { id: "text", label: t("server.said"), class: "is-text", cell: (x) => <Clip text={x.reason} /> },
              {
                id: "when",
                label: t("server.when"),
                num: true,
                cell: (x) => <span title={zoned(x.changedMs)}>{t("server.ago", duration(Math.max(0, state.nowMs - x.changedMs)))}</span>,
              },
              {
                id: "act",
                label: <span class="sr">{t("act.reload")}</span>,
                present: (x) => state.mayAct && x.key,
                cell: (x) => (x.key ? <Acts run={x.key} name={lastPart(x.logPath)} done={done} /> : null),
              },
            ]}
          />
        </Section>
      ) : null}
    </>
  );
}

/** @param {string} path */
const lastPart = (path) => path.replace(/^.*\//, "");

/** @param {{ log: { logPath: string, key: string | null } }} props */
const LogName = ({ log }) =>
  log.key ? (
    <a href={paths.app(log.key)} title={log.logPath}>
      {lastPart(log.logPath)}
    </a>
  ) : (
    <Clip text={lastPart(log.logPath)} title={log.logPath} />
  );

/** @param {PartProps} props */
function Largest({ state, done }) {
  const { largest, runBytes, runCount, setAside } = state.disk;
  return (
    <Section title={t("server.largest")} note={largest.length ? t("server.largest.note", largest.length, runCount, bytes(runBytes)) : undefined}>
      {largest.length ? (
        <Table
          caption={t("server.largest")}
          rows={largest}
          rowKey={(r) => r.key}
          link={(r) => paths.app(r.key)}
          columns={[
            { id: "run", label: t("server.run"), cell: (r) => <RunName run={r} /> },
            { id: "user", label: t("server.user"), cell: (r) => <Clip text={r.user} /> },
            bytesColumn("server.bytes", (r) => r.bytes),
            { id: "share", label: t("server.share"), num: true, cell: (r) => (runBytes ? percent(r.bytes / runBytes) : DASH) },
            { id: "act", label: <span class="sr">{t("act.reload")}</span>, present: () => state.mayAct, cell: (r) => <Acts run={r.key} name={r.name ?? r.appId} done={done} /> },
          ]}
        />
      ) : (
        <Empty title={t("server.largest.none")} />
      )}
    {setAside.count ? <p class="dim">{t("server.setAside", setAside.count, bytes(setAside.bytes), setAside.names.join(", "))}</p> : null}
    </Section>
  );
}

/** @param {{ run: StoredRun }} props */
const RunName = ({ run }) => (
  <a class="strong" href={paths.app(run.key)} title={run.attemptId === null ? run.appId : `${run.appId} ${run.attemptId}`}>
    {run.name ?? run.appId}
  </a>
);

/** @param {{ run: string, name: string, done: () => void }} props */
function Acts({ run, name, done }) {
  /** @param {"reload" | "forget"} what */
  const ask = async (what) => {
    try {
      await act(apiPath(["apps", run, what]));
      toast(t(`act.${what}.asked`, name));
    } catch (e) {
      toast(t("act.failed", /** @type {import("../api.js").ApiError} */ (e).detail));
    }
    done();
  };
  return (
    <span class="no-print">
      <button type="button" class="btn is-small" aria-label={t("act.reload.of", name)} onClick={() => ask("reload")}>
        {t("act.reload")}
      </button>{" "}
      <button type="button" class="btn is-small" aria-label={t("act.forget.of", name)} onClick={() => confirm(t("act.forget.sure", name)) && ask("forget")}>
        {t("act.forget")}
      </button>
    </span>
  );
}

/** @param {{ state: ServerState }} props */
function Processes({ state }) {
  const rows = /** @type {const} */ (["server", "worker"]).filter((id) => id === "server" || state.ingest.enabled).map((id) => ({ id, ...state[id] }));
  return (
    <>
      <Section title={t("server.processes")} note={state.ingest.restarts ? t("server.restarts", state.ingest.restarts) : undefined}>
        <Table
          caption={t("server.processes")}
          rows={rows}
          rowKey={(p) => p.id}
          columns={[
            { id: "process", label: t("server.process"), cell: (p) => <span class="strong">{t(`server.process.${p.id}`)}</span> },
            { id: "since", label: t("server.when"), cell: (p) => zoned(p.sinceMs) },
            bytesColumn("server.memory", (p) => p.residentBytes),
            countColumn("server.threads", (p) => p.threadCount),
            countColumn("server.files", (p) => p.openFileCount),
            durationColumn("server.cpu", (p) => p.cpuMs),
          ]}
        />
      </Section>
      {state.ingest.loads.length ? (
        <Section title={t("server.loads")} note={t("server.loads.note", bytes(state.ingest.readBytes))}>
          <Facts items={state.ingest.loads.map((x) => [t(`loadEnd.${x.end}`), <span class={x.count ? "" : "dim3"}>{count(x.count)}</span>])} />
        </Section>
      ) : null}
    </>
  );
}

/** @param {{ state: ServerState }} props */
const Settings = ({ state }) => (
  <Section title={t("server.settings")}>
    {state.settings.length ? (
      <Table
        caption={t("server.settings")}
        rows={state.settings}
        rowKey={(s) => s.key}
        columns={[
          { id: "key", label: t("server.key"), cell: (s) => <code>{s.key}</code> },
          { id: "value", label: t("server.value"), class: "is-text", cell: (s) => <Clip text={s.value} /> },
          { id: "default", label: t("server.default"), cell: (s) => <Clip text={s.default} /> },
          { id: "from", label: t("server.from"), cell: (s) => s.from },
        ]}
      />
    ) : (
      <p class="dim">{t("server.settings.none")}</p>
    )}
  </Section>
);
