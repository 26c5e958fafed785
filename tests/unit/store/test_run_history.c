/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/run_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"

static char app_path[] = "/tmp/afterglow-history-app-XXXXXX", catalog_path[] = "/tmp/afterglow-history-cat-XXXXXX";
static struct db app, catalog;

static int setup(void **state)
{
    (void)state;
    close(mkstemp(app_path));
    close(mkstemp(catalog_path));
    return db_open(&app, app_path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL) ||
           db_open(&catalog, catalog_path, DB_WRITE, schema_catalog_sql, DB_CATALOG_ID, DB_CATALOG_VERSION, NULL);
}

static int teardown(void **state)
{
    (void)state;
    db_close(&app);
    db_close(&catalog);
    return unlink(app_path) || unlink(catalog_path);
}

/* A run that ended well, 24 s, C 100; `change` makes something else of it. */
static struct run_history history_after(const char *change)
{
    struct run_history history;
    assert_int_equal(
        db_exec(
            &app,
            "DELETE FROM run_identity; DELETE FROM analysis; DELETE FROM log_health; DELETE FROM application; DELETE FROM job;"
            "INSERT INTO run_identity VALUES ('a|b|', 'name', 0, x'0102');"
            "INSERT INTO analysis (analysis_version, duration_ms, begin_ms, end_ms, end_at_least, wall_ms, jobs_ms, completeness, slot_peak, frame_ms, allocated_ms, overlap_ms, "
            "clock_faults, prices_allowed) VALUES (1, 1, 1000, 25000, 0, 24000, 1, 100, 1, 1, 1, 1, 0, 1);"
            "INSERT INTO log_health VALUES (1, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
            "INSERT INTO application (app_id) VALUES ('x');"
            "INSERT INTO job (job_id, status, start_seen, completion_ms, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices, active_stages, "
            "completed_stages, skipped_stages, failed_stages) VALUES (0, 2, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (1, 1, 1, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            NULL),
        ERR_OK);
    assert_int_equal(db_exec(&app, change, NULL), ERR_OK);
    assert_int_equal(run_history_read(&history, &app, NULL), ERR_OK);
    return history;
}

static void assert_eligible(const char *change, bool eligible)
{
    struct run_history history = history_after(change);
    assert_true(history.known);
    assert_int_equal(history.eligible, eligible);
    run_history_dispose(&history);
}

/* spec/findings.md 9.1: ended, no failed last job, C of 95 or more, not excluded. */
static void only_runs_that_ended_well_may_be_measured_against(void **state)
{
    (void)state;
    assert_eligible("", true);
    assert_eligible("UPDATE log_health SET complete = 0", false);
    assert_eligible("UPDATE job SET status = 2 WHERE job_id = 1", false);
    assert_eligible("DELETE FROM job", true);
    assert_eligible("UPDATE analysis SET completeness = 95", true);
    assert_eligible("UPDATE analysis SET completeness = 94", false);
    assert_eligible("UPDATE run_identity SET excluded = 1", false);
    assert_eligible("UPDATE application SET exit_code = 1", false);
    assert_eligible("UPDATE application SET exit_code = 0", true);
}

static void a_run_that_was_not_analysed_has_no_history(void **state)
{
    (void)state;
    struct run_history history = history_after("DELETE FROM analysis");
    assert_false(history.known);
    run_history_dispose(&history);
}

static int64_t catalog_number(const char *sql)
{
    int64_t number;
    assert_int_equal(db_query_i64(&catalog, sql, &number, NULL), ERR_OK);
    return number;
}

static void the_catalogue_keeps_the_latest_and_forgets_what_is_gone(void **state)
{
    (void)state;
    struct run_history history = history_after("");
    assert_string_equal(history.run_key, "a|b|");
    assert_int_equal(history.shape_bytes, 2);
    assert_int_equal(run_history_write(&catalog, "k", &history, NULL), ERR_OK);
    assert_int_equal(run_history_write(&catalog, "k", &history, NULL), ERR_OK);
    run_history_dispose(&history);
    assert_int_equal(catalog_number("SELECT count(*) FROM run_history WHERE run_key = 'a|b|' AND wall_ms = 24000 AND begin_ms = 1000 AND shape = x'0102'"), 1);
    history = history_after("UPDATE run_identity SET run_key = NULL");
    assert_null(history.run_key);
    assert_int_equal(run_history_write(&catalog, "k", &history, NULL), ERR_OK);
    run_history_dispose(&history);
    assert_int_equal(catalog_number("SELECT count(*) FROM run_history WHERE run_key IS NULL"), 1);
    history = history_after("DELETE FROM run_identity");
    assert_int_equal(run_history_write(&catalog, "k", &history, NULL), ERR_OK);
    assert_int_equal(catalog_number("SELECT count(*) FROM run_history"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_runs_that_ended_well_may_be_measured_against),
        cmocka_unit_test(a_run_that_was_not_analysed_has_no_history),
        cmocka_unit_test(the_catalogue_keeps_the_latest_and_forgets_what_is_gone),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
