/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/distribution.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/attributes.h"

#define NEAR(value, expected) assert_true(fabs((value) - (double)(expected)) <= 1e-9 * fmax(1, fabs((double)(expected))))

static int64_t scratch[100000];

/* 1 … 9 and 100: ranks h = 9 q. */
static void quantiles_lie_between_their_neighbours(void **state)
{
    (void)state;
    double values[] = {100, 9, 1, 8, 2, 7, 3, 6, 4, 5};
    struct distribution of = distribution_of(values, 10, 1, scratch);
    assert_int_equal(of.count, 10);
    NEAR(of.sum, 145);
    NEAR(of.min, 1);
    NEAR(of.p10, 1.9);
    NEAR(of.p25, 3.25);
    NEAR(of.p50, 5.5);
    NEAR(of.p75, 7.75);
    NEAR(of.p90, 18.1);  /* 9 + 0.1 × 91 */
    NEAR(of.p95, 59.05); /* 9 + 0.55 × 91 */
    NEAR(of.p99, 91.81); /* 9 + 0.91 × 91 */
    NEAR(of.max, 100);
    NEAR(of.mean, 14.5);
    NEAR(of.sigma, sqrt(818.25)); /* (285 + 10000) / 10 − 14.5² */
    NEAR(of.ratio, 100 / 5.5);
    NEAR(of.r95, 59.05 / 5.5);
    NEAR(of.z, 85.5 / sqrt(818.25));
    NEAR(of.cv, sqrt(818.25) / 14.5);
}

static void ratios_are_finite_by_their_floor(void **state)
{
    (void)state;
    double values[] = {0, 0, 0, 4096};
    struct distribution of = distribution_of(values, 4, 1024, scratch);
    NEAR(of.p50, 0);
    NEAR(of.ratio, 4);
    NEAR(of.r95, 0.85 * 4096 / 1024);
}

static void equal_values_spread_nothing(void **state)
{
    (void)state;
    double values[] = {7, 7, 7};
    struct distribution of[] = {distribution_of(values, 3, 1, scratch), distribution_of_equal(7, 3, 1)};
    for (size_t i = 0; i < 2; i++) {
        assert_true(of[i].sigma == 0 && of[i].z == 0 && of[i].cv == 0 && of[i].ratio == 1 && of[i].p99 == 7 && of[i].sum == 21 && of[i].mean == 7);
    }
    struct distribution zero = distribution_of_equal(0, 3, 1);
    assert_true(zero.ratio == 0 && zero.cv == 0 && zero.p50 == 0);
}

static void nothing_has_no_quantile(void **state)
{
    (void)state;
    struct distribution of = distribution_of(NULL, 0, 1, scratch);
    assert_int_equal(of.count, 0);
    assert_true(isnan(of.p50) && isnan(of.max) && isnan(of.ratio) && isnan(of.z) && isnan(of.sum));
    assert_true(isnan(quantile_type7(NULL, 0, 0.5)) && isnan(quantile_of(NULL, 0, 0.5, scratch)));
    NEAR(quantile_type7((double[]){3}, 1, 0.99), 3);
    NEAR(quantile_type7((double[]){3, 4}, 2, 0.25), 3.25);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void selection_finds_what_sorting_finds(void **state)
{
    (void)state;
    static double values[100000], sorted[100000];
    static const size_t counts[] = {1, 2, 3, 10, 63, 64, 65, 66, 100, 257, 1000, 20000};
    unsigned seed = 1;
    for (size_t shape = 0; shape < 7; shape++)
        for (size_t c = 0; c < ARRAY_LENGTH(counts); c++) {
            size_t count = counts[c];
            for (size_t i = 0; i < count; i++) {
                seed = seed * 1664525 + 1013904223;
                double uniform = (double)(seed >> 8) / (1 << 24);
                values[i] = shape == 0   ? uniform
                            : shape == 1 ? floor(uniform * 5)                      /* many equal ones */
                            : shape == 2 ? (double)i                               /* ascending */
                            : shape == 3 ? (double)(count - i)                     /* descending */
                            : shape == 4 ? (i == count / 2 ? 1e18 : 1 + uniform)   /* one far away */
                            : shape == 5 ? (uniform < 0.6 ? 0 : exp(uniform * 40)) /* mostly 0, then over 17 decades */
                                         : 1e12 + floor(uniform * 3);              /* far from 0 and close together */
            }
            for (size_t i = 0; i < count; i++)
                sorted[i] = values[i];
            qsort(sorted, count, sizeof *sorted, compare);
            struct distribution of = distribution_of(values, count, 1, scratch);
            double mean = 0, squares = 0;
            for (size_t i = 0; i < count; i++)
                mean += values[i] / (double)count;
            for (size_t i = 0; i < count; i++)
                squares += (values[i] - mean) * (values[i] - mean) / (double)count;
            if (fabs(of.p10 - quantile_type7(sorted, count, 0.10)) > 1e-9 * of.max || fabs(of.p25 - quantile_type7(sorted, count, 0.25)) > 1e-9 * of.max ||
                fabs(of.p50 - quantile_type7(sorted, count, 0.50)) > 1e-9 * of.max || fabs(of.p75 - quantile_type7(sorted, count, 0.75)) > 1e-9 * of.max ||
                fabs(of.p90 - quantile_type7(sorted, count, 0.90)) > 1e-9 * of.max || fabs(of.p95 - quantile_type7(sorted, count, 0.95)) > 1e-9 * of.max ||
                fabs(of.p99 - quantile_type7(sorted, count, 0.99)) > 1e-9 * of.max || of.min != sorted[0] || of.max != sorted[count - 1] || fabs(of.mean - mean) > 1e-9 * of.max ||
                fabs(of.sigma - sqrt(squares)) > 1e-9 * of.max)
                fail_msg("shape %zu, %zu values", shape, count);
            for (double q = 0; q <= 1; q += 0.125)
                if (fabs(quantile_of(values, count, q, scratch) - quantile_type7(sorted, count, q)) > 1e-9 * of.max)
                    fail_msg("shape %zu, %zu values, quantile %.3f alone", shape, count, q);
        }
}

static void keys_order_as_numbers_do(void **state)
{
    (void)state;
    static const double ascending[] = {-1e300, -2, -1, -1e-300, 0, 1e-300, 1, 1.5, 2, 1e300};
    for (size_t i = 0; i + 1 < ARRAY_LENGTH(ascending); i++)
        assert_true(order_key(ascending[i]) < order_key(ascending[i + 1]) && order_value(order_key(ascending[i])) == ascending[i]);
    assert_true(order_key(-0.0) == order_key(0.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_lie_between_their_neighbours),
        cmocka_unit_test(ratios_are_finite_by_their_floor),
        cmocka_unit_test(equal_values_spread_nothing),
        cmocka_unit_test(nothing_has_no_quantile),
        cmocka_unit_test(selection_finds_what_sorting_finds),
        cmocka_unit_test(keys_order_as_numbers_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
