/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting of many numbers in no order that carry something, linear in `count` (what is nearly in order: sort.h). An item is a number as a float, whose 24 bits are enough to
 * order times and sizes by, in its upper half, and 32 bits carried along in its lower one: eight bytes an item and no comparisons. Stable; carried bits are not looked at. */
#ifndef ANALYSIS_SORT_PACKED_H
#define ANALYSIS_SORT_PACKED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* `value` ≥ 0: then floats are ordered as their bits are. */
static inline uint64_t packed_item(double value, uint32_t carried)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint64_t)bits << 32 | carried;
}

static inline float packed_value(uint64_t item)
{
    float number;
    uint32_t bits = (uint32_t)(item >> 32);
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* `scratch` has `count` places too. */
void sort_packed(uint64_t *items, size_t count, uint64_t *scratch);

#endif
