// SPDX-License-Identifier: Apache-2.0
import { t } from "../lib/i18n.js";
import { thresholds } from "../lib/paths.js";
import { current, patchQuery } from "../lib/router.js";
import { ruleOfKey } from "../model/findings.js";

/** A page that is graded with other thresholds than usual says so, and how to get rid of them. They stand in the address and go with every link inside the run. */
export function MovedThresholds() {
  const moved = Object.keys(thresholds(current().query));
  if (!moved.length) return null;
  return (
    <p class="find-moved" role="note">
      <span class="chip is-warn">{t("find.movedChip")}</span> {t("find.moved", moved.map(ruleOfKey).join(t("list.comma")))}{" "}
      <button type="button" class="btn is-small" onClick={() => patchQuery(Object.fromEntries(moved.map((key) => [key, null])))}>
        {t("find.reset")}
      </button>
    </p>
  );
}
