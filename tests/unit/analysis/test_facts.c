/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/facts.h"

#include <math.h>

#include "tests/unit/analysis/app_rows.h"

static struct facts facts;

static void load(void)
{
    app_pack();
    struct err err = {0};
    if (facts_load(&facts, &app_db, &err))
        fail_msg("%s", err.message);
}

static int teardown(void **state)
{
    facts_dispose(&facts);
    return app_clear(state);
}

static const struct attempt *attempt_of(int64_t task_id)
{
    for (size_t i = 0; i < facts.attempt_count; i++)
        if (facts.launches[i].task_id == task_id)
            return &facts.attempts[i];
    fail_msg("no task %lld", (long long)task_id);
    return NULL;
}

static void assert_kind(int64_t task_id, enum lost_kind kind)
{
    assert_string_equal(lost_kind_names[attempt_of(task_id)->kind], lost_kind_names[kind]);
}

/* ---- 3.1 ---- */

static void takes_the_interval_from_the_application(void **state)
{
    (void)state;
    add_application(1000, 9000);
    add_executor(1, "1", 2, 500, 20000);
    add_job(0, 800, 9500, 1);
    load();
    assert_int_equal(facts.begin_ms, 1000);
    assert_int_equal(facts.end_ms, 9000);
    assert_false(facts.end_at_least);
    assert_int_equal(facts.jobs[0].begin_ms, 1000); /* clipped */
    assert_int_equal(facts.jobs[0].end_ms, 9000);
    assert_int_equal(facts.executors[0].from_ms, 1000);
    assert_int_equal(facts.executors[0].to_ms, 9000);
}

static void ends_with_the_last_event_where_no_end_was_read(void **state)
{
    (void)state;
    add_application(1000, UNKNOWN);
    add_executor(1, "1", 2, 1100, UNKNOWN);
    add_job(0, 1200, UNKNOWN, 0);
    add_stage(1, 0, 0, 1, 1300, UNKNOWN, 1);
    list_stage(0, 0);
    add_task(1, 0, 0, 1, 1400, 7000);
    load();
    assert_int_equal(facts.end_ms, 7000);
    assert_true(facts.end_at_least);
    assert_int_equal(facts.jobs[0].end_ms, 7000); /* no JobEnd: to the end */
}

static void executors_lengthen_a_run_by_a_day_at_most(void **state)
{
    (void)state;
    const int64_t day = 86400000;
    add_application(1000, UNKNOWN);
    add_job(0, 2000, 3000, 1);
    add_executor(1, "1", 1, 1000, 3000 + day);
    add_executor(2, "2", 1, 3000 + 2 * day, UNKNOWN);
    load();
    assert_int_equal(facts.end_ms, 3000 + day);
    assert_int_equal(facts.clock_faults, 1);
    assert_int_equal(facts.executors[1].from_ms, facts.executors[1].to_ms);
}

static void a_finish_before_the_launch_is_no_time_and_a_clock_fault(void **state)
{
    (void)state;
    add_application(1000, 9000);
    add_executor(1, "1", 1, 1000, UNKNOWN);
    add_stage(1, 0, 0, 1, 1300, 8000, 2);
    add_task(1, 0, 0, 1, 5000, 4000);
    load();
    assert_int_equal(attempt_of(0)->finish_ms, 5000);
    assert_int_equal(attempt_occupancy_ms(attempt_of(0)), 0);
    assert_int_equal(facts.clock_faults, 1);
}

static void times_beyond_all_calendars_are_none(void **state)
{
    (void)state;
    add_application(1000, INT64_MAX);
    add_executor(1, "1", 1, INT64_MIN + 1, INT64_C(1) << 62);
    add_job(0, -1, INT64_MAX, 1);
    add_stage(1, 0, 0, INT64_C(1) << 62, -1, INT64_MAX, 2);
    add_task(1, INT64_C(1) << 62, INT64_C(1) << 62, 1, INT64_MAX, INT64_MIN + 1);
    add_task(1, 7, 0, 1, 2000, 3000);
    load();
    assert_int_equal(facts.end_ms, 3000);
    assert_int_equal(attempt_launch(&facts, attempt_of(INT64_C(1) << 62))->index, -1);
}

/* ---- 3.2 ---- */

static void slots_are_cores_over_cpus(void **state)
{
    (void)state;
    add_application(0, 10000);
    add_setting("spark.task.cpus", "2");
    app_sql("INSERT INTO resource_request VALUES (3, 1, 'cpus', 0, 4.0, NULL, NULL, NULL)");
    add_executor(1, "driver", UNKNOWN, 100, UNKNOWN);
    add_executor(2, "1", 5, 1000, 9000);
    add_executor(3, "2", 9, 2000, UNKNOWN);
    add_executor(4, "3", 1, 2000, UNKNOWN);
    app_sql("UPDATE executor SET resource_profile_id = 3 WHERE executor_ref = 3");
    load();
    assert_int_equal(facts.executors[0].slots, 0); /* the driver of a cluster */
    assert_int_equal(facts.executors[1].slots, 2);
    assert_int_equal(facts.executors[2].slots, 2); /* 9 / 4 */
    assert_int_equal(facts.executors[3].slots, 1); /* at least */
    assert_int_equal(facts.slot_peak, 5);
}

static void the_driver_of_a_local_run_is_its_executor(void **state)
{
    (void)state;
    add_application(0, 10000);
    add_setting("spark.master", "local[3,7]");
    add_executor(1, "driver", UNKNOWN, 100, UNKNOWN);
    load();
    assert_true(facts.is_local);
    assert_int_equal(facts.executors[0].slots, 3);
}

static void without_cores_slots_are_the_most_tasks_at_once(void **state)
{
    (void)state;
    add_application(0, 10000);
    add_setting("spark.master", "local[*]");
    add_executor(1, "driver", UNKNOWN, 100, UNKNOWN);
    add_stage(1, 0, 0, 4, 900, 8000, 2);
    add_task(1, 0, 0, 1, 1000, 3000);
    add_task(1, 1, 1, 1, 1000, 2000);
    add_task(1, 2, 2, 1, 2000, 5000); /* begins when 1 ends: two at once */
    add_task(1, 3, 3, 1, 4000, 6000);
    load();
    assert_int_equal(facts.executors[0].slots, 2);
    assert_int_equal(facts.executors[0].from_ms, 1000); /* a block manager of the driver is no slot yet */
    assert_int_equal(facts.executors[0].to_ms, 10000);
}

static void lanes_cut_what_overlaps_on_one_core(void **state)
{
    (void)state;
    add_application(0, 10000);
    add_executor(1, "1", 2, 500, UNKNOWN);
    add_stage(1, 0, 0, 4, 900, 8000, 2);
    add_task(1, 0, 0, 1, 1000, 2020); /* lane 0 until 2020 */
    add_task(1, 1, 1, 1, 1000, 3000); /* lane 1 until 3000 */
    add_task(1, 2, 2, 1, 2000, 4000); /* lane 0, from 2020 on */
    add_task(1, 3, 3, 1, 2990, 2995); /* lane 1, none of it: it ends before the lane is free */
    load();
    assert_int_equal(attempt_of(0)->lane, 0);
    assert_int_equal(attempt_of(1)->lane, 1);
    assert_int_equal(attempt_of(2)->lane, 0);
    assert_int_equal(attempt_of(2)->begin_ms, 2020);
    assert_int_equal(attempt_occupancy_ms(attempt_of(2)), 1980);
    assert_int_equal(attempt_of(3)->lane, 1);
    assert_int_equal(attempt_of(3)->begin_ms, 2995);
    assert_int_equal(attempt_occupancy_ms(attempt_of(3)), 0);
    assert_float_equal(facts.overlap_ms, 20 + 5, 0);
    assert_int_equal(facts.executors[0].slots, 2);
    assert_true(attempt_of(0)->cold && attempt_of(1)->cold && !attempt_of(2)->cold && !attempt_of(3)->cold);
}

static void more_tasks_side_by_side_than_cores_are_more_slots(void **state)
{
    (void)state;
    add_application(0, 100000);
    add_executor(1, "1", 1, 500, UNKNOWN);
    add_stage(1, 0, 0, 5, 900, 80000, 2);
    for (int64_t i = 0; i < 5; i++)
        add_task(1, i, i, 1, 1000, 11000);
    load();
    assert_int_equal(facts.executors[0].slots, 5);
    assert_true(facts.executors[0].slots_inferred);
    assert_float_equal(facts.overlap_ms, 0, 0);
}

/* One core runs ten tasks of a second, one after the other; the driver takes two more to fetch each result, and the task ends then. It is one slot, and none but the first has time of its own beside that. */
static void results_on_their_way_take_no_slot(void **state)
{
    (void)state;
    add_application(0, 100000);
    add_executor(1, "1", 1, 500, UNKNOWN);
    add_executor(2, "2", 1, 500, UNKNOWN);
    add_stage(1, 0, 0, 15, 900, 80000, 2);
    for (int64_t i = 0; i < 10; i++)
        add_task(1, i, i, 1, 1000 + 1000 * i, 4000 + 1000 * i)->getting_result_ms = 2000 + 1000 * i;
    for (int64_t i = 10; i < 15; i++) /* five at once, none of them fetched: more slots than cores */
        add_task(1, i, i, 2, 1000, 11000);
    load();
    assert_int_equal(facts.executors[0].slots, 1);
    assert_false(facts.executors[0].slots_inferred);
    assert_int_equal(facts.executors[1].slots, 5);
    assert_true(facts.executors[1].slots_inferred);
    assert_int_equal(facts.slot_peak, 6);
    assert_int_equal(attempt_occupancy_ms(attempt_of(0)), 3000);
    assert_int_equal(attempt_of(1)->begin_ms, 4000);
    assert_int_equal(attempt_occupancy_ms(attempt_of(1)), 1000);
    assert_true(attempt_of(0)->cold && !attempt_of(1)->cold);
    assert_float_equal(facts.overlap_ms, 9 * 2000, 0);
}

static void little_overlap_infers_no_slots(void **state)
{
    (void)state;
    add_application(0, 100000);
    add_executor(1, "1", 1, 500, UNKNOWN);
    add_stage(1, 0, 0, 21, 900, 80000, 2);
    for (int64_t i = 0; i < 21; i++)
        add_task(1, i, i, 1, 1000 + 1000 * i, 2000 + 1000 * i);
    add_task(1, 21, 21, 1, 5000, 6000); /* 1 s of 22 s overlaps: 4.5 % */
    load();
    assert_int_equal(facts.executors[0].slots, 1);
    assert_false(facts.executors[0].slots_inferred);
}

static void tasks_without_an_executor_share_one(void **state)
{
    (void)state;
    add_application(0, 10000);
    add_stage(1, 0, 0, 2, 900, 8000, 2);
    add_task(1, 0, 0, UNKNOWN, 1000, 2000);
    add_task(1, 1, 1, 77, 1500, 2500);
    load();
    assert_int_equal(facts.executor_count, 1);
    assert_int_equal(facts.executors[0].executor_ref, UNKNOWN);
    assert_int_equal(facts.executors[0].slots, 2);
}

/* ---- 3.3 ---- */

static void kinds_of_lost_work(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, 15000);
    add_executor(2, "2", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 8, 900, 12000, 2);
    add_task(1, 0, 0, 1, 1000, 2000);
    fail_task(add_task(1, 1, 1, 1, 1000, 2000), REASON_FETCH);
    fail_task(add_task(1, 2, 1, 1, 2000, 3000), REASON_LOST);
    fail_task(add_task(1, 3, 1, 1, 3000, 4000), REASON_EXCEPTION);
    fail_task(add_task(1, 4, 1, 1, 4000, 5000), REASON_COMMIT_DENIED);
    fail_task(add_task(1, 5, 0, 1, 1500, 2010), REASON_KILLED); /* 0 succeeded: a copy */
    fail_task(add_task(1, 6, 2, 1, 1500, 2010), REASON_KILLED); /* 2 did not */
    add_task(1, 7, 3, 1, 2000, UNKNOWN);                        /* to the stage's end */
    add_task(1, 8, 4, 1, 13000, UNKNOWN);                       /* launched behind it: to the executor's removal */
    add_task(1, 9, 5, 2, 13000, UNKNOWN);                       /* to the application's end */
    load();
    assert_kind(0, WINNER);
    assert_kind(1, LOST_FETCH);
    assert_kind(2, LOST_EXECUTOR);
    assert_kind(3, LOST_FAILED);
    assert_kind(4, LOST_FAILED);
    assert_kind(5, LOST_SPECULATIVE);
    assert_kind(6, LOST_CANCELLED);
    assert_kind(7, LOST_UNFINISHED);
    assert_int_equal(attempt_of(7)->finish_ms, 12000);
    assert_int_equal(attempt_of(8)->finish_ms, 15000);
    assert_int_equal(attempt_of(9)->finish_ms, 20000);
    assert_int_equal(facts.stages[0].winner_count, 1);
    assert_float_equal(facts.stages[0].completeness, 1.0 / 8, 0);
}

/* The application ends with the stage: that the original of index 0 and the copy of index 1 are killed is not logged. Of index 2 an end is missing, and no copy ran. */
static void losers_of_copies_need_no_end(void **state)
{
    (void)state;
    add_application(0, 5000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 3, 900, 4100, 2);
    add_task(1, 0, 0, 1, 1000, UNKNOWN);
    add_task(1, 1, 0, 1, 3000, 4000)->speculative = 1;
    add_task(1, 2, 1, 1, 1000, 4100);
    add_task(1, 3, 1, 1, 3500, UNKNOWN)->speculative = 1;
    add_task(1, 4, 2, 1, 1000, UNKNOWN);
    add_task(1, 5, 2, 1, 2000, 3000);
    load();
    assert_kind(0, LOST_SPECULATIVE);
    assert_kind(1, WINNER);
    assert_kind(2, WINNER);
    assert_kind(3, LOST_SPECULATIVE);
    assert_kind(4, LOST_UNFINISHED);
    assert_kind(5, WINNER);
    assert_int_equal(attempt_of(0)->finish_ms, 4100);
}

static void tasks_of_a_failed_stage_run_on(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 8, 900, 12000, 3);
    add_task(1, 0, 3, 1, 2000, UNKNOWN);
    fail_task(add_task(1, 1, 4, 1, 2000, 3000), REASON_EXCEPTION);
    load();
    assert_int_equal(attempt_of(0)->finish_ms, 20000);
    assert_float_equal(facts.stages[0].completeness, 0.5, 0); /* ends ÷ starts */
}

static void the_first_success_wins_but_for_recomputed_ones(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 3, 900, 12000, 2);
    add_stage(2, 0, 1, 1, 12100, 14000, 2);
    add_task(1, 0, 0, 1, 1000, 2000);
    add_task(1, 1, 0, 1, 1500, 2100)->speculative = 1; /* too late */
    add_task(1, 2, 1, 1, 1000, 2000);
    add_task(1, 3, 1, 1, 3000, 4000); /* launched again after a success: it was resubmitted */
    add_task(1, 4, 2, 1, 1000, 2000);
    add_task(2, 5, 0, 1, 12200, 13000)->partition_id = 2; /* partition 2 again, with another index, in the next attempt */
    load();
    assert_kind(0, WINNER);
    assert_kind(1, LOST_SPECULATIVE);
    assert_kind(2, LOST_RECOMPUTED);
    assert_kind(3, WINNER);
    assert_kind(4, LOST_RECOMPUTED);
    assert_kind(5, WINNER);
    assert_int_equal(facts.stages[0].winner_count, 2);
    assert_int_equal(facts.stages[1].winner_count, 1);
    assert_int_equal(facts.stages[0].seen_success, 3);
    assert_float_equal(facts.stages[1].completeness, 1, 0);
}

static void without_partition_ids_later_attempts_are_other_work(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 1, 900, 12000, 2);
    add_stage(2, 0, 1, 1, 12100, 14000, 2);
    add_task(1, 0, 0, 1, 1000, 2000)->partition_id = UNKNOWN;
    add_task(2, 1, 0, 1, 12200, 13000)->partition_id = UNKNOWN;
    load();
    assert_kind(0, WINNER);
    assert_kind(1, WINNER);
}

/* ---- 3.6, 3.8, 6.2 ---- */

static void job_times_that_are_missing_come_from_stages(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_job(0, -1, 0, 1);
    app_sql("UPDATE job SET completion_ms = NULL");
    add_job(1, 9000, 8000, 1);
    add_stage(1, 0, 0, 1, 1000, 2000, 2);
    add_stage(2, 1, 0, 1, 2500, 4000, 2);
    list_stage(0, 0);
    list_stage(0, 1);
    load();
    assert_int_equal(facts.jobs[0].begin_ms, 1000);
    assert_int_equal(facts.jobs[0].end_ms, 4000);
    assert_int_equal(facts.jobs[1].end_ms, 9000); /* ends before it begins: no time, a fault */
    assert_int_equal(facts.clock_faults, 1);
}

static void the_smallest_running_job_owns_a_stage(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_job(0, 1000, 2000, 1);
    add_job(1, 2001, 5000, 1);
    add_job(2, 3000, 9000, 1);
    for (int64_t job = 0; job < 3; job++)
        list_stage(job, 7);
    list_stage(2, 8);
    add_stage(1, 7, 0, 1, 1999, 2000, 2);
    add_stage(2, 7, 1, 1, 2002, 2500, 2); /* job 0 has ended 2 ms ago */
    add_stage(3, 7, 2, 1, 2001, 2500, 2); /* and 1 ms ago: the same moment */
    add_stage(4, 7, 3, 1, 6000, 6500, 2);
    add_stage(5, 7, 4, 1, 15000, 15500, 2);     /* none runs */
    add_stage(6, 8, 0, 1, UNKNOWN, UNKNOWN, 4); /* skipped */
    add_stage(7, 9, 0, 1, 4000, 4500, 2);       /* in no list */
    load();
    const uint32_t owners[] = {0, 1, 0, 2, 0, NO_ENTITY, NO_ENTITY};
    for (size_t i = 0; i < ARRAY_LENGTH(owners); i++)
        assert_int_equal(facts.stages[i].job, owners[i]);
    assert_int_equal(facts.jobs[0].stage_count, 3);
    assert_int_equal(facts.jobs[0].stages[1], 2);
    assert_int_equal(facts.jobs[2].listed_stage_count, 2);
}

static void parents_are_the_attempts_that_ran_before_for_the_same_job(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_job(0, 500, 12000, 1);
    add_job(1, 12500, 19000, 1);
    const struct {
        int64_t ref, id, attempt, submission_ms;
    } stages[] = {{1, 0, 0, 1000}, {2, 0, 1, 3000}, {3, 1, 0, 2000}, {4, 1, 1, 4000}, {5, 2, 0, 13000}, {6, 0, 2, 5000}};
    for (size_t i = 0; i < ARRAY_LENGTH(stages); i++) {
        add_stage(stages[i].ref, stages[i].id, stages[i].attempt, 1, stages[i].submission_ms, stages[i].submission_ms + 900, 2);
        add_task(stages[i].ref, (int64_t)i, 0, 1, stages[i].submission_ms + 10, stages[i].submission_ms + 900);
    }
    list_stage(0, 0);
    list_stage(0, 1);
    list_stage(1, 0);
    list_stage(1, 2);
    app_sql("INSERT INTO stage_parent VALUES (1, 0), (2, 0)");
    load();
    /* Positions: 0.0 0.1 0.2 1.0 1.1 2.0 */
    const struct stage_fact *first = &facts.stages[3], *second = &facts.stages[4], *other = &facts.stages[5];
    assert_int_equal(first->parent_count, 1);
    assert_int_equal(first->parents[0], 0); /* 0.1 and 0.2 were submitted later */
    assert_int_equal(second->parent_count, 2);
    assert_int_equal(second->parents[0], 3); /* its own earlier attempt */
    assert_int_equal(second->parents[1], 1);
    assert_int_equal(other->parent_count, 0); /* stage 0 ran for another job: skipped here */
}

static void cycles_among_parents_do_no_harm(void **state)
{
    (void)state;
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_job(0, 500, 12000, 1);
    for (int64_t i = 0; i < 2; i++) {
        add_stage(i + 1, i, 0, 1, 1000, 2000, 2);
        add_task(i + 1, i, 0, 1, 1000, 2000);
        list_stage(0, i);
    }
    app_sql("INSERT INTO stage_parent VALUES (0, 1), (1, 0), (1, 1)");
    load();
    assert_int_equal(facts.stages[0].parents[0], 1);
    assert_int_equal(facts.stages[1].parent_count, 1); /* never itself */
}

/* ---- Python stages ---- */

static void python_is_known_by_rdds_scopes_and_plan_nodes(void **state)
{
    (void)state;
    add_application(0, 20000);
    for (int64_t i = 0; i < 4; i++)
        add_stage(i + 1, i, 0, 1, 1000, 2000, 2);
    app_sql("INSERT INTO rdd_scope VALUES ('3', 'ArrowEvalPython', NULL), ('4', 'WholeStageCodegen (1)', NULL)");
    app_sql(
        "INSERT INTO rdd (rdd_id, name, scope_id, tracked, unpersisted) VALUES (10, 'PythonRDD', NULL, 0, 0), (11, 'MapPartitionsRDD', '3', 0, 0), (12, 'MapPartitionsRDD', '4', 0, 0)");
    app_sql("INSERT INTO stage_rdd VALUES (1, 0, 12, 0), (1, 1, 10, 0), (2, 0, 11, 0), (3, 0, 12, 0), (4, 0, 12, 0)");
    app_sql("INSERT INTO sql_node VALUES (1, 0, 0, NULL, 'MapInPandas', NULL, NULL, '55 56'), (1, 1, 0, NULL, 'Project', NULL, NULL, '57')");
    app_sql("INSERT INTO stage_accumulable VALUES (3, 0, 57, 'x', NULL, '1', 0, 'sql'), (4, 0, 56, 'x', NULL, '1', 0, 'sql')");
    load();
    assert_true(facts.stages[0].is_python && facts.stages[1].is_python && !facts.stages[2].is_python && facts.stages[3].is_python);
    assert_int_equal(facts.stages[0].rdds[1], 10);
}

/* ---- Reading ---- */

static void add_values(void)
{
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 5, 900, 12000, 2);
    for (int64_t i = 0; i < 5; i++) {
        struct task_cells *task = add_task(1, i, i, 1, 5000 - 1000 * i, 9000);
        task->executor_run_time_ms = 10 * i;
        task->input_bytes = i == 3 ? UNKNOWN : i;
        task->shuffle_local_read_bytes = i == 4 ? UNKNOWN : 100;
        task->shuffle_remote_read_bytes = i;
    }
}

static void assert_values(void)
{
    struct task_values values;
    assert_int_equal(facts_values(&facts, 0, 1U << VALUE_RUN_MS | 1U << VALUE_INPUT_BYTES | 1U << VALUE_SHUFFLE_READ_BYTES | 1U << VALUE_PEAK_MEMORY_BYTES, &values, NULL), ERR_OK);
    assert_int_equal(values.count, 5);
    assert_null(values.of[VALUE_GC_MS]);
    for (size_t i = 0; i < 5; i++) {
        int64_t id = 4 - (int64_t)i; /* the last one added was launched first */
        assert_int_equal(facts.launches[i].task_id, id);
        assert_int_equal(values.of[VALUE_RUN_MS][i], 10 * id);
        assert_int_equal(values.of[VALUE_INPUT_BYTES][i], id == 3 ? UNKNOWN : id);
        assert_int_equal(values.of[VALUE_SHUFFLE_READ_BYTES][i], id == 4 ? 4 : 100 + id);
        assert_int_equal(values.of[VALUE_PEAK_MEMORY_BYTES][i], UNKNOWN);
    }
    task_values_dispose(&values);
}

static void values_come_in_the_order_of_attempts(void **state)
{
    (void)state;
    add_values();
    load();
    assert_values();
}

static void values_of_several_chunks(void **state)
{
    (void)state;
    add_values();
    app_pack_chunks(1);
    assert_int_equal(facts_load(&facts, &app_db, NULL), ERR_OK);
    assert_values();
    facts_dispose(&facts);
    app_sql("UPDATE stage SET task_rows = 1000000"); /* too many for one batch: chunk by chunk */
    assert_int_equal(facts_load(&facts, &app_db, NULL), ERR_OK);
    assert_int_equal(facts.attempt_count, 5);
    app_sql("UPDATE stage SET task_rows = 5");
}

/* Rows come by their ends; the two tasks of id `a` or `b` are launched second and last. */
static void assert_order_of(int64_t a, int64_t b)
{
    const int64_t ids[] = {10, a, 12, b}, rows[] = {2, 0, 3, 1}, launches[] = {1000, 2000, 2000, 4000};
    add_application(0, 20000);
    add_executor(1, "1", 8, 0, UNKNOWN);
    add_stage(1, 0, 0, 4, 900, 12000, 2);
    for (int64_t row = 0; row < 4; row++)
        for (size_t i = 0; i < 4; i++)
            if (rows[i] == row)
                add_task(1, ids[i], (int64_t)i, 1, launches[i], 9000 + row);
    load();
    assert_int_equal(facts.attempt_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(facts.launches[i].task_id, ids[i]);
        assert_int_equal(facts.launches[i].launch_ms, launches[i]);
        assert_int_equal(facts.launches[i].index, i);
        assert_int_equal(facts.attempts[i].row, rows[i]);
        assert_int_equal(facts.attempts[i].finish_ms, 9000 + rows[i]);
    }
}

static void attempts_with_ids_in_a_row(void **state)
{
    (void)state;
    assert_order_of(11, 13);
}

static void attempts_with_gaps_between_ids(void **state)
{
    (void)state;
    assert_order_of(11, 17);
}

static void attempts_with_an_id_twice(void **state)
{
    (void)state;
    assert_order_of(11, 12);
}

/* Enough tasks for a second thread: three executors with one core each, one task after the other, 10 ms each; one in ten failed and has been made again at the end of its executor's row. */
static void many_tasks_have_lanes_and_winners(void **state)
{
    (void)state;
    enum { EACH = 2000, AGAIN = 200 };
    add_application(0, 40000);
    add_stage(1, 0, 0, 3 * EACH, 0, 40000, 2);
    int64_t id = 0;
    for (int64_t e = 0; e < 3; e++)
        add_executor(e + 1, e == 0 ? "1" : e == 1 ? "2" : "3", 1, 0, UNKNOWN);
    for (int64_t i = 0; i < EACH + AGAIN; i++)
        for (int64_t e = 0; e < 3; e++) {
            int64_t index = 3 * (i < EACH ? i : 10 * (i - EACH)) + e;
            struct task_cells *task = add_task(1, id++, index, e + 1, 10 * i, 10 * i + 10);
            task->partition_id = index;
            task->attempt = i >= EACH;
            if (i < EACH && i % 10 == 0) {
                task->status = 2;
                task->end_reason = 1;
            }
        }
    load();
    assert_int_equal(facts.slot_peak, 3);
    assert_true(facts.overlap_ms == 0);
    assert_int_equal(facts.stages[0].winner_count, 3 * EACH);
    size_t winners = 0, cold = 0;
    for (size_t i = 0; i < facts.attempt_count; i++) {
        const struct attempt *attempt = &facts.attempts[i];
        assert_int_equal(facts.launches[i].task_id, i);
        assert_int_equal(attempt->executor, i % 3);
        assert_int_equal(attempt->begin_ms, facts.launches[i].launch_ms);
        assert_int_equal(attempt_occupancy_ms(attempt), 10);
        assert_int_equal(attempt->lane, 0);
        assert_int_equal(attempt->kind, i < 3 * EACH && i / 3 % 10 == 0 ? LOST_FAILED : WINNER);
        winners += attempt->kind == WINNER;
        cold += attempt->cold;
    }
    assert_int_equal(winners, 3 * EACH);
    assert_int_equal(cold, 3); /* the second task of each executor, for the first one failed */
    assert_true(facts.attempts[3].cold && facts.attempts[4].cold && facts.attempts[5].cold);
}

static void columns_of_unequal_length_are_refused(void **state)
{
    (void)state;
    add_values();
    app_pack();
    app_sql("UPDATE task_column SET packed = (SELECT packed FROM task_column WHERE column_id = 2) WHERE column_id = 7");
    app_sql("UPDATE task_column SET packed = x'01000000ffffffff0000000000000000' WHERE column_id = 7");
    struct err err = {0};
    assert_int_equal(facts_load(&facts, &app_db, &err), ERR_CORRUPT);
    app_sql("UPDATE task_column SET packed = x'01000000ffffffff0000000000000000' WHERE column_id = 2");
    assert_int_equal(facts_load(&facts, &app_db, &err), ERR_CORRUPT);
    app_sql("UPDATE task_column SET packed = x'00' WHERE column_id = 2");
    assert_int_equal(facts_load(&facts, &app_db, &err), ERR_CORRUPT);
}

static void an_empty_database_is_an_empty_run(void **state)
{
    (void)state;
    load();
    assert_int_equal(facts.begin_ms, facts.end_ms);
    assert_int_equal(facts.attempt_count, 0);
    assert_int_equal(facts_stage(&facts, 0, 0), NO_ENTITY);
    assert_int_equal(facts_job(&facts, 0), NO_ENTITY);
    assert_int_equal(facts_sql(&facts, 0), NO_ENTITY);
    assert_false(str_known(facts_conf(&facts, "spark.master")));
}

static void texts_are_read_when_they_are_asked_for(void **state)
{
    (void)state;
    app_sql("INSERT INTO text VALUES (5, 'java.io.IOException')");
    load();
    struct str text;
    assert_int_equal(facts_text(&facts, 5, &facts.arena, &text, NULL), ERR_OK);
    assert_true(str_is(text, "java.io.IOException"));
    assert_int_equal(facts_text(&facts, 6, &facts.arena, &text, NULL), ERR_OK);
    assert_false(str_known(text));
    assert_int_equal(facts_text(&facts, UNKNOWN, &facts.arena, &text, NULL), ERR_OK);
    assert_false(str_known(text));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(takes_the_interval_from_the_application),
        TEST(ends_with_the_last_event_where_no_end_was_read),
        TEST(executors_lengthen_a_run_by_a_day_at_most),
        TEST(a_finish_before_the_launch_is_no_time_and_a_clock_fault),
        TEST(times_beyond_all_calendars_are_none),
        TEST(slots_are_cores_over_cpus),
        TEST(the_driver_of_a_local_run_is_its_executor),
        TEST(without_cores_slots_are_the_most_tasks_at_once),
        TEST(lanes_cut_what_overlaps_on_one_core),
        TEST(more_tasks_side_by_side_than_cores_are_more_slots),
        TEST(results_on_their_way_take_no_slot),
        TEST(little_overlap_infers_no_slots),
        TEST(tasks_without_an_executor_share_one),
        TEST(kinds_of_lost_work),
        TEST(losers_of_copies_need_no_end),
        TEST(tasks_of_a_failed_stage_run_on),
        TEST(the_first_success_wins_but_for_recomputed_ones),
        TEST(without_partition_ids_later_attempts_are_other_work),
        TEST(job_times_that_are_missing_come_from_stages),
        TEST(the_smallest_running_job_owns_a_stage),
        TEST(parents_are_the_attempts_that_ran_before_for_the_same_job),
        TEST(cycles_among_parents_do_no_harm),
        TEST(python_is_known_by_rdds_scopes_and_plan_nodes),
        TEST(values_come_in_the_order_of_attempts),
        TEST(values_of_several_chunks),
        TEST(attempts_with_ids_in_a_row),
        TEST(attempts_with_gaps_between_ids),
        TEST(attempts_with_an_id_twice),
        TEST(many_tasks_have_lanes_and_winners),
        TEST(columns_of_unequal_length_are_refused),
        TEST(an_empty_database_is_an_empty_run),
        TEST(texts_are_read_when_they_are_asked_for),
    };
    return cmocka_run_group_tests(tests, app_open, app_close);
}
