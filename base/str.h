/* SPDX-License-Identifier: Apache-2.0
 *
 * Borrowed text: a pointer and a length, valid as long as the memory behind it. ptr == NULL means "the log does not say"
 * (unknown), which is not the same as empty. Not NUL-terminated unless the maker says so. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attributes.h"

struct str {
    const char *ptr;
    size_t len;
};

#define STR_NONE ((struct str){NULL, 0})
#define STR_LIT(literal) ((struct str){"" literal, sizeof(literal) - 1})

static inline struct str str_of(const char *text)
{
    return text ? (struct str){text, strlen(text)} : STR_NONE;
}

static inline bool str_known(struct str s)
{
    return s.ptr != NULL;
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is(struct str a, const char *text)
{
    return str_eq(a, str_of(text));
}

bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
int str_compare(struct str a, struct str b);                 /* bytes, as unsigned */

/* Takes off *rest what is before the first separator, and that separator; where there is none, all of it. To be asked again while rest->len. Parts of *rest may be empty. */
struct str str_word(struct str *rest, char separator);
struct str str_base_name(struct str path);                   /* what is behind the last slash */

/* Whole text as a decimal integer, an optional sign, nothing else. False on junk and overflow. */
bool str_to_i64(struct str s, int64_t *ret);

/* Length of the longest prefix of s that is valid UTF-8 (surrogates and over-long forms are not). */
size_t utf8_valid_prefix(const char *ptr, size_t len);

/* Writes a code point, at most 0x10FFFF, to `out`; returns how many bytes it takes, UTF8_BYTES at most. */
#define UTF8_BYTES 4
size_t utf8_put(char *out, uint32_t code);

/* Copies `in` to `out`, each invalid byte replaced by U+FFFD; out needs 3 * in.len bytes. Returns the length written. */
size_t utf8_repair(struct str in, char *out);

#endif
