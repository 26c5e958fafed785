// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { t } from "../lib/i18n.js";
import { Section } from "./facts.jsx";
import { RddGraph } from "./rdd-graph.jsx";

/** What a stage computes, asked for when it is opened. @param {{ app: import("../types").App, name: string, version: string }} props name: "5.0" */
export function StageDag({ app, name, version }) {
  const [open, setOpen] = useState(false);
  return (
    <Section title={t("dag.title")} note={t("dag.note")}>
      <details class="fold" onToggle={(e) => setOpen(e.currentTarget.open)}>
        <summary>{t("dag.show")}</summary>
        {open ? <RddGraph app={app} of={["stages", name]} version={version} /> : null}
      </details>
    </Section>
  );
}
