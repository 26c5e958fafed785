/* SPDX-License-Identifier: Apache-2.0
 *
 * The observed critical chain, on applications drawn by hand and on random ones. */
#include "analysis/simulate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <time.h>

#include "base/attributes.h"
#include "base/mem.h"
#include "base/str.h"
#include "random_fixture.h"

static struct chain make(struct app *app)
{
    struct chain chain;
    struct err err = {0};
    app_done(app);
    if (chain_make(&chain, &app->facts, &app->accounts, &err))
        fail_msg("chain_make: %s", err.message);
    return chain;
}

/* As text: "label from-to", ms from the begin; stages are told where there are any. */
static void expect(struct app *app, const char *const *lines, size_t count)
{
    struct chain chain = make(app);
    for (size_t i = 0; i < chain.count || i < count; i++) {
        char got[100] = "";
        if (i < chain.count) {
            const struct chain_segment *s = &chain.segments[i];
            int len = snprintf(got, sizeof got, "%s %lld-%lld", s->label, (long long)(s->from_ms - EPOCH), (long long)(s->to_ms - EPOCH));
            if (s->stage != NO_ENTITY)
                len += snprintf(got + len, sizeof got - (size_t)len, " stage %u", s->stage);
            if (s->behind_stage != NO_ENTITY)
                len += snprintf(got + len, sizeof got - (size_t)len, " behind %u", s->behind_stage);
            if (!strcmp(s->label, "gap"))
                snprintf(got + len, sizeof got - (size_t)len, " %s", bucket_names[s->gap]);
        }
        if (i >= count || strcmp(got, lines[i]))
            fail_msg("segment %zu: \"%s\", expected \"%s\"", i, got, i < count ? lines[i] : "");
    }
    chain_dispose(&chain);
    app_dispose(app);
}

/* One slot, two tasks one after another; then a second stage, which was ready at 3.0 and submitted at 3.2. */
static void tasks_queues_and_lags_follow_each_other(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 8000);
    app_executor(&app, 1, 500, 8000);
    uint32_t job = app_job(&app, 1000, 6500);
    app_stage(&app, job, 1000, 2, NO_ENTITY);
    app_task(&app, 0, 1100, 900, WINNER);
    app_task(&app, 0, 2000, 1000, WINNER);
    app_stage(&app, job, 3200, 1, 0);
    app_task(&app, 0, 3300, 3000, WINNER);
    static const char *const lines[] = {"startup 0-1000",         "launch_lag 1000-1100 stage 0", "queue 1100-2000 stage 0",
                                        "task 2000-3000 stage 0", "stage_lag 3000-3200 stage 1",  "launch_lag 3200-3300 stage 1",
                                        "task 3300-6300 stage 1", "job_tail 6300-6500 stage 1",   "shutdown 6500-8000"};
    expect(&app, lines, ARRAY_LENGTH(lines));
}

/* Two jobs with a gap of two kinds between them. */
static void gaps_have_the_kinds_of_the_account(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 5000);
    app_executor(&app, 1, 0, 5000);
    app_stage(&app, app_job(&app, 0, 1000), 0, 1, NO_ENTITY);
    app_task(&app, 0, 0, 1000, WINNER);
    app_stage(&app, app_job(&app, 4000, 5000), 4000, 1, NO_ENTITY);
    app_task(&app, 0, 4000, 1000, WINNER);
    app_gap(&app, 1000, 1500, BUCKET_GAP_SQL);
    app_gap(&app, 1500, 4000, BUCKET_GAP_USER);
    static const char *const lines[] = {"task 0-1000 stage 0", "gap 1000-1500 gap_sql", "gap 1500-4000 gap_user", "task 4000-5000 stage 1"};
    expect(&app, lines, ARRAY_LENGTH(lines));
}

/* Stage 1 of another job waits from 1.0 to 3.0 while stage 0 has both slots, and ends last; its job began inside the first one. */
static void a_stage_waits_behind_another(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 6000);
    app_executor(&app, 2, 0, 6000);
    app_stage(&app, app_job(&app, 0, 3000), 0, 2, NO_ENTITY);
    app_task(&app, 0, 0, 3000, WINNER);
    app_task(&app, 0, 0, 3000, WINNER);
    app_stage(&app, app_job(&app, 1000, 5000), 1000, 1, NO_ENTITY);
    app_task(&app, 0, 3000, 2000, WINNER);
    /* at 1.0, where job 1 began, job 0 was running */
    static const char *const lines[] = {"overlap 0-1000 stage 0", "behind 1000-3000 stage 1 behind 0", "task 3000-5000 stage 1", "shutdown 5000-6000"};
    expect(&app, lines, ARRAY_LENGTH(lines));
}

/* No executor until 2.5; its first task is launched at once. The job of the end has lost all of its tasks. */
static void waiting_for_executors_and_failing_are_told(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 5000);
    app_executor(&app, 1, 2500, 5000);
    app_stage(&app, app_job(&app, 1000, 3000), 1000, 1, NO_ENTITY);
    app_task(&app, 0, 2500, 500, WINNER);
    app_stage(&app, app_job(&app, 3000, 5000), 3000, 1, NO_ENTITY);
    app_task(&app, 0, 3000, 800, LOST_FAILED);
    app_task(&app, 0, 3800, 1000, LOST_FAILED);
    static const char *const lines[] = {"startup 0-1000",          "wait_exec 1000-2500 stage 0", "task 2500-3000 stage 0",
                                        "queue 3000-3800 stage 1", "task 3800-4800 stage 1",      "job_tail 4800-5000 stage 1"};
    expect(&app, lines, ARRAY_LENGTH(lines));
}

static void without_jobs_all_is_start(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 700);
    static const char *const lines[] = {"startup 0-700"};
    expect(&app, lines, 1);
}

/* Stages that are each other's parents end the walk, not the program. */
static void circles_among_parents_end(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 1000);
    app_executor(&app, 1, 0, 1000);
    uint32_t job = app_job(&app, 0, 1000);
    app_stage(&app, job, 500, 1, 1);
    app_task(&app, 0, 500, 0, WINNER);
    app_stage(&app, job, 500, 1, 0);
    app_task(&app, 0, 500, 0, WINNER);
    static const char *const lines[] = {"stage_lag 0-500 stage 0", "job_tail 500-1000 stage 1"};
    expect(&app, lines, ARRAY_LENGTH(lines));
}

static void check_contiguous(const struct chain *chain, const struct facts *facts, uint32_t of)
{
    int64_t at = facts->begin_ms;
    for (size_t i = 0; i < chain->count; i++) {
        if (chain->segments[i].from_ms != at || chain->segments[i].to_ms <= at || !chain->segments[i].label)
            fail_msg("seed %u: segment %zu is not where it should be", of, i);
        at = chain->segments[i].to_ms;
    }
    if (at != facts->end_ms)
        fail_msg("seed %u: the chain ends %lld ms early", of, (long long)(facts->end_ms - at));
}

static void any_chain_is_contiguous_and_sums_to_the_wall(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        seed = i * 7919 + 3;
        struct app app;
        random_app(&app);
        struct chain chain = make(&app);
        check_contiguous(&chain, &app.facts, i);
        for (size_t s = 0; s < app.facts.stage_count; s++)
            assert_true(chain.stage_ms[s] >= 0);
        chain_dispose(&chain);
        app_dispose(&app);
    }
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    enum err_code rc = ERR_NOMEM;
    for (uint64_t nth = 1; rc; nth++) {
        seed = 7;
        struct app app;
        random_app(&app);
        app_done(&app);
        struct chain chain;
        mem_fail_at(nth, 1);
        rc = chain_make(&chain, &app.facts, &app.accounts, NULL);
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM);
        chain_dispose(&chain);
        app_dispose(&app);
    }
}

/* 30 000 jobs that all end last and began one after another, each waiting behind all before it. */
static void many_overlapping_jobs_take_no_square_of_time(void **state)
{
    (void)state;
    struct app app;
    app_init(&app, 1000000);
    app_executor(&app, 64, 0, 1000000);
    for (uint32_t i = 0; i < 30000; i++) {
        app_stage(&app, app_job(&app, i * 10, 1000000), i * 10, 2, NO_ENTITY);
        app_task(&app, 0, i * 10 + 5, 999990 - i * 10, WINNER);
    }
    clock_t start = clock();
    struct chain chain = make(&app);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    check_contiguous(&chain, &app.facts, 0);
    chain_dispose(&chain);
    app_dispose(&app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_queues_and_lags_follow_each_other),
        cmocka_unit_test(gaps_have_the_kinds_of_the_account),
        cmocka_unit_test(a_stage_waits_behind_another),
        cmocka_unit_test(waiting_for_executors_and_failing_are_told),
        cmocka_unit_test(without_jobs_all_is_start),
        cmocka_unit_test(circles_among_parents_end),
        cmocka_unit_test(any_chain_is_contiguous_and_sums_to_the_wall),
        cmocka_unit_test(out_of_memory_is_an_error),
        cmocka_unit_test(many_overlapping_jobs_take_no_square_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
