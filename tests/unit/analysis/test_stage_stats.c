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
#include "base/mem.h"

#define NEAR(value, expected) assert_true(fabs((value) - (double)(expected)) <= 1e-9 * fmax(1, fabs((double)(expected))))
#define ABOUT(value, expected, tolerance) assert_true(fabs((value) - (double)(expected)) <= (tolerance))

enum { MAX_COUNT = 1000 };
static struct {
    struct stage_sample sample;
    double of[STAT_COLUMN_COUNT][MAX_COUNT];
    int64_t task_id[MAX_COUNT];
    uint32_t executor[MAX_COUNT];
    bool cold[MAX_COUNT], retried[MAX_COUNT];
    int8_t locality[MAX_COUNT];
} stage;

static unsigned seed;
static double uniform(void)
{
    seed = seed * 1664525 + 1013904223;
    return (double)(seed >> 8) / (1 << 24);
}

/* Tasks of `run_ms` ± 5 % and a little overhead, of about 10 MB read each, over five executors. */
static void new_stage(size_t count, double slots, double run_ms)
{
    memset(&stage, 0, sizeof stage);
    seed = 73;
    stage.sample = (struct stage_sample){.count = count,
                                         .task_id = stage.task_id,
                                         .executor = stage.executor,
                                         .executor_count = 5,
                                         .cold = stage.cold,
                                         .retried = stage.retried,
                                         .locality = stage.locality,
                                         .has_cpu = true,
                                         .slots = slots};
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++)
        stage.sample.of[c] = stage.of[c];
    for (size_t i = 0; i < count; i++) {
        double run = floor(run_ms * (0.95 + 0.1 * uniform()));
        stage.task_id[i] = (int64_t)i;
        stage.executor[i] = (uint32_t)i % 5;
        stage.of[STAT_RUN][i] = run;
        stage.of[STAT_CPU][i] = 0.8 * run;
        stage.of[STAT_DELAY][i] = 5;
        stage.of[STAT_DESER][i] = 3;
        stage.of[STAT_OCCUPANCY][i] = run + 8;
        stage.of[STAT_INPUT_BYTES][i] = floor(1e7 * (0.95 + 0.1 * uniform()));
        stage.of[STAT_INPUT_RECORDS][i] = floor(stage.of[STAT_INPUT_BYTES][i] / 100);
    }
}

static void scale(enum stat_column column, size_t i, double factor)
{
    stage.of[column][i] = floor(stage.of[column][i] * factor);
}

/* Run time and what follows from it. */
static void set_run(size_t i, double run_ms)
{
    stage.of[STAT_CPU][i] = 0.8 * run_ms;
    stage.of[STAT_RUN][i] = run_ms;
    stage.of[STAT_OCCUPANCY][i] = run_ms + stage.of[STAT_DELAY][i] + stage.of[STAT_DESER][i];
}

static struct stage_stats judged(void)
{
    struct stage_stats stats;
    if (stage.sample.end_ms == 0)
        stage.sample.end_ms = (int64_t)list_schedule(stage.of[STAT_OCCUPANCY], stage.sample.count, stage.sample.slots);
    assert_int_equal(stage_stats_make(&stats, &stage.sample, NULL), 0);
    return stats;
}

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

/* Against the plain way: look for the earliest slot. */
static void list_schedule_takes_the_earliest_slot(void **state)
{
    (void)state;
    double w[500], free_at[40];
    seed = 5;
    for (size_t slots = 1; slots <= 40; slots++) {
        double last = 0;
        memset(free_at, 0, sizeof free_at);
        for (size_t i = 0; i < ARRAY_LENGTH(w); i++) {
            size_t earliest = 0;
            w[i] = floor(uniform() * 100);
            for (size_t slot = 1; slot < slots; slot++)
                if (free_at[slot] < free_at[earliest])
                    earliest = slot;
            free_at[earliest] += w[i];
            last = fmax(last, free_at[earliest]);
        }
        assert_true(list_schedule(w, ARRAY_LENGTH(w), (double)slots) == last);
    }
}

/* Eight tasks on two slots: seven of 100 ms and then one of 1000. p75 = 100, cut 150. Observed 300 + 1000; capped 400 → 450 with the last; spread: E / n = 850 / 8 = 106.25 more each. */
static void what_is_recoverable_is_the_difference_of_two_schedules(void **state)
{
    (void)state;
    new_stage(8, 2, 100);
    for (size_t i = 0; i < 8; i++)
        stage.of[STAT_OCCUPANCY][i] = i == 7 ? 1000 : 100;
    struct stage_stats stats = judged();
    NEAR(stats.outliers.cut_ms, 150);
    assert_int_equal(stats.outliers.count, 1);
    assert_int_equal(stats.outliers.worst, 7);
    NEAR(stats.base_ms, 1300);
    NEAR(stats.rec_cap_ms, 1300 - 450);
    NEAR(stats.rec_spread_ms, 1300 - (4 * 206.25 + 50)); /* the capped one, 256.25, comes fourth on its slot */
    stage.sample.count = 1;
    stats = judged();
    assert_true(isnan(stats.base_ms) && isnan(stats.rec_cap_ms) && isnan(stats.rec_spread_ms));
}

static void outliers_are_the_longest_two_hundred(void **state)
{
    (void)state;
    new_stage(MAX_COUNT, 20, 100);
    for (size_t i = 0; i < 249; i++)
        set_run(i * 4, 1000 + floor((double)i / 2)); /* pairs of equals */
    struct stage_stats stats = judged();
    assert_int_equal(stats.outliers.count, 249);
    assert_int_equal(stats.outliers.member_count, 200);
    for (size_t i = 1; i < 200; i++) {
        size_t a = stats.outliers.members[i - 1], b = stats.outliers.members[i];
        double x = stage.of[STAT_OCCUPANCY][a], y = stage.of[STAT_OCCUPANCY][b];
        assert_true(x > y || (x == y && stage.task_id[a] < stage.task_id[b]));
    }
    assert_int_equal(stats.outliers.members[0], 248 * 4);
    assert_int_equal(stats.outliers.members[199], 48 * 4); /* 248, then 246 247, 244 245 … 48 */
    assert_int_equal(stats.outliers.worst, 248 * 4);
}

/* findings.md appendix B 4: seven stages of 250 tasks on 20 slots. */
static void one_task_with_most_of_the_data_is_skew(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    set_run(0, 299000);
    scale(STAT_INPUT_BYTES, 0, 299);
    scale(STAT_INPUT_RECORDS, 0, 299);
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_FEW_SLOW);
    assert_int_equal(stats.outliers.cause, CAUSE_DATA);
    assert_int_equal(stats.outliers.data, STAT_INPUT_RECORDS);
    ABOUT(stats.of[STAT_RUN].ratio, 299, 3);
    ABOUT(stats.rec_spread_ms / stats.rec_cap_ms, 0.95, 0.01);
    assert_true(!stats.outliers.warmup_mutes && stats.outliers.cause_share > 0.9);
}

static void one_executor_that_is_five_times_slower_is_a_slow_host(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 250; i++)
        if (stage.executor[i] == 3)
            set_run(i, 5 * stage.of[STAT_RUN][i]);
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_SLOW_HOST);
    assert_int_equal(stats.slow_executor.executor, 3);
    ABOUT(stats.slow_executor.ratio, 5.0, 0.05);
    assert_true(stats.slow_executor.slow && stats.slow_executor.above_share == 1);
    ABOUT(stats.slow_executor.cost_ms, 50 * 4000 / 20, 100); /* Σ (o − o/5) / 20 */
    assert_true(stats.eta2 > 0.95);
}

static void spill_and_collections_everywhere_are_one_verdict(void **state)
{
    (void)state;
    new_stage(250, 20, 10000);
    for (size_t i = 0; i < 250; i++) {
        stage.of[STAT_DISK_SPILL][i] = 10 * stage.of[STAT_INPUT_BYTES][i];
        stage.of[STAT_GC][i] = 0.35 * (stage.of[STAT_RUN][i] + 3);
    }
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_MEMORY);
    NEAR(stats.of[STAT_DISK_SPILL].sum / stats.of[STAT_INPUT_BYTES].sum, 10);
    NEAR(stats.gc_share, 0.35);
}

static void eight_tasks_on_twenty_slots_are_too_few(void **state)
{
    (void)state;
    new_stage(8, 20, 10000);
    assert_int_equal(judged().verdict, VERDICT_FEW_TASKS);
    new_stage(10, 20, 10000);
    assert_int_equal(judged().verdict, VERDICT_FEW_TASKS); /* half of the slots */
    new_stage(11, 20, 10000);
    assert_int_equal(judged().verdict, VERDICT_OK);
    new_stage(8, 20, 2500); /* below three seconds */
    assert_int_equal(judged().verdict, VERDICT_OK);
}

static void even_tasks_are_fine(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_OK);
    assert_true(stats.outliers.count == 0 && stats.outliers.cause == CAUSE_NONE && stats.rec_cap_ms == 0 && stats.rec_spread_ms == 0 && stats.base_ms > 0);
    assert_true(!stats.slow_executor.slow && stats.slow_executor.ratio < 1.05);
}

static void one_task_that_waits_is_a_straggler(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    set_run(100, 30000);
    stage.of[STAT_CPU][100] = 800;
    stage.retried[100] = true;
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_FEW_SLOW);
    assert_int_equal(stats.outliers.cause, CAUSE_WAITING);
    assert_true(stats.outliers.any_retried && stats.outliers.worst == 100);
    ABOUT(stats.of[STAT_RUN].ratio, 30, 0.5);
    NEAR(stats.outliers.total_ms, 30008 - stats.outliers.cut_ms); /* causes sum to what is above the cut */
}

static void one_task_that_computes_is_a_straggler_of_its_own_kind(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    set_run(100, 30000);
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_FEW_SLOW);
    assert_int_equal(stats.outliers.cause, CAUSE_CODE_CPU);
    assert_true(!stats.outliers.any_retried);
}

static void a_first_wave_of_warming_up_is_muted(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 20; i++) {
        stage.cold[i] = true;
        set_run(i, 6000);
    }
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_FEW_SLOW);
    assert_int_equal(stats.outliers.cause, CAUSE_WARMUP);
    assert_true(stats.outliers.warmup_mutes && stats.outliers.warmup_share > 0.95);
}

/* Twenty tasks that warm up are four fifths of the outliers' seconds, and the one that waits at the end is what everybody waits for. */
static void a_straggler_is_told_beside_a_first_wave(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 20; i++) {
        stage.cold[i] = true;
        set_run(i, 6000);
    }
    set_run(249, 20000);
    stage.of[STAT_CPU][249] = 800;
    struct stage_stats stats = judged();
    assert_true(stats.outliers.warmup_share > 0.5 && stats.outliers.beside_warmup && !stats.outliers.warmup_mutes);
    assert_int_equal(stats.outliers.cause, CAUSE_WAITING);
    /* In the middle of the stage others work meanwhile: 2.5 s more is nothing that anybody waits for. */
    set_run(249, 1000);
    set_run(100, 2500);
    stats = judged();
    assert_true(stats.outliers.warmup_mutes && !stats.outliers.beside_warmup);
    assert_int_equal(stats.outliers.cause, CAUSE_WARMUP);
}

/* The rows of 5.3 that the seven stages leave out. */
static void whole_stages_are_slow_by_their_largest_part(void **state)
{
    (void)state;
    static const struct {
        enum stat_column part;
        enum stage_verdict verdict;
    } cases[] = {{STAT_FETCH, VERDICT_FETCH}, {STAT_SHWRITE, VERDICT_SHWRITE}, {STAT_DELAY, VERDICT_DELAY}, {STAT_DESER, VERDICT_DESER}};
    for (size_t c = 0; c < ARRAY_LENGTH(cases); c++) {
        for (int share = 19; share <= 21; share += 2) {
            new_stage(250, 20, 1000);
            for (size_t i = 0; i < 250; i++)
                stage.of[cases[c].part][i] = stage.of[STAT_OCCUPANCY][i] * share / 100;
            assert_int_equal(judged().verdict, share < 20 ? VERDICT_OK : cases[c].verdict);
        }
    }
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 250; i++)
        stage.of[STAT_FETCH][i] = stage.of[STAT_DELAY][i] = 300;
    assert_int_equal(judged().verdict, VERDICT_FETCH); /* the first that matches */
    for (size_t i = 0; i < 250; i++)
        stage.of[STAT_GC][i] = 0.1 * (stage.of[STAT_RUN][i] + stage.of[STAT_DESER][i]) + 1e-6;
    assert_int_equal(judged().verdict, VERDICT_GC);
}

static void little_spill_is_no_lack_of_memory(void **state)
{
    (void)state;
    new_stage(250, 20, 1000); /* reads 2.5 GB */
    stage.of[STAT_DISK_SPILL][0] = 2.0e8;
    assert_int_equal(judged().verdict, VERDICT_OK); /* 8 % of it */
    stage.of[STAT_DISK_SPILL][0] = 2.8e8;
    assert_int_equal(judged().verdict, VERDICT_MEMORY);
    for (size_t i = 0; i < 250; i++)
        stage.of[STAT_WRITE_BYTES][i] = 2e7; /* it writes twice as much */
    assert_int_equal(judged().verdict, VERDICT_OK);
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 250; i++)
        stage.of[STAT_INPUT_BYTES][i] = 0;
    stage.of[STAT_DISK_SPILL][0] = 67108864;
    assert_int_equal(judged().verdict, VERDICT_OK); /* 64 MiB */
    stage.of[STAT_DISK_SPILL][0] = 67108865;
    assert_int_equal(judged().verdict, VERDICT_MEMORY);
}

static void run_times_that_vary_everywhere_are_uneven(void **state)
{
    (void)state;
    for (int count = 40; count <= 41; count++) { /* more than two waves */
        new_stage((size_t)count, 20, 1000);
        for (size_t i = 0; i < (size_t)count; i++)
            set_run(i, i % 2 ? 100 : 1000); /* cv 0.8; no outlier: p75 is 1000 */
        for (size_t i = 0; i < (size_t)count; i++)
            stage.executor[i] = (uint32_t)(i / 2) % 5;
        struct stage_stats stats = judged();
        assert_int_equal(stats.verdict, count > 40 ? VERDICT_UNEVEN : VERDICT_OK);
        assert_true(stats.eta2 < 0.5);
    }
}

static void stages_of_less_than_a_second_are_not_judged(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    set_run(0, 299000);
    stage.sample.end_ms = 999;
    struct stage_stats stats = judged();
    assert_int_equal(stats.verdict, VERDICT_MUTED);
    assert_int_equal(stats.slow_executor.executor, UINT32_MAX);
    assert_true(stats.outliers.count == 1 && stats.rec_cap_ms > 0); /* measured all the same */
    stage.sample.end_ms = 1000;
    assert_int_equal(judged().verdict, VERDICT_FEW_SLOW);
}

static void a_stage_without_tasks_is_unknown(void **state)
{
    (void)state;
    struct stage_sample none = {.slots = 1, .end_ms = 100000};
    struct stage_stats stats;
    assert_int_equal(stage_stats_make(&stats, &none, NULL), 0);
    assert_int_equal(stats.verdict, VERDICT_MUTED);
    assert_true(isnan(stats.of[STAT_RUN].p50) && isnan(stats.base_ms) && isnan(stats.gc_share) && stats.outliers.count == 0 && stats.outliers.worst == SIZE_MAX);
}

static void a_slow_executor_has_five_tasks_beside_five(void **state)
{
    (void)state;
    for (size_t own = 4; own <= 5; own++) {
        new_stage(20, 4, 1000);
        for (size_t i = 0; i < 20; i++) {
            stage.executor[i] = i < own;
            if (i < own)
                set_run(i, 4000);
        }
        stage.sample.executor_count = 2;
        struct stage_stats stats = judged();
        assert_int_equal(stats.slow_executor.executor, own < 5 ? UINT32_MAX : 1);
        assert_int_equal(stats.verdict, own < 5 ? VERDICT_FEW_SLOW : VERDICT_SLOW_HOST);
    }
}

static void an_executor_that_reads_more_is_not_slow(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 250; i++)
        if (stage.executor[i] == 3) {
            set_run(i, 5 * stage.of[STAT_RUN][i]);
            scale(STAT_INPUT_BYTES, i, 5);
        }
    struct stage_stats stats = judged();
    assert_true(!stats.slow_executor.slow && stats.slow_executor.ratio < 1.1);
    assert_true(stats.verdict != VERDICT_SLOW_HOST);
}

/* Numbers of every size in every column. What must hold of any stage. */
static void hostile_numbers_stay_finite_and_sum_up(void **state)
{
    (void)state;
    static const double extremes[] = {0, 0, 1, 2, 1000, 1e6, 1e9, 1e18};
    for (unsigned round = 0; round < 400; round++) {
        size_t count = 1 + round % 97;
        memset(&stage, 0, sizeof stage);
        seed = round;
        stage.sample = (struct stage_sample){.count = count,
                                             .task_id = stage.task_id,
                                             .executor = stage.executor,
                                             .executor_count = 1 + round % 4,
                                             .cold = stage.cold,
                                             .retried = stage.retried,
                                             .locality = stage.locality,
                                             .has_cpu = round % 3,
                                             .first_launch_ms = round % 5 ? 0 : INT64_MIN + 1,
                                             .end_ms = round % 7 ? 100000 : INT64_MAX,
                                             .slots = round % 11 ? 1 + floor(uniform() * 30) : 1e18};
        for (size_t c = 0; c < STAT_COLUMN_COUNT; c++) {
            bool absent = uniform() < 0.2 && c != STAT_OCCUPANCY && c != STAT_RUN, plain = uniform() < 0.5;
            stage.sample.of[c] = absent ? NULL : stage.of[c];
            for (size_t i = 0; i < count; i++)
                stage.of[c][i] = plain ? floor(uniform() * 1000) : extremes[(size_t)(uniform() * ARRAY_LENGTH(extremes))];
        }
        for (size_t i = 0; i < count; i++) {
            stage.task_id[i] = (int64_t)(uniform() * 5) << 60;
            stage.executor[i] = (uint32_t)(uniform() * (double)stage.sample.executor_count);
            stage.cold[i] = uniform() < 0.3;
            stage.retried[i] = uniform() < 0.1;
            stage.locality[i] = (int8_t)(uniform() * 7 - 1);
        }
        struct stage_stats stats;
        assert_int_equal(stage_stats_make(&stats, &stage.sample, NULL), 0);
        for (size_t c = 0; c < STAT_COLUMN_COUNT; c++) {
            const struct distribution *of = &stats.of[c];
            const double numbers[] = {of->sum, of->min, of->p10,  of->p25,   of->p50,   of->p75, of->p90, of->p95,
                                      of->p99, of->max, of->mean, of->sigma, of->ratio, of->r95, of->z,   of->cv};
            for (size_t i = 0; of->count && i < ARRAY_LENGTH(numbers); i++)
                assert_true(isfinite(numbers[i]) && numbers[i] >= 0);
        }
        assert_true(count < 2 || (stats.base_ms >= 0 && stats.rec_cap_ms >= 0 && stats.rec_spread_ms >= 0 && isfinite(stats.base_ms)));
        assert_true(stats.eta2 >= 0 && stats.eta2 <= 1 && (isnan(stats.gc_share) || (stats.gc_share >= 0 && stats.gc_share <= 1)));
        assert_true(stats.slow_executor.ratio >= 0 && isfinite(stats.slow_executor.ratio) && stats.slow_executor.cost_ms >= 0 && isfinite(stats.slow_executor.cost_ms));
        double sum = 0, above = 0;
        for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
            assert_true(stats.outliers.ms[cause] >= 0);
            sum += stats.outliers.ms[cause];
        }
        for (size_t i = 0; i < stats.outliers.member_count; i++)
            above += stage.of[STAT_OCCUPANCY][stats.outliers.members[i]] - stats.outliers.cut_ms;
        assert_true(count < 3 || fabs(sum - above) <= 1e-6 * fmax(1, above));
        assert_true(stats.outliers.cause_share >= 0 && stats.outliers.cause_share <= 1 + 1e-9);

        struct stage_medians *medians;
        assert_int_equal(stage_medians_make(&medians, &stage.sample, stats.of, NULL), 0);
        for (size_t k = 0; k < count; k++) {
            struct slow_task task = why_slow(&stage.sample, medians, k);
            double whole = 0;
            for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
                assert_true(task.ms[cause] >= 0);
                whole += task.ms[cause];
            }
            assert_true(fabs(whole - fmax(0, task.excess_ms)) <= 1e-6 * fmax(1, task.excess_ms));
        }
        stage_medians_free(medians);
    }
}

static void swap_bytes(void *array, size_t each, size_t a, size_t b)
{
    char *x = (char *)array + a * each, *y = (char *)array + b * each;
    for (size_t i = 0; i < each; i++) {
        char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
}

/* All launched at once, as many slots as tasks: the order in which they are listed says nothing. */
static void the_order_of_equal_launches_does_not_matter(void **state)
{
    (void)state;
    new_stage(300, 300, 2000);
    for (size_t i = 0; i < 300; i++) {
        stage.cold[i] = i % 3 == 0;
        stage.locality[i] = (int8_t)(i % 5);
        stage.of[STAT_GC][i] = floor(uniform() * 100);
        if (i % 10 == 0) {
            double factor = 1 + floor(uniform() * 20);
            set_run(i, floor(stage.of[STAT_RUN][i] * factor));
            scale(STAT_INPUT_BYTES, i, 1 + uniform() * factor);
        }
    }
    struct stage_stats first = judged();
    for (size_t i = 299; i > 0; i--) {
        size_t other = (size_t)(uniform() * (double)(i + 1));
        for (size_t c = 0; c < STAT_COLUMN_COUNT; c++)
            swap_bytes(stage.of[c], sizeof(double), i, other);
        swap_bytes(stage.task_id, sizeof *stage.task_id, i, other);
        swap_bytes(stage.executor, sizeof *stage.executor, i, other);
        swap_bytes(stage.cold, sizeof *stage.cold, i, other);
        swap_bytes(stage.locality, sizeof *stage.locality, i, other);
    }
    struct stage_stats second = judged();
    for (size_t c = 0; c < STAT_COLUMN_COUNT; c++) {
        NEAR(first.of[c].sum, second.of[c].sum);
        NEAR(first.of[c].p50, second.of[c].p50);
        NEAR(first.of[c].p99, second.of[c].p99);
        NEAR(first.of[c].sigma, second.of[c].sigma);
    }
    NEAR(first.base_ms, second.base_ms);
    NEAR(first.rec_cap_ms, second.rec_cap_ms);
    NEAR(first.rec_spread_ms, second.rec_spread_ms);
    NEAR(first.eta2, second.eta2);
    NEAR(first.slow_executor.ratio, second.slow_executor.ratio);
    for (size_t cause = 0; cause < CAUSE_COUNT; cause++)
        NEAR(first.outliers.ms[cause], second.outliers.ms[cause]);
    assert_true(first.outliers.count > 0 && first.outliers.count == second.outliers.count && first.verdict == second.verdict && first.outliers.data == second.outliers.data);
    for (size_t i = 0; i < first.outliers.member_count; i++)
        assert_true(stage.of[STAT_OCCUPANCY][second.outliers.members[i]] >= second.outliers.cut_ms);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    new_stage(250, 20, 1000);
    for (size_t i = 0; i < 250; i++)
        scale(STAT_INPUT_BYTES, i, 1 + (double)(i % 5));
    stage.cold[0] = true;
    set_run(0, 299000);
    struct stage_stats stats;
    struct err err;
    uint64_t failed = 0;
    for (enum err_code rc = ERR_NOMEM; rc; failed++) {
        mem_fail_at(failed + 1, 0);
        rc = stage_stats_make(&stats, &stage.sample, &err);
        assert_true(!rc || rc == ERR_NOMEM);
    }
    mem_fail_at(0, 0);
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_schedule_has_closed_forms),
        cmocka_unit_test(list_schedule_takes_the_earliest_slot),
        cmocka_unit_test(what_is_recoverable_is_the_difference_of_two_schedules),
        cmocka_unit_test(outliers_are_the_longest_two_hundred),
        cmocka_unit_test(one_task_with_most_of_the_data_is_skew),
        cmocka_unit_test(one_executor_that_is_five_times_slower_is_a_slow_host),
        cmocka_unit_test(spill_and_collections_everywhere_are_one_verdict),
        cmocka_unit_test(eight_tasks_on_twenty_slots_are_too_few),
        cmocka_unit_test(even_tasks_are_fine),
        cmocka_unit_test(one_task_that_waits_is_a_straggler),
        cmocka_unit_test(one_task_that_computes_is_a_straggler_of_its_own_kind),
        cmocka_unit_test(a_first_wave_of_warming_up_is_muted),
        cmocka_unit_test(a_straggler_is_told_beside_a_first_wave),
        cmocka_unit_test(whole_stages_are_slow_by_their_largest_part),
        cmocka_unit_test(little_spill_is_no_lack_of_memory),
        cmocka_unit_test(run_times_that_vary_everywhere_are_uneven),
        cmocka_unit_test(stages_of_less_than_a_second_are_not_judged),
        cmocka_unit_test(a_stage_without_tasks_is_unknown),
        cmocka_unit_test(a_slow_executor_has_five_tasks_beside_five),
        cmocka_unit_test(an_executor_that_reads_more_is_not_slow),
        cmocka_unit_test(hostile_numbers_stay_finite_and_sum_up),
        cmocka_unit_test(the_order_of_equal_launches_does_not_matter),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
