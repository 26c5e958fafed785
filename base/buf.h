/* SPDX-License-Identifier: Apache-2.0
 *
 * A growable byte buffer with a maximum. Appending past the maximum or out of memory makes it fail and stay failed
 * (buf_failed), so a writer may append a lot and look once. Data is kept NUL-terminated. Owner frees with buf_dispose. One thread. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/str.h"

struct buf {
    char *data;          /* owned; NULL while empty */
    size_t len;
    size_t capacity;
    size_t max_bytes;
    bool failed;
};

void buf_init(struct buf *self, size_t max_bytes);
bool buf_reserve(struct buf *self, size_t more) WARN_UNUSED;   /* room for `more` bytes after len (and a NUL) */
void buf_append(struct buf *self, const void *bytes, size_t len);
void buf_char(struct buf *self, char c);
void buf_utf8(struct buf *self, uint32_t code);                         /* a code point: utf8_put */
void buf_text(struct buf *self, const char *text);
void buf_printf(struct buf *self, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_consume(struct buf *self, size_t len);                /* drop from the front */
void buf_clear(struct buf *self);                              /* length 0, not failed, memory kept */
bool buf_failed(const struct buf *self);
struct str buf_str(const struct buf *self);                    /* borrowed until the next change */
void buf_dispose(struct buf *self);

#endif
