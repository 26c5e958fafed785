// SPDX-License-Identifier: Apache-2.0
import { percent, slotTime } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { drawn, look } from "../model/buckets.js";
import { tip } from "./tip.jsx";

/**
 * A time account that closes: one bar in blocks, and a legend with slot time and share that are buttons where `pick` is given. For an application, a job, a stage or an executor.
 * @param {{ buckets: import("../types").Bucket[], totalMs: number, picked?: string | null, pick?: (bucket: string) => void }} props totalMs: slot time that they sum up to
 */
export function AccountBar({ buckets, totalMs, picked = null, pick }) {
  const shown = drawn(buckets);
  const text = (/** @type {import("../types").Bucket} */ b) => `${b.name ?? b.bucket}\n${slotTime(b.slotMs)}, ${percent(b.slotMs / totalMs)}\n${b.meaning ?? ""}`;
  const Block = pick ? "button" : "span";
  /** @param {import("../types").Bucket} b */
  const props = (b) => {
    const { phase, idle } = look(b.bucket);
    return {
      key: b.bucket,
      class: (idle ? "is-hatch" : "") + (picked === b.bucket ? " is-on" : ""),
      style: { "--v": b.slotMs / totalMs, "--c": `var(--ph-${phase})` },
      ...(pick ? { type: /** @type {const} */ ("button"), onClick: () => pick(b.bucket), "aria-pressed": picked === b.bucket } : {}),
    };
  };
  return (
    <div class="acct">
      <div class={"acct-bar" + (picked ? " is-dim" : "")} role={pick ? "group" : "img"} aria-label={t("account.label")}>
        {shown.map((b) => (
          <Block {...props(b)} {...tip(() => text(b))} aria-label={pick ? `${b.name ?? b.bucket} ${percent(b.slotMs / totalMs)}` : undefined}>
            {b.slotMs / totalMs >= 0.05 ? <span class="acct-share">{percent(b.slotMs / totalMs)}</span> : null}
          </Block>
        ))}
      </div>
      <div class="acct-legend">
        {shown.map((b) => (
          <Block {...props(b)} title={b.meaning ?? undefined}>
            <span class="swatch" />
            <span class="clip">{b.name ?? b.bucket}</span>
            <span class="num">{slotTime(b.slotMs)}</span>
            <span class="num">{percent(b.slotMs / totalMs)}</span>
          </Block>
        ))}
      </div>
    </div>
  );
}
