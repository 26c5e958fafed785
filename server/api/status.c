/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's state. Paths, counts and words of the ingest process speak of all runs: whoever does not see everything gets null for them. */
#include "base/time.h"
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/server.h"
#include "server/uploads.h"

static const char places_sql[] = "SELECT uri, name, last_scan_ms, last_error, failing_since_ms, entry_count FROM place ORDER BY uri";

static enum err_code write_places(struct json_writer *json, struct db *catalog, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    json_key(json, "places");
    json_array_begin(json);
    enum err_code rc = catalog ? db_prepare(catalog, &stmt, places_sql, err) : ERR_EOF;
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 0, 6);
        json_object_end(json);
    }
    db_finalize(stmt);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define STATE_COUNT 8
static const char *const states[STATE_COUNT] = {"waiting", "loading", "loaded", "partial", "listed", "failed", "skipped", "gone"};

static enum err_code write_states(struct json_writer *json, struct db *catalog, struct err *err)
{
    int64_t counts[STATE_COUNT] = {0};
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = catalog ? db_prepare(catalog, &stmt, "SELECT state, count(*) FROM log GROUP BY state", err) : ERR_EOF;
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        for (size_t i = 0; i < STATE_COUNT; i++)
            if (str_is(db_str(stmt, 0), states[i]))
                counts[i] = db_i64(stmt, 1);
    db_finalize(stmt);
    json_key(json, "logs");
    json_object_begin(json);
    for (size_t i = 0; i < STATE_COUNT; i++)
        json_kv_i64(json, states[i], counts[i]);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Whether logs can be added, and by who asks. */
static void write_uploads(struct json_writer *json, const struct uploads *uploads, const struct viewer *viewer)
{
    json_key(json, "uploads");
    json_object_begin(json);
    json_kv_bool(json, "enabled", uploads != NULL);
    json_kv_bool(json, "allowed", uploads_may(uploads, viewer));
    json_kv_i64(json, "maxBytes", uploads ? uploads_most_bytes(uploads) : UNKNOWN);
    json_object_end(json);
}

enum err_code api_status(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct ingest_status ingest;
    server_ingest_status(ctx->server, &ingest);
    bool all = request->viewer.sees_all;
    struct db_lease lease;
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (rc)
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_kv_text(json, "version", AFTERGLOW_VERSION);
    json_kv_text(json, "build", server_build(ctx->server));
    json_kv_text(json, "store", all ? server_store(ctx->server) : NULL);
    json_kv_i64(json, "nowMs", time_now_ms());
    if (all) {
        rc = write_places(json, lease.db, err);
        if (!rc)
            rc = write_states(json, lease.db, err);
    } else {
        json_kv_text(json, "places", NULL);
        json_kv_text(json, "logs", NULL);
    }
    db_pool_return(ctx->pool, &lease);
    write_uploads(json, server_uploads(ctx->server), &request->viewer);
    json_key(json, "ingest");
    json_object_begin(json);
    json_kv_bool(json, "enabled", ingest.enabled);
    json_kv_bool(json, "running", ingest.running);
    json_kv_i64(json, "restarts", ingest.restarts);
    json_kv_text(json, "message", all && ingest.message[0] ? ingest.message : NULL);
    json_object_end(json);
    json_object_end(json);
    return rc;
}
