/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/bit_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"

static void values_are_kept_once(void **state UNUSED)
{
    struct bit_set set = {0};
    assert_false(bit_set_has(&set, 0));
    const int64_t values[] = {0, 1, 63, 64, 511, 512, 100000, BIT_SET_MAX - 1};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        assert_false(bit_set_has(&set, values[i]));
        assert_int_equal(bit_set_add(&set, values[i]), 1);
        assert_int_equal(bit_set_add(&set, values[i]), 0);
        assert_true(bit_set_has(&set, values[i]));
    }
    assert_false(bit_set_has(&set, 2));
    assert_false(bit_set_has(&set, 513));
    bit_set_dispose(&set);
    assert_false(bit_set_has(&set, 0));
}

static void what_is_out_of_range_is_not_kept(void **state UNUSED)
{
    struct bit_set set = {0};
    const int64_t values[] = {-1, BIT_SET_MAX, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        assert_int_equal(bit_set_add(&set, values[i]), 0);
        assert_false(bit_set_has(&set, values[i]));
    }
    bit_set_dispose(&set);
}

/* A hostile log names the last task of each of a million stages. */
static void one_large_value_costs_one_page(void **state UNUSED)
{
    struct bit_set set = {0};
    assert_int_equal(bit_set_add(&set, BIT_SET_MAX - 1), 1);
    assert_int_equal(set.pages.count, 1);
    assert_true(set.pages.slot_count <= 16);
    bit_set_dispose(&set);
}

static void sets_are_added(void **state UNUSED)
{
    struct bit_set a = {0}, b = {0};
    const int64_t values[] = {3, 700, 1 << 20};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
        assert_int_equal(bit_set_add(&a, values[i]), 1);
    assert_int_equal(bit_set_add(&b, 3), 1);
    assert_int_equal(bit_set_add_all(&b, &a), 2);
    assert_int_equal(bit_set_add_all(&b, &a), 0);
    assert_true(bit_set_has(&b, 700) && bit_set_has(&b, 1 << 20));
    bit_set_dispose(&a);
    bit_set_dispose(&b);
}

static void failed_allocations_are_told(void **state UNUSED)
{
    for (uint64_t nth = 1; nth <= 3; nth++) {
        struct bit_set set = {0};
        mem_fail_at(nth, 0);
        assert_int_equal(bit_set_add(&set, 5), -1);
        mem_fail_at(0, 0);
        assert_false(bit_set_has(&set, 5));
        assert_int_equal(bit_set_add(&set, 5), 1);
        bit_set_dispose(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_kept_once), cmocka_unit_test(what_is_out_of_range_is_not_kept), cmocka_unit_test(one_large_value_costs_one_page),
        cmocka_unit_test(sets_are_added), cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
