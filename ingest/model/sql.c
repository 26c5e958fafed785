/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of an SQL execution: spec/sql.md §4. */
#include "ingest/model/sql.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/packed_text.h"
#include "base/redact.h"
#include "ingest/model/redact.h"

#define EXECUTION_TEXT_BYTES ((size_t)512 << 20)     /* of one: what a line can hold, unescaped */
#define PACKED_MAX_BYTES (PACKED_TEXT_MAX_BYTES + ((size_t)1 << 20))
#define MAX_WAITING ((size_t)1 << 24)

struct sql_model *sql_model_new(void)
{
    struct sql_model *self = mem_zalloc(sizeof *self);
    if (!self)
        return NULL;
    arena_init(&self->arena, MODEL_ARENA_BYTES);
    arena_init(&self->fresh, MODEL_ARENA_BYTES);
    imap_init(&self->by_id, MODEL_MAX_ENTITIES);
    imap_init(&self->stages, MODEL_MAX_ENTITIES);
    smap_init(&self->names, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    smap_init(&self->plan_texts, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    self->next_plan_id = self->next_plan_text_id = 1;
    return self;
}

/* What it costs while it lives, beside what its tasks report. */
static size_t live_bytes(const struct sql_execution *execution)
{
    return arena_bytes(&execution->texts) + arena_bytes(&execution->graphs.keys) + execution->base_packed_bytes + execution->metric_count * SQL_METRIC_BYTES +
           execution->update_bytes + execution->update_count * SQL_UPDATE_BYTES;
}

static void recount(struct sql_model *self, struct sql_execution *execution)
{
    self->tracked_bytes -= execution->counted_bytes;
    execution->counted_bytes = live_bytes(execution);
    self->tracked_bytes += execution->counted_bytes;
}

static enum err_code check_bytes(struct sql_model *self, struct sql_execution *execution, struct err *err)
{
    recount(self, execution);
    return sql_check_bytes(self, err);
}

/* Known metrics and what was collected for them. */
static void free_metrics(struct sql_execution *execution)
{
    mem_free(TAKE(execution->metrics));
    mem_free(TAKE(execution->updates));
    imap_dispose(&execution->metric_at);
    imap_init(&execution->metric_at, MODEL_MAX_ENTITIES);
    execution->metric_count = execution->metric_capacity = execution->update_count = execution->update_bytes = execution->update_capacity = 0;
}

static void free_texts(struct sql_execution *execution)
{
    arena_dispose(&execution->texts);
    mem_free(TAKE(execution->base));
    smap_dispose(&execution->graphs);
    smap_init(&execution->graphs, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    execution->base_text_id = UNKNOWN;
    execution->base_packed_bytes = 0;
    execution->description = execution->job_group = execution->job_tags = execution->query_id = STR_NONE;
    execution->configs = (struct kv_list){NULL, 0};
}

void sql_model_free(struct sql_model *self)
{
    if (!self)
        return;
    for (size_t i = 0; i < self->executions.count; i++) {
        struct sql_execution *execution = self->executions.items[i];
        free_metrics(execution);
        imap_dispose(&execution->metric_at);
        free_texts(execution);
        smap_dispose(&execution->graphs);
        mem_free(execution->jobs);
        imap_dispose(&execution->stages);
    }
    for (size_t i = 0; i < self->stages.count; i++) {
        struct sql_stage *stage = self->stages.entries[i].value;
        sql_tracker_free(self, stage->tracker);
        mem_free(stage);
    }
    mem_free(self->executions.items);
    imap_dispose(&self->by_id);
    imap_dispose(&self->stages);
    smap_dispose(&self->names);
    smap_dispose(&self->plan_texts);
    mem_free(self->plans);
    mem_free(self->texts);
    arena_dispose(&self->arena);
    arena_dispose(&self->fresh);
    mem_free(self);
}

static struct sql_execution *execution_get(struct sql_model *self, int64_t id)
{
    struct sql_execution *execution = imap_get(&self->by_id, id);
    if (execution)
        return execution;
    execution = arena_zalloc(&self->arena, 1, sizeof *execution);
    if (!execution || mem_grow((void **)&self->executions.items, &self->executions.capacity, self->executions.count + 1, MODEL_MAX_ENTITIES, sizeof *self->executions.items) ||
        imap_put(&self->by_id, id, execution))
        return NULL;
    self->executions.items[self->executions.count++] = execution;
    execution->execution_id = id;
    execution->root_execution_id = execution->submission_ms = execution->completion_ms = execution->outcome = UNKNOWN;
    execution->details_text_id = execution->error_text_id = execution->plan_id = execution->base_text_id = UNKNOWN;
    arena_init(&execution->texts, EXECUTION_TEXT_BYTES);
    imap_init(&execution->stages, MODEL_MAX_ENTITIES);
    imap_init(&execution->metric_at, MODEL_MAX_ENTITIES);
    smap_init(&execution->graphs, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    execution->dirty = true;
    return execution;
}

/* ---- stages of live executions */

static void drop_tracker(struct sql_model *self, struct sql_stage *stage)
{
    sql_tracker_free(self, TAKE(stage->tracker));
}

static enum err_code stage_enters(struct sql_model *self, int64_t stage_id, struct err *err)
{
    struct sql_stage *stage = imap_get(&self->stages, stage_id);
    if (!stage) {
        stage = mem_zalloc(sizeof *stage);
        if (!stage || imap_put(&self->stages, stage_id, stage)) {
            mem_free(stage);
            return err_nomem(err);
        }
    }
    stage->live_executions++;
    return ERR_OK;
}

static void stages_leave(struct sql_model *self, const struct sql_execution *execution)
{
    for (size_t i = 0; i < execution->stages.count; i++) {
        struct sql_stage *stage = imap_get(&self->stages, execution->stages.entries[i].key);
        if (!stage || --stage->live_executions)
            continue;
        drop_tracker(self, stage);
        imap_remove(&self->stages, execution->stages.entries[i].key);
        mem_free(stage);
    }
}

/* Its metrics are what they are; trackers that no other live execution looks at may go. */
static enum err_code aggregate(struct sql_model *self, struct sql_execution *execution, struct err *err)
{
    enum err_code rc = sql_aggregate(self, execution, err);
    if (rc)
        return rc;
    execution->aggregated = true;
    for (size_t i = 0; i < execution->stages.count; i++) {
        struct sql_stage *stage = imap_get(&self->stages, execution->stages.entries[i].key);
        if (stage && stage->live_executions == 1)
            drop_tracker(self, stage);
    }
    return ERR_OK;
}

static enum err_code check_final(struct sql_model *self, struct sql_execution *execution, struct err *err)
{
    if (execution->final || !execution->end_seen || execution->ended_jobs < execution->job_count)
        return ERR_OK;
    enum err_code rc = execution->aggregated ? ERR_OK : aggregate(self, execution, err);
    if (rc)
        return rc;
    execution->final = true;
    stages_leave(self, execution);
    imap_dispose(&execution->stages);
    execution->stages_left = true;
    recount(self, execution);
    self->settling_bytes += execution->counted_bytes;
    return ERR_OK;
}

static enum err_code track_stage(struct sql_model *self, const struct sql_execution *execution, const struct stage_info *info, struct err *err)
{
    struct sql_stage *stage = imap_get(&self->stages, info->id);
    if (!stage)
        return ERR_OK;
    drop_tracker(self, stage);
    if (execution->aggregated)
        return ERR_OK;
    stage->tracker = sql_tracker_new(execution, 0, info->num_tasks);
    return stage->tracker ? ERR_OK : err_nomem(err);
}

enum err_code sql_job_start(struct app_model *model, struct job *job, const struct event_job_start *e, struct err *err)
{
    struct sql_model *self = model->sql;
    if (!known(job->sql_execution_id))
        return ERR_OK;
    struct sql_execution *execution = execution_get(self, job->sql_execution_id);
    if (!execution || mem_grow((void **)&execution->jobs, &execution->job_capacity, execution->job_count + 1, MODEL_MAX_ENTITIES, sizeof *execution->jobs))
        return err_nomem(err);
    enum err_code rc = ERR_OK;
    execution->final = false;        /* it lives again, but its metrics are what they are: it looks at no stage any more, however often it is opened */
    execution->jobs[execution->job_count++] = job;
    execution->ended_jobs += job->status != JOB_NO_END;
    execution->dirty = true;
    for (size_t i = 0; i < e->stage_count && !execution->stages_left && !rc; i++) {
        int64_t stage_id = e->stages[i].id;
        if (imap_get(&execution->stages, stage_id))
            continue;
        if (imap_put(&execution->stages, stage_id, execution))
            return err_nomem(err);
        rc = stage_enters(self, stage_id, err);
    }
    for (size_t i = 0; i < e->stage_count && execution->metric_count && !rc; i++)
        rc = track_stage(self, execution, &e->stages[i], err);
    return rc ? rc : check_final(self, execution, err);
}

enum err_code sql_job_end(struct app_model *model, struct job *job, struct err *err)
{
    struct sql_execution *execution = known(job->sql_execution_id) ? imap_get(&model->sql->by_id, job->sql_execution_id) : NULL;
    if (!execution)
        return ERR_OK;
    execution->ended_jobs++;
    execution->dirty = true;         /* its status may hang on the job's */
    return check_final(model->sql, execution, err);
}

void sql_stage_submitted(struct app_model *model, const struct stage *submitted)
{
    struct sql_stage *stage = imap_get(&model->sql->stages, submitted->stage_id);
    struct sql_tracker *tracker = stage ? stage->tracker : NULL;
    if (!tracker || tracker->attempt == submitted->attempt)
        return;
    sql_tracker_restart(model->sql, tracker, submitted->attempt);       /* what an earlier attempt reported is lost, there as here */
}

enum err_code sql_task_updates(struct app_model *model, const struct sql_task *task, const struct accumulator_update_list *updates, struct err *err)
{
    struct sql_stage *stage = imap_get(&model->sql->stages, task->stage_id);
    struct sql_tracker *tracker = stage ? stage->tracker : NULL;
    return tracker && tracker->attempt == task->stage_attempt ? sql_track(model->sql, tracker, task, updates, err) : ERR_OK;
}

/* ---- plans */

static enum err_code fresh_text(struct sql_model *self, struct str packed, int64_t base_id, size_t text_bytes, int64_t *ret_id, struct err *err)
{
    struct str copy;
    if (mem_grow((void **)&self->texts, &self->text_capacity, self->text_count + 1, MAX_WAITING, sizeof *self->texts) || arena_str(&self->fresh, packed, &copy))
        return err_nomem(err);
    *ret_id = self->next_plan_text_id++;
    self->texts[self->text_count++] = (struct sql_plan_text){*ret_id, base_id, (int64_t)text_bytes, copy};
    return ERR_OK;
}

/* Packs a text that was not stored yet: the execution's first is the base of the others. */
static enum err_code pack_text(struct sql_model *self, struct sql_execution *execution, struct str text, int64_t *ret_id, struct err *err)
{
    CLEANUP(buf_dispose) struct buf packed;
    CLEANUP(mem_freep) char *base = NULL;
    enum err_code rc;
    buf_init(&packed, PACKED_MAX_BYTES);
    if (known(execution->base_text_id)) {
        if (!(base = mem_alloc(execution->base_bytes + 1)))
            return err_nomem(err);
        if ((rc = packed_text_unpack((struct str){execution->base, execution->base_packed_bytes}, STR_NONE, base, execution->base_bytes, err)) ||
            (rc = packed_text_pack(text, (struct str){base, execution->base_bytes}, &packed, err)))
            return rc;
        return fresh_text(self, buf_str(&packed), execution->base_text_id, text.len, ret_id, err);
    }
    if ((rc = packed_text_pack(text, STR_NONE, &packed, err)) || (rc = fresh_text(self, buf_str(&packed), UNKNOWN, text.len, ret_id, err)))
        return rc;
    if (!(execution->base = mem_strndup(packed.data, packed.len)))
        return err_nomem(err);
    execution->base_packed_bytes = packed.len;
    execution->base_bytes = text.len;
    execution->base_text_id = *ret_id;
    return ERR_OK;
}

static enum err_code plan_text_id(struct sql_model *self, struct sql_execution *execution, struct str text, int64_t *ret, struct err *err)
{
    *ret = UNKNOWN;
    if (!str_known(text))
        return ERR_OK;
    struct digest digest = {0};
    digest_text(&digest, text);
    intptr_t found = (intptr_t)smap_get(&self->plan_texts, digest_key(&digest));
    if (found) {
        *ret = found;
        return ERR_OK;
    }
    enum err_code rc = pack_text(self, execution, text, ret, err);
    if (rc)
        return rc;
    return smap_put(&self->plan_texts, digest_key(&digest), (void *)(intptr_t)*ret) ? err_nomem(err) : ERR_OK;
}

/* The plan whose graph this is: an earlier version's, or its own. */
static enum err_code graph_owner(struct sql_execution *execution, const struct sql_graph *graph, int64_t plan_id, int64_t *ret, struct err *err)
{
    struct digest digest;
    sql_graph_digest(graph, &digest);
    intptr_t found = (intptr_t)smap_get(&execution->graphs, digest_key(&digest));
    if (!found && smap_put(&execution->graphs, digest_key(&digest), (void *)(intptr_t)plan_id))
        return err_nomem(err);
    *ret = found ? found : plan_id;
    return ERR_OK;
}

static enum err_code add_plan(struct app_model *model, struct sql_execution *execution, struct str text, const struct sql_plan_info *info, struct err *err)
{
    struct sql_model *self = model->sql;
    struct sql_plan plan = {.plan_id = self->next_plan_id, .execution_id = execution->execution_id, .version = execution->next_version, .too_large = info->too_large};
    plan.logged_ms = execution->next_version || !known(execution->submission_ms) ? model->last_event_ms : execution->submission_ms;
    enum err_code rc;
    if (!str_known(text) && !info->node_count && !info->too_large)
        return ERR_OK;               /* nothing was logged */
    arena_reset(&model->hidden);
    if (redact_text(&model->hidden, text, &text))
        return err_nomem(err);
    if ((rc = plan_text_id(self, execution, text, &plan.plan_text_id, err)) || (rc = sql_graph_make(model, info, &plan.graph, err)))
        return rc;
    for (size_t i = 0; i < plan.graph.node_count; i++) {
        const struct sql_plan_node *source = plan.graph.nodes[i].source;
        for (size_t m = 0; m < source->metric_count && !rc; m++)
            rc = sql_metric_learn(self, execution, &info->metrics[source->first_metric + m], err);
    }
    if (rc || (rc = graph_owner(execution, &plan.graph, plan.plan_id, &plan.graph_plan_id, err)))
        return rc;
    if (plan.graph_plan_id != plan.plan_id)
        plan.graph.node_count = plan.graph.edge_count = 0;
    if (mem_grow((void **)&self->plans, &self->plan_capacity, self->plan_count + 1, MAX_WAITING, sizeof *self->plans))
        return err_nomem(err);
    self->plans[self->plan_count++] = plan;
    self->next_plan_id++;
    execution->next_version++;
    execution->plan_id = plan.plan_id;
    execution->dirty = true;
    return check_bytes(self, execution, err);
}

/* ---- events */

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Comma-separated, distinct, sorted, as those of jobs. */
static enum err_code join_tags(struct sql_execution *execution, const struct event_sql_start *e, struct err *err)
{
    if (!e->tag_count)
        return ERR_OK;
    size_t bytes = 0, len = 0;
    struct str last = STR_NONE;
    for (size_t i = 0; i < e->tag_count; i++)
        bytes += e->tags[i].len + 1;
    char *text = arena_alloc(&execution->texts, bytes);
    if (!text)
        return err_nomem(err);
    qsort(e->tags, e->tag_count, sizeof *e->tags, by_text);
    for (size_t i = 0; i < e->tag_count; i++) {
        struct str tag = e->tags[i];
        if (!tag.len || str_eq(tag, last))
            continue;
        if (len)
            text[len++] = ',';
        memcpy(text + len, tag.ptr, tag.len);
        len += tag.len;
        last = tag;
    }
    return redact_text(&execution->texts, (struct str){text, len}, &execution->job_tags) ? err_nomem(err) : ERR_OK;
}

static enum err_code copy_configs(struct sql_execution *execution, const struct kv_list *from, struct err *err)
{
    struct kv *items = arena_zalloc(&execution->texts, from->count, sizeof *items);
    if (!items)
        return err_nomem(err);
    for (size_t i = 0; i < from->count; i++)
        if (arena_str(&execution->texts, from->items[i].name, &items[i].name) || arena_str(&execution->texts, from->items[i].value, &items[i].value))
            return err_nomem(err);
    execution->configs = (struct kv_list){items, from->count};
    execution->configs_dirty = true;
    return redact_sql_configs(&execution->texts, &execution->configs) ? err_nomem(err) : ERR_OK;
}

enum err_code model_sql_start(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_sql_start *e = &event->sql_start;
    struct sql_execution *execution = execution_get(model->sql, e->execution_id);
    if (!execution)
        return err_nomem(err);
    if (execution->start_seen) {
        model->health.duplicate_event_count++;
        return ERR_OK;
    }
    execution->start_seen = execution->dirty = true;
    execution->root_execution_id = known_or(e->root_execution_id, e->execution_id);
    execution->submission_ms = e->time_ms;
    model_time(model, e->time_ms);
    enum err_code rc;
    struct arena *texts = &execution->texts;
    if (redact_copy(texts, e->description, &execution->description) || redact_copy(texts, e->job_group, &execution->job_group) || arena_str(texts, e->query_id, &execution->query_id))
        return err_nomem(err);
    if ((rc = model_text_id(model, e->details, &execution->details_text_id, err)) || (rc = join_tags(execution, e, err)) || (rc = copy_configs(execution, &e->configs, err)))
        return rc;
    if ((rc = check_bytes(model->sql, execution, err)))
        return rc;
    return add_plan(model, execution, e->plan_text, &e->plan, err);
}

enum err_code model_sql_end(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_sql_end *e = &event->sql_end;
    struct sql_model *self = model->sql;
    struct sql_execution *execution = execution_get(self, e->execution_id);
    if (!execution)
        return err_nomem(err);
    if (execution->end_seen) {
        model->health.duplicate_event_count++;
        return ERR_OK;
    }
    execution->end_seen = execution->dirty = true;
    execution->completion_ms = e->time_ms;
    execution->outcome = str_known(e->error) ? e->error.len > 0 : UNKNOWN;
    model_time(model, e->time_ms);
    enum err_code rc = e->error.len ? model_text_id(model, e->error, &execution->error_text_id, err) : ERR_OK;
    if (!rc && (execution->start_seen || execution->job_count))
        rc = aggregate(self, execution, err);
    if (!rc && (execution->start_seen || execution->job_count))
        rc = check_final(self, execution, err);
    return rc;
}

enum err_code model_sql_driver_updates(struct app_model *model, const struct event *event, struct err *err)
{
    const struct accumulator_update_list *updates = &event->sql_driver_updates.updates;
    struct sql_execution *execution = imap_get(&model->sql->by_id, event->sql_driver_updates.execution_id);
    if (!execution || execution->aggregated || !updates->count)
        return ERR_OK;
    enum err_code rc = sql_keep_updates(execution, updates, err);
    return rc ? rc : check_bytes(model->sql, execution, err);
}

enum err_code model_sql_plan_update(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_sql_plan_update *e = &event->sql_plan_update;
    struct sql_execution *execution = execution_get(model->sql, e->execution_id);
    return execution ? add_plan(model, execution, e->plan_text, &e->plan, err) : err_nomem(err);
}

enum err_code model_sql_metric_update(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_sql_metric_update *e = &event->sql_metric_update;
    struct sql_execution *execution = execution_get(model->sql, e->execution_id);
    enum err_code rc = execution ? ERR_OK : err_nomem(err);
    for (size_t i = 0; i < e->metric_count && !rc; i++)
        rc = sql_metric_learn(model->sql, execution, &e->metrics[i], err);
    return rc ? rc : check_bytes(model->sql, execution, err);
}

enum err_code sql_finish(struct app_model *model, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < model->sql->executions.count && !rc; i++) {
        struct sql_execution *execution = model->sql->executions.items[i];
        if (!execution->aggregated)
            rc = sql_aggregate(model->sql, execution, err);
    }
    return rc;
}

/* ---- for the writer */

int64_t sql_execution_status(const struct sql_execution *self)
{
    if (known(self->outcome))
        return 1 + self->outcome;
    if (!self->end_seen)
        return 0;
    for (size_t i = 0; i < self->job_count; i++)
        if (self->jobs[i]->status == JOB_FAILED)
            return 2;
    return 1;
}

size_t sql_fresh_bytes(const struct sql_model *self)
{
    return arena_bytes(&self->fresh) + self->settling_bytes;
}

void sql_fresh_written(struct sql_model *self)
{
    arena_reset(&self->fresh);
    self->plan_count = self->text_count = self->settling_bytes = 0;
}

void sql_execution_written(struct sql_model *model, struct sql_execution *self)
{
    self->dirty = self->configs_dirty = self->metrics_dirty = false;
    if (self->aggregated && self->metrics) {
        free_metrics(self);
        self->metrics_settled = true;
    }
    if (self->final && self->start_seen) {
        free_texts(self);
        self->settled = true;
    }
    recount(model, self);
}
