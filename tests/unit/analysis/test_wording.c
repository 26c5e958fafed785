/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/wording.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/attributes.h"

static struct buf out;

static int start(void **state)
{
    (void)state;
    buf_init(&out, 1 << 20);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    buf_dispose(&out);
    return 0;
}

static void assert_value(double value, const char *unit, const char *expected)
{
    buf_clear(&out);
    word_value(&out, value, str_of(unit));
    assert_string_equal(out.data, expected);
}

static void says_times_as_people_do(void **state)
{
    (void)state;
    assert_value(0, "ms", "0 ms");
    assert_value(87.4, "ms", "87 ms");
    assert_value(999.4, "ms", "999 ms");
    assert_value(999.6, "ms", "1.0 s");
    assert_value(7440, "ms", "7.4 s");
    assert_value(59949, "ms", "59.9 s");
    assert_value(59951, "ms", "1 m 00 s");
    assert_value(125000, "ms", "2 m 05 s");
    assert_value(125, "s", "2 m 05 s");
    assert_value(3599700, "ms", "1 h 00 m");
    assert_value(18420000, "ms", "5 h 07 m");
    assert_value(5.1166667, "h", "5 h 07 m");
    assert_value(183600000, "ms", "2 d 03 h");
    assert_value(2.5e9, "ns", "2.5 s");
    assert_value(-1500, "ms", "−1.5 s");
    assert_value(1796072196000.0, "time", "2026-11-30 20:56:36");
}

static void says_sizes_in_powers_of_two(void **state)
{
    (void)state;
    assert_value(0, "bytes", "0 B");
    assert_value(532, "bytes", "532 B");
    assert_value(1023, "bytes", "1023 B");
    assert_value(1024, "bytes", "1.0 KiB");
    assert_value(12.34 * 1024 * 1024, "bytes", "12.3 MiB");
    assert_value(512.0 * 1024 * 1024, "bytes", "512 MiB");
    assert_value(1023.7 * 1024 * 1024, "bytes", "1.0 GiB");
}

static void says_shares_ratios_and_counts(void **state)
{
    (void)state;
    assert_value(0, "share", "0 %");
    assert_value(0.0004, "share", "< 0.1 %");
    assert_value(0.034, "share", "3.4 %");
    assert_value(0.42, "share", "42 %");
    assert_value(0.9949, "share", "99 %");
    assert_value(0.997, "share", "> 99 %");
    assert_value(1, "share", "100 %");
    assert_value(9999, "ratio", "9,999");
    assert_value(5.0e9, "ratio", "> 9999");
    assert_value(38.26, "ratio", "38.3");
    assert_value(3.469, "ratio", "3.47");
    assert_value(2, "ratio", "2");
    assert_value(10, "count", "10");
    assert_value(100, "count", "100");
    assert_value(20, "slots", "20");
    assert_value(1234567, "records", "1,234,567");
    assert_value(1234567, "id", "1234567");
}

static void says_a_dash_for_what_is_not_known(void **state)
{
    static const char *const units[] = {"ms", "bytes", "share", "ratio", "count", "time", "id", "h"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
        assert_value((double)NAN, units[i], "—");
        assert_value((double)INFINITY, units[i], "—");
        assert_value(-1e300, units[i], "—");
    }
}

static void fills_placeholders(void **state)
{
    const struct word_arg args[] = {{.name = STR_LIT("s"), .text = STR_LIT("1.0"), .value = (double)NAN}, {.name = STR_LIT("dur"), .value = 5660, .unit = STR_LIT("ms")}};
    (void)state;
    word_fill(&out, "Stage {s} took {dur}, {unheard}; {dur}", args, ARRAY_LENGTH(args));
    assert_string_equal(out.data, "Stage 1.0 took 5.7 s, —; 5.7 s");
}

static void chooses_words_by_number(void **state)
{
    struct word_arg n = {.name = STR_LIT("n"), .value = 1, .unit = STR_LIT("count")};
    (void)state;
    word_fill(&out, "{n} {n?task|tasks}", &n, 1);
    n.value = 2;
    word_fill(&out, ", {n} {n?task|tasks}, {m?is|are}{n?}", &n, 1);
    assert_string_equal(out.data, "1 task, 2 tasks, are");
}

/* A message of a log may be a whole sentence. */
static void ends_a_sentence_once(void **state)
{
    struct word_arg msg = {.name = STR_LIT("msg"), .text = STR_LIT("no such table.")};
    (void)state;
    word_fill(&out, "Query failed: {msg}.", &msg, 1);
    word_fill(&out, " 查询失败：{msg}。", &msg, 1);
    msg.text = STR_LIT("not true!");
    word_fill(&out, " Query failed: {msg}. And again: {msg}", &msg, 1);
    msg.text = STR_LIT("no");
    word_fill(&out, " Failed: {msg}.", &msg, 1);
    assert_string_equal(out.data, "Query failed: no such table. 查询失败：no such table. Query failed: not true! And again: not true! Failed: no.");
}

static void does_not_fill_what_came_from_a_log(void **state)
{
    const struct word_arg args[] = {{.name = STR_LIT("s"), .text = STR_LIT("{dur} {"), .value = (double)NAN}, {.name = STR_LIT("dur"), .value = 5660, .unit = STR_LIT("ms")}};
    (void)state;
    word_fill(&out, "{s} {dur} {", args, ARRAY_LENGTH(args));
    assert_string_equal(out.data, "{dur} { 5.7 s —");
}

static void makes_texts_of_logs_harmless(void **state)
{
    (void)state;
    word_text(&out,
              STR_LIT("a\033[31mb\r\nc\x7f"
                      "d\xC2\x9B"
                      "e\xE2\x80\xAE"
                      "f\xE2\x81\xA6"
                      "g\xFF"
                      "h\xC3\xA4\xE9\x98\xB6"),
              300);
    assert_string_equal(out.data, "a [31mb  c d e f g hä阶");
}

static void cuts_long_texts_between_characters(void **state)
{
    (void)state;
    word_text(&out, STR_LIT("aä阶阶"), 6);
    assert_string_equal(out.data, "aä阶…");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(says_times_as_people_do, start, stop),
        cmocka_unit_test_setup_teardown(says_sizes_in_powers_of_two, start, stop),
        cmocka_unit_test_setup_teardown(says_shares_ratios_and_counts, start, stop),
        cmocka_unit_test_setup_teardown(says_a_dash_for_what_is_not_known, start, stop),
        cmocka_unit_test_setup_teardown(fills_placeholders, start, stop),
        cmocka_unit_test_setup_teardown(chooses_words_by_number, start, stop),
        cmocka_unit_test_setup_teardown(ends_a_sentence_once, start, stop),
        cmocka_unit_test_setup_teardown(does_not_fill_what_came_from_a_log, start, stop),
        cmocka_unit_test_setup_teardown(makes_texts_of_logs_harmless, start, stop),
        cmocka_unit_test_setup_teardown(cuts_long_texts_between_characters, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
