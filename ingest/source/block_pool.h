/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the reader's blocks, used again: a fresh megabyte from the system costs a page fault every 4 KiB, a third of the time it takes to fill it with decoded text.
 * The pool lives as long as its owner or any of its blocks. Blocks may be given back from any thread; the rest is the owner's. */
#ifndef SOURCE_BLOCK_POOL_H
#define SOURCE_BLOCK_POOL_H

#include "ingest/source/line_reader.h"

#define POOL_SLACK (LINE_PADDING + 1)   /* behind the text: a line feed that ends a broken line, and the padding */
#define POOL_KEEP 4            /* blocks kept for use again: one being filled, one on its way, one being read, one spare */

struct block_pool;

struct pooled_block {
    struct line_block block;   /* first: line_block_free gets its address */
    struct block_pool *pool;
    struct pooled_block *next;
    char *base;                /* owned; block.text points into it */
    size_t capacity;           /* of base, without POOL_SLACK */
    uint32_t *line_feeds;      /* owned; room for block_pool_line_feeds of them */
};

size_t block_pool_line_feeds(const struct pooled_block *block);

struct block_pool *block_pool_new(size_t block_bytes);                                   /* NULL: out of memory */
struct pooled_block *block_pool_take(struct block_pool *self, size_t bytes);             /* room for at least `bytes`; NULL: out of memory */
int block_pool_grow(struct pooled_block *block, size_t bytes) WARN_UNUSED;               /* 0, or -1 out of memory and unchanged */
void block_pool_give(struct pooled_block *block);                                        /* NULL is fine */
void block_pool_trim(struct block_pool *self);                                           /* gives kept memory back */
void block_pool_free(struct block_pool *self);                                           /* blocks that are out stay valid; NULL is fine */

#endif
