/* SPDX-License-Identifier: Apache-2.0
 *
 * Executors by machine: a slow or failing one shows as a row. The driver counts where its machine is. */
#include "server/api/handlers.h"

static const struct list_sort sorts[] = {
    {"host", "host"},
    {"executors", "executor_count"},
    {"taskTime", "task_time_ms"},
    {"tasks", "task_count"},
    {"failedTasks", "failed_tasks"},
    {"gcShare", "CASE WHEN task_time_ms > 0 THEN CAST(gc_time_ms AS REAL) / task_time_ms END"},
    {"input", "input_bytes"},
    {"shuffleRead", "shuffle_read_bytes"},
    {"shuffleWrite", "shuffle_write_bytes"},
    {NULL, NULL},
};

#define HOSTS                                                                                                                                                         \
    "(SELECT e.host, count(*) AS executor_count, sum(e.active = 0) AS removed_count, sum(" EXECUTOR_LOST ") AS lost_count, sum(e.is_excluded) AS excluded_count,"     \
    "        sum(e.total_cores) AS total_cores, sum(e.task_count) AS task_count, sum(e.failed_task_count) AS failed_tasks, sum(e.killed_task_count) AS killed_tasks," \
    "        sum(e.task_time_ms) AS task_time_ms, sum(e.gc_time_ms) AS gc_time_ms, sum(e.total_input_bytes) AS input_bytes,"                                          \
    "        sum(e.total_shuffle_read_bytes) AS shuffle_read_bytes, sum(e.total_shuffle_write_bytes) AS shuffle_write_bytes"                                          \
    "   FROM executor e WHERE e.host IS NOT NULL GROUP BY e.host)"

static enum err_code write_hosts(const struct api_app *app, struct list *list, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    sqlite3_stmt *stmt = NULL;
    int64_t total;
    query_init(&query, request->arena);
    enum err_code rc = db_query_i64(app->db, "SELECT count(DISTINCT host) FROM executor", &total, err);
    if (rc)
        return rc;
    list_total(list, total);
    query_add(&query, "SELECT task_time_ms, gc_time_ms, * FROM " HOSTS);
    query_order(&query, list, "host");
    query_page(&query, list);
    struct json_writer *json = list_begin(list, response);
    rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 2, sqlite3_column_count(stmt));
        api_gc(json, db_i64(stmt, 0), db_i64(stmt, 1), &api_not_judged);
        json_object_end(json);
    }
    db_finalize(stmt);
    list_end(list, json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_hosts(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "host", err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_hosts(&app, &list, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
