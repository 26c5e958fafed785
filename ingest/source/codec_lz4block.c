/* SPDX-License-Identifier: Apache-2.0
 *
 * lz4-java's LZ4BlockOutputStream, what Spark calls lz4 (spec/files.md 2.3):
 *
 *      ┌──────────┬───────┬─────────┬─────────┬──────────┬─────────┐
 *      │ LZ4Block │ token │ stored  │ text    │ checksum │ payload │   lengths and checksum little endian; 21 bytes, then `stored` bytes
 *      └──────────┴───────┴─────────┴─────────┴──────────┴─────────┘
 *
 * A block with both lengths 0 ends a stream, not the file. The input may end inside a header: lz4-java calls that a clean end. After damage: the next plausible header. */
#include <lz4.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"
#include "ingest/source/framed.h"

#define HEADER_BYTES 21
#define METHOD_RAW 0x10
#define METHOD_LZ4 0x20
#define CHECKSUM_SEED 0x9747B28Cu
#define CHECKSUM_MASK 0x0FFFFFFFu

static const uint8_t magic[8] = {'L', 'Z', '4', 'B', 'l', 'o', 'c', 'k'};

struct decoder_lz4block {
    struct framed framed;
};

struct header {
    unsigned method;
    uint32_t stored_len, text_len, checksum;
};

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The rules of lz4-java's reader. A compressed block is never longer than its text (it is stored raw then), which keeps a flipped bit in a length from swallowing the file. */
static const char *read_header(const uint8_t *p, struct header *ret)
{
    if (memcmp(p, magic, sizeof magic) != 0)
        return "no lz4 block begins here";
    ret->method = p[8] & 0xF0u;
    ret->stored_len = le32(p + 9);
    ret->text_len = le32(p + 13);
    ret->checksum = le32(p + 17);
    uint32_t text_max = 1u << (10 + (p[8] & 0x0Fu));
    if (ret->method != METHOD_RAW && ret->method != METHOD_LZ4)
        return "unknown method in an lz4 block header";
    if (ret->text_len > text_max || ret->stored_len > ret->text_len || (ret->stored_len == 0) != (ret->text_len == 0) ||
        (ret->method == METHOD_RAW && ret->stored_len != ret->text_len) || (ret->text_len == 0 && ret->checksum != 0))
        return "impossible length in an lz4 block header";
    return NULL;
}

static enum unit_status step(struct framed *self, struct codec_io *io)
{
    size_t seen;
    const uint8_t *first = unit_view(&self->unit, io, 1, &seen);
    if (first && *first == 0)
        return UNIT_PADDING;
    const uint8_t *p = unit_peek(&self->unit, io, HEADER_BYTES);
    if (!p)
        return UNIT_MORE;
    struct header h;
    const char *wrong = read_header(p, &h);
    if (wrong)
        return framed_bad(self, HEADER_BYTES, wrong);
    if (h.text_len == 0) {
        unit_drop(&self->unit, io, HEADER_BYTES);
        return UNIT_DONE;
    }
    size_t unit_len = HEADER_BYTES + h.stored_len;
    if (!(p = unit_peek(&self->unit, io, unit_len)))
        return UNIT_MORE;
    if (io->out_used == io->out_len)
        return UNIT_FULL;
    uint8_t *text = framed_room(self, io, h.text_len);
    if (!text)
        return UNIT_OUT_OF_MEMORY;
    if (h.method == METHOD_RAW)
        memcpy(text, p + HEADER_BYTES, h.text_len);
    else if (LZ4_decompress_safe((const char *)p + HEADER_BYTES, (char *)text, (int)h.stored_len, (int)h.text_len) != (int)h.text_len)
        return framed_bad(self, unit_len, "an lz4 block cannot be decoded");
    if ((XXH32(text, h.text_len, CHECKSUM_SEED) & CHECKSUM_MASK) != h.checksum)
        return framed_bad(self, unit_len, "an lz4 block fails its checksum");
    unit_drop(&self->unit, io, unit_len);
    framed_commit(self, io, text, h.text_len);
    return UNIT_DONE;
}

static bool find(struct framed *self, struct codec_io *io)
{
    while (unit_search(&self->unit, io, magic, sizeof magic)) {
        struct header h;
        const uint8_t *p = unit_peek(&self->unit, io, HEADER_BYTES);
        if (!p)
            return false;
        if (!read_header(p, &h))
            return true;
        unit_drop(&self->unit, io, 1);
    }
    return false;
}

static bool contains(const uint8_t *bytes, size_t len)
{
    struct header h;
    for (const uint8_t *p = bytes; (p = memmem(p, len - (size_t)(p - bytes), magic, sizeof magic)) != NULL; p++)
        if (len - (size_t)(p - bytes) >= HEADER_BYTES && !read_header(p, &h))
            return true;
    return false;
}

static const struct framed_format format = {.step = step, .find = find, .contains = contains};

static bool sniff(const uint8_t *head, size_t len)
{
    return memcmp(head, magic, MIN(len, sizeof magic)) == 0;
}

static enum err_code lz4_open(struct decoder **ret)
{
    *ret = mem_zalloc(sizeof(struct decoder_lz4block));
    return *ret ? ERR_OK : ERR_NOMEM;
}

static enum codec_status lz4_decode(struct decoder *self, struct codec_io *io, struct codec_damage *damage)
{
    return framed_decode(&((struct decoder_lz4block *)(void *)self)->framed, &format, io, damage);
}

static enum codec_end lz4_end(const struct decoder *self, struct codec_damage *damage)
{
    const struct framed *framed = &((const struct decoder_lz4block *)(const void *)self)->framed;
    return framed_end(framed, unit_held(&framed->unit) < HEADER_BYTES, damage);
}

static void lz4_close(struct decoder *self)
{
    if (self)
        framed_dispose(&((struct decoder_lz4block *)(void *)self)->framed);
    mem_free(self);
}

const struct codec codec_lz4block = {
    .id = CODEC_LZ4_BLOCK, .name = "lz4", .can_start_anywhere = true, .sniff = sniff, .open = lz4_open, .decode = lz4_decode, .end = lz4_end, .close = lz4_close,
};
