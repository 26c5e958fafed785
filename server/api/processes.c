/* SPDX-License-Identifier: Apache-2.0
 *
 * Other processes of the application, for example a YARN application master (MiscellaneousProcessAdded, Spark 3.2). Nothing says that one ended. */
#include "server/api/handlers.h"

static const struct list_sort sorts[] = {{"id", "p.process_id"}, {"add", "p.add_ms"}, {"cores", "p.total_cores"}, {NULL, NULL}};

static enum err_code write_processes(const struct api_app *app, struct list *list, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    sqlite3_stmt *stmt = NULL;
    int64_t total;
    query_init(&query, request->arena);
    enum err_code rc = db_query_i64(app->db, "SELECT count(*) FROM process", &total, err);
    if (rc)
        return rc;
    list_total(list, total);
    query_add(&query, "SELECT p.rowid, p.process_id, p.host_port, p.add_ms, p.total_cores FROM process p");
    query_order(&query, list, "p.process_id");
    query_page(&query, list);
    struct json_writer *json = list_begin(list, response);
    rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 1, 5);
        rc = api_pairs(json, app->db, "logs", "SELECT name, value FROM owner_map WHERE owner_kind = 1 AND owner = ? AND map = 0 ORDER BY ordinal", db_i64(stmt, 0), err);
        json_object_end(json);
    }
    db_finalize(stmt);
    list_end(list, json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_processes(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "id", err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_processes(&app, &list, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
