/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of the web front end: from the binary (made by tools/embed_assets.mjs from web/dist at build time), or from a directory while developing. */
#ifndef SERVER_ASSETS_H
#define SERVER_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

#include "server/request.h"
#include "server/response.h"

struct asset {
    const char *path;                /* "index.html", "assets/app-3KQ2VZ7B.js"; NULL ends the table */
    const char *type;                /* media type */
    const char *tag;                 /* hash of the content, hex */
    bool hashed_name;                /* the name changes with the content: may be kept for ever */
    const unsigned char *bytes;
    size_t len;
    const unsigned char *gzip;       /* NULL: would not be smaller */
    size_t gzip_len;
};

/* Generated; empty when built without the web part. */
extern const struct asset assets_table[];

/* The whole of a file, for /<path>. False, with nothing answered: there is none. dir NULL: from the binary. */
bool assets_respond(const char *dir, struct str path, struct response *response, struct arena *arena);

/* The page: index.html with <base href="/"> made to hold the proxy's prefix, and `head` (page_head.h) (empty: none) in the place of its title. Without pages in this binary it says so. */
void assets_respond_page(const char *dir, const struct request *request, struct str head, struct response *response);

#endif
