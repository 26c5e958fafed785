/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/annotate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "base/attributes.h"

enum { UNKNOWN_HEIGHT = ANNOTATE_UNKNOWN, USUAL = ANNOTATE_USUAL, HIGH = ANNOTATE_HIGH, VERY_HIGH = ANNOTATE_VERY_HIGH };

/* Measured over ../shared/logs: tasks, median ms, max ms, median and max shuffle read bytes. */
static const struct measured {
    const char *what;
    struct annotate_spread spread;
    int height, bytes_height;
} stages[] = {
    {"skew_hot_key 3.5.7, stage 1", {16, 226, 5400, 1288033, 174915583, 0, 0}, VERY_HIGH, VERY_HIGH}, /* 23.9 and 135.8 times */
    {"skew_hot_key 4.3.0, stage 1", {16, 160, 3357, 1288033, 174915583, 0, 0}, VERY_HIGH, VERY_HIGH}, /* 21.0 times */
    {"straggler_even_bytes 3.5.7", {40, 426, 12142, 0, 0, 0, 0}, VERY_HIGH, UNKNOWN_HEIGHT},          /* 28.5 times */
    {"balanced_keys 3.5.7, stage 1", {16, 814, 3544, 38253306, 45128428, 0, 0}, USUAL, USUAL},
    {"balanced_keys 4.3.0, stage 1", {16, 667, 3927, 38253306, 45128428, 0, 0}, USUAL, USUAL},
    {"healthy_sql 3.5.7, stage 0", {8, 673, 3831, 0, 0, 0, 0}, USUAL, UNKNOWN_HEIGHT},
    {"healthy_rdd 4.3.0, stage 0", {8, 327, 2881, 0, 0, 0, 0}, USUAL, UNKNOWN_HEIGHT},
    {"rerun_noise 3.5.7, stage 0", {8, 656, 4819, 0, 0, 0, 0}, USUAL, UNKNOWN_HEIGHT},
    {"broadcast_missed 4.3.0, stage 0", {8, 593, 5633, 0, 0, 0, 0}, USUAL, UNKNOWN_HEIGHT},
    {"webui_demo 4.3.0, stage 2", {200, 92, 1018, 26327, 27341, 0, 0}, USUAL, USUAL},
};

static void planted_skew_is_found_and_healthy_stages_are_quiet(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(stages); i++) {
        struct annotate_skew out = annotate_skew(&stages[i].spread);
        if ((int)out.height != stages[i].height || (int)out.bytes_height != stages[i].bytes_height)
            fail_msg("%s", stages[i].what);
    }
}

static enum annotate_height skew(int64_t tasks, int64_t median, int64_t max, int64_t median_bytes, int64_t max_bytes)
{
    struct annotate_spread spread = {tasks, median, max, median_bytes, max_bytes, UNKNOWN, UNKNOWN};
    return annotate_skew(&spread).height;
}

static void uneven_bytes_need_two_seconds_and_one_above_the_median(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_int_equal(skew(4, 700, 2100, mib, 3 * mib), HIGH); /* three times, exactly */
    assert_int_equal(skew(4, 700, 2099, mib, 3 * mib), USUAL);
    assert_int_equal(skew(4, 500, 1999, mib, 3 * mib), USUAL);
    assert_int_equal(skew(4, 200, 2000, mib, 3 * mib), VERY_HIGH); /* ten times, exactly */
    assert_int_equal(skew(4, 201, 2000, mib, 3 * mib), HIGH);
    assert_int_equal(skew(3, 200, 2000, mib, 3 * mib), USUAL);     /* three tasks */
    assert_int_equal(skew(4, 200, 2000, mib / 4, mib - 1), USUAL); /* below a MiB */
    assert_int_equal(skew(4, 200, 2000, 0, mib), VERY_HIGH);       /* the others read nothing */
}

static void even_bytes_need_ten_seconds_above_the_median(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_int_equal(skew(4, 1000, 10999, mib, mib), USUAL);
    assert_int_equal(skew(4, 1000, 11000, mib, mib), VERY_HIGH);
    assert_int_equal(skew(4, 5000, 15000, UNKNOWN, UNKNOWN), HIGH);
    assert_int_equal(skew(4, 60000, 120000, mib, mib), USUAL); /* a minute more, and only twice as long */
}

static enum annotate_height bytes(int64_t tasks, int64_t max_ms, int64_t median_bytes, int64_t max_bytes)
{
    struct annotate_spread spread = {tasks, max_ms, max_ms, UNKNOWN, UNKNOWN, median_bytes, max_bytes};
    return annotate_skew(&spread).bytes_height;
}

/* Of a stage that lasts, and of data worth the name; also where all tasks take equally long. */
static void bytes_have_a_height_of_their_own(void **state)
{
    (void)state;
    int64_t mib = (int64_t)1 << 20;
    assert_int_equal(bytes(4, 2000, mib, 3 * mib - 1), USUAL);
    assert_int_equal(bytes(4, 2000, mib, 3 * mib), HIGH);
    assert_int_equal(bytes(4, 2000, mib, 10 * mib - 1), HIGH);
    assert_int_equal(bytes(4, 2000, mib, 10 * mib), VERY_HIGH);
    assert_int_equal(bytes(4, 1999, mib, 10 * mib), USUAL);
    assert_int_equal(bytes(3, 2000, mib, 10 * mib), USUAL);
    assert_int_equal(bytes(4, 2000, 1, mib - 1), USUAL);
    assert_int_equal(bytes(4, 2000, 0, mib), UNKNOWN_HEIGHT); /* no ratio to nothing */
    assert_int_equal(bytes(4, UNKNOWN, mib, 10 * mib), USUAL);
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
    assert_int_equal(out.height, UNKNOWN_HEIGHT);
    assert_int_equal(out.bytes_height, UNKNOWN_HEIGHT);
    assert_true(isnan(out.duration_ratio));
    assert_int_equal(annotate_gc(UNKNOWN, 5).height, UNKNOWN_HEIGHT);
    assert_true(isnan(annotate_gc(UNKNOWN, 5).share) && isnan(annotate_gc(5, UNKNOWN).share) && isnan(annotate_gc(0, 0).share));
}

static void collections_are_high_above_a_tenth_and_very_high_above_three(void **state)
{
    (void)state;
    assert_int_equal(annotate_gc(100000, 10000).height, USUAL); /* a tenth is not above it */
    assert_int_equal(annotate_gc(100000, 10001).height, HIGH);
    assert_int_equal(annotate_gc(100000, 30000).height, HIGH);
    assert_int_equal(annotate_gc(100000, 30001).height, VERY_HIGH);
    assert_int_equal(annotate_gc(15692, 5179).height, VERY_HIGH); /* gc_pressure 3.5.7, stage 0 */
    assert_int_equal(annotate_gc(5696, 1370).height, HIGH);       /* and its stage 1 */
    assert_int_equal(annotate_gc(4999, 2500).height, USUAL);      /* a toy */
    assert_int_equal(annotate_gc(5000, 999).height, USUAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_skew_is_found_and_healthy_stages_are_quiet),
        cmocka_unit_test(uneven_bytes_need_two_seconds_and_one_above_the_median),
        cmocka_unit_test(even_bytes_need_ten_seconds_above_the_median),
        cmocka_unit_test(bytes_have_a_height_of_their_own),
        cmocka_unit_test(ratios_name_the_larger_source),
        cmocka_unit_test(what_is_unknown_is_not_judged),
        cmocka_unit_test(collections_are_high_above_a_tenth_and_very_high_above_three),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
