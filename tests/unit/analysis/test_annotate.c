/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/annotate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "base/attributes.h"

/* Measured over ../shared/logs: tasks, median ms, max ms, median and max shuffle read bytes. */
static const struct measured {
    const char *what;
    struct annotate_spread spread;
    int grade;
} stages[] = {
    {"skew_hot_key 3.5.7, stage 1", {16, 226, 5400, 1288033, 174915583, 0, 0}, GRADE_SEVERE},
    {"skew_hot_key 4.3.0, stage 1", {16, 160, 3357, 1288033, 174915583, 0, 0}, GRADE_SEVERE},
    {"straggler_even_bytes 3.5.7", {40, 426, 12142, 0, 0, 0, 0}, GRADE_SEVERE},
    {"balanced_keys 3.5.7, stage 1", {16, 814, 3544, 38253306, 45128428, 0, 0}, GRADE_OK},
    {"balanced_keys 4.3.0, stage 1", {16, 667, 3927, 38253306, 45128428, 0, 0}, GRADE_OK},
    {"healthy_sql 3.5.7, stage 0", {8, 673, 3831, 0, 0, 0, 0}, GRADE_OK},
    {"healthy_rdd 4.3.0, stage 0", {8, 327, 2881, 0, 0, 0, 0}, GRADE_OK},
    {"rerun_noise 3.5.7, stage 0", {8, 656, 4819, 0, 0, 0, 0}, GRADE_OK},
    {"broadcast_missed 4.3.0, stage 0", {8, 593, 5633, 0, 0, 0, 0}, GRADE_OK},
    {"webui_demo 4.3.0, stage 2", {200, 92, 1018, 26327, 27341, 0, 0}, GRADE_OK},
};

static void planted_skew_is_found_and_healthy_stages_are_quiet(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(stages); i++) {
        int grade = (int)annotate_skew(&stages[i].spread).grade;
        if (grade != stages[i].grade)
            fail_msg("%s: grade %d", stages[i].what, grade);
    }
}

static int skew(int64_t tasks, int64_t median, int64_t max, int64_t median_bytes, int64_t max_bytes)
{
    struct annotate_spread spread = {tasks, median, max, median_bytes, max_bytes, UNKNOWN, UNKNOWN};
    return (int)annotate_skew(&spread).grade;
}

static void uneven_bytes_need_two_seconds_and_one_above_the_median(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_int_equal(skew(4, 700, 2100, mib, 3 * mib), GRADE_MODERATE); /* three times, exactly */
    assert_int_equal(skew(4, 700, 2099, mib, 3 * mib), GRADE_OK);
    assert_int_equal(skew(4, 500, 1999, mib, 3 * mib), GRADE_OK);
    assert_int_equal(skew(4, 200, 2000, mib, 3 * mib), GRADE_SEVERE); /* ten times */
    assert_int_equal(skew(4, 201, 2000, mib, 3 * mib), GRADE_MODERATE);
    assert_int_equal(skew(3, 200, 2000, mib, 3 * mib), GRADE_OK);     /* three tasks */
    assert_int_equal(skew(4, 200, 2000, mib / 4, mib - 1), GRADE_OK); /* below a MiB */
    assert_int_equal(skew(4, 200, 2000, 0, mib), GRADE_SEVERE);       /* the others read nothing */
}

static void even_bytes_need_ten_seconds_above_the_median(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_int_equal(skew(4, 1000, 10999, mib, mib), GRADE_OK);
    assert_int_equal(skew(4, 1000, 11000, mib, mib), GRADE_SEVERE);
    assert_int_equal(skew(4, 5000, 15000, UNKNOWN, UNKNOWN), GRADE_MODERATE);
    assert_int_equal(skew(4, 60000, 120000, mib, mib), GRADE_OK); /* a minute more, and only twice as long */
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
    assert_int_equal(out.grade, GRADE_OK);
    assert_true(isnan(out.duration_ratio));
    assert_true(isnan(annotate_gc(UNKNOWN, 5).share) && isnan(annotate_gc(5, UNKNOWN).share) && isnan(annotate_gc(0, 0).share));
}

static void collections_count_from_a_tenth_and_from_three_tenths(void **state)
{
    (void)state;
    assert_int_equal(annotate_gc(100000, 10000).grade, GRADE_OK); /* a tenth is not above it */
    assert_int_equal(annotate_gc(100000, 10001).grade, GRADE_MODERATE);
    assert_int_equal(annotate_gc(100000, 30000).grade, GRADE_MODERATE);
    assert_int_equal(annotate_gc(100000, 30001).grade, GRADE_SEVERE);
    assert_int_equal(annotate_gc(15692, 5179).grade, GRADE_SEVERE); /* gc_pressure 3.5.7, stage 0 */
    assert_int_equal(annotate_gc(5696, 1370).grade, GRADE_MODERATE); /* and its stage 1 */
    assert_int_equal(annotate_gc(4999, 2500).grade, GRADE_OK);      /* a toy */
    assert_int_equal(annotate_gc(5000, 999).grade, GRADE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_skew_is_found_and_healthy_stages_are_quiet),
        cmocka_unit_test(uneven_bytes_need_two_seconds_and_one_above_the_median),
        cmocka_unit_test(even_bytes_need_ten_seconds_above_the_median),
        cmocka_unit_test(ratios_name_the_larger_source),
        cmocka_unit_test(what_is_unknown_is_not_judged),
        cmocka_unit_test(collections_count_from_a_tenth_and_from_three_tenths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
