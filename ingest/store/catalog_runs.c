/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs: which of several logs gives a run, what its head and tail tell, and judgements over loaded ones. */
#include <stdio.h>
#include <string.h>

#include "ingest/store/catalog_statements.h"
#include "ingest/store/run_history.h"
#include "ingest/store/run_summary.h"

static bool same_text(struct str a, const char *b)
{
    return a.ptr ? b && str_is(a, b) : !b;
}

/* What the catalogue knows of a run and of the log it is taken from. */
struct source {
    bool found, same_run, started, complete, loaded, holds_run;
    int64_t log_id, bytes, modified_ms;
    enum log_state state;
    char path[512];                  /* for reasons; cut */
};

static enum err_code find_source(struct catalog *self, const char *app_key, const struct catalog_run *run, struct source *ret, struct err *err)
{
    sqlite3_stmt *stmt;
    *ret = (struct source){0};
    enum err_code rc = catalog_statement(self, SQL_APP_SOURCE, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    rc = db_step(stmt, err);
    if (rc)
        return rc == ERR_EOF ? ERR_OK : rc;
    *ret = (struct source){.found = true, .same_run = same_text(db_str(stmt, 0), run->app_id) && same_text(db_str(stmt, 1), run->attempt_id), .started = !db_is_null(stmt, 2),
        .complete = db_i64(stmt, 3) == 1, .loaded = db_i64(stmt, 4) == 1, .log_id = db_i64(stmt, 5), .state = log_state_of(db_str(stmt, 7)),
        .bytes = db_i64(stmt, 8), .modified_ms = db_i64(stmt, 9), .holds_run = db_i64(stmt, 10) == 1};
    snprintf(ret->path, sizeof ret->path, "%s", db_str(stmt, 6).ptr);
    db_reset(stmt);
    return ERR_OK;
}

/* Complete, then larger, then newer. Below 0: `a` is the lesser. */
static int compare_copies(bool a_complete, int64_t a_bytes, int64_t a_modified_ms, bool b_complete, int64_t b_bytes, int64_t b_modified_ms)
{
    if (a_complete != b_complete)
        return a_complete ? 1 : -1;
    if (a_bytes != b_bytes)
        return a_bytes > b_bytes ? 1 : -1;
    return (a_modified_ms > b_modified_ms) - (a_modified_ms < b_modified_ms);
}

/* Is `row` the log to take the run from, rather than the one it is taken from so far? */
static bool is_better_source(const struct catalog_row *row, bool complete, const struct source *old)
{
    if (!old->found || old->log_id == row->log_id || !old->holds_run)
        return true;
    if (old->state == LOG_FAILED || (old->state == LOG_GONE && !old->loaded))
        return true;
    int order = compare_copies(complete, row->bytes, row->modified_ms, old->complete, old->bytes, old->modified_ms);
    return old->state == LOG_GONE ? order >= 0 : order > 0;
}

enum err_code catalog_write_access(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_RUN_ACCESS, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, log_id);
    db_bind_str(stmt, 2, str_of(app_key));
    db_bind_str(stmt, 3, str_of(run->view_users));
    db_bind_str(stmt, 4, str_of(run->view_groups));
    return db_run(stmt, err);
}

static enum err_code write_listed_app(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_LISTED_APP, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    db_bind_str(stmt, 2, str_of(run->app_id));
    db_bind_str(stmt, 3, str_of(run->attempt_id));
    db_bind_str(stmt, 4, str_of(run->name));
    db_bind_str(stmt, 5, str_of(run->user));
    db_bind_str(stmt, 6, str_of(run->spark_version));
    db_bind_str(stmt, 7, str_of(run->queue));
    db_bind_i64(stmt, 8, run->start_ms);
    db_bind_i64(stmt, 9, run->end_ms);
    db_bind_i64(stmt, 10, run->complete);
    db_bind_i64(stmt, 11, log_id);
    db_bind_i64(stmt, 12, run->exit_code);
    db_bind_i64(stmt, 13, run->vendor_version);
    db_bind_i64(stmt, 14, run->start_inferred);
    rc = db_run(stmt, err);
    return rc ? rc : catalog_write_access(self, log_id, app_key, run, err);
}

static enum err_code skip_copy(struct catalog *self, int64_t log_id, const char *shown_path, bool shown_is_gone, struct err *err)
{
    char reason[640];
    snprintf(reason, sizeof reason, shown_is_gone ? "the run was read from a copy that held more or was newer and is gone now: %s"
                                                  : CATALOG_COPY_REASON "%s", shown_path);
    return catalog_exec_id_text_time(self, SQL_COPY_SKIPPED, log_id, reason, err);
}

static enum err_code listed(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, bool *ret_chosen, struct err *err)
{
    struct catalog_row row;
    struct source source;
    char old_key[256] = "";
    enum err_code rc = catalog_get(self, log_id, &row, err);
    if (rc)
        return rc;
    /* The key that the row has stays when it is still the same run: one handed on by a rename, or one made from the name of a log that had no ApplicationStart yet. */
    if (row.app_key && strcmp(row.app_key, app_key) != 0) {
        snprintf(old_key, sizeof old_key, "%s", row.app_key);
        if ((rc = find_source(self, old_key, run, &source, err)))
            return rc;
        if (source.found && source.log_id == log_id && (source.same_run || !source.started))
            app_key = old_key;
    }
    if ((rc = find_source(self, app_key, run, &source, err)) || (rc = catalog_exec_id_text_time(self, SQL_SET_KEY, log_id, app_key, err)))
        return rc;
    *ret_chosen = is_better_source(&row, run->complete, &source);
    if (!*ret_chosen)
        return skip_copy(self, log_id, source.path, source.state == LOG_GONE, err);
    if (source.found && source.log_id != log_id && source.holds_run && source.state != LOG_GONE && source.state != LOG_FAILED && source.state != LOG_LOADING &&
        (rc = skip_copy(self, source.log_id, row.path, false, err)))
        return rc;
    return write_listed_app(self, log_id, app_key, run, err);
}

enum err_code catalog_listed(struct catalog *self, int64_t log_id, const char *app_key, const struct catalog_run *run, bool *ret_chosen, struct err *err)
{
    bool own;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    return catalog_leave(self, own, listed(self, log_id, app_key, run, ret_chosen, err), err);
}

enum err_code catalog_each_unjudged(struct catalog *self, catalog_key_fn *each, void *context, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(&self->db, &stmt,
                                  "SELECT app_key FROM app WHERE loaded AND task_count > 0 AND app_key NOT IN (SELECT app_key FROM run_summary) ORDER BY start_ms", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = each(context, db_str(stmt, 0).ptr);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code judged(struct catalog *self, const char *app_key, int64_t skew_grade, int64_t gc_grade, const struct run_history *history, const struct run_summary *summary,
                            struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(&self->db, &stmt, "UPDATE app SET skew_grade = ?2, gc_grade = ?3 WHERE app_key = ?1", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    db_bind_i64(stmt, 2, skew_grade);
    db_bind_i64(stmt, 3, gc_grade);
    rc = db_run(stmt, err);
    db_finalize(stmt);
    if (rc || (rc = run_history_write(&self->db, app_key, history, err)))
        return rc;
    return run_summary_write(&self->db, app_key, summary, err);
}

enum err_code catalog_judged(struct catalog *self, const char *app_key, int64_t skew_grade, int64_t gc_grade, const struct run_history *history, const struct run_summary *summary,
                             struct err *err)
{
    bool own;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    return catalog_leave(self, own, judged(self, app_key, skew_grade, gc_grade, history, summary, err), err);
}
