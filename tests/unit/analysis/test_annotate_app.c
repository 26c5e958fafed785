/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/annotate_app.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/afterglow-annotate-XXXXXX";
static struct db db;

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/afterglow-annotate-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    return db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL);
}

static int teardown(void **state)
{
    (void)state;
    enum err_code rc = db_seal(&db, NULL);
    db_close(&db);
    return rc || unlink(path);
}

/* One stage with `ended` tasks, its sums, and the quantiles that are judged. */
static void add_stage(int64_t ref, int64_t ended, int64_t task_time_ms, int64_t gc_time_ms, int64_t median_ms, int64_t max_ms, int64_t max_bytes)
{
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(db_prepare(&db, &stmt,
                                "INSERT INTO stage (stage_ref, stage_id, attempt, status, announced, submitted_seen, completed_seen, active_tasks, complete_tasks, failed_tasks,"
                                " killed_tasks, completed_indices, speculative_tasks, speculative_active, speculative_completed, speculative_failed, speculative_killed,"
                                " locality_process, locality_node, locality_none, locality_rack, locality_any, task_rows, ended_tasks, task_time_ms, jvm_gc_time_ms, peaks_set)"
                                " VALUES (?1, ?1, 0, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?2, ?2, ?3, ?4, 0)",
                                NULL),
                     ERR_OK);
    db_bind_i64(stmt, 1, ref);
    db_bind_i64(stmt, 2, ended);
    db_bind_i64(stmt, 3, task_time_ms);
    db_bind_i64(stmt, 4, gc_time_ms);
    assert_int_equal(db_run(stmt, NULL), ERR_OK);
    db_finalize(stmt);
    const struct {
        const char *name;
        int64_t median, max;
    } quantiles[] = {{"duration_ms", median_ms, max_ms}, {"shuffle_read_bytes", 1000, max_bytes}};
    assert_int_equal(db_prepare(&db, &stmt, "INSERT INTO stage_quantile VALUES (?1, ?2, ?3, 0, 0, 0, ?4, 0, 0, 0, ?5, 0)", NULL), ERR_OK);
    for (size_t i = 0; ended && i < ARRAY_LENGTH(quantiles); i++) {
        db_bind_i64(stmt, 1, ref);
        db_bind_str(stmt, 2, str_of(quantiles[i].name));
        db_bind_i64(stmt, 3, ended);
        db_bind_i64(stmt, 4, quantiles[i].median);
        db_bind_i64(stmt, 5, quantiles[i].max);
        assert_int_equal(db_run(stmt, NULL), ERR_OK);
    }
    db_finalize(stmt);
}

static void expect(int64_t skew, int64_t gc)
{
    int64_t skew_grade, gc_grade;
    assert_int_equal(annotate_app(&db, &skew_grade, &gc_grade, NULL), ERR_OK);
    assert_int_equal(skew_grade, skew);
    assert_int_equal(gc_grade, gc);
}

static void without_an_ended_task_nothing_is_known(void **state)
{
    (void)state;
    expect(UNKNOWN, UNKNOWN);
    add_stage(1, 0, UNKNOWN, UNKNOWN, 0, 0, 0);
    expect(UNKNOWN, UNKNOWN);
}

static void the_worst_stage_counts_for_each_judgement(void **state)
{
    (void)state;
    add_stage(1, 10, 10000, 100, 1000, 1100, 1000);
    expect(0, 0);
    add_stage(2, 10, 10000, 2000, 1000, 1100, 1000); /* a fifth in collections */
    expect(0, 3);
    add_stage(3, 10, 10000, UNKNOWN, 200, 4000, 5000000); /* twenty times the median, over uneven bytes */
    expect(4, 3);
    add_stage(4, 10, 10000, 4000, 1000, 5000, 5000000);
    expect(4, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_an_ended_task_nothing_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(the_worst_stage_counts_for_each_judgement, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
