/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"

#define NEAR(value, expected) assert_true(fabs((value) - (double)(expected)) <= 1e-9 * fmax(1, fabs((double)(expected))))

/* Ten tasks of 110 ms: delay 5, D 5, R 100 of which 80 CPU; ten executors. Each test makes task 9 slower in one way. */
enum { COUNT = 10, SLOW = COUNT - 1, MAX_COUNT = 1000 };
static struct {
    struct stage_sample sample;
    double of[STAT_COLUMN_COUNT][MAX_COUNT];
    int64_t task_id[MAX_COUNT];
    uint32_t executor[MAX_COUNT];
    bool cold[MAX_COUNT], retried[MAX_COUNT];
    int8_t locality[MAX_COUNT];
} stage;

static void even_stage(size_t count)
{
    memset(&stage, 0, sizeof stage);
    stage.sample = (struct stage_sample){.count = count,
                                         .task_id = stage.task_id,
                                         .executor = stage.executor,
                                         .executor_count = count,
                                         .cold = stage.cold,
                                         .retried = stage.retried,
                                         .locality = stage.locality,
                                         .has_cpu = true,
                                         .end_ms = 10000,
                                         .slots = 4};
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++)
        stage.sample.of[c] = stage.of[c];
    for (size_t i = 0; i < count; i++) {
        stage.task_id[i] = (int64_t)i + 100;
        stage.executor[i] = (uint32_t)i;
        stage.of[STAT_OCCUPANCY][i] = 110;
        stage.of[STAT_RUN][i] = 100;
        stage.of[STAT_DESER][i] = 5;
        stage.of[STAT_DELAY][i] = 5;
        stage.of[STAT_CPU][i] = 80;
    }
}

static void slower(enum stat_column part, size_t k, double ms)
{
    stage.of[STAT_OCCUPANCY][k] += ms;
    stage.of[part][k] += ms;
}

static struct slow_task why(size_t k)
{
    struct distribution of[STAT_COLUMN_COUNT];
    struct stage_medians *medians;
    assert_int_equal(stage_distributions(&stage.sample, of, NULL), 0);
    assert_int_equal(stage_medians_make(&medians, &stage.sample, of, NULL), 0);
    struct slow_task task = why_slow(&stage.sample, medians, k);
    stage_medians_free(medians);
    double sum = 0;
    for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
        assert_true(task.ms[cause] >= 0);
        sum += task.ms[cause];
    }
    NEAR(sum, fmax(0, task.excess_ms));
    return task;
}

static void the_median_task_is_not_slow(void **state)
{
    (void)state;
    even_stage(COUNT);
    struct slow_task task = why(SLOW);
    assert_true(task.excess_ms == 0 && task.first == CAUSE_NONE && task.data == STAT_COLUMN_COUNT);
    even_stage(2);
    slower(STAT_RUN, 1, 1000);
    assert_true(why(1).excess_ms == 0 && why(1).first == CAUSE_NONE); /* two winners have no median worth the name */
}

static void each_part_of_a_task_may_be_the_cause(void **state)
{
    (void)state;
    static const struct {
        enum stat_column part;
        enum cause cause;
    } cases[] = {{STAT_DELAY, CAUSE_DELAY}, {STAT_DESER, CAUSE_DESER}, {STAT_SER, CAUSE_SER}, {STAT_GETRES, CAUSE_GETRES}, {STAT_RUN, CAUSE_WAITING}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        even_stage(COUNT);
        slower(cases[i].part, SLOW, 1000);
        struct slow_task task = why(SLOW);
        NEAR(task.excess_ms, 1000);
        NEAR(task.ms[cases[i].cause], 1000);
        assert_true(task.first == cases[i].cause && task.first_share == 1);
    }
    static const struct {
        enum stat_column part;
        enum cause cause;
    } in_run[] = {{STAT_GC, CAUSE_GC}, {STAT_FETCH, CAUSE_FETCH}, {STAT_SHWRITE, CAUSE_SHWRITE}, {STAT_CPU, CAUSE_CODE_CPU}};
    for (size_t i = 0; i < ARRAY_LENGTH(in_run); i++) {
        even_stage(COUNT);
        slower(STAT_RUN, SLOW, 1000);
        stage.of[in_run[i].part][SLOW] += 700; /* the rest of the run time waits */
        struct slow_task task = why(SLOW);
        NEAR(task.ms[in_run[i].cause], 700);
        NEAR(task.ms[CAUSE_WAITING], 300);
        NEAR(task.first_share, 0.7);
    }
}

static void without_cpu_times_the_rest_is_unexplained(void **state)
{
    (void)state;
    even_stage(COUNT);
    slower(STAT_RUN, SLOW, 1000);
    stage.sample.has_cpu = false;
    stage.sample.of[STAT_CPU] = NULL;
    assert_true(why(SLOW).ms[CAUSE_UNEXPLAINED] == 1000);
}

/* Tasks 0 2 4 6 and 9 are the first on their lanes: the others of them take 505, the warm ones 105 of R + D. */
static void the_first_wave_is_compared_with_itself(void **state)
{
    (void)state;
    even_stage(COUNT);
    for (size_t i = 0; i < 8; i += 2) {
        stage.cold[i] = true;
        slower(STAT_RUN, i, 400);
    }
    stage.cold[SLOW] = true;
    slower(STAT_DESER, SLOW, 300);
    slower(STAT_RUN, SLOW, 700);
    /* median of o' is 110 + (510 − 110) / 2 = 310, of R 300, of D 5 */
    struct slow_task task = why(SLOW);
    NEAR(task.excess_ms, 800);
    NEAR(task.ms[CAUSE_WARMUP], 400); /* ref 505 − 105: 300 from D, then what is left, 100, at the end */
    NEAR(task.ms[CAUSE_DESER], 0);
    NEAR(task.ms[CAUSE_WAITING], 400);
}

static void the_only_cold_task_may_take_three_seconds_more(void **state)
{
    (void)state;
    even_stage(COUNT);
    stage.cold[SLOW] = true;
    slower(STAT_RUN, SLOW, 5000);
    struct slow_task task = why(SLOW);
    NEAR(task.ms[CAUSE_WARMUP], 3000);
    NEAR(task.ms[CAUSE_WAITING], 2000);
}

static void fewer_than_three_warm_tasks_say_nothing_of_warmth(void **state)
{
    (void)state;
    even_stage(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        stage.cold[i] = i > 1;
    slower(STAT_RUN, SLOW, 5000);
    assert_true(why(SLOW).ms[CAUSE_WARMUP] == 0);
}

static void ten_times_the_data_take_ten_times_as_long(void **state)
{
    (void)state;
    static const enum stat_column columns[] = {STAT_READ_RECORDS, STAT_READ_BYTES, STAT_INPUT_RECORDS, STAT_INPUT_BYTES};
    for (size_t c = 0; c < ARRAY_LENGTH(columns); c++) {
        even_stage(COUNT);
        for (size_t i = 0; i < COUNT; i++)
            stage.of[columns[c]][i] = 1048576;
        stage.of[columns[c]][SLOW] = 8 * 1048576;
        slower(STAT_RUN, SLOW, 1000);
        struct slow_task task = why(SLOW);
        NEAR(task.ms[CAUSE_DATA], 700); /* 100 × (8 − 1) */
        NEAR(task.ms[CAUSE_WAITING], 300);
        assert_true(task.data == columns[c]);
    }
    stage.of[STAT_READ_RECORDS][SLOW] = 8 * 1000; /* two sizes say the same: the first one is named */
    for (size_t i = 0; i < SLOW; i++)
        stage.of[STAT_READ_RECORDS][i] = 1000;
    assert_true(why(SLOW).data == STAT_READ_RECORDS);
}

static void where_most_read_nothing_the_share_counts(void **state)
{
    (void)state;
    even_stage(COUNT);
    slower(STAT_RUN, SLOW, 1000);
    stage.of[STAT_INPUT_BYTES][SLOW] = 4e6;
    stage.of[STAT_INPUT_BYTES][0] = 6e6; /* it has 40 % of all: 2 × 0.4 of its excess */
    NEAR(why(SLOW).ms[CAUSE_DATA], 800);
    stage.of[STAT_INPUT_BYTES][0] = 1e6; /* 80 %: all */
    NEAR(why(SLOW).ms[CAUSE_DATA], 1000);
}

static void little_data_is_not_named_and_ordinary_data_explains_nothing(void **state)
{
    (void)state;
    even_stage(COUNT);
    slower(STAT_RUN, SLOW, 1000);
    stage.of[STAT_INPUT_BYTES][SLOW] = 1048575;
    struct slow_task task = why(SLOW);
    NEAR(task.ms[CAUSE_DATA], 1000);
    assert_true(!task.data_counts && task.first == CAUSE_NONE && task.first_share == 0);
    stage.of[STAT_INPUT_BYTES][SLOW] = 1048576;
    task = why(SLOW);
    assert_true(task.data_counts && task.first == CAUSE_DATA && task.first_share == 1);
    stage.of[STAT_INPUT_BYTES][SLOW] = 0;
    stage.of[STAT_INPUT_RECORDS][SLOW] = 999;
    assert_true(!why(SLOW).data_counts);
    stage.of[STAT_INPUT_RECORDS][SLOW] = 1000;
    assert_true(why(SLOW).data_counts);

    even_stage(COUNT);
    slower(STAT_RUN, SLOW, 1000);
    for (size_t i = 0; i < COUNT; i++)
        stage.of[STAT_INPUT_BYTES][i] = 1e7;
    stage.of[STAT_INPUT_BYTES][SLOW] = 1.19e7;
    assert_true(why(SLOW).ms[CAUSE_DATA] == 0 && why(SLOW).data == STAT_COLUMN_COUNT);
    stage.of[STAT_INPUT_BYTES][SLOW] = 1.2e7;
    NEAR(why(SLOW).ms[CAUSE_DATA], 20);
}

static void the_slope_speaks_where_it_says_more_than_the_ratio(void **state)
{
    (void)state;
    even_stage(20);
    for (size_t i = 0; i < 20; i++) {
        stage.of[STAT_INPUT_BYTES][i] = (double)(i + 1) * 1e6;
        slower(STAT_RUN, i, (double)(i + 1) * (double)(i + 1) * 10); /* slopes of i → i + 10: 10 × (2 i + 2 + 10), i = 0 … 9 */
    }
    slower(STAT_RUN, 19, 50000);
    /* median slope: 10 × (2 × 4.5 + 12) = 210 ms a MB (the last pair has 1e6 more in it and does not move it); × 9.5 MB = 1995.
     * ratio: p50(R) = 100 + (1000 + 1210) / 2 = 1205; × (20 / 10.5 − 1) = 1090.24 */
    struct slow_task task = why(19);
    NEAR(task.excess_ms, 50000 + 4000 - 1105);
    NEAR(task.ms[CAUSE_DATA], 1995);
    assert_true(task.data == STAT_INPUT_BYTES);

    even_stage(20); /* equal sizes but for one: no slope, and none is looked for */
    for (size_t i = 0; i < 20; i++)
        stage.of[STAT_INPUT_BYTES][i] = 1e6;
    stage.of[STAT_INPUT_BYTES][19] = 3e6;
    slower(STAT_RUN, 19, 1000);
    NEAR(why(19).ms[CAUSE_DATA], 200);
}

/* The same twenty tasks 7,500 times: every third one is looked at, and the slope is the same. */
static void a_huge_stage_has_the_slope_of_a_part_of_it(void **state)
{
    (void)state;
    enum { HUGE_COUNT = 150000 };
    static double occupancy[HUGE_COUNT], run[HUGE_COUNT], bytes[HUGE_COUNT];
    static int64_t task_id[HUGE_COUNT];
    static uint32_t executor[HUGE_COUNT];
    for (size_t i = 0; i < HUGE_COUNT; i++) {
        double megabytes = (double)(i % 20 + 1);
        bytes[i] = megabytes * 1e6;
        occupancy[i] = run[i] = 100 + 10 * megabytes * megabytes + (i == 19 ? 50000 : 0);
    }
    struct stage_sample sample = {.count = HUGE_COUNT, .task_id = task_id, .executor = executor, .executor_count = 1, .end_ms = 1, .slots = 4};
    sample.of[STAT_OCCUPANCY] = occupancy;
    sample.of[STAT_RUN] = run;
    sample.of[STAT_INPUT_BYTES] = bytes;
    struct distribution of[STAT_COLUMN_COUNT];
    struct stage_medians *medians;
    assert_int_equal(stage_distributions(&sample, of, NULL), 0);
    assert_int_equal(stage_medians_make(&medians, &sample, of, NULL), 0);
    NEAR(why_slow(&sample, medians, 19).ms[CAUSE_DATA], 1995);
    stage_medians_free(medians);
}

static void falling_times_have_no_slope(void **state)
{
    (void)state;
    even_stage(20);
    for (size_t i = 0; i < 20; i++) {
        stage.of[STAT_INPUT_BYTES][i] = (double)(i + 1) * 1e6;
        slower(STAT_RUN, i, (double)(19 - i) * 10);
    }
    slower(STAT_RUN, 19, 1000);
    NEAR(why(19).ms[CAUSE_DATA], 205 * (20 / 10.5 - 1)); /* R: 110, 120 … 290, 1100 */
}

/* Tasks 0 … 3 and 9 on executor 0, where the others take three times as long. */
static void a_slow_executor_needs_three_peers_and_three_elsewhere(void **state)
{
    (void)state;
    even_stage(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        stage.executor[i] = i < 3 || i == SLOW ? 0 : 1;
    for (size_t i = 0; i < 3; i++)
        slower(STAT_RUN, i, 200);
    slower(STAT_RUN, SLOW, 800);
    struct slow_task task = why(SLOW); /* R 900; peers 300, others 100: r = 3 */
    NEAR(task.ms[CAUSE_EXECUTOR], 600);
    NEAR(task.ms[CAUSE_WAITING], 200);
    stage.executor[0] = 1; /* two peers */
    NEAR(why(SLOW).ms[CAUSE_EXECUTOR], 0);
    for (size_t i = 0; i < COUNT; i++) /* two elsewhere */
        stage.executor[i] = i < 2;
    NEAR(why(SLOW).ms[CAUSE_EXECUTOR], 0);
    for (size_t i = 0; i < COUNT; i++) /* all on one */
        stage.executor[i] = 0;
    stage.sample.executor_count = 1;
    NEAR(why(SLOW).ms[CAUSE_EXECUTOR], 0);
}

static void a_peer_of_r_below_one_and_three_tenths_is_not_slow(void **state)
{
    (void)state;
    even_stage(COUNT);
    for (size_t i = 0; i < COUNT; i++)
        stage.executor[i] = i < 3 || i == SLOW ? 0 : 1;
    for (size_t i = 0; i < 3; i++)
        slower(STAT_RUN, i, 29);
    slower(STAT_RUN, SLOW, 800);
    NEAR(why(SLOW).ms[CAUSE_EXECUTOR], 0);
    for (size_t i = 0; i < 3; i++)
        slower(STAT_RUN, i, 1);
    NEAR(why(SLOW).ms[CAUSE_EXECUTOR], 900 * (1 - 1 / 1.3));
}

static void spill_and_locality_take_what_is_left(void **state)
{
    (void)state;
    even_stage(COUNT);
    slower(STAT_RUN, SLOW, 1000);
    stage.locality[SLOW] = 4;
    NEAR(why(SLOW).ms[CAUSE_LOCALITY], 1000);
    stage.locality[SLOW] = 3;
    NEAR(why(SLOW).ms[CAUSE_LOCALITY], 1000);
    stage.locality[SLOW] = 2;
    NEAR(why(SLOW).ms[CAUSE_LOCALITY], 0);
    for (size_t i = 0; i < COUNT; i++)
        stage.locality[i] = 4;
    NEAR(why(SLOW).ms[CAUSE_LOCALITY], 0); /* as all others */
    stage.of[STAT_DISK_SPILL][SLOW] = 1;
    stage.of[STAT_GC][SLOW] = 100;
    struct slow_task task = why(SLOW);
    NEAR(task.ms[CAUSE_GC], 100);
    NEAR(task.ms[CAUSE_SPILL], 900);
    for (size_t i = 0; i < COUNT; i++)
        stage.of[STAT_DISK_SPILL][i] = 1;
    NEAR(why(SLOW).ms[CAUSE_SPILL], 0); /* most spill */
}

static void causes_take_their_parts_in_order(void **state)
{
    (void)state;
    even_stage(COUNT);
    slower(STAT_DELAY, SLOW, 300);
    slower(STAT_DESER, SLOW, 300);
    stage.of[STAT_OCCUPANCY][SLOW] = 110 + 500; /* less than its parts say: the later ones get what is left */
    struct slow_task task = why(SLOW);
    NEAR(task.ms[CAUSE_DELAY], 300);
    NEAR(task.ms[CAUSE_DESER], 200);
    assert_true(task.first == CAUSE_DELAY);
    NEAR(task.first_share, 0.6);
}

static void being_retried_is_a_remark(void **state)
{
    (void)state;
    even_stage(COUNT);
    slower(STAT_RUN, SLOW, 1000);
    stage.retried[SLOW] = true;
    assert_true(why(SLOW).retried && why(SLOW).first == CAUSE_WAITING && !why(0).retried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_task_is_not_slow),
        cmocka_unit_test(each_part_of_a_task_may_be_the_cause),
        cmocka_unit_test(without_cpu_times_the_rest_is_unexplained),
        cmocka_unit_test(the_first_wave_is_compared_with_itself),
        cmocka_unit_test(the_only_cold_task_may_take_three_seconds_more),
        cmocka_unit_test(fewer_than_three_warm_tasks_say_nothing_of_warmth),
        cmocka_unit_test(ten_times_the_data_take_ten_times_as_long),
        cmocka_unit_test(where_most_read_nothing_the_share_counts),
        cmocka_unit_test(little_data_is_not_named_and_ordinary_data_explains_nothing),
        cmocka_unit_test(the_slope_speaks_where_it_says_more_than_the_ratio),
        cmocka_unit_test(a_huge_stage_has_the_slope_of_a_part_of_it),
        cmocka_unit_test(falling_times_have_no_slope),
        cmocka_unit_test(a_slow_executor_needs_three_peers_and_three_elsewhere),
        cmocka_unit_test(a_peer_of_r_below_one_and_three_tenths_is_not_slow),
        cmocka_unit_test(spill_and_locality_take_what_is_left),
        cmocka_unit_test(causes_take_their_parts_in_order),
        cmocka_unit_test(being_retried_is_a_remark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
