// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";
import { Section } from "./facts.jsx";
import { Fold, isUnfolded } from "./fold.jsx";
import { RddGraph } from "./rdd-graph.jsx";

/** What a stage computes, asked for when it is opened. @param {{ app: import("../types").App, name: string, version: string }} props name: "5.0" */
export const StageDag = ({ app, name, version }) => (
  <Section title={t("dag.title")} note={t("dag.note")}>
    <Fold name="dag" title={t("dag.show")}>
      {isUnfolded("dag") ? <RddGraph app={app} of={["stages", name]} version={version} /> : null}
    </Fold>
  </Section>
);
