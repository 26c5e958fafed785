/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/server.h"
#include "server/uploads.h"

#define FEW 5                        /* rows of the short lists on an application's page */

static const char *const layouts[] = {"single", "rolling", "legacy", "databricks", "zip"};

static const char log_sql[] =
    "SELECT l.layout, (SELECT group_concat(codec, ' ') FROM (SELECT DISTINCT codec FROM log_file ORDER BY codec)),"
    "       (SELECT count(*) FROM log_file) AS files, l.stored_bytes AS bytes, l.text_bytes, l.line_count AS lines, l.log_path AS path, l.read_bytes, l.state"
    "  FROM load l LIMIT 1";

static enum err_code write_log(struct json_writer *json, const struct api_app *app, const struct uploads *uploads, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt, log_sql, err);
    if (rc || (rc = db_step(stmt, err))) {
        db_finalize(stmt);
        json_kv_text(json, "log", NULL);
        return rc == ERR_EOF ? ERR_OK : rc;
    }
    json_key(json, "log");
    json_object_begin(json);
    api_columns(json, stmt, 2, 7);
    json_kv_text(json, "layout", API_WORD(layouts, db_i64(stmt, 0)));
    json_kv_text(json, "upload", upload_state_names[upload_state_of(uploads, db_str(stmt, 6))]);
    api_words(json, "codecs", db_str(stmt, 1), ' ');
    json_object_end(json);
    json_key(json, "loading");
    if (app->ref.loaded) {
        json_null(json);
    } else {
        json_object_begin(json);
        json_kv_i64(json, "readBytes", db_i64(stmt, 7));
        json_kv_i64(json, "totalBytes", db_i64(stmt, 3));
        json_kv_i64(json, "lines", db_i64(stmt, 5));
        json_object_end(json);
    }
    db_finalize(stmt);
    return ERR_OK;
}

static const char health_sql[] =
    "SELECT complete, cut, compacted, no_log_start, no_application_start, no_environment, flags, missing_files,"
    "       bad_line_count, repeated_application_start_count, jobs_without_end, stages_without_end, tasks_without_end, jobs_without_start, stages_without_start,"
    "       tasks_without_start, duplicate_event_count, unknown_event_count, out_of_range_number_count, clock_step_count, repaired_text_count"
    "  FROM log_health LIMIT 1";

enum err_code health_object(struct json_writer *json, const struct api_app *app, struct err *err)
{
    static const char *const switches[] = {"complete", "cut", "compacted", "noLogStart", "noApplicationStart", "noEnvironment"};
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt, health_sql, err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_key(json, "health");
        json_object_begin(json);
        for (int i = 0; i < (int)ARRAY_LENGTH(switches); i++)
            json_kv_bool(json, switches[i], db_i64(stmt, i) == 1);
        api_words(json, "flags", db_str(stmt, 6), ' ');
        api_numbers(json, "missingFiles", db_str(stmt, 7));
        api_columns(json, stmt, 8, 21);
        json_object_end(json);
    } else if (rc == ERR_EOF) {      /* nothing is known before the load's first checkpoint */
        json_kv_text(json, "health", NULL);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_rows(struct json_writer *json, struct db *db, const char *key, const char *switch_key, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc)
        rc = api_rows(json, key, switch_key, stmt, err);
    db_finalize(stmt);
    return rc;
}

static const char files_sql[] = "SELECT compact, file_no, name, roll_index, codec, stored_bytes, text_bytes, line_count, problem FROM log_file ORDER BY file_no";
static const char problems_sql[] = "SELECT kind, file_no, line_no, text_offset, reason, sample FROM log_problem ORDER BY problem_no";
static const char events_sql[] = "SELECT handled, event, seen FROM event_count ORDER BY seen DESC, event";

enum err_code api_health(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    if (!(rc = health_object(json, &app, err)) && !(rc = write_rows(json, app.db, "files", "compact", files_sql, err)) &&
        !(rc = write_rows(json, app.db, "problems", NULL, problems_sql, err)))
        rc = write_rows(json, app.db, "events", "handled", events_sql, err);
    json_object_end(json);
    api_app_close(ctx, &app);
    return rc;
}

/* Executors come and go: the largest number of cores that were there at the same time. Within one instant those that go are counted first. */
static const char cores_sql[] =
    "SELECT max(alive) FROM (SELECT sum(delta) OVER (ORDER BY at, delta ROWS UNBOUNDED PRECEDING) AS alive FROM ("
    "       SELECT ifnull(add_ms, 0) AS at, total_cores AS delta FROM executor WHERE total_cores > 0"
    "       UNION ALL SELECT remove_ms, -total_cores FROM executor WHERE total_cores > 0 AND remove_ms IS NOT NULL))";

static const char facts_sql[] =
    "SELECT (SELECT exit_code FROM application LIMIT 1) AS exit_code,"
    "       (SELECT value FROM environment WHERE section = 1 AND name = 'spark.master') AS master,"
    "       (SELECT value FROM environment WHERE section = 1 AND name = 'spark.submit.deployMode') AS deploy_mode,"
    "       (SELECT value FROM environment WHERE section = 1 AND name = 'spark.scheduler.mode') AS scheduler_mode,"
    "       (SELECT count(*) FROM sql_execution) AS sql_execution_count, (SELECT count(*) FROM streaming_query) AS streaming_query_count,"
    "       (SELECT count(*) FROM server_session) AS session_count, (SELECT count(*) FROM server_operation) AS operation_count,"
    "       (SELECT count(DISTINCT batch_ms) FROM job) AS dstream_batch_count, (SELECT count(*) FROM process) AS process_count,"
    /* Spark's usual port where none was set; the driver takes the next one where that is taken, and no log says so. 0 is any. */
    "       (SELECT d.value || ':' || coalesce((SELECT value FROM environment WHERE section = 1 AND name = 'spark.ui.port'), '4040')"
    "          FROM environment d WHERE d.section = 1 AND d.name = 'spark.driver.host' AND NOT EXISTS"
    "               (SELECT 1 FROM environment WHERE section = 1 AND (name, value) IN (VALUES ('spark.ui.port', '0'), ('spark.ui.enabled', 'false')))) AS driver_address";

static enum err_code write_facts(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int64_t cores = UNKNOWN;
    enum err_code rc = db_query_i64(db, cores_sql, &cores, err);
    if (rc || (rc = db_prepare(db, &stmt, facts_sql, err)))
        return rc;
    if ((rc = db_step(stmt, err)) == ERR_OK)
        api_columns(json, stmt, 0, sqlite3_column_count(stmt));
    db_finalize(stmt);
    json_key(json, "cores");
    json_object_begin(json);
    json_kv_i64(json, "max", cores);
    json_object_end(json);
    return rc;
}

typedef enum err_code items_fn(struct json_writer *json, const struct api_app *app, struct arena *arena, struct query *where, struct err *err);

static enum err_code write_few(struct json_writer *json, const struct api_app *app, struct arena *arena, const char *key, items_fn *items, const char *where, const char *order,
                               struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, where);
    query_add(&query, order);
    query_number(&query, " LIMIT ?", FEW);
    json_key(json, key);
    json_array_begin(json);
    enum err_code rc = items(json, app, arena, &query, err);
    json_array_end(json);
    return rc;
}

/* Which ones is asked of stages alone: what an item is made of is joined with no more than these. */
static enum err_code write_slowest(struct json_writer *json, const struct api_app *app, struct arena *arena, struct err *err)
{
    const char *order = arena_printf(arena, " ORDER BY %s DESC NULLS LAST, s.stage_id", stage_duration_sql);
    const char *where = order ? arena_printf(arena, " WHERE s.stage_ref IN (SELECT s.stage_ref FROM stage s WHERE s.status IN (2, 3)%s LIMIT %d)", order, FEW) : NULL;
    return where ? write_few(json, app, arena, "slowestStages", stage_items, where, order, err) : err_nomem(err);
}

enum err_code api_app(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct db_lease catalog = {0};
    enum lang lang;
    enum err_code rc;
    struct ladder *ladders;
    bool unsound = request_lang(request, &lang, err) || request_ladders(request, &ladders, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    app.ladders = ladders;
    struct json_writer *json = response_json(response, false);
    struct arena *arena = request->arena;
    json_object_begin(json);
    if (!(rc = db_pool_catalog(ctx->pool, &catalog, err)) && !(rc = app_item(json, catalog.db, app.ref.key, lang, err)) &&
        !(rc = write_log(json, &app, server_uploads(ctx->server), err)) && !(rc = health_object(json, &app, err)) && !(rc = write_facts(json, app.db, err)) &&
        !(rc = write_slowest(json, &app, arena, err)) && !(rc = write_few(json, &app, arena, "failedJobs", job_items, " WHERE j.status = 2", " ORDER BY j.job_id", err)))
        rc = write_few(json, &app, arena, "failedStages", stage_items, " WHERE s.status = 3", " ORDER BY s.stage_id, s.attempt", err);
    json_object_end(json);
    db_pool_return(ctx->pool, &catalog);
    api_app_close(ctx, &app);
    return rc;
}
