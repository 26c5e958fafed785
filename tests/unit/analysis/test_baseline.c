/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/baseline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/compare.h"
#include "base/attributes.h"

static void noise_is_the_largest_of_spread_share_and_floor(void **state)
{
    double walls[] = {100000, 110000, 104000, (double)NAN, 90000}; /* median 102 s; |x − med|: 2 8 2 12 → MAD 5 s */
    double close[] = {100000, 100100, 99900}, small[] = {1000, 1010, 990}, bytes[] = {1000, 1000, 1000};
    (void)state;
    struct noise noise = noise_of(walls, ARRAY_LENGTH(walls), "ms");
    assert_int_equal(noise.count, 4);
    assert_float_equal(noise.median, 102000, 0);
    assert_float_equal(noise.mad, 5000, 0);
    assert_float_equal(noise.sigma, 7413, 1e-6);
    assert_float_equal(noise.allowed, 22239, 1e-6);
    assert_float_equal(noise_z(&noise, 102000 + 7413), 1, 1e-9);
    assert_true(noise_no_change(&noise, 124000));
    assert_false(noise_no_change(&noise, 124300));
    noise = noise_of(close, 3, "ms");
    assert_float_equal(noise.sigma, 2000, 1e-6); /* 2 % */
    assert_float_equal(noise.allowed, 6000, 1e-6);
    noise = noise_of(small, 3, "ms");
    assert_float_equal(noise.sigma, 500, 1e-6);    /* 0.5 s */
    assert_float_equal(noise.allowed, 2000, 1e-6); /* 2 s */
    noise = noise_of(bytes, 3, "bytes");
    assert_float_equal(noise.sigma, 20, 1e-6);
    assert_float_equal(noise.allowed, 60, 1e-6);
    noise = noise_of(walls, 0, "ms");
    assert_int_equal(noise.count, 0);
    assert_true(isnan(noise.median) && isnan(noise_z(&noise, 5)));
    assert_false(noise_no_change(&noise, 0));
}

static void three_equal_runs_are_no_change(void **state)
{
    double walls[] = {24000, 24000, 24000};
    (void)state;
    struct noise noise = noise_of(walls, 3, "ms");
    assert_true(noise_no_change(&noise, 24000));
    assert_true(noise_no_change(&noise, 26000));
    assert_true(isnan(regression_measure(&noise, 24000)));
}

/* The grade of RUN.REGRESSION: above max(2 %, 2 s) and three σ̂. 100 s, σ̂ 2 s. */
static void a_regression_needs_share_seconds_and_sigmas(void **state)
{
    double walls[] = {100000, 100000, 100000}, noisy[] = {80000, 100000, 120000};
    (void)state;
    struct noise noise = noise_of(walls, 3, "ms");
    assert_true(isnan(regression_measure(&noise, 106000))); /* z = 3 */
    assert_float_equal(regression_measure(&noise, 106100), 0.061, 1e-9);
    assert_true(isnan(regression_measure(&noise, 90000)));
    noise = noise_of(noisy, 3, "ms"); /* MAD 20 s, σ̂ 29.7 s */
    assert_true(isnan(regression_measure(&noise, 150000)));
    const struct ladder *ladder = &rule_find(STR_LIT("RUN.REGRESSION"))->ladder;
    assert_int_equal(ladder_grade(ladder, 0.061), GRADE_INFO);
    assert_int_equal(ladder_grade(ladder, 0.10), GRADE_LOW);
    assert_int_equal(ladder_grade(ladder, 0.25), GRADE_MODERATE);
    assert_int_equal(ladder_grade(ladder, 0.50), GRADE_SEVERE);
}

static void the_trend_is_the_median_slope(void **state)
{
    const double line[] = {10, 12, 14, 16}, outlier[] = {10, 12, 100, 16, 18}, one[] = {5};
    (void)state;
    assert_float_equal(trend_of(line, 4), 2, 0);
    assert_float_equal(trend_of(outlier, 5), 2, 0); /* slopes: 2 45 2 2 88 2 2 −84 −41 2 */
    assert_float_equal(trend_of(one, 1), 0, 0);
}

#define MOST 30
static const struct shape {
    int64_t fingerprint, ms;
} mine = {1, 1000}, others = {2, 1000};
#define SHAPE(shape) ((struct str){(const char *)&(shape), sizeof(shape)})

static struct baseline_run run_of(int64_t begin_ms, int64_t wall_ms, const struct shape *shape)
{
    return (struct baseline_run){.app_key = STR_LIT("k"), .begin_ms = begin_ms, .wall_ms = wall_ms, .shape = SHAPE(*shape)};
}

static void the_newest_twenty_of_the_same_shape_are_members(void **state)
{
    struct baseline_run runs[2 * MOST];
    struct baseline baseline = {0};
    (void)state;
    for (int i = 0; i < 2 * MOST; i++)
        runs[i] = run_of(1000 - i, i % 2 ? 100000 : 50000, i % 2 ? &mine : &others);
    baseline_choose(&baseline, runs, 2 * MOST, SHAPE(mine));
    assert_int_equal(baseline.member_count, BASELINE_MOST);
    assert_int_equal(baseline.median_ms, 100000);
    assert_int_equal(baseline.members[0].begin_ms, 999);
    assert_false(baseline.drifts || baseline.other_shape);
    assert_int_equal(baseline_rank(&baseline, 100001), 20);
    assert_int_equal(baseline_rank(&baseline, 100000), 0);
}

static void a_run_of_another_shape_is_measured_against_its_predecessors(void **state)
{
    struct baseline_run runs[3] = {run_of(3, 10000, &mine), run_of(2, 11000, &mine), run_of(1, 12000, &mine)};
    struct baseline baseline = {0};
    (void)state;
    baseline_choose(&baseline, runs, 3, SHAPE(others));
    assert_true(baseline.other_shape);
    assert_int_equal(baseline.member_count, 3);
    assert_int_equal(baseline.median_ms, 11000);
    assert_int_equal(baseline.reference, 1);
}

static void the_reference_is_nearest_to_the_median_and_newest_of_several(void **state)
{
    struct baseline_run runs[4] = {run_of(4, 9000, &mine), run_of(3, 11000, &mine), run_of(2, 9000, &mine), run_of(1, 11000, &mine)};
    struct baseline baseline = {0};
    (void)state;
    baseline_choose(&baseline, runs, 4, SHAPE(mine)); /* median 10 s: all are 1 s away */
    assert_int_equal(baseline.median_ms, 10000);
    assert_int_equal(baseline.reference, 0);
}

/* Newest first: 140, 138, … 102 s: 2 s a run over 20 runs is 38 s of a median of 121 s. */
static void a_drifting_job_is_its_latest_seven_runs(void **state)
{
    struct baseline_run runs[BASELINE_MOST];
    struct baseline baseline = {0};
    (void)state;
    for (int i = 0; i < BASELINE_MOST; i++)
        runs[i] = run_of(100 - i, 140000 - 2000 * i, &mine);
    baseline_choose(&baseline, runs, BASELINE_MOST, SHAPE(mine));
    assert_true(baseline.drifts);
    assert_int_equal(baseline.member_count, BASELINE_AFTER_DRIFT);
    assert_int_equal(baseline.median_ms, 134000);
}

static void no_earlier_runs_are_no_baseline(void **state)
{
    struct baseline baseline = {0};
    (void)state;
    baseline_choose(&baseline, NULL, 0, SHAPE(mine));
    assert_int_equal(baseline.member_count, 0);
    assert_int_equal(baseline.median_ms, UNKNOWN);
    assert_false(baseline.other_shape);
}

static char path[] = "/tmp/afterglow-baseline-XXXXXX";

static void add_history(struct db *catalog, int number, const char *key, int64_t wall_ms, int eligible)
{
    char name[32], sql[256];
    sqlite3_stmt *stmt = NULL;
    snprintf(name, sizeof name, "run%d", number);
    snprintf(sql, sizeof sql, "INSERT INTO run_history VALUES ('%s', ?1, %d, %lld, 100, %d, ?2)", name, number, (long long)wall_ms, eligible);
    assert_int_equal(db_prepare(catalog, &stmt, sql, NULL), ERR_OK);
    db_bind_str(stmt, 1, str_of(key));
    db_bind_blob(stmt, 2, &mine, sizeof mine);
    assert_int_equal(db_run(stmt, NULL), ERR_OK);
    db_finalize(stmt);
}

static bool is_not_run5(void *context, struct str app_key)
{
    (void)context;
    return !str_is(app_key, "run5");
}

/* Only what was there before the run counts, and only what may. */
static void finds_earlier_eligible_runs_of_the_job_in_the_catalogue(void **state)
{
    struct db catalog;
    struct baseline baseline;
    struct err err = {0};
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(db_open(&catalog, path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, NULL), ERR_OK);
    add_history(&catalog, 1, "a", 10000, 1);
    add_history(&catalog, 2, "a", 99000, 0);
    add_history(&catalog, 3, "b", 50000, 1);
    add_history(&catalog, 4, "a", 12000, 1);
    add_history(&catalog, 5, "a", 11000, 1);
    add_history(&catalog, 6, "a", 30000, 1);
    add_history(&catalog, 7, "a", 70000, 1);
    add_history(&catalog, 8, NULL, 70000, 1);
    assert_int_equal(baseline_find(&baseline, &catalog, str_of("run6"), NULL, NULL, NULL), ERR_OK);
    assert_int_equal(baseline.member_count, 3);
    assert_int_equal(baseline.median_ms, 11000);
    assert_true(str_is(baseline.members[baseline.reference].app_key, "run5"));
    baseline_dispose(&baseline);
    assert_int_equal(baseline_find(&baseline, &catalog, str_of("run6"), is_not_run5, NULL, NULL), ERR_OK);
    assert_int_equal(baseline.member_count, 2); /* somebody who may not know of run5 is told nothing that is made of it */
    baseline_dispose(&baseline);
    /* What somebody added says itself whose run it is: it is measured against all, and counts for its like only. */
    assert_int_equal(db_exec(&catalog, "INSERT INTO run_history SELECT '~' || app_key, run_key, begin_ms, wall_ms * 10, completeness, eligible, shape FROM run_history WHERE app_key IN ('run4', 'run6')", NULL), ERR_OK);
    assert_int_equal(baseline_find(&baseline, &catalog, str_of("run6"), NULL, NULL, NULL), ERR_OK);
    assert_int_equal(baseline.member_count, 3);
    assert_int_equal(baseline.median_ms, 11000);
    baseline_dispose(&baseline);
    assert_int_equal(baseline_find(&baseline, &catalog, str_of("~run6"), NULL, NULL, NULL), ERR_OK);
    assert_int_equal(baseline.earlier_count, 5); /* run1, run4, ~run4, run5, run6 */
    baseline_dispose(&baseline);
    assert_int_equal(baseline_find(&baseline, &catalog, str_of("run8"), NULL, NULL, NULL), ERR_OK);
    assert_false(str_known(baseline.run_key));
    assert_int_equal(baseline.member_count, 0);
    baseline_dispose(&baseline);
    assert_int_equal(baseline_find(&baseline, &catalog, str_of("nobody"), NULL, NULL, &err), ERR_NOT_FOUND);
    db_close(&catalog);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_the_largest_of_spread_share_and_floor),
        cmocka_unit_test(three_equal_runs_are_no_change),
        cmocka_unit_test(a_regression_needs_share_seconds_and_sigmas),
        cmocka_unit_test(the_trend_is_the_median_slope),
        cmocka_unit_test(the_newest_twenty_of_the_same_shape_are_members),
        cmocka_unit_test(a_run_of_another_shape_is_measured_against_its_predecessors),
        cmocka_unit_test(the_reference_is_nearest_to_the_median_and_newest_of_several),
        cmocka_unit_test(a_drifting_job_is_its_latest_seven_runs),
        cmocka_unit_test(no_earlier_runs_are_no_baseline),
        cmocka_unit_test(finds_earlier_eligible_runs_of_the_job_in_the_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
