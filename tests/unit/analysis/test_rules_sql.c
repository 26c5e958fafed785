/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules about plans (spec/findings.md 7.7): for each one plan that fires it and one that must not. */
#include "analysed_app.h"

#include <math.h>

#include "base/mem.h"

static int64_t next_accumulator, next_text, plan_of;

static int begin(void **state)
{
    next_accumulator = 100;
    next_text = 1000;
    plan_of = -1;
    app_begin(state);
    app_sql("DELETE FROM application; INSERT INTO application (app_id, spark_version, start_ms, end_ms, first_event_ms) VALUES ('app-1', '3.5.7', %lld, %lld, %lld)", (long long)T0,
            (long long)T0 + 60000, (long long)T0);
    return 0;
}

/* Nodes that follow belong to it. */
static void add_plan(int64_t execution)
{
    plan_of = execution;
    app_sql(
        "INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, completion_ms, status, start_seen, end_seen, plan_id) VALUES (%lld, %lld, %lld, %lld, 1, 1, 1, %lld)",
        (long long)execution, (long long)execution, (long long)T0, (long long)T0 + 50000, (long long)execution);
    app_sql("INSERT INTO sql_plan VALUES (%lld, %lld, 0, NULL, %lld, 1, %lld, 0)", (long long)execution, (long long)execution, (long long)execution, (long long)T0);
}

/* Metrics: "name=total;…"; each is also reported by `stage`. parent: −1, none. */
static void node(int64_t id, int64_t parent, const char *name, const char *text, const char *metrics, int64_t stage)
{
    char ids[400] = "";
    app_sql("INSERT INTO text VALUES (%lld, '%s')", (long long)next_text, text);
    for (const char *at = metrics; *at;) {
        char metric[100];
        long long total;
        int used = 0;
        assert_int_equal(sscanf(at, "%99[^=]=%lld%n", metric, &total, &used), 2);
        bool ms = strstr(metric, "time") != NULL;
        app_sql("INSERT INTO sql_metric (execution_id, accumulator_id, name, metric_type, value_count, raw_count, reported_count, total, min, median, max) VALUES"
                " (%lld, %lld, '%s', '%s', 1, 1, 1, %lld, %lld, %lld, %lld)",
                (long long)plan_of, (long long)next_accumulator, metric, ms ? "timing" : "sum", total, total, total, total);
        if (stage >= 0)
            app_sql("INSERT INTO stage_accumulable (stage_ref, ordinal, accumulable_id, internal, metadata) VALUES (%lld, %lld, %lld, 0, 'sql')", (long long)stage,
                    (long long)next_accumulator, (long long)next_accumulator);
        snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%lld", *ids ? " " : "", (long long)next_accumulator++);
        at += used + (at[used] == ';');
    }
    app_sql("INSERT INTO sql_node VALUES (%lld, %lld, 0, NULL, '%s', %lld, NULL, '%s')", (long long)plan_of, (long long)id, name, (long long)next_text++, ids);
    if (parent >= 0)
        app_sql("INSERT INTO sql_edge SELECT %lld, count(*), %lld, %lld FROM sql_edge WHERE plan_id = %lld", (long long)plan_of, (long long)id, (long long)parent,
                (long long)plan_of);
}

static void scan_metadata(int64_t id, const char *json)
{
    app_sql("INSERT INTO text VALUES (%lld, '%s')", (long long)next_text, json);
    app_sql("UPDATE sql_node SET metadata_text_id = %lld WHERE plan_id = %lld AND node_id = %lld", (long long)next_text++, (long long)plan_of, (long long)id);
}

/* ---- joins */

/* Sides of `left` and `right` bytes; the shuffle of side i is written by stage i and read by stage 2. */
static void shuffled_join(const char *join_text, int64_t left, int64_t right)
{
    char metrics[200];
    run_stage(0, 1, 4, 4000, 0);
    run_stage(1, 10, 2, 1000, 0);
    run_stage(2, 15, 4, 3000, 0);
    add_plan(0);
    node(0, -1, "SortMergeJoin", join_text, "number of output rows=1000", 2);
    node(1, 0, "Sort", "Sort [k#1 ASC]", "sort time=3000", 2);
    snprintf(metrics, sizeof metrics, "data size=%lld;shuffle write time=2000", (long long)left);
    node(2, 1, "Exchange", "Exchange hashpartitioning(k#1, 16), ENSURE_REQUIREMENTS, [plan_id=1]", metrics, 0);
    node(3, 2, "Scan parquet ", "FileScan parquet [k#1]", "number of output rows=1000", 0);
    node(4, 0, "Sort", "Sort [k#2 ASC]", "sort time=0", 2);
    snprintf(metrics, sizeof metrics, "data size=%lld", (long long)right);
    node(5, 4, "Exchange", "Exchange hashpartitioning(k#2, 16), ENSURE_REQUIREMENTS, [plan_id=2]", metrics, 1);
    node(6, 5, "Scan parquet ", "FileScan parquet [k#2]", "number of output rows=10", 1);
    /* Both shuffles are read by stage 2. */
    app_sql("INSERT INTO sql_metric (execution_id, accumulator_id, name, metric_type, reported_count, total) VALUES (0, 900, 'records read', 'sum', 1, 10)");
    app_sql("INSERT INTO stage_accumulable (stage_ref, ordinal, accumulable_id, internal, metadata) VALUES (2, 900, 900, 0, 'sql')");
    app_sql("UPDATE sql_node SET accumulator_ids = accumulator_ids || ' 900' WHERE name = 'Exchange'");
}

/* 100 MiB against 1 MiB. Sort 3 s of the 12 s of stage 2, writing 2 s of the 16 s of stage 0, two slots: (3 + 2) / 2 s. */
static void a_small_side_fits_a_broadcast(void **state)
{
    (void)state;
    shuffled_join("SortMergeJoin [k#1], [k#2], Inner", 100 * MIB, MIB);
    analyse_app();
    assert_near(measure("SQL.BROADCAST_MISSED", "0/0"), 100.0);
    assert_true(fabs(number_of("SELECT price_ms FROM finding WHERE rule_id = 'SQL.BROADCAST_MISSED'") - 2500) < 10);
}

static const char *arg_of_missed(const char *name)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT args ->> '$.%s.v' FROM finding WHERE rule_id = 'SQL.BROADCAST_MISSED'", name);
    return text_of(sql);
}

/* The small side is named by what it is read from, and by its keys; as names in code what could be one. */
static void the_small_side_of_a_join_is_named(void **state)
{
    static const struct {
        const char *join, *large, *small; /* Locations of the two scans */
        const char *keys, *table, *large_name, *small_name, *key, *cause;
    } cases[] = {
        {"SortMergeJoin [k#1L], [k#22L], Inner", "/data/fact", "hdfs://n:8020/data/dim.parquet", "k", "hdfs://n:8020/data/dim.parquet", "fact", "dim", "k", ""},
        {"SortMergeJoin [shop_id#1], [id#22], Inner, (a#1 > b#2)", "/data/sales", "/data/shops", "shop_id = id", "/data/shops", "sales", "shops", "id", "two_keys"},
        /* no one name: several keys, a computed one; the same folder on both sides; a folder that is no name */
        {"SortMergeJoin [a#1, b#2L], [a#3, b#4L], Inner", "/data/t", "/data/t", "a, b", "/data/t", "large", "small", "", ""},
        {"SortMergeJoin [cast(a#1 as bigint)], [a#3L], Inner", "/data/t", "/data/dt=2024", "cast(a as bigint) = a", "/data/dt=2024", "t", "small", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        if (i) {
            app_close(state);
            begin(state);
        }
        shuffled_join(cases[i].join, 100 * MIB, MIB);
        snprintf(text, sizeof text, "UPDATE text SET body = 'FileScan parquet [k#1] Format: Parquet, Location: InMemoryFileIndex(1 paths)[%s], PartitionFilters: []' "
                 "WHERE text_id = (SELECT description_text_id FROM sql_node WHERE node_id = 3)", cases[i].large);
        app_sql("%s", text);
        snprintf(text, sizeof text, "UPDATE text SET body = 'FileScan parquet [k#2] Format: Parquet, Location: InMemoryFileIndex(1 paths)[%s], PartitionFilters: []' "
                 "WHERE text_id = (SELECT description_text_id FROM sql_node WHERE node_id = 6)", cases[i].small);
        app_sql("%s", text);
        analyse_app();
        assert_string_equal(arg_of_missed("keys"), cases[i].keys);
        assert_string_equal(arg_of_missed("table"), cases[i].table);
        assert_string_equal(arg_of_missed("large"), cases[i].large_name);
        assert_string_equal(arg_of_missed("small"), cases[i].small_name);
        assert_string_equal(arg_of_missed("key"), cases[i].key);
        assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'SQL.BROADCAST_MISSED'"), cases[i].cause);
    }
}

/* The sorts of stage 2 also waited 2 s a task for what they wrote to disk: 8 s more on two slots. */
static void what_the_sorts_spilled_goes_with_them(void **state)
{
    (void)state;
    shuffled_join("SortMergeJoin [k#1], [k#2], Inner", 100 * MIB, MIB);
    for (size_t i = 0; i < app_task_count; i++)
        if (app_tasks[i].stage_ref == 2) {
            app_tasks[i].disk_spilled_bytes = app_tasks[i].memory_spilled_bytes = MIB;
            app_tasks[i].executor_cpu_time_ns = 1000000000;
        }
    analyse_app();
    assert_true(fabs(number_of("SELECT price_ms FROM finding WHERE rule_id = 'SQL.BROADCAST_MISSED'") - 6500) < 10);
}

/* A scalar subquery made into a join (Spark 4): its right side may be sent around. Twice 1 MiB is less than Spark's default of 10 MiB, to which nobody should lower it. */
static void a_single_row_side_fits_a_broadcast(void **state)
{
    (void)state;
    shuffled_join("SortMergeJoin [k#1], [k#2], LeftSingle", 100 * MIB, MIB);
    analyse_app();
    assert_near(measure("SQL.BROADCAST_MISSED", "0/0"), 100.0);
    assert_near(number_of("SELECT args ->> '$.broadcast_bytes.v' FROM finding WHERE rule_id = 'SQL.BROADCAST_MISSED'"), 10.0 * MIB);
}

static void two_large_sides_do_not(void **state)
{
    (void)state;
    shuffled_join("SortMergeJoin [k#1], [k#2], Inner", 5 * GIB, 50 * MIB);
    analyse_app();
    assert_false(fires("SQL.BROADCAST_MISSED"));
}

/* Rows of the left side without a partner must be known: the left side cannot be sent around. */
static void the_outer_side_is_not_broadcast(void **state)
{
    (void)state;
    shuffled_join("SortMergeJoin [k#1, f(a#3, b#4)], [k#2, c#5], LeftOuter, (x#1 > y#2)", MIB, 100 * MIB);
    analyse_app();
    assert_false(fires("SQL.BROADCAST_MISSED"));
}

static void a_large_broadcast_is_told(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "BroadcastHashJoin", "BroadcastHashJoin [k#1], [k#2], Inner, BuildRight", "", -1);
    node(1, 0, "BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode", "data size=300000000;time to collect=100;time to build=200;time to broadcast=300", -1);
    analyse_app();
    assert_near(measure("SQL.BROADCAST_LARGE", "0/1"), 3e8);
    assert_true(fires("SQL.BROADCAST_LARGE"));
}

static void a_small_broadcast_is_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "BroadcastExchange", "BroadcastExchange", "data size=1000000", -1);
    analyse_app();
    assert_false(fires("SQL.BROADCAST_LARGE"));
}

/* 4 × 4 tasks: each side was counted four times: 32,000 / 4 = 8,000 rows in, 16,000,000 out. */
static void a_product_multiplies_rows(void **state)
{
    (void)state;
    run_stage(0, 1, 16, 1000, 0);
    add_plan(0);
    node(0, -1, "CartesianProduct", "CartesianProduct", "number of output rows=16000000", 0);
    node(1, 0, "Range", "Range", "number of output rows=16000", 0);
    node(2, 0, "Range", "Range", "number of output rows=16000", 0);
    analyse_app();
    assert_near(measure("SQL.ROW_EXPLOSION", "0/0"), 2000.0);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'SQL.ROW_EXPLOSION'"), (double)GRADE_LOW);
}

static void an_ordinary_join_does_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "BroadcastHashJoin", "BroadcastHashJoin [a], [b], Inner, BuildRight", "number of output rows=20000000", -1);
    node(1, 0, "Project", "Project [a]", "", -1);
    node(2, 1, "Range", "Range", "number of output rows=20000000", -1);
    node(3, 0, "Range", "Range", "number of output rows=100", -1);
    analyse_app();
    assert_false(fires("SQL.ROW_EXPLOSION"));
}

static void all_rows_in_one_task_are_told(void **state)
{
    (void)state;
    run_stage(0, 1, 1, 10000, 0);
    add_plan(0);
    node(0, -1, "Window", "Window [row_number()], [], [ts]", "", -1);
    node(1, 0, "Sort", "Sort [ts]", "", -1);
    node(2, 1, "Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS", "shuffle records written=2000000", -1);
    node(3, 2, "Range", "Range", "number of output rows=2000000", -1);
    analyse_app();
    assert_near(measure("SQL.SINGLE_PARTITION", "0/1"), 2e6);
}

static void a_global_count_is_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "HashAggregate", "HashAggregate(keys=[], functions=[count(1)])", "", -1);
    node(1, 0, "Exchange", "Exchange SinglePartition", "shuffle records written=200", -1);
    analyse_app();
    assert_false(fires("SQL.SINGLE_PARTITION"));
}

/* ---- scans and writes */

static void small_files_are_told(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, 0);
    add_plan(0);
    node(0, -1, "Scan parquet db.t", "FileScan parquet db.t", "number of files read=300;size of files read=3000000;number of output rows=10", 0);
    node(1, -1, "Execute InsertIntoHadoopFsRelationCommand", "Execute InsertIntoHadoopFsRelationCommand file:/out/a, false, Parquet",
         "number of written files=200;written output=2000000;number of dynamic part=4", 0);
    app_tasks[0].output_bytes = 2000000;
    node(2, -1, "Execute InsertIntoHadoopFsRelationCommand", "Execute", "number of written files=200;written output=2000000", 0);
    analyse_app();
    assert_near(measure("SQL.SMALL_FILES_READ", "0/0"), 10000.0);
    assert_near(measure("SQL.SMALL_FILES_WRITE", "0/1"), 10000.0);
    assert_true(fires("SQL.SMALL_FILES_READ"));
    assert_true(fires("SQL.SMALL_FILES_WRITE"));
    assert_string_equal(text_of("SELECT args ->> '$.written_by.v' FROM finding WHERE rule_id = 'SQL.SMALL_FILES_WRITE' AND subject_key = '0/1'"), "0.0");
    assert_string_equal(text_of("SELECT cause || ' ' || (args ->> '$.path.v') FROM finding WHERE rule_id = 'SQL.SMALL_FILES_WRITE' AND subject_key = '0/1'"),
                        "partitioned file:/out/a");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'SQL.SMALL_FILES_WRITE' AND subject_key = '0/2'"), "one"); /* 2 MB are one file */
    assert_non_null(strstr(text_of("SELECT args FROM finding WHERE rule_id = 'SQL.SMALL_FILES_READ'"), "db.t"));
}

/* Four tasks of 4 s on two slots, each a quarter of a second on a processor and the rest on storage, read 256 files of 1 MiB, 256 MiB in all, and write nothing. Opening a file takes as long as
 * reading 4 MiB: two files instead would leave (2 × 4 + 256) ÷ (256 × 4 + 256) of 3.75 s a task. */
static void opening_small_files_is_part_of_their_price(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, 0);
    for (int64_t i = 0; i < 4; i++) {
        app_tasks[i].executor_cpu_time_ns = 250 * 1000000;
        app_tasks[i].input_bytes = 64 * MIB;
    }
    add_plan(0);
    node(0, -1, "Scan parquet db.t", "FileScan parquet db.t", "number of files read=256;size of files read=268435456;number of output rows=10", 0);
    analyse_app();
    assert_near(measure("SQL.SMALL_FILES_READ", "0/0"), 1048576.0);
    double price_ms = number_of("SELECT price_ms FROM finding WHERE rule_id = 'SQL.SMALL_FILES_READ'");
    assert_true(price_ms >= 2 * 3750 * (1 - 264.0 / 1280) - 1 && price_ms <= 2 * 3750 * (1 - 264.0 / 1280) + 1);
}

/* Six seconds of planning for one node: that is no large plan. */
static void long_planning_of_a_small_plan_is_not_its_size(void **state)
{
    (void)state;
    run_stage(0, 10, 4, 4000, 0);
    add_plan(0);
    app_sql("UPDATE sql_execution SET submission_ms = %lld, completion_ms = %lld", (long long)T0 + 4000, (long long)T0 + 18000);
    node(0, -1, "Range", "Range", "", 0);
    analyse_app();
    assert_near(measure("APP.SQL_DRIVER", "0"), 6000.0 / 60000);
    assert_near(measure("SQL.LONG_PLAN", "0"), 1.0 / 500);
}

static void a_few_small_files_are_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "Scan parquet db.t", "FileScan parquet", "number of files read=90;size of files read=90000", -1);
    node(1, -1, "Execute InsertIntoHadoopFsRelationCommand", "Execute", "number of written files=100;written output=100000", -1);
    analyse_app();
    assert_false(fires("SQL.SMALL_FILES_READ"));
    assert_false(fires("SQL.SMALL_FILES_WRITE"));
    assert_string_equal(mute_of_rule("SQL.SMALL_FILES_READ"), "tiny_data");
}

static void a_scan_of_all_partitions_is_told(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "Scan parquet db.t", "FileScan parquet", "number of partitions read=12;size of files read=20000000000;number of files read=12", -1);
    scan_metadata(0, "{\"Location\":\"x\",\"PartitionFilters\":\"[]\",\"PushedFilters\":\"[]\",\"DataFilters\":\"[isnotnull(a)]\"}");
    analyse_app();
    assert_near(measure("SQL.FULL_SCAN", "0/0"), 2e10);
    assert_near(measure("SQL.PUSHDOWN", "0/0"), 2e10); /* a filter on data, and nothing pushed */
}

static void a_filtered_scan_is_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "Scan parquet db.t", "FileScan parquet", "number of partitions read=12;size of files read=20000000000;static number of files read=100;number of files read=25", -1);
    scan_metadata(
        0, "{\"PartitionFilters\":\"[(day#1 = \\\"1, 2\\\"), dynamicpruningexpression(day#1 IN x)]\",\"PushedFilters\":\"[IsNotNull(a)]\",\"DataFilters\":\"[isnotnull(a)]\"}");
    analyse_app();
    assert_false(fires("SQL.FULL_SCAN"));
    assert_false(fires("SQL.PUSHDOWN"));
    assert_near(measure("SQL.DPP", "0"), 0.25); /* effective: a word */
}

/* Three scans of 300 MiB by 4 tasks of 4 s each: two of them again. */
static void a_source_that_is_read_again_is_told(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 3; i++) {
        run_stage(i, 1 + 10 * i, 4, 4000, i);
        add_plan(i);
        node(0, -1, "Scan parquet db.t", i == 1 ? "FileScan parquet [a#77L]" : "FileScan parquet [a#3L]", "number of files read=3;size of files read=314572800;scan time=4000", i);
        scan_metadata(0, i == 1 ? "{\"Location\":\"InMemoryFileIndex[t]\",\"PartitionFilters\":\"[(d#7 = 1)]\",\"ReadSchema\":\"struct<a:int>\"}"
                                : "{\"Location\":\"InMemoryFileIndex[t]\",\"PartitionFilters\":\"[(d#9 = 1)]\",\"ReadSchema\":\"struct<a:int,b:int>\"}");
    }
    analyse_app();
    assert_near(measure("SQL.REPEATED_SCAN", "0/0"), 3.0);
    assert_true(fabs(number_of("SELECT price_ms FROM finding WHERE rule_id = 'SQL.REPEATED_SCAN'") - 4000) < 10); /* 2 × 4 s of scanning on two slots */
}

static void another_partition_is_another_source(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 3; i++) {
        char json[200];
        add_plan(i);
        node(0, -1, "Scan parquet db.t", "FileScan parquet", "number of files read=3;size of files read=314572800", -1);
        snprintf(json, sizeof json, "{\"Location\":\"InMemoryFileIndex[t]\",\"PartitionFilters\":\"[(d#7 = %d)]\"}", (int)i);
        scan_metadata(0, json);
    }
    analyse_app();
    assert_false(fires("SQL.REPEATED_SCAN"));
}

/* ---- adaptive execution, Python, aggregates, plans */

/* 4 tasks of 4 s; CPU 1 s each: the other 3 s are Python's. */
static void python_is_told_by_its_share(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, 0);
    for (size_t i = 0; i < app_task_count; i++)
        app_tasks[i].executor_cpu_time_ns = 1000000000;
    add_plan(0);
    node(0, -1, "BatchEvalPython", "BatchEvalPython [slow(x#1)#2], [pythonUDF0#3]", "number of output rows=1000", 0);
    analyse_app();
    assert_near(measure("SQL.PYTHON_UDF", "0/0"), 0.75);
    assert_non_null(strstr(text_of("SELECT args FROM finding WHERE rule_id = 'SQL.PYTHON_UDF'"), "\"slow\""));
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'SQL.PYTHON_UDF'"), 3000.0); /* half of 12 s on two slots */
}

static void arrow_is_at_most_low(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, 0);
    for (size_t i = 0; i < app_task_count; i++)
        app_tasks[i].executor_cpu_time_ns = 0;
    add_plan(0);
    node(0, -1, "ArrowEvalPython", "ArrowEvalPython [f(x#1)#2]", "number of output rows=1000", 0);
    analyse_app();
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'SQL.PYTHON_UDF'"), (double)GRADE_LOW);
}

static void merged_read(int64_t tasks, int64_t before)
{
    char metrics[100];
    app_sql("UPDATE executor SET total_cores = 8");
    run_stage(0, 1, tasks, 8000, 0);
    add_plan(0);
    node(0, -1, "AQEShuffleRead", "AQEShuffleRead coalesced", "number of partitions=1", -1);
    snprintf(metrics, sizeof metrics, "number of partitions=%lld;records read=100", (long long)before);
    node(1, 0, "Exchange", "Exchange hashpartitioning(a, 16)", metrics, 0);
}

static void partitions_merged_too_far_are_told(void **state)
{
    (void)state;
    merged_read(1, 16);
    analyse_app();
    assert_near(measure("SQL.AQE_OVERCOALESCED", "0/0"), 0.125);
    assert_true(fires("SQL.AQE_OVERCOALESCED"));
}

static void partitions_that_were_few_before_are_not(void **state)
{
    (void)state;
    merged_read(1, 4);
    analyse_app();
    assert_false(fires("SQL.AQE_OVERCOALESCED"));
}

/* Eight tasks, of which one reads 100 MiB and takes 20 s, the others a hundredth of that; a sort-merge join reads their shuffle. */
static void skewed_join(const char *name)
{
    run_stage(0, 1, 8, 200, 0);
    for (size_t i = 0; i < app_task_count; i++) {
        app_tasks[i].shuffle_local_read_bytes = i == 7 ? 100 * MIB : MIB;
        app_tasks[i].shuffle_remote_read_bytes = 0;
    }
    app_tasks[7].finish_ms = app_tasks[7].launch_ms + 20000;
    app_tasks[7].executor_run_time_ms = 20000;
    app_tasks[7].executor_cpu_time_ns = 20000000000;
    app_sql("UPDATE stage SET completion_ms = %lld; UPDATE job SET completion_ms = %lld", (long long)app_tasks[7].finish_ms, (long long)app_tasks[7].finish_ms);
    add_plan(0);
    node(0, -1, "AdaptiveSparkPlan", "AdaptiveSparkPlan isFinalPlan=true", "", -1);
    node(1, 0, name, "SortMergeJoin [a#1], [b#2], Inner", "", -1);
    node(2, 1, "Sort", "Sort [a#1]", "", -1);
    node(3, 2, "Exchange", "Exchange hashpartitioning(a#1, 8)", "records read=100", 0);
}

static void skew_that_is_left_alone_is_told_with_its_reason(void **state)
{
    (void)state;
    skewed_join("SortMergeJoin");
    analyse_app();
    assert_near(measure("STAGE.SKEW_DATA", "0.0"), 100.0);
    assert_near(measure("SQL.AQE_SKEW_UNHANDLED", "0/1"), 100.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'SQL.AQE_SKEW_UNHANDLED'"), "below the size threshold");
    assert_true(number_of("SELECT price_ms FROM finding WHERE rule_id = 'SQL.AQE_SKEW_UNHANDLED'") == number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.SKEW_DATA'"));
}

static void skew_that_was_split_is_not(void **state)
{
    (void)state;
    skewed_join("SortMergeJoin(skew=true)");
    analyse_app();
    assert_false(fires("SQL.AQE_SKEW_UNHANDLED"));
}

/* Out of memory anywhere on the way is an error, and no crash. */
static void any_allocation_may_fail(void **state)
{
    (void)state;
    shuffled_join("SortMergeJoin [k#1], [k#2], Inner", 100 * MIB, MIB);
    app_pack_chunks(4096);
    enum err_code rc = ERR_NOMEM;
    for (uint64_t n = 1; rc && n < 1000000; n += 1 + n / 16) {
        struct err err = {0};
        mem_fail_at(n, 0);
        rc = analyse(&app_db, &err);
        mem_fail_at(0, 0);
    }
    assert_int_equal(rc, ERR_OK);
    assert_near(measure("SQL.BROADCAST_MISSED", "0/0"), 100.0);
}

static void adaptive_execution_that_is_off_is_told(void **state)
{
    (void)state;
    add_setting("spark.sql.adaptive.enabled", "false");
    add_plan(0);
    node(0, -1, "Exchange", "Exchange hashpartitioning(a, 16)", "", -1);
    node(1, 0, "Exchange", "Exchange RoundRobinPartitioning(4)", "", -1);
    analyse_app();
    assert_near(measure("SQL.AQE_OFF", "-"), 2.0);
}

static void adaptive_execution_that_is_on_is_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "Exchange", "Exchange hashpartitioning(a, 16)", "", -1);
    analyse_app();
    assert_near(measure("SQL.AQE_OFF", "-"), 0.0);
}

static void aggregates_that_cannot_hash_are_told(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "SortAggregate", "SortAggregate(key=[a])", "number of output rows=5", -1);
    node(1, 0, "HashAggregate", "HashAggregate(keys=[a], functions=[partial_sum(b)])", "number of output rows=19000000", -1);
    node(2, 1, "Range", "Range", "number of output rows=20000000", -1);
    analyse_app();
    assert_near(measure("SQL.AGG_FALLBACK", "0/0"), 1.9e7);
    assert_near(measure("SQL.AGG_FALLBACK", "0/1"), 2e7); /* 95 % of the rows are left */
}

static void a_good_aggregate_is_not(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "HashAggregate", "HashAggregate(keys=[a], functions=[partial_sum(b)])", "number of output rows=100;number of sort fallback tasks=0", -1);
    node(1, 0, "Range", "Range", "number of output rows=20000000", -1);
    analyse_app();
    assert_false(fires("SQL.AGG_FALLBACK"));
}

/* Nobody counted its rows, and two of its tasks ran out of room for hashing. */
static void a_fallback_is_told_without_rows(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "ObjectHashAggregate", "ObjectHashAggregate(keys=[a], functions=[collect_list(b)])", "number of sort fallback tasks=2", -1);
    node(1, 0, "Custom", "Custom", "", -1);
    analyse_app();
    assert_near(measure("SQL.AGG_FALLBACK", "0/0"), 1e7);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'SQL.AGG_FALLBACK'"), "fallback");
}

/* Two nodes, of which one is a filter of 2,500 characters: that is what is said, not that two nodes are many. */
static void a_long_filter_is_told_as_that(void **state)
{
    (void)state;
    char text[2501];
    add_plan(0);
    memset(text, 'x', 2500);
    text[2500] = '\0';
    memcpy(text, "Filter id IN (", 14);
    node(0, -1, "Filter", text, "", -1);
    node(1, 0, "Range", "Range", "", -1);
    analyse_app();
    assert_near(measure("SQL.LONG_PLAN", "0"), 2.5);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'SQL.LONG_PLAN'"), "filter");
    assert_near(number_of("SELECT args ->> '$.filter.v' FROM finding WHERE rule_id = 'SQL.LONG_PLAN'"), 2500.0);
}

static void a_long_plan_is_told(void **state)
{
    (void)state;
    add_plan(0);
    for (int64_t i = 0; i < 750; i++)
        node(i, i - 1, "Union", "Union", "", -1);
    analyse_app();
    assert_near(measure("SQL.LONG_PLAN", "0"), 1.5);
}

/* Iceberg: of 100 files 60 were replaced; a MERGE counts rows below, a DELETE left 900 of 1,000; an UPDATE leaves as many rows as there were and does not say how many it changed. */
static void icebergs_commit_says_what_was_rewritten(void **state)
{
    (void)state;
    static const char files[] = "number of added data files=60;number of removed data files=60;total number of data files=100";
    char commit[300];
    add_plan(0);
    node(0, -1, "ReplaceData", "ReplaceData IcebergWrite", files, -1);
    node(1, 0, "MergeRows", "MergeRows", "number of target rows updated=100;number of target rows copied unmodified because they did not match any action=900", -1);
    add_plan(1);
    snprintf(commit, sizeof commit, "%s;number of removed records=1000;number of added records=900", files);
    node(0, -1, "ReplaceData", "ReplaceData IcebergWrite", commit, -1);
    add_plan(2);
    snprintf(commit, sizeof commit, "%s;number of removed records=1000;number of added records=1000", files);
    node(0, -1, "ReplaceData", "ReplaceData IcebergWrite", commit, -1);
    analyse_app();
    assert_near(measure("SQL.WRITE_AMPLIFICATION", "0/0"), 0.6);
    assert_near(measure("SQL.WRITE_AMPLIFICATION", "1/0"), 0.6);
    assert_true(isnan(measure("SQL.WRITE_AMPLIFICATION", "2/0")));
    assert_near(number_of("SELECT args ->> '$.q.v' FROM finding WHERE rule_id = 'SQL.WRITE_AMPLIFICATION' AND subject_key = '1/0'"), 0.1);
    assert_near(number_of("SELECT args ->> '$.q.v' FROM finding WHERE rule_id = 'SQL.WRITE_AMPLIFICATION' AND subject_key = '0/0'"), 0.1);
}

/* Of 120 columns (Spark shows 2 here and counts the rest) a projection and the filter below it take 3; of the other scan nothing above names all that it uses. */
static void columns_that_nothing_uses_are_told(void **state)
{
    (void)state;
    static const char scan[] = "FileScan parquet db.wide[a#1, b#2L, ... 118 more fields] Batched: true, DataFilters: [], Format: Parquet, PartitionFilters: [], PushedFilters: []";
    for (int64_t plan = 0; plan < 2; plan++) {
        add_plan(plan);
        node(0, -1, plan ? "SerializeFromObject" : "Project", plan ? "SerializeFromObject" : "Project [a#1, (b#2L + a#1) AS c#9, named_struct(x, a#1)]", "", -1);
        node(1, 0, "Filter", "Filter isnotnull(b#2L)", "", -1);
        node(2, 1, "ColumnarToRow", "ColumnarToRow", "", -1);
        node(3, 2, "Scan parquet db.wide", scan, "size of files read=2000000000;number of output rows=1000", -1);
    }
    analyse_app();
    assert_near(measure("SQL.PUSHDOWN", "0/3"), 2e9);
    assert_near(number_of("SELECT args ->> '$.columns.v' FROM finding WHERE rule_id = 'SQL.PUSHDOWN' AND subject_key = '0/3'"), 120.0);
    assert_near(number_of("SELECT args ->> '$.used.v' FROM finding WHERE rule_id = 'SQL.PUSHDOWN' AND subject_key = '0/3'"), 3.0); /* a, b, c: a name more does no harm */
    assert_false(measure("SQL.PUSHDOWN", "1/3") > 0);
}

/* One query: two shuffles, written by stages 2n and 2n + 1, as long as `ms` says for each task. */
static void aggregation(int64_t query, int64_t begin_s, int64_t ms, int64_t rows)
{
    char metrics[100];
    run_stage(2 * query, begin_s, 4, ms, query);
    run_stage(2 * query + 1, begin_s + 10, 2, ms, query);
    add_plan(query);
    snprintf(metrics, sizeof metrics, "shuffle records written=%lld;data size=10", (long long)rows);
    node(0, -1, "Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=7]", metrics, 2 * query + 1);
    node(1, 0, "HashAggregate", query ? "HashAggregate(keys=[k#11L], functions=[sum(v#12)])" : "HashAggregate(keys=[k#1L], functions=[sum(v#2)])", "", -1);
    node(2, 1, "AQEShuffleRead", query ? "AQEShuffleRead coalesced" : "AQEShuffleRead local", "", -1);
    node(3, 2, "Exchange", query ? "Exchange hashpartitioning(k#11L, 8)" : "Exchange hashpartitioning(k#1L, 8)", "shuffle records written=500;data size=10", 2 * query);
    node(4, 3, "Scan parquet db.orders", query ? "FileScan parquet db.orders[k#11L,v#12]" : "FileScan parquet db.orders[k#1L,v#2]", "", -1);
}

/* 4 × 3 + 2 × 3 s and, again, 4 × 2 + 2 × 2 s: what the cheaper one cost is saved, which is all of the second: 4 and 2 s on two slots. The part below goes with the whole. */
static void a_part_of_a_plan_computed_again_is_told(void **state)
{
    (void)state;
    aggregation(0, 1, 3000, 10);
    aggregation(1, 30, 2000, 10);
    analyse_app();
    assert_near(measure("RDD.RECOMPUTE", "0/0"), 2.0);
    assert_near(number_of("SELECT count(*) FROM finding WHERE rule_id = 'RDD.RECOMPUTE' AND subject_kind = 'node'"), 1.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), 6000.0);
    assert_string_equal(text_of("SELECT args ->> '$.name.v' || ', ' || (args ->> '$.list.v') FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), "HashAggregate (db.orders), 1.0, 3.0");
}

/* The upper parts have other rows, so that only the lower one is the same: 4 × 2 s on two slots. */
static void a_part_with_other_rows_is_another_one(void **state)
{
    (void)state;
    aggregation(0, 1, 3000, 10);
    aggregation(1, 30, 2000, 11);
    analyse_app();
    assert_true(isnan(measure("RDD.RECOMPUTE", "0/0")));
    assert_near(measure("RDD.RECOMPUTE", "0/3"), 2.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'RDD.RECOMPUTE'"), 4000.0);
}

static void a_query_does_not_repeat_itself(void **state)
{
    (void)state;
    aggregation(0, 1, 3000, 10);
    aggregation(1, 30, 2000, 10);
    app_sql("UPDATE sql_execution SET root_execution_id = 0");
    analyse_app();
    assert_false(fires("RDD.RECOMPUTE"));
}

static void a_rewrite_for_few_rows_is_told(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "Execute MergeIntoCommand", "Execute MergeIntoCommand",
         "number of updated rows=10;number of target rows rewritten unmodified=990;number of files removed to target=70;number of target files before skipping=100", -1);
    add_plan(1);
    node(0, -1, "Execute MergeIntoCommand", "Execute MergeIntoCommand",
         "number of updated rows=900;number of target rows rewritten unmodified=100;number of files removed to target=70;number of target files before skipping=100", -1);
    analyse_app();
    assert_near(measure("SQL.WRITE_AMPLIFICATION", "0/0"), 0.7);
    assert_near(number_of("SELECT count(*) FROM finding WHERE rule_id = 'SQL.WRITE_AMPLIFICATION'"), 1.0);
}

static void operators_off_the_accelerator_are_counted(void **state)
{
    (void)state;
    add_plan(0);
    node(0, -1, "GpuColumnarToRow", "GpuColumnarToRow", "", -1);
    node(1, 0, "GpuFilter", "GpuFilter", "", -1);
    node(2, 1, "Project", "Project", "", -1);
    node(3, 2, "GpuScan parquet ", "GpuScan", "", -1);
    analyse_app();
    assert_near(measure("SQL.NATIVE_FALLBACK", "0"), 0.5);
}

static void failures_are_told_by_what_they_say(void **state)
{
    (void)state;
    app_sql("INSERT INTO text VALUES (1, 'org.x.BadException: row 17 of /a/b is bad'), (2, 'org.x.BadException: row 99 of /c is bad'), (3, 'org.x.OtherException: no')");
    for (int64_t i = 0; i < 4; i++)
        app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, completion_ms, status, start_seen, end_seen, outcome, error_text_id) VALUES"
                " (%lld, %lld, %lld, %lld, %d, 1, 1, %d, %s)",
                (long long)i, (long long)i, (long long)T0 + i, (long long)T0 + 10 + i, i == 3 ? 1 : 2, i != 3, i == 3 ? "NULL" : sql_number(i + 1));
    analyse_app();
    assert_near(measure("SQL.FAILED", "0"), 2.0);
    assert_near(measure("SQL.FAILED", "2"), 1.0);
    assert_near(number_of("SELECT max(at_least) FROM finding WHERE rule_id = 'SQL.FAILED'"), 0.0); /* the last one went well */
}

static void run_out_of_memory(bool task)
{
    run_stage(0, 1, 4, 4000, 0);
    app_sql(
        "INSERT INTO text VALUES (1, 'java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:3537)'), (2, 'java.lang.OutOfMemoryError: GC overhead limit exceeded')");
    app_sql("INSERT INTO sql_execution (execution_id, root_execution_id, submission_ms, completion_ms, status, start_seen, end_seen, outcome, error_text_id) VALUES"
            " (0, 0, %lld, %lld, 2, 1, 1, 1, 1)",
            (long long)T0 + 1000, (long long)T0 + 9000);
    if (task) {
        fail_task(&app_tasks[3], REASON_EXCEPTION);
        app_tasks[3].error_text_id = 2;
    }
    analyse_app();
}

/* No task and no executor ran out of memory, and yet the query did: the driver, then. */
static void a_query_without_memory_is_the_drivers(void **state)
{
    (void)state;
    run_out_of_memory(false);
    assert_near(measure("TASK.OOM", "0"), 1.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'TASK.OOM'"), "driver");
}

static void a_query_whose_task_lacked_memory_is_not(void **state)
{
    (void)state;
    run_out_of_memory(true);
    assert_near(measure("TASK.OOM", "0.0"), 1.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'TASK.OOM'"), "oom_heap");
}

/* A query that is stopped cancels its batch; that is no failed query. */
static void a_stopped_stream_is_no_failed_query(void **state)
{
    (void)state;
    app_sql("INSERT INTO text VALUES (1, 'java.lang.InterruptedException')");
    add_plan(0);
    node(0, -1, "MicroBatchScan", "MicroBatchScan[a] R", "", -1);
    app_sql("UPDATE sql_execution SET status = 2, outcome = 1, error_text_id = 1");
    analyse_app();
    assert_false(fires("SQL.FAILED"));
}

/* Edges in a circle and to nodes that are not there, texts and numbers of any kind. */
static void odd_plans_do_no_harm(void **state)
{
    (void)state;
    run_stage(0, 1, 4, 4000, 0);
    add_plan(0);
    node(0, -1, "SortMergeJoin", "SortMergeJoin [[[", "number of output rows=9223372036854775807", 0);
    node(1, 0, "Sort", "Sort", "", -1);
    node(2, 0, "Sort", "", "", -1);
    node(3, 2, "Exchange", "SinglePartition", "data size=-5;shuffle records written=-1;number of partitions=0", 0);
    node(4, 3, "AQEShuffleRead", "AQEShuffleRead coalesced", "number of partitions=-3", -1);
    app_sql("INSERT INTO sql_edge VALUES (0, 90, 0, 1), (0, 91, 1, 1), (0, 92, 77, 0), (0, 93, 3, 4), (0, 94, 0, 0)");
    scan_metadata(1, "{\"Location\":\"");
    node(5, 0, "Scan parquet ", "Location: ", "number of files read=-1;size of files read=9223372036854775807;number of partitions read=5", 0);
    scan_metadata(5, "\"\\\",:{{\"\"PartitionFilters\":\"\\\\");
    app_sql("UPDATE sql_node SET accumulator_ids = accumulator_ids || ' x 99999999999999999999 ' WHERE node_id = 5");
    analyse_app();
    assert_near(number_of("SELECT count(*) FROM analysis"), 1.0);
    assert_near(number_of("SELECT count(*) FROM finding WHERE measure < 0"), 0.0);
}

#define PLAN(name) cmocka_unit_test_setup_teardown(name, begin, app_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLAN(a_small_side_fits_a_broadcast),
        PLAN(the_small_side_of_a_join_is_named),
        PLAN(what_the_sorts_spilled_goes_with_them),
        PLAN(a_single_row_side_fits_a_broadcast),
        PLAN(two_large_sides_do_not),
        PLAN(the_outer_side_is_not_broadcast),
        PLAN(a_large_broadcast_is_told),
        PLAN(a_small_broadcast_is_not),
        PLAN(a_product_multiplies_rows),
        PLAN(an_ordinary_join_does_not),
        PLAN(all_rows_in_one_task_are_told),
        PLAN(a_global_count_is_not),
        PLAN(small_files_are_told),
        PLAN(opening_small_files_is_part_of_their_price),
        PLAN(long_planning_of_a_small_plan_is_not_its_size),
        PLAN(a_few_small_files_are_not),
        PLAN(a_scan_of_all_partitions_is_told),
        PLAN(a_filtered_scan_is_not),
        PLAN(a_source_that_is_read_again_is_told),
        PLAN(another_partition_is_another_source),
        PLAN(python_is_told_by_its_share),
        PLAN(arrow_is_at_most_low),
        PLAN(partitions_merged_too_far_are_told),
        PLAN(partitions_that_were_few_before_are_not),
        PLAN(skew_that_is_left_alone_is_told_with_its_reason),
        PLAN(skew_that_was_split_is_not),
        PLAN(adaptive_execution_that_is_off_is_told),
        PLAN(adaptive_execution_that_is_on_is_not),
        PLAN(aggregates_that_cannot_hash_are_told),
        PLAN(a_good_aggregate_is_not),
        PLAN(a_fallback_is_told_without_rows),
        PLAN(a_long_filter_is_told_as_that),
        PLAN(a_long_plan_is_told),
        PLAN(a_rewrite_for_few_rows_is_told),
        PLAN(icebergs_commit_says_what_was_rewritten),
        PLAN(columns_that_nothing_uses_are_told),
        PLAN(a_part_of_a_plan_computed_again_is_told),
        PLAN(a_part_with_other_rows_is_another_one),
        PLAN(a_query_does_not_repeat_itself),
        PLAN(operators_off_the_accelerator_are_counted),
        PLAN(failures_are_told_by_what_they_say),
        PLAN(a_query_without_memory_is_the_drivers),
        PLAN(a_query_whose_task_lacked_memory_is_not),
        PLAN(a_stopped_stream_is_no_failed_query),
        PLAN(odd_plans_do_no_harm),
        PLAN(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
