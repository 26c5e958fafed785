/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/session_rows.h"

#include <string.h>

#include "base/mem.h"
#include "ingest/model/sessions.h"

#define OPERATION_TAG "SparkConnect_OperationTag"

enum statement { PUT_SESSION, PUT_OPERATION, PUT_JOB_TAG, STATEMENT_COUNT };

static const char *const statement_texts[STATEMENT_COUNT] = {
    [PUT_SESSION] = "INSERT OR REPLACE INTO server_session (session_ref, server, session_id, user, ip, start_ms, finish_ms, start_seen, end_seen)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_OPERATION] = "INSERT OR REPLACE INTO server_operation (operation_ref, server, operation_key, operation_id, session_id, user, job_group, tags, state, outcome, start_seen,"
                      " start_ms, finish_ms, close_ms, statement_text_id, plan_text_id, error_text_id, trace_text_id, produced_rows)"
                      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_JOB_TAG] = "INSERT OR REPLACE INTO job_tag (tag, job_id) VALUES (?, ?)",
};

struct session_rows {
    struct db *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
};

enum err_code session_rows_attach(struct session_rows *self, struct db *db, struct err *err)
{
    enum err_code rc = ERR_OK;
    self->db = db;
    for (size_t i = 0; i < STATEMENT_COUNT && !rc; i++)
        rc = db_prepare(db, &self->statements[i], statement_texts[i], err);
    return rc;
}

void session_rows_detach(struct session_rows *self)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        db_finalize(TAKE(self->statements[i]));
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

static enum err_code put_session(struct session_rows *self, const struct server_session *session, struct err *err)
{
    sqlite3_stmt *stmt = self->statements[PUT_SESSION];
    db_bind_i64(stmt, 1, session->session_ref);
    db_bind_i64(stmt, 2, session->server);
    db_bind_str(stmt, 3, session->session_id);
    db_bind_str(stmt, 4, session->user);
    db_bind_str(stmt, 5, session->ip);
    db_bind_i64(stmt, 6, session->start_ms);
    db_bind_i64(stmt, 7, session->finish_ms);
    db_bind_i64(stmt, 8, session->start_seen);
    db_bind_i64(stmt, 9, session->end_seen);
    return db_run(stmt, err);
}

static enum err_code put_operation(struct session_rows *self, const struct server_operation *o, struct err *err)
{
    sqlite3_stmt *stmt = self->statements[PUT_OPERATION];
    struct str const texts[] = {o->operation_key, o->operation_id, o->session_id, o->user, o->job_group, o->tags};
    int64_t const numbers[] = {o->state, o->outcome, o->start_seen, o->start_ms, o->finish_ms, o->close_ms, o->statement_text_id, o->plan_text_id, o->error_text_id,
                               o->trace_text_id, o->produced_rows};
    int at = 1;
    db_bind_i64(stmt, at++, o->operation_ref);
    db_bind_i64(stmt, at++, o->server);
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        db_bind_str(stmt, at++, texts[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        db_bind_i64(stmt, at++, numbers[i]);
    return db_run(stmt, err);
}

static enum err_code put_job_tags(struct session_rows *self, const struct job *job, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (struct str rest = job->tags; rest.len && !rc;) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        struct str tag = {rest.ptr, comma ? (size_t)(comma - rest.ptr) : rest.len};
        rest = comma ? (struct str){comma + 1, rest.len - tag.len - 1} : (struct str){NULL, 0};
        if (!str_starts(tag, OPERATION_TAG))
            continue;
        db_bind_str(self->statements[PUT_JOB_TAG], 1, tag);
        db_bind_i64(self->statements[PUT_JOB_TAG], 2, job->job_id);
        rc = db_run(self->statements[PUT_JOB_TAG], err);
    }
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
    for (size_t i = 0; i < model->jobs.count && !rc; i++) {
        const struct job *job = model->jobs.items[i];
        if (job->lists_dirty)
            rc = put_job_tags(self, job, err);
    }
    return rc;
}
