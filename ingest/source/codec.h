/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoders of stored bytes: one static struct a format, which does not know who reads its text. A decoder takes input in pieces of any size and gives the same text for every
 * way of cutting it; it can be asked for more when a file has grown. It never reads or writes outside the two ranges of struct codec_io and keeps what it needs of the input.
 *
 *   struct decoder *d; codec->open(&d);
 *   io.in = …; io.out = …; status = codec->decode(d, &io, &damage);      until CODEC_MORE and there is no more input
 *   codec->end(d, &damage);                                             how the input ended
 *   codec->close(d);
 *
 * Damage: decode answers CODEC_DAMAGE once for each gap, with the reason; text before the gap was delivered, the next call looks for the next place where decoding can go on
 * (see each file) and delivers what follows. Searching costs at most a constant factor over the input, whatever it holds (RESYNC_… in framed.h).
 * Concatenated streams are one text. Memory: at most one unit of the format (a block, a chunk: 32 MiB and its text) and zstd's window of up to 128 MiB, only as the input asks.
 * One thread a decoder. */
#ifndef SOURCE_CODEC_H
#define SOURCE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum codec_id { CODEC_NONE, CODEC_ZSTD, CODEC_LZ4_BLOCK, CODEC_LZ4_FRAME, CODEC_SNAPPY, CODEC_LZF, CODEC_GZIP, CODEC_MAX_ };

enum codec_status {
    CODEC_MORE,      /* the input is used up (what is needed of it was kept) */
    CODEC_FULL,      /* the output is full; call again with room */
    CODEC_DAMAGE,    /* text is missing here; call again */
    CODEC_OUT_OF_MEMORY,
};

/* What the end of the input means, if it ends here. More input may still follow. */
enum codec_end {
    CODEC_END_CLEAN,
    CODEC_END_CUT,        /* inside a frame, a block, a chunk */
    CODEC_END_TRAILING,   /* zero bytes after the last unit, as file systems leave them */
    CODEC_END_LOST,       /* still looking for a place to go on after damage */
};

struct codec_io {
    const uint8_t *in;    /* borrowed for the call */
    size_t in_len, in_used;
    uint8_t *out;
    size_t out_len, out_used;
    bool last;            /* there is no more input now: a search looks at all it has */
};

struct codec_damage {
    int64_t stored_offset;   /* of the unit that cannot be used, from the first byte of input */
    char reason[120];
};

struct decoder;

struct codec {
    enum codec_id id;
    const char *name;                                                   /* static: none zstd lz4 snappy lzf gzip */
    bool can_start_anywhere;                                            /* finds its way when it is started in the middle of a file */
    bool (*sniff)(const uint8_t *head, size_t len);                     /* `len` up to CODEC_SNIFF_BYTES; true also for a shorter head that may become the format's */
    enum err_code (*open)(struct decoder **ret) WARN_UNUSED;            /* ERR_OK or ERR_NOMEM */
    enum codec_status (*decode)(struct decoder *self, struct codec_io *io, struct codec_damage *damage) WARN_UNUSED;
    enum codec_end (*end)(const struct decoder *self, struct codec_damage *damage);   /* fills damage for TRAILING */
    void (*close)(struct decoder *self);                                /* NULL is fine */
};

#define CODEC_SNIFF_BYTES 8

extern const struct codec codec_none, codec_zstd, codec_lz4block, codec_lz4frame, codec_snappy, codec_lzf, codec_gzip;

/* The codec whose magic the file begins with; codec_none when there is none. *ret_undecided: so few bytes are there that it may still become a codec's. */
const struct codec *codec_sniff(const uint8_t *head, size_t len, bool *ret_undecided);

/* The codec that a file-name suffix stands for (zstd zst lz4 snappy lzf gz, any case, without the dot); NULL: not a codec's. */
const struct codec *codec_of_suffix(const char *suffix, size_t len);

#endif
