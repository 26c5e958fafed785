// SPDX-License-Identifier: Apache-2.0
/**
 * Builds dist/: index.html and assets/ with a hash of the content in each name, so that the server may let them be cached for ever.
 * A view, and a language, is a file of its own that is fetched when it is first wanted (import() in routes.js and lib/i18n.js). `--watch` builds again on every change.
 */
import { build, context } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
/** Limits of design.md section 9 for what one page loads: its frame, the largest view, one language. The build fails above them. */
const SCRIPT_LIMIT_BYTES = 120_000;
const STYLE_LIMIT_BYTES = 12_000;

/**
 * Every view imports the frame, which it is never without: so what the frame and views share is one file with the frame, not one for each set of views that shares it. A file more costs a fresh page
 * 2 ms, of whatever size. @type {import("esbuild").Plugin}
 */
const frameInOne = {
  name: "frame in one file",
  setup: (b) =>
    b.onLoad({ filter: /\/views\/[^/]*\.jsx$/ }, async ({ path }) => ({ contents: `${await readFile(path, "utf8")}\nimport "../app.jsx";\n`, loader: "jsx" })),
};

/** @type {import("esbuild").BuildOptions} */
const options = {
  absWorkingDir: root,
  entryPoints: { app: "app.jsx", style: "styles/app.css" },
  chunkNames: "[name].[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome109", "firefox109", "safari16"],
  minify: true,
  sourcemap: false,
  metafile: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  outdir: join(dist, "assets"),
  plugins: [frameInOne],
  write: false,
  logLevel: "warning",
};

/** What runs before the page's own modules: a classic script, so that it runs at once, with all that it imports in it. @type {import("esbuild").BuildOptions} */
const firstOptions = { ...options, entryPoints: { first: "first.js" }, splitting: false, format: "iife" };

/** @param {string} name @param {Uint8Array} content */
const hashed = (name, content) => name.replace(/(\.\w+)$/, `.${createHash("sha256").update(content).digest("hex").slice(0, 10)}$1`);

/** @typedef {Map<string, import("esbuild").Metafile["outputs"][string]>} Outputs by file name */

/** A file and what it cannot do without. @param {Outputs} outputs @param {string} file @param {Set<string>} [seen] @returns {Set<string>} */
function needs(outputs, file, seen = new Set()) {
  if (!seen.has(file)) {
    seen.add(file);
    for (const i of outputs.get(file)?.imports ?? []) if (i.kind === "import-statement") needs(outputs, relative("dist/assets", i.path), seen);
  }
  return seen;
}

/** What a page loads at most. @param {Outputs} outputs @param {Map<string, number>} zipped sizes by file name */
function heaviestPage(outputs, zipped) {
  /** @param {Set<string>} files */
  const weigh = (files) => [...files].reduce((sum, f) => sum + (zipped.get(f) ?? 0), 0);
  const later = (/** @type {RegExp} */ of) => [...outputs].filter(([, o]) => of.test(o.entryPoint ?? "")).map(([file]) => file);
  const frame = new Set([...needs(outputs, "app.js"), "first.js"]);
  const language = Math.max(0, ...later(/^i18n\//).map((f) => weigh(needs(outputs, f))));
  const [view, weight] = later(/^views\//)
    .map((f) => /** @type {[string, number]} */ ([f, weigh(new Set([...frame, ...needs(outputs, f)]))]))
    .reduce((a, b) => (b[1] > a[1] ? b : a), ["none", weigh(frame)]);
  return { view, bytes: weight + language };
}

/** @param {import("esbuild").BuildResult} result */
async function write(result) {
  await rm(dist, { recursive: true, force: true });
  await mkdir(join(dist, "assets"), { recursive: true });
  let html = await readFile(join(root, "index.html"), "utf8");
  const first = await build(firstOptions);
  const files = [...(result.outputFiles ?? []), ...(first.outputFiles ?? [])].map((f) => ({ name: relative(join(dist, "assets"), f.path).replace("style.css", "app.css"), content: f.contents }));
  files.push({ name: "icon.svg", content: await readFile(join(root, "styles/icon.svg")) });
  /** @type {Map<string, number>} */
  const zipped = new Map();
  for (const { name, content } of files) {
    zipped.set(name, gzipSync(content, { level: 9 }).length);
    const entry = html.includes(`assets/${name}`);
    const target = entry ? hashed(name, content) : name;
    html = html.replace(`assets/${name}`, `assets/${target}`);
    await writeFile(join(dist, "assets", target), content);
    console.log(`${target.padEnd(30)} ${String(content.length).padStart(8)} bytes ${String(zipped.get(name)).padStart(7)} gzip`);
  }
  const outputs = new Map(Object.entries(/** @type {import("esbuild").Metafile} */ (result.metafile).outputs).map(([path, o]) => [relative("dist/assets", path), o]));
  // The frame in one round trip instead of one for each step of its imports, with what the texts of every language import; the texts themselves first.js fetches.
  const languages = ["en", "zh"].map((name) => ({ name, file: [...outputs].find(([, o]) => o.entryPoint === `i18n/${name}.js`)?.[0] ?? "" }));
  const preloads = new Set([...needs(outputs, "app.js"), ...languages.flatMap(({ file }) => [...needs(outputs, file)])]);
  for (const { file } of languages) preloads.delete(file);
  preloads.delete("app.js");
  html = html.replace("</head>", `${[...preloads].map((f) => `  <link rel="modulepreload" href="assets/${f}">\n`).join("")}</head>`);
  html = html.replace(/(<script src="assets\/first\.[^"]+")/, `$1${languages.map(({ name, file }) => ` data-${name}="assets/${file}"`).join("")}`);
  for (const m of html.matchAll(/"assets\/(\w+\.\w+)"/g)) throw new Error(`index.html names assets/${m[1]}, which is not built`);
  await writeFile(join(dist, "index.html"), html);
  const page = heaviestPage(outputs, zipped);
  const style = zipped.get("app.css") ?? 0;
  const said = `script of the heaviest page (${page.view}) ${page.bytes} of ${SCRIPT_LIMIT_BYTES}, style ${style} of ${STYLE_LIMIT_BYTES} bytes gzip`;
  console.log(said);
  if (page.bytes > SCRIPT_LIMIT_BYTES || style > STYLE_LIMIT_BYTES) throw new Error(`over the budget: ${said}`);
}

if (process.argv.includes("--watch")) {
  const ctx = await context({ ...options, plugins: [frameInOne, { name: "write", setup: (b) => b.onEnd((r) => (r.errors.length ? undefined : write(r))) }] });
  await ctx.watch();
} else {
  await write(await build(options));
}
