/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void unknown_is_not_empty(void **state)
{
    (void)state;
    assert_false(str_known(STR_NONE));
    assert_true(str_known(STR_LIT("")));
    assert_true(str_eq(STR_NONE, STR_LIT("")));
    assert_false(str_known(str_of(NULL)));
}

static void beginnings_and_ends(void **state)
{
    (void)state;
    struct str s = STR_LIT("eventlog_v2_app-1");
    assert_true(str_starts(s, "eventlog_v2_"));
    assert_true(str_starts(s, ""));
    assert_false(str_starts(STR_LIT("event"), "eventlog_v2_"));
    assert_true(str_ends(s, "app-1"));
    assert_false(str_ends(STR_LIT("1"), "app-1"));
}

static void bytes_are_compared_unsigned(void **state)
{
    (void)state;
    assert_true(str_compare(STR_LIT("a"), STR_LIT("\xC3\xA4")) < 0);
    assert_true(str_compare(STR_LIT("ab"), STR_LIT("a")) > 0);
    assert_true(str_compare(STR_LIT(""), STR_LIT("a")) < 0);
    assert_int_equal(str_compare(STR_NONE, STR_LIT("")), 0);
}

static void integers_are_whole_texts_within_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0}, {"-0", 0}, {"+7", 7}, {"007", 7}, {"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN}};
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
        int64_t value = -1;
        assert_true(str_to_i64(str_of(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {
        "", "-", "+", "1 ", " 1", "1.0", "0x1", "--1", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999999", "1\xC2\xA0"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        int64_t value = 42;
        assert_false(str_to_i64(str_of(bad[i]), &value));
        assert_int_equal(value, 42);
    }
    int64_t value;
    assert_false(str_to_i64(STR_NONE, &value));
}

/* Each text, how much of it is valid, and what repair makes of it (one U+FFFD for each bad byte). */
static const struct {
    const char *text;
    size_t valid;
    const char *repaired;
} utf8[] = {
    {"plain", 5, "plain"},
    {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
    {"\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF"},                                                             /* U+10FFFF */
    {"\xF4\x90\x80\x80", 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                             /* above it */
    {"\xC0\xAF", 0, "\xEF\xBF\xBD\xEF\xBF\xBD"},                                                             /* over-long slash */
    {"\xE0\x80\xAF", 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"\xED\xA0\x80", 0, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},                                             /* a surrogate */
    {"\xED\x9F\xBF", 3, "\xED\x9F\xBF"},
    {"a\x80" "b", 1, "a\xEF\xBF\xBD" "b"},
    {"12345678\xFF" "12345678", 8, "12345678\xEF\xBF\xBD" "12345678"},
    {"\xE2\x82", 0, "\xEF\xBF\xBD\xEF\xBF\xBD"},                                                             /* cut in a character */
};

static void only_valid_utf8_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(utf8); i++)
        assert_int_equal(utf8_valid_prefix(utf8[i].text, strlen(utf8[i].text)), utf8[i].valid);
}

static void repair_replaces_each_bad_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(utf8); i++) {
        char out[128];
        size_t len = utf8_repair(str_of(utf8[i].text), out);
        assert_int_equal(len, strlen(utf8[i].repaired));
        assert_memory_equal(out, utf8[i].repaired, len);
    }
}

static void words_are_taken_off_one_by_one(void **state)
{
    (void)state;
    struct str rest = STR_LIT("12  a");
    assert_true(str_is(str_word(&rest, ' '), "12"));
    assert_true(str_is(str_word(&rest, ' '), ""));
    assert_true(rest.len && str_is(str_word(&rest, ' '), "a"));
    assert_int_equal(rest.len, 0);
    assert_int_equal(str_word(&rest, ' ').len, 0);
    rest = STR_LIT("a:");
    assert_true(str_is(str_word(&rest, ':'), "a") && rest.len == 0);
    rest = STR_NONE;
    assert_false(str_known(str_word(&rest, ':')));
}

static void the_last_part_of_a_path(void **state)
{
    (void)state;
    assert_true(str_is(str_base_name(STR_LIT("/a/b.py")), "b.py"));
    assert_true(str_is(str_base_name(STR_LIT("b.py")), "b.py"));
    assert_true(str_is(str_base_name(STR_LIT("/a/")), ""));
    assert_false(str_known(str_base_name(STR_NONE)));
}

static void code_points_become_bytes(void **state)
{
    static const struct {
        uint32_t code;
        const char *bytes;
    } cases[] = {{0x41, "A"}, {0x7F, "\x7F"}, {0x80, "\xC2\x80"}, {0x7FF, "\xDF\xBF"}, {0x800, "\xE0\xA0\x80"}, {0xFFFF, "\xEF\xBF\xBF"}, {0x10000, "\xF0\x90\x80\x80"}, {0x10FFFF, "\xF4\x8F\xBF\xBF"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char out[UTF8_BYTES];
        assert_true(str_is((struct str){out, utf8_put(out, cases[i].code)}, cases[i].bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_taken_off_one_by_one), cmocka_unit_test(the_last_part_of_a_path), cmocka_unit_test(code_points_become_bytes),
        cmocka_unit_test(unknown_is_not_empty),
        cmocka_unit_test(beginnings_and_ends),
        cmocka_unit_test(bytes_are_compared_unsigned),
        cmocka_unit_test(integers_are_whole_texts_within_64_bits),
        cmocka_unit_test(only_valid_utf8_passes),
        cmocka_unit_test(repair_replaces_each_bad_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
