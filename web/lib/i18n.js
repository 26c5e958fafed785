// SPDX-License-Identifier: Apache-2.0
/**
 * Texts by key, in the language of the moment. An entry is a string or a function of its arguments; functions that return parts (see `parts`) may
 * get elements as arguments, so that a sentence holds links and bold numbers without being glued from fragments. tools/check.mjs fails on missing keys.
 */
import { setLocale } from "./format.js";

/** @typedef {keyof typeof import("../i18n/en.js").en} Key */
/** The texts of another language for the keys of an English book. @template B @typedef {Record<keyof B, string | ((...args: any[]) => any)>} Same */
/** @typedef {Record<string, string | ((...args: any[]) => any)>} Book */

/** @type {Record<string, () => Promise<Book>>} */
const LANGUAGES = { en: async () => (await import("../i18n/en.js")).en, "zh-CN": async () => (await import("../i18n/zh.js")).zh };
let lang = "en";
/** @type {Book} */
let book = {};

/** Fetches the texts; nothing is drawn before the first ones are there. @param {string} value a language we have, or English @returns {Promise<void>} */
export async function setLang(value) {
  const wanted = value in LANGUAGES ? value : "en";
  book = await LANGUAGES[wanted]();
  lang = wanted;
  setLocale(lang);
  document.documentElement.lang = lang;
}

/** The language of the moment, as the API's parameter `lang` names it. */
export const language = () => lang;

/** @param {string} key @param {any[]} args */
function entry(key, args) {
  const v = book[key] ?? key;
  return typeof v === "function" ? v(...args) : v;
}

/** A text. @param {Key} key @param {...any} args @returns {string} */
export const t = (key, ...args) => entry(key, args);

/** A sentence whose arguments may be elements. @param {Key} key @param {...any} args @returns {import("preact").ComponentChildren} */
export const tx = (key, ...args) => entry(key, args);

/**
 * A text whose key is made from data, for example an enumeration of the API; the word itself if we have none.
 * @param {string} prefix
 * @param {string | null} word
 * @returns {string}
 */
export function word(prefix, word) {
  if (word === null) return "\u2014";
  const key = `${prefix}.${word}`;
  return key in book ? entry(key, []) : word;
}
