/* SPDX-License-Identifier: Apache-2.0
 *
 * Two compact sets of integers, in pages that are made when something is put there, so that memory follows what was put, not how large it is. bit_set: small non-negative integers (task indices). id_flags: any 64-bit ids that come in clusters (task ids), four flags each.
 * Zeroed memory is an empty set. One thread. */
#ifndef MODEL_BIT_SET_H
#define MODEL_BIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/map.h"

#define BIT_SET_MAX ((int64_t)1 << 26)       /* 64 M tasks in a stage: some 15 MiB */

struct bit_set {
    struct imap pages;                       /* value / 512 → 512 bits, owned */
};

/* 1: it was new; 0: it was there, or is outside 0 … BIT_SET_MAX - 1; -1: out of memory. */
int bit_set_add(struct bit_set *self, int64_t value) WARN_UNUSED;
bool bit_set_has(const struct bit_set *self, int64_t value);
/* How many of the values of `from` were new; -1: out of memory. */
int64_t bit_set_add_all(struct bit_set *self, const struct bit_set *from) WARN_UNUSED;
void bit_set_dispose(struct bit_set *self);

struct id_flags {
    struct imap pages;
};

/* Adds flags to an id; *ret_before are the flags it had. -1: out of memory. */
int id_flags_add(struct id_flags *self, int64_t id, unsigned flags, unsigned *ret_before) WARN_UNUSED;
void id_flags_dispose(struct id_flags *self);

#endif
