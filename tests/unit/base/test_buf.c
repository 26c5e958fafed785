/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void appended_parts_are_one_terminated_text(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1000);
    buf_append(&buf, "ab\0c", 4);
    buf_char(&buf, 'd');
    buf_text(&buf, "ef");
    buf_printf(&buf, "%03d", 7);
    assert_false(buf_failed(&buf));
    assert_int_equal(buf.len, 10);
    assert_memory_equal(buf.data, "ab\0cdef007", 11);
    buf_dispose(&buf);
}

static void the_maximum_is_exact_and_failure_sticks(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 10);
    buf_text(&buf, "0123456789");
    assert_false(buf_failed(&buf));
    buf_char(&buf, 'x');
    assert_true(buf_failed(&buf));
    assert_string_equal(buf.data, "0123456789");
    buf_consume(&buf, 10);
    buf_char(&buf, 'y');
    assert_true(buf_failed(&buf));
    assert_int_equal(buf.len, 0);
    buf_clear(&buf);
    buf_printf(&buf, "%d", 1234567890);
    assert_false(buf_failed(&buf));
    buf_printf(&buf, "%d", 1);
    assert_true(buf_failed(&buf));
    assert_string_equal(buf.data, "1234567890");
    buf_dispose(&buf);
}

static void consuming_keeps_the_rest(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_text(&buf, "first,second");
    buf_consume(&buf, 6);
    assert_true(str_is(buf_str(&buf), "second"));
    assert_string_equal(buf.data, "second");
    buf_consume(&buf, 0);
    assert_true(str_is(buf_str(&buf), "second"));
    buf_consume(&buf, 100);
    assert_true(str_is(buf_str(&buf), ""));
    buf_dispose(&buf);
}

static void an_empty_buffer_is_an_empty_text(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 0);
    assert_true(str_known(buf_str(&buf)));
    assert_int_equal(buf_str(&buf).len, 0);
    buf_append(&buf, "", 0);
    assert_false(buf_failed(&buf));
    buf_dispose(&buf);
    buf_dispose(NULL);
}

static void out_of_memory_fails_without_losing_what_is_there(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    buf_text(&buf, "kept");
    static const char filler[5000];
    mem_fail_at(1, 0);
    buf_append(&buf, filler, sizeof filler);
    mem_fail_at(0, 0);
    assert_true(buf_failed(&buf));
    assert_string_equal(buf.data, "kept");
    buf_dispose(&buf);
}

static void a_request_near_the_largest_size_does_not_wrap(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1000);
    buf_text(&buf, "abc");
    assert_false(buf_reserve(&buf, SIZE_MAX - 1));
    assert_true(buf_failed(&buf));
    buf_dispose(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_parts_are_one_terminated_text),
        cmocka_unit_test(the_maximum_is_exact_and_failure_sticks),
        cmocka_unit_test(consuming_keeps_the_rest),
        cmocka_unit_test(an_empty_buffer_is_an_empty_text),
        cmocka_unit_test(out_of_memory_fails_without_losing_what_is_there),
        cmocka_unit_test(a_request_near_the_largest_size_does_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
