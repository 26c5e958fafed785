/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/stage_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "base/int_column.h"
#include "base/mem.h"

static char path[64];
static struct db db;
static struct facts facts;

#define U UNKNOWN

/* One stage on two executors of one core. Task 11 fails and 12 does its work again; 13 has no metrics; the times of 14 are longer than it was there. */
enum { TASKS = 5 };
static const struct {
    const char *name;
    int64_t values[TASKS];
} columns[] = {
    {"task_id", {10, 11, 12, 13, 14}},
    {"task_index", {0, 1, 1, 2, 3}},
    {"attempt", {0, 0, 1, 0, 0}},
    {"partition_id", {0, 1, 1, 2, 3}},
    {"executor_ref", {1, 2, 1, 2, 2}},
    {"launch_ms", {101000, 101000, 102000, 101700, 102000}},
    {"finish_ms", {102000, 101600, 102500, 101900, 102100}},
    {"getting_result_ms", {101980, 0, 0, 0, 0}},
    {"locality", {0, 0, 4, 0, U}},
    {"status", {1, 2, 1, 1, 1}},
    {"has_metrics", {1, 1, 1, 0, 1}},
    {"executor_run_time_ms", {900, 500, 400, U, 200}},
    {"executor_deserialize_time_ms", {50, 10, 60, U, 50}},
    {"result_serialization_time_ms", {10, 0, 0, U, 0}},
    {"jvm_gc_time_ms", {30, 0, 0, U, 0}},
    {"executor_cpu_time_ns", {500500000, 1, 100000000, U, 1000000000}},
    {"shuffle_write_time_ns", {0, 7000000, 0, U, 0}},
    {"input_bytes", {1000, 77, 3000, U, U}},
    {"shuffle_local_read_bytes", {1, 1, 2, U, 3}},
    {"shuffle_remote_read_bytes", {10, 1, 20, U, -5}},
};

static void add_column(int64_t id, const char *name, const int64_t *values)
{
    CLEANUP(buf_dispose) struct buf packed;
    buf_init(&packed, 1 << 16);
    assert_true(int_column_pack(values, TASKS, &packed));
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(db_prepare(&db, &stmt, "INSERT INTO task_column_name VALUES (?1, ?2)", NULL), ERR_OK);
    db_bind_i64(stmt, 1, id);
    db_bind_str(stmt, 2, str_of(name));
    assert_int_equal(db_run(stmt, NULL), ERR_OK);
    db_finalize(stmt);
    assert_int_equal(db_prepare(&db, &stmt, "INSERT INTO task_column VALUES (1, ?1, 0, ?2)", NULL), ERR_OK);
    db_bind_i64(stmt, 1, id);
    db_bind_blob(stmt, 2, buf_str(&packed).ptr, buf_str(&packed).len);
    assert_int_equal(db_run(stmt, NULL), ERR_OK);
    db_finalize(stmt);
}

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/afterglow-sample-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    if (db_open(&db, path, DB_WRITE, schema_app_sql, DB_APP_ID, DB_APP_VERSION, NULL))
        return -1;
    static const char rows[] =
        "INSERT INTO application (app_id, spark_version, start_ms, end_ms) VALUES ('app-1', '3.5.7', 100000, 103000);"
        "INSERT INTO stage (stage_ref, stage_id, attempt, status, announced, submitted_seen, completed_seen, num_tasks, active_tasks, complete_tasks, failed_tasks, killed_tasks,"
        " completed_indices, speculative_tasks, speculative_active, speculative_completed, speculative_failed, speculative_killed, locality_process, locality_node, locality_none,"
        " locality_rack, locality_any, task_rows, ended_tasks, executor_cpu_time_ns, peaks_set)"
        " VALUES (1, 7, 0, 2, 1, 1, 1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 1, 0);"
        "INSERT INTO executor (executor_ref, executor_id, announced, superseded, add_ms, active, total_cores, active_tasks, failed_tasks, completed_tasks, total_tasks,"
        " total_duration_ms, total_gc_time_ms, total_input_bytes, total_shuffle_read_bytes, total_shuffle_write_bytes, task_count, failed_task_count, killed_task_count, task_time_ms,"
        " is_excluded, excluded_in_stages, peaks_set)"
        " VALUES (1, '1', 1, 0, 100500, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0), (2, '2', 1, 0, 100500, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0)";
    if (db_exec(&db, rows, NULL))
        return -1;
    for (size_t c = 0; c < ARRAY_LENGTH(columns); c++)
        add_column((int64_t)c, columns[c].name, columns[c].values);
    return facts_load(&facts, &db, NULL);
}

static int teardown(void **state)
{
    (void)state;
    facts_dispose(&facts);
    enum err_code rc = db_seal(&db, NULL);
    db_close(&db);
    return rc || unlink(path);
}

static void expect_column(const struct stage_sample *sample, enum stat_column column, double a, double b, double c)
{
    const double *of = sample->of[column];
    if (!of)
        fail_msg("%s is 0 for all", stat_column_names[column]);
    else if (of[0] != a || of[1] != b || of[2] != c)
        fail_msg("%s: %g %g %g", stat_column_names[column], of[0], of[1], of[2]);
}

static void the_sample_is_winners_with_metrics(void **state)
{
    (void)state;
    struct stage_samples samples = {0};
    for (int round = 0; round < 2; round++) { /* the second time into the same buffers */
        assert_int_equal(stage_samples_read(&samples, &facts, 0, 2, NULL), ERR_OK);
        const struct stage_sample *sample = &samples.sample;
        assert_int_equal(sample->count, 3);
        assert_true(sample->slots == 2 && sample->has_cpu && sample->first_launch_ms == 101000 && sample->end_ms == 102500);
        const int64_t ids[] = {10, 12, 14};
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(sample->task_id[i], ids[i]);
        assert_int_equal(sample->executor_count, 2);
        assert_true(sample->executor[0] == 0 && sample->executor[1] == 0 && sample->executor[2] == 1);
        assert_true(str_is(facts.executors[samples.executors[1]].id, "2"));
        assert_true(sample->cold[0] && !sample->cold[1] && !sample->cold[2]); /* 13 was the first winner on executor 2 */
        assert_true(!sample->retried[0] && sample->retried[1] && !sample->retried[2]);
        assert_true(sample->locality[0] == 0 && sample->locality[1] == 4 && sample->locality[2] == -1);

        expect_column(sample, STAT_OCCUPANCY, 1000, 500, 100);
        expect_column(sample, STAT_RUN, 900, 400, 100); /* of the 200 ms of task 14, 100 were there */
        expect_column(sample, STAT_DESER, 50, 60, 0);
        expect_column(sample, STAT_SER, 10, 0, 0);
        expect_column(sample, STAT_GETRES, 20, 0, 0);
        expect_column(sample, STAT_DELAY, 20, 40, 0);
        expect_column(sample, STAT_GC, 30, 0, 0);
        expect_column(sample, STAT_CPU, 500.5, 100, 100);
        expect_column(sample, STAT_INPUT_BYTES, 1000, 3000, 0);
        expect_column(sample, STAT_READ_BYTES, 11, 22, 0); /* −5 + 3 is no size */
        assert_null(sample->of[STAT_SHWRITE]);             /* only the failed attempt has one */
        assert_null(sample->of[STAT_OUTPUT_BYTES]);
    }
    stage_samples_dispose(&samples);
    stage_samples_dispose(&samples);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    enum err_code rc = ERR_NOMEM;
    for (uint64_t nth = 1; rc; nth++) {
        struct stage_samples samples = {0};
        mem_fail_at(nth, 0);
        rc = stage_samples_read(&samples, &facts, 0, 2, NULL);
        assert_true(!rc || rc == ERR_NOMEM);
        stage_samples_dispose(&samples);
    }
    mem_fail_at(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_winners_with_metrics),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
