// SPDX-License-Identifier: Apache-2.0
import { Chip } from "../../components/chips.jsx";
import { Section } from "../../components/facts.jsx";
import { Fold } from "../../components/fold.jsx";
import { Table } from "../../components/table.jsx";
import { count } from "../../lib/format.js";
import { t } from "../../lib/i18n.js";
import { hrefWith } from "../../lib/router.js";
import { summary } from "../../model/errors.js";

/** So much of a text finds its tasks: the search is over whole texts. */
const SEARCHED_CHARACTERS = 200;

/** What failed and was killed, by text, with links to the tasks. @param {{ stage: import("../../types").Stage }} props */
export function Errors({ stage: s }) {
  const rows = [
    ...s.errors.map((e) => ({ text: e.text, n: e.count, task: e.firstTaskId, kind: "failed", host: e.host, there: e.hostTasks, hosts: e.hostCount })),
    ...s.killReasons.map((k) => ({ text: k.reason, n: k.count, task: /** @type {number | null} */ (null), kind: "killed", host: null, there: 0, hosts: 0 })),
  ];
  const tasksOf = (/** @type {typeof rows[number]} */ r) =>
    r.kind === "killed" ? hrefWith({ status: "killed", q: null, page: null }) : hrefWith({ status: null, q: summary(r.text).slice(0, SEARCHED_CHARACTERS), page: null });
  return (
    <Section title={t("errors.title")} note={t("errors.note")}>
      <Table
        caption={t("errors.title")}
        rows={rows}
        rowKey={(r) => r.kind + r.text}
        columns={[
          {
            id: "n",
            label: t("col.tasks"),
            num: true,
            class: "is-small",
            cell: (r) => (
              <a class="strong bad" href={tasksOf(r)} title={t("errors.tasks")}>
                {count(r.n)}
              </a>
            ),
          },
          { id: "kind", label: t("col.outcome"), cell: (r) => <Chip of="task" state={r.kind} /> },
          {
            id: "first",
            label: t("errors.first"),
            cell: (r) =>
              r.task === null ? (
                ""
              ) : (
                <a class="strong" href={hrefWith({ task: r.task })}>
                  {r.task}
                </a>
              ),
          },
          {
            id: "where",
            label: t("col.host"),
            present: (r) => r.host,
            cell: (r) =>
              r.host === null ? (
                ""
              ) : (
                <span class="nowrap">
                  <a href={hrefWith({ host: r.host, page: null })}>{r.host}</a>
                  {r.there < r.n ? <span class="dim3"> {t("errors.there", r.there, r.n, r.hosts - 1)}</span> : null}
                </span>
              ),
          },
          {
            id: "text",
            label: t("col.message"),
            class: "is-message",
            cell: (r) => (
              <Fold class="error" name={`error${rows.indexOf(r)}`} hint={t("errors.whole")} title={<code>{summary(r.text)}</code>}>
                {summary(r.text) !== r.text.trim() || r.text.length > 120 ? <pre class="text-block">{r.text}</pre> : null}
              </Fold>
            ),
          },
        ]}
      />
    </Section>
  );
}
