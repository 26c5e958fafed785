/* SPDX-License-Identifier: Apache-2.0
 *
 * Small application databases for tests of analysis, row by row: what a test does not say is unknown or 0. Everything is in memory; app_clear begins anew. Call app_pack when
 * all tasks are there: it writes task_column, which is all that analysis reads of tasks. Not for more than one thread. */
#ifndef TESTS_UNIT_ANALYSIS_APP_ROWS_H
#define TESTS_UNIT_ANALYSIS_APP_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/db.h"
#include "base/int_column.h"

#define TASK_CELLS(X)                                                                                                                                                            \
    X(task_id)                                                                                                                                                                   \
    X(task_index)                                                                                                                                                                \
    X(attempt) X(partition_id) X(executor_ref) X(launch_ms) X(finish_ms) X(getting_result_ms) X(locality) X(speculative) X(status) X(end_reason) X(error_text_id) X(has_metrics) \
        X(executor_deserialize_time_ms) X(executor_run_time_ms) X(executor_cpu_time_ns) X(peak_execution_memory_bytes) X(result_size_bytes) X(jvm_gc_time_ms)                    \
            X(result_serialization_time_ms) X(memory_spilled_bytes) X(disk_spilled_bytes) X(input_bytes) X(input_records) X(output_bytes) X(output_records)                      \
                X(shuffle_fetch_wait_time_ms) X(shuffle_remote_read_bytes) X(shuffle_local_read_bytes) X(shuffle_records_read) X(shuffle_write_bytes) X(shuffle_write_time_ns)   \
                    X(shuffle_write_records)

struct task_cells {
    int64_t stage_ref;
#define X(name) int64_t name;
    TASK_CELLS(X)
#undef X
};
static const char *const task_cell_names[] = {
#define X(name) #name,
    TASK_CELLS(X)
#undef X
};
#define TASK_CELL_COUNT (sizeof task_cell_names / sizeof *task_cell_names)

static struct db app_db;
#define APP_TASKS 8192
static struct task_cells app_tasks[APP_TASKS];
static size_t app_task_count;

static char app_tables[32][32]; /* that rows were put into, to be emptied */
static size_t app_table_count;

static void note_table(const char *sql)
{
    const char *into = strstr(sql, "INTO ");
    char name[32];
    if (!into || sscanf(into, "INTO %31s", name) != 1 || strcmp(name, "task_column_name") == 0)
        return;
    for (size_t i = 0; i < app_table_count; i++)
        if (strcmp(app_tables[i], name) == 0)
            return;
    assert_true(app_table_count < sizeof app_tables / sizeof *app_tables);
    memcpy(app_tables[app_table_count++], name, sizeof name);
}

__attribute__((format(printf, 1, 2), unused)) static void app_sql(const char *format, ...)
{
    char sql[4096];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    assert_in_range(length, 1, sizeof sql - 1);
    note_table(sql);
    struct err err = {0};
    if (db_exec(&app_db, sql, &err))
        fail_msg("%s: %s", sql, err.message);
}

static int app_open(void **state)
{
    (void)state;
    struct err err = {0};
    db_setup();
    if (db_open(&app_db, ":memory:", DB_NEW, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err))
        fail_msg("%s", err.message);
    assert_int_equal(db_keep_statements(&app_db, NULL), ERR_OK);
    for (size_t i = 0; i < TASK_CELL_COUNT; i++)
        app_sql("INSERT INTO task_column_name VALUES (%zu, '%s')", i + 2, task_cell_names[i]);
    return 0;
}

static int app_close(void **state)
{
    (void)state;
    db_close(&app_db);
    return 0;
}

__attribute__((unused)) static int app_clear(void **state)
{
    (void)state;
    while (app_table_count)
        app_sql("DELETE FROM %s", app_tables[--app_table_count]);
    app_task_count = 0;
    return 0;
}

/* An epoch time or any other number for SQL; UNKNOWN is NULL. A few at a time. */
static const char *sql_number(int64_t value)
{
    static char texts[32][24];
    static size_t next;
    char *text = texts[next++ % 32];
    if (value == UNKNOWN)
        return "NULL";
    snprintf(text, sizeof texts[0], "%lld", (long long)value);
    return text;
}

__attribute__((unused)) static void add_application(int64_t start_ms, int64_t end_ms)
{
    app_sql("INSERT INTO application (app_id, spark_version, start_ms, end_ms, first_event_ms) VALUES ('app-1', '3.5.7', %s, %s, %s)", sql_number(start_ms), sql_number(end_ms),
            sql_number(start_ms));
}

__attribute__((unused)) static void add_setting(const char *name, const char *value)
{
    app_sql("INSERT INTO environment VALUES (1, '%s', '%s')", name, value);
}

__attribute__((unused)) static void add_executor(int64_t ref, const char *id, int64_t cores, int64_t add_ms, int64_t remove_ms)
{
    app_sql(
        "INSERT INTO executor (executor_ref, executor_id, announced, superseded, active, total_cores, add_ms, remove_ms, active_tasks, failed_tasks, completed_tasks, total_tasks,"
        " total_duration_ms, total_gc_time_ms, total_input_bytes, total_shuffle_read_bytes, total_shuffle_write_bytes, task_count, failed_task_count, killed_task_count, task_time_ms,"
        " is_excluded, excluded_in_stages, peaks_set) VALUES (%s, '%s', 1, 0, %d, %s, %s, %s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0)",
        sql_number(ref), id, remove_ms == UNKNOWN, sql_number(cores), sql_number(add_ms), sql_number(remove_ms));
}

/* status: as job.status. */
__attribute__((unused)) static void add_job(int64_t id, int64_t begin_ms, int64_t end_ms, int status)
{
    app_sql(
        "INSERT INTO job (job_id, submission_ms, completion_ms, status, start_seen, active_tasks, completed_tasks, skipped_tasks, failed_tasks, killed_tasks, completed_indices,"
        " active_stages, completed_stages, skipped_stages, failed_stages) VALUES (%s, %s, %s, %d, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
        sql_number(id), sql_number(begin_ms), sql_number(end_ms), status);
}

__attribute__((unused)) static void list_stage(int64_t job_id, int64_t stage_id)
{
    app_sql("INSERT INTO job_stage SELECT %lld, count(*), %lld, 0, 1, 0 FROM job_stage WHERE job_id = %lld", (long long)job_id, (long long)stage_id, (long long)job_id);
}

/* status: as stage.status. */
__attribute__((unused)) static void add_stage(int64_t ref, int64_t id, int64_t attempt, int64_t num_tasks, int64_t submission_ms, int64_t completion_ms, int status)
{
    app_sql(
        "INSERT INTO stage (stage_ref, stage_id, attempt, status, announced, submitted_seen, completed_seen, num_tasks, submission_ms, completion_ms, active_tasks, complete_tasks,"
        " failed_tasks, killed_tasks, completed_indices, speculative_tasks, speculative_active, speculative_completed, speculative_failed, speculative_killed, locality_process,"
        " locality_node, locality_none, locality_rack, locality_any, task_rows, ended_tasks, peaks_set)"
        " VALUES (%s, %s, %s, %d, 1, %d, %d, %s, %s, %s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
        sql_number(ref), sql_number(id), sql_number(attempt), status, status != 4, status == 2 || status == 3, sql_number(num_tasks), sql_number(submission_ms),
        sql_number(completion_ms));
}

__attribute__((unused)) static void add_execution(int64_t id, int64_t root, int64_t begin_ms, int64_t end_ms)
{
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, completion_ms, status, start_seen, end_seen) VALUES (%lld, %lld, %s, %s, 1, 1, 1)",
            (long long)id, (long long)root, sql_number(begin_ms), sql_number(end_ms));
}

/* A successful task without metrics, whose index and partition are `index`; the caller changes what it wants before the next one is added. */
__attribute__((unused)) static struct task_cells *add_task(int64_t stage_ref, int64_t id, int64_t index, int64_t executor_ref, int64_t launch_ms, int64_t finish_ms)
{
    assert_true(app_task_count < sizeof app_tasks / sizeof *app_tasks);
    struct task_cells *task = &app_tasks[app_task_count++];
    int64_t *cells = &task->task_id;
    for (size_t i = 0; i < TASK_CELL_COUNT; i++)
        cells[i] = UNKNOWN;
    task->stage_ref = stage_ref;
    task->task_id = id;
    task->task_index = task->partition_id = index;
    task->attempt = task->speculative = task->has_metrics = 0;
    task->executor_ref = executor_ref;
    task->launch_ms = launch_ms;
    task->finish_ms = finish_ms;
    task->status = finish_ms == UNKNOWN ? 0 : 1;
    task->end_reason = finish_ms == UNKNOWN ? UNKNOWN : 0;
    return task;
}

/* Spark's reasons, as task.end_reason. */
enum { REASON_FETCH = 2, REASON_EXCEPTION = 3, REASON_KILLED = 5, REASON_COMMIT_DENIED = 6, REASON_LOST = 7 };

__attribute__((unused)) static void fail_task(struct task_cells *task, int64_t reason)
{
    task->status = reason == REASON_KILLED ? 3 : 2;
    task->end_reason = reason;
}

static void pack_chunk(int64_t stage_ref, int64_t chunk, const struct task_cells *const *tasks, size_t count)
{
    static int64_t values[APP_TASKS];
    for (size_t c = 0; c < TASK_CELL_COUNT; c++) {
        struct buf blob;
        buf_init(&blob, 1 << 20);
        for (size_t i = 0; i < count; i++)
            values[i] = (&tasks[i]->task_id)[c];
        if (int_column_pack(values, count, &blob)) {
            sqlite3_stmt *stmt = NULL;
            note_table("INTO task_column");
            assert_int_equal(db_prepare(&app_db, &stmt, "INSERT INTO task_column VALUES (?, ?, ?, ?)", NULL), ERR_OK);
            db_bind_i64(stmt, 1, stage_ref);
            db_bind_i64(stmt, 2, (int64_t)c + 2);
            db_bind_i64(stmt, 3, chunk);
            db_bind_blob(stmt, 4, blob.data, blob.len);
            assert_int_equal(db_run(stmt, NULL), ERR_OK);
            db_finalize(stmt);
        }
        buf_dispose(&blob);
    }
}

/* In the order in which they were added, `per_chunk` to a chunk; and the stages' numbers of rows. */
__attribute__((unused)) static void app_pack_chunks(size_t per_chunk)
{
    static const struct task_cells *of_stage[APP_TASKS];
    static bool done[APP_TASKS];
    memset(done, 0, sizeof done);
    for (size_t first = 0; first < app_task_count; first++) {
        if (done[first])
            continue;
        int64_t ref = app_tasks[first].stage_ref, chunk = 0;
        size_t count = 0, all = 0;
        for (size_t i = first; i < app_task_count; i++) {
            if (app_tasks[i].stage_ref != ref)
                continue;
            done[i] = true;
            all++;
            of_stage[count++] = &app_tasks[i];
            if (count == per_chunk) {
                pack_chunk(ref, chunk++, of_stage, count);
                count = 0;
            }
        }
        if (count)
            pack_chunk(ref, chunk, of_stage, count);
        app_sql("UPDATE stage SET task_rows = %zu WHERE stage_ref = %lld", all, (long long)ref);
    }
}

__attribute__((unused)) static void app_pack(void)
{
    app_pack_chunks(4096);
}

#endif
