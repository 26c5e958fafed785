/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks: spec/core.md §2.7. A task is a row the moment its end is read; a start without an end waits here. */
#include <string.h>

#include "base/mem.h"
#include "ingest/model/app_model.h"
#include "ingest/model/sql.h"

struct pending_task {
    struct pending_task *next;       /* another stage's task of the same id (damaged or mixed logs) */
    struct stage *stage;
    struct executor *executor;
    struct host *host;
    struct task_info info;           /* its texts are not kept */
    bool counted;                    /* in its stage. Not one that a stage starts when it is over (Spark logs so what it cancels): its end, if it comes, says all of it */
    bool has_reported;
    int64_t *reported;               /* then: what it has done so far, as counted in its stage; kept for the next task. Owned */
};

static struct pending_task *pending_take(struct app_model *self, const struct stage *stage, int64_t task_id)
{
    struct pending_task *head = imap_get(&self->pending, task_id);
    struct pending_task *before = NULL;
    for (struct pending_task *p = head; p; before = p, p = p->next) {
        if (p->stage != stage)
            continue;
        if (before)
            before->next = p->next;
        else if (!p->next)
            imap_remove(&self->pending, task_id);
        else if (imap_put(&self->pending, task_id, p->next))
            return NULL;   /* replaces: cannot fail */
        return p;
    }
    return NULL;
}

static void pending_give_back(struct app_model *self, struct pending_task *p)
{
    p->next = self->spare;
    self->spare = p;
}

static struct pending_task *pending_new(struct app_model *self)
{
    struct pending_task *p = self->spare;
    if (!p)
        return mem_zalloc(sizeof *p);
    self->spare = p->next;
    p->executor = NULL;
    p->host = NULL;
    p->has_reported = false;
    return p;
}

static void pending_free(struct pending_task *p)
{
    mem_free(p->reported);
    mem_free(p);
}

void model_pending_free(struct app_model *self)
{
    while (self->spare) {
        struct pending_task *next = self->spare->next;
        pending_free(self->spare);
        self->spare = next;
    }
    for (size_t i = 0; i < self->pending.count; i++) {
        struct pending_task *p = self->pending.entries[i].value;
        while (p) {
            struct pending_task *next = p->next;
            pending_free(p);
            p = next;
        }
    }
}

/* What a start says, counted once, from the start or else from the end. */
static void count_start(struct app_model *self, struct stage *stage, const struct task_info *info)
{
    model_time(self, info->launch_ms);
    stage->first_task_launch_ms = min_known(stage->first_task_launch_ms, info->launch_ms);
    if (known(info->locality))
        stage->locality[info->locality]++;
    if (info->speculative)
        stage->speculative_tasks++;
    stage->dirty = true;
}

static void add_active(struct stage *stage, int64_t change)
{
    stage->tasks.active += change;
    for (size_t i = 0; i < stage->job_count; i++) {
        stage->jobs[i]->tasks.active += change;
        if (model_job_has_ended(stage->jobs[i]))
            stage->jobs[i]->late.active += change;
        stage->jobs[i]->dirty = true;
    }
    if (!stage->job_count)
        stage->unattributed.active += change;
}

struct executor_stage *model_executor_stage(struct app_model *self UNUSED, struct stage *stage, struct executor *executor)
{
    struct executor_stage *summary = imap_get(&stage->executors, executor->id_serial);
    if (!summary) {
        summary = mem_zalloc(sizeof *summary);
        if (!summary)
            return NULL;
        for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
            summary->metrics[i] = UNKNOWN;
        for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++)
            summary->peaks[i] = UNKNOWN;
        if (imap_put(&stage->executors, executor->id_serial, summary)) {
            mem_free(summary);
            return NULL;
        }
    }
    summary->executor = executor;
    stage->executors_dirty = true;
    return summary;
}

enum err_code model_task_start(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_task_start *e = &event->task_start;
    struct stage *stage = model_stage_get(self, e->stage_id, e->stage_attempt);
    unsigned before;
    if (!stage || id_flags_add(&stage->ids, e->info.id, TASK_ID_STARTED, &before) < 0)
        return err_nomem(err);
    if (before & TASK_ID_STARTED) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    if (before & TASK_ID_ENDED)
        return ERR_OK;   /* the end came first and said all of this */
    bool counted = !stage->completed_seen || stage->tasks.active > 0;
    if (counted)
        count_start(self, stage, &e->info);
    model_stage_unskip(self, stage);
    struct pending_task *p = pending_new(self);
    if (!p)
        return err_nomem(err);
    p->next = imap_get(&self->pending, e->info.id);
    p->stage = stage;
    p->counted = counted;
    p->info = e->info;
    if (str_known(e->info.executor_id) && !(p->executor = model_executor_get(self, e->info.executor_id)))
        goto nomem;
    if (str_known(e->info.host) && !(p->host = model_host_get(self, e->info.host)))
        goto nomem;
    p->info.executor_id = p->info.host = STR_NONE;
    if (imap_put(&self->pending, e->info.id, p))
        goto nomem;
    if (counted)
        add_active(stage, 1);
    if (counted && e->info.speculative)
        stage->speculative.active++;
    if (p->executor && p->executor->active) {
        p->executor->active_tasks++;
        p->executor->total_tasks++;
        p->executor->dirty = true;
    }
    return ERR_OK;
nomem:
    pending_give_back(self, p);
    return err_nomem(err);
}

/* Adds one to the counter that the reason belongs to (spec/core.md §2.7 step 2). */
static void count_end(struct task_counts *counts, enum end_reason reason)
{
    switch (reason) {
    case END_SUCCESS:
        counts->completed++;
        break;
    case END_KILLED:
    case END_COMMIT_DENIED:
        counts->killed++;
        break;
    default:
        counts->failed++;
    }
}

static enum err_code count_in_jobs(struct stage *stage, const struct event_task_end *e, int64_t reason_text_id, struct err *err)
{
    if (e->reason == END_SUCCESS) {
        int added = bit_set_add(&stage->indices, e->info.index);
        if (added < 0)
            return err_nomem(err);
        stage->completed_indices += added;
    }
    if (known(reason_text_id)) {
        enum err_code rc = kill_counts_add(&stage->kills, reason_text_id, err);
        if (rc)
            return rc;
        stage->lists_dirty = true;
    }
    if (!stage->job_count)
        count_end(&stage->unattributed, e->reason);
    for (size_t i = 0; i < stage->job_count; i++) {
        struct job *job = stage->jobs[i];
        job->dirty = true;
        count_end(&job->tasks, e->reason);
        if (model_job_has_ended(job))
            count_end(&job->late, e->reason);
        struct job_stage *listed = e->reason == END_SUCCESS ? job_stage_find(job, stage->stage_id) : NULL;
        if (listed) {
            int added = bit_set_add(&listed->indices, e->info.index);
            if (added < 0)
                return err_nomem(err);
            job->completed_indices += added;
            job->late_indices += model_job_has_ended(job) ? added : 0;
        }
        if (known(reason_text_id)) {
            enum err_code rc = kill_counts_add(&job->kills, reason_text_id, err);
            if (rc == ERR_OK && model_job_has_ended(job))
                rc = kill_counts_add(&job->late_kills, reason_text_id, err);
            if (rc)
                return rc;
            job->lists_dirty = true;
        }
    }
    return ERR_OK;
}

/* The last end of a stage that is over: the History Server writes the stage's jobs once more, with all that was counted since their ends. */
static void catch_up_jobs(struct stage *stage)
{
    if (stage->tasks.active != 0 || !stage->completed_seen)
        return;
    for (size_t i = 0; i < stage->job_count; i++) {
        struct job *job = stage->jobs[i];
        job->late = (struct task_counts){0};
        job->late_indices = job->late_active_stages = job->late_completed_stages = job->late_failed_stages = 0;
        if (job->late_kills.count)
            job->lists_dirty = true;
        imap_clear(&job->late_kills);
    }
}

/* The second end of a task whose output was lost with its executor: counts as a failure, changes no task (spec/shs-4.3.md: adds no time). */
static enum err_code resubmitted(struct app_model *self, struct stage *stage, struct executor *executor, const struct event_task_end *e, struct err *err)
{
    stage->tasks.failed++;
    stage->dirty = true;
    enum err_code rc = count_in_jobs(stage, e, UNKNOWN, err);
    if (rc)
        return rc;
    catch_up_jobs(stage);
    if (e->info.speculative)
        stage->speculative.failed++;
    if (!executor)
        return ERR_OK;
    struct executor_stage *summary = model_executor_stage(self, stage, executor);
    if (!summary)
        return err_nomem(err);
    summary->failed_tasks++;
    if (executor->active) {
        executor->failed_tasks++;
        executor->dirty = true;
    }
    return ERR_OK;
}

static const enum task_metric executor_work_metrics[EXECUTOR_WORK_COUNT] = {
    [WORK_RUN] = METRIC_EXECUTOR_RUN_TIME,
    [WORK_CPU] = METRIC_EXECUTOR_CPU_TIME,
    [WORK_DESERIALIZE] = METRIC_EXECUTOR_DESERIALIZE_TIME,
    [WORK_RESULT_SERIALIZATION] = METRIC_RESULT_SERIALIZATION_TIME,
    [WORK_FETCH_WAIT] = METRIC_SHUFFLE_FETCH_WAIT_TIME,
    [WORK_SHUFFLE_WRITE] = METRIC_SHUFFLE_WRITE_TIME,
    [WORK_REMOTE_READ] = METRIC_SHUFFLE_REMOTE_READ,
    [WORK_DISK_SPILLED] = METRIC_DISK_SPILLED,
};

static void add_work(struct executor *executor, const int64_t *metrics)
{
    for (size_t i = 0; i < EXECUTOR_WORK_COUNT; i++)
        executor->work[i] = add_known(executor->work[i], metrics[executor_work_metrics[i]]);
    executor->dirty = true;
}

static void take_back_work(struct executor *executor, const int64_t *reported)
{
    for (size_t i = 0; i < EXECUTOR_WORK_COUNT; i++)
        if (known(reported[executor_work_metrics[i]]))
            executor->work[i] = add_known(executor->work[i], -reported[executor_work_metrics[i]]);
}

static void add_metrics(int64_t *sums, const int64_t *metrics)
{
    for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
        if (metrics[i] != 0 || !known(sums[i]))   /* half of them are 0 in every task */
            sums[i] = add_known(sums[i], metrics[i]);
}

/* What a task reported while it ran was counted; its end, which says all of it, counts instead. */
static void take_back(int64_t *sums, const int64_t *reported)
{
    for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
        if (known(reported[i]))
            sums[i] = add_known(sums[i], -reported[i]);
}

/* One report of one running task takes the place of its last one. */
static enum err_code count_report(struct app_model *self, struct pending_task *p, const int64_t *metrics, struct err *err)
{
    struct executor_stage *summary = p->executor && p->counted ? model_executor_stage(self, p->stage, p->executor) : NULL;
    if ((p->executor && p->counted && !summary) || (!p->reported && !(p->reported = mem_alloc(TASK_METRIC_COUNT * sizeof *p->reported))))
        return err_nomem(err);
    int64_t *const sums[] = {p->counted ? p->stage->metrics : NULL, summary ? summary->metrics : NULL};
    for (size_t i = 0; i < ARRAY_LENGTH(sums) && sums[i]; i++) {
        if (p->has_reported)
            take_back(sums[i], p->reported);
        add_metrics(sums[i], metrics);
    }
    if (summary) {
        if (p->has_reported)
            take_back_work(p->executor, p->reported);
        add_work(p->executor, metrics);
    }
    memcpy(p->reported, metrics, TASK_METRIC_COUNT * sizeof *metrics);
    p->has_reported = p->stage->dirty = true;
    return ERR_OK;
}

enum err_code model_tasks_reported(struct app_model *self, const struct task_report *reports, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct pending_task *p = known(reports[i].task_id) ? imap_get(&self->pending, reports[i].task_id) : NULL;
        while (p && (p->stage->stage_id != reports[i].stage_id || p->stage->attempt != reports[i].stage_attempt))
            p = p->next;
        if (!p)
            continue;                /* it has ended, and its end said all */
        const struct sql_task task = {reports[i].stage_id, reports[i].stage_attempt, p->info.id, p->info.index, false};
        enum err_code rc = count_report(self, p, reports[i].metrics, err);
        if (rc || (rc = sql_task_updates(self, &task, &reports[i].updates, err)))
            return rc;
    }
    return ERR_OK;
}

static void count_in_executor(struct executor *executor, const struct event_task_end *e, int64_t duration_ms, bool was_active)
{
    executor->dirty = true;
    executor->task_count++;
    executor->failed_task_count += e->reason != END_SUCCESS && e->reason != END_KILLED && e->reason != END_COMMIT_DENIED;
    executor->killed_task_count += e->reason == END_KILLED || e->reason == END_COMMIT_DENIED;
    executor->task_time_ms = add_known(executor->task_time_ms, duration_ms);
    executor->gc_time_ms = add_known(executor->gc_time_ms, e->metrics[METRIC_JVM_GC_TIME]);
    if (!executor->active)
        return;   /* after its removal the History Server's counters stand still (spec/core.md §2.3) */
    struct task_counts delta = {0};
    count_end(&delta, e->reason);
    if (was_active)
        executor->active_tasks--;
    else
        executor->total_tasks++;
    executor->completed_tasks += delta.completed;
    executor->failed_tasks += delta.failed;
    executor->total_duration_ms = add_known(executor->total_duration_ms, duration_ms);
    executor->total_gc_time_ms = add_known(executor->total_gc_time_ms, e->metrics[METRIC_JVM_GC_TIME]);
    executor->total_input_bytes = add_known(executor->total_input_bytes, e->metrics[METRIC_INPUT_BYTES]);
    executor->total_shuffle_read_bytes = add_known(add_known(executor->total_shuffle_read_bytes, e->metrics[METRIC_SHUFFLE_LOCAL_READ]), e->metrics[METRIC_SHUFFLE_REMOTE_READ]);
    executor->total_shuffle_write_bytes = add_known(executor->total_shuffle_write_bytes, e->metrics[METRIC_SHUFFLE_WRITE_BYTES]);
    executor->peaks_set |= peaks_measured(e->peaks);
    peaks_raise(executor->peaks, e->peaks);
}

static int64_t status_of(const struct task_info *info)
{
    if (!known(info->finish_ms))
        return known(info->getting_result_ms) ? TASK_FETCHING : TASK_NO_END;
    return info->failed ? TASK_FAILED : info->killed ? TASK_KILLED : TASK_SUCCESS;
}

static void fill_row(struct app_model *self, struct task_row *row, struct stage *stage, const struct task_info *info, const struct executor *executor, const struct host *host)
{
    row->task_seq = self->next_task_seq++;
    row->stage_ref = stage->stage_ref;
    row->task_id = info->id;
    row->task_index = info->index;
    row->attempt = info->attempt;
    row->partition_id = info->partition_id;
    row->executor_ref = executor ? executor->executor_ref : UNKNOWN;
    row->host_ref = host ? host->host_ref : UNKNOWN;
    row->launch_ms = info->launch_ms;
    row->finish_ms = info->finish_ms;
    row->getting_result_ms = info->getting_result_ms;
    row->locality = info->locality;
    row->speculative = info->speculative;
    row->status = status_of(info);
    stage->task_rows++;
    stage->first_task_seq = min_known(stage->first_task_seq, row->task_seq);
    stage->last_task_seq = row->task_seq;
    stage->dirty = true;
}

/* Of a task that was seen to start they are nearly always those of the start: compared, not looked up. An id that came back since is another executor. NULL: out of memory. */
static struct executor *executor_of_end(struct app_model *self, const struct pending_task *start, struct str id)
{
    bool same = start && start->executor && !start->executor->superseded && str_eq(start->executor->executor_id, id);
    return same ? start->executor : model_executor_get(self, id);
}

static struct host *host_of_end(struct app_model *self, const struct pending_task *start, struct str name)
{
    bool same = start && start->host && str_eq(start->host->name, name);
    return same ? start->host : model_host_get(self, name);
}

enum err_code model_task_end(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_task_end *e = &event->task_end;
    struct stage *stage = model_stage_get(self, e->stage_id, e->stage_attempt);
    unsigned flag = e->reason == END_RESUBMITTED ? TASK_ID_RESUBMITTED : TASK_ID_ENDED, before;
    if (!stage || id_flags_add(&stage->ids, e->info.id, flag, &before) < 0)
        return err_nomem(err);
    if (before & flag) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    self->task_end_count += !(before & (TASK_ID_ENDED | TASK_ID_RESUBMITTED));
    model_time(self, e->info.finish_ms);
    struct pending_task *start = e->reason == END_RESUBMITTED ? NULL : pending_take(self, stage, e->info.id);
    bool was_active = start && start->counted;
    struct executor *executor = NULL;
    struct host *host = NULL;
    if (start)
        pending_give_back(self, start);   /* what it says is good until the next task starts */
    if (str_known(e->info.executor_id) && !(executor = executor_of_end(self, start, e->info.executor_id)))
        return err_nomem(err);
    if (e->reason == END_RESUBMITTED)
        return resubmitted(self, stage, executor, e, err);
    if (str_known(e->info.host) && !(host = host_of_end(self, start, e->info.host)))
        return err_nomem(err);
    model_stage_unskip(self, stage);
    if (was_active)
        add_active(stage, -1);
    else
        count_start(self, stage, &e->info);

    int64_t duration_ms = elapsed_known(e->info.launch_ms, e->info.finish_ms);
    if (known(e->info.launch_ms) && known(e->info.finish_ms) && !known(duration_ms))
        self->health.clock_step_count++;

    struct task_row row;
    fill_row(self, &row, stage, &e->info, executor, host);
    row.end_reason = e->reason;
    row.start_seen = (before & TASK_ID_STARTED) != 0;
    row.has_metrics = e->has_metrics;
    memcpy(row.metrics, e->metrics, sizeof row.metrics);
    memcpy(row.peaks, e->peaks, sizeof row.peaks);

    int64_t kill_text_id;
    enum err_code rc;
    if ((rc = model_text_id(self, e->error, &row.error_text_id, err)) || (rc = model_text_id(self, e->kill_reason, &kill_text_id, err)))
        return rc;
    count_end(&stage->tasks, e->reason);
    if ((rc = count_in_jobs(stage, e, kill_text_id, err)))
        return rc;
    catch_up_jobs(stage);
    stage->ended_tasks++;
    stage->task_rows = stage->ended_tasks;
    stage->last_task_finish_ms = max_known(stage->last_task_finish_ms, e->info.finish_ms);
    stage->task_time_ms = add_known(stage->task_time_ms, duration_ms);
    stage->peaks_set |= peaks_measured(e->peaks);
    stage->stats_due = true;
    if (was_active && start->has_reported)
        take_back(stage->metrics, start->reported);
    add_metrics(stage->metrics, e->metrics);
    peaks_raise(stage->peaks, e->peaks);
    if (e->info.speculative) {
        stage->speculative.active -= was_active;
        count_end(&stage->speculative, e->reason);
    }
    if (was_active && start->has_reported && start->executor) {
        struct executor_stage *summary = model_executor_stage(self, stage, start->executor);
        if (!summary)
            return err_nomem(err);
        take_back(summary->metrics, start->reported);
        take_back_work(start->executor, start->reported);
    }
    if (executor) {
        struct executor_stage *summary = model_executor_stage(self, stage, executor);
        if (!summary)
            return err_nomem(err);
        struct task_counts delta = {0};
        count_end(&delta, e->reason);
        summary->task_time_ms = add_known(summary->task_time_ms, duration_ms);
        summary->succeeded_tasks += delta.completed;
        summary->failed_tasks += delta.failed;
        summary->killed_tasks += delta.killed;
        summary->peaks_set |= peaks_measured(e->peaks);
        add_metrics(summary->metrics, e->metrics);
        peaks_raise(summary->peaks, e->peaks);
        add_work(executor, e->metrics);
        count_in_executor(executor, e, duration_ms, start != NULL);
    }
    self->task_row_count++;
    const struct sql_task task = {e->stage_id, e->stage_attempt, e->info.id, e->info.index, row.status == TASK_SUCCESS};
    if ((rc = sql_task_updates(self, &task, &e->updates, err)))
        return rc;
    if ((rc = self->sink.task(self->sink.context, &row, err)))
        return rc;
    for (size_t i = 0; i < e->shown.count; i++)
        if ((rc = self->sink.task_accumulable(self->sink.context, row.task_seq, (int64_t)i, &e->shown.items[i], err)))
            return rc;
    return model_stage_check_done(self, stage, err);
}

/* Rows of tasks whose end was not read. Their numbers are given again when the log goes on. */
enum err_code model_tasks_finish(struct app_model *self, struct err *err)
{
    int64_t first_free = self->next_task_seq;
    for (size_t i = 0; i < self->stages.count; i++) {
        struct stage *stage = self->stages.items[i];
        if (stage->task_rows != stage->ended_tasks)
            stage->dirty = true;
        stage->task_rows = stage->ended_tasks;
    }
    self->health.tasks_without_end = 0;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < self->pending.count && !rc; i++)
        for (struct pending_task *p = self->pending.entries[i].value; p && !rc; p = p->next) {
            struct task_row row;
            memset(&row, 0, sizeof row);
            fill_row(self, &row, p->stage, &p->info, p->executor, p->host);
            row.end_reason = row.error_text_id = UNKNOWN;
            row.start_seen = 1;
            row.has_metrics = p->has_reported;
            for (size_t m = 0; m < TASK_METRIC_COUNT; m++)
                row.metrics[m] = p->has_reported ? p->reported[m] : UNKNOWN;
            for (size_t m = 0; m < EXECUTOR_METRIC_COUNT; m++)
                row.peaks[m] = UNKNOWN;
            self->health.tasks_without_end++;
            rc = self->sink.task(self->sink.context, &row, err);
        }
    self->next_task_seq = first_free;
    return rc;
}
