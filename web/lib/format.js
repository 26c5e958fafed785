// SPDX-License-Identifier: Apache-2.0
/**
 * The only place where numbers become text. Unknown is a dash, never 0 and never NaN. A narrow no-break space stands between number and unit.
 * Rules: duration three digits up to 120 s, then two units; bytes by 1024 with IEC names, three digits; counts with all digits; shares whole from
 * 10 %; ratios one decimal and ×; times of day in the chosen zone, which the page names.
 */

const NB = "\u202f";
const MINUS = "\u2212";
export const DASH = "\u2014";

let locale = "en";
/** @type {"local" | "utc"} */
let zone = "local";

/** Dear to make, cheap to use. @type {Intl.NumberFormat | null} */
let compact = null;

/** @param {string} value */
export function setLocale(value) {
  locale = value;
  compact = null;
}
/** @param {"local" | "utc"} value */
export function setZone(value) {
  zone = value;
}

/**
 * Digits in groups of three, as both of our languages write them: the tables of Intl cost a fresh page 15 ms, as much as drawing a list does.
 * @param {number} value @param {number} least decimals @param {number} most decimals
 */
function decimal(value, least, most) {
  const size = Math.abs(value);
  const [whole, decimals = ""] = (size < 1e21 ? size.toFixed(most) : String(BigInt(size))).split(".");
  let kept = decimals.length;
  while (kept > least && decimals[kept - 1] === "0") kept--;
  const text = whole.replace(/\B(?=(?:\d{3})+$)/g, ",") + (kept ? "." + decimals.slice(0, kept) : "");
  return value < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

/** @param {unknown} value @returns {value is number} */
const known = (value) => typeof value === "number" && Number.isFinite(value);
/** @param {number} n */
const two = (n) => String(Math.floor(n)).padStart(2, "0");

/** Three significant digits, no exponent: 5.85, 22.1, 184, 1,204. @param {number} value */
function three(value) {
  const a = Math.abs(value);
  const d = a >= 99.95 || a === 0 ? 0 : a >= 9.995 ? 1 : 2;
  return decimal(value, d, d);
}

/** Length in ms: 0 ms, 430 ms, 5.85 s, 116 s, 3m 31s, 3h 07m, 2d 04h. @param {unknown} ms */
export function duration(ms) {
  if (!known(ms)) return DASH;
  const a = Math.abs(ms);
  if (a < 999.5) return (a > 0 && a < 9.95 && a % 1 ? decimal(ms, 0, 1) : decimal(ms, 0, 0)) + NB + "ms";
  if (a < 119_950) return three(ms / 1000) + NB + "s";
  const sign = ms < 0 ? MINUS : "";
  let s = Math.round(a / 1000);
  if (s < 3600) return `${sign}${Math.floor(s / 60)}m${NB}${two(s % 60)}s`;
  s = Math.round(s / 60) * 60;
  if (s < 86_400) return `${sign}${Math.floor(s / 3600)}h${NB}${two((s % 3600) / 60)}m`;
  s = Math.round(s / 3600) * 3600;
  return `${sign}${decimal(Math.floor(s / 86_400), 0, 0)}d${NB}${two((s % 86_400) / 3600)}h`;
}

/** Length in ns, in the same words; below a millisecond in µs. @param {unknown} ns */
export function nanoseconds(ns) {
  if (!known(ns)) return DASH;
  if (ns > 0 && ns < 999_500) return three(ns / 1000) + NB + "µs";
  return duration(ns / 1e6);
}

/** Time of slots: 845 slot·s, from two hours on 14.2 slot·h. @param {unknown} ms */
export function slotTime(ms) {
  if (!known(ms)) return DASH;
  return Math.abs(ms) < 7_200_000 ? three(ms / 1000) + NB + "slot·s" : three(ms / 3_600_000) + NB + "slot·h";
}

/** A saving or a difference, always seconds: 9.88 s; with sign +26.3 s, −0.40 s, ±0 s. @param {unknown} ms @param {boolean} [signed] */
export function seconds(ms, signed = false) {
  if (!known(ms)) return DASH;
  if (signed && Math.abs(ms) < 5) return `±0${NB}s`;
  const text = three(ms / 1000) + NB + "s";
  return !signed || ms < 0 ? text : "+" + text;
}

/** Exact length in ms for tooltips: 26,812 ms. @param {unknown} ms */
export const exactMs = (ms) => (known(ms) ? decimal(ms, 0, 0) + NB + "ms" : DASH);

const IEC = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
/** 348 B, 2.77 KiB, 97.8 MiB. @param {unknown} value */
export function bytes(value) {
  if (!known(value)) return DASH;
  let i = 0;
  let v = value;
  while (Math.abs(v) >= 999.5 && i < IEC.length - 1) {
    v /= 1024;
    i++;
  }
  return (i === 0 ? decimal(v, 0, 0) : three(v)) + NB + IEC[i];
}
/** Exact size for tooltips: 102,551,232 B. @param {unknown} value */
export const exactBytes = (value) => (known(value) ? decimal(value, 0, 0) + NB + "B" : DASH);

/** All digits: 2,600,000. @param {unknown} value */
export const count = (value) => (known(value) ? decimal(value, 0, value % 1 ? 2 : 0) : DASH);

/** Three digits at the most, for an axis: 950, 20K, 1.5M. @param {unknown} value */
export function shortCount(value) {
  if (!known(value)) return DASH;
  compact ??= new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 });
  return compact.format(value);
}

/** A share 0…1: 55 %, 4.7 %, < 0.1 %, 0 %. @param {unknown} share */
export function percent(share) {
  if (!known(share)) return DASH;
  const p = share * 100;
  if (p > 0 && p < 0.1) return `<${NB}${decimal(0.1, 1, 1)}${NB}%`;
  return decimal(p, 0, Math.abs(p) >= 9.95 ? 0 : 1) + NB + "%";
}

/** A change by a share: +26 %, −0.4 %, ±0 %. @param {unknown} share */
export const shareChange = (share) => (known(share) ? (share > 0 ? "+" : share < 0 ? "" : "±") + percent(share) : DASH);

/** A ratio: 15.9×, 136×, 0.03×, which is not none. @param {unknown} ratio */
export const times = (ratio) => (known(ratio) ? decimal(ratio, 0, ratio >= 99.5 ? 0 : ratio > 0 && ratio < 0.095 ? 2 : 1) + "×" : DASH);

/** Offset from the start of the application: +62.1 s. @param {unknown} ms */
export const offset = (ms) => (known(ms) ? (ms >= 0 ? "+" : "") + duration(ms) : DASH);

/**
 * A tick of an axis of distances, in one form for the whole axis: 200 ms, 5.5 s, 97.15 s, 0:30, 1:00:00, 2d 04h.
 * @param {number} ms @param {number} lengthMs of the axis @param {number} [endMs] where it ends: late in a run nobody counts in ms
 */
export function clock(ms, lengthMs, endMs = lengthMs) {
  const s = Math.floor(ms / 1000);
  if (lengthMs < 2000 && endMs >= 10_000) return decimal(ms / 1000, 1, 3) + NB + "s";
  if (lengthMs < 2000) return decimal(ms, 0, 0) + NB + "ms";
  if (lengthMs < 20_000) return decimal(ms / 1000, 0, 1) + NB + "s";
  if (lengthMs < 3_600_000 && s < 3600) return `${Math.floor(s / 60)}:${two(s % 60)}`;
  if (lengthMs < 172_800_000) return `${Math.floor(s / 3600)}:${two((s % 3600) / 60)}:${two(s % 60)}`;
  return `${Math.floor(s / 86_400)}d${NB}${two((s % 86_400) / 3600)}h`;
}

/** Point in time in the chosen zone: 2026-11-29 20:12:26. @param {unknown} epochMs @param {boolean} [seconds] */
export function time(epochMs, seconds = true) {
  if (!known(epochMs)) return DASH;
  const d = new Date(epochMs);
  if (Number.isNaN(d.getTime())) return DASH;
  const [year, month, day, hour, minute, second] =
    zone === "utc"
      ? [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()]
      : [d.getFullYear(), d.getMonth(), d.getDate(), d.getHours(), d.getMinutes(), d.getSeconds()];
  return `${year}-${two(month + 1)}-${two(day)} ${two(hour)}:${two(minute)}${seconds ? ":" + two(second) : ""}`;
}

/** The same for a field of a form (datetime-local), and back. "" is no time. @param {number | null} epochMs */
export const timeField = (epochMs) => (epochMs === null ? "" : time(epochMs, false).replace(" ", "T"));
/** @param {string} field @returns {number | null} */
export function fromTimeField(field) {
  const ms = field ? new Date(field + (zone === "utc" ? "Z" : "")).getTime() : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Name of the chosen zone at a moment (summer time differs): UTC, UTC+2, UTC−3:30. @param {number} [epochMs] */
export function zoneName(epochMs = Date.now()) {
  if (zone === "utc") return "UTC";
  const o = -new Date(epochMs).getTimezoneOffset();
  if (!o || Number.isNaN(o)) return "UTC";
  return `UTC${o > 0 ? "+" : MINUS}${Math.floor(Math.abs(o) / 60)}${o % 60 ? ":" + two(Math.abs(o) % 60) : ""}`;
}

/** By unit. What is not here is a number of things. @type {Record<string, (value: unknown) => string>} */
const BY_UNIT = {
  ms: duration,
  s: (v) => duration(known(v) ? v * 1000 : v),
  h: (v) => duration(known(v) ? v * 3_600_000 : v),
  ns: nanoseconds,
  bytes,
  share: percent,
  ratio: (v) => (known(v) && Math.abs(v) < 0.95 ? decimal(v, 0, 2) + "×" : times(v)),
  time,
  id: (v) => (known(v) ? String(v) : DASH),
};

/** The same with the zone behind it, where no head of a column or page names it. @param {unknown} epochMs @param {boolean} [seconds] */
export const zoned = (epochMs, seconds = true) => (known(epochMs) ? `${time(epochMs, seconds)} ${zoneName(epochMs)}` : DASH);

/** By the unit that the server names. @param {unknown} value @param {string | null} unit */
export const quantity = (value, unit) => (typeof value === "string" ? value : (BY_UNIT[unit ?? ""] ?? count)(value));

/** As the History Server writes sizes in plans: 372.0 B, 1024.1 KiB, 2.0 GiB. @param {unknown} value */
export function historyBytes(value) {
  if (!known(value)) return DASH;
  let i = 0;
  while (i < IEC.length - 1 && value >= 2 * 1024 ** (i + 1)) i++;
  return `${(value / 1024 ** i).toFixed(1)} ${IEC[i]}`;
}

/** As it writes durations there: 20 ms, 1.5 s, 2.0 m, 1.25 h. It divides in 32-bit floats. @param {unknown} ms */
export function historyDuration(ms) {
  if (!known(ms)) return DASH;
  const f = Math.fround;
  if (ms < 1000) return `${Math.trunc(ms)} ms`;
  if (ms < 60_000) return `${f(f(ms) / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${f(f(ms) / 60_000).toFixed(1)} m`;
  return `${f(f(ms) / 3_600_000).toFixed(2)} h`;
}
