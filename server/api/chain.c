/* SPDX-License-Identifier: Apache-2.0
 *
 * The critical chain as it was: what the run waited for, from its begin to its end without holes. */
#include "server/api/handlers.h"

static const char segments_sql[] =
    "SELECT c.from_ms, c.to_ms, c.label, c.gap, c.job_id, s.stage_id, s.attempt AS stage_attempt, b.stage_id AS behind_stage_id, b.attempt AS behind_stage_attempt, c.task_id"
    "  FROM chain_segment c LEFT JOIN stage s ON s.stage_ref = c.stage_ref LEFT JOIN stage b ON b.stage_ref = c.behind_stage_ref ORDER BY c.ordinal";

enum err_code api_chain(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err)) {
        sqlite3_stmt *stmt = NULL;
        rc = db_prepare(app.db, &stmt, segments_sql, err);
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        json_key(json, "segments");
        json_array_begin(json);
        while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
            json_object_begin(json);
            api_columns(json, stmt, 0, 10);
            json_object_end(json);
        }
        json_array_end(json);
        json_object_end(json);
        db_finalize(stmt);
        rc = rc == ERR_EOF ? ERR_OK : rc;
    }
    api_app_close(ctx, &app);
    return rc;
}
