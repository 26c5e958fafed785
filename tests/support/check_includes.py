#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the includes and imports to the floors of the program: an include points to the same floor or one below it, foreign headers have one home each.

C: an `#include "…"` is written from the repository root and points to a folder that BELOW allows. `#include <…>` of a library in HOMES stands in its home only.
Web: an import points to the same floor or a lower one (lib, model, components, views, then the files beside app.js); only api.js calls fetch, and first.js, which asks before it is there.
"""
import fnmatch
import posixpath
import re

import tree

# Folder: what it may include besides itself. Ingest, analysis and server share base/, place/ and schema.sql, nothing else, but for the judgements that the end of a load and the server ask
# analysis for.
INGEST = ["ingest/source", "ingest/event", "ingest/model", "ingest/store", "ingest"]
BELOW = {
    "base": [],
    "place": ["base"],
    **{floor: ["base", "place"] + INGEST[:i] for i, floor in enumerate(INGEST)},
    "analysis": ["base"],
    "ingest": ["base", "place", "analysis"] + INGEST[:-1],
    "server": ["base", "place", "analysis"],
    "cli": ["base", "place", "analysis", "server"] + INGEST,
}

# Header: the files that may include it.
HOMES = {
    "sqlite3.h": ["base/db.h"],
    "microhttpd.h": ["server/http_parts.h"],
    "gnutls/abstract.h": ["server/tls.h"],
    "gnutls/x509.h": ["server/tls.c"],
    "gnutls/pkcs12.h": ["server/tls.c"],
    "crypt.h": ["server/login.c"],
    "cjson/cJSON.h": [],
    "zstd.h": ["ingest/source/codec_zstd.c", "base/packed_text.c"],
    "lz4.h": ["ingest/source/codec_lz4*.c"],
    "xxhash.h": ["ingest/source/codec_lz4*.c", "ingest/listing.c", "analysis/fingerprint.c"],
    "snappy-c.h": ["ingest/source/codec_snappy.c"],
    "lzf.h": ["ingest/source/codec_lzf.c"],
    "libdeflate.h": ["server/response.c"],
    "zlib.h": ["ingest/source/codec_gzip.c", "server/response.c", "server/zip_writer.c"],
    "archive.h": ["ingest/source/*zip*.c"],
    "archive_entry.h": ["ingest/source/*zip*.c"],
    "curl/curl.h": ["place/fetch.c"],
    "gnutls/crypto.h": ["place/sigv4.c", "server/keyed_hash.c"],
}

WEB_FLOORS = ["lib", "model", "components", "views"]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']*)["']""")


def floor_of(path):
    """The floor a C file belongs to: server/api is the server's, ingest/source a floor of its own."""
    folder = posixpath.dirname(str(path))
    while folder and folder not in BELOW:
        folder = posixpath.dirname(folder)
    return folder


def check_c(path, complaints):
    mine = floor_of(path)
    for kind, header in INCLUDE.findall(tree.text(path)):
        if kind == "<":
            homes = HOMES.get(header)
            if homes and mine and not any(fnmatch.fnmatch(str(path), home) for home in homes):
                complaints.append(f"{path}: <{header}> belongs to {' or '.join(homes)}")
            continue
        if str(path).startswith("tests/") and (tree.ROOT / path.parent / header).is_file():
            continue  # what the tests of one folder share
        if not (tree.ROOT / header).is_file():
            complaints.append(f'{path}: "{header}" is no file from the top of the tree')
            continue
        theirs = floor_of(header)
        if mine and theirs != mine and theirs not in BELOW[mine]:
            complaints.append(f'{path}: "{header}" points up: {mine} may include {", ".join([mine] + BELOW[mine])}')


def web_floor(path):
    parts = path.split("/")
    return WEB_FLOORS.index(parts[1]) if len(parts) > 2 and parts[1] in WEB_FLOORS else len(WEB_FLOORS)


def check_web(path, complaints):
    source = tree.text(path)
    for target in IMPORT.findall(source):
        to = posixpath.normpath(posixpath.join(posixpath.dirname(str(path)), target))
        # Types are for the checker alone; words are data.
        if to in ("web/types", "web/types.d.ts") or to.startswith("web/i18n/"):
            continue
        # What stands beside app.jsx (api.js, routes.js) is for components and views.
        beside = posixpath.dirname(to) == "web" and posixpath.basename(to) != "app.jsx" and web_floor(str(path)) >= WEB_FLOORS.index("components")
        if web_floor(to) > web_floor(str(path)) and not beside:
            complaints.append(f"{path}: imports {to}, which is on a higher floor")
    if posixpath.basename(str(path)) not in ("api.js", "first.js") and re.search(r"(?<![\w.])(?:window\.)?fetch\s*\(", source):
        complaints.append(f"{path}: only api.js calls fetch")


def main():
    complaints, checked = [], 0
    for path in tree.files():
        name = str(path)
        if path.suffix in (".c", ".h"):
            checked += 1
            check_c(path, complaints)
        elif name.startswith("web/") and path.suffix in (".js", ".jsx") and not re.search(r"\.test\.|^web/(?:tests?|build|scripts)/|\.config\.|^web/build", name):
            checked += 1
            check_web(path, complaints)
    tree.finish(checked, complaints)


main()
