/* SPDX-License-Identifier: Apache-2.0
 *
 * compress-lzf's chunks (spec/files.md 2.5): "ZV", a type byte, a 16-bit big-endian length; type 0: so many bytes of text; type 1: another 16-bit length, of the text, then the
 * compressed bytes. No checksum, no end mark; streams follow each other as chunks do.
 *
 * After damage the next "ZV" is taken whose chunk decodes to the very length it promises, or which holds plain text. */
#include <liblzf/lzf.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/source/framed.h"

#define STORED_HEADER_BYTES 5
#define LZF_HEADER_BYTES 7
#define TEXT_MAX_BYTES 65535

struct decoder_lzf {
    struct framed framed;
};

struct chunk {
    size_t header_len, stored_len, text_len;
    bool compressed;
};

/* 1 read, 0 not a chunk, -1 more bytes needed. */
static int read_header(const uint8_t *p, size_t len, struct chunk *ret)
{
    static const uint8_t magic[2] = {'Z', 'V'};
    if (len == 0 || memcmp(p, magic, MIN(len, sizeof magic)) != 0 || (len > 2 && p[2] > 1))
        return len == 0 ? -1 : 0;
    if (len < STORED_HEADER_BYTES)
        return -1;
    ret->compressed = p[2] == 1;
    ret->stored_len = (size_t)p[3] << 8 | p[4];
    ret->header_len = ret->compressed ? LZF_HEADER_BYTES : STORED_HEADER_BYTES;
    if (!ret->compressed) {
        ret->text_len = ret->stored_len;
        return 1;
    }
    if (len < LZF_HEADER_BYTES)
        return -1;
    ret->text_len = (size_t)p[5] << 8 | p[6];
    return ret->stored_len > 0 && ret->text_len > 0;
}

static bool decode_chunk(const uint8_t *p, const struct chunk *chunk, uint8_t *text)
{
    return lzf_decompress(p + chunk->header_len, (unsigned)chunk->stored_len, text, (unsigned)chunk->text_len) == chunk->text_len;
}

static enum unit_status step(struct framed *self, struct codec_io *io)
{
    size_t seen;
    const uint8_t *p = unit_view(&self->unit, io, 1, &seen);
    if (!p)
        return UNIT_MORE;
    if (*p == 0)
        return UNIT_PADDING;
    struct chunk chunk;
    if (!(p = unit_peek(&self->unit, io, STORED_HEADER_BYTES)))
        return UNIT_MORE;
    int readable = read_header(p, STORED_HEADER_BYTES, &chunk);
    if (readable < 0) {
        if (!(p = unit_peek(&self->unit, io, LZF_HEADER_BYTES)))
            return UNIT_MORE;
        readable = read_header(p, LZF_HEADER_BYTES, &chunk);
    }
    if (readable == 0)
        return framed_bad(self, STORED_HEADER_BYTES, "no lzf chunk begins here");
    size_t unit_len = chunk.header_len + chunk.stored_len;
    if (!(p = unit_peek(&self->unit, io, unit_len)))
        return UNIT_MORE;
    if (chunk.text_len == 0) {
        unit_drop(&self->unit, io, unit_len);
        return UNIT_DONE;
    }
    if (io->out_used == io->out_len)
        return UNIT_FULL;
    uint8_t *text = framed_room(self, io, chunk.text_len);
    if (!text)
        return UNIT_OUT_OF_MEMORY;
    if (!chunk.compressed)
        memcpy(text, p + chunk.header_len, chunk.text_len);
    else if (!decode_chunk(p, &chunk, text))
        return framed_bad(self, unit_len, "an lzf chunk cannot be decoded");
    unit_drop(&self->unit, io, unit_len);
    framed_commit(self, io, text, chunk.text_len);
    return UNIT_DONE;
}

static bool is_text(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] < ' ' && p[i] != '\n' && p[i] != '\r' && p[i] != '\t')
            return false;
    return len > 0;
}

static int verify(const uint8_t *p, size_t len, size_t *ret_need, size_t *ret_work)
{
    struct chunk chunk;
    int readable = read_header(p, len, &chunk);
    if (readable <= 0) {
        *ret_need = LZF_HEADER_BYTES;
        return readable;
    }
    *ret_need = chunk.header_len + chunk.stored_len;
    if (len < *ret_need)
        return -1;
    *ret_work = *ret_need;
    uint8_t text[TEXT_MAX_BYTES];
    return chunk.compressed ? decode_chunk(p, &chunk, text) : is_text(p + chunk.header_len, chunk.stored_len);
}

static bool find(struct framed *self, struct codec_io *io)
{
    return framed_find_verified(self, io, verify);
}

static bool contains(const uint8_t *bytes, size_t len)
{
    return framed_contains_verified(bytes, len, verify);
}

static const struct framed_format format = {.step = step, .find = find, .contains = contains};

static bool sniff(const uint8_t *head, size_t len)
{
    struct chunk chunk;
    return len < STORED_HEADER_BYTES ? read_header(head, len, &chunk) != 0 : head[0] == 'Z' && head[1] == 'V' && head[2] <= 1;
}

static enum err_code lzf_open(struct decoder **ret)
{
    *ret = mem_zalloc(sizeof(struct decoder_lzf));
    return *ret ? ERR_OK : ERR_NOMEM;
}

static enum codec_status lzf_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    return framed_decode(&((struct decoder_lzf *)(void *)self)->framed, &format, io, damage);
}

static enum codec_end lzf_end(const struct decoder *self, struct codec_damage *damage)
{
    const struct framed *framed = &((const struct decoder_lzf *)(const void *)self)->framed;
    return framed_end(framed, unit_held(&framed->unit) == 0, damage);
}

static void lzf_close(struct decoder *self)
{
    if (self)
        framed_dispose(&((struct decoder_lzf *)(void *)self)->framed);
    mem_free(self);
}

const struct codec codec_lzf = {
    .id = CODEC_LZF, .name = "lzf", .can_start_anywhere = true, .sniff = sniff, .open = lzf_open, .decode = lzf_decode, .end = lzf_end, .close = lzf_close,
};
