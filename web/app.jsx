// SPDX-License-Identifier: Apache-2.0
/** The page: reads the address, shows the view for it, and keeps the frame (bar, rail, keys, preferences). */
import { render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { apiPath, firstAnswer } from "./api.js";
import { UploadList, useUploads } from "./components/add-log.jsx";
import { AppHead } from "./components/app-head.jsx";
import { Boundary } from "./components/boundary.jsx";
import { FindingsOfRun, isRead } from "./components/findings.jsx";
import { TopBar } from "./components/bar.jsx";
import { KeyHelp, useKeys } from "./components/keys.jsx";
import { lazy, warm } from "./components/lazy.jsx";
import { Palette } from "./components/palette.jsx";
import { Rail, entries } from "./components/rail.jsx";
import { Failure, Skeleton, pending } from "./components/states.jsx";
import { useData, usePoll } from "./components/use-data.js";
import { setZone } from "./lib/format.js";
import { setLang, t } from "./lib/i18n.js";
import * as paths from "./lib/paths.js";
import * as prefsStore from "./lib/prefs.js";
import { printLight } from "./lib/print.js";
import { current, go, onChange, start } from "./lib/router.js";
import { growing, settled } from "./model/app.js";
import { findPage } from "./routes.js";
import { Apps } from "./views/apps.jsx";
import { NotFound } from "./views/not-found.jsx";
import { NotLoaded } from "./views/not-loaded.jsx";

/** How often a run that is being read, or waits for it, is asked again; and one whose log may still grow, or that is not there yet. Finished runs are never polled. */
const READING_MS = 1000;
const GROWING_MS = 10_000;
/** So long after the last byte of a log that was added came, what it brought is awaited. */
const ARRIVED_MS = 15_000;
/** So long the first drawing waits for what first.js asked: a slow server must not keep the frame away. */
const FIRST_MS = 50;
/** The first page has what it needs by then; other views are fetched after it. */
const WARM_MS = 2000;

const ServerStatus = lazy(async () => (await import("./views/server.jsx")).ServerStatus);

/** @param {import("./lib/prefs.js").Prefs} p */
function apply(p) {
  setZone(p.zone);
  document.documentElement.dataset.theme = p.theme;
}

function Root() {
  const [, redraw] = useState(0);
  const [prefs, setPrefs] = useState(prefsStore.load);
  const [help, setHelp] = useState(false);
  const [searching, setSearching] = useState(false);
  useEffect(() => onChange(() => redraw((n) => n + 1)), []);
  apply(prefs);
  /** @param {Partial<import("./lib/prefs.js").Prefs>} change */
  const change = async (change) => {
    prefsStore.save(change);
    if (change.lang) await setLang(change.lang);
    setPrefs((now) => ({ ...now, ...change }));
  };
  const route = current();
  const compares = route.parts[0] === "compare" && route.parts.length === 1;
  const ref = compares ? route.query.get("b") : route.parts[0] === "a" && route.parts.length > 1 ? route.parts[1] : null;
  const shown = useRef(route.path);
  useLayoutEffect(() => {
    if (shown.current === route.path) return;
    shown.current = route.path;
    // What had the focus went with its page; from here the keyboard goes on, and a screen reader says what there is now.
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [route.path]);
  const uploads = useUploads();
  const frame = { uploads, prefs, change, keys: () => setHelp(true), search: () => setSearching(true), searching, searched: () => setSearching(false) };
  return (
    <>
      {ref !== null ? (
        <AppFrame key={ref} appRef={ref} rest={compares ? route.parts : route.parts.slice(2)} frame={frame} />
      ) : (
        <PlainFrame here={route.parts.length === 0 ? "apps" : route.path === "status" ? "status" : "none"} path={route.path} frame={frame} />
      )}
      {help ? <KeyHelp close={() => setHelp(false)} /> : null}
    </>
  );
}

/** @typedef {{ uploads: import("./components/add-log.jsx").Uploads, prefs: import("./lib/prefs.js").Prefs, change: (p: Partial<import("./lib/prefs.js").Prefs>) => void, keys: () => void, search: () => void, searching: boolean,
 *   searched: () => void }} Frame searching: the search over everything is open */

/** @param {{ title: string, frame: Frame, class?: string, bar: import("preact").ComponentChildren, rail?: import("preact").ComponentChildren, children: import("preact").ComponentChildren }} props */
function Shell({ title, frame, class: c, bar, rail, children }) {
  useEffect(() => {
    document.title = `${title} · Afterglow`;
  });
  return (
    <div class={"frame " + (c ?? "")}>
      <a
        class="skip"
        href={location.pathname + location.search + "#main"}
        onClick={(e) => {
          e.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        {t("bar.skip")}
      </a>
      {bar}
      {rail}
      <main id="main" tabIndex={-1} aria-label={title}>
        <UploadList uploads={frame.uploads} />
        {children}
      </main>
    </div>
  );
}

/** What the search finds beside the pages of a run. @returns {{ id: string, to: string }[]} */
const outside = () => [
  { id: "apps", to: paths.apps() },
  { id: "status", to: paths.status() },
];

/** Pages without an application. @param {{ here: "apps" | "status" | "none", path: string, frame: Frame }} props */
function PlainFrame({ here, path, frame }) {
  useKeys({
    go: (page) => {
      if (page === "apps") go(paths.apps());
    },
    search: frame.search,
    help: frame.keys,
  });
  const crumbs = [{ label: t("nav.apps"), to: paths.apps() }, ...(here === "status" ? [{ label: t("server.title") }] : [])];
  return (
    <Shell title={t(here === "status" ? "server.title" : here === "none" ? "notFound.page" : "nav.apps")} frame={frame} class="no-rail" bar={<TopBar crumbs={crumbs} {...frame} />}>
      {frame.searching ? <Palette appRef={null} version="" entries={outside()} close={frame.searched} /> : null}
      {here === "apps" ? (
        <Boundary>
          <Apps uploads={frame.uploads} />
        </Boundary>
      ) : here === "status" ? (
        <Boundary>
          <ServerStatus />
        </Boundary>
      ) : (
        <NotFound what={path} />
      )}
    </Shell>
  );
}

/** Pages of one application: the same head and rail, fed by two calls. @param {{ appRef: string, rest: string[], frame: Frame }} props */
function AppFrame({ appRef, rest, frame }) {
  const [beat, setBeat] = useState(0);
  const asked = /** @type {import("./components/use-data.js").Asked<import("./types").AppAnswer>} */ (useData(apiPath(["apps", appRef], paths.thresholds(current().query)), beat));
  const app = asked.data && settled(asked.data);
  const notLoaded = !app && asked.error?.status === 409;
  const missing = !app && asked.error?.status === 404;
  const arrived = useRef(-Infinity);
  if (app?.log.upload === "arriving") arrived.current = performance.now();
  const arrives = performance.now() - arrived.current < ARRIVED_MS;
  usePoll(notLoaded || app?.loading || arrives ? READING_MS : missing || (app && growing(app)) ? GROWING_MS : null, asked, () => setBeat((n) => n + 1));
  // Data behind an address changes with the generation and, while the log is read, with each commit of the loader.
  const version = app ? `${app.generation}.${app.loading ? `${app.loading.lines}.${app.loading.readBytes}` : "done"}` : "";
  return (
    <FindingsOfRun appRef={appRef} version={version}>
      {(found) => <AppPage appRef={appRef} rest={rest} frame={frame} asked={asked} app={app} version={version} found={found} beat={beat} />}
    </FindingsOfRun>
  );
}

/**
 * @param {{ appRef: string, rest: string[], frame: Frame, asked: import("./components/use-data.js").Asked<import("./types").AppAnswer>, app: import("./types").App | undefined,
 *   version: string, found: import("./components/use-data.js").Asked<import("./types").Findings>, beat: number }} props
 */
function AppPage({ appRef, rest, frame, asked, app, version, found, beat }) {
  const page = findPage(rest);
  const list = entries(appRef, app, found.data);
  useKeys({
    go: (name) => go(name === "apps" ? paths.apps() : (list.find((x) => x.id === name)?.to ?? paths.page(appRef, name))),
    search: frame.search,
    help: frame.keys,
  });
  const name = app?.name ?? appRef;
  const object = page?.object ? t(page.object, (rest[1] ?? "").replace(/\.0$/, "")) : null;
  const section = page?.section ? t(page.section) : null;
  const crumbs = [
    { label: t("nav.apps"), to: paths.apps() },
    { label: name, to: paths.app(appRef) },
    ...(section ? [{ label: section, to: paths.page(appRef, page?.name ?? "") }] : []),
    ...(object ? [{ label: object }] : []),
  ];
  const notLoaded = !app && asked.error?.status === 409;
  // Pages begin with their findings: they ask for what they need meanwhile, and come into sight at once, so that nothing is pushed down.
  const waits = isRead(version) && pending(found);
  /** @returns {import("preact").ComponentChildren} */
  const body = () => {
    if (app)
      return (
        <>
          <Boundary version={version}>
            <AppHead app={app} />
          </Boundary>
          {asked.error && asked.error.status !== 409 ? <Failure error={asked.error} retry={asked.retry} /> : null}
          {page ? (
            <Boundary key={rest.join("/")} version={version}>
              {waits && found.slow ? <Skeleton rows={10} facts /> : null}
              <div hidden={waits}>
                <page.View app={app} id={rest[1] ?? ""} version={version} />
              </div>
            </Boundary>
          ) : (
            <NotFound what={rest.join("/")} />
          )}
        </>
      );
    if (notLoaded) return <NotLoaded appRef={appRef} detail={asked.error?.message ?? ""} version={String(beat)} />;
    if (asked.error?.status === 404) return <NotFound app what={appRef} />;
    if (asked.error) return <Failure error={asked.error} retry={asked.retry} />;
    return asked.slow ? <Skeleton rows={10} facts /> : null;
  };
  return (
    <Shell
      title={[object ?? section, name].filter(Boolean).join(" · ")}
      frame={frame}
      bar={<TopBar crumbs={crumbs} {...frame} />}
      rail={<Rail entries={list} here={page?.rail ?? ""} foot={app?.sparkVersion ? `Spark ${app.sparkVersion}` : null} />}
    >
      {frame.searching ? <Palette appRef={appRef} version={version} entries={[...list, ...outside()]} close={frame.searched} /> : null}
      {body()}
    </Shell>
  );
}

start();
printLight();
await Promise.all([setLang(prefsStore.load().lang), firstAnswer(FIRST_MS)]);
render(<Root />, /** @type {HTMLElement} */ (document.getElementById("app")));
setTimeout(warm, WARM_MS);
