/* SPDX-License-Identifier: Apache-2.0
 *
 * What the formats have in common that are sequences of units (frames, blocks, chunks): the loop over units, text that did not fit into the caller's room, zero padding, and
 * going on after damage. A codec says what one unit is (step) and how the next one is recognised (find).
 *
 *      UNITS ──bad unit──► SEARCHING ──find──► UNITS (tentative: a unit that is bad again does not count as new damage)
 *        └──zero bytes──► PADDING ──anything else──► SEARCHING          too much re-reading ──► GIVEN_UP
 *
 * A struct framed is the first member of a codec's decoder. */
#ifndef SOURCE_FRAMED_H
#define SOURCE_FRAMED_H

#include "ingest/source/codec.h"
#include "ingest/source/unit_buffer.h"

/* Bytes that may be looked at again because a unit that began there was bad: a constant and a factor over the input. Real damage re-reads next to nothing (a bad unit's length is
 * usually right); a file made to be slow, with a magic every few bytes and long units, is given up instead of taking a square of its size. */
#define RESYNC_FREE_BYTES ((int64_t)64 << 20)
#define RESYNC_FACTOR 4

/* Text of one unit, at most: lz4-java's largest block; snappy-java's block size is 32 KiB unless somebody set it. */
#define FRAMED_TEXT_MAX ((size_t)32 << 20)

enum unit_status {
    UNIT_DONE,       /* a unit was used up; go on */
    UNIT_MORE,       /* the input ended inside a unit (or out of memory: unit.failed) */
    UNIT_FULL,       /* no room in the output */
    UNIT_PADDING,    /* zero bytes where a unit should begin */
    UNIT_BAD,        /* self->reason and bad_bytes are set; so many bytes of the bad unit are in front */
    UNIT_OUT_OF_MEMORY,
};

struct framed {
    struct unit_buffer unit;
    uint8_t *pending;                /* owned; decoded text that did not fit */
    size_t pending_begin, pending_end, pending_capacity;
    enum { FRAMED_UNITS, FRAMED_PADDING, FRAMED_SEARCHING, FRAMED_GIVEN_UP } state;
    bool tentative;
    const char *reason;              /* static */
    size_t bad_bytes;                /* of the bad unit, as far as they are still in front */
    int64_t bad_offset, bad_end, reread_bytes;
    int64_t padding_offset, padding_bytes;
    size_t search_need;              /* framed_find_verified: look again when so many bytes are held */
};

struct framed_format {
    enum unit_status (*step)(struct framed *self, struct codec_io *io);
    bool (*find)(struct framed *self, struct codec_io *io);   /* drops input until a unit that looks right is in front; false: not yet */
    /* A good unit stands somewhere in these bytes, which seem to lie inside another one: that one's length is wrong then, and the file is not cut but damaged. NULL: not known. */
    bool (*contains)(const uint8_t *bytes, size_t len);
    void (*restart)(struct framed *self);                     /* forget the broken frame; NULL: nothing to forget */
    size_t padding_keep;                                      /* zero bytes that may belong to the unit after them */
};

enum codec_status framed_decode(struct framed *self, const struct framed_format *format, struct codec_io *io, struct codec_damage *damage);
enum codec_end framed_end(const struct framed *self, bool between_units, struct codec_damage *damage);

/* Where a unit's text of `len` bytes is to go: the caller's room where it is enough, else memory of our own (NULL: out of memory). framed_commit hands it out. */
uint8_t *framed_room(struct framed *self, struct codec_io *io, size_t len);
void framed_commit(struct framed *self, struct codec_io *io, const uint8_t *text, size_t len);

enum unit_status framed_bad(struct framed *self, size_t bad_bytes, const char *reason);

/* For formats without a magic worth the name: the first place where `verify` says yes. It gets all bytes from there on and answers 1 yes, 0 no, or -1 with *ret_need: cannot say
 * with fewer bytes. Units longer than SEARCH_WINDOW are not found. *ret_work: bytes it looked at. */
#define SEARCH_WINDOW ((size_t)256 << 10)
typedef int framed_verify_fn(const uint8_t *bytes, size_t len, size_t *ret_need, size_t *ret_work);
bool framed_find_verified(struct framed *self, struct codec_io *io, framed_verify_fn *verify);
bool framed_contains_verified(const uint8_t *bytes, size_t len, framed_verify_fn *verify);

void framed_dispose(struct framed *self);

#endif
