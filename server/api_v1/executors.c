/* SPDX-License-Identifier: Apache-2.0
 *
 * executors, allexecutors, allmiscellaneousprocess, and the thread dumps that no History Server has (spec/core.md §2.3, §3.4 ExecutorSummary, ProcessSummary). */
#include "base/units.h"
#include "server/api_v1/metrics.h"
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"

#define EXECUTOR_COLUMNS \
    "SELECT executor_ref, executor_id, coalesce(host_port, host), active, rdd_blocks, memory_used_bytes, disk_used_bytes, total_cores, max_tasks, active_tasks, " \
    "failed_tasks, completed_tasks, total_tasks, total_duration_ms, total_gc_time_ms, total_input_bytes, total_shuffle_read_bytes, total_shuffle_write_bytes, " \
    "is_excluded, max_memory_bytes, add_ms, remove_ms, remove_reason, max_on_heap_memory_bytes, max_off_heap_memory_bytes, on_heap_used_bytes, off_heap_used_bytes, " \
    "excluded_in_stages, resource_profile_id, peaks_set, " V1_PEAKS " FROM executor WHERE superseded = 0 AND announced = 1 AND executor_id <> 'fallback' "

/* Ids are compared as text: 1, 10, 2, driver. */
static const char active_sql[] = EXECUTOR_COLUMNS "AND active = 1 ORDER BY executor_id DESC";
static const char all_sql[] = EXECUTOR_COLUMNS "ORDER BY executor_id";

enum {
    C_REF, C_ID, C_ADDRESS, C_ACTIVE, C_COUNTS, C_DURATION = C_COUNTS + 9, C_GC_TIME, C_TOTALS, C_EXCLUDED = C_TOTALS + 3, C_MAX_MEMORY, C_ADD, C_REMOVE, C_REASON,
    C_MAX_ON_HEAP, C_MAX_OFF_HEAP, C_ON_HEAP, C_OFF_HEAP, C_EXCLUDED_IN, C_PROFILE, C_PEAKS_SET, C_PEAKS
};
#define TOTAL_GC_PEAK 20             /* TotalGCTime among the peaks */

static const char *const count_keys[] = {"rddBlocks", "memoryUsed", "diskUsed", "totalCores", "maxTasks", "activeTasks", "failedTasks", "completedTasks", "totalTasks"};
static const char *const total_keys[] = {"totalInputBytes", "totalShuffleRead", "totalShuffleWrite"};

struct executor_writer {
    struct json_writer *w;
    sqlite3_stmt *attributes, *resources, *addresses;
    struct executor_logs logs;
    bool has_application;
    int64_t app_elapsed_ms;          /* of the application: the driver's duration */
};

static enum err_code read_application(struct executor_writer *self, struct db *db, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(db, &row, "SELECT start_ms, end_ms, last_event_ms FROM application", err);
    if (rc)
        return rc;
    self->app_elapsed_ms = UNKNOWN;
    if ((rc = db_step(row, err)) == ERR_OK) {
        int64_t start_ms = db_i64(row, 0), end_ms = db_i64(row, 1);
        /* As the list has it: an end before the start is a step of the clock, and the latest time in the log holds. */
        if (!known(end_ms) || (known(start_ms) && end_ms < start_ms))
            end_ms = db_i64(row, 2);
        self->has_application = known(start_ms);
        self->app_elapsed_ms = elapsed_known(start_ms, end_ms);
    }
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code executor_writer_init(struct executor_writer *self, const struct server *server, struct db *db, struct json_writer *w, struct err *err)
{
    *self = (struct executor_writer){.w = w};
    enum err_code rc;
    if ((rc = executor_logs_init(&self->logs, server, db, err)) || (rc = read_application(self, db, err)) ||
        (rc = db_prepare(db, &self->attributes, "SELECT name, value FROM owner_map WHERE owner_kind = 0 AND owner = ?1 AND map = 1 ORDER BY ordinal", err)) ||
        (rc = db_prepare(db, &self->resources, "SELECT name, value FROM owner_map WHERE owner_kind = 0 AND owner = ?1 AND map = 2 ORDER BY ordinal", err)))
        return rc;
    return db_prepare(db, &self->addresses, "SELECT value FROM json_each(CASE WHEN json_valid(?1) THEN ?1 ELSE '[]' END)", err);
}

static void executor_writer_dispose(struct executor_writer *self)
{
    executor_logs_dispose(&self->logs);
    db_finalize(self->attributes);
    db_finalize(self->resources);
    db_finalize(self->addresses);
}

static enum err_code write_pairs(struct json_writer *w, const char *key, sqlite3_stmt *pairs, int64_t owner, struct err *err)
{
    enum err_code rc;
    json_key(w, key);
    json_object_begin(w);
    db_bind_i64(pairs, 1, owner);
    while ((rc = db_step(pairs, err)) == ERR_OK) {
        json_key_str(w, db_str(pairs, 0));
        json_str(w, str_known(db_str(pairs, 1)) ? db_str(pairs, 1) : STR_LIT(""));
    }
    json_object_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_resources(struct executor_writer *self, int64_t executor_ref, struct err *err)
{
    struct json_writer *w = self->w;
    enum err_code rc;
    json_key(w, "resources");
    json_object_begin(w);
    db_bind_i64(self->resources, 1, executor_ref);
    while ((rc = db_step(self->resources, err)) == ERR_OK) {
        json_key_str(w, db_str(self->resources, 0));
        json_object_begin(w);
        json_kv_str(w, "name", db_str(self->resources, 0));
        json_key(w, "addresses");
        json_array_begin(w);
        db_bind_str(self->addresses, 1, db_str(self->resources, 1));
        enum err_code each;
        while ((each = db_step(self->addresses, err)) == ERR_OK)
            json_str(w, db_str(self->addresses, 0));
        json_array_end(w);
        json_object_end(w);
        if (each != ERR_EOF) {
            db_reset(self->resources);
            rc = each;
            break;
        }
    }
    json_object_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void write_stage_ids(struct json_writer *w, const char *key, struct str ids)
{
    json_key(w, key);
    json_array_begin(w);
    while (ids.len) {
        int64_t id;
        if (str_to_i64(str_word(&ids, ' '), &id))
            json_i64(w, id);
    }
    json_array_end(w);
}

static enum err_code write_executor(struct executor_writer *self, sqlite3_stmt *row, struct err *err)
{
    struct json_writer *w = self->w;
    bool peaks = db_i64(row, C_PEAKS_SET) == 1, excluded = db_i64(row, C_EXCLUDED) == 1;
    int64_t ref = db_i64(row, C_REF), duration_ms = db_i64(row, C_DURATION), gc_time_ms = db_i64(row, C_GC_TIME);
    if (str_is(db_str(row, C_ID), "driver")) {
        if (self->has_application)
            duration_ms = self->app_elapsed_ms;
        if (peaks)
            gc_time_ms = db_i64(row, C_PEAKS + TOTAL_GC_PEAK);
    }
    enum err_code rc;
    json_object_begin(w);
    json_kv_str(w, "id", db_str(row, C_ID));
    v1_text(w, "hostPort", db_str(row, C_ADDRESS));
    json_kv_bool(w, "isActive", db_i64(row, C_ACTIVE) == 1);
    for (int i = 0; i < (int)ARRAY_LENGTH(count_keys); i++)
        v1_count(w, count_keys[i], db_i64(row, C_COUNTS + i));
    v1_count(w, "totalDuration", duration_ms);
    v1_count(w, "totalGCTime", gc_time_ms);
    for (int i = 0; i < (int)ARRAY_LENGTH(total_keys); i++)
        v1_count(w, total_keys[i], db_i64(row, C_TOTALS + i));
    json_kv_bool(w, "isBlacklisted", excluded);
    v1_count(w, "maxMemory", db_i64(row, C_MAX_MEMORY));
    v1_date(w, "addTime", db_i64(row, C_ADD));
    v1_date_if(w, "removeTime", db_i64(row, C_REMOVE));
    v1_text_if(w, "removeReason", db_str(row, C_REASON));
    if ((rc = v1_executor_logs(w, &self->logs, ref, err)))
        return rc;
    if (!db_is_null(row, C_MAX_ON_HEAP)) {
        json_key(w, "memoryMetrics");
        json_object_begin(w);
        v1_count(w, "usedOnHeapStorageMemory", db_i64(row, C_ON_HEAP));
        v1_count(w, "usedOffHeapStorageMemory", db_i64(row, C_OFF_HEAP));
        v1_count(w, "totalOnHeapStorageMemory", db_i64(row, C_MAX_ON_HEAP));
        v1_count(w, "totalOffHeapStorageMemory", db_i64(row, C_MAX_OFF_HEAP));
        json_object_end(w);
    }
    write_stage_ids(w, "blacklistedInStages", db_str(row, C_EXCLUDED_IN));
    if (peaks)
        v1_peaks(w, "peakMemoryMetrics", row, C_PEAKS);
    if ((rc = write_pairs(w, "attributes", self->attributes, ref, err)) || (rc = write_resources(self, ref, err)))
        return rc;
    v1_count(w, "resourceProfileId", db_i64(row, C_PROFILE));
    json_kv_bool(w, "isExcluded", excluded);
    write_stage_ids(w, "excludedInStages", db_str(row, C_EXCLUDED_IN));
    json_object_end(w);
    return ERR_OK;
}

static enum err_code write_list(struct v1_scope *scope, const char *sql, struct err *err)
{
    struct json_writer *w = response_json(scope->response, true);
    CLEANUP(executor_writer_dispose) struct executor_writer writer;
    enum err_code rc = executor_writer_init(&writer, scope->ctx->server, scope->db, w, err);
    if (rc)
        return rc;
    sqlite3_stmt *rows = NULL;
    if ((rc = db_prepare(scope->db, &rows, sql, err)))
        return rc;
    json_array_begin(w);
    while ((rc = db_step(rows, err)) == ERR_OK && (rc = write_executor(&writer, rows, err)) == ERR_OK)
        ;
    db_finalize(rows);
    if (rc != ERR_EOF)
        return rc;
    json_array_end(w);
    return ERR_OK;
}

static enum err_code executors(struct v1_scope *scope, struct err *err)
{
    return write_list(scope, active_sql, err);
}

static enum err_code all_executors(struct v1_scope *scope, struct err *err)
{
    return write_list(scope, all_sql, err);
}

/* ---- Other processes ---- */

static enum err_code processes(struct v1_scope *scope, struct err *err)
{
    struct json_writer *w = response_json(scope->response, true);
    sqlite3_stmt *rows = NULL, *logs = NULL;
    enum err_code rc = db_prepare(scope->db, &rows, "SELECT rowid, process_id, host_port, total_cores, add_ms FROM process ORDER BY process_id", err);
    if (rc == ERR_OK)
        rc = db_prepare(scope->db, &logs, "SELECT name, value FROM owner_map WHERE owner_kind = 1 AND owner = ?1 AND map = 0 ORDER BY ordinal", err);
    if (rc == ERR_OK)
        json_array_begin(w);
    while (rc == ERR_OK && (rc = db_step(rows, err)) == ERR_OK) {
        json_object_begin(w);
        json_kv_str(w, "id", db_str(rows, 1));
        v1_text(w, "hostPort", db_str(rows, 2));
        json_kv_bool(w, "isActive", true);
        v1_count(w, "totalCores", db_i64(rows, 3));
        v1_date(w, "addTime", db_i64(rows, 4));
        rc = write_pairs(w, "processLogs", logs, db_i64(rows, 0), err);
        json_object_end(w);
    }
    db_finalize(rows);
    db_finalize(logs);
    if (rc != ERR_EOF)
        return rc;
    json_array_end(w);
    return ERR_OK;
}

/* ---- Threads: the refusals of the History Server ---- */

static enum err_code refuse_threads(struct v1_scope *scope, struct str executor_id)
{
    bool digits = true;              /* of an empty one as well */
    for (size_t i = 0; i < executor_id.len; i++)
        digits = digits && executor_id.ptr[i] >= '0' && executor_id.ptr[i] <= '9';
    if (digits || str_is(executor_id, "driver"))
        response_plain(scope->response, 503, "Thread dumps not available through the history server.");
    else
        response_plain(scope->response, 400, "Invalid executorId: neither 'driver' nor number.");
    return ERR_OK;
}

static enum err_code executor_threads(struct v1_scope *scope, struct err *err UNUSED)
{
    return refuse_threads(scope, scope->own[0]);
}

static bool convert_task_id(struct v1_scope *scope)
{
    struct str task_id = request_param(scope->request, "taskId");
    int64_t number;
    return !task_id.len || str_to_i64(task_id, &number);
}

static enum err_code threads(struct v1_scope *scope, struct err *err UNUSED)
{
    struct str task_id = request_param(scope->request, "taskId"), executor_id = request_param(scope->request, "executorId");
    if (!str_known(task_id) || !str_known(executor_id)) {
        response_plain(scope->response, 400, "The parameters \"taskId\" and \"executorId\" are needed.");
        return ERR_OK;
    }
    return refuse_threads(scope, executor_id);
}

enum err_code v1_executors(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, executors, err);
}

enum err_code v1_all_executors(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, all_executors, err);
}

enum err_code v1_processes(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, processes, err);
}

enum err_code v1_executor_threads(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, NULL, executor_threads, err);
}

enum err_code v1_threads(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, convert_task_id, threads, err);
}
