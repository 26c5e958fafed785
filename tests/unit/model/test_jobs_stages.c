/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/model/model_fixture.h"

#include <time.h>

#include "base/buf.h"
#include "ingest/model/sql.h"

#define TAGS 300000
#define KEPT_TAGS 10000              /* of a job */
#define MOST_CPU_SECONDS 20.0        /* sorting takes a fraction of a second; in a quadratic way it took hours, and minutes for what is kept of a job's */

static struct model_fixture *roomy_fixture(void)
{
    struct model_fixture *self = fixture_new();
    arena_dispose(&self->scratch);
    arena_init(&self->scratch, (size_t)64 << 20);
    return self;
}

/* t299999 … t000000: the worst order. */
static void add_tags(struct buf *line, const char *separator)
{
    for (int i = TAGS; i-- > 0;)
        buf_printf(line, "t%06d%s", i, i ? separator : "");
}

static void assert_tags(struct str got, int first, int count)
{
    assert_int_equal(got.len, (size_t)count * 8 - 1);
    for (int i = 0; i < count; i++) {
        char want[9];
        snprintf(want, sizeof want, "t%06d", first + i);
        assert_memory_equal(got.ptr + (size_t)i * 8, want, 7);
        assert_true(i + 1 == count || got.ptr[(size_t)i * 8 + 7] == ',');
    }
}

static void apply_in_time(struct model_fixture *f, const struct buf *line)
{
    assert_false(buf_failed(line));
    clock_t began = clock();
    fixture_apply(f, line->data);
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    if (seconds > MOST_CPU_SECONDS)
        fail_msg("%d tags took %.1f s", TAGS, seconds);
}

static void the_first_ten_thousand_tags_of_a_job_are_sorted_in_little_time(void **state)
{
    (void)state;
    struct model_fixture *f = roomy_fixture();
    struct buf line;
    buf_init(&line, (size_t)16 << 20);
    buf_text(&line, "{'Event':'SparkListenerJobStart','Job ID':0,'Submission Time':1,'Stage Infos':[],'Stage IDs':[],'Properties':{'spark.job.tags':'");
    add_tags(&line, ",");
    buf_text(&line, "'}}");
    apply_in_time(f, &line);
    assert_int_equal(f->model->jobs.count, 1);
    assert_tags(((const struct job *)f->model->jobs.items[0])->tags, TAGS - KEPT_TAGS, KEPT_TAGS);
    buf_dispose(&line);
    fixture_free(f);
}

static void all_tags_of_an_execution_are_sorted_in_little_time(void **state)
{
    (void)state;
    struct model_fixture *f = roomy_fixture();
    struct buf line;
    buf_init(&line, (size_t)16 << 20);
    buf_text(&line, "{'Event':'org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart','executionId':0,'time':1,'jobTags':['");
    add_tags(&line, "','");
    buf_text(&line, "']}");
    apply_in_time(f, &line);
    assert_int_equal(f->model->sql->executions.count, 1);
    assert_tags(((const struct sql_execution *)f->model->sql->executions.items[0])->job_tags, 0, TAGS);
    buf_dispose(&line);
    fixture_free(f);
}

#define STAGE "{'Stage ID':0,'Stage Attempt ID':0,'Stage Name':'s','Number of Tasks':2,'RDD Info':[]"
#define TASK(id, end) "{'Task ID':" id ",'Index':" id ",'Attempt':0,'Launch Time':1700000001000,'Executor ID':'1','Host':'h','Locality':'ANY','Speculative':false,'Getting Result Time':0," \
                      "'Finish Time':" end ",'Failed':false,'Killed':false}"
#define START(id) "{'Event':'SparkListenerTaskStart','Stage ID':0,'Stage Attempt ID':0,'Task Info':" TASK(id, "0") "}"
#define REPORT(id, run) "{'Event':'SparkListenerExecutorMetricsUpdate','Executor ID':'1','Metrics Updated':[{'Task ID':" id ",'Stage ID':0,'Stage Attempt ID':0,'Accumulator Updates':[" \
                        "{'ID':1,'Name':'internal.metrics.executorRunTime','Update':" run "}]}],'Executor Metrics Updated':[]}"
#define END(id, run) "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Stage Attempt ID':0,'Task End Reason':{'Reason':'Success'},'Task Info':" TASK(id, "1700000002000") "," \
                     "'Task Metrics':{'Executor Run Time':" run "}}"

/* spec/core.md 2.8: the last report of a running task counts, until its end says all of it. */
static void reports_of_running_tasks_count_until_their_ends(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    const char *const lines[] = {START("0"), START("1"), REPORT("0", "100"), REPORT("1", "30"), REPORT("0", "250"), REPORT("9", "4000")};
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        fixture_apply(f, lines[i]);
    const struct stage *stage = f->model->stages.items[0];
    const struct executor *executor = f->model->executors.items[0];
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 280);
    assert_int_equal(executor->work[WORK_RUN], 280);
    fixture_apply(f, END("0", "900"));
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 930);
    assert_int_equal(executor->work[WORK_RUN], 930);
    fixture_apply(f, REPORT("0", "5000"));       /* it has ended */
    fixture_apply(f, END("1", "1"));
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 901);
    assert_int_equal(((const struct executor_stage *)stage->executors.entries[0].value)->metrics[METRIC_EXECUTOR_RUN_TIME], 901);
    assert_int_equal(executor->work[WORK_RUN], 901);
    assert_int_equal(executor->work[WORK_CPU], UNKNOWN); /* nobody said */
    fixture_free(f);
}

static void each_life_of_an_executor_has_its_own_work(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    const char *const lines[] = {START("0"), END("0", "900"), "{'Event':'SparkListenerExecutorRemoved','Timestamp':1700000003000,'Executor ID':'1','Removed Reason':'x'}",
                                 "{'Event':'SparkListenerExecutorAdded','Timestamp':1700000004000,'Executor ID':'1','Executor Info':{'Host':'h','Total Cores':1,'Log Urls':{}}}",
                                 START("1"), END("1", "7")};
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        fixture_apply(f, lines[i]);
    assert_int_equal(f->model->executors.count, 2);
    assert_int_equal(((const struct executor *)f->model->executors.items[0])->work[WORK_RUN], 900);
    assert_int_equal(((const struct executor *)f->model->executors.items[1])->work[WORK_RUN], 7);
    assert_int_equal(((const struct executor_stage *)((const struct stage *)f->model->stages.items[0])->executors.entries[0].value)->metrics[METRIC_EXECUTOR_RUN_TIME], 907);
    fixture_free(f);
}

/* Two jobs share a running stage, and one of them ends: what becomes of the stage is not in the History Server's record of that job. */
static void stages_that_end_behind_a_job_are_told_apart(void **state)
{
    (void)state;
    struct model_fixture *f = fixture_new();
    const char *const lines[] = {
        "{'Event':'SparkListenerJobStart','Job ID':0,'Submission Time':1700000000900,'Stage Infos':[" STAGE "}],'Stage IDs':[0],'Properties':{}}",
        "{'Event':'SparkListenerJobStart','Job ID':1,'Submission Time':1700000000950,'Stage Infos':[" STAGE "}],'Stage IDs':[0],'Properties':{}}",
        "{'Event':'SparkListenerStageSubmitted','Stage Info':" STAGE ",'Submission Time':1700000001000},'Properties':{}}",
        "{'Event':'SparkListenerJobEnd','Job ID':0,'Completion Time':1700000001500,'Job Result':{'Result':'JobFailed'}}",
        "{'Event':'SparkListenerStageCompleted','Stage Info':" STAGE ",'Submission Time':1700000001000,'Completion Time':1700000002000}}",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        fixture_apply(f, lines[i]);
    const struct job *first = f->model->jobs.items[0], *second = f->model->jobs.items[1];
    assert_int_equal(first->active_stages, 0);
    assert_int_equal(first->completed_stages, 1);
    assert_int_equal(first->late_active_stages, -1);
    assert_int_equal(first->late_completed_stages, 1);
    assert_int_equal(first->late_failed_stages, 0);
    assert_int_equal(second->completed_stages, 1);
    assert_int_equal(second->late_active_stages, 0);
    assert_int_equal(second->late_completed_stages, 0);
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_ten_thousand_tags_of_a_job_are_sorted_in_little_time),
        cmocka_unit_test(all_tags_of_an_execution_are_sorted_in_little_time),
        cmocka_unit_test(reports_of_running_tasks_count_until_their_ends),
        cmocka_unit_test(each_life_of_an_executor_has_its_own_work),
        cmocka_unit_test(stages_that_end_behind_a_job_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
