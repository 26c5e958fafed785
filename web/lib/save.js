// SPDX-License-Identifier: Apache-2.0

/** Gives the browser a text as a file to keep. @param {string} name @param {string} type @param {string} text */
export function saveText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = Object.assign(document.createElement("a"), { href: url, download: name });
  a.click();
  URL.revokeObjectURL(url);
}
