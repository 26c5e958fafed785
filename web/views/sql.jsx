// SPDX-License-Identifier: Apache-2.0
import { Empty } from "../components/states.jsx";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** Queries have no page in this version, and this says so; the data is in the API (/apps/{ref}/sql). @param {{ app: import("../types").App }} props */
export function Sql({ app }) {
  return (
    <Empty title={t("sql.title")}>
      <p>{t("sql.text")}</p>
      <ul>
        <li>
          <a href={`api/afterglow/v1/apps/${encodeURIComponent(app.ref)}/sql`}>{t("sql.data")}</a>
        </li>
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
