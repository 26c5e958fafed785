/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/server.h"

static const char places_sql[] = "SELECT uri, name, last_scan_ms, last_error, entry_count FROM place ORDER BY uri";

/* Whoever does not see everything has the logs of the runs that they see counted. */
static const char states_sql[] = "SELECT state, count(*) FROM log GROUP BY state";
static const char seen_states_sql[] =
    "SELECT l.state, count(*) FROM app a JOIN log l ON l.log_id = a.log_id WHERE may_see(?1, ?2, a.user, a.view_users, a.view_groups) GROUP BY l.state";

static enum err_code places(struct json_writer *json, struct db *catalog, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, places_sql, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 0, 5);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define STATE_COUNT 7
static const char *const states[STATE_COUNT] = {"waiting", "loading", "loaded", "partial", "failed", "skipped", "gone"};

static enum err_code count_states(int64_t counts[STATE_COUNT], struct db *catalog, const struct viewer *viewer, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, viewer->sees_all ? states_sql : seen_states_sql, err);
    if (!rc && !viewer->sees_all) {
        db_bind_str(stmt, 1, access_sql_user(viewer));
        db_bind_str(stmt, 2, viewer->groups);
    }
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        for (size_t i = 0; i < STATE_COUNT; i++)
            if (str_is(db_str(stmt, 0), states[i]))
                counts[i] = db_i64(stmt, 1);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_status(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct ingest_status ingest;
    server_ingest_status(ctx->server, &ingest);
    struct db_lease lease;
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (rc)
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_kv_text(json, "version", AFTERGLOW_VERSION);
    json_kv_text(json, "build", server_build(ctx->server));
    json_kv_text(json, "store", server_store(ctx->server));
    json_kv_i64(json, "nowMs", time_now_ms());
    int64_t counts[STATE_COUNT] = {0};
    json_key(json, "places");
    json_array_begin(json);
    rc = lease.db ? places(json, lease.db, err) : ERR_OK;
    json_array_end(json);
    if (!rc && lease.db)
        rc = count_states(counts, lease.db, &request->viewer, err);
    db_pool_return(ctx->pool, &lease);
    json_key(json, "logs");
    json_object_begin(json);
    for (size_t i = 0; i < STATE_COUNT; i++)
        json_kv_i64(json, states[i], counts[i]);
    json_object_end(json);
    json_key(json, "ingest");
    json_object_begin(json);
    json_kv_bool(json, "enabled", ingest.enabled);
    json_kv_bool(json, "running", ingest.running);
    json_kv_i64(json, "restarts", ingest.restarts);
    json_kv_text(json, "message", ingest.message[0] ? ingest.message : NULL);
    json_object_end(json);
    json_object_end(json);
    return rc;
}
