/* SPDX-License-Identifier: Apache-2.0
 *
 * Every decoder on hostile bytes. Byte 0: the codec and how input and output are cut; the rest is the stored file. Decoding it in one piece and in small ones must give the same
 * text with the same gaps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "ingest/source/codec.h"

#define TEXT_MAX ((size_t)4 << 20)   /* a zstd block of four bytes is 128 KiB of text: enough is enough */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct codec *const codecs[] = {&codec_none, &codec_zstd, &codec_lz4block, &codec_lz4frame, &codec_snappy, &codec_lzf, &codec_gzip};

/* Text, with a mark at each gap. False: more than TEXT_MAX of it. */
static bool decode(const struct codec *codec, const uint8_t *data, size_t size, size_t in_step, size_t out_step, struct buf *text)
{
    struct decoder *decoder;
    struct codec_damage damage;
    uint8_t *out = malloc(out_step);
    bool whole = true;
    size_t given = 0;
    if (!out || codec->open(&decoder) != ERR_OK)
        abort();
    for (bool last = false; !last && whole;) {
        size_t step = MIN(in_step, size - given), used = 0;
        last = given + step == size;
        for (enum codec_status status = CODEC_FULL; status != CODEC_MORE && whole;) {
            struct codec_io io = {.in = data + given + used, .in_len = step - used, .out = out, .out_len = out_step, .last = last};
            status = codec->decode(decoder, &io, &damage);
            if (io.in_used > io.in_len || io.out_used > io.out_len || status == CODEC_OUT_OF_MEMORY || (status == CODEC_FULL && io.out_used < io.out_len))
                abort();
            used += io.in_used;
            buf_append(text, out, io.out_used);
            if (status == CODEC_DAMAGE) {
                if (memchr(damage.reason, '\0', sizeof damage.reason) == NULL || damage.stored_offset < 0 || (size_t)damage.stored_offset > size)
                    abort();
                buf_text(text, "<gap>");
            }
            whole = text->len <= TEXT_MAX;
        }
        given += step;
    }
    codec->end(decoder, &damage);
    codec->close(decoder);
    free(out);
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t steps[] = {1, 2, 7, 100, 4096};
    if (size < 1 || size > 1 << 20)
        return 0;
    const struct codec *codec = codecs[data[0] % ARRAY_LENGTH(codecs)];
    size_t in_step = steps[data[0] / 7 % 5], out_step = steps[data[0] / 35 % 5];
    struct buf whole, pieces;
    buf_init(&whole, 2 * TEXT_MAX);
    buf_init(&pieces, 2 * TEXT_MAX);
    bool ended = decode(codec, data + 1, size - 1, size, 1 << 16, &whole);
    ended &= decode(codec, data + 1, size - 1, in_step, out_step, &pieces);
    if (ended && !str_eq(buf_str(&whole), buf_str(&pieces))) {
        fprintf(stderr, "%s: %zu bytes of text in one piece, %zu in pieces of %zu and %zu\n", codec->name, whole.len, pieces.len, in_step, out_step);
        abort();
    }
    buf_dispose(&whole);
    buf_dispose(&pieces);
    return 0;
}
