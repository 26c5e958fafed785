/* SPDX-License-Identifier: Apache-2.0
 *
 * The worked traces of spec/core.md §8 and what an order of events must not change. A trace is drawn as short text lines that a small helper turns into event records:
 *
 *   JS job stage:tasks…          JE job ok|failed time        SS stage.attempt time      SC stage.attempt time [failure]
 *   TS stage.attempt id index exec time                       EA exec time               ER exec time
 *   TE stage.attempt id index exec launch finish run REASON   (REASON: ok, fail, kill:<why>, resub, fetch, lost) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "ingest/event/event_decode.h"
#include "ingest/model/app_model.h"

struct recorder {
    struct task_row rows[64];
    size_t row_count;
    char texts[32][400];
    size_t done_count;
};

static enum err_code record_task(void *context, const struct task_row *row, struct err *err UNUSED)
{
    struct recorder *self = context;
    assert_true(self->row_count < ARRAY_LENGTH(self->rows));
    self->rows[self->row_count++] = *row;
    return ERR_OK;
}

static enum err_code record_accumulable(void *context UNUSED, int64_t seq UNUSED, int64_t ordinal UNUSED, const struct accumulable *a UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static enum err_code record_text(void *context, int64_t id, struct str body, struct err *err UNUSED)
{
    struct recorder *self = context;
    assert_true(id > 0 && (size_t)id < ARRAY_LENGTH(self->texts));
    snprintf(self->texts[id], sizeof self->texts[id], "%.*s", (int)body.len, body.ptr);
    return ERR_OK;
}

static enum err_code record_progress(void *context UNUSED, const struct streaming_progress_row *row UNUSED, struct err *err UNUSED)
{
    return ERR_OK;
}

static enum err_code record_done(void *context, struct stage *stage UNUSED, struct err *err UNUSED)
{
    ((struct recorder *)context)->done_count++;
    return ERR_OK;
}

struct trace {
    struct recorder recorder;
    struct app_model *model;
    struct arena scratch;
    struct event_memory memory;
};

static void apply_json(struct trace *t, const char *json)
{
    size_t len = strlen(json);
    char *line = calloc(1, len + EVENT_LINE_PADDING);
    memcpy(line, json, len);
    struct event event;
    struct err err = {0};
    arena_reset(&t->scratch);
    enum err_code rc = event_decode((struct str){line, len}, &t->scratch, &t->memory, &event, &err);
    if (rc)
        fail_msg("%s: %s", err.message, json);
    assert_int_equal(app_model_apply(t->model, &event, &err), ERR_OK);
    free(line);
}

#define STAGE_JSON "{\"Stage ID\":%d,\"Stage Attempt ID\":%d,\"Stage Name\":\"s%d\",\"Number of Tasks\":%d,\"RDD Info\":[],\"Parent IDs\":[],\"Details\":\"d\""

static int tasks_of_stage[16];

static void apply_line(struct trace *t, const char *line)
{
    char json[4000], what[32], reason[64] = "", exec[16];
    int job, stage, attempt, id, index, n;
    long long at, launch, finish, run;
    if (sscanf(line, "EA %15s %lld", exec, &at) == 2)
        snprintf(json, sizeof json,
                 "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":%lld,\"Executor ID\":\"%s\",\"Executor Info\":{\"Host\":\"h%s\",\"Total Cores\":4,\"Log Urls\":{}}}", at,
                 exec, exec);
    else if (sscanf(line, "ER %15s %lld", exec, &at) == 2)
        snprintf(json, sizeof json, "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":%lld,\"Executor ID\":\"%s\",\"Removed Reason\":\"lost\"}", at, exec);
    else if (sscanf(line, "JS %d%n", &job, &n) == 1) {
        size_t len = (size_t)snprintf(json, sizeof json, "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":1100,\"Stage Infos\":[", job);
        const char *p = line + n, *comma = "";
        for (int tasks, used; sscanf(p, " %d:%d%n", &stage, &tasks, &used) == 2; p += used, comma = ",") {
            tasks_of_stage[stage] = tasks;
            len += (size_t)snprintf(json + len, sizeof json - len, "%s" STAGE_JSON "}", comma, stage, 0, stage, tasks);
        }
        snprintf(json + len, sizeof json - len, "],\"Stage IDs\":[],\"Properties\":{}}");
    } else if (sscanf(line, "JE %d %31s %lld", &job, what, &at) == 3)
        snprintf(json, sizeof json, "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion Time\":%lld,\"Job Result\":{\"Result\":\"%s\"}}", job, at,
                 strcmp(what, "ok") == 0 ? "JobSucceeded" : "JobFailed");
    else if (sscanf(line, "SS %d.%d %lld", &stage, &attempt, &at) == 3)
        snprintf(json, sizeof json, "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":" STAGE_JSON ",\"Submission Time\":%lld},\"Properties\":{}}", stage, attempt, stage,
                 tasks_of_stage[stage], at);
    else if (sscanf(line, "SC %d.%d %lld %63s", &stage, &attempt, &at, reason) >= 3)
        snprintf(json, sizeof json, "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":" STAGE_JSON ",\"Submission Time\":1150,\"Completion Time\":%lld%s%s%s}}", stage,
                 attempt, stage, tasks_of_stage[stage], at, reason[0] ? ",\"Failure Reason\":\"" : "", reason, reason[0] ? "\"" : "");
    else if (sscanf(line, "TS %d.%d %d %d %15s %lld %31s", &stage, &attempt, &id, &index, exec, &launch, what) >= 6)
        snprintf(
            json, sizeof json,
            "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":%d,\"Stage Attempt ID\":%d,\"Task Info\":{\"Task ID\":%d,\"Index\":%d,\"Attempt\":0,\"Launch Time\":%lld,\"Executor ID\":\"%s\","
            "\"Host\":\"h%s\",\"Locality\":\"ANY\",\"Speculative\":%s,\"Getting Result Time\":0,\"Finish Time\":0,\"Failed\":false,\"Killed\":false,\"Accumulables\":[]}}",
            stage, attempt, id, index, launch, exec, exec, strstr(line, " spec") ? "true" : "false");
    else if (sscanf(line, "TE %d.%d %d %d %15s %lld %lld %lld %63s", &stage, &attempt, &id, &index, exec, &launch, &finish, &run, reason) == 9) {
        char why[600], metrics[1200] = "";
        if (strcmp(reason, "ok") == 0)
            snprintf(why, sizeof why, "{\"Reason\":\"Success\"}");
        else if (strcmp(reason, "resub") == 0)
            snprintf(why, sizeof why, "{\"Reason\":\"Resubmitted\"}");
        else if (strncmp(reason, "kill:", 5) == 0)
            snprintf(why, sizeof why, "{\"Reason\":\"TaskKilled\",\"Kill Reason\":\"%s\"}", reason + 5);
        else if (strcmp(reason, "lost") == 0)
            snprintf(why, sizeof why, "{\"Reason\":\"ExecutorLostFailure\",\"Executor ID\":\"%s\",\"Exit Caused By App\":false,\"Loss Reason\":\"lost\"}", exec);
        else if (strcmp(reason, "fetch") == 0)
            snprintf(
                why, sizeof why,
                "{\"Reason\":\"FetchFailed\",\"Block Manager Address\":{\"Executor ID\":\"1\",\"Host\":\"h1\",\"Port\":7},\"Shuffle ID\":0,\"Map ID\":3,\"Map Index\":0,\"Reduce ID\":0,"
                "\"Message\":\"gone\"}");
        else
            snprintf(why, sizeof why,
                     "{\"Reason\":\"ExceptionFailure\",\"Class Name\":\"E\",\"Description\":\"d\",\"Stack Trace\":[],\"Full Stack Trace\":\"E: d\",\"Accumulator Updates\":[]}");
        if (run >= 0)
            snprintf(
                metrics, sizeof metrics,
                ",\"Task Metrics\":{\"Executor Deserialize Time\":1,\"Executor Run Time\":%lld,\"Result Size\":0,\"JVM GC Time\":0,\"Result Serialization Time\":0,\"Memory Bytes Spilled\":0,"
                "\"Disk Bytes Spilled\":0,\"Input Metrics\":{\"Bytes Read\":10,\"Records Read\":1}}",
                run);
        snprintf(
            json, sizeof json,
            "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt ID\":%d,\"Task Type\":\"ResultTask\",\"Task End Reason\":%s,\"Task Info\":{\"Task ID\":%d,\"Index\":%d,\"Attempt\":0,"
            "\"Launch Time\":%lld,\"Executor ID\":\"%s\",\"Host\":\"h%s\",\"Locality\":\"ANY\",\"Speculative\":%s,\"Getting Result Time\":0,\"Finish Time\":%lld,\"Failed\":%s,\"Killed\":%s,"
            "\"Accumulables\":[]}%s}",
            stage, attempt, why, id, index, launch, exec, exec, strstr(line, " spec") ? "true" : "false", finish,
            strcmp(reason, "fail") == 0 || strcmp(reason, "lost") == 0 || strcmp(reason, "fetch") == 0 ? "true" : "false", strncmp(reason, "kill:", 5) == 0 ? "true" : "false",
            metrics);
    } else {
        fail_msg("no such trace line: %s", line);
        return;
    }
    apply_json(t, json);
}

static struct trace *play(const char *const *lines, size_t count)
{
    struct trace *t = calloc(1, sizeof *t);
    t->model = app_model_new((struct row_sink){&t->recorder, record_task, record_accumulable, record_text, record_progress, record_done});
    assert_non_null(t->model);
    arena_init(&t->scratch, 1 << 20);
    for (size_t i = 0; i < count; i++)
        apply_line(t, lines[i]);
    return t;
}
#define PLAY(...) play((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void end(struct trace *t)
{
    app_model_free(t->model);
    arena_dispose(&t->scratch);
    free(t);
}

static const struct job *job_of(const struct trace *t, int64_t id)
{
    const struct job *job = imap_get(&t->model->job_by_id, id);
    assert_non_null(job);
    return job;
}

static const struct stage *stage_of(const struct trace *t, int64_t id, int64_t attempt)
{
    const struct stage *stage = model_stage_find(t->model, id, attempt);
    assert_non_null(stage);
    return stage;
}

static const struct executor *executor_of(const struct trace *t, const char *id)
{
    const struct executor *executor = model_executor_find(t->model, str_of(id));
    assert_non_null(executor);
    return executor;
}

static const struct executor_stage *summary_of(const struct trace *t, const struct stage *stage, const char *id)
{
    return imap_get(&stage->executors, executor_of(t, id)->id_serial);
}

/* §8.1 */
static void failed_job_whose_last_task_is_killed_after_its_end(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "JS 0 0:3", "SS 0.0 1150", "TS 0.0 0 0 1 1200", "TS 0.0 1 1 1 1200", "TS 0.0 2 2 1 1210", "TE 0.0 0 0 1 1200 1300 90 ok",
                           "TE 0.0 1 1 1 1200 1400 150 fail", "SC 0.0 1410 gone", "JE 0 failed 1420", "TE 0.0 2 2 1 1210 1500 200 kill:Stage_cancelled");
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->status, JOB_FAILED);
    assert_int_equal(job->num_tasks, 3);
    assert_int_equal(job->tasks.active, 0);
    assert_int_equal(job->tasks.completed, 1);
    assert_int_equal(job->tasks.failed, 1);
    assert_int_equal(job->tasks.killed, 1);
    assert_int_equal(job->completed_indices, 1);
    assert_int_equal(job->active_stages, 0);
    assert_int_equal(job->completed_stages, 0);
    assert_int_equal(job->failed_stages, 1);
    assert_int_equal(job->kills.count, 1);
    assert_int_equal(job->late.killed, 0);         /* this end was the stage's last one: the History Server writes the job once more */
    assert_int_equal(job->late.active, 0);
    assert_int_equal(job->late_kills.count, 0);
    assert_string_equal(t->recorder.texts[job->kills.entries[0].key], "Stage_cancelled");
    assert_int_equal((intptr_t)job->kills.entries[0].value, 1);
    const struct stage *stage = stage_of(t, 0, 0);
    assert_int_equal(t->recorder.done_count, 1);   /* with the last task's end, not before */
    assert_int_equal(stage->status, STAGE_FAILED);
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 440);
    assert_int_equal(summary_of(t, stage, "1")->task_time_ms, 590);
    const struct executor *executor = executor_of(t, "1");
    assert_int_equal(executor->failed_tasks, 1);
    assert_int_equal(executor->completed_tasks, 1);
    assert_int_equal(executor->total_tasks, 3);
    assert_int_equal(executor->total_duration_ms, 590);
    assert_int_equal(executor->active_tasks, 0);
    end(t);
}

/* The same with a fourth task that never ends: nothing of what comes behind the job's end is in the History Server's record (core.md §2.5). */
static void ends_behind_the_job_are_told_apart(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "JS 0 0:4", "SS 0.0 1150", "TS 0.0 0 0 1 1200", "TS 0.0 1 1 1 1200", "TS 0.0 2 2 1 1210", "TS 0.0 3 3 1 1210", "TE 0.0 0 0 1 1200 1300 90 fail",
                           "SC 0.0 1410 gone", "JE 0 failed 1420", "TE 0.0 1 1 1 1200 1450 150 ok", "TE 0.0 2 2 1 1210 1500 200 kill:Stage_cancelled");
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->tasks.active, 1);
    assert_int_equal(job->tasks.completed, 1);
    assert_int_equal(job->tasks.failed, 1);
    assert_int_equal(job->tasks.killed, 1);
    assert_int_equal(job->completed_indices, 1);
    assert_int_equal(job->late.active, -2);
    assert_int_equal(job->late.completed, 1);
    assert_int_equal(job->late.failed, 0);
    assert_int_equal(job->late.killed, 1);
    assert_int_equal(job->late_indices, 1);
    assert_int_equal(job->late_kills.count, 1);
    assert_int_equal((intptr_t)job->late_kills.entries[0].value, 1);
    end(t);
}

/* §8.2 */
static void speculative_copy_wins(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "EA 2 1000", "JS 0 0:2", "SS 0.0 1150", "TS 0.0 0 0 1 1200", "TS 0.0 1 1 1 1200", "TE 0.0 0 0 1 1200 1300 90 ok", "TS 0.0 2 1 2 1400 spec",
                           "TE 0.0 2 1 2 1400 1500 80 ok spec", "SC 0.0 1501", "JE 0 ok 1502", "TE 0.0 1 1 1 1200 1510 300 kill:another");
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->status, JOB_SUCCEEDED);
    assert_int_equal(job->tasks.completed, 2);
    assert_int_equal(job->completed_indices, 2);
    assert_int_equal(job->tasks.killed, 1);
    const struct stage *stage = stage_of(t, 0, 0);
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 470);
    assert_int_equal(stage->speculative_tasks, 1);
    assert_int_equal(stage->speculative.active, 0);
    assert_int_equal(stage->speculative.completed, 1);
    assert_int_equal(executor_of(t, "1")->completed_tasks, 1);
    assert_int_equal(executor_of(t, "1")->total_tasks, 2);
    assert_int_equal(executor_of(t, "1")->total_duration_ms, 410);
    end(t);
}

/* §8.3, with spec/shs-4.3.md: the resubmitted end adds no time */
static void executor_lost_and_map_output_resubmitted(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "EA 2 1000", "JS 0 0:2", "SS 0.0 1150", "TS 0.0 0 0 1 1200", "TS 0.0 1 1 1 1200", "TE 0.0 0 0 1 1200 1300 90 ok", "ER 1 1350",
                           "TE 0.0 1 1 1 1200 1350 -1 lost", "TE 0.0 0 0 1 1200 1300 90 resub", "TS 0.0 2 0 2 1400", "TS 0.0 3 1 2 1400", "TE 0.0 2 0 2 1400 1500 70 ok",
                           "TE 0.0 3 1 2 1400 1520 60 ok", "SC 0.0 1530", "JE 0 ok 1540");
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->tasks.completed, 3);
    assert_int_equal(job->completed_indices, 2);
    assert_int_equal(job->tasks.failed, 2);
    assert_int_equal(job->tasks.active, 0);
    const struct stage *stage = stage_of(t, 0, 0);
    assert_int_equal(stage->tasks.completed, 3);
    assert_int_equal(stage->tasks.failed, 2);
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 220);
    const struct executor_stage *summary = summary_of(t, stage, "1");
    assert_int_equal(summary->task_time_ms, 250);
    assert_int_equal(summary->succeeded_tasks, 1);
    assert_int_equal(summary->failed_tasks, 2);
    const struct executor *executor = executor_of(t, "1");
    assert_int_equal(executor->active, 0);
    assert_int_equal(executor->active_tasks, 1);
    assert_int_equal(executor->failed_tasks, 0);
    assert_int_equal(executor->completed_tasks, 1);
    assert_int_equal(executor->total_tasks, 2);
    assert_int_equal(executor->total_duration_ms, 100);
    assert_int_equal(executor->total_input_bytes, 10);
    assert_int_equal(t->recorder.row_count, 4);
    assert_int_equal(t->recorder.rows[0].status, TASK_SUCCESS);
    assert_string_equal(t->recorder.texts[t->recorder.rows[1].error_text_id], "ExecutorLostFailure (executor 1 exited unrelated to the running tasks) Reason: lost");
    end(t);
}

/* §8.4 */
static void stage_never_submitted_is_skipped(void **state UNUSED)
{
    struct trace *t = PLAY("JS 0 0:4 1:2", "SS 1.0 1150", "SC 1.0 1200", "JE 0 ok 1210");
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->num_tasks, 6);
    assert_int_equal(job->skipped_tasks, 4);
    assert_int_equal(job->skipped_stages, 1);
    assert_int_equal(job->completed_stages, 1);
    assert_int_equal(stage_of(t, 0, 0)->status, STAGE_SKIPPED);
    assert_int_equal(stage_of(t, 1, 0)->status, STAGE_COMPLETE);
    end(t);
}

/* §8.5 */
static void fetch_failure_and_stage_retry(void **state UNUSED)
{
    struct trace *t = PLAY("JS 0 0:1 1:1", "SS 0.0 1150", "TS 0.0 0 0 1 1200", "TE 0.0 0 0 1 1200 1300 90 ok", "SC 0.0 1310", "SS 1.0 1320", "TS 1.0 1 0 2 1330",
                           "TE 1.0 1 0 2 1330 1340 5 fetch", "SC 1.0 1350 FetchFailed", "SS 0.1 1360", "TS 0.1 2 0 2 1370", "TE 0.1 2 0 2 1370 1380 9 ok", "SC 0.1 1390",
                           "SS 1.1 1400", "TS 1.1 3 0 2 1410", "TE 1.1 3 0 2 1410 1420 9 ok", "SC 1.1 1430", "JE 0 ok 1440");
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->num_tasks, 2);
    assert_int_equal(job->tasks.completed, 3);
    assert_int_equal(job->completed_indices, 2);
    assert_int_equal(job->tasks.failed, 1);
    assert_int_equal(job->completed_stages, 2);
    assert_int_equal(job->failed_stages, 1);
    assert_int_equal(job->active_stages, 0);
    assert_int_equal(stage_of(t, 0, 0)->status, STAGE_COMPLETE);
    assert_int_equal(stage_of(t, 0, 1)->status, STAGE_COMPLETE);
    assert_int_equal(stage_of(t, 1, 0)->status, STAGE_FAILED);
    assert_int_equal(stage_of(t, 1, 1)->status, STAGE_COMPLETE);
    assert_string_equal(t->recorder.texts[t->recorder.rows[1].error_text_id],
                        "FetchFailed(BlockManagerId(1, h1, 7, None), shuffleId=0, mapIndex=0, mapId=3, reduceId=0, message=\ngone\n)");
    end(t);
}

static void check_totals(const struct trace *t)
{
    const struct job *job = job_of(t, 0);
    assert_int_equal(job->status, JOB_SUCCEEDED);
    assert_int_equal(job->num_tasks, 5);
    assert_int_equal(job->tasks.active, 0);
    assert_int_equal(job->tasks.completed, 2);
    assert_int_equal(job->tasks.failed, 1);
    assert_int_equal(job->completed_indices, 2);
    assert_int_equal(job->skipped_tasks, 3);
    assert_int_equal(job->skipped_stages, 1);
    assert_int_equal(job->completed_stages, 1);
    assert_int_equal(job->active_stages, 0);
    const struct stage *stage = stage_of(t, 1, 0);
    assert_int_equal(stage->status, STAGE_COMPLETE);
    assert_int_equal(stage->tasks.completed, 2);
    assert_int_equal(stage->tasks.failed, 1);
    assert_int_equal(stage->tasks.active, 0);
    assert_int_equal(stage->metrics[METRIC_EXECUTOR_RUN_TIME], 210);
    assert_int_equal(stage->locality[LOCALITY_ANY], 3);
    assert_int_equal(stage->first_task_launch_ms, 1200);
    assert_int_equal(t->model->task_end_count, 3);
}

/* Every rotation and the reverse of a log gives the same totals: pain.md's order-independence. */
static void order_of_events_does_not_change_totals(void **state UNUSED)
{
    static const char *const lines[] = {"EA 1 1000",
                                        "JS 0 0:3 1:2",
                                        "SS 1.0 1150",
                                        "TS 1.0 0 0 1 1200",
                                        "TS 1.0 1 1 1 1200",
                                        "TE 1.0 0 0 1 1200 1300 90 ok",
                                        "TE 1.0 1 1 1 1200 1310 50 fail",
                                        "TS 1.0 2 1 1 1320",
                                        "TE 1.0 2 1 1 1320 1400 70 ok",
                                        "SC 1.0 1410",
                                        "JE 0 ok 1420"};
    enum { COUNT = ARRAY_LENGTH(lines) };
    for (size_t shift = 0; shift < COUNT; shift++)
        for (int reverse = 0; reverse < 2; reverse++) {
            const char *turned[COUNT];
            tasks_of_stage[0] = 3;
            tasks_of_stage[1] = 2;
            for (size_t i = 0; i < COUNT; i++)
                turned[reverse ? COUNT - 1 - i : i] = lines[(i + shift) % COUNT];
            struct trace *t = play(turned, COUNT);
            check_totals(t);
            end(t);
        }
}

static void a_line_read_twice_counts_once(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "JS 0 0:3 1:2", "JS 0 0:3 1:2", "SS 1.0 1150", "TS 1.0 0 0 1 1200", "TS 1.0 0 0 1 1200", "TS 1.0 1 1 1 1200",
                           "TE 1.0 0 0 1 1200 1300 90 ok", "TE 1.0 0 0 1 1200 1300 90 ok", "TE 1.0 1 1 1 1200 1310 50 fail", "TS 1.0 2 1 1 1320", "TE 1.0 2 1 1 1320 1400 70 ok",
                           "SC 1.0 1410", "SC 1.0 1410", "JE 0 ok 1420", "JE 0 ok 1420");
    check_totals(t);
    assert_int_equal(t->model->health.duplicate_event_count, 5);
    end(t);
}

static void task_without_an_end_is_a_row_at_the_end_and_again_when_the_log_goes_on(void **state UNUSED)
{
    struct trace *t = PLAY("JS 0 0:2", "SS 0.0 1150", "TS 0.0 0 0 1 1200", "TS 0.0 1 1 1 1200", "TE 0.0 0 0 1 1200 1300 90 ok");
    struct err err;
    assert_int_equal(app_model_finish(t->model, &err), ERR_OK);
    assert_int_equal(t->recorder.row_count, 2);
    assert_int_equal(t->recorder.rows[1].status, TASK_NO_END);
    assert_int_equal(t->recorder.rows[1].task_seq, 2);
    assert_int_equal(t->recorder.rows[1].finish_ms, UNKNOWN);
    assert_int_equal(t->model->health.tasks_without_end, 1);
    assert_int_equal(stage_of(t, 0, 0)->task_rows, 2);
    apply_line(t, "TE 0.0 1 1 1 1200 1310 50 ok");
    assert_int_equal(app_model_finish(t->model, &err), ERR_OK);
    assert_int_equal(t->recorder.row_count, 3);
    assert_int_equal(t->recorder.rows[2].task_seq, 2);
    assert_int_equal(t->recorder.rows[2].status, TASK_SUCCESS);
    assert_int_equal(t->model->health.tasks_without_end, 0);
    assert_int_equal(stage_of(t, 0, 0)->task_rows, 2);
    end(t);
}

#define RDD_5(parents, scope)                                                                             \
    "{\"RDD ID\":5,\"Name\":\"r\",\"Scope\":\"" scope "\",\"Parent IDs\":" parents                        \
    ",\"Storage Level\":{\"Use Disk\":true,\"Use Memory\":true,\"Deserialized\":true,\"Replication\":1}," \
    "\"Number of Partitions\":2}"
#define SUBMIT(stage, rdd) \
    "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":" stage ",\"Stage Name\":\"s\",\"Number of Tasks\":2,\"RDD Info\":[" rdd "],\"Submission Time\":1150}}"

static const struct rdd *rdd_5(const struct trace *t)
{
    const struct rdd *rdd = imap_get(&t->model->rdd_by_id, 5);
    assert_non_null(rdd);
    return rdd;
}

static void block(struct trace *t, const char *executor, const char *level, int memory, int disk)
{
    char json[600];
    snprintf(json, sizeof json,
             "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager ID\":{\"Executor ID\":\"%s\",\"Host\":\"h\",\"Port\":7},\"Block ID\":\"rdd_5_0\","
             "\"Storage Level\":{%s},\"Memory Size\":%d,\"Disk Size\":%d}}",
             executor, level, memory, disk);
    apply_json(t, json);
}

static void check_executor(struct trace *t, const char *id, int memory, int disk, int on_heap, int blocks)
{
    const struct executor *executor = model_executor_find(t->model, str_of(id));
    assert_non_null(executor);
    assert_int_equal(executor->memory_used_bytes, memory);
    assert_int_equal(executor->disk_used_bytes, disk);
    assert_int_equal(executor->on_heap_used_bytes, on_heap);
    assert_int_equal(executor->rdd_blocks, blocks);
}

static void check_partition(const struct trace *t, size_t holders, int memory, int disk)
{
    const struct rdd *rdd = rdd_5(t);
    assert_int_equal(rdd->block_count, 1);
    assert_int_equal(rdd->blocks[0].holder_count, holders);
    assert_int_equal(rdd->blocks[0].memory_bytes, memory);
    assert_int_equal(rdd->blocks[0].disk_bytes, disk);
    assert_int_equal(rdd->memory_used_bytes, memory);
    assert_int_equal(rdd->disk_used_bytes, disk);
}

/* §8.7 */
static void blocks_come_move_to_disk_and_go(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "EA 2 1000", "JS 0 0:2");
    static const char *const ids[] = {"1", "2"};
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++) {
        char json[300];
        snprintf(json, sizeof json,
                 "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"%s\",\"Host\":\"h\",\"Port\":7},\"Maximum Memory\":1000,"
                 "\"Maximum Onheap Memory\":800,\"Maximum Offheap Memory\":200}",
                 ids[i]);
        apply_json(t, json);
    }
    apply_json(t, SUBMIT("0", RDD_5("[]", "")));
    static const char in_memory[] = "\"Use Memory\":true,\"Use Disk\":false,\"Deserialized\":true,\"Replication\":1";
    block(t, "1", in_memory, 100, 0);
    check_executor(t, "1", 100, 0, 100, 1);
    check_partition(t, 1, 100, 0);
    block(t, "2", in_memory, 100, 0);
    check_executor(t, "1", 100, 0, 100, 1);
    check_partition(t, 2, 200, 0);
    block(t, "1", "\"Use Memory\":false,\"Use Disk\":true,\"Deserialized\":false,\"Replication\":1", 100, 60);
    check_executor(t, "1", 0, 60, 0, 1);
    check_partition(t, 2, 100, 60);
    assert_int_equal(rdd_5(t)->distributions[0].memory_remaining_bytes, 1000);
    assert_int_equal(rdd_5(t)->distributions[1].on_heap_remaining_bytes, 700);
    block(t, "1", "\"Use Memory\":false,\"Use Disk\":false,\"Deserialized\":false,\"Replication\":1", 0, 60);
    check_executor(t, "1", 0, 0, 0, 0);
    check_partition(t, 1, 100, 0);
    assert_false(rdd_5(t)->distributions[0].live);
    apply_json(t, "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":5}");
    check_executor(t, "2", 0, 0, 0, 0);
    assert_int_equal(rdd_5(t)->tracked, 0);
    end(t);
}

/* What caches held over time (findings.md 10.2). Block updates have no time of their own; that of the latest event stands for it. Blocks: 0 at 1150 (100 bytes, then 40 more on a disk at
 * 1250), 1 at 1250 and gone again at 1450; unpersisted at 1650: 100 × 100 + (140 + 50) × 200 + 140 × 200 = 76,000 byte·ms. */
static void caches_are_counted_over_time(void **state UNUSED)
{
    static const char in_memory[] = "\"Use Memory\":true,\"Use Disk\":false,\"Deserialized\":true,\"Replication\":1", nowhere[] = "\"Use Memory\":false,\"Use Disk\":false,\"Replication\":1";
    const int64_t epoch = INT64_C(1700000000000);      /* earlier times are none */
    static const struct {
        int64_t time_ms;
        int partition;
        const char *level;
        int memory, disk;
    } updates[] = {{1150, 0, in_memory, 100, 0}, {1250, 0, "\"Use Memory\":true,\"Use Disk\":true,\"Deserialized\":true,\"Replication\":1", 0, 40}, {1250, 1, in_memory, 50, 0}, {1450, 1, nowhere, 50, 0}};
    struct trace *t = PLAY("EA 1 1000", "JS 0 0:2");
    apply_json(t, SUBMIT("0", RDD_5("[]", "")));
    for (size_t i = 0; i < ARRAY_LENGTH(updates); i++) {
        char json[600];
        model_time(t->model, epoch + updates[i].time_ms);
        snprintf(json, sizeof json,
                 "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager ID\":{\"Executor ID\":\"1\",\"Host\":\"h\",\"Port\":7},\"Block ID\":\"rdd_5_%d\","
                 "\"Storage Level\":{%s},\"Memory Size\":%d,\"Disk Size\":%d}}",
                 updates[i].partition, updates[i].level, updates[i].memory, updates[i].disk);
        apply_json(t, json);
    }
    model_time(t->model, epoch + 1650);
    assert_int_equal(rdd_5(t)->live_partitions, 1);
    assert_int_equal(rdd_5(t)->most_partitions, 2);
    assert_int_equal(rdd_5(t)->evicted_partitions, 1);
    apply_json(t, "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":5}");
    assert_int_equal(rdd_5(t)->unpersist_ms, epoch + 1650);
    assert_int_equal(rdd_5(t)->live_partitions, 0);
    assert_int_equal(rdd_5(t)->most_memory_bytes, 150);
    assert_int_equal(rdd_5(t)->most_disk_bytes, 40);
    assert_true(rdd_5(t)->held_byte_ms == 76000);
    end(t);
}

/* §2.9: an unpersist gives back what the distribution holds of the part that the RDD's level names, and all of its memory and disk. Blocks of an off-heap RDD that were
 * reported off the heap: 250 (another RDD, which stays) and 100; on the heap: 50. */
static void an_unpersist_gives_back_the_part_of_the_level(void **state UNUSED)
{
    static const char off_heap[] = "\"Use Memory\":true,\"Use Disk\":false,\"Use Off Heap\":true,\"Deserialized\":false,\"Replication\":1";
    static const char on_heap[] = "\"Use Memory\":true,\"Use Disk\":false,\"Use Off Heap\":false,\"Deserialized\":false,\"Replication\":1";
    struct trace *t = PLAY("EA 1 1000", "JS 0 0:2");
    apply_json(t, "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"1\",\"Host\":\"h\",\"Port\":7},\"Maximum Memory\":1000,"
                  "\"Maximum Onheap Memory\":500,\"Maximum Offheap Memory\":500}");
    apply_json(t, "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":2,\"RDD Info\":["
                  "{\"RDD ID\":5,\"Name\":\"r\",\"Parent IDs\":[],\"Storage Level\":{\"Use Disk\":false,\"Use Memory\":true,\"Use Off Heap\":true,\"Deserialized\":false,"
                  "\"Replication\":1},\"Number of Partitions\":2}],\"Submission Time\":1150}}");
    apply_json(t, "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager ID\":{\"Executor ID\":\"1\",\"Host\":\"h\",\"Port\":7},\"Block ID\":\"rdd_6_0\","
                  "\"Storage Level\":{\"Use Memory\":true,\"Use Disk\":false,\"Use Off Heap\":true,\"Deserialized\":false,\"Replication\":1},\"Memory Size\":250,\"Disk Size\":0}}");
    block(t, "1", off_heap, 100, 0);
    block(t, "1", on_heap, 50, 0);
    const struct executor *executor = model_executor_find(t->model, STR_LIT("1"));
    check_executor(t, "1", 400, 0, 50, 1);
    assert_int_equal(executor->off_heap_used_bytes, 350);
    apply_json(t, "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":5}");
    check_executor(t, "1", 250, 0, 50, 0);
    assert_int_equal(executor->off_heap_used_bytes, 250);
    end(t);
}

/* A checkpoint gives an RDD another parent and leaves all else as it was. */
static void an_rdd_is_as_it_was_described_last(void **state UNUSED)
{
    struct trace *t = PLAY("JS 0 0:2 1:2");
    apply_json(t, SUBMIT("0", RDD_5("[3,4]", "{\\\"id\\\":\\\"1\\\",\\\"name\\\":\\\"map\\\"}")));
    apply_json(t, SUBMIT("1", RDD_5("[9]", "{\\\"id\\\":\\\"1\\\",\\\"name\\\":\\\"map\\\"}")));
    assert_int_equal(rdd_5(t)->parents.count, 1);
    assert_int_equal(rdd_5(t)->parents.items[0], 9);
    assert_true(str_is(rdd_5(t)->scope_id, "1"));
    end(t);
}

/* Longer lists of stages have an index; an id that is listed twice is one stage. */
static void a_job_of_a_hundred_stages_counts_each(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000");
    char json[16000];
    size_t len = (size_t)snprintf(json, sizeof json, "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":1100,\"Stage Infos\":[");
    for (int i = 0; i <= 100; i++)
        len += (size_t)snprintf(json + len, sizeof json - len, "%s" STAGE_JSON "}", i ? "," : "", i % 100, 0, i % 100, 1);
    snprintf(json + len, sizeof json - len, "],\"Properties\":{}}");
    apply_json(t, json);
    static const char *const lines[] = {"SS 0.0 1150", "TS 0.0 1 0 1 1200", "TE 0.0 1 0 1 1200 1300 50 ok", "SC 0.0 1400", "SS 99.0 1150", "TS 99.0 2 0 1 1200",
                                        "TE 99.0 2 0 1 1200 1300 50 kill:b", "JE 0 ok 1500"};
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        if (strncmp(lines[i], "SS 99", 5) == 0)
            apply_json(
                t,
                "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":99,\"Stage Attempt ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":1,\"Submission Time\":1150}}");
        else
            apply_line(t, lines[i]);
    const struct job *job = imap_get(&t->model->job_by_id, 0);
    assert_non_null(job);
    assert_int_equal(job->stage_count, 101);
    assert_int_equal(job->completed_stages, 1);
    assert_int_equal(job->completed_indices, 1);
    assert_int_equal(job->tasks.killed, 1);
    assert_int_equal(job->skipped_stages, 98);
    end(t);
}

static void a_stream_block_is_one_row_for_each_executor(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "EA 2 1000");
    static const char *const executors[] = {"1", "2", "1"};
    for (size_t i = 0; i < ARRAY_LENGTH(executors); i++) {
        char json[400];
        snprintf(
            json, sizeof json,
            "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager ID\":{\"Executor ID\":\"%s\",\"Host\":\"h\",\"Port\":7},\"Block ID\":\"input-0-1\","
            "\"Storage Level\":{\"Use Memory\":true,\"Replication\":2},\"Memory Size\":%d,\"Disk Size\":0}}",
            executors[i], 10 + (int)i);
        apply_json(t, json);
    }
    assert_int_equal(t->model->stream_blocks.count, 2);
    assert_int_equal(((const struct stream_block *)t->model->stream_blocks.items[0])->memory_bytes, 12);
    assert_int_equal(((const struct stream_block *)t->model->stream_blocks.items[1])->memory_bytes, 11);
    end(t);
}

#define STAGE_PEAKS(executor, heap) \
    "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"" executor "\",\"Stage ID\":0,\"Stage Attempt ID\":0," \
    "\"Executor Metrics\":{\"JVMHeapMemory\":" #heap ",\"JVMOffHeapMemory\":0}}"
#define DRIVER_PEAKS(heap) \
    "{\"Event\":\"SparkListenerExecutorMetricsUpdate\",\"Executor ID\":\"driver\",\"Metrics Updated\":[],\"Executor Metrics Updated\":[{\"Stage ID\":0," \
    "\"Stage Attempt ID\":0,\"Executor Metrics\":{\"JVMHeapMemory\":" #heap ",\"JVMOffHeapMemory\":0}}]}"

static const struct stage *only_stage(const struct trace *t)
{
    const struct stage *stage = model_stage_find(t->model, 0, 0);
    assert_non_null(stage);
    return stage;
}

/* As a History Server 4.3 answers about a local application with spark.eventLog.logStageExecutorMetrics. */
static void a_heartbeat_behind_the_end_of_a_stage_raises_no_peak_of_it(void **state UNUSED)
{
    struct trace *t = PLAY("EA driver 1000", "JS 0 0:1", "SS 0.0 1150", "TS 0.0 1 0 driver 1200", "TE 0.0 1 0 driver 1200 1300 50 ok");
    apply_json(t, DRIVER_PEAKS(5));
    apply_json(t, STAGE_PEAKS("driver", 7));
    assert_int_equal(only_stage(t)->peaks[PEAK_JVM_HEAP_MEMORY], 7);
    apply_line(t, "SC 0.0 1400");
    apply_json(t, DRIVER_PEAKS(9));
    assert_int_equal(only_stage(t)->peaks[PEAK_JVM_HEAP_MEMORY], 7);
    end(t);
}

/* Likewise about executors of a cluster that were killed. */
static void an_executor_that_was_lost_before_it_measured_has_no_peaks(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "JS 0 0:1", "SS 0.0 1150");
    apply_json(t, STAGE_PEAKS("1", -1));
    const struct executor_stage *summary = imap_get(&only_stage(t)->executors, model_executor_get(t->model, STR_LIT("1"))->id_serial);
    assert_non_null(summary);
    assert_int_equal(summary->peaks_set, 0);
    assert_int_equal(only_stage(t)->peaks_set, 0);
    assert_int_equal(model_executor_get(t->model, STR_LIT("1"))->peaks_set, 0);
    apply_json(t, STAGE_PEAKS("1", 0));
    assert_int_equal(summary->peaks_set, 1);
    end(t);
}

static void an_executor_that_went_while_excluded_stays_so(void **state UNUSED)
{
    struct trace *t = PLAY("EA 1 1000", "EA 2 1000", "JS 0 0:1", "SS 0.0 1150");
    static const char *const excluded[] = {"1", "2"};
    for (size_t i = 0; i < ARRAY_LENGTH(excluded); i++) {
        char json[300];
        snprintf(json, sizeof json,
                 "{\"Event\":\"org.apache.spark.scheduler.SparkListenerExecutorExcludedForStage\",\"time\":1160,\"executorId\":\"%s\",\"taskFailures\":1,\"stageId\":0,"
                 "\"stageAttemptId\":0}",
                 excluded[i]);
        apply_json(t, json);
    }
    const struct executor *gone = model_executor_get(t->model, STR_LIT("1")), *there = model_executor_get(t->model, STR_LIT("2"));
    apply_line(t, "ER 1 1200");
    apply_line(t, "SC 0.0 1400");
    assert_int_equal(gone->excluded_count, 1);
    assert_int_equal(there->excluded_count, 0);
    end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_job_whose_last_task_is_killed_after_its_end),
        cmocka_unit_test(ends_behind_the_job_are_told_apart),
        cmocka_unit_test(speculative_copy_wins),
        cmocka_unit_test(executor_lost_and_map_output_resubmitted),
        cmocka_unit_test(stage_never_submitted_is_skipped),
        cmocka_unit_test(fetch_failure_and_stage_retry),
        cmocka_unit_test(blocks_come_move_to_disk_and_go),
        cmocka_unit_test(caches_are_counted_over_time),
        cmocka_unit_test(an_unpersist_gives_back_the_part_of_the_level),
        cmocka_unit_test(an_rdd_is_as_it_was_described_last),
        cmocka_unit_test(order_of_events_does_not_change_totals),
        cmocka_unit_test(a_line_read_twice_counts_once),
        cmocka_unit_test(task_without_an_end_is_a_row_at_the_end_and_again_when_the_log_goes_on),
        cmocka_unit_test(a_job_of_a_hundred_stages_counts_each),
        cmocka_unit_test(a_stream_block_is_one_row_for_each_executor),
        cmocka_unit_test(a_heartbeat_behind_the_end_of_a_stage_raises_no_peak_of_it),
        cmocka_unit_test(an_executor_that_was_lost_before_it_measured_has_no_peaks),
        cmocka_unit_test(an_executor_that_went_while_excluded_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
