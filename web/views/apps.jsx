// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { apiPath } from "../api.js";
import { AddLog, DropZone, useAdding } from "../components/add-log.jsx";
import { EXTRA, FIXED, Reason, UnderWay, appColumns } from "../components/app-columns.jsx";
import { BelowFilters, FurtherFilters } from "../components/app-filters.jsx";
import { useColumns } from "../components/column-choice.jsx";
import { Choice, GradeChoice, Search, Tools, words } from "../components/filters.jsx";
import { ListTable, useList } from "../components/list.jsx";
import { PlacesAway } from "../components/places-away.jsx";
import { Empty, Loaded } from "../components/states.jsx";
import { typing, useData, usePoll } from "../components/use-data.js";
import { count, duration } from "../lib/format.js";
import { language, t } from "../lib/i18n.js";
import { appsAsked } from "../lib/list-path.js";
import * as paths from "../lib/paths.js";
import { current, patchQuery } from "../lib/router.js";
import { alike } from "../model/app.js";

/** @typedef {import("../types").AppItem} AppItem */

/** The list is asked again this often while logs wait or are read, and else. */
const READING_MS = 2000;
const QUIET_MS = 10_000;

/** @typedef {import("../components/list.jsx").Listing<AppItem, import("../types").AppList>} Runs */

/** Every run of the store: which one do I want, and which ones hurt? @param {{ uploads: import("../components/add-log.jsx").Uploads }} props */
export function Apps({ uploads }) {
  const [version, setVersion] = useState(0);
  const { query } = current();
  const byJob = query.get("group") === "job";
  /** @type {Runs} */
  const runs = useList(["apps"], { ...appsAsked(query, language()), version });
  const { data } = runs.asked;
  const counts = data?.counts;
  usePoll(counts && (counts.loading || counts.waiting || !counts.all) ? READING_MS : QUIET_MS, runs.asked, () => {
    if (!typing()) setVersion((n) => n + 1);
  });
  const { shown, tool } = useColumns("apps", appColumns({ twins: alike(data?.items ?? []), byJob }), EXTRA, FIXED);
  const adding = useAdding(uploads);
  return (
    <>
      <div class="head">
        <div class="head-main">
          <div class="head-title">
            <h1>{t("apps.title")}</h1>
          </div>
          <div class="head-meta">
            {counts ? <Counts counts={counts} /> : <span>&nbsp;</span>}
            <StatusLink />
          </div>
        </div>
        <AddLog adding={adding} />
      </div>
      <PlacesAway version={version} />
      <DropZone adding={adding} />
      <Tools>
        <Search name="q" label={t("apps.search")} />
        <Choice name="outcome" label={t("col.outcome")} any={t("apps.anyOutcome")} options={words("outcome", ["succeeded", "failed", "unknown"])} />
        <GradeChoice />
        <FurtherFilters version={version} />
        <button type="button" class="btn" aria-pressed={byJob} title={t("apps.byJob.title")} onClick={() => patchQuery({ group: byJob ? null : "job", page: null })}>
          {t("apps.byJob")}
        </button>
        <span class="grow" />
        {data && counts ? (
          <span class="dim small" role="status">
            {byJob ? t("apps.jobsShown", data.total) : t("apps.shown", count(data.total), count(counts.all))}
          </span>
        ) : null}
        {tool}
      </Tools>
      <BelowFilters rows={data?.items} version={version}>
        <ListTable
          of={{ ...runs, filtered: Boolean(counts?.all) }}
          rows={14}
          caption={t("apps.title")}
          columns={shown}
          rowKey={(a) => a.key ?? `log ${a.logId} ${a.logPath}`}
          class="apps"
          link={(a) => (a.ref ? paths.app(a.ref) : null)}
          rowClass={(a) => (a.state === "gone" ? "is-off" : "")}
          span={(a) => {
            const isUnderWay = a.state === "loading" || a.state === "waiting";
            if (a.ref !== null && !isUnderWay) return null;
            return { from: a.ref === null ? "start" : "duration", node: isUnderWay ? <UnderWay app={a} /> : <Reason app={a} /> };
          }}
          none={<FirstStart version={version} />}
          noMatch={t("apps.none")}
          noMatchText={t("apps.noneText", counts?.all ?? 0)}
        />
      </BelowFilters>
    </>
  );
}

/** For those who may see the server's state: who sees every run. */
function StatusLink() {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").Status>} */ (useData(apiPath(["status"])));
  return asked.data?.store ? <a href={paths.status()}>{t("nav.status")}</a> : null;
}

/** What is known, and in plain sight what is not as it should be. @param {{ counts: import("../types").AppList["counts"] }} props */
const Counts = ({ counts }) => (
  <>
    <span>{t("apps.stored", counts.all)}</span>
    {counts.loading ? (
      <span role="status">
        <a href={paths.apps({ state: "loading" })}>{t("apps.beingRead", counts.loading)}</a>
      </span>
    ) : null}
    {counts.waiting ? <a href={paths.apps({ state: "waiting" })}>{t("apps.areWaiting", counts.waiting)}</a> : null}
    {counts.failed ? <a href={paths.apps({ state: "failed" })}>{t("apps.unreadable", counts.failed)}</a> : null}
    {counts.partial ? <a href={paths.apps({ state: "partial" })}>{t("apps.partial", counts.partial)}</a> : null}
  </>
);

/** Nothing has been read yet: what was looked at, and how it goes. @param {{ version: number }} props */
function FirstStart({ version }) {
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").Status>} */ (useData(apiPath(["status"]), version));
  return (
    <Loaded from={asked} rows={3}>
      {(s) => (
        <Empty title={t("first.title")}>
          {s.places === null ? null : s.places.length ? (
            s.places.map((p) => (
              <p key={p.uri}>
                {p.lastScanMs === null
                  ? t("first.notScanned", p.name ?? p.uri)
                  : t("first.scanned", p.name ?? p.uri, duration(Math.max(0, s.nowMs - p.lastScanMs)), p.entryCount ?? 0)}
                {p.lastError ? <b class="bad"> {p.lastError}</b> : null}
              </p>
            ))
          ) : (
            <p>{t("first.noPlace")}</p>
          )}
          {s.logs ? <p>{t("first.logs", s.logs.waiting, s.logs.loading, s.logs.failed, s.logs.skipped)}</p> : null}
          {s.uploads.allowed ? <p>{t("add.drop")}</p> : null}
          {s.ingest.running || s.ingest.enabled === false ? null : (
            <p>
              <b class="bad">{t("first.noIngest")}</b> {s.ingest.message}
            </p>
          )}
        </Empty>
      )}
    </Loaded>
  );
}
