/* SPDX-License-Identifier: Apache-2.0
 *
 * The tasks of one stage attempt. A million of them are filtered and sorted by column (task_columns.h), and only the rows of the page are read. Texts sort by rank: the position
 * of a text among all, so that every order is one over numbers. */
#include <stdatomic.h>

#include "base/map.h"
#include "base/mem.h"
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/task_columns.h"
#include "server/task_page.h"

#define MAX_TEXTS ((size_t)1 << 24)  /* executors, hosts or failure texts of one application */

static const char *const statuses[] = {"running", "success", "failed", "killed", "fetching", "unknown"};      /* by task.status */
enum { STATUS_RUNNING, STATUS_SUCCESS, STATUS_FAILED, STATUS_KILLED, STATUS_FETCHING, STATUS_UNKNOWN };
static const char *const localities[] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"};
static const char *const end_reasons[] = {"Success", "Resubmitted", "FetchFailed", "ExceptionFailure", "TaskResultLost", "TaskKilled", "TaskCommitDenied", "ExecutorLostFailure",
                                          "UnknownReason", "Other"};

/* Orders over texts: the column that refers to them and all texts in order. */
static const struct text_order {
    const char *name, *column, *sql;
} text_orders[] = {
    {"executor", "executor_ref",
     "SELECT executor_ref FROM executor ORDER BY executor_id <> 'driver', executor_id GLOB '*[^0-9]*', CAST(executor_id AS INTEGER), executor_id, executor_ref"},
    {"host", "host_ref", "SELECT host_ref FROM host ORDER BY name"},
    {"error", "error_text_id", "SELECT text_id FROM text ORDER BY body"},
};

/* Names whose column is called otherwise; every other key is the column's name in camel case. */
static const struct {
    const char *name, *column;
} renamed[] = {{"index", "task_index"}, {"executorId", "executor_ref"}};

/* getting_result and scheduler_delay as in spec/core.md 2.7. */
static const char row_sql[] =
    "SELECT t.status, t.locality, t.speculative, t.end_reason,"
    "       t.task_id, t.task_index AS \"index\", t.attempt, t.partition_id, e.executor_id, coalesce(h.name, e.host) AS host, t.launch_ms, t.finish_ms,"
    "       t.finish_ms - t.launch_ms AS duration_ms, x.body AS error,"
    "       max(0, t.finish_ms - t.launch_ms - ifnull(t.executor_run_time_ms, 0) - ifnull(t.executor_deserialize_time_ms, 0) - ifnull(t.result_serialization_time_ms, 0)"
    "              - CASE WHEN t.getting_result_ms BETWEEN 1 AND t.finish_ms THEN t.finish_ms - t.getting_result_ms ELSE 0 END) AS scheduler_delay_ms,"
    "       CASE WHEN t.finish_ms IS NULL OR t.getting_result_ms > t.finish_ms THEN NULL WHEN t.getting_result_ms > 0 THEN t.finish_ms - t.getting_result_ms ELSE 0 END AS getting_result_time_ms,"
    "       " API_SHUFFLE_READ("t") " AS shuffle_read_bytes,"
    "       t.executor_deserialize_time_ms, t.executor_deserialize_cpu_time_ns, t.executor_run_time_ms, t.executor_cpu_time_ns, t.peak_execution_memory_bytes,"
    "       t.peak_execution_memory_on_heap_bytes, t.peak_execution_memory_off_heap_bytes, t.result_size_bytes, t.jvm_gc_time_ms, t.result_serialization_time_ms,"
    "       t.memory_spilled_bytes, t.disk_spilled_bytes, t.input_bytes, t.input_records, t.output_bytes, t.output_records, t.shuffle_remote_blocks_fetched,"
    "       t.shuffle_local_blocks_fetched, t.shuffle_fetch_wait_time_ms, t.shuffle_remote_read_bytes, t.shuffle_remote_read_to_disk_bytes, t.shuffle_local_read_bytes,"
    "       t.shuffle_records_read, t.shuffle_remote_requests_duration_ms, t.push_corrupt_merged_block_chunks, t.push_merged_fetch_fallback_count,"
    "       t.push_remote_merged_blocks_fetched, t.push_local_merged_blocks_fetched, t.push_remote_merged_chunks_fetched, t.push_local_merged_chunks_fetched,"
    "       t.push_remote_merged_read_bytes, t.push_local_merged_read_bytes, t.push_remote_merged_requests_duration_ms, t.shuffle_write_bytes, t.shuffle_write_time_ns,"
    "       t.shuffle_write_records"
    "  FROM task t LEFT JOIN executor e ON e.executor_ref = t.executor_ref LEFT JOIN host h ON h.host_ref = t.host_ref LEFT JOIN text x ON x.text_id = t.error_text_id"
    " WHERE t.task_seq = ?";
#define ROW_FIRST_PLAIN 4

struct filters {
    int status, locality;            /* -1: any */
    struct str executor, host, q;
    int64_t least_duration_ms, partition, speculative, task_id;
    int64_t from_ms, to_ms;          /* tasks that ran between */
};

static enum err_code read_filters(struct filters *self, const struct request *request, struct err *err)
{
    self->executor = request_param(request, "executor");
    self->host = request_param(request, "host");
    self->q = request_param(request, "q");
    enum err_code rc;
    if ((rc = param_word(request, "status", statuses, ARRAY_LENGTH(statuses), &self->status, err)) ||
        (rc = param_word(request, "locality", localities, ARRAY_LENGTH(localities), &self->locality, err)))
        return rc;
    if ((rc = request_param_i64(request, "minDurationMs", UNKNOWN, 0, INT64_MAX, &self->least_duration_ms, err)) ||
        (rc = request_param_i64(request, "partition", UNKNOWN, 0, INT64_MAX, &self->partition, err)) ||
        (rc = request_param_i64(request, "task", UNKNOWN, 0, INT64_MAX, &self->task_id, err)) ||
        (rc = request_param_i64(request, "speculative", UNKNOWN, 0, 1, &self->speculative, err)) || (rc = request_param_i64(request, "from", UNKNOWN, 0, INT64_MAX, &self->from_ms, err)))
        return rc;
    return request_param_i64(request, "to", UNKNOWN, 0, INT64_MAX, &self->to_ms, err);
}

/* ---- order ---- */

static const struct text_order *find_text_order(struct str name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(text_orders); i++)
        if (str_is(name, text_orders[i].name))
            return &text_orders[i];
    return NULL;
}

bool task_column_name(struct str key, char *out, size_t room)
{
    for (size_t i = 0; i < ARRAY_LENGTH(renamed); i++)
        if (str_is(key, renamed[i].name))
            key = str_of(renamed[i].column);
    size_t n = 0;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];
        bool capital = c >= 'A' && c <= 'Z';
        if (n + 3 > room)
            return false;
        if (capital)
            out[n++] = '_';
        out[n++] = capital ? (char)(c - 'A' + 'a') : c;
    }
    out[n] = '\0';
    return n > 0;
}

/* ref -> rank + 1, for every row of sql. */
static enum err_code read_ranks(struct db *db, const char *sql, struct imap *out, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    for (uintptr_t rank = 1; !rc && (rc = db_step(stmt, err)) == ERR_OK; rank++)
        if (imap_put(out, db_i64(stmt, 0), (void *)rank))
            rc = err_nomem(err);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code rank_keys(struct db *db, struct task_columns *columns, const struct text_order *order, int64_t *keys, struct err *err)
{
    CLEANUP(imap_dispose) struct imap ranks;
    imap_init(&ranks, MAX_TEXTS);
    const int64_t *refs;
    enum err_code rc;
    if ((rc = task_columns_get(columns, order->column, &refs, err)) || (rc = read_ranks(db, order->sql, &ranks, err)))
        return rc;
    for (size_t i = 0; i < task_columns_count(columns); i++) {
        void *rank = known(refs[i]) ? imap_get(&ranks, refs[i]) : NULL;
        keys[i] = rank ? (int64_t)(uintptr_t)rank : UNKNOWN;
    }
    return ERR_OK;
}

/* ---- filters ---- */

static void keep_equal(unsigned char *keep, const int64_t *values, size_t count, int64_t value)
{
    for (size_t i = 0; i < count; i++)
        keep[i] &= values[i] == value;
}

static void keep_members(unsigned char *keep, const int64_t *values, size_t count, const struct imap *set)
{
    for (size_t i = 0; i < count; i++)
        keep[i] = keep[i] && known(values[i]) && imap_get(set, values[i]);
}

/* A status without an end is "running" in a log that goes on and "unknown" in one that has ended. */
static void keep_status(unsigned char *keep, const int64_t *values, size_t count, int status, bool ended)
{
    for (size_t i = 0; i < count; i++) {
        int64_t shown = ended && (values[i] == STATUS_RUNNING || values[i] == STATUS_FETCHING) ? STATUS_UNKNOWN : values[i];
        keep[i] = keep[i] && (shown == status || (status == STATUS_RUNNING && shown == STATUS_FETCHING));
    }
}

/* Tasks whose reference is among the rows of sql, which takes the text. */
static enum err_code keep_by_text(struct db *db, struct task_columns *columns, const char *column, const char *sql, struct str text, unsigned char *keep, struct err *err)
{
    CLEANUP(imap_dispose) struct imap set;
    imap_init(&set, MAX_TEXTS);
    const int64_t *refs;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc;
    if ((rc = task_columns_get(columns, column, &refs, err)) || (rc = db_prepare(db, &stmt, sql, err)))
        return rc;
    db_bind_str(stmt, 1, text);
    while ((rc = db_step(stmt, err)) == ERR_OK)
        if (imap_put(&set, db_i64(stmt, 0), (void *)(uintptr_t)1)) {
            rc = err_nomem(err);
            break;
        }
    db_finalize(stmt);
    if (rc != ERR_EOF)
        return rc;
    keep_members(keep, refs, task_columns_count(columns), &set);
    return ERR_OK;
}

/* Adds the first column of the rows to a set. */
static enum err_code add_members(struct query *query, struct db *db, struct imap *set, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(query, db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        if (imap_put(set, db_i64(stmt, 0), (void *)(uintptr_t)1))
            rc = err_nomem(err);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A part of the failure's text; a number is a task id or an index, too, and anything else a part of the host's name: hosts are full of numbers. */
static enum err_code keep_by_search(struct db *db, struct task_columns *columns, struct str q, struct arena *arena, unsigned char *keep, struct err *err)
{
    static const struct {
        const char *column, *sql;
    } texts[] = {{"error_text_id", "SELECT text_id FROM text WHERE body LIKE ? ESCAPE '\\'"}, {"host_ref", "SELECT host_ref FROM host WHERE name LIKE ? ESCAPE '\\'"}};
    size_t count = task_columns_count(columns);
    CLEANUP(mem_freep) unsigned char *found = mem_zalloc(count + 1);
    if (!found)
        return err_nomem(err);
    const int64_t *refs, *ids, *indexes;
    int64_t number;
    bool is_number = str_to_i64(q, &number);
    enum err_code rc = ERR_OK;
    for (size_t k = 0; k < ARRAY_LENGTH(texts) - is_number && !rc; k++) {
        CLEANUP(imap_dispose) struct imap set;
        CLEANUP(query_dispose) struct query query;
        imap_init(&set, MAX_TEXTS);
        query_init(&query, arena);
        query_contains(&query, texts[k].sql, q);
        if ((rc = task_columns_get(columns, texts[k].column, &refs, err)) || (rc = add_members(&query, db, &set, err)))
            return rc;
        for (size_t i = 0; i < count; i++)
            found[i] |= known(refs[i]) && imap_get(&set, refs[i]);
    }
    if (is_number && !(rc = task_columns_get(columns, "task_id", &ids, err)) && !(rc = task_columns_get(columns, "task_index", &indexes, err)))
        for (size_t i = 0; i < count; i++)
            found[i] |= ids[i] == number || indexes[i] == number;
    for (size_t i = 0; i < count; i++)
        keep[i] &= found[i];
    return rc;
}

/* Before 3.3 tasks had no partition: its number was the index. */
static enum err_code keep_by_partition(struct task_columns *columns, int64_t partition, unsigned char *keep, struct err *err)
{
    const int64_t *partitions, *indexes;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "partition_id", &partitions, err)) || (rc = task_columns_get(columns, "task_index", &indexes, err)))
        return rc;
    for (size_t i = 0; i < task_columns_count(columns); i++)
        keep[i] &= known_or(partitions[i], indexes[i]) == partition;
    return ERR_OK;
}

/* A task without an end goes on. */
static enum err_code keep_by_time(struct task_columns *columns, int64_t from_ms, int64_t to_ms, unsigned char *keep, struct err *err)
{
    const int64_t *launch_ms, *finish_ms;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "launch_ms", &launch_ms, err)) || (rc = task_columns_get(columns, "finish_ms", &finish_ms, err)))
        return rc;
    for (size_t i = 0; i < task_columns_count(columns); i++)
        keep[i] &= known(launch_ms[i]) & (!known(to_ms) | (launch_ms[i] <= to_ms)) & (!known(finish_ms[i]) | (finish_ms[i] >= from_ms));
    return ERR_OK;
}

static enum err_code apply_filters(const struct api_app *app, struct task_columns *columns, const struct filters *filters, struct arena *arena, unsigned char *keep,
                                   struct err *err)
{
    size_t count = task_columns_count(columns);
    const int64_t *values;
    enum err_code rc = ERR_OK;
    if (filters->status >= 0 && !(rc = task_columns_get(columns, "status", &values, err)))
        keep_status(keep, values, count, filters->status, app->ended);
    if (!rc && filters->locality >= 0 && !(rc = task_columns_get(columns, "locality", &values, err)))
        keep_equal(keep, values, count, filters->locality);
    if (!rc && known(filters->least_duration_ms) && !(rc = task_columns_get(columns, "duration_ms", &values, err)))
        for (size_t i = 0; i < count; i++)
            keep[i] &= values[i] >= filters->least_duration_ms;          /* UNKNOWN is below every number */
    if (!rc && known(filters->task_id) && !(rc = task_columns_get(columns, "task_id", &values, err)))
        keep_equal(keep, values, count, filters->task_id);
    if (!rc && known(filters->speculative) && !(rc = task_columns_get(columns, "speculative", &values, err)))
        keep_equal(keep, values, count, filters->speculative);
    if (!rc && known(filters->partition))
        rc = keep_by_partition(columns, filters->partition, keep, err);
    if (!rc && (known(filters->from_ms) || known(filters->to_ms)))
        rc = keep_by_time(columns, filters->from_ms, filters->to_ms, keep, err);
    if (!rc && filters->executor.len)
        rc = keep_by_text(app->db, columns, "executor_ref", "SELECT executor_ref FROM executor WHERE executor_id = ?", filters->executor, keep, err);
    if (!rc && filters->host.len)
        rc = keep_by_text(app->db, columns, "host_ref", "SELECT host_ref FROM host WHERE name = ?", filters->host, keep, err);
    if (!rc && filters->q.len)
        rc = keep_by_search(app->db, columns, filters->q, arena, keep, err);
    return rc;
}

static bool any_filter(const struct filters *filters)
{
    return filters->status >= 0 || filters->locality >= 0 || known(filters->least_duration_ms) || known(filters->partition) || known(filters->speculative) || known(filters->task_id) ||
           known(filters->from_ms) || known(filters->to_ms) || filters->executor.len || filters->host.len || filters->q.len;
}

/* ---- answer ---- */

static void write_row(struct json_writer *json, sqlite3_stmt *stmt, bool ended)
{
    int64_t status = db_i64(stmt, 0);
    api_columns(json, stmt, ROW_FIRST_PLAIN, sqlite3_column_count(stmt));
    json_kv_text(json, "status", API_WORD(statuses, ended && (status == STATUS_RUNNING || status == STATUS_FETCHING) ? STATUS_UNKNOWN : status));
    json_kv_text(json, "locality", API_WORD(localities, db_i64(stmt, 1)));
    json_key(json, "speculative");
    if (db_is_null(stmt, 2))
        json_null(json);
    else
        json_bool(json, db_i64(stmt, 2) == 1);
    json_kv_text(json, "endReason", API_WORD(end_reasons, db_i64(stmt, 3)));
}

static enum err_code write_rows(struct json_writer *json, const struct api_app *app, const int64_t *seqs, size_t count, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt, row_sql, err);
    for (size_t i = 0; i < count && !rc; i++) {
        db_bind_i64(stmt, 1, seqs[i]);
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            json_object_begin(json);
            write_row(json, stmt, app->ended);
            rc = api_pairs(json, app->db, "accumulables", "SELECT name, update_text FROM task_accumulable WHERE task_seq = ?1 ORDER BY ordinal", seqs[i], err);
            json_object_end(json);
            db_reset(stmt);
        } else if (rc == ERR_EOF) {
            rc = err_set(err, ERR_CORRUPT, "a task of the columns has no row");
        }
    }
    db_finalize(stmt);
    return rc;
}

struct task_list {
    struct api_ctx *ctx;
    struct list list;
    struct filters filters;
    struct str sort;                 /* without the minus */
};

/* ---- a long table, made while it is sent ---- */

#define SENT_WHOLE_MOST ((size_t)2000)  /* rows: up to that many are made at once, and remembered as other answers are */
#define ROWS_A_STEP ((size_t)64)
#define TABLES_AT_ONCE 16               /* each keeps 8 bytes a row and a connection to its database for as long as its client reads; further ones are made whole, in a file */

static atomic_int tables_being_sent;

struct table {
    struct api_ctx ctx;
    struct api_app app;
    struct list list;
    struct json_writer *json;        /* the response's */
    int64_t *seqs;                   /* owned */
    size_t count, next;
};

static void table_free(void *context)
{
    struct table *self = context;
    api_app_close(&self->ctx, &self->app);
    mem_free(self->seqs);
    mem_free(self);
    atomic_fetch_sub(&tables_being_sent, 1);
}

static void end_list(const struct list *list, struct json_writer *json, size_t all_tasks)
{
    list_end(list, json);
    json_kv_i64(json, "allTasks", (int64_t)all_tasks);
    json_object_end(json);
}

static enum err_code table_step(void *context, bool *ret_more, struct err *err)
{
    struct table *self = context;
    size_t count = MIN(ROWS_A_STEP, self->count - self->next);
    enum err_code rc = write_rows(self->json, &self->app, self->seqs + self->next, count, err);
    self->next += count;
    *ret_more = self->next < self->count;
    if (!rc && !*ret_more)
        end_list(&self->list, self->json, self->count);
    return rc;
}

/* Takes over the run, and the tasks on success. False: there are too many such tables already, or no memory. */
static bool send_table(struct api_app *app, const struct task_list *list, int64_t **seqs, size_t count, struct response *response)
{
    struct table *self = atomic_fetch_add(&tables_being_sent, 1) < TABLES_AT_ONCE ? mem_alloc(sizeof *self) : NULL;
    if (!self) {
        atomic_fetch_sub(&tables_being_sent, 1);
        return false;
    }
    *self = (struct table){.ctx = *list->ctx, .app = *app, .list = list->list, .json = list_begin(&list->list, response), .seqs = TAKE(*seqs), .count = count};
    app->ref.lease = (struct db_lease){0};
    response_steps(response, table_step, table_free, self);
    return true;
}

static enum err_code write_page(struct api_app *app, struct task_columns *columns, struct task_list *self, const int64_t *key, const int64_t *tie, const int64_t *task_seq,
                                const unsigned char *keep, struct response *response, struct err *err)
{
    size_t count = task_columns_count(columns), kept = 0, found = 0;
    for (size_t i = 0; keep && i < count; i++)
        kept += keep[i];
    list_total(&self->list, (int64_t)(keep ? kept : count));
    CLEANUP(mem_freep) size_t *positions = mem_array((size_t)self->list.limit, sizeof *positions);
    CLEANUP(mem_freep) int64_t *seqs = mem_array((size_t)self->list.limit, sizeof *seqs);
    if (!positions || !seqs)
        return err_nomem(err);
    enum err_code rc = task_page(key, tie, keep, count, self->list.descending, (size_t)self->list.offset, (size_t)self->list.limit, positions, &found, &kept, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < found; i++)
        seqs[i] = task_seq[positions[i]];
    if (self->list.is_csv && found > SENT_WHOLE_MOST && send_table(app, self, &seqs, found, response))
        return ERR_OK;
    struct json_writer *json = list_begin(&self->list, response);
    rc = write_rows(json, app, seqs, found, err);
    end_list(&self->list, json, count);
    return rc;
}

static enum err_code write_list(struct api_app *app, struct task_columns *columns, struct task_list *self, const struct request *request, struct response *response,
                                struct err *err)
{
    size_t count = task_columns_count(columns);
    CLEANUP(mem_freep) int64_t *ranks = NULL;
    CLEANUP(mem_freep) unsigned char *keep = NULL;
    const int64_t *key = NULL, *tie, *task_seq;
    const struct text_order *order = find_text_order(self->sort);
    char name[TASK_COLUMN_NAME_BYTES];
    enum err_code rc;
    if (order) {
        if (!(key = ranks = mem_array(count + 1, sizeof *ranks)))
            return err_nomem(err);
        rc = rank_keys(app->db, columns, order, ranks, err);
    } else {
        rc = task_column_name(self->sort, name, sizeof name) ? task_columns_get(columns, name, &key, err) : ERR_NOT_FOUND;
    }
    if (rc == ERR_NOT_FOUND) {
        response_error(response, 400, "bad_parameter", "cannot sort by that key");
        return ERR_OK;
    }
    if (rc || (rc = task_columns_get(columns, "task_id", &tie, err)) || (rc = task_columns_get(columns, "task_seq", &task_seq, err)))
        return rc;
    if (any_filter(&self->filters)) {
        if (!(keep = mem_alloc(count + 1)))
            return err_nomem(err);
        memset(keep, 1, count);
        if ((rc = apply_filters(app, columns, &self->filters, request->arena, keep, err)))
            return rc;
    }
    return write_page(app, columns, self, key, tie, task_seq, keep, response, err);
}

enum err_code api_tasks(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct task_list list = {.ctx = ctx};
    list.sort = request_param(request, "sort");
    if (!list.sort.len)
        list.sort = STR_LIT("-durationMs");
    list.list.descending = list.sort.ptr[0] == '-';
    if (list.list.descending)
        list.sort = (struct str){list.sort.ptr + 1, list.sort.len - 1};
    struct api_app app;
    struct task_columns *columns = NULL;
    int64_t stage_ref;
    enum err_code rc;
    bool unsound = list_read_page(&list.list, request, err) || read_filters(&list.filters, request, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = stage_find(app.db, request, &stage_ref, err);
    if (!rc && !known(stage_ref))
        response_error(response, 404, "not_found", "there is no such stage attempt");
    else if (!rc && !(rc = task_columns_open(&columns, app.db, stage_ref, err)))
        rc = write_list(&app, columns, &list, request, response, err);
    task_columns_free(columns);
    api_app_close(ctx, &app);
    return rc;
}
