/* SPDX-License-Identifier: Apache-2.0 */
#include "v1_store.h"

#include "base/mem.h"

#define T "/api/v1/applications/a/stages/0/0/taskTable"

/* Five tasks: 10 and 11 worked (11's result was fetched for half a second), 12 failed, 14 was killed and has no metrics, 13 runs and little is known of it.
 * Delays: 100 - 90 - 1 = 9, 90000 - 89000 - 500 = 500, 500 - 450 - 1 = 49, 50. */
static int make_five_tasks(void **state)
{
    make_store(state);
    add_app("a");
    add_stage("a", 1, 0, 0, 2, 5, 1, 5);
    add_idle_executor("a", 1, "2", 0, 1);
    add_idle_executor("a", 2, "10", 0, 1);
    app_sql("a", "INSERT INTO host VALUES (1, 'beta'), (2, 'Zeta');"
                 "INSERT INTO text VALUES (1, 'Boom at x'), (2, 'Another');"
                 "INSERT INTO task (task_seq, stage_ref, task_id, task_index, attempt, partition_id, executor_ref, host_ref, launch_ms, finish_ms, getting_result_ms, "
                 "locality, speculative, status, end_reason, error_text_id, start_seen, has_metrics, executor_deserialize_time_ms, executor_run_time_ms, "
                 "peak_execution_memory_bytes, input_bytes, shuffle_remote_read_bytes, shuffle_local_read_bytes, shuffle_write_time_ns) VALUES "
                 "(1, 1, 10, 0, 0, 3, 1, 1, 1000, 1100, NULL, 0, 0, 1, 0, NULL, 1, 1, 1, 90, 8, 2048, 100, 0, 77000000),"
                 "(2, 1, 11, 1, 0, 2, 2, 2, 2000, 92000, 91500, 4, 0, 1, 0, NULL, 1, 1, 0, 89000, 7, 0, 0, 0, 0),"
                 "(3, 1, 12, 2, 0, 1, 1, 1, 3000, 3500, NULL, 1, 0, 2, 3, 1, 1, 1, 1, 450, 6, 0, 5, 2, 0),"
                 "(4, 1, 14, 3, 1, 1, 2, 2, 3000, 3050, NULL, 3, 1, 3, 5, 2, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
                 "(5, 1, 13, 4, NULL, NULL, NULL, NULL, 4000, NULL, NULL, NULL, NULL, 0, NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);"
                 "INSERT INTO task_accumulable VALUES (1, 0, 1, 'n', NULL, '9'), (1, 1, 2, 'a', NULL, '1'), (2, 0, 1, 'n', NULL, '10'), (3, 0, 3, NULL, NULL, '5');");
    return 0;
}

static void check_page(const char *query, const char *ids, const char *total, const char *filtered)
{
    char address[8192];
    snprintf(address, sizeof address, T "?%s", query);
    struct answer answer = ask(address);
    if (answer.status != 200)
        fail_msg("%s: %d %s", query, answer.status, answer.text);
    cJSON *got = cJSON_CreateArray();
    for (const cJSON *item = cJSON_GetObjectItem(answer.json, "aaData")->child; item; item = item->next)
        cJSON_AddItemToArray(got, cJSON_Duplicate(cJSON_GetObjectItem(item, "taskId"), true));
    assert_json(got, ids);
    cJSON_Delete(got);
    assert_string_equal(cJSON_GetObjectItem(answer.json, "recordsTotal")->valuestring, total);
    assert_string_equal(cJSON_GetObjectItem(answer.json, "recordsFiltered")->valuestring, filtered);
    assert_int_equal(cJSON_GetArraySize(answer.json), 3);
    forget(&answer);
}

/* Ascending in this order, descending in the exact reverse. */
static void check_order(const char *column, const char *ids)
{
    char query[512], reversed[64] = "[";
    snprintf(query, sizeof query, "numTasks=5&columnNameToSort=%s&order%%5B0%%5D%%5Bdir%%5D=asc&start=0&length=9", column);
    check_page(query, ids, "5", "5");
    cJSON *wanted = cJSON_Parse(ids);
    for (int i = cJSON_GetArraySize(wanted) - 1; i >= 0; i--)
        snprintf(reversed + strlen(reversed), sizeof reversed - strlen(reversed), "%d%s", cJSON_GetArrayItem(wanted, i)->valueint, i ? "," : "]");
    cJSON_Delete(wanted);
    snprintf(query, sizeof query, "numTasks=5&columnNameToSort=%s&order[0][dir]=desc&start=0&length=9", column);
    check_page(query, reversed, "5", "5");
}

static void check_search(const char *text, const char *ids, const char *filtered)
{
    char query[8192];
    snprintf(query, sizeof query, "numTasks=5&columnNameToSort=ID&order[0][dir]=asc&start=0&length=9&search[value]=%s", text);
    check_page(query, ids, "5", filtered);
}

#define REST "&columnNameToSort=ID&order[0][dir]=asc"

static void columns_sort_as_spark_stores_them(void **state)
{
    (void)state;
    check_order("ID", "[10,11,12,13,14]");
    check_order("Index", "[13,12,14,11,10]");                            /* by partition */
    check_order("lOGS", "[13,12,14,11,10]");
    check_order("Attempt", "[10,11,12,13,14]");
    check_order("Status", "[12,14,13,10,11]");
    check_order("Locality%20Level", "[13,11,12,10,14]");
    check_order("Executor+ID", "[13,11,14,10,12]");
    check_order("Host", "[13,11,14,10,12]");
    check_order("Launch%20Time", "[10,11,12,14,13]");
    check_order("Duration", "[12,13,14,10,11]");                         /* of its work: -451, -1, -1, 90, 89000 */
    check_order("Scheduler%20Delay", "[13,10,12,14,11]");                /* not coded: -1, 9, 49, 50, 500 */
    check_order("Task%20Deserialization%20Time", "[12,13,14,11,10]");
    check_order("GC%20Time", "[12,13,14,10,11]");
    check_order("Result%20Serialization%20Time", "[12,13,14,10,11]");
    check_order("Getting%20Result%20Time", "[13,10,12,14,11]");
    check_order("Peak%20Execution%20Memory", "[12,13,14,11,10]");
    check_order("Accumulators", "[13,14,11,10,12]");                     /* "", "", "n:10", "n:9", "null:5" */
    check_order("Input%20Size%20/%20Records", "[12,13,14,11,10]");
    check_order("Output%20Size%20%2F%20Records", "[12,13,14,10,11]");
    check_order("Shuffle%20Read%20Fetch%20Wait%20Time", "[12,13,14,10,11]");
    check_order("Shuffle%20Read%20Size%20/%20Records", "[12,14,13,11,10]");      /* both parts coded: -9, -2, then -1 of the running one */
    check_order("Shuffle%20Remote%20Reads", "[12,13,14,11,10]");
    check_order("Shuffle%20Write%20Time", "[12,13,14,11,10]");
    check_order("Shuffle%20Write%20Size%20/%20Records", "[12,13,14,10,11]");
    check_order("Spill%20(Memory)", "[12,13,14,10,11]");
    check_order("Spill%20(Disk)", "[12,13,14,10,11]");
    check_order("Errors", "[10,11,13,14,12]");
}

static void execution_memory_is_nothing_before_it_was_a_metric(void **state)
{
    (void)state;
    check_search("8.0%20B", "[10]", "1");
    app_sql("a", "UPDATE application SET spark_version = '2.4.8'");
    check_order("Peak%20Execution%20Memory", "[12,13,14,10,11]");
    check_search("8.0%20B", "[]", "0");
    check_search("0.0%20B", "[10,11,12,14]", "4");
}

/* The largest numbers there are neither wrap nor become unknown. */
static void extreme_values_keep_their_order(void **state)
{
    (void)state;
    app_sql("a", "UPDATE task SET executor_run_time_ms = 9223372036854775807, shuffle_remote_read_bytes = 9223372036854775807, shuffle_local_read_bytes = "
                 "9223372036854775807 WHERE task_id IN (10, 12)");
    check_order("Duration", "[12,13,14,11,10]");
    check_order("Shuffle%20Read%20Size%20/%20Records", "[12,14,13,11,10]");
    app_sql("a", "UPDATE task SET output_bytes = -5000, launch_ms = -9223372036854775807 WHERE task_id = 11");
    check_order("Output%20Size%20/%20Records", "[11,12,13,14,10]");
    check_search("-5000.0%20b", "[11]", "1");                            /* no unit above it, as there */
    check_search("8.0%20eib", "[10,12]", "2");
}

static void a_search_looks_at_what_the_page_shows(void **state)
{
    (void)state;
    check_search("kIb", "[10]", "1");                                    /* 2048 bytes of input */
    check_search("1.5%20MIN", "[11]", "1");                              /* 89 seconds of work: 1.48 */
    check_search("0.5%20s", "[11,12]", "2");                             /* 500 ms; 450 ms, rounded up */
    check_search("77%20ms", "[10]", "1");                                /* of writing, in nanoseconds there */
    check_search("49%20ms", "[12]", "1");
    check_search("50%20ms", "[14]", "1");
    check_search("0%20ms", "[10,11,12,13,14]", "5");                     /* a running task has been delayed for 0 ms */
    check_search("0.0%20B", "[10,11,12,14]", "4");                       /* … and has no metrics */
    check_search("7.0%20b", "[11,12]", "2");                             /* memory; 5 + 2 bytes read */
    check_search("boom%20AT", "[12]", "1");
    check_search("zeta", "[11,14]", "2");
    check_search("1970/01/01%2000:00:03", "[12,14]", "2");
    check_search("thu%20jan%2001%2000:01:31%20utc%201970", "[11]", "1");
    check_search("running", "[13]", "1");
    check_search("true", "[14]", "1");
    check_search("_LOCAL", "[10,12,14]", "3");
    check_search("14", "[14]", "1");
    check_search("d", "[10,11,12,13,14]", "5");                          /* what stands for a result that was not fetched, and for no error */
    check_search("no%20such%20text", "[]", "0");
}

static void a_running_fetch_lasts_until_now(void **state)
{
    (void)state;
    app_sql("a", "UPDATE task SET status = 4, getting_result_ms = 14000 WHERE task_id = 13");
    check_search("36%20s", "[13]", "1");                                 /* the log was last changed at 50 s */
    check_search("get%20result", "[13]", "1");
}

static void pages_are_cut_as_spark_cuts_them(void **state)
{
    (void)state;
    check_page("numTasks=5&start=1&length=2" REST, "[11,12]", "5", "5");
    check_page("numTasks=5&start=-3&length=2" REST, "[10,11]", "5", "5");
    check_page("numTasks=05&start=5&length=2" REST, "[]", "05", "05");
    check_page("numTasks=2&start=3&length=2147483647" REST, "[13,14]", "2", "2");
    check_page("numTasks=5&start=1&length=2&search[value]=d" REST, "[11,12]", "5", "5");
    check_page("numTasks=5&start=-1&length=2&search[value]=d" REST, "[10]", "5", "5");
    check_page("numTasks=5&start=1&length=-1&search[value]=d" REST, "[]", "5", "5");
    check_page("numTasks=5&start=7&length=1&search[value]=d" REST, "[]", "5", "5");
    check_page("numTasks=2147483647&start=2147483647&length=2147483647&search[value]=d" REST, "[]", "2147483647", "5");
}

static void a_search_looks_at_the_first_tasks_in_order(void **state)
{
    (void)state;
    check_page("numTasks=2&start=0&length=9&search[value]=d&columnNameToSort=ID&order[0][dir]=down", "[14,13]", "2", "2");
    check_page("numTasks=2&start=0&length=9&search[value]=beta&columnNameToSort=Host&order[0][dir]=ASC", "[]", "2", "0");
    check_page("numTasks=0&start=0&length=9&search[value]=d" REST, "[]", "0", "0");
    check_page("numTasks=-1&start=0&length=9&search[value]=d" REST, "[]", "-1", "-1");
}

static void a_stage_that_is_not_there_is_empty(void **state)
{
    (void)state;
    assert_answer("/api/v1/applications/a/stages/7/0/taskTable?numTasks=3&start=0&length=9" REST, "{\"aaData\":[],\"recordsTotal\":\"3\",\"recordsFiltered\":\"3\"}");
    assert_answer("/api/v1/applications/a/stages/7/0/taskTable?numTasks=3&start=0&length=9&search[value]=d" REST,
                  "{\"aaData\":[],\"recordsTotal\":\"3\",\"recordsFiltered\":\"3\"}");
    assert_page_not_found("/api/v1/applications/a/stages/99999999999/0/taskTable?numTasks=3&start=0&length=9" REST);
}

static void what_was_encoded_again_is_decoded_again(void **state)
{
    (void)state;
    check_page("numTasks=%2535&columnNameToSort=Executor%252520ID&order%255B0%255D%255Bdir%255D=%2561sc&start=0&length=9", "[13,11,14,10,12]", "5", "5");
    check_search("boom%252Bat", "[12]", "1");                            /* + is a blank the second time */
    check_search("100%25", "[]", "0");                                   /* no encoding: as it is */
}

static void wrong_parameters_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const char numbers[] = "The parameters \"numTasks\", \"start\" and \"length\" are whole numbers.";
    static const char column[] = "The parameter \"columnNameToSort\" names no column of the table.";
    assert_refused(T, 400, numbers);
    assert_refused(T "?start=0&length=9" REST, 400, numbers);
    assert_refused(T "?numTasks=&start=0&length=9" REST, 400, numbers);
    assert_refused(T "?numTasks=5&start=x&length=9" REST, 400, numbers);
    assert_refused(T "?numTasks=5&start=0&length=2147483648" REST, 400, numbers);
    assert_refused(T "?numTasks=5&start=0&length=99999999999999999999999" REST, 400, numbers);
    assert_refused(T "?numTasks=5&start=0&length=9&order[0][dir]=asc", 400, column);
    assert_refused(T "?numTasks=5&start=0&length=9&order[0][dir]=asc&columnNameToSort=index", 400, column);
    assert_refused(T "?numTasks=5&start=0&length=9&order[0][dir]=asc&columnNameToSort=task_id", 400, column);
    assert_refused(T "?numTasks=5&start=0&length=9&order[0][dir]=asc&columnNameToSort=ID%22;DROP%20TABLE%20task;--", 400, column);
    assert_refused(T "?numTasks=5&start=0&length=9&columnNameToSort=ID", 400, "The parameter \"order[0][dir]\" is missing.");
    assert_refused(T "?numTasks=5&start=0&length=0" REST, 400, "Bad value for parameter \"length\".  Expected a number above 0, got \"0\"");
}

static void a_search_takes_every_byte_as_it_is(void **state)
{
    (void)state;
    static const char *const texts[] = {"'", "%25", "?", "*", "%22%7B", "%FF%FE", "%01", "%5C"};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        check_search(texts[i], "[]", "0");
    char longest[6001];
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    check_search(longest, "[]", "0");
    app_sql("a", "UPDATE text SET body = 'Gr\xC3\xB6\xC3\x9F" "e 100%_' WHERE text_id = 1");
    check_search("gr%C3%B6%C3%9Fe%20100%25_", "[12]", "1");
    check_search("GR%C3%96", "[]", "0");                                 /* case is that of ASCII */
}

/* The handler's answer when its n-th allocation fails; *ret_reached: there were so many. */
static enum err_code ask_without_memory(const char *address, uint64_t nth, bool *ret_reached)
{
    struct arena arena;
    struct err err = {0};
    struct request *request = calloc(1, sizeof *request);
    struct response *response;
    arena_init(&arena, 1 << 24);
    request->method = STR_LIT("GET");
    request->arena = &arena;
    assert_int_equal(request_parse(request, str_of(address), STR_LIT(""), &err), ERR_OK);
    const struct route *route = router_match(api_v1_routes, request);
    assert_non_null(route);
    assert_int_equal(response_new(&response, &arena, false, "/tmp", &err), ERR_OK);
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    mem_fail_at(nth, 0);
    enum err_code rc = route->handler(&ctx, request, response, &err);
    *ret_reached = mem_alloc_count() >= nth;
    mem_fail_at(0, 0);
    response_free(response);
    arena_dispose(&arena);
    free(request);
    return rc;
}

static void without_memory_there_is_an_error_and_nothing_leaks(void **state)
{
    (void)state;
    static const char *const addresses[] = {
        T "?numTasks=5&start=0&length=9&columnNameToSort=Accumulators&order[0][dir]=asc",
        T "?numTasks=2&start=0&length=9&columnNameToSort=Scheduler%20Delay&order[0][dir]=asc&search[value]=50%20ms",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(addresses); i++) {
        bool reached = true;
        uint64_t failed = 0;
        assert_int_equal(ask_without_memory(addresses[i], UINT64_MAX, &reached), ERR_OK);        /* opens the database */
        reached = true;
        for (uint64_t nth = 1; reached && nth < 1000; nth++)
            failed += ask_without_memory(addresses[i], nth, &reached) == ERR_NOMEM;
        assert_false(reached);
        assert_true(failed >= 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILLED_STORE_TEST(columns_sort_as_spark_stores_them, make_five_tasks),
        FILLED_STORE_TEST(execution_memory_is_nothing_before_it_was_a_metric, make_five_tasks),
        FILLED_STORE_TEST(extreme_values_keep_their_order, make_five_tasks),
        FILLED_STORE_TEST(a_search_looks_at_what_the_page_shows, make_five_tasks),
        FILLED_STORE_TEST(a_running_fetch_lasts_until_now, make_five_tasks),
        FILLED_STORE_TEST(pages_are_cut_as_spark_cuts_them, make_five_tasks),
        FILLED_STORE_TEST(a_search_looks_at_the_first_tasks_in_order, make_five_tasks),
        FILLED_STORE_TEST(a_stage_that_is_not_there_is_empty, make_five_tasks),
        FILLED_STORE_TEST(what_was_encoded_again_is_decoded_again, make_five_tasks),
        FILLED_STORE_TEST(wrong_parameters_are_refused_with_a_sentence, make_five_tasks),
        FILLED_STORE_TEST(a_search_takes_every_byte_as_it_is, make_five_tasks),
        FILLED_STORE_TEST(without_memory_there_is_an_error_and_nothing_leaks, make_five_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
