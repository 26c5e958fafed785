/* SPDX-License-Identifier: Apache-2.0
 *
 * A bump allocator: many small things that die together. One per application for the model, one per line for a decoded event
 * (reset after each), one per HTTP request. Memory is never given back before arena_reset or arena_dispose; reset keeps the first block.
 * Made with a maximum in bytes, so that hostile input fails with NULL instead of eating the machine. Threads: one owner. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/attributes.h"
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks;   /* newest first */
    char *next;                   /* free space of the newest block */
    size_t left;
    size_t total_bytes;           /* allocated from the system */
    size_t max_bytes;
};

void arena_init(struct arena *self, size_t max_bytes);
void *arena_alloc(struct arena *self, size_t bytes) WARN_UNUSED;                     /* aligned to 16, not zeroed; NULL when full */
void *arena_zalloc(struct arena *self, size_t count, size_t each_bytes) WARN_UNUSED; /* zeroed */
char *arena_strndup(struct arena *self, const char *text, size_t len) WARN_UNUSED;   /* NUL-terminated */
int arena_str(struct arena *self, struct str text, struct str *ret) WARN_UNUSED;     /* copy; 0, or -1 when full */
char *arena_printf(struct arena *self, const char *fmt, ...) PRINTF_LIKE(2, 3) WARN_UNUSED;
size_t arena_bytes(const struct arena *self);
void arena_reset(struct arena *self);
void arena_dispose(struct arena *self);

#endif
