/* SPDX-License-Identifier: Apache-2.0
 *
 * Streaming health and its rules (spec/findings.md 7.9, 10.5). */
#include "analysed_app.h"

#include <math.h>

static int64_t progress_no;

static int begin(void **state)
{
    app_begin(state);
    progress_no = 0;
    app_sql("INSERT INTO streaming_phase VALUES (0, 'triggerExecution'), (1, 'addBatch'), (2, 'walCommit')");
    app_sql("INSERT INTO text VALUES (1, 'org.x.StreamException: it broke')");
    return 0;
}

static void add_query(int64_t run, const char *name, bool failed)
{
    app_sql("INSERT INTO streaming_query (run_ref, run_id, name, start_seen, end_seen, exception_text_id, idle_count) VALUES (%lld, 'run-%lld', '%s', 1, %d, %s, 0)",
            (long long)run, (long long)run, name, failed, failed ? "1" : "NULL");
}

/* A batch of `rows` rows that begins at `start_ms` from the begin and takes `ms`, of which `add_ms` is addBatch. Rates follow from an interval of a second. */
static void add_batch(int64_t run, int64_t start_ms, int64_t ms, int64_t add_ms, int64_t rows)
{
    app_sql(
        "INSERT INTO streaming_progress (run_ref, progress_no, batch_id, trigger_ms, batch_duration_ms, durations, input_rows, input_rows_per_second, processed_rows_per_second) VALUES"
        " (%lld, %lld, %lld, %lld, %lld, '0:%lld 1:%lld 2:%lld', %lld, %lld, %f)",
        (long long)run, (long long)progress_no, (long long)progress_no, (long long)(T0 + start_ms), (long long)ms, (long long)ms, (long long)add_ms, (long long)(ms - add_ms),
        (long long)rows, (long long)rows, ms > 0 ? (double)rows * 1000 / (double)ms : 0.0);
    progress_no++;
}

static void add_state(int64_t rows, int64_t dropped)
{
    app_sql("INSERT INTO streaming_state (run_ref, progress_no, ordinal, rows_total, rows_updated, rows_dropped, memory_bytes) VALUES (1, %lld, 0, %lld, 10, %lld, 1000)",
            (long long)progress_no - 1, (long long)rows, (long long)dropped);
}

/* One batch a second, each takes 400 ms: 300 of them work. */
static void a_query_that_keeps_up(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 20; i++)
        add_batch(1, i * 1000, 400, 300, 100);
    analyse_app();
    assert_near(measure("STREAM.BEHIND", "run-1"), 0.4);
    assert_near(measure("STREAM.INPUT_GT_PROCESS", "run-1"), 0.4);
    assert_near(measure("STREAM.OVERHEAD", "run-1"), 0.25);
    assert_near(measure("STREAM.FAILED", "run-1"), 0.0);
    assert_string_equal(text_of("SELECT verdict FROM stream_health"), "keeps up");
    assert_string_equal(text_of("SELECT overhead_phase FROM stream_health"), "walCommit");
    assert_string_equal(mute_of_rule("STREAM.SOURCE_LAG"), "no_metric");
    static const char *const quiet[] = {"STREAM.BEHIND",       "STREAM.INPUT_GT_PROCESS", "STREAM.OVERHEAD",     "STREAM.FAILED",
                                        "STREAM.STATE_GROWTH", "STREAM.WATERMARK_LAG",    "STREAM.LATE_DROPPED", "STREAM.SOURCE_LAG"};
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
        assert_false(fires(quiet[i]));
}

/* Ten batches wait for their second, then they take 1.5 s each, one behind the other. */
static void a_query_that_falls_behind(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 10; i++)
        add_batch(1, i * 1000, 500, 450, 100);
    for (int64_t i = 0; i < 20; i++)
        add_batch(1, 10000 + i * 1500, 1500, 1450, 100);
    analyse_app();
    assert_near(measure("STREAM.BEHIND", "run-1"), 1.5);
    assert_near(number_of("SELECT back_to_back FROM stream_health"), 0.0);
    assert_string_equal(text_of("SELECT verdict FROM stream_health"), "behind");
}

/* Without a trigger the next batch begins when the last one ends: a word, no more, unless batches grow. */
static void a_query_without_a_trigger_is_no_fault(void **state)
{
    (void)state;
    add_query(1, "steady", false);
    add_query(2, "growing", false);
    int64_t at = 0;
    for (int64_t i = 0; i < 20; i++)
        add_batch(1, i * 500, 500, 450, 100);
    for (int64_t i = 0; i < 20; i++) {
        add_batch(2, at, 500 + 100 * i, 450, 100);
        at += 500 + 100 * i;
    }
    analyse_app();
    assert_near(measure("STREAM.BEHIND", "run-1"), 1.0);
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'STREAM.BEHIND' AND subject_key = 'run-1'"), (double)GRADE_INFO);
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'STREAM.BEHIND' AND subject_key = 'run-2'"), (double)GRADE_SEVERE);
    assert_string_equal(text_of("SELECT verdict FROM stream_health WHERE run_ref = 1"), "keeps up");
    assert_string_equal(text_of("SELECT verdict FROM stream_health WHERE run_ref = 2"), "behind");
    assert_true(isnan(number_of("SELECT period FROM stream_health WHERE run_ref = 2"))); /* ever longer is not every so often, though neighbours are alike */
}

/* 10,000 rows more each batch, without end: at the pace of the second half 20 batches make 200,000, all that there are. */
static void a_state_that_only_grows(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 20; i++) {
        add_batch(1, i * 1000, 400, 350, 100);
        add_state(10000 * (i + 1), 0);
    }
    analyse_app();
    assert_near(measure("STREAM.STATE_GROWTH", "run-1"), 1.0);
    assert_string_equal(text_of("SELECT verdict FROM stream_health"), "state");
}

static void a_state_that_levels_off(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 20; i++) {
        add_batch(1, i * 1000, 400, 350, 100);
        add_state(i < 8 ? 50000 * (i + 1) : 400000, 2);
    }
    analyse_app();
    assert_near(measure("STREAM.STATE_GROWTH", "run-1"), 0.0);
    assert_near(measure("STREAM.LATE_DROPPED", "run-1"), 0.02); /* 2 of 100 in each batch */
}

/* Ten seconds by design, fifty behind the clock. */
static void a_watermark_that_trails(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 20; i++) {
        add_batch(1, i * 1000, 400, 350, 100);
        app_sql("UPDATE streaming_progress SET watermark_ms = trigger_ms - 50000, event_time_max_ms = trigger_ms - 39000 WHERE progress_no = %lld", (long long)progress_no - 1);
    }
    analyse_app();
    assert_near(number_of("SELECT watermark_delay_ms FROM stream_health"), 10000.0);
    assert_near(measure("STREAM.WATERMARK_LAG", "run-1"), 5.0);
}

static void a_source_that_is_far_ahead(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 20; i++) {
        add_batch(1, i * 1000, 400, 350, 100);
        app_sql(
            "INSERT INTO streaming_source (run_ref, progress_no, ordinal, metrics) VALUES (1, %lld, 0, '[[\"avgOffsetsBehindLatest\",\"7.5\"],[\"maxOffsetsBehindLatest\",\"%d\"]]')",
            (long long)progress_no - 1, i < 10 ? 90000 : 1200);
    }
    analyse_app();
    assert_near(measure("STREAM.SOURCE_LAG", "run-1"), 12.0);
}

static void bookkeeping_and_failures_are_told(void **state)
{
    (void)state;
    add_query(1, "q", true);
    for (int64_t i = 0; i < 6; i++)
        add_batch(1, i * 1000, 400, 100, 100);
    analyse_app();
    assert_near(measure("STREAM.OVERHEAD", "run-1"), 0.75);
    assert_near(measure("STREAM.FAILED", "run-1"), 1.0);
    assert_non_null(strstr(text_of("SELECT args FROM finding WHERE rule_id = 'STREAM.FAILED'"), "it broke"));
    assert_string_equal(text_of("SELECT verdict FROM stream_health"), "failed");
}

/* Every fifth batch takes four times as long. */
static void peaks_at_a_fixed_distance_are_seen(void **state)
{
    (void)state;
    add_query(1, "q", false);
    for (int64_t i = 0; i < 50; i++)
        add_batch(1, i * 1000, i % 5 == 0 ? 800 : 200, 150, 100);
    analyse_app();
    assert_near(number_of("SELECT period FROM stream_health"), 5.0);
}

static void odd_records_do_no_harm(void **state)
{
    (void)state;
    add_query(1, "q", false);
    add_query(2, "empty", false);
    for (int64_t i = 0; i < 8; i++)
        add_batch(1, -i * 1000, i % 2 ? 0 : 400, 500, i % 3 ? INT64_MAX : 0);
    app_sql(
        "UPDATE streaming_progress SET durations = '9:x :: 1: -4:5 99999999999999999999:1 1:-7', trigger_ms = CASE WHEN progress_no = 3 THEN NULL WHEN progress_no = 4 THEN 4611686018427387904"
        " ELSE trigger_ms END WHERE progress_no > 2");
    app_sql("INSERT INTO streaming_source (run_ref, progress_no, ordinal, metrics) VALUES (1, 0, 0, '[[\"maxOffsetsBehindLatest\",\"')");
    app_sql("INSERT INTO streaming_state (run_ref, progress_no, ordinal, rows_total, rows_updated, rows_dropped) VALUES (1, 1, 0, -5, 9223372036854775807, 9223372036854775807),"
            " (1, 1, 1, 9223372036854775807, 9223372036854775807, 9223372036854775807), (1, 77, 0, 1, 1, 1)");
    analyse_app();
    assert_near(number_of("SELECT count(*) FROM stream_health"), 2.0);
    assert_string_equal(text_of("SELECT verdict FROM stream_health WHERE run_ref = 2"), "idle");
    assert_near(number_of("SELECT count(*) FROM finding WHERE rule_id LIKE 'STREAM%%' AND measure < 0"), 0.0);
}

#define STREAM(name) cmocka_unit_test_setup_teardown(name, begin, app_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STREAM(a_query_that_keeps_up),      STREAM(a_query_that_falls_behind),         STREAM(a_query_without_a_trigger_is_no_fault),
        STREAM(a_state_that_only_grows),    STREAM(a_state_that_levels_off),           STREAM(a_watermark_that_trails),
        STREAM(a_source_that_is_far_ahead), STREAM(bookkeeping_and_failures_are_told), STREAM(peaks_at_a_fixed_distance_are_seen),
        STREAM(odd_records_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
