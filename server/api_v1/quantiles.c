/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/quantiles.h"

#include <math.h>
#include <stdlib.h>

#include "base/int_column.h"
#include "base/mem.h"
#include "base/units.h"
#include "server/api_v1/metrics.h"
#include "server/api_v1/task_order.h"
#include "server/api_v1/task_times.h"
#include "server/api_v1/tasks.h"
#include "server/api_v1/v1.h"
#include "server/task_columns.h"

#define SELECT_AT_MOST 16            /* so many selections cost less than a sort */
#define MAX_EXECUTORS ((size_t)1 << 20)

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The values at ranks below count, cheapest where they ascend (NaN, which sorts last, means rank 0); rearranges values. */
struct picker {
    int64_t *values;
    size_t count, done;              /* the `done` smallest values stand first */
    bool sorted;
};

static struct picker picker_of(int64_t *values, size_t count, size_t picks)
{
    struct picker self = {values, count, 0, picks > SELECT_AT_MOST};
    if (self.sorted && count)
        qsort(values, count, sizeof *values, by_value);
    return self;
}

static int64_t pick(struct picker *self, size_t rank)
{
    if (!self->sorted && rank >= self->done) {
        select_nth(self->values + self->done, self->count - self->done, rank - self->done);
        self->done = rank + 1;
    } else if (!self->sorted) {
        select_nth(self->values, self->done, rank);
    }
    return self->values[rank];
}

static void write_quantiles(struct json_writer *w, const double *quantiles, size_t count)
{
    json_key(w, "quantiles");
    json_array_begin(w);
    for (size_t i = 0; i < count; i++)
        v1_double(w, quantiles[i]);
    json_array_end(w);
}

/* ---- Tasks ---- */

struct v1_task_distribution {
    struct db *db;
    struct task_columns *columns;
    int64_t stage_ref, now_ms;           /* now_ms: the end of tasks without one */
    bool has_peak_memory;            /* execution memory is among the metrics of this Spark version */
    const double *quantiles;
    size_t quantile_count, count;    /* count: tasks that succeeded */
    const int64_t *status;
    int64_t *scratch;                /* as many as tasks */
    sqlite3_stmt *stored;
};

/* A metric and where it is written: in the answer's own object, or in the object of `group`. Delay and fetching are of all tasks with metrics (task_times.h). */
enum source { OF_SUCCESSFUL, OF_SUCCESSFUL_SINCE_3, OF_DELAY, OF_FETCHING, OF_ALL };

struct metric {
    const char *key, *column;
    enum source source;
};

static const struct metric plain[] = {
    {"duration", "duration_ms", OF_ALL},
    {"executorDeserializeTime", "executor_deserialize_time_ms", OF_SUCCESSFUL},
    {"executorDeserializeCpuTime", "executor_deserialize_cpu_time_ns", OF_SUCCESSFUL},
    {"executorRunTime", "executor_run_time_ms", OF_SUCCESSFUL},
    {"executorCpuTime", "executor_cpu_time_ns", OF_SUCCESSFUL},
    {"resultSize", "result_size_bytes", OF_SUCCESSFUL},
    {"jvmGcTime", "jvm_gc_time_ms", OF_SUCCESSFUL},
    {"resultSerializationTime", "result_serialization_time_ms", OF_SUCCESSFUL},
    {"gettingResultTime", "getting_result_time_ms", OF_FETCHING},
    {"schedulerDelay", "scheduler_delay_ms", OF_DELAY},
    {"peakExecutionMemory", "peak_execution_memory_bytes", OF_SUCCESSFUL_SINCE_3},
    {"memoryBytesSpilled", "memory_spilled_bytes", OF_SUCCESSFUL},
    {"diskBytesSpilled", "disk_spilled_bytes", OF_SUCCESSFUL},
};
static const struct metric input[] = {{"bytesRead", "input_bytes", OF_SUCCESSFUL}, {"recordsRead", "input_records", OF_SUCCESSFUL}};
static const struct metric output[] = {{"bytesWritten", "output_bytes", OF_SUCCESSFUL}, {"recordsWritten", "output_records", OF_SUCCESSFUL}};
static const struct metric shuffle_read[] = {
    {"readBytes", "shuffle_read_bytes", OF_SUCCESSFUL},
    {"readRecords", "shuffle_records_read", OF_SUCCESSFUL},
    {"remoteBlocksFetched", "shuffle_remote_blocks_fetched", OF_SUCCESSFUL},
    {"localBlocksFetched", "shuffle_local_blocks_fetched", OF_SUCCESSFUL},
    {"fetchWaitTime", "shuffle_fetch_wait_time_ms", OF_SUCCESSFUL},
    {"remoteBytesRead", "shuffle_remote_read_bytes", OF_SUCCESSFUL},
    {"remoteBytesReadToDisk", "shuffle_remote_read_to_disk_bytes", OF_SUCCESSFUL},
    {"totalBlocksFetched", "shuffle_blocks_fetched", OF_SUCCESSFUL},
    {"remoteReqsDuration", "shuffle_remote_requests_duration_ms", OF_SUCCESSFUL},
};
static const struct metric push_read[] = {
    {"corruptMergedBlockChunks", "push_corrupt_merged_block_chunks", OF_SUCCESSFUL},
    {"mergedFetchFallbackCount", "push_merged_fetch_fallback_count", OF_SUCCESSFUL},
    {"remoteMergedBlocksFetched", "push_remote_merged_blocks_fetched", OF_SUCCESSFUL},
    {"localMergedBlocksFetched", "push_local_merged_blocks_fetched", OF_SUCCESSFUL},
    {"remoteMergedChunksFetched", "push_remote_merged_chunks_fetched", OF_SUCCESSFUL},
    {"localMergedChunksFetched", "push_local_merged_chunks_fetched", OF_SUCCESSFUL},
    {"remoteMergedBytesRead", "push_remote_merged_read_bytes", OF_SUCCESSFUL},
    {"localMergedBytesRead", "push_local_merged_read_bytes", OF_SUCCESSFUL},
    {"remoteMergedReqsDuration", "push_remote_merged_requests_duration_ms", OF_SUCCESSFUL},
};
static const struct metric shuffle_write[] = {
    {"writeBytes", "shuffle_write_bytes", OF_SUCCESSFUL},
    {"writeRecords", "shuffle_write_records", OF_SUCCESSFUL},
    {"writeTime", "shuffle_write_time_ns", OF_SUCCESSFUL},
};

/* Quantiles that table stage_quantile keeps, in the order of its columns. */
static const double stored_quantiles[] = {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0};
static const char stored_sql[] = "SELECT task_count, min, p05, p25, p50, p75, p95, p99, max FROM stage_quantile WHERE stage_ref = ?1 AND name = ?2";

static int stored_index(double q)
{
    for (int i = 0; i < (int)ARRAY_LENGTH(stored_quantiles); i++)
        if (q >= stored_quantiles[i] && q <= stored_quantiles[i])
            return i;
    return -1;
}

enum err_code v1_task_distribution_new(struct v1_task_distribution **ret, struct db *db, int64_t stage_ref, const double *quantiles, size_t count, bool *ret_any,
                                       struct err *err)
{
    *ret = NULL;
    *ret_any = false;
    struct v1_task_distribution *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    *self = (struct v1_task_distribution){.db = db, .stage_ref = stage_ref, .quantiles = quantiles, .quantile_count = count};
    enum err_code rc = task_columns_open(&self->columns, db, stage_ref, err);
    size_t tasks = rc ? 0 : task_columns_count(self->columns);
    if (tasks && (rc = task_columns_get(self->columns, "status", &self->status, err)) == ERR_OK) {
        for (size_t i = 0; i < tasks; i++)
            self->count += self->status[i] == 1;
        *ret_any = self->count > 0;
    }
    if (rc == ERR_OK && *ret_any) {
        bool kept = true;            /* are all of these quantiles in stage_quantile? */
        for (size_t i = 0; i < count; i++)
            kept = kept && stored_index(quantiles[i]) >= 0;
        if (!kept || (rc = db_prepare(db, &self->stored, stored_sql, err)) == ERR_OK)
            rc = v1_end_of_open_tasks(db, &self->now_ms, err);
        int64_t has = 0;
        if (rc == ERR_OK)
            rc = db_query_i64(db, "SELECT " V1_HAS_PEAK_EXECUTION_MEMORY " FROM application", &has, err);
        self->has_peak_memory = has == 1;
    }
    if (rc) {
        v1_task_distribution_free(self);
        return rc;
    }
    *ret = self;
    return ERR_OK;
}

void v1_task_distribution_free(struct v1_task_distribution *self)
{
    if (!self)
        return;
    db_finalize(self->stored);
    task_columns_free(self->columns);
    mem_free(self->scratch);
    mem_free(self);
}

/* Row `name` of stage_quantile: how many values went in, and the least. None: 0 and UNKNOWN. */
static enum err_code read_stored(struct v1_task_distribution *self, const char *name, int64_t *ret_count, int64_t *ret_least, struct err *err)
{
    *ret_count = 0;
    *ret_least = UNKNOWN;
    db_bind_i64(self->stored, 1, self->stage_ref);
    db_bind_str(self->stored, 2, str_of(name));
    enum err_code rc = db_step(self->stored, err);
    if (rc == ERR_OK) {
        *ret_count = db_i64(self->stored, 0);
        *ret_least = db_i64(self->stored, 1);
    }
    db_reset(self->stored);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Is there a task whose delay or getting-result time is another one here? One without a duration fetches until now: its duration, 0, is the least. One whose result came after its end has
 * no getting-result time in stage_quantile, and a negative one here, which its delay holds as well. */
static enum err_code has_odd_times(struct v1_task_distribution *self, bool *ret, struct err *err)
{
    int64_t durations, shortest, fetches, quickest;
    enum err_code rc = read_stored(self, "duration_ms", &durations, &shortest, err);
    if (!rc)
        rc = read_stored(self, "getting_result_time_ms", &fetches, &quickest, err);
    *ret = rc || shortest <= 0 || fetches != (int64_t)self->count;
    return rc;
}

/* From stage_quantile, where what went in there is what counts here: every task of the stage succeeded, or the metric only looks at those, and each has the value. */
static enum err_code write_stored(struct v1_task_distribution *self, struct json_writer *w, const struct metric *metric, bool *ret_done, struct err *err)
{
    *ret_done = false;
    if (!self->stored || (metric->source == OF_SUCCESSFUL_SINCE_3 && !self->has_peak_memory))
        return ERR_OK;
    if (metric->source >= OF_DELAY && self->count != task_columns_count(self->columns))
        return ERR_OK;
    bool odd = false;
    enum err_code rc = metric->source == OF_FETCHING || metric->source == OF_DELAY ? has_odd_times(self, &odd, err) : ERR_OK;
    if (rc || odd)
        return rc;
    db_bind_i64(self->stored, 1, self->stage_ref);
    db_bind_str(self->stored, 2, str_of(metric->column));
    rc = db_step(self->stored, err);
    if (rc)
        return rc == ERR_EOF ? ERR_OK : rc;
    if (db_i64(self->stored, 0) == (int64_t)self->count && db_i64(self->stored, 1) >= 0) {
        for (size_t i = 0; i < self->quantile_count; i++)
            v1_double(w, (double)db_i64(self->stored, 1 + stored_index(self->quantiles[i])));
        *ret_done = true;
    }
    db_reset(self->stored);
    return ERR_OK;
}

/* The same of a derived metric. */
static enum err_code gather_derived(struct v1_task_distribution *self, const struct metric *metric, size_t *ret_count, struct err *err)
{
    CLEANUP(mem_freep) unsigned char *progress = NULL;
    CLEANUP(mem_freep) int64_t *values = NULL;
    enum err_code rc = v1_task_progress(self->columns, &progress, err);
    if (rc || (rc = (metric->source == OF_DELAY ? v1_scheduler_delays : v1_getting_result_times)(self->db, self->columns, &values, err)) ||
        (rc = task_columns_get(self->columns, "status", &self->status, err)))   /* v1_task_progress forgot it */
        return rc;
    size_t n = 0;
    for (size_t i = 0, tasks = task_columns_count(self->columns); i < tasks; i++)
        if (progress[i] & V1_TASK_ENDED && values[i] >= 0)
            self->scratch[n++] = values[i];
    *ret_count = n;
    return ERR_OK;
}

/* The values that the History Server's index of this metric holds; it leaves out negative ones. */
static enum err_code gather(struct v1_task_distribution *self, const struct metric *metric, size_t *ret_count, struct err *err)
{
    size_t tasks = task_columns_count(self->columns), n = 0;
    const int64_t *values, *launch = NULL;
    if (!self->scratch && !(self->scratch = mem_alloc(tasks * sizeof *self->scratch)))
        return err_nomem(err);
    if (metric->source == OF_DELAY || metric->source == OF_FETCHING)
        return gather_derived(self, metric, ret_count, err);
    enum err_code rc = task_columns_get(self->columns, metric->column, &values, err);
    if (rc || (metric->source == OF_ALL && (rc = task_columns_get(self->columns, "launch_ms", &launch, err))))
        return rc;
    for (size_t i = 0; i < tasks; i++) {
        int64_t value = values[i];
        switch (metric->source) {
        case OF_SUCCESSFUL:
            value = self->status[i] == 1 ? known_or(value, 0) : -1;
            break;
        case OF_SUCCESSFUL_SINCE_3:
            value = self->status[i] == 1 ? (self->has_peak_memory ? known_or(value, 0) : 0) : -1;
            break;
        case OF_DELAY:
        case OF_FETCHING:
            break;                   /* above */
        case OF_ALL:
            if (!known(value))
                value = elapsed_known(launch[i], self->now_ms);
            break;
        }
        if (value >= 0)
            self->scratch[n++] = value;
    }
    task_columns_forget(self->columns, metric->column);      /* thirty columns of a million tasks would be too much at once */
    *ret_count = n;
    return ERR_OK;
}

static enum err_code write_metric(struct v1_task_distribution *self, struct json_writer *w, const struct metric *metric, struct err *err)
{
    json_key(w, metric->key);
    json_array_begin(w);
    bool done;
    enum err_code rc = write_stored(self, w, metric, &done, err);
    if (rc)
        return rc;
    if (!done) {
        size_t found = 0;
        if ((rc = gather(self, metric, &found, err)))
            return rc;
        /* The index comes from the number of successful tasks whatever the metric. Where there are fewer values it points beyond them: NaN, and at the same index again the
         * value before (AppStatusStore.taskSummary walks an iterator). */
        struct picker picker = picker_of(self->scratch, found, self->quantile_count);
        size_t before = SIZE_MAX;
        double last = (double)NAN;
        for (size_t i = 0; i < self->quantile_count; i++) {
            size_t rank = quantile_index(self->quantiles[i], self->count);
            if (rank != before && rank >= found) {
                v1_double(w, (double)NAN);
            } else {
                if (rank != before)
                    last = (double)pick(&picker, rank);
                v1_double(w, last);
            }
            before = rank;
        }
    }
    json_array_end(w);
    return ERR_OK;
}

static enum err_code write_metrics(struct v1_task_distribution *self, struct json_writer *w, const struct metric *metrics, size_t count, struct err *err)
{
    enum err_code rc = ERR_OK;
    for (size_t i = 0; i < count && rc == ERR_OK; i++)
        rc = write_metric(self, w, &metrics[i], err);
    return rc;
}

static enum err_code write_group(struct v1_task_distribution *self, struct json_writer *w, const char *key, const struct metric *metrics, size_t count, struct err *err)
{
    json_key(w, key);
    json_object_begin(w);
    enum err_code rc = write_metrics(self, w, metrics, count, err);
    if (rc == ERR_OK)
        json_object_end(w);
    return rc;
}

enum err_code v1_task_distribution_write(struct v1_task_distribution *self, struct json_writer *w, struct err *err)
{
    enum err_code rc;
    json_object_begin(w);
    write_quantiles(w, self->quantiles, self->quantile_count);
    if ((rc = write_metrics(self, w, plain, ARRAY_LENGTH(plain), err)) || (rc = write_group(self, w, "inputMetrics", input, ARRAY_LENGTH(input), err)) ||
        (rc = write_group(self, w, "outputMetrics", output, ARRAY_LENGTH(output), err)))
        return rc;
    json_key(w, "shuffleReadMetrics");
    json_object_begin(w);
    if ((rc = write_metrics(self, w, shuffle_read, ARRAY_LENGTH(shuffle_read), err)) ||
        (rc = write_group(self, w, "shufflePushReadMetricsDist", push_read, ARRAY_LENGTH(push_read), err)))
        return rc;
    json_object_end(w);
    if ((rc = write_group(self, w, "shuffleWriteMetrics", shuffle_write, ARRAY_LENGTH(shuffle_write), err)))
        return rc;
    json_object_end(w);
    return ERR_OK;
}

/* ---- Executors ---- */

static const char *const executor_keys[] = {
    "taskTime", "failedTasks", "succeededTasks", "killedTasks", "inputBytes", "inputRecords", "outputBytes", "outputRecords", "shuffleRead", "shuffleReadRecords",
    "shuffleWrite", "shuffleWriteRecords", "memoryBytesSpilled", "diskBytesSpilled",
};
#define EXECUTOR_KEYS ((int)ARRAY_LENGTH(executor_keys))

static const char executors_sql[] =
    "SELECT task_time_ms, failed_tasks, succeeded_tasks, killed_tasks, input_bytes, input_records, output_bytes, output_records, "
    "coalesce(shuffle_remote_read_bytes, 0) + coalesce(shuffle_local_read_bytes, 0), shuffle_records_read, shuffle_write_bytes, shuffle_write_records, "
    "memory_spilled_bytes, disk_spilled_bytes, peaks_set, " V1_PEAKS " FROM executor_stage WHERE stage_ref = ?1";

struct executor_values {
    int64_t *values;                 /* a row of EXECUTOR_KEYS + V1_PEAK_COUNT for each executor; owned */
    bool *has_peaks;                 /* owned */
    int64_t *scratch;                /* owned */
    size_t count, capacity, peaks_capacity;
};

#define ROW ((size_t)EXECUTOR_KEYS + V1_PEAK_COUNT)

static void executor_values_dispose(struct executor_values *self)
{
    mem_free(self->values);
    mem_free(self->has_peaks);
    mem_free(self->scratch);
}

static enum err_code read_executors(struct executor_values *self, struct db *db, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(db, &rows, executors_sql, err);
    if (rc)
        return rc;
    db_bind_i64(rows, 1, stage_ref);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        if (mem_grow((void **)&self->values, &self->capacity, (self->count + 1) * ROW, MAX_EXECUTORS * ROW, sizeof *self->values) ||
            mem_grow((void **)&self->has_peaks, &self->peaks_capacity, self->count + 1, MAX_EXECUTORS, sizeof *self->has_peaks)) {
            rc = err_nomem(err);
            break;
        }
        int64_t *row = self->values + self->count * ROW;
        for (int i = 0; i < EXECUTOR_KEYS; i++)
            row[i] = known_or(db_i64(rows, i), 0);
        self->has_peaks[self->count++] = db_i64(rows, EXECUTOR_KEYS) == 1;
        for (int i = 0; i < V1_PEAK_COUNT; i++)
            row[EXECUTOR_KEYS + i] = known_or(db_i64(rows, EXECUTOR_KEYS + 1 + i), 0);
    }
    db_finalize(rows);
    if (rc != ERR_EOF)
        return rc;
    self->scratch = mem_alloc((self->count ? self->count : 1) * sizeof *self->scratch);
    return self->scratch ? ERR_OK : err_nomem(err);
}

static void write_executor_metric(struct executor_values *self, struct json_writer *w, const char *key, size_t column, bool peak, const double *quantiles, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!peak || self->has_peaks[i])
            self->scratch[n++] = self->values[i * ROW + column];
    struct picker picker = picker_of(self->scratch, n, count);
    json_key(w, key);
    json_array_begin(w);
    for (size_t i = 0; i < count; i++)
        v1_double(w, n ? (double)pick(&picker, quantile_index(quantiles[i], n)) : 0.0);
    json_array_end(w);
}

enum err_code v1_executor_distribution(struct json_writer *w, struct db *db, int64_t stage_ref, const double *quantiles, size_t count, struct err *err)
{
    CLEANUP(executor_values_dispose) struct executor_values values = {0};
    enum err_code rc = read_executors(&values, db, stage_ref, err);
    if (rc || !values.count)
        return rc;
    json_key(w, "executorMetricsDistributions");
    json_object_begin(w);
    write_quantiles(w, quantiles, count);
    for (int i = 0; i < EXECUTOR_KEYS; i++)
        write_executor_metric(&values, w, executor_keys[i], (size_t)i, false, quantiles, count);
    json_key(w, "peakMemoryMetrics");
    json_object_begin(w);
    for (int i = 0; i < V1_PEAK_COUNT; i++)
        write_executor_metric(&values, w, v1_peak_names[i], (size_t)EXECUTOR_KEYS + (size_t)i, true, quantiles, count);
    json_object_end(w);
    json_object_end(w);
    return ERR_OK;
}
