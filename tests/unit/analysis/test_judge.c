/* SPDX-License-Identifier: Apache-2.0
 *
 * What holds for all rules alike: which finding explains which away (1.7, appendix B 7), confidence (1.8), which subjects are judged at all (1.6, 2.3). */
#include "analysis/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analysis/finding_order.h"
#include "analysis/suppression.h"
#include "app_fixture.h"

enum { STAGES = 3 };

/* An application of a minute: three stages of SQL execution 7, two executors; what the findings are about. */
struct run {
    struct app app;
    struct arena arena;
    struct accounts accounts;
    struct stage_stats stats[STAGES];
    struct stage_extra extras[STAGES];
    const struct stage_stats *stats_of[STAGES];
    const struct stage_extra *extras_of[STAGES];
    struct judged judged;
    struct findings findings;
};

static void run_init(struct run *run)
{
    memset(run, 0, sizeof *run);
    app_init(&run->app, 60000);
    arena_init(&run->arena, (size_t)16 << 20);
    uint32_t executor = app_executor(&run->app, 2, 0, 60000);
    app_executor(&run->app, 2, 0, 60000);
    uint32_t job = app_job(&run->app, 0, 60000);
    for (int i = 0; i < STAGES; i++) {
        app_stage(&run->app, job, 0, 1, NO_ENTITY);
        app_task(&run->app, executor, 0, 30000, WINNER);
        run->stats[i].of[STAT_OCCUPANCY].count = 100;
        run->extras[i].spill_outlier_share = run->extras[i].gc_outlier_share = 0.5;
        run->stats_of[i] = &run->stats[i];
        run->extras_of[i] = &run->extras[i];
    }
    for (size_t i = 0; i < run->app.facts.stage_count; i++) {
        run->app.facts.stages[i].sql_execution_id = 7;
        run->app.facts.stages[i].winner_count = 100;
        run->app.facts.stages[i].completeness = 1;
    }
    run->accounts.jobs_ms = 60000;
    run->accounts.allocated_ms = 240000;
    run->accounts.stages = calloc(STAGES, sizeof *run->accounts.stages);
    for (int i = 0; i < STAGES; i++)
        run->accounts.stages[i].occupancy_ms = 30000;
    run->judged = (struct judged){.facts = &run->app.facts, .accounts = &run->accounts, .stages = run->stats_of, .extras = run->extras_of, .completeness = 100, .wall_ms = 60000};
    run->findings.arena = &run->arena;
}

static void run_dispose(struct run *run)
{
    findings_dispose(&run->findings);
    free(run->accounts.stages);
    app_dispose(&run->app);
    arena_dispose(&run->arena);
}

/* A finding that shows, unless said otherwise: far beyond every threshold and dear. */
static size_t add(struct run *run, const char *rule, const char *key, uint32_t stage, uint32_t executor)
{
    struct finding *finding = findings_add(&run->findings, rule, SUBJECT_STAGE, "%s", key);
    finding->measure = finding->rule->ladder.down ? 0 : 1e18;
    finding->stage = stage;
    finding->executor = executor;
    finding->price.ms = 20000;
    return run->findings.count - 1;
}

static void settle(struct run *run)
{
    struct err err;
    findings_close(&run->findings);
    for (size_t i = 0; i < run->findings.count; i++)
        run->findings.items[i].suppressed_by = STR_NONE;
    assert_int_equal(suppress(&run->judged, &run->findings, &err), ERR_OK);
}

static bool is_out(const struct run *run, size_t finding)
{
    return str_known(run->findings.items[finding].suppressed_by);
}

/* Rows of 1.7 that hold for one and the same stage, and only there. */
static void same_stage(void **state)
{
    static const char *const pairs[][2] = {
        {"STAGE.RETRY_CHAIN", "STAGE.STRAGGLER"},       {"STAGE.RETRY_CHAIN", "STAGE.UNEVEN"},           {"STAGE.RETRY_CHAIN", "STAGE.FETCH_WAIT"},
        {"STAGE.SKEW_DATA", "STAGE.SKEW_WRITE"},        {"STAGE.SLOW_HOST", "STAGE.STRAGGLER"},          {"STAGE.SLOW_HOST", "STAGE.UNEVEN"},
        {"STAGE.SINGLE_TASK", "STAGE.FEW_TASKS"},       {"STAGE.SINGLE_TASK", "STAGE.BIG_PARTITION"},    {"SQL.AQE_OVERCOALESCED", "STAGE.FEW_TASKS"},
        {"SQL.AQE_OVERCOALESCED", "STAGE.SINGLE_TASK"}, {"STAGE.TINY_TASKS", "STAGE.SCHED_DELAY"},       {"STAGE.TINY_TASKS", "STAGE.DESER"},
        {"SQL.SMALL_FILES_READ", "STAGE.TINY_TASKS"},   {"STAGE.TINY_TASKS", "CONF.SHUFFLE_PARTITIONS"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
        struct run run;
        run_init(&run);
        size_t loser = add(&run, pairs[i][1], "1.0", 1, NO_ENTITY), elsewhere = add(&run, pairs[i][1], "2.0", 2, NO_ENTITY), winner = add(&run, pairs[i][0], "1.0", 1, NO_ENTITY);
        settle(&run);
        assert_true(is_out(&run, loser));
        assert_false(is_out(&run, elsewhere));
        assert_false(is_out(&run, winner));
        /* What does not show explains nothing. */
        run.findings.items[winner].mute = MUTE_OFF_PATH;
        settle(&run);
        assert_false(is_out(&run, loser));
        run_dispose(&run);
    }
}

/* Large results explain waiting for the driver where it fetched them for as long as tasks waited for it (600 ms inside of them, 400 ms with free slots), not where that took less. */
static void results_that_keep_the_driver(void **state)
{
    (void)state;
    for (int fetched_ms = 999; fetched_ms <= 1000; fetched_ms++) {
        struct run run;
        run_init(&run);
        run.accounts.stages[1].winner_ms[BUCKET_GETRES] = fetched_ms;
        run.accounts.stages[1].winner_ms[BUCKET_DELAY] = 600;
        run.accounts.stages[1].sched_wait_slot_ms = 400;
        size_t loser = add(&run, "STAGE.SCHED_DELAY", "1.0", 1, NO_ENTITY), elsewhere = add(&run, "STAGE.SCHED_DELAY", "2.0", 2, NO_ENTITY);
        add(&run, "STAGE.RESULT_LARGE", "0", 1, NO_ENTITY);
        settle(&run);
        assert_int_equal(is_out(&run, loser), fetched_ms == 1000);
        assert_false(is_out(&run, elsewhere));
        run_dispose(&run);
    }
}

static void names_the_winner(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    size_t loser = add(&run, "STAGE.DESER", "1.0", 1, NO_ENTITY);
    add(&run, "STAGE.TINY_TASKS", "1.0", 1, NO_ENTITY);
    settle(&run);
    assert_true(str_is(run.findings.items[loser].suppressed_by, "STAGE.TINY_TASKS stage 1.0"));
    run_dispose(&run);
}

/* A finding about several stages is about each that its price changes. */
static void stages_of_changes(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    size_t loser = add(&run, "STAGE.STRAGGLER", "2.0", 2, NO_ENTITY);
    add(&run, "STAGE.SLOW_HOST", "h", NO_ENTITY, 0);
    finding_change(&run.findings, "W3", BAND_NORMAL, (struct change){.kind = CHANGE_HOST, .stage = 2, .number = 3});
    settle(&run);
    assert_true(is_out(&run, loser));
    run_dispose(&run);
}

/* Memory is not bought for one hot key: from 80 % in the outliers on. */
static void skew_and_memory(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    add(&run, "STAGE.SKEW_DATA", "1.0", 1, 1);
    size_t spill = add(&run, "STAGE.SPILL", "1.0", 1, NO_ENTITY), gc = add(&run, "STAGE.GC_HIGH", "1.0", 1, NO_ENTITY), near = add(&run, "EXEC.MEM_NEAR", "1", NO_ENTITY, 1),
           other = add(&run, "EXEC.MEM_NEAR", "0", NO_ENTITY, 0), hot = add(&run, "EXEC.HOTSPOT", "1", NO_ENTITY, 1),
           ratio = add(&run, "CONF.MEMORY_RATIO", "k", NO_ENTITY, NO_ENTITY), over = add(&run, "EXEC.MEM_OVER", "-", NO_ENTITY, NO_ENTITY);
    run.extras[1].spill_outlier_share = 0.79;
    run.extras[1].gc_outlier_share = 0.8;
    settle(&run);
    assert_false(is_out(&run, spill));
    assert_true(is_out(&run, gc));
    assert_true(is_out(&run, near));
    assert_false(is_out(&run, other));
    assert_true(is_out(&run, hot));
    assert_true(is_out(&run, ratio));
    assert_true(is_out(&run, over)); /* by the spill, which stands */
    run.extras[1].spill_outlier_share = 0.8;
    settle(&run);
    assert_true(is_out(&run, spill));
    assert_false(is_out(&run, over)); /* both are explained away: neither says that memory is short */
    run_dispose(&run);
}

/* B 7: one hot key that spills, collects garbage, writes unevenly and makes the stage uneven is one finding. */
static void one_hot_key_is_one_finding(void **state)
{
    static const char *const all[] = {"STAGE.SKEW_DATA", "STAGE.SPILL", "STAGE.GC_HIGH", "STAGE.SKEW_WRITE", "STAGE.UNEVEN"};
    struct run run;
    size_t shown = 0;
    (void)state;
    run_init(&run);
    run.extras[1].spill_outlier_share = run.extras[1].gc_outlier_share = 0.95;
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        add(&run, all[i], "1.0", 1, NO_ENTITY);
    settle(&run);
    for (size_t i = 0; i < run.findings.count; i++)
        shown += finding_shows(&run.findings.items[i], NULL, run.judged.wall_ms);
    assert_int_equal(shown, 1);
    assert_false(is_out(&run, 0));
    run_dispose(&run);
}

static void of_one_cure_the_graver(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    size_t single = add(&run, "STAGE.SINGLE_TASK", "1.0", 1, NO_ENTITY), few = add(&run, "STAGE.FEW_TASKS", "1.0", 1, NO_ENTITY);
    run.findings.items[single].measure = 5; /* info; the other is severe */
    settle(&run);
    assert_true(is_out(&run, single));
    assert_false(is_out(&run, few));
    run.findings.items[single].measure = 1000;
    settle(&run);
    assert_false(is_out(&run, single));
    assert_true(is_out(&run, few));
    run_dispose(&run);
}

/* One that waits, for its code too, is as long in pieces; one that computes is not, unless without it the stage of 30 s takes less than the 3 s from which the number of tasks matters. */
static void a_task_that_waits_is_not_to_be_cut(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    size_t slow = add(&run, "STAGE.STRAGGLER", "1.0", 1, NO_ENTITY), few = add(&run, "STAGE.FEW_TASKS", "1.0", 1, NO_ENTITY);
    run.findings.items[slow].cause = "code_cpu";
    settle(&run);
    assert_false(is_out(&run, few));
    static const char *const waits[] = {"waiting", "deser"};
    for (size_t i = 0; i < ARRAY_LENGTH(waits); i++) {
        run.findings.items[slow].cause = waits[i];
        settle(&run);
        assert_true(is_out(&run, few));
    }
    struct stage_fact *stage = &run.app.facts.stages[1];
    stage->completed_seen = true;
    stage->first_launch_ms = EPOCH;
    stage->last_finish_ms = EPOCH + 30000;
    run.findings.items[slow].cause = "code_cpu";
    run.stats[1].rec_cap_ms = 27000;
    settle(&run);
    assert_false(is_out(&run, few));
    run.stats[1].rec_cap_ms = 27001;
    settle(&run);
    assert_true(is_out(&run, few));
    assert_false(is_out(&run, slow));
    run_dispose(&run);
}

static void full_storage(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    size_t full = add(&run, "EXEC.STORAGE_FULL", "0", NO_ENTITY, 0), idle = add(&run, "EXEC.STORAGE_FULL", "1", NO_ENTITY, 1), gc = add(&run, "STAGE.GC_HIGH", "1.0", 1, NO_ENTITY);
    run.findings.items[full].measure = 0.69;
    run.findings.items[idle].measure = 0.9; /* the stage did not run there */
    settle(&run);
    assert_false(is_out(&run, gc));
    run.findings.items[full].measure = 0.7;
    settle(&run);
    assert_true(is_out(&run, gc));
    run_dispose(&run);
}

static void lost_executors(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    add(&run, "EXEC.LOST", "1", NO_ENTITY, 1);
    size_t straggler = add(&run, "STAGE.STRAGGLER", "1.0", 1, NO_ENTITY), quiet = add(&run, "STAGE.STRAGGLER", "2.0", 2, NO_ENTITY);
    settle(&run);
    assert_false(is_out(&run, straggler));
    run.app.facts.attempts[run.app.facts.stages[1].first_attempt].kind = LOST_EXECUTOR;
    settle(&run);
    assert_true(is_out(&run, straggler));
    assert_false(is_out(&run, quiet));
    run_dispose(&run);
}

/* 240 slot-seconds were there; gaps of 100 leave 140, of which 20 were idle: a seventh, below the rule's 0.3. */
static void driver_gaps(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    add(&run, "APP.DRIVER_GAP", "-", NO_ENTITY, NO_ENTITY);
    size_t util = add(&run, "APP.LOW_UTIL", "-", NO_ENTITY, NO_ENTITY), over = add(&run, "APP.OVERALLOC", "-", NO_ENTITY, NO_ENTITY);
    run.findings.items[util].measure = 0.5;
    run.accounts.app.slot_ms[BUCKET_GAP_USER] = 90000;
    run.accounts.app.slot_ms[BUCKET_GAP_SHUTDOWN] = 10000;
    settle(&run);
    assert_true(is_out(&run, util));
    assert_false(is_out(&run, over));
    run.accounts.app.slot_ms[BUCKET_GAP_USER] = 40000; /* 70 of 190 s idle: 0.37 */
    run.accounts.jobs_ms = 29000;
    settle(&run);
    assert_false(is_out(&run, util));
    assert_true(is_out(&run, over));
    run_dispose(&run);
}

static void executions_and_streams(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    add(&run, "SQL.ROW_EXPLOSION", "7/12", NO_ENTITY, NO_ENTITY);
    run.app.facts.stages[2].sql_execution_id = 8;
    size_t here = add(&run, "STAGE.SHUFFLE_VOLUME", "1.0", 1, NO_ENTITY), there = add(&run, "STAGE.SHUFFLE_VOLUME", "2.0", 2, NO_ENTITY);
    add(&run, "STREAM.BEHIND", "q", NO_ENTITY, NO_ENTITY);
    size_t gap = add(&run, "APP.DRIVER_GAP", "-", NO_ENTITY, NO_ENTITY), small = add(&run, "JOB.MANY_SMALL", "-", NO_ENTITY, NO_ENTITY);
    settle(&run);
    assert_true(is_out(&run, here));
    assert_false(is_out(&run, there));
    assert_true(is_out(&run, gap));
    assert_true(is_out(&run, small));
    run_dispose(&run);
}

/* ---- 1.8 */

static void confidence(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    struct finding finding = {
        .rule = rule_find(STR_LIT("STAGE.SKEW_DATA")), .confidence = 2, .stage = 1, .executor = NO_ENTITY, .scenario = "W2", .distribution = true, .cause_share = 0.6};
    assert_int_equal(confidence_of(&run.judged, &finding), 2);
    finding.cause_share = 0.59;
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    finding.cause_share = (double)NAN;
    run.stats[1].of[STAT_OCCUPANCY].count = run.app.facts.stages[1].winner_count = 9;
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    finding.distribution = false;
    assert_int_equal(confidence_of(&run.judged, &finding), 2);
    run.app.facts.stages[1].winner_count = 10; /* one of ten without metrics */
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    run.stats[1].of[STAT_OCCUPANCY].count = 19;
    run.app.facts.stages[1].winner_count = 20; /* 5 %, which is too many */
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    run.stats[1].of[STAT_OCCUPANCY].count = 20;
    run.app.facts.stages[1].winner_count = 21;
    assert_int_equal(confidence_of(&run.judged, &finding), 2);
    run.stats[1].of[STAT_OCCUPANCY].count = run.app.facts.stages[1].winner_count = 9;
    finding.weak = true;
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    run.judged.calibration.error = -0.06;
    assert_int_equal(confidence_of(&run.judged, &finding), 0);
    finding.weak = false;
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    run.judged.completeness = 98;
    assert_int_equal(confidence_of(&run.judged, &finding), 0);
    run.judged.calibration.error = 0;
    run.judged.completeness = 94; /* 2.3: 80 to 94 */
    assert_int_equal(confidence_of(&run.judged, &finding), 0);
    finding.rule = rule_find(STR_LIT("JOB.FAILED"));
    assert_int_equal(confidence_of(&run.judged, &finding), 1);
    run_dispose(&run);
}

/* ---- 1.6, 2.3 */

static void mutes(void **state)
{
    struct run run;
    (void)state;
    run_init(&run);
    const struct rule *skew = rule_find(STR_LIT("STAGE.SKEW_DATA")), *failures = rule_find(STR_LIT("TASK.FAILURES"));
    assert_int_equal(mute_of(&run.judged, skew, 1), MUTE_NONE);
    run.accounts.stages[1].occupancy_ms = 1999;
    assert_int_equal(mute_of(&run.judged, skew, 1), MUTE_TINY_STAGE);
    assert_int_equal(mute_of(&run.judged, failures, 1), MUTE_NONE);
    run.accounts.stages[1].occupancy_ms = 2000;
    run.app.facts.stages[1].completeness = 0.98;
    assert_int_equal(mute_of(&run.judged, skew, 1), MUTE_INCOMPLETE);
    run.app.facts.stages[1].completeness = (double)NAN;
    assert_int_equal(mute_of(&run.judged, skew, 1), MUTE_NONE);
    run.app.facts.stages[1].last_finish_ms = run.app.facts.stages[1].first_launch_ms + 999;
    assert_int_equal(mute_of(&run.judged, skew, 1), MUTE_TINY_STAGE);
    assert_int_equal(mute_of(&run.judged, skew, NO_ENTITY), MUTE_NONE);
    run.judged.completeness = 79;
    assert_int_equal(mute_of(&run.judged, skew, NO_ENTITY), MUTE_INCOMPLETE);
    run.judged.wall_ms = 9999;
    assert_int_equal(mute_of(&run.judged, skew, NO_ENTITY), MUTE_TINY_APP);
    assert_int_equal(mute_of(&run.judged, failures, 1), MUTE_NONE);
    run_dispose(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_stage),
                                       cmocka_unit_test(results_that_keep_the_driver),
                                       cmocka_unit_test(names_the_winner),
                                       cmocka_unit_test(stages_of_changes),
                                       cmocka_unit_test(skew_and_memory),
                                       cmocka_unit_test(one_hot_key_is_one_finding),
                                       cmocka_unit_test(of_one_cure_the_graver),
                                       cmocka_unit_test(a_task_that_waits_is_not_to_be_cut),
                                       cmocka_unit_test(full_storage),
                                       cmocka_unit_test(lost_executors),
                                       cmocka_unit_test(driver_gaps),
                                       cmocka_unit_test(executions_and_streams),
                                       cmocka_unit_test(confidence),
                                       cmocka_unit_test(mutes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
