/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <time.h>

#include "ingest/source/codec.h"
#include "ingest/source/framed.h"

/* spec/files.md 2.9: what the Java libraries wrote for these two lines, with a flush after each. */
#define VECTOR_TEXT "{\"Event\":\"A\"}\n{\"Event\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}\n"
#define VECTOR_LZ4 \
    "4c5a34426c6f636b 25 1b000000 3b000000 c3085c01 e77b224576656e74223a2241227d0a0e000f01000a504141227d0a 4c5a34426c6f636b 15 00000000 00000000 00000000"
#define VECTOR_SNAPPY "82534e4150505900 00000001 00000001 00000010 0e347b224576656e74223a2241227d0a 00000014 2d287b224576656e74223a22417a01000822 7d0a"
#define VECTOR_LZF "5a5600000e7b224576656e74223a2241227d0a 5a56010013002d0a7b224576656e74223a2241e0160002227d0a"
#define VECTOR_ZSTD "28b52ffd00487100007b224576656e74223a2241227d0a 28b52ffd0048a50000707b224576656e74223a2241227d0a01000df002"

static const struct {
    const struct codec *codec;
    const char *hex;
} vectors[] = {{&codec_lz4block, VECTOR_LZ4}, {&codec_snappy, VECTOR_SNAPPY}, {&codec_lzf, VECTOR_LZF}, {&codec_zstd, VECTOR_ZSTD}};

struct outcome {
    struct buf text;
    int gaps;
    enum codec_end end;
    char first_reason[120], end_reason[120];
    int64_t first_offset;
};

/* Decodes all of `stored`, `in_step` bytes at a time into `out_step` bytes at a time. */
static struct outcome decode(const struct codec *codec, struct buf stored, size_t in_step, size_t out_step)
{
    struct outcome o = {.text = buf_new()};
    struct decoder *decoder;
    uint8_t *out = malloc(out_step);
    size_t given = 0;
    assert_int_equal(codec->open(&decoder), ERR_OK);
    for (bool last = false; !last;) {
        size_t step = MIN(in_step, stored.len - given), used = 0;
        last = given + step == stored.len;
        /* A copy of exactly the piece, so that the sanitizer sees a read past it. */
        uint8_t *piece = malloc(step + 1);
        if (step)
            memcpy(piece, stored.data + given, step);
        for (;;) {
            struct codec_io io = {.in = piece + used, .in_len = step - used, .out = out, .out_len = out_step, .last = last};
            struct codec_damage damage = {0};
            enum codec_status status = codec->decode(decoder, &io, &damage);
            assert_true(io.in_used <= io.in_len && io.out_used <= io.out_len);
            buf_append(&o.text, out, io.out_used);
            used += io.in_used;
            assert_int_not_equal(status, CODEC_OUT_OF_MEMORY);
            if (status == CODEC_DAMAGE) {
                if (o.gaps++ == 0) {
                    memcpy(o.first_reason, damage.reason, sizeof o.first_reason);
                    o.first_offset = damage.stored_offset;
                }
                buf_char(&o.text, '#');
            }
            if (status == CODEC_FULL)
                assert_true(io.out_used == io.out_len);
            if (status == CODEC_MORE) {
                assert_int_equal(used, step);
                break;
            }
        }
        free(piece);
        given += step;
    }
    struct codec_damage damage = {0};
    o.end = codec->end(decoder, &damage);
    memcpy(o.end_reason, damage.reason, sizeof o.end_reason);
    codec->close(decoder);
    free(out);
    return o;
}

static void expect_text(struct outcome o, const char *text, size_t len, int gaps, enum codec_end end)
{
    assert_int_equal(o.text.len, len);
    assert_memory_equal(buf_str(&o.text).ptr, text, len);
    assert_int_equal(o.gaps, gaps);
    assert_int_equal(o.end, end);
    buf_dispose(&o.text);
}

/* The same outcome for all ways of cutting input and output. */
static void expect_in_all_steps(const struct codec *codec, struct buf stored, const char *text, size_t len, int gaps, enum codec_end end)
{
    static const size_t steps[] = {1, 2, 7, 4096, 1 << 20};
    for (size_t i = 0; i < ARRAY_LENGTH(steps); i++)
        for (size_t j = 0; j < ARRAY_LENGTH(steps); j++) {
            if (steps[i] * steps[j] < 7 && len > 100000)
                continue;   /* slow, and the same as with short text */
            expect_text(decode(codec, stored, steps[i], steps[j]), text, len, gaps, end);
        }
}

/* Five units of text of about `unit_lines` lines each, in the codec's format; ends[i]: stored bytes up to the end of unit i, texts likewise. */
struct five {
    struct buf stored, text;
    size_t stored_end[5], text_end[5];
};

static struct five five_units(const struct codec *codec, int unit_lines)
{
    struct five f = {.stored = buf_new(), .text = buf_new()};
    if (codec == &codec_snappy)
        add_snappy_header(&f.stored);
    for (int i = 0; i < 5; i++) {
        struct buf lines = event_lines(i * unit_lines, unit_lines);
        switch (codec->id) {
        case CODEC_LZ4_BLOCK: add_lz4_block(&f.stored, lines.data, lines.len, i == 1); break;
        case CODEC_LZ4_FRAME: add_lz4_frame(&f.stored, lines.data, lines.len); break;
        case CODEC_SNAPPY: add_snappy_chunk(&f.stored, lines.data, lines.len); break;
        case CODEC_LZF: add_lzf_chunk(&f.stored, lines.data, lines.len, i == 1); break;
        case CODEC_ZSTD: add_zstd_frame(&f.stored, lines.data, lines.len, i == 1, 0); break;
        case CODEC_GZIP: add_gzip_member(&f.stored, lines.data, lines.len); break;
        default: buf_append(&f.stored, lines.data, lines.len); break;
        }
        buf_append(&f.text, lines.data, lines.len);
        f.stored_end[i] = f.stored.len;
        f.text_end[i] = f.text.len;
        buf_dispose(&lines);
    }
    return f;
}

static void five_dispose(struct five *f)
{
    buf_dispose(&f->stored);
    buf_dispose(&f->text);
}

static const struct codec *const all_framed[] = {&codec_zstd, &codec_lz4block, &codec_lz4frame, &codec_snappy, &codec_lzf, &codec_gzip};

static void java_vectors_decode_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        struct buf stored = from_hex(vectors[i].hex);
        expect_in_all_steps(vectors[i].codec, stored, VECTOR_TEXT, sizeof VECTOR_TEXT - 1, 0, CODEC_END_CLEAN);
        buf_dispose(&stored);
    }
}

static void two_streams_in_a_row_are_one_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(vectors); i++) {
        struct buf stored = from_hex(vectors[i].hex), again = from_hex(vectors[i].hex);
        buf_append(&stored, again.data, again.len);
        expect_in_all_steps(vectors[i].codec, stored, VECTOR_TEXT VECTOR_TEXT, 2 * (sizeof VECTOR_TEXT - 1), 0, CODEC_END_CLEAN);
        buf_dispose(&stored);
        buf_dispose(&again);
    }
}

static void checksums_are_those_of_lz4_java(void **state)
{
    (void)state;
    static const char zeros[32768];
    assert_int_equal(XXH32(VECTOR_TEXT, sizeof VECTOR_TEXT - 1, 0x9747B28Cu), 0xd15c08c3u);
    assert_int_equal(XXH32(zeros, sizeof zeros, 0x9747B28Cu), 0xe2f37557u);
    struct buf stored = from_hex("4c5a34426c6f636b 15 00800000 00800000 5775f302");
    buf_append(&stored, zeros, sizeof zeros);
    expect_text(decode(&codec_lz4block, stored, 4096, 4096), zeros, sizeof zeros, 0, CODEC_END_CLEAN);
    stored.data[17] ^= 1;
    expect_text(decode(&codec_lz4block, stored, 4096, 4096), "#", 1, 1, CODEC_END_LOST);
    buf_dispose(&stored);
}

static void real_units_decode_in_pieces_of_any_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(all_framed); i++) {
        struct five f = five_units(all_framed[i], 300);
        expect_in_all_steps(all_framed[i], f.stored, f.text.data, f.text.len, 0, CODEC_END_CLEAN);
        five_dispose(&f);
    }
}

static void empty_input_is_a_clean_end(void **state)
{
    (void)state;
    struct buf nothing = buf_new();
    for (size_t i = 0; i < ARRAY_LENGTH(all_framed); i++)
        expect_text(decode(all_framed[i], nothing, 1, 1), "", 0, 0, CODEC_END_CLEAN);
    expect_text(decode(&codec_none, nothing, 1, 1), "", 0, 0, CODEC_END_CLEAN);
}

static void a_cut_at_any_byte_gives_the_units_before_it(void **state)
{
    (void)state;
    for (size_t c = 0; c < ARRAY_LENGTH(all_framed); c++) {
        struct five f = five_units(all_framed[c], 3);
        for (size_t cut = 0; cut < f.stored.len; cut++) {
            struct buf part = f.stored;
            part.len = cut;
            struct outcome o = decode(all_framed[c], part, 4096, 4096);
            size_t whole = 0;
            bool at_end = cut == 0;
            for (int i = 0; i < 5; i++) {
                whole = f.stored_end[i] <= cut ? f.text_end[i] : whole;
                at_end |= f.stored_end[i] == cut;
            }
            assert_int_equal(o.gaps, 0);
            assert_true(o.text.len >= whole && o.text.len <= f.text.len);
            assert_memory_equal(buf_str(&o.text).ptr, f.text.data, o.text.len);
            if (at_end)
                assert_int_equal(o.end, CODEC_END_CLEAN);
            else if (all_framed[c] != &codec_lz4block && all_framed[c] != &codec_snappy)
                assert_int_equal(o.end, CODEC_END_CUT);
            buf_dispose(&o.text);
        }
        five_dispose(&f);
    }
}

static void an_end_inside_an_lz4_header_or_a_snappy_length_is_clean(void **state)
{
    (void)state;
    struct five f = five_units(&codec_lz4block, 3);
    struct buf part = f.stored;
    part.len = f.stored_end[2] + 20;
    expect_text(decode(&codec_lz4block, part, 7, 100), f.text.data, f.text_end[2], 0, CODEC_END_CLEAN);
    part.len = f.stored_end[2] + 22;
    expect_text(decode(&codec_lz4block, part, 7, 100), f.text.data, f.text_end[2], 0, CODEC_END_CUT);
    five_dispose(&f);
    f = five_units(&codec_snappy, 3);
    part = f.stored;
    part.len = f.stored_end[2] + 3;
    expect_text(decode(&codec_snappy, part, 7, 100), f.text.data, f.text_end[2], 0, CODEC_END_CLEAN);
    part.len = f.stored_end[2] + 5;
    expect_text(decode(&codec_snappy, part, 7, 100), f.text.data, f.text_end[2], 0, CODEC_END_CUT);
    five_dispose(&f);
}

/* Byte `offset` of unit 3 is changed: units 1, 2, 4 and 5 are there, with one gap. */
static void expect_only_unit_3_lost(const struct codec *codec, size_t offset, int unit_lines)
{
    struct five f = five_units(codec, unit_lines);
    f.stored.data[f.stored_end[1] + offset] ^= 0x55;
    struct buf expected = buf_of(f.text.data, f.text_end[1]);
    buf_char(&expected, '#');
    buf_append(&expected, f.text.data + f.text_end[2], f.text.len - f.text_end[2]);
    expect_text(decode(codec, f.stored, 4096, 4096), expected.data, expected.len, 1, CODEC_END_CLEAN);
    expect_text(decode(codec, f.stored, 1, 7), expected.data, expected.len, 1, CODEC_END_CLEAN);
    expect_text(decode(codec, f.stored, 1 << 20, 1 << 20), expected.data, expected.len, 1, CODEC_END_CLEAN);
    buf_dispose(&expected);
    five_dispose(&f);
}

static void after_a_bad_unit_the_next_good_one_is_found(void **state)
{
    (void)state;
    expect_only_unit_3_lost(&codec_lz4block, 0, 100);       /* magic */
    expect_only_unit_3_lost(&codec_lz4block, 8, 100);       /* method */
    expect_only_unit_3_lost(&codec_lz4block, 10, 100);      /* stored length, which then points into unit 4 or 5 */
    expect_only_unit_3_lost(&codec_lz4block, 17, 100);      /* checksum */
    expect_only_unit_3_lost(&codec_lz4block, 40, 100);      /* payload */
    expect_only_unit_3_lost(&codec_zstd, 0, 100);
    expect_only_unit_3_lost(&codec_zstd, 2, 100);
    expect_only_unit_3_lost(&codec_zstd, 7, 100);           /* block length, beyond the end of the file */
    expect_only_unit_3_lost(&codec_zstd, 8, 100);
    expect_only_unit_3_lost(&codec_snappy, 0, 100);         /* length */
    expect_only_unit_3_lost(&codec_snappy, 2, 100);
    expect_only_unit_3_lost(&codec_snappy, 4, 100);         /* text length */
    expect_only_unit_3_lost(&codec_lzf, 0, 100);
    expect_only_unit_3_lost(&codec_lzf, 3, 100);            /* stored length, beyond the end of the file */
    expect_only_unit_3_lost(&codec_lzf, 5, 100);            /* text length */
    expect_only_unit_3_lost(&codec_gzip, 0, 100);
    expect_only_unit_3_lost(&codec_gzip, 2, 100);
    expect_only_unit_3_lost(&codec_lz4frame, 0, 100);
}

static void noise_of_any_kind_between_units_costs_only_itself(void **state)
{
    (void)state;
    for (size_t c = 0; c < ARRAY_LENGTH(all_framed); c++)
        for (uint32_t seed = 1; seed <= 20; seed++) {
            struct five f = five_units(all_framed[c], 100);
            struct buf bad = noise(seed * 37, seed), stored = buf_of(f.stored.data, f.stored_end[1]);
            bad.data[0] = 'N';                              /* not zero: that would be padding first, see below */
            buf_append(&stored, bad.data, bad.len);
            buf_append(&stored, f.stored.data + f.stored_end[1], f.stored.len - f.stored_end[1]);
            struct buf expected = buf_of(f.text.data, f.text_end[1]);
            buf_char(&expected, '#');
            buf_append(&expected, f.text.data + f.text_end[1], f.text.len - f.text_end[1]);
            expect_text(decode(all_framed[c], stored, 4096, 4096), expected.data, expected.len, 1, CODEC_END_CLEAN);
            buf_dispose(&expected);
            buf_dispose(&stored);
            buf_dispose(&bad);
            five_dispose(&f);
        }
}

static void zero_bytes_at_the_end_are_a_remark_and_in_the_middle_a_gap(void **state)
{
    (void)state;
    static const char zeros[5000];
    for (size_t c = 0; c < ARRAY_LENGTH(all_framed); c++) {
        struct five f = five_units(all_framed[c], 50);
        struct buf stored = buf_of(f.stored.data, f.stored.len);
        buf_append(&stored, zeros, 4096);
        struct outcome o = decode(all_framed[c], stored, 1000, 1000);
        assert_string_equal(o.end_reason, "4096 zero bytes after the end");
        expect_text(o, f.text.data, f.text.len, 0, CODEC_END_TRAILING);
        for (size_t count = 4096; count < 4100; count++) {
            stored.len = f.stored_end[1];
            buf_append(&stored, zeros, count);
            buf_append(&stored, f.stored.data + f.stored_end[1], f.stored.len - f.stored_end[1]);
            struct buf expected = buf_of(f.text.data, f.text_end[1]);
            buf_char(&expected, '#');
            buf_append(&expected, f.text.data + f.text_end[1], f.text.len - f.text_end[1]);
            expect_text(decode(all_framed[c], stored, 1000, 1000), expected.data, expected.len, 1, CODEC_END_CLEAN);
            buf_dispose(&expected);
        }
        buf_dispose(&stored);
        five_dispose(&f);
    }
}

static void garbage_alone_is_one_gap_and_no_text(void **state)
{
    (void)state;
    for (size_t c = 0; c < ARRAY_LENGTH(all_framed); c++)
        for (uint32_t seed = 1; seed < 20; seed++) {
            struct buf bad = noise(3000, seed);
            bad.data[0] = '!';
            struct outcome o = decode(all_framed[c], bad, 100, 100);
            assert_int_equal(o.first_offset, 0);
            expect_text(o, "#", 1, 1, CODEC_END_LOST);
            buf_dispose(&bad);
        }
}

static void blocks_of_a_zstd_frame_before_a_bad_one_are_kept(void **state)
{
    (void)state;
    /* One frame, text beyond three blocks of 128 KiB; the last block is broken. */
    struct buf text = event_lines(0, 6000), stored = buf_new();
    assert_true(text.len > 3 * 131072 && text.len < 5 * 131072);
    add_zstd_frame(&stored, text.data, text.len, false, 0);
    stored.data[stored.len - 5] ^= 0x7F;
    stored.data[stored.len - 20] ^= 0x7F;
    struct outcome o = decode(&codec_zstd, stored, 1 << 20, 1 << 20);
    assert_int_equal(o.gaps, 1);
    assert_int_equal((o.text.len - 1) % 131072, 0);
    assert_true(o.text.len - 1 >= 3 * 131072);
    assert_memory_equal(o.text.data, text.data, o.text.len - 1);
    buf_dispose(&o.text);
    buf_dispose(&stored);
    buf_dispose(&text);
}

static void a_wrong_zstd_checksum_keeps_the_text_and_is_named(void **state)
{
    (void)state;
    struct five f = five_units(&codec_zstd, 50);            /* unit 2 has a checksum */
    f.stored.data[f.stored_end[1] - 1] ^= 1;
    struct buf expected = buf_of(f.text.data, f.text_end[1]);
    buf_char(&expected, '#');
    buf_append(&expected, f.text.data + f.text_end[1], f.text.len - f.text_end[1]);
    struct outcome o = decode(&codec_zstd, f.stored, 4096, 4096);
    assert_non_null(strstr(o.first_reason, "checksum"));
    expect_text(o, expected.data, expected.len, 1, CODEC_END_CLEAN);
    buf_dispose(&expected);
    five_dispose(&f);
}

static void skippable_zstd_frames_are_skipped(void **state)
{
    (void)state;
    struct buf stored = from_hex("5f2a4d18 05000000 0102030405"), vector = from_hex(VECTOR_ZSTD), empty = from_hex("502a4d18 00000000");
    buf_append(&stored, vector.data, vector.len);
    buf_append(&stored, empty.data, empty.len);
    bool undecided;
    assert_ptr_equal(codec_sniff((const uint8_t *)stored.data, stored.len, &undecided), &codec_zstd);
    expect_in_all_steps(&codec_zstd, stored, VECTOR_TEXT, sizeof VECTOR_TEXT - 1, 0, CODEC_END_CLEAN);
    buf_dispose(&stored);
    buf_dispose(&vector);
    buf_dispose(&empty);
}

static void zstd_windows_up_to_128_mib_are_read(void **state)
{
    (void)state;
    /* Window descriptor: exponent 17 is 2^27, 18 is 2^28. The frame holds one raw block. */
    struct buf stored = from_hex("28b52ffd 00 88 210000 41424344");
    expect_text(decode(&codec_zstd, stored, 7, 7), "ABCD", 4, 0, CODEC_END_CLEAN);
    stored.data[5] = (char)0x90;
    struct outcome o = decode(&codec_zstd, stored, 7, 7);
    assert_int_equal(o.gaps, 1);
    assert_non_null(strstr(o.first_reason, "memory"));
    buf_dispose(&o.text);
    buf_dispose(&stored);
}

static void large_blocks_are_read(void **state)
{
    (void)state;
    /* spark.io.compression.lz4.blockSize and .snappy.blockSize set to 2 MiB and more. */
    struct buf text = event_lines(0, 30000), lz4 = buf_new(), raw = buf_new(), snappy = buf_new();
    assert_true(text.len > 2u << 20);
    add_lz4_block(&lz4, text.data, text.len, false);
    add_lz4_block(&raw, text.data, text.len, true);
    add_snappy_header(&snappy);
    add_snappy_chunk(&snappy, text.data, text.len);
    expect_text(decode(&codec_lz4block, lz4, 5000, 3000), text.data, text.len, 0, CODEC_END_CLEAN);
    expect_text(decode(&codec_lz4block, raw, 5000, 3000), text.data, text.len, 0, CODEC_END_CLEAN);
    expect_text(decode(&codec_snappy, snappy, 5000, 3000), text.data, text.len, 0, CODEC_END_CLEAN);
    buf_dispose(&text);
    buf_dispose(&lz4);
    buf_dispose(&raw);
    buf_dispose(&snappy);
}

static void text_that_contains_the_magic_does_not_mislead_the_search(void **state)
{
    (void)state;
    /* A stored block with a stack trace of LZ4BlockInputStream in it fails its checksum. */
    static const char trace[] = "net.jpountz.lz4.LZ4BlockInputStream.refill(LZ4BlockInputStream.java:218)\n";
    struct buf stored = buf_new();
    add_lz4_block(&stored, trace, sizeof trace - 1, true);
    stored.data[22] ^= 1;
    add_lz4_block(&stored, "good\n", 5, true);
    expect_text(decode(&codec_lz4block, stored, 3, 3), "#good\n", 6, 1, CODEC_END_CLEAN);
    buf_dispose(&stored);
}

static void a_search_costs_no_square_of_the_input(void **state)
{
    (void)state;
    /* A valid header every 21 bytes, each claiming a block of 16 MiB that is there and fails its checksum: without a bound, 400,000 times 8 MiB of checksum. */
    struct buf stored = buf_new();
    while (stored.len < 24u << 20) {
        buf_append(&stored, "LZ4Block\x1e", 9);
        append_le32(&stored, 1u << 24);
        append_le32(&stored, 1u << 24);
        append_le32(&stored, 1);
    }
    clock_t begin = clock();
    struct outcome o = decode(&codec_lz4block, stored, 1 << 20, 1 << 20);
    assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 20);
    assert_int_equal(o.end, CODEC_END_LOST);
    buf_dispose(&o.text);
    buf_dispose(&stored);
}

static void decoders_go_on_where_a_growing_file_ended(void **state)
{
    (void)state;
    for (size_t c = 0; c < ARRAY_LENGTH(all_framed); c++) {
        struct five f = five_units(all_framed[c], 40);
        uint8_t *out = malloc(f.text.len + 1);
        for (size_t cut = 1; cut < f.stored.len; cut += 13) {
            struct decoder *decoder;
            struct codec_damage damage = {0};
            assert_int_equal(all_framed[c]->open(&decoder), ERR_OK);
            struct codec_io io = {.in = (uint8_t *)f.stored.data, .in_len = cut, .out = out, .out_len = f.text.len + 1, .last = true};
            assert_int_equal(all_framed[c]->decode(decoder, &io, &damage), CODEC_MORE);
            assert_int_not_equal(all_framed[c]->end(decoder, &damage), CODEC_END_LOST);
            io.in_len = f.stored.len;
            assert_int_equal(all_framed[c]->decode(decoder, &io, &damage), CODEC_MORE);
            assert_int_equal(all_framed[c]->end(decoder, &damage), CODEC_END_CLEAN);
            assert_int_equal(io.out_used, f.text.len);
            assert_memory_equal(out, f.text.data, f.text.len);
            all_framed[c]->close(decoder);
        }
        free(out);
        five_dispose(&f);
    }
}

static void first_bytes_tell_the_codec(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        const struct codec *codec;
        bool undecided;
    } heads[] = {
        {"28b52ffd 00480000", &codec_zstd, false}, {"28b5", &codec_zstd, true}, {"502a4d18 00000000", &codec_zstd, false}, {"4c5a34426c6f636b", &codec_lz4block, false},
        {"4c5a34426c6f6363", &codec_none, false}, {"82534e4150505900", &codec_snappy, false}, {"5a5600000e7b2245", &codec_lzf, false}, {"5a56010013002d0a", &codec_lzf, false},
        {"5a56020013002d0a", &codec_none, false}, {"1f8b080000000000", &codec_gzip, false}, {"04224d186040827b", &codec_lz4frame, false}, {"7b224576656e7422", &codec_none, false},
        {"7b", &codec_none, false}, {"", &codec_none, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(heads); i++) {
        struct buf head = from_hex(heads[i].hex);
        bool undecided;
        assert_ptr_equal(codec_sniff((const uint8_t *)head.data, head.len, &undecided), heads[i].codec);
        assert_int_equal(undecided, heads[i].undecided);
        buf_dispose(&head);
    }
    assert_ptr_equal(codec_of_suffix("ZSTD", 4), &codec_zstd);
    assert_ptr_equal(codec_of_suffix("gz", 2), &codec_gzip);
    assert_null(codec_of_suffix("log", 3));
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    for (size_t c = 0; c < ARRAY_LENGTH(all_framed); c++) {
        struct five f = five_units(all_framed[c], 400);
        f.stored.data[f.stored_end[2] + 1] ^= 0x55;          /* the search allocates, too */
        bool finished = false;
        for (uint64_t n = 1; !finished; n++) {
            struct decoder *decoder = NULL;
            uint8_t out[1000];
            size_t given = 0;
            mem_fail_at(n, 0);
            enum err_code rc = all_framed[c]->open(&decoder);
            bool failed = rc == ERR_NOMEM;
            while (!failed && given < f.stored.len) {
                struct codec_io io = {.in = (uint8_t *)f.stored.data + given, .in_len = MIN(f.stored.len - given, (size_t)500), .out = out, .out_len = sizeof out};
                struct codec_damage damage;
                failed = all_framed[c]->decode(decoder, &io, &damage) == CODEC_OUT_OF_MEMORY;
                given += io.in_used;
            }
            finished = mem_alloc_count() < n;
            mem_fail_at(0, 0);
            assert_true(failed || finished);
            all_framed[c]->close(decoder);
        }
        five_dispose(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(java_vectors_decode_in_pieces_of_any_size),
        cmocka_unit_test(two_streams_in_a_row_are_one_text),
        cmocka_unit_test(checksums_are_those_of_lz4_java),
        cmocka_unit_test(real_units_decode_in_pieces_of_any_size),
        cmocka_unit_test(empty_input_is_a_clean_end),
        cmocka_unit_test(a_cut_at_any_byte_gives_the_units_before_it),
        cmocka_unit_test(an_end_inside_an_lz4_header_or_a_snappy_length_is_clean),
        cmocka_unit_test(after_a_bad_unit_the_next_good_one_is_found),
        cmocka_unit_test(noise_of_any_kind_between_units_costs_only_itself),
        cmocka_unit_test(zero_bytes_at_the_end_are_a_remark_and_in_the_middle_a_gap),
        cmocka_unit_test(garbage_alone_is_one_gap_and_no_text),
        cmocka_unit_test(blocks_of_a_zstd_frame_before_a_bad_one_are_kept),
        cmocka_unit_test(a_wrong_zstd_checksum_keeps_the_text_and_is_named),
        cmocka_unit_test(skippable_zstd_frames_are_skipped),
        cmocka_unit_test(zstd_windows_up_to_128_mib_are_read),
        cmocka_unit_test(large_blocks_are_read),
        cmocka_unit_test(text_that_contains_the_magic_does_not_mislead_the_search),
        cmocka_unit_test(a_search_costs_no_square_of_the_input),
        cmocka_unit_test(decoders_go_on_where_a_growing_file_ended),
        cmocka_unit_test(first_bytes_tell_the_codec),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
