/* SPDX-License-Identifier: Apache-2.0 */
#include "v1_store.h"

#define A "/api/v1/applications/a"

static void add_executor(const char *values)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO executor (executor_ref, executor_id, announced, superseded, active, host, host_port, add_ms, remove_ms, remove_reason, excluded_in_stages, is_excluded, "
             "peaks_set, active_tasks, failed_tasks, completed_tasks, total_tasks, total_duration_ms, total_gc_time_ms, total_input_bytes, total_shuffle_read_bytes, "
             "total_shuffle_write_bytes, task_count, failed_task_count, killed_task_count, task_time_ms, rdd_blocks, memory_used_bytes, disk_used_bytes) "
             "VALUES (%s, 1, 2, 3, 6, 700, 70, 8, 9, 10, 0, 0, 0, 0, 11, 12, 13)",
             values);
    app_sql("a", sql);
}

static int make_executors(void **state)
{
    make_store(state);
    add_app("a");
    add_executor("1, 'driver', 1, 0, 1, 'h0', 'h0:1', 900, NULL, NULL, '', 0, 0");
    add_executor("2, '1', 1, 1, 0, 'h1', 'h1:1', 1000, 1500, 'lost', '', 0, 0");                /* came back */
    add_executor("3, '1', 1, 0, 1, 'h1', NULL, 1600, NULL, NULL, '3 12', 1, 1");
    add_executor("4, '2', 1, 0, 0, 'h1', 'h1:2', NULL, 1700, NULL, '', 0, 0");                  /* removed */
    add_executor("5, '10', 1, 0, 1, 'h1', 'h1:3', 1000, NULL, NULL, '', 0, 0");
    add_executor("6, 'fallback', 1, 0, 1, NULL, NULL, NULL, NULL, NULL, '', 0, 0");
    add_executor("7, '9', 0, 0, 1, NULL, NULL, NULL, NULL, NULL, '', 0, 0");                    /* only tasks speak of it */
    return 0;
}

static void executors_are_listed_by_their_ids_as_text(void **state)
{
    (void)state;
    assert_column(A "/executors", "id", "[\"driver\",\"10\",\"1\"]");
    assert_column(A "/allexecutors", "id", "[\"1\",\"10\",\"2\",\"driver\"]");
}

static void an_executor_has_sparks_fields(void **state)
{
    (void)state;
    app_sql("a", "UPDATE executor SET max_on_heap_memory_bytes = 20, max_off_heap_memory_bytes = 0, on_heap_used_bytes = 5, peak_total_gc_time_ms = 4, total_cores = 2, "
            "max_tasks = 2 "
                 "WHERE executor_ref = 3;"
                 "INSERT INTO owner_map VALUES (0, 3, 0, 0, 'stdout', 'u'), (0, 3, 1, 0, 'USER', 'x'), (0, 3, 2, 0, 'gpu', '[\"0\",\"1\"]'), (0, 3, 2, 1, 'odd', 'no json'), "
                 "(1, 3, 0, 0, 'stdout', 'of a process')");
    const char *e = A "/allexecutors";
    assert_values(e, {"0.hostPort", "\"h1\""}, {"0.addTime", "\"1970-01-01T00:00:01.600GMT\""}, {"0.totalCores", "2"}, {"0.activeTasks", "1"},
                  {"0.failedTasks", "2"}, {"0.completedTasks", "3"}, {"0.totalTasks", "6"}, {"0.totalDuration", "700"}, {"0.totalGCTime", "70"},
                  {"0.rddBlocks", "11"}, {"0.memoryUsed", "12"}, {"0.isExcluded", "true"}, {"0.isBlacklisted", "true"}, {"0.excludedInStages", "[3,12]"},
                  {"0.blacklistedInStages", "[3,12]"}, {"0.executorLogs", "{\"stdout\":\"u\"}"}, {"0.attributes", "{\"USER\":\"x\"}"},
                  {"0.resources", "{\"gpu\":{\"name\":\"gpu\",\"addresses\":[\"0\",\"1\"]},\"odd\":{\"name\":\"odd\",\"addresses\":[]}}"});
    assert_value(e, "0.memoryMetrics",
                 "{\"usedOnHeapStorageMemory\":5,\"usedOffHeapStorageMemory\":0,\"totalOnHeapStorageMemory\":20,\"totalOffHeapStorageMemory\":0}");
    assert_value(e, "0.peakMemoryMetrics.TotalGCTime", "4");
    assert_absent(e, "0.removeTime");
    /* The removed one. */
    assert_values(e, {"2.isActive", "false"}, {"2.addTime", "\"1969-12-31T23:59:59.999GMT\""}, {"2.removeTime", "\"1970-01-01T00:00:01.700GMT\""},
                  {"2.removeReason", NULL}, {"2.memoryMetrics", NULL}, {"2.peakMemoryMetrics", NULL});
}

static void the_driver_lasts_as_long_as_the_application(void **state)
{
    (void)state;
    assert_value(A "/executors", "0.totalDuration", "2000");
    assert_value(A "/executors", "0.totalGCTime", "70");
    app_sql("a", "UPDATE executor SET peaks_set = 1, peak_total_gc_time_ms = 33 WHERE executor_id = 'driver'; UPDATE application SET end_ms = NULL, last_event_ms = 2500");
    assert_value(A "/executors", "0.totalDuration", "1500");
    assert_value(A "/executors", "0.totalGCTime", "33");
    app_sql("a", "UPDATE application SET start_ms = NULL");
    assert_value(A "/executors", "0.totalDuration", "700");
}

#define YARN_PATTERN "http://archive.example:9999/{{CLUSTER_ID}}/{{USER}}/{{CONTAINER_ID}}/{{FILE_NAME}}?start=-4096"

static void make_attributes(void)
{
    app_sql("a", "INSERT INTO owner_map VALUES (0, 3, 0, 0, 'stdout', 'http://node:8042/old'), (0, 3, 1, 0, 'CLUSTER_ID', 'east'), (0, 3, 1, 1, 'USER', 'ann b/c'), "
                 "(0, 3, 1, 2, 'CONTAINER_ID', 'container_1_2'), (0, 3, 1, 3, 'LOG_FILES', 'stdout,stderr'), (0, 5, 0, 0, 'stderr', 'http://node:8042/other')");
}

/* spec/core.md §3.9, spec/files.md §5.5 */
static void addresses_of_logs_are_made_from_the_pattern(void **state)
{
    (void)state;
    const char *e = A "/allexecutors";
    make_attributes();
    settings.log_addresses.pattern = YARN_PATTERN;
    /* Values go in as they are: the History Server encodes nothing. */
    assert_values(e, {"0.executorLogs", "{\"stdout\":\"http://archive.example:9999/east/ann b/c/container_1_2/stdout?start=-4096\","
                                        "\"stderr\":\"http://archive.example:9999/east/ann b/c/container_1_2/stderr?start=-4096\"}"},
                  {"0.attributes.LOG_FILES", "\"stdout,stderr\""}, {"1.executorLogs", "{\"stderr\":\"http://node:8042/other\"}"}, {"2.executorLogs", "{}"});
    settings.log_addresses.pattern = "http://x/{{USER}}/{{ USER }}/{{USER}/{{}}/{{{USER}}}/{{CLUSTER_ID}}";
    assert_value(e, "0.executorLogs", "{\"log\":\"http://x/ann b/c/{{ USER }}/{{USER}/{{}}/{ann b/c}/east\"}");
    settings.log_addresses.pattern = "http://x/{{LOG_FILES}}";           /* is not for the address */
    assert_value(e, "0.executorLogs", "{\"stdout\":\"http://node:8042/old\"}");
    settings.log_addresses.pattern = "http://x/{{user}}";
    assert_value(e, "0.executorLogs", "{\"stdout\":\"http://node:8042/old\"}");
    settings.log_addresses.pattern = "http://x/fixed";
    assert_value(e, "1.executorLogs", "{\"log\":\"http://x/fixed\"}");
}

static void files_of_the_pattern_are_split_as_java_does(void **state)
{
    (void)state;
    const char *e = A "/allexecutors";
    make_attributes();
    settings.log_addresses.pattern = "{{FILE_NAME}}!";
    app_sql("a", "UPDATE owner_map SET value = 'a,,b,a,,' WHERE name = 'LOG_FILES'");
    assert_value(e, "0.executorLogs", "{\"a\":\"a!\",\"\":\"!\",\"b\":\"b!\"}");
    app_sql("a", "UPDATE owner_map SET value = ',,' WHERE name = 'LOG_FILES'");
    assert_value(e, "0.executorLogs", "{}");
    app_sql("a", "UPDATE owner_map SET value = '' WHERE name = 'LOG_FILES'");
    assert_value(e, "0.executorLogs", "{\"\":\"!\"}");
    app_sql("a", "DELETE FROM owner_map WHERE name = 'LOG_FILES'");
    assert_value(e, "0.executorLogs", "{\"stdout\":\"http://node:8042/old\"}");
}

static void addresses_of_logs_are_bounded(void **state)
{
    (void)state;
    make_attributes();
    settings.log_addresses.pattern = "{{USER}}{{FILE_NAME}}";
    app_sql("a", "UPDATE owner_map SET value = (WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT group_concat(i) FROM n) WHERE name = 'LOG_FILES'");
    struct answer answer = ask(A "/executors");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetArrayItem(answer.json, 2), "executorLogs")), 100);
    forget(&answer);
    app_sql("a", "UPDATE owner_map SET value = printf('%.16384c', 'x') WHERE name = 'USER'");
    assert_value(A "/executors", "2.executorLogs", "{}");
}

static void runs_that_have_not_ended_may_keep_their_addresses(void **state)
{
    (void)state;
    make_attributes();
    settings.log_addresses = (struct log_address_settings){.pattern = "http://x/{{USER}}", .complete_only = true};
    app_sql("a", "UPDATE log_health SET complete = 0");
    assert_value(A "/executors", "2.executorLogs", "{\"stdout\":\"http://node:8042/old\"}");
    app_sql("a", "UPDATE log_health SET complete = 1");
    assert_value(A "/executors", "2.executorLogs", "{\"log\":\"http://x/ann b/c\"}");
    settings.log_addresses.complete_only = false;
    app_sql("a", "UPDATE log_health SET complete = 0");
    assert_value(A "/executors", "2.executorLogs", "{\"log\":\"http://x/ann b/c\"}");
}

static void other_processes_are_listed(void **state)
{
    (void)state;
    add_app("a");
    app_sql("a", "INSERT INTO process (rowid, process_id, add_ms, host_port, total_cores) VALUES (4, 'yarn-am', 1000, 'h:1', 1), (5, 'am2', NULL, NULL, NULL);"
                 "INSERT INTO owner_map VALUES (1, 4, 0, 0, 'stdout', 'u')");
    assert_answer(A "/allmiscellaneousprocess",
                  "[{\"id\":\"am2\",\"hostPort\":\"\",\"isActive\":true,\"totalCores\":0,\"addTime\":\"1969-12-31T23:59:59.999GMT\",\"processLogs\":{}},"
                  "{\"id\":\"yarn-am\",\"hostPort\":\"h:1\",\"isActive\":true,\"totalCores\":1,\"addTime\":\"1970-01-01T00:00:01.000GMT\",\"processLogs\":{\"stdout\":\"u\"}}]");
}

static void thread_dumps_are_refused_in_sparks_words(void **state)
{
    (void)state;
    add_app("a");
    assert_refused(A "/executors/driver/threads", 503, "Thread dumps not available through the history server.");
    assert_refused(A "/executors/12/threads", 503, "Thread dumps not available through the history server.");
    assert_refused(A "/executors/x/threads", 400, "Invalid executorId: neither 'driver' nor number.");
    assert_refused(A "/threads?taskId=0&executorId=driver", 503, "Thread dumps not available through the history server.");
    assert_refused(A "/threads?taskId=0&executorId=x", 400, "Invalid executorId: neither 'driver' nor number.");
    assert_refused(A "/threads", 400, "The parameters \"taskId\" and \"executorId\" are needed.");
    assert_refused("/api/v1/applications/b/executors/driver/threads", 404, "no such app: b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILLED_STORE_TEST(executors_are_listed_by_their_ids_as_text, make_executors),
        FILLED_STORE_TEST(an_executor_has_sparks_fields, make_executors),
        FILLED_STORE_TEST(the_driver_lasts_as_long_as_the_application, make_executors),
FILLED_STORE_TEST(addresses_of_logs_are_made_from_the_pattern, make_executors),
FILLED_STORE_TEST(files_of_the_pattern_are_split_as_java_does, make_executors),
FILLED_STORE_TEST(addresses_of_logs_are_bounded, make_executors),
FILLED_STORE_TEST(runs_that_have_not_ended_may_keep_their_addresses, make_executors),
        STORE_TEST(other_processes_are_listed),
        STORE_TEST(thread_dumps_are_refused_in_sparks_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
