/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/store/entity_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ingest/store/row_value.h"
#include "ingest/store/task_store.h"

enum kind { I64, STR, METRICS, PEAKS };

struct column {
    const char *name;                /* NULL for METRICS and PEAKS, which are many */
    enum kind kind;
    size_t offset;
};

#define JOB(name) {#name, I64, offsetof(struct job, name)}
#define JOB_STR(name) {#name, STR, offsetof(struct job, name)}
static const struct column job_columns[] = {
    JOB(job_id),
    JOB_STR(name),
    JOB_STR(description),
    JOB_STR(job_group),
    JOB_STR(tags),
    JOB(sql_execution_id),
    JOB(batch_ms),
    JOB(output_op_id),
    JOB(submission_ms),
    JOB(completion_ms),
    JOB(status),
    JOB(failure_text_id),
    JOB(start_seen),
    JOB(num_tasks),
    {"active_tasks", I64, offsetof(struct job, tasks.active)},
    {"completed_tasks", I64, offsetof(struct job, tasks.completed)},
    {"failed_tasks", I64, offsetof(struct job, tasks.failed)},
    {"killed_tasks", I64, offsetof(struct job, tasks.killed)},
    JOB(skipped_tasks),
    JOB(completed_indices),
    JOB(active_stages),
    JOB(completed_stages),
    JOB(skipped_stages),
    JOB(failed_stages),
    {"late_active_tasks", I64, offsetof(struct job, late.active)},
    {"late_completed_tasks", I64, offsetof(struct job, late.completed)},
    {"late_failed_tasks", I64, offsetof(struct job, late.failed)},
    {"late_killed_tasks", I64, offsetof(struct job, late.killed)},
    {"late_completed_indices", I64, offsetof(struct job, late_indices)},
    {"late_active_stages", I64, offsetof(struct job, late_active_stages)},
    {"late_completed_stages", I64, offsetof(struct job, late_completed_stages)},
    {"late_failed_stages", I64, offsetof(struct job, late_failed_stages)},
};

#define STAGE(name) {#name, I64, offsetof(struct stage, name)}
#define STAGE_STR(name) {#name, STR, offsetof(struct stage, name)}
#define STAGE_AS(column, field) {column, I64, offsetof(struct stage, field)}
static const struct column stage_columns[] = {
    STAGE(stage_ref),
    STAGE(stage_id),
    STAGE(attempt),
    STAGE_STR(name),
    STAGE(details_text_id),
    STAGE_STR(description),
    STAGE_STR(pool),
    STAGE(status),
    STAGE(announced),
    STAGE(submitted_seen),
    STAGE(completed_seen),
    STAGE(num_tasks),
    STAGE(submission_ms),
    STAGE(completion_ms),
    STAGE(first_task_launch_ms),
    STAGE(last_task_finish_ms),
    STAGE(failure_text_id),
    STAGE(resource_profile_id),
    STAGE(shuffle_push_enabled),
    STAGE(shuffle_mergers_count),
    STAGE(sql_execution_id),
    STAGE_AS("active_tasks", tasks.active),
    STAGE_AS("complete_tasks", tasks.completed),
    STAGE_AS("failed_tasks", tasks.failed),
    STAGE_AS("killed_tasks", tasks.killed),
    STAGE(completed_indices),
    STAGE(speculative_tasks),
    STAGE_AS("speculative_active", speculative.active),
    STAGE_AS("speculative_completed", speculative.completed),
    STAGE_AS("speculative_failed", speculative.failed),
    STAGE_AS("speculative_killed", speculative.killed),
    STAGE_AS("locality_process", locality[LOCALITY_PROCESS]),
    STAGE_AS("locality_node", locality[LOCALITY_NODE]),
    STAGE_AS("locality_none", locality[LOCALITY_NONE]),
    STAGE_AS("locality_rack", locality[LOCALITY_RACK]),
    STAGE_AS("locality_any", locality[LOCALITY_ANY]),
    STAGE(task_rows),
    STAGE(ended_tasks),
    STAGE(first_task_seq),
    STAGE(last_task_seq),
    STAGE(task_time_ms),
    STAGE(peaks_set),
    {NULL, METRICS, offsetof(struct stage, metrics)},
    {NULL, PEAKS, offsetof(struct stage, peaks)},
};

#define EXECUTOR(name) {#name, I64, offsetof(struct executor, name)}
#define EXECUTOR_STR(name) {#name, STR, offsetof(struct executor, name)}
#define EXECUTOR_WORK(column, kind) {column, I64, offsetof(struct executor, work[kind])}
static const struct column executor_columns[] = {
    EXECUTOR(executor_ref),
    EXECUTOR_STR(executor_id),
    EXECUTOR(announced),
    EXECUTOR(superseded),
    EXECUTOR_STR(host),
    EXECUTOR_STR(host_port),
    EXECUTOR(add_ms),
    EXECUTOR(remove_ms),
    EXECUTOR_STR(remove_reason),
    EXECUTOR(active),
    EXECUTOR(total_cores),
    EXECUTOR(max_tasks),
    EXECUTOR(resource_profile_id),
    EXECUTOR(max_memory_bytes),
    EXECUTOR(max_on_heap_memory_bytes),
    EXECUTOR(max_off_heap_memory_bytes),
    EXECUTOR(request_ms),
    EXECUTOR(registration_ms),
    EXECUTOR(active_tasks),
    EXECUTOR(failed_tasks),
    EXECUTOR(completed_tasks),
    EXECUTOR(total_tasks),
    EXECUTOR(total_duration_ms),
    EXECUTOR(total_gc_time_ms),
    EXECUTOR(total_input_bytes),
    EXECUTOR(total_shuffle_read_bytes),
    EXECUTOR(total_shuffle_write_bytes),
    EXECUTOR(task_count),
    EXECUTOR(failed_task_count),
    EXECUTOR(killed_task_count),
    EXECUTOR(task_time_ms),
    EXECUTOR(gc_time_ms),
    EXECUTOR_WORK("task_run_time_ms", WORK_RUN),
    EXECUTOR_WORK("task_cpu_time_ns", WORK_CPU),
    EXECUTOR_WORK("task_deserialize_time_ms", WORK_DESERIALIZE),
    EXECUTOR_WORK("task_result_serialization_time_ms", WORK_RESULT_SERIALIZATION),
    EXECUTOR_WORK("task_fetch_wait_time_ms", WORK_FETCH_WAIT),
    EXECUTOR_WORK("task_shuffle_write_time_ns", WORK_SHUFFLE_WRITE),
    EXECUTOR_WORK("task_shuffle_remote_read_bytes", WORK_REMOTE_READ),
    EXECUTOR_WORK("task_disk_spilled_bytes", WORK_DISK_SPILLED),
    EXECUTOR(rdd_blocks),
    EXECUTOR(memory_used_bytes),
    EXECUTOR(disk_used_bytes),
    EXECUTOR(on_heap_used_bytes),
    EXECUTOR(off_heap_used_bytes),
    EXECUTOR(is_excluded),
    EXECUTOR(peaks_set),
    {NULL, PEAKS, offsetof(struct executor, peaks)},
};

#define SUM(name) {#name, I64, offsetof(struct executor_stage, name)}
static const struct column executor_stage_columns[] = {
    SUM(task_time_ms), SUM(failed_tasks), SUM(succeeded_tasks), SUM(killed_tasks), SUM(is_excluded), SUM(peaks_set),
    {NULL, METRICS, offsetof(struct executor_stage, metrics)}, {NULL, PEAKS, offsetof(struct executor_stage, peaks)},
};

/* Statements with their text; the order is free. */
enum statement {
    PUT_JOB,
    PUT_STAGE,
    PUT_EXECUTOR,
    ADD_EXECUTOR_STAGE,
    DROP_JOB_STAGES,
    PUT_JOB_STAGE,
    PUT_JOB_PROPERTY,
    PUT_KILL_REASON,
    PUT_STAGE_PARENT,
    DROP_STAGE_RDDS,
    PUT_STAGE_RDD,
    DROP_STAGE_ACCUMULABLES,
    PUT_STAGE_ACCUMULABLE,
    DROP_OWNER_MAPS,
    PUT_OWNER_MAP,
    PUT_HOST,
    PUT_EXCLUSION,
    PUT_SCOPE,
    PUT_RDD,
    DROP_RDD_PARENTS,
    PUT_RDD_PARENT,
    DROP_PARTITIONS,
    PUT_PARTITION,
    DROP_DISTRIBUTIONS,
    PUT_DISTRIBUTION,
    PUT_STREAM_BLOCK,
    PUT_ENVIRONMENT,
    PUT_PROFILE,
    PUT_REQUEST,
    PUT_PROCESS,
    PUT_APPLICATION,
    PUT_LOAD,
    PUT_HEALTH,
    PUT_FILE,
    PUT_PROBLEM,
    PUT_EVENT_COUNT,
    STATEMENT_COUNT
};

static const char *const statement_texts[STATEMENT_COUNT] = {
    [DROP_JOB_STAGES] = "DELETE FROM job_stage WHERE job_id = ?",
    [PUT_JOB_STAGE] = "INSERT OR REPLACE INTO job_stage (job_id, ordinal, stage_id, skipped, ran, skipped_tasks) VALUES (?, ?, ?, ?, ?, ?)",
    [PUT_JOB_PROPERTY] = "INSERT OR REPLACE INTO job_property (job_id, name, value) VALUES (?, ?, ?)",
    [PUT_KILL_REASON] = "INSERT OR REPLACE INTO kill_reason (owner_kind, owner, reason_text_id, task_count, late_count) VALUES (?, ?, ?, ?, ?)",
    [PUT_STAGE_PARENT] = "INSERT OR IGNORE INTO stage_parent (stage_id, parent_id) VALUES (?, ?)",
    [DROP_STAGE_RDDS] = "DELETE FROM stage_rdd WHERE stage_ref = ?",
    [PUT_STAGE_RDD] = "INSERT OR REPLACE INTO stage_rdd (stage_ref, ordinal, rdd_id, cached) VALUES (?, ?, ?, ?)",
    [DROP_STAGE_ACCUMULABLES] = "DELETE FROM stage_accumulable WHERE stage_ref = ?",
    [PUT_STAGE_ACCUMULABLE] =
        "INSERT OR REPLACE INTO stage_accumulable (stage_ref, ordinal, accumulable_id, name, update_text, value_text, internal, metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [DROP_OWNER_MAPS] = "DELETE FROM owner_map WHERE owner_kind = ? AND owner = ?",
    [PUT_OWNER_MAP] = "INSERT OR REPLACE INTO owner_map (owner_kind, owner, map, ordinal, name, value) VALUES (?, ?, ?, ?, ?, ?)",
    [PUT_HOST] = "INSERT OR REPLACE INTO host (host_ref, name) VALUES (?, ?)",
    [PUT_EXCLUSION] = "INSERT OR REPLACE INTO exclusion (exclusion_no, time_ms, lifted, executor_id, host, stage_id, stage_attempt, failures) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_SCOPE] = "INSERT OR REPLACE INTO rdd_scope (scope_id, name, parent_scope_id) VALUES (?, ?, ?)",
    [PUT_RDD] =
        "INSERT OR REPLACE INTO rdd (rdd_id, name, callsite, scope_id, use_disk, use_memory, use_off_heap, deserialized, replication, num_partitions, barrier, determinism, "
        "tracked, unpersisted, storage_name, storage_level, storage_partitions, memory_used_bytes, disk_used_bytes, unpersist_ms, most_partitions, evicted_partitions, "
        "most_memory_bytes, most_disk_bytes, held_byte_ms, held_to_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DROP_RDD_PARENTS] = "DELETE FROM rdd_parent WHERE rdd_id = ?",
    [PUT_RDD_PARENT] = "INSERT OR REPLACE INTO rdd_parent (rdd_id, ordinal, parent_id) VALUES (?, ?, ?)",
    [DROP_PARTITIONS] = "DELETE FROM rdd_partition WHERE rdd_id = ?",
    [PUT_PARTITION] = "INSERT INTO rdd_partition (rdd_id, ordinal, block_name, storage_level, memory_used_bytes, disk_used_bytes, executors) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [DROP_DISTRIBUTIONS] = "DELETE FROM rdd_distribution WHERE rdd_id = ?",
    [PUT_DISTRIBUTION] = "INSERT INTO rdd_distribution (rdd_id, ordinal, executor_id, address, memory_used_bytes, memory_remaining_bytes, disk_used_bytes, on_heap_used_bytes, "
                         "off_heap_used_bytes, on_heap_remaining_bytes, off_heap_remaining_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_STREAM_BLOCK] =
        "INSERT OR REPLACE INTO stream_block (block_name, executor_id, host_port, storage_level, use_memory, use_disk, deserialized, memory_used_bytes, disk_used_bytes) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_ENVIRONMENT] = "INSERT OR REPLACE INTO environment (section, name, value) VALUES (?, ?, ?)",
    [PUT_PROFILE] = "INSERT OR REPLACE INTO resource_profile (profile_id) VALUES (?)",
    [PUT_REQUEST] = "INSERT OR REPLACE INTO resource_request (profile_id, kind, name, ordinal, amount, resource_name, discovery_script, vendor) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_PROCESS] = "INSERT OR REPLACE INTO process (process_id, add_ms, host_port, total_cores) VALUES (?, ?, ?, ?)",
    [PUT_APPLICATION] = "INSERT INTO application (app_id, attempt_id, name, user, spark_version, vendor_version, start_ms, end_ms, exit_code, first_event_ms, last_event_ms, "
                        "view_acls, view_acls_groups, admin_acls, admin_acls_groups) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_LOAD] =
        "INSERT INTO load (app_key, generation, state, program_version, log_path, layout, finished_name, log_modified_ms, stored_bytes, read_bytes, text_bytes, line_count, "
        "started_ms, ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_HEALTH] = "INSERT INTO log_health (complete, flags, bad_line_count, cut, missing_files, compacted, no_log_start, no_application_start, no_environment, "
                   "repeated_application_start_count, jobs_without_end, stages_without_end, tasks_without_end, jobs_without_start, stages_without_start, tasks_without_start, "
                   "duplicate_event_count, unknown_event_count, out_of_range_number_count, clock_step_count, repaired_text_count) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_FILE] = "INSERT OR REPLACE INTO log_file (file_no, name, roll_index, compact, codec, stored_bytes, text_bytes, line_count, problem) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PUT_PROBLEM] = "INSERT OR REPLACE INTO log_problem (problem_no, kind, file_no, line_no, text_offset, reason, sample) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [PUT_EVENT_COUNT] = "INSERT OR REPLACE INTO event_count (event, seen, handled) VALUES (?, ?, ?)",
};

struct entity_rows {
    struct db *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    size_t hosts_written, exclusions_written, scopes_written;   /* those never change once made */
};

enum { OWNER_EXECUTOR, OWNER_PROCESS, OWNER_DRIVER };
enum { MAP_LOGS, MAP_ATTRIBUTES, MAP_RESOURCES };
enum { KILLS_OF_JOB, KILLS_OF_STAGE };

static size_t column_names(const struct column *columns, size_t count, const char **ret, bool *ret_peak)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        switch (columns[i].kind) {
        case METRICS:
            for (size_t m = 0; m < TASK_METRIC_COUNT; m++, n++)
                ret[n] = task_metric_columns[m], ret_peak[n] = false;
            break;
        case PEAKS:
            for (size_t m = 0; m < EXECUTOR_METRIC_COUNT; m++, n++)
                ret[n] = executor_metric_columns[m], ret_peak[n] = true;
            break;
        default:
            ret[n] = columns[i].name, ret_peak[n++] = false;
        }
    return n;
}

#define MAX_COLUMNS 160

static enum err_code prepare_put(struct entity_rows *self, enum statement which, const char *table, const struct column *columns, size_t count, struct err *err)
{
    const char *names[MAX_COLUMNS];
    bool peak[MAX_COLUMNS];
    size_t n = column_names(columns, count, names, peak);
    CLEANUP(buf_dispose) struct buf sql;
    buf_init(&sql, 65536);
    buf_printf(&sql, "INSERT OR REPLACE INTO %s (", table);
    for (size_t i = 0; i < n; i++)
        buf_printf(&sql, "%s%s", i ? ", " : "", names[i]);
    if (which == PUT_EXECUTOR)
        buf_text(&sql, ", excluded_in_stages");
    buf_text(&sql, ") VALUES (?");
    for (size_t i = 1; i < n + (which == PUT_EXECUTOR); i++)
        buf_text(&sql, ", ?");
    buf_text(&sql, ")");
    return buf_failed(&sql) ? err_nomem(err) : db_prepare(self->db, &self->statements[which], sql.data, err);
}

/* Per-executor sums come as what was added since the last checkpoint: sums add up (and stop at the largest integer: SQLite's sum would be a real number), peaks and marks take the
 * larger. */
static enum err_code prepare_add_executor_stage(struct entity_rows *self, struct err *err)
{
    const char *names[MAX_COLUMNS];
    bool peak[MAX_COLUMNS];
    size_t n = column_names(executor_stage_columns, ARRAY_LENGTH(executor_stage_columns), names, peak);
    CLEANUP(buf_dispose) struct buf sql;
    buf_init(&sql, 65536);
    buf_text(&sql, "INSERT INTO executor_stage (stage_ref, executor_id");
    for (size_t i = 0; i < n; i++)
        buf_printf(&sql, ", %s", names[i]);
    buf_text(&sql, ") VALUES (?, ?");
    for (size_t i = 0; i < n; i++)
        buf_text(&sql, ", ?");
    buf_text(&sql, ") ON CONFLICT (stage_ref, executor_id) DO UPDATE SET ");
    for (size_t i = 0; i < n; i++) {
        const char *name = names[i];
        bool larger = peak[i] || strcmp(name, "is_excluded") == 0 || strcmp(name, "peaks_set") == 0;
        buf_printf(&sql, larger ? "%s%s = max(coalesce(%s, excluded.%s), coalesce(excluded.%s, %s))" : "%s%s = CAST(coalesce(%s + excluded.%s, excluded.%s, %s) AS INTEGER)",
                   i ? ", " : "", name, name, name, name, name);
    }
    return buf_failed(&sql) ? err_nomem(err) : db_prepare(self->db, &self->statements[ADD_EXECUTOR_STAGE], sql.data, err);
}

enum err_code entity_rows_attach(struct entity_rows *self, struct db *db, struct err *err)
{
    self->db = db;
    enum err_code rc;
    if ((rc = prepare_put(self, PUT_JOB, "job", job_columns, ARRAY_LENGTH(job_columns), err)) ||
        (rc = prepare_put(self, PUT_STAGE, "stage", stage_columns, ARRAY_LENGTH(stage_columns), err)) ||
        (rc = prepare_put(self, PUT_EXECUTOR, "executor", executor_columns, ARRAY_LENGTH(executor_columns), err)) || (rc = prepare_add_executor_stage(self, err)))
        return rc;
    return rows_prepare(self->statements, statement_texts, STATEMENT_COUNT, db, err);
}

void entity_rows_detach(struct entity_rows *self)
{
    rows_finalize(self->statements, STATEMENT_COUNT);
}

enum err_code entity_rows_new(struct entity_rows **ret, struct db *db, struct err *err)
{
    struct entity_rows *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    enum err_code rc = entity_rows_attach(self, db, err);
    if (rc) {
        entity_rows_free(self);
        self = NULL;
    }
    *ret = self;
    return rc;
}

void entity_rows_free(struct entity_rows *self)
{
    if (!self)
        return;
    entity_rows_detach(self);
    mem_free(self);
}

/* Binds a struct's fields by kind, starting at `position`. Returns the next free position. */
static int bind_columns(sqlite3_stmt *stmt, int position, const struct column *columns, size_t count, const void *entity)
{
    for (size_t i = 0; i < count; i++) {
        const void *field = (const char *)entity + columns[i].offset;
        const int64_t *numbers = field;
        const struct str *text = field;
        switch (columns[i].kind) {
        case I64:
            db_bind_i64(stmt, position++, *numbers);
            break;
        case STR:
            db_bind_str(stmt, position++, *text);
            break;
        case METRICS:
            for (size_t m = 0; m < TASK_METRIC_COUNT; m++)
                db_bind_i64(stmt, position++, numbers[m]);
            break;
        case PEAKS:
            for (size_t m = 0; m < EXECUTOR_METRIC_COUNT; m++)
                db_bind_i64(stmt, position++, numbers[m]);
            break;
        }
    }
    return position;
}

#define ROW(which, ...) row_put(self->statements[which], err, ROW_VALUES(__VA_ARGS__))

static enum err_code write_kills(struct entity_rows *self, int64_t owner_kind, int64_t owner, const struct imap *kills, const struct imap *late, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < kills->count && !rc; i++)
        rc = ROW(PUT_KILL_REASON, N(owner_kind), N(owner), N(kills->entries[i].key), N((int64_t)(intptr_t)kills->entries[i].value),
                 N(late ? (int64_t)(intptr_t)imap_get(late, kills->entries[i].key) : 0));
    return rc;
}

static enum err_code write_job(struct entity_rows *self, struct job *job, struct err *err)
{
    enum err_code rc;
    if (job->dirty) {
        bind_columns(self->statements[PUT_JOB], 1, job_columns, ARRAY_LENGTH(job_columns), job);
        if ((rc = db_run(self->statements[PUT_JOB], err)))
            return rc;
    }
    if (job->lists_dirty) {
        if ((rc = ROW(DROP_JOB_STAGES, N(job->job_id))) || (rc = write_kills(self, KILLS_OF_JOB, job->job_id, &job->kills, &job->late_kills, err)))
            return rc;
        for (size_t i = 0; i < job->stage_count; i++)
            if ((rc = ROW(PUT_JOB_STAGE, N(job->job_id), N((int64_t)i), N(job->stages[i].stage_id), N(job->stages[i].skipped), N(job->stages[i].ran),
                          N(job->stages[i].skipped ? job->stages[i].num_tasks : 0))))
                return rc;
        for (size_t i = 0; i < job->properties.count; i++)
            if ((rc = ROW(PUT_JOB_PROPERTY, N(job->job_id), S(job->properties.items[i].name), S(job->properties.items[i].value))))
                return rc;
    }
    job->dirty = job->lists_dirty = false;
    return ERR_OK;
}

static enum err_code write_stage_lists(struct entity_rows *self, struct stage *stage, struct err *err)
{
    enum err_code rc;
    if ((rc = write_kills(self, KILLS_OF_STAGE, stage->stage_ref, &stage->kills, NULL, err)) || (rc = ROW(DROP_STAGE_RDDS, N(stage->stage_ref))))
        return rc;
    for (size_t i = 0; i < stage->parents.count; i++)
        if ((rc = ROW(PUT_STAGE_PARENT, N(stage->stage_id), N(stage->parents.items[i]))))
            return rc;
    bool cached_known = stage->rdd_cached && stage->rdd_cached_count == stage->rdds.count;
    for (size_t i = 0; i < stage->rdds.count; i++)
        if ((rc = ROW(PUT_STAGE_RDD, N(stage->stage_ref), N((int64_t)i), N(stage->rdds.items[i]), N(cached_known ? stage->rdd_cached[i] : UNKNOWN))))
            return rc;
    return ERR_OK;
}

static enum err_code write_accumulables(struct entity_rows *self, struct stage *stage, struct err *err)
{
    enum err_code rc = ROW(DROP_STAGE_ACCUMULABLES, N(stage->stage_ref));
    for (size_t i = 0; i < stage->accumulables.count && !rc; i++) {
        const struct accumulable *a = &stage->accumulables.items[i];
        rc = ROW(PUT_STAGE_ACCUMULABLE, N(stage->stage_ref), N((int64_t)i), N(a->id), S(a->name), S(a->update), S(a->value), N(a->internal), S(a->metadata));
    }
    free_accumulables(stage);
    stage->accumulables_dirty = false;
    return rc;
}

static void zero_summary(struct executor_stage *summary)
{
    struct executor *executor = summary->executor;
    memset(summary, 0, sizeof *summary);
    summary->executor = executor;
    for (size_t i = 0; i < TASK_METRIC_COUNT; i++)
        summary->metrics[i] = UNKNOWN;
    for (size_t i = 0; i < EXECUTOR_METRIC_COUNT; i++)
        summary->peaks[i] = UNKNOWN;
}

enum err_code entity_rows_add_executor_stage(struct entity_rows *self, int64_t stage_ref, const struct executor_stage *summary, struct err *err)
{
    sqlite3_stmt *stmt = self->statements[ADD_EXECUTOR_STAGE];
    db_bind_i64(stmt, 1, stage_ref);
    db_bind_str(stmt, 2, summary->executor->executor_id);
    bind_columns(stmt, 3, executor_stage_columns, ARRAY_LENGTH(executor_stage_columns), summary);
    return db_run(stmt, err);
}

static enum err_code write_stage(struct entity_rows *self, struct stage *stage, struct err *err)
{
    enum err_code rc;
    if (stage->dirty) {
        bind_columns(self->statements[PUT_STAGE], 1, stage_columns, ARRAY_LENGTH(stage_columns), stage);
        if ((rc = db_run(self->statements[PUT_STAGE], err)))
            return rc;
    }
    if (stage->lists_dirty && (rc = write_stage_lists(self, stage, err)))
        return rc;
    if (stage->accumulables_dirty && (rc = write_accumulables(self, stage, err)))
        return rc;
    if (stage->executors_dirty)
        for (size_t i = 0; i < stage->executors.count; i++) {
            struct executor_stage *summary = stage->executors.entries[i].value;
            if ((rc = entity_rows_add_executor_stage(self, stage->stage_ref, summary, err)))
                return rc;
            zero_summary(summary);
        }
    stage->dirty = stage->lists_dirty = stage->executors_dirty = false;
    return ERR_OK;
}

static enum err_code write_map(struct entity_rows *self, int64_t owner_kind, int64_t owner, int64_t map, const struct kv_list *list, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < list->count && !rc; i++)
        rc = ROW(PUT_OWNER_MAP, N(owner_kind), N(owner), N(map), N((int64_t)i), S(list->items[i].name), S(list->items[i].value));
    return rc;
}

static enum err_code write_executor(struct entity_rows *self, struct executor *executor, bool storage_known, struct err *err)
{
    enum err_code rc;
    if (executor->dirty) {
        struct executor shown = *executor;
        if (!storage_known)
            shown.rdd_blocks = shown.memory_used_bytes = shown.disk_used_bytes = shown.on_heap_used_bytes = shown.off_heap_used_bytes = UNKNOWN;
        CLEANUP(buf_dispose) struct buf stages;
        buf_init(&stages, (size_t)64 << 20);
        for (size_t i = 0; i < executor->excluded_count; i++)
            buf_printf(&stages, "%s%lld", i ? " " : "", (long long)executor->excluded_in_stages[i]);
        if (buf_failed(&stages))
            return err_nomem(err);
        sqlite3_stmt *stmt = self->statements[PUT_EXECUTOR];
        int position = bind_columns(stmt, 1, executor_columns, ARRAY_LENGTH(executor_columns), &shown);
        db_bind_str(stmt, position, buf_str(&stages));
        if ((rc = db_run(stmt, err)))
            return rc;
    }
    if (executor->maps_dirty) {
        int64_t owner = executor->executor_ref;
        if ((rc = ROW(DROP_OWNER_MAPS, N(OWNER_EXECUTOR), N(owner))) || (rc = write_map(self, OWNER_EXECUTOR, owner, MAP_LOGS, &executor->logs, err)) ||
            (rc = write_map(self, OWNER_EXECUTOR, owner, MAP_ATTRIBUTES, &executor->attributes, err)) ||
            (rc = write_map(self, OWNER_EXECUTOR, owner, MAP_RESOURCES, &executor->resources, err)))
            return rc;
    }
    executor->dirty = executor->maps_dirty = false;
    return ERR_OK;
}

static enum err_code write_blocks(struct entity_rows *self, const struct rdd *rdd, struct err *err)
{
    enum err_code rc;
    int64_t ordinal = 0;
    if ((rc = ROW(DROP_PARTITIONS, N(rdd->rdd_id))) || (rc = ROW(DROP_DISTRIBUTIONS, N(rdd->rdd_id))))
        return rc;
    for (size_t i = 0; i < rdd->block_count; i++) {
        const struct rdd_block *block = &rdd->blocks[i];
        if (!block->live)
            continue;
        CLEANUP(buf_dispose) struct buf holders;
        buf_init(&holders, (size_t)1 << 20);
        for (size_t h = 0; h < block->holder_count; h++) {
            buf_text(&holders, h ? " " : "");
            buf_append(&holders, block->holders[h]->executor_id.ptr, block->holders[h]->executor_id.len);
        }
        if (buf_failed(&holders))
            return err_nomem(err);
        struct storage_level level = {.use_disk = block->disk_bytes > 0, .use_memory = block->memory_bytes > 0, .use_off_heap = rdd->storage.use_off_heap,
                                      .deserialized = block->memory_bytes > 0 && rdd->storage.deserialized};
        char text[96];
        storage_level_text(&level, (int64_t)block->holder_count, text, sizeof text);
        if ((rc = ROW(PUT_PARTITION, N(rdd->rdd_id), N(ordinal++), S(block->block_name), S(str_of(text)), N(block->memory_bytes), N(block->disk_bytes), S(buf_str(&holders)))))
            return rc;
    }
    ordinal = 0;
    for (size_t i = 0; i < rdd->distribution_count; i++) {
        const struct rdd_distribution *d = &rdd->distributions[i];
        if (d->live && (rc = ROW(PUT_DISTRIBUTION, N(rdd->rdd_id), N(ordinal++), S(d->executor->executor_id), S(d->address), N(d->memory_used_bytes), N(d->memory_remaining_bytes),
                                 N(d->disk_used_bytes), N(d->on_heap_used_bytes), N(d->off_heap_used_bytes), N(d->on_heap_remaining_bytes), N(d->off_heap_remaining_bytes))))
            return rc;
    }
    return ERR_OK;
}

static enum err_code write_rdd(struct entity_rows *self, struct rdd *rdd, bool sizes_known, struct err *err)
{
    if (!rdd->dirty)
        return ERR_OK;
    char text[96];
    const struct storage_level *level = &rdd->level;
    bool stored = known(rdd->storage_partitions), held = stored && sizes_known;
    int64_t memory = sizes_known ? rdd->memory_used_bytes : UNKNOWN, disk = sizes_known ? rdd->disk_used_bytes : UNKNOWN;
    enum err_code rc =
        ROW(PUT_RDD, N(rdd->rdd_id), S(rdd->name), S(rdd->callsite), S(rdd->scope_id), N(level->use_disk), N(level->use_memory), N(level->use_off_heap), N(level->deserialized),
            N(level->replication), N(rdd->num_partitions), N(rdd->barrier), N(rdd->determinism), N(rdd->tracked), N(rdd->unpersisted), S(stored ? rdd->storage_name : STR_NONE),
            S(stored ? str_of(storage_level_text(&rdd->storage, rdd->storage.replication, text, sizeof text)) : STR_NONE), N(rdd->storage_partitions), N(stored ? memory : UNKNOWN),
            N(stored ? disk : UNKNOWN), N(rdd->unpersist_ms), N(held ? rdd->most_partitions : UNKNOWN), N(held ? rdd->evicted_partitions : UNKNOWN),
            N(held ? rdd->most_memory_bytes : UNKNOWN), N(held ? rdd->most_disk_bytes : UNKNOWN), R(held ? rdd->held_byte_ms : (double)NAN), N(held ? rdd->held_to_ms : UNKNOWN));
    if (!rc)
        rc = ROW(DROP_RDD_PARENTS, N(rdd->rdd_id));
    for (size_t i = 0; i < rdd->parents.count && !rc; i++)
        rc = ROW(PUT_RDD_PARENT, N(rdd->rdd_id), N((int64_t)i), N(rdd->parents.items[i]));
    if (!rc && (rdd->block_count || rdd->distribution_count))
        rc = write_blocks(self, rdd, err);
    rdd->dirty = rc != ERR_OK;
    return rc;
}

static enum err_code write_environment(struct entity_rows *self, struct app_model *model, struct err *err)
{
    enum err_code rc =
        db_exec(self->db, "DELETE FROM environment; DELETE FROM resource_request; DELETE FROM resource_profile; DELETE FROM process; DELETE FROM owner_map WHERE owner_kind = 1",
                err);
    for (int64_t s = 0; s < ENV_SECTION_COUNT && !rc; s++)
        for (size_t i = 0; i < model->environment[s].count && !rc; i++)
            rc = ROW(PUT_ENVIRONMENT, N(s), S(model->environment[s].items[i].name), S(model->environment[s].items[i].value));
    for (size_t p = 0; p < model->profiles.count && !rc; p++) {
        const struct resource_profile *profile = model->profiles.items[p];
        rc = ROW(PUT_PROFILE, N(profile->id));
        for (size_t i = 0; i < profile->executor_count + profile->task_count && !rc; i++) {
            bool task = i >= profile->executor_count;
            size_t at = task ? i - profile->executor_count : i;
            const struct resource_request *r = task ? &profile->task[at] : &profile->executor[at];
            rc = ROW(PUT_REQUEST, N(profile->id), N(task), S(r->name), N((int64_t)at), R(r->amount), S(r->resource_name), S(r->discovery_script), S(r->vendor));
        }
    }
    for (size_t i = 0; i < model->processes.count && !rc; i++) {
        const struct process *process = model->processes.items[i];
        rc = ROW(PUT_PROCESS, S(process->id), N(process->add_ms), S(process->host_port), N(process->cores));
        if (!rc)
            rc = write_map(self, OWNER_PROCESS, (int64_t)i + 1, MAP_LOGS, &process->logs, err);
    }
    if (!rc && model->has_driver_logs && !(rc = ROW(DROP_OWNER_MAPS, N(OWNER_DRIVER), N(0))) && !(rc = write_map(self, OWNER_DRIVER, 0, MAP_LOGS, &model->driver_logs, err)))
        rc = write_map(self, OWNER_DRIVER, 0, MAP_ATTRIBUTES, &model->driver_attributes, err);
    model->environment_dirty = rc != ERR_OK;
    return rc;
}

static enum err_code write_load(struct entity_rows *self, const struct app_model *model, const struct load_facts *facts, bool finished, struct err *err)
{
    const struct model_health *h = &model->health;
    enum err_code rc;
    if ((rc = db_exec(self->db, "DELETE FROM load; DELETE FROM application; DELETE FROM log_health", err)))
        return rc;
    if ((rc = ROW(PUT_LOAD, S(facts->app_key), N(facts->generation), S(finished ? STR_LIT("done") : STR_LIT("loading")), S(STR_LIT(AFTERGLOW_VERSION)), S(facts->log_path),
                  N(facts->layout), N(facts->finished_name), N(facts->log_modified_ms), N(facts->stored_bytes), N(facts->read_bytes), N(facts->text_bytes), N(facts->line_count),
                  N(facts->started_ms), N(facts->ended_ms))))
        return rc;
    if ((rc = ROW(PUT_APPLICATION, S(str_known(model->app_id) ? model->app_id : facts->id_from_name), S(model->attempt_id), S(model->name), S(model->user), S(model->spark_version),
                  N(model->vendor_version), N(model->start_ms), N(model->has_end ? model->end_ms : UNKNOWN), N(model->exit_code), N(model->first_event_ms), N(model->last_event_ms), S(model->view_acls),
                  S(model->view_acls_groups), S(model->admin_acls), S(model->admin_acls_groups))))
        return rc;
    if ((rc = ROW(PUT_HEALTH, N(model->has_end), S(facts->flags), N(facts->bad_line_count), N(facts->cut), S(facts->missing_files), N(facts->compacted), N(!h->log_start),
                  N(!h->application_start), N(!h->environment), N(MAX(h->application_start_count - 1, 0)), N(h->jobs_without_end), N(h->stages_without_end),
                  N(h->tasks_without_end), N(h->jobs_without_start), N(h->stages_without_start), N(h->tasks_without_start), N(h->duplicate_event_count),
                  N(facts->unknown_event_count), N(h->out_of_range_count), N(h->clock_step_count), N(h->repaired_count))))
        return rc;
    for (size_t i = 0; i < facts->file_count && !rc; i++) {
        const struct log_file_row *f = &facts->files[i];
        rc = ROW(PUT_FILE, N((int64_t)i + 1), S(f->name), N(f->roll_index), N(f->compact), S(f->codec), N(f->stored_bytes), N(f->text_bytes), N(f->line_count), S(f->problem));
    }
    for (size_t i = 0; i < facts->problem_count && !rc; i++) {
        const struct log_problem_row *p = &facts->problems[i];
        rc = ROW(PUT_PROBLEM, N((int64_t)i + 1), S(str_of(p->kind)), N(p->file_no), N(p->line_no), N(p->text_offset), S(str_of(p->reason)),
                 S(p->sample[0] ? str_of(p->sample) : STR_NONE));
    }
    for (size_t i = 0; i < facts->event_count && !rc; i++)
        rc = ROW(PUT_EVENT_COUNT, S(facts->events[i].event), N(facts->events[i].seen), N(facts->events[i].handled));
    return rc;
}

enum err_code entity_rows_write(struct entity_rows *self, struct app_model *model, const struct load_facts *facts, bool finished, struct err *err)
{
    enum err_code rc = write_load(self, model, facts, finished, err);
    if (!rc && model->environment_dirty)
        rc = write_environment(self, model, err);
    for (size_t i = 0; i < model->jobs.count && !rc; i++) {
        struct job *job = model->jobs.items[i];
        if (job->dirty || job->lists_dirty)
            rc = write_job(self, job, err);
    }
    for (size_t i = 0; i < model->stages.count && !rc; i++) {
        struct stage *stage = model->stages.items[i];
        if (stage->dirty || stage->lists_dirty || stage->executors_dirty)
            rc = write_stage(self, stage, err);
    }
    for (size_t i = 0; i < model->executors.count && !rc; i++) {
        struct executor *executor = model->executors.items[i];
        if (executor->dirty || executor->maps_dirty)
            rc = write_executor(self, executor, model->block_updates_seen, err);
    }
    for (; self->hosts_written < model->hosts.count && !rc; self->hosts_written++) {
        const struct host *host = model->hosts.items[self->hosts_written];
        rc = ROW(PUT_HOST, N(host->host_ref), S(host->name));
    }
    for (; self->exclusions_written < model->exclusions.count && !rc; self->exclusions_written++) {
        const struct exclusion *x = model->exclusions.items[self->exclusions_written];
        rc = ROW(PUT_EXCLUSION, N((int64_t)self->exclusions_written + 1), N(x->time_ms), N(x->lifted), S(x->executor_id), S(x->host), N(x->stage_id), N(x->stage_attempt),
                 N(x->failures));
    }
    for (; self->scopes_written < model->scopes.count && !rc; self->scopes_written++) {
        const struct rdd_scope *scope = model->scopes.items[self->scopes_written];
        rc = ROW(PUT_SCOPE, S(scope->id), S(scope->name), S(scope->parent_id));
    }
    for (size_t i = 0; i < model->rdds.count && !rc; i++)
        rc = write_rdd(self, model->rdds.items[i], model->block_updates_seen, err);
    if (!rc && model->stream_blocks.count)
        rc = db_exec(self->db, "DELETE FROM stream_block", err);
    for (size_t i = 0; i < model->stream_blocks.count && !rc; i++) {
        const struct stream_block *b = model->stream_blocks.items[i];
        char text[96];
        if (b->live)
            rc = ROW(PUT_STREAM_BLOCK, S(b->block_name), S(b->executor->executor_id), S(b->host_port),
                     S(str_of(storage_level_text(&b->level, b->level.replication, text, sizeof text))), N(b->level.use_memory), N(b->level.use_disk), N(b->level.deserialized),
                     N(b->memory_bytes), N(b->disk_bytes));
    }
    return rc;
}
