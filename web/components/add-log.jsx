// SPDX-License-Identifier: Apache-2.0
/**
 * Adding a log: a file, or a folder, from a button or dropped anywhere on the list. It is read while it is sent, and opens on its overview as soon as it has one; what is on its way is shown above
 * every page. Several are sent one after the other, and none of them opens: they come into the list.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, apiPath, get, send } from "../api.js";
import { bytes, percent } from "../lib/format.js";
import { t } from "../lib/i18n.js";
import * as paths from "../lib/paths.js";
import { current, go } from "../lib/router.js";
import { inOrder, logsOf } from "../model/added.js";
import { Progress } from "./app-head.jsx";
import { Popover } from "./column-choice.jsx";
import { useData } from "./use-data.js";

/** @typedef {import("../model/added.js").Log<File>} Log */
/**
 * @typedef {{ id: number, name: string, bytes: number, sent: number, state: "queued" | "sending" | "waiting" | "failed", why: string | null, stop: () => void }} Upload
 * @typedef {{ list: Upload[], add: (logs: Log[], maxBytes: number | null) => void, drop: (id: number) => void }} Uploads
 * @typedef {{ allowed: boolean | null, enabled: boolean, maxBytes: number | null, add: (logs: Log[]) => void }} Adding allowed: null while it is not known
 */

const LOOK_MS = 500;

/** 128 bits, so that nobody draws another's. */
const drawId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

/** What is on its way: of the frame, since it goes on whatever page is shown. @returns {Uploads} */
export function useUploads() {
  const [list, setList] = useState(/** @type {Upload[]} */ ([]));
  const last = useRef(0);
  /** Ends with what was sent last. */
  const turn = useRef(Promise.resolve());
  const sends = list.some((u) => u.state === "queued" || u.state === "sending");
  useEffect(() => {
    if (!sends) return undefined;
    /** A page that goes takes what it sends with it: the browser asks. @param {BeforeUnloadEvent} e */
    const ask = (e) => e.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [sends]);
  /** @param {number} id @param {Partial<Upload>} change */
  const change = (id, change) => setList((l) => l.map((u) => (u.id === id ? { ...u, ...change } : u)));
  /** @param {Log} log @param {number | null} maxBytes @param {boolean} opens its page, when it has one */
  const begin = async (log, maxBytes, opens) => {
    const id = ++last.current;
    const size = log.files.reduce((n, f) => n + f.size, 0);
    const [abort, looking] = [new AbortController(), new AbortController()];
    let sent = 0;
    const drop = () => setList((l) => l.filter((u) => u.id !== id));
    const stop = () => {
      abort.abort();
      looking.abort();
      drop();
    };
    setList((l) => [...l, { id, name: log.name, bytes: size, sent: 0, state: "queued", why: null, stop }]);
    try {
      if (!log.files.length) throw new Error(t("add.empty"));
      if (maxBytes && size > maxBytes) throw new Error(t("add.tooLarge", bytes(maxBytes)));
      const before = turn.current;
      const whole = (async () => {
        await before;
        abort.signal.throwIfAborted();
        change(id, { state: "sending" });
        const key = drawId();
        // Somebody who has gone elsewhere meanwhile stays there.
        const opened = until(key, looking.signal).then((ref) => {
          if (opens && !looking.signal.aborted && !current().parts.length) go(paths.app(ref));
        });
        opened.catch(() => {}); // told below, once all was sent
        await transfer(log, key, abort.signal, (n) => change(id, { sent: (sent = n) }));
        return { opened };
      })();
      turn.current = whole.then(
        () => {},
        () => {},
      );
      const { opened } = await whole;
      change(id, { state: "waiting", sent: size });
      await opened;
      drop();
    } catch (e) {
      looking.abort();
      if (abort.signal.aborted) return;
      const why = e instanceof ApiError && e.status === 0 ? t("add.brokeOff", bytes(sent), bytes(size)) : e instanceof Error ? e.message : String(e);
      change(id, { state: "failed", why, stop: drop });
    }
  };
  return { list, add: (logs, maxBytes) => logs.forEach((log) => void begin(log, maxBytes, logs.length === 1)), drop: (id) => list.find((u) => u.id === id)?.stop() };
}

/** May logs be added, and how large? @param {Uploads} uploads @returns {Adding} */
export function useAdding(uploads) {
  const asked = /** @type {import("./use-data.js").Asked<import("../types").Status>} */ (useData(apiPath(["status"])));
  const may = asked.data?.uploads;
  const maxBytes = may?.maxBytes ?? null;
  return { allowed: may ? may.allowed : null, enabled: Boolean(may?.enabled), maxBytes, add: (logs) => uploads.add(logs, maxBytes) };
}

/** Sends the files of a log, one after the other. @param {Log} log @param {string} upload its key @param {AbortSignal} signal @param {(sent: number) => void} onProgress */
async function transfer(log, upload, signal, onProgress) {
  let before = 0;
  const files = inOrder(log.files);
  for (const [i, file] of files.entries()) {
    const path = apiPath(["uploads"], { upload, name: file.name, folder: log.folder, last: log.folder ? String(i === files.length - 1) : null });
    await patiently(() => send(path, file, (sent) => onProgress(before + Math.min(sent, file.size)), signal), signal);
    before += file.size;
  }
}

/** A server that takes no more at the moment says when it will. @param {() => Promise<unknown>} ask @param {AbortSignal} signal */
async function patiently(ask, signal) {
  for (;;) {
    try {
      return await ask();
    } catch (e) {
      const seconds = e instanceof ApiError ? e.retrySeconds : null;
      if (seconds === null || signal.aborted) throw e;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      signal.throwIfAborted();
    }
  }
}

/** Until the run of a log that is sent has a page, which may be before all of it was. @param {string} key @param {AbortSignal} signal @returns {Promise<string>} */
async function until(key, signal) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (signal.aborted) throw new Error();
    /** @type {import("../types").Upload} */
    const now = await get(apiPath(["uploads", key]), signal);
    if (now.ref) return now.ref;
    if (now.mayNotBeSeen) throw new Error(t("add.mayNotBeSeen"));
    if (now.is !== "arriving" && (now.state === "failed" || now.state === "skipped")) throw new Error(now.reason ?? t("apps.noReason"));
  }
}

/* ---- what was chosen or dropped ---- */

/** @typedef {{ path: string, file: File }} Found */

/** Of a file field. @param {FileList | null} files @returns {Log[]} */
const chosen = (files) => logsOf([...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file })));

/** What lies in a dropped folder, and below it. @param {FileSystemDirectoryEntry} folder @param {string} path @returns {Promise<Found[]>} */
async function below(folder, path) {
  const reader = folder.createReader();
  /** @type {Found[]} */
  const found = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const e of some) {
      const at = `${path}/${e.name}`;
      if (e.isDirectory) found.push(...(await below(/** @type {FileSystemDirectoryEntry} */ (e), at)));
      else found.push({ path: at, file: await new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (e).file(resolve, reject)) });
    }
  }
}

/** @param {DataTransfer} data @returns {Promise<Log[]>} */
async function dropped(data) {
  // Entries must be taken before anything is waited for.
  const entries = [...data.items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  /** @type {Log[]} */
  const logs = [];
  for (const { entry, file } of entries) {
    if (!entry?.isDirectory) {
      if (file) logs.push(...logsOf([{ path: file.name, file }]));
      continue;
    }
    // What cannot be read holds nothing to send either.
    const found = logsOf(await below(/** @type {FileSystemDirectoryEntry} */ (entry), entry.name).catch(() => []));
    logs.push(...(found.length ? found : [{ name: entry.name, folder: entry.name, files: [] }]));
  }
  return logs;
}

/* ---- the page's parts ---- */

/** The button, where it may be used. @param {{ adding: Adding }} props */
export function AddLog({ adding }) {
  if (!adding.allowed) return null;
  return (
    <Popover label={t("add.title")} class="add no-print" button="btn">
      {(close) => (
        <div class="add-box" role="group" aria-label={t("add.title")}>
          <p>{t("add.text", adding.maxBytes === null ? "" : bytes(adding.maxBytes))}</p>
          <Field label={t("add.files")} adding={adding} close={close} />
          <Field label={t("add.folder")} folder adding={adding} close={close} />
        </div>
      )}
    </Popover>
  );
}

/** @param {{ label: string, folder?: boolean, adding: Adding, close: () => void }} props */
function Field({ label, folder, adding, close }) {
  return (
    <label class="btn">
      {label}
      <input
        type="file"
        class="sr"
        multiple
        {...(folder ? { webkitdirectory: true } : {})}
        onChange={(e) => {
          adding.add(chosen(e.currentTarget.files));
          close();
        }}
      />
    </label>
  );
}

/** What is on its way, and what could not be added. @param {{ uploads: Uploads }} props */
export function UploadList({ uploads }) {
  if (!uploads.list.length) return null;
  return (
    <ul class="uploads" aria-label={t("add.title")}>
      {uploads.list.map((u) => (
        <li key={u.id} class="banner is-info" role={u.state === "failed" ? "alert" : "status"}>
          <b class="clip">{u.name}</b>
          {u.state === "failed" ? (
            <span class="bad">{t("add.failed", u.why ?? "")}</span>
          ) : (
            <>
              <Progress done={u.bytes ? u.sent / u.bytes : null} label={t("add.sent")} />
              <span class="nowrap">{u.state === "queued" ? t("add.queued") : u.state === "waiting" ? t("add.waiting") : t("add.sending", percent(u.bytes ? u.sent / u.bytes : 0), bytes(u.bytes))}</span>
            </>
          )}
          <span class="grow" />
          <button type="button" class="btn is-small" onClick={() => uploads.drop(u.id)}>
            {t(u.state === "failed" ? "keys.close" : "add.stop")}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Takes what is dropped anywhere on the page, or says why not: the browser would leave the page for it otherwise. @param {{ adding: Adding }} props */
export function DropZone({ adding }) {
  const [over, setOver] = useState(false);
  const [refused, setRefused] = useState(false);
  const now = useRef(adding);
  now.current = adding;
  useEffect(() => {
    const holdsFiles = (/** @type {DragEvent} */ e) => Boolean(e.dataTransfer?.types.includes("Files"));
    /** @param {DragEvent} e */
    const enter = (e) => {
      if (!holdsFiles(e)) return;
      e.preventDefault();
      setRefused(false);
      setOver(true);
    };
    /** @param {DragEvent} e */
    const leave = (e) => {
      if (e.relatedTarget === null) setOver(false);
    };
    /** @param {DragEvent} e */
    const take = (e) => {
      if (!holdsFiles(e) || !e.dataTransfer) return;
      e.preventDefault();
      setOver(false);
      if (now.current.allowed) void dropped(e.dataTransfer).then((logs) => now.current.add(logs));
      else setRefused(true);
    };
    addEventListener("dragenter", enter);
    addEventListener("dragover", enter);
    addEventListener("dragleave", leave);
    addEventListener("drop", take);
    return () => {
      removeEventListener("dragenter", enter);
      removeEventListener("dragover", enter);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", take);
    };
  }, []);
  const why = t(adding.enabled ? "add.notYou" : "add.off");
  return (
    <>
      {over ? <div class="drop-zone">{adding.allowed ? t("add.drop") : why}</div> : null}
      {refused ? (
        <div class="banner" role="alert">
          <span>{why}</span>
          <span class="grow" />
          <button type="button" class="btn is-small" onClick={() => setRefused(false)}>
            {t("keys.close")}
          </button>
        </div>
      ) : null}
    </>
  );
}
