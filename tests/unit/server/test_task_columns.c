/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/int_column.h"
#include "base/units.h"
#include "server/task_columns.h"

#define U UNKNOWN

/* ---- A stage in memory ---- */

static int open_memory(void **state)
{
    static struct db db;
    assert_int_equal(db_open(&db, ":memory:", DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL), ERR_OK);
    assert_int_equal(db_exec(&db, "PRAGMA foreign_keys = OFF", NULL), ERR_OK);
    *state = &db;
    return 0;
}

static int close_memory(void **state)
{
    db_close(*state);
    return 0;
}

static void sql(struct db *db, const char *text)
{
    struct err err = {0};
    if (db_exec(db, text, &err))
        fail_msg("%s: %s", err.message, text);
}

static void add_stage(struct db *db, int64_t ref, int64_t rows, int64_t first, int64_t last)
{
    char text[1024];
    snprintf(text, sizeof text,
             "INSERT INTO stage (stage_ref, stage_id, attempt, status, announced, submitted_seen, completed_seen, active_tasks, complete_tasks, failed_tasks, killed_tasks, "
             "completed_indices, speculative_tasks, speculative_active, speculative_completed, speculative_failed, speculative_killed, locality_process, locality_node, "
             "locality_none, locality_rack, locality_any, task_rows, ended_tasks, first_task_seq, last_task_seq, peaks_set) "
             "VALUES (%lld, %lld, 0, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, %lld, %lld, %lld, %lld, 0)",
             (long long)ref, (long long)ref, (long long)rows, (long long)rows, (long long)first, (long long)last);
    sql(db, text);
}

static void add_chunk(struct db *db, int64_t ref, const char *name, int64_t chunk, const int64_t *values, size_t count)
{
    struct buf packed;
    sqlite3_stmt *stmt;
    buf_init(&packed, 1 << 24);
    if (!int_column_pack(values, count, &packed))
        return;                      /* all unknown: no row */
    assert_int_equal(db_prepare(db, &stmt, "INSERT INTO task_column_name (name) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM task_column_name WHERE name = ?1)", NULL), ERR_OK);
    db_bind_str(stmt, 1, str_of(name));
    assert_int_equal(db_run(stmt, NULL), ERR_OK);
    db_finalize(stmt);
    assert_int_equal(
        db_prepare(db, &stmt, "INSERT INTO task_column (stage_ref, column_id, chunk, packed) SELECT ?1, column_id, ?3, ?4 FROM task_column_name WHERE name = ?2", NULL), ERR_OK);
    db_bind_i64(stmt, 1, ref);
    db_bind_str(stmt, 2, str_of(name));
    db_bind_i64(stmt, 3, chunk);
    db_bind_blob(stmt, 4, packed.data, packed.len);
    assert_int_equal(db_run(stmt, NULL), ERR_OK);
    db_finalize(stmt);
    buf_dispose(&packed);
}

static struct task_columns *open_stage(struct db *db, int64_t ref)
{
    struct task_columns *columns;
    assert_int_equal(task_columns_open(&columns, db, ref, NULL), ERR_OK);
    return columns;
}

static void assert_column(struct task_columns *columns, const char *name, const int64_t *expected, size_t count)
{
    const int64_t *values;
    struct err err = {0};
    if (task_columns_get(columns, name, &values, &err))
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(task_columns_count(columns), count);
    for (size_t i = 0; i < count; i++)
        if (values[i] != expected[i])
            fail_msg("%s[%zu] is %lld, not %lld", name, i, (long long)values[i], (long long)expected[i]);
}

static void chunks_follow_one_another_and_missing_ones_are_unknown(void **state)
{
    struct db *db = *state;
    add_stage(db, 7, 5, 11, 15);
    add_chunk(db, 7, "task_id", 0, (int64_t[]){100, 101, 102}, 3);
    add_chunk(db, 7, "task_id", 1, (int64_t[]){103, 104}, 2);
    add_chunk(db, 7, "input_bytes", 1, (int64_t[]){U, 9}, 2);
    struct task_columns *columns = open_stage(db, 7);
    assert_column(columns, "task_id", (int64_t[]){100, 101, 102, 103, 104}, 5);
    assert_column(columns, "input_bytes", (int64_t[]){U, U, U, U, 9}, 5);
    assert_column(columns, "output_bytes", (int64_t[]){U, U, U, U, U}, 5);
    assert_column(columns, "task_seq", (int64_t[]){11, 12, 13, 14, 15}, 5);
    task_columns_free(columns);
}

struct walked {
    size_t pieces, tasks;
    int64_t ids, bytes;              /* sums; unknown bytes count −1 */
};

static enum err_code take(void *context, size_t first, size_t count, const int64_t *const *values, struct err *err)
{
    (void)err;
    struct walked *self = context;
    assert_int_equal(first, self->tasks);
    self->pieces++;
    self->tasks += count;
    for (size_t i = 0; i < count; i++) {
        self->ids += values[0][i];
        self->bytes += known_or(values[1][i], -1);
    }
    return ERR_OK;
}

static enum err_code take_last(void *context, size_t first, size_t count, const int64_t *const *values, struct err *err)
{
    (void)err;
    assert_int_equal(first, 3);
    assert_int_equal(count, 2);
    assert_int_equal(values[0][1], 104);
    assert_int_equal(values[1][1], 9);
    ++*(int *)context;
    return ERR_OK;
}

static void a_walk_sees_each_task_once_and_passes_over_pieces_without_a_wanted_one(void **state)
{
    static const char *const names[] = {"task_id", "input_bytes"};
    struct db *db = *state;
    add_stage(db, 7, 5, 11, 15);
    add_chunk(db, 7, "task_id", 0, (int64_t[]){100, 101, 102}, 3);
    add_chunk(db, 7, "task_id", 1, (int64_t[]){103, 104}, 2);
    add_chunk(db, 7, "input_bytes", 1, (int64_t[]){U, 9}, 2);
    struct task_columns *columns = open_stage(db, 7);
    struct walked walked = {0};
    assert_int_equal(task_columns_walk(columns, names, 2, NULL, take, &walked, NULL), ERR_OK);
    assert_int_equal(walked.pieces, 2);
    assert_int_equal(walked.tasks, 5);
    assert_int_equal(walked.ids, 510);
    assert_int_equal(walked.bytes, 9 - 4);
    int calls = 0;
    assert_int_equal(task_columns_walk(columns, names, 2, (const unsigned char[]){0, 0, 0, 0, 1}, take_last, &calls, NULL), ERR_OK);
    assert_int_equal(calls, 1);
    calls = 0;
    assert_int_equal(task_columns_walk(columns, names, 2, (const unsigned char[]){0, 0, 0, 0, 0}, take_last, &calls, NULL), ERR_OK);
    assert_int_equal(calls, 0);
    task_columns_free(columns);
}

static void a_forgotten_column_can_be_asked_for_again(void **state)
{
    struct db *db = *state;
    add_stage(db, 1, 2, 1, 2);
    add_chunk(db, 1, "task_id", 0, (int64_t[]){8, 9}, 2);
    add_chunk(db, 1, "input_bytes", 0, (int64_t[]){3, 4}, 2);
    struct task_columns *columns = open_stage(db, 1);
    const int64_t *ids;
    assert_column(columns, "input_bytes", (int64_t[]){3, 4}, 2);
    assert_int_equal(task_columns_get(columns, "task_id", &ids, NULL), ERR_OK);
    task_columns_forget(columns, "input_bytes");
    task_columns_forget(columns, "never_loaded");
    assert_int_equal(ids[1], 9);                     /* the others stay where they are */
    assert_column(columns, "input_bytes", (int64_t[]){3, 4}, 2);
    task_columns_free(columns);
}

static void strewn_rows_take_their_numbers_from_the_column(void **state)
{
    struct db *db = *state;
    add_stage(db, 1, 3, 4, 90);
    add_chunk(db, 1, "task_id", 0, (int64_t[]){1, 2, 3}, 3);
    add_chunk(db, 1, "task_seq", 0, (int64_t[]){4, 6, 90}, 3);
    struct task_columns *columns = open_stage(db, 1);
    assert_column(columns, "task_seq", (int64_t[]){4, 6, 90}, 3);
    task_columns_free(columns);
}

static void a_stage_without_columns_is_read_from_its_rows(void **state)
{
    struct db *db = *state;
    add_stage(db, 2, 3, 1, 4);
    sql(db, "INSERT INTO task (task_seq, stage_ref, task_id, status, start_seen, has_metrics, launch_ms, finish_ms, input_bytes) VALUES "
            "(1, 2, 50, 1, 1, 1, 1000, 1300, 5), (2, 3, 51, 1, 1, 1, 0, 9, 9), (3, 2, 52, 2, 1, 0, 1000, 1100, NULL), (4, 2, 53, 0, 1, 0, 1200, NULL, NULL)");
    struct task_columns *columns = open_stage(db, 2);
    assert_column(columns, "task_id", (int64_t[]){50, 52, 53}, 3);
    assert_column(columns, "task_seq", (int64_t[]){1, 3, 4}, 3);
    assert_column(columns, "input_bytes", (int64_t[]){5, U, U}, 3);
    assert_column(columns, "duration_ms", (int64_t[]){300, 100, U}, 3);
    task_columns_free(columns);
}

static void derived_columns_follow_sparks_formulas(void **state)
{
    struct db *db = *state;
    enum { N = 5 };
    add_stage(db, 3, N, 1, N);
    /* Ended; ended with a fetched result; more work than time (never below 0); no metrics; without an end. */
    add_chunk(db, 3, "task_id", 0, (int64_t[]){1, 2, 3, 4, 5}, N);
    add_chunk(db, 3, "launch_ms", 0, (int64_t[]){2000, 2000, 2000, 2000, 2000}, N);
    add_chunk(db, 3, "finish_ms", 0, (int64_t[]){2100, 2500, 2010, 2050, U}, N);
    add_chunk(db, 3, "getting_result_ms", 0, (int64_t[]){U, 2400, 0, U, 2400}, N);
    add_chunk(db, 3, "executor_run_time_ms", 0, (int64_t[]){90, 300, 90, U, U}, N);
    add_chunk(db, 3, "executor_deserialize_time_ms", 0, (int64_t[]){1, 10, 1, U, U}, N);
    add_chunk(db, 3, "result_serialization_time_ms", 0, (int64_t[]){2, 5, U, U, U}, N);
    add_chunk(db, 3, "shuffle_remote_read_bytes", 0, (int64_t[]){7, U, 0, U, U}, N);
    add_chunk(db, 3, "shuffle_local_read_bytes", 0, (int64_t[]){4, 5, 0, U, U}, N);
    add_chunk(db, 3, "shuffle_local_blocks_fetched", 0, (int64_t[]){2, 3, 0, U, U}, N);
    struct task_columns *columns = open_stage(db, 3);
    assert_column(columns, "duration_ms", (int64_t[]){100, 500, 10, 50, U}, N);
    assert_column(columns, "getting_result_time_ms", (int64_t[]){0, 100, 0, 0, U}, N);
    assert_column(columns, "scheduler_delay_ms", (int64_t[]){7, 85, 0, 50, U}, N);
    assert_column(columns, "shuffle_read_bytes", (int64_t[]){11, 5, 0, U, U}, N);
    assert_column(columns, "shuffle_blocks_fetched", (int64_t[]){2, 3, 0, U, U}, N);
    task_columns_free(columns);
}

static void how_long_a_result_took_that_came_after_the_end_is_unknown(void **state)
{
    struct db *db = *state;
    add_stage(db, 4, 2, 1, 2);
    add_chunk(db, 4, "task_id", 0, (int64_t[]){1, 2}, 2);
    add_chunk(db, 4, "launch_ms", 0, (int64_t[]){2000, 2000}, 2);
    add_chunk(db, 4, "finish_ms", 0, (int64_t[]){2100, 2100}, 2);
    add_chunk(db, 4, "getting_result_ms", 0, (int64_t[]){2101, 2100}, 2);
    struct task_columns *columns = open_stage(db, 4);
    assert_column(columns, "getting_result_time_ms", (int64_t[]){U, 0}, 2);
    assert_column(columns, "scheduler_delay_ms", (int64_t[]){100, 100}, 2);
    task_columns_free(columns);
    assert_int_equal(task_getting_result_time_ms(2100, 2101), -1); /* for /api/v1 */
    assert_int_equal(task_scheduler_delay_ms(2100, 2000, 2101, 0, 0, 0), 101);
}

static void impossible_times_saturate(void **state)
{
    (void)state;
    assert_int_equal(task_scheduler_delay_ms(INT64_MAX, -5, U, 0, 0, 0), INT64_MAX);
    assert_int_equal(task_scheduler_delay_ms(INT64_MIN + 1, INT64_MAX, U, INT64_MAX, INT64_MAX, 3), 0);
    assert_int_equal(task_getting_result_time_ms(INT64_MIN + 1, INT64_MAX), INT64_MIN + 1);
}

static void unknown_names_are_refused(void **state)
{
    struct db *db = *state;
    add_stage(db, 4, 1, 1, 1);
    add_chunk(db, 4, "task_id", 0, (int64_t[]){1}, 1);
    struct task_columns *columns = open_stage(db, 4);
    const int64_t *values;
    assert_int_equal(task_columns_get(columns, "no_such", &values, NULL), ERR_NOT_FOUND);
    assert_int_equal(task_columns_get(columns, "input_bytes\" FROM task; --", &values, NULL), ERR_NOT_FOUND);
    task_columns_free(columns);
}

static void damaged_columns_are_an_error(void **state)
{
    struct db *db = *state;
    const int64_t *values;
    add_stage(db, 5, 3, 1, 3);
    add_chunk(db, 5, "task_id", 0, (int64_t[]){1, 2, 3}, 3);
    add_chunk(db, 5, "input_bytes", 0, (int64_t[]){1, 2, 3, 4}, 4);
    add_chunk(db, 5, "output_bytes", 6, (int64_t[]){1, 2, 3}, 3);
    add_chunk(db, 5, "launch_ms", 0, (int64_t[]){1, 2, 3}, 3);
    sql(db, "UPDATE task_column SET packed = x'0108000003' WHERE column_id = (SELECT column_id FROM task_column_name WHERE name = 'launch_ms')");
    struct task_columns *columns = open_stage(db, 5);
    assert_int_equal(task_columns_get(columns, "input_bytes", &values, NULL), ERR_CORRUPT);
    assert_int_equal(task_columns_get(columns, "output_bytes", &values, NULL), ERR_CORRUPT);
    assert_int_equal(task_columns_get(columns, "launch_ms", &values, NULL), ERR_CORRUPT);
    assert_column(columns, "task_id", (int64_t[]){1, 2, 3}, 3);
    task_columns_free(columns);
}

static void a_stage_without_tasks_is_empty(void **state)
{
    struct task_columns *columns = open_stage(*state, 999);
    assert_int_equal(task_columns_count(columns), 0);
    assert_column(columns, "task_id", NULL, 0);
    assert_column(columns, "scheduler_delay_ms", NULL, 0);
    task_columns_free(columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chunks_follow_one_another_and_missing_ones_are_unknown, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_walk_sees_each_task_once_and_passes_over_pieces_without_a_wanted_one, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_forgotten_column_can_be_asked_for_again, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(strewn_rows_take_their_numbers_from_the_column, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_stage_without_columns_is_read_from_its_rows, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(derived_columns_follow_sparks_formulas, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(how_long_a_result_took_that_came_after_the_end_is_unknown, open_memory, close_memory),
        cmocka_unit_test(impossible_times_saturate),
        cmocka_unit_test_setup_teardown(unknown_names_are_refused, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(damaged_columns_are_an_error, open_memory, close_memory),
        cmocka_unit_test_setup_teardown(a_stage_without_tasks_is_empty, open_memory, close_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
