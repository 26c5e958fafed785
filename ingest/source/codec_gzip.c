/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip, one or many members: Databricks parts and archived logs (spec/files.md 2.6). Deflate has no blocks that can be told apart, so zlib is fed as bytes come; when it fails,
 * what it had written by then is kept and the next member header is searched. */
#define ZLIB_CONST
#include <zlib.h>

#include "base/mem.h"
#include "ingest/source/framed.h"

#define HEADER_BYTES 10
#define WINDOW_BITS_GZIP (15 + 16)

static const uint8_t magic[3] = {0x1F, 0x8B, 8};   /* 8: deflate, the only method there is */

struct decoder_gzip {
    struct framed framed;
    z_stream stream;
    bool in_member;
};

static struct decoder_gzip *of(struct framed *self)
{
    return (struct decoder_gzip *)(void *)self;
}

static bool is_header(const uint8_t *p)
{
    return p[0] == magic[0] && p[1] == magic[1] && p[2] == magic[2] && (p[3] & 0xE0u) == 0;
}

static enum unit_status begin_member(struct decoder_gzip *self, struct codec_io *io)
{
    size_t seen;
    const uint8_t *p = unit_view(&self->framed.unit, io, 1, &seen);
    if (p && *p == 0)
        return UNIT_PADDING;
    if (!(p = unit_peek(&self->framed.unit, io, HEADER_BYTES)))
        return UNIT_MORE;
    if (!is_header(p))
        return framed_bad(&self->framed, HEADER_BYTES, "no gzip member begins here");
    inflateReset(&self->stream);
    self->in_member = true;
    return UNIT_DONE;
}

static enum unit_status step(struct framed *framed, struct codec_io *io)
{
    struct decoder_gzip *self = of(framed);
    if (!self->in_member) {
        enum unit_status status = begin_member(self, io);
        if (status != UNIT_DONE)
            return status;
    }
    for (;;) {
        size_t in_len, room = MIN(io->out_len - io->out_used, (size_t)UINT32_MAX);
        const uint8_t *p = unit_view(&framed->unit, io, UINT32_MAX, &in_len);
        static const uint8_t nothing[1];
        self->stream.next_in = p ? p : nothing;
        self->stream.avail_in = (uInt)in_len;
        self->stream.next_out = io->out + io->out_used;
        self->stream.avail_out = (uInt)room;
        int status = inflate(&self->stream, Z_NO_FLUSH);
        size_t taken = in_len - self->stream.avail_in, given = room - self->stream.avail_out;
        unit_drop(&framed->unit, io, taken);
        io->out_used += given;
        switch (status) {
        case Z_STREAM_END:
            self->in_member = false;
            return UNIT_DONE;
        case Z_OK:
        case Z_BUF_ERROR:
            if (self->stream.avail_out == 0)
                return UNIT_FULL;
            if (!unit_view(&framed->unit, io, 1, &in_len))
                return UNIT_MORE;
            if (taken == 0 && given == 0)
                return framed_bad(framed, 0, "a gzip member makes no progress");
            break;
        case Z_MEM_ERROR:
            return UNIT_OUT_OF_MEMORY;
        default:
            return framed_bad(framed, 0, "a gzip member cannot be decoded");
        }
    }
}

static bool find(struct framed *self, struct codec_io *io)
{
    while (unit_search(&self->unit, io, magic, sizeof magic)) {
        const uint8_t *p = unit_peek(&self->unit, io, HEADER_BYTES);
        if (!p)
            return false;
        if (is_header(p))
            return true;
        unit_drop(&self->unit, io, 1);
    }
    return false;
}

static void restart(struct framed *self)
{
    of(self)->in_member = false;
}

static const struct framed_format format = {.step = step, .find = find, .restart = restart};

static bool sniff(const uint8_t *head, size_t len)
{
    return head[0] == magic[0] && (len < 2 || head[1] == magic[1]) && (len < 3 || head[2] == magic[2]);
}

static voidpf zlib_alloc(voidpf context, uInt count, uInt each_bytes)
{
    (void)context;
    return mem_array(count, each_bytes);
}

static void zlib_free(voidpf context, voidpf p)
{
    (void)context;
    mem_free(p);
}

static enum err_code gzip_open(struct decoder **ret)
{
    struct decoder_gzip *self = mem_zalloc(sizeof *self);
    *ret = NULL;
    if (!self)
        return ERR_NOMEM;
    self->stream.zalloc = zlib_alloc;
    self->stream.zfree = zlib_free;
    if (inflateInit2(&self->stream, WINDOW_BITS_GZIP) != Z_OK) {
        mem_free(self);
        return ERR_NOMEM;
    }
    *ret = (struct decoder *)(void *)self;
    return ERR_OK;
}

static enum codec_status gzip_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    return framed_decode(&((struct decoder_gzip *)(void *)self)->framed, &format, io, damage);
}

static enum codec_end gzip_end(const struct decoder *self, struct codec_damage *damage)
{
    const struct decoder_gzip *gzip = (const struct decoder_gzip *)(const void *)self;
    return framed_end(&gzip->framed, !gzip->in_member && unit_held(&gzip->framed.unit) == 0, damage);
}

static void gzip_close(struct decoder *self)
{
    if (!self)
        return;
    struct decoder_gzip *gzip = (struct decoder_gzip *)(void *)self;
    framed_dispose(&gzip->framed);
    inflateEnd(&gzip->stream);
    mem_free(gzip);
}

const struct codec codec_gzip = {
    .id = CODEC_GZIP, .name = "gzip", .sniff = sniff, .open = gzip_open, .decode = gzip_decode, .end = gzip_end, .close = gzip_close,
};
