// SPDX-License-Identifier: Apache-2.0
/** Runs before the first paint, as a file of its own because the content security policy forbids inline script: without it a dark page would flash white. */
(() => {
  let theme = "";
  try {
    theme = JSON.parse(localStorage.getItem("afterglow") ?? "{}")?.theme ?? "";
  } catch {
    theme = ""; // no storage, or junk in it: the system decides
  }
  document.documentElement.dataset.theme =
    theme === "dark" || theme === "light" ? theme : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
})();
