/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

static void list_schedule_has_closed_forms(void **state)
{
    (void)state;
    double equal[10], ramp[] = {5, 1, 1, 1, 1}, straggler_last[] = {1, 1, 1, 1, 10};
    for (int i = 0; i < 10; i++)
        equal[i] = 3;
    assert_true(list_schedule(equal, 10, 4) == 9); /* ⌈10/4⌉ × 3 */
    assert_true(list_schedule(equal, 10, 5) == 6);
    assert_true(list_schedule(equal, 10, 1) == 30);
    assert_true(list_schedule(equal, 10, 10) == 3);
    assert_true(list_schedule(equal, 10, 1e18) == 3);
    assert_true(list_schedule(equal, 10, 4.9) == 9); /* whole slots */
    assert_true(list_schedule(equal, 10, 0) == 30);  /* at least one */
    assert_true(list_schedule(equal, 10, (double)NAN) == 30);
    assert_true(list_schedule(equal, 0, 3) == 0);
    assert_true(list_schedule(ramp, 5, 2) == 5);                      /* the long one first: the four others beside it */
    assert_true(list_schedule(straggler_last, 5, 2) == 12);           /* last: after two waves */
    assert_true(list_schedule((double[]){3, 1, 2, 2, 1}, 5, 3) == 3); /* 3 | 1 + 2 | 2 + 1 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_schedule_has_closed_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
