/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ingest/store/streaming_rows.h"

struct fixture {
    char path[64];
    struct db db;
    struct arena arena;
    struct streaming_rows *rows;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/test_streaming_rows.%d.db", (int)getpid());
    unlink(f->path);
    struct err err;
    arena_init(&f->arena, (size_t)64 << 20);
    assert_int_equal(db_open(&f->db, f->path, DB_BULK, schema_app_sql, DB_APP_ID, DB_APP_VERSION, &err), ERR_OK);
    assert_int_equal(db_begin(&f->db, &err), ERR_OK);
    assert_int_equal(streaming_rows_new(&f->rows, &f->db, &err), ERR_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    streaming_rows_free(f->rows);
    db_rollback(&f->db);
    db_close(&f->db);
    arena_dispose(&f->arena);
    char name[80];
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++) {
        snprintf(name, sizeof name, "%s%s", f->path, endings[i]);
        unlink(name);
    }
    free(f);
    return 0;
}

static struct event_streaming_progress progress_of(int64_t batch_id, int64_t trigger_ms)
{
    return (struct event_streaming_progress){.trigger_ms = trigger_ms,
                                             .batch_id = batch_id,
                                             .batch_duration_ms = UNKNOWN,
                                             .event_time_min_ms = UNKNOWN,
                                             .event_time_max_ms = UNKNOWN,
                                             .event_time_avg_ms = UNKNOWN,
                                             .watermark_ms = UNKNOWN,
                                             .output_rows = UNKNOWN};
}

/* The way of the program: a copy, then the row. */
static void add(struct fixture *f, int64_t progress_no, const struct event_streaming_progress *progress)
{
    int64_t source_text_ids[4] = {1, 2, 3, 4};
    struct streaming_progress_row row = {.run_ref = 1, .progress_no = progress_no, .sink_text_id = UNKNOWN, .source_text_ids = source_text_ids, .progress = progress}, copy;
    struct err err = {0};
    assert_int_equal(streaming_rows_copy(&row, &f->arena, &copy, &err), ERR_OK);
    memset(source_text_ids, 0x5A, sizeof source_text_ids);
    assert_int_equal(streaming_rows_add(f->rows, &copy, &err), ERR_OK);
}

static int64_t number(struct fixture *f, const char *sql)
{
    int64_t value;
    struct err err = {0};
    if (db_query_i64(&f->db, sql, &value, &err))
        fail_msg("%s: %s", sql, err.message);
    return value;
}

static void assert_query_(struct fixture *f, const char *sql, const char *want, const char *file, int line)
{
    sqlite3_stmt *stmt = NULL;
    struct err err = {0};
    assert_int_equal(db_prepare(&f->db, &stmt, sql, &err), ERR_OK);
    assert_int_equal(db_step(stmt, &err), ERR_OK);
    struct str got = db_str(stmt, 0);
    bool same = want ? str_known(got) && str_is(got, want) : !str_known(got);
    if (!same)
        print_error("got %.*s, want %s\n", (int)got.len, got.ptr ? got.ptr : "(none)", want ? want : "(none)");
    db_finalize(stmt);
    if (!same)
        _fail(file, line);
}
#define assert_query(f, sql, want) assert_query_((f), (sql), (want), __FILE__, __LINE__)

static void sums_are_over_sources(void **state)
{
    struct fixture *f = *state;
    struct streaming_source sources[] = {
        {.input_rows = 3, .input_rows_per_second = 1.5, .processed_rows_per_second = 2, .end_offset = STR_LIT("9")},
        {.input_rows = 4, .input_rows_per_second = 0.25, .processed_rows_per_second = (double)NAN},
    };
    struct event_streaming_progress p = progress_of(1, 1000);
    p.sources = sources;
    p.source_count = 2;
    add(f, 1, &p);
    assert_int_equal(number(f, "SELECT input_rows FROM streaming_progress"), 7);
    assert_query(f, "SELECT CAST(input_rows_per_second AS TEXT) FROM streaming_progress", "1.75");
    assert_query(f, "SELECT CAST(processed_rows_per_second AS TEXT) FROM streaming_progress", NULL); /* one of them is not known */
    assert_int_equal(number(f, "SELECT description_text_id FROM streaming_source WHERE ordinal = 1"), 2);
    assert_query(f, "SELECT end_offset FROM streaming_source WHERE ordinal = 0", "9");
    sources[0].input_rows = sources[1].input_rows = UNKNOWN;
    p.batch_id = 2;
    add(f, 2, &p);
    assert_query(f, "SELECT CAST(input_rows AS TEXT) FROM streaming_progress WHERE progress_no = 2", NULL);
    p = progress_of(3, 3000);
    add(f, 3, &p);
    assert_int_equal(number(f, "SELECT input_rows FROM streaming_progress WHERE progress_no = 3"), 0); /* without sources */
}

static void the_same_trigger_again_replaces_all_rows_of_the_first(void **state)
{
    struct fixture *f = *state;
    struct streaming_source sources[2] = {{.input_rows = 1}, {.input_rows = 2}};
    struct streaming_operator operators[2] = {{.rows_total = 1}, {.rows_total = 2}};
    struct event_streaming_progress p = progress_of(1, 1000);
    p.sources = sources;
    p.source_count = 2;
    p.operators = operators;
    p.operator_count = 2;
    add(f, 1, &p);
    p.source_count = p.operator_count = 1;
    add(f, 5, &p);
    assert_int_equal(number(f, "SELECT count(*) FROM streaming_progress"), 1);
    assert_int_equal(number(f, "SELECT progress_no FROM streaming_progress"), 5);
    assert_int_equal(number(f, "SELECT count(*) FROM streaming_source"), 1);
    assert_int_equal(number(f, "SELECT count(*) FROM streaming_state"), 1);
    /* Another trigger of the same batch is another record; of what is not known nothing is the same. */
    p.trigger_ms = 2000;
    add(f, 6, &p);
    p.trigger_ms = UNKNOWN;
    add(f, 7, &p);
    add(f, 8, &p);
    assert_int_equal(number(f, "SELECT count(*) FROM streaming_progress"), 4);
}

static void durations_are_named_by_number(void **state)
{
    struct fixture *f = *state;
    struct name_count durations[] = {{STR_LIT("triggerExecution"), 30}, {STR_LIT("addBatch"), 20}, {STR_LIT("triggerExecution"), 31}};
    struct event_streaming_progress p = progress_of(1, 1000);
    p.durations = (struct name_count_list){durations, ARRAY_LENGTH(durations)};
    add(f, 1, &p);
    assert_query(f, "SELECT durations FROM streaming_progress", "1:31 2:20");
    assert_query(f, "SELECT group_concat(phase_id || name) FROM streaming_phase", "1triggerExecution,2addBatch");
    p = progress_of(2, 2000);
    add(f, 2, &p);
    assert_query(f, "SELECT durations FROM streaming_progress WHERE progress_no = 2", "");
}

/* A hostile log: names without end. */
static void phases_are_bounded(void **state)
{
    struct fixture *f = *state;
    char names[100][300];
    struct name_count durations[100];
    for (int64_t record = 0; record < 30; record++) {
        for (int i = 0; i < 100; i++) {
            int n = snprintf(names[i], sizeof names[i], "phase-%lld-%d-%0240d", (long long)record, i, i);
            durations[i] = (struct name_count){{names[i], (size_t)n}, i};
        }
        struct event_streaming_progress p = progress_of(record, record);
        p.durations = (struct name_count_list){durations, ARRAY_LENGTH(durations)};
        add(f, record + 1, &p);
    }
    assert_in_range(number(f, "SELECT count(*) FROM streaming_phase"), 900, 1001);
    assert_in_range(number(f, "SELECT max(length(name)) FROM streaming_phase"), 1, 200);
    assert_in_range(number(f, "SELECT max(length(durations)) FROM streaming_progress"), 1, 64 * 32);
}

static void secrets_are_replaced_and_metrics_are_json(void **state)
{
    struct fixture *f = *state;
    struct kv metrics[] = {{STR_LIT("say \"hi\""), STR_LIT("1\n")}, {STR_LIT("my.password"), STR_LIT("hunter2")}, {STR_LIT("none"), STR_NONE}};
    struct name_count custom[] = {{STR_LIT("hits"), 8}, {STR_LIT("last"), -1}};
    struct streaming_source source = {.input_rows = 1, .start_offset = STR_LIT("{\"token\":\"hunter2\"}"), .metrics = {metrics, 3}};
    struct streaming_operator operator= {.rows_total = 1, .custom_metrics = {custom, 2}};
    struct event_streaming_progress p = progress_of(1, 1000);
    p.sources = &source;
    p.source_count = 1;
    p.operators = &operator;
    p.operator_count = 1;
    p.sink_metrics = (struct kv_list){metrics, 1};
    p.observed = STR_LIT("{\"a\":\"password=hunter2\"}");
    add(f, 1, &p);
    assert_query(f, "SELECT metrics FROM streaming_source", "[[\"say \\\"hi\\\"\",\"1\\n\"],[\"my.password\",\"*********(redacted)\"],[\"none\",null]]");
    assert_query(f, "SELECT custom_metrics FROM streaming_state", "[[\"hits\",8],[\"last\",-1]]");
    assert_query(f, "SELECT sink_metrics FROM streaming_progress", "[[\"say \\\"hi\\\"\",\"1\\n\"]]");
    assert_int_equal(number(f, "SELECT count(*) FROM streaming_source WHERE instr(start_offset, 'hunter2')"), 0);
    assert_int_equal(number(f, "SELECT count(*) FROM streaming_progress WHERE instr(observed_metrics, 'hunter2')"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums_are_over_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_trigger_again_replaces_all_rows_of_the_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(durations_are_named_by_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(phases_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(secrets_are_replaced_and_metrics_are_json, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
