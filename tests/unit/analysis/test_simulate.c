/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "random_fixture.h"

static struct simulation *make(struct app *app, struct calibration *calibration)
{
    struct simulation *sim;
    struct err err = {0};
    app_done(app);
    if (simulation_make(&sim, &app->facts, &app->accounts, &err))
        fail_msg("simulation_make: %s", err.message);
    if (simulation_calibrate(sim, calibration, &err))
        fail_msg("simulation_calibrate: %s", err.message);
    return sim;
}

static int64_t run(const struct simulation *sim, const struct change *changes, size_t count)
{
    struct simulated simulated;
    struct err err = {0};
    if (simulation_run(sim, changes, count, &simulated, &err))
        fail_msg("simulation_run: %s", err.message);
    return simulated.wall_ms;
}

static int64_t run_one(const struct simulation *sim, struct change change)
{
    return run(sim, &change, 1);
}

static struct change slots_times(double factor)
{
    return (struct change){.kind = CHANGE_SLOTS, .stage = NO_ENTITY, .number = factor};
}

/* --- closed forms --- */

/* 1 s to the first job, 100 tasks of 700 ms on 8 slots, 2 s at the end. */
static void equal_tasks_take_the_waves_they_need(void **state)
{
    (void)state;
    int64_t costs[100];
    for (size_t i = 0; i < 100; i++)
        costs[i] = 700;
    struct app app;
    app_init(&app, 1000 + 13 * 700 + 2000);
    app_executor(&app, 8, 500, 1000 + 13 * 700 + 2000);
    uint32_t job = app_job(&app, 1000, 1000 + 13 * 700);
    assert_int_equal(app_run_stage(&app, job, 1000, NO_ENTITY, costs, 100, 8), 1000 + 13 * 700);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 12100);
    assert_true(calibration.prices_allowed);
    assert_int_equal(calibration.t_inf_ms, 1000 + 700 + 2000);
    assert_int_equal(calibration.t_work_ms, 100 * 700 / 8 + 3000);
    static const double factors[] = {0.125, 0.25, 0.5, 1, 1.5, 2, 4, 12.5, 100};
    for (size_t i = 0; i < ARRAY_LENGTH(factors); i++) {
        int64_t slots = (int64_t)(8 * factors[i]);
        assert_int_equal(run_one(sim, slots_times(factors[i])), 3000 + (100 + slots - 1) / slots * 700);
    }
    /* one executor more: 16 slots; the only one stays */
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_SLOTS, .executors = 1}), 3000 + 7 * 700);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_SLOTS, .executors = -1}), 12100);
    simulation_free(sim);
    app_dispose(&app);
}

/* Four tasks of 1 s, then three of 1 s and one of 9 s, on 4 slots: 1 + 9. */
static void two_stages_with_a_straggler_take_one_and_the_longest(void **state)
{
    (void)state;
    static const int64_t first[] = {1000, 1000, 1000, 1000}, second[] = {1000, 1000, 1000, 9000};
    struct app app;
    app_init(&app, 12000);
    app_executor(&app, 4, 0, 12000);
    uint32_t job = app_job(&app, 1000, 11500);
    assert_int_equal(app_run_stage(&app, job, 1000, NO_ENTITY, first, 4, 4), 2000);
    assert_int_equal(app_run_stage(&app, job, 2000, 0, second, 4, 4), 11000);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 12000);
    assert_int_equal(calibration.t_inf_ms, 12000);
    /* cap: p75 of 1 1 1 9 is 3 s, so 4.5 s stay and 4.5 s go; spread: each gets 1.125 s of them, and the longest is 5.625 s */
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_CAP, .stage = 1}), 12000 - 4500);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_SPREAD, .stage = 1}), 12000 - 9000 + 5625);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_ZERO, .stage = 1}), 3000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_DROP, .stage = 0}), 11000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_HOST, .stage = 1, .executor = 0, .number = 3}), 12000 - 6000);
    /* both caps at once, and one of them twice, which is once */
    const struct change both[] = {{.kind = CHANGE_CAP, .stage = 1}, {.kind = CHANGE_DROP, .stage = 0}, {.kind = CHANGE_CAP, .stage = 1}};
    assert_int_equal(run(sim, both, 3), 12000 - 4500 - 1000);
    simulation_free(sim);
    app_dispose(&app);
}

/* Two slots: their first tasks take 8 s each, thirteen of 1 s follow, and one of 9 s from 14 s on. */
static void a_first_wave_is_normal_by_its_own_measure(void **state)
{
    (void)state;
    static const int64_t costs[] = {8000, 8000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 9000};
    struct app app;
    app_init(&app, 23000);
    app_executor(&app, 2, 0, 23000);
    uint32_t job = app_job(&app, 0, 23000);
    assert_int_equal(app_run_stage(&app, job, 0, NO_ENTITY, costs, ARRAY_LENGTH(costs), 2), 23000);
    for (size_t i = 0; i < app.facts.attempt_count; i++)
        app.facts.attempts[i].cold = costs[i] == 8000;
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 23000);
    /* p75 is 1 s: 1.5 s stay of the last, which ends at 15.5 s; 12 s would be too long for the first wave */
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_CAP, .stage = 0, .first_wave_apart = true}), 15500);
    /* 1.5 s each of all three: seven more on the one, six and the last on the other */
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_CAP, .stage = 0}), 9000);
    /* 7.5 s over sixteen tasks, 468.75 ms each: eight on the one slot, eight on the other with the last */
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_SPREAD, .stage = 0, .first_wave_apart = true}), 15500 + 8 * 469 - 2);
    simulation_free(sim);
    app_dispose(&app);
}

/* Two seconds, 10 s of work, a gap of 6 s, 10 s, another of 0.4 s, 10 s, and 5 s at the end. */
static void gaps_shrink_where_they_are_chosen(void **state)
{
    (void)state;
    static const int64_t costs[] = {10000};
    struct app app;
    app_init(&app, 43400);
    app_executor(&app, 1, 0, 43400);
    static const int64_t begins[] = {2000, 18000, 28400};
    for (size_t i = 0; i < 3; i++)
        app_run_stage(&app, app_job(&app, begins[i], begins[i] + 10000), begins[i], NO_ENTITY, costs, 1, 1);
    app_gap(&app, 0, 2000, BUCKET_GAP_STARTUP);
    app_gap(&app, 12000, 14000, BUCKET_GAP_SQL);
    app_gap(&app, 14000, 18000, BUCKET_GAP_USER);
    app_gap(&app, 28000, 28400, BUCKET_GAP_USER);
    app_gap(&app, 38400, 43400, BUCKET_GAP_SHUTDOWN);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 43400);
    static const size_t user[] = {2, 3, 3, 99}, last[] = {4}, all[] = {0, 1, 2, 3, 4};
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_GAPS, .number = 1000, .gaps = user, .gap_count = 4}), 43400 - 3000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_GAPS, .number = 1000, .gaps = last, .gap_count = 1}), 43400 - 4000);
    const struct change both[] = {{.kind = CHANGE_GAPS, .number = 1000, .gaps = user, .gap_count = 2}, {.kind = CHANGE_GAPS, .number = 1000, .gaps = last, .gap_count = 1}};
    assert_int_equal(run(sim, both, 2), 43400 - 7000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_GAPS, .number = 0, .gaps = all, .gap_count = 5}), 30000);
    simulation_free(sim);
    app_dispose(&app);
}

/* The second job begins 1 ms before the first one is over, as clocks of a millisecond have it: it still follows on it (6.2). Half of the first one's 10 s less are 5 s less of the run. */
static void a_job_follows_on_one_that_ended_a_millisecond_later(void **state)
{
    (void)state;
    static const int64_t costs[] = {10000};
    struct app app;
    app_init(&app, 20999);
    app_executor(&app, 1, 0, 20999);
    app_run_stage(&app, app_job(&app, 1000, 11000), 1000, NO_ENTITY, costs, 1, 1);
    app_run_stage(&app, app_job(&app, 10999, 20999), 10999, NO_ENTITY, costs, 1, 1);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 21000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_DROP, .stage = 0, .number = 0.5}), 16000);
    simulation_free(sim);
    app_dispose(&app);
}

/* An executor that is there from 20 s on; the job begins at 21 s. With it at 5 s all is 15 s sooner. Another two come while the job runs. */
static void executors_may_come_sooner(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 40000);
    app_executor(&app, 1, 20000, 40000);
    app_executor(&app, 1, 31000, 40000);
    uint32_t job = app_job(&app, 21000, 40000);
    app_stage(&app, job, 21000, 3, NO_ENTITY);
    app_task(&app, 0, 21000, 9000, WINNER);
    app_task(&app, 0, 30000, 9000, WINNER);
    app_task(&app, 1, 31000, 9000, WINNER);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 40000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_STARTUP, .number = 5000}), 25000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_STARTUP, .number = 50000}), 40000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_RAMP}), 39000);
    simulation_free(sim);
    app_dispose(&app);
}

/* Two slots. Task 0 fails after 4 s and runs again for 5 s; task 1 runs 10 s, its copy, begun at 6 s, is killed with it. */
static void lost_work_can_be_left_out(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 12000);
    app_executor(&app, 3, 0, 12000);
    uint32_t job = app_job(&app, 1000, 11000);
    app_stage(&app, job, 1000, 2, NO_ENTITY);
    app_task(&app, 0, 1000, 4000, LOST_FAILED);
    app_task(&app, 0, 1000, 3000, WINNER);
    struct attempt *again = app_task(&app, 0, 5000, 6000, WINNER);
    again->again = true;
    struct attempt *copy = app_task(&app, 0, 6000, 1000, LOST_SPECULATIVE);
    copy->again = true;
    copy->speculative = true;
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    /* the engine does not know which item follows on which: with three slots the second try would not wait for the first */
    assert_int_equal(calibration.as_observed_ms, 8000);
    assert_int_equal(run_one(sim, (struct change){.kind = CHANGE_NO_LOST, .stage = NO_ENTITY}), 8000);
    /* on one slot the lost 4 s count; the copy does not gate, but takes the slot from the one that waits */
    assert_int_equal(run_one(sim, slots_times(0.333)), 12000 + 4000);
    const struct change both[] = {slots_times(0.333), {.kind = CHANGE_NO_LOST, .stage = NO_ENTITY}};
    assert_int_equal(run(sim, both, 2), 2000 + 9000);
    simulation_free(sim);
    app_dispose(&app);
}

/* Two slots. Task 0 runs from 1 to 4 s; task 1 from 1 s on, until its copy, begun at 5 s, wins at 9 s. Had there been no copies the copy's 4 s would have begun at 1 s: 4 s less, whatever
 * else that was lost is left out with them. */
static void copies_stay_out_whatever_else_does(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 12000);
    app_executor(&app, 2, 0, 12000);
    app_stage(&app, app_job(&app, 1000, 9000), 1000, 2, NO_ENTITY);
    app_task(&app, 0, 1000, 3000, WINNER);
    app_task(&app, 0, 1000, 8000, LOST_SPECULATIVE);
    struct attempt *copy = app_task(&app, 0, 5000, 4000, WINNER);
    copy->again = copy->speculative = true;
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 12000);
    const struct change copies = {.kind = CHANGE_NO_LOST, .stage = 0, .lost_kinds = 1U << LOST_SPECULATIVE},
                        failures = {.kind = CHANGE_NO_LOST, .stage = 0, .lost_kinds = 1U << LOST_FAILED};
    assert_int_equal(run_one(sim, copies), 8000);
    assert_int_equal(run(sim, (struct change[]){copies, failures}, 2), 8000);
    assert_int_equal(run(sim, (struct change[]){failures, copies}, 2), 8000);
    simulation_free(sim);
    app_dispose(&app);
}

/* Two jobs side by side on one slot: FIFO takes the earlier job's tasks first, whatever is free. */
static void jobs_that_overlap_share_slots_in_order(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 10000);
    app_executor(&app, 1, 0, 10000);
    uint32_t a = app_job(&app, 1000, 7000), b = app_job(&app, 1500, 9000);
    app_stage(&app, a, 1000, 3, NO_ENTITY);
    for (int i = 0; i < 3; i++)
        app_task(&app, 0, 1000 + i * 2000, 2000, WINNER);
    app_stage(&app, b, 1500, 1, NO_ENTITY);
    app_task(&app, 0, 7000, 2000, WINNER);
    app.accounts.jobs_ms = 8000;
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(calibration.as_observed_ms, 10000);
    assert_true(fabs(simulation_job_error(sim, b)) < 1e-9);
    assert_int_equal(run_one(sim, slots_times(2)), 1000 + 4000 + 1000);
    simulation_free(sim);
    app_dispose(&app);
}

/* All of its jobs lie outside of the interval of a damaged log: nothing says what the replay is worth. */
static void a_replay_that_is_off_without_job_time_prices_nothing(void **state)
{
    (void)state;
    static const int64_t costs[] = {5000, 5000, 5000};
    struct app app;
    app_init(&app, 10000);
    app_executor(&app, 1, 0, 10000);
    app_run_stage(&app, app_job(&app, 1000, 1000), 1000, NO_ENTITY, costs, 3, 1);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_int_equal(app.accounts.jobs_ms, 0);
    assert_true(calibration.as_observed_ms > 10000);
    assert_false(calibration.prices_allowed);
    simulation_free(sim);
    app_dispose(&app);
}

/* Two pools on two slots. FAIR, in any case, gives each job one; FIFO gives both to the first. So does FAIR in one pool: that of a job which names none is Spark's "default". */
static void fair_pools_share_slots(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *pools[2];
        bool shares;
    } runs[] = {{NULL, {"a", "b"}, false}, {"FAIR", {"a", "b"}, true}, {"fair", {"a", "b"}, true}, {"FAIR", {NULL, "b"}, true}, {"FAIR", {NULL, "default"}, false}};
    for (size_t r = 0; r < ARRAY_LENGTH(runs); r++) {
        struct app app;
        app_init(&app, 6000);
        app_executor(&app, 2, 0, 6000);
        uint32_t a = app_job(&app, 1500, 5500), b = app_job(&app, 1500, 5500);
        for (uint32_t job = a; job <= b; job++) {
            app_stage(&app, job, 1500, 4, NO_ENTITY);
            for (int i = 0; i < 4; i++)
                app_task(&app, 0, 1500 + i * 1000, 1000, WINNER);
            app.facts.jobs[job].pool = runs[r].pools[job - a] ? str_of(runs[r].pools[job - a]) : STR_NONE;
        }
        app.accounts.jobs_ms = 4000;
        struct str mode = str_of(runs[r].mode ? runs[r].mode : "");
        smap_init(&app.facts.conf, 10, 1 << 16);
        if (runs[r].mode)
            assert_int_equal(smap_put(&app.facts.conf, str_of("spark.scheduler.mode"), &mode), 0);
        struct calibration calibration;
        struct simulation *sim = make(&app, &calibration);
        assert_int_equal(calibration.as_observed_ms, 6000);
        assert_true(fabs(simulation_job_error(sim, a) - (runs[r].shares ? 0 : -0.5)) < 1e-9);
        assert_true(fabs(simulation_job_error(sim, b)) < 1e-9);
        simulation_free(sim);
        smap_dispose(&app.facts.conf);
        app_dispose(&app);
    }
}

/* 250 000 tasks of 10 ms, one in a thousand of 5 s, on 8 slots: run in blocks of three, off by no more than one of them. */
static void large_stages_are_run_in_blocks(void **state)
{
    (void)state;
    enum { COUNT = 250000 };
    int64_t *costs = malloc(COUNT * sizeof *costs);
    assert_non_null(costs);
    for (size_t i = 0; i < COUNT; i++)
        costs[i] = i % 1000 == 500 ? 5000 : 10;
    struct app app;
    app_init(&app, 1);
    app_executor(&app, 8, 0, 1);
    uint32_t job = app_job(&app, 1500, 1500);
    int64_t end = app_run_stage(&app, job, 1500, NO_ENTITY, costs, COUNT, 8);
    app.facts.end_ms = app.facts.jobs[0].end_ms = app.facts.executors[0].to_ms = EPOCH + end;
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    struct simulated simulated;
    struct change twice = slots_times(2);
    assert_int_equal(simulation_run(sim, &twice, 1, &simulated, NULL), ERR_OK);
    assert_true(simulated.items > 50000 && simulated.items <= 100000);
    assert_true(llabs(calibration.as_observed_ms - end) <= 30);
    assert_int_equal(calibration.t_inf_ms, 1500 + 5000);
    assert_true(llabs(run_one(sim, slots_times(2)) - 1500 - (250 * 5000 + 249750 * 10) / 16) <= 5000);
    simulation_free(sim);
    app_dispose(&app);
    free(costs);
}

static void prices_have_bands(void **state)
{
    (void)state;
    struct calibration calibration = {.observed_ms = 100000, .as_observed_ms = 101000, .error = 0.08, .prices_allowed = true};
    struct price price = price_of(&calibration, 10000, BAND_NORMAL);
    assert_int_equal(price.ms, 10000);
    assert_int_equal(price.low_ms, 9200);
    assert_int_equal(price.high_ms, 10800);
    price = price_of(&calibration, 10000, BAND_WEAK);
    assert_int_equal(price.low_ms, 5000);
    price = price_of(&calibration, 10000, BAND_SLOTS);
    assert_int_equal(price.high_ms, 12500);
    price = price_of(&calibration, -5, BAND_NORMAL);
    assert_int_equal(price.ms, 0);
    struct what_if slower = what_if_of(&calibration, "W9", "0.5", 141000, BAND_SLOTS);
    assert_int_equal(slower.wall_ms, 140000);
    assert_int_equal(slower.low_ms, 130000);
    assert_int_equal(slower.high_ms, 150000);
    calibration.prices_allowed = false;
    assert_false(known(price_of(&calibration, 10000, BAND_NORMAL).ms));
}

/* --- properties --- */

static size_t random_changes(const struct app *app, struct change *changes)
{
    static const size_t gaps[] = {0, 1, 2};
    static const enum change_kind kinds[] = {CHANGE_NO_LOST, CHANGE_DROP, CHANGE_HOST, CHANGE_CAP, CHANGE_SPREAD, CHANGE_GAPS, CHANGE_ZERO, CHANGE_LAG};
    size_t count = 1 + roll(3);
    for (size_t i = 0; i < count; i++) {
        changes[i] = (struct change){.kind = kinds[roll(ARRAY_LENGTH(kinds))],
                                     .stage = app->facts.stage_count && roll(4) ? roll((uint32_t)app->facts.stage_count) : NO_ENTITY,
                                     .executor = roll(4),
                                     .number = 1 + roll(300) / 100.0,
                                     .gaps = gaps,
                                     .gap_count = 3,
                                     .lost_kinds = roll(2) ? 0 : roll(255)};
        if (changes[i].kind == CHANGE_GAPS)
            changes[i].number = roll(500);
    }
    return count;
}

static void check_random(uint32_t of)
{
    seed = of * 7919 + 1;
    struct app app;
    random_app(&app);
    struct calibration calibration;
    struct simulation *sim = make(&app, &calibration);
    assert_true(calibration.as_observed_ms >= 0 && calibration.t_inf_ms >= 0 && calibration.t_work_ms >= 0 && !isnan(calibration.error));
    if (calibration.t_inf_ms > calibration.as_observed_ms)
        fail_msg("seed %u: T_inf %lld above as observed %lld", of, (long long)calibration.t_inf_ms, (long long)calibration.as_observed_ms);
    for (int round = 0; round < 4; round++) {
        struct change changes[6];
        size_t count = random_changes(&app, changes);
        int64_t once = run(sim, changes, count);
        changes[count] = slots_times(1);
        int64_t whole = run(sim, changes, count + 1);
        changes[count] = slots_times(INFINITY);
        int64_t bound = run(sim, changes, count + 1);
        if (once < 0 || once != run(sim, changes, count))
            fail_msg("seed %u round %d: %lld", of, round, (long long)once);
        if (once != whole)
            fail_msg("seed %u round %d: from cut to cut %lld, from begin to end %lld", of, round, (long long)once, (long long)whole);
        if (bound > once)
            fail_msg("seed %u round %d: T_inf %lld, run %lld", of, round, (long long)bound, (long long)once);
    }
    static const struct change whole_run[] = {{.kind = CHANGE_SLOTS, .number = 0.1},
                                              {.kind = CHANGE_SLOTS, .number = 3},
                                              {.kind = CHANGE_SLOTS, .executors = -1},
                                              {.kind = CHANGE_SLOTS, .executors = 2},
                                              {.kind = CHANGE_RAMP}};
    for (size_t i = 0; i < ARRAY_LENGTH(whole_run); i++)
        if (run_one(sim, whole_run[i]) < calibration.t_inf_ms)
            fail_msg("seed %u: whole run %zu is below T_inf", of, i);
    struct what_if *rows;
    size_t row_count;
    struct err err;
    assert_int_equal(what_ifs_make(&rows, &row_count, sim, &calibration, &err), ERR_OK);
    for (size_t i = 0; i < row_count; i++)
        assert_true(rows[i].low_ms >= 0 && rows[i].low_ms <= rows[i].wall_ms + 1 && rows[i].wall_ms <= rows[i].high_ms);
    what_ifs_free(rows);
    simulation_free(sim);
    app_dispose(&app);
}

static void any_application_ends_and_keeps_the_bounds(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++)
        check_random(i);
}

/* Nothing depends on which executor has which number. */
static void order_of_executors_does_not_matter(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        int64_t walls[2][2];
        for (int turned = 0; turned < 2; turned++) {
            seed = i * 7919 + 1;
            struct app app;
            random_app(&app);
            struct facts *facts = &app.facts;
            for (size_t e = 0; turned && e < facts->executor_count / 2; e++) {
                struct executor_fact other = facts->executors[e];
                facts->executors[e] = facts->executors[facts->executor_count - 1 - e];
                facts->executors[facts->executor_count - 1 - e] = other;
            }
            for (size_t a = 0; turned && a < facts->attempt_count; a++)
                facts->attempts[a].executor = (uint32_t)facts->executor_count - 1 - facts->attempts[a].executor;
            struct calibration calibration;
            struct simulation *sim = make(&app, &calibration);
            walls[turned][0] = calibration.as_observed_ms;
            walls[turned][1] = run_one(sim, slots_times(2));
            simulation_free(sim);
            app_dispose(&app);
        }
        assert_int_equal(walls[0][0], walls[1][0]);
        assert_int_equal(walls[0][1], walls[1][1]);
    }
}

/* Each allocation in turn fails: an error comes back, and nothing is lost (the address sanitizer looks). */
static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t nth = 1; !done; nth++) {
        seed = 12;
        struct app app;
        random_app(&app);
        app_done(&app);
        struct simulation *sim = NULL;
        struct calibration calibration;
        struct what_if *rows = NULL;
        size_t count;
        const struct change changes[] = {{.kind = CHANGE_CAP, .stage = NO_ENTITY}, {.kind = CHANGE_NO_LOST, .stage = NO_ENTITY}};
        struct simulated simulated;
        struct err err = {0};
        mem_fail_at(nth, 1);
        enum err_code rc = simulation_make(&sim, &app.facts, &app.accounts, &err);
        if (!rc)
            rc = simulation_calibrate(sim, &calibration, &err);
        if (!rc)
            rc = simulation_run(sim, changes, 2, &simulated, &err);
        calibration.prices_allowed = true;
        if (!rc)
            rc = what_ifs_make(&rows, &count, sim, &calibration, &err);
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM);
        done = rc == ERR_OK;
        what_ifs_free(rows);
        simulation_free(sim);
        app_dispose(&app);
    }
}

/* 100 000 jobs at once, and as many one after another, in a second or so each. */
static void many_jobs_take_no_square(void **state)
{
    (void)state;
    for (int side_by_side = 0; side_by_side < 2; side_by_side++) {
        struct app app;
        app_init(&app, 2000000);
        app_executor(&app, 16, 0, 2000000);
        for (uint32_t i = 0; i < 100000; i++) {
            int64_t begin = side_by_side ? i : i * 20;
            app_stage(&app, app_job(&app, begin, side_by_side ? 1999999 : begin + 15), begin, 2, NO_ENTITY);
            app_task(&app, 0, begin, 10, WINNER);
            app_task(&app, 0, begin, 15, WINNER);
        }
        app.accounts.jobs_ms = 1500000;
        struct calibration calibration;
        clock_t start = clock();
        struct simulation *sim = make(&app, &calibration);
        int64_t all = 0;
        for (uint32_t i = 0; i < 100000; i += side_by_side ? 20000 : 100)
            all += run_one(sim, (struct change){.kind = CHANGE_ZERO, .stage = i});
        assert_true(all > 0);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        printf("  %s: %.2f s\n", side_by_side ? "side by side" : "one after another, a price for every hundredth", seconds);
        assert_true(seconds < 20);
        simulation_free(sim);
        app_dispose(&app);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_tasks_take_the_waves_they_need),
        cmocka_unit_test(two_stages_with_a_straggler_take_one_and_the_longest),
        cmocka_unit_test(a_first_wave_is_normal_by_its_own_measure),
        cmocka_unit_test(gaps_shrink_where_they_are_chosen),
        cmocka_unit_test(a_job_follows_on_one_that_ended_a_millisecond_later),
        cmocka_unit_test(executors_may_come_sooner),
        cmocka_unit_test(lost_work_can_be_left_out),
        cmocka_unit_test(copies_stay_out_whatever_else_does),
        cmocka_unit_test(jobs_that_overlap_share_slots_in_order),
        cmocka_unit_test(a_replay_that_is_off_without_job_time_prices_nothing),
        cmocka_unit_test(fair_pools_share_slots),
        cmocka_unit_test(large_stages_are_run_in_blocks),
        cmocka_unit_test(prices_have_bands),
        cmocka_unit_test(any_application_ends_and_keeps_the_bounds),
        cmocka_unit_test(order_of_executors_does_not_matter),
        cmocka_unit_test(out_of_memory_is_an_error),
        cmocka_unit_test(many_jobs_take_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
