// SPDX-License-Identifier: Apache-2.0
import { DASH, bytes, count, duration, exactBytes, exactMs, offset, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import { tasksOf } from "../model/app.js";

/**
 * Number with its bar to the left, from zero, scaled to the column's maximum.
 * @param {{ value: number | null | undefined, max: number, text: string, hot?: boolean, title?: string }} props
 */
export function Bar({ value, max, text, hot, title }) {
  if (value === null || value === undefined) return <span class="dim3">{DASH}</span>;
  return (
    <span class={"ibar" + (hot ? " is-hot" : "")} style={{ "--v": max > 0 ? Math.max(0, Math.min(1, value / max)) : 0 }} title={title}>
      {text}
    </span>
  );
}

/** A key as in a log: where it does not fit into its place it breaks behind a dot or an underscore. @param {{ text: string }} props */
export const KeyName = ({ text }) => (
  <code class="value">{text.split(/([._])/).map((part, i) => (i % 2 ? [part, <wbr key={i} />] : part))}</code>
);

/** A duration with its bar; of what has no end yet, at least. @param {{ ms: number | null, openMs: number | null, max: number }} props openMs: how long it has been running */
export const Lasted = ({ ms, openMs, max }) =>
  openMs === null ? (
    <Bar value={ms} max={max} text={duration(ms)} title={exactMs(ms)} />
  ) : (
    <Bar value={openMs} max={max} text={`≥ ${duration(openMs)}`} title={t("fact.noEndYet")} />
  );

/**
 * A measured value: unknown is a dash, zero is light, the tooltip is exact.
 * @param {{ value: number | null | undefined, text: (value: number) => string, exact: (value: number) => string }} props
 */
const Measured = ({ value, text, exact }) =>
  value === null || value === undefined ? (
    <span class="dim3">{DASH}</span>
  ) : (
    <span class={value ? "" : "dim3"} title={exact(value)}>
      {text(value)}
    </span>
  );
/** @param {{ ms: number | null | undefined }} props */
export const Duration = ({ ms }) => <Measured value={ms} text={duration} exact={exactMs} />;
/** @param {{ value: number | null | undefined }} props */
export const Bytes = ({ value }) => <Measured value={value} text={bytes} exact={exactBytes} />;
/** @param {{ value: number | null | undefined }} props */
export const Count = ({ value }) => (value ? count(value) : <span class="dim3">{count(value)}</span>);
/** A count that is bad news unless it is zero. @param {{ value: number | null | undefined }} props */
export const BadCount = ({ value }) => (value ? <b class="bad">{count(value)}</b> : <span class="dim3">{count(value)}</span>);

/**
 * Text on one line, the whole of it in the tooltip.
 * @param {{ text: string | null | undefined, title?: string | null, class?: string }} props title: the whole, where text is not
 */
export const Clip = ({ text, title, class: c }) => (
  <span class={"clip " + (c ?? "")} title={title ?? text ?? undefined}>
    {text ?? DASH}
  </span>
);

/**
 * Two texts, the second smaller. The titles say more where the texts are not the whole of it.
 * @param {{ first: string | null | undefined, title?: string | null, second?: string | null, secondTitle?: string | null }} props
 */
export const TwoLines = ({ first, title, second, secondTitle }) => (
  <div class="two-lines">
    <div class="clip" title={title ?? first ?? undefined}>
      {first ?? DASH}
    </div>
    {second ? (
      <div class="clip dim3 small" title={secondTitle ?? second}>
        {second}
      </div>
    ) : null}
  </div>
);

/** A number, and below it what is bad about it. @param {{ children: import("preact").ComponentChildren, bad: string | null }} props */
export const WithBad = ({ children, bad }) => (
  <div class="two-lines">
    <div>{children}</div>
    {bad ? <div class="bad small">{bad}</div> : null}
  </div>
);

/**
 * Tasks of a job or a stage: how many are done where some are not, how many were not needed, and below it those that were killed or failed.
 * @param {{ of: { numTasks: number | null, skippedTasks?: number | null, killedTasks: number | null }, done: number | null, failed?: number | null }} props failed: where no column of its own has them
 */
export function TaskCount({ of, done, failed }) {
  const tasks = tasksOf(of, done);
  return (
    <div class="two-lines">
      <div class="nowrap">
        {tasks.done === null ? <Count value={tasks.needed} /> : t("tasks.doneOf", count(tasks.done), count(tasks.needed))}
        {tasks.skipped ? <span class="dim3"> {t("tasks.andSkipped", tasks.skipped)}</span> : null}
      </div>
      {failed ? <div class="bad small">{t("fact.failed", failed)}</div> : null}
      {of.killedTasks ? <div class="dim3 small">{t("tasks.killed", of.killedTasks)}</div> : null}
    </div>
  );
}

/** A moment of a run as its distance from the start. @param {{ ms: number | null | undefined, startMs: number | null }} props */
export const Moment = ({ ms, startMs }) =>
  ms === null || ms === undefined || startMs === null ? (
    <span class="dim3">{DASH}</span>
  ) : (
    <span title={`${time(ms)} ${zoneName(ms)}`}>{offset(ms - startMs)}</span>
  );

/** A list in running text. @template T @param {{ items: T[], most?: number, children: (item: T) => import("preact").ComponentChildren }} props most: the rest is counted */
export const Joined = ({ items, most = items.length, children }) => (
  <>
    {items.slice(0, most).map((item, i) => (
      <>
        {i ? t("list.comma") : ""}
        {children(item)}
      </>
    ))}
    {items.length > most ? ` ${t("list.more", items.length - most)}` : ""}
  </>
);
