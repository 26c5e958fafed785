// SPDX-License-Identifier: Apache-2.0
import { Clip } from "../components/cells.jsx";
import { Chip } from "../components/chips.jsx";
import { badColumn, countColumn, durationColumn, momentColumn, sparse } from "../components/columns.jsx";
import { Facts, Section, durationFact } from "../components/facts.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { Empty, Together } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { DASH, count, time, zoneName } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { Operations } from "./operations.jsx";

/** @typedef {import("../types").SessionItem} SessionItem */
/** @typedef {import("../types").SessionList} SessionList */
/** @typedef {import("../types").App} App */

/** Who asked a Thrift or a Connect server for what? @param {{ app: App, version: string }} props */
export function Sessions({ app, version }) {
  /** @type {import("../components/list.jsx").Listing<SessionItem, SessionList>} */
  const sessions = useList(["apps", app.ref, "sessions"], { id: "sessions", sort: "-start", limit: 25, filters: ["server"], version });
  const data = sessions.asked.data;
  const ended = app.complete === true;
  return (
    <Together of={[sessions.asked]} rows={6} facts>
      {() => (
        <>
          <Facts
            items={[
              [t("sessions.title"), count(app.sessionCount), data?.openSessionCount ? t("sessions.open", data.openSessionCount, ended) : null],
              [t("operations.title"), count(app.operationCount), data?.openOperationCount ? t("sessions.open", data.openOperationCount, ended) : null],
              app.startMs !== null ? [t("sessions.appStart"), `${time(app.startMs)} ${zoneName(app.startMs)}`] : null,
            ]}
          />
          {data?.services.length ? <Services services={data.services} app={app} /> : null}
          <Section title={t("sessions.title")} note={t("sessions.note")}>
            <ListTable
              of={sessions}
              rows={3}
              caption={t("sessions.title")}
              columns={columns(app)}
              rowKey={(s) => `${s.server} ${s.sessionId}`}
              link={(s) => paths.session(app.ref, s.sessionId)}
              noMatch={t("sessions.noMatch")}
              none={<Empty title={t("sessions.none")} text={t("sessions.noneText")} />}
            />
          </Section>
          {app.operationCount ? <Operations app={app} version={version} /> : null}
        </>
      )}
    </Together>
  );
}

/** One session and its statements. @param {{ app: App, id: string, version: string }} props */
export function Session({ app, id, version }) {
  /** @type {import("../components/list.jsx").Listing<SessionItem, SessionList>} */
  const found = useList(["apps", app.ref, "sessions"], { id: "one", sort: "-start", limit: 10, filters: [], version, fixed: { session: id } });
  const items = found.asked.data?.items;
  return (
    <Together of={[found.asked]} rows={6} facts>
      {() => (
        <>
          {(items ?? []).map((s) => (
            <>
              <div class="head is-sub">
                <div class="head-main">
                  <div class="head-title">
                    <h2 class="head-name">{t("session.title", id)}</h2>
                    <Chip of="session" state={s.status} />
                  </div>
                  <div class="head-meta">
                    <span>{word("server", s.server)}</span>
                    <span>
                      {t("col.user")} {s.user ?? DASH}
                    </span>
                    {s.ip ? <span>IP {s.ip}</span> : null}
                    {s.startMs !== null ? (
                      <span>
                        {time(s.startMs)} {zoneName(s.startMs)}
                      </span>
                    ) : null}
                  </div>
                </div>
              </div>
              <Facts
                items={[
                  durationFact("col.duration", s.durationMs),
                  [t("operations.title"), count(s.operationCount), s.failedOperationCount ? t("fact.failed", s.failedOperationCount) : null],
                  s.finishMs !== null ? [t("operations.finished"), `${time(s.finishMs)} ${zoneName(s.finishMs)}`] : null,
                ]}
              />
            </>
          ))}
          {items && !items.length ? (
            <Empty title={t("session.missing")} text={t("session.missingText", id)}>
              <p>
                <a href={paths.page(app.ref, "sessions")}>{t("nav.sessions")}</a>
              </p>
            </Empty>
          ) : null}
          <Operations app={app} version={version} session={id} />
        </>
      )}
    </Together>
  );
}

/** @param {App} app @returns {import("../components/table.jsx").Column<SessionItem>[]} */
const columns = (app) => [
  {
    id: "id",
    label: t("col.session"),
    class: "is-name",
    cell: (s) => (
      <a class="strong clip mono" href={paths.session(app.ref, s.sessionId)}>
        {s.sessionId}
      </a>
    ),
  },
  { id: "server", label: t("sessions.server"), cell: (s) => word("server", s.server) },
  { id: "user", label: t("col.user"), sort: "user", cell: (s) => <Clip text={s.user} class="is-user" /> },
  sparse({ id: "ip", label: "IP", value: (s) => s.ip, cell: (s) => s.ip ?? DASH }),
  { id: "status", label: t("sessions.status"), cell: (s) => <Chip of="session" state={s.status} /> },
  momentColumn("col.started", (s) => s.startMs, app.startMs, { sort: "start" }),
  momentColumn("operations.finished", (s) => s.finishMs, app.startMs, { sort: "finish" }),
  durationColumn("col.duration", (s) => s.durationMs),
  countColumn("operations.title", (s) => s.operationCount, { sort: "operations" }),
  badColumn("col.failedTasks", (s) => s.failedOperationCount, { sort: undefined }),
];

/** @param {{ services: SessionList["services"], app: App }} props */
const Services = ({ services, app }) => (
  <Section title={t("sessions.services")}>
    <Table
      caption={t("sessions.services")}
      rows={services}
      rowKey={(s) => JSON.stringify(s)}
      class="is-narrow"
      columns={[
        { id: "host", label: t("col.host"), cell: (s) => `${s.host ?? DASH}${s.port === null ? "" : ":" + s.port}` },
        momentColumn("col.started", (s) => s.startMs, app.startMs, { sort: undefined }),
        momentColumn("operations.finished", (s) => s.endMs, app.startMs, { sort: undefined }),
      ]}
    />
  </Section>
);
