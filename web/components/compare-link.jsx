// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** To the comparison of a run with the earlier runs of its job. While a log is read there is nothing to compare. @param {{ app: { ref: string | null, loading?: unknown, loaded: boolean } }} props */
export const CompareLink = ({ app }) =>
  app.ref === null || app.loading || !app.loaded ? (
    <span class="btn is-small is-off" title={t("compare.whenRead")}>
      {t("compare.open")}
    </span>
  ) : (
    <a class="btn is-small" href={paths.compare(app.ref)} title={t("compare.openTitle")}>
      {t("compare.open")}
    </a>
  );
