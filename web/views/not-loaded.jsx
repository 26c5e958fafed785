// SPDX-License-Identifier: Apache-2.0
import { apiPath } from "../api.js";
import { Progress } from "../components/app-head.jsx";
import { ServerSays, damageOf } from "../components/reason.jsx";
import { useData } from "../components/use-data.js";
import { bytes, percent, time, zoneName } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";

/** The run is known, its log has not been read; asking for it put it first in the queue. @param {{ appRef: string, detail: string, version: string }} props */
export function NotLoaded({ appRef, detail, version }) {
  // What the list knows already: the ref is an id, and the list can be searched by it.
  const asked = /** @type {import("../components/use-data.js").Asked<import("../types").AppList>} */ (
    useData(apiPath(["apps"], { q: appRef.split(".")[0], limit: 50 }), version)
  );
  const app = asked.data?.items.find((a) => a.ref === appRef || a.key === appRef || a.appId === appRef);
  const done = app?.readBytes && app.totalBytes ? app.readBytes / app.totalBytes : null;
  return (
    <div class="not-loaded">
      <div class="head">
        <div class="head-main">
          <div class="head-title">
            <h1>{app?.name ?? appRef}</h1>
          </div>
          <div class="head-meta">
            <span>{app?.appId ?? ""}</span>
            {app?.startMs ? (
              <span>
                {time(app.startMs)} {zoneName(app.startMs)}
              </span>
            ) : null}
            {app?.user ? <span>{app.user}</span> : null}
            {app?.sparkVersion ? <span>Spark {app.sparkVersion}</span> : null}
          </div>
        </div>
      </div>
      <div class="state" role="status">
        <h2>{t(app?.state === "failed" ? "notLoaded.failed" : app?.state === "gone" ? "notLoaded.gone" : "notLoaded.title")}</h2>
        {app?.state === "failed" || app?.state === "gone" ? (
          <p>{app.state === "gone" ? t("notLoaded.goneText") : (damageOf(app) ?? <ServerSays text={detail} />)}</p>
        ) : (
          <>
            <p>
              {app?.totalBytes ? t("notLoaded.size", bytes(app.totalBytes)) : ""} {t("notLoaded.wait")}
            </p>
            <Progress done={done} label={t("reading.label")} />
            <p class="dim3">{done === null ? t("notLoaded.queued") : percent(done)}</p>
          </>
        )}
        <p>
          <a href={paths.apps()}>{t("error.toList")}</a>
        </p>
      </div>
    </div>
  );
}
