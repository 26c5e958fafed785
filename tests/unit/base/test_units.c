/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void sums_skip_what_is_unknown_and_saturate(void **state)
{
    (void)state;
    assert_true(add_known(UNKNOWN, UNKNOWN) == UNKNOWN);
    assert_true(add_known(UNKNOWN, 0) == 0);
    assert_true(add_known(5, UNKNOWN) == 5);
    assert_true(add_known(5, -7) == -2);
    assert_true(add_known(INT64_MAX, 1) == INT64_MAX);
    /* The most negative number means unknown, so a sum stops one above it. */
    assert_true(add_known(INT64_MIN + 1, -1) != UNKNOWN);
    assert_true(add_known(-5000000000000000000, -5000000000000000000) == INT64_MIN + 1);
}

static void extremes_of_known_values(void **state)
{
    (void)state;
    assert_true(max_known(UNKNOWN, -5) == -5);
    assert_true(max_known(3, UNKNOWN) == 3);
    assert_true(min_known(UNKNOWN, 7) == 7);
    assert_true(min_known(2, 7) == 2);
    assert_true(min_known(UNKNOWN, UNKNOWN) == UNKNOWN);
}

static void a_length_needs_both_ends_in_order(void **state)
{
    (void)state;
    assert_true(elapsed_known(10, 25) == 15);
    assert_true(elapsed_known(10, 10) == 0);
    assert_true(elapsed_known(25, 10) == UNKNOWN);
    assert_true(elapsed_known(UNKNOWN, 10) == UNKNOWN);
    assert_true(elapsed_known(10, UNKNOWN) == UNKNOWN);
    assert_true(elapsed_known(INT64_MIN + 1, INT64_MAX) == UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_skip_what_is_unknown_and_saturate),
        cmocka_unit_test(extremes_of_known_values),
        cmocka_unit_test(a_length_needs_both_ends_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
