// SPDX-License-Identifier: Apache-2.0
import { act, apiPath } from "../api.js";
import { time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { PINNED, addressToShare, belowRun, liveAddress, pinHref, sameView } from "../lib/pin.js";
import { current, href } from "../lib/router.js";
import { Sentences } from "./sentences.jsx";
import { copyAndSay, copyLink } from "./toast.jsx";
import { useData } from "./use-data.js";

/** Gives the present view a short address and copies that, which is good a moment later; where there can be none (nothing is read here, or as many are kept as may be), the address as it is. */
export async function copyPinned() {
  const { parts } = current();
  const address = belowRun(addressToShare());
  /** @type {{ token: string } | null} */
  const pinned = address === null ? null : await act(apiPath(["apps", parts[1], "pin"]) + `?address=${encodeURIComponent(address)}`).catch(() => null);
  if (pinned) await copyAndSay(pinHref(pinned.token), "pin.copied");
  else await copyLink();
}

/** One line above a view that was opened as a pinned one: when it was pinned, what may have changed since, and the way out. */
export function PinnedNote() {
  const token = current().query.get(PINNED);
  const { data, error } = /** @type {import("./use-data.js").Asked<import("../types").Pinned>} */ (useData(token ? apiPath(["pins", token]) : null));
  if (!token || (!data && !error)) return null;
  const moved = data && !sameView(belowRun(liveAddress()), data.address);
  return (
    <div class="banner is-quiet is-pinned no-print" role="note">
      <div class="grow">
        {data ? (
          <Sentences
            items={[
              <b>{t("pin.title")}</b>,
              t("pin.when", `${time(data.pinnedMs)} ${zoneName(data.pinnedMs)}`, data.author),
              data.readAnew ? t("pin.readAnew") : data.judgedAnew ? t("pin.judgedAnew") : null,
              moved ? t("pin.moved") : null,
            ]}
          />
        ) : (
          t("pin.unknown")
        )}
      </div>
      {moved ? (
        <a class="nowrap" href={href(["p", token])} data-outside>
          {t("pin.back")}
        </a>
      ) : null}
      <a class="nowrap" href={liveAddress()}>
        {t("pin.live")}
      </a>
    </div>
  );
}
