/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/digest.h"

#include "base/map.h"

#define FNV_PRIME 0x100000001B3ULL
#define FNV_BASIS 0xCBF29CE484222325ULL
#define UNKNOWN_TEXT 0x9E3779B97F4A7C15ULL

void digest_i64(struct digest *self, int64_t value)
{
    self->hash = (self->hash << 5 | self->hash >> 59) ^ hash_i64(value);
    self->hash *= FNV_PRIME;
    self->other = (self->other ^ (uint64_t)value) * 0xFF51AFD7ED558CCDULL;
    self->other ^= self->other >> 32;
    self->len++;
}

void digest_text(struct digest *self, struct str text)
{
    uint64_t other = FNV_BASIS;
    for (size_t i = 0; i < text.len; i++)
        other = (other ^ (unsigned char)text.ptr[i]) * FNV_PRIME;
    self->len += text.len;
    digest_i64(self, (int64_t)(str_known(text) ? hash_bytes(text.ptr, text.len) : UNKNOWN_TEXT));
    self->other ^= other;
    self->other *= FNV_PRIME;
}
