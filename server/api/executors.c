/* SPDX-License-Identifier: Apache-2.0
 *
 * Executors, one row for each life of an id, and what they come to together: totals by state as on the History Server's page, exclusions. */
#include <math.h>
#include <string.h>

#include "analysis/conf_value.h"
#include "analysis/executor_loss.h"
#include "analysis/failure_signature.h"
#include "server/api/handlers.h"
#include "server/executor_logs.h"

#define MOST_EXCLUSIONS "1000"
#define DEFAULT_HEAP_BYTES (1024 * BYTES_PER_MIB) /* since Spark 1.5 */
#define LEAST_OVERHEAD_BYTES (384 * BYTES_PER_MIB)
#define OVERHEAD_SHARE 10 /* of the heap: one part in ten */

/* Until its removal, or as long as the log goes. */
#define ALIVE "CASE WHEN coalesce(e.remove_ms, a.last_event_ms) >= e.add_ms THEN coalesce(e.remove_ms, a.last_event_ms) - e.add_ms END"

static const struct list_sort sorts[] = {
    {"id", NULL}, /* several columns: see order() */
    {"host", "e.host"},
    {"taskTime", "e.task_time_ms"},
    {"tasks", "e.task_count"},
    {"failedTasks", "e.failed_task_count"},
    {"gcShare", "CASE WHEN e.task_time_ms > 0 THEN CAST(e.gc_time_ms AS REAL) / e.task_time_ms END"},
    {"input", "e.total_input_bytes"},
    {"shuffleRead", "e.total_shuffle_read_bytes"},
    {"shuffleWrite", "e.total_shuffle_write_bytes"},
    {"add", "e.add_ms"},
    {"remove", "e.remove_ms"},
    {"heap", "nullif(e.peak_jvm_heap_memory_bytes, 0)"},
    {NULL, NULL},
};

/* What its tasks did, of all stages together. */
#define WORK_COLUMNS                                                                                                                                                  \
    "e.task_run_time_ms AS run_time_ms, e.task_cpu_time_ns AS cpu_time_ns, e.task_deserialize_time_ms AS deserialize_time_ms,"                                        \
    "       e.task_result_serialization_time_ms AS result_serialization_time_ms, e.task_fetch_wait_time_ms AS fetch_wait_time_ms,"                                    \
    "       e.task_shuffle_write_time_ns AS shuffle_write_time_ns, e.task_shuffle_remote_read_bytes AS shuffle_remote_read_bytes,"                                    \
    "       e.task_disk_spilled_bytes AS disk_spilled_bytes"

#define ITEM_COLUMNS                                                                                                                                                                               \
    "SELECT e.executor_ref, e.active, e.is_excluded, e.excluded_in_stages, e.peaks_set, e.task_time_ms, e.gc_time_ms, " ALIVE ", coalesce(e.max_tasks, e.total_cores),"                            \
    "       " EXECUTOR_LOST ", " PROFILE_MIB("memory") ", " PROFILE_MIB("memoryOverhead") ", " PROFILE_MIB(                                                                                        \
        "offHeap") ","                                                                                                                                                                             \
                   "       e.executor_id, e.host, e.host_port, e.add_ms, e.remove_ms, e.remove_reason, " ALIVE " AS alive_ms, e.total_cores, e.max_tasks, e.resource_profile_id,"                  \
                   "       e.max_memory_bytes, e.max_on_heap_memory_bytes, e.max_off_heap_memory_bytes, e.memory_used_bytes, e.on_heap_used_bytes, e.off_heap_used_bytes, e.disk_used_bytes,"      \
                   "       e.rdd_blocks, e.task_count, e.failed_task_count AS failed_tasks, e.killed_task_count AS killed_tasks, e.active_tasks, e.completed_tasks, e.task_time_ms, e.gc_time_ms," \
                   "       e.total_input_bytes AS input_bytes, e.total_shuffle_read_bytes AS shuffle_read_bytes, e.total_shuffle_write_bytes AS shuffle_write_bytes, " WORK_COLUMNS                \
                   ", " API_PEAK_COLUMNS("e.")
#define PROFILE_MIB(name) "(SELECT r.amount FROM resource_request r WHERE r.profile_id = e.resource_profile_id AND r.kind = 0 AND r.name = '" name "')"
enum {
    C_REF,
    C_ACTIVE,
    C_EXCLUDED,
    C_EXCLUDED_IN,
    C_PEAKS_SET,
    C_TASK_TIME,
    C_GC_TIME,
    C_ALIVE,
    C_SLOTS,
    C_LOST,
    C_HEAP_MIB,
    C_OVERHEAD_MIB,
    C_OFF_HEAP_MIB,
    C_FIRST_PLAIN,
    C_ID = C_FIRST_PLAIN,
    C_REMOVE_REASON = C_ID + 5,
    C_FIRST_PEAK = C_ID + 36
};

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

/* Share of its slots' time that tasks filled, at most all of it: a task ends a little later in the driver's books than on its slot. NaN: unknown. */
static double busy_share(int64_t task_time_ms, int64_t alive_ms, int64_t slots)
{
    return known(task_time_ms) && known(alive_ms) && known(slots) && alive_ms > 0 && slots > 0 ? fmin(1, (double)task_time_ms / ((double)alive_ms * (double)slots)) : (double)NAN;
}

/* What executors may use, as far as settings say: of a profile of their own, else the application's. Bytes. */
struct limits {
    int64_t driver_heap, heap, overhead, off_heap, python;
    bool contained; /* YARN and Kubernetes kill what is larger than its container */
};

static enum err_code read_limits(struct limits *ret, struct db *db, struct err *err)
{
    const struct {
        const char *name;
        int64_t bare_bytes, *value;
    } settings[] = {{"spark.driver.memory", BYTES_PER_MIB, &ret->driver_heap},
                    {"spark.executor.memory", BYTES_PER_MIB, &ret->heap},
                    {"spark.executor.memoryOverhead", BYTES_PER_MIB, &ret->overhead},
                    {"spark.yarn.executor.memoryOverhead", BYTES_PER_MIB, &ret->overhead},
                    {"spark.memory.offHeap.size", 1, &ret->off_heap},
                    {"spark.executor.pyspark.memory", BYTES_PER_MIB, &ret->python}};
    *ret = (struct limits){DEFAULT_HEAP_BYTES, DEFAULT_HEAP_BYTES, UNKNOWN, 0, 0, false};
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT name, value FROM environment WHERE section = 1 AND (name GLOB 'spark.*emory*' OR name = 'spark.master')", err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str name = db_str(stmt, 0), value = db_str(stmt, 1);
        for (size_t i = 0; i < ARRAY_LENGTH(settings); i++)
            if (str_is(name, settings[i].name))
                *settings[i].value = known_or(conf_bytes(value, settings[i].bare_bytes), *settings[i].value);
        ret->contained |= str_is(name, "spark.master") && (str_starts(value, "yarn") || str_starts(value, "k8s"));
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static int64_t mib(sqlite3_stmt *stmt, int column, int64_t otherwise)
{
    double amount = db_f64(stmt, column);
    return amount >= 0 && amount < 1e12 ? (int64_t)amount * BYTES_PER_MIB : otherwise;
}

static void write_limits(struct json_writer *json, sqlite3_stmt *stmt, const struct limits *limits)
{
    bool driver = str_is(db_str(stmt, C_ID), "driver");
    int64_t heap = driver ? limits->driver_heap : mib(stmt, C_HEAP_MIB, limits->heap), own = MAX(LEAST_OVERHEAD_BYTES, heap / OVERHEAD_SHARE);
    int64_t container = heap + mib(stmt, C_OVERHEAD_MIB, known_or(limits->overhead, own)) + mib(stmt, C_OFF_HEAP_MIB, limits->off_heap) + limits->python;
    json_kv_i64(json, "heapLimitBytes", heap);
    json_kv_i64(json, "containerLimitBytes", limits->contained && !driver ? container : UNKNOWN);
}

/* Why it went, in words; null: nobody took it away before its time, or its text says it in words of its own. */
static void write_loss(struct json_writer *json, sqlite3_stmt *stmt, enum lang lang, struct arena *arena)
{
    struct str text = db_str(stmt, C_REMOVE_REASON);
    int64_t code = exit_code_of(text);
    const char *meaning = known(code) ? exit_code_meaning(code) : NULL, *reason = executor_loss_reason(text);
    const char *exit_entry = meaning ? arena_printf(arena, "exit:%s", meaning) : NULL, *entry = arena_printf(arena, "reason:%s", reason);
    bool lost = db_i64(stmt, C_LOST) == 1, told = strcmp(reason, "unknown") != 0 || !text.len;
    json_kv_bool(json, "lost", lost);
    json_kv_text(json, "lossReason", lost && told && entry ? message(lang, "words", str_of(entry), NULL) : NULL);
    json_kv_i64(json, "exitCode", code);
    json_kv_text(json, "exitMeaning", exit_entry ? message(lang, "words", str_of(exit_entry), NULL) : NULL);
}

/* What is the same for all items of an answer. */
struct item_writer {
    struct json_writer *json;
    sqlite3_stmt *maps;
    struct executor_logs logs;
    struct limits limits;
    enum lang lang;
    struct arena *arena;
};

static enum err_code write_item(struct item_writer *self, sqlite3_stmt *stmt, struct err *err)
{
    struct json_writer *json = self->json;
    json_object_begin(json);
    api_columns(json, stmt, C_FIRST_PLAIN, C_FIRST_PEAK);
    json_kv_bool(json, "active", db_i64(stmt, C_ACTIVE) == 1);
    json_kv_bool(json, "isExcluded", db_i64(stmt, C_EXCLUDED) == 1);
    api_numbers(json, "excludedInStages", db_str(stmt, C_EXCLUDED_IN));
    json_kv_f64(json, "busyShare", busy_share(db_i64(stmt, C_TASK_TIME), db_i64(stmt, C_ALIVE), db_i64(stmt, C_SLOTS)));
    api_gc(json, db_i64(stmt, C_TASK_TIME), db_i64(stmt, C_GC_TIME), &api_not_judged);
    api_peaks(json, stmt, db_i64(stmt, C_PEAKS_SET), C_FIRST_PEAK);
    write_limits(json, stmt, &self->limits);
    write_loss(json, stmt, self->lang, self->arena);
    enum err_code rc = write_logs(json, &self->logs, db_i64(stmt, C_REF), err);
    if (!rc)
        rc = write_maps(json, self->maps, db_i64(stmt, C_REF), err);
    json_object_end(json);
    return rc;
}

/* ---- filters, for the list and the chart ---- */

enum { STATE_ACTIVE, STATE_REMOVED, STATE_LOST, STATE_EXCLUDED };
static const char *const states[] = {"active", "removed", "lost", "excluded"};

enum err_code executor_filter_read(struct executor_filter *self, const struct request *request, struct err *err)
{
    self->exec = request_param(request, "exec");
    self->host = request_param(request, "host");
    return param_word(request, "state", states, ARRAY_LENGTH(states), &self->state, err);
}

void executor_filter_where(struct query *query, const struct executor_filter *filter)
{
    query_add(query, " WHERE 1");
    if (filter->exec.len)
        query_text(query, " AND e.executor_id = ?", filter->exec);
    if (filter->host.len)
        query_text(query, " AND e.host = ?", filter->host);
    if (filter->state == STATE_ACTIVE || filter->state == STATE_REMOVED)
        query_number(query, " AND e.active = ?", filter->state == STATE_ACTIVE);
    else if (filter->state == STATE_LOST)
        query_add(query, " AND " EXECUTOR_LOST);
    else if (filter->state == STATE_EXCLUDED)
        query_add(query, " AND (e.is_excluded OR e.excluded_in_stages <> '')");
}

void executor_order(struct query *query, bool descending)
{
    const char *direction = descending ? " DESC" : "";
    buf_printf(&query->sql, " ORDER BY e.executor_id <> 'driver'%s, e.executor_id GLOB '*[^0-9]*'%s, CAST(e.executor_id AS INTEGER)%s, e.executor_id%s, e.executor_ref%s",
               direction, direction, direction, direction, direction);
}

/* ---- all of them together ---- */

/* The driver is one, as on the History Server's page. */
static const char totals_sql[] =
    "SELECT e.active, count(*) AS executor_count, sum(" EXECUTOR_LOST ") AS lost_count, sum(e.is_excluded) AS excluded_count, count(DISTINCT e.host) AS host_count,"
    "       sum(e.rdd_blocks) AS rdd_blocks, sum(e.memory_used_bytes) AS memory_used_bytes, sum(e.max_memory_bytes) AS max_memory_bytes,"
    "       sum(e.on_heap_used_bytes) AS on_heap_used_bytes, sum(e.max_on_heap_memory_bytes) AS max_on_heap_memory_bytes, sum(e.off_heap_used_bytes) AS off_heap_used_bytes,"
    "       sum(e.max_off_heap_memory_bytes) AS max_off_heap_memory_bytes, sum(e.disk_used_bytes) AS disk_used_bytes, sum(e.total_cores) AS total_cores,"
    "       sum(e.active_tasks) AS active_tasks, sum(e.failed_task_count) AS failed_tasks, sum(e.killed_task_count) AS killed_tasks, sum(e.completed_tasks) AS completed_tasks,"
    "       sum(e.task_count) AS task_count, sum(e.task_time_ms) AS task_time_ms, sum(e.gc_time_ms) AS gc_time_ms, sum(e.total_input_bytes) AS input_bytes,"
    "       sum(e.total_shuffle_read_bytes) AS shuffle_read_bytes, sum(e.total_shuffle_write_bytes) AS shuffle_write_bytes"
    "  FROM executor e GROUP BY e.active ORDER BY e.active DESC";

static const char exclusions_sql[] = "SELECT lifted, time_ms, executor_id, host, stage_id, stage_attempt, failures FROM exclusion ORDER BY exclusion_no LIMIT " MOST_EXCLUSIONS;

static enum err_code write_rows(struct json_writer *json, struct db *db, const char *key, const char *switch_key, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc)
        rc = api_rows(json, key, switch_key, stmt, err);
    db_finalize(stmt);
    return rc;
}

static enum err_code write_items(struct item_writer *self, struct query *query, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &self->maps, maps_sql, err);
    if (!rc)
        rc = query_prepare(query, db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = write_item(self, stmt, err);
    db_finalize(stmt);
    db_finalize(self->maps);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_list(struct api_ctx *ctx, const struct api_app *app, struct list *list, const struct executor_filter *filter, enum lang lang,
                                const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query query;
    query_init(&count, request->arena);
    query_init(&query, request->arena);
    query_add(&count, "SELECT count(*) FROM executor e");
    query_add(&query, ITEM_COLUMNS " FROM executor e LEFT JOIN (SELECT last_event_ms FROM application LIMIT 1) a");
    executor_filter_where(&count, filter);
    executor_filter_where(&query, filter);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    if (list->sort->sql)
        query_order(&query, list, "e.executor_ref");
    else
        executor_order(&query, list->descending);
    query_page(&query, list);
    struct json_writer *json = list_begin(list, response);
    struct item_writer items = {.json = json, .lang = lang, .arena = request->arena};
    if (!(rc = executor_logs_init(&items.logs, ctx->server, app->db, err)) && !(rc = read_limits(&items.limits, app->db, err)))
        rc = write_items(&items, &query, app->db, err);
    executor_logs_dispose(&items.logs);
    list_end(list, json);
    if (!rc && !(rc = write_rows(json, app->db, "totals", "active", totals_sql, err)))
        rc = write_rows(json, app->db, "exclusions", "lifted", exclusions_sql, err);
    json_object_end(json);
    return rc;
}

enum err_code api_executors(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct executor_filter filter;
    enum lang lang;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "id", err) || executor_filter_read(&filter, request, err) || request_lang(request, &lang, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_list(ctx, &app, &list, &filter, lang, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}
