/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "v1_store.h"

#define T "/api/v1/applications/a/stages/0/0"

/* The worked trace of spec/core.md 8.6: seven ended tasks launched at 2000, deserialised in 1 ms; t0 … t3 worked, t4 and t6 failed, t5 failed without metrics. */
static int make_seven_tasks(void **state)
{
    make_store(state);
    add_app("a");
    add_stage("a", 1, 0, 0, 2, 7, 1, 7);
    app_sql("a", "INSERT INTO host VALUES (1, 'h1');"
                 "INSERT INTO text VALUES (1, 'boom');"
                 "INSERT INTO task (task_seq, stage_ref, task_id, task_index, attempt, host_ref, launch_ms, finish_ms, locality, status, end_reason, error_text_id, "
                 "start_seen, has_metrics, "
                 "executor_deserialize_time_ms, executor_run_time_ms) VALUES "
                 "(1, 1, 0, 0, 0, 1, 2000, 2100, 0, 1, 0, NULL, 1, 1, 1, 90), (2, 1, 4, 4, 0, 1, 2000, 2900, 0, 2, 3, 1, 1, 1, 1, 850),"
                 "(3, 1, 1, 1, 0, 1, 2000, 2200, 0, 1, 0, NULL, 1, 1, 1, 180), (4, 1, 2, 2, 0, 1, 2000, 2300, 0, 1, 0, NULL, 1, 1, 1, 250),"
                 "(5, 1, 5, 5, 0, 1, 2000, 2050, 0, 2, 3, 1, 1, 0, NULL, NULL), (6, 1, 3, 3, 0, 1, 2000, 2400, 0, 1, 0, NULL, 1, 1, 1, 390),"
                 "(7, 1, 6, 6, 0, 1, 2000, 2500, 0, 2, 3, 1, 1, 1, 1, 450);");
    return 0;
}

static void run_times_sort_as_spark_codes_them(void **state)
{
    (void)state;
    assert_column(T "/taskList", "taskId", "[0,1,2,3,4,5,6]");
    assert_column(T "/taskList?sortBy=id", "taskId", "[0,1,2,3,4,5,6]");
    assert_column(T "/taskList?sortBy=runtime", "taskId", "[4,6,5,0,1,2,3]");
    assert_column(T "/taskList?sortBy=INCREASING_RUNTIME", "taskId", "[4,6,5,0,1,2,3]");
    assert_column(T "/taskList?sortBy=-runtime", "taskId", "[3,2,1,0,5,6,4]");
    assert_column(T "/taskList?sortBy=-runtime&offset=3&length=2", "taskId", "[0,5]");
    assert_page_not_found(T "/taskList?sortBy=-ID");
}

static void quantiles_index_by_successful_tasks(void **state)
{
    (void)state;
    const char *q = T "/taskSummary?quantiles=0,0.25,0.5,0.75,1";
    assert_values(q, {"executorRunTime", "[90,180,250,390,390]"}, {"duration", "[50,100,200,300,300]"}, {"schedulerDelay", "[9,9,19,49,49]"},
                  {"gettingResultTime", "[0,0,0,0,0]"}, {"shuffleReadMetrics.shufflePushReadMetricsDist.remoteMergedReqsDuration", "[0,0,0,0,0]"});
    assert_value(T "?withSummaries=true&details=false", "taskMetricsDistributions.duration", "[50,100,200,300,300]");
    assert_value(T "/taskSummary", "quantiles", "[0.05,0.25,0.5,0.75,0.95]");
}

static void quantile_texts_are_read_as_java_reads_doubles(void **state)
{
    (void)state;
    assert_value(T "/taskSummary?quantiles=0.75,%200.5d%20,1e-1", "quantiles", "[0.1,0.5,0.75]");
    assert_value(T "/taskSummary?quantiles=0.5,,", "quantiles", "[0.5]");
    assert_value(T "/taskSummary?quantiles=,", "quantiles", "[]");
    assert_value(T "/taskSummary?quantiles=NaN,2,-1", "quantiles", "[-1.0,2.0,\"NaN\"]");
    assert_value(T "/taskSummary?quantiles=NaN,2,-1", "executorRunTime", "[90,390,90]");
    assert_refused(T "/taskSummary?quantiles=foo,0.1", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"foo\"");
    assert_refused(T "/taskSummary?quantiles=", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"\"");
    assert_refused(T "/taskSummary?quantiles=0.1,,0.2", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"\"");
    assert_refused(T "/taskSummary?quantiles=0.5%200.6", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"0.5 0.6\"");
    assert_refused(T "/taskSummary?quantiles=1e,", 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"1e\"");
}

static void many_quantiles_are_the_same_as_few(void **state)
{
    (void)state;
    assert_value(T "/taskSummary?quantiles=0,0,0,0,0,0,0,0,0,0,0,0,0,0.25,0.5,0.75,1,1,1", "executorRunTime",
                 "[90,90,90,90,90,90,90,90,90,90,90,90,90,180,250,390,390,390,390]");
}

/* Clock steps: negative durations are not in the index, so that it may end before the rank; the same rank asked again repeats the value before. */
static void ranks_beyond_the_values_are_not_numbers(void **state)
{
    (void)state;
    add_app("a");
    add_stage("a", 1, 0, 0, 2, 3, 1, 3);
    app_sql("a", "INSERT INTO task (task_seq, stage_ref, task_id, status, end_reason, start_seen, has_metrics, launch_ms, finish_ms) VALUES "
                 "(1, 1, 0, 1, 0, 1, 1, 1000, 1010), (2, 1, 1, 1, 0, 1, 1, 1000, 1020), (3, 1, 2, 1, 0, 1, 1, 1000, 900)");
    assert_value(T "/taskSummary?quantiles=0,0.5,0.9,1", "duration", "[10,20,\"NaN\",20]");
    assert_absent(T "/taskList?offset=2", "0.duration");
}

static void stored_quantiles_are_taken_only_where_they_are_the_same(void **state)
{
    (void)state;
    /* Numbers that no task has show where an answer comes from. */
    app_sql("a", "INSERT INTO stage_quantile VALUES (1, 'executor_run_time_ms', 4, 1, 2, 3, 4, 5, 6, 7, 8, 36), (1, 'input_bytes', 3, 1, 2, 3, 4, 5, 6, 7, 8, 36),"
                 "(1, 'duration_ms', 4, 1, 2, 3, 4, 5, 6, 7, 8, 36)");
    assert_value(T "/taskSummary?quantiles=0,0.05,0.25,0.5,0.75,0.95,0.99,1", "executorRunTime", "[1,2,3,4,5,6,7,8]");
    assert_value(T "/taskSummary?quantiles=0,0.5", "inputMetrics.bytesRead", "[0,0]");      /* a successful task lacks it */
    assert_value(T "/taskSummary?quantiles=0,0.5", "duration", "[50,200]");                 /* failed tasks count too */
    assert_value(T "/taskSummary?quantiles=0,0.51", "executorRunTime", "[90,250]");         /* a quantile that is not stored */
}

static void a_stage_without_a_success_has_no_summary(void **state)
{
    (void)state;
    add_app("a");
    add_stage("a", 1, 0, 0, 3, 1, 1, 1);
    app_sql("a", "INSERT INTO task (task_seq, stage_ref, task_id, status, end_reason, start_seen, has_metrics) VALUES (1, 1, 0, 2, 3, 1, 1)");
    assert_refused(T "/taskSummary", 404, "No tasks reported metrics for 0 / 0 yet.");
    assert_refused("/api/v1/applications/a/stages/9/1/taskSummary", 404, "No tasks reported metrics for 9 / 1 yet.");
    assert_answer("/api/v1/applications/a/stages/9/1/taskList", "[]");
}

static void pages_follow_sparks_rules_for_odd_bounds(void **state)
{
    (void)state;
    assert_column(T "/taskList?offset=-3&length=2", "taskId", "[0,1]");
    assert_answer(T "/taskList?offset=100", "[]");
    assert_column(T "/taskList?length=2147483647&offset=5", "taskId", "[5,6]");
    assert_refused(T "/taskList?length=0", 400, "Bad value for parameter \"length\".  Expected a number above 0, got \"0\"");
    assert_page_not_found(T "/taskList?length=x");
    assert_page_not_found(T "/taskList?offset=99999999999");
    assert_column(T "/taskList?status=failed&status=KILLED", "taskId", "[4,5,6]");
    assert_column(T "/taskList?status=success&sortBy=runtime&offset=1&length=2", "taskId", "[1,2]");
    assert_column(T "/taskList?status=success&offset=-1&length=2", "taskId", "[0]");
    assert_answer(T "/taskList?status=success&length=0", "[]");
    assert_answer(T "/taskList?status=unknown", "[]");
    assert_page_not_found(T "/taskList?status=bogus");
}

/* spec/core.md §2.7: then the time goes on until now. */
static void fetching_lasts_where_a_task_has_no_duration(void **state)
{
    (void)state;
    add_app("a");
    add_stage("a", 1, 0, 0, 2, 2, 1, 2);
    app_sql("a", "INSERT INTO task (task_seq, stage_ref, task_id, task_index, attempt, launch_ms, finish_ms, getting_result_ms, status, end_reason, start_seen, has_metrics) VALUES "
                 "(1, 1, 0, 0, 0, 2000, 2000, 1900, 1, 0, 1, 1), (2, 1, 1, 0, 0, 2000, 2000, NULL, 1, 0, 1, 1)");
    int64_t before = time_now_ms();
    struct answer answer = ask(T "/taskList");
    double fetching_ms = cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetArrayItem(answer.json, 0), "gettingResultTime"));
    assert_true(fetching_ms >= (double)(before - 1900) && fetching_ms <= (double)(time_now_ms() - 1900));
    forget(&answer);
    assert_values(T "/taskList", {"0.duration", NULL}, {"0.schedulerDelay", "0"}, {"1.gettingResultTime", "0"});
}

static void a_task_has_sparks_fields(void **state)
{
    (void)state;
    add_app("a");
    add_stage("a", 1, 0, 0, 2, 3, 1, 3);
    add_idle_executor("a", 1, "1", 1, 0);
    add_idle_executor("a", 2, "1", 0, 1);
    app_sql("a", "INSERT INTO host VALUES (1, 'h1'); INSERT INTO text VALUES (1, 'boom');"
                 "INSERT INTO owner_map VALUES (0, 1, 0, 0, 'stdout', 'old'), (0, 2, 0, 0, 'stdout', 'new');"
                 "INSERT INTO task (task_seq, stage_ref, task_id, task_index, attempt, partition_id, executor_ref, host_ref, launch_ms, finish_ms, getting_result_ms, locality, "
                 "speculative, status, end_reason, error_text_id, start_seen, has_metrics, executor_run_time_ms, shuffle_write_time_ns) VALUES "
                 "(1, 1, 5000000000, 3, 2, 7, 1, 1, 2000, 2500, 2400, 4, 1, 1, 0, NULL, 1, 1, 300, 77), ("
                 "2, 1, 5000000001, 0, NULL, NULL, NULL, NULL, 2000, NULL, NULL, NULL, NULL, 0, "
                 "NULL, NULL, 1, 0, NULL, NULL), (3, 1, 5000000002, 0, 0, 0, 1, 1, 2000, NULL, 2100, 1, 0, 4, NULL, NULL, 1, 0, NULL, NULL);"
                 "INSERT INTO task_accumulable VALUES (1, 0, 9, 'mine', '1', '2'), (1, 1, 10, NULL, NULL, '3');");
    const char *done = T "/taskList?length=1";
    assert_values(done, {"0.taskId", "5000000000"}, {"0.index", "3"}, {"0.attempt", "2"}, {"0.partitionId", "7"},
                  {"0.resultFetchStart", "\"1970-01-01T00:00:02.400GMT\""}, {"0.duration", "500"}, {"0.gettingResultTime", "100"}, {"0.schedulerDelay", "100"},
                  {"0.taskLocality", "\"ANY\""}, {"0.speculative", "true"}, {"0.host", "\"h1\""}, {"0.executorLogs", "{\"stdout\":\"new\"}"},
                  {"0.accumulatorUpdates", "[{\"id\":9,\"name\":\"mine\",\"update\":\"1\",\"value\":\"2\"},{\"id\":10,\"value\":\"3\"}]"},
                  {"0.taskMetrics.executorRunTime", "300"}, {"0.taskMetrics.shuffleWriteMetrics.writeTime", "77"});
    settings.log_addresses.pattern = "http://x/fixed";           /* of the executor, also where a task shows them */
    assert_value(done, "0.executorLogs", "{\"log\":\"http://x/fixed\"}");
    /* A running task of a log that has ended lasts until the log's modification time, 50000 in this store. */
    const char *open = T "/taskList?offset=1";
    assert_values(open, {"0.status", "\"RUNNING\""}, {"0.attempt", "1"}, {"0.partitionId", "-1"}, {"0.duration", "48000"}, {"0.taskMetrics", NULL},
                  {"0.resultFetchStart", NULL}, {"1.status", "\"GET RESULT\""}, {"1.gettingResultTime", "47900"}, {"1.schedulerDelay", "0"});
    assert_answer(T "/taskList?status=killed", "[]");
    assert_column(T "/taskList?status=running", "taskId", "[5000000001]");
    app_sql("a", "UPDATE log_health SET complete = 0");
    assert_value(open, "0.duration", "58000");                           /* else until it was loaded */
}

static void execution_memory_is_hidden_where_sparks_reader_has_none(void **state)
{
    (void)state;
    app_sql("a", "UPDATE task SET peak_execution_memory_bytes = 5; UPDATE stage SET peak_execution_memory_bytes = 35");
    assert_value(T "/taskList", "0.taskMetrics.peakExecutionMemory", "5");
    assert_value(T "", "peakExecutionMemory", "35");
    assert_value(T "/taskSummary?quantiles=0.5", "peakExecutionMemory", "[5]");
    app_sql("a", "UPDATE application SET spark_version = '2.4.8'");
    assert_value(T "/taskList", "0.taskMetrics.peakExecutionMemory", "0");
    assert_value(T "", "peakExecutionMemory", "0");
    assert_value(T "/taskSummary?quantiles=0.5", "peakExecutionMemory", "[0]");
}

static void doubles_are_printed_as_java_prints_them(void **state)
{
    (void)state;
    add_app("a");
    add_stage("a", 1, 0, 0, 2, 1, 1, 1);
    app_sql("a", "INSERT INTO task (task_seq, stage_ref, task_id, status, end_reason, start_seen, has_metrics, launch_ms, finish_ms, input_bytes, output_bytes) "
                 "VALUES (1, 1, 0, 1, 0, 1, 1, 0, 9999999, 47496000, 10000000)");
    struct answer answer = ask(T "/taskSummary?quantiles=0.001,0.00025");
    assert_non_null(strstr(answer.text, "\"quantiles\" : [ 2.5E-4, 0.001 ]"));
    assert_non_null(strstr(answer.text, "\"duration\" : [ 9999999.0, 9999999.0 ]"));
    assert_non_null(strstr(answer.text, "\"bytesRead\" : [ 4.7496E7, 4.7496E7 ]"));
    assert_non_null(strstr(answer.text, "\"bytesWritten\" : [ 1.0E7, 1.0E7 ]"));
    assert_non_null(strstr(answer.text, "\"resultSize\" : [ 0.0, 0.0 ]"));
    forget(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILLED_STORE_TEST(run_times_sort_as_spark_codes_them, make_seven_tasks),
        FILLED_STORE_TEST(quantiles_index_by_successful_tasks, make_seven_tasks),
        FILLED_STORE_TEST(quantile_texts_are_read_as_java_reads_doubles, make_seven_tasks),
        FILLED_STORE_TEST(many_quantiles_are_the_same_as_few, make_seven_tasks),
        STORE_TEST(ranks_beyond_the_values_are_not_numbers),
        FILLED_STORE_TEST(stored_quantiles_are_taken_only_where_they_are_the_same, make_seven_tasks),
        STORE_TEST(a_stage_without_a_success_has_no_summary),
        FILLED_STORE_TEST(pages_follow_sparks_rules_for_odd_bounds, make_seven_tasks),
        STORE_TEST(fetching_lasts_where_a_task_has_no_duration),
        STORE_TEST(a_task_has_sparks_fields),
        FILLED_STORE_TEST(execution_memory_is_hidden_where_sparks_reader_has_none, make_seven_tasks),
        STORE_TEST(doubles_are_printed_as_java_prints_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
