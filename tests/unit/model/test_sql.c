/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL executions: graphs, metrics and the life of an execution, by the worked values of spec/sql.md §2, §3, §4 and §11.2. Lines are JSON with ' for ". */
#include "ingest/model/sql.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/packed_text.h"
#include "ingest/event/event_decode.h"

static enum err_code take_task(void *context UNUSED, const struct task_row *row UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static enum err_code take_accumulable(void *context UNUSED, int64_t seq UNUSED, int64_t ordinal UNUSED, const struct accumulable *a UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static char texts[64][400];

static enum err_code take_text(void *context UNUSED, int64_t id, struct str body, struct err *err UNUSED)
{
    if ((size_t)id < ARRAY_LENGTH(texts))
        snprintf(texts[id], sizeof texts[id], "%.*s", (int)body.len, body.ptr);
    return ERR_OK;
}

static enum err_code take_stage(void *context UNUSED, struct stage *stage UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static struct app_model *model;
static struct arena scratch;

static int make_model(void **state UNUSED)
{
    arena_init(&scratch, (size_t)64 << 20);
    model = app_model_new((struct row_sink){.task = take_task, .task_accumulable = take_accumulable, .text = take_text, .stage_done = take_stage});
    return model ? 0 : -1;
}

static int free_model(void **state UNUSED)
{
    app_model_free(model);
    arena_dispose(&scratch);
    return 0;
}

static void play_text(const char *text)
{
    size_t len = strlen(text);
    char *line = calloc(1, len + EVENT_LINE_PADDING);
    struct event event;
    struct err err = {0};
    for (size_t i = 0; i < len; i++)
        line[i] = text[i] == '\'' ? '"' : text[i];
    arena_reset(&scratch);
    if (event_decode((struct str){line, len}, &scratch, NULL, &event, &err))
        fail_msg("%s: %s", err.message, text);
    assert_int_equal(app_model_apply(model, &event, &err), ERR_OK);
    free(line);
}

PRINTF_LIKE(1, 2) static void play(const char *format, ...)
{
    char text[8192];
    va_list values;
    va_start(values, format);
    assert_true(vsnprintf(text, sizeof text, format, values) < (int)sizeof text);
    va_end(values);
    play_text(text);
}

#define SQL "{'Event':'org.apache.spark.sql.execution.ui.SparkListener"

/* An execution whose plan is one node with a metric of each type: 1 sum, 2 size, 3 timing, 4 nsTiming, 5 average, 6 v2Custom_x, 7 count. */
#define METRIC(id, type) "{'name':'" type "','accumulatorId':" #id ",'metricType':'" type "'}"
#define METRICS METRIC(1, "sum") "," METRIC(2, "size") "," METRIC(3, "timing") "," METRIC(4, "nsTiming") "," METRIC(5, "average") "," METRIC(6, "v2Custom_x") "," METRIC(7, "count")

static void sql_starts(int id)
{
    play(SQL "SQLExecutionStart','executionId':%d,'description':'d','physicalPlanDescription':'p','sparkPlanInfo':{'nodeName':'N','simpleString':'N','children':[],'metadata':{},"
             "'metrics':[" METRICS "]},'time':1700000000000}", id);
}

static void sql_ends(int id, const char *error)
{
    if (error)
        play(SQL "SQLExecutionEnd','executionId':%d,'time':1700000009000,'errorMessage':'%s'}", id, error);
    else
        play(SQL "SQLExecutionEnd','executionId':%d,'time':1700000009000}", id);
}

#define STAGE "{'Stage ID':%d,'Stage Attempt ID':%d,'Stage Name':'s','Number of Tasks':%d,'RDD Info':[],'Parent IDs':[],'Details':'d'"

static void job_starts(int job, int execution, int stage, int tasks)
{
    play("{'Event':'SparkListenerJobStart','Job ID':%d,'Submission Time':1700000000100,'Stage Infos':[" STAGE "}],'Stage IDs':[%d],'Properties':{'spark.sql.execution.id':'%d'}}", job, stage,
         0, tasks, stage, execution);
}

static void job_ends(int job, bool succeeded)
{
    play("{'Event':'SparkListenerJobEnd','Job ID':%d,'Completion Time':1700000008000,'Job Result':{'Result':'%s'}}", job, succeeded ? "JobSucceeded" : "JobFailed");
}

static void stage_starts(int stage, int attempt, int tasks)
{
    play("{'Event':'SparkListenerStageSubmitted','Stage Info':" STAGE ",'Submission Time':1700000000200},'Properties':{}}", stage, attempt, tasks);
}

/* One update; accumulator 0: none. */
static void task_ends_as(int stage, int attempt, int task, int index, bool succeeded, int accumulator, long long value)
{
    char accumulable[200] = "";
    if (accumulator)
        snprintf(accumulable, sizeof accumulable, "{'ID':%d,'Name':'m','Update':'%lld','Value':'1','Internal':true,'Count Failed Values':true,'Metadata':'sql'}", accumulator, value);
    play("{'Event':'SparkListenerTaskEnd','Stage ID':%d,'Stage Attempt ID':%d,'Task Type':'ResultTask','Task End Reason':{'Reason':'%s'},'Task Info':{'Task ID':%d,'Index':%d,'Attempt':0,"
         "'Launch Time':1700000001000,'Executor ID':'1','Host':'h','Locality':'ANY','Speculative':false,'Getting Result Time':0,'Finish Time':1700000002000,'Failed':%s,'Killed':false,"
         "'Accumulables':[%s]}}", stage, attempt, succeeded ? "Success" : "ExceptionFailure", task, index, succeeded ? "false" : "true", accumulable);
}

static void task_ends(int stage, int task, int index, int accumulator, long long value)
{
    task_ends_as(stage, 0, task, index, true, accumulator, value);
}

static struct sql_execution *execution(int64_t id)
{
    struct sql_execution *found = imap_get(&model->sql->by_id, id);
    assert_non_null(found);
    return found;
}

static const struct sql_metric *metric(int64_t id, int64_t accumulator)
{
    const struct sql_execution *of = execution(id);
    size_t at = (size_t)(intptr_t)imap_get(&of->metric_at, accumulator);
    assert_true(at > 0);
    return of->metrics + at - 1;
}

struct numbers { int64_t value_count, raw_count, reported_count, total, min, median, max, stage, task; };

static void assert_numbers(const struct sql_metric *m, struct numbers want)
{
    const int64_t got[] = {m->value_count, m->raw_count, m->reported_count, m->total, m->min, m->median, m->max, m->max_stage_id, m->max_task_id};
    const int64_t wanted[] = {want.value_count, want.raw_count, want.reported_count, want.total, want.min, want.median, want.max, want.stage, want.task};
    for (size_t i = 0; i < ARRAY_LENGTH(got); i++)
        if (got[i] != wanted[i])
            fail_msg("number %zu: %lld, want %lld", i, (long long)got[i], (long long)wanted[i]);
}

/* One stage of `tasks` tasks in execution 0; task i (id 10 + i) reports values[i], those behind `count` nothing. */
static const struct sql_metric *metric_of_values(int accumulator, int tasks, const int64_t *values, int count)
{
    sql_starts(0);
    job_starts(0, 0, 5, tasks);
    stage_starts(5, 0, tasks);
    for (int i = 0; i < tasks; i++)
        task_ends(5, 10 + i, i, i < count ? accumulator : 0, i < count ? values[i] : 0);
    job_ends(0, true);
    sql_ends(0, "");
    return metric(0, accumulator);
}
#define OF_VALUES(accumulator, tasks, ...) metric_of_values(accumulator, tasks, (const int64_t[]){__VA_ARGS__}, ARRAY_LENGTH(((const int64_t[]){__VA_ARGS__})))

/* ---- §3: what values come to */

static void tasks_that_did_not_report_count_as_zero(void **state UNUSED)
{   /* §3.1: 168.0 B (0.0 B, 168.0 B, 168.0 B */
    assert_numbers(OF_VALUES(2, 2, 168), (struct numbers){2, 2, 1, 168, 0, 168, 168, 5, 10});
}

static void unset_sizes_are_left_out(void **state UNUSED)
{   /* -1, -1, 10: one value, so the single number 10 is shown */
    assert_numbers(OF_VALUES(2, 3, -1, -1, 10), (struct numbers){1, 3, 1, 10, 10, 10, 10, 5, 12});
}

static void a_timing_that_nobody_set_was_reported_by_nobody(void **state UNUSED)
{
    const struct sql_metric *m = OF_VALUES(3, 2, -1, -1);
    assert_int_equal(m->reported_count, 0);
    assert_int_equal(m->value_count, 0);
    assert_int_equal(m->raw_count, 2);
    assert_int_equal(m->total, 0);
    assert_false(known(m->min) || known(m->median) || known(m->max));
}

static void reported_zeros_are_values(void **state UNUSED)
{
    assert_numbers(OF_VALUES(4, 3, 0, 0, 5), (struct numbers){3, 3, 3, 5, 0, 0, 5, 5, 12});
}

static void the_median_of_an_even_number_is_the_upper_one(void **state UNUSED)
{
    assert_numbers(OF_VALUES(2, 4, 4, 1, 3, 2), (struct numbers){4, 4, 4, 10, 1, 3, 4, 5, 10});
}

static void a_median_among_zeros_that_nobody_reported_is_zero(void **state UNUSED)
{   /* 0 0 0 7 9: element 2 */
    assert_numbers(OF_VALUES(3, 5, 7, 9), (struct numbers){5, 5, 2, 16, 0, 0, 9, 5, 11});
}

static void averages_count_what_is_above_zero(void **state UNUSED)
{   /* §11.2: (1.1, 1.1, 1.2 (stage 3.0: task 90)), in tenths */
    assert_numbers(OF_VALUES(5, 5, 11, 0, 12, 11), (struct numbers){3, 5, 4, 34, 11, 11, 12, 5, 12});
}

static void sums_have_no_largest_task(void **state UNUSED)
{
    assert_numbers(OF_VALUES(1, 3, 100000, 20), (struct numbers){3, 3, 2, 100020, 0, 20, 100000, UNKNOWN, UNKNOWN});
}

static void custom_metrics_count_all_values_and_vendors_those_from_zero(void **state UNUSED)
{
    assert_numbers(OF_VALUES(6, 3, -5, 3), (struct numbers){3, 3, 2, -2, -5, 0, 3, 5, 11});
    free_model(NULL);
    make_model(NULL);
    assert_numbers(OF_VALUES(7, 3, -5, 3), (struct numbers){2, 3, 1, 3, 0, 3, 3, 5, 11});
}

static void sums_stop_at_the_largest_number(void **state UNUSED)
{
    assert_int_equal(OF_VALUES(1, 2, INT64_MAX, 5)->total, INT64_MAX);
}

static void of_equal_maxima_the_first_reporter_is_named(void **state UNUSED)
{
    assert_numbers(OF_VALUES(2, 3, 7, 7, 3), (struct numbers){3, 3, 3, 17, 3, 7, 7, 5, 10});
}

static void the_driver_alone_is_a_single_value(void **state UNUSED)
{
    sql_starts(0);
    play(SQL "DriverAccumUpdates','executionId':0,'accumUpdates':[[2,51],[99,4]]}");
    sql_ends(0, "");
    assert_numbers(metric(0, 2), (struct numbers){1, 1, 1, 51, 51, 51, 51, UNKNOWN, UNKNOWN});
    assert_int_equal(metric(0, 1)->raw_count, UNKNOWN);      /* nobody reported it */
}

static void numbers_of_the_driver_of_any_size_and_in_any_order_are_its_metrics(void **state UNUSED)
{
    sql_starts(0);
    play(SQL "DriverAccumUpdates','executionId':0,'accumUpdates':[[1,9223372036854775807],[2,-1],[1,-9223372036854775807],[9223372036854775807,5]]}");
    play(SQL "DriverAccumUpdates','executionId':0,'accumUpdates':[[-1,5],[1,-3],[2,300],[2,127],[2,128]]}");
    sql_ends(0, "");
    assert_numbers(metric(0, 1), (struct numbers){3, 3, 3, -3, -9223372036854775807, -3, 9223372036854775807, UNKNOWN, UNKNOWN});
    assert_numbers(metric(0, 2), (struct numbers){3, 4, 3, 555, 127, 128, 300, UNKNOWN, UNKNOWN});
}

static void a_larger_value_of_the_driver_takes_the_task_from_the_maximum(void **state UNUSED)
{
    for (int equal = 0; equal < 2; equal++) {
        sql_starts(equal);
        job_starts(equal, equal, 5 + equal, 2);
        task_ends(5 + equal, 10 + equal, 0, 2, 40);
        play(SQL "DriverAccumUpdates','executionId':%d,'accumUpdates':[[2,%d],[2,1]]}", equal, equal ? 40 : 41);
        job_ends(equal, true);
        sql_ends(equal, "");
    }
    assert_numbers(metric(0, 2), (struct numbers){4, 4, 3, 82, 0, 40, 41, UNKNOWN, UNKNOWN});
    assert_numbers(metric(1, 2), (struct numbers){4, 4, 3, 81, 0, 40, 40, 6, 11});
}

static void the_first_success_of_an_index_wins(void **state UNUSED)
{
    sql_starts(0);
    job_starts(0, 0, 5, 2);
    task_ends_as(5, 0, 10, 0, false, 1, 500);    /* a failed attempt's number goes when a success brings another */
    task_ends(5, 11, 0, 1, 3);
    task_ends(5, 12, 0, 1, 100);                 /* a speculative copy */
    task_ends(5, 13, 2, 1, 100);                 /* no such index */
    task_ends_as(5, 1, 14, 1, true, 1, 100);     /* another attempt of the stage */
    task_ends(6, 15, 0, 1, 100);                 /* another stage */
    sql_ends(0, "");
    assert_numbers(metric(0, 1), (struct numbers){2, 2, 1, 3, 0, 3, 3, UNKNOWN, UNKNOWN});
}

static void a_retried_stage_counts_its_last_attempt(void **state UNUSED)
{
    sql_starts(0);
    job_starts(0, 0, 5, 3);
    stage_starts(5, 0, 3);
    for (int i = 0; i < 3; i++)
        task_ends(5, 10 + i, i, 2, 100);
    stage_starts(5, 1, 3);
    task_ends_as(5, 1, 20, 0, true, 2, 7);       /* of attempt 1 one task ran again */
    task_ends(5, 13, 2, 2, 900);                 /* late, of attempt 0 */
    sql_ends(0, "");
    const struct sql_metric *m = metric(0, 2);
    assert_numbers(m, (struct numbers){3, 3, 1, 7, 0, 0, 7, 5, 20});
    assert_int_equal(m->max_stage_attempt, 1);
}

static void metrics_announced_later_are_taken_for_running_stages(void **state UNUSED)
{   /* 4.x; and a job that begins before any metric is known is not followed */
    sql_starts(0);
    job_starts(0, 0, 5, 1);
    task_ends(5, 10, 0, 50, 1);                  /* not known yet, and its index is done */
    job_starts(1, 0, 6, 1);
    play(SQL "SQLAdaptiveSQLMetricUpdates','executionId':0,'sqlPlanMetrics':[{'name':'late','accumulatorId':50,'metricType':'sum'}]}");
    task_ends(6, 11, 0, 50, 8);
    job_starts(2, 1, 7, 1);
    sql_starts(1);
    task_ends(7, 12, 0, 1, 8);
    sql_ends(0, "");
    sql_ends(1, "");
    assert_int_equal(metric(0, 50)->total, 8);
    assert_int_equal(metric(1, 1)->raw_count, UNKNOWN);
}

static void stages_come_in_the_order_of_a_scala_set(void **state UNUSED)
{   /* §3.6 */
    static const int64_t ten[] = {0, 5, 1, 6, 9, 2, 7, 3, 8, 4}, more[] = {46, 41, 44, 39, 35, 48, 31, 43, 40, 36, 47, 42, 37, 38, 33, 45, 32, 34};
    int64_t keys[18], room[18];
    for (int64_t i = 0; i < 10; i++)
        keys[i] = i;
    sql_set_order(keys, room, 10);
    assert_memory_equal(keys, ten, sizeof ten);
    for (int64_t i = 0; i < 18; i++)
        keys[i] = 31 + i;
    sql_set_order(keys, room, 18);
    assert_memory_equal(keys, more, sizeof more);
    keys[0] = 9, keys[1] = 3, keys[2] = 7, keys[3] = 1;
    sql_set_order(keys, room, 4);                /* up to four: as they came */
    assert_int_equal(keys[0], 9);
    assert_int_equal(keys[3], 1);
}

/* ---- §4: the life of an execution */

static void status_follows_the_error_message_then_the_jobs(void **state UNUSED)
{
    static const struct { const char *error; bool job_succeeds; int64_t status; } cases[] = {
        {"", true, 1}, {"", false, 1}, {"[X] boom", true, 2}, {NULL, true, 1}, {NULL, false, 2},
    };
    for (int i = 0; i < (int)ARRAY_LENGTH(cases); i++) {
        sql_starts(i);
        job_starts(i, i, i, 1);
        assert_int_equal(sql_execution_status(execution(i)), 0);
        job_ends(i, cases[i].job_succeeds);
        assert_int_equal(sql_execution_status(execution(i)), 0);
        sql_ends(i, cases[i].error);
        assert_int_equal(sql_execution_status(execution(i)), cases[i].status);
        assert_true(execution(i)->final);
    }
    assert_int_equal(execution(2)->outcome, 1);
    assert_int_equal(execution(3)->outcome, UNKNOWN);
}

static void a_job_alone_makes_an_execution(void **state UNUSED)
{
    job_starts(0, 8, 5, 1);
    task_ends(5, 10, 0, 1, 3);
    const struct sql_execution *e = execution(8);
    assert_false(e->start_seen || e->end_seen);
    assert_int_equal(e->root_execution_id, UNKNOWN);
    assert_int_equal(e->submission_ms, UNKNOWN);
    assert_int_equal(e->plan_id, UNKNOWN);
    assert_int_equal(e->job_count, 1);
    assert_int_equal(sql_execution_status(e), 0);
    sql_starts(8);                               /* its start comes late: the job stays */
    assert_int_equal(e->job_count, 1);
    assert_int_equal(e->root_execution_id, 8);
    sql_ends(8, "");
    assert_false(e->final);
    job_ends(0, true);
    assert_true(e->final);
}

static void a_later_job_opens_an_execution_again_and_changes_no_number(void **state UNUSED)
{
    sql_starts(0);
    job_starts(0, 0, 5, 1);
    task_ends(5, 10, 0, 1, 3);
    job_ends(0, true);
    sql_ends(0, "");
    assert_true(execution(0)->final);
    assert_int_equal(model->sql->stages.count, 0);           /* nothing is tracked any more */
    job_starts(1, 0, 6, 1);
    assert_false(execution(0)->final);
    assert_int_equal(model->sql->stages.count, 0);           /* nor what it had before: a thousand jobs of a query with a thousand stages cost a thousand steps */
    assert_int_equal(execution(0)->stages.count, 0);
    task_ends(6, 11, 0, 1, 100);
    job_ends(1, false);
    assert_true(execution(0)->final);
    assert_int_equal(execution(0)->job_count, 2);
    assert_int_equal(sql_execution_status(execution(0)), 1);
    assert_int_equal(metric(0, 1)->total, 3);
    assert_int_equal(model->sql->stages.count, 0);
    sql_execution_written(model->sql, execution(0));
    assert_int_equal(model->sql->tracked_bytes, 0);
}

static void a_number_of_tasks_beyond_32_bits_is_unknown(void **state UNUSED)
{
    sql_starts(0);
    play("{'Event':'SparkListenerJobStart','Job ID':0,'Stage Infos':[{'Stage ID':5,'Stage Attempt ID':0,'Number of Tasks':9223372036854775807},"
         "{'Stage ID':6,'Stage Attempt ID':0,'Number of Tasks':2147483647}],'Stage IDs':[5,6],'Properties':{'spark.sql.execution.id':'0'}}");
    task_ends(5, 10, 7, 2, 3);
    task_ends(5, 11, 2147483647, 2, 3);      /* more tasks than any stage has */
    task_ends(6, 12, 0, 2, 5);
    sql_ends(0, "");
    assert_numbers(metric(0, 2), (struct numbers){2147483648, 2147483648, 2, 8, 0, 0, 5, 6, 12});
}

static void what_a_query_holds_while_it_lives_is_counted(void **state UNUSED)
{
    sql_starts(0);
    size_t before = model->sql->tracked_bytes;
    assert_true(before > 7 * SQL_METRIC_BYTES);
    play(SQL "DriverAccumUpdates','executionId':0,'accumUpdates':[[1,1],[1,2],[1,3]]}");
    assert_int_equal(model->sql->tracked_bytes, before + 3 * (SQL_UPDATE_BYTES + 2));    /* packed: a byte for a small number */
    model->sql->tracked_bytes += SQL_TRACKED_MAX_BYTES;      /* as if others had it all */
    struct event event;
    struct err err = {0};
    event.sql_driver_updates.execution_id = 0;
    event.sql_driver_updates.updates = (struct accumulator_update_list){(struct accumulator_update[]){{1, 1}}, 1};
    assert_int_equal(model_sql_driver_updates(model, &event, &err), ERR_LIMIT);
    model->sql->tracked_bytes -= SQL_TRACKED_MAX_BYTES;
    sql_ends(0, "");
    sql_execution_written(model->sql, execution(0));
    assert_int_equal(model->sql->tracked_bytes, 0);
}

/* A thousand short queries hold as much as a large one. */
static void what_ended_queries_hold_waits_for_a_checkpoint(void **state UNUSED)
{
    sql_starts(0);
    size_t waiting = sql_fresh_bytes(model->sql);
    assert_true(model->sql->tracked_bytes > 7 * SQL_METRIC_BYTES);
    sql_ends(0, "");
    assert_int_equal(sql_fresh_bytes(model->sql), waiting + model->sql->tracked_bytes);
    sql_fresh_written(model->sql);
    sql_execution_written(model->sql, execution(0));
    assert_int_equal(model->sql->tracked_bytes, 0);
    assert_true(sql_fresh_bytes(model->sql) <= waiting);
}

static void the_end_of_the_log_adds_up_what_runs_and_again_when_it_goes_on(void **state UNUSED)
{
    sql_starts(0);
    job_starts(0, 0, 5, 2);
    task_ends(5, 10, 0, 1, 3);
    assert_int_equal(app_model_finish(model, NULL), ERR_OK);
    assert_int_equal(metric(0, 1)->total, 3);
    task_ends(5, 11, 1, 1, 4);
    assert_int_equal(app_model_finish(model, NULL), ERR_OK);
    assert_int_equal(metric(0, 1)->total, 7);
    assert_int_equal(sql_execution_status(execution(0)), 0);
}

static void after_the_end_nothing_is_added(void **state UNUSED)
{
    sql_starts(0);
    job_starts(0, 0, 5, 2);
    task_ends(5, 10, 0, 1, 3);
    sql_ends(0, "");
    task_ends(5, 11, 1, 1, 4);
    play(SQL "DriverAccumUpdates','executionId':0,'accumUpdates':[[1,9]]}");
    job_ends(0, true);
    assert_int_equal(app_model_finish(model, NULL), ERR_OK);
    assert_int_equal(metric(0, 1)->total, 3);
}

static void a_stage_that_another_live_execution_holds_is_tracked_on(void **state UNUSED)
{
    sql_starts(0);
    sql_starts(1);
    job_starts(0, 0, 5, 2);
    job_starts(1, 1, 5, 2);                      /* the same stage: the tracker begins anew */
    task_ends(5, 10, 0, 1, 3);
    job_ends(0, true);
    sql_ends(0, "");
    task_ends(5, 11, 1, 1, 4);
    job_ends(1, true);
    sql_ends(1, "");
    assert_int_equal(metric(0, 1)->total, 3);
    assert_int_equal(metric(1, 1)->total, 7);
    assert_int_equal(model->sql->stages.count, 0);
}

static void an_end_before_everything_else_loses_nothing(void **state UNUSED)
{
    sql_ends(0, "");
    sql_starts(0);
    job_starts(0, 0, 5, 1);
    task_ends(5, 10, 0, 1, 3);
    job_ends(0, true);
    assert_true(execution(0)->final);
    assert_int_equal(metric(0, 1)->total, 3);
    assert_int_equal(sql_execution_status(execution(0)), 1);
}

static void lines_that_come_twice_count_once(void **state UNUSED)
{
    for (int i = 0; i < 2; i++)
        sql_starts(0);
    for (int i = 0; i < 2; i++)
        job_starts(0, 0, 5, 1);
    for (int i = 0; i < 2; i++)
        task_ends(5, 10, 0, 1, 3);
    for (int i = 0; i < 2; i++)
        job_ends(0, true);
    for (int i = 0; i < 2; i++)
        sql_ends(0, "");
    assert_true(execution(0)->final);
    assert_int_equal(execution(0)->next_version, 1);
    assert_int_equal(metric(0, 1)->total, 3);
    assert_int_equal(model->health.duplicate_event_count, 5);
}

static void what_was_written_is_given_back(void **state UNUSED)
{
    sql_starts(0);
    job_starts(0, 0, 5, 1);
    sql_ends(0, "");
    sql_execution_written(model->sql, execution(0));
    assert_null(execution(0)->metrics);          /* added up, but a job still runs */
    assert_false(execution(0)->settled);
    job_ends(0, true);
    assert_true(execution(0)->dirty);
    sql_execution_written(model->sql, execution(0));
    assert_true(execution(0)->settled);
    assert_false(str_known(execution(0)->description));
    play(SQL "SQLAdaptiveExecutionUpdate','executionId':0,'physicalPlanDescription':'q','sparkPlanInfo':{'nodeName':'N','metrics':[" METRIC(9, "sum") "]}}");
    assert_true(execution(0)->metrics_settled);  /* new ones are only added to those that are stored */
    assert_int_equal(execution(0)->metric_count, 1);
}

static void secrets_and_addresses_in_settings_are_replaced(void **state UNUSED)
{
    play(SQL "SQLExecutionStart','executionId':0,'time':1,'modifiedConfigs':{'spark.sql.shuffle.partitions':'7','x.password':'p','my.url':'jdbc:a','x':'http://URL'},'jobTags':['b','a','b','']}");
    const struct kv_list *configs = &execution(0)->configs;
    assert_true(str_is(configs->items[0].value, "7"));
    for (size_t i = 1; i < 4; i++)
        assert_true(str_is(configs->items[i].value, "*********(redacted)"));
    assert_true(str_is(execution(0)->job_tags, "a,b"));
}

/* ---- §2.2: graphs */

#define NODE(name, children) "{'nodeName':'" name "','simpleString':'" name "!','children':[" children "],'metadata':{},'metrics':[]}"

/* "id name [cluster]" of each node, then "from-to" of each edge. */
static void assert_graph(const char *plan, const char *want)
{
    char got[4096];
    int len = 0;
    char *line = malloc(strlen(plan) + 200);
    sprintf(line, SQL "SQLAdaptiveExecutionUpdate','executionId':77,'sparkPlanInfo':%s}", plan);
    play_text(line);
    free(line);
    const struct sql_graph *graph = &model->sql->plans[model->sql->plan_count - 1].graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct sql_graph_node *node = graph->nodes + i;
        len += snprintf(got + len, sizeof got - (size_t)len, "%zu %.*s%s", i, (int)node->name.len, node->name.ptr, node->is_cluster ? " {}" : "");
        if (known(node->cluster_id))
            len += snprintf(got + len, sizeof got - (size_t)len, " in %lld", (long long)node->cluster_id);
        len += snprintf(got + len, sizeof got - (size_t)len, "\n");
    }
    for (size_t i = 0; i < graph->edge_count; i++)
        len += snprintf(got + len, sizeof got - (size_t)len, "%s%lld-%lld", i ? " " : "", (long long)graph->edges[i].from, (long long)graph->edges[i].to);
    assert_string_equal(got, want);
}

static void the_graph_of_two_broadcast_joins(void **state UNUSED)
{   /* §11.2, app-20200706201101-0003 */
    assert_graph(NODE("DeserializeToObject",
                      NODE("WholeStageCodegen (2)",
                           NODE("BroadcastHashJoin",
                                NODE("InputAdapter", NODE("BroadcastExchange", NODE("WholeStageCodegen (1)", NODE("BroadcastHashJoin", NODE("LocalTableScan", "") ","
                                    NODE("InputAdapter", NODE("BroadcastExchange", NODE("LocalTableScan", "'leaf'"))))))) "," NODE("LocalTableScan", "")))),
                 "0 DeserializeToObject\n1 WholeStageCodegen (2) {}\n2 BroadcastHashJoin in 1\n3 BroadcastExchange\n4 WholeStageCodegen (1) {}\n5 BroadcastHashJoin in 4\n"
                 "6 LocalTableScan in 4\n7 BroadcastExchange\n8 LocalTableScan\n9 LocalTableScan in 1\n2-0 3-2 5-3 6-5 7-5 8-7 9-2");
}

static void the_graph_of_an_adaptive_plan(void **state UNUSED)
{   /* §11.2, local-1642039451826 */
    assert_graph(NODE("AdaptiveSparkPlan",
                      NODE("WholeStageCodegen (3)", NODE("HashAggregate", NODE("InputAdapter", NODE("ShuffleQueryStage", NODE("Exchange", NODE("WholeStageCodegen (2)",
                           NODE("HashAggregate", NODE("InputAdapter", NODE("ShuffleQueryStage", NODE("Exchange", NODE("WholeStageCodegen (1)", NODE("Project",
                                NODE("Range", "")))))))))))))),
                 "0 AdaptiveSparkPlan\n1 WholeStageCodegen (3) {}\n2 HashAggregate in 1\n3 Exchange\n4 WholeStageCodegen (2) {}\n5 HashAggregate in 4\n6 Exchange\n"
                 "7 WholeStageCodegen (1) {}\n8 Project in 7\n9 Range in 7\n2-0 3-2 5-3 6-5 8-6 9-8");
}

static void reused_exchanges_are_edges_and_unknown_ones_nodes(void **state UNUSED)
{
    assert_graph(NODE("Union", NODE("Exchange", NODE("Scan", "")) "," NODE("ReusedExchange", NODE("Exchange", NODE("Scan", ""))) ","
                               NODE("ShuffleQueryStage", NODE("Exchange", NODE("Scan", ""))) "," NODE("ReusedExchange", NODE("Exchange", NODE("Other", "")))),
                 "0 Union\n1 Exchange\n2 Scan\n3 ReusedExchange\n4 Exchange\n5 Other\n1-0 2-1 1-0 1-0 3-0 4-3 5-4");
}

static void subqueries_leave_the_cluster_and_are_drawn_once(void **state UNUSED)
{
    assert_graph(NODE("WholeStageCodegen (1)", NODE("Filter", NODE("Scan", "") "," NODE("Subquery", NODE("Range", "")) "," NODE("ReusedSubquery", NODE("Subquery", NODE("Range", ""))))),
                 "0 WholeStageCodegen (1) {}\n1 Filter in 0\n2 Scan in 0\n3 Subquery\n4 Range\n2-1 3-1 4-3 3-1");
}

static void caches_and_results_are_seen_through(void **state UNUSED)
{
    assert_graph(NODE("ResultQueryStage", NODE("WholeStageCodegen (1)", NODE("Project", NODE("TableCacheQueryStage", NODE("InMemoryTableScan", ""))))),
                 "0 WholeStageCodegen (1) {}\n1 Project in 0\n2 InMemoryTableScan\n2-1");
}

static void odd_plans_have_graphs_as_well(void **state UNUSED)
{
    assert_graph("{'nodeName':'','simpleString':'','children':[],'metadata':{},'metrics':[]}", "0 \n");        /* planning failed */
    assert_graph(NODE("WholeStageCodegen", ""), "0 WholeStageCodegen {}\n");
    assert_graph(NODE("Union", NODE("InputAdapter", "") "," NODE("ReusedExchange", "") "," NODE("BroadcastQueryStage", "")), "0 Union\n1 ReusedExchange\n1-0");
}

static void a_deep_plan_needs_no_deep_stack(void **state UNUSED)
{
    size_t depth = 17000;            /* all of them exchanges: a table of that many digests fills its arena's blocks nearly */
    char *line = malloc(depth * 80), *at = line;
    at += sprintf(at, SQL "SQLAdaptiveExecutionUpdate','executionId':1,'sparkPlanInfo':");
    for (size_t i = 0; i < depth; i++)
        at += sprintf(at, "%s", "{'nodeName':'Exchange','simpleString':'S','children':[");
    for (size_t i = 0; i < depth; i++)
        at += sprintf(at, "]}");
    sprintf(at, "}");
    play_text(line);
    free(line);
    const struct sql_graph *graph = &model->sql->plans[0].graph;
    assert_int_equal(graph->node_count, depth);
    assert_int_equal(graph->edge_count, depth - 1);
    assert_int_equal(graph->edges[depth - 2].from, depth - 1);
}

static void nodes_keep_their_texts_and_accumulators_in_order(void **state UNUSED)
{
    play(SQL "SQLAdaptiveExecutionUpdate','executionId':1,'sparkPlanInfo':{'nodeName':'Scan parquet ','simpleString':'FileScan','children':[],'metadata':{'Location':'a','Batched':'true'},"
             "'metrics':[" METRIC(9, "sum") "," METRIC(3, "size") "]}}");
    const struct sql_graph_node *node = model->sql->plans[0].graph.nodes;
    assert_true(str_is(node->name, "Scan parquet "));
    assert_true(str_is(node->accumulators, "9 3"));
    assert_string_equal(texts[node->description_text_id], "FileScan");
    assert_string_equal(texts[node->metadata_text_id], "{\"Location\":\"a\",\"Batched\":\"true\"}");
}

/* ---- versions of a plan */

static void plan_update(const char *text, const char *name, bool final)
{
    play(SQL "SQLAdaptiveExecutionUpdate','executionId':0,'physicalPlanDescription':'%s','sparkPlanInfo':{'nodeName':'AdaptiveSparkPlan','simpleString':'AdaptiveSparkPlan isFinalPlan=%s',"
             "'children':[{'nodeName':'%s'}]}}", text, final ? "true" : "false", name);
}

static void equal_texts_and_graphs_are_kept_once(void **state UNUSED)
{
    plan_update("one", "A", false);
    plan_update("two", "B", false);
    plan_update("one", "B", false);
    plan_update("three", "B", true);
    const struct sql_plan *plans = model->sql->plans;
    static const int64_t text_ids[] = {1, 2, 1, 3}, graphs[] = {1, 2, 2, 4};
    assert_int_equal(model->sql->plan_count, 4);
    assert_int_equal(model->sql->text_count, 3);
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(plans[i].version, i);
        assert_int_equal(plans[i].plan_text_id, text_ids[i]);
        assert_int_equal(plans[i].graph_plan_id, graphs[i]);
        assert_int_equal(plans[i].graph.final, i == 3);
    }
    assert_int_equal(plans[2].graph.node_count, 0);
    assert_int_equal(execution(0)->plan_id, 4);
    const struct sql_plan_text *stored = model->sql->texts;
    char got[5] = "";
    assert_int_equal(stored[0].base_id, UNKNOWN);
    assert_int_equal(stored[2].base_id, 1);
    assert_int_equal(packed_text_unpack(stored[2].packed, STR_LIT("one"), got, 5, NULL), ERR_OK);
    assert_memory_equal(got, "three", 5);
}

/* A megabyte of plan text that hardly repeats itself, one line of it different in each of a hundred updates. */
static void a_hundred_updates_of_a_large_plan_cost_little_more_than_one(void **state UNUSED)
{
    size_t text_bytes = 1 << 20, packed = 0;
    char *line = malloc(text_bytes + 1000);
    uint64_t seed = 1;
    int head = sprintf(line, SQL "SQLAdaptiveExecutionUpdate','executionId':0,'physicalPlanDescription':'");
    for (size_t i = 0; i < text_bytes; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        line[(size_t)head + i] = (char)('A' + (seed >> 59) % 26);
    }
    strcpy(line + head + text_bytes, "','sparkPlanInfo':{'nodeName':'A'}}");
    for (int i = 0; i < 100; i++) {
        memcpy(line + head + i * 10000, "changed", 7);
        play_text(line);
    }
    for (size_t i = 0; i < model->sql->text_count; i++)
        packed += model->sql->texts[i].packed.len;
    assert_int_equal(model->sql->text_count, 100);
    assert_true(packed < text_bytes + 100000);
    free(line);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_model, free_model)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tasks_that_did_not_report_count_as_zero), TEST(unset_sizes_are_left_out), TEST(a_timing_that_nobody_set_was_reported_by_nobody), TEST(reported_zeros_are_values),
        TEST(the_median_of_an_even_number_is_the_upper_one), TEST(a_median_among_zeros_that_nobody_reported_is_zero), TEST(averages_count_what_is_above_zero),
        TEST(sums_have_no_largest_task), TEST(custom_metrics_count_all_values_and_vendors_those_from_zero), TEST(sums_stop_at_the_largest_number),
        TEST(of_equal_maxima_the_first_reporter_is_named), TEST(the_driver_alone_is_a_single_value), TEST(what_ended_queries_hold_waits_for_a_checkpoint),
        TEST(numbers_of_the_driver_of_any_size_and_in_any_order_are_its_metrics),
        TEST(a_larger_value_of_the_driver_takes_the_task_from_the_maximum),
        TEST(the_first_success_of_an_index_wins), TEST(a_retried_stage_counts_its_last_attempt), TEST(metrics_announced_later_are_taken_for_running_stages),
        TEST(stages_come_in_the_order_of_a_scala_set), TEST(a_number_of_tasks_beyond_32_bits_is_unknown), TEST(what_a_query_holds_while_it_lives_is_counted),
        TEST(status_follows_the_error_message_then_the_jobs), TEST(a_job_alone_makes_an_execution), TEST(a_later_job_opens_an_execution_again_and_changes_no_number),
        TEST(the_end_of_the_log_adds_up_what_runs_and_again_when_it_goes_on), TEST(after_the_end_nothing_is_added), TEST(a_stage_that_another_live_execution_holds_is_tracked_on),
        TEST(an_end_before_everything_else_loses_nothing), TEST(lines_that_come_twice_count_once), TEST(what_was_written_is_given_back),
        TEST(secrets_and_addresses_in_settings_are_replaced),
        TEST(the_graph_of_two_broadcast_joins), TEST(the_graph_of_an_adaptive_plan), TEST(reused_exchanges_are_edges_and_unknown_ones_nodes),
        TEST(subqueries_leave_the_cluster_and_are_drawn_once), TEST(caches_and_results_are_seen_through), TEST(odd_plans_have_graphs_as_well),
        TEST(a_deep_plan_needs_no_deep_stack), TEST(nodes_keep_their_texts_and_accumulators_in_order),
        TEST(equal_texts_and_graphs_are_kept_once), TEST(a_hundred_updates_of_a_large_plan_cost_little_more_than_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
