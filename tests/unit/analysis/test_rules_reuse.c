/* SPDX-License-Identifier: Apache-2.0
 *
 * Lineage, the cache audit and what becomes of them (spec/findings.md 7.6, 10.2). */
#include "analysed_app.h"

/* A chain source ← 1 ← 2 …: RDD 0 is the source, `count` RDDs in all; the first of a stage's list is its own. */
static void add_chain(int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        app_sql(
            "INSERT INTO rdd (rdd_id, name, num_partitions, tracked, unpersisted, use_disk, use_memory, use_off_heap, deserialized) VALUES (%lld, 'rdd %lld', 4, 0, 0, 0, 0, 0, 0)",
            (long long)i, (long long)i);
        if (i)
            app_sql("INSERT INTO rdd_parent VALUES (%lld, 0, %lld)", (long long)i, (long long)i - 1);
    }
}

static void list_rdds(int64_t stage, int64_t own, int64_t cached)
{
    for (int64_t i = own, ordinal = 0; i >= 0; i--, ordinal++)
        app_sql("INSERT INTO stage_rdd VALUES (%lld, %lld, %lld, %d)", (long long)stage, (long long)ordinal, (long long)i, i == cached);
}

static void persist(int64_t rdd, int64_t most, int64_t bytes, int64_t unpersist_ms)
{
    app_sql(
        "UPDATE rdd SET use_memory = 1, deserialized = 1, storage_level = 'Memory Deserialized 1x Replicated', storage_name = name, storage_partitions = 4, most_partitions = %s,"
        " evicted_partitions = 0, most_memory_bytes = %s, most_disk_bytes = 0, unpersist_ms = %s, held_byte_ms = 1000 WHERE rdd_id = %lld",
        sql_number(most), sql_number(bytes), sql_number(unpersist_ms), (long long)rdd);
    app_sql("UPDATE executor SET max_memory_bytes = 1000000");
}

static void read_input(int64_t stage)
{
    app_sql("UPDATE stage SET input_bytes = 1000 WHERE stage_ref = %lld", (long long)stage);
    for (size_t i = 0; i < app_task_count; i++)
        if (app_tasks[i].stage_ref == stage)
            app_tasks[i].input_bytes = 250;
}

/* RDD 2 is computed by three jobs: 4 tasks of 4, 2 and 3 s. The first stays; of the others goes what the cheapest cost: 8 s of each on two slots, one after the other: 4 + 4 s. */
static void what_three_jobs_compute_is_computed_again(void **state)
{
    (void)state;
    add_chain(4);
    run_stage(0, 1, 4, 4000, UNKNOWN);
    run_stage(1, 12, 4, 2000, UNKNOWN);
    run_stage(2, 20, 4, 3000, UNKNOWN);
    list_rdds(0, 2, -1);
    list_rdds(1, 2, -1);
    list_rdds(2, 3, -1);
    analyse_app();
    assert_near(measure("RDD.RECOMPUTE", "2"), 3.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), 8000.0);
    assert_near(number_of("SELECT count(*) FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), 1.0); /* RDD 1 below it is not told as well */
    assert_true(fires("RDD.RECOMPUTE"));
}

/* The same in one job each whose stages collect garbage for half of their time: a cache in memory is no cure there. */
static void what_lacks_memory_is_not_told_to_cache(void **state)
{
    (void)state;
    add_chain(4);
    app_sql("UPDATE rdd SET name = '2' WHERE rdd_id = 2");
    run_stage(0, 1, 8, 4000, UNKNOWN);
    run_stage(1, 20, 8, 4000, UNKNOWN);
    for (size_t i = 0; i < app_task_count; i++) {
        app_tasks[i].jvm_gc_time_ms = 2000;
        app_tasks[i].executor_cpu_time_ns = 0;
    }
    list_rdds(0, 2, -1);
    list_rdds(1, 3, -1);
    analyse_app();
    assert_true(fires("STAGE.GC_HIGH"));
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.GC_HIGH'"), "not_cached");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), "memory_tight");
    assert_string_equal(text_of("SELECT args ->> '$.name.v' FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), "RDD 2"); /* a number is no name */
}

static void what_is_cached_is_not_computed_again(void **state)
{
    (void)state;
    add_chain(4);
    persist(1, 4, 100, UNKNOWN);
    for (int64_t i = 0; i < 3; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, UNKNOWN);
        list_rdds(i, i == 2 ? 3 : 1, 1);
        if (i)
            read_input(i);
    }
    analyse_app();
    assert_false(fires("RDD.RECOMPUTE"));
    assert_false(fires("RDD.CACHE_PARTIAL"));
    assert_false(fires("RDD.CACHE_UNUSED"));
    assert_string_equal(text_of("SELECT verdict FROM cache_audit"), "useful");
    /* Filled by stage 0: 4 × 3 s; read twice, all of it there, two slots. */
    assert_near(number_of("SELECT build_ms FROM cache_audit"), 12000.0);
    assert_near(number_of("SELECT saved_ms FROM cache_audit"), 12000.0);
    assert_near(number_of("SELECT read_count FROM cache_audit"), 2.0);
}

/* RDD 2 is the shuffle's: what three jobs make of it again is cheap, and the stage before it was skipped, which is good. */
static void what_a_shuffle_kept_is_not_computed_again(void **state)
{
    (void)state;
    add_chain(5);
    for (int64_t i = 0; i < 3; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, UNKNOWN);
        app_sql("INSERT INTO stage_rdd VALUES (%lld, 0, 4, 0), (%lld, 1, 2, 0), (%lld, 2, 3, 0)", (long long)i, (long long)i, (long long)i);
    }
    analyse_app();
    assert_false(fires("RDD.RECOMPUTE"));
}

/* RDD 3 is made of the shuffle's RDD 2 and of RDD 1, and that comes from a source. */
static void what_a_shuffle_kept_in_part_is_computed_again(void **state)
{
    (void)state;
    add_chain(4);
    app_sql("INSERT INTO rdd_parent VALUES (3, 1, 1)");
    app_sql("UPDATE rdd_parent SET parent_id = 9 WHERE rdd_id = 2");
    for (int64_t i = 0; i < 2; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, UNKNOWN);
        list_rdds(i, 3, -1);
    }
    analyse_app();
    assert_near(measure("RDD.RECOMPUTE", "3"), 2.0);
}

/* A sort looks for its bounds in a job of its own, by the same name each time; two jobs of one query are one action. */
static void sampling_and_one_query_are_one_action(void **state)
{
    (void)state;
    add_chain(3);
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, status, start_seen, end_seen) VALUES (7, 7, %lld, 1, 1, 1)", (long long)T0);
    for (int64_t i = 0; i < 4; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, i < 2 ? 7 : UNKNOWN);
        list_rdds(i, i < 2 ? 1 : 2, -1);
    }
    app_sql("UPDATE stage SET name = 'sortByKey at a.py:3' WHERE stage_id >= 2");
    analyse_app();
    assert_near(measure("RDD.RECOMPUTE", "1"), 2.0); /* the query, and the sort */
    assert_true(number_of("SELECT count(*) FROM finding WHERE rule_id = 'RDD.RECOMPUTE' AND subject_key = '2'") == 0);
}

static void half_of_a_cache_is_missing(void **state)
{
    (void)state;
    add_chain(2);
    persist(1, 2, 500000, UNKNOWN);
    for (int64_t i = 0; i < 2; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, UNKNOWN);
        list_rdds(i, 1, 1);
    }
    read_input(1);
    analyse_app();
    assert_near(measure("RDD.CACHE_PARTIAL", "1"), 0.5);
    assert_string_equal(text_of("SELECT verdict FROM cache_audit"), "partial");
    assert_near(number_of("SELECT storage_share FROM cache_audit"), 0.5);
}

/* Without block updates: of four reading tasks two find nothing. */
static void readers_tell_what_is_missing(void **state)
{
    (void)state;
    add_chain(2);
    persist(1, UNKNOWN, UNKNOWN, UNKNOWN);
    for (int64_t i = 0; i < 2; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, UNKNOWN);
        list_rdds(i, 1, 1);
    }
    read_input(1);
    app_tasks[4].input_bytes = app_tasks[5].input_bytes = 0;
    analyse_app();
    assert_near(measure("RDD.CACHE_PARTIAL", "1"), 0.5);
    assert_near(number_of("SELECT missing_share FROM cache_audit"), 0.5);
    assert_string_equal(mute_of_rule("RDD.CACHE_LEAK"), "no_metric");
}

static void a_cache_that_nobody_reads_is_unused(void **state)
{
    (void)state;
    add_chain(2);
    persist(1, 4, 400000, UNKNOWN);
    run_stage(0, 1, 4, 3000, UNKNOWN);
    list_rdds(0, 1, 1);
    analyse_app();
    assert_near(measure("RDD.CACHE_UNUSED", "1"), 0.4);
    assert_string_equal(text_of("SELECT verdict FROM cache_audit"), "unused");
}

/* A query fills a table's cache in a job of its own, whose stage ends in it, and reads it in its next job. */
static void fill_ahead(void)
{
    add_chain(3);
    persist(1, 4, 400000, UNKNOWN);
    run_stage(0, 1, 4, 3000, 7);
    run_stage(1, 10, 4, 1000, 7);
    list_rdds(0, 1, 1);
    list_rdds(1, 2, 1);
    read_input(1);
}

/* Without a cache it would have computed that once, too. */
static void a_cache_read_by_the_query_that_filled_it_is_unused(void **state)
{
    (void)state;
    fill_ahead();
    analyse_app();
    assert_near(number_of("SELECT read_count FROM cache_audit"), 0.0);
    assert_near(measure("RDD.CACHE_UNUSED", "1"), 0.4);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'RDD.CACHE_UNUSED'"), (double)GRADE_LOW); /* 12 of 16 s of task time filled it */
}

/* A cached table that has no name has its plan as one. */
static void a_plan_for_a_name_is_cut_to_its_first_line(void **state)
{
    (void)state;
    fill_ahead();
    app_sql("UPDATE rdd SET name = '*(1) Project [id#1]' || char(10) || '+- *(1) ColumnarToRow' WHERE rdd_id = 1");
    analyse_app();
    assert_string_equal(text_of("SELECT args ->> '$.name.v' FROM finding WHERE rule_id = 'RDD.CACHE_UNUSED'"), "*(1) Project [id#1]");
}

/* The first query as above; the second one was spared 12 s on two slots. */
static void a_cache_that_another_query_reads_is_used(void **state)
{
    (void)state;
    fill_ahead();
    run_stage(2, 20, 4, 1000, 8);
    list_rdds(2, 2, 1);
    read_input(2);
    analyse_app();
    assert_near(number_of("SELECT read_count FROM cache_audit"), 1.0);
    assert_near(number_of("SELECT saved_ms FROM cache_audit"), 6000.0);
    assert_false(fires("RDD.CACHE_UNUSED"));
}

/* Last read at 17 s, released at 47 s: half of the minute, with 0.8 of the memory. */
static void a_cache_that_stays_is_a_leak(void **state)
{
    (void)state;
    add_chain(2);
    persist(1, 4, 800000, T0 + 47000);
    for (int64_t i = 0; i < 2; i++) {
        run_stage(i, 1 + 10 * i, 4, 3000, UNKNOWN);
        list_rdds(i, 1, 1);
    }
    read_input(1);
    analyse_app();
    assert_near(measure("RDD.CACHE_LEAK", "1"), 0.4);
    assert_string_equal(text_of("SELECT verdict FROM cache_audit"), "leaked");
}

static void a_cache_that_no_task_fills_is_untouched(void **state)
{
    (void)state;
    add_chain(2);
    persist(1, UNKNOWN, UNKNOWN, UNKNOWN);
    analyse_app();
    assert_string_equal(text_of("SELECT verdict FROM cache_audit"), "untouched");
}

/* Parents that go in a circle, lists with unknown RDDs and the same one twice. */
static void odd_lineages_end(void **state)
{
    (void)state;
    add_chain(3);
    app_sql("INSERT INTO rdd_parent VALUES (1, 1, 2), (2, 1, 2), (2, 2, 4611686018427387904)");
    run_stage(0, 1, 4, 3000, UNKNOWN);
    run_stage(1, 10, 4, 3000, UNKNOWN);
    list_rdds(0, 2, -1);
    list_rdds(1, 2, -1);
    app_sql("INSERT INTO stage_rdd VALUES (0, 7, 2, 0), (0, 8, 4611686018427387904, 1), (99, 0, 1, 0)");
    analyse_app();
    assert_near(number_of("SELECT count(*) FROM analysis"), 1.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_three_jobs_compute_is_computed_again),
        TEST(what_lacks_memory_is_not_told_to_cache),
        TEST(what_is_cached_is_not_computed_again),
        TEST(what_a_shuffle_kept_is_not_computed_again),
        TEST(what_a_shuffle_kept_in_part_is_computed_again),
        TEST(sampling_and_one_query_are_one_action),
        TEST(half_of_a_cache_is_missing),
        TEST(readers_tell_what_is_missing),
        TEST(a_cache_that_nobody_reads_is_unused),
        TEST(a_cache_read_by_the_query_that_filled_it_is_unused),
        TEST(a_plan_for_a_name_is_cut_to_its_first_line),
        TEST(a_cache_that_another_query_reads_is_used),
        TEST(a_cache_that_stays_is_a_leak),
        TEST(a_cache_that_no_task_fills_is_untouched),
        TEST(odd_lineages_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
