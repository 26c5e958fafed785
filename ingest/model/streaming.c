/* SPDX-License-Identifier: Apache-2.0
 *
 * spec/sql.md §7.1, without the limits of the History Server (100 progress records of a run, 100 runs). */
#include "ingest/model/streaming.h"

#include "base/mem.h"

static struct streaming_model *streaming_get(struct app_model *model)
{
    if (model->streaming)
        return model->streaming;
    struct streaming_model *self = mem_zalloc(sizeof *self);
    if (self)
        smap_init(&self->by_run_id, MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    return model->streaming = self;
}

void model_streaming_free(struct app_model *model)
{
    struct streaming_model *self = model->streaming;
    if (!self)
        return;
    mem_free(self->queries.items);
    smap_dispose(&self->by_run_id);
    mem_free(self);
}

/* The run of that id; made, with what every event says of it, when it is new. NULL: out of memory. */
static struct streaming_query *query_get(struct app_model *model, struct str run_id, struct str id, struct str name)
{
    struct streaming_model *self = streaming_get(model);
    struct streaming_query *query = self ? smap_get(&self->by_run_id, run_id) : NULL;
    if (self && !query) {
        query = model_entity(model, &self->queries, sizeof *query);
        if (!query || smap_put(&self->by_run_id, run_id, query) || arena_str(&model->arena, run_id, &query->run_id))
            return NULL;
        query->run_ref = (int64_t)self->queries.count;
        query->start_ms = query->exception_text_id = query->last_idle_ms = UNKNOWN;
        query->dirty = true;
    }
    if (query && !str_known(query->query_id) && str_known(id)) {
        query->dirty = true;
        if (model_id(model, &query->query_id, id, NULL))
            return NULL;
    }
    if (query && !str_known(query->name) && str_known(name)) {
        query->dirty = true;
        if (model_str(model, &query->name, name, NULL))
            return NULL;
    }
    return query;
}

enum err_code model_streaming_started(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_streaming_query *e = &event->streaming_query;
    struct streaming_query *query = query_get(model, e->run_id, e->id, e->name);
    if (!query)
        return err_nomem(err);
    model_time(model, e->time_ms);
    model->health.duplicate_event_count += query->start_seen;
    query->start_seen = 1;
    query->start_ms = e->time_ms;
    query->dirty = true;
    return model_str(model, &query->job_tags, e->job_tags, err);
}

enum err_code model_streaming_idle(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_streaming_query *e = &event->streaming_query;
    struct streaming_query *query = query_get(model, e->run_id, e->id, STR_NONE);
    if (!query)
        return err_nomem(err);
    model_time(model, e->time_ms);
    query->idle_count++;
    query->last_idle_ms = max_known(query->last_idle_ms, e->time_ms);
    query->dirty = true;
    return ERR_OK;
}

enum err_code model_streaming_terminated(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_streaming_query *e = &event->streaming_query;
    struct streaming_query *query = query_get(model, e->run_id, e->id, STR_NONE);
    if (!query)
        return err_nomem(err);
    model->health.duplicate_event_count += query->end_seen;
    query->end_seen = 1;
    query->dirty = true;
    enum err_code rc = model_id(model, &query->error_class, e->error_class, err);
    return rc ? rc : model_text_id(model, e->exception, &query->exception_text_id, err);
}

enum err_code model_streaming_progress(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_streaming_progress *e = &event->streaming_progress;
    struct streaming_query *query = query_get(model, e->run_id, e->id, e->name);
    if (!query)
        return err_nomem(err);
    model_time(model, e->trigger_ms);
    struct streaming_progress_row row = {.run_ref = query->run_ref, .progress_no = ++model->streaming->progress_count, .progress = e};
    CLEANUP(mem_freep) int64_t *source_text_ids = mem_array(e->source_count + 1, sizeof *source_text_ids);
    if (!source_text_ids)
        return err_nomem(err);
    row.source_text_ids = source_text_ids;
    enum err_code rc = model_text_id(model, e->sink, &row.sink_text_id, err);
    for (size_t i = 0; i < e->source_count && !rc; i++)
        rc = model_text_id(model, e->sources[i].description, &source_text_ids[i], err);
    return rc ? rc : model->sink.streaming_progress(model->sink.context, &row, err);
}
