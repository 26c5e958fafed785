/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/bit_set.h"

#include <string.h>

#include "base/mem.h"

#define PAGE_IDS 128                         /* ids of a page; four bits each make 64 bytes, a cache line */
#define MAX_PAGES ((size_t)1 << 24)          /* 2 G task ids */

int bit_set_add(struct bit_set *self, int64_t value)
{
    if (value < 0 || value >= BIT_SET_MAX)
        return 0;
    size_t word = (size_t)value / 64;
    if (word >= self->capacity) {
        size_t old = self->capacity;
        if (mem_grow((void **)&self->words, &self->capacity, word + 1, (size_t)BIT_SET_MAX / 64, sizeof *self->words))
            return -1;
        memset(self->words + old, 0, (self->capacity - old) * sizeof *self->words);
    }
    uint64_t bit = (uint64_t)1 << (value % 64);
    if (self->words[word] & bit)
        return 0;
    self->words[word] |= bit;
    return 1;
}

bool bit_set_has(const struct bit_set *self, int64_t value)
{
    return value >= 0 && (size_t)value / 64 < self->capacity && (self->words[value / 64] >> (value % 64) & 1);
}

void bit_set_dispose(struct bit_set *self)
{
    mem_free(self->words);
    *self = (struct bit_set){0};
}

static int64_t page_of(int64_t id)
{
    return id >> 7;
}

int id_flags_add(struct id_flags *self, int64_t id, unsigned flags, unsigned *ret_before)
{
    if (!self->pages.max_count)
        imap_init(&self->pages, MAX_PAGES);
    unsigned char *page = imap_get(&self->pages, page_of(id));
    if (!page) {
        page = mem_zalloc(PAGE_IDS / 2);
        if (!page)
            return -1;
        if (imap_put(&self->pages, page_of(id), page)) {
            mem_free(page);
            return -1;
        }
    }
    unsigned at = (unsigned)(id & (PAGE_IDS - 1)), shift = at % 2 * 4;
    *ret_before = (unsigned)page[at / 2] >> shift & 15u;
    page[at / 2] = (unsigned char)(page[at / 2] | flags << shift);
    return 0;
}

void id_flags_dispose(struct id_flags *self)
{
    for (size_t i = 0; i < self->pages.count; i++)
        mem_free(self->pages.entries[i].value);
    imap_dispose(&self->pages);
}
