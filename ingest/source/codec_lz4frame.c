/* SPDX-License-Identifier: Apache-2.0
 *
 * The standard lz4 frame format, which Spark never writes: what is left when somebody compressed a log again with the lz4 command. As with zstd, liblz4frame is given one unit
 * a call (frame header; block size and block; end mark and checksum), so that what was decoded before a bad block is not lost. After damage: the next frame magic. */
#include <lz4frame.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/source/framed.h"

#define HEADER_MIN_BYTES 6         /* magic, flags, block descriptor */
#define BLOCK_MAX_BYTES (4u << 20)

static const uint8_t magic[4] = {0x04, 0x22, 0x4D, 0x18};

struct decoder_lz4frame {
    struct framed framed;
    LZ4F_dctx *context;
    bool in_frame;
    uint8_t flags;
    bool feeding;
    size_t unit_left;
    bool unit_is_last;
};

static struct decoder_lz4frame *of(struct framed *self)
{
    return (struct decoder_lz4frame *)(void *)self;
}

static enum unit_status feed(struct decoder_lz4frame *self, struct codec_io *io)
{
    for (;;) {
        static const uint8_t nothing[1];
        const uint8_t *p = self->unit_left ? unit_peek(&self->framed.unit, io, self->unit_left) : nothing;
        if (!p)
            return UNIT_MORE;
        size_t in_len = self->unit_left, out_len = io->out_len - io->out_used;
        if (out_len == 0)
            return UNIT_FULL;
        size_t room = out_len;
        size_t left = LZ4F_decompress(self->context, io->out + io->out_used, &out_len, p, &in_len, NULL);
        if (LZ4F_isError(left)) {
            self->feeding = false;
            if (strcmp(LZ4F_getErrorName(left), "ERROR_allocation_failed") == 0)
                return UNIT_OUT_OF_MEMORY;
            return framed_bad(&self->framed, self->unit_left, "a block of an lz4 frame cannot be decoded");
        }
        if (self->unit_left)
            unit_drop(&self->framed.unit, io, in_len);
        self->unit_left -= in_len;
        io->out_used += out_len;
        if (self->unit_left == 0 && out_len < room) {
            self->feeding = false;
            self->in_frame = !self->unit_is_last;
            if (self->unit_is_last && left != 0)
                return framed_bad(&self->framed, 0, "an lz4 frame goes on after its end");
            return UNIT_DONE;
        }
        if (out_len == room)
            return UNIT_FULL;
        if (in_len == 0 && out_len == 0) {
            self->feeding = false;
            return framed_bad(&self->framed, self->unit_left, "an lz4 frame ends before its end");
        }
    }
}

static enum unit_status begin(struct decoder_lz4frame *self, struct codec_io *io, size_t unit_len, bool is_last)
{
    if (!unit_peek(&self->framed.unit, io, unit_len))
        return UNIT_MORE;
    self->unit_left = unit_len;
    self->unit_is_last = is_last;
    self->feeding = true;
    return feed(self, io);
}

static enum unit_status step(struct framed *framed, struct codec_io *io)
{
    struct decoder_lz4frame *self = of(framed);
    if (self->feeding)
        return feed(self, io);
    if (!self->in_frame) {
        size_t seen;
        const uint8_t *p = unit_view(&framed->unit, io, 1, &seen);
        if (p && *p == 0)
            return UNIT_PADDING;
        if (!(p = unit_peek(&framed->unit, io, HEADER_MIN_BYTES)))
            return UNIT_MORE;
        if (memcmp(p, magic, sizeof magic) != 0)
            return framed_bad(framed, sizeof magic, "no lz4 frame begins here");
        self->flags = p[4];
        bool content_size = self->flags & 0x08u, dictionary_id = self->flags & 0x01u;
        return begin(self, io, HEADER_MIN_BYTES + (content_size ? 8u : 0u) + (dictionary_id ? 4u : 0u) + 1u, false);
    }
    const uint8_t *p = unit_peek(&framed->unit, io, 4);
    if (!p)
        return UNIT_MORE;
    uint32_t size = ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24) & 0x7FFFFFFFu;
    bool block_checksum = self->flags & 0x10u, content_checksum = self->flags & 0x04u;
    if (size > BLOCK_MAX_BYTES)
        return framed_bad(framed, 4, "impossible block length in an lz4 frame");
    if (size == 0)
        return begin(self, io, content_checksum ? 8 : 4, true);
    return begin(self, io, 4 + size + (block_checksum ? 4 : 0), false);
}

static bool find(struct framed *self, struct codec_io *io)
{
    return unit_search(&self->unit, io, magic, sizeof magic);
}

static void restart(struct framed *self)
{
    of(self)->in_frame = false;
    of(self)->feeding = false;
    LZ4F_resetDecompressionContext(of(self)->context);
}

static const struct framed_format format = {.step = step, .find = find, .restart = restart};

static bool sniff(const uint8_t *head, size_t len)
{
    return memcmp(head, magic, MIN(len, sizeof magic)) == 0;
}

static enum err_code lz4f_open(struct decoder **ret)
{
    struct decoder_lz4frame *self = mem_zalloc(sizeof *self);
    *ret = NULL;
    if (!self)
        return ERR_NOMEM;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&self->context, LZ4F_VERSION))) {
        mem_free(self);
        return ERR_NOMEM;
    }
    *ret = (struct decoder *)(void *)self;
    return ERR_OK;
}

static enum codec_status lz4f_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    return framed_decode(&((struct decoder_lz4frame *)(void *)self)->framed, &format, io, damage);
}

static enum codec_end lz4f_end(const struct decoder *self, struct codec_damage *damage)
{
    const struct decoder_lz4frame *lz4f = (const struct decoder_lz4frame *)(const void *)self;
    return framed_end(&lz4f->framed, !lz4f->in_frame && !lz4f->feeding && unit_held(&lz4f->framed.unit) == 0, damage);
}

static void lz4f_close(struct decoder *self)
{
    if (!self)
        return;
    struct decoder_lz4frame *lz4f = (struct decoder_lz4frame *)(void *)self;
    framed_dispose(&lz4f->framed);
    LZ4F_freeDecompressionContext(lz4f->context);
    mem_free(lz4f);
}

const struct codec codec_lz4frame = {
    .id = CODEC_LZ4_FRAME, .name = "lz4", .sniff = sniff, .open = lz4f_open, .decode = lz4f_decode, .end = lz4f_end, .close = lz4f_close,
};
