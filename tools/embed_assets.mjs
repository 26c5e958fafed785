// SPDX-License-Identifier: Apache-2.0
// Turns a directory of built pages into the C table of server/assets.h: every file, and a gzip twin where that is smaller.   node embed_assets.mjs DIST OUTPUT.c
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const TYPES = {
  html: "text/html;charset=utf-8",
  js: "text/javascript;charset=utf-8",
  css: "text/css;charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  json: "application/json",
  map: "application/json",
  txt: "text/plain;charset=utf-8",
  webmanifest: "application/manifest+json",
};

// esbuild's [name]-[hash]: eight or more letters and digits before the extension.
const HASHED = /[-.][A-Za-z0-9]{8,}\.[a-z0-9.]+$/;

function* walk(dir, prefix = "") {
  for (const name of readdirSync(dir).sort()) {
    if (statSync(join(dir, name)).isDirectory()) yield* walk(join(dir, name), `${prefix}${name}/`);
    else yield `${prefix}${name}`;
  }
}

const array = (name, bytes) => {
  const lines = [];
  for (let i = 0; i < bytes.length; i += 32) lines.push([...bytes.subarray(i, i + 32)].join(","));
  return `static const unsigned char ${name}[] = {\n${lines.join(",\n")}\n};\n`;
};

const [dist, output] = process.argv.slice(2);
const arrays = [];
const rows = [];
for (const path of walk(dist)) {
  if (!/^[A-Za-z0-9_./-]+$/.test(path)) throw new Error(`a file name that no address can hold: ${path}`);
  const bytes = readFileSync(join(dist, path));
  if (!bytes.length) continue;
  const extension = path.slice(path.lastIndexOf(".") + 1);
  const packed = gzipSync(bytes, { level: 9 });
  packed[9] = 255; // the head's operating system: the same on every machine
  const small = TYPES[extension] && packed.length < bytes.length * 0.95;
  const n = rows.length;
  arrays.push(array(`plain_${n}`, bytes));
  if (small) arrays.push(array(`gzip_${n}`, packed));
  const tag = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  rows.push(
    `    {"${path}", "${TYPES[extension] ?? "application/octet-stream"}", "${tag}", ${HASHED.test(path)}, plain_${n}, sizeof plain_${n}, ` +
      `${small ? `gzip_${n}, sizeof gzip_${n}` : "NULL, 0"}},`,
  );
}
if (!rows.some((row) => row.includes('"index.html"'))) throw new Error(`no index.html in ${dist}`);
writeFileSync(
  output,
  `/* Made from the built pages by tools/embed_assets.mjs. */\n#include "server/assets.h"\n\n${arrays.join("\n")}\nconst struct asset assets_table[] = {\n${rows.join("\n")}\n    {0},\n};\n`,
);
