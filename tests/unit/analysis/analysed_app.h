/* SPDX-License-Identifier: Apache-2.0
 *
 * Small applications for tests of rules and audits: rows made by hand (app_rows.h), then all of analysis over them, then what it stored. Times are seconds from the begin; the run takes a minute,
 * is complete, and has one executor of two slots. */
#ifndef TESTS_UNIT_ANALYSIS_ANALYSED_APP_H
#define TESTS_UNIT_ANALYSIS_ANALYSED_APP_H

#include "app_rows.h"

#include "analysis/analyse.h"
#include "analysis/finding.h"

#define T0 INT64_C(1700000000000)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static int64_t next_task;

static int app_begin(void **state)
{
    app_open(state);
    next_task = 0;
    app_task_count = 0;
    add_application(T0, T0 + 60000);
    app_sql("INSERT INTO log_health VALUES (1, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)");
    add_setting("spark.master", "spark://master:7077");
    add_executor(1, "1", 2, T0, UNKNOWN);
    return 0;
}

/* A job and its only stage, both of this number, with `tasks` tasks of equal length side by side on two slots; of SQL execution `sql` unless that is UNKNOWN. */
__attribute__((unused)) static void run_stage(int64_t number, int64_t begin_s, int64_t tasks, int64_t task_ms, int64_t sql)
{
    int64_t begin = T0 + begin_s * 1000, end = begin + (tasks + 1) / 2 * task_ms;
    add_job(number, begin, end, 1);
    list_stage(number, number);
    add_stage(number, number, 0, tasks, begin, end, 2);
    if (sql != UNKNOWN) {
        app_sql("UPDATE job SET sql_execution_id = %lld WHERE job_id = %lld", (long long)sql, (long long)number);
        app_sql("UPDATE stage SET sql_execution_id = %lld WHERE stage_ref = %lld", (long long)sql, (long long)number);
    }
    for (int64_t i = 0; i < tasks; i++) {
        struct task_cells *task = add_task(number, next_task++, i, 1, begin + i / 2 * task_ms, begin + (i / 2 + 1) * task_ms);
        task->has_metrics = 1;
        task->executor_run_time_ms = task_ms;
        task->executor_cpu_time_ns = task_ms * 1000000;
        task->executor_deserialize_time_ms = task->jvm_gc_time_ms = task->result_serialization_time_ms = 0;
    }
}

__attribute__((unused)) static void analyse_app(void)
{
    struct err err = {0};
    app_pack_chunks(4096);
    if (analyse(&app_db, &err))
        fail_msg("%s", err.message);
}

/* One number that a query gives; NAN: NULL, or no row. */
__attribute__((unused, format(printf, 1, 2))) static double number_of(const char *format, ...)
{
    char sql[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(db_prepare(&app_db, &stmt, sql, NULL), ERR_OK);
    double out = db_step(stmt, NULL) == ERR_OK ? db_f64(stmt, 0) : (double)__builtin_nan("");
    db_finalize(stmt);
    return out;
}

/* Copies the one text that a query gives; "" for NULL and no row. */
__attribute__((unused)) static const char *text_of(const char *sql)
{
    static char text[8][400];
    static size_t next;
    char *out = text[next++ % 8];
    sqlite3_stmt *stmt = NULL;
    out[0] = '\0';
    assert_int_equal(db_prepare(&app_db, &stmt, sql, NULL), ERR_OK);
    if (db_step(stmt, NULL) == ERR_OK && !db_is_null(stmt, 0))
        snprintf(out, sizeof text[0], "%.*s", (int)db_str(stmt, 0).len, db_str(stmt, 0).ptr);
    db_finalize(stmt);
    return out;
}

/* The measure of a rule on a subject; NAN: no such row. */
__attribute__((unused)) static double measure(const char *rule, const char *key)
{
    return number_of("SELECT measure FROM finding WHERE rule_id = '%s' AND subject_key = '%s'", rule, key);
}

__attribute__((unused)) static const char *mute_of_rule(const char *rule)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT mute FROM finding WHERE rule_id = '%s' ORDER BY finding_no LIMIT 1", rule);
    return text_of(sql);
}

/* Passes its first threshold on some subject, and nothing mutes it. */
__attribute__((unused)) static bool fires(const char *rule)
{
    sqlite3_stmt *stmt = NULL;
    bool out = false;
    const struct rule *found = rule_find(str_of(rule));
    assert_non_null(found);
    assert_int_equal(db_prepare(&app_db, &stmt, "SELECT measure, at_least FROM finding WHERE rule_id = ? AND mute IS NULL", NULL), ERR_OK);
    db_bind_str(stmt, 1, str_of(rule));
    while (db_step(stmt, NULL) == ERR_OK)
        out |= ladder_grade(&found->ladder, db_f64(stmt, 0)) > GRADE_OK || db_i64(stmt, 1) > 0;
    db_finalize(stmt);
    return out;
}

#define assert_near(value, expected) \
    assert_true((value) > (expected)-1e-6 * ((expected) < 0 ? -(expected) : (expected)) - 1e-9 && (value) < (expected) + 1e-6 * ((expected) < 0 ? -(expected) : (expected)) + 1e-9)

#define TEST(name) cmocka_unit_test_setup_teardown(name, app_begin, app_close)

#endif
