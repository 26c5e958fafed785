// SPDX-License-Identifier: Apache-2.0
import { Clip } from "../components/cells.jsx";
import { countColumn, momentColumn } from "../components/columns.jsx";
import { Section } from "../components/facts.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { LogLinks } from "../components/log-links.jsx";
import { Empty } from "../components/states.jsx";
import { t } from "../lib/i18n.js";

/** @typedef {import("../types").ProcessItem} ProcessItem */

/** @typedef {import("../types").App} App */

/** @param {App} app @param {string} version @returns {import("../components/list.jsx").Listing<ProcessItem>} */
export const useProcesses = (app, version) => useList(["apps", app.ref, "processes"], { id: "processes", sort: "id", limit: 25, version });

/** What else belonged to the application? @param {{ app: App, version: string }} props */
export const Processes = ({ app, version }) => <ProcessTable app={app} of={useProcesses(app, version)} />;

/** @param {{ app: App, of: import("../components/list.jsx").Listing<ProcessItem> }} props */
export function ProcessTable({ app, of: processes }) {
  return (
    <Section title={t("processes.title")} note={t("processes.note")}>
      <ListTable
        of={processes}
        rows={2}
        caption={t("processes.title")}
        rowKey={(p) => p.processId}
        noMatch=""
        none={<Empty title={t("processes.none")} text={t("processes.noneText")} />}
        columns={[
          { id: "id", label: t("processes.id"), sort: "id", cell: (p) => <span class="strong">{p.processId}</span> },
          { id: "host", label: t("col.host"), cell: (p) => <Clip text={p.hostPort} class="is-host" /> },
          momentColumn("col.added", (p) => p.addMs, app.startMs, { sort: "add" }),
          countColumn("col.cores", (p) => p.totalCores),
          { id: "logs", label: t("col.logs"), present: (p) => p.logs.length, cell: (p) => <LogLinks logs={p.logs} /> },
        ]}
      />
    </Section>
  );
}
