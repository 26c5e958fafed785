/* SPDX-License-Identifier: Apache-2.0
 *
 * What the store takes on the disk: its catalogue, the databases of all runs, and the largest of them. Looked up file by file, so not for everybody who asks: what was found holds for
 * a second, or a hundred times as long as the look took. Threads: safe; one looks, the others get
 * what was found before. */
#ifndef SERVER_STORE_USAGE_H
#define SERVER_STORE_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define STORE_USAGE_LARGEST 20
#define STORE_USAGE_ASIDE 20
#define STORE_USAGE_KEEP_MS 1000
#define STORE_USAGE_KEEP_TIMES 100   /* a hundredth of a processor at most */
#define STORE_USAGE_KEY_BYTES 256

struct store_usage {
    int64_t measured_ms;             /* epoch */
    int64_t catalog_bytes;           /* catalog.db and what belongs to it */
    int64_t run_count, run_bytes;    /* files below apps/: databases, and all with what belongs to them */
    int64_t free_bytes;              /* of that file system, for us; UNKNOWN */
    struct {
        char key[STORE_USAGE_KEY_BYTES];
        int64_t bytes;               /* of its database alone */
    } largest[STORE_USAGE_LARGEST];
    size_t largest_count;
    /* What ingest set aside because it was damaged or of another version: damaged/ and catalog.db.old-*. Kept until somebody deletes it. */
    int64_t aside_count, aside_bytes;
    char aside[STORE_USAGE_ASIDE][STORE_USAGE_KEY_BYTES]; /* names below the store of some of them */
};

struct store_usage_watch;

enum err_code store_usage_new(struct store_usage_watch **ret, const char *store_dir, struct err *err) WARN_UNUSED;   /* store_dir is borrowed */
void store_usage_free(struct store_usage_watch *self); /* NULL is fine */
void store_usage_get(struct store_usage_watch *self, struct store_usage *ret);

#endif
