/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting of many numbers that carry something: by the bytes of their keys in which they differ, so linear in `count`. Stable. */
#ifndef ANALYSIS_SORT_ITEMS_H
#define ANALYSIS_SORT_ITEMS_H

#include <stddef.h>
#include <stdint.h>

struct sort_item {
    int64_t key;
    uint64_t carried;
};

/* `scratch` has `count` places too. */
void sort_items(struct sort_item *items, size_t count, struct sort_item *scratch);

#endif
