/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "server/api/handlers.h"
#include "server/task_columns.h"

#define BINS_PER_DECADE 8            /* a bin is a third wider than the one before: a twofold task is two or three bins away */
#define MAX_EDGES 160                /* of 64-bit milliseconds */
#define MAX_ERRORS ((size_t)1 << 20) /* different failure texts of one stage */
enum { STATUS_SUCCESS = 1 };         /* of task.status */

static const char find_sql[] = "SELECT stage_ref FROM stage WHERE stage_id = ? AND attempt = ?";

static const char detail_sql[] =
    "SELECT s.locality_process, s.locality_node, s.locality_none, s.locality_rack, s.locality_any,"
    "       s.speculative_tasks, s.speculative_active, s.speculative_completed, s.speculative_failed, s.speculative_killed,"
    "       (SELECT group_concat(parent_id, ' ') FROM (SELECT parent_id FROM stage_parent WHERE stage_id = s.stage_id ORDER BY parent_id)),"
    "       (SELECT group_concat(rdd_id, ' ') FROM (SELECT rdd_id FROM stage_rdd WHERE stage_ref = s.stage_ref ORDER BY ordinal)),"
    "       (SELECT group_concat(attempt, ' ') FROM (SELECT attempt FROM stage o WHERE o.stage_id = s.stage_id ORDER BY attempt)),"
    "       t.body AS details, s.resource_profile_id"
    "  FROM stage s LEFT JOIN text t ON t.text_id = s.details_text_id WHERE s.stage_ref = ?";

static void write_numbers(struct json_writer *json, sqlite3_stmt *stmt, const char *key, int first, const char *const names[5])
{
    json_key(json, key);
    json_object_begin(json);
    for (int i = 0; i < 5; i++)
        json_kv_i64(json, names[i], db_i64(stmt, first + i));
    json_object_end(json);
}

static enum err_code write_details(struct json_writer *json, struct db *db, int64_t stage_ref, struct err *err)
{
    static const char *const localities[5] = {"process", "node", "none", "rack", "any"};
    static const char *const speculation[5] = {"tasks", "active", "completed", "failed", "killed"};
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, detail_sql, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, stage_ref);
    if ((rc = db_step(stmt, err)) == ERR_OK) {
        api_columns(json, stmt, 13, 15);
        api_numbers(json, "parents", db_str(stmt, 10));
        api_numbers(json, "rddIds", db_str(stmt, 11));
        api_numbers(json, "attempts", db_str(stmt, 12));
        write_numbers(json, stmt, "locality", 0, localities);
        write_numbers(json, stmt, "speculation", 5, speculation);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

const char *metric_unit(struct str column)
{
    return str_ends(column, "_ms") ? "ms" : str_ends(column, "_ns") ? "ns" : str_ends(column, "_bytes") ? "bytes" : "count";
}

static const char quantiles_sql[] = "SELECT name, task_count AS count, min, p05, p25, p50, p75, p95, p99, max, sum FROM stage_quantile WHERE stage_ref = ? ORDER BY name";

static enum err_code write_quantiles(struct json_writer *json, struct db *db, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, quantiles_sql, err);
    if (!rc)
        db_bind_i64(stmt, 1, stage_ref);
    json_key(json, "quantiles");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str name = db_str(stmt, 0);
        json_object_begin(json);
        api_name(json, "name", name);
        json_kv_text(json, "unit", metric_unit(name));
        api_columns(json, stmt, 1, 11);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Rising whole milliseconds from the smallest to beyond the largest value, ever farther apart. Returns how many. */
static size_t make_edges(int64_t low, int64_t high, int64_t edges[MAX_EDGES])
{
    size_t n = 0;
    edges[n++] = low;
    double step = pow(10, 1.0 / BINS_PER_DECADE), edge = low > 0 ? (double)low : 1;
    if (low <= 0)
        edges[n++] = 1;
    while (edges[n - 1] <= high && n < MAX_EDGES) {
        edge = edge * step;
        int64_t whole = edge < 9e18 ? (int64_t)ceil(edge) : INT64_MAX;
        if (whole > edges[n - 1])
            edges[n++] = whole;
        else if (whole == INT64_MAX)
            break;
    }
    return n;
}

/* Halving without a branch that would be guessed wrong every other time. */
static size_t bin_of(int64_t value, const int64_t *edges, size_t edge_count)
{
    size_t low = 0;                  /* edges[low] <= value < edges[low + left] */
    for (size_t left = edge_count - 1, half; left > 1; left -= half) {
        half = left / 2;
        low += (value >= edges[low + half]) * half;
    }
    return low;
}

static enum err_code write_histogram(struct json_writer *json, struct task_columns *columns, struct err *err)
{
    const int64_t *duration;
    enum err_code rc = task_columns_get(columns, "duration_ms", &duration, err);
    if (rc)
        return rc;
    size_t count = task_columns_count(columns), edge_count = 0;
    int64_t low = UNKNOWN, high = UNKNOWN, edges[MAX_EDGES], counts[MAX_EDGES] = {0};
    for (size_t i = 0; i < count; i++) {
        if (known(duration[i])) {    /* a clock that stepped back makes a negative one: it counts as nothing */
            low = min_known(low, MAX(duration[i], 0));
            high = max_known(high, MAX(duration[i], 0));
        }
    }
    if (known(low)) {
        edge_count = make_edges(low, high, edges);
        for (size_t i = 0; i < count; i++)
            if (known(duration[i]))
                counts[bin_of(MAX(duration[i], 0), edges, edge_count)]++;
    }
    json_key(json, "histogram");
    json_object_begin(json);
    json_key(json, "edgesMs");
    json_array_begin(json);
    for (size_t i = 0; i < edge_count; i++)
        json_i64(json, edges[i]);
    json_array_end(json);
    json_key(json, "counts");
    json_array_begin(json);
    for (size_t i = 0; i + 1 < edge_count; i++)
        json_i64(json, counts[i]);
    json_array_end(json);
    json_object_end(json);
    return ERR_OK;
}

/* "slowestTaskId": of the successful ones the longest, of several the first. */
static enum err_code write_slowest(struct json_writer *json, struct task_columns *columns, struct err *err)
{
    const int64_t *duration, *status, *ids;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "duration_ms", &duration, err)) || (rc = task_columns_get(columns, "status", &status, err)) ||
        (rc = task_columns_get(columns, "task_id", &ids, err)))
        return rc;
    int64_t most_ms = UNKNOWN, id = UNKNOWN;
    for (size_t i = 0; i < task_columns_count(columns); i++)
        if (status[i] == STATUS_SUCCESS && known(duration[i]) && (duration[i] > most_ms || (duration[i] == most_ms && ids[i] < id))) {
            most_ms = duration[i];
            id = ids[i];
        }
    json_kv_i64(json, "slowestTaskId", id);
    return ERR_OK;
}

/* Tasks that failed with one text. host_ref: the machine where most of them did (of several the first that the log names), UNKNOWN: none says where. */
struct error_group {
    int64_t text_id, count, first_task_id;
    int64_t host_ref, host_task_count, host_count;
};

static int more_frequent(const void *a, const void *b)
{
    const struct error_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->first_task_id < y->first_task_id ? -1 : x->first_task_id > y->first_task_id;
}

static enum err_code group_errors(struct task_columns *columns, struct error_group **groups, size_t *group_count, struct imap *by_text, struct err *err)
{
    const int64_t *text, *task;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "error_text_id", &text, err)) || (rc = task_columns_get(columns, "task_id", &task, err)))
        return rc;
    size_t capacity = 0;
    for (size_t i = 0; i < task_columns_count(columns); i++) {
        if (!known(text[i]))
            continue;
        size_t at = (size_t)(uintptr_t)imap_get(by_text, text[i]);       /* index + 1 */
        if (!at) {
            if (mem_grow((void **)groups, &capacity, *group_count + 1, MAX_ERRORS, sizeof **groups))
                return err_nomem(err);
            (*groups)[*group_count] = (struct error_group){.text_id = text[i], .first_task_id = task[i], .host_ref = UNKNOWN};
            at = ++*group_count;
            if (imap_put(by_text, text[i], (void *)(uintptr_t)at))
                return err_nomem(err);
        }
        struct error_group *group = &(*groups)[at - 1];
        group->count++;
        group->first_task_id = MIN(group->first_task_id, task[i]);
    }
    return ERR_OK;
}

struct failure_place {
    int64_t text_id, host_ref;
};

static int compare_places(const void *a, const void *b)
{
    const struct failure_place *x = a, *y = b;
    if (x->text_id != y->text_id)
        return x->text_id < y->text_id ? -1 : 1;
    return (x->host_ref > y->host_ref) - (x->host_ref < y->host_ref);
}

/* Whether a failure is one machine's: by_text leads to the groups, as group_errors made them. */
static enum err_code count_hosts(struct task_columns *columns, struct error_group *groups, struct imap *by_text, struct err *err)
{
    CLEANUP(mem_freep) struct failure_place *places = NULL;
    const int64_t *text, *host;
    size_t count = 0;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "error_text_id", &text, err)) || (rc = task_columns_get(columns, "host_ref", &host, err)))
        return rc;
    if (!(places = mem_array(task_columns_count(columns) + 1, sizeof *places)))
        return err_nomem(err);
    for (size_t i = 0; i < task_columns_count(columns); i++)
        if (known(text[i]) && known(host[i]))
            places[count++] = (struct failure_place){text[i], host[i]};
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && compare_places(&places[i], &places[next]) == 0;)
            next++;
        struct error_group *group = &groups[(size_t)(uintptr_t)imap_get(by_text, places[i].text_id) - 1];
        group->host_count++;
        if ((int64_t)(next - i) > group->host_task_count) {
            group->host_task_count = (int64_t)(next - i);
            group->host_ref = places[i].host_ref;
        }
    }
    return ERR_OK;
}

static enum err_code write_groups(struct json_writer *json, struct db *db, const struct error_group *groups, size_t group_count, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT (SELECT body FROM text WHERE text_id = ?1), (SELECT name FROM host WHERE host_ref = ?2)", err);
    for (size_t i = 0; i < group_count && !rc; i++) {
        db_bind_i64(stmt, 1, groups[i].text_id);
        db_bind_i64(stmt, 2, groups[i].host_ref);
        if ((rc = db_step(stmt, err)))
            break;
        json_object_begin(json);
        json_kv_str(json, "text", db_str(stmt, 0));
        json_kv_i64(json, "count", groups[i].count);
        json_kv_i64(json, "firstTaskId", groups[i].first_task_id);
        json_kv_str(json, "host", db_str(stmt, 1));
        json_kv_i64(json, "hostTasks", groups[i].host_task_count);
        json_kv_i64(json, "hostCount", groups[i].host_count);
        json_object_end(json);
        db_reset(stmt);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code write_errors(struct json_writer *json, struct db *db, struct task_columns *columns, struct err *err)
{
    CLEANUP(imap_dispose) struct imap by_text;
    CLEANUP(mem_freep) struct error_group *groups = NULL;
    size_t group_count = 0;
    imap_init(&by_text, MAX_ERRORS);
    enum err_code rc = group_errors(columns, &groups, &group_count, &by_text, err);
    if (!rc && group_count && !(rc = count_hosts(columns, groups, &by_text, err)))
        qsort(groups, group_count, sizeof *groups, more_frequent);
    json_key(json, "errors");
    json_array_begin(json);
    if (!rc)
        rc = write_groups(json, db, groups, group_count, err);
    json_array_end(json);
    return rc;
}

static const char kills_sql[] =
    "SELECT t.body AS reason, k.task_count AS count FROM kill_reason k LEFT JOIN text t ON t.text_id = k.reason_text_id"
    " WHERE k.owner_kind = 1 AND k.owner = ? ORDER BY k.task_count DESC, t.body";

/* What the application's author counts; Spark's own metrics stand in the quantiles. Ids may pass 2^53. */
static const char accumulables_sql[] =
    "SELECT CAST(accumulable_id AS TEXT) AS id, name, value_text AS value FROM stage_accumulable"
    " WHERE stage_ref = ? AND internal = 0 AND metadata IS NOT 'sql' ORDER BY ordinal";

static const char cached_rdds_sql[] =
    "SELECT s.rdd_id AS id, r.name FROM stage_rdd s LEFT JOIN rdd r ON r.rdd_id = s.rdd_id WHERE s.stage_ref = ? AND s.cached = 1 ORDER BY s.ordinal";

static enum err_code write_list(struct json_writer *json, struct db *db, const char *key, const char *sql, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc)
        db_bind_i64(stmt, 1, stage_ref);
    json_key(json, key);
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 0, sqlite3_column_count(stmt));
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code stage_find(struct db *db, const struct request *request, int64_t *ret_stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    *ret_stage_ref = UNKNOWN;
    enum err_code rc = db_prepare(db, &stmt, find_sql, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, api_path_id(request, 1));
    db_bind_i64(stmt, 2, api_path_id(request, 2));
    if ((rc = db_step(stmt, err)) == ERR_OK)
        *ret_stage_ref = db_i64(stmt, 0);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_stage(struct json_writer *json, const struct api_ctx *ctx, const struct api_app *app, int64_t stage_ref, struct task_columns *columns, struct arena *arena, struct err *err)
{
    enum err_code rc;
    json_object_begin(json);
    if (!(rc = stage_item(json, app, stage_ref, arena, err)) && !(rc = write_details(json, app->db, stage_ref, err)) && !(rc = write_quantiles(json, app->db, stage_ref, err)) &&
        !(rc = write_histogram(json, columns, err)) && !(rc = write_slowest(json, columns, err)) && !(rc = stage_executors(json, ctx->server, app->db, stage_ref, columns, err)) && !(rc = write_errors(json, app->db, columns, err)) &&
        !(rc = write_list(json, app->db, "killReasons", kills_sql, stage_ref, err)) && !(rc = write_list(json, app->db, "cachedRdds", cached_rdds_sql, stage_ref, err)))
        rc = write_list(json, app->db, "accumulables", accumulables_sql, stage_ref, err);
    json_object_end(json);
    return rc;
}

enum err_code api_stage(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct task_columns *columns = NULL;
    int64_t stage_ref;
    struct ladder *ladders;
    enum err_code rc;
    if (!api_app_open_for(ctx, request, response, request_ladders(request, &ladders, err) != ERR_OK, &app, &rc, err))
        return rc;
    app.ladders = ladders;
    rc = stage_find(app.db, request, &stage_ref, err);
    if (!rc && !known(stage_ref))
        response_error(response, 404, "not_found", "there is no such stage attempt");
    else if (!rc && !(rc = task_columns_open(&columns, app.db, stage_ref, err)))
        rc = write_stage(response_json(response, false), ctx, &app, stage_ref, columns, request->arena, err);
    task_columns_free(columns);
    api_app_close(ctx, &app);
    return rc;
}
