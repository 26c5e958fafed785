/* SPDX-License-Identifier: Apache-2.0
 *
 * applications, applications/{app}, applications/{app}/{attempt}: from the catalogue alone, so that a run is listed before it is loaded (spec/core.md §3.3). */
#include "server/api_v1/v1.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/answer_cache.h"
#include "server/api_v1/dates.h"
#include "server/api_v1/resources.h"
#include "server/list_tag.h"
#include "server/server.h"

#define MAX_APPS ((size_t)1 << 24)
#define MAX_ID_BYTES ((size_t)1 << 30)

/* Attempts of one application, newest first; of several copies of an attempt the best one (app_lookup.h). */
static const char attempts_sql[] =
    "SELECT a.app_id, a.name, a.attempt_id, iif(a.start_inferred, NULL, a.start_ms) AS logged_start_ms, a.end_ms, a.complete, l.modified_ms, a.user, iif(a.vendor_version, NULL, a.spark_version), p.name, p.uri, l.path, "
    "a.exit_code "
    "FROM app a JOIN log l ON l.log_id = a.log_id LEFT JOIN place p ON p.place_id = l.place_id "
    "WHERE a.app_id = ?1 AND (?2 IS NULL OR may_see(?2, ?3, a.user, a.view_users, a.view_groups)) AND " APP_ANSWERS_TO_ID("a", "?2", "?3") " AND NOT EXISTS ("
    "  SELECT 1 FROM app b JOIN log m ON m.log_id = b.log_id WHERE b.app_id = a.app_id AND b.attempt_id IS a.attempt_id AND " APP_ANSWERS_TO_ID("b", "?2", "?3")
    "  AND (?2 IS NULL OR may_see(?2, ?3, b.user, b.view_users, b.view_groups))"
    "  AND (b.complete, m.bytes, m.modified_ms, b.app_key) > (a.complete, l.bytes, l.modified_ms, a.app_key)) "
    "ORDER BY logged_start_ms DESC, a.attempt_id DESC";

/* As the server names it: a URI. */
static enum err_code source_uri(struct json_writer *w, const char *key, struct str name, struct arena *arena, struct err *err)
{
    if (!str_starts(name, "/")) {
        v1_text(w, key, name);
        return ERR_OK;
    }
    const char *uri = arena_printf(arena, "file://%.*s", (int)name.len, name.ptr);
    if (!uri)
        return err_nomem(err);
    json_kv_text(w, key, uri);
    return ERR_OK;
}

static struct str folder_of(struct str path)
{
    while (path.len && path.ptr[path.len - 1] != '/')
        path.len--;
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    return path;
}

static void bind_app(sqlite3_stmt *rows, struct str app_id, const struct request *request)
{
    db_bind_str(rows, 1, app_id);
    db_bind_str(rows, 2, access_sql_user(&request->viewer));
    db_bind_str(rows, 3, request->viewer.groups);
}

/* One attempt object from a row of attempts_sql. */
static enum err_code write_attempt(struct json_writer *w, sqlite3_stmt *row, struct arena *arena, struct err *err)
{
    bool complete = db_i64(row, 5) == 1;
    int64_t start_ms = known_or(db_i64(row, 3), -1), end_ms = complete ? known_or(db_i64(row, 4), -1) : -1, updated_ms = known_or(db_i64(row, 6), -1);
    struct str full = str_known(db_str(row, 10)) ? db_str(row, 10) : folder_of(db_str(row, 11));
    struct str name = str_known(db_str(row, 9)) ? db_str(row, 9) : full;
    json_object_begin(w);
    v1_text_if(w, "attemptId", db_str(row, 2));
    v1_date(w, "startTime", start_ms);
    v1_date(w, "endTime", end_ms);
    v1_date(w, "lastUpdated", updated_ms);
    v1_count(w, "duration", complete ? elapsed_known(start_ms, end_ms) : 0);
    v1_text(w, "sparkUser", db_str(row, 7));
    json_kv_bool(w, "completed", complete);
    v1_text(w, "appSparkVersion", db_str(row, 8));
    if (!db_is_null(row, 12))
        v1_count(w, "exitCode", db_i64(row, 12));
    enum err_code rc = source_uri(w, "logSourceName", name, arena, err);
    if (rc == ERR_OK)
        rc = source_uri(w, "logSourceFullPath", full, arena, err);
    json_kv_i64(w, "startTimeEpoch", start_ms);
    json_kv_i64(w, "endTimeEpoch", end_ms);
    json_kv_i64(w, "lastUpdatedEpoch", updated_ms);
    json_object_end(w);
    return rc;
}

/* One application object from attempts_sql, bound to an id. *ret_any: there is such an application; if not, nothing was written. */
static enum err_code write_application(struct json_writer *(*begin)(void *), void *context, sqlite3_stmt *rows, struct arena *arena, bool *ret_any, struct err *err)
{
    struct json_writer *w = NULL;
    enum err_code rc;
    while ((rc = db_step(rows, err)) == ERR_OK) {
        if (!w) {
            w = begin(context);
            json_object_begin(w);
            json_kv_str(w, "id", db_str(rows, 0));
            v1_text(w, "name", db_str(rows, 1));
            json_key(w, "attempts");
            json_array_begin(w);
        }
        if ((rc = write_attempt(w, rows, arena, err)))
            break;
    }
    *ret_any = w != NULL;
    if (w) {
        json_array_end(w);
        json_object_end(w);
    }
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* ---- The list ---- */

struct filters {
    bool completed, running;
    int64_t min_start_ms, max_start_ms, min_end_ms, max_end_ms, now_ms;
};

/* One attempt, as far as filters and order need it. */
struct attempt {
    struct str id;                   /* arena of the list; STR_NONE: has none */
    int64_t start_ms, end_ms;        /* -1: unknown, or has not ended */
    int64_t log_id;
    bool complete;
    struct attempt *next;            /* of the same application */
};

struct entry {
    struct str id;                   /* of the map of ids */
    int64_t end_ms;                  /* of the newest attempt; -1: has not ended */
    struct attempt *attempts;
};

struct list {
    struct smap ids;                 /* to position + 1 */
    struct entry *entries;
    size_t count, capacity;
    struct arena arena;
};

static void list_init(struct list *self)
{
    *self = (struct list){0};
    smap_init(&self->ids, MAX_APPS, MAX_ID_BYTES);
    arena_init(&self->arena, MAX_ID_BYTES);
}

static void list_dispose(struct list *self)
{
    smap_dispose(&self->ids);
    mem_free(self->entries);
    arena_dispose(&self->arena);
}

/* NULL: out of memory. */
static struct entry *entry_of(struct list *self, struct str app_id)
{
    uintptr_t position = (uintptr_t)smap_get(&self->ids, app_id);
    if (!position) {
        if (mem_grow((void **)&self->entries, &self->capacity, self->count + 1, MAX_APPS, sizeof *self->entries) ||
            smap_put(&self->ids, app_id, (void *)(uintptr_t)(self->count + 1)))
            return NULL;
        self->entries[self->count] = (struct entry){self->ids.entries[self->count].key, -1, NULL};
        position = ++self->count;
    }
    return &self->entries[position - 1];
}

/* Is the first of two copies of an attempt the better one? The logs are only looked at where this is asked. */
static enum err_code better_copy(struct db *catalog, const struct attempt *a, const struct attempt *b, bool *ret, struct err *err)
{
    *ret = a->complete;
    if (a->complete != b->complete)
        return ERR_OK;
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(
        catalog, &row, "SELECT (a.bytes, a.modified_ms) > (b.bytes, b.modified_ms) FROM log a, log b WHERE a.log_id = ?1 AND b.log_id = ?2", err);
    if (rc)
        return rc;
    db_bind_i64(row, 1, a->log_id);
    db_bind_i64(row, 2, b->log_id);
    if ((rc = db_step(row, err)) == ERR_OK)
        *ret = db_i64(row, 0) == 1;
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code add_attempt(struct list *self, struct db *catalog, struct entry *entry, const struct attempt *attempt, struct err *err)
{
    for (struct attempt *have = entry->attempts; have; have = have->next) {
        if (str_known(have->id) != str_known(attempt->id) || !str_eq(have->id, attempt->id))
            continue;
        bool better;
        enum err_code rc = better_copy(catalog, attempt, have, &better, err);
        if (rc == ERR_OK && better) {
            struct attempt *next = have->next;
            struct str id = have->id;                        /* ours; the other belongs to the row */
            *have = *attempt;
            have->id = id;
            have->next = next;
        }
        return rc;
    }
    struct attempt *copy = arena_alloc(&self->arena, sizeof *copy);
    if (!copy)
        return err_nomem(err);
    *copy = *attempt;
    if (arena_str(&self->arena, attempt->id, &copy->id))
        return err_nomem(err);
    copy->next = entry->attempts;
    entry->attempts = copy;
    return ERR_OK;
}

static const char scan_sql[] = "SELECT app_id, attempt_id, iif(start_inferred, NULL, start_ms), end_ms, complete, log_id FROM app a WHERE (?1 IS NULL OR may_see(?1, ?2, user, view_users, view_groups)) AND " APP_ANSWERS_TO_ID("a", "?1", "?2");

static enum err_code scan(struct list *self, struct db *catalog, const struct viewer *viewer, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(catalog, &rows, scan_sql, err);
    if (rc)
        return rc;
    db_bind_str(rows, 1, access_sql_user(viewer));
    db_bind_str(rows, 2, viewer->groups);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        bool complete = db_i64(rows, 4) == 1;
        struct attempt attempt = {db_str(rows, 1), known_or(db_i64(rows, 2), -1), complete ? known_or(db_i64(rows, 3), -1) : -1, db_i64(rows, 5), complete, NULL};
        struct entry *entry = entry_of(self, db_str(rows, 0));
        if ((rc = entry ? add_attempt(self, catalog, entry, &attempt, err) : err_nomem(err)))
            break;
    }
    db_finalize(rows);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static bool entry_fits(struct entry *entry, const struct filters *filters)
{
    const struct attempt *newest = entry->attempts;
    if (!newest)
        return false;
    for (const struct attempt *a = newest; a; a = a->next)
        if (a->start_ms > newest->start_ms)
            newest = a;
    entry->end_ms = newest->end_ms;
    bool running = !newest->complete, fits = false;
    for (const struct attempt *a = entry->attempts; a && !fits; a = a->next)
        fits = a->start_ms >= filters->min_start_ms && a->start_ms <= filters->max_start_ms &&
               (running ? filters->max_end_ms > filters->now_ms : a->end_ms >= filters->min_end_ms && a->end_ms <= filters->max_end_ms);
    return fits && (running ? filters->running : filters->completed);
}

static void keep_fitting(struct list *self, const struct filters *filters)
{
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++)
        if (entry_fits(&self->entries[i], filters))
            self->entries[kept++] = self->entries[i];
    self->count = kept;
}

/* Latest end first, those without an end last; ids downward. */
static int by_end(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->end_ms != y->end_ms)
        return x->end_ms > y->end_ms ? -1 : 1;
    return str_compare(y->id, x->id);
}

static struct json_writer *same_writer(void *context)
{
    return context;
}

static enum err_code write_list(struct list *self, size_t limit, struct db *catalog, const struct request *request, struct json_writer *w, struct err *err)
{
    if (self->count)
        qsort(self->entries, self->count, sizeof *self->entries, by_end);
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(catalog, &rows, attempts_sql, err);
    if (rc)
        return rc;
    json_array_begin(w);
    for (size_t i = 0; i < self->count && i < limit && rc == ERR_OK; i++) {
        bool any;
        bind_app(rows, self->entries[i].id, request);
        rc = write_application(same_writer, w, rows, request->arena, &any, err);
    }
    json_array_end(w);
    db_finalize(rows);
    return rc;
}

static enum err_code answer_list(const struct filters *filters, size_t limit, struct db *catalog, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(list_dispose) struct list list;
    list_init(&list);
    enum err_code rc = scan(&list, catalog, &request->viewer, err);
    if (rc)
        return rc;
    keep_fitting(&list, filters);
    return write_list(&list, limit, catalog, request, response_json(response, true), err);
}

/* Where no date is given. A run that started or ended before 2010, or never (-1), is listed only on request. */
#define YEAR_2010_MS 1262304000000
#define YEAR_3000_MS 32503680000000

/* False: answered 400. */
static bool date_param(const struct request *request, struct response *response, const char *name, int64_t otherwise, int64_t *ret)
{
    struct str text = request_param(request, name);
    *ret = otherwise;
    if (!text.len || v1_parse_date(text, ret))
        return true;
    response_plain(response, 400, "Couldn't parse date: %.*s", (int)text.len, text.ptr);
    return false;
}

enum err_code v1_applications(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    static const char *const statuses[] = {"COMPLETED", "RUNNING"};
    unsigned status;
    bool given;
    int64_t limit;
    if (!v1_param_words(request, "status", statuses, ARRAY_LENGTH(statuses), &status, &given) || !v1_param_int(request, "limit", INT32_MAX, &limit))
        return v1_not_found(request, response, err);
    struct filters filters = {.completed = !given || (status & 1u), .running = !given || (status & 2u), .now_ms = time_now_ms()};
    if (!date_param(request, response, "minDate", YEAR_2010_MS, &filters.min_start_ms) ||
        !date_param(request, response, "maxDate", YEAR_3000_MS, &filters.max_start_ms) ||
        !date_param(request, response, "minEndDate", YEAR_2010_MS, &filters.min_end_ms) ||
        !date_param(request, response, "maxEndDate", YEAR_3000_MS, &filters.max_end_ms))
        return ERR_OK;

    struct db_lease catalog;
    enum err_code rc = db_pool_catalog(ctx->pool, &catalog, err);
    if (catalog_is_to_come(ctx->server, rc)) {       /* a store that nothing was ingested into yet */
        struct json_writer *w = response_json(response, true);
        json_array_begin(w);
        json_array_end(w);
        return ERR_OK;
    }
    if (rc)
        return rc;
    char etag[LIST_TAG_BYTES] = "";
    if (!request_param(request, "maxEndDate").len)       /* with it, who still runs is in the list or not by the clock */
        rc = list_tag_read(ctx, request, catalog.db, etag, err);
    if (rc == ERR_OK && !answer_cache_tag(server_answers(ctx->server), request, etag, response))
        rc = answer_list(&filters, limit > 0 ? (size_t)limit : 0, catalog.db, request, response, err);
    db_pool_return(ctx->pool, &catalog);
    return rc;
}

/* ---- One ---- */

static struct json_writer *begin_json(void *response)
{
    return response_json(response, true);
}

static enum err_code answer_application(struct db *catalog, const struct request *request, struct response *response, bool *ret_any, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(catalog, &rows, attempts_sql, err);
    if (rc)
        return rc;
    bind_app(rows, request->path_args[0], request);
    rc = write_application(begin_json, response, rows, request->arena, ret_any, err);
    db_finalize(rows);
    return rc;
}

static enum err_code answer_attempt(struct db *catalog, const struct request *request, struct response *response, bool *ret_any, struct err *err)
{
    struct str attempt = request->path_args[1];
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(catalog, &rows, attempts_sql, err);
    if (rc)
        return rc;
    bind_app(rows, request->path_args[0], request);
    while (!*ret_any && (rc = db_step(rows, err)) == ERR_OK) {
        *ret_any = str_known(db_str(rows, 2)) && str_eq(db_str(rows, 2), attempt);
        if (*ret_any)
            rc = write_attempt(response_json(response, true), rows, request->arena, err);
    }
    db_finalize(rows);
    return rc == ERR_EOF ? ERR_OK : rc;
}

typedef enum err_code answer_fn(struct db *catalog, const struct request *request, struct response *response, bool *ret_any, struct err *err);

/* *ret_any: there is what the address names. A tag alone does not say so, so that a client that sends one is not answered before. */
static enum err_code answer_one(struct api_ctx *ctx, const struct request *request, struct response *response, answer_fn *answer, bool *ret_any, struct err *err)
{
    struct db_lease catalog;
    char etag[LIST_TAG_BYTES];
    *ret_any = false;
    enum err_code rc = app_catalog(ctx, &catalog, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? ERR_OK : rc;
    rc = list_tag_read(ctx, request, catalog.db, etag, err);
    if (rc == ERR_OK) {
        response_etag(response, str_of(etag));
        *ret_any = answer_cache_recall(server_answers(ctx->server), request, etag, response);
        if (!*ret_any)
            rc = answer(catalog.db, request, response, ret_any, err);
    }
    db_pool_return(ctx->pool, &catalog);
    return rc;
}

enum err_code v1_application(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct str app = request->path_args[0];
    bool any;
    enum err_code rc = answer_one(ctx, request, response, answer_application, &any, err);
    if (rc == ERR_OK && !any)
        response_plain(response, 404, "unknown app: %.*s", (int)app.len, app.ptr);
    return rc;
}

enum err_code v1_attempt(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct str app = request->path_args[0], attempt = request->path_args[1];
    bool any;
    enum err_code rc = answer_one(ctx, request, response, answer_attempt, &any, err);
    if (rc == ERR_OK && !any)
        response_plain(response, 404, "unknown app %.*s, attempt %.*s", (int)app.len, app.ptr, (int)attempt.len, attempt.ptr);
    return rc;
}

enum err_code v1_version(struct api_ctx *ctx UNUSED, const struct request *request UNUSED, struct response *response, struct err *err UNUSED)
{
    struct json_writer *w = response_json(response, true);
    json_object_begin(w);
    json_kv_text(w, "spark", V1_SPARK_VERSION);
    json_object_end(w);
    return ERR_OK;
}
