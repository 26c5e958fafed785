/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sort_packed.h"

#define INSERTION_COUNT 64 /* up to here an insertion sort is faster than counting bytes */
#define KEY_BYTES 4

static void insertion_sort(uint64_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1] >> 32 > item >> 32; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static size_t byte_of(uint64_t item, size_t byte)
{
    return item >> (32 + 8 * byte) & 0xff;
}

void sort_packed(uint64_t *items, size_t count, uint64_t *scratch)
{
    if (count <= INSERTION_COUNT) {
        insertion_sort(items, count);
        return;
    }
    size_t places[KEY_BYTES][256] = {{0}};
    for (size_t i = 0; i < count; i++)
        for (size_t byte = 0; byte < KEY_BYTES; byte++)
            places[byte][byte_of(items[i], byte)]++;
    uint64_t *from = items, *to = scratch;
    for (size_t byte = 0; byte < KEY_BYTES; byte++) {
        size_t *place = places[byte], before = 0;
        if (place[byte_of(from[0], byte)] == count)
            continue; /* all have the same */
        for (size_t value = 0; value < 256; value++) {
            size_t of_value = place[value];
            place[value] = before;
            before += of_value;
        }
        for (size_t i = 0; i < count; i++)
            to[place[byte_of(from[i], byte)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
