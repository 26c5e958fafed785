/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/text_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_TEXTS ((size_t)1 << 24)
#define MAX_BYTES ((size_t)1 << 30)  /* of all texts together: offsets have 32 bits */

void text_set_init(struct text_set *self)
{
    *self = (struct text_set){0};
    smap_init(&self->ids, MAX_TEXTS, MAX_BYTES);
    buf_init(&self->folded, MAX_BYTES);
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static struct str text_of(const struct text_set *self, uint32_t id)
{
    return self->ids.entries[id - 1].key;
}

struct str text_set_text(const struct text_set *self, uint32_t id)
{
    return id ? text_of(self, id) : STR_NONE;
}

uint32_t text_set_find(const struct text_set *self, struct str text)
{
    return str_known(text) ? (uint32_t)(uintptr_t)smap_get(&self->ids, text) : 0;
}

int text_set_add(struct text_set *self, struct str text, uint32_t *ret_id)
{
    *ret_id = text_set_find(self, text);
    if (*ret_id || !str_known(text))
        return 0;
    size_t id = self->ids.count + 1, begin = self->folded.len;
    if (!buf_reserve(&self->folded, text.len + 1) || mem_grow((void **)&self->begin, &self->begin_capacity, id, MAX_TEXTS, sizeof *self->begin) ||
        smap_put(&self->ids, text, (void *)(uintptr_t)id))
        return -1;
    self->begin[id - 1] = (uint32_t)begin;
    for (size_t i = 0; i < text.len; i++)
        self->folded.data[begin + i] = fold(text.ptr[i]);
    self->folded.data[begin + text.len] = '\0';
    self->folded.len = begin + text.len + 1;
    *ret_id = (uint32_t)id;
    return 0;
}

/* The new texts in order, then merged from behind with those that are in order already. */
int text_set_rank(struct text_set *self)
{
    size_t count = self->ids.count, old = self->ranked_count, fresh = count - old;
    CLEANUP(mem_freep) uint32_t *scratch = NULL;
    if (mem_grow((void **)&self->order, &self->order_capacity, count, MAX_TEXTS, sizeof *self->order) ||
        mem_grow((void **)&self->rank, &self->rank_capacity, count + 1, MAX_TEXTS + 1, sizeof *self->rank) || (fresh && !(scratch = mem_array(2 * fresh, sizeof *scratch))))
        return -1;
    self->rank[0] = 0;
    if (!fresh)
        return 0;
    uint32_t *from = scratch, *to = scratch + fresh;
    for (size_t i = 0; i < fresh; i++)
        from[i] = (uint32_t)(old + i + 1);
    for (size_t width = 1; width < fresh; width *= 2) {
        for (size_t at = 0; at < fresh; at += 2 * width) {
            size_t a = at, middle = MIN(at + width, fresh), b = middle, end = MIN(at + 2 * width, fresh);
            for (size_t out = at; out < end; out++)
                to[out] = b == end || (a < middle && str_compare(text_of(self, from[a]), text_of(self, from[b])) <= 0) ? from[a++] : from[b++];
        }
        uint32_t *kept = from;
        from = to;
        to = kept;
    }
    for (size_t out = count, a = old, b = fresh; b; out--)
        self->order[out - 1] = a && str_compare(text_of(self, self->order[a - 1]), text_of(self, from[b - 1])) > 0 ? self->order[--a] : from[--b];
    for (size_t i = 0; i < count; i++)
        self->rank[self->order[i]] = (uint32_t)i + 1;
    self->ranked_count = count;
    return 0;
}

int text_set_search(const struct text_set *self, struct str part, uint8_t *ret_found)
{
    size_t count = self->ids.count;
    memset(ret_found, 0, count + 1);
    CLEANUP(mem_freep) char *needle = mem_strndup(part.ptr, part.len);
    if (!needle)
        return -1;
    for (size_t i = 0; i < part.len; i++)
        needle[i] = fold(needle[i]);
    size_t id = 1;
    for (size_t at = 0; at < self->folded.len;) {
        const char *hit = memmem(self->folded.data + at, self->folded.len - at, needle, part.len);
        if (!hit)
            break;
        size_t offset = (size_t)(hit - self->folded.data);
        while (id < count && self->begin[id] <= offset)
            id++;
        /* Within the one text: what was asked for may hold a NUL itself. */
        at = id < count ? self->begin[id] : self->folded.len;
        ret_found[id] = offset + part.len < at;
    }
    return 0;
}

size_t text_set_count(const struct text_set *self)
{
    return self->ids.count;
}

void text_set_dispose(struct text_set *self)
{
    smap_dispose(&self->ids);
    buf_dispose(&self->folded);
    mem_free(self->begin);
    mem_free(self->order);
    mem_free(self->rank);
    text_set_init(self);
}
