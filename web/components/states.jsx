// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect } from "preact/hooks";
import { restoreScroll } from "../lib/router.js";
import { t } from "../lib/i18n.js";

/** Why there is nothing, and what to do. @param {{ title: string, text?: string, children?: import("preact").ComponentChildren }} props */
export function Empty({ title, text, children }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {text ? <p>{text}</p> : null}
      {children}
    </div>
  );
}

/** @typedef {{ to: string, label: string, toCome: boolean }} Back toCome: what is not there may come with the rest of the log */

/**
 * Which call failed, how, and one retry; where a thing is not there (404) and there is a list of its kind, the way to that list, since asking again finds no more.
 * @param {{ error: import("../api.js").ApiError, retry?: () => void, back?: Back }} props
 */
export function Failure({ error, retry, back }) {
  const lead = error.status === 404 ? back : undefined;
  return (
    <div class="state is-failure" role="alert">
      <h2>{t(error.status === 404 ? "error.notFound" : "error.title")}</h2>
      <p>{error.detail || t(error.status ? "error.noDetail" : "error.unreachable")}</p>
      <p class="dim3">
        <code>{error.path}</code> · {error.status ? t("error.status", String(error.status)) : t("error.noAnswer")}
      </p>
      {lead?.toCome ? <p>{t("error.toCome")}</p> : null}
      {lead ? (
        <p>
          <a href={lead.to}>{lead.label}</a>
        </p>
      ) : retry ? (
        <p>
          <button type="button" class="btn is-small" onClick={retry}>
            {t("error.retry")}
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** Boxes of about the final size. @param {{ rows?: number, facts?: boolean }} props */
export function Skeleton({ rows = 8, facts }) {
  return (
    <div class="skeleton" role="status" aria-label={t("loading.label")}>
      {facts ? <div class="skel is-facts" /> : null}
      {Array.from({ length: rows }, (_, i) => (
        <div class="skel is-row" key={i} />
      ))}
    </div>
  );
}

/**
 * Parts that stand one above the other and come from several answers: shown once each of these is there, or has failed, so that nothing is pushed down by what comes late. null: not asked for.
 * @param {{ of: (import("./use-data.js").Asked<unknown> | null)[], rows?: number, facts?: boolean, children: () => import("preact").ComponentChildren }} props
 */
export function Together({ of, rows, facts, children }) {
  if (of.every((a) => a === null || a.data !== undefined || a.error)) return <>{children()}</>;
  return of.some((a) => a?.slow) ? <Skeleton rows={rows} facts={facts} /> : null;
}

/**
 * The four looks of a part of a page. Data that is there stays while a newer answer is awaited (`aria-busy`, dimmed once it is slow); an error beside
 * data says so above it.
 *
 * @template T
 * @param {{ from: import("./use-data.js").Asked<T>, rows?: number, facts?: boolean, back?: Back, children: (data: T) => import("preact").ComponentChildren }} props
 */
export function Loaded({ from, rows, facts, back, children }) {
  const { data, error, slow, stale, retry } = from;
  useLayoutEffect(() => {
    if (data !== undefined) restoreScroll();
  }, [data !== undefined]);
  if (data === undefined) {
    if (error) return <Failure error={error} retry={retry} back={back} />;
    return slow ? <Skeleton rows={rows} facts={facts} /> : null;
  }
  return (
    <div class={"loaded" + (stale && slow ? " is-stale" : "")} aria-busy={stale ? "true" : undefined}>
      {error ? <Failure error={error} retry={retry} back={back} /> : null}
      {children(data)}
    </div>
  );
}

/** Has it neither an answer nor an error yet? What is not asked (null as path) is not waited for by its caller. @param {import("./use-data.js").Asked<any>} asked */
export const pending = (asked) => asked.data === undefined && asked.error === null;

/**
 * Parts of a page, one below the other, each shown when it and all above it have their answers: what is there is never pushed down. Each part has boxes of its own while it is awaited.
 * @param {{ parts: [waits: import("./use-data.js").Asked<any>[], node: import("preact").ComponentChildren][] }} props
 */
export function InOrder({ parts }) {
  const first = parts.findIndex(([waits]) => waits.some(pending));
  const shown = first < 0 ? parts : parts.slice(0, first);
  return (
    <>
      {shown.map(([, node]) => node)}
      {first >= 0 && parts[first][0].some((a) => a.slow) ? <Skeleton key={first} rows={6} /> : null}
    </>
  );
}
