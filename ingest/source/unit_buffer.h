/* SPDX-License-Identifier: Apache-2.0
 *
 * The front of a decoder's input: gives a format's unit (header and payload) as one piece of memory, straight from the caller's input where it lies there whole, else
 * collected here. Bytes stay until they are dropped, so that a unit that turns out to be bad can be searched for the next good one.
 * Grows only as bytes arrive, never by what a length field claims. Part of a decoder: one thread. */
#ifndef SOURCE_UNIT_BUFFER_H
#define SOURCE_UNIT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/source/codec.h"

#define UNIT_MAX_BYTES ((size_t)48 << 20)   /* the largest unit of a format: an lz4-java block of 32 MiB, a snappy chunk of 32 MiB that did not shrink (+ 1/6) */

struct unit_buffer {
    uint8_t *data;           /* owned; bytes [begin, end) are input not yet dropped */
    size_t begin, end, capacity;
    int64_t position;        /* stored offset of the first byte not yet dropped */
    bool failed;             /* out of memory */
};

/* The next `need` bytes, borrowed until the next call. NULL: the input is used up and kept, or `failed`. */
const uint8_t *unit_peek(struct unit_buffer *self, struct codec_io *io, size_t need);

/* All bytes that lie in one piece at the front, at most `max`; NULL when there are none. */
const uint8_t *unit_view(const struct unit_buffer *self, const struct codec_io *io, size_t max, size_t *ret_len);

/* Collects input until `len` bytes are held, or as many as there are. Returns the number held. */
size_t unit_collect(struct unit_buffer *self, struct codec_io *io, size_t len);

void unit_drop(struct unit_buffer *self, struct codec_io *io, size_t len);

/* Drops bytes until `pattern` is in front. False: not found; only a possible beginning of it is left. */
bool unit_search(struct unit_buffer *self, struct codec_io *io, const uint8_t *pattern, size_t len);

size_t unit_held(const struct unit_buffer *self);
void unit_dispose(struct unit_buffer *self);

#endif
