/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

#define MIN_SLOTS ((size_t)16)

uint64_t hash_i64(int64_t key)
{
    uint64_t x = (uint64_t)key;
    x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9ULL;
    return x ^ (x >> 32);
}

uint64_t hash_bytes(const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint64_t h = 0x9E3779B97F4A7C15ULL ^ (uint64_t)len;
    uint64_t word;
    for (; len >= sizeof word; p += sizeof word, len -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * 0xFF51AFD7ED558CCDULL;
        h ^= h >> 32;
    }
    word = 0;
    if (len)
        memcpy(&word, p, len);
    return hash_i64((int64_t)(h ^ word));
}

/* Keys come from logs and requests: whoever knows where they go can send a million that go to the same place. So maps mix them with a number of this process that nobody knows, by
 * a product of 128 bits, in which no difference between two keys stays what it was. */
__extension__ typedef unsigned __int128 product;
static uint64_t secrets[2] = {0x9E3779B97F4A7C15ULL, 0xBF58476D1CE4E5B9ULL};

__attribute__((constructor)) static void draw_secrets(void)
{
    uint64_t drawn[2];
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) == sizeof drawn)   /* else the machine has just started: those above have to do */
        memcpy(secrets, drawn, sizeof secrets);
    secrets[1] |= 1;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    product p = (product)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t imap_hash(int64_t key)
{
    return mix((uint64_t)key ^ secrets[0], secrets[1]);
}

static uint64_t smap_hash(struct str key)
{
    uint64_t h = mix(key.len ^ secrets[1], secrets[0] | 1), word = 0;
    for (; key.len >= sizeof word; key.ptr += sizeof word, key.len -= sizeof word) {
        memcpy(&word, key.ptr, sizeof word);
        h = mix(h ^ word, secrets[1]) + secrets[0];
    }
    word = 0;
    if (key.len)
        memcpy(&word, key.ptr, key.len);
    return mix(h ^ word, secrets[1]);
}

static uint32_t *make_slots(size_t slot_count)
{
    return mem_array(slot_count, sizeof(uint32_t));
}

/* Room for one entry more: three quarters of the slots are used at most. *ret_moved: the slots are new and empty. */
static int more_slots(uint32_t **slots, size_t *slot_count, size_t count, bool *ret_moved)
{
    *ret_moved = (count + 1) * 4 > *slot_count * 3;
    if (!*ret_moved)
        return 0;
    size_t wanted = *slot_count ? *slot_count * 2 : MIN_SLOTS;
    uint32_t *more = make_slots(wanted);
    if (!more)
        return -1;
    mem_free(*slots);
    *slots = more;
    *slot_count = wanted;
    return 0;
}

/* The slot that holds `key`, or the free one where it would go. */
static size_t imap_slot(const struct imap *self, int64_t key)
{
    size_t mask = self->slot_count - 1;
    size_t i = imap_hash(key) & mask;
    while (self->slots[i] && self->entries[self->slots[i] - 1].key != key)
        i = (i + 1) & mask;
    return i;
}

void imap_init(struct imap *self, size_t max_count)
{
    *self = (struct imap){.max_count = max_count};
}

void *imap_get(const struct imap *self, int64_t key)
{
    if (!self->count)
        return NULL;
    uint32_t found = self->slots[imap_slot(self, key)];
    return found ? self->entries[found - 1].value : NULL;
}

static int imap_grow(struct imap *self)
{
    bool moved;
    if (more_slots(&self->slots, &self->slot_count, self->count, &moved))
        return -1;
    for (size_t i = 0; moved && i < self->count; i++)
        self->slots[imap_slot(self, self->entries[i].key)] = (uint32_t)i + 1;
    return 0;
}

int imap_put(struct imap *self, int64_t key, void *value)
{
    if (self->count) {
        uint32_t found = self->slots[imap_slot(self, key)];
        if (found) {
            self->entries[found - 1].value = value;
            return 0;
        }
    }
    if (self->count >= self->max_count || imap_grow(self) ||
        mem_grow((void **)&self->entries, &self->capacity, self->count + 1, self->max_count, sizeof *self->entries))
        return -1;
    self->entries[self->count] = (struct imap_entry){key, value};
    self->slots[imap_slot(self, key)] = (uint32_t)++self->count;
    return 0;
}

void *imap_remove(struct imap *self, int64_t key)
{
    if (!self->count)
        return NULL;
    size_t mask = self->slot_count - 1;
    size_t hole = imap_slot(self, key);
    if (!self->slots[hole])
        return NULL;
    size_t index = self->slots[hole] - 1;
    void *value = self->entries[index].value;
    size_t last = self->count - 1;
    if (index != last) {
        self->slots[imap_slot(self, self->entries[last].key)] = (uint32_t)index + 1;
        self->entries[index] = self->entries[last];
    }
    self->count = last;
    /* Close the gap: an entry further on may have been pushed past the hole by a collision. */
    for (size_t i = (hole + 1) & mask; self->slots[i]; i = (i + 1) & mask) {
        size_t home = imap_hash(self->entries[self->slots[i] - 1].key) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            self->slots[hole] = self->slots[i];
            hole = i;
        }
    }
    self->slots[hole] = 0;
    return value;
}

void imap_clear(struct imap *self)
{
    self->count = 0;
    if (self->slots)
        memset(self->slots, 0, self->slot_count * sizeof *self->slots);
}

void imap_dispose(struct imap *self)
{
    mem_free(self->entries);
    mem_free(self->slots);
    imap_init(self, self->max_count);
}

static size_t smap_slot(const struct smap *self, struct str key, uint64_t hash)
{
    size_t mask = self->slot_count - 1;
    size_t i = hash & mask;
    while (self->slots[i]) {
        const struct smap_entry *entry = &self->entries[self->slots[i] - 1];
        if (entry->hash == hash && str_eq(entry->key, key))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

void smap_init(struct smap *self, size_t max_count, size_t key_bytes)
{
    *self = (struct smap){.max_count = max_count};
    arena_init(&self->keys, key_bytes);
}

static const struct smap_entry *smap_find(const struct smap *self, struct str key)
{
    if (!self->count)
        return NULL;
    uint32_t found = self->slots[smap_slot(self, key, smap_hash(key))];
    return found ? &self->entries[found - 1] : NULL;
}

void *smap_get(const struct smap *self, struct str key)
{
    const struct smap_entry *entry = smap_find(self, key);
    return entry ? entry->value : NULL;
}

static int smap_grow(struct smap *self)
{
    bool moved;
    if (more_slots(&self->slots, &self->slot_count, self->count, &moved))
        return -1;
    for (size_t i = 0; moved && i < self->count; i++)
        self->slots[smap_slot(self, self->entries[i].key, self->entries[i].hash)] = (uint32_t)i + 1;
    return 0;
}

int smap_put(struct smap *self, struct str key, void *value)
{
    uint64_t hash = smap_hash(key);
    if (self->count) {
        uint32_t found = self->slots[smap_slot(self, key, hash)];
        if (found) {
            self->entries[found - 1].value = value;
            return 0;
        }
    }
    struct str copy;
    if (self->count >= self->max_count || smap_grow(self) ||
        mem_grow((void **)&self->entries, &self->capacity, self->count + 1, self->max_count, sizeof *self->entries) ||
        arena_str(&self->keys, key.ptr ? key : STR_LIT(""), &copy))
        return -1;
    self->entries[self->count] = (struct smap_entry){copy, hash, value};
    self->slots[smap_slot(self, key, hash)] = (uint32_t)++self->count;
    return 0;
}

void smap_dispose(struct smap *self)
{
    mem_free(self->entries);
    mem_free(self->slots);
    arena_dispose(&self->keys);
    self->entries = NULL;
    self->slots = NULL;
    self->count = self->capacity = self->slot_count = 0;
}
