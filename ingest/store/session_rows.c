/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/session_rows.h"

#include "base/mem.h"
#include "ingest/model/sessions.h"
#include "ingest/store/operation_tags.h"
#include "ingest/store/row_value.h"

enum statement { PUT_SESSION, PUT_OPERATION, PUT_SERVICE, PUT_JOB_TAG, STATEMENT_COUNT };

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_SESSION] = "INSERT OR REPLACE INTO server_session (session_ref, server, session_id, user, ip, start_ms, finish_ms, start_seen, end_seen)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_OPERATION] = "INSERT OR REPLACE INTO server_operation (operation_ref, server, operation_key, operation_id, session_id, user, job_group, tags, state, outcome, start_seen,"
                      " start_ms, finish_ms, close_ms, statement_text_id, plan_text_id, error_text_id, trace_text_id, produced_rows)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_SERVICE] = "INSERT OR REPLACE INTO server_service (service_ref, host, port, start_ms, end_ms) VALUES (?, ?, ?, ?, ?)",
    [PUT_JOB_TAG] = "INSERT OR REPLACE INTO job_tag (tag, job_id) VALUES (?, ?)",
};

struct session_rows {
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

#define ROW(which, ...) row_put(self->statements[which], err, ROW_VALUES(__VA_ARGS__))

enum err_code session_rows_attach(struct session_rows *self, struct db *db, struct err *err)
{
    return rows_prepare(self->statements, statement_texts, STATEMENT_COUNT, db, err);
}

void session_rows_detach(struct session_rows *self)
{
    rows_finalize(self->statements, STATEMENT_COUNT);
}

enum err_code session_rows_new(struct session_rows **ret, struct db *db, struct err *err)
{
    struct session_rows *self = mem_zalloc(sizeof *self);
    *ret = self;
    if (!self)
        return err_nomem(err);
    enum err_code rc = session_rows_attach(self, db, err);
    if (rc) {
        session_rows_free(self);
        *ret = NULL;
    }
    return rc;
}

void session_rows_free(struct session_rows *self)
{
    if (!self)
        return;
    session_rows_detach(self);
    mem_free(self);
}

static enum err_code put_session(struct session_rows *self, const struct server_session *s, struct err *err)
{
    return ROW(PUT_SESSION, N(s->session_ref), N(s->server), S(s->session_id), S(s->user), S(s->ip), N(s->start_ms), N(s->finish_ms), N(s->start_seen), N(s->end_seen));
}

static enum err_code put_operation(struct session_rows *self, const struct server_operation *o, struct err *err)
{
    return ROW(PUT_OPERATION, N(o->operation_ref), N(o->server), S(o->operation_key), S(o->operation_id), S(o->session_id), S(o->user), S(o->job_group), S(o->tags), N(o->state),
               N(o->outcome), N(o->start_seen), N(o->start_ms), N(o->finish_ms), N(o->close_ms), N(o->statement_text_id), N(o->plan_text_id), N(o->error_text_id),
               N(o->trace_text_id), N(o->produced_rows));
}

static enum err_code put_service(struct session_rows *self, const struct server_service *s, struct err *err)
{
    return ROW(PUT_SERVICE, N(s->service_ref), S(s->host), N(s->port), N(s->start_ms), N(s->end_ms));
}

static enum err_code put_job_tags(struct session_rows *self, const struct job *job, struct err *err)
{
    enum err_code rc = ERR_OK;
    struct str tags = job->tags, tag;
    while (!rc && operation_tag_next(&tags, &tag))
        rc = ROW(PUT_JOB_TAG, S(tag), N(job->job_id));
    return rc;
}

enum err_code session_rows_write(struct session_rows *self, struct app_model *model, struct err *err)
{
    const struct session_model *sessions = model->sessions;
    enum err_code rc = ERR_OK;
    for (size_t i = 0; sessions && i < sessions->sessions.count && !rc; i++) {
        struct server_session *session = sessions->sessions.items[i];
        if (session->dirty && !(rc = put_session(self, session, err)))
            session->dirty = false;
    }
    for (size_t i = 0; sessions && i < sessions->operations.count && !rc; i++) {
        struct server_operation *operation = sessions->operations.items[i];
        if (operation->dirty && !(rc = put_operation(self, operation, err)))
            operation->dirty = false;
    }
    for (size_t i = 0; sessions && i < sessions->services.count && !rc; i++) {
        struct server_service *service = sessions->services.items[i];
        if (service->dirty && !(rc = put_service(self, service, err)))
            service->dirty = false;
    }
    for (size_t i = 0; i < model->jobs.count && !rc; i++) {
        const struct job *job = model->jobs.items[i];
        if (job->lists_dirty)
            rc = put_job_tags(self, job, err);
    }
    return rc;
}
