/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "server/api/handlers.h"
#include "server/executor_logs.h"

/* Until its removal, or as long as the log goes. */
#define ALIVE "CASE WHEN coalesce(e.remove_ms, a.last_event_ms) >= e.add_ms THEN coalesce(e.remove_ms, a.last_event_ms) - e.add_ms END"

static const struct list_sort sorts[] = {
    {"id", NULL},                    /* several columns: see order() */
    {"taskTime", "e.task_time_ms"},
    {"tasks", "e.task_count"},
    {"failedTasks", "e.failed_task_count"},
    {"gcShare", "CASE WHEN e.task_time_ms > 0 THEN CAST(e.gc_time_ms AS REAL) / e.task_time_ms END"},
    {"input", "e.total_input_bytes"},
    {"shuffleRead", "e.total_shuffle_read_bytes"},
    {"shuffleWrite", "e.total_shuffle_write_bytes"},
    {"add", "e.add_ms"},
    {NULL, NULL},
};

#define ITEM_COLUMNS \
    "SELECT e.executor_ref, e.active, e.is_excluded, e.excluded_in_stages, e.peaks_set, e.task_time_ms, e.gc_time_ms, " ALIVE ", coalesce(e.max_tasks, e.total_cores)," \
    "       e.executor_id, e.host, e.host_port, e.add_ms, e.remove_ms, e.remove_reason, " ALIVE " AS alive_ms, e.total_cores, e.max_tasks, e.resource_profile_id," \
    "       e.max_memory_bytes, e.max_on_heap_memory_bytes, e.max_off_heap_memory_bytes, e.memory_used_bytes, e.disk_used_bytes, e.rdd_blocks, e.task_count," \
    "       e.failed_task_count AS failed_tasks, e.killed_task_count AS killed_tasks, e.active_tasks, e.task_time_ms, e.gc_time_ms, e.total_input_bytes AS input_bytes," \
    "       e.total_shuffle_read_bytes AS shuffle_read_bytes, e.total_shuffle_write_bytes AS shuffle_write_bytes, " API_PEAK_COLUMNS("e.")
#define ITEM_FIRST_PLAIN 9
#define ITEM_FIRST_PEAK 34

static const char maps_sql[] = "SELECT map, name, value FROM owner_map WHERE owner_kind = 0 AND owner = ? AND map > 0 ORDER BY map, ordinal";

static void write_pair(void *json, struct str name, struct str value)
{
    json_array_begin(json);
    json_str(json, name);
    json_str(json, value);
    json_array_end(json);
}

static enum err_code write_logs(struct json_writer *json, struct executor_logs *logs, int64_t executor_ref, struct err *err)
{
    json_key(json, "logs");
    json_array_begin(json);
    enum err_code rc = executor_logs_each(logs, executor_ref, write_pair, json, err);
    json_array_end(json);
    return rc;
}

/* Two lists of pairs: attributes, resources. */
static enum err_code write_maps(struct json_writer *json, sqlite3_stmt *stmt, int64_t executor_ref, struct err *err)
{
    static const char *const keys[] = {"attributes", "resources"};
    db_bind_i64(stmt, 1, executor_ref);
    enum err_code rc = db_step(stmt, err);
    for (int64_t map = 1; map <= (int64_t)ARRAY_LENGTH(keys); map++) {
        json_key(json, keys[map - 1]);
        json_array_begin(json);
        for (; !rc && db_i64(stmt, 0) <= map; rc = db_step(stmt, err))
            write_pair(json, db_str(stmt, 1), db_str(stmt, 2));
        json_array_end(json);
    }
    db_reset(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Share of its slots' time that tasks filled; NaN: unknown. */
static double busy_share(int64_t task_time_ms, int64_t alive_ms, int64_t slots)
{
    return known(task_time_ms) && known(alive_ms) && known(slots) && alive_ms > 0 && slots > 0 ? (double)task_time_ms / ((double)alive_ms * (double)slots) : (double)NAN;
}

static enum err_code write_item(struct json_writer *json, sqlite3_stmt *stmt, sqlite3_stmt *maps, struct executor_logs *logs, struct err *err)
{
    json_object_begin(json);
    api_columns(json, stmt, ITEM_FIRST_PLAIN, ITEM_FIRST_PEAK);
    json_kv_bool(json, "active", db_i64(stmt, 1) == 1);
    json_kv_bool(json, "isExcluded", db_i64(stmt, 2) == 1);
    api_numbers(json, "excludedInStages", db_str(stmt, 3));
    json_kv_f64(json, "busyShare", busy_share(db_i64(stmt, 5), db_i64(stmt, 7), db_i64(stmt, 8)));
    api_gc(json, db_i64(stmt, 5), db_i64(stmt, 6));
    api_peaks(json, stmt, db_i64(stmt, 4), ITEM_FIRST_PEAK);
    enum err_code rc = write_logs(json, logs, db_i64(stmt, 0), err);
    if (!rc)
        rc = write_maps(json, maps, db_i64(stmt, 0), err);
    json_object_end(json);
    return rc;
}

/* Ids are numbers as a rule, and words for the driver: 2 comes before 10. */
static void order(struct query *query, const struct list *list)
{
    const char *direction = list->descending ? " DESC" : "";
    if (list->sort->sql)
        query_order(query, list, "e.executor_ref");
    else
        buf_printf(&query->sql, " ORDER BY e.executor_id <> 'driver'%s, e.executor_id GLOB '*[^0-9]*'%s, CAST(e.executor_id AS INTEGER)%s, e.executor_id%s, e.executor_ref%s",
                   direction, direction, direction, direction, direction);
}

static enum err_code write_list(struct api_ctx *ctx, const struct api_app *app, struct list *list, int64_t active, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query query;
    query_init(&count, request->arena);
    query_init(&query, request->arena);
    query_add(&count, "SELECT count(*) FROM executor e WHERE 1");
    query_add(&query, ITEM_COLUMNS " FROM executor e LEFT JOIN (SELECT last_event_ms FROM application LIMIT 1) a WHERE 1");
    if (known(active)) {
        query_number(&count, " AND e.active = ?", active);
        query_number(&query, " AND e.active = ?", active);
    }
    int64_t total;
    enum err_code rc = query_i64(&count, app->db, &total, err);
    if (rc)
        return rc;
    list_total(list, total);
    order(&query, list);
    query_number(&query, " LIMIT ?", list->limit);
    query_number(&query, " OFFSET ?", list->offset);
    sqlite3_stmt *stmt = NULL, *maps = NULL;
    struct json_writer *json = response_json(response, false);
    list_begin(list, json);
    CLEANUP(executor_logs_dispose) struct executor_logs logs;
    if (!(rc = executor_logs_init(&logs, ctx->server, app->db, err)) && !(rc = db_prepare(app->db, &maps, maps_sql, err)))
        rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = write_item(json, stmt, maps, &logs, err);
    db_finalize(stmt);
    db_finalize(maps);
    list_end(list, json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_executors(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    int64_t active;
    if (list_read(&list, request, sorts, "id", err) || request_param_i64(request, "active", UNKNOWN, 0, 1, &active, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_list(ctx, &app, &list, active, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
