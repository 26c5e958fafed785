/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of a log that was added (uploads.h): where it stands in the queue, and the run that it holds. */
#include "server/uploads.h"

#include <stdio.h>

#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/server.h"

/* The log, or of several in a folder the one with a run; a copy of a run that is known leads to that. */
static const char log_sql[] = "SELECT l.state, l.reason, l.read_bytes, l.bytes AS total_bytes, a.app_key AS ref, may_see(?3, ?4, a.user, a.view_users, a.view_groups) "
                              "FROM log l LEFT JOIN app a ON a.app_key = l.app_key WHERE l.path > ?1 AND l.path < ?2 ORDER BY a.app_key IS NULL, l.state = 'gone', l.log_id LIMIT 1";
enum { LOG_STATE, LOG_REF = 4, LOG_SEEN = 5 };

static enum err_code write_log(struct json_writer *json, struct db *catalog, const struct request *request, const char *dir, const char *id, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    /* All that lies below the directory: '0' is the character behind '/'. */
    const char *from = arena_printf(request->arena, "%s/%s/", dir, id), *to = arena_printf(request->arena, "%s/%s0", dir, id);
    if (!from || !to)
        return err_nomem(err);
    enum err_code rc = db_prepare(catalog, &stmt, log_sql, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, str_of(from));
    db_bind_str(stmt, 2, str_of(to));
    db_bind_str(stmt, 3, access_sql_user(&request->viewer));
    db_bind_str(stmt, 4, request->viewer.groups);
    if ((rc = db_step(stmt, err)) == ERR_OK) {
        bool may_see = request->viewer.sees_all || db_i64(stmt, LOG_SEEN) == 1;
        api_columns(json, stmt, 0, LOG_REF);
        json_kv_str(json, "ref", may_see ? db_str(stmt, LOG_REF) : STR_NONE);
        /* Until the log is read whole, its lists of who may are not all there. */
        bool is_read = !str_is(db_str(stmt, LOG_STATE), "waiting") && !str_is(db_str(stmt, LOG_STATE), "loading");
        json_kv_bool(json, "mayNotBeSeen", is_read && !may_see && !db_is_null(stmt, LOG_REF));
    } else if (rc == ERR_EOF) { /* the scan has not come by */
        json_kv_text(json, "state", NULL);
        rc = ERR_OK;
    }
    db_finalize(stmt);
    return rc;
}

enum err_code api_upload(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    const struct uploads *uploads = server_uploads(ctx->server);
    char id[UPLOAD_ID_BYTES];
    char place[4096 + UPLOAD_ID_BYTES];
    struct db_lease lease;
    if (!uploads_may(uploads, &request->viewer) || !upload_id(request->path_args[0], id)) {
        response_error(response, 404, "not_found", "there is no such upload");
        return ERR_OK;
    }
    snprintf(place, sizeof place, "%s/%s", uploads_dir(uploads), id);
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (!rc) {
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        json_kv_text(json, "upload", id);
        json_kv_text(json, "is", upload_state_names[upload_state_of(uploads, str_of(place))]);
        if (lease.db)
            rc = write_log(json, lease.db, request, uploads_dir(uploads), id, err);
        else
            json_kv_text(json, "state", NULL);
        json_object_end(json);
    }
    db_pool_return(ctx->pool, &lease);
    return rc;
}
