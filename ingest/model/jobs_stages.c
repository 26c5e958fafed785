/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs and stages: spec/core.md §2.5 and §2.6. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redact.h"
#include "ingest/model/app_model.h"
#include "ingest/model/redact.h"
#include "ingest/model/sql.h"

#define MAX_TAG_COUNT 10000
#define SEARCHED_STAGES ((size_t)32)             /* longer lists of a job have an index */

/* Both are at most 2^31 - 1: event.h. */
static int64_t stage_key(int64_t stage_id, int64_t attempt)
{
    return (int64_t)((uint64_t)stage_id << 32 | (uint32_t)attempt);
}

struct stage *model_stage_find(struct app_model *self, int64_t stage_id, int64_t attempt)
{
    struct stage *last = self->last_stage;
    if (last && last->stage_id == stage_id && last->attempt == attempt)
        return last;
    if (!known(stage_id) || !known(attempt))
        return NULL;
    struct stage *stage = imap_get(&self->stage_by_key, stage_key(stage_id, attempt));
    if (stage)
        self->last_stage = stage;
    return stage;
}

struct stage_group *model_stage_group(struct app_model *self, int64_t stage_id)
{
    struct stage_group *group = imap_get(&self->group_by_stage_id, stage_id);
    if (group)
        return group;
    group = arena_zalloc(&self->arena, 1, sizeof *group);
    return group && imap_put(&self->group_by_stage_id, stage_id, group) == 0 ? group : NULL;
}

struct stage *model_stage_get(struct app_model *self, int64_t stage_id, int64_t attempt)
{
    struct stage *stage = model_stage_find(self, stage_id, attempt);
    if (stage)
        return stage;
    struct stage_group *group = model_stage_group(self, stage_id);
    if (!group || mem_grow((void **)&group->attempts, &group->attempt_capacity, group->attempt_count + 1, MODEL_MAX_ENTITIES, sizeof *group->attempts))
        return NULL;
    stage = model_entity(self, &self->stages, sizeof *stage);
    if (!stage)
        return NULL;
    stage->stage_ref = (int64_t)self->stages.count;
    stage->stage_id = stage_id;
    stage->attempt = attempt;
    stage->details_text_id = stage->num_tasks = stage->submission_ms = stage->completion_ms = stage->first_task_launch_ms = stage->last_task_finish_ms = UNKNOWN;
    stage->failure_text_id = stage->resource_profile_id = stage->shuffle_push_enabled = stage->shuffle_mergers_count = stage->sql_execution_id = UNKNOWN;
    stage->first_task_seq = stage->last_task_seq = stage->task_time_ms = UNKNOWN;
    for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
        stage->metrics[i] = UNKNOWN;
    for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++)
        stage->peaks[i] = UNKNOWN;
    imap_init(&stage->executors, MODEL_MAX_ENTITIES);
    stage->dirty = true;
    if (imap_put(&self->stage_by_key, stage_key(stage_id, attempt), stage))
        return NULL;
    group->attempts[group->attempt_count++] = stage;
    self->last_stage = stage;
    return stage;
}

struct job_stage *job_stage_find(struct job *job, int64_t stage_id)
{
    if (job->stage_count > SEARCHED_STAGES) {
        size_t found = (size_t)(intptr_t)imap_get(&job->stage_at, stage_id);
        return found ? &job->stages[found - 1] : NULL;
    }
    /* Tasks come in runs of one stage: begin where the last search ended. */
    for (size_t i = 0, at = job->last_found; i < job->stage_count; i++, at++) {
        if (at >= job->stage_count)
            at = 0;
        if (job->stages[at].stage_id == stage_id) {
            job->last_found = at;
            return &job->stages[at];
        }
    }
    return NULL;
}

/* The list is in place; of an id that comes twice the first counts. */
static enum err_code index_stages(struct job *job, struct err *err)
{
    if (job->stage_count <= SEARCHED_STAGES)
        return ERR_OK;
    imap_init(&job->stage_at, MODEL_MAX_ENTITIES);
    for (size_t i = job->stage_count; i-- > 0;)
        if (imap_put(&job->stage_at, job->stages[i].stage_id, (void *)(intptr_t)(i + 1)))
            return err_nomem(err);
    return ERR_OK;
}

enum err_code kill_counts_add(struct imap *counts, int64_t text_id, struct err *err)
{
    if (!counts->max_count)
        imap_init(counts, MODEL_MAX_ENTITIES);
    intptr_t before = (intptr_t)imap_get(counts, text_id);
    return imap_put(counts, text_id, (void *)(before + 1)) ? err_nomem(err) : ERR_OK;
}

static enum err_code copy_ids(struct app_model *self, struct id_list *to, const struct id_list *from, struct err *err)
{
    int64_t *items = arena_alloc(&self->arena, from->count * sizeof *items);
    if (!items)
        return err_nomem(err);
    if (from->count)
        memcpy(items, from->items, from->count * sizeof *items);
    *to = (struct id_list){items, from->count};
    return ERR_OK;
}

void free_accumulables(struct stage *stage)
{
    mem_free(stage->accumulables.items);
    stage->accumulables = (struct accumulable_list){NULL, 0};
}

static struct str put_text(char **at, struct str text)
{
    if (!text.len)
        return str_known(text) ? STR_LIT("") : STR_NONE;
    struct str copy = {memcpy(*at, text.ptr, text.len), text.len};
    *at += text.len;
    return copy;
}

static enum err_code copy_accumulables(struct app_model *self, struct stage *stage, const struct accumulable_list *from, struct err *err)
{
    free_accumulables(stage);
    stage->accumulables_dirty = true;
    if (!from->count)
        return ERR_OK;
    arena_reset(&self->hidden);
    struct accumulable *shown = arena_zalloc(&self->hidden, from->count, sizeof *shown);
    size_t bytes = from->count * sizeof *shown;   /* cannot overflow: all of it came from one line */
    for (size_t i = 0; shown && i < from->count; i++) {
        shown[i] = from->items[i];
        if (redact_text(&self->hidden, shown[i].name, &shown[i].name) || redact_text(&self->hidden, shown[i].update, &shown[i].update) ||
            redact_text(&self->hidden, shown[i].value, &shown[i].value))
            return err_nomem(err);
        bytes += shown[i].name.len + shown[i].update.len + shown[i].value.len + shown[i].metadata.len;
    }
    if (!shown)
        return err_nomem(err);
    struct accumulable *items = mem_alloc(bytes);
    if (!items)
        return err_nomem(err);
    char *at = (char *)(items + from->count);
    for (size_t i = 0; i < from->count; i++) {
        items[i] = shown[i];
        items[i].name = put_text(&at, items[i].name);
        items[i].update = put_text(&at, items[i].update);
        items[i].value = put_text(&at, items[i].value);
        items[i].metadata = put_text(&at, items[i].metadata);
    }
    stage->accumulables = (struct accumulable_list){items, from->count};
    return ERR_OK;
}

/* The operation graph is drawn from what JobStart says (spec/core.md §2.10): levels change later, when something is cached or let go. */
static enum err_code note_cached(struct app_model *self, struct stage *stage, const struct stage_info *info, struct err *err)
{
    if (stage->rdd_cached)
        return ERR_OK;
    stage->rdd_cached = arena_zalloc(&self->arena, info->rdd_count, sizeof *stage->rdd_cached);
    if (!stage->rdd_cached)
        return err_nomem(err);
    stage->rdd_cached_count = info->rdd_count;
    for (size_t i = 0; i < info->rdd_count; i++) {
        const struct storage_level *level = &info->rdds[i].level;
        bool none = !level->use_disk && !level->use_memory && !level->use_off_heap && !level->deserialized && level->replication == 1;
        stage->rdd_cached[i] = !none;
    }
    stage->lists_dirty = true;
    return ERR_OK;
}

/* The latest description counts, where "latest" goes by what the event is and not by where its line stands. */
static enum err_code apply_info(struct app_model *self, struct stage *stage, const struct stage_info *info, int level, struct err *err)
{
    stage->announced = 1;
    stage->dirty = true;
    if (level < stage->info_level)
        return ERR_OK;
    stage->info_level = level;
    stage->lists_dirty = true;
    enum err_code rc;
    if ((rc = model_str(self, &stage->name, info->name, err)) || (rc = model_text_id(self, info->details, &stage->details_text_id, err)) ||
        (rc = model_text_id(self, info->failure_reason, &stage->failure_text_id, err)) || (rc = copy_ids(self, &stage->parents, &info->parents, err)) ||
        (rc = copy_accumulables(self, stage, &info->accumulables, err)))
        return rc;
    if (stage->rdds.count != info->rdd_count || !stage->rdds.items) {
        stage->rdds.items = arena_alloc(&self->arena, info->rdd_count * sizeof *stage->rdds.items);
        if (!stage->rdds.items)
            return err_nomem(err);
        stage->rdds.count = info->rdd_count;
    }
    for (size_t i = 0; i < info->rdd_count; i++)
        stage->rdds.items[i] = info->rdds[i].id;
    stage->num_tasks = info->num_tasks;
    stage->submission_ms = info->submission_ms;
    stage->completion_ms = info->completion_ms;
    stage->resource_profile_id = info->resource_profile_id;
    stage->shuffle_push_enabled = info->shuffle_push_enabled;
    stage->shuffle_mergers_count = info->shuffle_mergers_count;
    model_time(self, info->submission_ms);
    model_time(self, info->completion_ms);
    return ERR_OK;
}

static bool job_is_live(const struct job *job)
{
    return job->start_seen && !model_job_has_ended(job);
}

static bool stage_lists_job(const struct stage *stage, const struct job *job)
{
    for (size_t i = 0; i < stage->job_count; i++)
        if (stage->jobs[i] == job)
            return true;
    return false;
}

/* From now on the stage's tasks count for the job; tasks that ended before any job was known are handed over. */
static enum err_code attach(struct stage *stage, struct job *job, struct err *err)
{
    if (stage_lists_job(stage, job))
        return ERR_OK;
    if (mem_grow((void **)&stage->jobs, &stage->job_capacity, stage->job_count + 1, MODEL_MAX_ENTITIES, sizeof *stage->jobs))
        return err_nomem(err);
    stage->jobs[stage->job_count++] = job;
    struct task_counts *open = &stage->unattributed;
    struct job_stage *listed = job_stage_find(job, stage->stage_id);
    if (stage->job_count == 1 && listed && (open->active || open->completed || open->failed || open->killed)) {
        job->tasks.active += open->active;
        job->tasks.completed += open->completed;
        job->tasks.failed += open->failed;
        job->tasks.killed += open->killed;
        *open = (struct task_counts){0};
        int64_t added = bit_set_add_all(&listed->indices, &stage->indices);
        if (added < 0)
            return err_nomem(err);
        job->completed_indices += added;
    }
    job->dirty = true;
    return ERR_OK;
}

bool model_job_has_ended(const struct job *job)
{
    return job->status != JOB_NO_END;
}

static void add_active_stage(struct job *job, int64_t change)
{
    job->active_stages += change;
    if (model_job_has_ended(job))
        job->late_active_stages += change;
    job->dirty = true;
}

static void job_stage_ended(struct job *job, struct job_stage *listed, int64_t status)
{
    if (listed && !listed->ran)
        listed->ran = job->lists_dirty = true;
    bool completed = status == STAGE_COMPLETE && listed && !listed->completed, failed = status == STAGE_FAILED, late = model_job_has_ended(job);
    if (completed)
        listed->completed = true;
    job->completed_stages += completed;
    job->failed_stages += failed;
    job->late_completed_stages += completed && late;
    job->late_failed_stages += failed && late;
    job->dirty = true;
}

static void skip_for_job(struct job *job, struct job_stage *listed, int64_t num_tasks)
{
    if (listed->skipped)
        return;
    listed->skipped = true;
    listed->num_tasks = known_or(num_tasks, 0);
    job->skipped_stages++;
    job->skipped_tasks += listed->num_tasks;
    job->dirty = job->lists_dirty = true;
}

/* JobEnd: what was never submitted was skipped. */
static void skip_unsubmitted(struct app_model *self, struct job *job)
{
    for (size_t i = 0; i < job->stage_count; i++) {
        struct stage_group *group = imap_get(&self->group_by_stage_id, job->stages[i].stage_id);
        for (size_t a = 0; group && a < group->attempt_count; a++) {
            struct stage *stage = group->attempts[a];
            bool never = stage->status == STAGE_PENDING && !stage->task_rows && !stage->tasks.active;
            if (!never && !stage->pending_again)
                continue;
            stage->pending_again = false;
            if (never) {
                stage->status = STAGE_SKIPPED;
                stage->dirty = true;
            }
            skip_for_job(job, &job->stages[i], stage->num_tasks);
        }
    }
}

/* A stage that was taken for skipped did run: its own events come late in the log. */
void model_stage_unskip(struct app_model *self, struct stage *stage)
{
    if (stage->status != STAGE_SKIPPED && !(stage->status == STAGE_PENDING && stage->pending_again))
        return;
    stage->status = STAGE_PENDING;
    stage->dirty = true;
    struct stage_group *group = imap_get(&self->group_by_stage_id, stage->stage_id);
    for (size_t i = 0; group && i < group->job_count; i++) {
        struct job *job = group->jobs[i];
        struct job_stage *listed = job_stage_find(job, stage->stage_id);
        bool later = known(stage->submission_ms) && known(job->completion_ms) && stage->submission_ms > job->completion_ms;
        if (!listed || !listed->skipped || later)
            continue;
        listed->skipped = false;
        job->skipped_stages--;
        job->skipped_tasks -= listed->num_tasks;
        job->dirty = job->lists_dirty = true;
    }
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Comma-separated, empty ones dropped, distinct, sorted (JobData.jobTags since 3.5); of the first MAX_TAG_COUNT. */
static enum err_code sorted_tags(struct app_model *self, struct job *job, struct str tags, struct err *err)
{
    if (!str_known(tags))
        return ERR_OK;
    arena_reset(&self->hidden);
    if (redact_text(&self->hidden, tags, &tags))
        return err_nomem(err);
    struct str *items = NULL;
    size_t count = 0, capacity = 0, start = 0;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i <= tags.len && count < MAX_TAG_COUNT; i++) {
        if (i < tags.len && tags.ptr[i] != ',')
            continue;
        struct str tag = {tags.ptr + start, i - start};
        start = i + 1;
        if (!tag.len)
            continue;
        if (mem_grow((void **)&items, &capacity, count + 1, MAX_TAG_COUNT, sizeof *items)) {
            rc = err_nomem(err);
            goto done;
        }
        items[count++] = tag;
    }
    if (count)
        qsort(items, count, sizeof *items, by_text);
    char *text = arena_alloc(&self->arena, tags.len + 1);
    if (!text) {
        rc = err_nomem(err);
        goto done;
    }
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (i && str_eq(items[i], items[i - 1]))
            continue;
        if (i)
            text[len++] = ',';
        memcpy(text + len, items[i].ptr, items[i].len);
        len += items[i].len;
    }
    job->tags = (struct str){text, len};
done:
    mem_free(items);
    return rc;
}

static enum err_code differing_properties(struct app_model *self, struct job *job, const struct kv_list *from, struct err *err)
{
    struct kv *kept = arena_zalloc(&self->arena, from->count, sizeof *kept);
    if (!kept)
        return err_nomem(err);
    size_t count = 0;
    for (size_t i = 0; i < from->count; i++) {
        struct kv item = from->items[i];
        arena_reset(&self->hidden);
        if (redact_item(&self->hidden, &item))
            return err_nomem(err);
        const struct str *usual = smap_get(&self->spark_properties, item.name);
        if (usual && str_eq(*usual, item.value))
            continue;
        if (arena_str(&self->arena, item.name, &kept[count].name) || arena_str(&self->arena, item.value, &kept[count].value))
            return err_nomem(err);
        count++;
    }
    job->properties = (struct kv_list){kept, count};
    return ERR_OK;
}

static struct job *job_get(struct app_model *self, int64_t job_id)
{
    struct job *job = imap_get(&self->job_by_id, job_id);
    if (job)
        return job;
    job = model_entity(self, &self->jobs, sizeof *job);
    if (!job || imap_put(&self->job_by_id, job_id, job))
        return NULL;
    job->job_id = job_id;
    job->sql_execution_id = job->submission_ms = job->completion_ms = job->failure_text_id = job->num_tasks = UNKNOWN;
    job->batch_ms = job->output_op_id = UNKNOWN;
    return job;
}

/* A property that is a whole number and not negative, else UNKNOWN. */
static int64_t count_property(const struct kv_list *properties, const char *name)
{
    struct str text = kv_find(properties, name);
    int64_t value;
    return str_known(text) && str_to_i64(text, &value) && value >= 0 ? value : UNKNOWN;
}

static enum err_code describe_job(struct app_model *self, struct job *job, const struct event_job_start *e, struct err *err)
{
    const struct stage_info *last = NULL;
    job->num_tasks = 0;
    for (size_t i = 0; i < e->stage_count; i++) {
        if (!last || e->stages[i].id >= last->id)
            last = &e->stages[i];
        if (!known(e->stages[i].completion_ms))
            job->num_tasks = add_known(job->num_tasks, e->stages[i].num_tasks);
    }
    enum err_code rc;
    struct str sql = kv_find(&e->properties, "spark.sql.execution.id");
    int64_t execution;
    if (str_known(sql) && str_to_i64(sql, &execution))
        job->sql_execution_id = execution;
    job->batch_ms = count_property(&e->properties, "spark.streaming.internal.batchTime");
    job->output_op_id = count_property(&e->properties, "spark.streaming.internal.outputOpId");
    if ((rc = model_str(self, &job->name, last ? last->name : STR_LIT(""), err)) ||
        (rc = model_str(self, &job->description, kv_find(&e->properties, "spark.job.description"), err)) ||
        (rc = model_str(self, &job->job_group, kv_find(&e->properties, "spark.jobGroup.id"), err)) ||
        (rc = sorted_tags(self, job, kv_find(&e->properties, "spark.job.tags"), err)) || (rc = differing_properties(self, job, &e->properties, err)))
        return rc;
    job->submission_ms = e->submission_ms > 0 ? e->submission_ms : UNKNOWN;
    model_time(self, job->submission_ms);
    return ERR_OK;
}

enum err_code model_job_start(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_job_start *e = &event->job_start;
    struct job *job = job_get(self, e->id);
    if (!job)
        return err_nomem(err);
    if (job->start_seen) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    job->start_seen = 1;
    job->dirty = job->lists_dirty = true;
    enum err_code rc = describe_job(self, job, e, err);
    if (rc)
        return rc;
    job->stages = arena_zalloc(&self->arena, e->stage_count, sizeof *job->stages);
    if (!job->stages)
        return err_nomem(err);
    for (size_t i = 0; i < e->stage_count; i++)
        job->stages[job->stage_count++] = (struct job_stage){.stage_id = e->stages[i].id, .num_tasks = known_or(e->stages[i].num_tasks, 0)};
    if ((rc = index_stages(job, err)))
        return rc;
    for (size_t i = 0; i < e->stage_count; i++) {
        const struct stage_info *info = &e->stages[i];
        struct stage *stage = model_stage_get(self, info->id, info->attempt);
        struct stage_group *group = stage ? model_stage_group(self, info->id) : NULL;
        if (!group || mem_grow((void **)&group->jobs, &group->job_capacity, group->job_count + 1, MODEL_MAX_ENTITIES, sizeof *group->jobs))
            return err_nomem(err);
        group->jobs[group->job_count++] = job;
        /* A stage that had ended before this job began is there for its output only. */
        bool ended_before = stage->completed_seen && (known(stage->completion_ms) && known(job->submission_ms) ? stage->completion_ms <= job->submission_ms && stage->job_count > 0
                                                                                                              : stage->job_count > 0);
        if (ended_before || (stage->status == STAGE_SKIPPED && stage->job_count > 0)) {
            stage->pending_again = true;
            if (stage->status == STAGE_SKIPPED) {      /* by a job before; for this one it may still run */
                stage->status = STAGE_PENDING;
                stage->dirty = true;
            }
            continue;
        }
        if ((rc = apply_info(self, stage, info, 1, err)) || (rc = note_cached(self, stage, info, err)) || (rc = model_rdds_of_stage(self, info, false, err)) ||
            (rc = attach(stage, job, err)))
            return rc;
        if (!known(stage->sql_execution_id))
            stage->sql_execution_id = job->sql_execution_id;
        if (stage->completed_seen)
            job_stage_ended(job, job_stage_find(job, stage->stage_id), stage->status);
        else if (stage->submitted_seen)
            add_active_stage(job, 1);
    }
    if (job->status != JOB_NO_END)
        skip_unsubmitted(self, job);
    return sql_job_start(self, job, e, err);
}

enum err_code model_job_end(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_job_end *e = &event->job_end;
    struct job *job = job_get(self, e->id);
    if (!job)
        return err_nomem(err);
    if (job->status != JOB_NO_END) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    skip_unsubmitted(self, job);
    job->status = e->succeeded ? JOB_SUCCEEDED : JOB_FAILED;
    job->completion_ms = e->completion_ms > 0 ? e->completion_ms : UNKNOWN;
    if (known(job->completion_ms) && known(job->submission_ms) && job->completion_ms < job->submission_ms)
        self->health.clock_step_count++;
    model_time(self, job->completion_ms);
    job->dirty = true;
    enum err_code rc = sql_job_end(self, job, err);
    return rc ? rc : model_text_id(self, e->failure, &job->failure_text_id, err);
}

/* The jobs whom an attempt's tasks count for: those that run at its submission and list it. */
static enum err_code assign_jobs(struct app_model *self, struct stage *stage, struct err *err)
{
    struct stage_group *group = imap_get(&self->group_by_stage_id, stage->stage_id);
    bool any_live = false;
    for (size_t i = 0; group && i < group->job_count; i++)
        any_live |= job_is_live(group->jobs[i]);
    if (!any_live)
        return ERR_OK;   /* an order that cannot be: keep whom JobStart named */
    for (size_t i = 0; i < stage->job_count;)
        if (job_is_live(stage->jobs[i]))
            i++;
        else
            stage->jobs[i] = stage->jobs[--stage->job_count];
    for (size_t i = 0; i < group->job_count; i++) {
        enum err_code rc = job_is_live(group->jobs[i]) ? attach(stage, group->jobs[i], err) : ERR_OK;
        if (rc)
            return rc;
    }
    return ERR_OK;
}

enum err_code model_stage_submitted(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_stage *e = &event->stage;
    struct stage *stage = model_stage_get(self, e->info.id, e->info.attempt);
    if (!stage)
        return err_nomem(err);
    if (stage->submitted_seen) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    stage->submitted_seen = 1;
    stage->pending_again = false;
    enum err_code rc;
    if ((rc = apply_info(self, stage, &e->info, 2, err)) || (rc = model_str(self, &stage->description, kv_find(&e->properties, "spark.job.description"), err)))
        return rc;
    struct str pool = kv_find(&e->properties, "spark.scheduler.pool");
    if ((rc = model_str(self, &stage->pool, str_known(pool) ? pool : STR_LIT("default"), err)))
        return rc;
    int64_t execution;
    struct str sql = kv_find(&e->properties, "spark.sql.execution.id");
    if (str_known(sql) && str_to_i64(sql, &execution))
        stage->sql_execution_id = execution;
    model_stage_unskip(self, stage);
    sql_stage_submitted(self, stage);
    if (!stage->completed_seen)
        stage->status = STAGE_ACTIVE;
    if ((rc = assign_jobs(self, stage, err)) || (rc = model_rdds_of_stage(self, &e->info, true, err)))
        return rc;
    for (size_t i = 0; i < stage->job_count && !stage->completed_seen; i++) {
        struct job *job = stage->jobs[i];
        struct job_stage *listed = job_stage_find(job, stage->stage_id);
        if (listed && listed->completed) {   /* resubmitted: no longer complete until it completes again */
            listed->completed = false;
            job->completed_stages--;
        }
        add_active_stage(job, 1);
    }
    return ERR_OK;
}

enum err_code model_stage_check_done(struct app_model *self, struct stage *stage, struct err *err)
{
    if (stage->done || !stage->completed_seen || stage->tasks.active > 0)
        return ERR_OK;
    stage->done = true;
    return self->sink.stage_done(self->sink.context, stage, err);
}

enum err_code model_stage_completed(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_stage *e = &event->stage;
    struct stage *stage = model_stage_get(self, e->info.id, e->info.attempt);
    if (!stage)
        return err_nomem(err);
    if (stage->completed_seen) {
        self->health.duplicate_event_count++;
        return ERR_OK;
    }
    enum err_code rc = apply_info(self, stage, &e->info, 3, err);
    if (rc)
        return rc;
    model_stage_unskip(self, stage);
    stage->completed_seen = 1;
    stage->status = str_known(e->info.failure_reason) ? STAGE_FAILED : known(e->info.submission_ms) ? STAGE_COMPLETE : STAGE_SKIPPED;
    stage->stats_due = true;
    if (known(stage->submission_ms) && known(stage->completion_ms) && stage->completion_ms < stage->submission_ms)
        self->health.clock_step_count++;
    for (size_t i = 0; i < stage->job_count; i++) {
        struct job *job = stage->jobs[i];
        struct job_stage *listed = job_stage_find(job, stage->stage_id);
        job_stage_ended(job, listed, stage->status);
        if (stage->status == STAGE_SKIPPED && listed)
            skip_for_job(job, listed, stage->num_tasks);
        if (stage->submitted_seen)
            add_active_stage(job, -1);
    }
    for (size_t i = 0; i < self->executors.count && self->stage_exclusion_count; i++) {
        struct executor *executor = self->executors.items[i];
        if (executor->active)        /* one that is gone stays as it went */
            model_stage_set_excluded(self, executor, stage->stage_id, false);
    }
    return model_stage_check_done(self, stage, err);
}
