/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of applications. Its items are runs (table app), followed by logs that are not known to hold one (table log without app_key): waiting to be looked at, or unreadable.
 * In a hundred thousand runs every page must come within 50 ms, so the page is found in memory (app_table.h), and its items are read after that. */
#include <stdio.h>

#include "server/answer_cache.h"
#include "server/api/app_table.h"
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/list_tag.h"
#include "server/server.h"

/* By enum app_column. */
static const struct list_sort sorts[] = {
    [APP_START] = {"start", NULL},
    [APP_END] = {"end", NULL},
    [APP_DURATION] = {"duration", NULL},
    [APP_NAME] = {"name", NULL},
    [APP_USER] = {"user", NULL},
    [APP_TASKS] = {"tasks", NULL},
    [APP_FAILED_TASKS] = {"failedTasks", NULL},
    [APP_STAGES] = {"stages", NULL},
    [APP_JOBS] = {"jobs", NULL},
    [APP_SPARK_VERSION] = {"sparkVersion", NULL},
    [APP_TASK_TIME] = {"taskTime", NULL},
    [APP_INPUT] = {"input", NULL},
    [APP_SHUFFLE_READ] = {"shuffleRead", NULL},
    [APP_SPILL] = {"spill", NULL},
    [APP_STATE] = {"state", NULL},
    {NULL, NULL},
};

static const char *const states[] = {"waiting", "loading", "loaded", "partial", "failed", "gone", "skipped"};
static const char *const truths[] = {"false", "true"};
static const char *const outcomes[] = {"succeeded", "failed", "unknown"};
static const char *const layouts[] = {"single", "rolling", "legacy", "databricks", "zip"};

/* One item. The first columns are looked at below; the rest goes out under its own names. */
#define ITEM_COLUMNS \
    "SELECT a.app_id, a.attempt_id, a.app_key, a.complete, a.loaded, l.layout, l.flags," \
    "       (SELECT count(*) FROM app o WHERE o.app_id = a.app_id)," \
    "       (SELECT count(*) FROM app o WHERE o.app_id = a.app_id AND o.attempt_id IS a.attempt_id)," \
    "       a.app_key AS key, a.app_id, a.attempt_id, a.name, a.user, a.queue, a.spark_version, a.start_ms, a.end_ms, a.last_event_ms," \
    "       coalesce(a.duration_ms, CASE WHEN a.end_ms >= a.start_ms THEN a.end_ms - a.start_ms END) AS duration_ms, a.outcome, l.state, l.reason, l.read_bytes," \
    "       l.bytes AS total_bytes, a.job_count, a.failed_job_count, a.stage_count, a.failed_stage_count, a.task_count, a.failed_task_count, a.executor_count," \
    "       a.lost_executor_count, a.task_time_ms, a.gc_time_ms, a.input_bytes, a.output_bytes, a.shuffle_read_bytes, a.shuffle_write_bytes, a.disk_spill_bytes," \
    "       a.skew_grade, a.gc_grade, l.log_id, l.path AS log_path, a.generation"
#define ITEM_FIRST_PLAIN 9
#define ITEM_END 45

static void write_item(struct json_writer *json, sqlite3_stmt *stmt)
{
    bool is_app = !db_is_null(stmt, 2);
    char ref[APP_REF_BYTES];
    json_kv_str(json, "ref", is_app ? app_ref_text(db_str(stmt, 0), db_str(stmt, 1), db_str(stmt, 2), db_i64(stmt, 7), db_i64(stmt, 8), ref) : STR_NONE);
    api_columns(json, stmt, ITEM_FIRST_PLAIN, ITEM_END);
    json_kv_bool(json, "complete", db_i64(stmt, 3) == 1);
    json_kv_bool(json, "loaded", db_i64(stmt, 4) == 1);
    json_kv_text(json, "layout", API_WORD(layouts, db_i64(stmt, 5)));
    api_words(json, "flags", db_str(stmt, 6), ' ');
}

static enum err_code write_items(struct json_writer *json, struct db *catalog, struct query *query, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(query, catalog, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_item(json, stmt);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code app_item(struct json_writer *json, struct db *catalog, struct str app_key, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, ITEM_COLUMNS " FROM app a JOIN log l ON l.log_id = a.log_id WHERE a.app_key = ?", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, app_key);
    if ((rc = db_step(stmt, err)) == ERR_OK)
        write_item(json, stmt);
    db_finalize(stmt);
    return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "the application is not in the list any more") : rc;
}

static enum err_code read_filter(struct app_filter *self, const struct request *request, struct err *err)
{
    int state, outcome;
    enum err_code rc;
    *self = (struct app_filter){.q = request_param(request, "q"), .flags = request_param(request, "flags"), .user = request_param(request, "user"), .viewer = &request->viewer};
    if ((rc = param_word(request, "state", states, ARRAY_LENGTH(states), &state, err)) || (rc = param_word(request, "outcome", outcomes, ARRAY_LENGTH(outcomes), &outcome, err)) ||
        (rc = param_word(request, "complete", truths, ARRAY_LENGTH(truths), &self->complete, err)) ||
        (rc = request_param_i64(request, "from", UNKNOWN, 0, INT64_MAX, &self->from_ms, err)) ||
        (rc = request_param_i64(request, "to", UNKNOWN, 0, INT64_MAX, &self->to_ms, err)) ||
        (rc = request_param_i64(request, "minDurationMs", UNKNOWN, 0, INT64_MAX, &self->least_duration_ms, err)))
        return rc;
    self->state = str_of(API_WORD(states, state));
    self->outcome = str_of(API_WORD(outcomes, outcome));
    return request_param_i64(request, "grade", 0, 0, 4, &self->grade, err);
}

/* Logs without a run have no user, no times and no judgements: a filter over those leaves none of them, and only who sees everything sees them. */
static bool where_logs(struct query *query, const struct app_filter *filter)
{
    query_add(query, " FROM log l WHERE l.app_key IS NULL");
    if (filter->q.len)
        query_contains(query, " AND l.path LIKE ? ESCAPE '\\'", filter->q);
    if (filter->state.len)
        query_text(query, " AND l.state = ?", filter->state);
    else
        query_add(query, " AND l.state <> 'skipped'");
    if (filter->flags.len)
        query_contains(query, " AND l.flags LIKE ? ESCAPE '\\'", filter->flags);
    return filter->viewer->sees_all && filter->complete < 0 && !filter->outcome.len && !filter->user.len && !known(filter->from_ms) && !known(filter->to_ms) && !known(filter->least_duration_ms) && filter->grade == 0;
}

static enum err_code count(struct db *catalog, const struct query *where, struct arena *arena, int64_t *ret, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, "SELECT count(*)");
    query_append(&query, where);
    return query_i64(&query, catalog, ret, err);
}

static enum err_code write_apps(struct json_writer *json, struct db *catalog, const struct app_page *page, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, ITEM_COLUMNS " FROM app a JOIN log l ON l.log_id = a.log_id WHERE a.rowid = ?", err);
    for (size_t i = 0; i < page->count && !rc; i++) {
        db_bind_i64(stmt, 1, page->rowids[i]);
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            json_object_begin(json);
            write_item(json, stmt);
            json_object_end(json);
            db_reset(stmt);
        } else if (rc == ERR_EOF) {  /* another request has seen a later state of the catalogue, without this run or with it */
            rc = ERR_OK;
        }
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code log_page(struct json_writer *json, struct db *catalog, int64_t limit, int64_t offset, const struct query *where, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, ITEM_COLUMNS " FROM (SELECT l.log_id AS id");
    query_append(&query, where);
    query_add(&query, " ORDER BY l.log_id DESC");
    query_number(&query, " LIMIT ?", limit);
    query_number(&query, " OFFSET ?) p JOIN log l ON l.log_id = p.id LEFT JOIN app a ON a.app_key = l.app_key ORDER BY l.log_id DESC", offset);
    return write_items(json, catalog, &query, err);
}

/* Of a viewer who does not see everything only runs count, by the state of their logs. */
static enum err_code write_counts(struct json_writer *json, struct db *catalog, int64_t app_count, const struct viewer *viewer, struct arena *arena, struct err *err)
{
    static const struct {
        const char *name, *all, *seen;
    } counts[] = {
        {"loading", "SELECT count(*) FROM log WHERE state = 'loading'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'loading'"},
        {"waiting", "SELECT count(*) FROM log WHERE state = 'waiting'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'waiting'"},
        {"failed", "SELECT count(*) FROM log WHERE state = 'failed'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'failed'"},
    };
    int64_t n = 0;
    enum err_code rc = viewer->sees_all ? db_query_i64(catalog, "SELECT count(*) FROM log WHERE app_key IS NULL AND state <> 'skipped'", &n, err) : ERR_OK;
    json_key(json, "counts");
    json_object_begin(json);
    json_kv_i64(json, "all", app_count + n);
    for (size_t i = 0; i < ARRAY_LENGTH(counts) && !rc; i++) {
        CLEANUP(query_dispose) struct query query;
        query_init(&query, arena);
        query_add(&query, viewer->sees_all ? counts[i].all : counts[i].seen);
        if (!viewer->sees_all) {
            query_text(&query, " AND may_see(?", access_sql_user(viewer));
            query_text(&query, ", ?, a.user, a.view_users, a.view_groups)", viewer->groups);
        }
        rc = query_i64(&query, catalog, &n, err);
        json_kv_i64(json, counts[i].name, n);
    }
    json_object_end(json);
    return rc;
}

static enum err_code write_list(struct app_table *table, const struct db_lease *catalog, struct list *list, const struct app_filter *filter, struct response *response,
                                struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query logs;
    CLEANUP(app_page_dispose) struct app_page page = {0};
    query_init(&logs, arena);
    bool with_logs = where_logs(&logs, filter);
    int64_t log_total = 0;
    struct app_order order = {(enum app_column)(list->sort - sorts), list->descending};
    enum err_code rc = with_logs ? count(catalog->db, &logs, arena, &log_total, err) : ERR_OK;
    if (rc || (rc = app_table_page(table, catalog, filter, &order, log_total, list->limit, &list->page, &page, err)))
        return rc;
    list_total(list, page.matched + log_total);

    struct json_writer *json = response_json(response, false);
    list_begin(list, json);
    rc = write_apps(json, catalog->db, &page, err);
    int64_t end = list->offset + list->limit;
    if (!rc && log_total > 0 && end > page.matched) {
        int64_t skipped = MAX(list->offset - page.matched, 0);
        rc = log_page(json, catalog->db, end - page.matched - skipped, skipped, &logs, arena, err);
    }
    list_end(list, json);
    if (!rc)
        rc = write_counts(json, catalog->db, page.all, filter->viewer, arena, err);
    json_object_end(json);
    return rc;
}

static void write_empty(const struct list *list, struct response *response)
{
    struct json_writer *json = response_json(response, false);
    list_begin(list, json);
    list_end(list, json);
    json_key(json, "counts");
    json_object_begin(json);
    json_kv_i64(json, "all", 0);
    json_kv_i64(json, "loading", 0);
    json_kv_i64(json, "waiting", 0);
    json_kv_i64(json, "failed", 0);
    json_object_end(json);
    json_object_end(json);
}

enum err_code api_apps(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct app_filter filter;
    if (list_read(&list, request, sorts, "-start", err) || read_filter(&filter, request, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct db_lease lease;
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (!rc && lease.db) {
        char etag[LIST_TAG_BYTES];
        rc = list_tag_read(ctx, request, lease.db, etag, err);
        if (!rc && !answer_cache_tag(server_answers(ctx->server), request, etag, response))
            rc = write_list(server_apps(ctx->server), &lease, &list, &filter, response, request->arena, err);
    } else if (!rc) {
        list_total(&list, 0);
        write_empty(&list, response);
    }
    db_pool_return(ctx->pool, &lease);
    return rc;
}
