/* SPDX-License-Identifier: Apache-2.0 */
#include "v1_store.h"

#define SQL "/api/v1/applications/a/sql"
#define TABLE SQL "/sqlTable?"

/* 0: a root with a plan and two sub-executions, 1 (failed) and 2. 3: a sub-execution of one that the log lacks. 4: only a job speaks of it. 5: only its end was read. */
static void add_executions(void)
{
    add_app("a");
    app_sql("a",
            "INSERT INTO text (text_id, body) VALUES (1, 'bad' || char(10) || 'worse'), (2, 'Scan parquet t');"
            "INSERT INTO sql_execution (execution_id, root_execution_id, description, submission_ms, completion_ms, outcome, error_text_id, status, start_seen, end_seen, plan_id, "
            "query_id) VALUES (0, 0, 'count at X', 1000, 3000, 0, NULL, 1, 1, 1, 7, 'q'), (1, 0, 'Load', 1000, 1500, 1, 1, 2, 1, 1, NULL, NULL), "
            "(2, 0, 'load', 2000, 2100, 0, NULL, 1, 1, 1, NULL, NULL), (3, 99, 'orphan', 4000, 4010, NULL, NULL, 1, 1, 1, NULL, NULL), "
            "(4, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL), (5, NULL, NULL, NULL, 5000, 1, 1, 2, 0, 1, NULL, NULL);"
            "INSERT INTO sql_config VALUES (0, 'spark.sql.shuffle.partitions', '7');"
            "INSERT INTO job (job_id, sql_execution_id, status, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, "
            "active_stages, completed_stages, skipped_stages, failed_stages) VALUES (5, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (6, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), "
            "(7, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (8, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (9, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
            "INSERT INTO sql_node (plan_id, node_id, is_cluster, cluster_id, name, description_text_id, accumulator_ids) VALUES (7, 0, 0, NULL, 'CollectLimit', NULL, ''), "
            "(7, 1, 1, NULL, 'WholeStageCodegen (12)', NULL, '30'), (7, 2, 0, 1, 'Scan parquet ', 2, '20 10 40'), (7, 3, 1, NULL, 'WholeStageCodegen', NULL, ''), "
            "(7, 4, 0, 3, 'Filter', NULL, '');"
            "INSERT INTO sql_edge VALUES (7, 0, 2, 0), (7, 1, 4, 2);"
            "INSERT INTO sql_metric (execution_id, accumulator_id, name, metric_type, value_count, raw_count, reported_count, total, min, median, max, max_stage_id, "
            "max_stage_attempt, max_task_id) VALUES (0, 10, ' rows ', 'sum', 2, 2, 2, 1234, 1, 1233, 1233, NULL, NULL, NULL), "
            "(0, 20, 'size', 'size', 1, 1, 1, 2304, 2304, 2304, 2304, NULL, NULL, NULL), (0, 30, 'duration', 'timing', 2, 2, 2, 5, 2, 3, 3, 4, 1, 17), "
            "(0, 40, 'nobody', 'sum', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (1, 20, 'another', 'sum', 1, 1, 1, 9, 9, 9, 9, NULL, NULL, NULL);");
    app_sql("a", "INSERT INTO sql_plan (plan_id, execution_id, version, plan_text_id, graph_plan_id, final, too_large) VALUES (7, 0, 0, NULL, 7, 1, 0)");
}

static void an_execution_has_sparks_fields(void **state)
{
    (void)state;
    add_executions();
    assert_answer(SQL "/0",
                  "{\"id\":0,\"status\":\"COMPLETED\",\"description\":\"count at X\",\"submissionTime\":\"1970-01-01T00:00:01.000GMT\",\"duration\":2000,\"runningJobIds\":[7],"
                  "\"successJobIds\":[5,8],\"failedJobIds\":[6],\"nodes\":[{\"nodeId\":4,\"nodeName\":\"Filter\",\"metrics\":[]},"
                  "{\"nodeId\":3,\"nodeName\":\"WholeStageCodegen\",\"metrics\":[]},"
                  "{\"nodeId\":2,\"nodeName\":\"Scan parquet\",\"wholeStageCodegenId\":12,\"metrics\":[{\"name\":\"size\",\"value\":\"2.3 KiB\"},"
                  "{\"name\":\"rows\",\"value\":\"1,234\"}],"
                  "\"desc\":\"Scan parquet t\"},{\"nodeId\":1,\"nodeName\":\"WholeStageCodegen (12)\",\"metrics\":[{\"name\":\"duration\",\"value\":"
                  "\"total (min, med, max (stageId: taskId))\\n5 ms (2 ms, 3 ms, 3 ms (stage 4.1: task 17))\"}]},{\"nodeId\":0,\"nodeName\":\"CollectLimit\",\"metrics\":[]}],"
                  "\"edges\":[{\"fromId\":2,\"toId\":0},{\"fromId\":4,\"toId\":2}],\"queryId\":\"q\",\"errorMessage\":\"\",\"rootExecutionId\":0,"
                  "\"modifiedConfigs\":{\"spark.sql.shuffle.partitions\":\"7\"}}");
    assert_value(SQL "/1", "errorMessage", "\"bad\\nworse\"");
    assert_value(SQL "/1", "status", "\"FAILED\"");
    assert_absent(SQL "/3", "errorMessage");
    assert_absent(SQL "/0", "planDescription");
    assert_value(SQL "/0?planDescription=false", "planDescription", "\"\"");
    assert_value(SQL "/0?details=false", "nodes", "[]");
    assert_value(SQL "/0?details=false", "edges", "[]");
    assert_refused(SQL "/99", 404, "unknown query execution id: 99");
    assert_refused(SQL "/5", 404, "unknown query execution id: 5");
    assert_page_not_found(SQL "/abc");
    assert_page_not_found(SQL "/99999999999999999999");
}

/* The History Server answers 404 to the whole list then. */
static void an_execution_without_a_plan_has_an_empty_one(void **state)
{
    (void)state;
    add_executions();
    assert_value(SQL "/4", "nodes", "[]");
    assert_value(SQL "/4", "edges", "[]");
    assert_value(SQL "/4", "status", "\"RUNNING\"");
    assert_value(SQL "/4", "submissionTime", "\"1969-12-31T23:59:59.999GMT\"");
    assert_value(SQL "/4", "rootExecutionId", "0");
    assert_value(SQL "/4", "runningJobIds", "[9]");
    assert_absent(SQL "/4", "description");
}

static void the_list_is_cut_as_spark_cuts_it(void **state)
{
    (void)state;
    add_executions();
    assert_column(SQL, "id", "[0,1,2,3,4]");
    assert_column(SQL "?offset=1&length=2", "id", "[1,2]");
    assert_column(SQL "?offset=-5&length=2", "id", "[0,1]");
    assert_column(SQL "?offset=3", "id", "[0,1,2,3,4]");
    assert_column(SQL "?length=0&offset=3", "id", "[0,1,2,3,4]");
    assert_column(SQL "?offset=9&length=2", "id", "[]");
    assert_page_not_found(SQL "?length=x");
    assert_page_not_found(SQL "?offset=x");
}

static void rows_of_the_table(const char *address, const char *ids, int total, int filtered)
{
    struct answer answer = ask(address);
    cJSON *values = cJSON_CreateArray();
    for (const cJSON *row = cJSON_GetObjectItem(answer.json, "aaData")->child; row; row = row->next)
        cJSON_AddItemToArray(values, cJSON_Duplicate(cJSON_GetObjectItem(row, "id"), true));
    assert_json(values, ids);
    assert_int_equal(cJSON_GetObjectItem(answer.json, "recordsTotal")->valueint, total);
    assert_int_equal(cJSON_GetObjectItem(answer.json, "recordsFiltered")->valueint, filtered);
    cJSON_Delete(values);
    forget(&answer);
}

/* 4 has no root of its own in the log, which the History Server takes for 0. */
static void sub_executions_stand_below_their_roots(void **state)
{
    (void)state;
    add_executions();
    rows_of_the_table(TABLE, "[3,0]", 2, 2);
    assert_value(TABLE, "aaData.1.subExecutions.0.id", "1");
    assert_value(TABLE, "aaData.1.subExecutions.1.id", "2");
    assert_value(TABLE, "aaData.1.subExecutions.2.id", "4");
    assert_absent(TABLE, "aaData.1.subExecutions.3");
    assert_absent(TABLE, "aaData.1.subExecutions.0.subExecutions");
    assert_value(TABLE, "aaData.1.jobIds", "[5,8]");
    assert_value(TABLE, "aaData.0.subExecutions", "[]");
    rows_of_the_table(TABLE "groupSubExecution=false", "[4,3,2,1,0]", 5, 5);
    assert_absent(TABLE "groupSubExecution=false", "aaData.0.subExecutions");
}

static void the_table_is_searched_and_its_summary_is_of_what_was_found(void **state)
{
    (void)state;
    add_executions();
    rows_of_the_table(TABLE "search[value]=LOAD", "[2,1]", 2, 2);        /* their root does not fit, so they are rows */
    rows_of_the_table(TABLE "search[value]=fail", "[1]", 2, 1);
    rows_of_the_table(TABLE "search[value]=3", "[3]", 2, 1);
    rows_of_the_table(TABLE "search[value]=%25", "[]", 2, 0);
    rows_of_the_table(TABLE "status=failed", "[1]", 2, 1);
    rows_of_the_table(TABLE "status=FAILED&search[value]=count", "[]", 2, 0);
    assert_value(TABLE "status=FAILED", "summary", "{\"totalQueries\":1,\"averageDuration\":500,\"runningQueries\":0,\"failedQueries\":1,\"failureRate\":1.0}");
    assert_value(TABLE "search[value]=load", "summary", "{\"totalQueries\":2,\"averageDuration\":300,\"runningQueries\":0,\"failedQueries\":1,\"failureRate\":0.5}");
    assert_value(TABLE "search[value]=nothing", "summary", "{\"totalQueries\":0,\"averageDuration\":0,\"runningQueries\":0,\"failedQueries\":0,\"failureRate\":0.0}");
}

static void the_table_is_ordered_by_the_column_that_is_named(void **state)
{
    (void)state;
    add_executions();
    app_sql("a", "DELETE FROM sql_execution WHERE execution_id = 4");
#define FLAT TABLE "groupSubExecution=false&columns[0][name]=id&columns[1][name]=status&columns[2][name]=description&columns[3][name]=submissionTime&columns[4][name]=duration&"
    rows_of_the_table(FLAT "order[0][column]=0&order[0][dir]=asc", "[0,1,2,3]", 4, 4);
    rows_of_the_table(FLAT "order[0][column]=1&order[0][dir]=asc", "[0,2,3,1]", 4, 4);
    rows_of_the_table(FLAT "order[0][column]=1&order[0][dir]=desc", "[1,3,2,0]", 4, 4);
    rows_of_the_table(FLAT "order[0][column]=2&order[0][dir]=asc", "[1,0,2,3]", 4, 4);      /* capitals first, as Java orders */
    rows_of_the_table(FLAT "order[0][column]=3&order[0][dir]=asc", "[0,1,2,3]", 4, 4);
    rows_of_the_table(FLAT "order[0][column]=4&order[0][dir]=asc", "[3,2,1,0]", 4, 4);
    rows_of_the_table(FLAT "order[0][column]=9&order[0][dir]=asc", "[0,1,2,3]", 4, 4);      /* no such column: by id */
    rows_of_the_table(FLAT "order[0][column]=0&order[0][dir]=asc&start=1&length=2&draw=3", "[1,2]", 4, 4);
    rows_of_the_table(FLAT "start=9&length=2", "[]", 4, 4);
    rows_of_the_table(FLAT "start=2&length=-1", "[3,2,1,0]", 4, 4);
    assert_value(FLAT "draw=3", "draw", "3");
    assert_value(TABLE, "draw", "0");
    assert_refused(TABLE "start=x", 400, "The parameters \"draw\", \"start\" and \"length\" are whole numbers.");
}

/* spec/sql.md §3.6, the check values for Scala 2.13. */
static void many_jobs_come_in_the_order_of_scalas_map(void **state)
{
    (void)state;
    add_executions();
#define JOBS(first, last) \
    "DELETE FROM job; WITH RECURSIVE n (id) AS (VALUES (" first ") UNION ALL SELECT id + 1 FROM n WHERE id < " last ") " \
    "INSERT INTO job (job_id, sql_execution_id, status, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, " \
    "completed_stages, skipped_stages, failed_stages) SELECT id, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM n"
    app_sql("a", JOBS("31", "48"));
    assert_value(SQL "/0", "successJobIds", "[46,41,44,39,35,48,31,43,40,36,47,42,37,38,33,45,32,34]");
    app_sql("a", JOBS("0", "9"));
    assert_value(SQL "/0", "successJobIds", "[0,5,1,6,9,2,7,3,8,4]");
    assert_value(TABLE, "aaData.1.jobIds", "[0,1,2,3,4,5,6,7,8,9]");
}

static void streaming_is_refused_by_name(void **state)
{
    (void)state;
    add_app("a");
    app_sql("a", "UPDATE application SET name = 'My stream'");
    static const char *const routes[] = {"statistics", "receivers", "receivers/0", "batches", "batches?status=COMPLETED", "batches/1", "batches/1/operations",
                                         "batches/1/operations/2"};
    for (size_t i = 0; i < ARRAY_LENGTH(routes); i++) {
        char address[128];
        snprintf(address, sizeof address, "/api/v1/applications/a/streaming/%s", routes[i]);
        assert_refused(address, 404, "no streaming listener attached to My stream");
    }
    assert_refused("/api/v1/applications/none/streaming/statistics", 404, "no such app: none");
    assert_refused("/api/v1/applications/none/2/streaming/statistics", 404, "no such app: none/2");
}

static void logs_of_nobody_and_of_what_is_gone(void **state)
{
    (void)state;
    add_app("a");
    assert_refused("/api/v1/applications/none/logs", 404, "no such app: none/1");
    assert_refused("/api/v1/applications/none/2/logs", 404, "no such app: none/2");
    assert_refused("/api/v1/applications/a/1/logs", 404, "no such app: a/1");
    assert_refused("/api/v1/applications/a/logs", 503, "Event logs are not available for app: a.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(an_execution_has_sparks_fields),
        STORE_TEST(an_execution_without_a_plan_has_an_empty_one),
        STORE_TEST(the_list_is_cut_as_spark_cuts_it),
        STORE_TEST(sub_executions_stand_below_their_roots),
        STORE_TEST(the_table_is_searched_and_its_summary_is_of_what_was_found),
        STORE_TEST(the_table_is_ordered_by_the_column_that_is_named),
        STORE_TEST(many_jobs_come_in_the_order_of_scalas_map),
        STORE_TEST(streaming_is_refused_by_name),
        STORE_TEST(logs_of_nobody_and_of_what_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
