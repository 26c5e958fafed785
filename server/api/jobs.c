/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/handlers.h"

#define DURATION "CASE WHEN j.completion_ms >= j.submission_ms THEN j.completion_ms - j.submission_ms END"
/* What did not run at all; the History Server also calls skipped what a later attempt did for the job. */
#define SKIPPED(what) "(SELECT " what " FROM job_stage s WHERE s.job_id = j.job_id AND s.skipped AND NOT s.ran)"
#define STAGE_COUNT "(SELECT count(*) FROM job_stage s WHERE s.job_id = j.job_id)"

static const struct list_sort sorts[] = {
    {"id", "j.job_id"},
    {"submission", "j.submission_ms"},
    {"duration", DURATION},
    {"tasks", "j.num_tasks"},
    {"failedTasks", "j.failed_tasks"},
    {"stages", STAGE_COUNT},
    {"name", "j.name"},
    {NULL, NULL},
};

/* By job.status; the same words are what ?status= takes. */
static const char *const statuses[] = {"running", "succeeded", "failed", "unknown"};
enum { STATUS_RUNNING, STATUS_SUCCEEDED, STATUS_FAILED, STATUS_UNKNOWN };

#define ITEM_COLUMNS \
    "SELECT j.status, j.tags," \
    "       (SELECT group_concat(s.stage_id, ' ') FROM (SELECT stage_id FROM job_stage WHERE job_id = j.job_id ORDER BY ordinal) s)," \
    "       j.job_id, j.name, j.description, j.job_group, j.submission_ms, j.completion_ms, " DURATION " AS duration_ms, " STAGE_COUNT " AS num_stages," \
    "       j.completed_stages, " SKIPPED("count(*)") " AS skipped_stages, j.failed_stages, j.active_stages, j.num_tasks, j.completed_tasks, j.completed_indices, j.failed_tasks," \
    "       j.killed_tasks, " SKIPPED("coalesce(sum(s.skipped_tasks), 0)") " AS skipped_tasks, j.active_tasks, j.sql_execution_id, t.body AS failure"
#define ITEM_FIRST_PLAIN 3
#define ITEM_END 24
#define ITEM_FROM " FROM job j LEFT JOIN text t ON t.text_id = j.failure_text_id"

static void write_item(struct json_writer *json, sqlite3_stmt *stmt, bool ended)
{
    int64_t status = db_i64(stmt, 0);
    api_columns(json, stmt, ITEM_FIRST_PLAIN, ITEM_END);
    json_kv_text(json, "status", API_WORD(statuses, status == STATUS_RUNNING && ended ? STATUS_UNKNOWN : status));
    api_words(json, "tags", db_str(stmt, 1), ',');
    api_numbers(json, "stageIds", db_str(stmt, 2));
}

enum err_code job_items(struct json_writer *json, const struct api_app *app, struct arena *arena, struct query *where, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, ITEM_COLUMNS ITEM_FROM);
    query_append(&query, where);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_item(json, stmt, app->ended);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void where_jobs(struct query *query, const struct request *request, int status, bool ended)
{
    struct str q = request_param(request, "q");
    query_add(query, " WHERE 1");
    if (q.len)
        query_contains(query, " AND (j.name LIKE ? ESCAPE '\\' OR j.description LIKE ? ESCAPE '\\' OR j.job_group LIKE ? ESCAPE '\\' OR j.job_id LIKE ? ESCAPE '\\')", q);
    if (status == STATUS_SUCCEEDED || status == STATUS_FAILED)
        query_number(query, " AND j.status = ?", status);
    else if (status >= 0)            /* without an end: one or the other, for all of them */
        query_add(query, (status == STATUS_UNKNOWN) == ended ? " AND j.status = 0" : " AND 0");
}

static enum err_code write_list(const struct api_app *app, struct list *list, int status, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query where;
    CLEANUP(query_dispose) struct query count;
    query_init(&where, request->arena);
    query_init(&count, request->arena);
    where_jobs(&where, request, status, app->ended);
    query_add(&count, "SELECT count(*) FROM job j");
    query_append(&count, &where);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    query_order(&where, list, "j.job_id");
    query_page(&where, list);
    struct json_writer *json = list_begin(list, response);
    rc = job_items(json, app, request->arena, &where, err);
    list_end(list, json);
    json_object_end(json);
    return rc;
}

enum err_code api_jobs(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    int status;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "-duration", err) || param_word(request, "status", statuses, ARRAY_LENGTH(statuses), &status, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_list(&app, &list, status, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

static enum err_code write_stages(struct json_writer *json, const struct api_app *app, int64_t job_id, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query where;
    query_init(&where, arena);
    query_number(&where, " WHERE s.stage_id IN (SELECT stage_id FROM job_stage WHERE job_id = ?) ORDER BY s.stage_id, s.attempt", job_id);
    json_key(json, "stages");
    json_array_begin(json);
    enum err_code rc = stage_items(json, app, arena, &where, err);
    json_array_end(json);
    return rc;
}

/* As a stage's: stage.c. */
static enum err_code write_kills(struct json_writer *json, struct db *db, int64_t job_id, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt,
                                  "SELECT t.body AS reason, k.task_count AS count FROM kill_reason k LEFT JOIN text t ON t.text_id = k.reason_text_id"
                                  " WHERE k.owner_kind = 0 AND k.owner = ?1 ORDER BY k.task_count DESC, t.body",
                                  err);
    json_key(json, "killReasons");
    json_array_begin(json);
    if (!rc)
        db_bind_i64(stmt, 1, job_id);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 0, 2);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_job(const struct api_app *app, int64_t job_id, const struct request *request, struct response *response, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt, ITEM_COLUMNS ITEM_FROM " WHERE j.job_id = ?", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, job_id);
    rc = db_step(stmt, err);
    if (rc == ERR_EOF) {
        response_error(response, 404, "not_found", "there is no such job");
        rc = ERR_OK;
    } else if (!rc) {
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        write_item(json, stmt, app->ended);
        if (!(rc = write_stages(json, app, job_id, request->arena, err)) && !(rc = write_kills(json, app->db, job_id, err)))
            rc = api_pairs(json, app->db, "properties", "SELECT name, value FROM job_property WHERE job_id = ?1 ORDER BY name", job_id, err);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc;
}

enum err_code api_job(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    struct ladder *ladders;
    if (!api_app_open_for(ctx, request, response, request_ladders(request, &ladders, err) != ERR_OK, &app, &rc, err))
        return rc;
    app.ladders = ladders;
    rc = write_job(&app, api_path_id(request, 1), request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
