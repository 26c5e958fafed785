/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules about the whole application (spec/findings.md 7.1). */
#include "analysed_app.h"

#include <math.h>

/* Eight tasks of 4 s on two slots from 2 s on, and with four slots. The time before the job is the same. */
static void twice_the_slots_save_half_of_the_work(void **state)
{
    (void)state;
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(number_of("SELECT args ->> '$.save.v' FROM finding WHERE rule_id = 'APP.SCALING'"), 8000.0);
    assert_near(measure("APP.SCALING", "-"), (60000.0 - 8000) / 60000);
}

/* 0 is no heap and 10^300 no share of it: Spark's own are taken, (1024 − 300) MiB × 0.6 for two slots. */
static void memory_that_cannot_be_is_not_set(void **state)
{
    (void)state;
    add_setting("spark.executor.memory", "0");
    add_setting("spark.memory.fraction", "1e300");
    run_stage(0, 2, 2, 4000, UNKNOWN);
    app_tasks[0].input_bytes = 2 * GIB;
    analyse_app();
    assert_near(measure("STAGE.BIG_PARTITION", "0.0"), 2048 / (724 * 0.6 / 2));
}

/* 100 jobs of half a second: 200 ms before the only task, which takes 200 ms, and 100 ms behind it. 30 s of 60 were starting. */
static void many_small_jobs_cost_their_starts(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        int64_t begin = T0 + 5000 + i * 500;
        add_job(i, begin, begin + 500, 1);
        list_stage(i, i);
        add_stage(i, i, 0, 1, begin + 200, begin + 400, 2);
        struct task_cells *task = add_task(i, next_task++, 0, 1, begin + 200, begin + 400);
        task->has_metrics = 1;
        task->executor_run_time_ms = 200;
        task->executor_cpu_time_ns = 200000000;
        task->executor_deserialize_time_ms = task->jvm_gc_time_ms = task->result_serialization_time_ms = 0;
    }
    analyse_app();
    assert_near(measure("JOB.MANY_SMALL", "-"), 0.5);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'JOB.MANY_SMALL'"), 30000.0);
}

/* A stage of tasks one after the other on one of the two slots. */
static void serial_stage(int64_t number, int64_t begin_ms, const int64_t *ms, size_t count)
{
    int64_t at = T0 + begin_ms;
    int64_t end = at;
    for (size_t i = 0; i < count; i++)
        end += ms[i];
    add_job(number, at, end, 1);
    list_stage(number, number);
    add_stage(number, number, 0, (int64_t)count, at, end, 2);
    for (size_t i = 0; i < count; i++) {
        struct task_cells *task = add_task(number, next_task++, (int64_t)i, 1, at, at + ms[i]);
        task->has_metrics = 1;
        task->executor_run_time_ms = ms[i];
        task->executor_cpu_time_ns = 0;
        task->executor_deserialize_time_ms = task->jvm_gc_time_ms = task->result_serialization_time_ms = 0;
        at += ms[i];
    }
}

/* Two jobs side by side: one ends at 22.9 s, the other, with a straggler of 10 s, at 23 s. Without the straggler the run would be 100 ms shorter, and no more without all of its stage. */
static void what_is_off_the_path_is_told_with_its_slack(void **state)
{
    (void)state;
    static const int64_t long_one[] = {17900}, straggler[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 10000};
    serial_stage(0, 5000, long_one, 1);
    serial_stage(1, 5000, straggler, 9);
    analyse_app();
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.STRAGGLER' AND subject_key = '1.0'"), 100.0);
    assert_string_equal(text_of("SELECT mute FROM finding WHERE rule_id = 'STAGE.STRAGGLER' AND subject_key = '1.0'"), "off_path");
    assert_near(number_of("SELECT measures ->> '$.slack.v' FROM finding WHERE rule_id = 'STAGE.STRAGGLER' AND subject_key = '1.0'"), 100.0);
}

/* Ten tasks of 2 s that spilled 100 MiB, ten of 1 s that did not, in pairs on two slots, all of it processor time: no part of them is called spilling, but whoever spilled took a second longer. */
static void spilling_costs_what_spilling_tasks_took_longer(void **state)
{
    (void)state;
    int64_t at = T0 + 5000;
    add_job(0, at, at + 15000, 1);
    list_stage(0, 0);
    add_stage(0, 0, 0, 20, at, at + 15000, 2);
    for (int64_t i = 0; i < 20; i++) {
        int64_t ms = i < 10 ? 2000 : 1000;
        struct task_cells *task = add_task(0, next_task++, i, 1, at, at + ms);
        task->has_metrics = 1;
        task->executor_run_time_ms = ms;
        task->executor_cpu_time_ns = ms * 1000000;
        task->executor_deserialize_time_ms = task->jvm_gc_time_ms = task->result_serialization_time_ms = 0;
        task->disk_spilled_bytes = i < 10 ? 100 * MIB : 0;
        task->memory_spilled_bytes = task->disk_spilled_bytes;
        task->input_bytes = 50 * MIB;
        at += i % 2 ? ms : 0;
    }
    analyse_app();
    assert_near(measure("STAGE.SPILL", "0.0"), 1.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.SPILL'"), 5000.0);
    assert_near(number_of("SELECT measures ->> '$.r2.v' FROM finding WHERE rule_id = 'STAGE.SPILL'"), 1.0);
}

/* Nine tasks of 1 s and 10 MiB, one of 11 s and 110 MiB, which begins first, on two slots: 11 s. Capped at 1.5 s and the rest spread: 2.45 + 4 × 1.95 s. Ideally 20 s / 2. */
static void skew_saves_at_most_what_an_ideal_spread_would(void **state)
{
    (void)state;
    int64_t at = T0 + 5000;
    add_job(0, at, at + 11000, 1);
    list_stage(0, 0);
    add_stage(0, 0, 0, 10, at, at + 11000, 2);
    for (int64_t i = 0; i < 10; i++) {
        int64_t begin = i ? at + (i - 1) * 1000 : at, ms = i ? 1000 : 11000;
        struct task_cells *task = add_task(0, next_task++, i, 1, begin, begin + ms);
        task->has_metrics = 1;
        task->executor_run_time_ms = ms;
        task->executor_cpu_time_ns = ms * 1000000;
        task->executor_deserialize_time_ms = task->jvm_gc_time_ms = task->result_serialization_time_ms = 0;
        task->input_bytes = (i ? 10 : 110) * MIB;
    }
    analyse_app();
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.SKEW_DATA'"), 750.0);
    assert_near(number_of("SELECT price_high_ms FROM finding WHERE rule_id = 'STAGE.SKEW_DATA'"), 1000.0);
}

/* 2 GiB written: of generated rows nobody knows how much that is, of 512 MiB it is four times as much. */
static void a_shuffle_of_uncounted_input_is_not_judged(void **state)
{
    (void)state;
    for (int64_t stage = 0; stage < 2; stage++) {
        run_stage(stage, 2 + 20 * stage, 4, 4000, UNKNOWN);
        for (size_t i = 4 * (size_t)stage; i < 4 * (size_t)stage + 4; i++) {
            app_tasks[i].shuffle_write_bytes = GIB / 2;
            app_tasks[i].input_bytes = stage ? 128 * MIB : 0;
            app_tasks[i].input_records = 1000;
        }
    }
    analyse_app();
    assert_true(isnan(measure("STAGE.SHUFFLE_VOLUME", "0.0")));
    assert_near(measure("STAGE.SHUFFLE_VOLUME", "1.0"), 4.0);
}

/* Four tasks of 4 s that waited 1 s each for 16 MiB, 12 of them from elsewhere. */
static void fetched_bytes_are_told_by_where_they_came_from(void **state)
{
    (void)state;
    run_stage(0, 2, 4, 4000, UNKNOWN);
    for (size_t i = 0; i < 4; i++) {
        app_tasks[i].executor_cpu_time_ns = 3000000000;
        app_tasks[i].shuffle_fetch_wait_time_ms = 1000;
        app_tasks[i].shuffle_remote_read_bytes = 12 * MIB;
        app_tasks[i].shuffle_local_read_bytes = 4 * MIB;
    }
    analyse_app();
    assert_near(measure("STAGE.FETCH_WAIT", "0.0"), 0.25);
    assert_near(number_of("SELECT args ->> '$.remote.v' FROM finding WHERE rule_id = 'STAGE.FETCH_WAIT'"), 0.75);
}

/* 220 of (1024 − 300) × 0.6 MiB, on an executor whose tasks collect garbage for a quarter of their time: a grade more, and it says why. */
static void full_storage_is_graver_where_tasks_lack_memory(void **state)
{
    (void)state;
    run_stage(0, 2, 8, 4000, UNKNOWN);
    for (size_t i = 0; i < 8; i++)
        app_tasks[i].jvm_gc_time_ms = 1000;
    app_sql("UPDATE executor SET peaks_set = 1, peak_jvm_heap_memory_bytes = 900000000, peak_on_heap_storage_memory_bytes = %lld", 220 * (long long)MIB);
    analyse_app();
    assert_near(measure("EXEC.STORAGE_FULL", "1"), 220 / (724 * 0.6));
    assert_near(number_of("SELECT grade_shift FROM finding WHERE rule_id = 'EXEC.STORAGE_FULL'"), 1.0);
    assert_string_equal(text_of("SELECT args ->> '$.also.v' FROM finding WHERE rule_id = 'EXEC.STORAGE_FULL'"), "gc");
}

/* A log without its begin: the settings are not there (the driver used 17 GiB of what would be Spark's own 1 GiB), nor are the stages that wrote what 2 GiB were read of. */
static void what_only_damage_says_is_withheld(void **state)
{
    (void)state;
    run_stage(0, 2, 4, 4000, UNKNOWN);
    add_executor(2, "driver", 0, T0, UNKNOWN);
    app_sql("UPDATE executor SET peaks_set = 1, peak_jvm_heap_memory_bytes = %lld, total_shuffle_read_bytes = %lld, total_shuffle_write_bytes = 1000", 17 * (long long)GIB,
            2 * (long long)GIB);
    app_sql("UPDATE log_health SET no_application_start = 1");
    analyse_app();
    assert_false(fires("DRIVER.MEM"));
    assert_false(fires("EXEC.MEM_NEAR"));
    assert_string_equal(mute_of_rule("DRIVER.MEM"), "no_metric");
    assert_string_equal(mute_of_rule("STAGE.SHUFFLE_REREAD"), "incomplete");
    assert_near(number_of("SELECT prices_allowed + (SELECT count(*) FROM what_if) FROM analysis"), 0.0);
    assert_string_equal(mute_of_rule("APP.SCALING"), "no_subject");
}

static const char *arg_of(const char *rule, const char *name)
{
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT args ->> '$.%s.v' FROM finding WHERE rule_id = '%s' ORDER BY finding_no LIMIT 1", name, rule);
    return text_of(sql);
}

static const char *cause_of(const char *rule)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT cause FROM finding WHERE rule_id = '%s' ORDER BY finding_no LIMIT 1", rule);
    return text_of(sql);
}

/* Jobs from 2 s to 18 s; then nothing until the end, 42 s later. */
static void a_gap_behind_the_last_job_is_told_as_that(void **state)
{
    (void)state;
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(measure("APP.DRIVER_GAP", "-"), 0.7);
    assert_string_equal(cause_of("APP.DRIVER_GAP"), "at_the_end");
    assert_string_equal(arg_of("APP.DRIVER_GAP", "j2"), "");
}

static void a_gap_between_jobs_is_told_as_that(void **state)
{
    (void)state;
    run_stage(0, 1, 2, 4000, UNKNOWN);
    run_stage(1, 55, 2, 4000, UNKNOWN);
    analyse_app();
    assert_string_equal(cause_of("APP.DRIVER_GAP"), "between_jobs");
    assert_string_equal(arg_of("APP.DRIVER_GAP", "j2"), "1");
}

/* Real shells say that they are in client mode (Spark 2 to 4). */
static void a_shell_waits_for_a_person(void **state)
{
    (void)state;
    run_stage(0, 2, 8, 4000, UNKNOWN);
    add_setting("spark.submit.deployMode", "client");
    app_sql("INSERT INTO environment VALUES (3, 'sun.java.command', 'org.apache.spark.deploy.SparkSubmit --class org.apache.spark.repl.Main --name Spark shell spark-shell')");
    analyse_app();
    assert_string_equal(cause_of("APP.DRIVER_GAP"), "shell");
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'APP.START_WAIT'"), (double)GRADE_INFO);
}

/* The first job is submitted at 5 s, its executor comes at 35 s: nothing ran for 35 s, and 0 s more is no news. */
static void nothing_runs_before_there_is_an_executor(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET add_ms = %lld", (long long)T0 + 35000);
    add_job(0, T0 + 5000, T0 + 45000, 1);
    list_stage(0, 0);
    add_stage(0, 0, 0, 1, T0 + 5000, T0 + 45000, 2);
    add_task(0, next_task++, 0, 1, T0 + 35000, T0 + 45000);
    analyse_app();
    assert_near(measure("APP.START_WAIT", "-"), 35.0);
    assert_string_equal(cause_of("APP.START_WAIT"), "cluster");
    assert_string_equal(arg_of("APP.START_WAIT", "wait"), "35000");
    assert_string_equal(arg_of("APP.START_WAIT", "b"), "");
}

/* One executor of two slots from 0 to 20 s, none until 50 s, and again for the last 10: 60 s of slots were paid for; 16 of them worked, in 8 s at their begin. */
static void idle_slots_are_those_that_were_there(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET remove_ms = %lld, active = 0", (long long)T0 + 20000);
    add_executor(2, "2", 2, T0 + 50000, UNKNOWN);
    run_stage(0, 0, 4, 4000, UNKNOWN);
    analyse_app();
    assert_string_equal(arg_of("APP.LOW_UTIL", "alloc"), "60000");
    assert_string_equal(arg_of("APP.LOW_UTIL", "busy"), "16000");
    assert_string_equal(arg_of("APP.LOW_UTIL", "most"), "44000");
    assert_string_equal(arg_of("APP.LOW_UTIL", "why"), "driver");
    assert_string_equal(cause_of("APP.LOW_UTIL"), "driver");
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'APP.LOW_UTIL'"), (double)GRADE_LOW); /* 44 s of a core */
}

/* A job has begun and no task yet: nobody knows how many executors it takes. */
static void executors_without_a_task_to_run_are_not_too_many(void **state)
{
    (void)state;
    add_job(0, T0 + 50000, UNKNOWN, 0);
    analyse_app();
    assert_string_equal(mute_of_rule("APP.OVERALLOC"), "no_subject");
}

/* Of four slots one runs a task for all of the run but its first second: 57 s of work in 4 × 57 s, and three slots with nothing to do. */
static void idle_slots_without_a_task_are_told_as_that(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 4");
    run_stage(0, 1, 1, 57000, UNKNOWN);
    analyse_app();
    assert_string_equal(cause_of("APP.LOW_UTIL"), "few_tasks");
    assert_string_equal(arg_of("APP.LOW_UTIL", "most"), "171000");
    assert_true(number_of("SELECT coalesce(at_most, 9) FROM finding WHERE rule_id = 'APP.LOW_UTIL'") > (double)GRADE_LOW);
    assert_near(measure("APP.OVERALLOC", "-"), 0.75);
    assert_string_equal(cause_of("APP.OVERALLOC"), "few_tasks"); /* its stage is told: more tasks come before fewer executors */
    assert_string_equal(arg_of("APP.OVERALLOC", "partitions"), "8");
    assert_string_equal(arg_of("APP.OVERALLOC", "busy"), "1");
    assert_string_equal(arg_of("APP.OVERALLOC", "n"), ""); /* the only executor did work: slots are to spare, not executors */
}

/* Of three jobs the second one fails and the last one is cancelled: the second is why the run failed. Neither has a task. */
static void a_cancelled_job_is_not_why_a_run_failed(void **state)
{
    (void)state;
    add_job(0, T0 + 1000, T0 + 2000, 1);
    add_job(1, T0 + 3000, T0 + 4000, 2);
    add_job(2, T0 + 5000, T0 + 9000, 2);
    app_sql("INSERT INTO text VALUES (1, 'java.lang.IllegalStateException: no such bucket'), (2, '[SPARK_JOB_CANCELLED] Job 2 cancelled part of cancelled job group x')");
    app_sql("UPDATE job SET failure_text_id = job_id WHERE status = 2");
    analyse_app();
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'JOB.FAILED' AND subject_key = '1'"), (double)GRADE_SEVERE);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'JOB.FAILED' AND subject_key = '2'"), (double)GRADE_OK);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'JOB.FAILED' AND subject_key = '2'"), "cancelled");
    assert_string_equal(text_of("SELECT args ->> '$.attempts.v' FROM finding WHERE rule_id = 'JOB.FAILED' AND subject_key = '1'"), "");
    assert_near(number_of("SELECT count(*) FROM finding, json_tree(evidence) WHERE rule_id = 'JOB.FAILED' AND json_tree.value = 'failed_attempts'"), 0.0);
}

static void a_run_whose_failed_jobs_were_all_cancelled_failed_by_the_last(void **state)
{
    (void)state;
    add_job(0, T0 + 1000, T0 + 2000, 2);
    add_job(1, T0 + 3000, T0 + 4000, 2);
    app_sql("INSERT INTO text VALUES (1, 'Job 0 cancelled '), (2, 'Job 1 cancelled because Stage 3 was cancelled')");
    app_sql("UPDATE job SET failure_text_id = job_id + 1");
    analyse_app();
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'JOB.FAILED' AND subject_key = '0'"), (double)GRADE_OK);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'JOB.FAILED' AND subject_key = '1'"), (double)GRADE_SEVERE);
}

/* A streaming query was stopped in the middle of a batch, and with it the last job: that is how such a query ends. Of one that failed the job is told. */
static void stopping_a_streaming_query_fails_nothing(void **state)
{
    (void)state;
    add_job(0, T0 + 1000, T0 + 2000, 1);
    add_job(1, T0 + 3000, T0 + 4000, 2);
    app_sql("INSERT INTO text VALUES (1, '[SPARK_JOB_CANCELLED] Job 1 cancelled Query [id = a, runId = r] was stopped')");
    app_sql("UPDATE job SET failure_text_id = 1, job_group = 'r' WHERE job_id = 1");
    app_sql("INSERT INTO streaming_query (run_ref, run_id, start_ms, start_seen, end_seen, idle_count) VALUES (0, 'r', %lld, 1, 1, 0)", (long long)T0);
    analyse_app();
    assert_near(measure("JOB.FAILED", "-"), 0.0);
    assert_true(isnan(measure("JOB.FAILED", "1")));
}

static void a_job_of_a_streaming_query_that_failed_is_told(void **state)
{
    (void)state;
    add_job(0, T0 + 1000, T0 + 4000, 2);
    app_sql("INSERT INTO text VALUES (1, 'java.lang.IllegalStateException: no such bucket')");
    app_sql("UPDATE job SET failure_text_id = 1, job_group = 'r'");
    app_sql("INSERT INTO streaming_query (run_ref, run_id, start_ms, start_seen, end_seen, exception_text_id, idle_count) VALUES (0, 'r', %lld, 1, 1, 1, 0)", (long long)T0);
    analyse_app();
    assert_near(measure("JOB.FAILED", "0"), 1.0);
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'JOB.FAILED'"), (double)GRADE_SEVERE);
}

/* Two queries of 8 s of planning each: the first one loads the optimiser, which is no fault of its own. */
static void the_first_query_may_take_its_time(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 2; i++) {
        run_stage(i, 13 + 25 * i, 4, 3000, i);
        add_execution(i, i, T0 + 5000 + 25000 * i, T0 + 19000 + 25000 * i);
    }
    analyse_app();
    assert_near(measure("APP.SQL_DRIVER", "0"), 8000.0 / 60000);
    assert_near(measure("APP.SQL_DRIVER", "1"), 8000.0 / 60000);
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'APP.SQL_DRIVER' AND subject_key = '0'"), (double)GRADE_LOW);
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'APP.SQL_DRIVER' AND subject_key = '1'"), (double)GRADE_SEVERE);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'APP.SQL_DRIVER' AND subject_key = '0'"), "first");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'APP.SQL_DRIVER' AND subject_key = '1'"), "planning");
}

/* Eighty tasks of a second from 1 s on; the second executor, with as many slots as the first, comes at 31 s: 2 × 30 of 4 × 60 slot seconds were waited for, well above 5 % of the run. */
static void ramp_up(const char *sustained)
{
    add_setting("spark.dynamicAllocation.enabled", "true");
    add_setting("spark.dynamicAllocation.maxExecutors", "50");
    add_setting("spark.dynamicAllocation.sustainedSchedulerBacklogTimeout", sustained);
    add_executor(2, "2", 2, T0 + 31000, UNKNOWN);
    run_stage(0, 1, 80, 1000, UNKNOWN);
    analyse_app();
}

static void asking_for_executors_late_is_told(void **state)
{
    (void)state;
    ramp_up("30s");
    assert_near(measure("APP.DYN_ALLOC", "-"), 1.0);
    assert_string_equal(arg_of("APP.DYN_ALLOC", "problems"), "asks_slowly");
}

static void asking_for_executors_as_spark_does_is_not(void **state)
{
    (void)state;
    ramp_up("1s");
    assert_near(measure("APP.DYN_ALLOC", "-"), 0.0);
}

/* From 20 s to 40 s a command of the driver alone. */
static void a_query_without_a_job_is_told_as_that(void **state)
{
    (void)state;
    run_stage(0, 1, 2, 4000, UNKNOWN);
    add_execution(7, 7, T0 + 20000, T0 + 40000);
    analyse_app();
    assert_near(measure("APP.SQL_DRIVER", "7"), 20000.0 / 60000);
    assert_string_equal(cause_of("APP.SQL_DRIVER"), "command");
    assert_string_equal(arg_of("APP.SQL_DRIVER", "between"), "");
}

/* A heap of 4 GiB of which 1 GiB was used at most: 1.25 × 1 GiB + 300 MiB = 1580 MiB; a bare number would be taken for MiB. */
static void memory_to_ask_for_has_its_unit(void **state)
{
    (void)state;
    add_setting("spark.executor.memory", "4g");
    app_sql("UPDATE executor SET peaks_set = 1, peak_jvm_heap_memory_bytes = %lld", (long long)GIB);
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(measure("EXEC.MEM_OVER", "-"), 0.75);
    assert_string_equal(arg_of("EXEC.MEM_OVER", "executor_memory"), "1580m");
}

/* A heap of 1 GiB, and half as much beside it: a process of 1.5 GiB is at its limit. */
static void the_factor_of_overhead_counts(void **state)
{
    (void)state;
    add_setting("spark.executor.memoryOverheadFactor", "0.5");
    app_sql("UPDATE executor SET peaks_set = 1, peak_jvm_heap_memory_bytes = 1000, peak_process_tree_jvm_rss_memory_bytes = %lld", (long long)(GIB + GIB / 2));
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(measure("EXEC.MEM_NEAR", "1"), 1.0);
}

/* A heap of 1 GiB, 384 MiB beside it, 640 MiB off the heap and 512 MiB of Python: a process of 2 GiB has 512 MiB to go. */
static void memory_off_the_heap_is_part_of_the_limit(void **state)
{
    (void)state;
    add_setting("spark.memory.offHeap.enabled", "true");
    add_setting("spark.memory.offHeap.size", "671088640");
    add_setting("spark.executor.pyspark.memory", "512");
    app_sql("UPDATE executor SET peaks_set = 1, peak_jvm_heap_memory_bytes = 1000, peak_process_tree_jvm_rss_memory_bytes = %lld", 2 * (long long)GIB);
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(measure("EXEC.MEM_NEAR", "1"), 0.8);
}

/* No metrics, but block updates: 300 of (1024 − 300) × 0.6 MiB are still cached when the log ends. */
static void blocks_say_how_full_the_storage_is(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET on_heap_used_bytes = %lld", 300 * (long long)MIB);
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
    assert_near(measure("EXEC.STORAGE_FULL", "1"), 300 / (724 * 0.6));
    assert_string_equal(mute_of_rule("EXEC.MEM_NEAR"), "no_metric");
}

static void three_executors(const char *task_time_ms, const char *input_bytes)
{
    add_executor(2, "2", 2, T0, UNKNOWN);
    add_executor(3, "3", 2, T0, UNKNOWN);
    app_sql("UPDATE executor SET task_time_ms = %s, total_input_bytes = %s, total_shuffle_read_bytes = 0", task_time_ms, input_bytes);
    run_stage(0, 2, 8, 4000, UNKNOWN);
    analyse_app();
}

/* Ten minutes each, of which one read 10 KiB and the others 1 KiB: by data none of them worked. */
static void a_few_bytes_more_are_no_hotspot(void **state)
{
    (void)state;
    three_executors("600000", "iif(executor_ref = 2, 10240, 1024)");
    assert_near(measure("EXEC.HOTSPOT", "1"), 1.0);
}

/* 200 MiB against 100 MiB; that one of them took two minutes and the others 20 s is no work to speak of. */
static void a_few_minutes_more_are_no_hotspot(void **state)
{
    (void)state;
    three_executors("iif(executor_ref = 3, 120000, 20000)", "iif(executor_ref = 2, 200, 100) * 1048576");
    assert_near(measure("EXEC.HOTSPOT", "2"), 2.0);
}

/* The outputs of stage 0 are read by stages 1 and 2, three times as many bytes as were written: the readers are named, the writer is evidence. */
static void who_reads_a_shuffle_again_is_named(void **state)
{
    (void)state;
    add_job(0, T0 + 2000, T0 + 26000, 1);
    for (int64_t i = 0; i < 3; i++) {
        list_stage(0, i);
        add_stage(i, i, 0, 2, T0 + 2000 + 8000 * i, T0 + 10000 + 8000 * i, 2);
        for (int64_t k = 0; k < 2; k++)
            add_task(i, next_task++, k, 1, T0 + 2000 + 8000 * i, T0 + 10000 + 8000 * i)->has_metrics = 1;
    }
    app_sql("INSERT INTO stage_parent (stage_id, parent_id) VALUES (1, 0), (2, 0)");
    app_sql("UPDATE executor SET total_shuffle_write_bytes = %lld, total_shuffle_read_bytes = %lld", (long long)GIB, 3 * (long long)GIB);
    analyse_app();
    assert_near(measure("STAGE.SHUFFLE_REREAD", "-"), 3.0);
    assert_string_equal(text_of("SELECT args ->> '$.list.v' FROM finding WHERE rule_id = 'STAGE.SHUFFLE_REREAD'"), "1.0, 2.0");
    assert_string_equal(text_of("SELECT evidence ->> '$[1].key' FROM finding WHERE rule_id = 'STAGE.SHUFFLE_REREAD'"), "0.0");
}

/* Two tasks end before they begin; the stage of the other one, too. */
static void the_first_clock_fault_is_named(void **state)
{
    (void)state;
    run_stage(0, 2, 4, 4000, UNKNOWN);
    app_tasks[1].finish_ms = app_tasks[1].launch_ms - 500;
    app_tasks[3].finish_ms = app_tasks[3].launch_ms - 2000;
    analyse_app();
    assert_near(measure("LOG.CLOCK", "-"), 2.0);
    assert_string_equal(text_of("SELECT e.value ->> 'kind' || ' ' || (e.value ->> 'key') FROM finding, json_each(evidence) AS e WHERE rule_id = 'LOG.CLOCK' AND e.key = 1"),
                        "task 1");
    assert_near(number_of("SELECT args ->> '$.at.v' FROM finding WHERE rule_id = 'LOG.CLOCK'"), (double)(T0 + 1500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(twice_the_slots_save_half_of_the_work),
        TEST(memory_that_cannot_be_is_not_set),
        TEST(many_small_jobs_cost_their_starts),
        TEST(a_gap_behind_the_last_job_is_told_as_that),
        TEST(a_gap_between_jobs_is_told_as_that),
        TEST(a_shell_waits_for_a_person),
        TEST(nothing_runs_before_there_is_an_executor),
        TEST(a_cancelled_job_is_not_why_a_run_failed),
        TEST(a_run_whose_failed_jobs_were_all_cancelled_failed_by_the_last),
        TEST(idle_slots_are_those_that_were_there),
        TEST(executors_without_a_task_to_run_are_not_too_many),
        TEST(stopping_a_streaming_query_fails_nothing),
        TEST(a_job_of_a_streaming_query_that_failed_is_told),
        TEST(the_first_query_may_take_its_time),
        TEST(asking_for_executors_late_is_told),
        TEST(asking_for_executors_as_spark_does_is_not),
        TEST(idle_slots_without_a_task_are_told_as_that),
        TEST(a_query_without_a_job_is_told_as_that),
        TEST(memory_to_ask_for_has_its_unit),
        TEST(the_factor_of_overhead_counts),
        TEST(memory_off_the_heap_is_part_of_the_limit),
        TEST(blocks_say_how_full_the_storage_is),
        TEST(a_few_bytes_more_are_no_hotspot),
        TEST(a_few_minutes_more_are_no_hotspot),
        TEST(who_reads_a_shuffle_again_is_named),
        TEST(the_first_clock_fault_is_named),
        TEST(what_only_damage_says_is_withheld),
        TEST(fetched_bytes_are_told_by_where_they_came_from),
        TEST(full_storage_is_graver_where_tasks_lack_memory),
        TEST(a_shuffle_of_uncounted_input_is_not_judged),
        TEST(what_is_off_the_path_is_told_with_its_slack),
        TEST(spilling_costs_what_spilling_tasks_took_longer),
        TEST(skew_saves_at_most_what_an_ideal_spread_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
