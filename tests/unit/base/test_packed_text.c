/* SPDX-License-Identifier: Apache-2.0 */
#include "base/packed_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* `len` bytes that zstd cannot make smaller. */
static char *noise(size_t len, uint64_t seed)
{
    char *text = malloc(len + 1);
    for (size_t i = 0; i < len; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        text[i] = (char)(seed >> 56);
    }
    return text;
}

static void must_come_back(struct str text, struct str base, struct str packed)
{
    char *got = malloc(text.len + 1);
    struct err err = {0};
    assert_int_equal(packed_text_unpack(packed, base, got, text.len, &err), ERR_OK);
    assert_memory_equal(got, text.ptr, text.len);
    assert_int_not_equal(packed_text_unpack(packed, base, got, text.len - 1, &err), ERR_OK);
    free(got);
}

static void texts_come_back_with_and_without_a_base(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 100, 70000, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *first = noise(lengths[i], 1), *second = noise(lengths[i], 1);
        second[lengths[i] / 2] ^= 1;
        struct str a = {first, lengths[i]}, b = {second, lengths[i]};
        CLEANUP(buf_dispose) struct buf alone, on_base;
        buf_init(&alone, 8 << 20);
        buf_init(&on_base, 8 << 20);
        assert_int_equal(packed_text_pack(a, STR_NONE, &alone, NULL), ERR_OK);
        assert_int_equal(packed_text_pack(b, a, &on_base, NULL), ERR_OK);
        must_come_back(a, STR_NONE, buf_str(&alone));
        must_come_back(b, a, buf_str(&on_base));
        if (lengths[i] > 1000)           /* a byte has changed: that, and some bytes for each block of 128 KiB */
            assert_true(on_base.len < 60 + lengths[i] / 131072 * 16);
        free(first);
        free(second);
    }
}

static void an_empty_text_is_a_frame_of_nothing(void **state)
{
    (void)state;
    CLEANUP(buf_dispose) struct buf packed;
    char none;
    buf_init(&packed, 1 << 20);
    assert_int_equal(packed_text_pack(STR_LIT(""), STR_NONE, &packed, NULL), ERR_OK);
    assert_true(packed.len > 0);
    assert_int_equal(packed_text_unpack(buf_str(&packed), STR_NONE, &none, 0, NULL), ERR_OK);
}

static void damage_and_another_base_are_told(void **state)
{
    (void)state;
    CLEANUP(buf_dispose) struct buf packed;
    char got[5000], *text = noise(5000, 3), *base = noise(5000, 3), *other = noise(5000, 4);
    buf_init(&packed, 1 << 20);
    assert_int_equal(packed_text_pack((struct str){text, 5000}, (struct str){base, 5000}, &packed, NULL), ERR_OK);
    assert_int_equal(packed_text_unpack(buf_str(&packed), STR_NONE, got, 5000, NULL), ERR_CORRUPT);
    assert_int_equal(packed_text_unpack(buf_str(&packed), (struct str){other, 5000}, got, 5000, NULL), ERR_CORRUPT);
    assert_int_equal(packed_text_unpack(STR_LIT("no frame"), STR_NONE, got, 5000, NULL), ERR_CORRUPT);
    assert_int_equal(packed_text_unpack((struct str){packed.data, packed.len - 1}, (struct str){base, 5000}, got, 5000, NULL), ERR_CORRUPT);
    free(text);
    free(base);
    free(other);
}

static void longer_texts_than_lines_are_refused(void **state)
{
    (void)state;
    CLEANUP(buf_dispose) struct buf packed;
    buf_init(&packed, 1 << 20);
    assert_int_equal(packed_text_pack((struct str){"x", PACKED_TEXT_MAX_BYTES + 1}, STR_NONE, &packed, NULL), ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back_with_and_without_a_base), cmocka_unit_test(an_empty_text_is_a_frame_of_nothing), cmocka_unit_test(damage_and_another_base_are_told),
        cmocka_unit_test(longer_texts_than_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
