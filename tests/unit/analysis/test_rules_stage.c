/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules about how the tasks of a stage are spread, and which tasks their findings list (spec/findings.md 1.4, 7.2, 7.4). */
#include "analysed_app.h"

#include <math.h>

static const char *filter_of(const char *rule)
{
    char sql[300];
    snprintf(sql, sizeof sql, "SELECT e.value ->> 'filter' FROM finding, json_each(evidence) AS e WHERE rule_id = '%s' AND json_type(e.value, '$.filter') = 'text' LIMIT 1", rule);
    return text_of(sql);
}

static struct task_cells *task_of(int64_t stage, int64_t index, int64_t executor, int64_t begin_ms, int64_t ms)
{
    struct task_cells *task = add_task(stage, next_task++, index, executor, T0 + begin_ms, T0 + begin_ms + ms);
    task->has_metrics = 1;
    task->executor_run_time_ms = ms;
    task->executor_cpu_time_ns = ms * 1000000;
    task->executor_deserialize_time_ms = task->jvm_gc_time_ms = task->result_serialization_time_ms = 0;
    return task;
}

static void whole_stage(int64_t number, int64_t tasks, int64_t begin_ms, int64_t end_ms)
{
    add_job(number, T0 + begin_ms, T0 + end_ms, 1);
    list_stage(number, number);
    add_stage(number, number, 0, tasks, T0 + begin_ms, T0 + end_ms, 2);
}

/* Ten tasks of 1.4 s on executor 2, ten of 1 s on executor 1, one slot each: 1.4 times as slow. That is worth a word, though no stage is called slow by it (from 1.5 on). */
static void a_machine_is_told_from_three_tenths_more_on(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 1");
    add_executor(2, "2", 1, T0, UNKNOWN);
    whole_stage(0, 20, 1000, 15000);
    for (int64_t i = 0; i < 10; i++) {
        task_of(0, 2 * i, 1, 1000 + 1000 * i, 1000);
        task_of(0, 2 * i + 1, 2, 1000 + 1400 * i, 1400);
    }
    analyse_app();
    assert_near(measure("STAGE.SLOW_HOST", "2"), 1.4);
    assert_true(fires("STAGE.SLOW_HOST"));
    assert_string_equal(filter_of("STAGE.SLOW_HOST"), "status=success&executor=2");
    assert_string_equal(text_of("SELECT verdict FROM stage_analysis"), "ok");
}

/* Four tasks ran on executor 2: three of 2.5 s, where others take 1, and one of 20 s, of which 12 are its executor's doing (5.1 step 7). Four are too few to call a machine slow. */
static void a_straggler_among_few_is_no_slow_machine(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 1");
    add_executor(2, "2", 1, T0, UNKNOWN);
    whole_stage(0, 24, 1000, 28500);
    for (int64_t i = 0; i < 20; i++)
        task_of(0, i, 1, 1000 + 1000 * i, 1000);
    for (int64_t i = 0; i < 4; i++)
        task_of(0, 20 + i, 2, 1000 + 2500 * i, i == 3 ? 20000 : 2500);
    analyse_app();
    assert_false(fires("STAGE.SLOW_HOST"));
    assert_true(fires("STAGE.STRAGGLER"));
    assert_near(measure("STAGE.STRAGGLER", "0.0"), 20.0);
}

/* The first task of a slot reads three times as much as others and takes 3 s, the last one waits for 10 s over as little as any. */
static void what_the_first_wave_read_does_not_hide_a_straggler(void **state)
{
    (void)state;
    whole_stage(0, 12, 1000, 17000);
    for (int64_t i = 0; i < 12; i++) {
        struct task_cells *task = task_of(0, i, 1, i < 2 ? 1000 : 4000 + 1000 * ((i - 2) / 2), i == 0 ? 3000 : i == 11 ? 10000 : 1000);
        task->input_bytes = i == 0 ? 6 * MIB : 2 * MIB;
    }
    app_tasks[11].executor_cpu_time_ns = 0;
    analyse_app();
    assert_true(fires("STAGE.STRAGGLER"));
    assert_near(measure("STAGE.STRAGGLER", "0.0"), 10.0);
}

/* Eleven tasks of a second and one of ten: the cut is 1.5 times the third quartile of a second. */
static void outliers_are_listed_by_their_cut(void **state)
{
    (void)state;
    whole_stage(0, 12, 1000, 17000);
    for (int64_t i = 0; i < 11; i++)
        task_of(0, i, 1, 1000 + 1000 * (i / 2), 1000);
    task_of(0, 11, 1, 7000, 10000);
    analyse_app();
    assert_true(fires("STAGE.STRAGGLER"));
    assert_string_equal(filter_of("STAGE.STRAGGLER"), "status=success&minDurationMs=1501");
}

/* Four slots, ten tasks: the first four warm up for 9 s, which is a quarter of the stage and more, so that nothing is an outlier; of the others one reads forty times the median and takes 4 s instead
 * of 2. It ends before the rest: worth a word, not a second. */
static void skew_is_told_behind_a_wide_first_wave(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 4");
    whole_stage(0, 10, 1000, 14000);
    for (int64_t i = 0; i < 10; i++) {
        bool first = i < 4, hot = i == 4;
        struct task_cells *task = task_of(0, i, 1, first ? 1000 : i < 8 ? 10000 : 12000, first ? 9000 : hot ? 4000 : 2000);
        task->shuffle_records_read = 1700;
        task->shuffle_local_read_bytes = hot ? 20 * MIB : MIB / 2;
    }
    analyse_app();
    assert_near(measure("STAGE.SKEW_DATA", "0.0"), 40.0);
    assert_true(fires("STAGE.SKEW_DATA"));
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'STAGE.SKEW_DATA'"), (double)GRADE_INFO);
    assert_string_equal(filter_of("STAGE.SKEW_DATA"), ""); /* no duration tells the task from the others */
}

/* Two tasks of 6 s on two slots are all first wave: 1 s of collections in each is what starting JVMs do, 1.5 s (a quarter) is not. Of that 5 % of the time may stay: 1.2 s of wall. */
static void two_tasks_may_collect_too_much(void **state)
{
    (void)state;
    whole_stage(0, 2, 1000, 7000);
    whole_stage(1, 2, 10000, 16000);
    for (int64_t i = 0; i < 4; i++)
        task_of(i / 2, i % 2, 1, i < 2 ? 1000 : 10000, 6000)->jvm_gc_time_ms = i < 2 ? 1000 : 1500;
    analyse_app();
    assert_near(number_of("SELECT count(*) FROM finding WHERE rule_id = 'STAGE.GC_HIGH'"), 1.0);
    assert_near(measure("STAGE.GC_HIGH", "1.0"), 0.25);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.GC_HIGH'"), 1200.0);
    assert_true(fires("STAGE.GC_HIGH"));
}

/* Each of four tasks spills as much as it read, and is on a processor all the time: no second is seen that this cost, and it is told all the same. */
static void a_spill_that_cost_nothing_is_told(void **state)
{
    (void)state;
    whole_stage(0, 4, 1000, 13000);
    for (int64_t i = 0; i < 4; i++) {
        struct task_cells *task = task_of(0, i, 1, 1000 + 6000 * (i / 2), 6000);
        task->input_bytes = task->disk_spilled_bytes = 100 * MIB;
        task->memory_spilled_bytes = 400 * MIB;
    }
    analyse_app();
    assert_near(measure("STAGE.SPILL", "0.0"), 1.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.SPILL'"), 0.0);
    assert_true(fires("STAGE.SPILL"));
    assert_near(number_of("SELECT at_least FROM finding WHERE rule_id = 'STAGE.SPILL'"), (double)GRADE_INFO);
}

/* The same four tasks in Python, all of whose time is Python's: no second could be seen, and a spill as large as the data is not meant. In a query it is the JVM that spills. */
static void a_spill_of_python_is_judged_by_its_size(void **state)
{
    (void)state;
    for (int64_t stage = 0; stage < 2; stage++) {
        whole_stage(stage, 4, 1000 + 15000 * stage, 13000 + 15000 * stage);
        app_sql("INSERT INTO stage_rdd VALUES (%lld, 0, %lld, 0)", (long long)stage, (long long)stage);
        app_sql("INSERT INTO rdd (rdd_id, name, num_partitions, tracked, unpersisted, use_disk, use_memory, use_off_heap, deserialized) VALUES (%lld, 'PythonRDD', 4, 0, 0, 0, 0, 0, 0)",
                (long long)stage);
        for (int64_t i = 0; i < 4; i++) {
            struct task_cells *task = task_of(stage, i, 1, 1000 + 15000 * stage + 6000 * (i / 2), 6000);
            task->input_bytes = task->disk_spilled_bytes = 100 * MIB;
            task->executor_cpu_time_ns = 0;
        }
    }
    add_execution(7, 7, T0 + 15000, T0 + 29000);
    app_sql("UPDATE job SET sql_execution_id = 7 WHERE job_id = 1");
    analyse_app();
    assert_near(measure("STAGE.SPILL", "0.0"), 1.0);
    assert_true(isnan(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '0.0'")));
    assert_near(number_of("SELECT at_most FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '0.0'"), (double)GRADE_LOW);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '0.0'"), "python");
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '1.0'"), 0.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '1.0'"), "input");
}

/* What comes in decides how it is cut smaller: 100 MiB a task of a file, or of a shuffle, on two cores. */
static void a_spill_is_cured_where_its_data_comes_from(void **state)
{
    (void)state;
    for (int64_t stage = 0; stage < 2; stage++) {
        whole_stage(stage, 4, 1000 + 15000 * stage, 13000 + 15000 * stage);
        for (int64_t i = 0; i < 4; i++) {
            struct task_cells *task = task_of(stage, i, 1, 1000 + 15000 * stage + 6000 * (i / 2), 6000);
            task->disk_spilled_bytes = 100 * MIB;
            *(stage ? &task->shuffle_local_read_bytes : &task->input_bytes) = 100 * MIB;
        }
    }
    analyse_app();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '0.0'"), "input");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SPILL' AND subject_key = '1.0'"), "most_cores");
}

/* Of eleven tasks ten read nothing: no multiple is told of that. */
static void a_multiple_of_nothing_is_not_told(void **state)
{
    (void)state;
    whole_stage(0, 11, 1000, 17000);
    for (int64_t i = 0; i < 11; i++) {
        struct task_cells *task = task_of(0, i, 1, 1000 + 1000 * (i / 2), i == 10 ? 10000 : 1000);
        task->shuffle_records_read = i == 10 ? 1000000 : 0;
        task->shuffle_local_read_bytes = i == 10 ? 100 * MIB : 0;
    }
    analyse_app();
    assert_near(number_of("SELECT args ->> '$.x.v' FROM finding WHERE rule_id = 'STAGE.SKEW_DATA'"), 1e6);
    assert_string_equal(text_of("SELECT args ->> '$.ratio.v' FROM finding WHERE rule_id = 'STAGE.SKEW_DATA'"), "");
}

/* Two slots. Five tasks that have their data run from 1 s on, the last of them from 3 s. From 3 to 11 s one slot is free though five tasks wait, which run elsewhere from 11 s on: of the 4 s
 * a slot that were lost no more than the 2 s until the last task with a better place began can have been waiting for one. */
static void only_tasks_with_a_better_place_wait_for_it(void **state)
{
    (void)state;
    whole_stage(0, 10, 1000, 18000);
    for (int64_t i = 0; i < 4; i++)
        task_of(0, i, 1, 1000 + 1000 * (i / 2), 1000)->locality = 0;
    task_of(0, 4, 1, 3000, 8000)->locality = 0;
    for (int64_t i = 5; i < 10; i++)
        task_of(0, i, 1, 11000 + 1000 * ((i - 5) / 2), 1000)->locality = 4;
    analyse_app();
    assert_near(number_of("SELECT args ->> '$.wait.v' FROM finding WHERE rule_id = 'STAGE.LOCALITY'"), 2000.0);
    assert_near(measure("STAGE.LOCALITY", "0.0"), 2000.0 / 13000);
    assert_string_equal(filter_of("STAGE.LOCALITY"), "locality=ANY");
}

/* Two slots. The first task on each takes 4 s, 3 s of which are unpacking; then eight of 1 s each, of which 500 ms are unpacking in four and 100 ms in the others. What the rule measures
 * are the eight: 2.4 s of 8 s. Its price is theirs, too: to the quarter of all, 100 ms, 1.6 s less on two slots. */
static void what_unpacking_costs_leaves_warming_up_out(void **state)
{
    (void)state;
    whole_stage(0, 10, 10000, 18000);
    for (int64_t i = 0; i < 10; i++) {
        bool is_first = i < 2;
        struct task_cells *task = task_of(0, i, 1, is_first ? 10000 : 14000 + (i - 2) / 2 * 1000, is_first ? 4000 : 1000);
        task->executor_deserialize_time_ms = is_first ? 3000 : i % 4 < 2 ? 500 : 100;
        task->executor_run_time_ms = (is_first ? 4000 : 1000) - task->executor_deserialize_time_ms;
    }
    analyse_app();
    assert_near(measure("STAGE.DESER", "0.0"), 2400.0 / 8000);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.DESER'"), 800.0);
}

/* An RDD of eight partitions, merged into one in the stage itself; then the same behind a shuffle of one partition, as repartition(1) asks for it, which merges nothing. */
static void who_merges_partitions_is_told(void **state)
{
    (void)state;
    for (int64_t stage = 0; stage < 2; stage++) {
        whole_stage(stage, 1, 1000 + 15000 * stage, 13000 + 15000 * stage);
        task_of(stage, 0, 1, 1000 + 15000 * stage, 12000);
        for (int64_t rdd = 0; rdd < 2; rdd++) {
            app_sql("INSERT INTO rdd (rdd_id, name, num_partitions, tracked, unpersisted, use_disk, use_memory, use_off_heap, deserialized) VALUES (%lld, '%s', %d, 0, 0, 0, 0, 0, 0)",
                    (long long)(2 * stage + rdd), rdd ? "CoalescedRDD" : "MapPartitionsRDD", rdd || stage ? 1 : 8);
            app_sql("INSERT INTO stage_rdd VALUES (%lld, %lld, %lld, 0)", (long long)stage, (long long)(1 - rdd), (long long)(2 * stage + rdd));
        }
        app_sql("INSERT INTO rdd_parent VALUES (%lld, 0, %lld)", (long long)(2 * stage + 1), (long long)(2 * stage));
    }
    analyse_app();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SINGLE_TASK' AND subject_key = '0.0'"), "coalesced");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.FEW_TASKS' AND subject_key = '0.0'"), "coalesced");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SINGLE_TASK' AND subject_key = '1.0'"), "source");
}

/* One task of 12 s on two slots that reads 300 MiB: a query's scan in splits of 300 / 4 MiB, or a shuffle, or what somebody made. */
static void more_tasks_come_from_where_the_data_comes_from(void **state)
{
    (void)state;
    const struct {
        int64_t input, shuffled, sql;
        const char *cause;
    } cases[] = {{300 * MIB, 0, 1, "scan"}, {300 * MIB, 0, UNKNOWN, "source"}, {0, 300 * MIB, 1, "gathered"}, {0, 0, 1, "source"}};
    for (int64_t i = 0; i < 4; i++) {
        whole_stage(i, 1, 1000 + 14000 * i, 13000 + 14000 * i);
        struct task_cells *task = task_of(i, 0, 1, 1000 + 14000 * i, 12000);
        task->input_bytes = cases[i].input;
        task->shuffle_local_read_bytes = cases[i].shuffled;
        app_sql("UPDATE stage SET sql_execution_id = %s WHERE stage_ref = %lld", sql_number(cases[i].sql), (long long)i);
    }
    analyse_app();
    for (int64_t i = 0; i < 4; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT cause FROM finding WHERE rule_id = 'STAGE.FEW_TASKS' AND subject_key = '%lld.0'", (long long)i);
        assert_string_equal(text_of(sql), cases[i].cause);
    }
    assert_near(number_of("SELECT args ->> '$.split_bytes.v' FROM finding WHERE rule_id = 'STAGE.FEW_TASKS' AND subject_key = '0.0'"), 75.0 * MIB);
}

/* Two tasks on four slots behind a shuffle of a query: its number of partitions decides. One task alone gathers all rows, whatever that number is (above). */
static void a_few_tasks_behind_a_shuffle_want_more_partitions(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, UNKNOWN);
    whole_stage(0, 2, 1000, 13000);
    for (int64_t i = 0; i < 2; i++)
        task_of(0, i, 1, 1000, 12000)->shuffle_local_read_bytes = 150 * MIB;
    app_sql("UPDATE stage SET sql_execution_id = 1");
    analyse_app();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.FEW_TASKS' AND subject_key = '0.0'"), "shuffle");
}

/* One task of 5 s on two slots, thrice: 1 MiB is too little to cut, 100 MiB are not, and of data that nobody counts the seconds decide. */
static void few_bytes_say_something_only_where_bytes_are_counted(void **state)
{
    static const int64_t bytes[] = {1 * MIB, 100 * MIB, 0};
    (void)state;
    for (int64_t i = 0; i < 3; i++) {
        whole_stage(i, 1, 1000 + 6000 * i, 6000 + 6000 * i);
        task_of(i, 0, 1, 1000 + 6000 * i, 5000)->input_bytes = bytes[i];
    }
    analyse_app();
    assert_string_equal(text_of("SELECT group_concat(subject_key) FROM (SELECT subject_key FROM finding WHERE rule_id = 'STAGE.FEW_TASKS' AND mute IS NULL ORDER BY 1)"),
                        "1.0,2.0");
}

/* Of three tasks one succeeds, one fails four times and takes the stage along, by which the third is killed and a copy of it never ends: four failures, two that were stopped. */
static void what_was_killed_did_not_fail(void **state)
{
    (void)state;
    whole_stage(0, 3, 1000, 21000);
    app_sql("UPDATE stage SET status = 3");
    app_sql("UPDATE job SET status = 2");
    task_of(0, 0, 1, 1000, 2000);
    for (int64_t i = 0; i < 4; i++)
        fail_task(task_of(0, 1, 1, 1000 + 4000 * i, 4000), REASON_EXCEPTION);
    fail_task(task_of(0, 2, 1, 17000, 3000), REASON_KILLED);
    struct task_cells *running = task_of(0, 2, 1, 17000, 3000);
    running->status = 0;
    running->finish_ms = running->end_reason = UNKNOWN;
    analyse_app();
    assert_near(number_of("SELECT args ->> '$.attempts.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), 4.0);
    assert_near(number_of("SELECT args ->> '$.k.v' FROM finding WHERE rule_id = 'TASK.FAILURES'"), 4.0);
    assert_near(
        number_of(
            "SELECT c.value ->> 'v' FROM finding, json_each(evidence) AS e, json_each(e.value, '$.cols') AS c WHERE rule_id = 'JOB.FAILED' AND c.value ->> 'n' = 'stopped_attempts'"),
        2.0);
}

/* An executor may have any name. */
static void names_in_filters_are_encoded(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 1");
    add_executor(2, "a&b \"c\"/é", 1, T0, UNKNOWN);
    whole_stage(0, 20, 1000, 41000);
    for (int64_t i = 0; i < 10; i++) {
        task_of(0, 2 * i, 1, 1000 + 1000 * i, 1000);
        task_of(0, 2 * i + 1, 2, 1000 + 4000 * i, 4000);
    }
    analyse_app();
    assert_string_equal(filter_of("STAGE.SLOW_HOST"), "status=success&executor=a%26b%20%22c%22%2F%C3%A9");
}

/* Ten tasks of 1 s on each of executors 1 and 3, ten of 4 s on executor 2. Where executor 1 is on the host of executor 2 it is no machine that is slow; where it is alone there, it is. */
static void a_slow_executor_beside_a_fast_one_is_no_slow_machine(void **state)
{
    (void)state;
    static const struct {
        const char *host_of_1, *key, *cause, *fast;
    } cases[] = {{"b", "2", "beside", "1"}, {"a", "b", "host", ""}};
    for (size_t c = 0; c < ARRAY_LENGTH(cases); c++) {
        if (c) {
            app_close(state);
            app_begin(state);
        }
        add_executor(2, "2", 1, T0, UNKNOWN);
        add_executor(3, "3", 1, T0, UNKNOWN);
        app_sql("UPDATE executor SET total_cores = 1, host = CASE executor_ref WHEN 1 THEN '%s' WHEN 2 THEN 'b' ELSE 'c' END", cases[c].host_of_1);
        whole_stage(0, 30, 1000, 41000);
        for (int64_t i = 0; i < 10; i++) {
            task_of(0, 3 * i, 1, 1000 + 1000 * i, 1000);
            task_of(0, 3 * i + 1, 2, 1000 + 4000 * i, 4000);
            task_of(0, 3 * i + 2, 3, 1000 + 1000 * i, 1000);
        }
        analyse_app();
        assert_near(measure("STAGE.SLOW_HOST", cases[c].key), 4.0);
        assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.SLOW_HOST'"), cases[c].cause);
        assert_string_equal(text_of("SELECT args ->> '$.fast.v' FROM finding WHERE rule_id = 'STAGE.SLOW_HOST'"), cases[c].fast);
        assert_string_equal(text_of("SELECT args ->> '$.host.v' FROM finding WHERE rule_id = 'STAGE.SLOW_HOST'"), "b");
    }
}

/* Executor 1 ran stage 0. Of six tasks of stage 1 on twelve slots five take 1 s there, one begins executor 2 and is unpacked for 15 s of its 16: 3 s may be warming up (5.1), 12 are its own.
 * More tasks would not begin an executor sooner. */
static void a_task_that_waits_for_its_code_is_one_slow_task(void **state)
{
    (void)state;
    app_sql("UPDATE executor SET total_cores = 8");
    add_executor(2, "2", 4, T0, UNKNOWN);
    whole_stage(0, 8, 1000, 3000);
    for (int64_t i = 0; i < 8; i++)
        task_of(0, i, 1, 1000, 2000);
    whole_stage(1, 6, 5000, 21000);
    for (int64_t i = 0; i < 5; i++)
        task_of(1, i, 1, 5000, 1000);
    struct task_cells *cold = task_of(1, 5, 2, 5000, 16000);
    cold->executor_run_time_ms = 1000;
    cold->executor_cpu_time_ns = 1000000000;
    cold->executor_deserialize_time_ms = 15000;
    analyse_app();
    assert_near(measure("STAGE.STRAGGLER", "1.0"), 16.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.STRAGGLER' AND subject_key = '1.0'"), "deser");
    assert_near(measure("STAGE.FEW_TASKS", "1.0"), 0.5);
    assert_string_equal(text_of("SELECT suppressed_by FROM finding WHERE rule_id = 'STAGE.FEW_TASKS' AND subject_key = '1.0'"), "STAGE.STRAGGLER stage 1.0");
}

/* Executor 2 goes at 58 s of 60. With the application, where its end is logged; else it was lost. */
static void an_executor_that_goes_last_is_lost_where_no_end_is_logged(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, T0 + 58000);
    app_sql("UPDATE executor SET active = 0, remove_reason = 'worker lost: 10.0.0.2:46767 got disassociated' WHERE executor_ref = 2");
    whole_stage(0, 2, 1000, 60000);
    task_of(0, 0, 1, 1000, 59000);
    task_of(0, 1, 2, 1000, 2000);
    analyse_app();
    assert_near(measure("EXEC.LOST", "-"), 0.0);
    app_close(state);
    app_begin(state);
    add_executor(2, "2", 2, T0, T0 + 58000);
    app_sql("UPDATE executor SET active = 0, remove_reason = 'worker lost: 10.0.0.2:46767 got disassociated' WHERE executor_ref = 2");
    app_sql("UPDATE log_health SET complete = 0");
    app_sql("UPDATE application SET end_ms = NULL, last_event_ms = %lld", (long long)T0 + 60000);
    whole_stage(0, 2, 1000, 60000);
    task_of(0, 0, 1, 1000, 59000);
    task_of(0, 1, 2, 1000, 2000);
    analyse_app();
    assert_near(measure("EXEC.LOST", "2"), 1.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'EXEC.LOST'"), "disconnected");
}

/* One job from 10 s to 40 s of 60. An executor that goes at 9 s or at 41 s costs the run nothing; of those at 10 s and 40 s that cannot be said. */
static void an_executor_that_goes_beside_all_jobs_costs_nothing(void **state)
{
    static const struct {
        int64_t at_ms;
        double measure;
        const char *key;
    } cases[] = {{9000, 0, "-"}, {10000, 1, "2"}, {40000, 1, "2"}, {41000, 0, "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (i) {
            app_close(state);
            app_begin(state);
        }
        add_executor(2, "2", 2, T0, T0 + cases[i].at_ms);
        app_sql("UPDATE executor SET active = 0, remove_reason = 'Executor heartbeat timed out after 130000 ms' WHERE executor_ref = 2");
        whole_stage(0, 2, 10000, 40000);
        task_of(0, 0, 1, 10000, 30000);
        task_of(0, 1, 1, 10000, 30000);
        analyse_app();
        assert_near(measure("EXEC.LOST", cases[i].key), cases[i].measure);
    }
}

/* The application ends at 60 s and job 0 with it; executor 2 went at 59.8, executor 3 at 59.9, and at 59.95 somebody fetched from executor 3 in vain: it was lost while it was needed, however
 * late. What was first comes first. */
static void a_job_that_ends_with_the_application_names_who_went_before(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, T0 + 59800);
    add_executor(3, "3", 2, T0, T0 + 59900);
    app_sql("UPDATE executor SET active = 0, remove_reason = 'Executor Process Lost' WHERE executor_ref > 1");
    app_sql("INSERT INTO text VALUES (1, 'Job 0 cancelled because SparkContext was shut down'), (2, 'FetchFailed(BlockManagerId(3, h, 7337, None), shuffleId=0')");
    whole_stage(0, 2, 1000, 60000);
    app_sql("UPDATE stage SET status = 3");
    app_sql("UPDATE job SET status = 2, failure_text_id = 1");
    task_of(0, 0, 1, 1000, 2000);
    struct task_cells *failed = task_of(0, 1, 1, 1000, 58950);
    fail_task(failed, REASON_FETCH);
    failed->error_text_id = 2;
    analyse_app();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'JOB.FAILED'"), "shut_down_lost");
    assert_near(number_of("SELECT args ->> '$.lost.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), 2.0);
    assert_string_equal(text_of("SELECT args ->> '$.e.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), "2");
    assert_near(number_of("SELECT args ->> '$.gone.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), (double)T0 + 59800);
    assert_near(measure("EXEC.LOST", "3"), 1.0);
}

/* Three of ten attempts say that memory ran out, two in one way; the other one fails for something else. */
static void failures_are_listed_by_what_they_say(void **state)
{
    (void)state;
    app_sql(
        "INSERT INTO text VALUES (1, 'java.lang.OutOfMemoryError: Java heap space'), (2, 'java.lang.OutOfMemoryError: GC overhead limit exceeded'), (3, 'x.RowException: bad')");
    whole_stage(0, 10, 1000, 11000);
    for (int64_t i = 0; i < 10; i++)
        task_of(0, i, 1, 1000 + 1000 * i, 1000);
    for (int64_t i = 0; i < 4; i++) {
        struct task_cells *task = task_of(0, i, 1, 1500 + 1000 * i, 500);
        fail_task(task, REASON_EXCEPTION);
        task->error_text_id = i < 2 ? 1 : i;
    }
    analyse_app();
    assert_string_equal(filter_of("TASK.FAILURES"), "status=failed");
    assert_string_equal(filter_of("TASK.OOM"), "status=failed&q=java.lang.OutOfMemoryError");
    assert_near(measure("TASK.OOM", "0.0"), 3.0);
    assert_near(number_of("SELECT args ->> '$.ideal.v' FROM finding WHERE rule_id = 'TASK.OOM'"), 20.0); /* twice the ten tasks */
}

/* Four failures on one of two executors are its own; in the second stage a fifth one, on the other executor, says that they are not. */
static void who_all_failures_come_from_is_named(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, T0 + 40000);
    app_sql("INSERT INTO text VALUES (1, 'x.BadException: bad exec')");
    for (int64_t stage = 0; stage < 2; stage++) {
        whole_stage(stage, 10, 1000 + 15000 * stage, 13000 + 15000 * stage);
        for (int64_t i = 0; i < 10; i++)
            task_of(stage, i, 1, 2000 + 15000 * stage + 1000 * i, 1000);
        for (int64_t i = 0; i < 4 + stage; i++) {
            struct task_cells *task = task_of(stage, i, i < 4 ? 2 : 1, 1000 + 15000 * stage + 1000 * i, 500);
            fail_task(task, REASON_EXCEPTION);
            task->error_text_id = 1;
        }
    }
    analyse_app();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '0.0'"), "one_executor");
    assert_string_equal(text_of("SELECT args ->> '$.exec.v' FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '0.0'"), "2");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '1.0'"), "other");
}

/* Two executors whose containers were killed for their size: two of them are moderate, on each. */
static void executors_out_of_memory_are_counted(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, T0 + 20000);
    add_executor(3, "3", 2, T0, T0 + 30000);
    app_sql("UPDATE executor SET active = 0, remove_reason = 'Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB' WHERE executor_ref > 1");
    whole_stage(0, 2, 1000, 2000);
    task_of(0, 0, 1, 1000, 1000);
    task_of(0, 1, 1, 1000, 1000);
    analyse_app();
    assert_near(measure("TASK.OOM", "2"), 2.0);
    assert_near(measure("TASK.OOM", "3"), 2.0);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'TASK.OOM' AND subject_key = '2'"), "oom_container");
}

/* Many tasks of a shuffle are cured by its partitions, of a scan by its files, of anything else where it is made. */
static void tiny_tasks_are_cured_where_they_come_from(void **state)
{
    (void)state;
    static const char *const causes[] = {"shuffle", "scan", "source", "rdd_shuffle", "listing"};
    for (int64_t stage = 0; stage < 5; stage++) {
        whole_stage(stage, 100, 1000 + 12000 * stage, 11000 + 12000 * stage);
        if (stage < 3)
            app_sql("UPDATE stage SET sql_execution_id = 0 WHERE stage_ref = %lld", (long long)stage);
        for (int64_t i = 0; i < 100; i++) {
            struct task_cells *task = task_of(stage, i, 1, 1000 + 12000 * stage + 200 * (i / 2), 200);
            task->executor_run_time_ms = 50;
            task->executor_cpu_time_ns = 50000000;
            task->shuffle_local_read_bytes = stage == 0 || stage == 3 ? 1000 : 0;
            task->shuffle_remote_read_bytes = 0;
            task->input_bytes = stage == 1 ? 1000 : 0;
        }
    }
    app_sql("UPDATE job SET description = 'Listing leaf files and directories for 100 paths:<br/>file:/data/d=1, ...' WHERE job_id = 4");
    app_sql("UPDATE application SET end_ms = %lld", (long long)T0 + 62000);
    analyse_app();
    for (int64_t stage = 0; stage < 5; stage++) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT cause FROM finding WHERE rule_id = 'STAGE.TINY_TASKS' AND subject_key = '%lld.0'", (long long)stage);
        assert_string_equal(text_of(sql), causes[stage]);
    }
    assert_near(number_of("SELECT args ->> '$.partitions.v' FROM finding WHERE rule_id = 'STAGE.TINY_TASKS' AND subject_key = '2.0'"), 6.0);
}

/* Two executors of one core. Stage 0 makes two outputs until 12 s, stage 1 reads them; at 20 s executor 2 is killed for its size, the other task cannot fetch from it at 21 s, and the missing
 * half of stage 0 runs again from 21.2 to 31.2 s, then all of stage 1 until 41.2 s. */
static void lose_an_executor_for_its_size(void)
{
    app_sql("UPDATE application SET end_ms = %lld", (long long)T0 + 42000);
    app_sql("UPDATE executor SET total_cores = 1, add_ms = %lld", (long long)T0 + 1000);
    add_executor(2, "2", 1, T0 + 1000, T0 + 20000);
    add_executor(3, "3", 1, T0 + 21000, UNKNOWN);
    app_sql(
        "UPDATE executor SET active = 0, remove_reason = 'Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used.' WHERE executor_ref = 2");
    app_sql("INSERT INTO text VALUES (1, 'Missing an output location for shuffle 0')");
    add_job(0, T0 + 2000, T0 + 41300, 1);
    list_stage(0, 0);
    list_stage(0, 1);
    add_stage(0, 0, 0, 2, T0 + 2000, T0 + 12000, 2);
    add_stage(1, 1, 0, 2, T0 + 12000, T0 + 21000, 3);
    add_stage(2, 0, 1, 1, T0 + 21200, T0 + 31200, 2);
    add_stage(3, 1, 1, 2, T0 + 31200, T0 + 41200, 2);
    app_sql("UPDATE stage SET failure_text_id = 1 WHERE stage_ref = 1");
    app_sql("INSERT INTO stage_parent (stage_id, parent_id) VALUES (1, 0)");
    for (int64_t i = 0; i < 2; i++)
        task_of(0, i, i + 1, 2000, 10000);
    fail_task(task_of(1, 1, 2, 12000, 8000), REASON_LOST);
    fail_task(task_of(1, 0, 1, 12000, 9000), REASON_FETCH);
    struct task_cells *again = task_of(2, 0, 3, 21200, 10000);
    again->partition_id = 1;
    for (int64_t i = 0; i < 2; i++)
        task_of(3, i, 2 * i + 1, 31200, 10000);
    analyse_app();
}

/* Had it stayed, the run would have taken 2 + 10 + 10 s, 0.1 s to the end of the job and 0.7 s more: 22.8 of 42 s. The retries of either stage tell the same, and together they are no more. */
static void a_lost_executor_costs_what_ran_again(void **state)
{
    (void)state;
    lose_an_executor_for_its_size();
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'EXEC.LOST'"), "memory limit");
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'EXEC.LOST'"), 19200.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.RETRY_CHAIN' AND subject_key = '1.1'"), 19200.0);
    assert_string_equal(text_of("SELECT args ->> '$.chain.v' FROM finding WHERE rule_id = 'STAGE.RETRY_CHAIN' AND subject_key = '1.1'"),
                        "Missing an output location for shuffle 0");
    /* Its first attempt did not fail: nothing is known of why, which is not the same as an empty reason. */
    assert_string_equal(text_of("SELECT json_type(args, '$.chain.v') FROM finding WHERE rule_id = 'STAGE.RETRY_CHAIN' AND subject_key = '0.1'"), "null");
    assert_near(number_of("SELECT max(saving_ms) FROM joint_price"), 19200.0);
    assert_near(number_of("SELECT min(saving_ms) FROM joint_price"), 19200.0);
}

/* Two tasks on two slots fail after 5 s and are tried again: 10 s of which 5 would go. In a job that fails there is nothing to save: the work would have been done instead. */
static void what_failed_for_good_has_no_price(void **state)
{
    (void)state;
    for (int64_t job = 0; job < 2; job++) {
        int64_t at = 1000 + 20000 * job;
        add_job(job, T0 + at, T0 + at + 10000, job ? 2 : 1);
        list_stage(job, job);
        add_stage(job, job, 0, 2, T0 + at, T0 + at + 10000, job ? 3 : 2);
        for (int64_t i = 0; i < 4; i++) {
            struct task_cells *task = task_of(job, i % 2, 1, at + i / 2 * 5000, 5000);
            if (i < 2 || job)
                fail_task(task, REASON_EXCEPTION);
        }
    }
    analyse_app();
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '0.0'"), 5000.0);
    assert_near(number_of("SELECT count(*) FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '1.0' AND price_ms IS NULL"), 1.0);
    assert_near(measure("TASK.FAILURES", "1.0"), 1.0);
}

/* Stage 0 ran again for the one task whose output was missing: that it had no more is nobody's choice. */
static void a_retry_has_no_more_tasks_than_are_missing(void **state)
{
    (void)state;
    lose_an_executor_for_its_size();
    assert_true(isnan(measure("STAGE.FEW_TASKS", "0.1")));
    assert_true(isnan(measure("STAGE.SINGLE_TASK", "0.1")));
}

/* Two tasks on two slots, of which one failed four times and the stage with it: it had as many tasks as slots. */
static void a_task_that_never_succeeded_is_one_of_the_stage(void **state)
{
    (void)state;
    whole_stage(0, 2, 1000, 21000);
    app_sql("UPDATE stage SET status = 3");
    task_of(0, 0, 1, 1000, 10000);
    for (int64_t i = 0; i < 4; i++)
        fail_task(task_of(0, 1, 1, 1000 + 5000 * i, 5000), REASON_EXCEPTION);
    analyse_app();
    assert_near(measure("STAGE.FEW_TASKS", "0.0"), 1.0);
}

/* A failure that names no class is told once. */
static void a_failure_without_a_class_is_its_message(void **state)
{
    (void)state;
    app_sql("INSERT INTO text VALUES (1, 'Container went away'), (2, 'x.RowException: bad')");
    whole_stage(0, 3, 1000, 3000);
    for (int64_t i = 0; i < 3; i++)
        task_of(0, i, 1, 1000, 1000);
    struct task_cells *task = task_of(0, 0, 1, 500, 500);
    fail_task(task, REASON_EXCEPTION);
    task->error_text_id = 1;
    whole_stage(1, 3, 4000, 6000);
    for (int64_t i = 0; i < 3; i++)
        task_of(1, i, 1, 4000, 1000);
    task = task_of(1, 0, 1, 3500, 500);
    fail_task(task, REASON_EXCEPTION);
    task->error_text_id = 2;
    analyse_app();
    assert_string_equal(text_of("SELECT args ->> '$.error.v' FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '0.0'"), "Container went away");
    assert_string_equal(text_of("SELECT args ->> '$.error.v' FROM finding WHERE rule_id = 'TASK.FAILURES' AND subject_key = '1.0'"), "x.RowException: bad");
}

/* Two executors of two slots. Twelve tasks of 2 s all want the data that executor 1 holds and run there, two at a time from 1 to 13 s, while the other one's slots are free: 2 × 10 s until the
 * last of them is launched, which is 5 s of four slots. The simulator gives each task a twelfth of the 20 s to wait for: three rounds of four tasks, of 2 + 1.667 s, or of 2.01 s. */
static void tasks_that_all_wait_for_one_place_are_told(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, UNKNOWN);
    whole_stage(0, 12, 1000, 13000);
    for (int64_t i = 0; i < 12; i++)
        task_of(0, i, 1, 1000 + 2000 * (i / 2), 2000)->locality = 0;
    analyse_app();
    assert_near(measure("STAGE.LOCALITY", "0.0"), 5000.0 / 12000);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.LOCALITY'"), "wait");
    assert_near(number_of("SELECT args ->> '$.free.v' FROM finding WHERE rule_id = 'STAGE.LOCALITY'"), 2.0);
    assert_near(number_of("SELECT price_ms FROM finding WHERE rule_id = 'STAGE.LOCALITY'"), 4970.0);
    assert_true(fires("STAGE.LOCALITY"));
}

/* The same tasks, started late on both executors alike: it is the driver that they waited for. */
static void tasks_that_a_slow_driver_starts_wait_for_no_place(void **state)
{
    (void)state;
    add_executor(2, "2", 2, T0, UNKNOWN);
    whole_stage(0, 12, 1000, 13000);
    for (int64_t i = 0; i < 12; i++)
        task_of(0, i, 1 + i % 2, 1000 + 2000 * (i / 2), 2000)->locality = 0;
    analyse_app();
    assert_true(isnan(measure("STAGE.LOCALITY", "0.0")));
}

/* Task 1 fails four times, each time with the executor it runs on; task 0 goes down beside it once. The job fails by task 1, whose first attempt is the second one of all. */
static void a_job_fails_by_the_task_that_failed_most(void **state)
{
    (void)state;
    app_sql("INSERT INTO text VALUES (1, 'Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times'), (2, 'ExecutorLostFailure (executor 1 exited) Reason: Command exited with code 137')");
    add_job(0, T0 + 1000, T0 + 20000, 2);
    app_sql("UPDATE job SET failure_text_id = 1");
    list_stage(0, 0);
    add_stage(0, 0, 0, 3, T0 + 1000, T0 + 20000, 3);
    struct task_cells *beside = task_of(0, 0, 1, 1000, 3000);
    fail_task(beside, REASON_LOST);
    beside->error_text_id = 2;
    for (int64_t i = 0; i < 4; i++) {
        struct task_cells *task = task_of(0, 1, 1, 1000 + 4000 * i, 3000);
        fail_task(task, REASON_LOST);
        task->error_text_id = 2;
    }
    analyse_app();
    assert_near(number_of("SELECT args ->> '$.task.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), 1.0);
    assert_near(number_of("SELECT args ->> '$.attempts.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), 5.0);
    assert_near(number_of("SELECT args ->> '$.t.v' FROM finding WHERE rule_id = 'JOB.FAILED'"), (double)T0 + 4000);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'JOB.FAILED'"), "executor_gone");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'TASK.FAILURES'"), "executor_gone");
}

/* Twelve tasks, of which each but the first two takes 300 ms of 1 s to be unpacked (stage 0), or to pack its result (stage 1). Tasks are Java's to send, results are what spark.serializer is for. */
static void tasks_and_results_have_their_own_serialiser(void **state)
{
    (void)state;
    for (int64_t stage = 0; stage < 2; stage++) {
        whole_stage(stage, 12, 1000 + 10000 * stage, 7000 + 10000 * stage);
        for (int64_t i = 0; i < 12; i++) {
            struct task_cells *task = task_of(stage, i, 1, 1000 + 10000 * stage + 1000 * (i / 2), 1000);
            *(stage ? &task->result_serialization_time_ms : &task->executor_deserialize_time_ms) = 300;
            task->executor_run_time_ms = 700;
            task->executor_cpu_time_ns = 700 * 1000000;
        }
    }
    analyse_app();
    assert_near(measure("STAGE.DESER", "0.0"), 0.3);
    assert_near(measure("STAGE.DESER", "1.0"), 0.3);
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.DESER' AND subject_key = '0.0'"), "tasks");
    assert_string_equal(text_of("SELECT cause FROM finding WHERE rule_id = 'STAGE.DESER' AND subject_key = '1.0'"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_slow_executor_beside_a_fast_one_is_no_slow_machine),
        TEST(a_task_that_waits_for_its_code_is_one_slow_task),
        TEST(an_executor_that_goes_last_is_lost_where_no_end_is_logged),
        TEST(an_executor_that_goes_beside_all_jobs_costs_nothing),
        TEST(a_job_that_ends_with_the_application_names_who_went_before),
        TEST(a_machine_is_told_from_three_tenths_more_on),
        TEST(a_straggler_among_few_is_no_slow_machine),
        TEST(what_the_first_wave_read_does_not_hide_a_straggler),
        TEST(outliers_are_listed_by_their_cut),
        TEST(skew_is_told_behind_a_wide_first_wave),
        TEST(two_tasks_may_collect_too_much),
        TEST(a_spill_that_cost_nothing_is_told),
        TEST(a_spill_of_python_is_judged_by_its_size),
        TEST(a_spill_is_cured_where_its_data_comes_from),
        TEST(a_multiple_of_nothing_is_not_told),
        TEST(only_tasks_with_a_better_place_wait_for_it),
        TEST(tasks_that_all_wait_for_one_place_are_told),
        TEST(tasks_that_a_slow_driver_starts_wait_for_no_place),
        TEST(a_job_fails_by_the_task_that_failed_most),
        TEST(tasks_and_results_have_their_own_serialiser),
        TEST(names_in_filters_are_encoded),
        TEST(what_unpacking_costs_leaves_warming_up_out),
        TEST(who_merges_partitions_is_told),
        TEST(more_tasks_come_from_where_the_data_comes_from),
        TEST(a_few_tasks_behind_a_shuffle_want_more_partitions),
        TEST(few_bytes_say_something_only_where_bytes_are_counted),
        TEST(what_was_killed_did_not_fail),
        TEST(failures_are_listed_by_what_they_say),
        TEST(who_all_failures_come_from_is_named),
        TEST(a_task_that_never_succeeded_is_one_of_the_stage),
        TEST(a_lost_executor_costs_what_ran_again),
        TEST(a_retry_has_no_more_tasks_than_are_missing),
        TEST(what_failed_for_good_has_no_price),
        TEST(a_failure_without_a_class_is_its_message),
        TEST(executors_out_of_memory_are_counted),
        TEST(tiny_tasks_are_cured_where_they_come_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
