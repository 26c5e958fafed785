/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/executor_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/distribution.h"
#include "analysis/sort_packed.h"
#include "base/attributes.h"

static void one_executor_against_the_others(void **state)
{
    (void)state;
    /* executor 0: 1 5 9; executor 2: 2 4 6 8; executor 1 ran nothing */
    const double values[] = {9, 8, 5, 2, 1, 4, 6};
    const uint32_t executors[] = {0, 2, 0, 2, 0, 2, 2};
    struct executor_times times;
    assert_int_equal(executor_times_make(&times, values, executors, 7, 3, NULL), 0);
    assert_int_equal(executor_task_count(&times, 0), 3);
    assert_int_equal(executor_task_count(&times, 1), 0);
    assert_int_equal(executor_task_count(&times, 2), 4);
    assert_true(executor_quantile(&times, 0, 0.5) == 5);
    assert_true(isnan(executor_quantile(&times, 1, 0.5)));
    assert_true(executor_quantile(&times, 2, 0.5) == 5);            /* between 4 and 6 */
    assert_true(executor_quantile_without(&times, 0, 9, 0.5) == 3); /* of 1 5 */
    assert_true(executor_quantile_without(&times, 0, 1, 0.5) == 7); /* of 5 9 */
    assert_true(executor_quantile_without(&times, 2, 4, 0.5) == 6); /* of 2 6 8 */
    assert_true(others_quantile(&times, 0, 0.5) == 5);
    assert_true(others_quantile(&times, 0, 0.75) == 6.5); /* 2 4 6 8: h = 2.25 */
    assert_true(others_quantile(&times, 1, 0.5) == 5);    /* all */
    assert_true(others_quantile(&times, 2, 0.5) == 5);
    executor_times_dispose(&times);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double by_sorting(const double *values, const uint32_t *executors, size_t count, uint32_t executor, bool others, double q)
{
    static double kept[2000];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if ((executors[i] == executor) != others)
            kept[n++] = values[i];
    qsort(kept, n, sizeof *kept, compare);
    return quantile_type7(kept, n, q);
}

static void any_executor_as_by_sorting(void **state)
{
    (void)state;
    static double values[2000];
    static uint32_t executors[2000];
    unsigned seed = 7;
    for (size_t round = 0; round < 60; round++) {
        size_t count = 1 + round * 33, executor_count = 1 + round % 7;
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1664525 + 1013904223;
            values[i] = round % 3 ? seed >> 12 : seed >> 29; /* without and with many equal ones */
            executors[i] = (seed >> 7) % (uint32_t)executor_count;
        }
        struct executor_times times;
        assert_int_equal(executor_times_make(&times, values, executors, count, executor_count, NULL), 0);
        for (uint32_t e = 0; e < executor_count; e++)
            for (double q = 0; q <= 1; q += 0.25) {
                double own = by_sorting(values, executors, count, e, false, q), others = by_sorting(values, executors, count, e, true, q);
                double own_found = executor_quantile(&times, e, q), others_found = others_quantile(&times, e, q);
                assert_true(own == own_found || (isnan(own) && isnan(own_found)));
                assert_true(others == others_found || (isnan(others) && isnan(others_found)));
            }
        executor_times_dispose(&times);
    }
}

/* What one pass says is compared with all medians: where it says that executors are alike, no ratio reaches the limit. */
static void executors_that_differ_are_never_missed(void **state)
{
    (void)state;
    static double values[200], sorted[200];
    static uint32_t executors[200];
    unsigned seed = 11, differing = 0, alike = 0;
    for (size_t round = 0; round < 3000; round++) {
        size_t count = 2 + round % 60, executor_count = 2 + round % 3;
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1664525 + 1013904223;
            executors[i] = (seed >> 7) % (uint32_t)executor_count;
            sorted[i] = values[i] = (double)(seed >> 16) / 65536 * (round % 5 ? 60 : 3) + (round % 2 ? 100 : 0) + (executors[i] == 0 ? (double)(round % 50) : 0);
        }
        qsort(sorted, count, sizeof *sorted, compare);
        bool found;
        assert_int_equal(executors_differ(values, executors, count, executor_count, quantile_type7(sorted, count, 0.5), 1.3, &found, NULL), 0);
        bool any = false;
        for (uint32_t e = 0; e < executor_count; e++)
            any |= by_sorting(values, executors, count, e, false, 0.5) >= 1.3 * fmax(1, by_sorting(values, executors, count, e, true, 0.5));
        assert_true(found || !any);
        differing += any;
        alike += !found;
    }
    assert_true(differing > 100 && alike > 100); /* both are met */
}

static void items_are_sorted_by_value_and_stay_in_order_where_equal(void **state)
{
    (void)state;
    static uint64_t items[3000], scratch[3000];
    static const size_t counts[] = {0, 1, 2, 64, 65, 3000};
    for (size_t c = 0; c < ARRAY_LENGTH(counts); c++) {
        unsigned seed = 3;
        for (size_t i = 0; i < counts[c]; i++) {
            seed = seed * 1664525 + 1013904223;
            items[i] = packed_item(i % 5 == 0 ? 0 : i % 7 == 0 ? 1e18 : seed >> 20, (uint32_t)i);
        }
        sort_packed(items, counts[c], scratch);
        for (size_t i = 1; i < counts[c]; i++) {
            assert_true(packed_value(items[i - 1]) <= packed_value(items[i]));
            if (items[i - 1] >> 32 == items[i] >> 32)
                assert_true((uint32_t)items[i - 1] < (uint32_t)items[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_executor_against_the_others),
        cmocka_unit_test(any_executor_as_by_sorting),
        cmocka_unit_test(executors_that_differ_are_never_missed),
        cmocka_unit_test(items_are_sorted_by_value_and_stay_in_order_where_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
