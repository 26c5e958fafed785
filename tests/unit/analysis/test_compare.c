/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "tests/unit/analysis/run_records.h"

/* Plans 0 to 3: a broadcast join, a sort-merge join, one with more exchanges, and no join. */
static char path[] = "/tmp/afterglow-compare-XXXXXX";
static struct db plans;

static int setup(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return db_open(&plans, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL) ||
           db_exec(&plans,
                   "INSERT INTO sql_node (plan_id, node_id, is_cluster, name, accumulator_ids) VALUES (0, 0, 0, 'BroadcastHashJoin', ''), (0, 1, 0, 'Exchange', ''), "
                   "(1, 0, 0, 'SortMergeJoin', ''), (1, 1, 0, 'Exchange', ''), (2, 0, 0, 'SortMergeJoin', ''), (2, 1, 0, 'Exchange', ''), (2, 2, 0, 'Exchange', ''), "
                   "(3, 0, 1, 'WholeStageCodegen (1)', ''), (3, 1, 0, 'Filter', '')",
                   NULL);
}

static int teardown(void **state)
{
    (void)state;
    db_close(&plans);
    return unlink(path);
}

/* Two runs with one stage each of 10 s, all else equal; a test changes what it is about. */
struct pair {
    struct comparison comparison;
    struct run_match match;
};

static void pair_begin(struct pair *self)
{
    const struct run_stage stage = stage_of(0, 11, 10000);
    *self = (struct pair){.comparison = {.base = record_of(20000, &stage, 1, NULL, 0), .new_run = record_of(20000, &stage, 1, NULL, 0)}};
    arena_init(&self->comparison.arena, (size_t)1 << 24);
}

static int64_t sum_of(const struct comparison *comparison)
{
    int64_t sum = 0;
    for (size_t i = 0; i < comparison->part_count; i++)
        sum += comparison->parts[i].ms;
    return sum;
}

/* The new run takes `more_ms` longer inside of the stage, or outside of it when `outside`. */
static void decompose(struct pair *self)
{
    struct comparison *c = &self->comparison;
    if (!c->usual_ms)
        c->usual_ms = c->base.wall_ms;
    c->delta_ms = c->new_run.wall_ms - c->usual_ms;
    assert_int_equal(run_match_make(&self->match, &c->base, &c->new_run, NULL), ERR_OK);
    assert_int_equal(compare_decompose(c, &self->match, &plans, &plans, NULL), ERR_OK);
    assert_int_equal(sum_of(c), c->delta_ms);
}

static void pair_end(struct pair *self)
{
    run_match_dispose(&self->match);
    comparison_dispose(&self->comparison);
}

static int64_t ms_of(const struct pair *self, enum compare_part_kind kind)
{
    int64_t ms = 0;
    for (size_t i = 0; i < self->comparison.part_count; i++)
        ms += self->comparison.parts[i].kind == kind ? self->comparison.parts[i].ms : 0;
    return ms;
}

static struct run_stage *slower_stage(struct pair *self, int64_t more_ms)
{
    self->comparison.new_run.wall_ms += more_ms;
    self->comparison.new_run.stages[0].chain_ms += more_ms;
    return &self->comparison.new_run.stages[0];
}

static void takes_what_lies_outside_of_jobs_first(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    struct run_record *base = &pair.comparison.base, *now = &pair.comparison.new_run;
    now->wall_ms += 3000 + 1000 + 2000 + 4000 + 700;
    now->bucket_ms[BUCKET_STARTUP] = 3000;
    now->bucket_ms[BUCKET_GAP_STARTUP] = 1000;
    now->bucket_ms[BUCKET_WAIT_EXEC] = 2000;
    base->bucket_ms[BUCKET_GAP_USER] = 1000;
    now->bucket_ms[BUCKET_GAP_USER] = 5000;
    now->bucket_ms[BUCKET_GAP_SHUTDOWN] = 700;
    now->gaps[BUCKET_GAP_USER] = (struct run_gap){2500, 0, STR_NONE, STR_LIT("save at job.py:9")};
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_STARTUP), 4000);
    assert_int_equal(ms_of(&pair, COMPARE_WAIT_EXEC), 2000);
    assert_int_equal(ms_of(&pair, COMPARE_DRIVER), 4000);
    assert_int_equal(ms_of(&pair, COMPARE_SHUTDOWN), 700);
    assert_int_equal(pair.comparison.part_count, 4);
    for (size_t i = 0; i < 4; i++)
        if (pair.comparison.parts[i].kind == COMPARE_DRIVER)
            assert_true(str_is(pair.comparison.parts[i].what, "save at job.py:9")); /* 2.5 of 4 s */
    pair_end(&pair);
}

static void names_no_gap_that_explains_less_than_half(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    pair.comparison.new_run.wall_ms += 4000;
    pair.comparison.new_run.bucket_ms[BUCKET_GAP_SQL] = 4000;
    pair.comparison.new_run.gaps[BUCKET_GAP_SQL] = (struct run_gap){1900, 0, STR_NONE, STR_LIT("x")};
    decompose(&pair);
    assert_int_equal(pair.comparison.parts[0].gap, BUCKET_GAP_SQL);
    assert_false(str_known(pair.comparison.parts[0].what));
    pair_end(&pair);
}

/* Half as much data again: 10 s × 0.5 of the 8 s that the stage takes longer; the rest has no cause. */
static void data_explains_its_share_of_the_old_time(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    slower_stage(&pair, 8000)->bytes = 1500;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), 5000);
    assert_int_equal(ms_of(&pair, COMPARE_UNEXPLAINED), 3000);
    assert_true(pair.comparison.partly_known); /* 37 % */
    assert_float_equal(pair.comparison.parts[0].before, 1000, 0);
    assert_string_equal(pair.comparison.parts[0].unit, "bytes");
    pair_end(&pair);
}

static void data_is_clamped_to_what_is_left_and_small_changes_do_not_count(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    slower_stage(&pair, 2000)->bytes = 3000; /* 20 s wanted, 2 s there */
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), 2000);
    pair_end(&pair);
    pair_begin(&pair);
    slower_stage(&pair, 2000)->bytes = 1049;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), 0);
    pair_end(&pair);
    pair_begin(&pair);
    slower_stage(&pair, 2000)->bytes = 500; /* less data makes nothing slower */
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), 0);
    pair_end(&pair);
    pair_begin(&pair);
    slower_stage(&pair, -4000)->bytes = 800; /* −2 s of −4 s */
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), -2000);
    assert_int_equal(ms_of(&pair, COMPARE_UNEXPLAINED), -2000);
    pair_end(&pair);
}

static void records_stand_in_where_there_are_no_bytes(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    pair.comparison.base.stages[0].bytes = 0;
    struct run_stage *stage = slower_stage(&pair, 8000);
    stage->bytes = 0;
    stage->records = 120;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), 2000);
    pair_end(&pair);
}

/* From 4 to 2 slots: 10 s × (4 ÷ 2 − 1) × the queue's half. */
static void slots_explain_the_queue(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    pair.comparison.base.stages[0].queue_ms = 5000;
    pair.comparison.new_run.slot_peak = 2;
    slower_stage(&pair, 9000);
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_SLOTS), 5000);
    assert_int_equal(ms_of(&pair, COMPARE_UNEXPLAINED), 4000);
    assert_float_equal(pair.comparison.parts[0].before, 4, 0);
    assert_float_equal(pair.comparison.parts[0].after, 2, 0);
    pair_end(&pair);
}

static void skew_explains_what_the_outliers_cost_more(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    pair.comparison.base.stages[0].rec_cap_ms = 500;
    slower_stage(&pair, 6000)->rec_cap_ms = 4500;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_SKEW), 4000);
    pair_end(&pair);
}

/* 10 tasks on 4 slots: 800 ms more of garbage collection a task is 2 s of the stage. Parts go in their order: what collection leaves, fetching gets. */
static void components_explain_their_mean_times_tasks_a_slot(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    struct run_stage *old = &pair.comparison.base.stages[0], *stage = slower_stage(&pair, 2600);
    old->part_ms[RUN_PART_GC] = 2000;
    stage->part_ms[RUN_PART_GC] = 10000;
    stage->part_ms[RUN_PART_FETCH] = 8000;
    old->part_ms[RUN_PART_PYTHON] = stage->part_ms[RUN_PART_PYTHON] = (double)NAN;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_GC), 2000);
    assert_int_equal(ms_of(&pair, COMPARE_FETCH), 600);
    assert_int_equal(ms_of(&pair, COMPARE_UNEXPLAINED), 0);
    pair_end(&pair);
}

static void rows_that_take_more_processor_time_explain_the_rest(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    slower_stage(&pair, 3000)->cpu_ms = 1100; /* 10 ms → 11 ms a record: + 10 % */
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_SLOWER_ROWS), 3000);
    pair_end(&pair);
    pair_begin(&pair);
    slower_stage(&pair, 3000)->cpu_ms = 1090;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_UNEXPLAINED), 3000);
    pair_end(&pair);
}

/* 4 s of lost work more, in a stage that got 3 s slower and had some: it gets 3 s, and nothing is counted twice. */
static void lost_work_comes_off_the_stages_that_lost_it(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    struct run_stage *stage = slower_stage(&pair, 3000);
    stage->lost_count = 2;
    stage->bytes = 2000;
    pair.comparison.new_run.lost_ms = 4000;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_LOST), 3000);
    assert_int_equal(ms_of(&pair, COMPARE_DATA), 0);
    pair_end(&pair);
    pair_begin(&pair);
    slower_stage(&pair, 3000);
    pair.comparison.new_run.lost_ms = 4000; /* elsewhere */
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_LOST), 0);
    pair_end(&pair);
}

static void stages_that_came_and_went_are_named(void **state)
{
    const struct run_stage old[] = {stage_of(0, 11, 30000), stage_of(1, 22, 4000)}, now[] = {stage_of(0, 11, 30000), stage_of(1, 33, 6000)};
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    run_record_dispose(&pair.comparison.base);
    run_record_dispose(&pair.comparison.new_run);
    pair.comparison.base = record_of(40000, old, 2, NULL, 0);
    pair.comparison.new_run = record_of(42000, now, 2, NULL, 0);
    pair.comparison.new_run.stages[1].call_site = 8;
    pair.comparison.new_run.stages[1].name = STR_LIT("count at job.py:5");
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_NEW_STAGE), 6000);
    assert_int_equal(ms_of(&pair, COMPARE_REMOVED_STAGE), -4000);
    assert_true(str_is(pair.comparison.parts[0].what, "count"));
    assert_true(str_is(pair.comparison.parts[1].what, "collect"));
    pair_end(&pair);
}

static void a_changed_program_is_told_apart_outside_of_jobs_alone(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    struct run_stage *stage = slower_stage(&pair, 5000);
    stage->fingerprint = 99;
    stage->call_site = 99;
    pair.comparison.new_run.wall_ms += 1000;
    pair.comparison.new_run.bucket_ms[BUCKET_STARTUP] = 1000;
    decompose(&pair);
    assert_true(pair.comparison.code_changed);
    assert_int_equal(ms_of(&pair, COMPARE_CODE), 5000);
    assert_int_equal(ms_of(&pair, COMPARE_STARTUP), 1000);
    pair_end(&pair);
}

/* The reference took 1 s more than the median: that second has no cause. */
static void what_the_reference_is_off_the_median_is_unexplained(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    pair.comparison.usual_ms = 19000;
    decompose(&pair);
    assert_int_equal(pair.comparison.delta_ms, 1000);
    assert_int_equal(ms_of(&pair, COMPARE_UNEXPLAINED), 1000);
    pair_end(&pair);
}

/* 1 % of 100 s is 1 s: 0.9 s is small. Of 10 s, half a second is the bound. */
static void small_parts_are_one(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    pair.comparison.new_run.wall_ms += 100000;
    pair.comparison.new_run.bucket_ms[BUCKET_STARTUP] = 900;
    pair.comparison.new_run.bucket_ms[BUCKET_WAIT_EXEC] = 800;
    pair.comparison.new_run.bucket_ms[BUCKET_GAP_USER] = 98300;
    decompose(&pair);
    assert_int_equal(pair.comparison.part_count, 2);
    assert_int_equal(ms_of(&pair, COMPARE_OTHER), 1700);
    pair_end(&pair);
    pair_begin(&pair);
    pair.comparison.new_run.wall_ms += 10000;
    pair.comparison.new_run.bucket_ms[BUCKET_STARTUP] = 500;
    pair.comparison.new_run.bucket_ms[BUCKET_GAP_USER] = 9500;
    decompose(&pair);
    assert_int_equal(ms_of(&pair, COMPARE_STARTUP), 500);
    pair_end(&pair);
}

/* Query 0 took 10 s with a broadcast join on 4 slots and takes 18 s with a sort-merge join on 2; half of its old time was a queue. Slots: 10 × (4 ÷ 2 − 1) × 0.5 = 5 s, plan: the rest. */
static void a_changed_plan_takes_what_its_slots_leave(void **state)
{
    const struct run_query old_query = {.execution_id = 0, .first = 1, .final = 1, .plan_id = 0, .description = STR_LIT("collect at job.py:3")},
                           now_query = {.execution_id = 0, .first = 2, .final = 2, .plan_id = 1, .description = STR_LIT("collect at job.py:4")};
    struct run_stage old = stage_of(0, 11, 10000), now[] = {stage_of(0, 12, 11000), stage_of(1, 13, 7000)};
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    run_record_dispose(&pair.comparison.base);
    run_record_dispose(&pair.comparison.new_run);
    old.execution_id = now[0].execution_id = now[1].execution_id = 0;
    old.queue_ms = 5000;
    pair.comparison.base = record_of(20000, &old, 1, &old_query, 1);
    pair.comparison.new_run = record_of(28000, now, 2, &now_query, 1);
    pair.comparison.new_run.slot_peak = 2;
    decompose(&pair);
    assert_float_equal(pair.match.share, 1, 0);
    assert_int_equal(ms_of(&pair, COMPARE_SLOTS), 5000);
    assert_int_equal(ms_of(&pair, COMPARE_PLAN), 3000);
    assert_int_equal(pair.comparison.part_count, 2);
    assert_int_equal(pair.comparison.parts[1].change, PLAN_BROADCAST_LOST);
    assert_true(str_is(pair.comparison.parts[1].what, "collect at job.py:4"));
    assert_float_equal(pair.comparison.parts[1].before, 1, 0);
    assert_float_equal(pair.comparison.parts[1].after, 0, 0);
    pair_end(&pair);
}

static void plans_are_told_by_joins_then_exchanges_then_adaptive_reads(void **state)
{
    const struct run_operator hash[] = {{STR_LIT("BroadcastExchange"), 3}, {STR_LIT("BroadcastHashJoin"), 3}, {STR_LIT("Exchange"), 1}};
    const struct run_operator merge[] = {{STR_LIT("Exchange"), 3}, {STR_LIT("SortMergeJoin"), 3}};
    const struct run_operator shuffled[] = {{STR_LIT("Exchange"), 3}, {STR_LIT("ShuffledHashJoin"), 3}};
    const struct run_operator exchanges[] = {{STR_LIT("Exchange"), 4}, {STR_LIT("SortMergeJoin"), 3}};
    const struct run_operator adaptive[] = {{STR_LIT("AQEShuffleRead"), 2}, {STR_LIT("Exchange"), 3}, {STR_LIT("SortMergeJoin"), 3}};
    const struct run_operator filtered[] = {{STR_LIT("Exchange"), 3}, {STR_LIT("Filter"), 1}, {STR_LIT("SortMergeJoin"), 3}};
    int64_t before = -1, after = -1;
    (void)state;
    assert_int_equal(plan_compare(hash, 3, hash, 3, &before, &after), PLAN_SAME);
    assert_int_equal(plan_compare(hash, 3, merge, 2, &before, &after), PLAN_BROADCAST_LOST);
    assert_int_equal(before, 3);
    assert_int_equal(after, 0);
    assert_int_equal(plan_compare(merge, 2, hash, 3, &before, &after), PLAN_BROADCAST_GAINED);
    assert_int_equal(plan_compare(merge, 2, shuffled, 2, &before, &after), PLAN_JOIN);
    assert_int_equal(plan_compare(merge, 2, exchanges, 2, &before, &after), PLAN_EXCHANGES);
    assert_int_equal(before, 3);
    assert_int_equal(after, 4);
    assert_int_equal(plan_compare(merge, 2, adaptive, 3, &before, &after), PLAN_ADAPTIVE);
    assert_int_equal(plan_compare(merge, 2, filtered, 3, &before, &after), PLAN_OTHER);
    assert_int_equal(plan_compare(NULL, 0, merge, 2, &before, &after), PLAN_JOIN);
}

static void settings_that_are_other_in_every_run_are_not_told(void **state)
{
    struct run_setting old[] = {{STR_LIT("spark.app.id"), STR_LIT("a")},
                                {STR_LIT("spark.driver.port"), STR_LIT("1")},
                                {STR_LIT("spark.executor.memory"), STR_LIT("1024m")},
                                {STR_LIT("spark.foo.dir"), STR_LIT("/tmp/run-20261129/x")},
                                {STR_LIT("spark.sql.autoBroadcastJoinThreshold"), STR_LIT("10485760")}};
    struct run_setting now[] = {{STR_LIT("spark.app.id"), STR_LIT("b")},
                                {STR_LIT("spark.driver.port"), STR_LIT("2")},
                                {STR_LIT("spark.executor.memory"), STR_LIT("2048m")},
                                {STR_LIT("spark.foo.dir"), STR_LIT("/tmp/run-20261130/x")},
                                {STR_LIT("spark.master"), STR_LIT("local-cluster[1,1,1024]")},
                                {STR_LIT("spark.sql.autoBroadcastJoinThreshold"), STR_LIT("-1")},
                                {STR_LIT("spark.yarn.stagingDir"), STR_LIT("z")}};
    struct comparison comparison = {.part_count = 1};
    (void)state;
    comparison.parts[0] = (struct compare_part){.kind = COMPARE_PLAN, .ms = 1};
    comparison.base.settings = old;
    comparison.base.setting_count = ARRAY_LENGTH(old);
    comparison.new_run.settings = now;
    comparison.new_run.setting_count = ARRAY_LENGTH(now);
    assert_int_equal(compare_settings(&comparison, NULL), ERR_OK);
    assert_int_equal(comparison.setting_count, 3);
    assert_int_equal(comparison.hidden_setting_count, 3); /* id, port, staging directory */
    assert_true(str_is(comparison.settings[0].name, "spark.master"));
    assert_int_equal(comparison.settings[0].group, SETTINGS_RESOURCES);
    assert_false(str_known(comparison.settings[0].base));
    assert_int_equal(comparison.settings[1].group, SETTINGS_SQL);
    assert_int_equal(comparison.settings[2].group, SETTINGS_MEMORY);
    assert_int_equal(comparison.parts[0].link_count, 1);
    assert_int_equal(comparison.parts[0].links[0], 1);
    mem_free(comparison.settings);
}

static void findings_are_new_gone_worse_better_or_the_same(void **state)
{
    struct pair pair;
    (void)state;
    pair_begin(&pair);
    const struct rule *spill = rule_find(STR_LIT("STAGE.SPILL")), *gc = rule_find(STR_LIT("STAGE.GC_HIGH")), *util = rule_find(STR_LIT("APP.LOW_UTIL")),
                      *oom = rule_find(STR_LIT("TASK.OOM"));
    struct run_finding old[] = {{spill, SUBJECT_STAGE, STR_LIT("0.0"), STR_NONE, GRADE_LOW, 100, 0},
                                {gc, SUBJECT_STAGE, STR_LIT("0.0"), STR_NONE, GRADE_SEVERE, 9, 0},
                                {util, SUBJECT_APP, STR_LIT("-"), STR_NONE, GRADE_INFO, UNKNOWN, 0},
                                {oom, SUBJECT_TASK, STR_LIT("5"), STR_LIT(""), GRADE_LOW, UNKNOWN, 0},
                                {gc, SUBJECT_STAGE, STR_LIT("77.0"), STR_NONE, GRADE_LOW, 5, 0}};
    struct run_finding now[] = {{spill, SUBJECT_STAGE, STR_LIT("0.0"), STR_NONE, GRADE_MODERATE, 200, 0}, {gc, SUBJECT_STAGE, STR_LIT("0.0"), STR_NONE, GRADE_LOW, 3, 0},
                                {util, SUBJECT_APP, STR_LIT("-"), STR_NONE, GRADE_INFO, UNKNOWN, 0},      {oom, SUBJECT_TASK, STR_LIT("900"), STR_LIT(""), GRADE_LOW, UNKNOWN, 0},
                                {oom, SUBJECT_TASK, STR_LIT("901"), STR_LIT(""), GRADE_LOW, UNKNOWN, 0},  {spill, SUBJECT_STAGE, STR_LIT("9.0"), STR_NONE, GRADE_LOW, 1, 0}};
    decompose(&pair);
    struct comparison *c = &pair.comparison;
    c->base.findings = old;
    c->base.finding_count = ARRAY_LENGTH(old);
    c->new_run.findings = now;
    c->new_run.finding_count = ARRAY_LENGTH(now);
    assert_int_equal(compare_findings(c, &pair.match, NULL), ERR_OK);
    const enum finding_news expected[] = {FINDING_NEW, FINDING_GONE, FINDING_WORSE, FINDING_BETTER, FINDING_SAME, FINDING_SAME};
    assert_int_equal(c->finding_count, ARRAY_LENGTH(expected));
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++)
        assert_int_equal(c->findings[i].news, expected[i]);
    assert_true(str_is(c->findings[0].new_key, "9.0"));
    assert_true(str_is(c->findings[1].base_key, "77.0"));
    assert_ptr_equal(c->findings[2].rule, spill);
    assert_ptr_equal(c->findings[3].rule, gc);
    c->base.findings = c->new_run.findings = NULL;
    pair_end(&pair);
}

/* Query 0 became query 4, whose plan has other numbers: a node goes by what it does, of two that are alike the worse one first. */
static void findings_of_nodes_go_by_what_the_node_does(void **state)
{
    const struct run_query old_query = {.execution_id = 0, .first = 1}, new_query = {.execution_id = 4, .first = 1};
    const struct rule *scan = rule_find(STR_LIT("SQL.REPEATED_SCAN"));
    struct run_finding old[] = {{scan, SUBJECT_NODE, STR_LIT("0/11"), STR_NONE, GRADE_INFO, 830, 7}, {scan, SUBJECT_NODE, STR_LIT("0/12"), STR_NONE, GRADE_LOW, 900, 7}};
    struct run_finding now[] = {{scan, SUBJECT_NODE, STR_LIT("4/16"), STR_NONE, GRADE_LOW, 670, 7}, {scan, SUBJECT_NODE, STR_LIT("4/12"), STR_NONE, GRADE_LOW, 100, 9}};
    struct pair pair = {.comparison = {.base = record_of(20000, NULL, 0, &old_query, 1), .new_run = record_of(20000, NULL, 0, &new_query, 1)}};
    struct comparison *c = &pair.comparison;
    (void)state;
    arena_init(&c->arena, (size_t)1 << 24);
    assert_int_equal(run_match_make(&pair.match, &c->base, &c->new_run, NULL), ERR_OK);
    c->base.findings = old;
    c->base.finding_count = ARRAY_LENGTH(old);
    c->new_run.findings = now;
    c->new_run.finding_count = ARRAY_LENGTH(now);
    assert_int_equal(compare_findings(c, &pair.match, NULL), ERR_OK);
    static const struct {
        enum finding_news news;
        const char *base, *now;
    } expected[] = {{FINDING_NEW, NULL, "4/12"}, {FINDING_GONE, "0/11", NULL}, {FINDING_SAME, "0/12", "4/16"}};
    assert_int_equal(c->finding_count, ARRAY_LENGTH(expected));
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) {
        const struct compare_finding *finding = &c->findings[i];
        assert_int_equal(finding->news, expected[i].news);
        assert_true(expected[i].base ? str_is(finding->base_key, expected[i].base) : !str_known(finding->base_key));
        assert_true(expected[i].now ? str_is(finding->new_key, expected[i].now) : !str_known(finding->new_key));
    }
    c->base.findings = c->new_run.findings = NULL;
    pair_end(&pair);
}

/* --- any two runs */

static uint64_t seed = 42;

static int64_t random_below(int64_t bound)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (int64_t)((seed >> 33) % (uint64_t)bound);
}

static double random_value(void)
{
    switch (random_below(8)) {
    case 0: return (double)NAN;
    case 1: return 0;
    case 2: return 1e18;
    default: return (double)random_below(100000);
    }
}

static struct run_record random_record(void)
{
    struct run_stage stages[24];
    struct run_query queries[4];
    int64_t wall_ms = random_below(3) ? random_below(100000) : random_below((int64_t)1 << 52), left = wall_ms;
    size_t count = (size_t)random_below(24), query_count = (size_t)random_below(4);
    for (size_t i = 0; i < query_count; i++)
        queries[i] = (struct run_query){
            .execution_id = (int64_t)i, .first = random_below(3), .final = random_below(4), .plan_id = random_below(6) ? random_below(4) : UNKNOWN, .description = STR_LIT("q")};
    for (size_t i = 0; i < count; i++) {
        int64_t chain_ms = random_below(left + 1);
        stages[i] = stage_of((int64_t)i, random_below(12), chain_ms);
        left -= chain_ms;
        stages[i].queue_ms = random_below(chain_ms + 1);
        stages[i].call_site = random_below(2);
        stages[i].job_id = random_below(5) ? random_below(4) : UNKNOWN;
        stages[i].execution_id = random_below(2) ? random_below(6) : UNKNOWN;
        stages[i].lost_count = random_below(2);
        stages[i].task_count = random_below(3);
        stages[i].bytes = random_value();
        stages[i].records = random_value();
        stages[i].cpu_ms = random_value();
        stages[i].rec_cap_ms = random_value();
        stages[i].slots = (double)random_below(5);
        for (int k = 0; k < RUN_PART_COUNT; k++)
            stages[i].part_ms[k] = random_value();
    }
    struct run_record record = record_of(wall_ms, stages, count, queries, query_count);
    record.slot_peak = random_below(6);
    record.lost_ms = random_below(3) ? random_below(wall_ms + 1) : UNKNOWN;
    for (int b = 0; b < BUCKET_COUNT; b++)
        record.bucket_ms[b] = random_below(wall_ms / 8 + 1);
    return record;
}

static void parts_of_any_two_runs_sum_to_the_difference(void **state)
{
    (void)state;
    for (int round = 0; round < 10000; round++) {
        struct pair pair = {.comparison = {.base = random_record(), .new_run = random_record()}};
        pair.comparison.usual_ms = pair.comparison.base.wall_ms + random_below(1000);
        decompose(&pair); /* asserts the sum */
        assert_true(pair.match.share >= 0 && pair.match.share <= 1);
        for (size_t i = 0; i < pair.comparison.base.stage_count; i++) {
            uint32_t other = pair.match.stage_in_new[i];
            assert_true(other == NO_MATCH || pair.match.stage_in_base[other] == i);
        }
        pair_end(&pair);
    }
}

/* A run and itself under other ids: nothing to tell. */
static void a_run_is_no_different_from_itself_renumbered(void **state)
{
    (void)state;
    for (int round = 0; round < 500; round++) {
        uint64_t before = seed;
        struct run_record base = random_record();
        seed = before;
        struct run_record again = random_record();
        for (size_t i = 0; i < again.stage_count; i++) {
            again.stages[i].stage_id += 1000;
            again.stages[i].job_id = known(again.stages[i].job_id) ? again.stages[i].job_id + 500 : UNKNOWN;
            again.stages[i].execution_id = known(again.stages[i].execution_id) ? again.stages[i].execution_id + 100 : UNKNOWN;
        }
        for (size_t i = 0; i < again.query_count; i++)
            again.queries[i].execution_id += 100;
        struct pair pair = {.comparison = {.base = base, .new_run = again}};
        decompose(&pair);
        assert_float_equal(pair.match.share, 1, 0);
        assert_int_equal(pair.comparison.delta_ms, 0);
        for (size_t i = 0; i < base.stage_count; i++)
            assert_int_equal(pair.match.stage_in_new[i], i);
        assert_int_equal(pair.comparison.part_count, 0);
        pair_end(&pair);
    }
}

/* Start-up may be 1.5 s off (two buckets of 1 s and 0.5 s), gaps of the user's program are not known, the wall may be 3 s off. */
static void a_part_is_noise_up_to_what_its_own_bucket_differs_by(void **state)
{
    struct comparison comparison = {.wall = {.count = 5, .allowed = 3000}, .part_count = 3};
    (void)state;
    comparison.metrics[RUN_BUCKETS + BUCKET_STARTUP] = (struct noise){.count = 5, .allowed = 1000};
    comparison.metrics[RUN_BUCKETS + BUCKET_GAP_STARTUP] = (struct noise){.count = 5, .allowed = 500};
    comparison.metrics[RUN_BUCKETS + BUCKET_GAP_SQL] = (struct noise){.count = 5, .allowed = 700};
    comparison.metrics[RUN_BUCKETS + BUCKET_GAP_USER] = (struct noise){.count = 2, .allowed = 1};
    comparison.parts[0] = (struct compare_part){.kind = COMPARE_STARTUP};
    comparison.parts[1] = (struct compare_part){.kind = COMPARE_DRIVER, .gap = BUCKET_GAP_USER};
    comparison.parts[2] = (struct compare_part){.kind = COMPARE_DATA};
    compare_noise(&comparison);
    assert_float_equal(comparison.parts[0].noise_ms, 1500, 0);
    assert_float_equal(comparison.parts[1].noise_ms, 3000, 0);
    assert_float_equal(comparison.parts[2].noise_ms, 3000, 0);
}

static void a_log_without_an_end_says_slower_and_never_faster(void **state)
{
    const struct run_record open = {.end_at_least = true}, whole = {.end_at_least = false};
    (void)state;
    assert_true(compare_is_open(&open, 1));
    assert_true(compare_is_open(&open, 0));
    assert_false(compare_is_open(&open, -1));
    assert_false(compare_is_open(&whole, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_lies_outside_of_jobs_first),
        cmocka_unit_test(names_no_gap_that_explains_less_than_half),
        cmocka_unit_test(data_explains_its_share_of_the_old_time),
        cmocka_unit_test(data_is_clamped_to_what_is_left_and_small_changes_do_not_count),
        cmocka_unit_test(records_stand_in_where_there_are_no_bytes),
        cmocka_unit_test(slots_explain_the_queue),
        cmocka_unit_test(skew_explains_what_the_outliers_cost_more),
        cmocka_unit_test(components_explain_their_mean_times_tasks_a_slot),
        cmocka_unit_test(rows_that_take_more_processor_time_explain_the_rest),
        cmocka_unit_test(lost_work_comes_off_the_stages_that_lost_it),
        cmocka_unit_test(stages_that_came_and_went_are_named),
        cmocka_unit_test(a_changed_program_is_told_apart_outside_of_jobs_alone),
        cmocka_unit_test(what_the_reference_is_off_the_median_is_unexplained),
        cmocka_unit_test(small_parts_are_one),
        cmocka_unit_test(a_changed_plan_takes_what_its_slots_leave),
        cmocka_unit_test(plans_are_told_by_joins_then_exchanges_then_adaptive_reads),
        cmocka_unit_test(settings_that_are_other_in_every_run_are_not_told),
        cmocka_unit_test(a_part_is_noise_up_to_what_its_own_bucket_differs_by),
        cmocka_unit_test(a_log_without_an_end_says_slower_and_never_faster),
        cmocka_unit_test(findings_are_new_gone_worse_better_or_the_same),
        cmocka_unit_test(findings_of_nodes_go_by_what_the_node_does),
        cmocka_unit_test(parts_of_any_two_runs_sum_to_the_difference),
        cmocka_unit_test(a_run_is_no_different_from_itself_renumbered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
