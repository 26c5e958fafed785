/* SPDX-License-Identifier: Apache-2.0 */
#include "v1_store.h"

#define S "/api/v1/applications/a/stages"

/* Stage 1 failed once and then worked; stage 0 was skipped; stage 2 runs. */
static int make_stages(void **state)
{
    make_store(state);
    add_app("a");
    add_stage("a", 10, 0, 0, 4, 0, 0, 0);
    add_stage("a", 11, 1, 0, 3, 2, 1, 3);
    add_stage("a", 12, 1, 1, 2, 1, 2, 2);
    add_stage("a", 13, 2, 0, 1, 0, 0, 0);
    add_idle_executor("a", 1, "1", 0, 1);
    app_sql("a", "INSERT INTO text VALUES (1, 'because'), (2, 'at a:1'), (3, 'another attempt succeeded');"
                 "UPDATE stage SET failure_text_id = 1, details_text_id = 2, name = 'map', description = 'd', pool = 'p', submission_ms = 1000, completion_ms = 3000, "
                 "first_task_launch_ms = 1500, failed_tasks = 1, killed_tasks = 1, num_tasks = 2, shuffle_remote_read_bytes = 7, shuffle_local_read_bytes = 4, "
                 "peaks_set = 1, peak_jvm_heap_memory_bytes = 42, speculative_tasks = 1, speculative_killed = 1 WHERE stage_ref = 11;"
                 "UPDATE stage SET complete_tasks = 1 WHERE stage_ref = 12; UPDATE stage SET active_tasks = 1, num_tasks = 3 WHERE stage_ref = 13;"
                 "INSERT INTO stage_rdd VALUES (11, 0, 9, 0), (11, 1, 3, 0);"
                 "INSERT INTO stage_accumulable VALUES (11, 0, 100, 'mine', NULL, '5', 0, NULL), (11, 1, 101, 'rows', NULL, '6', 0, 'sql'), (11, 2, 102, 'x', NULL, '7', 1, NULL);"
                 "INSERT INTO kill_reason VALUES (1, 11, 3, 1, 0);"
                 "INSERT INTO executor_stage (stage_ref, executor_id, task_time_ms, failed_tasks, succeeded_tasks, killed_tasks, is_excluded, peaks_set, "
                 "shuffle_remote_read_bytes) "
                 "VALUES (11, '1', 30, 1, 0, 1, 1, 0, 7), (11, '2', 10, 0, 0, 0, 0, 0, NULL);"
                 "INSERT INTO task (task_seq, stage_ref, task_id, task_index, status, start_seen, has_metrics, launch_ms, finish_ms, executor_ref, error_text_id, "
                 "end_reason) VALUES "
                 "(1, 11, 20, 0, 2, 1, 0, 1500, 1600, 1, 1, 3), (2, 12, 22, 0, 1, 1, 1, 2000, 2100, 1, NULL, 0), (3, 11, 21, 1, 3, 1, 0, 1500, 1600, 1, 3, 5);");
    return 0;
}

static void stages_come_newest_first_and_by_status(void **state)
{
    (void)state;
    assert_column(S, "stageId", "[2,1,1,0]");
    assert_column(S, "attemptId", "[0,1,0,0]");
    assert_column(S, "status", "[\"ACTIVE\",\"COMPLETE\",\"FAILED\",\"SKIPPED\"]");
    assert_column(S "?status=failed&status=SKIPPED", "stageId", "[1,0]");
    assert_answer(S "?status=pending", "[]");
    assert_page_not_found(S "?status=bogus");
    assert_column(S "/1", "attemptId", "[0,1]");
}

static void a_stage_has_sparks_fields(void **state)
{
    (void)state;
    assert_values(S "/1/0", {"name", "\"map\""}, {"details", "\"at a:1\""}, {"schedulingPool", "\"p\""}, {"failureReason", "\"because\""},
                  {"firstTaskLaunchedTime", "\"1970-01-01T00:00:01.500GMT\""}, {"shuffleReadBytes", "11"}, {"shuffleRemoteBytesRead", "7"}, {"executorRunTime", "0"},
                  {"rddIds", "[9,3]"}, {"accumulatorUpdates", "[{\"id\":100,\"name\":\"mine\",\"value\":\"5\"}]"},
                  {"killedTasksSummary", "{\"another attempt succeeded\":1}"}, {"peakExecutorMetrics.JVMHeapMemory", "42"},
                  {"peakExecutorMetrics.ConcurrentGCTime", "0"});
    /* What another stage does not have. */
    assert_values(S "/0/0", {"schedulingPool", "\"default\""}, {"details", "\"\""}, {"submissionTime", NULL}, {"failureReason", NULL}, {"description", NULL},
                  {"peakExecutorMetrics", NULL}, {"isShufflePushEnabled", "false"});
}

static void details_show_tasks_executors_and_speculation(void **state)
{
    (void)state;
    assert_values(S "/1/0", {"tasks.20.status", "\"FAILED\""}, {"tasks.21.errorMessage", "\"another attempt succeeded\""}, {"tasks.22", NULL},
                  {"executorSummary.1.taskTime", "30"}, {"executorSummary.1.shuffleRead", "7"}, {"executorSummary.1.isExcludedForStage", "true"},
                  {"executorSummary.1.peakMemoryMetrics", NULL},
                  {"speculationSummary", "{\"numTasks\":1,\"numActiveTasks\":0,\"numCompletedTasks\":0,\"numFailedTasks\":0,\"numKilledTasks\":1}"});
    assert_values(S "/0/0", {"tasks", "{}"}, {"executorSummary", "{}"}, {"speculationSummary", NULL});
    assert_absent(S "/1/0?details=false", "tasks");
    assert_absent(S "/1/0?details=no", "executorSummary");
    assert_absent(S, "1.tasks");
    assert_value(S "?details=TRUE", "1.tasks.22.status", "\"SUCCESS\"");
}

static void a_task_filter_cuts_tasks_and_in_the_list_stages(void **state)
{
    (void)state;
    assert_absent(S "/1/0?taskStatus=killed", "tasks.20");
    assert_value(S "/1/0?taskStatus=killed", "tasks.21.taskId", "21");
    assert_value(S "/1/0?taskStatus=running", "tasks", "{}");
    assert_column(S "?details=true&taskStatus=killed", "stageId", "[1]");
    assert_column(S "?details=true&taskStatus=SUCCESS&taskStatus=running", "stageId", "[2,1]");
    assert_column(S "?details=true&taskStatus=UNKNOWN", "stageId", "[2]");
    assert_column(S "?taskStatus=killed", "stageId", "[2,1,1,0]");
    assert_page_not_found(S "?taskStatus=pending");
}

static void strewn_tasks_are_found_by_their_column(void **state)
{
    (void)state;
    add_app("a");
    add_stage("a", 1, 0, 0, 1, 2, 1, 9);
    app_sql("a", "INSERT INTO task (task_seq, stage_ref, task_id, status, start_seen, has_metrics, launch_ms) VALUES (1, 1, 50, 0, 1, 0, 100), (5, 7, 51, 0, 1, 0, 100), ("
            "9, 1, 52, 0, 1, 0, 100)");
    assert_values(S "/0/0", {"tasks.50.taskId", "50"}, {"tasks.52.taskId", "52"}, {"tasks.51", NULL});
}

static void unknown_stages_are_refused_in_sparks_words(void **state)
{
    (void)state;
    assert_refused(S "/12345", 404, "unknown stage: 12345");
    assert_refused(S "/12345/0", 404, "unknown stage: 12345");
    assert_refused(S "/1/7", 404, "unknown attempt for stage 1.  Found attempts: [0,1]");
    assert_refused(S "/0/1", 404, "unknown attempt for stage 0.  Found attempts: [0]");
    assert_refused(S "?quantiles=foo", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"foo\"");
    assert_refused(S "/1?quantiles=foo", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"foo\"");
    assert_page_not_found(S "/99999999999");
}

static void summaries_distribute_over_executors(void **state)
{
    (void)state;
    assert_absent(S "/1/0", "executorMetricsDistributions");
    assert_absent(S "/1/0?withSummaries=true", "taskMetricsDistributions");       /* no task succeeded */
    assert_value(S "/1/0?withSummaries=true", "executorMetricsDistributions.taskTime", "[10,10,30,30,30]");
    assert_value(S "/1/0?withSummaries=true&quantiles=0.2,1.0", "executorMetricsDistributions.quantiles", "[0.2,1.0]");
    assert_value(S "/1/0?withSummaries=true&quantiles=0.2,1.0", "executorMetricsDistributions.shuffleRead", "[0,7]");
    assert_value(S "/1/0?withSummaries=true&quantiles=0.5", "executorMetricsDistributions.peakMemoryMetrics.JVMHeapMemory", "[0]");
    assert_absent(S "/0/0?withSummaries=true", "executorMetricsDistributions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILLED_STORE_TEST(stages_come_newest_first_and_by_status, make_stages),
        FILLED_STORE_TEST(a_stage_has_sparks_fields, make_stages),
        FILLED_STORE_TEST(details_show_tasks_executors_and_speculation, make_stages),
        FILLED_STORE_TEST(a_task_filter_cuts_tasks_and_in_the_list_stages, make_stages),
        STORE_TEST(strewn_tasks_are_found_by_their_column),
        FILLED_STORE_TEST(unknown_stages_are_refused_in_sparks_words, make_stages),
        FILLED_STORE_TEST(summaries_distribute_over_executors, make_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
