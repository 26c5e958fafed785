/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int switch_off(void **state)
{
    (void)state;
    mem_fail_at(0, 0);
    return 0;
}

static void the_nth_allocation_fails_and_only_that(void **state)
{
    (void)state;
    mem_fail_at(2, 0);
    void *first = mem_alloc(1), *second = mem_zalloc(1), *third = mem_array(1, 1);
    assert_int_equal(mem_alloc_count(), 3);
    mem_fail_at(0, 0);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    mem_free(first);
    mem_free(third);
}

static void all_after_the_nth_fail_when_asked(void **state)
{
    (void)state;
    mem_fail_at(1, 1);
    assert_null(mem_alloc(1));
    assert_null(mem_strndup("a", 1));
    assert_null(mem_realloc(NULL, 8));
    mem_fail_at(0, 0);
    void *p = mem_alloc(1);
    assert_non_null(p);
    mem_free(p);
}

static void a_failed_realloc_leaves_the_old_block(void **state)
{
    (void)state;
    char *text = mem_strndup("keep me", 7);
    mem_fail_at(1, 0);
    assert_null(mem_realloc(text, 1000));
    mem_fail_at(0, 0);
    assert_string_equal(text, "keep me");
    mem_free(text);
}

static void an_array_whose_size_overflows_is_refused(void **state)
{
    (void)state;
    assert_null(mem_array(SIZE_MAX / 2, 3));
}

static void growing_doubles_up_to_the_maximum(void **state)
{
    (void)state;
    int64_t *items = NULL;
    size_t capacity = 0;
    for (size_t need = 1; need <= 100; need++) {
        assert_int_equal(mem_grow((void **)&items, &capacity, need, 100, sizeof *items), 0);
        assert_true(capacity >= need);
        assert_true(capacity <= 100);
        items[need - 1] = (int64_t)need;
    }
    assert_int_equal(mem_grow((void **)&items, &capacity, 101, 100, sizeof *items), -1);
    assert_int_equal(capacity, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(items[i], i + 1);
    mem_free(items);
}

static void a_small_maximum_is_kept_too(void **state)
{
    (void)state;
    void *items = NULL;
    size_t capacity = 0;
    assert_int_equal(mem_grow(&items, &capacity, 2, 3, 1), 0);
    assert_true(capacity >= 2 && capacity <= 3);
    assert_int_equal(mem_grow(&items, &capacity, 4, 3, 1), -1);
    mem_free(items);
}

static void growing_without_memory_changes_nothing(void **state)
{
    (void)state;
    void *items = NULL;
    size_t capacity = 0;
    assert_int_equal(mem_grow(&items, &capacity, 8, 1000, 1), 0);
    void *before = items;
    mem_fail_at(1, 0);
    assert_int_equal(mem_grow(&items, &capacity, 9, 1000, 1), -1);
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, 8);
    mem_free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_nth_allocation_fails_and_only_that, switch_off),
        cmocka_unit_test_teardown(all_after_the_nth_fail_when_asked, switch_off),
        cmocka_unit_test_teardown(a_failed_realloc_leaves_the_old_block, switch_off),
        cmocka_unit_test(an_array_whose_size_overflows_is_refused),
        cmocka_unit_test(growing_doubles_up_to_the_maximum),
        cmocka_unit_test(a_small_maximum_is_kept_too),
        cmocka_unit_test_teardown(growing_without_memory_changes_nothing, switch_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
