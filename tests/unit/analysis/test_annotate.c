/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/annotate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "base/attributes.h"

/* Measured over ../shared/logs: tasks, median ms, max ms, median and max shuffle read bytes. */
static const struct measured {
    const char *what;
    struct annotate_spread spread;
    bool high;
} stages[] = {
    {"skew_hot_key 3.5.7, stage 1", {16, 226, 5400, 1288033, 174915583, 0, 0}, true},
    {"skew_hot_key 4.3.0, stage 1", {16, 160, 3357, 1288033, 174915583, 0, 0}, true},
    {"straggler_even_bytes 3.5.7", {40, 426, 12142, 0, 0, 0, 0}, true},
    {"balanced_keys 3.5.7, stage 1", {16, 814, 3544, 38253306, 45128428, 0, 0}, false},
    {"balanced_keys 4.3.0, stage 1", {16, 667, 3927, 38253306, 45128428, 0, 0}, false},
    {"healthy_sql 3.5.7, stage 0", {8, 673, 3831, 0, 0, 0, 0}, false},
    {"healthy_rdd 4.3.0, stage 0", {8, 327, 2881, 0, 0, 0, 0}, false},
    {"rerun_noise 3.5.7, stage 0", {8, 656, 4819, 0, 0, 0, 0}, false},
    {"broadcast_missed 4.3.0, stage 0", {8, 593, 5633, 0, 0, 0, 0}, false},
    {"webui_demo 4.3.0, stage 2", {200, 92, 1018, 26327, 27341, 0, 0}, false},
};

static void planted_skew_is_found_and_healthy_stages_are_quiet(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(stages); i++) {
        if (annotate_skew(&stages[i].spread).high != stages[i].high)
            fail_msg("%s", stages[i].what);
    }
}

static bool skew(int64_t tasks, int64_t median, int64_t max, int64_t median_bytes, int64_t max_bytes)
{
    struct annotate_spread spread = {tasks, median, max, median_bytes, max_bytes, UNKNOWN, UNKNOWN};
    return annotate_skew(&spread).high;
}

static void uneven_bytes_need_two_seconds_and_one_above_the_median(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_true(skew(4, 700, 2100, mib, 3 * mib)); /* three times, exactly */
    assert_false(skew(4, 700, 2099, mib, 3 * mib));
    assert_false(skew(4, 500, 1999, mib, 3 * mib));
    assert_true(skew(4, 200, 2000, mib, 3 * mib)); /* ten times */
    assert_true(skew(4, 201, 2000, mib, 3 * mib));
    assert_false(skew(3, 200, 2000, mib, 3 * mib));     /* three tasks */
    assert_false(skew(4, 200, 2000, mib / 4, mib - 1)); /* below a MiB */
    assert_true(skew(4, 200, 2000, 0, mib));       /* the others read nothing */
}

static void even_bytes_need_ten_seconds_above_the_median(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_false(skew(4, 1000, 10999, mib, mib));
    assert_true(skew(4, 1000, 11000, mib, mib));
    assert_true(skew(4, 5000, 15000, UNKNOWN, UNKNOWN));
    assert_false(skew(4, 60000, 120000, mib, mib)); /* a minute more, and only twice as long */
}

static void ratios_name_the_larger_source(void **state)
{
    (void)state;
    struct annotate_spread spread = {10, 100, 400, 10, 20, 1000, 5000};
    struct annotate_skew out = annotate_skew(&spread);
    assert_int_equal(out.bytes, ANNOTATE_BYTES_INPUT);
    assert_true(out.bytes_ratio == 5.0);
    assert_true(out.duration_ratio == 4.0);
    spread = (struct annotate_spread){10, 0, 7, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    out = annotate_skew(&spread);
    assert_int_equal(out.bytes, ANNOTATE_BYTES_NONE);
    assert_true(isnan(out.bytes_ratio));
    assert_true(out.duration_ratio == 7.0); /* a median of 0 ms is one below 1 */
}

static void what_is_unknown_is_not_judged(void **state)
{
    (void)state;
    struct annotate_spread spread = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    struct annotate_skew out = annotate_skew(&spread);
    assert_false(out.high);
    assert_true(isnan(out.duration_ratio));
    assert_true(isnan(annotate_gc(UNKNOWN, 5).share) && isnan(annotate_gc(5, UNKNOWN).share) && isnan(annotate_gc(0, 0).share));
}

static void collections_are_high_above_a_tenth(void **state)
{
    (void)state;
    assert_false(annotate_gc(100000, 10000).high); /* a tenth is not above it */
    assert_true(annotate_gc(100000, 10001).high);
    assert_true(annotate_gc(15692, 5179).high); /* gc_pressure 3.5.7, stage 0 */
    assert_true(annotate_gc(5696, 1370).high); /* and its stage 1 */
    assert_false(annotate_gc(4999, 2500).high);      /* a toy */
    assert_false(annotate_gc(5000, 999).high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_skew_is_found_and_healthy_stages_are_quiet),
        cmocka_unit_test(uneven_bytes_need_two_seconds_and_one_above_the_median),
        cmocka_unit_test(even_bytes_need_ten_seconds_above_the_median),
        cmocka_unit_test(ratios_name_the_larger_source),
        cmocka_unit_test(what_is_unknown_is_not_judged),
        cmocka_unit_test(collections_are_high_above_a_tenth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
