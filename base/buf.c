/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void buf_init(struct buf *self, size_t max_bytes)
{
    *self = (struct buf){.max_bytes = max_bytes};
}

bool buf_reserve(struct buf *self, size_t more)
{
    if (self->failed)
        return false;
    if (more > self->max_bytes || self->len > self->max_bytes - more ||
        mem_grow((void **)&self->data, &self->capacity, self->len + more + 1, self->max_bytes + 1, 1)) {
        self->failed = true;
        return false;
    }
    return true;
}

void buf_append(struct buf *self, const void *bytes, size_t len)
{
    if (!buf_reserve(self, len))
        return;
    if (len)
        memcpy(self->data + self->len, bytes, len);
    self->len += len;
    self->data[self->len] = '\0';
}

void buf_char(struct buf *self, char c)
{
    buf_append(self, &c, 1);
}

void buf_utf8(struct buf *self, uint32_t code)
{
    char bytes[UTF8_BYTES];
    buf_append(self, bytes, utf8_put(bytes, code));
}

void buf_text(struct buf *self, const char *text)
{
    buf_append(self, text, strlen(text));
}

void buf_printf(struct buf *self, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        self->failed = true;
    else if (buf_reserve(self, (size_t)len)) {
        vsnprintf(self->data + self->len, (size_t)len + 1, fmt, again);
        self->len += (size_t)len;
    }
    va_end(again);
}

void buf_consume(struct buf *self, size_t len)
{
    if (len >= self->len) {
        self->len = 0;
        return;
    }
    if (len == 0)
        return;
    memmove(self->data, self->data + len, self->len - len);
    self->len -= len;
    self->data[self->len] = '\0';
}

void buf_clear(struct buf *self)
{
    self->len = 0;
    self->failed = false;
    if (self->data)
        self->data[0] = '\0';
}

bool buf_failed(const struct buf *self)
{
    return self->failed;
}

struct str buf_str(const struct buf *self)
{
    return (struct str){self->data ? self->data : "", self->len};
}

void buf_dispose(struct buf *self)
{
    if (!self)
        return;
    mem_free(self->data);
    buf_init(self, self->max_bytes);
}
