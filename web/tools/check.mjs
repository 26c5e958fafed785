// SPDX-License-Identifier: Apache-2.0
/** House rules that no compiler knows. Prints each breach as file:line and fails if there is one. */
import { readFile, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Lower floors know nothing of higher ones. Folders and single files, lowest first. */
const FLOORS = [["types.d.ts"], ["lib", "i18n"], ["model"], ["api.js"], ["components"], ["views"], ["routes.js"], ["app.jsx", "first.js"]];
const SKIPPED = new Set(["node_modules", "dist", "tools", "test"]);
const NAMED_COLOURS = "black|white|red|green|blue|gr[ae]y|yellow|orange|purple|silver|pink|brown";

/** @type {string[]} */
const breaches = [];
/** @param {string} file @param {string} text @param {number} index @param {string} what */
const breach = (file, text, index, what) => breaches.push(`${file}:${text.slice(0, index).split("\n").length}: ${what}`);

/** @param {string} folder @returns {Promise<string[]>} paths relative to web/ */
async function files(folder) {
  const out = [];
  for (const e of await readdir(folder, { withFileTypes: true })) {
    if (e.isDirectory() ? SKIPPED.has(e.name) : !/\.(js|jsx|css|html|svg|d\.ts)$/.test(e.name)) continue;
    const path = join(folder, e.name);
    if (e.isDirectory()) out.push(...(await files(path)));
    else out.push(relative(root, path));
  }
  return out.sort();
}

/** @param {string} file */
const floor = (file) => FLOORS.findIndex((f) => f.some((x) => file === x || file.startsWith(x + "/")));

/** What may be used where. @type {[pattern: RegExp, allowed: RegExp, what: string][]} */
const ONLY_IN = [
  [/\b(?:fetch|XMLHttpRequest|EventSource|WebSocket|sendBeacon)\s*\(/g, /^(?:api|first)\.js$/, "only api.js may ask the server"],
  [/\.toFixed\(|\.toPrecision\(|\.toLocale\w*String\(|Intl\.(?:Number|DateTime)Format/g, /^lib\/format\.js$/, "only lib/format.js turns numbers into text"],
  [/\blocalStorage\b/g, /^lib\/prefs\.js$/, "preferences belong to lib/prefs.js"],
  [/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/gi, /^$/, "text from a log must not become markup or code"],
];

const sources = await files(root);
/** @type {Map<string, string>} */
const texts = new Map();
for (const file of sources) texts.set(file, await readFile(join(root, file), "utf8"));

for (const [file, text] of texts) {
  if (!file.endsWith(".svg") && !text.split("\n").slice(0, 2).join("\n").includes("SPDX-License-Identifier: Apache-2.0")) breach(file, text, 0, "no SPDX line");
  const script = /\.jsx?$/.test(file);
  if (script && floor(file) >= 0) {
    for (const m of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      let target = relative(root, join(root, dirname(file), m[1]));
      if (target === "types") target = "types.d.ts";
      if (floor(target) > floor(file)) breach(file, text, m.index ?? 0, `${target} is on a higher floor`);
      if (floor(target) < 0) breach(file, text, m.index ?? 0, `${target} is on no floor`);
    }
  }
  if (script) {
    for (const [pattern, allowed, what] of ONLY_IN) {
      if (allowed.test(file)) continue;
      for (const m of text.matchAll(pattern)) breach(file, text, m.index ?? 0, what);
    }
  }
  if ((script || file.endsWith(".css")) && file !== "styles/tokens.css") {
    const raw = new RegExp(
      `#[0-9a-f]{3,8}\\b(?=[;\\s"),])|\\b(?:rgb|hsl|oklch|lab|lch|color)a?\\(|(?:color|fill|stroke|background|border)["']?\\s*[:=]\\s*["']?(?:${NAMED_COLOURS})\\b`,
      "gi",
    );
    for (const m of text.matchAll(raw)) breach(file, text, m.index ?? 0, `raw colour ${m[0]}: colours live in styles/tokens.css`);
  }
  if (file === "index.html") {
    for (const m of text.matchAll(/<style|style="|\son\w+="|<script(?![^>]*\bsrc=)/g))
      breach(file, text, m.index ?? 0, "inline style or script: the content security policy forbids it");
    for (const m of text.matchAll(/(?:src|href)="(?:\/\/|https?:|\/(?!"))/g)) breach(file, text, m.index ?? 0, "addresses must be relative to <base>");
  }
}

// -- texts: the same keys in both languages, every key used, every literal key there
const { en } = await import(pathToFileURL(join(root, "i18n/en.js")).href);
const { zh } = await import(pathToFileURL(join(root, "i18n/zh.js")).href);
for (const folder of ["en", "zh"]) {
  /** @type {Map<string, string>} */
  const where = new Map();
  for (const file of sources.filter((f) => f.startsWith(`i18n/${folder}/`))) {
    const book = await import(pathToFileURL(join(root, file)).href);
    for (const key of Object.values(book).flatMap((x) => (typeof x === "object" ? Object.keys(x) : []))) {
      if (where.has(key)) breaches.push(`${file}: ${key} is in ${where.get(key)} too`);
      where.set(key, file);
    }
  }
}
for (const key of Object.keys(en)) if (!(key in zh)) breaches.push(`i18n/zh: no text for ${key}`);
for (const key of Object.keys(zh)) if (!(key in en)) breaches.push(`i18n/en: no text for ${key}`);
for (const key of Object.keys(en)) if (typeof en[key] !== typeof zh[key]) breaches.push(`i18n: ${key} is a text in one language and a function in the other`);
const families = new Set(),
  literals = new Set();
for (const [file, text] of texts) {
  if (!/\.jsx?$/.test(file) || file.startsWith("i18n/")) continue;
  for (const m of text.matchAll(/"([a-zA-Z][\w-]*(?:\.[\w-]+)+)"/g)) literals.add(m[1]);
  for (const m of text.matchAll(/`([a-zA-Z][\w.]*)\.\$\{/g)) families.add(m[1]);
  for (const m of text.matchAll(/\bwords?\("([^"]+)"/g)) families.add(m[1]);
  for (const m of text.matchAll(/<Chip of="([^"]+)"/g)) families.add(m[1]);
  for (const m of text.matchAll(/\btx?\(\s*"([^"]+)"/g)) if (!(m[1] in en)) breach(file, text, m.index ?? 0, `no text for ${m[1]}`);
}
for (const key of Object.keys(en)) {
  if (!literals.has(key) && ![...families].some((f) => key.startsWith(f + "."))) breaches.push(`i18n/en: nobody uses ${key}`);
}

// -- lock files must work with any registry
for (const lock of [join(root, "package-lock.json"), join(root, "../tests/web/package-lock.json")]) {
  const text = await readFile(lock, "utf8").catch(() => "");
  for (const m of text.matchAll(/"resolved": "http/g))
    breach(relative(root, lock), text, m.index ?? 0, "names a registry host; npm install --omit-lockfile-registry-resolved");
}

for (const b of breaches) console.error(b);
console.log(
  `${sources.length} files, ${Object.keys(en).length} texts in 2 languages: ${breaches.length ? `${breaches.length} breaches` : "the rules are kept"}`,
);
process.exitCode = breaches.length ? 1 : 0;
