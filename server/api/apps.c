/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of applications. Its items are runs (table app), followed by logs that are not known to hold one (table log without app_key): waiting to be looked at, or unreadable.
 * In a hundred thousand runs every page must come within 50 ms, so the page is found in memory (app_table.h), and its items are read after that. */
#include <string.h>

#include "server/answer_cache.h"
#include "server/api/app_table.h"
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/list_tag.h"
#include "server/server.h"

/* Runs of a job with a row, at most: a column of the page, no wider than that. */
#define MOST_HISTORY 60

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
    [APP_QUEUE] = {"queue", NULL},
    [APP_TASK_TIME] = {"taskTime", NULL},
    [APP_INPUT] = {"input", NULL},
    [APP_SHUFFLE_READ] = {"shuffleRead", NULL},
    [APP_SPILL] = {"spill", NULL},
    [APP_SEVERITY] = {"severity", NULL},
    [APP_SAVING] = {"saving", NULL},
    [APP_BUSY] = {"busy", NULL},
    [APP_COMPLETENESS] = {"completeness", NULL},
    [APP_STATE] = {"state", NULL},
    {NULL, NULL},
};

static const char *const states[] = {"waiting", "loading", "loaded", "partial", "listed", "failed", "gone", "skipped"};
static const char *const truths[] = {"false", "true"};
static const char *const outcomes[] = {"succeeded", "failed", "unknown"};
static const char *const groups[] = {"job"};
enum problem { PROBLEM_DAMAGED, PROBLEM_INCOMPLETE };
static const char *const problems[] = {[PROBLEM_DAMAGED] = "damaged", [PROBLEM_INCOMPLETE] = "incomplete"};
static const char *const layouts[] = {"single", "rolling", "legacy", "databricks", "zip"};

/* One item. The first columns are looked at below; the rest goes out under its own names. */
#define ITEM_COLUMNS \
    "SELECT a.app_id, a.attempt_id, a.app_key, a.complete, a.loaded, l.layout, l.flags," \
    APP_SAME_ID ", " APP_SAME_ATTEMPT "," \
    "       s.costs, s.verdict_en, s.verdict_zh," \
    "       a.app_key AS key, a.app_id, a.attempt_id, a.name, a.user, a.queue, a.spark_version, a.start_ms, a.end_ms, a.last_event_ms," \
    "       coalesce(a.duration_ms, CASE WHEN a.end_ms >= a.start_ms THEN a.end_ms - a.start_ms END) AS duration_ms, a.outcome, l.state, l.reason, l.read_bytes," \
    "       l.bytes AS total_bytes, a.job_count, a.failed_job_count, a.stage_count, a.failed_stage_count, a.task_count, a.failed_task_count, a.executor_count," \
    "       a.lost_executor_count, a.task_time_ms, a.gc_time_ms, a.input_bytes, a.output_bytes, a.shuffle_read_bytes, a.shuffle_write_bytes, a.disk_spill_bytes," \
    "       a.skew_grade, a.gc_grade, s.grade, s.saving_ms, s.busy_share, s.completeness, l.log_id, l.path AS log_path, coalesce(p.name, p.uri) AS place, a.generation "
#define ITEM_TABLES " LEFT JOIN run_summary s ON s.app_key = a.app_key LEFT JOIN place p ON p.place_id = l.place_id "
enum { ITEM_COSTS = 9, ITEM_VERDICT = 10, ITEM_FIRST_PLAIN = 12, ITEM_END = 53 };

/* RULE:MS, blank-separated; MS is empty where it has no price. */
static void write_costs(struct json_writer *json, struct str costs, enum lang lang)
{
    json_key(json, "costs");
    json_array_begin(json);
    while (costs.len) {
        struct str price = str_word(&costs, ' '), rule = str_word(&price, ':');
        const char *name = message(lang, "rules", rule, "name");
        int64_t price_ms;
        json_object_begin(json);
        json_kv_str(json, "rule", rule);
        json_kv_str(json, "name", name ? str_of(name) : rule);
        json_kv_i64(json, "priceMs", str_to_i64(price, &price_ms) ? price_ms : UNKNOWN);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_item(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang)
{
    bool is_app = !db_is_null(stmt, 2);
    char ref[APP_REF_BYTES];
    json_kv_str(json, "ref", is_app ? app_ref_text(db_str(stmt, 0), db_str(stmt, 1), db_str(stmt, 2), db_i64(stmt, 7), db_i64(stmt, 8), ref) : STR_NONE);
    api_columns(json, stmt, ITEM_FIRST_PLAIN, ITEM_END);
    json_kv_bool(json, "complete", db_i64(stmt, 3) == 1);
    json_kv_bool(json, "loaded", db_i64(stmt, 4) == 1);
    json_kv_text(json, "layout", API_WORD(layouts, db_i64(stmt, 5)));
    api_words(json, "flags", db_str(stmt, 6), ' ');
    write_costs(json, db_str(stmt, ITEM_COSTS), lang);
    json_kv_str(json, "verdict", db_str(stmt, ITEM_VERDICT + (lang == LANG_ZH_CN)));
}

enum err_code app_item(struct json_writer *json, struct db *catalog, struct str app_key, enum lang lang, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, ITEM_COLUMNS "FROM app a JOIN log l ON l.log_id = a.log_id" ITEM_TABLES "WHERE a.app_key = ?", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, app_key);
    if ((rc = db_step(stmt, err)) == ERR_OK)
        write_item(json, stmt, lang);
    db_finalize(stmt);
    return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "the application is not in the list any more") : rc;
}

/* What a request asks of the list. */
struct wish {
    struct list list;
    struct app_filter filter;
    struct app_order order;
    enum lang lang;
};

static enum err_code read_filter(struct app_filter *self, const struct request *request, struct err *err)
{
    int state, outcome, data;
    enum err_code rc;
    *self = (struct app_filter){.same_job_as = UNKNOWN, .q = request_param(request, "q"), .flags = request_param(request, "flags"), .user = request_param(request, "user"),
                                .queue = request_param(request, "queue"), .place = request_param(request, "place"), .viewer = &request->viewer};
    struct str rule = request_param(request, "rule");
    if ((rc = param_word(request, "state", states, ARRAY_LENGTH(states), &state, err)) || (rc = param_word(request, "outcome", outcomes, ARRAY_LENGTH(outcomes), &outcome, err)) ||
        (rc = param_word(request, "complete", truths, ARRAY_LENGTH(truths), &self->complete, err)) ||
        (rc = param_word(request, "data", problems, ARRAY_LENGTH(problems), &data, err)) ||
        (rc = request_param_i64(request, "from", UNKNOWN, 0, INT64_MAX, &self->from_ms, err)) ||
        (rc = request_param_i64(request, "to", UNKNOWN, 0, INT64_MAX, &self->to_ms, err)) ||
        (rc = request_param_i64(request, "minDurationMs", UNKNOWN, 0, INT64_MAX, &self->least_duration_ms, err)))
        return rc;
    if (rule.len && !(self->rule = rule_find(rule)))
        return err_set(err, ERR_INVALID, "rule: there is no rule of this id");
    self->state = str_of(API_WORD(states, state));
    self->outcome = str_of(API_WORD(outcomes, outcome));
    self->damaged = data == PROBLEM_DAMAGED;
    if (data == PROBLEM_INCOMPLETE)
        self->complete = 0;
    return request_param_i64(request, "grade", 0, 0, 4, &self->grade, err);
}

static enum err_code read_wish(struct wish *self, const struct request *request, struct err *err)
{
    int group;
    enum err_code rc;
    *self = (struct wish){0};
    if ((rc = list_read(&self->list, request, sorts, "-start", err)) || (rc = read_filter(&self->filter, request, err)) || (rc = request_lang(request, &self->lang, err)) ||
        (rc = param_word(request, "group", groups, ARRAY_LENGTH(groups), &group, err)) ||
        (rc = request_param_i64(request, "history", 0, 0, MOST_HISTORY, &self->order.history, err)))
        return rc;
    self->order.column = (enum app_column)(self->list.sort - sorts);
    self->order.descending = self->list.descending;
    self->order.folded = group >= 0;
    return ERR_OK;
}

/* Parameter job: runs of the job of the run of this key. No such run: 0, which is no rowid. */
static enum err_code find_job(struct app_filter *self, const struct request *request, struct db *catalog, struct err *err)
{
    struct str key = request_param(request, "job");
    sqlite3_stmt *stmt = NULL;
    if (!key.len)
        return ERR_OK;
    enum err_code rc = db_prepare(catalog, &stmt, "SELECT rowid FROM app WHERE app_key = ?", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, key);
    rc = db_step(stmt, err);
    self->same_job_as = rc ? 0 : db_i64(stmt, 0);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Logs without a run have no user, no times and no judgements: a filter over those leaves none of them, and only who sees everything sees them. */
static bool where_logs(struct query *query, const struct app_filter *filter)
{
    query_add(query, " FROM log l LEFT JOIN place p ON p.place_id = l.place_id WHERE l.app_key IS NULL");
    if (filter->q.len)
        query_contains(query, " AND l.path LIKE ? ESCAPE '\\'", filter->q);
    if (filter->state.len)
        query_text(query, " AND l.state = ?", filter->state);
    else
        query_add(query, " AND l.state NOT IN ('skipped', 'gone')");   /* no logs, and what nobody can ever read */
    if (filter->flags.len)
        query_contains(query, " AND l.flags LIKE ? ESCAPE '\\'", filter->flags);
    if (filter->damaged)
        query_add(query, " AND " LOG_IS_DAMAGED);
    if (filter->place.len)
        query_text(query, " AND coalesce(p.name, p.uri) = ?", filter->place);
    return filter->viewer->sees_all && filter->complete < 0 && !filter->outcome.len && !filter->user.len && !filter->queue.len && !filter->rule && !known(filter->same_job_as) && !known(filter->from_ms) &&
           !known(filter->to_ms) && !known(filter->least_duration_ms) && filter->grade == 0;
}

static enum err_code count(struct db *catalog, const struct query *where, struct arena *arena, int64_t *ret, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, "SELECT count(*)");
    query_append(&query, where);
    return query_i64(&query, catalog, ret, err);
}

static const char run_sql[] =
    "SELECT a.app_key AS key, a.start_ms, coalesce(a.duration_ms, CASE WHEN a.end_ms >= a.start_ms THEN a.end_ms - a.start_ms END) AS duration_ms, a.outcome, s.grade "
    "FROM app a LEFT JOIN run_summary s ON s.app_key = a.app_key WHERE a.rowid = ?";

/* "history":{…}: the runs of its job, by start; null: its job is not known. */
static enum err_code write_history(struct json_writer *json, sqlite3_stmt *run, const struct app_page *page, const struct app_history *history, struct err *err)
{
    enum err_code rc = ERR_OK;
    json_key(json, "history");
    if (history->total == 0) {
        json_null(json);
        return ERR_OK;
    }
    json_object_begin(json);
    json_kv_i64(json, "total", history->total);
    json_key(json, "runs");
    json_array_begin(json);
    for (size_t i = 0; i < history->count && !rc; i++) {
        db_bind_i64(run, 1, page->runs[history->first + i]);
        if ((rc = db_step(run, err)) == ERR_OK) {
            json_object_begin(json);
            api_columns(json, run, 0, 5);
            json_object_end(json);
            db_reset(run);
        } else if (rc == ERR_EOF) {  /* as below */
            rc = ERR_OK;
        }
    }
    json_array_end(json);
    json_object_end(json);
    return rc;
}

static enum err_code write_apps(struct json_writer *json, struct db *catalog, const struct app_page *page, enum lang lang, struct err *err)
{
    sqlite3_stmt *stmt = NULL, *run = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, ITEM_COLUMNS "FROM app a JOIN log l ON l.log_id = a.log_id" ITEM_TABLES "WHERE a.rowid = ?", err);
    if (!rc)
        rc = db_prepare(catalog, &run, run_sql, err);
    for (size_t i = 0; i < page->count && !rc; i++) {
        db_bind_i64(stmt, 1, page->rowids[i]);
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            json_object_begin(json);
            write_item(json, stmt, lang);
            if (page->histories)
                rc = write_history(json, run, page, &page->histories[i], err);
            json_object_end(json);
            db_reset(stmt);
        } else if (rc == ERR_EOF) {  /* another request has seen a later state of the catalogue, without this run or with it */
            rc = ERR_OK;
        }
    }
    db_finalize(stmt);
    db_finalize(run);
    return rc;
}

static enum err_code log_page(struct json_writer *json, struct db *catalog, int64_t limit, int64_t offset, const struct query *where, enum lang lang, struct arena *arena,
                              struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    sqlite3_stmt *stmt = NULL;
    query_init(&query, arena);
    query_add(&query, ITEM_COLUMNS "FROM (SELECT l.log_id AS id");
    query_append(&query, where);
    query_add(&query, " ORDER BY l.log_id DESC");
    query_number(&query, " LIMIT ?", limit);
    query_number(&query, " OFFSET ?) g JOIN log l ON l.log_id = g.id LEFT JOIN app a ON a.app_key = l.app_key" ITEM_TABLES "ORDER BY l.log_id DESC", offset);
    enum err_code rc = query_prepare(&query, catalog, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_item(json, stmt, lang);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Of a viewer who does not see everything only runs count, by the state of their logs. */
static enum err_code write_counts(struct json_writer *json, struct db *catalog, int64_t app_count, const struct viewer *viewer, struct arena *arena, struct err *err)
{
    static const struct {
        const char *name, *all, *seen;
    } counts[] = {
        {"loading", "SELECT count(*) FROM log WHERE state = 'loading'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'loading'"},
        {"waiting", "SELECT count(*) FROM log WHERE state = 'waiting'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'waiting'"},
        {"partial", "SELECT count(*) FROM log WHERE state = 'partial'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'partial'"},
        {"failed", "SELECT count(*) FROM log WHERE state = 'failed'", "SELECT count(*) FROM log l JOIN app a ON a.log_id = l.log_id WHERE l.state = 'failed'"},
    };
    int64_t n = 0;
    enum err_code rc = viewer->sees_all ? db_query_i64(catalog, "SELECT count(*) FROM log WHERE app_key IS NULL AND state NOT IN ('skipped', 'gone')", &n, err) : ERR_OK;
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

static enum err_code write_list(struct app_table *table, const struct db_lease *catalog, struct wish *wish, struct response *response, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query logs;
    CLEANUP(app_page_dispose) struct app_page page = {0};
    struct list *list = &wish->list;
    query_init(&logs, arena);
    bool with_logs = where_logs(&logs, &wish->filter);
    int64_t log_total = 0;
    enum err_code rc = with_logs ? count(catalog->db, &logs, arena, &log_total, err) : ERR_OK;
    if (rc || (rc = app_table_page(table, catalog, &wish->filter, &wish->order, log_total, list->limit, &list->page, &page, err)))
        return rc;
    list_total(list, page.matched + log_total);

    struct json_writer *json = list_begin(list, response);
    rc = write_apps(json, catalog->db, &page, wish->lang, err);
    int64_t end = list->offset + list->limit;
    if (!rc && log_total > 0 && end > page.matched) {
        int64_t skipped = MAX(list->offset - page.matched, 0);
        rc = log_page(json, catalog->db, end - page.matched - skipped, skipped, &logs, wish->lang, arena, err);
    }
    list_end(list, json);
    if (!rc)
        rc = write_counts(json, catalog->db, page.all, wish->filter.viewer, arena, err);
    json_object_end(json);
    return rc;
}

static void write_empty(const struct list *list, struct response *response)
{
    static const char *const names[] = {"all", "loading", "waiting", "partial", "failed"};
    struct json_writer *json = list_begin(list, response);
    list_end(list, json);
    json_key(json, "counts");
    json_object_begin(json);
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        json_kv_i64(json, names[i], 0);
    json_object_end(json);
    json_object_end(json);
}

enum err_code api_apps(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct wish wish;
    if (read_wish(&wish, request, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct db_lease lease;
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (!rc && lease.db) {
        char etag[LIST_TAG_BYTES];
        rc = list_tag_read(ctx, request, lease.db, etag, err);
        if (!rc && !answer_cache_tag(server_answers(ctx->server), request, etag, response) && !(rc = find_job(&wish.filter, request, lease.db, err)))
            rc = write_list(server_apps(ctx->server), &lease, &wish, response, request->arena, err);
    } else if (!rc) {
        list_total(&wish.list, 0);
        write_empty(&wish.list, response);
    }
    db_pool_return(ctx->pool, &lease);
    return rc;
}

/* ---- what can be filtered by ---- */

struct facets {
    struct json_writer *json;
    enum lang lang;
    enum app_facet_kind open;        /* the array that is being written */
};

static const char *const facet_names[FACET_KIND_COUNT] = {[FACET_RULE] = "rules", [FACET_USER] = "users", [FACET_QUEUE] = "queues", [FACET_PLACE] = "places"};

/* Ends the arrays before that of `kind` and begins it. */
static void open_facets(struct facets *self, enum app_facet_kind kind)
{
    while (self->open < kind) {
        json_array_end(self->json);
        self->open++;
        if (self->open == FACET_KIND_COUNT)
            return;
        json_key(self->json, facet_names[self->open]);
        json_array_begin(self->json);
    }
}

static void write_facet(void *context, enum app_facet_kind kind, const struct app_facet *facet)
{
    struct facets *self = context;
    open_facets(self, kind);
    json_object_begin(self->json);
    json_kv_str(self->json, "value", facet->text);
    if (kind == FACET_RULE)
        json_kv_text(self->json, "name", message(self->lang, "rules", facet->text, "name"));
    json_kv_i64(self->json, "runCount", facet->run_count);
    json_object_end(self->json);
}

enum err_code api_facets(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct facets facets = {.open = FACET_RULE};
    int64_t totals[FACET_KIND_COUNT] = {0};
    struct db_lease lease;
    if (request_lang(request, &facets.lang, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    enum err_code rc = api_catalog(ctx, &lease, err);
    char etag[LIST_TAG_BYTES] = "";
    if (!rc && lease.db)
        rc = list_tag_read(ctx, request, lease.db, etag, err);
    if (!rc && !answer_cache_tag(server_answers(ctx->server), request, etag, response)) {
        struct json_writer *json = facets.json = response_json(response, false);
        json_object_begin(json);
        json_key(json, facet_names[FACET_RULE]);
        json_array_begin(json);
        if (lease.db)
            rc = app_table_facets(server_apps(ctx->server), &lease, &request->viewer, write_facet, &facets, totals, err);
        open_facets(&facets, FACET_KIND_COUNT);
        json_key(json, "totals");
        json_object_begin(json);
        for (int kind = 0; kind < FACET_KIND_COUNT; kind++)
            json_kv_i64(json, facet_names[kind], totals[kind]);
        json_object_end(json);
        json_object_end(json);
    }
    db_pool_return(ctx->pool, &lease);
    return rc;
}
