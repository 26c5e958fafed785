// SPDX-License-Identifier: Apache-2.0
import { copy } from "../lib/clipboard.js";
import { t } from "../lib/i18n.js";
import { addressToShare } from "../lib/pin.js";

/** A word about something that happened and shows nowhere else, for a moment, in a corner. It is read aloud and takes no focus. */

const SHOWN_MS = 2500;
/** @type {HTMLElement | null} */
let box = null;
let timer = 0;

/** @param {string} text */
export function toast(text) {
  if (!box) {
    box = document.createElement("div");
    box.className = "toast no-print";
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  box.textContent = text;
  box.hidden = false;
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    if (box) box.hidden = true;
  }, SHOWN_MS);
}

/** @param {string} text @param {import("../lib/i18n.js").Key} done what is said then */
export const copyAndSay = async (text, done) => toast(t((await copy(text)) ? done : "share.notCopied"));

/** The address reproduces the view, selection, zoom and chosen columns included. */
export const copyLink = () => copyAndSay(new URL(addressToShare(), location.href).href, "share.linkCopied");
