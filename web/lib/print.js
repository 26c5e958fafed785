// SPDX-License-Identifier: Apache-2.0
/** Paper is light. Canvases are drawn again when the theme changes, so the theme itself is another one while a page is printed. Called once. */
export function printLight() {
  const root = document.documentElement;
  /** @type {string | undefined} */
  let theme;
  addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    root.dataset.theme = theme ?? root.dataset.theme;
  });
}
