/* SPDX-License-Identifier: Apache-2.0
 *
 * Hash maps with open addressing: a 64-bit integer, or a text, to one pointer-sized value. Values are never owned. Text keys are copied
 * into the map's own arena. A map is made with a maximum of entries. Insertion order is kept for iteration: entries[i], 0 ≤ i < count,
 * unless something was removed. Where a key goes is secret (another place in each process), so that hostile keys do not meet. One thread. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct imap_entry {
    int64_t key;
    void *value;
};

struct imap {
    struct imap_entry *entries;   /* dense, owned */
    uint32_t *slots;              /* index + 1 into entries; 0 = free */
    size_t count, capacity, slot_count, max_count;
};

void imap_init(struct imap *self, size_t max_count);
void *imap_get(const struct imap *self, int64_t key);                          /* NULL when absent */
int imap_put(struct imap *self, int64_t key, void *value) WARN_UNUSED;         /* replaces; -1 out of memory or full */
void *imap_remove(struct imap *self, int64_t key);                             /* the value or NULL; moves the last entry into the hole */
void imap_clear(struct imap *self);
void imap_dispose(struct imap *self);

struct smap_entry {
    struct str key;
    uint64_t hash;
    void *value;
};

struct smap {
    struct smap_entry *entries;
    uint32_t *slots;
    size_t count, capacity, slot_count, max_count;
    struct arena keys;
};

/* key_bytes bounds the memory for all keys together. */
void smap_init(struct smap *self, size_t max_count, size_t key_bytes);
void *smap_get(const struct smap *self, struct str key);
int smap_put(struct smap *self, struct str key, void *value) WARN_UNUSED;
void smap_dispose(struct smap *self);

/* Known to everybody, so not for tables of hostile keys. */
uint64_t hash_i64(int64_t key);
uint64_t hash_bytes(const void *bytes, size_t len);                            /* not for keeping on disk across versions */

#endif
