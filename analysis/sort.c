/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sort.h"

#include <stdbool.h>
#include <string.h>

#define RUN ((size_t)16) /* sorted by insertion before the first merge */

static inline bool item_before(const struct sort_item *a, const struct sort_item *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->tie != b->tie)
        return a->tie < b->tie;
    return a->position < b->position;
}

static inline bool time_before(const int64_t *a, const int64_t *b)
{
    return *a < *b;
}

static inline bool key_before(const uint64_t *a, const uint64_t *b)
{
    return *a < *b;
}

/* How many items before the border `middle` belong behind the item there, and how many behind it before the item in front of it: looked for in growing steps, for they are few. */
#define DEFINE_SORT(sort, type, before)                                                                         \
    static void sort##_merge(type *a, size_t middle, size_t count, type *scratch)                               \
    {                                                                                                           \
        if (!before(&a[middle], &a[middle - 1]))                                                                \
            return;                                                                                             \
        size_t step = 1, first = middle - 1, last = middle + 1;                                                 \
        while (first && before(&a[middle], &a[first - 1])) {                                                    \
            size_t to = first > step ? first - step : 0;                                                        \
            if (before(&a[middle], &a[to])) {                                                                   \
                first = to;                                                                                     \
                step *= 2;                                                                                      \
            } else {                                                                                            \
                first--;                                                                                        \
                step = 1;                                                                                       \
            }                                                                                                   \
        }                                                                                                       \
        for (step = 1; last < count && before(&a[last], &a[middle - 1]);) {                                     \
            size_t to = count - last > step ? last + step : count;                                              \
            if (before(&a[to - 1], &a[middle - 1])) {                                                           \
                last = to;                                                                                      \
                step *= 2;                                                                                      \
            } else {                                                                                            \
                last++;                                                                                         \
                step = 1;                                                                                       \
            }                                                                                                   \
        }                                                                                                       \
        size_t left = middle - first, i = 0, right = middle, out = first;                                       \
        memcpy(scratch, a + first, left * sizeof *a);                                                           \
        while (i < left && right < last)                                                                        \
            a[out++] = before(&a[right], &scratch[i]) ? a[right++] : scratch[i++];                              \
        memcpy(a + out, scratch + i, (left - i) * sizeof *a);                                                   \
    }                                                                                                           \
    void sort(type *a, type *scratch, size_t count)                                                             \
    {                                                                                                           \
        for (size_t begin = 0; begin < count; begin += RUN)                                                     \
            for (size_t i = begin + 1; i < count && i < begin + RUN; i++) {                                     \
                type item = a[i];                                                                               \
                size_t to = i;                                                                                  \
                for (; to > begin && before(&item, &a[to - 1]); to--)                                           \
                    a[to] = a[to - 1];                                                                          \
                a[to] = item;                                                                                   \
            }                                                                                                   \
        for (size_t width = RUN; width < count; width *= 2)                                                     \
            for (size_t begin = 0; begin + width < count; begin += 2 * width)                                   \
                sort##_merge(a + begin, width, count - begin < 2 * width ? count - begin : 2 * width, scratch); \
    }

DEFINE_SORT(sort_items, struct sort_item, item_before)
DEFINE_SORT(sort_times, int64_t, time_before)
DEFINE_SORT(sort_keys, uint64_t, key_before)
