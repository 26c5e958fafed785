/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/props.h"

static void expect(const char *text, const char *key, const char *value)
{
    struct props props;
    struct err err = {0};
    props_init(&props);
    assert_int_equal(props_parse(&props, str_of(text), &err), ERR_OK);
    struct str found = props_get(&props, key);
    if (value)
        assert_string_equal(found.ptr, value);
    else
        assert_null(found.ptr);
    props_dispose(&props);
}

static void the_three_separators_mean_the_same(void **state)
{
    (void)state;
    expect("a=1", "a", "1");
    expect("a:1", "a", "1");
    expect("a 1", "a", "1");
    expect("  a\t=\t1", "a", "1");
    expect("a : = 1", "a", "= 1");              /* one separator only */
    expect("spark.master   spark://host:7077", "spark.master", "spark://host:7077");
}

static void a_key_alone_has_an_empty_value(void **state)
{
    (void)state;
    expect("a", "a", "");
    expect("a=", "a", "");
    expect("a=\nb=2", "b", "2");
    expect("a", "b", NULL);
}

static void comments_and_blank_lines_are_no_entries(void **state)
{
    (void)state;
    expect("# a=1\n ! b=2\n\n   \n\tc=3", "c", "3");
    expect("# a=1", "a", NULL);
    expect("a=1 # not a comment", "a", "1 # not a comment");
    expect("# comment ends here \\\na=1", "a", "1");    /* comments are not continued */
}

static void lines_go_on_after_an_odd_number_of_backslashes(void **state)
{
    (void)state;
    expect("a=one, \\\n     two", "a", "one, two");
    expect("a=one\\\r\n  two\\\n three", "a", "onetwothree");
    expect("a=one\\\\\nb=2", "a", "one\\");
    expect("a=one\\\\\nb=2", "b", "2");
    expect("a=x\\\n# part of it", "a", "x# part of it");
    expect("a=x\\", "a", "x\\");                        /* at the end of the file: as it is */
}

static void escapes_are_undone(void **state)
{
    (void)state;
    expect("a\\=b\\:c\\ d=1", "a=b:c d", "1");
    expect("a=|\\t|\\n|\\r|\\f|\\\\|\\q", "a", "|\t|\n|\r|\f|\\|q");
    expect("a=\\u6f22\\u00e9", "a", "\xE6\xBC\xA2\xC3\xA9");
    expect("a=\\ud83d\\ude00", "a", "\xF0\x9F\x98\x80");    /* a surrogate pair is one character */
    expect("a=\\ud83d!", "a", "\xEF\xBF\xBD!");
}

static void the_last_of_equal_keys_counts(void **state)
{
    (void)state;
    expect("a=1\nb=2\na=3\n", "a", "3");
}

static void blanks_around_a_value_are_dropped_as_spark_does(void **state)
{
    (void)state;
    expect("a=  1 2  \t\n", "a", "1 2");
    expect("a=1\\n", "a", "1\n");                           /* a written line end is not a blank */
}

static void all_line_ends_and_a_byte_order_mark_are_known(void **state)
{
    (void)state;
    expect("\xEF\xBB\xBF" "a=1\r\nb=2\rc=3", "a", "1");
    expect("a=1\r\nb=2\rc=3", "b", "2");
    expect("a=1\r\nb=2\rc=3", "c", "3");
}

static void a_bad_unicode_escape_names_its_line(void **state)
{
    (void)state;
    struct props props;
    struct err err = {0};
    props_init(&props);
    assert_int_equal(props_parse(&props, STR_LIT("ok=1\n\nbad=\\u12g4\n"), &err), ERR_INVALID);
    assert_int_equal(err.line, 3);
    assert_string_equal(props_get(&props, "ok").ptr, "1");
    props_dispose(&props);
}

static void entries_know_their_lines(void **state)
{
    (void)state;
    struct props props;
    props_init(&props);
    assert_int_equal(props_parse(&props, STR_LIT("# c\na=\\\n 1\n\nb=2"), NULL), ERR_OK);
    assert_int_equal(props.count, 2);
    assert_int_equal(props.items[0].line, 2);
    assert_int_equal(props.items[1].line, 5);
    props_dispose(&props);
}

static void a_missing_file_is_an_error_with_its_path(void **state)
{
    (void)state;
    struct props props;
    struct err err = {0};
    props_init(&props);
    assert_int_equal(props_read_file(&props, "/nonexistent/spark-defaults.conf", &err), ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/spark-defaults.conf"));
    props_dispose(&props);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        struct props props;
        props_init(&props);
        mem_fail_at(nth, 0);
        enum err_code rc = props_parse(&props, STR_LIT("a=1\nb=two\\\nthree\n"), NULL);
        mem_fail_at(0, 0);
        props_dispose(&props);
        if (rc == ERR_OK) {
            assert_true(nth > 1);
            return;
        }
        assert_int_equal(rc, ERR_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_separators_mean_the_same),
        cmocka_unit_test(a_key_alone_has_an_empty_value),
        cmocka_unit_test(comments_and_blank_lines_are_no_entries),
        cmocka_unit_test(lines_go_on_after_an_odd_number_of_backslashes),
        cmocka_unit_test(escapes_are_undone),
        cmocka_unit_test(the_last_of_equal_keys_counts),
        cmocka_unit_test(blanks_around_a_value_are_dropped_as_spark_does),
        cmocka_unit_test(all_line_ends_and_a_byte_order_mark_are_known),
        cmocka_unit_test(a_bad_unicode_escape_names_its_line),
        cmocka_unit_test(entries_know_their_lines),
        cmocka_unit_test(a_missing_file_is_an_error_with_its_path),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
