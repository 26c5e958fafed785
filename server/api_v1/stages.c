/* SPDX-License-Identifier: Apache-2.0
 *
 * stages, stages/{id}, stages/{id}/{attempt} (spec/core.md §2.6, §3.4 StageData). */
#include "base/buf.h"
#include "base/units.h"
#include "server/api_v1/metrics.h"
#include "server/api_v1/quantiles.h"
#include "server/api_v1/resources.h"
#include "server/api_v1/tasks.h"
#include "server/api_v1/v1.h"
#include "server/task_columns.h"

#define DEFAULT_QUANTILES "0.0,0.25,0.5,0.75,1.0"
#define FOUND_MAX_BYTES ((size_t)1 << 20)

enum stage_status { STAGE_PENDING, STAGE_ACTIVE, STAGE_COMPLETE, STAGE_FAILED, STAGE_SKIPPED };       /* stage.status */

static const char *const statuses[] = {"PENDING", "ACTIVE", "COMPLETE", "FAILED", "SKIPPED"};

static const char stage_columns[] =
    "SELECT s.stage_ref, s.status, s.stage_id, s.attempt, s.num_tasks, s.active_tasks, s.complete_tasks, s.failed_tasks, s.killed_tasks, s.completed_indices, "
    "s.submission_ms, s.first_task_launch_ms, s.completion_ms, f.body, s.name, s.description, d.body, s.pool, s.resource_profile_id, s.shuffle_push_enabled, "
    "s.shuffle_mergers_count, s.peaks_set, s.first_task_seq, s.last_task_seq, s.task_rows, "
    "s.speculative_tasks, s.speculative_active, s.speculative_completed, s.speculative_failed, s.speculative_killed, "
    "s.executor_deserialize_time_ms, s.executor_deserialize_cpu_time_ns, s.executor_run_time_ms, s.executor_cpu_time_ns, s.result_size_bytes, s.jvm_gc_time_ms, "
    "s.result_serialization_time_ms, s.memory_spilled_bytes, s.disk_spilled_bytes, s." V1_PEAK_EXECUTION_MEMORY ", s.input_bytes, s.input_records, s.output_bytes, "
    "s.output_records, s.shuffle_remote_blocks_fetched, s.shuffle_local_blocks_fetched, s.shuffle_fetch_wait_time_ms, s.shuffle_remote_read_bytes, "
    "s.shuffle_remote_read_to_disk_bytes, s.shuffle_local_read_bytes, coalesce(s.shuffle_remote_read_bytes, 0) + coalesce(s.shuffle_local_read_bytes, 0), "
    "s.shuffle_records_read, s.push_corrupt_merged_block_chunks, s.push_merged_fetch_fallback_count, s.push_remote_merged_blocks_fetched, "
    "s.push_local_merged_blocks_fetched, s.push_remote_merged_chunks_fetched, s.push_local_merged_chunks_fetched, s.push_remote_merged_read_bytes, "
    "s.push_local_merged_read_bytes, s.shuffle_remote_requests_duration_ms, s.push_remote_merged_requests_duration_ms, s.shuffle_write_bytes, "
    "s.shuffle_write_time_ns, s.shuffle_write_records, " V1_PEAKS
    " FROM stage s LEFT JOIN text f ON f.text_id = s.failure_text_id LEFT JOIN text d ON d.text_id = s.details_text_id ";

/* Columns of the above. */
enum {
    C_REF, C_STATUS, C_ID, C_ATTEMPT, C_COUNTS, C_SUBMISSION = C_COUNTS + 6, C_FIRST_LAUNCH, C_COMPLETION, C_FAILURE, C_NAME, C_DESCRIPTION, C_DETAILS, C_POOL,
    C_PROFILE, C_PUSH, C_MERGERS, C_PEAKS_SET, C_FIRST_SEQ, C_LAST_SEQ, C_TASK_ROWS, C_SPECULATION, C_METRICS = C_SPECULATION + 5, C_PEAKS = C_METRICS + 35
};

static const char *const count_keys[] = {"numTasks", "numActiveTasks", "numCompleteTasks", "numFailedTasks", "numKilledTasks", "numCompletedIndices"};
static const char *const speculation_keys[] = {"numTasks", "numActiveTasks", "numCompletedTasks", "numFailedTasks", "numKilledTasks"};
static const char *const metric_keys[] = {
    "executorDeserializeTime", "executorDeserializeCpuTime", "executorRunTime", "executorCpuTime", "resultSize", "jvmGcTime", "resultSerializationTime",
    "memoryBytesSpilled", "diskBytesSpilled", "peakExecutionMemory", "inputBytes", "inputRecords", "outputBytes", "outputRecords", "shuffleRemoteBlocksFetched",
    "shuffleLocalBlocksFetched", "shuffleFetchWaitTime", "shuffleRemoteBytesRead", "shuffleRemoteBytesReadToDisk", "shuffleLocalBytesRead", "shuffleReadBytes",
    "shuffleReadRecords", "shuffleCorruptMergedBlockChunks", "shuffleMergedFetchFallbackCount", "shuffleMergedRemoteBlocksFetched", "shuffleMergedLocalBlocksFetched",
    "shuffleMergedRemoteChunksFetched", "shuffleMergedLocalChunksFetched", "shuffleMergedRemoteBytesRead", "shuffleMergedLocalBytesRead", "shuffleRemoteReqsDuration",
    "shuffleMergedRemoteReqsDuration", "shuffleWriteBytes", "shuffleWriteTime", "shuffleWriteRecords",
};
_Static_assert(ARRAY_LENGTH(metric_keys) == C_PEAKS - C_METRICS, "a key for each metric");

/* What the query asks to be shown of a stage. */
struct view {
    bool details, summaries, task_filter;
    unsigned tasks_wanted;           /* v1_param_words over v1_task_statuses */
    const double *quantiles;
    size_t quantile_count;
};

struct stage_writer {
    struct db *db;
    struct json_writer *w;
    const struct view *view;
    struct v1_task_writer tasks;
    sqlite3_stmt *rdds, *accumulables, *kills, *executors, *task_rows;
};

static enum err_code stage_writer_init(struct stage_writer *self, const struct server *server, struct db *db, struct json_writer *w, const struct view *view, struct err *err)
{
    *self = (struct stage_writer){.db = db, .w = w, .view = view};
    enum err_code rc;
    if ((rc = db_prepare(db, &self->rdds, "SELECT rdd_id FROM stage_rdd WHERE stage_ref = ?1 ORDER BY ordinal", err)) ||
        (rc = db_prepare(db, &self->accumulables,
                         "SELECT accumulable_id, name, update_text, value_text FROM stage_accumulable "
                         "WHERE stage_ref = ?1 AND internal = 0 AND metadata IS NOT 'sql' ORDER BY ordinal",
                         err)) ||
        (rc = db_prepare(db, &self->kills,
                         "SELECT x.body, k.task_count FROM kill_reason k JOIN text x ON x.text_id = k.reason_text_id WHERE k.owner_kind = 1 AND k.owner = ?1", err)))
        return rc;
    if (!view->details)
        return ERR_OK;
    if ((rc = v1_task_writer_init(&self->tasks, server, db, w, err)) ||
        (rc = db_prepare(db, &self->task_rows, "SELECT task_seq, status FROM task WHERE stage_ref = ?1 AND task_seq BETWEEN ?2 AND ?3 ORDER BY task_seq", err)))
        return rc;
    return db_prepare(db, &self->executors,
                      "SELECT executor_id, task_time_ms, failed_tasks, succeeded_tasks, killed_tasks, input_bytes, input_records, output_bytes, output_records, "
                      "coalesce(shuffle_remote_read_bytes, 0) + coalesce(shuffle_local_read_bytes, 0), shuffle_records_read, shuffle_write_bytes, shuffle_write_records, "
                      "memory_spilled_bytes, disk_spilled_bytes, is_excluded, peaks_set, " V1_PEAKS " FROM executor_stage WHERE stage_ref = ?1",
                      err);
}

static void stage_writer_dispose(struct stage_writer *self)
{
    db_finalize(self->rdds);
    db_finalize(self->accumulables);
    db_finalize(self->kills);
    db_finalize(self->executors);
    db_finalize(self->task_rows);
    v1_task_writer_dispose(&self->tasks);
}

static enum err_code write_rdds(struct stage_writer *self, int64_t stage_ref, struct err *err)
{
    enum err_code rc;
    json_key(self->w, "rddIds");
    json_array_begin(self->w);
    db_bind_i64(self->rdds, 1, stage_ref);
    while ((rc = db_step(self->rdds, err)) == ERR_OK)
        json_i64(self->w, db_i64(self->rdds, 0));
    json_array_end(self->w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_kills(struct stage_writer *self, int64_t stage_ref, struct err *err)
{
    enum err_code rc;
    json_key(self->w, "killedTasksSummary");
    json_object_begin(self->w);
    db_bind_i64(self->kills, 1, stage_ref);
    while ((rc = db_step(self->kills, err)) == ERR_OK) {
        json_key_str(self->w, db_str(self->kills, 0));
        json_i64(self->w, db_i64(self->kills, 1));
    }
    json_object_end(self->w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static bool task_shown(const struct view *view, int64_t status)
{
    return !view->task_filter || v1_task_wanted(view->tasks_wanted, status);
}

/* Rows of a stage mostly stand together: they are read as they come. */
static enum err_code write_tasks_of_range(struct stage_writer *self, sqlite3_stmt *stage, struct err *err)
{
    enum err_code rc;
    db_bind_i64(self->task_rows, 1, db_i64(stage, C_REF));
    db_bind_i64(self->task_rows, 2, db_i64(stage, C_FIRST_SEQ));
    db_bind_i64(self->task_rows, 3, db_i64(stage, C_LAST_SEQ));
    while ((rc = db_step(self->task_rows, err)) == ERR_OK)
        if (task_shown(self->view, db_i64(self->task_rows, 1)) && (rc = v1_write_task(&self->tasks, db_i64(self->task_rows, 0), true, err)))
            break;
    if (rc != ERR_EOF)
        db_reset(self->task_rows);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Rows that are strewn over the table (a task without an end stands last) are found by their column: a walk would read other stages' rows. */
static enum err_code write_strewn_tasks(struct stage_writer *self, sqlite3_stmt *stage, struct err *err)
{
    struct task_columns *columns;
    const int64_t *seqs, *status;
    enum err_code rc = task_columns_open(&columns, self->db, db_i64(stage, C_REF), err);
    if (rc == ERR_OK && (rc = task_columns_get(columns, "task_seq", &seqs, err)) == ERR_OK && (rc = task_columns_get(columns, "status", &status, err)) == ERR_OK)
        for (size_t i = 0; i < task_columns_count(columns) && rc == ERR_OK; i++)
            if (task_shown(self->view, status[i]))
                rc = v1_write_task(&self->tasks, seqs[i], true, err);
    task_columns_free(columns);
    return rc;
}

static enum err_code write_tasks(struct stage_writer *self, sqlite3_stmt *stage, struct err *err)
{
    int64_t first = db_i64(stage, C_FIRST_SEQ), last = db_i64(stage, C_LAST_SEQ), rows = db_i64(stage, C_TASK_ROWS);
    enum err_code rc = ERR_OK;
    json_key(self->w, "tasks");
    json_object_begin(self->w);
    if (known(first) && known(last) && rows > 0)
        rc = (uint64_t)last - (uint64_t)first < (uint64_t)rows * 2 ? write_tasks_of_range(self, stage, err) : write_strewn_tasks(self, stage, err);
    if (rc == ERR_OK)
        json_object_end(self->w);
    return rc;
}

static enum err_code write_executors(struct stage_writer *self, int64_t stage_ref, struct err *err)
{
    static const char *const keys[] = {
        "taskTime", "failedTasks", "succeededTasks", "killedTasks", "inputBytes", "inputRecords", "outputBytes", "outputRecords", "shuffleRead", "shuffleReadRecords",
        "shuffleWrite", "shuffleWriteRecords", "memoryBytesSpilled", "diskBytesSpilled",
    };
    enum { EXCLUDED = 1 + (int)ARRAY_LENGTH(keys), PEAKS_SET, PEAKS };
    sqlite3_stmt *rows = self->executors;
    struct json_writer *w = self->w;
    enum err_code rc;
    json_key(w, "executorSummary");
    json_object_begin(w);
    db_bind_i64(rows, 1, stage_ref);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        bool excluded = db_i64(rows, EXCLUDED) == 1;
        json_key_str(w, db_str(rows, 0));
        json_object_begin(w);
        for (int i = 0; i < (int)ARRAY_LENGTH(keys); i++)
            v1_count(w, keys[i], db_i64(rows, 1 + i));
        json_kv_bool(w, "isBlacklistedForStage", excluded);
        if (db_i64(rows, PEAKS_SET) == 1)
            v1_peaks(w, "peakMemoryMetrics", rows, PEAKS);
        json_kv_bool(w, "isExcludedForStage", excluded);
        json_object_end(w);
    }
    json_object_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_details(struct stage_writer *self, sqlite3_stmt *stage, struct err *err)
{
    enum err_code rc;
    if ((rc = write_tasks(self, stage, err)) || (rc = write_executors(self, db_i64(stage, C_REF), err)))
        return rc;
    if (db_i64(stage, C_SPECULATION) > 0) {
        json_key(self->w, "speculationSummary");
        json_object_begin(self->w);
        for (int i = 0; i < (int)ARRAY_LENGTH(speculation_keys); i++)
            v1_count(self->w, speculation_keys[i], db_i64(stage, C_SPECULATION + i));
        json_object_end(self->w);
    }
    return ERR_OK;
}

static enum err_code write_summaries(struct stage_writer *self, int64_t stage_ref, struct err *err)
{
    struct v1_task_distribution *distribution;
    bool any;
    enum err_code rc = v1_task_distribution_new(&distribution, self->db, stage_ref, self->view->quantiles, self->view->quantile_count, &any, err);
    if (rc == ERR_OK && any) {
        json_key(self->w, "taskMetricsDistributions");
        rc = v1_task_distribution_write(distribution, self->w, err);
    }
    v1_task_distribution_free(distribution);
    return rc ? rc : v1_executor_distribution(self->w, self->db, stage_ref, self->view->quantiles, self->view->quantile_count, err);
}

static enum err_code write_stage(struct stage_writer *self, sqlite3_stmt *stage, struct err *err)
{
    struct json_writer *w = self->w;
    int64_t ref = db_i64(stage, C_REF), status = db_i64(stage, C_STATUS);
    enum err_code rc;
    json_object_begin(w);
    v1_text(w, "status", status >= STAGE_PENDING && status <= STAGE_SKIPPED ? str_of(statuses[status]) : STR_NONE);
    json_kv_i64(w, "stageId", db_i64(stage, C_ID));
    json_kv_i64(w, "attemptId", db_i64(stage, C_ATTEMPT));
    for (int i = 0; i < (int)ARRAY_LENGTH(count_keys); i++)
        v1_count(w, count_keys[i], db_i64(stage, C_COUNTS + i));
    v1_date_if(w, "submissionTime", db_i64(stage, C_SUBMISSION));
    v1_date_if(w, "firstTaskLaunchedTime", db_i64(stage, C_FIRST_LAUNCH));
    v1_date_if(w, "completionTime", db_i64(stage, C_COMPLETION));
    v1_text_if(w, "failureReason", db_str(stage, C_FAILURE));
    for (int i = 0; i < (int)ARRAY_LENGTH(metric_keys); i++)
        v1_count(w, metric_keys[i], db_i64(stage, C_METRICS + i));
    v1_text(w, "name", db_str(stage, C_NAME));
    v1_text_if(w, "description", db_str(stage, C_DESCRIPTION));
    v1_text(w, "details", db_str(stage, C_DETAILS));
    v1_text(w, "schedulingPool", str_known(db_str(stage, C_POOL)) ? db_str(stage, C_POOL) : STR_LIT("default"));
    if ((rc = write_rdds(self, ref, err)) || (rc = v1_accumulables(self->w, self->accumulables, ref, err)) || (self->view->details && (rc = write_details(self, stage, err))) ||
        (rc = write_kills(self, ref, err)))
        return rc;
    v1_count(w, "resourceProfileId", db_i64(stage, C_PROFILE));
    if (db_i64(stage, C_PEAKS_SET) == 1)
        v1_peaks(w, "peakExecutorMetrics", stage, C_PEAKS);
    if (self->view->summaries && (rc = write_summaries(self, ref, err)))
        return rc;
    json_kv_bool(w, "isShufflePushEnabled", db_i64(stage, C_PUSH) == 1);
    v1_count(w, "shuffleMergersCount", db_i64(stage, C_MERGERS));
    json_object_end(w);
    return ERR_OK;
}

/* What the query asks for; false: it was answered. */
static bool read_view(struct v1_scope *scope, bool details, struct view *ret, enum err_code *rc, struct err *err)
{
    bool answered = false;
    *ret = (struct view){.details = request_param_true(scope->request, "details", details), .summaries = request_param_true(scope->request, "withSummaries", false),
                         .tasks_wanted = scope->tasks_wanted, .task_filter = scope->tasks_filtered};
    *rc = v1_param_quantiles(scope->request, scope->response, DEFAULT_QUANTILES, !ret->summaries, &ret->quantiles, &ret->quantile_count, &answered, err);
    return *rc == ERR_OK && !answered;
}

/* With details and a task filter the list keeps stages that have such tasks by their counters. */
static bool has_wanted_tasks(const struct view *view, sqlite3_stmt *stage)
{
    if (!view->details || !view->task_filter)
        return true;
    int64_t total = known_or(db_i64(stage, C_COUNTS), 0), active = db_i64(stage, C_COUNTS + 1), complete = db_i64(stage, C_COUNTS + 2);
    int64_t failed = db_i64(stage, C_COUNTS + 3), killed = db_i64(stage, C_COUNTS + 4);
    const int64_t of_status[V1_TASK_STATUS_COUNT] = {active, complete, failed, killed, total - failed - killed - active - complete};
    for (int i = 0; i < V1_TASK_STATUS_COUNT; i++)
        if ((view->tasks_wanted >> i & 1u) && of_status[i] > 0)
            return true;
    return false;
}

static bool convert_view(struct v1_scope *scope)
{
    return v1_convert_ids(scope) && v1_param_words(scope->request, "taskStatus", v1_task_statuses, V1_TASK_STATUS_COUNT, &scope->tasks_wanted, &scope->tasks_filtered);
}

static bool convert_list(struct v1_scope *scope)
{
    return convert_view(scope) && v1_param_words(scope->request, "status", statuses, ARRAY_LENGTH(statuses), &scope->wanted, &scope->filtered);
}

static enum err_code stages(struct v1_scope *scope, struct err *err)
{
    struct view view;
    enum err_code rc;
    if (!read_view(scope, false, &view, &rc, err))
        return rc;
    struct json_writer *w = response_json(scope->response, true);
    CLEANUP(stage_writer_dispose) struct stage_writer writer;
    if ((rc = stage_writer_init(&writer, scope->ctx->server, scope->db, w, &view, err)))
        return rc;
    const char *sql = arena_printf(scope->request->arena, "%sORDER BY s.stage_id DESC, s.attempt DESC", stage_columns);
    if (!sql)
        return err_nomem(err);
    sqlite3_stmt *rows = NULL;
    if ((rc = db_prepare(scope->db, &rows, sql, err)))
        return rc;
    json_array_begin(w);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        int64_t status = db_i64(rows, C_STATUS);
        if (scope->filtered && !(status >= STAGE_PENDING && status <= STAGE_SKIPPED && (scope->wanted >> status & 1u)))
            continue;
        if (has_wanted_tasks(&view, rows) && (rc = write_stage(&writer, rows, err)))
            break;
    }
    db_finalize(rows);
    if (rc != ERR_EOF)
        return rc;
    json_array_end(w);
    return ERR_OK;
}

static enum err_code prepare_by_id(struct v1_scope *scope, int64_t id, sqlite3_stmt **ret, struct err *err)
{
    const char *sql = arena_printf(scope->request->arena, "%sWHERE s.stage_id = ?1 ORDER BY s.attempt", stage_columns);
    if (!sql)
        return err_nomem(err);
    enum err_code rc = db_prepare(scope->db, ret, sql, err);
    if (rc == ERR_OK)
        db_bind_i64(*ret, 1, id);
    return rc;
}

static enum err_code stage(struct v1_scope *scope, struct err *err)
{
    int64_t id = scope->ids[0];
    struct view view;
    enum err_code rc;
    if (!read_view(scope, true, &view, &rc, err))
        return rc;
    sqlite3_stmt *rows = NULL;
    if ((rc = prepare_by_id(scope, id, &rows, err)))
        return rc;
    if ((rc = db_step(rows, err)) == ERR_OK) {
        struct json_writer *w = response_json(scope->response, true);
        CLEANUP(stage_writer_dispose) struct stage_writer writer;
        rc = stage_writer_init(&writer, scope->ctx->server, scope->db, w, &view, err);
        json_array_begin(w);
        while (rc == ERR_OK && (rc = write_stage(&writer, rows, err)) == ERR_OK)
            rc = db_step(rows, err);
        if (rc == ERR_EOF) {
            json_array_end(w);
            rc = ERR_OK;
        }
    } else if (rc == ERR_EOF) {
        response_plain(scope->response, 404, "unknown stage: %lld", (long long)id);
        rc = ERR_OK;
    }
    db_finalize(rows);
    return rc;
}

/* The attempt is not there: says which are. */
static enum err_code refuse_attempt(struct v1_scope *scope, int64_t id, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(scope->db, &rows, "SELECT attempt FROM stage WHERE stage_id = ?1 ORDER BY attempt", err);
    if (rc)
        return rc;
    CLEANUP(buf_dispose) struct buf found;
    buf_init(&found, FOUND_MAX_BYTES);
    db_bind_i64(rows, 1, id);
    while ((rc = db_step(rows, err)) == ERR_OK)
        buf_printf(&found, "%s%lld", found.len ? "," : "", (long long)db_i64(rows, 0));
    db_finalize(rows);
    if (rc != ERR_EOF)
        return rc;
    if (buf_failed(&found))
        return err_nomem(err);
    if (found.len)
        response_plain(scope->response, 404, "unknown attempt for stage %lld.  Found attempts: [%s]", (long long)id, found.data);
    else
        response_plain(scope->response, 404, "unknown stage: %lld", (long long)id);
    return ERR_OK;
}

static enum err_code stage_attempt(struct v1_scope *scope, struct err *err)
{
    int64_t id = scope->ids[0], attempt = scope->ids[1];
    struct view view;
    enum err_code rc;
    if (!read_view(scope, true, &view, &rc, err))
        return rc;
    sqlite3_stmt *rows = NULL;
    if ((rc = prepare_by_id(scope, id, &rows, err)))
        return rc;
    while ((rc = db_step(rows, err)) == ERR_OK && db_i64(rows, C_ATTEMPT) != attempt)
        ;
    if (rc == ERR_OK) {
        CLEANUP(stage_writer_dispose) struct stage_writer writer;
        rc = stage_writer_init(&writer, scope->ctx->server, scope->db, response_json(scope->response, true), &view, err);
        if (rc == ERR_OK)
            rc = write_stage(&writer, rows, err);
    } else if (rc == ERR_EOF) {
        rc = refuse_attempt(scope, id, err);
    }
    db_finalize(rows);
    return rc;
}

enum err_code v1_stages(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, convert_list, stages, err);
}

enum err_code v1_stage(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, convert_view, stage, err);
}

enum err_code v1_stage_attempt(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 2, convert_view, stage_attempt, err);
}
