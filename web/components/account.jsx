// SPDX-License-Identifier: Apache-2.0
import { percent, slotTime } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { drawn, look } from "../model/buckets.js";
import { tip } from "./tip.jsx";

/**
 * A time account that closes: one bar in blocks, and a legend with slot time and share, of buttons where `pick` is given. For an application, a job, a stage or an executor.
 * @param {{ buckets: import("../types").Bucket[], totalMs: number, picked?: string | null, pick?: (bucket: string) => void }} props totalMs: slot time that they sum up to
 */
export function AccountBar({ buckets, totalMs, picked = null, pick }) {
  const shown = drawn(buckets);
  const text = (/** @type {import("../types").Bucket} */ b) => `${b.name ?? b.bucket}\n${slotTime(b.slotMs)}, ${percent(b.slotMs / totalMs)}\n${b.meaning ?? ""}`;
  const Line = pick ? "button" : "span";
  /** @param {import("../types").Bucket} b */
  const looks = (b) => {
    const { phase, idle } = look(b.bucket);
    return {
      class: (idle ? "is-hatch" : "") + (picked === b.bucket ? " is-on" : ""),
      style: { "--v": b.slotMs / totalMs, "--c": `var(--ph-${phase})` },
      onClick: pick ? () => pick(b.bucket) : undefined,
    };
  };
  return (
    <div class="acct">
      <div class={"acct-bar" + (picked ? " is-dim" : "") + (pick ? " is-pick" : "")} role="img" aria-label={t("account.label")}>
        {shown.map((b) => (
          <span key={b.bucket} {...looks(b)} {...tip(() => text(b))}>
            {b.slotMs / totalMs >= 0.05 ? <span class="acct-share">{percent(b.slotMs / totalMs)}</span> : null}
          </span>
        ))}
      </div>
      <div class="acct-legend">
        {shown.map((b) => (
          <Line key={b.bucket} {...looks(b)} title={b.meaning ?? undefined} {...(pick ? { type: /** @type {const} */ ("button"), "aria-pressed": picked === b.bucket } : {})}>
            <span class="swatch" />
            <span>{b.name ?? b.bucket}</span>
            <span class="num">{slotTime(b.slotMs)}</span>
            <span class="num">{percent(b.slotMs / totalMs)}</span>
          </Line>
        ))}
      </div>
    </div>
  );
}
