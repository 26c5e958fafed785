// SPDX-License-Identifier: Apache-2.0
/**
 * Builds dist/: index.html and assets/ with a hash of the content in each name, so that the server may let them be cached for ever.
 * The names in index.html are written without hash; the build replaces them. `--watch` builds again on every change.
 */
import { build, context } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
/** Limits of design.md section 9; the build fails above them. */
const SCRIPT_LIMIT_BYTES = 120_000;
const STYLE_LIMIT_BYTES = 12_000;

/** @type {import("esbuild").BuildOptions} */
const options = {
  absWorkingDir: root,
  entryPoints: { app: "app.jsx", theme: "theme.js", style: "styles/app.css" },
  bundle: true,
  format: "esm",
  target: ["es2022", "chrome109", "firefox109", "safari16"],
  minify: true,
  sourcemap: false,
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  outdir: dist,
  write: false,
  logLevel: "warning",
};

/** @param {string} name @param {Uint8Array} content */
const hashed = (name, content) => name.replace(/(\.\w+)$/, `.${createHash("sha256").update(content).digest("hex").slice(0, 10)}$1`);

/** @param {import("esbuild").BuildResult} result */
async function write(result) {
  await rm(dist, { recursive: true, force: true });
  await mkdir(join(dist, "assets"), { recursive: true });
  let html = await readFile(join(root, "index.html"), "utf8");
  const files = (result.outputFiles ?? []).map((f) => ({
    name: f.path.endsWith("style.css") ? "app.css" : f.path.slice(dist.length + 1),
    content: f.contents,
  }));
  files.push({ name: "icon.svg", content: await readFile(join(root, "styles/icon.svg")) });
  let script = 0,
    style = 0;
  for (const { name, content } of files) {
    const zipped = gzipSync(content, { level: 9 }).length;
    if (name.endsWith(".js")) script += zipped;
    if (name.endsWith(".css")) style += zipped;
    const target = hashed(name, content);
    if (!html.includes(`assets/${name}`)) throw new Error(`index.html does not name assets/${name}`);
    html = html.replace(`assets/${name}`, `assets/${target}`);
    await writeFile(join(dist, "assets", target), content);
    console.log(`${target.padEnd(26)} ${String(content.length).padStart(8)} bytes ${String(zipped).padStart(7)} gzip`);
  }
  await writeFile(join(dist, "index.html"), html);
  if (script > SCRIPT_LIMIT_BYTES || style > STYLE_LIMIT_BYTES) {
    throw new Error(`over the budget: script ${script} of ${SCRIPT_LIMIT_BYTES}, style ${style} of ${STYLE_LIMIT_BYTES} bytes gzip`);
  }
}

if (process.argv.includes("--watch")) {
  const ctx = await context({ ...options, plugins: [{ name: "write", setup: (b) => b.onEnd((r) => (r.errors.length ? undefined : write(r))) }] });
  await ctx.watch();
} else {
  await write(await build(options));
}
