/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/handlers.h"

/* RDDs that a stage was submitted with while they were to be kept (spec/core.md 2.9). */
static const char rdds_sql[] =
    "SELECT r.unpersisted, r.rdd_id AS id, coalesce(r.storage_name, r.name) AS name, r.storage_level, coalesce(r.storage_partitions, r.num_partitions) AS num_partitions,"
    "       (SELECT count(*) FROM rdd_partition p WHERE p.rdd_id = r.rdd_id) AS cached_partitions, r.memory_used_bytes, r.disk_used_bytes"
    "  FROM rdd r WHERE r.storage_level IS NOT NULL ORDER BY r.rdd_id";

/* Block updates are in the log only where the application asked for them. */
static const char logged_sql[] =
    "SELECT EXISTS (SELECT 1 FROM event_count WHERE event IN ('SparkListenerBlockUpdated', 'org.apache.spark.scheduler.SparkListenerBlockUpdated'))";

enum err_code api_storage(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    sqlite3_stmt *stmt = NULL;
    int64_t logged = 0;
    if (!(rc = db_query_i64(app.db, logged_sql, &logged, err)))
        rc = db_prepare(app.db, &stmt, rdds_sql, err);
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_key(json, "rdds");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 1, 8);
        json_kv_bool(json, "unpersisted", db_i64(stmt, 0) == 1);
        json_object_end(json);
    }
    json_array_end(json);
    json_kv_bool(json, "blockUpdatesLogged", logged == 1);
    json_object_end(json);
    db_finalize(stmt);
    api_app_close(ctx, &app);
    return rc == ERR_EOF ? ERR_OK : rc;
}
