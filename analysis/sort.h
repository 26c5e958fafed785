/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting what is nearly in order already: task rows come in the order of their ends, launches in the order of task ids, so most of a sort is noticing that there is nothing to
 * do. A merge sort that merges only where two runs overlap: linear there, n log n at worst, whatever a hostile log holds. `scratch` has as many places as what is sorted. */
#ifndef ANALYSIS_SORT_H
#define ANALYSIS_SORT_H

#include <stddef.h>
#include <stdint.h>

struct sort_item {
    int64_t key, tie;
    uint32_t position; /* the last tie: no two items are equal */
};

void sort_items(struct sort_item *items, struct sort_item *scratch, size_t count);
void sort_times(int64_t *times, int64_t *scratch, size_t count);
void sort_keys(uint64_t *keys, uint64_t *scratch, size_t count);

#endif
