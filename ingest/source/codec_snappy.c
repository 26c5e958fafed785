/* SPDX-License-Identifier: Apache-2.0
 *
 * snappy-java's SnappyOutputStream (spec/files.md 2.4), not the snappy framing format: a 16-byte header, then chunks of a 32-bit big-endian length and one raw snappy block, which
 * begins with the length of its text. Another header may stand wherever a chunk may. The input may end inside a length: snappy-java calls that a clean end.
 *
 * Chunks have no magic and no checksum. After damage the next place is taken where a length, a text length and a whole valid snappy block agree, or where a header stands; this
 * finds chunks of up to 64 KiB of text (Spark's default is 32). Damage that leaves a block valid is not seen here. */
#include <snappy-c.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/source/framed.h"

#define HEADER_BYTES 16
#define LENGTH_BYTES 4
#define VARINT_MAX_BYTES 5
#define SEARCHED_TEXT_MAX 65536u

static const uint8_t magic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

struct decoder_snappy {
    struct framed framed;
    bool in_stream;              /* a header was read: chunks follow */
};

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static bool is_header(const uint8_t *p)
{
    return memcmp(p, magic, sizeof magic) == 0 && be32(p + 8) >= 1 && be32(p + 8) <= INT32_MAX;
}

/* The text length in front of a raw block; false when it is broken. `len` is the block's, at least 1. */
static bool text_length(const uint8_t *block, size_t len, uint32_t *ret)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < MIN(len, (size_t)VARINT_MAX_BYTES); i++) {
        value |= (uint64_t)(block[i] & 0x7Fu) << (7 * i);
        if (!(block[i] & 0x80u)) {
            *ret = (uint32_t)value;
            return value <= FRAMED_TEXT_MAX;
        }
    }
    return false;
}

static enum unit_status step(struct framed *self, struct codec_io *io)
{
    struct decoder_snappy *decoder = (struct decoder_snappy *)(void *)self;
    const uint8_t *p = unit_peek(&self->unit, io, LENGTH_BYTES);
    if (!p)
        return UNIT_MORE;
    uint32_t block_len = be32(p);
    if (!decoder->in_stream || p[0] == magic[0]) {
        if (block_len == 0)
            return UNIT_PADDING;
        if (!(p = unit_peek(&self->unit, io, HEADER_BYTES)))
            return UNIT_MORE;
        if (!is_header(p))
            return framed_bad(self, LENGTH_BYTES, "no snappy header where one must be");
        unit_drop(&self->unit, io, HEADER_BYTES);
        decoder->in_stream = true;
        return UNIT_DONE;
    }
    if (block_len == 0)
        return UNIT_PADDING;
    if (block_len > UNIT_MAX_BYTES - LENGTH_BYTES)
        return framed_bad(self, LENGTH_BYTES, "impossible length of a snappy chunk");
    size_t head_len = MIN(block_len, (uint32_t)VARINT_MAX_BYTES);
    if (!(p = unit_peek(&self->unit, io, LENGTH_BYTES + head_len)))
        return UNIT_MORE;
    uint32_t text_len;
    if (!text_length(p + LENGTH_BYTES, head_len, &text_len) || block_len > snappy_max_compressed_length(text_len))
        return framed_bad(self, LENGTH_BYTES, "lengths of a snappy chunk contradict each other");
    size_t unit_len = LENGTH_BYTES + block_len;
    if (!(p = unit_peek(&self->unit, io, unit_len)))
        return UNIT_MORE;
    if (text_len > 0 && io->out_used == io->out_len)
        return UNIT_FULL;
    uint8_t *text = framed_room(self, io, text_len);
    if (!text && text_len > 0)
        return UNIT_OUT_OF_MEMORY;
    size_t got = text_len;
    char nowhere;
    if (snappy_uncompress((const char *)p + LENGTH_BYTES, block_len, text ? (char *)text : &nowhere, &got) != SNAPPY_OK || got != text_len)
        return framed_bad(self, unit_len, "a snappy chunk cannot be decoded");
    unit_drop(&self->unit, io, unit_len);
    if (text_len > 0)
        framed_commit(self, io, text, text_len);
    return UNIT_DONE;
}

static int verify(const uint8_t *p, size_t len, size_t *ret_need, size_t *ret_work)
{
    if (p[0] == magic[0]) {
        if (memcmp(p, magic, MIN(len, sizeof magic)) != 0)
            return 0;
        *ret_need = HEADER_BYTES;
        return len < HEADER_BYTES ? -1 : is_header(p);
    }
    if (p[0] != 0)
        return 0;      /* a chunk of 16 MiB or more */
    *ret_need = LENGTH_BYTES + 1;
    if (len < LENGTH_BYTES + 1)
        return -1;
    uint32_t block_len = be32(p), text_len;
    if (block_len < 2 || block_len > snappy_max_compressed_length(SEARCHED_TEXT_MAX))
        return 0;
    *ret_need = LENGTH_BYTES + block_len;
    size_t there = MIN(len - LENGTH_BYTES, (size_t)block_len);
    if (there < MIN(block_len, (uint32_t)VARINT_MAX_BYTES))
        return -1;
    if (!text_length(p + LENGTH_BYTES, there, &text_len) || text_len == 0 || text_len > SEARCHED_TEXT_MAX || block_len > snappy_max_compressed_length(text_len))
        return 0;
    if (there < block_len)
        return -1;
    *ret_work = block_len;
    return snappy_validate_compressed_buffer((const char *)p + LENGTH_BYTES, block_len) == SNAPPY_OK;
}

static bool find(struct framed *self, struct codec_io *io)
{
    if (!framed_find_verified(self, io, verify))
        return false;
    ((struct decoder_snappy *)(void *)self)->in_stream = true;
    return true;
}

static bool contains(const uint8_t *bytes, size_t len)
{
    return framed_contains_verified(bytes, len, verify);
}

static const struct framed_format format = {.step = step, .find = find, .contains = contains, .padding_keep = LENGTH_BYTES - 1};

static bool sniff(const uint8_t *head, size_t len)
{
    return memcmp(head, magic, MIN(len, sizeof magic)) == 0;
}

static enum err_code snappy_open(struct decoder **ret)
{
    *ret = mem_zalloc(sizeof(struct decoder_snappy));
    return *ret ? ERR_OK : ERR_NOMEM;
}

static enum codec_status snappy_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    return framed_decode(&((struct decoder_snappy *)(void *)self)->framed, &format, io, damage);
}

static enum codec_end snappy_end(const struct decoder *self, struct codec_damage *damage)
{
    const struct decoder_snappy *decoder = (const struct decoder_snappy *)(const void *)self;
    size_t held = unit_held(&decoder->framed.unit);
    return framed_end(&decoder->framed, decoder->in_stream ? held < LENGTH_BYTES : held == 0, damage);
}

static void snappy_close(struct decoder *self)
{
    if (self)
        framed_dispose(&((struct decoder_snappy *)(void *)self)->framed);
    mem_free(self);
}

const struct codec codec_snappy = {
    .id = CODEC_SNAPPY, .name = "snappy", .can_start_anywhere = true, .sniff = sniff, .open = snappy_open, .decode = snappy_decode, .end = snappy_end, .close = snappy_close,
};
