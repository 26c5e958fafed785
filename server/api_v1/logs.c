/* SPDX-License-Identifier: Apache-2.0
 *
 * logs: the event logs themselves, as a zip (spec/files.md §1.10). Paths come from the catalogue alone, so a run need not be loaded. */
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"
#include "server/log_zip.h"

/* Newest attempt first; of several copies of an attempt the best one, as in applications.c. */
static const char logs_sql[] =
    "SELECT l.path FROM app a JOIN log l ON l.log_id = a.log_id WHERE a.app_id = ?1 AND (?2 IS NULL OR a.attempt_id = ?2) AND " APP_ANSWERS_TO_ID("a", "?3", "?4") " AND NOT EXISTS ("
    "  SELECT 1 FROM app b JOIN log m ON m.log_id = b.log_id WHERE b.app_id = a.app_id AND b.attempt_id IS a.attempt_id AND " APP_ANSWERS_TO_ID("b", "?3", "?4")
    "  AND (b.complete, m.bytes, m.modified_ms, b.app_key) > (a.complete, l.bytes, l.modified_ms, a.app_key)) "
    "ORDER BY a.start_ms DESC, a.attempt_id DESC";

/* *ret_known: there is such an application. Logs that are gone are left out. */
static enum err_code collect(struct v1_scope *scope, struct log_zip *zip, bool *ret_known, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    *ret_known = false;
    enum err_code rc = db_prepare(scope->db, &rows, logs_sql, err);
    if (rc)
        return rc;
    db_bind_str(rows, 1, scope->app);
    db_bind_str(rows, 2, scope->attempt);
    db_bind_str(rows, 3, access_sql_user(&scope->request->viewer));
    db_bind_str(rows, 4, scope->request->viewer.groups);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        *ret_known = true;
        rc = log_zip_add(zip, db_str(rows, 0), err);
        if (rc && rc != ERR_NOT_FOUND)
            break;
    }
    db_finalize(rows);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static char safe(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' ? c : '_';
}

/* The file's name as the History Server gives it; anything that could end the name in the header becomes _. */
static enum err_code name_file(const struct v1_scope *scope, struct err *err)
{
    static const char head[] = "attachment; filename=";
    bool has_attempt = str_known(scope->attempt);
    char *text = arena_printf(scope->request->arena, "%seventLogs-%.*s%s%.*s.zip", head, (int)scope->app.len, scope->app.ptr, has_attempt ? "-" : "",
                              has_attempt ? (int)scope->attempt.len : 0, has_attempt ? scope->attempt.ptr : "");
    if (!text)
        return err_nomem(err);
    for (char *at = text + sizeof head - 1; *at; at++)
        *at = safe(*at);
    response_header(scope->response, "Content-Disposition", str_of(text));
    return ERR_OK;
}

static enum err_code answer_unknown(struct v1_scope *scope)
{
    if (!str_known(scope->attempt))
        scope->attempt = STR_LIT("1");       /* what the History Server tries last, and names */
    return v1_no_such_app(scope);
}

static enum err_code answer(struct v1_scope *scope, struct log_zip **zip, struct err *err)
{
    bool is_known;
    enum err_code rc = collect(scope, *zip, &is_known, err);
    if (rc)
        return rc;
    if (!is_known)
        return answer_unknown(scope);
    if (!log_zip_count(*zip)) {
        response_plain(scope->response, 503, "Event logs are not available for app: %.*s.", (int)scope->app.len, scope->app.ptr);
        return ERR_OK;
    }
    response_content_type(scope->response, "application/octet-stream");
    if ((rc = name_file(scope, err)))
        return rc;
    response_stream(scope->response, log_zip_read, log_zip_free, TAKE(*zip));
    return ERR_OK;
}

enum err_code v1_logs(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct v1_scope scope = {.ctx = ctx, .request = request, .response = response, .app = request->path_args[0], .attempt = STR_NONE};
    if (request->path_arg_count == 2)
        scope.attempt = request->path_args[1];
    struct db_lease catalog;
    enum err_code rc = app_catalog(ctx, &catalog, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? answer_unknown(&scope) : rc;
    scope.db = catalog.db;
    struct log_zip *zip = NULL;
    if ((rc = log_zip_new(&zip, err)) == ERR_OK)
        rc = answer(&scope, &zip, err);
    log_zip_free(zip);
    db_pool_return(ctx->pool, &catalog);
    return rc;
}
