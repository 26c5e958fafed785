/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/int_column.h"
#include "base/mem.h"
#include "ingest/store/task_store.h"

enum { STAGE = 7, TASKS = 40000, STEP = 7 };   /* TASKS and STEP share no factor: i * STEP % TASKS takes each value once */

struct fixture {
    char path[64];
    struct db db;
    struct task_store *store;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/test_task_store.%d.db", (int)getpid());
    unlink(f->path);
    struct err err;
    assert_int_equal(db_open(&f->db, f->path, DB_BULK, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err), ERR_OK);
    assert_int_equal(db_begin(&f->db, &err), ERR_OK);
    assert_int_equal(task_store_new(&f->store, &f->db, &err), ERR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    task_store_free(f->store);
    db_rollback(&f->db);
    db_close(&f->db);
    char name[80];
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        snprintf(name, sizeof name, "%s%s", f->path, endings[i]);
        unlink(name);
    }
    free(f);
    return 0;
}

static struct task_row task(int64_t seq, int64_t run_ms, enum task_status status)
{
    struct task_row row;
    memset(&row, 0, sizeof row);
    row.task_seq = seq;
    row.stage_ref = STAGE;
    row.task_id = seq + 100;
    row.task_index = seq;
    row.launch_ms = 1000000;
    row.finish_ms = 1000000 + run_ms + 15;
    row.partition_id = row.getting_result_ms = row.error_text_id = UNKNOWN;
    row.status = status;
    row.end_reason = status == TASK_SUCCESS ? 0 : 3;
    row.has_metrics = 1;
    for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
        row.metrics[i] = UNKNOWN;
    for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++)
        row.peaks[i] = UNKNOWN;
    row.metrics[METRIC_EXECUTOR_RUN_TIME] = run_ms;
    row.metrics[METRIC_EXECUTOR_DESERIALIZE_TIME] = 4;
    row.metrics[METRIC_RESULT_SERIALIZATION_TIME] = 1;
    return row;
}

static void add(struct fixture *f, const struct task_row *row)
{
    struct err err = {0};
    if (task_store_add(f->store, row, 1, &err))
        fail_msg("%s", err.message);
}

static int64_t number(struct fixture *f, const char *sql)
{
    int64_t out;
    struct err err = {0};
    if (db_query_i64(&f->db, sql, &out, &err))
        fail_msg("%s", err.message);
    return out;
}

static void add_many(struct fixture *f)
{
    for (int64_t i = 0; i < TASKS; i++) {
        struct task_row row = task(i + 1, i * STEP % TASKS, TASK_SUCCESS);
        add(f, &row);
    }
}

#define QUANTILE(name, what) "SELECT " what " FROM stage_quantile WHERE stage_ref = 7 AND name = '" name "'"

static void quantiles_are_exact_over_several_chunks(void **state)
{
    struct fixture *f = *state;
    struct err err;
    add_many(f);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    /* the values are 0 … 39999, each once: element trunc(q * n) is trunc(q * 40000) */
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "task_count")), TASKS);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "min")), 0);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p05")), 2000);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p25")), 10000);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p50")), 20000);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p75")), 30000);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p95")), 38000);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p99")), 39600);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "max")), 39999);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "sum")), (int64_t)TASKS * (TASKS - 1) / 2);
    assert_int_equal(number(f, QUANTILE("duration_ms", "p50")), 20015);
    assert_int_equal(number(f, QUANTILE("scheduler_delay_ms", "min")), 10);   /* 15 − 4 − 1 */
    assert_int_equal(number(f, QUANTILE("scheduler_delay_ms", "max")), 10);
    assert_int_equal(number(f, "SELECT count(*) FROM stage_quantile WHERE name = 'input_bytes'"), 0);   /* never logged: unknown, no row */
}

static void columns_hold_the_rows_in_order(void **state)
{
    struct fixture *f = *state;
    struct err err;
    add_many(f);
    assert_int_equal(task_store_flush(f->store, &err), ERR_OK);
    sqlite3_stmt *stmt;
    assert_int_equal(db_prepare(&f->db, &stmt,
                                "SELECT packed FROM task_column JOIN task_column_name USING (column_id) WHERE stage_ref = 7 AND name = 'executor_run_time_ms' ORDER BY chunk",
                                &err),
                     ERR_OK);
    int64_t *values = mem_array(TASKS, sizeof *values);
    size_t at = 0;
    while (db_step(stmt, &err) == ERR_OK) {
        size_t count;
        assert_int_equal(int_column_count(db_blob(stmt, 0), &count, &err), ERR_OK);
        assert_int_equal(int_column_unpack(db_blob(stmt, 0), values + at, TASKS - at, &err), ERR_OK);
        at += count;
    }
    db_finalize(stmt);
    assert_int_equal(at, TASKS);
    for (int64_t i = 0; i < TASKS; i++)
        assert_int_equal(values[i], i * STEP % TASKS);
    mem_free(values);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), TASKS);
    assert_int_equal(number(f, "SELECT count(*) FROM task_column JOIN task_column_name USING (column_id) WHERE name = 'input_bytes'"), 0);
}

static void failed_tasks_stay_out_of_quantiles(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct task_row rows[] = {task(1, 10, TASK_SUCCESS), task(2, 20, TASK_SUCCESS), task(3, 9000, TASK_FAILED), task(4, 30, TASK_SUCCESS), task(5, 40, TASK_SUCCESS)};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        add(f, &rows[i]);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    /* spec/core.md §3.10: values 10, 20, 30, 40: q 0.25 → 20, 0.5 → 30, 0.75 → 40, 1 → 40 */
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "task_count")), 4);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p25")), 20);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p50")), 30);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "p75")), 40);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "max")), 40);
}

/* Every count from 1 to 200, with repeated values, against sorting. */
static int compare_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void quantiles_of_few_values_are_those_of_the_sorted_list(void **state)
{
    struct fixture *f = *state;
    struct err err;
    static const char *const names[] = {"min", "p05", "p25", "p50", "p75", "p95", "p99", "max"};
    static const double at[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    int64_t sorted[200], seq = 1;
    for (int64_t count = 1; count <= 200; count += 7) {
        for (int64_t i = 0; i < count; i++) {
            struct task_row row = task(seq++, sorted[i] = i * 37 % 53, TASK_SUCCESS);
            row.stage_ref = count;
            add(f, &row);
        }
        qsort(sorted, (size_t)count, sizeof *sorted, compare_i64);
        assert_int_equal(task_store_summarise(f->store, count, true, &err), ERR_OK);
        for (size_t q = 0; q < ARRAY_LENGTH(at); q++) {
            char sql[200];
            snprintf(sql, sizeof sql, "SELECT %s FROM stage_quantile WHERE stage_ref = %d AND name = 'executor_run_time_ms'", names[q], (int)count);
            int64_t index = (int64_t)(at[q] * (double)count);
            assert_int_equal(number(f, sql), sorted[index < count ? index : count - 1]);
        }
    }
}

static void rows_after_the_summary_open_another_chunk_and_count(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct task_row first = task(1, 10, TASK_SUCCESS), late = task(2, 50, TASK_SUCCESS);
    add(f, &first);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    late.metrics[METRIC_INPUT_BYTES] = 5;   /* a column that the first chunk has not */
    add(f, &late);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "task_count")), 2);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "max")), 50);
    assert_int_equal(number(f, QUANTILE("input_bytes", "task_count")), 1);
    struct task_row third = task(3, 7, TASK_SUCCESS);
    add(f, &third);
    assert_int_equal(task_store_summarise(f->store, STAGE, false, &err), ERR_OK);
    assert_int_equal(number(f, QUANTILE("input_bytes", "max")), 5);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "min")), 7);
}

static void impossible_times_do_not_overflow_the_scheduler_delay(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct task_row row = task(1, 10, TASK_SUCCESS);
    row.launch_ms = INT64_MAX;
    row.metrics[METRIC_EXECUTOR_RUN_TIME] = INT64_MAX;
    add(f, &row);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    assert_int_equal(number(f, QUANTILE("scheduler_delay_ms", "max")), 0);
}

/* More stages at a time than there is memory for; TASK_STORE_BYTES are some 5,000 chunks of 16 rows. */
static void tasks_of_thousands_of_open_stages_in_turn_keep_their_order(void **state)
{
    struct fixture *f = *state;
    struct err err;
    enum { STAGES = 12000 };
    for (int64_t i = 0; i < 2 * STAGES; i++) {
        struct task_row row = task(i + 1, 10 + i / STAGES, TASK_SUCCESS);
        row.stage_ref = i % STAGES + 1;
        add(f, &row);
    }
    for (int64_t ref = 1; ref <= STAGES; ref += STAGES - 1) {
        char sql[200];
        assert_int_equal(task_store_summarise(f->store, ref, true, &err), ERR_OK);
        snprintf(sql, sizeof sql, "SELECT 1000 * min + max FROM stage_quantile WHERE stage_ref = %d AND name = 'executor_run_time_ms' AND task_count = 2", (int)ref);
        assert_int_equal(number(f, sql), 10011);
    }
}

static void rows_of_open_tasks_go_when_the_log_goes_on(void **state)
{
    struct fixture *f = *state;
    struct err err;
    struct task_row ended = task(1, 10, TASK_SUCCESS), open = task(2, 0, TASK_NO_END);
    open.finish_ms = open.end_reason = UNKNOWN;
    add(f, &ended);
    add(f, &open);
    assert_int_equal(task_store_flush(f->store, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), 2);
    assert_int_equal(task_store_resume(f->store, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), 1);
    struct task_row now_ended = task(2, 30, TASK_SUCCESS);
    add(f, &now_ended);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), 2);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "max")), 30);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "task_count")), 2);
}

static void many_open_tasks_stay_in_bounded_memory_and_go_again(void **state)
{
    struct fixture *f = *state;
    struct err err;
    for (int64_t i = 1; i <= TASKS; i++) {
        struct task_row row = task(i, 5, i <= 100 ? TASK_SUCCESS : TASK_NO_END);
        if (i > 100)
            row.finish_ms = row.end_reason = UNKNOWN;
        add(f, &row);
    }
    assert_int_equal(task_store_summarise(f->store, STAGE, false, &err), ERR_OK);
    assert_int_equal(task_store_flush(f->store, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT max(chunk) FROM task_column"), 3);   /* 100 ended ones, then 39,900 in chunks of 16,384 */
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "task_count")), 100);
    assert_int_equal(task_store_resume(f->store, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT max(chunk) FROM task_column"), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), 100);
    struct task_row next = task(101, 9, TASK_SUCCESS);
    add(f, &next);
    assert_int_equal(task_store_summarise(f->store, STAGE, true, &err), ERR_OK);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "max")), 9);
    assert_int_equal(number(f, QUANTILE("executor_run_time_ms", "task_count")), 101);
}

/* Rows of one call go into statements of many rows and into columns several at a time: neither may mix them up. Stages change after 1, 2, 3 … rows; the last five are open. */
static void rows_added_together_are_each_in_their_place(void **state)
{
    struct fixture *f = *state;
    struct err err;
    enum { ROWS = 1003, OPEN = 5, STAGES = 3 };
    static struct task_row rows[ROWS];
    static int64_t expected[STAGES][ROWS], unpacked[ROWS];
    size_t counts[STAGES] = {0}, run = 1, left = 1, stage = 0;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = task((int64_t)i + 1, (int64_t)(i * i), i < ROWS - OPEN ? TASK_SUCCESS : TASK_NO_END);
        rows[i].stage_ref = (int64_t)stage + 1;
        if (i >= ROWS - OPEN)
            rows[i].finish_ms = rows[i].end_reason = UNKNOWN;
        else
            expected[stage][counts[stage]++] = (int64_t)(i * i);
        if (--left == 0) {
            left = ++run;
            stage = (stage + 1) % STAGES;
        }
    }
    assert_int_equal(task_store_add(f->store, rows, ROWS, &err), ERR_OK);
    assert_int_equal(task_store_flush(f->store, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM task WHERE executor_run_time_ms = (task_seq - 1) * (task_seq - 1) AND task_id = task_seq + 100"), ROWS);
    assert_int_equal(task_store_resume(f->store, &err), ERR_OK);
    assert_int_equal(number(f, "SELECT count(*) FROM task"), ROWS - OPEN);
    for (size_t s = 0; s < STAGES; s++) {
        sqlite3_stmt *stmt = NULL;
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT packed FROM task_column JOIN task_column_name USING (column_id) WHERE name = 'executor_run_time_ms' AND chunk = 0 AND stage_ref = %d", (int)s + 1);
        assert_int_equal(db_prepare(&f->db, &stmt, sql, &err), ERR_OK);
        assert_int_equal(db_step(stmt, &err), ERR_OK);
        size_t count;
        assert_int_equal(int_column_count(db_blob(stmt, 0), &count, &err), ERR_OK);
        assert_int_equal(count, counts[s]);
        assert_int_equal(int_column_unpack(db_blob(stmt, 0), unpacked, ROWS, &err), ERR_OK);
        assert_memory_equal(unpacked, expected[s], count * sizeof *unpacked);
        db_finalize(stmt);
    }
}

static void the_column_table_names_every_column_of_task(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        number(f, "SELECT count(*) FROM task_column_name WHERE name NOT IN (SELECT name FROM pragma_table_info('task') UNION SELECT name FROM pragma_table_info('stage'))"), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM pragma_table_info('task') WHERE name NOT IN ('stage_ref', 'start_seen') "
                               "AND name NOT IN (SELECT name FROM task_column_name)"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(quantiles_are_exact_over_several_chunks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_hold_the_rows_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failed_tasks_stay_out_of_quantiles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(quantiles_of_few_values_are_those_of_the_sorted_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_after_the_summary_open_another_chunk_and_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(impossible_times_do_not_overflow_the_scheduler_delay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tasks_of_thousands_of_open_stages_in_turn_keep_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_open_tasks_go_when_the_log_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_open_tasks_stay_in_bounded_memory_and_go_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_added_together_are_each_in_their_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_column_table_names_every_column_of_task, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
