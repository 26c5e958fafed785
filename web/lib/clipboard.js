// SPDX-License-Identifier: Apache-2.0
/** Pages that came without https have no navigator.clipboard; the old way needs an element that holds the text. @param {string} text @returns {Promise<boolean>} */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement("textarea");
    box.value = text;
    box.className = "sr";
    const before = document.activeElement;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    if (before instanceof HTMLElement) before.focus();
    return done;
  }
}
