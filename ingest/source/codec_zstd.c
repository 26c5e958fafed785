/* SPDX-License-Identifier: Apache-2.0
 *
 * zstd (RFC 8878; spec/files.md 2.2): frames in a row, thousands of small ones as Spark writes them (it closes the frame at every flush), a single big one when a person
 * compressed the log again. Windows up to 2^27, content checksums, skippable frames.
 *
 *      frame:  magic │ frame header │ block header (3) │ block │ block header │ block … │ [checksum (4)]
 *      unit:   └──────────────────────── 1 ────────────┘ └──────── 2 ─────────┘    …    └─── last ───┘
 *
 * libzstd says of a failed call neither how far it got nor what of the output is good. So block headers are read here too, and libzstd is given one unit a call: when a block is
 * bad, all blocks before it are in the output already, and the search for the next frame magic begins at that block. */
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "ingest/source/framed.h"

#define WINDOW_LOG_MAX 27
#define BLOCK_MAX_BYTES (128u << 10)
#define BLOCK_HEADER_BYTES 3
#define CHECKSUM_BYTES 4
#define FRAME_HEADER_MIN_BYTES 5   /* with the magic: what is needed to know the header's length */
#define SKIPPABLE_HEADER_BYTES 8

static const uint8_t magic[4] = {0x28, 0xB5, 0x2F, 0xFD};

enum place { AT_FRAME, AT_BLOCK, AT_CHECKSUM, IN_SKIPPABLE };

struct decoder_zstd {
    struct framed framed;
    ZSTD_DCtx *context;
    enum place place;
    bool has_checksum;
    bool feeding;            /* a unit is with libzstd and not done */
    size_t unit_left;        /* of its bytes, not yet taken */
    size_t head;             /* of these, the frame header that libzstd has not seen */
    bool unit_is_last;       /* the frame must end with it */
    enum place after;        /* the place after it */
    uint64_t skip_left;
};

static struct decoder_zstd *of(struct framed *self)
{
    return (struct decoder_zstd *)(void *)self;
}

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool is_skippable(const uint8_t *p)
{
    return (le32(p) & 0xFFFFFFF0u) == 0x184D2A50u;
}

/* Length of magic and frame header, from the descriptor byte (RFC 8878 3.1.1.1.1). */
static size_t frame_header_len(uint8_t descriptor)
{
    static const uint8_t dictionary_id_len[4] = {0, 1, 2, 4}, content_size_len[4] = {0, 2, 4, 8};
    bool single_segment = descriptor & 0x20u;
    size_t content_len = content_size_len[descriptor >> 6];
    if (single_segment && content_len == 0)
        content_len = 1;
    return (size_t)FRAME_HEADER_MIN_BYTES + (single_segment ? 0u : 1u) + dictionary_id_len[descriptor & 3u] + content_len;
}

/* Length of the block as stored; false when the header is impossible. */
static bool block_len(const uint8_t *header, size_t *ret_len, bool *ret_last)
{
    uint32_t value = (uint32_t)header[0] | (uint32_t)header[1] << 8 | (uint32_t)header[2] << 16;
    unsigned type = value >> 1 & 3u;
    *ret_last = value & 1u;
    *ret_len = type == 1 ? 1 : value >> 3;
    return type != 3 && (value >> 3) <= BLOCK_MAX_BYTES;
}

/* Gives the unit in front (`unit_left` bytes of it are left) to libzstd until it is used up and all its text is out. */
static enum unit_status feed(struct decoder_zstd *self, struct codec_io *io)
{
    for (;;) {
        const uint8_t *p = self->unit_left ? unit_peek(&self->framed.unit, io, self->unit_left) : NULL;
        if (!p && self->unit_left)
            return UNIT_MORE;
        ZSTD_inBuffer in = {p, self->head ? self->head : self->unit_left, 0};
        ZSTD_outBuffer out = {io->out + io->out_used, io->out_len - io->out_used, 0};
        if (out.size == 0)
            return UNIT_FULL;
        size_t left = ZSTD_decompressStream(self->context, &out, &in);
        if (self->head && !ZSTD_isError(left)) {
            /* The header by itself: of a frame that it sees whole, with room for its text, libzstd asks other things than of one that comes in pieces, and the room is the caller's. */
            self->head = 0;
            in.size = self->unit_left;
            left = ZSTD_decompressStream(self->context, &out, &in);
        }
        if (ZSTD_isError(left)) {
            self->feeding = false;
            if (strcmp(ZSTD_getErrorName(left), "Allocation error : not enough memory") == 0)
                return UNIT_OUT_OF_MEMORY;
            return framed_bad(&self->framed, self->unit_left, ZSTD_getErrorName(left));
        }
        unit_drop(&self->framed.unit, io, in.pos);
        self->unit_left -= in.pos;
        io->out_used += out.pos;
        bool frame_ended = left == 0, flushed = frame_ended || out.pos < out.size;
        if (self->unit_left == 0 && flushed) {
            self->feeding = false;
            self->place = self->after;
            if (self->unit_is_last != frame_ended)
                return framed_bad(&self->framed, 0, "a zstd frame ends elsewhere than it says");
            return UNIT_DONE;
        }
        if (out.pos == out.size)
            return UNIT_FULL;
        if (in.pos == 0 && out.pos == 0) {
            self->feeding = false;
            return framed_bad(&self->framed, self->unit_left, "a zstd frame ends before its end");
        }
    }
}

/* Finds the unit's length. `head` bytes of frame header are in front of the block header, 0 inside a frame. */
static enum unit_status begin_block(struct decoder_zstd *self, struct codec_io *io, size_t head)
{
    const uint8_t *p = unit_peek(&self->framed.unit, io, head + BLOCK_HEADER_BYTES);
    if (!p)
        return UNIT_MORE;
    size_t len;
    bool last;
    if (!block_len(p + head, &len, &last))
        return framed_bad(&self->framed, head + BLOCK_HEADER_BYTES, "impossible zstd block");
    self->unit_left = head + BLOCK_HEADER_BYTES + len;
    self->head = head;
    if (!unit_peek(&self->framed.unit, io, self->unit_left))
        return UNIT_MORE;
    self->after = !last ? AT_BLOCK : self->has_checksum ? AT_CHECKSUM : AT_FRAME;
    self->unit_is_last = last && !self->has_checksum;
    self->feeding = true;
    return feed(self, io);
}

static enum unit_status begin_frame(struct decoder_zstd *self, struct codec_io *io)
{
    struct unit_buffer *unit = &self->framed.unit;
    size_t seen;
    const uint8_t *p = unit_view(unit, io, 1, &seen);
    if (p && *p == 0)
        return UNIT_PADDING;
    if (!(p = unit_peek(unit, io, sizeof magic)))
        return UNIT_MORE;
    if (is_skippable(p)) {
        if (!(p = unit_peek(unit, io, SKIPPABLE_HEADER_BYTES)))
            return UNIT_MORE;
        self->skip_left = (uint64_t)SKIPPABLE_HEADER_BYTES + le32(p + sizeof magic);
        self->place = IN_SKIPPABLE;
        return UNIT_DONE;
    }
    if (memcmp(p, magic, sizeof magic) != 0)
        return framed_bad(&self->framed, sizeof magic, "no zstd frame begins here");
    if (!(p = unit_peek(unit, io, FRAME_HEADER_MIN_BYTES)))
        return UNIT_MORE;
    self->has_checksum = p[4] & 4u;
    return begin_block(self, io, frame_header_len(p[4]));
}

static enum unit_status step(struct framed *framed, struct codec_io *io)
{
    struct decoder_zstd *self = of(framed);
    if (self->feeding)
        return feed(self, io);
    switch (self->place) {
    case AT_FRAME:
        return begin_frame(self, io);
    case AT_BLOCK:
        return begin_block(self, io, 0);
    case AT_CHECKSUM:
        if (!unit_peek(&framed->unit, io, CHECKSUM_BYTES))
            return UNIT_MORE;
        self->unit_left = CHECKSUM_BYTES;
        self->after = AT_FRAME;
        self->unit_is_last = true;
        self->feeding = true;
        return feed(self, io);
    case IN_SKIPPABLE: {
        size_t len;
        if (!unit_view(&framed->unit, io, (size_t)MIN(self->skip_left, (uint64_t)SIZE_MAX), &len))
            return UNIT_MORE;
        unit_drop(&framed->unit, io, len);
        self->skip_left -= len;
        if (self->skip_left == 0)
            self->place = AT_FRAME;
        return UNIT_DONE;
    }
    }
    return UNIT_MORE;
}

static bool find(struct framed *self, struct codec_io *io)
{
    return unit_search(&self->unit, io, magic, sizeof magic);
}

/* A whole frame: every block header of it is sound, and it ends. */
static bool contains(const uint8_t *bytes, size_t len)
{
    for (const uint8_t *p = bytes; (p = memmem(p, len - (size_t)(p - bytes), magic, sizeof magic)) != NULL; p++)
        if (!ZSTD_isError(ZSTD_findFrameCompressedSize(p, len - (size_t)(p - bytes))))
            return true;
    return false;
}

static void restart(struct framed *self)
{
    of(self)->place = AT_FRAME;
    of(self)->feeding = false;
    ZSTD_DCtx_reset(of(self)->context, ZSTD_reset_session_only);
}

static const struct framed_format format = {.step = step, .find = find, .contains = contains, .restart = restart};

static bool sniff(const uint8_t *head, size_t len)
{
    static const uint8_t skippable_tail[3] = {0x2A, 0x4D, 0x18};
    if (memcmp(head, magic, MIN(len, sizeof magic)) == 0)
        return true;
    return (head[0] & 0xF0u) == 0x50 && memcmp(head + 1, skippable_tail, MIN(len - 1, sizeof skippable_tail)) == 0;
}

static enum err_code zstd_open(struct decoder **ret)
{
    struct decoder_zstd *self = mem_zalloc(sizeof *self);
    *ret = NULL;
    if (!self)
        return ERR_NOMEM;
    self->context = ZSTD_createDCtx();
    if (!self->context || ZSTD_isError(ZSTD_DCtx_setParameter(self->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        ZSTD_freeDCtx(self->context);
        mem_free(self);
        return ERR_NOMEM;
    }
    *ret = (struct decoder *)(void *)self;
    return ERR_OK;
}

static enum codec_status zstd_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    return framed_decode(&((struct decoder_zstd *)(void *)self)->framed, &format, io, damage);
}

static enum codec_end zstd_end(const struct decoder *self, struct codec_damage *damage)
{
    const struct decoder_zstd *zstd = (const struct decoder_zstd *)(const void *)self;
    return framed_end(&zstd->framed, zstd->place == AT_FRAME && !zstd->feeding && unit_held(&zstd->framed.unit) == 0, damage);
}

static void zstd_close(struct decoder *self)
{
    if (!self)
        return;
    struct decoder_zstd *zstd = (struct decoder_zstd *)(void *)self;
    framed_dispose(&zstd->framed);
    ZSTD_freeDCtx(zstd->context);
    mem_free(zstd);
}

const struct codec codec_zstd = {
    .id = CODEC_ZSTD, .name = "zstd", .can_start_anywhere = true, .sniff = sniff, .open = zstd_open, .decode = zstd_decode, .end = zstd_end, .close = zstd_close,
};
