// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { time } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { useData } from "./use-data.js";

/** Places that cannot be looked at: since when, and why. What is known of their runs stays. Nothing for those who may not know of places. @param {{ version: number }} props */
export function PlacesAway({ version }) {
  const asked = /** @type {import("./use-data.js").Asked<import("../types").Status>} */ (useData(apiPath(["status"]), version));
  const away = asked.data?.places?.filter((p) => p.failingSinceMs !== null) ?? [];
  return (
    <>
      {away.map((p) => (
        <div class="banner" role="status" key={p.uri}>
          <div>
            <b>{t("places.away", p.name ?? p.uri, time(/** @type {number} */ (p.failingSinceMs)))}</b> {p.lastError}
            <div class="dim small">{t("places.awayText")}</div>
          </div>
        </div>
      ))}
    </>
  );
}
