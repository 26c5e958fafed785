/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/unit_buffer.h"

#include <string.h>

#include "base/mem.h"

size_t unit_held(const struct unit_buffer *self)
{
    return self->end - self->begin;
}

static size_t available(const struct codec_io *io)
{
    return io->in_len - io->in_used;
}

size_t unit_collect(struct unit_buffer *self, struct codec_io *io, size_t len)
{
    size_t held = unit_held(self);
    if (held >= len)
        return held;
    size_t more = MIN(len - held, available(io));
    if (more == 0)
        return held;
    if (self->begin > 0 && self->end + more > self->capacity) {
        memmove(self->data, self->data + self->begin, held);
        self->begin = 0;
        self->end = held;
    }
    if (mem_grow((void **)&self->data, &self->capacity, self->end + more, UNIT_MAX_BYTES, 1)) {
        self->failed = true;
        return held;
    }
    memcpy(self->data + self->end, io->in + io->in_used, more);
    self->end += more;
    io->in_used += more;
    return held + more;
}

const uint8_t *unit_peek(struct unit_buffer *self, struct codec_io *io, size_t need)
{
    if (unit_held(self) == 0 && available(io) >= need)
        return io->in + io->in_used;
    return unit_collect(self, io, need) >= need ? self->data + self->begin : NULL;
}

const uint8_t *unit_view(const struct unit_buffer *self, const struct codec_io *io, size_t max, size_t *ret_len)
{
    size_t held = unit_held(self);
    *ret_len = MIN(held ? held : available(io), max);
    if (*ret_len == 0)
        return NULL;
    return held ? self->data + self->begin : io->in + io->in_used;
}

void unit_drop(struct unit_buffer *self, struct codec_io *io, size_t len)
{
    size_t from_held = MIN(len, unit_held(self));
    self->begin += from_held;
    if (self->begin == self->end)
        self->begin = self->end = 0;
    size_t from_input = MIN(len - from_held, available(io));
    io->in_used += from_input;
    self->position += (int64_t)(from_held + from_input);
}

bool unit_search(struct unit_buffer *self, struct codec_io *io, const uint8_t *pattern, size_t len)
{
    size_t held = unit_held(self);
    if (held > 0) {
        /* A match may begin in what is held and end in the input: look at len - 1 bytes more. */
        size_t total = unit_collect(self, io, held + len - 1);
        if (self->failed)
            return false;
        const uint8_t *front = self->data + self->begin;
        const uint8_t *found = memmem(front, total, pattern, len);
        if (found) {
            unit_drop(self, io, (size_t)(found - front));
            return true;
        }
        if (total < held + len - 1) {
            unit_drop(self, io, total - MIN(total, len - 1));
            return false;
        }
        /* Those len - 1 bytes came from this very input: hand them back and go on there without copying. */
        self->begin = self->end = 0;
        self->position += (int64_t)held;
        io->in_used -= len - 1;
    }
    size_t left = available(io);
    if (left == 0)
        return false;
    const uint8_t *front = io->in + io->in_used;
    const uint8_t *found = memmem(front, left, pattern, len);
    unit_drop(self, io, found ? (size_t)(found - front) : left - MIN(left, len - 1));
    if (!found)
        unit_collect(self, io, len - 1);
    return found != NULL;
}

void unit_dispose(struct unit_buffer *self)
{
    mem_free(self->data);
    *self = (struct unit_buffer){0};
}
