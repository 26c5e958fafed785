/* SPDX-License-Identifier: Apache-2.0
 *
 * A hash that nobody outside this process can make or tell from noise: HMAC-SHA-256 under a secret that is drawn at the first use and never leaves memory. For remembering that a password was right
 * without remembering the password. Threads: safe. */
#ifndef SERVER_KEYED_HASH_H
#define SERVER_KEYED_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

#define KEYED_HASH_BYTES 32

struct keyed_hash {
    unsigned char bytes[KEYED_HASH_BYTES];
};

/* Of the parts with their lengths, so that "ab" + "c" is another thing than "a" + "bc". ERR_IO: the system gives no random numbers. */
enum err_code keyed_hash_of(const struct str *parts, size_t count, struct keyed_hash *ret, struct err *err) WARN_UNUSED;

/* In a time that does not depend on where they differ. */
bool same_bytes(const void *a, const void *b, size_t len);

#endif
