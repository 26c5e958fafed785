/* SPDX-License-Identifier: Apache-2.0
 *
 * spec/sql.md §8, without the History Server's limits (200 sessions, 200 statements). */
#include "ingest/model/sessions.h"

#include "base/mem.h"

static struct session_model *sessions_get(struct app_model *model)
{
    if (model->sessions)
        return model->sessions;
    struct session_model *self = mem_zalloc(sizeof *self);
    for (size_t i = 0; self && i < ARRAY_LENGTH(self->session_by_id); i++) {
        smap_init(&self->session_by_id[i], MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
        smap_init(&self->operation_by_key[i], MODEL_MAX_ENTITIES, MODEL_ARENA_BYTES);
    }
    return model->sessions = self;
}

void model_sessions_free(struct app_model *model)
{
    struct session_model *self = model->sessions;
    if (!self)
        return;
    mem_free(self->sessions.items);
    mem_free(self->operations.items);
    mem_free(self->services.items);
    for (size_t i = 0; i < ARRAY_LENGTH(self->session_by_id); i++) {
        smap_dispose(&self->session_by_id[i]);
        smap_dispose(&self->operation_by_key[i]);
    }
    mem_free(self);
}

static struct server_session *session_get(struct app_model *model, enum server_kind server, struct str id)
{
    struct session_model *self = sessions_get(model);
    if (!self)
        return NULL;
    struct server_session *session = smap_get(&self->session_by_id[server], id);
    if (session)
        return session;
    session = model_entity(model, &self->sessions, sizeof *session);
    if (!session || smap_put(&self->session_by_id[server], id, session) || arena_str(&model->arena, id, &session->session_id))
        return NULL;
    session->session_ref = (int64_t)self->sessions.count;
    session->server = server;
    session->start_ms = session->finish_ms = UNKNOWN;
    return session;
}

enum err_code model_server_session(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_server_session *e = &event->server_session;
    struct server_session *session = session_get(model, e->server, e->id);
    if (!session)
        return err_nomem(err);
    model_time(model, e->time_ms);
    model->health.duplicate_event_count += e->closed ? session->end_seen : session->start_seen;
    session->dirty = true;
    if (e->closed) {
        session->end_seen = 1;
        session->finish_ms = e->time_ms;
    } else {
        session->start_seen = 1;
        session->start_ms = e->time_ms;
    }
    enum err_code rc = str_known(e->user) ? model_id(model, &session->user, e->user, err) : ERR_OK;
    return !rc && str_known(e->ip) ? model_id(model, &session->ip, e->ip, err) : rc;
}

static struct server_operation *operation_get(struct app_model *model, enum server_kind server, struct str key)
{
    struct session_model *self = sessions_get(model);
    if (!self)
        return NULL;
    struct server_operation *operation = smap_get(&self->operation_by_key[server], key);
    if (operation)
        return operation;
    operation = model_entity(model, &self->operations, sizeof *operation);
    if (!operation || smap_put(&self->operation_by_key[server], key, operation) || arena_str(&model->arena, key, &operation->operation_key))
        return NULL;
    operation->operation_ref = (int64_t)self->operations.count;
    operation->server = server;
    operation->state = operation->outcome = operation->start_ms = operation->finish_ms = operation->close_ms = UNKNOWN;
    operation->statement_text_id = operation->plan_text_id = operation->error_text_id = operation->trace_text_id = operation->produced_rows = UNKNOWN;
    return operation;
}

static void operation_times(struct server_operation *operation, const struct event_server_operation *e)
{
    switch (e->state) {
    case OPERATION_STARTED:
        operation->start_seen = 1;
        operation->start_ms = e->time_ms;
        break;
    case OPERATION_FINISHED:
    case OPERATION_FAILED:
    case OPERATION_TIMED_OUT:
    case OPERATION_CANCELED:
        if (operation->outcome > (int64_t)e->state)
            break;
        operation->outcome = (int64_t)e->state;
        operation->finish_ms = e->time_ms;
        break;
    case OPERATION_CLOSED:
        operation->close_ms = e->time_ms;
        break;
    default:
        break;                       /* parsed and ready have no time of their own that anybody shows */
    }
    operation->state = MAX(operation->state, (int64_t)e->state);
}

/* Each event carries some of the texts; one without a text leaves what another one said. */
static enum err_code operation_texts(struct app_model *model, struct server_operation *operation, const struct event_server_operation *e, struct err *err)
{
    const struct {
        struct str *to, from;
        bool is_id;
    } short_texts[] = {
        {&operation->operation_id, e->id, true},      {&operation->session_id, e->session_id, true}, {&operation->user, e->user, true},
        {&operation->job_group, e->job_group, false}, {&operation->tags, e->tags, false},
    };
    const struct {
        int64_t *to;
        struct str from;
    } long_texts[] = {
        {&operation->statement_text_id, e->statement}, {&operation->plan_text_id, e->plan}, {&operation->error_text_id, e->error}, {&operation->trace_text_id, e->trace},
    };
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(short_texts) && !rc; i++)
        if (str_known(short_texts[i].from))
            rc = (short_texts[i].is_id ? model_id : model_str)(model, short_texts[i].to, short_texts[i].from, err);
    for (size_t i = 0; i < ARRAY_LENGTH(long_texts) && !rc; i++)
        if (str_known(long_texts[i].from))
            rc = model_text_id(model, long_texts[i].from, long_texts[i].to, err);
    return rc;
}

enum err_code model_server_operation(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_server_operation *e = &event->server_operation;
    struct server_operation *operation = operation_get(model, e->server, e->key);
    if (!operation)
        return err_nomem(err);
    model_time(model, e->time_ms);
    model->health.duplicate_event_count += e->state == OPERATION_STARTED && operation->start_seen;
    operation->dirty = true;
    operation_times(operation, e);
    if (known(e->produced_rows))
        operation->produced_rows = e->produced_rows;
    return operation_texts(model, operation, e, err);
}

enum err_code model_server_service(struct app_model *model, const struct event *event, struct err *err)
{
    const struct event_server_service *e = &event->server_service;
    struct session_model *self = sessions_get(model);
    if (!self)
        return err_nomem(err);
    model_time(model, e->time_ms);
    struct server_service *last = self->services.count ? self->services.items[self->services.count - 1] : NULL;
    bool same = last && last->port == e->port && str_eq(last->host, e->host);
    if (same && (e->ended ? last->end_ms : last->start_ms) == e->time_ms && (last->ended || !e->ended)) {
        model->health.duplicate_event_count++;
        return ERR_OK;
    }
    bool ends_last = same && e->ended && !last->ended;
    struct server_service *service = ends_last ? last : model_entity(model, &self->services, sizeof *service);
    if (!service)
        return err_nomem(err);
    service->dirty = true;
    service->ended = e->ended;
    if (ends_last) {
        service->end_ms = e->time_ms;
        return ERR_OK;
    }
    service->service_ref = (int64_t)self->services.count;
    service->port = e->port;
    service->start_ms = e->ended ? UNKNOWN : e->time_ms;
    service->end_ms = e->ended ? e->time_ms : UNKNOWN;
    return str_known(e->host) ? model_id(model, &service->host, e->host, err) : ERR_OK;
}
