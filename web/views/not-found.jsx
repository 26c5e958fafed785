// SPDX-License-Identifier: Apache-2.0
import { Empty } from "../components/states.jsx";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** @param {{ what: string, app?: boolean }} props app: no application of that id */
export function NotFound({ what, app }) {
  return (
    <Empty title={t(app ? "notFound.app" : "notFound.page")}>
      <p>
        <code class="value">{what}</code>
      </p>
      <ul>
        {app ? (
          <>
            <li>{t("notFound.new")}</li>
            <li>{t("notFound.id")}</li>
          </>
        ) : null}
        <li>
          <a href={paths.apps()}>{t("error.toList")}</a>
        </li>
      </ul>
    </Empty>
  );
}
