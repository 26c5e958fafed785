// SPDX-License-Identifier: Apache-2.0
import { bytes, count, offset, percent, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { growing } from "../model/app.js";
import { noted, wrong } from "../model/health.js";
import { AppTools } from "./app-tools.jsx";
import { Chip, Outcome } from "./chips.jsx";
import { MovedThresholds } from "./moved-thresholds.jsx";
import { PinnedNote } from "./pinned.jsx";
import { Sentences } from "./sentences.jsx";
import { Severity } from "./severity.jsx";

/** The same head on every page of an application: what is it, how did it end, can its log be trusted. @param {{ app: import("../types").App }} props */
export function AppHead({ app }) {
  const broken = wrong(app.health);
  return (
    <>
      <div class="head">
        <div class="head-main">
          <div class="head-title">
            <h1>{app.name ?? app.appId ?? app.ref}</h1>
            {app.log.upload === "arriving" ? <Chip of="state" state="arriving" /> : <Outcome app={app} />}
            {broken.length && !app.loading && app.log.upload !== "arriving" ? (
              <a class="chip is-warn" href={paths.page(app.ref, "log")}>
                {t("head.incomplete")}
              </a>
            ) : null}
          </div>
          <div class="head-meta">
            <span>
              {app.appId}
              {app.attemptId ? ` · ${t("head.attempt", app.attemptId)}` : ""}
            </span>
            <span>
              {time(app.startMs)} {zoneName(app.startMs ?? undefined)}
            </span>
            {app.user ? <span>{app.user}</span> : null}
            <span>{app.sparkVersion ? `Spark ${app.sparkVersion}` : t("head.noVersion")}</span>
            {app.executorCount ? (
              <span>{app.cores.max ? t("head.executorsCores", app.executorCount, app.cores.max) : t("head.executors", app.executorCount)}</span>
            ) : null}
            {growing(app) && app.log.upload !== "arriving" ? <span class="head-grows">{t("head.grows")}</span> : null}
            {growing(app) && app.driverAddress ? <Driver address={app.driverAddress} /> : null}
            {!broken.length && !app.loading ? <span>{t("head.complete", count(app.log.lines), bytes(app.log.textBytes ?? app.log.bytes))}</span> : null}
          </div>
        </div>
        <AppTools app={app} />
      </div>
      <PinnedNote />
      <MovedThresholds />
      {app.loading ? <StillLoading app={app} loading={app.loading} /> : app.log.upload === "arriving" ? <Arriving app={app} /> : brokeOff(app) ? <BrokeOff app={app} /> : broken.length ? <LogHealthBar app={app} broken={broken} /> : <QuietNote app={app} />}
      {app.state === "gone" && !brokeOff(app) ? (
        <div class="banner is-quiet" role="note">
          <Severity level={1} />
          <div class="grow">
            <Sentences items={[<b>{t("head.gone")}</b>, t("head.goneEffect")]} />
          </div>
        </div>
      ) : null}
    </>
  );
}

/** What is wrong with the log, how much of it, and what that does to the numbers. @param {{ app: import("../types").App, broken: import("../model/health.js").Check[] }} props */
function LogHealthBar({ app, broken }) {
  const complete = app.health?.complete ?? false;
  const rest = complete ? broken : broken.filter((c) => c.id !== "end" && c.id !== "cut");
  const at = app.lastEventMs !== null && app.startMs !== null ? offset(app.lastEventMs - app.startMs) : null;
  return (
    <div class="banner" role="note" aria-label={t("banner.label")}>
      <Severity level={2} />
      <div class="grow">
        <Sentences
          items={[
            <b>{t(complete ? "banner.damaged" : "banner.incomplete")}</b>,
            complete ? null : at ? t("banner.stops", at) : t("banner.noEnd"),
            ...rest.map((c) => t(/** @type {import("../lib/i18n.js").Key} */ (`check.${c.id}.say`), c.count ?? 0, c.id === "tasksOpen" ? (app.taskCount ?? 0) + (c.count ?? 0) : app.log.lines)),
            t("banner.effect"),
          ]}
        />
      </div>
      <a class="nowrap" href={paths.page(app.ref, "log")}>
        {t("banner.what")}
      </a>
    </div>
  );
}

/** A whole log with a small thing to know about it. @param {{ app: import("../types").App }} props */
function QuietNote({ app }) {
  const open = noted(app.health);
  if (!open) return null;
  return (
    <div class="banner is-quiet" role="note" aria-label={t("banner.label")}>
      <Severity level={1} />
      <div class="grow">{t("banner.quiet", open)}</div>
      <a class="nowrap" href={paths.page(app.ref, "log")}>
        {t("nav.log")}
      </a>
    </div>
  );
}

/** Where the driver shows its own pages as long as it runs. @param {{ address: string }} props */
function Driver({ address }) {
  const to = paths.outside(`http://${address}/`);
  return to === null ? null : (
    <a href={to} target="_blank" rel="noopener noreferrer" title={t("head.driverTitle", address)}>
      {t("head.driver")}
    </a>
  );
}

/** A log that was being added, and did not become whole. @param {import("../types").App} app */
const brokeOff = (app) => app.log.upload === "gone" && !app.complete;

/** @param {{ app: import("../types").App }} props */
const BrokeOff = ({ app }) => (
  <div class="banner" role="note">
    <Severity level={2} />
    <div class="grow">
      <Sentences items={[<b>{t("head.brokeOff")}</b>, t("head.brokeOffEffect")]} />
    </div>
    <a class="nowrap" href={paths.page(app.ref, "log")}>
      {t("banner.what")}
    </a>
  </div>
);

/** It is being added, and what has come so far was read. @param {{ app: import("../types").App }} props */
function Arriving({ app }) {
  const at = app.lastEventMs !== null && app.startMs !== null ? offset(app.lastEventMs - app.startMs) : null;
  return (
    <div class="banner is-info" role="status">
      <div class="grow">
        <Sentences items={[<b>{t("head.arriving")}</b>, t("head.arrivingSoFar", bytes(app.log.bytes), at), t("reading.effect")]} />
      </div>
    </div>
  );
}

/** Not an error: what has been read is shown, and the page follows. @param {{ app: import("../types").App, loading: import("../types").Loading }} props */
function StillLoading({ app, loading }) {
  const done = loading.readBytes !== null && loading.totalBytes ? loading.readBytes / loading.totalBytes : null;
  const at = app.lastEventMs !== null && app.startMs !== null ? offset(app.lastEventMs - app.startMs) : null;
  return (
    <div class="banner is-info" role="status">
      <div class="grow">
        <div>
          <Sentences
            items={[
              <b>{done === null ? t("reading.title") : t("reading.share", percent(done))}</b>,
              loading.totalBytes === null ? null : t("reading.progress", bytes(loading.readBytes), bytes(loading.totalBytes), at),
              t("reading.effect"),
            ]}
          />
        </div>
        <Progress done={done} label={t("reading.label")} />
      </div>
    </div>
  );
}

/** @param {{ done: number | null, label: string }} props 0…1; null: unknown */
export function Progress({ done, label }) {
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={done === null ? undefined : Math.round(done * 100)}
    >
      <i style={{ "--v": Math.min(1, done ?? 0) }} />
    </div>
  );
}
