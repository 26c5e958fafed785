// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Section } from "../components/facts.jsx";
import { Search, Tools } from "../components/filters.jsx";
import { NoMatch } from "../components/list.jsx";
import { PairTable } from "../components/pair-table.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { Table } from "../components/table.jsx";
import { useData } from "../components/use-data.js";
import { count } from "../lib/format.js";
import { t, word } from "../lib/i18n.js";
import { current, hrefWith } from "../lib/router.js";

/** @typedef {import("../types").Environment} EnvironmentData */

const ORDER = /** @type {const} */ (["spark", "jvm", "system", "hadoop", "metrics", "classpath"]);

/** Is it the configuration? @param {{ app: import("../types").App, version: string }} props */
export function Environment({ app, version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<EnvironmentData>} */ (useData(apiPath(["apps", app.ref, "environment"]), version));
  return (
    <Loaded from={asked} rows={14}>
      {(data) => <Found data={data} />}
    </Loaded>
  );
}

/** @param {{ data: EnvironmentData }} props */
function Found({ data }) {
  const q = current().query;
  const text = (q.get("q") ?? "").toLowerCase();
  const picked = q.get("section");
  const match = (/** @type {[string, string | null]} */ e) => !text || e[0].toLowerCase().includes(text) || (e[1] ?? "").toLowerCase().includes(text);
  const all = ORDER.map((name) => {
    const entries = data.sections.find((s) => s.name === name)?.entries ?? [];
    return { name, total: entries.length, entries: entries.filter(match) };
  });
  const total = all.reduce((n, s) => n + s.total, 0);
  // Without a choice: what people come for. A search looks everywhere.
  const shown = all.filter((s) => (picked ? picked === s.name || picked === "all" : text ? true : s.name === "spark" || s.name === "jvm") && s.entries.length);
  const found = shown.reduce((n, s) => n + s.entries.length, 0);
  if (!total) return <Empty title={t("env.none")} text={t("env.noneText")} />;
  const profiles = !text && (!picked || picked === "all") ? data.resourceProfiles.filter((p) => p.executor.length || p.task.length) : [];
  return (
    <>
      <Tools>
        <Search name="q" label={t("env.search")} />
        <nav class="seg" aria-label={t("env.sections")}>
          <a href={hrefWith({ section: null })} aria-current={picked === null ? "true" : undefined}>
            {t(text ? "env.everywhere" : "env.main")}
          </a>
          {all
            .filter((s) => s.total)
            .map((s) => (
              <a key={s.name} href={hrefWith({ section: s.name })} aria-current={picked === s.name ? "true" : undefined}>
                {word("env.section", s.name)} <small>{count(s.entries.length)}</small>
              </a>
            ))}
        </nav>
        <span class="grow" />
        <span class="dim small" role="status">
          {t("env.shown", count(found), count(total))}
        </span>
      </Tools>
      {shown.map((s) => (
        <Section key={s.name} title={word("env.section", s.name)} note={t("env.entries", s.entries.length)}>
          <PairTable
            caption={word("env.section", s.name)}
            pairs={s.entries}
            heads={s.name === "classpath" ? ["col.path", "col.source"] : ["col.key", "col.value"]}
          />
        </Section>
      ))}
      {shown.length ? null : <NoMatch title={t("env.noMatch")} text={t("env.noMatchText", count(total))} />}
      {profiles.map((p) => (
        <Section key={p.id} title={t("env.profile", p.id)} note={t("env.profileNote")}>
          <Table
            caption={t("env.profile", p.id)}
            rows={[...p.executor.map((r) => ({ of: "executor", r })), ...p.task.map((r) => ({ of: "task", r }))]}
            rowKey={(x) => x.of + x.r.name}
            class="is-narrow"
            columns={[
              { id: "of", label: t("col.for"), cell: (x) => t(x.of === "task" ? "col.task" : "col.executor") },
              { id: "name", label: t("col.resource"), cell: (x) => <code>{x.r.name}</code> },
              { id: "amount", label: t("col.amount"), num: true, cell: (x) => count(x.r.amount) },
              {
                id: "vendor",
                label: t("col.vendor"),
                present: (x) => x.r.vendor || x.r.discoveryScript,
                cell: (x) => [x.r.vendor, x.r.discoveryScript].filter(Boolean).join(", "),
              },
            ]}
          />
        </Section>
      ))}
    </>
  );
}
