/* SPDX-License-Identifier: Apache-2.0
 *
 * Random small applications as rows (app_rows.h), for tests of what must hold whatever a log says. random_begin names one; random_run adds what accounts, chain and simulator look at (executors,
 * jobs, stages, tasks, SQL executions), random_rest everything else that rules look at: settings, lineage and caches, plans, streams, failures, peaks. Much of it contradicts itself. */
#ifndef TESTS_UNIT_ANALYSIS_RANDOM_APP_H
#define TESTS_UNIT_ANALYSIS_RANDOM_APP_H

#include "app_rows.h"

#include "base/attributes.h"

static uint64_t random_state;

static void random_begin(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15ULL;
}

static int64_t random_to(int64_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % (uint64_t)count);
}

/* Mostly within some seconds, sometimes unknown, at another's time, centuries away, or no time at all. */
static int64_t random_time(void)
{
    static const int64_t odd[] = {UNKNOWN, -1, 0, 1, INT64_MAX, INT64_MIN + 1, INT64_C(32503680000000), INT64_C(1) << 62, 100000, 130000};
    return random_to(12) ? 100000 + random_to(random_to(3) ? 30000 : 12) * (random_to(40) ? 1 : 1000000) : odd[random_to((int64_t)ARRAY_LENGTH(odd))];
}

static void add_random_tasks(int64_t executors, int64_t stages)
{
    int64_t count = random_to(14);
    for (int64_t i = 0; i < count; i++) {
        int64_t launch_ms = random_time();
        struct task_cells *task = add_task(1 + random_to(stages), random_to(20), random_to(5), random_to(12) ? 1 + random_to(executors + 1) : UNKNOWN, launch_ms,
                                           random_to(3) && known(launch_ms) && launch_ms < INT64_MAX / 2 ? launch_ms + random_to(9000) : random_time());
        if (!random_to(3))
            fail_task(task, random_to(10));
        if (!random_to(4))
            task->partition_id = random_to(2) ? UNKNOWN : random_to(5);
        task->attempt = random_to(3) / 2;
        task->speculative = random_to(5) == 0;
        if (random_to(4)) {
            task->has_metrics = 1;
            int64_t *const values[] = {&task->executor_run_time_ms, &task->executor_deserialize_time_ms, &task->result_serialization_time_ms, &task->jvm_gc_time_ms,
                                       &task->shuffle_fetch_wait_time_ms};
            for (size_t v = 0; v < ARRAY_LENGTH(values); v++)
                *values[v] = random_to(8) ? random_to(3000) : random_time();
            task->executor_cpu_time_ns = random_to(4) ? random_to(3000) * 1000000 + random_to(1000) : random_time();
            task->shuffle_write_time_ns = random_to(3000) * 1000;
            task->getting_result_ms = random_time();
        }
    }
}

static void random_run(void)
{
    add_application(random_to(8) ? 100000 - random_to(3) * 1000 : random_time(), random_to(4) ? 130000 + random_to(5) : random_time());
    int64_t executors = 1 + random_to(4), jobs = random_to(5), stages = 1 + random_to(5);
    if (!random_to(4))
        add_setting("spark.master", random_to(2) ? "local[*]" : "local[2]");
    for (int64_t i = 0; i < executors; i++)
        add_executor(i + 1, random_to(6) ? "1" : "driver", random_to(5) ? random_to(5) : random_time(), random_to(3) ? 100000 + random_to(9000) : random_time(),
                     random_to(3) ? UNKNOWN : random_time());
    for (int64_t i = 0; i < jobs; i++) {
        int64_t begin_ms = random_time();
        add_job(i, begin_ms, random_to(3) && known(begin_ms) && begin_ms < INT64_MAX / 2 ? begin_ms + random_to(9000) : random_time(), (int)random_to(3));
    }
    for (int64_t i = 0; i < stages; i++) {
        add_stage(i + 1, i / 2, i % 2, random_to(6) ? random_to(6) : random_time(), random_time(), random_time(), (int)random_to(5));
        for (int64_t j = 0; j < jobs; j++)
            if (random_to(2))
                list_stage(j, i / 2);
        app_sql("INSERT OR IGNORE INTO stage_parent VALUES (%lld, %lld)", (long long)(i / 2), (long long)random_to(3));
    }
    for (int64_t i = random_to(4); i > 0; i--)
        add_execution(i, random_to(4), random_time(), random_time());
    if (!random_to(5))
        app_sql("INSERT INTO streaming_query (run_ref, run_id, start_ms, start_seen, end_seen, idle_count, last_idle_ms) VALUES (1, 'r', %s, 1, %d, 0, %s)",
                sql_number(random_time()), (int)random_to(2), sql_number(random_time()));
    if (!random_to(5))
        app_sql("INSERT INTO server_session (session_ref, server, session_id, start_ms, finish_ms, start_seen, end_seen) VALUES (1, 0, 's', %s, %s, 1, 1)",
                sql_number(random_time()), sql_number(random_time()));
    add_random_tasks(executors, stages);
}

/* In any order, for the order must not matter. */
__attribute__((unused)) static void random_shuffle_tasks(void)
{
    for (size_t i = app_task_count; i > 1; i--) {
        size_t j = (size_t)random_to((int64_t)i);
        struct task_cells task = app_tasks[i - 1];
        app_tasks[i - 1] = app_tasks[j];
        app_tasks[j] = task;
    }
}

/* Two tasks of one id in one stage cannot be told apart, and which of them is first must not matter: the store never has them. */
__attribute__((unused)) static void random_drop_twins(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < app_task_count; i++) {
        bool twin = false;
        for (size_t j = 0; j < kept; j++)
            twin |= app_tasks[j].stage_ref == app_tasks[i].stage_ref && app_tasks[j].task_id == app_tasks[i].task_id;
        if (!twin)
            app_tasks[kept++] = app_tasks[i];
    }
    app_task_count = kept;
}

/* ---- everything else */

#define RANDOM_OF(list) (list)[random_to((int64_t)ARRAY_LENGTH(list))]

/* Nothing, bytes to terabytes, unknown, or more than there is in the world; ingest keeps sizes below 0 out of the store. */
static int64_t random_size(void)
{
    static const int64_t odd[] = {UNKNOWN, 0, 0, 1, INT64_C(1) << 62, INT64_MAX};
    return random_to(5) ? random_to(INT64_C(1) << (1 + random_to(42))) : RANDOM_OF(odd);
}

/* A text with this id for whoever refers to it. */
static int64_t random_text(int64_t id, const char *text)
{
    app_sql("INSERT OR REPLACE INTO text VALUES (%lld, '%s')", (long long)id, text);
    return id;
}

/* Columns (comma-separated) of the rows of `where`: a third of them set, each to a size of its own. */
static void random_columns(const char *table, const char *columns, const char *where)
{
    for (size_t len; *columns; columns += len + (columns[len] == ',')) {
        len = strcspn(columns, ",");
        if (!random_to(3))
            app_sql("UPDATE %s SET %.*s = coalesce(%s, %.*s) WHERE %s", table, (int)len, columns, sql_number(random_size()), (int)len, columns, where);
    }
}

static void random_failures(void)
{
    static const char *const texts[] = {
        "java.lang.OutOfMemoryError: Java heap space\n\tat org.x.Y",
        "org.apache.spark.SparkException: Job aborted due to stage failure: Lost task 0.3 in stage 1.0 (TID 7) (host-1 executor 1): java.lang.IllegalStateException: bad row 17",
        "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits. Exit status: 137",
        "FetchFailed(BlockManagerId(1, host-1, 7337, None), shuffleId=0, mapIndex=0, mapId=0, reduceId=1, message=gone)",
        "another attempt succeeded",
        "",
        "\x01 \x7f no text",
    };
    static const char *const reasons[] = {
        "'Executor killed by driver.'", "'Command exited with code 137'", "'Container marked as failed. Exit status: 143.'", "'worker lost'", "''", "NULL"};
    app_sql("UPDATE job SET failure_text_id = %lld WHERE status = 2", (long long)random_text(1, RANDOM_OF(texts)));
    app_sql("UPDATE stage SET failure_text_id = %lld, details_text_id = %lld", (long long)random_text(2, RANDOM_OF(texts)),
            (long long)random_text(3, "org.apache.spark.rdd.RDD.count(RDD.scala:1)\ncom.example.Nightly.main(Nightly.scala:42)"));
    for (size_t i = 0; i < app_task_count; i++)
        if (app_tasks[i].status == 2 || !random_to(6))
            app_tasks[i].error_text_id = random_text(10 + random_to(4), RANDOM_OF(texts));
    for (int64_t e = 1; e < 5; e++)
        app_sql("UPDATE executor SET host = 'host-%lld', remove_reason = %s WHERE executor_ref = %lld", (long long)random_to(3), RANDOM_OF(reasons), (long long)e);
    if (!random_to(8))
        app_sql("INSERT INTO exclusion VALUES (1, %s, %d, '1', NULL, NULL, NULL, %lld)", sql_number(random_time()), (int)random_to(2), (long long)random_to(9));
}

static void random_sizes(void)
{
    int64_t half_known = random_to(2);
    for (size_t i = 0; i < app_task_count; i++) {
        struct task_cells *t = &app_tasks[i];
        int64_t *const sizes[] = {&t->peak_execution_memory_bytes,
                                  &t->result_size_bytes,
                                  &t->memory_spilled_bytes,
                                  &t->disk_spilled_bytes,
                                  &t->input_bytes,
                                  &t->input_records,
                                  &t->output_bytes,
                                  &t->output_records,
                                  &t->shuffle_remote_read_bytes,
                                  &t->shuffle_local_read_bytes,
                                  &t->shuffle_records_read,
                                  &t->shuffle_write_bytes,
                                  &t->shuffle_write_records};
        for (size_t v = 0; v < ARRAY_LENGTH(sizes); v++)
            *sizes[v] = half_known && random_to(2) ? UNKNOWN : random_size();
        t->locality = random_to(6) ? random_to(5) : UNKNOWN;
    }
    random_columns(
        "stage", "task_time_ms,jvm_gc_time_ms,disk_spilled_bytes,input_bytes,output_bytes,shuffle_remote_read_bytes,shuffle_local_read_bytes,shuffle_write_bytes,speculative_tasks",
        "stage_ref % 2 = 0");
    random_columns(
        "executor",
        "max_memory_bytes,peak_jvm_heap_memory_bytes,peak_on_heap_storage_memory_bytes,peak_on_heap_unified_memory_bytes,peak_process_tree_jvm_rss_memory_bytes,"
        "peak_process_tree_python_rss_memory_bytes,peak_major_gc_count,peak_major_gc_time_ms,task_count,task_time_ms,gc_time_ms,total_input_bytes,total_shuffle_read_bytes,"
        "rdd_blocks,memory_used_bytes,peaks_set",
        "executor_ref % 2 = 0");
}

static void random_settings(void)
{
    static const char *const names[] = {"spark.executor.memory",
                                        "spark.driver.memory",
                                        "spark.executor.cores",
                                        "spark.task.cpus",
                                        "spark.executor.instances",
                                        "spark.memory.fraction",
                                        "spark.sql.shuffle.partitions",
                                        "spark.sql.adaptive.enabled",
                                        "spark.serializer",
                                        "spark.driver.maxResultSize",
                                        "spark.dynamicAllocation.enabled",
                                        "spark.dynamicAllocation.minExecutors",
                                        "spark.speculation",
                                        "spark.scheduler.mode",
                                        "spark.memory.offHeap.enabled",
                                        "spark.executor.memoryOverhead",
                                        "spark.sql.adaptive.enabeld",
                                        "spark.executor.extraJavaOptions",
                                        "spark.submit.deployMode",
                                        "spark.dynamicAllocation.executorIdleTimeout"};
    static const char *const values[] = {"1g",   "true", "false", "0", "8", "-1", "", "FAIR", "1e300", "99999999999999999999g", "0.6", "512m", "-Xmx4g -XX:+UseG1GC",
                                         "java", "60s",  "nan"};
    static const char *const jars[] = {"/a/guava-14.0.jar", "/b/guava-31.1-jre.jar", "/a/spark-core_2.12-3.5.7.jar", "/a/x_2.13-1.jar", "/a/.jar"};
    for (int64_t i = random_to(8); i > 0; i--)
        app_sql("INSERT OR REPLACE INTO environment VALUES (1, '%s', '%s')", RANDOM_OF(names), RANDOM_OF(values));
    for (int64_t i = random_to(3); i > 0; i--)
        app_sql("INSERT OR REPLACE INTO environment VALUES (5, '%s', 'System Classpath')", RANDOM_OF(jars));
    if (!random_to(4))
        app_sql("INSERT INTO job_property SELECT job_id, '%s', '%s' FROM job", RANDOM_OF(names), RANDOM_OF(values));
    if (!random_to(4))
        app_sql("INSERT INTO sql_config SELECT execution_id, '%s', '%s' FROM sql_execution", RANDOM_OF(names), RANDOM_OF(values));
}

static void random_lineage(void)
{
    for (int64_t r = random_to(6); r > 0; r--) {
        app_sql("INSERT INTO rdd (rdd_id, name, callsite, num_partitions, tracked, unpersisted, use_disk, use_memory, use_off_heap, deserialized, storage_partitions)"
                " VALUES (%lld, '%s', 'cache at Nightly.scala:%lld', %s, 0, %d, %d, %d, 0, %d, %s)",
                (long long)r, random_to(4) ? "orders" : "PythonRDD", (long long)r, sql_number(random_size()), (int)random_to(2), (int)random_to(2), (int)random_to(2),
                (int)random_to(2), sql_number(random_to(2) ? random_to(9) : UNKNOWN));
        char where[40];
        snprintf(where, sizeof where, "rdd_id = %lld", (long long)r);
        random_columns("rdd", "unpersist_ms,most_partitions,evicted_partitions,most_memory_bytes,most_disk_bytes,held_byte_ms,held_to_ms,memory_used_bytes,disk_used_bytes", where);
        if (!random_to(2))
            app_sql("UPDATE rdd SET unpersist_ms = %s, held_to_ms = %s WHERE %s", sql_number(random_time()), sql_number(random_time()), where);
        if (random_to(4))
            app_sql("INSERT INTO rdd_parent VALUES (%lld, 0, %lld)", (long long)r, (long long)random_to(6));
        for (int64_t s = 1; s <= 5; s++)
            if (random_to(2))
                app_sql("INSERT INTO stage_rdd SELECT stage_ref, %lld, %lld, %d FROM stage WHERE stage_ref = %lld", (long long)(9 - r), (long long)r, (int)random_to(2),
                        (long long)s);
    }
    app_sql("UPDATE stage SET name = '%s'", random_to(3) ? "count at Nightly.scala:42" : "sortByKey at Nightly.scala:7");
}

static void random_plans(void)
{
    static const char *const nodes[][2] = {
        {"Scan parquet t",
         "FileScan parquet t[k#1L,v#2] Batched: true, DataFilters: [isnotnull(k#1L)], Format: Parquet, Location: InMemoryFileIndex(1 paths)[file:/d/t], PartitionFilters: [],"
         " PushedFilters: [], ReadSchema: struct<k:bigint,v:string>"},
        {"Exchange", "Exchange hashpartitioning(k#1L, 200), ENSURE_REQUIREMENTS, [plan_id=1]"},
        {"Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS"},
        {"AQEShuffleRead", "AQEShuffleRead coalesced and skewed"},
        {"SortMergeJoin", "SortMergeJoin [k#1L], [k#3L], Inner"},
        {"BroadcastHashJoin", "BroadcastHashJoin [k#1L], [k#3L], LeftOuter, BuildRight, false"},
        {"BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, true]),false), [plan_id=2]"},
        {"CartesianProduct", "CartesianProduct"},
        {"Sort", "Sort [k#1L ASC NULLS FIRST], false, 0"},
        {"Window", "Window [row_number() windowspecdefinition(k#1L ASC) AS r#9], [k#1L ASC]"},
        {"HashAggregate", "HashAggregate(keys=[k#1L], functions=[sum(v#2)])"},
        {"Filter", "Filter (isnotnull(k#1L) AND f(k#1L))"},
        {"BatchEvalPython", "BatchEvalPython [f(k#1L)#5], [pythonUDF0#6]"},
        {"Execute InsertIntoHadoopFsRelationCommand", "Execute InsertIntoHadoopFsRelationCommand file:/d/out, false, [p#1], Parquet"},
        {"AdaptiveSparkPlan", "AdaptiveSparkPlan isFinalPlan=true"},
        {"Project", "Project [k#1L]"},
        {"GpuFilter", "GpuFilter (k#1L > 5)"},
        {"MergeRows", "MergeRows"},
    };
    static const char *const metrics[] = {"number of output rows",
                                          "size of files read",
                                          "number of files read",
                                          "data size",
                                          "shuffle records written",
                                          "shuffle write time",
                                          "records read",
                                          "sort time",
                                          "time to build",
                                          "written output",
                                          "number of written files",
                                          "number of coalesced partitions",
                                          "partition data size",
                                          "number of partitions",
                                          "number of skewed partitions",
                                          "spill size",
                                          "data sent to Python workers",
                                          "number of sort fallback tasks"};
    int64_t text = 100, accumulator = 1, plans = random_to(4) ? 1 + random_to(2) : 0;
    for (int64_t p = 0; p < plans; p++) {
        int64_t execution = 1 + random_to(3);
        app_sql("INSERT OR IGNORE INTO sql_plan VALUES (%lld, %lld, %lld, NULL, %lld, %d, %s, 0)", (long long)p, (long long)execution, (long long)p, (long long)p,
                (int)random_to(2), sql_number(random_time()));
        app_sql("UPDATE sql_execution SET plan_id = %lld WHERE execution_id = %lld", (long long)p, (long long)execution);
        for (int64_t n = random_to(9); n > 0; n--) {
            int64_t which = random_to((int64_t)ARRAY_LENGTH(nodes));
            char ids[100] = "";
            for (int64_t m = random_to(4); m > 0; m--) {
                app_sql("INSERT INTO sql_metric (execution_id, accumulator_id, name, metric_type, value_count, raw_count, reported_count, total, min, median, max) VALUES"
                        " (%lld, %lld, '%s', '%s', 1, 1, %lld, %s, %s, %s, %s)",
                        (long long)execution, (long long)accumulator, RANDOM_OF(metrics), random_to(3) ? "sum" : "nsTiming", (long long)random_to(9), sql_number(random_size()),
                        sql_number(random_size()), sql_number(random_size()), sql_number(random_size()));
                app_sql("INSERT OR IGNORE INTO stage_accumulable (stage_ref, ordinal, accumulable_id, internal, metadata) VALUES (%lld, %lld, %lld, 0, 'sql')",
                        (long long)(1 + random_to(5)), (long long)accumulator, (long long)accumulator);
                snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%lld", *ids ? " " : "", (long long)accumulator++);
            }
            random_text(text, nodes[which][1]);
            app_sql("INSERT INTO sql_node VALUES (%lld, %lld, 0, NULL, '%s', %lld, NULL, '%s')", (long long)p, (long long)n, nodes[which][0], (long long)text++, ids);
            if (random_to(4))
                app_sql("INSERT INTO sql_edge SELECT %lld, count(*), %lld, %lld FROM sql_edge WHERE plan_id = %lld", (long long)p, (long long)n, (long long)random_to(9),
                        (long long)p);
        }
    }
    app_sql("UPDATE job SET sql_execution_id = %lld WHERE job_id %% 2 = 0", (long long)random_to(4));
    app_sql("UPDATE stage SET sql_execution_id = %lld WHERE stage_ref %% 2 = 0", (long long)random_to(4));
}

static void random_stream(void)
{
    app_sql(
        "INSERT OR IGNORE INTO streaming_query (run_ref, run_id, name, start_ms, start_seen, end_seen, exception_text_id, idle_count) VALUES (2, 'r2', 'clicks', %s, 1, %d, %s, 0)",
        sql_number(random_time()), (int)random_to(2), random_to(3) ? "NULL" : "1");
    app_sql("INSERT INTO streaming_phase VALUES (0, 'triggerExecution'), (1, 'addBatch'), (2, 'walCommit')");
    for (int64_t i = random_to(60), at_ms = 100000; i >= 0; i--, at_ms += random_to(2000)) {
        app_sql("INSERT OR IGNORE INTO streaming_progress (run_ref, progress_no, batch_id, trigger_ms, batch_duration_ms, durations, input_rows, input_rows_per_second,"
                " processed_rows_per_second, watermark_ms) VALUES (2, %lld, %s, %s, %s, '0:%lld 1:%lld 2:%lld', %s, %lld, %lld, %s)",
                (long long)i, sql_number(random_to(9) ? i : UNKNOWN), sql_number(random_to(9) ? at_ms : random_time()), sql_number(random_to(9) ? random_to(3000) : random_size()),
                (long long)random_to(3000), (long long)random_to(3000), (long long)random_to(3000), sql_number(random_to(9) ? random_to(100000) : random_size()),
                (long long)random_to(1000), (long long)random_to(1000), sql_number(random_to(3) ? at_ms - random_to(9000) : random_time()));
        app_sql("INSERT INTO streaming_state (run_ref, progress_no, ordinal, rows_total, rows_updated, rows_dropped, memory_bytes) VALUES (2, %lld, 0, %s, 1, %s, %s)",
                (long long)i, sql_number(random_to(9) ? 500000 - i * 8000 : random_size()), sql_number(random_to(3) ? 0 : random_size()), sql_number(random_size()));
    }
}

__attribute__((unused)) static void random_rest(void)
{
    bool damaged = !random_to(6);
    app_sql("INSERT INTO log_health VALUES (%d, '', %lld, %d, NULL, %d, 0, 0, 0, 0, %lld, %lld, %lld, 0, 0, 0, 0, 0, 0, %lld, 0)", (int)(random_to(4) != 0),
            (long long)(damaged ? random_to(99) : 0), (int)damaged, (int)(damaged && random_to(2)), (long long)random_to(2), (long long)random_to(2), (long long)random_to(2),
            (long long)random_to(20));
    random_settings();
    random_failures();
    random_sizes();
    random_lineage();
    random_plans();
    if (!random_to(4))
        random_stream();
}

#endif
