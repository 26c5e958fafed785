/* SPDX-License-Identifier: Apache-2.0 */
#include "v1_store.h"

/* A log of `bytes` and the run in it. start, end: milliseconds, or NULL as text. */
static void add_run(const char *key, const char *id, const char *attempt, const char *start, const char *end, int complete, int bytes)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO log (path, layout, finished_name, bytes, modified_ms, fingerprint, state, first_seen_ms, changed_ms) "
             "VALUES ('/logs/%s', 0, 1, %d, 5000, '', 'loaded', 0, 0);"
             "INSERT INTO app (app_key, app_id, attempt_id, name, user, spark_version, start_ms, end_ms, complete, log_id, loaded, generation) "
             "VALUES ('%s', '%s', %s, 'n-%s', 'u', '3.5.7', %s, %s, %d, last_insert_rowid(), 1, 1);",
             key, bytes, key, id, attempt, key, start, end, complete);
    catalog_sql(sql);
}

/* Days of 2020 as epoch milliseconds. */
#define JAN_1 "1577836800000"
#define JAN_2 "1577923200000"
#define JAN_3 "1578009600000"
#define JAN_4 "1578096000000"

static void add_runs(void)
{
    add_run("a", "app-a", "NULL", JAN_1, JAN_2, 1, 1);
    add_run("b", "app-b", "NULL", JAN_1, JAN_4, 1, 1);
    add_run("c", "app-c", "NULL", JAN_3, JAN_4, 1, 1);
    add_run("d", "app-d", "NULL", JAN_2, "NULL", 0, 1);
    add_run("m1", "app-m", "'1'", JAN_1, "NULL", 0, 1);
    add_run("m2", "app-m", "'2'", JAN_2, JAN_3, 1, 1);
}

static void an_empty_store_lists_nothing(void **state)
{
    (void)state;
    assert_answer("/api/v1/applications", "[]");
    assert_refused("/api/v1/applications/x", 404, "unknown app: x");
    assert_refused("/api/v1/applications/x/jobs", 404, "no such app: x");
}

static void applications_come_by_end_downward_and_those_without_one_last(void **state)
{
    (void)state;
    add_runs();
    assert_column("/api/v1/applications", "id", "[\"app-c\",\"app-b\",\"app-m\",\"app-a\",\"app-d\"]");
    assert_column("/api/v1/applications/", "id", "[\"app-c\",\"app-b\",\"app-m\",\"app-a\",\"app-d\"]");
    assert_column("/api/v1/applications?limit=2", "id", "[\"app-c\",\"app-b\"]");
    assert_answer("/api/v1/applications?limit=0", "[]");
    assert_answer("/api/v1/applications?limit=-1", "[]");
    assert_column("/api/v1/applications?limit=", "id", "[\"app-c\",\"app-b\",\"app-m\",\"app-a\",\"app-d\"]");
    assert_page_not_found("/api/v1/applications?limit=x");
    assert_page_not_found("/api/v1/applications?limit=99999999999");
}

static void status_is_that_of_the_newest_attempt(void **state)
{
    (void)state;
    add_runs();
    assert_column("/api/v1/applications?status=running", "id", "[\"app-d\"]");
    assert_column("/api/v1/applications?status=Completed", "id", "[\"app-c\",\"app-b\",\"app-m\",\"app-a\"]");
    assert_column("/api/v1/applications?status=COMPLETED&status=RUNNING", "id", "[\"app-c\",\"app-b\",\"app-m\",\"app-a\",\"app-d\"]");
    assert_answer("/api/v1/applications?status=", "[]");
    assert_page_not_found("/api/v1/applications?status=bogus");
}

static void dates_keep_applications_with_a_fitting_attempt(void **state)
{
    (void)state;
    add_runs();
    assert_column("/api/v1/applications?minDate=2020-01-02", "id", "[\"app-c\",\"app-m\",\"app-d\"]");
    /* Not app-m: the attempt of that day has no end, which is before every date. */
    assert_column("/api/v1/applications?maxDate=2020-01-01", "id", "[\"app-b\",\"app-a\"]");
    assert_column("/api/v1/applications?maxDate=2020-01-01&minEndDate=1960-01-01", "id", "[\"app-b\",\"app-m\",\"app-a\"]");
    assert_column("/api/v1/applications?minEndDate=2020-01-04&status=completed", "id", "[\"app-c\",\"app-b\"]");
    /* A running application fits any end that is still to come, and none that has passed. */
    assert_column("/api/v1/applications?maxEndDate=2020-01-02", "id", "[\"app-a\"]");
    assert_column("/api/v1/applications?maxEndDate=2999-01-01&minDate=2020-01-02", "id", "[\"app-c\",\"app-m\",\"app-d\"]");
    assert_refused("/api/v1/applications?minDate=nonsense", 400, "Couldn't parse date: nonsense");
    assert_column("/api/v1/applications?minDate=", "id", "[\"app-c\",\"app-b\",\"app-m\",\"app-a\",\"app-d\"]");
}

static void runs_before_2010_are_listed_on_request(void **state)
{
    (void)state;
    add_run("o", "app-old", "NULL", "5000", "6000", 1, 1);
    add_run("n", "app-nothing", "NULL", "NULL", "NULL", 1, 1);
    add_run("b", "app-before", "NULL", "1262303999999", JAN_2, 1, 1);            /* 2010-01-01 and 3000-01-01, and a millisecond beyond */
    add_run("f", "app-first", "NULL", "1262304000000", "1262304000000", 1, 1);
    add_run("l", "app-last", "NULL", "32503680000000", "32503680000000", 1, 1);
    add_run("a", "app-after", "NULL", JAN_2, "32503680000001", 1, 1);
    add_run("r", "app-running", "NULL", JAN_2, "NULL", 0, 1);
    add_run("s", "app-running-old", "NULL", "5000", "NULL", 0, 1);
    assert_column("/api/v1/applications", "id", "[\"app-last\",\"app-first\",\"app-running\"]");
    assert_answer("/api/v1/applications?minDate=1960-01-01&maxDate=2000-01-01&status=completed", "[]");
    assert_column("/api/v1/applications?minDate=1970-01-01&minEndDate=1970-01-01&maxDate=2010-01-01", "id", "[\"app-before\",\"app-first\",\"app-old\",\"app-running-old\"]");
    /* A time that is not known is the last millisecond of 1969. */
    assert_column("/api/v1/applications?minDate=1969-12-31&minEndDate=1969-12-31&maxDate=1970-01-02", "id", "[\"app-old\",\"app-running-old\",\"app-nothing\"]");
    assert_answer("/api/v1/applications?maxDate=2000-01-01", "[]");
}

static void a_start_that_no_log_says_is_the_last_millisecond_of_1969(void **state)
{
    (void)state;
    add_run("i", "app-i", "NULL", JAN_1, JAN_2, 1, 1);
    catalog_sql("UPDATE app SET start_inferred = 1");
    assert_answer("/api/v1/applications", "[]");
    assert_values("/api/v1/applications?minDate=1960-01-01", {"0.attempts.0.startTime", "\"1969-12-31T23:59:59.999GMT\""}, {"0.attempts.0.startTimeEpoch", "-1"},
                  {"0.attempts.0.endTimeEpoch", JAN_2}, {"0.attempts.0.duration", "1577923200001"});
}

/* A History Server's router converts arguments before it looks for the application: so they make the same page with a known and with an unknown one. */
static void what_cannot_be_converted_is_nothing_in_every_application(void **state)
{
    (void)state;
    static const char *const rests[] = {
        "jobs?status=bogus", "jobs/2147483648", "stages?status=bogus", "stages?taskStatus=bogus", "stages/2147483648", "stages/1?taskStatus=bogus", "stages/1/2147483648",
        "stages/1/2147483648/taskSummary", "stages/1/0/taskList?offset=x", "stages/1/0/taskList?length=x", "stages/1/0/taskList?sortBy=bogus",
        "stages/1/0/taskList?status=bogus", "stages/2147483648/0/taskTable", "storage/rdd/2147483648", "sql?offset=x", "sql?length=2147483648",
        "sql/9223372036854775808", "threads?taskId=x&executorId=1", "streaming", "streaming/batches?status=bogus", "streaming/receivers/2147483648",
        "streaming/batches/9223372036854775808", "streaming/batches/1/operations/2147483648",
    };
    add_app("a");
    for (size_t i = 0; i < ARRAY_LENGTH(rests); i++) {
        char address[128];
        for (int known_app = 0; known_app < 2; known_app++) {
            snprintf(address, sizeof address, "/api/v1/applications/%s/%s", known_app ? "a" : "no-such-app", rests[i]);
            assert_page_not_found(address);
        }
    }
    /* What fits is looked for. */
    assert_refused("/api/v1/applications/no-such-app/jobs?status=failed", 404, "no such app: no-such-app");
    assert_refused("/api/v1/applications/no-such-app/jobs/2147483647", 404, "no such app: no-such-app");
    assert_refused("/api/v1/applications/no-such-app/stages/1/0/taskSummary?quantiles=foo", 404, "no such app: no-such-app");
    assert_refused("/api/v1/applications/no-such-app/sql/9223372036854775807", 404, "no such app: no-such-app");
    assert_refused("/api/v1/applications/no-such-app/streaming/batches?status=queued", 404, "no such app: no-such-app");
    assert_refused("/api/v1/applications/no-such-app/streaming/batches/9223372036854775807", 404, "no such app: no-such-app");
    assert_page_not_found("/api/v1/applications/a/1/streaming");
}

static void an_application_lists_its_attempts_newest_first(void **state)
{
    (void)state;
    add_runs();
    catalog_sql("UPDATE app SET exit_code = 3 WHERE app_key = 'm2'");
    assert_answer("/api/v1/applications/app-m",
                  "{\"id\":\"app-m\",\"name\":\"n-m2\",\"attempts\":["
                  "{\"attemptId\":\"2\",\"startTime\":\"2020-01-02T00:00:00.000GMT\",\"endTime\":\"2020-01-03T00:00:00.000GMT\",\"lastUpdated\":\"1970-01-01T00:00:05.000GMT\","
                  "\"duration\":86400000,\"sparkUser\":\"u\",\"completed\":true,\"appSparkVersion\":\"3.5.7\",\"exitCode\":3,\"logSourceName\":\"file:///logs\","
                  "\"logSourceFullPath\":\"file:///logs\",\"startTimeEpoch\":1577923200000,\"endTimeEpoch\":1578009600000,\"lastUpdatedEpoch\":5000},"
                  "{\"attemptId\":\"1\",\"startTime\":\"2020-01-01T00:00:00.000GMT\",\"endTime\":\"1969-12-31T23:59:59.999GMT\",\"lastUpdated\":\"1970-01-01T00:00:05.000GMT\","
                  "\"duration\":0,\"sparkUser\":\"u\",\"completed\":false,\"appSparkVersion\":\"3.5.7\",\"logSourceName\":\"file:///logs\","
                  "\"logSourceFullPath\":\"file:///logs\",\"startTimeEpoch\":1577836800000,\"endTimeEpoch\":-1,\"lastUpdatedEpoch\":5000}]}");
    assert_value("/api/v1/applications/app-m/2", "duration", "86400000");
    assert_refused("/api/v1/applications/app-m/7", 404, "unknown app app-m, attempt 7");
    assert_refused("/api/v1/applications/app-a/1", 404, "unknown app app-a, attempt 1");
    assert_absent("/api/v1/applications/app-a", "attempts.0.attemptId");
}

static void of_several_copies_the_complete_then_the_larger_one_counts(void **state)
{
    (void)state;
    add_run("p", "app-x", "NULL", JAN_1, "NULL", 0, 900);
    add_run("q", "app-x", "NULL", JAN_1, JAN_2, 1, 10);
    add_run("r", "app-x", "NULL", JAN_1, JAN_2, 1, 20);
    assert_column("/api/v1/applications", "name", "[\"n-r\"]");
    assert_value("/api/v1/applications/app-x", "name", "\"n-r\"");
    assert_absent("/api/v1/applications/app-x", "attempts.1");
}

static void places_give_the_log_source(void **state)
{
    (void)state;
    add_run("a", "app-a", "NULL", JAN_1, JAN_2, 1, 1);
    catalog_sql("INSERT INTO place (place_id, uri, name) VALUES (1, 'hdfs://n/logs', 'prod'); UPDATE log SET place_id = 1");
    assert_value("/api/v1/applications/app-a", "attempts.0.logSourceName", "\"prod\"");
    assert_value("/api/v1/applications/app-a", "attempts.0.logSourceFullPath", "\"hdfs://n/logs\"");
}

static void attempts_with_an_id_are_addressed_by_it(void **state)
{
    (void)state;
    add_app("app-one");
    add_app("app-two");
    catalog_sql("UPDATE app SET attempt_id = '1' WHERE app_key = 'app-two'");
    assert_answer("/api/v1/applications/app-one/jobs", "[]");
    assert_answer("/api/v1/applications/app-two/1/jobs", "[]");
    assert_answer("/api/v1/applications/app-two/1/jobs/", "[]");
    assert_refused("/api/v1/applications/app-two/jobs", 404, "no such app: app-two");
    assert_refused("/api/v1/applications/app-one/1/jobs", 404, "no such app: app-one/1");
    assert_refused("/api/v1/applications/app-two/2/jobs", 404, "no such app: app-two/2");
}

static void what_is_not_wholly_loaded_is_not_answered(void **state)
{
    (void)state;
    add_app("app-one");
    catalog_sql("UPDATE app SET loaded = 0; UPDATE log SET state = 'waiting', reason = 'in a queue'");
    assert_refused("/api/v1/applications/app-one/jobs", 503, "application app-one is not loaded yet (waiting: in a queue)");
    assert_value("/api/v1/applications/app-one", "id", "\"app-one\"");
}

static void addresses_that_nothing_has_answer_as_sparks_router(void **state)
{
    (void)state;
    add_app("app-one");
    assert_refused("/api/v1/applications/app-one/jobs/abc", 404, "/api/v1/applications/app-one/jobs/abc");
    assert_refused("/api/v1/applications/app-one/jobs/-1", 404, "/api/v1/applications/app-one/jobs/-1");
    assert_refused("/api/v1/applications/app-one/storage/rdd/abc", 404, "/api/v1/applications/app-one/storage/rdd/abc");
    assert_refused("/api/v1/applications/app-one/1/storage", 404, "/api/v1/applications/app-one/1/storage");
    assert_refused("/api/v1/applications/app-one/storage", 404, "unknown app app-one, attempt storage");
    assert_page_not_found("/api/v1/applications/app-one/stages/flimflam");
    assert_page_not_found("/api/v1/applications/app-one/stages/0/x");
    assert_page_not_found("/api/v1/applications/app-one/jobs/99999999999999");
    assert_page_not_found("/api/v1/foobar");
    assert_page_not_found("/api/v1/");
    assert_answer("/api/v1/version", "{\"spark\":\"4.3.0\"}");
}

static void answers_are_printed_as_the_history_server_prints_them(void **state)
{
    (void)state;
    struct answer answer = ask("/api/v1/version");
    assert_string_equal(answer.text, "{\n  \"spark\" : \"4.3.0\"\n}");
    forget(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(an_empty_store_lists_nothing),
        STORE_TEST(applications_come_by_end_downward_and_those_without_one_last),
        STORE_TEST(status_is_that_of_the_newest_attempt),
        STORE_TEST(dates_keep_applications_with_a_fitting_attempt),
        STORE_TEST(runs_before_2010_are_listed_on_request),
        STORE_TEST(a_start_that_no_log_says_is_the_last_millisecond_of_1969),
        STORE_TEST(what_cannot_be_converted_is_nothing_in_every_application),
        STORE_TEST(an_application_lists_its_attempts_newest_first),
        STORE_TEST(of_several_copies_the_complete_then_the_larger_one_counts),
        STORE_TEST(places_give_the_log_source),
        STORE_TEST(attempts_with_an_id_are_addressed_by_it),
        STORE_TEST(what_is_not_wholly_loaded_is_not_answered),
        STORE_TEST(addresses_that_nothing_has_answer_as_sparks_router),
        STORE_TEST(answers_are_printed_as_the_history_server_prints_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
