/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account.h"

#include <math.h>

#include "base/mem.h"
#include "tests/unit/analysis/random_app.h"

static struct facts facts;
static struct accounts accounts;

static void make(void)
{
    struct err err = {0};
    if (facts_load(&facts, &app_db, &err) || accounts_make(&accounts, &facts, &err))
        fail_msg("%s", err.message);
}

static void load(void)
{
    app_pack();
    make();
}

static void dispose(void)
{
    accounts_dispose(&accounts);
    facts_dispose(&facts);
}

static int teardown(void **state)
{
    dispose();
    return app_clear(state);
}

#define assert_near(found, expected) assert_double_near((found), (expected), #found, __LINE__)
static void assert_double_near(double found, double expected, const char *what, int line)
{
    if (!(fabs(found - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("line %d: %s is %.12g, not %.12g", line, what, found, expected);
}

/* Everything that must hold of any account: both views of all of them close, no bucket is negative or no number, costs and gaps are all that was allocated. */
static void assert_closed(const struct account *account, const char *what)
{
    double error = account_closure_error(account);
    if (!(error <= 1e-9))
        fail_msg("%s: closure error %g of %g and %g", what, error, account->slot_total_ms, account->wall_total_ms);
    for (size_t b = 0; b < BUCKET_COUNT; b++)
        if (!(account->slot_ms[b] >= 0 && account->wall_ms[b] >= 0) || isinf(account->slot_ms[b]))
            fail_msg("%s: %s is %g, %g", what, bucket_names[b], account->slot_ms[b], account->wall_ms[b]);
}

static void assert_sound(void)
{
    assert_closed(&accounts.app, "application");
    double costs = accounts.idle_gap_ms + accounts.unowned_ms, gaps = 0, gap_buckets = 0;
    for (size_t i = 0; i < facts.job_count; i++) {
        assert_closed(&accounts.job_windows[i], "window of a job");
        assert_closed(&accounts.job_costs[i], "cost of a job");
        costs += accounts.job_costs[i].slot_total_ms;
    }
    for (size_t i = 0; i < facts.stage_count; i++) {
        assert_closed(&accounts.stages[i].window, "window of a stage");
        assert_closed(&accounts.stages[i].cost, "cost of a stage");
    }
    if (!(fabs(costs - accounts.allocated_ms) <= 1e-9 * fmax(1, accounts.allocated_ms)))
        fail_msg("costs and gaps are %.12g, allocated %.12g", costs, accounts.allocated_ms);
    for (size_t i = 0; i < accounts.gap_count; i++) {
        assert_true(accounts.gaps[i].from_ms < accounts.gaps[i].to_ms);
        assert_true(!i || accounts.gaps[i - 1].to_ms <= accounts.gaps[i].from_ms);
        gaps += (double)(accounts.gaps[i].to_ms - accounts.gaps[i].from_ms);
    }
    for (size_t b = BUCKET_GAP_SQL; b <= BUCKET_GAP_USER; b++)
        gap_buckets += accounts.app.wall_ms[b];
    assert_true(gap_buckets <= gaps * (1 + 1e-9)); /* less by what attempts did that outlived their jobs */
}

/* ---- 3.4 ---- */

/* A winner of 1000 ms that ended at 11000. */
static void assert_buckets(const int64_t run[11], const char *const names[], const double expected[], size_t count, bool python)
{
    static const enum task_value columns[] = {VALUE_RUN_MS,        VALUE_DESERIALIZE_MS,   VALUE_SERIALIZE_MS,     VALUE_GETTING_RESULT_MS, VALUE_GC_MS,       VALUE_CPU_NS,
                                              VALUE_FETCH_WAIT_MS, VALUE_SHUFFLE_WRITE_NS, VALUE_DISK_SPILL_BYTES, VALUE_INPUT_BYTES,       VALUE_OUTPUT_BYTES};
    struct stage_fact stage = {.is_python = python};
    struct facts none = {.stages = &stage};
    struct attempt attempt = {.begin_ms = 10000, .finish_ms = 11000, .kind = WINNER, .has_metrics = true};
    int64_t cells[ARRAY_LENGTH(columns)];
    struct task_values values = {.count = 1};
    for (size_t i = 0; i < ARRAY_LENGTH(columns); i++) {
        cells[i] = run[i];
        values.of[columns[i]] = &cells[i];
    }
    double found[BUCKET_COUNT], sum = 0;
    attempt_buckets(&none, &attempt, &values, 0, found);
    for (size_t b = 0; b < BUCKET_COUNT; b++) {
        double value = 0;
        for (size_t i = 0; i < count; i++)
            if (strcmp(names[i], bucket_names[b]) == 0)
                value = expected[i];
        if (fabs(found[b] - value) > 1e-9)
            fail_msg("%s is %g, not %g", bucket_names[b], found[b], value);
        sum += found[b];
    }
    assert_near(sum, 1000);
}
#define BUCKETS(...) ((const char *const[]){__VA_ARGS__})
#define LIST(...) ((const double[]){__VA_ARGS__})
#define ASSERT_BUCKETS(python, names, expected, ...) assert_buckets((const int64_t[11]){__VA_ARGS__}, names, expected, sizeof(names) / sizeof(char *), python)

static void buckets_of_one_attempt(void **state)
{
    (void)state;
    const int64_t ms = 1000000;
    /* run deser ser getres gc cpu fetch shwrite spill input output */
    ASSERT_BUCKETS(false, BUCKETS("cpu", "gc", "deser", "ser", "fetch", "shwrite", "other", "delay", "getres"),
                   LIST(400, 50, 80, 20, 60, 30, 160, 170, 30), /* 700 − 50 − 60 − 400 − 30 */
                   700, 80, 20, 10970, 50, 400 * ms, 60, 30 * ms, 0, 0, 0);
    /* Spilled: the rest is its disk; read or written: the storage's; in a Python stage: Python's, whatever else. */
    ASSERT_BUCKETS(false, BUCKETS("cpu", "spill_io", "delay"), LIST(400, 300, 300), 700, 0, 0, UNKNOWN, 0, 400 * ms, 0, 0, 1, 1, 0);
    ASSERT_BUCKETS(false, BUCKETS("cpu", "storage_io", "delay"), LIST(400, 300, 300), 700, 0, 0, UNKNOWN, 0, 400 * ms, 0, 0, 0, 0, 1);
    ASSERT_BUCKETS(true, BUCKETS("cpu", "python", "delay"), LIST(400, 300, 300), 700, 0, 0, UNKNOWN, 0, 400 * ms, 0, 0, 1, 1, 1);
    /* No CPU time was recorded. */
    ASSERT_BUCKETS(false, BUCKETS("shwrite", "run_unsplit", "delay"), LIST(100, 600, 300), 700, 0, 0, UNKNOWN, 0, UNKNOWN, 0, 100 * ms, 0, 0, 0);
    /* More than there was: 200 too much, taken from getting the result (100), then serialising (50), then deserialising. */
    ASSERT_BUCKETS(false, BUCKETS("other", "deser"), LIST(900, 100), 900, 150, 50, 10900, 0, 0, 0, 0, 0, 0, 0);
    /* Collections span running and deserialising: 100 of 700 fall into the latter. */
    ASSERT_BUCKETS(false, BUCKETS("gc", "deser", "delay"), LIST(700, 200, 100), 600, 300, 0, 0, 700, 5 * ms, 5, 5, 0, 0, 0);
    /* Waits, CPU and writing share what is left, in this order; fractions of ms are kept. */
    ASSERT_BUCKETS(false, BUCKETS("fetch", "cpu"), LIST(300, 700), 1000, 0, 0, 11000, 0, 900 * ms, 300, 50 * ms, 0, 0, 0);
    ASSERT_BUCKETS(false, BUCKETS("cpu", "shwrite", "other"), LIST(0.5, 0.25, 999.25), 1000, 0, 0, 11001, 0, ms / 2, 0, ms / 4, 0, 0, 0);
    /* Nonsense is nothing. */
    ASSERT_BUCKETS(false, BUCKETS("run_unsplit", "deser"), LIST(0, 1000), -5, INT64_MAX, INT64_MAX, -1, -1, UNKNOWN, -1, -1, -1, -1, -1);
}

static void lost_and_unmeasured_attempts_are_one_bucket(void **state)
{
    (void)state;
    struct task_values none = {.count = 1};
    struct attempt attempt = {.finish_ms = 77, .kind = LOST_FETCH, .has_metrics = true};
    double found[BUCKET_COUNT];
    attempt_buckets(&facts, &attempt, &none, 0, found);
    assert_near(found[BUCKET_LOST], 77);
    attempt.kind = WINNER;
    attempt.has_metrics = false;
    attempt_buckets(&facts, &attempt, &none, 0, found);
    assert_near(found[BUCKET_NOMETRICS], 77);
    assert_near(found[BUCKET_LOST], 0);
}

/* ---- 3.5 to 3.8 ---- */

/* A run of 10 s: executor 1 with two slots from 1 s on, executor 2 with one from 3 s to 9 s; a job from 2 s to 8 s with a stage of three tasks. */
static void add_small_run(void)
{
    add_application(100000, 110000);
    add_executor(1, "1", 2, 101000, UNKNOWN);
    add_executor(2, "2", 1, 103000, 109000);
    add_job(0, 102000, 108000, 1);
    add_stage(1, 0, 0, 3, 102500, 106000, 2);
    list_stage(0, 0);
    add_task(1, 0, 0, 1, 103000, 105000);
    add_task(1, 1, 1, 1, 103000, 106000);
    add_task(1, 2, 2, 2, 104000, 105000);
}

static void a_run_by_hand(void **state)
{
    (void)state;
    add_small_run();
    load();
    assert_sound();
    const struct account *app = &accounts.app;
    const struct {
        enum bucket bucket;
        double slot, wall;
    } expected[] = {
        {BUCKET_STARTUP, 3000, 1000},                       /* 0 … 1 s: no slot yet */
        {BUCKET_GAP_STARTUP, 2000, 1000},                   /* 1 … 2 */
        {BUCKET_STAGE_GAP, 1000 + 6000, 500 + 2000},        /* 2 … 2.5, 6 … 8 */
        {BUCKET_SCHED_WAIT, 1000 + 1000, 500 + 1000.0 / 3}, /* 2.5 … 3: three wait, two slots are free; 3 … 4: one of each */
        {BUCKET_TAIL, 2000, 2000.0 / 3},                    /* 5 … 6: one task, three slots */
        {BUCKET_WAIT_EXEC, 500, 0},                         /* 2.5 … 3: three wait for two slots; the frame has three */
        {BUCKET_NOT_ALLOC, 1000 + 500 + 1000, 0},           /* 1 … 2, 2 … 2.5, 9 … 10 */
        {BUCKET_GAP_SHUTDOWN, 3000 + 2000, 2000},
        {BUCKET_NOMETRICS, 6000, 2000}, /* 2/3 of 3 … 4, all of 4 … 5, 1/3 of 5 … 6 */
    };
    double rest = 0;
    for (size_t b = 0; b < BUCKET_COUNT; b++)
        rest += app->slot_ms[b] + app->wall_ms[b];
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
        assert_near(app->slot_ms[expected[i].bucket], expected[i].slot);
        assert_near(app->wall_ms[expected[i].bucket], expected[i].wall);
        rest -= expected[i].slot + expected[i].wall;
    }
    assert_near(rest, 0);
    assert_near(app->slot_total_ms, 30000);
    assert_near(app->wall_total_ms, 10000);
    assert_near(accounts.allocated_ms, 24000);
    assert_near(accounts.idle_gap_ms, 7000);
    assert_near(accounts.jobs_ms, 6000);

    const struct account *window = &accounts.job_windows[0], *cost = &accounts.job_costs[0];
    assert_near(window->wall_total_ms, 6000);
    assert_near(window->slot_total_ms, 17000);
    assert_near(window->slot_ms[BUCKET_NOMETRICS], 6000);
    assert_near(window->slot_ms[BUCKET_STAGE_GAP], 7000);
    assert_near(window->slot_ms[BUCKET_OTHERS], 0);
    assert_near(cost->slot_total_ms, 17000);
    const struct stage_account *stage = &accounts.stages[0];
    assert_near(stage->window.slot_total_ms, 10000);
    assert_near(stage->window.wall_total_ms, 3500);
    assert_near(stage->window.slot_ms[BUCKET_SCHED_WAIT], 2000);
    assert_near(stage->cost.slot_total_ms, 10000);
    assert_near(stage->tail_slot_ms, 2000);
    assert_near(stage->occupancy_ms, 6000);
    assert_near(stage->slots, 3);

    assert_int_equal(accounts.gap_count, 2);
    assert_int_equal(accounts.gaps[0].kind, BUCKET_GAP_STARTUP);
    assert_int_equal(accounts.gaps[0].from_ms, 101000);
    assert_int_equal(accounts.gaps[0].job_before, NO_ENTITY);
    assert_int_equal(accounts.gaps[0].job_after, 0);
    assert_int_equal(accounts.gaps[1].kind, BUCKET_GAP_SHUTDOWN);
    assert_int_equal(accounts.gaps[1].to_ms, 110000);
    assert_int_equal(accounts.gaps[1].job_before, 0);
}

/* Four slots; two tasks from 0 to 2 s, one of them until 4 s, that belong to two stages. */
static void add_two_stages(int64_t second_job)
{
    add_application(100000, 104000);
    add_executor(1, "1", 4, 100000, UNKNOWN);
    add_job(0, 100000, 104000, 1);
    if (second_job)
        add_job(second_job, 100000, 102000, 1);
    add_stage(1, 0, 0, 1, 100000, 104000, 2);
    add_stage(2, 1, 0, 1, 100000, 102000, 2);
    list_stage(0, 0);
    list_stage(second_job, 1);
    add_task(1, 0, 0, 1, 100000, 104000);
    add_task(2, 1, 0, 1, 100000, 102000);
}

static void jobs_side_by_side_share_what_is_idle(void **state)
{
    (void)state;
    add_two_stages(1);
    load();
    assert_sound();
    assert_near(accounts.app.slot_ms[BUCKET_FEW_TASKS], 4000 + 6000);
    assert_near(accounts.job_costs[0].slot_total_ms, 4000 + 2000 + 6000);
    assert_near(accounts.job_costs[1].slot_total_ms, 2000 + 2000);
    assert_near(accounts.stages[0].cost.slot_total_ms, 12000);
    assert_near(accounts.stages[1].cost.slot_total_ms, 4000);
    const struct account *window = &accounts.job_windows[1];
    assert_near(window->slot_ms[BUCKET_NOMETRICS], 2000);
    assert_near(window->slot_ms[BUCKET_OTHERS], 2000);
    assert_near(window->slot_ms[BUCKET_FEW_TASKS], 4000);
    assert_near(window->wall_ms[BUCKET_OTHERS], 500);
    assert_near(window->wall_ms[BUCKET_FEW_TASKS], 1000);
}

static void stages_side_by_side_share_what_is_idle(void **state)
{
    (void)state;
    add_two_stages(0);
    load();
    assert_sound();
    assert_near(accounts.job_costs[0].slot_total_ms, 16000);
    assert_near(accounts.stages[0].cost.slot_total_ms, 4000 + 2000 + 6000);
    assert_near(accounts.stages[1].cost.slot_total_ms, 2000 + 2000);
    assert_near(accounts.stages[1].window.slot_ms[BUCKET_OTHERS], 2000);
}

static void tasks_behind_their_job_stay_with_it(void **state)
{
    (void)state;
    add_application(100000, 104000);
    add_executor(1, "1", 2, 100000, UNKNOWN);
    add_job(0, 100000, 101000, 2);
    add_stage(1, 0, 0, 1, 100000, 101000, 3);
    list_stage(0, 0);
    fail_task(add_task(1, 0, 0, 1, 100000, 103000), REASON_KILLED);
    load();
    assert_sound();
    assert_near(accounts.job_costs[0].slot_ms[BUCKET_LOST], 3000);
    assert_near(accounts.job_costs[0].slot_total_ms, 3000 + 1000); /* and one idle slot while it ran */
    assert_near(accounts.job_windows[0].slot_ms[BUCKET_LOST], 1000);
    assert_near(accounts.idle_gap_ms, 2000 + 2000);
}

static void work_that_no_job_lists_is_nobodys(void **state)
{
    (void)state;
    add_application(100000, 104000);
    add_executor(1, "1", 1, 100000, UNKNOWN);
    add_stage(1, 0, 0, 1, 100000, 101000, 2);
    add_task(1, 0, 0, 1, 100000, 103000);
    load();
    assert_sound();
    assert_near(accounts.unowned_ms, 3000);
    assert_near(accounts.idle_gap_ms, 1000);
}

static void a_job_without_executors_waits_for_them(void **state)
{
    (void)state;
    add_application(100000, 110000);
    add_executor(1, "1", 2, 101000, 103000);
    add_executor(2, "2", 3, 106000, 109000);
    add_job(0, 102000, 108000, 1);
    load();
    assert_sound();
    assert_near(accounts.app.wall_ms[BUCKET_WAIT_EXEC], 3000); /* 3 … 6 s */
    assert_near(accounts.app.slot_ms[BUCKET_WAIT_EXEC], 9000);
    assert_near(accounts.app.wall_ms[BUCKET_GAP_SHUTDOWN], 2000); /* 8 … 10 s, the last second without slots: the frame's three */
    assert_near(accounts.app.slot_ms[BUCKET_GAP_SHUTDOWN], 3000 + 3000);
    assert_near(accounts.job_windows[0].wall_total_ms, 6000);
    assert_near(accounts.job_windows[0].slot_total_ms, 2000 + 6000);
    assert_near(accounts.job_costs[0].wall_total_ms, 6000);
}

static void missing_ends_make_waiting_unknown(void **state)
{
    (void)state;
    add_small_run();
    app_sql("UPDATE stage SET num_tasks = 4"); /* 3 of 4 */
    load();
    assert_sound();
    assert_near(accounts.app.slot_ms[BUCKET_SCHED_WAIT] + accounts.app.slot_ms[BUCKET_FEW_TASKS] + accounts.app.slot_ms[BUCKET_TAIL], 0);
    assert_near(accounts.app.slot_ms[BUCKET_UNKNOWN_WORK], 4000);
    assert_near(accounts.job_costs[0].slot_ms[BUCKET_UNKNOWN_WORK], 4000);
}

static void a_run_without_executors_is_all_startup(void **state)
{
    (void)state;
    add_application(100000, 104000);
    add_job(0, 101000, 102000, 1);
    load();
    assert_sound();
    assert_near(accounts.app.wall_ms[BUCKET_STARTUP], 4000);
    assert_int_equal(accounts.gap_count, 0);
}

/* ---- 3.6 ---- */

static void assert_gap(size_t i, int64_t from_ms, int64_t to_ms, const char *kind, const char *sub, int64_t sql)
{
    assert_true(i < accounts.gap_count);
    const struct driver_gap *gap = &accounts.gaps[i];
    assert_int_equal(gap->from_ms, from_ms);
    assert_int_equal(gap->to_ms, to_ms);
    assert_string_equal(bucket_names[gap->kind], kind);
    assert_string_equal(gap->sub ? gap->sub : "-", sub);
    assert_int_equal(gap->sql_execution_id, sql);
}

static void gaps_of_sql_executions(void **state)
{
    (void)state;
    add_application(100000, 109000);
    add_executor(1, "1", 1, 100000, UNKNOWN);
    add_execution(5, 5, 101000, 108000);
    add_execution(6, 6, 108200, 108500);
    add_execution(7, 5, 103200, 104500); /* a part of 5, whose job is 5's too */
    add_job(0, 102000, 103000, 1);
    add_job(1, 104000, 105000, 1);
    app_sql("UPDATE job SET sql_execution_id = CASE job_id WHEN 0 THEN 5 ELSE 7 END");
    load();
    assert_sound();
    assert_int_equal(accounts.gap_count, 8);
    assert_gap(0, 100000, 101000, "gap_startup", "-", UNKNOWN);
    assert_gap(1, 101000, 102000, "gap_sql", "planning", 5);
    assert_gap(2, 103000, 103200, "gap_sql", "between", 5);
    assert_gap(3, 103200, 104000, "gap_sql", "planning", 7);
    assert_gap(4, 105000, 108000, "gap_sql", "commit", 5);
    assert_gap(5, 108000, 108200, "gap_user", "-", UNKNOWN); /* SQL is still to come */
    assert_gap(6, 108200, 108500, "gap_sql", "command", 6);
    assert_gap(7, 108500, 109000, "gap_shutdown", "-", UNKNOWN);
    assert_int_equal(accounts.gaps[3].job_before, 0);
    assert_int_equal(accounts.gaps[3].job_after, 1);
    assert_int_equal(accounts.gaps[6].job_after, NO_ENTITY);
}

static void gaps_of_streams_and_servers(void **state)
{
    (void)state;
    add_application(100000, 110000);
    add_executor(1, "1", 1, 100000, UNKNOWN);
    add_job(0, 100000, 101000, 1);
    add_job(1, 109000, 110000, 1);
    app_sql("INSERT INTO streaming_query (run_ref, run_id, start_ms, start_seen, end_seen, idle_count, last_idle_ms) VALUES (1, 'r', 102000, 1, 1, 0, NULL)");
    app_sql("INSERT INTO streaming_progress (run_ref, progress_no, trigger_ms, batch_duration_ms, durations) VALUES (1, 1, 103000, 1000, '')");
    app_sql("INSERT INTO server_session (session_ref, server, session_id, start_ms, finish_ms, start_seen, end_seen) VALUES (1, 0, 's', 103500, 107000, 1, 1)");
    app_sql(
        "INSERT INTO server_operation (operation_ref, server, operation_key, state, start_seen, start_ms, finish_ms, close_ms) VALUES (1, 0, 'o', 7, 1, 105000, 106000, 106500)");
    load();
    assert_sound();
    const struct {
        int64_t from_ms, to_ms;
        const char *kind;
    } expected[] = {{101000, 102000, "gap_user"}, {102000, 103000, "gap_stream"}, {103000, 104000, "gap_stream"}, {104000, 105000, "gap_server"},
                    {105000, 106000, "gap_user"}, {106000, 107000, "gap_server"}, {107000, 109000, "gap_user"}};
    assert_int_equal(accounts.gap_count, ARRAY_LENGTH(expected));
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++)
        assert_gap(i, expected[i].from_ms, expected[i].to_ms, expected[i].kind, "-", UNKNOWN);
}

/* ---- 3.9 ---- */

static void rounding_keeps_the_total(void **state)
{
    (void)state;
    double buckets[BUCKET_COUNT] = {1.25, 2.5, 3.75, 0.5}; /* 8 */
    int64_t rounded[BUCKET_COUNT];
    account_round(buckets, 8, rounded);
    assert_int_equal(rounded[0], 1);
    assert_int_equal(rounded[1], 3); /* equal remainders: the first */
    assert_int_equal(rounded[2], 4);
    assert_int_equal(rounded[3], 0);
    const double thirds[BUCKET_COUNT] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    account_round(thirds, 1, rounded);
    assert_int_equal(rounded[0] + rounded[1] + rounded[2], 1);
    const double huge[BUCKET_COUNT] = {1e30};
    account_round(huge, 1e30, rounded);
    assert_int_equal(rounded[0], INT64_MAX);
}

static void slots_over_time(void **state)
{
    (void)state;
    add_small_run();
    load();
    struct slot_curve curve;
    assert_int_equal(slot_curve_make(&curve, &facts, NULL), ERR_OK);
    assert_near(slot_curve_integral(&curve, 0, INT64_MAX), 24000);
    assert_near(slot_curve_integral(&curve, 102500, 103500), 1000 + 1500);
    assert_near(slot_curve_integral(&curve, 103500, 103600), 300);
    assert_near(slot_curve_integral(&curve, 108500, 109500), 1500 + 1000);
    assert_near(slot_curve_integral(&curve, 104000, 104000), 0);
    assert_near(slot_curve_per_slot(&curve, 100500, 103300), 1000 + 100); /* nothing before the first slot */
    slot_curve_dispose(&curve);
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    (void)state;
    add_small_run();
    add_execution(5, 5, 101000, 108000);
    app_sql("INSERT INTO stage_parent VALUES (0, 3)");
    app_pack();
    enum err_code rc = ERR_NOMEM;
    for (uint64_t n = 1; rc; n++) {
        struct err err = {0};
        mem_fail_at(n, 1);
        rc = facts_load(&facts, &app_db, &err);
        if (!rc && (rc = accounts_make(&accounts, &facts, &err)))
            facts_dispose(&facts);
        mem_fail_at(0, 0);
        assert_true(rc == ERR_OK || rc == ERR_NOMEM || rc == ERR_LIMIT);
        assert_true(n < 1000);
    }
    assert_sound();
}

/* ---- Anything ---- */

#ifdef __SANITIZE_ADDRESS__
#define RANDOM_RUNS 1000 /* the sanitizers are slow, and look at memory: sums close or do not in the other build, too */
#else
#define RANDOM_RUNS 10000
#endif

static void random_runs_close_in_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_RUNS; seed++) {
        random_begin(seed);
        random_run();
        random_drop_twins();
        load();
        assert_sound();
        struct account first = accounts.app;
        double overlap_ms = facts.overlap_ms;
        dispose();
        if (seed % 4 == 0) {
            app_sql("DELETE FROM task_column");
            random_shuffle_tasks();
            app_pack_chunks(1 + (size_t)random_to(5));
            make();
            for (size_t b = 0; b < BUCKET_COUNT; b++) {
                assert_near(accounts.app.slot_ms[b], first.slot_ms[b]);
                assert_near(accounts.app.wall_ms[b], first.wall_ms[b]);
            }
            assert_near(facts.overlap_ms, overlap_ms);
            dispose();
        }
        app_clear(NULL);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(buckets_of_one_attempt),
        TEST(lost_and_unmeasured_attempts_are_one_bucket),
        TEST(a_run_by_hand),
        TEST(jobs_side_by_side_share_what_is_idle),
        TEST(stages_side_by_side_share_what_is_idle),
        TEST(tasks_behind_their_job_stay_with_it),
        TEST(work_that_no_job_lists_is_nobodys),
        TEST(a_job_without_executors_waits_for_them),
        TEST(missing_ends_make_waiting_unknown),
        TEST(a_run_without_executors_is_all_startup),
        TEST(gaps_of_sql_executions),
        TEST(gaps_of_streams_and_servers),
        TEST(rounding_keeps_the_total),
        TEST(slots_over_time),
        TEST(running_out_of_memory_leaves_nothing),
        TEST(random_runs_close_in_any_order),
    };
    return cmocka_run_group_tests(tests, app_open, app_close);
}
