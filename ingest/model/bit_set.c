/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/bit_set.h"

#include "base/mem.h"

#define SET_PAGE_WORDS 8                     /* 512 values, a cache line */
#define SET_PAGE_BITS 9
#define PAGE_IDS 128                         /* ids of a page; four bits each make 64 bytes, a cache line */
#define MAX_PAGES ((size_t)1 << 24)          /* 2 G task ids */

int bit_set_add(struct bit_set *self, int64_t value)
{
    if (value < 0 || value >= BIT_SET_MAX)
        return 0;
    if (!self->pages.max_count)
        imap_init(&self->pages, (size_t)BIT_SET_MAX >> SET_PAGE_BITS);
    uint64_t *page = imap_get(&self->pages, value >> SET_PAGE_BITS);
    if (!page) {
        page = mem_zalloc(SET_PAGE_WORDS * sizeof *page);
        if (!page)
            return -1;
        if (imap_put(&self->pages, value >> SET_PAGE_BITS, page)) {
            mem_free(page);
            return -1;
        }
    }
    uint64_t bit = (uint64_t)1 << (value % 64);
    uint64_t *word = page + value / 64 % SET_PAGE_WORDS;
    if (*word & bit)
        return 0;
    *word |= bit;
    return 1;
}

bool bit_set_has(const struct bit_set *self, int64_t value)
{
    const uint64_t *page = imap_get(&self->pages, value >> SET_PAGE_BITS);
    return page && (page[value / 64 % SET_PAGE_WORDS] >> (value % 64) & 1);
}

int64_t bit_set_add_all(struct bit_set *self, const struct bit_set *from)
{
    int64_t added = 0;
    for (size_t i = 0; i < from->pages.count; i++)
        for (int64_t value = from->pages.entries[i].key << SET_PAGE_BITS, end = value + (1 << SET_PAGE_BITS); value < end; value++) {
            int one = bit_set_has(from, value) ? bit_set_add(self, value) : 0;
            if (one < 0)
                return -1;
            added += one;
        }
    return added;
}

void bit_set_dispose(struct bit_set *self)
{
    for (size_t i = 0; i < self->pages.count; i++)
        mem_free(self->pages.entries[i].value);
    imap_dispose(&self->pages);
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
