// SPDX-License-Identifier: Apache-2.0
import { Empty } from "../components/states.jsx";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** Plans are not read by this version, and the page says so. @param {{ app: import("../types").App }} props */
export function Sql({ app }) {
  return (
    <Empty title={t("sql.title")}>
      <p>{t("sql.text")}</p>
      <ul>
        <li>
          <a href={paths.page(app.ref, "jobs")}>{t("sql.jobs")}</a>
        </li>
        <li>
          <a href={paths.page(app.ref, "stages")}>{t("sql.stages")}</a>
        </li>
      </ul>
    </Empty>
  );
}
