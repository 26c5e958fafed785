/* SPDX-License-Identifier: Apache-2.0
 *
 * What each executor did in one stage attempt: sums as stored, and the median and the largest of its successful tasks' durations, which tell a slow host from much work. */
#include "base/int_column.h"
#include "base/mem.h"
#include "server/api/handlers.h"
#include "server/executor_logs.h"

#define MAX_EXECUTOR_REF (INT64_C(1) << 24)
enum { STATUS_SUCCESS = 1 };         /* of task.status */

static const char executors_sql[] =
    "SELECT x.is_excluded, x.peaks_set, x.task_time_ms, x.jvm_gc_time_ms, e.executor_ref,"
    "       x.executor_id, e.host, x.succeeded_tasks + x.failed_tasks + x.killed_tasks AS task_count, x.succeeded_tasks, x.failed_tasks, x.killed_tasks, x.task_time_ms,"
    "       x.executor_run_time_ms AS run_time_ms, x.executor_cpu_time_ns AS cpu_time_ns, x.jvm_gc_time_ms AS gc_time_ms,"
    "       x.executor_deserialize_time_ms AS deserialize_time_ms, x.result_serialization_time_ms, x.shuffle_fetch_wait_time_ms AS fetch_wait_time_ms, x.shuffle_write_time_ns,"
    "       x.input_bytes, x.input_records, x.output_bytes, x.output_records,"
    "       " API_SHUFFLE_READ("x") " AS shuffle_read_bytes,"
    "       x.shuffle_records_read AS shuffle_read_records, x.shuffle_write_bytes, x.shuffle_write_records, x.memory_spilled_bytes, x.disk_spilled_bytes, " API_PEAK_COLUMNS("x.")
    "  FROM executor_stage x"
    "  LEFT JOIN executor e ON e.executor_ref = (SELECT max(executor_ref) FROM executor WHERE executor_id = x.executor_id)"
    " WHERE x.stage_ref = ?"
    " ORDER BY x.executor_id <> 'driver', x.executor_id GLOB '*[^0-9]*', CAST(x.executor_id AS INTEGER), x.executor_id";
#define EXECUTORS_FIRST_PLAIN 5
#define EXECUTORS_FIRST_PEAK 29

/* Durations of successful tasks together by executor; an id that came back has one place, that of its latest ref. */
struct durations {
    uint32_t *same;                  /* by ref: the latest ref of its id; owned */
    size_t *begin;                   /* by ref: where its durations begin in ms; one more than refs; owned */
    int64_t *ms;                     /* owned */
    size_t ref_count;
};

static void durations_dispose(struct durations *self)
{
    mem_free(self->same);
    mem_free(self->begin);
    mem_free(self->ms);
}

static enum err_code read_refs(struct durations *self, struct db *db, struct err *err)
{
    int64_t last;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_query_i64(db, "SELECT coalesce(max(executor_ref), 0) FROM executor", &last, err);
    if (rc)
        return rc;
    if (last < 0 || last > MAX_EXECUTOR_REF)
        return err_set(err, ERR_LIMIT, "more executors than can be told apart");
    self->ref_count = (size_t)last + 1;
    self->same = mem_array(self->ref_count, sizeof *self->same);
    self->begin = mem_array(self->ref_count + 2, sizeof *self->begin);
    if (!self->same || !self->begin)
        return err_nomem(err);
    if ((rc = db_prepare(db, &stmt, "SELECT e.executor_ref, (SELECT max(executor_ref) FROM executor o WHERE o.executor_id = e.executor_id) FROM executor e", err)))
        return rc;
    while ((rc = db_step(stmt, err)) == ERR_OK)
        self->same[db_i64(stmt, 0)] = (uint32_t)db_i64(stmt, 1);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The place of a task's executor; 0: it names none, or the task does not count. */
static size_t place_of(const struct durations *self, int64_t ref, int64_t duration_ms, int64_t status)
{
    return status == STATUS_SUCCESS && known(duration_ms) && ref > 0 && (size_t)ref < self->ref_count ? self->same[ref] : 0;
}

static enum err_code read_durations(struct durations *self, struct db *db, struct task_columns *columns, struct err *err)
{
    const int64_t *duration_ms, *ref, *status;
    enum err_code rc;
    if ((rc = read_refs(self, db, err)) || (rc = task_columns_get(columns, "duration_ms", &duration_ms, err)) || (rc = task_columns_get(columns, "executor_ref", &ref, err)) ||
        (rc = task_columns_get(columns, "status", &status, err)))
        return rc;
    size_t count = task_columns_count(columns);
    if (!(self->ms = mem_array(count + 1, sizeof *self->ms)))
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        self->begin[place_of(self, ref[i], duration_ms[i], status[i]) + 2]++;
    for (size_t r = 2; r < self->ref_count + 2; r++)
        self->begin[r] += self->begin[r - 1];
    for (size_t i = 0; i < count; i++)
        self->ms[self->begin[place_of(self, ref[i], duration_ms[i], status[i]) + 1]++] = duration_ms[i];
    return ERR_OK;
}

/* As Spark takes quantiles: element trunc(n / 2). */
static void write_durations(struct json_writer *json, const struct durations *self, int64_t ref)
{
    int64_t median_ms = UNKNOWN, most_ms = UNKNOWN;
    if (ref > 0 && (size_t)ref < self->ref_count) {
        int64_t *ms = self->ms + self->begin[ref];
        size_t count = self->begin[ref + 1] - self->begin[ref];
        for (size_t i = 0; i < count; i++)
            most_ms = max_known(most_ms, ms[i]);
        if (count) {
            select_nth(ms, count, count / 2);
            median_ms = ms[count / 2];
        }
    }
    json_kv_i64(json, "medianMs", median_ms);
    json_kv_i64(json, "maxMs", most_ms);
}

static void write_log(void *json, struct str name, struct str address)
{
    json_array_begin(json);
    json_str(json, name);
    json_str(json, address);
    json_array_end(json);
}

static enum err_code write_executor(struct json_writer *json, sqlite3_stmt *stmt, const struct durations *durations, struct executor_logs *logs, struct err *err)
{
    int64_t ref = db_i64(stmt, 4);
    json_object_begin(json);
    api_columns(json, stmt, EXECUTORS_FIRST_PLAIN, EXECUTORS_FIRST_PEAK);
    write_durations(json, durations, ref);
    json_kv_bool(json, "isExcluded", db_i64(stmt, 0) == 1);
    api_gc(json, db_i64(stmt, 2), db_i64(stmt, 3), &api_not_judged);
    api_peaks(json, stmt, db_i64(stmt, 1), EXECUTORS_FIRST_PEAK);
    json_key(json, "logs");
    json_array_begin(json);
    enum err_code rc = known(ref) ? executor_logs_each(logs, ref, write_log, json, err) : ERR_OK;
    json_array_end(json);
    json_object_end(json);
    return rc;
}

enum err_code stage_executors(struct json_writer *json, const struct server *server, struct db *db, int64_t stage_ref, struct task_columns *columns, struct err *err)
{
    struct durations durations = {0};
    struct executor_logs logs;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = executor_logs_init(&logs, server, db, err);
    if (!rc)
        rc = read_durations(&durations, db, columns, err);
    if (!rc && !(rc = db_prepare(db, &stmt, executors_sql, err)))
        db_bind_i64(stmt, 1, stage_ref);
    json_key(json, "executors");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        rc = write_executor(json, stmt, &durations, &logs, err);
    json_array_end(json);
    db_finalize(stmt);
    durations_dispose(&durations);
    executor_logs_dispose(&logs);
    return rc == ERR_EOF ? ERR_OK : rc;
}
