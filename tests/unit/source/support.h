/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of ingest/source: temporary directories, files, text of event lines, and small writers of the formats that Spark writes (spec/files.md 2). */
#ifndef TESTS_SOURCE_SUPPORT_H
#define TESTS_SOURCE_SUPPORT_H

#include <assert.h>
#include <ftw.h>
#include <liblzf/lzf.h>
#include <lz4.h>
#include <lz4frame.h>
#include <setjmp.h>
#include <snappy-c.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

#define HUGE_BYTES ((size_t)1 << 30)

UNUSED static struct buf buf_new(void)
{
    struct buf b;
    buf_init(&b, HUGE_BYTES);
    return b;
}

UNUSED static struct buf buf_of(const void *bytes, size_t len)
{
    struct buf b = buf_new();
    buf_append(&b, bytes, len);
    return b;
}

/* "7b22 0a" → bytes */
UNUSED static struct buf from_hex(const char *text)
{
    struct buf b = buf_new();
    int high = -1;
    for (; *text; text++) {
        int digit = *text >= '0' && *text <= '9' ? *text - '0' : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10 : -1;
        if (digit < 0)
            continue;
        if (high >= 0)
            buf_char(&b, (char)(high << 4 | digit));
        high = high >= 0 ? -1 : digit;
    }
    return b;
}

UNUSED static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

UNUSED static struct buf noise(size_t len, uint32_t seed)
{
    struct buf b = buf_new();
    for (size_t i = 0; i < len; i++)
        buf_char(&b, (char)next_random(&seed));
    return b;
}

/* Event lines, numbered, of varying length: about 100 bytes each. */
UNUSED static struct buf event_lines(int first, int count)
{
    struct buf b = buf_new();
    uint32_t seed = (uint32_t)first * 7919u + 1;
    for (int i = first; i < first + count; i++) {
        buf_printf(&b, "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"x\":\"", i);
        for (uint32_t n = next_random(&seed) % 100; n > 0; n--)
            buf_char(&b, (char)('a' + next_random(&seed) % 26));
        buf_text(&b, "\"}\n");
    }
    return b;
}

UNUSED static void append_le32(struct buf *b, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        buf_char(b, (char)(v >> (8 * i)));
}

UNUSED static void append_be32(struct buf *b, uint32_t v)
{
    for (int i = 3; i >= 0; i--)
        buf_char(b, (char)(v >> (8 * i)));
}

/* One unit of each format; `raw`: stored, where the format has that. */
UNUSED static void add_lz4_block(struct buf *b, const char *text, size_t len, bool raw)
{
    char *packed = malloc((size_t)LZ4_compressBound((int)len));
    int packed_len = raw ? 0 : LZ4_compress_default(text, packed, (int)len, LZ4_compressBound((int)len));
    bool stored = raw || packed_len <= 0 || (size_t)packed_len >= len;
    unsigned level = 5;
    while (((size_t)1 << (10 + level)) < len)
        level++;
    buf_append(b, "LZ4Block", 8);
    buf_char(b, (char)((stored ? 0x10u : 0x20u) | level));
    append_le32(b, stored ? (uint32_t)len : (uint32_t)packed_len);
    append_le32(b, (uint32_t)len);
    append_le32(b, XXH32(text, len, 0x9747B28Cu) & 0x0FFFFFFFu);
    if (stored)
        buf_append(b, text, len);
    else
        buf_append(b, packed, (size_t)packed_len);
    free(packed);
}

UNUSED static void add_lz4_end(struct buf *b)
{
    static const char end[] = "LZ4Block\x15\0\0\0\0\0\0\0\0\0\0\0\0";
    buf_append(b, end, 21);
}

UNUSED static void add_snappy_header(struct buf *b)
{
    buf_append(b, "\x82SNAPPY\0", 8);
    append_be32(b, 1);
    append_be32(b, 1);
}

UNUSED static void add_snappy_chunk(struct buf *b, const char *text, size_t len)
{
    size_t packed_len = snappy_max_compressed_length(len);
    char *packed = malloc(packed_len);
    assert_int_equal(snappy_compress(text, len, packed, &packed_len), SNAPPY_OK);
    append_be32(b, (uint32_t)packed_len);
    buf_append(b, packed, packed_len);
    free(packed);
}

UNUSED static void add_lzf_chunk(struct buf *b, const char *text, size_t len, bool raw)
{
    char *packed = malloc(len + 1);
    unsigned packed_len = raw || len < 5 ? 0 : lzf_compress(text, (unsigned)len, packed, (unsigned)len - 1);
    const char *body = packed_len ? packed : text;
    size_t body_len = packed_len ? packed_len : len;
    buf_append(b, "ZV", 2);
    buf_char(b, packed_len ? 1 : 0);
    buf_char(b, (char)(body_len >> 8));
    buf_char(b, (char)body_len);
    if (packed_len) {
        buf_char(b, (char)(len >> 8));
        buf_char(b, (char)len);
    }
    buf_append(b, body, body_len);
    free(packed);
}

/* As Spark writes it: size unknown, no checksum; `checksum` as the command line does. */
UNUSED static void add_zstd_frame(struct buf *b, const char *text, size_t len, bool checksum, int window_log)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
    if (window_log)
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    size_t room = ZSTD_compressBound(len) + 1024;
    char *packed = malloc(room);
    ZSTD_outBuffer out = {packed, room, 0};
    ZSTD_inBuffer in = {text, len, 0};
    assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
    in = (ZSTD_inBuffer){NULL, 0, 0};
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    buf_append(b, packed, out.pos);
    free(packed);
    ZSTD_freeCCtx(context);
}

UNUSED static void add_gzip_member(struct buf *b, const char *text, size_t len)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, len) + 64;
    Bytef *packed = malloc(room), *copy = malloc(len + 1);
    memcpy(copy, text, len);
    stream.next_in = copy;
    stream.avail_in = (uInt)len;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    buf_append(b, packed, stream.total_out);
    deflateEnd(&stream);
    free(packed);
    free(copy);
}

UNUSED static void add_lz4_frame(struct buf *b, const char *text, size_t len)
{
    LZ4F_frameInfo_t info = {.blockSizeID = LZ4F_max64KB, .contentChecksumFlag = LZ4F_contentChecksumEnabled, .blockChecksumFlag = LZ4F_blockChecksumEnabled};
    LZ4F_preferences_t preferences = {.frameInfo = info};
    size_t room = LZ4F_compressFrameBound(len, &preferences);
    char *packed = malloc(room);
    size_t packed_len = LZ4F_compressFrame(packed, room, text, len, &preferences);
    assert_false(LZ4F_isError(packed_len));
    buf_append(b, packed, packed_len);
    free(packed);
}

/* ---- files */

UNUSED static char *temporary_directory(void)
{
    static char path[64];
    snprintf(path, sizeof path, "%s", "/tmp/afterglow-source-XXXXXX");
    return mkdtemp(path);
}

UNUSED static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

UNUSED static void remove_directory(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* "<dir>/<name>", in one of a few static buffers. */
UNUSED static const char *in_dir(const char *dir, const char *name)
{
    static char paths[8][1024];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

UNUSED static void put_bytes(const char *path, const void *bytes, size_t len, const char *mode)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    if (len > 0)
        assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

UNUSED static void put_buf(const char *path, struct buf bytes)
{
    put_bytes(path, bytes.data, bytes.len, "wb");
    buf_dispose(&bytes);
}

UNUSED static void put_text(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text), "wb");
}

/* The shared corpus, when it is there; NULL: skip. */
UNUSED static const char *shared_directory(void)
{
    static char path[1024];
    const char *setting = getenv("AFTERGLOW_SHARED");
    snprintf(path, sizeof path, "%s", setting ? setting : TEST_DATA "/../../../shared");
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? path : NULL;
}

#endif
