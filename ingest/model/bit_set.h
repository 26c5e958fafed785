/* SPDX-License-Identifier: Apache-2.0
 *
 * Two compact sets of integers. bit_set: small non-negative integers (task indices), dense. id_flags: any 64-bit ids that come in clusters (task ids), four flags each.
 * Zeroed memory is an empty set. One thread. */
#ifndef MODEL_BIT_SET_H
#define MODEL_BIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/map.h"

#define BIT_SET_MAX ((int64_t)1 << 26)       /* 64 M tasks in a stage: 8 MiB */

struct bit_set {
    uint64_t *words;                         /* owned */
    size_t capacity;
};

/* 1: it was new; 0: it was there, or is outside 0 … BIT_SET_MAX - 1; -1: out of memory. */
int bit_set_add(struct bit_set *self, int64_t value) WARN_UNUSED;
bool bit_set_has(const struct bit_set *self, int64_t value);
void bit_set_dispose(struct bit_set *self);

struct id_flags {
    struct imap pages;
};

/* Adds flags to an id; *ret_before are the flags it had. -1: out of memory. */
int id_flags_add(struct id_flags *self, int64_t id, unsigned flags, unsigned *ret_before) WARN_UNUSED;
void id_flags_dispose(struct id_flags *self);

#endif
