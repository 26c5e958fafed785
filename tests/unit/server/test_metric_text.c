/* SPDX-License-Identifier: Apache-2.0
 *
 * Worked values: spec/sql.md §3.3-3.5, §11.2, §11.3; captures of a Spark 4.3 History Server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "server/api_v1/metric_text.h"

static char out[METRIC_TEXT_BYTES];

static void counts_are_grouped(void **state)
{
    (void)state;
    assert_string_equal(metric_count_text(0, out), "0");
    assert_string_equal(metric_count_text(999, out), "999");
    assert_string_equal(metric_count_text(1000, out), "1,000");
    assert_string_equal(metric_count_text(1234567, out), "1,234,567");
    assert_string_equal(metric_count_text(-1234, out), "-1,234");
    assert_string_equal(metric_count_text(INT64_MIN, out), "-9,223,372,036,854,775,808");
}

static void tenths_have_a_decimal_only_where_there_is_one(void **state)
{
    (void)state;
    assert_string_equal(metric_tenths_text(12, out), "1.2");
    assert_string_equal(metric_tenths_text(30, out), "3");
    assert_string_equal(metric_tenths_text(1, out), "0.1");
    assert_string_equal(metric_tenths_text(12345, out), "1,234.5");
    assert_string_equal(metric_tenths_text(0, out), "0");
}

static void bytes_change_unit_at_twice_it_and_round_half_up(void **state)
{
    (void)state;
    assert_string_equal(metric_bytes_text(0, out), "0.0 B");
    assert_string_equal(metric_bytes_text(2047, out), "2047.0 B");
    assert_string_equal(metric_bytes_text(2048, out), "2.0 KiB");
    assert_string_equal(metric_bytes_text(2304, out), "2.3 KiB");        /* 2.25: C would say 2.2 */
    assert_string_equal(metric_bytes_text(2816, out), "2.8 KiB");        /* 2.75 */
    assert_string_equal(metric_bytes_text(2303, out), "2.2 KiB");
    assert_string_equal(metric_bytes_text(1048678, out), "1024.1 KiB");
    assert_string_equal(metric_bytes_text(((int64_t)2 << 20) - 1, out), "2048.0 KiB");
    assert_string_equal(metric_bytes_text((int64_t)2 << 20, out), "2.0 MiB");
    assert_string_equal(metric_bytes_text(((int64_t)2 << 60) - 1, out), "2048.0 PiB");
    assert_string_equal(metric_bytes_text(INT64_MAX, out), "8.0 EiB");
}

static void durations_go_through_a_float(void **state)
{
    (void)state;
    assert_string_equal(metric_duration_text(0, out), "0 ms");
    assert_string_equal(metric_duration_text(999, out), "999 ms");
    assert_string_equal(metric_duration_text(1000, out), "1.0 s");
    assert_string_equal(metric_duration_text(1150, out), "1.1 s");       /* the float nearest to 1.15 is below it */
    assert_string_equal(metric_duration_text(1250, out), "1.3 s");
    assert_string_equal(metric_duration_text(1350, out), "1.4 s");
    assert_string_equal(metric_duration_text(59999, out), "60.0 s");
    assert_string_equal(metric_duration_text(60000, out), "1.0 m");
    assert_string_equal(metric_duration_text(3599999, out), "60.0 m");
    assert_string_equal(metric_duration_text(3600000, out), "1.00 h");
    assert_string_equal(metric_duration_text(9000000, out), "2.50 h");
    assert_string_equal(metric_duration_text(363600000, out), "101.00 h");
}

/* spec/core.md, formats of the pages: half up on the decimal value. */
static void pages_say_durations_in_their_own_way(void **state)
{
    (void)state;
    assert_string_equal(metric_page_duration_text(-5, out), "-5 ms");
    assert_string_equal(metric_page_duration_text(0, out), "0 ms");
    assert_string_equal(metric_page_duration_text(99, out), "99 ms");
    assert_string_equal(metric_page_duration_text(100, out), "0.1 s");
    assert_string_equal(metric_page_duration_text(149, out), "0.1 s");
    assert_string_equal(metric_page_duration_text(150, out), "0.2 s");
    assert_string_equal(metric_page_duration_text(999, out), "1.0 s");
    assert_string_equal(metric_page_duration_text(1000, out), "1 s");
    assert_string_equal(metric_page_duration_text(2499, out), "2 s");
    assert_string_equal(metric_page_duration_text(2500, out), "3 s");
    assert_string_equal(metric_page_duration_text(59999, out), "60 s");
    assert_string_equal(metric_page_duration_text(60000, out), "1.0 min");
    assert_string_equal(metric_page_duration_text(62999, out), "1.0 min");
    assert_string_equal(metric_page_duration_text(63000, out), "1.1 min");       /* 1.05 */
    assert_string_equal(metric_page_duration_text(599999, out), "10.0 min");
    assert_string_equal(metric_page_duration_text(600000, out), "10 min");
    assert_string_equal(metric_page_duration_text(630000, out), "11 min");
    assert_string_equal(metric_page_duration_text(3599999, out), "60 min");
    assert_string_equal(metric_page_duration_text(3600000, out), "1.0 h");
    assert_string_equal(metric_page_duration_text(3780000, out), "1.1 h");       /* 1.05 */
    assert_string_equal(metric_page_duration_text(3600000000, out), "1000.0 h");
    assert_string_equal(metric_page_duration_text(INT64_MAX, out), "2562047788015.2 h");
}

static const struct metric_values reported = {.max_stage_id = 2, .max_stage_attempt = 0, .max_task_id = 15};

static char *text(const char *type, int64_t count, int64_t total, int64_t min, int64_t median, int64_t max)
{
    struct metric_values values = reported;
    values.type = str_of(type);
    values.value_count = count;
    values.total = total;
    values.min = min;
    values.median = median;
    values.max = max;
    return metric_text(&values, out);
}

static void several_values_have_a_spread_and_name_the_largest(void **state)
{
    (void)state;
    assert_string_equal(text("size", 10, 3760, 372, 376, 380), "total (min, med, max (stageId: taskId))\n3.7 KiB (372.0 B, 376.0 B, 380.0 B (stage 2.0: task 15))");
    assert_string_equal(text("timing", 16, 259, 31, 32, 33), "total (min, med, max (stageId: taskId))\n259 ms (31 ms, 32 ms, 33 ms (stage 2.0: task 15))");
    assert_string_equal(text("average", 4, 45, 11, 11, 12), "(min, med, max (stageId: taskId)):\n(1.1, 1.1, 1.2 (stage 2.0: task 15))");
    struct metric_values driver = {.type = STR_LIT("size"), .value_count = 13, .total = 52533658, .min = 2097152, .median = 4194304, .max = 4194304,
                                   .max_stage_id = UNKNOWN, .max_stage_attempt = UNKNOWN, .max_task_id = UNKNOWN};
    assert_string_equal(metric_text(&driver, out), "total (min, med, max (stageId: taskId))\n50.1 MiB (2.0 MiB, 4.0 MiB, 4.0 MiB (driver))");
}

static void nanoseconds_are_cut_to_milliseconds_one_by_one(void **state)
{
    (void)state;
    assert_string_equal(text("nsTiming", 2, 3999999, 1999999, 2000000, 2000000), "total (min, med, max (stageId: taskId))\n3 ms (1 ms, 2 ms, 2 ms (stage 2.0: task 15))");
    assert_string_equal(text("nsTiming", 1, 1250000000, 0, 0, 0), "1.3 s");
}

static void fewer_than_two_values_are_one_number(void **state)
{
    (void)state;
    assert_string_equal(text("size", 1, 590, 590, 590, 590), "590.0 B");
    assert_string_equal(text("size", 0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN), "0.0 B");
    assert_string_equal(text("timing", 0, 0, UNKNOWN, UNKNOWN, UNKNOWN), "0 ms");
    assert_string_equal(text("average", 0, 0, UNKNOWN, UNKNOWN, UNKNOWN), "0");
    assert_string_equal(text("average", 1, 12, 12, 12, 12), "1.2");
}

static void sums_and_other_types(void **state)
{
    (void)state;
    assert_string_equal(text("sum", 3, 6000000, 1, 2, 3), "6,000,000");
    assert_string_equal(text("v2Custom_org.apache.iceberg.spark.source.metrics.NumSplits", 3, 6, 1, 2, 3), "N/A");
    /* Databricks: application app-20240213185822-0000 of ../shared, execution 8 */
    assert_string_equal(text("count", 67, 3274, 36, 49, 51),
                        "total (min, med, max (stageId: taskId))\n[unknown] 3,274 ([unknown] 36, [unknown] 49, [unknown] 51 (stage 2.0: task 15))");
    assert_string_equal(text("maximum", 1, 12, 12, 12, 12), "[unknown] 12");
}

static void the_longest_text_fits(void **state)
{
    (void)state;
    struct metric_values values = {.type = STR_LIT("average"), .value_count = 2, .total = INT64_MAX, .min = INT64_MIN + 1, .median = INT64_MAX, .max = INT64_MAX,
                                   .max_stage_id = INT32_MAX, .max_stage_attempt = INT32_MAX, .max_task_id = INT64_MAX};
    assert_string_equal(metric_text(&values, out), "(min, med, max (stageId: taskId)):\n(-922,337,203,685,477,580.7, 922,337,203,685,477,580.7, 922,337,203,685,477,580.7 "
                                                   "(stage 2147483647.2147483647: task 9223372036854775807))");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped),
        cmocka_unit_test(tenths_have_a_decimal_only_where_there_is_one),
        cmocka_unit_test(bytes_change_unit_at_twice_it_and_round_half_up),
        cmocka_unit_test(durations_go_through_a_float),
        cmocka_unit_test(pages_say_durations_in_their_own_way),
        cmocka_unit_test(several_values_have_a_spread_and_name_the_largest),
        cmocka_unit_test(nanoseconds_are_cut_to_milliseconds_one_by_one),
        cmocka_unit_test(fewer_than_two_values_are_one_number),
        cmocka_unit_test(sums_and_other_types),
        cmocka_unit_test(the_longest_text_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
