/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sort_items.h"

#include <string.h>

#define INSERTION_COUNT 64 /* up to here an insertion sort is faster than counting bytes */

static void insertion_sort(struct sort_item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sort_item item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Negative keys come first. */
static unsigned byte_of(int64_t key, unsigned shift)
{
    return (unsigned)(((uint64_t)key ^ (uint64_t)1 << 63) >> shift) & 0xff;
}

void sort_items(struct sort_item *items, size_t count, struct sort_item *scratch)
{
    if (count <= INSERTION_COUNT) {
        insertion_sort(items, count);
        return;
    }
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= (uint64_t)items[i].key ^ (uint64_t)items[0].key;
    struct sort_item *from = items, *to = scratch;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differing >> shift & 0xff))
            continue;
        size_t places[256] = {0}, before = 0;
        for (size_t i = 0; i < count; i++)
            places[byte_of(from[i].key, shift)]++;
        for (size_t byte = 0; byte < 256; byte++) {
            size_t of_byte = places[byte];
            places[byte] = before;
            before += of_byte;
        }
        for (size_t i = 0; i < count; i++)
            to[places[byte_of(from[i].key, shift)]++] = from[i];
        struct sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
