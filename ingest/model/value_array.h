/* SPDX-License-Identifier: Apache-2.0
 *
 * One number for each task index of a stage, most of them small, some never set: kept in chunks of 1,024 whose values take as many bytes as the chunk's largest needs. A million
 * row counts take 3 MB, not 8. Numbers are 64-bit and signed, without UNKNOWN. Zeroed memory with `length` set is an empty array. One thread. */
#ifndef MODEL_VALUE_ARRAY_H
#define MODEL_VALUE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

struct value_chunk;

struct value_array {
    struct value_chunk **chunks;     /* owned; NULL: nothing of that chunk was set */
    size_t chunk_count, chunk_capacity;
    int64_t length;                  /* indices are 0 … length - 1 */
    size_t set_count;
};

/* 0; -1: out of memory. `index` must be in range. *bytes grows by what it cost. */
int value_array_set(struct value_array *self, int64_t index, int64_t value, size_t *bytes) WARN_UNUSED;

/* Appends the values that were set to `ret`, which has room for set_count. Returns their number. */
size_t value_array_gather(const struct value_array *self, int64_t *ret);
void value_array_dispose(struct value_array *self);

#endif
