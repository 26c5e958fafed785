/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/task_order.h"

#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "server/api_v1/metrics.h"
#include "server/api_v1/task_times.h"
#include "server/api_v1/tasks.h"

/* PLAIN: the value, else `otherwise`. DELAY, FETCHING: derived (task_times.h), of tasks with metrics, -1 for others. CODED: as above; CODED_SUM: of two values, each coded by itself. STATUS, LOCALITY: by their words. TEXT: by a text in the store. */
enum order_kind { PLAIN, DELAY, FETCHING, CODED, CODED_SINCE_3, CODED_SUM, STATUS, LOCALITY, TEXT };

struct v1_task_order {
    const char *title;
    enum order_kind kind;
    const char *column;              /* of task_columns; NULL: derived */
    int64_t otherwise;
    const char *texts_sql;           /* the column's value and its text, by text; ?1 and ?2, where it has them: first and last task_seq */
};

static const struct v1_task_order orders[] = {
    {"ID", PLAIN, "task_id", 0, NULL},
    {"Index", PLAIN, "partition_id", -1, NULL},
    {"Attempt", PLAIN, "attempt", 1, NULL},
    {"Status", STATUS, "status", 0, NULL},
    {"Locality Level", LOCALITY, "locality", 0, NULL},
    {"Executor ID", TEXT, "executor_ref", 0, "SELECT executor_ref, executor_id FROM executor ORDER BY executor_id"},
    {"Host", TEXT, "host_ref", 0, "SELECT host_ref, name FROM host ORDER BY name"},
    {"Launch Time", PLAIN, "launch_ms", -1, NULL},
    {"Duration", CODED, "executor_run_time_ms", 0, NULL},
    {"Scheduler Delay", DELAY, NULL, 0, NULL},
    {"Task Deserialization Time", CODED, "executor_deserialize_time_ms", 0, NULL},
    {"GC Time", CODED, "jvm_gc_time_ms", 0, NULL},
    {"Result Serialization Time", CODED, "result_serialization_time_ms", 0, NULL},
    {"Getting Result Time", FETCHING, NULL, 0, NULL},
    {"Peak Execution Memory", CODED_SINCE_3, "peak_execution_memory_bytes", 0, NULL},
    {"Accumulators", TEXT, "task_seq", 0,
     "SELECT task_seq, coalesce(name, 'null') || ':' || coalesce(value_text, 'null') FROM task_accumulable WHERE task_seq BETWEEN ?1 AND ?2 AND ordinal = 0 ORDER BY 2"},
    {"Input Size / Records", CODED, "input_bytes", 0, NULL},
    {"Output Size / Records", CODED, "output_bytes", 0, NULL},
    {"Shuffle Read Fetch Wait Time", CODED, "shuffle_fetch_wait_time_ms", 0, NULL},
    {"Shuffle Read Size / Records", CODED_SUM, "shuffle_read_bytes", 0, NULL},
    {"Shuffle Remote Reads", CODED, "shuffle_remote_read_bytes", 0, NULL},
    {"Shuffle Write Time", CODED, "shuffle_write_time_ns", 0, NULL},
    {"Shuffle Write Size / Records", CODED, "shuffle_write_bytes", 0, NULL},
    {"Spill (Memory)", CODED, "memory_spilled_bytes", 0, NULL},
    {"Spill (Disk)", CODED, "disk_spilled_bytes", 0, NULL},
    {"Errors", TEXT, "error_text_id", 0,
     "SELECT text_id, body FROM text WHERE text_id IN (SELECT error_text_id FROM task WHERE task_seq BETWEEN ?1 AND ?2 AND error_text_id IS NOT NULL) ORDER BY body"},
};

const struct v1_task_order *v1_task_order_of(struct str title)
{
    if (title.len == 4 && strncasecmp(title.ptr, "Logs", 4) == 0)
        title = STR_LIT("Index");
    for (size_t i = 0; i < ARRAY_LENGTH(orders); i++)
        if (str_is(title, orders[i].title))
            return &orders[i];
    return NULL;
}

enum err_code v1_task_progress(struct task_columns *columns, unsigned char **ret, struct err *err)
{
    const int64_t *status, *end_reason, *has_metrics;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "status", &status, err)) || (rc = task_columns_get(columns, "end_reason", &end_reason, err)) ||
        (rc = task_columns_get(columns, "has_metrics", &has_metrics, err)))
        return rc;
    size_t count = task_columns_count(columns);
    unsigned char *progress = mem_alloc(count ? count : 1);
    if (!progress)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        bool ended = known(end_reason[i]) || has_metrics[i] == 1, finished = status[i] >= TASK_SUCCESS && status[i] <= TASK_KILLED;
        progress[i] = (unsigned char)((ended ? V1_TASK_ENDED : 0) | (finished ? V1_TASK_FINISHED : 0) | (status[i] == TASK_SUCCESS ? V1_TASK_SUCCESSFUL : 0));
    }
    task_columns_forget(columns, "status");
    task_columns_forget(columns, "end_reason");
    task_columns_forget(columns, "has_metrics");
    *ret = progress;
    return ERR_OK;
}

/* ---- Ranks of texts ---- */

struct ranked {
    int64_t id, rank;
};

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct ranked *)a)->id, y = ((const struct ranked *)b)->id;
    return x < y ? -1 : x > y;
}

/* Rank 0 is that of the empty text, which tasks without one have too. Ids and texts come by text; on return they stand by id. */
static enum err_code rank_texts(sqlite3_stmt *texts, struct ranked **ret, size_t *ret_count, struct err *err)
{
    size_t capacity = 0;
    int64_t rank = 0;
    enum err_code rc;
    struct buf last;
    buf_init(&last, SIZE_MAX / 2);   /* SQLite bounds a text */
    while ((rc = db_step(texts, err)) == ERR_OK) {
        struct str text = db_str(texts, 1);
        if (!str_eq(text, buf_str(&last))) {
            rank++;
            buf_clear(&last);
            buf_append(&last, text.ptr, text.len);
        }
        if (buf_failed(&last) || mem_grow((void **)ret, &capacity, *ret_count + 1, TASK_COLUMNS_MAX_TASKS, sizeof **ret)) {
            rc = err_nomem(err);
            break;
        }
        (*ret)[(*ret_count)++] = (struct ranked){db_i64(texts, 0), rank};
    }
    buf_dispose(&last);
    if (rc != ERR_EOF)
        return rc;
    if (*ret_count)
        qsort(*ret, *ret_count, sizeof **ret, by_id);
    return ERR_OK;
}

static enum err_code text_keys(const struct v1_task_order *self, struct db *db, struct task_columns *columns, const int64_t *values, int64_t *keys, struct err *err)
{
    size_t count = task_columns_count(columns), rank_count = 0;
    const int64_t *seqs;
    enum err_code rc = task_columns_get(columns, "task_seq", &seqs, err);
    if (rc || !count)
        return rc;
    sqlite3_stmt *texts = NULL;
    if ((rc = db_prepare(db, &texts, self->texts_sql, err)))
        return rc;
    if (sqlite3_bind_parameter_count(texts)) {
        db_bind_i64(texts, 1, seqs[0]);
        db_bind_i64(texts, 2, seqs[count - 1]);
    }
    CLEANUP(mem_freep) struct ranked *ranks = NULL;
    rc = rank_texts(texts, &ranks, &rank_count, err);
    db_finalize(texts);
    if (rc)
        return rc;
    const struct ranked *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (rank_count && (!last || last->id != values[i]))
            last = bsearch(&(struct ranked){.id = values[i]}, ranks, rank_count, sizeof *ranks, by_id);
        keys[i] = last ? last->rank : 0;
    }
    return ERR_OK;
}

/* ---- Keys ---- */

/* By how many of the words come before each; the word of a number without one has its place among them too. */
static void word_keys(struct str (*word_of)(int64_t), const int64_t *values, int64_t *keys, size_t count)
{
    int64_t ranks[V1_TASK_WORDS + 1];
    for (int64_t i = 0; i <= V1_TASK_WORDS; i++) {
        ranks[i] = 0;
        for (int64_t other = 0; other <= V1_TASK_WORDS; other++)
            ranks[i] += str_compare(word_of(other), word_of(i)) < 0;
    }
    for (size_t i = 0; i < count; i++)
        keys[i] = ranks[values[i] >= 0 && values[i] < V1_TASK_WORDS ? values[i] : V1_TASK_WORDS];
}

/* -value - 1; the largest two stay above UNKNOWN, also when the caller takes 1 away. */
static int64_t coded(int64_t value)
{
    return value < INT64_MAX - 2 ? -value - 1 : INT64_MIN + 2;
}

static enum err_code metric_keys(const struct v1_task_order *self, struct db *db, struct task_columns *columns, const int64_t *values, int64_t *keys, struct err *err)
{
    CLEANUP(mem_freep) unsigned char *progress = NULL;
    int64_t has_peak_memory = 1;
    enum err_code rc = v1_task_progress(columns, &progress, err);
    if (rc || (self->kind == CODED_SINCE_3 && (rc = db_query_i64(db, "SELECT " V1_HAS_PEAK_EXECUTION_MEMORY " FROM application", &has_peak_memory, err))))
        return rc;
    int64_t other = self->kind == CODED_SUM ? -1 : 0;        /* of a sum's second value */
    for (size_t i = 0, count = task_columns_count(columns); i < count; i++) {
        int64_t value = has_peak_memory == 1 ? known_or(values[i], self->otherwise) : 0;
        keys[i] = !(progress[i] & V1_TASK_ENDED) ? -1 : !(progress[i] & V1_TASK_SUCCESSFUL) ? coded(value) + other : value;
    }
    return ERR_OK;
}

static enum err_code derived_keys(const struct v1_task_order *self, struct db *db, struct task_columns *columns, int64_t **ret, struct err *err)
{
    CLEANUP(mem_freep) unsigned char *progress = NULL;
    CLEANUP(mem_freep) int64_t *keys = NULL;
    enum err_code rc = v1_task_progress(columns, &progress, err);
    if (rc || (rc = (self->kind == DELAY ? v1_scheduler_delays : v1_getting_result_times)(db, columns, &keys, err)))
        return rc;
    for (size_t i = 0, count = task_columns_count(columns); i < count; i++)
        if (!(progress[i] & V1_TASK_ENDED))
            keys[i] = -1;
    *ret = TAKE(keys);
    return ERR_OK;
}

enum err_code v1_task_order_keys(const struct v1_task_order *self, struct db *db, struct task_columns *columns, int64_t **ret, struct err *err)
{
    if (!self->column)
        return derived_keys(self, db, columns, ret, err);
    size_t count = task_columns_count(columns);
    const int64_t *values;
    enum err_code rc = task_columns_get(columns, self->column, &values, err);
    if (rc)
        return rc;
    CLEANUP(mem_freep) int64_t *keys = mem_alloc((count ? count : 1) * sizeof *keys);
    if (!keys)
        return err_nomem(err);
    switch (self->kind) {
    case PLAIN:
        for (size_t i = 0; i < count; i++)
            keys[i] = known_or(values[i], self->otherwise);
        break;
    case STATUS:
        word_keys(v1_task_status_word, values, keys, count);
        break;
    case LOCALITY:
        word_keys(v1_task_locality_word, values, keys, count);
        break;
    case TEXT:
        rc = text_keys(self, db, columns, values, keys, err);
        break;
    case DELAY:
    case FETCHING:
        break;                       /* above */
    case CODED:
    case CODED_SINCE_3:
    case CODED_SUM:
        rc = metric_keys(self, db, columns, values, keys, err);
        break;
    }
    task_columns_forget(columns, self->column);
    if (rc)
        return rc;
    *ret = TAKE(keys);
    return ERR_OK;
}
