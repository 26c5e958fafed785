/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers about loaded runs, and lists of runs, as they were sent, compressed or not, so that what many people look at is made once. The key is the answer's ETag with the address
 * and the coding: what changes the tag (app_lookup.h, list_tag.h) makes another key, so that nothing in here has to be taken back. At most ANSWER_CACHE_BYTES; what was not asked for longest goes first.
 * An answer may name other runs (attempts): only those made for viewers who see everything are kept, and only they get them (access.h). Threads: safe. */
#ifndef SERVER_ANSWER_CACHE_H
#define SERVER_ANSWER_CACHE_H

#include "server/request.h"
#include "server/response_body.h"

#define ANSWER_CACHE_BYTES ((size_t)16 << 20)        /* an eighth of the server's memory budget: some thousand answers */
#define ANSWER_CACHE_LARGEST ((size_t)256 << 10)     /* a larger answer would push out too many others, and is rare */

struct answer_cache;

enum err_code answer_cache_new(struct answer_cache **ret, struct err *err) WARN_UNUSED;

/* True: the answer to this request under this tag was here, and the response has it as its body. */
bool answer_cache_recall(struct answer_cache *self, const struct request *request, const char *etag, struct response *response);

/* Gives the response its tag ("": none). True: there is nothing to make, the client has this very answer or it was here. */
bool answer_cache_tag(struct answer_cache *self, const struct request *request, const char *etag, struct response *response);

/* Keeps a copy of a finished answer, if it is one to keep: JSON, status 200, with a tag, in memory. Without memory for it nothing happens. */
void answer_cache_keep(struct answer_cache *self, const struct request *request, const struct response_parts *parts);
struct answer_cache_usage {
    int64_t answer_count, bytes, hit_count, miss_count;      /* the latter two: asked for, since the start */
};
void answer_cache_usage(struct answer_cache *self, struct answer_cache_usage *ret);

void answer_cache_free(struct answer_cache *self);   /* NULL is fine */

#endif
