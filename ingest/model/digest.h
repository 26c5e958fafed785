/* SPDX-License-Identifier: Apache-2.0
 *
 * 128 bits and the length stand for a text or a list of them, where keeping them would cost their memory. Not for keeping on disk. Zeroed is the digest of nothing. */
#ifndef MODEL_DIGEST_H
#define MODEL_DIGEST_H

#include <stdint.h>

#include "base/str.h"

struct digest {
    uint64_t hash, other, len;
};

void digest_text(struct digest *self, struct str text);        /* unknown and empty text differ; borders count: "a", "b" is not "ab" */
void digest_i64(struct digest *self, int64_t value);

/* As a key of an smap; borrowed. */
static inline struct str digest_key(const struct digest *self)
{
    return (struct str){(const char *)self, sizeof *self};
}

#endif
