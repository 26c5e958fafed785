/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/catalog_policy.h"

#include "base/time.h"
#include "base/units.h"
#include "ingest/store/catalog_statements.h"

static enum err_code exec_id_now(struct catalog *self, enum catalog_statement which, int64_t id, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, which, &stmt, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, id);
    db_bind_i64(stmt, 2, time_now_ms());
    return db_run(stmt, err);
}

enum err_code catalog_list_only(struct catalog *self, int64_t log_id, struct err *err)
{
    return exec_id_now(self, SQL_LIST_ONLY, log_id, err);
}

enum err_code catalog_opened(struct catalog *self, int64_t log_id, struct err *err)
{
    return exec_id_now(self, SQL_OPENED, log_id, err);
}

enum err_code catalog_mark_abandoned(struct catalog *self, int64_t before_ms, struct err *err)
{
    return catalog_exec_id(self, SQL_ABANDONED, before_ms, err);
}

enum err_code catalog_reload(struct catalog *self, int64_t log_id, struct err *err)
{
    enum err_code rc = exec_id_now(self, SQL_RELOAD, log_id, err);
    return !rc && sqlite3_changes(self->db.handle) == 0 ? err_set(err, ERR_BUSY, "it is being read, or gone") : rc;
}

enum err_code catalog_run_damaged(struct catalog *self, int64_t log_id, const char *app_key, struct err *err)
{
    bool own;
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    if (!(rc = catalog_statement(self, SQL_NOT_LOADED, &stmt, err))) {
        db_bind_str(stmt, 1, str_of(app_key));
        rc = db_run(stmt, err);
    }
    if (!rc)
        rc = catalog_reload(self, log_id, err);
    return catalog_leave(self, own, rc, err);
}

static enum err_code forget(struct catalog *self, const char *app_key, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_FORGET_LOGS, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    db_bind_str(stmt, 2, STR_LIT("an administrator had it forgotten; it comes back when it changes"));
    db_bind_i64(stmt, 3, time_now_ms());
    if ((rc = db_run(stmt, err)) || (rc = catalog_statement(self, SQL_FORGET_APP, &stmt, err)))
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    return db_run(stmt, err);
}

enum err_code catalog_forget(struct catalog *self, const char *app_key, struct err *err)
{
    bool own;
    enum err_code rc = catalog_enter(self, &own, err);
    return rc ? rc : catalog_leave(self, own, forget(self, app_key, err), err);
}

enum err_code catalog_pin(struct catalog *self, const struct catalog_pin *pin, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PIN, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(pin->token));
    db_bind_str(stmt, 2, str_of(pin->app_key));
    db_bind_str(stmt, 3, str_of(pin->address));
    db_bind_i64(stmt, 4, time_now_ms());
    db_bind_str(stmt, 5, pin->author ? str_of(pin->author) : STR_NONE);
    db_bind_i64(stmt, 6, pin->generation);
    db_bind_i64(stmt, 7, pin->analysis_version);
    return db_run(stmt, err);
}

/* ---- logs */

/* A log that ended and holds no ApplicationStart has no application for the History Server: that it was named after its file is ours. */
static const char to_clean_sql[] =
    "SELECT l.log_id, l.layout, l.bytes, l.modified_ms, l.grown_ms, l.first_seen_ms, l.path, p.uri, l.fingerprint, "
    "iif(a.name IS NULL AND l.finished_name, NULL, a.app_id), a.attempt_id, a.name, l.state, a.complete, a.loaded "
    "FROM log AS l JOIN place AS p USING (place_id) LEFT JOIN app AS a ON a.app_key = l.app_key "
    "WHERE l.state <> 'gone' AND (l.state <> 'skipped' OR l.app_key IS NOT NULL) ORDER BY l.log_id";
static const char removing_sql[] =
    "SELECT l.log_id, l.layout, l.bytes, l.removing_ms, l.grown_ms, l.first_seen_ms, l.path, p.uri, l.fingerprint, NULL, NULL, NULL, l.state, NULL, NULL "
    "FROM log AS l JOIN place AS p USING (place_id) WHERE l.state = 'gone' AND l.removing_ms IS NOT NULL";

static enum err_code each_log(struct db *catalog, const char *sql, catalog_clean_fn *each, void *context, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        const struct catalog_clean_row row = {.log_id = db_i64(stmt, 0), .layout = db_i64(stmt, 1), .bytes = db_i64(stmt, 2), .modified_ms = db_i64(stmt, 3),
            .grown_ms = db_i64(stmt, 4), .first_seen_ms = db_i64(stmt, 5), .path = db_str(stmt, 6).ptr, .place = db_str(stmt, 7).ptr, .fingerprint = db_str(stmt, 8).ptr,
            .app_id = db_str(stmt, 9).ptr, .attempt_id = db_str(stmt, 10).ptr, .name = db_str(stmt, 11).ptr, .state = log_state_of(db_str(stmt, 12)),
            .complete = db_i64(stmt, 13) == 1, .loaded = db_i64(stmt, 14) == 1};
        if ((rc = each(context, &row)) == ERR_NOMEM)
            err_nomem(err);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code catalog_each_to_clean(struct db *catalog, catalog_clean_fn *each, void *context, struct err *err)
{
    return each_log(catalog, to_clean_sql, each, context, err);
}

enum err_code catalog_each_removing(struct db *catalog, catalog_clean_fn *each, void *context, struct err *err)
{
    return each_log(catalog, removing_sql, each, context, err);
}

enum err_code catalog_removing(struct catalog *self, int64_t log_id, struct err *err)
{
    bool own;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    if (!(rc = exec_id_now(self, SQL_REMOVING, log_id, err)) && sqlite3_changes(self->db.handle) == 0)
        rc = err_set(err, ERR_BUSY, "it is being read, or gone");
    if (!rc)
        rc = catalog_exec_id(self, SQL_RELEASE_COPIES, log_id, err);
    return catalog_leave(self, own, rc, err);
}

enum err_code catalog_removed(struct catalog *self, int64_t log_id, const char *reason, struct err *err)
{
    return catalog_exec_id_text_time(self, SQL_REMOVED, log_id, reason, err);
}

enum err_code catalog_not_removed(struct catalog *self, int64_t log_id, enum log_state before, struct err *err)
{
    return catalog_exec_id_text_time(self, SQL_NOT_REMOVED, log_id, log_state_name(before), err);
}

/* ---- runs in the store */

enum err_code catalog_each_kept(struct db *catalog, catalog_kept_fn *each, void *context, struct err *err)
{
    static const char sql[] =
        "SELECT a.app_key, a.app_id, a.attempt_id, a.name, u.opened_ms, coalesce(a.last_event_ms, a.end_ms, a.start_ms), l.state = 'gone' OR l.app_key IS NOT a.app_key "
        "FROM app AS a JOIN log AS l ON l.log_id = a.log_id LEFT JOIN run_use AS u ON u.app_key = a.app_key WHERE a.loaded";
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        const struct catalog_kept_row row = {.app_key = db_str(stmt, 0).ptr, .app_id = db_str(stmt, 1).ptr, .attempt_id = db_str(stmt, 2).ptr, .name = db_str(stmt, 3).ptr,
            .opened_ms = db_i64(stmt, 4), .ended_ms = db_i64(stmt, 5), .log_gone = db_i64(stmt, 6) == 1};
        if ((rc = each(context, &row)) == ERR_NOMEM)
            err_nomem(err);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code put_away(struct catalog *self, const char *app_key, bool *ret_done, struct err *err)
{
    sqlite3_stmt *stmt;
    enum err_code rc = catalog_statement(self, SQL_PUT_AWAY, &stmt, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    if ((rc = db_run(stmt, err)))
        return rc;
    *ret_done = sqlite3_changes(self->db.handle) > 0;
    if (!*ret_done || (rc = catalog_statement(self, SQL_PUT_AWAY_LOG, &stmt, err)))
        return rc;
    db_bind_str(stmt, 1, str_of(app_key));
    db_bind_i64(stmt, 2, time_now_ms());
    return db_run(stmt, err);
}

enum err_code catalog_put_away(struct catalog *self, const char *app_key, bool *ret_done, struct err *err)
{
    bool own;
    *ret_done = false;
    enum err_code rc = catalog_enter(self, &own, err);
    if (rc)
        return rc;
    return catalog_leave(self, own, put_away(self, app_key, ret_done, err), err);
}

enum err_code catalog_each_put_away(struct catalog *self, catalog_key_fn *each, void *context, struct err *err)
{
    static const char sql[] = "SELECT a.app_key FROM app AS a JOIN log AS l ON l.log_id = a.log_id WHERE NOT a.loaded AND a.generation > 0 AND l.state IN ('listed', 'gone')";
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(&self->db, &stmt, sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        if ((rc = each(context, db_str(stmt, 0).ptr)) == ERR_NOMEM)
            err_nomem(err);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}
