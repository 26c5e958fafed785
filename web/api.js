// SPDX-License-Identifier: Apache-2.0
/**
 * The only caller of fetch (and of XMLHttpRequest, which alone tells how much of a file was sent), but for what first.js asks before this is there. Answers carry an ETag and the
 * browser asks again with it; what was shown last is kept here too, so that Back is drawn at once and then checked.
 */
import { apiHref, apiPath } from "./lib/api-path.js";
import { language } from "./lib/i18n.js";

export { apiHref, apiPath };

/** A call that failed: which, with what status, and the server's own sentence. */
export class ApiError extends Error {
  /** @param {string} path @param {number} status 0: no answer at all @param {string} code @param {string} detail @param {number | null} [retrySeconds] when the server wants to be asked again */
  constructor(path, status, code, detail, retrySeconds = null) {
    super(detail);
    this.detail = detail;
    this.path = path;
    this.status = status;
    this.code = code;
    this.retrySeconds = retrySeconds;
  }
}

/** Answers kept for Back: lists of a page or so each, so this many are a few MiB. */
const KEPT_ANSWERS = 60;
/** @type {Map<string, unknown>} */
const kept = new Map();

/** What was answered last time. @param {string} path */
export const remembered = (path) => kept.get(path);

/** The same for answers with sentences (findings, accounts, comparisons): in the reader's language. @type {(parts: (string | number)[], query?: Record<string, string | number | null>) => string} */
export const wordedPath = (parts, query = {}) => apiPath(parts, { ...query, lang: language() });

/** @param {string} path @param {Promise<Response>} asked @param {AbortSignal} [signal] @returns {Promise<any>} */
async function read(path, asked, signal) {
  /** @type {Response} */
  let answer;
  try {
    answer = await asked;
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new ApiError(path, 0, "unreachable", "");
  }
  /** @type {any} */
  let body = null;
  try {
    body = await answer.json();
  } catch (e) {
    if (signal?.aborted) throw e;
    if (answer.ok) throw new ApiError(path, answer.status, "not_json", "");
  }
  if (!answer.ok) throw new ApiError(path, answer.status, String(body?.error ?? answer.statusText), String(body?.detail ?? ""));
  kept.delete(path);
  kept.set(path, body);
  if (kept.size > KEPT_ANSWERS) kept.delete(/** @type {string} */ (kept.keys().next().value));
  return body;
}

const { askedFirst } = globalThis;
/** What first.js asked, for the part of the page that asks it; null: nothing, or it was handed out. */
let first = askedFirst ? { path: askedFirst.path, body: read(askedFirst.path, askedFirst.answer) } : null;
first?.body.catch(() => undefined);

/** So long the first drawing waits for that answer: a page that is drawn with it is drawn once. @param {number} mostMs */
export const firstAnswer = (mostMs) => Promise.race([first?.body.catch(() => undefined), new Promise((done) => setTimeout(done, mostMs))]);

/** @param {string} path as apiPath makes it @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) {
  if (first?.path !== path) return read(path, fetch(apiHref(path), { signal, headers: { Accept: "application/json" }, credentials: "same-origin" }), signal);
  const { body } = first;
  first = null;
  const answer = await body;
  signal?.throwIfAborted();
  return answer;
}

/** Asks for something to be done, by POST without a body. @param {string} path as apiPath makes it @returns {Promise<any>} what the server answers */
export async function act(path) {
  /** @type {Response} */
  let answer;
  try {
    answer = await fetch(apiHref(path), { method: "POST", headers: { "X-Afterglow-Action": "1" }, credentials: "same-origin" });
  } catch {
    throw new ApiError(path, 0, "unreachable", "");
  }
  const body = await answer.json().catch(() => null);
  if (answer.ok) return body;
  throw new ApiError(path, answer.status, String(body?.error ?? answer.statusText), String(body?.detail ?? answer.status));
}

/**
 * Sends a file as the body of a POST. @param {string} path @param {Blob} body @param {(sentBytes: number) => void} onProgress @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export function send(path, body, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const x = new XMLHttpRequest();
    x.open("POST", apiHref(path));
    x.setRequestHeader("X-Afterglow-Upload", "1");
    x.responseType = "json";
    x.upload.onprogress = (e) => onProgress(e.loaded);
    x.onload = () =>
      x.status < 300
        ? resolve(x.response)
        : reject(new ApiError(path, x.status, String(x.response?.error ?? x.statusText), String(x.response?.detail ?? ""), Number(x.getResponseHeader("Retry-After")) || null));
    x.onerror = () => reject(new ApiError(path, 0, "unreachable", ""));
    x.onabort = () => reject(new ApiError(path, 0, "aborted", ""));
    signal.addEventListener("abort", () => x.abort());
    x.send(body);
  });
}
