/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of applications. Its items are runs (table app), followed by logs that are not known to hold one (table log without app_key): waiting to be looked at, or unreadable.
 * In a hundred thousand runs every page must come within 50 ms, so the page is found first, over the rows' filtered and sorted columns alone, and its
 * items are read after that. */
#include <stdio.h>

#include "server/api/handlers.h"
#include "server/api/pick.h"
#include "server/db_pool.h"

static const struct list_sort sorts[] = {
    {"start", "a.start_ms"},
    {"end", "a.end_ms"},
    {"duration", "a.duration_ms"},
    {"name", "a.name"},
    {"user", "a.user"},
    {"tasks", "a.task_count"},
    {"failedTasks", "a.failed_task_count"},
    {"stages", "a.stage_count"},
    {"jobs", "a.job_count"},
    {"sparkVersion", "a.spark_version"},
    {"taskTime", "a.task_time_ms"},
    {"input", "a.input_bytes"},
    {"shuffleRead", "a.shuffle_read_bytes"},
    {"spill", "a.disk_spill_bytes"},
    {"state", "CASE WHEN a.log_id IN (SELECT log_id FROM log WHERE state <> 'loaded') THEN (SELECT l.state FROM log l WHERE l.log_id = a.log_id) ELSE 'loaded' END"},
    {NULL, NULL},
};

static const char *const states[] = {"waiting", "loading", "loaded", "partial", "failed", "gone", "skipped"};
static const char *const outcomes[] = {"succeeded", "failed", "unknown"};
static const char *const truths[] = {"false", "true"};
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

struct filters {
    const struct viewer *viewer;
    struct str q, user, flags;
    int state, outcome, complete;    /* -1: any */
    int64_t from_ms, to_ms, least_duration_ms, grade;
};

static enum err_code read_filters(struct filters *self, const struct request *request, struct err *err)
{
    self->viewer = &request->viewer;
    self->q = request_param(request, "q");
    self->user = request_param(request, "user");
    self->flags = request_param(request, "flags");
    enum err_code rc;
    if ((rc = param_word(request, "state", states, ARRAY_LENGTH(states), &self->state, err)) ||
        (rc = param_word(request, "outcome", outcomes, ARRAY_LENGTH(outcomes), &self->outcome, err)) ||
        (rc = param_word(request, "complete", truths, ARRAY_LENGTH(truths), &self->complete, err)) || (rc = request_param_i64(request, "from", UNKNOWN, 0, INT64_MAX, &self->from_ms, err)) ||
        (rc = request_param_i64(request, "to", UNKNOWN, 0, INT64_MAX, &self->to_ms, err)) ||
        (rc = request_param_i64(request, "minDurationMs", UNKNOWN, 0, INT64_MAX, &self->least_duration_ms, err)))
        return rc;
    return request_param_i64(request, "grade", 0, 0, 4, &self->grade, err);
}

/* What the viewer may not see is not in the list, and not counted. */
static void add_viewer(struct query *query, const struct viewer *viewer)
{
    if (viewer->sees_all)
        return;
    query_text(query, " AND may_see(?", access_sql_user(viewer));
    query_text(query, ", ?, a.user, a.view_users, a.view_groups)", viewer->groups);
}

/* True: something is filtered. */
static bool where_apps(struct query *query, const struct filters *filters)
{
    query_add(query, " FROM app a WHERE 1");
    size_t nothing = query->sql.len;
    add_viewer(query, filters->viewer);
    if (filters->q.len)
        query_contains(query, " AND (a.name LIKE ? ESCAPE '\\' OR a.app_id LIKE ? ESCAPE '\\' OR a.user LIKE ? ESCAPE '\\')", filters->q);
    /* Nearly all logs of a large store are loaded: the few others are the smaller set to look up. */
    if (filters->state >= 0 && str_is(STR_LIT("loaded"), states[filters->state]))
        query_add(query, " AND a.log_id NOT IN (SELECT log_id FROM log WHERE state <> 'loaded')");
    else if (filters->state >= 0)
        query_text(query, " AND a.log_id IN (SELECT log_id FROM log WHERE state = ?)", str_of(states[filters->state]));
    if (filters->outcome >= 0)
        query_text(query, " AND a.outcome = ?", str_of(outcomes[filters->outcome]));
    if (filters->complete >= 0)
        query_number(query, " AND a.complete = ?", filters->complete);
    if (filters->user.len)
        query_text(query, " AND a.user = ?", filters->user);
    if (known(filters->from_ms))
        query_number(query, " AND a.start_ms >= ?", filters->from_ms);
    if (known(filters->to_ms))
        query_number(query, " AND a.start_ms <= ?", filters->to_ms);
    if (known(filters->least_duration_ms))
        query_number(query, " AND a.duration_ms >= ?", filters->least_duration_ms);
    if (filters->grade > 0)
        query_number(query, " AND max(ifnull(a.skew_grade, 0), ifnull(a.gc_grade, 0)) >= ?", filters->grade);
    if (filters->flags.len)
        query_contains(query, " AND a.log_id IN (SELECT log_id FROM log WHERE flags <> '' AND flags LIKE ? ESCAPE '\\')", filters->flags);
    return query->sql.len > nothing;
}

/* Logs without a run have no user, no times and no judgements: a filter over those leaves none of them, and only who sees everything sees them. */
static bool where_logs(struct query *query, const struct filters *filters)
{
    query_add(query, " FROM log l WHERE l.app_key IS NULL");
    if (filters->q.len)
        query_contains(query, " AND l.path LIKE ? ESCAPE '\\'", filters->q);
    if (filters->state >= 0)
        query_text(query, " AND l.state = ?", str_of(states[filters->state]));
    else
        query_add(query, " AND l.state <> 'skipped'");
    if (filters->flags.len)
        query_contains(query, " AND l.flags LIKE ? ESCAPE '\\'", filters->flags);
    return filters->viewer->sees_all && filters->outcome < 0 && filters->complete < 0 && !filters->user.len && !known(filters->from_ms) && !known(filters->to_ms) && !known(filters->least_duration_ms) && filters->grade == 0;
}

static enum err_code count(struct db *catalog, const struct query *where, struct arena *arena, int64_t *ret, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, "SELECT count(*)");
    query_append(&query, where);
    return query_i64(&query, catalog, ret, err);
}

/* Where nothing is filtered, SQL has the count in an index and mostly the order as well. */
static enum err_code unfiltered_page(struct db *catalog, const struct list *list, const struct query *where, struct pick *pick, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, "SELECT a.rowid");
    query_append(&query, where);
    query_order(&query, list, "a.rowid");
    query_number(&query, " LIMIT ?", list->limit);
    query_number(&query, " OFFSET ?", list->offset);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(&query, catalog, &stmt, err);
    pick_init(pick, (size_t)list->limit, false, arena);
    for (int64_t place = 0; !rc && (rc = db_step(stmt, err)) == ERR_OK; place++)
        rc = pick_offer(pick, &(struct pick_row){.id = db_i64(stmt, 0), .known = true, .number = place}, err);
    db_finalize(stmt);
    pick_sort(pick);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* One scan for the count and the rows up to the end of the page. */
static enum err_code filtered_rows(struct db *catalog, const struct list *list, const struct query *where, struct pick *pick, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, "SELECT a.rowid, ");
    query_add(&query, list->sort->sql);
    query_append(&query, where);
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(&query, catalog, &stmt, err);
    pick_init(pick, (size_t)MIN(list->page, (int64_t)LIST_MAX_PAGE / LIST_MAX_LIMIT) * (size_t)list->limit, list->descending, arena);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct pick_row row = {.id = db_i64(stmt, 0), .known = !db_is_null(stmt, 1)};
        if (sqlite3_column_type(stmt, 1) == SQLITE_TEXT)
            row.text = db_str(stmt, 1);
        else
            row.number = db_i64(stmt, 1);
        rc = pick_offer(pick, &row, err);
    }
    db_finalize(stmt);
    pick_sort(pick);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_apps(struct json_writer *json, struct db *catalog, const struct pick *pick, size_t first, size_t count, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, ITEM_COLUMNS " FROM app a JOIN log l ON l.log_id = a.log_id WHERE a.rowid = ?", err);
    for (size_t i = first; i < first + count && !rc; i++) {
        db_bind_i64(stmt, 1, pick->rows[i].id);
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            json_object_begin(json);
            write_item(json, stmt);
            json_object_end(json);
            db_reset(stmt);
        } else if (rc == ERR_EOF) {  /* deleted since it was found */
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

static enum err_code write_counts(struct json_writer *json, struct db *catalog, const struct viewer *viewer, struct arena *arena, struct err *err)
{
    /* Of a viewer who does not see everything only runs count, by the state of their logs. */
    static const struct {
        const char *name, *all, *seen;
    } counts[] = {
        {"all", "SELECT (SELECT count(*) FROM app) + (SELECT count(*) FROM log WHERE app_key IS NULL AND state <> 'skipped')", "SELECT count(*) FROM app a WHERE 1"},
        {"loading", "SELECT count(*) FROM log WHERE state = 'loading'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'loading'"},
        {"waiting", "SELECT count(*) FROM log WHERE state = 'waiting'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'waiting'"},
        {"failed", "SELECT count(*) FROM log WHERE state = 'failed'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'failed'"},
    };
    json_key(json, "counts");
    json_object_begin(json);
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < ARRAY_LENGTH(counts) && !rc; i++) {
        CLEANUP(query_dispose) struct query query;
        int64_t n = 0;
        query_init(&query, arena);
        query_add(&query, viewer->sees_all ? counts[i].all : counts[i].seen);
        add_viewer(&query, viewer);
        rc = query_i64(&query, catalog, &n, err);
        json_kv_i64(json, counts[i].name, n);
    }
    json_object_end(json);
    return rc;
}

static enum err_code write_list(struct db *catalog, struct list *list, const struct filters *filters, struct response *response, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query apps;
    CLEANUP(query_dispose) struct query logs;
    CLEANUP(pick_dispose) struct pick pick;
    query_init(&apps, arena);
    query_init(&logs, arena);
    pick_init(&pick, 0, false, arena);
    bool filtered = where_apps(&apps, filters), with_logs = where_logs(&logs, filters);
    int64_t app_total = 0, log_total = 0;
    enum err_code rc = filtered ? filtered_rows(catalog, list, &apps, &pick, arena, err) : count(catalog, &apps, arena, &app_total, err);
    if (!rc && with_logs)
        rc = count(catalog, &logs, arena, &log_total, err);
    if (rc)
        return rc;
    if (filtered)
        app_total = pick.offered;
    list_total(list, app_total + log_total);
    if (!filtered && list->offset < app_total && (rc = unfiltered_page(catalog, list, &apps, &pick, arena, err)))
        return rc;

    struct json_writer *json = response_json(response, false);
    list_begin(list, json);
    size_t first = filtered ? MIN((size_t)list->offset, pick.count) : 0;
    rc = write_apps(json, catalog, &pick, first, MIN(pick.count - first, (size_t)list->limit), err);
    int64_t end = list->offset + list->limit;
    if (!rc && log_total > 0 && end > app_total) {
        int64_t skipped = MAX(list->offset - app_total, 0);
        rc = log_page(json, catalog, end - app_total - skipped, skipped, &logs, arena, err);
    }
    list_end(list, json);
    if (!rc)
        rc = write_counts(json, catalog, filters->viewer, arena, err);
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
    struct filters filters;
    if (list_read(&list, request, sorts, "-start", err) || read_filters(&filters, request, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct db_lease lease;
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (!rc && lease.db) {
        rc = write_list(lease.db, &list, &filters, response, request->arena, err);
    } else if (!rc) {
        list_total(&list, 0);
        write_empty(&list, response);
    }
    db_pool_return(ctx->pool, &lease);
    return rc;
}
