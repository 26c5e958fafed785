/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/model/app_model.h"

#include <string.h>

#include "base/mem.h"
#include "base/redact.h"
#include "ingest/model/digest.h"
#include "ingest/model/redact.h"
#include "ingest/model/sql.h"

#define TEXT_KEY_BYTES ((size_t)64 << 20)        /* hashes of texts and look-up keys, not the texts */
#define SOUND_TIME_MIN_MS 946684800000           /* 2000-01-01: earlier than Spark; such times are clock faults or sentinels */
#define SOUND_TIME_MAX_MS 32503680000000         /* year 3000 */

struct app_model *app_model_new(struct row_sink sink)
{
    struct app_model *self = mem_zalloc(sizeof *self);
    if (!self)
        return NULL;
    self->sink = sink;
    arena_init(&self->arena, MODEL_ARENA_BYTES);
    arena_init(&self->environment_arena, MODEL_ARENA_BYTES);
    arena_init(&self->hidden, MODEL_ARENA_BYTES);
    self->start_ms = self->end_ms = self->exit_code = self->first_event_ms = self->last_event_ms = UNKNOWN;
    self->cpus_per_task = 1;
    self->next_task_seq = self->next_text_id = 1;
    imap_init(&self->job_by_id, MODEL_MAX_ENTITIES);
    imap_init(&self->rdd_by_id, MODEL_MAX_ENTITIES);
    imap_init(&self->profile_by_id, MODEL_MAX_ENTITIES);
    imap_init(&self->stage_by_key, MODEL_MAX_ENTITIES);
    imap_init(&self->group_by_stage_id, MODEL_MAX_ENTITIES);
    imap_init(&self->pending, MODEL_MAX_ENTITIES);
    smap_init(&self->executor_by_id, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->host_by_name, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->scope_by_id, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->process_by_id, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->stream_block_by_name, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->texts, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->spark_properties, MODEL_MAX_ENTITIES, TEXT_KEY_BYTES);
    self->sql = sql_model_new();
    if (!self->sql) {
        app_model_free(self);
        return NULL;
    }
    return self;
}

static void free_stage(struct stage *stage)
{
    mem_free(stage->jobs);
    imap_dispose(&stage->kills);
    free_accumulables(stage);
    id_flags_dispose(&stage->ids);
    bit_set_dispose(&stage->indices);
    for (size_t i = 0; i < stage->executors.count; i++)
        mem_free(stage->executors.entries[i].value);
    imap_dispose(&stage->executors);
}

static void free_job(struct job *job)
{
    imap_dispose(&job->kills);
    imap_dispose(&job->late_kills);
    imap_dispose(&job->stage_at);
    for (size_t i = 0; i < job->stage_count; i++)
        bit_set_dispose(&job->stages[i].indices);
}

void app_model_free(struct app_model *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->stages.count; i++)
        free_stage(self->stages.items[i]);
    for (size_t i = 0; i < self->jobs.count; i++)
        free_job(self->jobs.items[i]);
    for (size_t i = 0; i < self->executors.count; i++)
        mem_free(((struct executor *)self->executors.items[i])->excluded_in_stages);
    for (size_t i = 0; i < self->group_by_stage_id.count; i++) {
        struct stage_group *group = self->group_by_stage_id.entries[i].value;
        mem_free(group->attempts);
        mem_free(group->jobs);
    }
    model_storage_free(self);
    model_streaming_free(self);
    model_sessions_free(self);
    model_pending_free(self);
    sql_model_free(self->sql);
    struct entities *const all[] = {&self->jobs, &self->stages, &self->executors, &self->hosts, &self->rdds, &self->scopes, &self->profiles, &self->processes, &self->exclusions,
                                    &self->stream_blocks};
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        mem_free(all[i]->items);
    struct imap *const imaps[] = {&self->job_by_id, &self->rdd_by_id, &self->profile_by_id, &self->stage_by_key, &self->group_by_stage_id, &self->pending};
    for (size_t i = 0; i < ARRAY_LENGTH(imaps); i++)
        imap_dispose(imaps[i]);
    struct smap *const smaps[] = {&self->executor_by_id,       &self->host_by_name, &self->scope_by_id,     &self->process_by_id,
                                  &self->stream_block_by_name, &self->texts,        &self->spark_properties};
    for (size_t i = 0; i < ARRAY_LENGTH(smaps); i++)
        smap_dispose(smaps[i]);
    arena_dispose(&self->arena);
    arena_dispose(&self->environment_arena);
    arena_dispose(&self->hidden);
    mem_free(self);
}

void *model_entity(struct app_model *self, struct entities *to, size_t bytes)
{
    if (mem_grow((void **)&to->items, &to->capacity, to->count + 1, MODEL_MAX_ENTITIES, sizeof *to->items))
        return NULL;
    void *entity = arena_zalloc(&self->arena, 1, bytes);
    if (entity)
        to->items[to->count++] = entity;
    return entity;
}

enum err_code model_id(struct app_model *self, struct str *to, struct str from, struct err *err)
{
    if (str_known(*to) == str_known(from) && str_eq(*to, from))
        return ERR_OK;
    return arena_str(&self->arena, from, to) ? err_nomem(err) : ERR_OK;
}

enum err_code model_str(struct app_model *self, struct str *to, struct str from, struct err *err)
{
    arena_reset(&self->hidden);
    return redact_text(&self->hidden, from, &from) ? err_nomem(err) : model_id(self, to, from, err);
}

static enum err_code kv_copy(struct arena *arena, struct kv_list *to, const struct kv_list *from, struct err *err)
{
    struct kv *items = arena_zalloc(arena, from->count, sizeof *items);
    if (!items)
        return err_nomem(err);
    for (size_t i = 0; i < from->count; i++)
        if (arena_str(arena, from->items[i].name, &items[i].name) || redact_copy(arena, from->items[i].value, &items[i].value))
            return err_nomem(err);
    *to = (struct kv_list){items, from->count};
    return ERR_OK;
}

enum err_code model_kv_copy(struct app_model *self, struct kv_list *to, const struct kv_list *from, struct err *err)
{
    return kv_copy(&self->arena, to, from, err);
}

struct str kv_find(const struct kv_list *list, const char *name)
{
    for (size_t i = list->count; i-- > 0;)   /* of duplicate keys the last wins */
        if (str_is(list->items[i].name, name))
            return list->items[i].value;
    return STR_NONE;
}

void model_time(struct app_model *self, int64_t time_ms)
{
    if (!known(time_ms) || time_ms < SOUND_TIME_MIN_MS || time_ms > SOUND_TIME_MAX_MS)
        return;
    self->first_event_ms = min_known(self->first_event_ms, time_ms);
    self->last_event_ms = max_known(self->last_event_ms, time_ms);
}

/* An executor that was lost before it measured anything: the heap is -1, the rest 0. An old log, which names no peaks at all, counts as measured. */
bool peaks_measured(const int64_t *peaks)
{
    return known(peaks[PEAK_JVM_HEAP_MEMORY]) || !known(peaks[PEAK_JVM_OFF_HEAP_MEMORY]);
}

bool peaks_raise(int64_t *peaks, const int64_t *with)
{
    bool grew = false;
    for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++) {   /* UNKNOWN is less than any number */
        grew |= with[i] > peaks[i];
        peaks[i] = MAX(peaks[i], with[i]);
    }
    return grew;
}

enum err_code model_text_id(struct app_model *self, struct str body, int64_t *ret, struct err *err)
{
    *ret = UNKNOWN;
    if (!str_known(body))
        return ERR_OK;
    arena_reset(&self->hidden);
    if (redact_text(&self->hidden, body, &body))
        return err_nomem(err);
    struct digest digest = {0};
    digest_text(&digest, body);
    intptr_t found = (intptr_t)smap_get(&self->texts, digest_key(&digest));
    if (!found) {
        found = (intptr_t)self->next_text_id;
        enum err_code rc = self->sink.text(self->sink.context, found, body, err);
        if (rc)
            return rc;
        if (smap_put(&self->texts, digest_key(&digest), (void *)found))
            return err_nomem(err);
        self->next_text_id++;
    }
    *ret = found;
    return ERR_OK;
}

struct host *model_host_get(struct app_model *self, struct str name)
{
    struct host *host = smap_get(&self->host_by_name, name);
    if (host)
        return host;
    host = model_entity(self, &self->hosts, sizeof *host);
    if (!host || arena_str(&self->arena, name, &host->name) || smap_put(&self->host_by_name, host->name, host))
        return NULL;
    host->host_ref = (int64_t)self->hosts.count;
    return host;
}

static enum err_code log_start(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_log_start *e = &event->log_start;
    if (e->databricks && self->health.log_start && !self->vendor_version)
        return ERR_OK;               /* Spark's own record says it */
    self->health.log_start = true;
    self->vendor_version = e->databricks;
    return model_str(self, &self->spark_version, event->log_start.spark_version, err);
}

static enum err_code application_start(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_application_start *e = &event->application_start;
    model_time(self, e->time_ms);
    if (self->health.application_start_count++ > 0)
        return ERR_OK;   /* one run, named by its first start */
    self->health.application_start = true;
    enum err_code rc;
    if ((rc = model_id(self, &self->app_id, e->id, err)) || (rc = model_id(self, &self->attempt_id, e->attempt_id, err)) || (rc = model_str(self, &self->name, e->name, err)) ||
        (rc = model_id(self, &self->user, e->user, err)))
        return rc;
    self->start_ms = e->time_ms;
    if (!e->has_driver_logs)
        return ERR_OK;
    self->has_driver_logs = true;
    if ((rc = model_kv_copy(self, &self->driver_logs, &e->driver_logs, err)) || (rc = model_kv_copy(self, &self->driver_attributes, &e->driver_attributes, err)))
        return rc;
    struct executor *driver = model_executor_find(self, STR_LIT("driver"));
    if (driver && driver->active) {
        driver->logs = self->driver_logs;
        driver->attributes = self->driver_attributes;
        driver->dirty = driver->maps_dirty = true;
    }
    return ERR_OK;
}

static enum err_code application_end(struct app_model *self, const struct event *event, struct err *err UNUSED)
{
    model_time(self, event->application_end.time_ms);
    if (self->has_end)
        self->health.duplicate_event_count++;
    self->has_end = true;
    self->end_ms = event->application_end.time_ms;
    self->exit_code = event->application_end.exit_code;
    return ERR_OK;
}

static enum err_code environment_update(struct app_model *self, const struct event *event, struct err *err)
{
    const struct event_environment_update *e = &event->environment;
    enum err_code rc;
    smap_dispose(&self->spark_properties);
    smap_init(&self->spark_properties, MODEL_MAX_ENTITIES, TEXT_KEY_BYTES);
    memset(self->environment, 0, sizeof self->environment);
    arena_dispose(&self->environment_arena);
    arena_init(&self->environment_arena, MODEL_ARENA_BYTES);
    for (size_t s = 0; s < ENV_SECTION_COUNT; s++) {
        if ((rc = kv_copy(&self->environment_arena, &self->environment[s], &e->sections[s], err)))
            return rc;
        if (s != ENV_CLASSPATH && redact_list(&self->environment_arena, &self->environment[s]))
            return err_nomem(err);
    }
    const struct kv_list *spark = &e->sections[ENV_SPARK];
    if (!self->health.environment)   /* permissions come from the first one (spec/core.md §2.1) */
        if ((rc = model_id(self, &self->view_acls, kv_find(spark, "spark.ui.view.acls"), err)) ||
            (rc = model_id(self, &self->view_acls_groups, kv_find(spark, "spark.ui.view.acls.groups"), err)) ||
            (rc = model_id(self, &self->admin_acls, kv_find(spark, "spark.admin.acls"), err)) ||
            (rc = model_id(self, &self->admin_acls_groups, kv_find(spark, "spark.admin.acls.groups"), err)))
            return rc;
    self->health.environment = self->environment_dirty = true;
    for (size_t i = 0; i < self->environment[ENV_SPARK].count; i++) {
        struct kv *item = &self->environment[ENV_SPARK].items[i];
        if (smap_put(&self->spark_properties, item->name, &item->value))
            return err_nomem(err);
    }
    int64_t cpus;
    struct str task_cpus = kv_find(spark, "spark.task.cpus");
    if (str_known(task_cpus) && str_to_i64(task_cpus, &cpus))
        self->cpus_per_task = cpus;
    return ERR_OK;
}

enum err_code app_model_apply(struct app_model *self, const struct event *event, struct err *err)
{
    static model_handler *const handlers[EVENT_KIND_MAX_] = {
        [EVENT_LOG_START] = log_start,
        [EVENT_APPLICATION_START] = application_start,
        [EVENT_APPLICATION_END] = application_end,
        [EVENT_ENVIRONMENT_UPDATE] = environment_update,
        [EVENT_RESOURCE_PROFILE_ADDED] = model_resource_profile,
        [EVENT_BLOCK_MANAGER_ADDED] = model_block_manager_added,
        [EVENT_EXECUTOR_ADDED] = model_executor_added,
        [EVENT_EXECUTOR_REMOVED] = model_executor_removed,
        [EVENT_EXCLUSION] = model_exclusion,
        [EVENT_JOB_START] = model_job_start,
        [EVENT_JOB_END] = model_job_end,
        [EVENT_STAGE_SUBMITTED] = model_stage_submitted,
        [EVENT_STAGE_COMPLETED] = model_stage_completed,
        [EVENT_TASK_START] = model_task_start,
        [EVENT_TASK_END] = model_task_end,
        [EVENT_UNPERSIST_RDD] = model_unpersist,
        [EVENT_BLOCK_UPDATED] = model_block_updated,
        [EVENT_STAGE_EXECUTOR_METRICS] = model_stage_executor_metrics,
        [EVENT_EXECUTOR_METRICS_UPDATE] = model_executor_metrics_update,
        [EVENT_PROCESS_ADDED] = model_process_added,
        [EVENT_STREAMING_STARTED] = model_streaming_started,
        [EVENT_STREAMING_PROGRESS] = model_streaming_progress,
        [EVENT_STREAMING_IDLE] = model_streaming_idle,
        [EVENT_STREAMING_TERMINATED] = model_streaming_terminated,
        [EVENT_SERVER_SESSION] = model_server_session,
        [EVENT_SERVER_OPERATION] = model_server_operation,
        [EVENT_SERVER_SERVICE] = model_server_service,
        [EVENT_SQL_START] = model_sql_start,
        [EVENT_SQL_END] = model_sql_end,
        [EVENT_SQL_DRIVER_UPDATES] = model_sql_driver_updates,
        [EVENT_SQL_PLAN_UPDATE] = model_sql_plan_update,
        [EVENT_SQL_METRIC_UPDATE] = model_sql_metric_update,
        /* BlockManagerRemoved and TaskGettingResult change nothing: the end of the executor or task says it again. */
    };
    self->health.out_of_range_count += event->out_of_range;
    self->health.repaired_count += event->repaired;
    model_handler *handler = handlers[event->kind];
    return handler ? handler(self, event, err) : ERR_OK;
}

enum err_code app_model_finish(struct app_model *self, struct err *err)
{
    struct model_health *health = &self->health;
    health->jobs_without_end = health->jobs_without_start = health->stages_without_end = health->stages_without_start = 0;
    for (size_t i = 0; i < self->jobs.count; i++) {
        const struct job *job = self->jobs.items[i];
        health->jobs_without_end += job->status == JOB_NO_END;
        health->jobs_without_start += !job->start_seen;
    }
    for (size_t i = 0; i < self->stages.count; i++) {
        const struct stage *stage = self->stages.items[i];
        bool ran = stage->submitted_seen || stage->completed_seen || stage->task_rows || stage->tasks.active;
        health->stages_without_end += ran && !stage->completed_seen;
        health->stages_without_start += ran && !stage->submitted_seen;
    }
    enum err_code rc = sql_finish(self, err);
    return rc ? rc : model_tasks_finish(self, err);
}
