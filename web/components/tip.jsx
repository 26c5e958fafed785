// SPDX-License-Identifier: Apache-2.0
/** One tooltip for the page, for marks of a chart. It repeats what a table says: nothing can be read only here. Text from a log goes in as text. */

/** @type {HTMLElement | null} */
let box = null;
/** Distance from the pointer and from the window's edge, pixels. */
const AWAY = 14,
  EDGE = 8;

/** @param {MouseEvent} e @param {string} text lines separated by \n */
export function showTip(e, text) {
  if (!box) {
    box = document.createElement("div");
    box.className = "tip";
    box.setAttribute("role", "tooltip");
    document.body.append(box);
  }
  box.textContent = text;
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(EDGE, Math.min(innerWidth - width - EDGE, e.clientX + AWAY))}px`;
  box.style.top = `${e.clientY + AWAY + height > innerHeight ? e.clientY - height - AWAY : e.clientY + AWAY}px`;
}

export function hideTip() {
  if (box) box.hidden = true;
}

/** Handlers for an element with one text. @param {() => string} text */
export const tip = (text) => ({ onMouseMove: (/** @type {MouseEvent} */ e) => showTip(e, text()), onMouseLeave: hideTip });
