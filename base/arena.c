/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define ALIGN_BYTES ((size_t)16)
#define FIRST_BLOCK_BYTES ((size_t)4096)        /* a request that stores nothing much costs one page */
#define LARGEST_STEP_BYTES ((size_t)1 << 20)    /* blocks double up to here; larger items get a block of their own */

struct arena_block {
    struct arena_block *older;
    size_t size;
    _Alignas(16) char data[];
};

void arena_init(struct arena *self, size_t max_bytes)
{
    memset(self, 0, sizeof *self);
    self->max_bytes = max_bytes;
}

static int add_block(struct arena *self, size_t at_least)
{
    size_t size = self->blocks ? self->blocks->size * 2 : FIRST_BLOCK_BYTES;
    if (size > LARGEST_STEP_BYTES)
        size = LARGEST_STEP_BYTES;
    if (size < at_least)
        size = at_least;
    if (size > self->max_bytes - MIN(self->max_bytes, self->total_bytes))
        return -1;
    struct arena_block *block = mem_alloc(sizeof *block + size);
    if (!block)
        return -1;
    block->older = self->blocks;
    block->size = size;
    self->blocks = block;
    self->next = block->data;
    self->left = size;
    self->total_bytes += size;
    return 0;
}

void *arena_alloc(struct arena *self, size_t bytes)
{
    if (bytes > SIZE_MAX - ALIGN_BYTES)
        return NULL;
    size_t rounded = (bytes + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
    if (rounded == 0)
        rounded = ALIGN_BYTES;
    if (rounded > self->left && add_block(self, rounded))
        return NULL;
    void *p = self->next;
    self->next += rounded;
    self->left -= rounded;
    return p;
}

void *arena_zalloc(struct arena *self, size_t count, size_t each_bytes)
{
    if (each_bytes && count > SIZE_MAX / each_bytes)
        return NULL;
    void *p = arena_alloc(self, count * each_bytes);
    if (p)
        memset(p, 0, count * each_bytes);
    return p;
}

char *arena_strndup(struct arena *self, const char *text, size_t len)
{
    char *copy = arena_alloc(self, len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

int arena_str(struct arena *self, struct str text, struct str *ret)
{
    if (!text.ptr) {
        *ret = text;
        return 0;
    }
    char *copy = arena_strndup(self, text.ptr, text.len);
    if (!copy)
        return -1;
    *ret = (struct str){copy, text.len};
    return 0;
}

char *arena_printf(struct arena *self, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *out = len < 0 ? NULL : arena_alloc(self, (size_t)len + 1);
    if (out)
        vsnprintf(out, (size_t)len + 1, fmt, again);
    va_end(again);
    return out;
}

size_t arena_bytes(const struct arena *self)
{
    return self->total_bytes;
}

void arena_reset(struct arena *self)
{
    struct arena_block *block = self->blocks;
    if (!block)
        return;
    while (block->older) {
        struct arena_block *older = block->older;
        self->total_bytes -= block->size;
        mem_free(block);
        block = older;
    }
    self->blocks = block;
    self->next = block->data;
    self->left = block->size;
}

void arena_dispose(struct arena *self)
{
    if (!self)
        return;
    struct arena_block *block = self->blocks;
    while (block) {
        struct arena_block *older = block->older;
        mem_free(block);
        block = older;
    }
    arena_init(self, self->max_bytes);
}
