/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/tasks.h"

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/api_v1/metrics.h"
#include "server/api_v1/quantiles.h"
#include "server/api_v1/resources.h"
#include "server/api_v1/task_order.h"
#include "server/api_v1/task_times.h"
#include "server/api_v1/v1.h"
#include "server/task_columns.h"
#include "server/task_page.h"

const char *const v1_task_statuses[V1_TASK_STATUS_COUNT] = {"RUNNING", "SUCCESS", "FAILED", "KILLED", "UNKNOWN"};

static const char *const status_words[V1_TASK_WORDS] = {"RUNNING", "SUCCESS", "FAILED", "KILLED", "GET RESULT"};
static const char *const locality_words[V1_TASK_WORDS] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"};

struct str v1_task_status_word(int64_t status)
{
    return str_of(status >= 0 && status < V1_TASK_WORDS ? status_words[status] : "UNKNOWN");
}

struct str v1_task_locality_word(int64_t locality)
{
    return str_of(locality >= 0 && locality < V1_TASK_WORDS ? locality_words[locality] : "");
}

bool v1_task_wanted(unsigned wanted, int64_t status)
{
    return status >= TASK_RUNNING && status <= TASK_KILLED && (wanted >> status & 1u);
}

/* ---- One task ---- */

static const char row_sql[] =
    "SELECT t.task_id, t.task_index, t.attempt, t.partition_id, t.launch_ms, t.finish_ms, t.getting_result_ms, e.executor_id, h.name, t.status, t.locality, t.speculative, "
    "x.body, t.end_reason IS NOT NULL OR t.has_metrics, " V1_TASK_METRICS
    " FROM task t LEFT JOIN executor e ON e.executor_ref = t.executor_ref LEFT JOIN host h ON h.host_ref = t.host_ref LEFT JOIN text x ON x.text_id = t.error_text_id "
    "WHERE t.task_seq = ?1";
#define FIRST_METRIC 14

enum err_code v1_end_of_open_tasks(struct db *db, int64_t *ret_ms, struct err *err)
{
    return db_query_i64(db, "SELECT iif((SELECT complete FROM log_health) = 1, log_modified_ms, started_ms) FROM load", ret_ms, err);
}

enum err_code v1_task_writer_init(struct v1_task_writer *self, const struct server *server, struct db *db, struct json_writer *w, struct err *err)
{
    *self = (struct v1_task_writer){.w = w};
    enum err_code rc;
    if ((rc = executor_logs_init(&self->logs, server, db, err)) || (rc = v1_end_of_open_tasks(db, &self->now_ms, err)) || (rc = db_prepare(db, &self->row, row_sql, err)) ||
        (rc = db_prepare(db, &self->accumulables,
                         "SELECT accumulable_id, name, update_text, value_text FROM task_accumulable WHERE task_seq = ?1 ORDER BY ordinal", err)))
        return rc;
    /* The logs of the executor's latest life, whichever the task ran in. */
    return db_prepare(db, &self->executor, "SELECT executor_ref FROM executor WHERE executor_id = ?1 AND superseded = 0", err);
}

void v1_task_writer_dispose(struct v1_task_writer *self)
{
    db_finalize(self->row);
    db_finalize(self->accumulables);
    db_finalize(self->executor);
    executor_logs_dispose(&self->logs);
}

static enum err_code write_logs(struct v1_task_writer *self, struct str executor_id, struct err *err)
{
    db_bind_str(self->executor, 1, executor_id);
    enum err_code rc = db_step(self->executor, err);
    if (rc && rc != ERR_EOF)
        return rc;
    int64_t executor_ref = rc == ERR_OK ? db_i64(self->executor, 0) : UNKNOWN;
    db_reset(self->executor);
    return v1_executor_logs(self->w, &self->logs, executor_ref, err);
}

enum err_code v1_write_task(struct v1_task_writer *self, int64_t task_seq, bool keyed, struct err *err)
{
    sqlite3_stmt *row = self->row;
    struct json_writer *w = self->w;
    db_bind_i64(row, 1, task_seq);
    enum err_code rc = db_step(row, err);
    if (rc)
        return rc == ERR_EOF ? err_set(err, ERR_CORRUPT, "a stage lacks a task that its columns name") : rc;
    int64_t id = db_i64(row, 0), launch_ms = db_i64(row, 4), fetch_ms = db_i64(row, 6), status = db_i64(row, 9), locality = db_i64(row, 10);
    int64_t end_ms = known(db_i64(row, 5)) ? db_i64(row, 5) : self->now_ms;
    int64_t duration_ms = elapsed_known(launch_ms, end_ms);
    bool has_metrics = db_i64(row, 13) == 1, has_duration = known(duration_ms) && duration_ms > 0;
    if (keyed) {
        char key[24];
        sqlite3_snprintf(sizeof key, key, "%lld", (long long)id);
        json_key(w, key);
    }
    json_object_begin(w);
    json_kv_i64(w, "taskId", id);
    v1_count(w, "index", db_i64(row, 1));
    json_kv_i64(w, "attempt", known_or(db_i64(row, 2), 1));              /* what the History Server's reader says where a log has none */
    json_kv_i64(w, "partitionId", known_or(db_i64(row, 3), -1));
    v1_date(w, "launchTime", launch_ms);
    if (known(fetch_ms) && fetch_ms > 0)
        v1_date(w, "resultFetchStart", fetch_ms);
    if (has_duration)
        json_kv_i64(w, "duration", duration_ms);
    v1_text(w, "executorId", db_str(row, 7));
    v1_text(w, "host", db_str(row, 8));
    json_kv_str(w, "status", v1_task_status_word(status));
    json_kv_str(w, "taskLocality", v1_task_locality_word(locality));
    json_kv_bool(w, "speculative", db_i64(row, 11) == 1);
    if ((rc = v1_accumulables(self->w, self->accumulables, task_seq, err)))
        return rc;
    v1_text_if(w, "errorMessage", db_str(row, 12));
    if (has_metrics)
        v1_task_metrics(w, row, FIRST_METRIC);
    if ((rc = write_logs(self, db_str(row, 7), err)))
        return rc;
    int64_t fetching_ms = v1_getting_result_time_ms(launch_ms, end_ms, fetch_ms, time_now_ms()), delay_ms = 0;
    if (has_metrics && has_duration && status >= TASK_SUCCESS && status <= TASK_KILLED)
        delay_ms = task_scheduler_delay_ms(end_ms, launch_ms, fetch_ms, db_i64(row, FIRST_METRIC + 2), db_i64(row, FIRST_METRIC), db_i64(row, FIRST_METRIC + 6));
    json_kv_i64(w, "schedulerDelay", delay_ms);
    json_kv_i64(w, "gettingResultTime", fetching_ms);
    json_object_end(w);
    db_reset(row);
    return ERR_OK;
}

enum err_code v1_write_tasks(struct v1_scope *scope, struct json_writer *w, const int64_t *seqs, const size_t *positions, size_t count, struct err *err)
{
    CLEANUP(v1_task_writer_dispose) struct v1_task_writer writer;
    enum err_code rc = v1_task_writer_init(&writer, scope->ctx->server, scope->db, w, err);
    if (rc)
        return rc;
    json_array_begin(w);
    for (size_t i = 0; i < count; i++)
        if ((rc = v1_write_task(&writer, seqs[positions[i]], false, err)))
            return rc;
    json_array_end(w);
    return ERR_OK;
}

enum err_code v1_stage_ref(struct v1_scope *scope, int64_t stage_id, int64_t attempt, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(scope->db, &stmt, "SELECT stage_ref FROM stage WHERE stage_id = ?1 AND attempt = ?2", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, stage_id);
    db_bind_i64(stmt, 2, attempt);
    *ret = UNKNOWN;
    if ((rc = db_step(stmt, err)) == ERR_OK)
        *ret = db_i64(stmt, 0);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* ---- taskList (spec/core.md §3.5) ---- */

enum sort { SORT_ID, SORT_INCREASING_RUNTIME, SORT_DECREASING_RUNTIME };

static const char *const sort_words[] = {"ID", "INCREASING_RUNTIME", "DECREASING_RUNTIME", "runtime", "-runtime"};
static const enum sort sort_of_word[] = {SORT_ID, SORT_INCREASING_RUNTIME, SORT_DECREASING_RUNTIME, SORT_INCREASING_RUNTIME, SORT_DECREASING_RUNTIME};

struct page {
    enum sort sort;
    unsigned wanted;                 /* task statuses */
    bool filtered;
    size_t offset, limit;
};

static enum err_code write_page(struct v1_scope *scope, struct task_columns *columns, const struct page *page, struct err *err)
{
    size_t count = task_columns_count(columns);
    const int64_t *ids, *seqs, *status;
    enum err_code rc;
    if ((rc = task_columns_get(columns, "task_id", &ids, err)) || (rc = task_columns_get(columns, "task_seq", &seqs, err)))
        return rc;
    CLEANUP(mem_freep) unsigned char *keep = NULL;
    CLEANUP(mem_freep) int64_t *coded = NULL;
    if (page->filtered) {
        if ((rc = task_columns_get(columns, "status", &status, err)))
            return rc;
        keep = mem_alloc(count ? count : 1);
        if (!keep)
            return err_nomem(err);
        for (size_t i = 0; i < count; i++)
            keep[i] = v1_task_wanted(page->wanted, status[i]);
    }
    if (page->sort != SORT_ID && (rc = v1_task_order_keys(v1_task_order_of(STR_LIT("Duration")), scope->db, columns, &coded, err)))
        return rc;
    size_t room = page->offset < count ? MIN(page->limit, count - page->offset) : 0, written, total;
    CLEANUP(mem_freep) size_t *positions = mem_alloc((room ? room : 1) * sizeof *positions);
    if (!positions)
        return err_nomem(err);
    if ((rc = task_page(coded ? coded : ids, ids, keep, count, page->sort == SORT_DECREASING_RUNTIME, page->offset, room, positions, &written, &total, err)))
        return rc;

    return v1_write_tasks(scope, response_json(scope->response, true), seqs, positions, written, err);
}

static bool convert_list(struct v1_scope *scope)
{
    return v1_convert_ids(scope) && v1_param_int(scope->request, "offset", 0, &scope->offset) && v1_param_int(scope->request, "length", 20, &scope->length) &&
           v1_param_word(scope->request, "sortBy", sort_words, ARRAY_LENGTH(sort_words), &scope->sort_word) &&
           v1_param_words(scope->request, "status", v1_task_statuses, V1_TASK_STATUS_COUNT, &scope->wanted, &scope->filtered);
}

static enum err_code task_list(struct v1_scope *scope, struct err *err)
{
    int64_t offset = scope->offset, length = scope->length;
    struct page page = {.wanted = scope->wanted, .filtered = scope->filtered};
    if (length <= 0 && !page.filtered) {
        response_plain(scope->response, 400, "Bad value for parameter \"length\".  Expected a number above 0, got \"%lld\"", (long long)length);
        return ERR_OK;
    }
    if (scope->sort_word >= 0)
        page.sort = sort_of_word[scope->sort_word];
    /* Without a filter the rows are skipped, then taken; with one, cut out from `offset` to `offset + length`. */
    int64_t end = page.filtered ? offset + length : MAX(offset, 0) + length;
    page.offset = (size_t)MAX(offset, 0);
    page.limit = end > (int64_t)page.offset ? (size_t)end - page.offset : 0;

    int64_t stage_ref;
    struct task_columns *columns = NULL;
    enum err_code rc = v1_stage_ref(scope, scope->ids[0], scope->ids[1], &stage_ref, err);
    if (rc == ERR_OK && (rc = task_columns_open(&columns, scope->db, stage_ref, err)) == ERR_OK)
        rc = write_page(scope, columns, &page, err);
    task_columns_free(columns);
    return rc;
}

static enum err_code task_summary(struct v1_scope *scope, struct err *err)
{
    int64_t stage_id = scope->ids[0], attempt = scope->ids[1], stage_ref;
    const double *quantiles;
    size_t count;
    bool answered;
    enum err_code rc = v1_param_quantiles(scope->request, scope->response, "0.05,0.25,0.5,0.75,0.95", true, &quantiles, &count, &answered, err);
    if (rc || answered || (rc = v1_stage_ref(scope, stage_id, attempt, &stage_ref, err)))
        return rc;
    bool any;
    struct v1_task_distribution *distribution;
    if ((rc = v1_task_distribution_new(&distribution, scope->db, stage_ref, quantiles, count, &any, err)))
        return rc;
    if (any)
        rc = v1_task_distribution_write(distribution, response_json(scope->response, true), err);
    else
        response_plain(scope->response, 404, "No tasks reported metrics for %lld / %lld yet.", (long long)stage_id, (long long)attempt);
    v1_task_distribution_free(distribution);
    return rc;
}

enum err_code v1_task_list(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 2, convert_list, task_list, err);
}

enum err_code v1_task_summary(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 2, v1_convert_ids, task_summary, err);
}
