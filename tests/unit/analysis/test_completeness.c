/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/completeness.h"

#include "tests/unit/analysis/app_rows.h"

static struct facts facts;

static int teardown(void **state)
{
    facts_dispose(&facts);
    return app_clear(state);
}

static struct completeness rate(void)
{
    app_pack();
    struct err err = {0};
    if (facts_load(&facts, &app_db, &err))
        fail_msg("%s", err.message);
    return completeness_of(&facts);
}

static void add_log(int complete, int cut, int compacted, int bad_lines, int no_start, int64_t tasks_open, int finished_name)
{
    app_sql(
        "INSERT INTO load (app_key, generation, state, program_version, log_path, layout, finished_name, line_count, started_ms) VALUES ('a', 1, 'done', '1', '/x', 0, %d, 1000, 0)",
        finished_name);
    app_sql("INSERT INTO log_health VALUES (%d, '', %d, %d, NULL, %d, 0, %d, 0, 0, 0, 0, %lld, 0, 0, 0, 0, 0, 0, 0, 0)", complete, bad_lines, cut, compacted, no_start,
            (long long)tasks_open);
}

/* A stage of ten tasks, of which `seen` succeeded and `open` have no end. */
static void add_run(int64_t seen, int64_t open)
{
    add_application(1000, 90000);
    add_executor(1, "1", 16, 1000, UNKNOWN);
    add_job(0, 1000, 80000, 1);
    add_stage(1, 0, 0, 10, 1300, 8000, 2);
    for (int64_t i = 0; i < seen + open; i++)
        add_task(1, i, i, 1, 2000, i < seen ? 3000 : UNKNOWN);
}

static void a_whole_log_has_all(void **state)
{
    (void)state;
    add_log(1, 0, 0, 0, 0, 0, 1);
    add_run(10, 0);
    struct completeness found = rate();
    assert_int_equal(found.score, 100);
    assert_int_equal(found.caps, 0);
    assert_true(found.final);
    for (size_t i = 0; i < MISSING_KIND_COUNT; i++)
        assert_int_equal(found.missing[i].count, 0);
    assert_int_equal(found.missing[MISSING_TASK_SUCCESSES].of, 10);
    assert_int_equal(found.missing[MISSING_LINES].of, 1000);
}

static void ends_that_are_missing_count_twice(void **state)
{
    (void)state;
    add_log(1, 0, 0, 0, 0, 1, 1);
    add_run(9, 1);
    struct completeness found = rate();
    assert_int_equal(found.score, 81); /* 0.9 of the successes × 0.9 of the ends */
    assert_int_equal(found.missing[MISSING_TASK_SUCCESSES].count, 1);
    assert_int_equal(found.missing[MISSING_TASK_ENDS].count, 1);
    assert_int_equal(found.missing[MISSING_TASK_ENDS].of, 10);
}

static void what_is_open_is_not_missing_while_the_run_goes_on(void **state)
{
    (void)state;
    add_log(0, 0, 0, 0, 0, 2, 0);
    add_run(10, 0);
    app_sql("UPDATE stage SET status = 1, completed_seen = 0");
    app_sql("UPDATE job SET status = 0");
    struct completeness found = rate();
    assert_false(found.final);
    assert_int_equal(found.score, 95); /* no ApplicationEnd */
    assert_int_equal(found.missing[MISSING_JOB_ENDS].count, 0);
}

static void the_worst_of_stages_jobs_and_executions_counts(void **state)
{
    (void)state;
    add_log(1, 0, 0, 0, 0, 0, 1);
    add_run(10, 0);
    add_job(1, 2000, UNKNOWN, 0);
    for (int i = 0; i < 3; i++)
        app_sql("INSERT INTO sql_execution (execution_id, submission_ms, status, start_seen, end_seen) VALUES (%d, 1000, 0, 1, %d)", i, i == 0);
    struct completeness found = rate();
    assert_int_equal(found.score, 33);
    assert_int_equal(found.missing[MISSING_SQL_ENDS].count, 2);
    assert_int_equal(found.missing[MISSING_JOB_ENDS].count, 1);
}

static void files_and_lines_that_are_missing(void **state)
{
    (void)state;
    add_log(1, 0, 0, 20, 0, 0, 1);
    add_run(10, 0);
    app_sql("INSERT INTO log_file (file_no, name, roll_index, compact, codec) VALUES (1, 'a', 3, 0, 'none'), (2, 'b', 5, 0, 'none'), (3, 'c', 6, 0, 'none')");
    struct completeness found = rate();
    assert_int_equal(found.missing[MISSING_FILES].count, 1);
    assert_int_equal(found.missing[MISSING_FILES].of, 4);
    assert_int_equal(found.missing[MISSING_LINES].count, 20);
    assert_int_equal(found.score, 36); /* 3/4 of the files, half for those before index 3, 0.98 of the lines: 36.75 */
    assert_int_equal(found.caps, 1U << CAP_ROLL_GAP | 1U << CAP_BAD_LINES);
}

static void caps_bound_the_score(void **state)
{
    (void)state;
    const struct {
        int complete, cut, compacted, bad, no_start, score;
    } cases[] = {{1, 1, 0, 0, 0, 98}, {1, 0, 1, 0, 0, 60}, {1, 0, 0, 1, 0, 98}, {1, 0, 0, 0, 1, 40}, {0, 0, 0, 0, 0, 95}, {0, 1, 1, 1, 1, 40}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        add_log(cases[i].complete, cases[i].cut, cases[i].compacted, cases[i].bad, cases[i].no_start, 0, 1);
        add_run(10, 0);
        assert_int_equal(rate().score, cases[i].score);
        facts_dispose(&facts);
        app_clear(state);
    }
}

static void made_up_counts_do_no_harm(void **state)
{
    (void)state;
    add_log(1, 0, 0, 0, 0, INT64_MAX, 1);
    add_run(10, 0);
    app_sql("UPDATE log_health SET bad_line_count = -9223372036854775807, tasks_without_start = 9223372036854775807");
    app_sql("UPDATE stage SET num_tasks = 9223372036854775807");
    app_sql("INSERT INTO log_file (file_no, name, roll_index, compact, codec) VALUES (1, 'a', -9223372036854775807, 0, 'none'), (2, 'b', 9223372036854775807, 0, 'none')");
    assert_int_equal(rate().score, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_whole_log_has_all),
        TEST(ends_that_are_missing_count_twice),
        TEST(what_is_open_is_not_missing_while_the_run_goes_on),
        TEST(the_worst_of_stages_jobs_and_executions_counts),
        TEST(files_and_lines_that_are_missing),
        TEST(caps_bound_the_score),
        TEST(made_up_counts_do_no_harm),
    };
    return cmocka_run_group_tests(tests, app_open, app_close);
}
