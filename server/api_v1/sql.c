/* SPDX-License-Identifier: Apache-2.0
 *
 * sql, sql/{id}, sql/sqlTable (spec/sql.md §5, spec/shs-4.3.md). Executions are written row by row; one of which the log holds no plan has no nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "server/api_v1/metric_text.h"
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"
#include "server/plan_text.h"

#define MAX_JOBS ((size_t)1 << 24)   /* of one execution: 16 bytes each */
#define CODEGEN "WholeStageCodegen"
#define HASHED_JOBS 5                /* from this many on, Scala keeps the jobs of an execution in a hash map */

/* sql_execution.status and job.status in this order. */
static const char *const statuses[] = {"RUNNING", "COMPLETED", "FAILED"};
static const char *const job_keys[] = {"runningJobIds", "successJobIds", "failedJobIds"};

/* The root of an execution of which no start was read is 0 there. */
#define ROOT_OF(e) "coalesce(" e ".root_execution_id, 0)"

/* An execution that failed before its plan was ready has an end and nothing else: the History Server does not know it. */
#define KNOWN(e) \
    "(" e ".start_seen = 1 OR " e ".plan_id IS NOT NULL OR EXISTS (SELECT 1 FROM job j WHERE j.sql_execution_id = " e ".execution_id AND j.start_seen = 1)) "

#define EXECUTION_COLUMNS \
    "SELECT e.execution_id, e.status, e.description, e.submission_ms, e.completion_ms, e.query_id, e.outcome, x.body, " ROOT_OF("e") ", p.plan_text_id, p.graph_plan_id " \
    "FROM sql_execution e LEFT JOIN text x ON x.text_id = e.error_text_id LEFT JOIN sql_plan p ON p.plan_id = e.plan_id "
enum execution_column { C_ID, C_STATUS, C_DESCRIPTION, C_SUBMISSION, C_COMPLETION, C_QUERY_ID, C_OUTCOME, C_ERROR, C_ROOT, C_PLAN_TEXT, C_GRAPH };

static const char *status_of(int64_t status)
{
    return statuses[status >= 0 && status < (int64_t)ARRAY_LENGTH(statuses) ? status : 0];
}

/* An answer that tells how long something has run until now is another one each time: it has no tag, and so nobody keeps it. */
static void depends_on_clock(struct response *response)
{
    response_etag(response, STR_LIT(""));
}

/* What runs has run until now. */
static int64_t duration_of(sqlite3_stmt *row, int64_t now_ms, struct response *response)
{
    int64_t duration;
    if (db_is_null(row, C_COMPLETION))
        depends_on_clock(response);
    return __builtin_sub_overflow(known_or(db_i64(row, C_COMPLETION), now_ms), known_or(db_i64(row, C_SUBMISSION), -1), &duration) ? 0 : duration;
}

/* Present when the end was read and says so (3.4): empty for success. */
static void write_error(struct json_writer *w, sqlite3_stmt *row)
{
    int64_t outcome = db_i64(row, C_OUTCOME);
    if (known(outcome))
        v1_text(w, "errorMessage", outcome ? db_str(row, C_ERROR) : STR_LIT(""));
}

/* ---- Jobs, in the order of Scala 2.13's map from job to status (spec/sql.md §3.6) ---- */

struct sql_job {
    int64_t id, status;
    uint64_t digits;                 /* of the hash, the first one highest: 5 bits each */
    int depth;                       /* how many digits tell it from all others */
};

#define HASH_DIGITS 7

static uint64_t hash_digits(int64_t id)
{
    uint32_t h = (uint32_t)id;
    h += ~(h << 9);
    h ^= h >> 14;
    h += h << 4;
    h ^= h >> 10;
    uint64_t digits = 0;
    for (int i = 0; i < HASH_DIGITS; i++, h >>= 5)
        digits = digits << 5 | (h & 31u);
    return digits;
}

static int shared_digits(const struct sql_job *a, const struct sql_job *b)
{
    int shared = 0;
    while (shared < HASH_DIGITS && a->digits >> (5 * (HASH_DIGITS - 1 - shared)) == b->digits >> (5 * (HASH_DIGITS - 1 - shared)))
        shared++;
    return shared;
}

static int by_digits(const void *a, const void *b)
{
    uint64_t x = ((const struct sql_job *)a)->digits, y = ((const struct sql_job *)b)->digits;
    return x < y ? -1 : x > y;
}

/* In each node of the tree the keys that are alone with their digit come first, then the nodes below it. */
static int by_place(const void *a, const void *b)
{
    const struct sql_job *x = a, *y = b;
    int parting = shared_digits(x, y) + 1;
    bool x_below = x->depth > parting, y_below = y->depth > parting;
    return x_below != y_below ? x_below - y_below : by_digits(a, b);
}

static void order_jobs(struct sql_job *jobs, size_t count)
{
    if (count < HASHED_JOBS)
        return;                      /* as they began */
    for (size_t i = 0; i < count; i++)
        jobs[i].digits = hash_digits(jobs[i].id);
    qsort(jobs, count, sizeof *jobs, by_digits);
    for (size_t i = 0; i < count; i++) {
        int before = i ? shared_digits(&jobs[i - 1], &jobs[i]) : 0, after = i + 1 < count ? shared_digits(&jobs[i], &jobs[i + 1]) : 0;
        jobs[i].depth = MAX(before, after) + 1;
    }
    qsort(jobs, count, sizeof *jobs, by_place);
}

/* ---- One execution, whole ---- */

struct execution_writer {
    struct json_writer *w;
    struct db *db;                   /* borrowed */
    struct response *response;       /* borrowed */
    bool details, plan;              /* parameters */
    int64_t now_ms;
    sqlite3_stmt *jobs, *nodes, *metric, *edges, *configs;
    struct plan_text text;
    struct sql_job *job;             /* owned */
    size_t job_count, job_capacity;
};

static enum err_code writer_init(struct execution_writer *self, struct v1_scope *scope, struct json_writer *w, struct err *err)
{
    *self = (struct execution_writer){.w = w, .db = scope->db, .response = scope->response, .now_ms = time_now_ms()};
    self->details = request_param_true(scope->request, "details", true);
    self->plan = request_param_true(scope->request, "planDescription", true);
    enum err_code rc;
    if ((rc = db_prepare(scope->db, &self->jobs, "SELECT job_id, status FROM job WHERE sql_execution_id = ?1 AND start_seen = 1 ORDER BY job_id", err)) ||
        (rc = db_prepare(scope->db, &self->nodes,
                         "SELECT n.node_id, n.name, d.body, n.accumulator_ids, c.name FROM sql_node n LEFT JOIN text d ON d.text_id = n.description_text_id "
                         "LEFT JOIN sql_node c ON c.plan_id = n.plan_id AND c.node_id = n.cluster_id WHERE n.plan_id = ?1 ORDER BY n.node_id DESC",
                         err)) ||
        (rc = db_prepare(scope->db, &self->metric,
                         "SELECT name, metric_type, value_count, total, min, median, max, max_stage_id, max_stage_attempt, max_task_id FROM sql_metric "
                         "WHERE execution_id = ?1 AND accumulator_id = ?2 AND raw_count IS NOT NULL",
                         err)) ||
        (rc = db_prepare(scope->db, &self->edges, "SELECT from_id, to_id FROM sql_edge WHERE plan_id = ?1 ORDER BY ordinal", err)))
        return rc;
    return db_prepare(scope->db, &self->configs, "SELECT name, value FROM sql_config WHERE execution_id = ?1", err);
}

static void writer_dispose(struct execution_writer *self)
{
    db_finalize(self->jobs);
    db_finalize(self->nodes);
    db_finalize(self->metric);
    db_finalize(self->edges);
    db_finalize(self->configs);
    plan_text_dispose(&self->text);
    mem_free(self->job);
}

static enum err_code read_jobs(struct execution_writer *self, int64_t execution_id, struct err *err)
{
    enum err_code rc;
    self->job_count = 0;
    db_bind_i64(self->jobs, 1, execution_id);
    while ((rc = db_step(self->jobs, err)) == ERR_OK) {
        if (mem_grow((void **)&self->job, &self->job_capacity, self->job_count + 1, MAX_JOBS, sizeof *self->job))
            return err_nomem(err);
        self->job[self->job_count++] = (struct sql_job){.id = db_i64(self->jobs, 0), .status = db_i64(self->jobs, 1)};
    }
    if (rc != ERR_EOF)
        return rc;
    order_jobs(self->job, self->job_count);
    return ERR_OK;
}

static void write_jobs(struct execution_writer *self)
{
    for (size_t status = 0; status < ARRAY_LENGTH(job_keys); status++) {
        json_key(self->w, job_keys[status]);
        json_array_begin(self->w);
        for (size_t i = 0; i < self->job_count; i++)
            if (self->job[i].status == (int64_t)status)
                json_i64(self->w, self->job[i].id);
        json_array_end(self->w);
    }
}

/* Java's trim. */
static struct str trim(struct str text)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ')
        text = (struct str){text.ptr + 1, text.len - 1};
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    return text;
}

/* The number of "WholeStageCodegen (12)"; a name without one has none (2.x). */
static bool codegen_id(struct str cluster, int64_t *ret)
{
    static const size_t head = sizeof CODEGEN " (" - 1;
    cluster = trim(cluster);
    return str_starts(cluster, CODEGEN) && cluster.len > head && str_to_i64((struct str){cluster.ptr + head, cluster.len - head - 1}, ret);
}

static enum err_code write_metric(struct execution_writer *self, int64_t execution_id, int64_t accumulator_id, struct err *err)
{
    sqlite3_stmt *row = self->metric;
    db_bind_i64(row, 1, execution_id);
    db_bind_i64(row, 2, accumulator_id);
    enum err_code rc = db_step(row, err);
    if (rc == ERR_OK) {
        char text[METRIC_TEXT_BYTES];
        struct metric_values values = {.type = db_str(row, 1), .value_count = db_i64(row, 2), .total = db_i64(row, 3), .min = db_i64(row, 4), .median = db_i64(row, 5),
                                       .max = db_i64(row, 6), .max_stage_id = db_i64(row, 7), .max_stage_attempt = db_i64(row, 8), .max_task_id = db_i64(row, 9)};
        json_object_begin(self->w);
        v1_text(self->w, "name", trim(db_str(row, 0)));
        json_kv_text(self->w, "value", metric_text(&values, text));
        json_object_end(self->w);
    }
    db_reset(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_node(struct execution_writer *self, int64_t execution_id, struct err *err)
{
    struct json_writer *w = self->w;
    sqlite3_stmt *row = self->nodes;
    int64_t codegen, accumulator_id;
    json_object_begin(w);
    json_kv_i64(w, "nodeId", db_i64(row, 0));
    v1_text(w, "nodeName", trim(db_str(row, 1)));
    if (codegen_id(db_str(row, 4), &codegen))
        json_kv_i64(w, "wholeStageCodegenId", codegen);
    json_key(w, "metrics");
    json_array_begin(w);
    struct str ids = db_str(row, 3);
    enum err_code rc = ERR_OK;
    while (ids.len && !rc) {
        if (str_to_i64(str_word(&ids, ' '), &accumulator_id))
            rc = write_metric(self, execution_id, accumulator_id, err);
    }
    json_array_end(w);
    v1_text_if(w, "desc", db_str(row, 2));
    json_object_end(w);
    return rc;
}

static enum err_code write_graph(struct execution_writer *self, int64_t execution_id, int64_t graph, struct err *err)
{
    struct json_writer *w = self->w;
    enum err_code rc = ERR_EOF;
    json_key(w, "nodes");
    json_array_begin(w);
    if (self->details) {
        db_bind_i64(self->nodes, 1, graph);
        while ((rc = db_step(self->nodes, err)) == ERR_OK)
            if ((rc = write_node(self, execution_id, err)))
                return rc;
        if (rc != ERR_EOF)
            return rc;
    }
    json_array_end(w);
    json_key(w, "edges");
    json_array_begin(w);
    if (self->details) {
        db_bind_i64(self->edges, 1, graph);
        while ((rc = db_step(self->edges, err)) == ERR_OK) {
            json_object_begin(w);
            json_kv_i64(w, "fromId", db_i64(self->edges, 0));
            json_kv_i64(w, "toId", db_i64(self->edges, 1));
            json_object_end(w);
        }
    }
    json_array_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_configs(struct execution_writer *self, int64_t execution_id, struct err *err)
{
    enum err_code rc;
    json_key(self->w, "modifiedConfigs");
    json_object_begin(self->w);
    db_bind_i64(self->configs, 1, execution_id);
    while ((rc = db_step(self->configs, err)) == ERR_OK) {
        json_key_str(self->w, db_str(self->configs, 0));
        json_str(self->w, str_known(db_str(self->configs, 1)) ? db_str(self->configs, 1) : STR_LIT(""));
    }
    json_object_end(self->w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_plan_text(struct execution_writer *self, int64_t plan_text_id, struct err *err)
{
    struct str text = STR_LIT("");
    enum err_code rc = self->plan ? plan_text_read(&self->text, self->db, plan_text_id, &text, err) : ERR_OK;
    if (rc == ERR_OK)
        v1_text_if(self->w, "planDescription", text);
    return rc;
}

static enum err_code write_execution(struct execution_writer *self, sqlite3_stmt *row, struct err *err)
{
    struct json_writer *w = self->w;
    int64_t id = db_i64(row, C_ID);
    enum err_code rc = read_jobs(self, id, err);
    if (rc)
        return rc;
    json_object_begin(w);
    json_kv_i64(w, "id", id);
    json_kv_text(w, "status", status_of(db_i64(row, C_STATUS)));
    v1_text_if(w, "description", db_str(row, C_DESCRIPTION));
    if ((rc = write_plan_text(self, db_i64(row, C_PLAN_TEXT), err)))
        return rc;
    v1_date(w, "submissionTime", db_i64(row, C_SUBMISSION));
    json_kv_i64(w, "duration", duration_of(row, self->now_ms, self->response));
    write_jobs(self);
    if ((rc = write_graph(self, id, db_i64(row, C_GRAPH), err)))
        return rc;
    v1_text_if(w, "queryId", db_str(row, C_QUERY_ID));
    write_error(w, row);
    json_kv_i64(w, "rootExecutionId", db_i64(row, C_ROOT));
    rc = write_configs(self, id, err);
    json_object_end(w);
    return rc;
}

static bool convert_page(struct v1_scope *scope)
{
    return v1_param_int(scope->request, "offset", 0, &scope->offset) && v1_param_int(scope->request, "length", -1, &scope->length);
}

static enum err_code sql_list(struct v1_scope *scope, struct err *err)
{
    int64_t offset = scope->offset, length = scope->length;
    struct json_writer *w = response_json(scope->response, true);
    CLEANUP(writer_dispose) struct execution_writer writer;
    enum err_code rc = writer_init(&writer, scope, w, err);
    if (rc)
        return rc;
    sqlite3_stmt *rows = NULL;
    if ((rc = db_prepare(scope->db, &rows, EXECUTION_COLUMNS "WHERE " KNOWN("e") "ORDER BY e.execution_id LIMIT ?1 OFFSET ?2", err)))
        return rc;
    db_bind_i64(rows, 1, length > 0 ? length : -1);
    db_bind_i64(rows, 2, length > 0 ? MAX(offset, 0) : 0);
    json_array_begin(w);
    while ((rc = db_step(rows, err)) == ERR_OK)
        if ((rc = write_execution(&writer, rows, err)))
            break;
    json_array_end(w);
    db_finalize(rows);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code sql_one(struct v1_scope *scope, struct err *err)
{
    int64_t id = scope->ids[0];
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(scope->db, &rows, EXECUTION_COLUMNS "WHERE e.execution_id = ?1 AND " KNOWN("e"), err);
    if (rc)
        return rc;
    db_bind_i64(rows, 1, id);
    if ((rc = db_step(rows, err)) == ERR_OK) {
        CLEANUP(writer_dispose) struct execution_writer writer;
        rc = writer_init(&writer, scope, response_json(scope->response, true), err);
        if (rc == ERR_OK)
            rc = write_execution(&writer, rows, err);
    } else if (rc == ERR_EOF) {
        response_plain(scope->response, 404, "unknown query execution id: %lld", (long long)id);
        rc = ERR_OK;
    }
    db_finalize(rows);
    return rc;
}

/* ---- The table: one page for the DataTables library ---- */

#define STATUS_TEXT(e) "CASE " e ".status WHEN 1 THEN 'COMPLETED' WHEN 2 THEN 'FAILED' ELSE 'RUNNING' END"
#define DURATION(e) "coalesce(" e ".completion_ms, ?3) - coalesce(" e ".submission_ms, -1)"
/* ?1: what is searched for, lower case; ?2: a status; NULL: any. */
#define FITS(e) \
    "(?1 IS NULL OR instr(lower(" e ".description), ?1) > 0 OR instr(lower(" STATUS_TEXT(e) "), ?1) > 0 OR instr(" e ".execution_id, ?1) > 0) " \
    "AND (?2 IS NULL OR " STATUS_TEXT(e) " = ?2) AND " KNOWN(e)
/* ?4 = 1: executions whose root fits too stand below it. */
#define IS_ROW \
    "(?4 = 0 OR " ROOT_OF("e") " = e.execution_id OR NOT EXISTS (SELECT 1 FROM sql_execution r WHERE r.execution_id = " ROOT_OF("e") " AND " FITS("r") ")) "

static const char summary_sql[] =
    "SELECT count(*), sum(" DURATION("e") "), sum(e.status = 0), sum(e.status = 2), sum(e.completion_ms IS NULL) FROM sql_execution e WHERE " FITS("e") "AND " IS_ROW;
static const char subs_sql[] = EXECUTION_COLUMNS "WHERE " ROOT_OF("e") " = ?5 AND " ROOT_OF("e") " <> e.execution_id AND " FITS("e") "ORDER BY e.execution_id";

/* What the columns of the page are sorted by; by id what is not here. Equal ones go by id. */
#define ROWS(order, direction) EXECUTION_COLUMNS "WHERE " FITS("e") "AND " IS_ROW "ORDER BY " order " " direction ", e.execution_id " direction " LIMIT ?6 OFFSET ?7"
static const struct table_order {
    const char *column;
    const char *ascending, *descending;
} table_orders[] = {
    {"id", ROWS("e.execution_id", "ASC"), ROWS("e.execution_id", "DESC")},
    {"status", ROWS(STATUS_TEXT("e"), "ASC"), ROWS(STATUS_TEXT("e"), "DESC")},
    {"description", ROWS("e.description", "ASC"), ROWS("e.description", "DESC")},
    {"submissionTime", ROWS("e.submission_ms", "ASC"), ROWS("e.submission_ms", "DESC")},
    {"duration", ROWS(DURATION("e"), "ASC"), ROWS(DURATION("e"), "DESC")},
};

struct table {
    struct json_writer *w;
    struct response *response;       /* borrowed */
    struct str search, status;       /* STR_NONE: all */
    bool grouped;
    int64_t now_ms;
    sqlite3_stmt *rows, *subs, *jobs;
};

static void table_dispose(struct table *self)
{
    db_finalize(self->rows);
    db_finalize(self->subs);
    db_finalize(self->jobs);
}

static void bind_filter(const struct table *self, sqlite3_stmt *stmt)
{
    db_bind_str(stmt, 1, self->search);
    db_bind_str(stmt, 2, self->status);
    db_bind_i64(stmt, 3, self->now_ms);
    db_bind_i64(stmt, 4, self->grouped);
}

/* ASCII letters only, as SQLite's lower() does on the other side. */
static enum err_code param_with_case(const struct request *request, const char *name, bool upper, struct str *ret, struct err *err)
{
    struct str text = request_param(request, name);
    *ret = STR_NONE;
    if (!text.len)
        return ERR_OK;
    char *copy = arena_strndup(request->arena, text.ptr, text.len);
    if (!copy)
        return err_nomem(err);
    for (size_t i = 0; i < text.len; i++)
        if (upper ? copy[i] >= 'a' && copy[i] <= 'z' : copy[i] >= 'A' && copy[i] <= 'Z')
            copy[i] = (char)(copy[i] ^ 0x20);
    *ret = (struct str){copy, text.len};
    return ERR_OK;
}

/* Unlike other booleans: all but `false`, in any case, is true. */
static bool groups_sub_executions(const struct request *request)
{
    struct str text = request_param(request, "groupSubExecution");
    return !(text.len == 5 && strncasecmp(text.ptr, "false", 5) == 0);
}

static const char *table_rows_sql(const struct request *request)
{
    char name[64];
    struct str number = request_param(request, "order[0][column]"), column = STR_NONE;
    if (number.len && number.len < 20) {
        snprintf(name, sizeof name, "columns[%.*s][name]", (int)number.len, number.ptr);
        column = request_param(request, name);
    }
    const struct table_order *order = &table_orders[0];
    for (size_t i = 0; i < ARRAY_LENGTH(table_orders); i++)
        if (str_is(column, table_orders[i].column))
            order = &table_orders[i];
    return str_is(request_param(request, "order[0][dir]"), "asc") ? order->ascending : order->descending;
}

/* Without the end of the object: rows of the page hold their sub-executions too. */
static enum err_code begin_table_row(struct table *self, sqlite3_stmt *row, struct err *err)
{
    struct json_writer *w = self->w;
    enum err_code rc;
    json_object_begin(w);
    json_kv_i64(w, "id", db_i64(row, C_ID));
    json_kv_text(w, "status", status_of(db_i64(row, C_STATUS)));
    v1_text_if(w, "description", db_str(row, C_DESCRIPTION));
    v1_date(w, "submissionTime", db_i64(row, C_SUBMISSION));
    json_kv_i64(w, "duration", duration_of(row, self->now_ms, self->response));
    json_key(w, "jobIds");
    json_array_begin(w);
    db_bind_i64(self->jobs, 1, db_i64(row, C_ID));
    while ((rc = db_step(self->jobs, err)) == ERR_OK)
        json_i64(w, db_i64(self->jobs, 0));
    json_array_end(w);
    v1_text_if(w, "queryId", db_str(row, C_QUERY_ID));
    write_error(w, row);
    json_kv_i64(w, "rootExecutionId", db_i64(row, C_ROOT));
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_subs(struct table *self, int64_t root_id, struct err *err)
{
    enum err_code rc;
    json_key(self->w, "subExecutions");
    json_array_begin(self->w);
    bind_filter(self, self->subs);
    db_bind_i64(self->subs, 5, root_id);
    while ((rc = db_step(self->subs, err)) == ERR_OK) {
        if ((rc = begin_table_row(self, self->subs, err)))
            return rc;
        json_object_end(self->w);
    }
    json_array_end(self->w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_table_rows(struct table *self, struct err *err)
{
    enum err_code rc;
    json_key(self->w, "aaData");
    json_array_begin(self->w);
    while ((rc = db_step(self->rows, err)) == ERR_OK) {
        if ((rc = begin_table_row(self, self->rows, err)))
            return rc;
        if (self->grouped && (rc = write_subs(self, db_i64(self->rows, C_ID), err)))
            return rc;
        json_object_end(self->w);
    }
    json_array_end(self->w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Numbers about all rows that fit, whatever the page; *ret_count: how many. */
static enum err_code write_summary(struct table *self, struct db *db, int64_t *ret_count, struct err *err)
{
    struct json_writer *w = self->w;
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(db, &row, summary_sql, err);
    if (rc)
        return rc;
    bind_filter(self, row);
    if ((rc = db_step(row, err)) == ERR_OK) {
        int64_t count = db_i64(row, 0), failed = known_or(db_i64(row, 3), 0);
        if (known_or(db_i64(row, 4), 0) > 0)
            depends_on_clock(self->response);        /* the average, and the order by duration */
        json_key(w, "summary");
        json_object_begin(w);
        json_kv_i64(w, "totalQueries", count);
        json_kv_i64(w, "averageDuration", count ? known_or(db_i64(row, 1), 0) / count : 0);
        json_kv_i64(w, "runningQueries", known_or(db_i64(row, 2), 0));
        json_kv_i64(w, "failedQueries", failed);
        json_key(w, "failureRate");
        v1_double(w, count ? (double)failed / (double)count : 0);
        json_object_end(w);
        *ret_count = count;
    }
    db_finalize(row);
    return rc;
}

static enum err_code count_all(const struct table *self, struct db *db, int64_t *ret_count, struct err *err)
{
    struct table all = {.search = STR_NONE, .status = STR_NONE, .grouped = self->grouped, .now_ms = self->now_ms};
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(db, &row, "SELECT count(*) FROM sql_execution e WHERE " FITS("e") "AND " IS_ROW, err);
    if (rc)
        return rc;
    bind_filter(&all, row);
    if ((rc = db_step(row, err)) == ERR_OK)
        *ret_count = db_i64(row, 0);
    db_finalize(row);
    return rc;
}

static enum err_code sql_table(struct v1_scope *scope, struct err *err)
{
    const struct request *request = scope->request;
    int64_t draw, start, length, total = 0, fitting = 0;
    if (!v1_param_int(request, "draw", 0, &draw) || !v1_param_int(request, "start", 0, &start) || !v1_param_int(request, "length", 20, &length)) {
        response_plain(scope->response, 400, "The parameters \"draw\", \"start\" and \"length\" are whole numbers.");
        return ERR_OK;
    }
    CLEANUP(table_dispose) struct table table = {.response = scope->response, .grouped = groups_sub_executions(request), .now_ms = time_now_ms()};
    enum err_code rc;
    if ((rc = param_with_case(request, "search[value]", false, &table.search, err)) || (rc = param_with_case(request, "status", true, &table.status, err)) ||
        (rc = db_prepare(scope->db, &table.rows, table_rows_sql(request), err)) || (rc = db_prepare(scope->db, &table.subs, subs_sql, err)) ||
        (rc = db_prepare(scope->db, &table.jobs, "SELECT job_id FROM job WHERE sql_execution_id = ?1 AND start_seen = 1 AND status = 1 ORDER BY job_id", err)) ||
        (rc = count_all(&table, scope->db, &total, err)))
        return rc;
    bind_filter(&table, table.rows);
    /* The page is what lies between start and start + length, so a start below 0 shortens it. */
    db_bind_i64(table.rows, 6, length > 0 ? MAX(length + MIN(start, 0), 0) : -1);
    db_bind_i64(table.rows, 7, length > 0 ? MAX(start, 0) : 0);
    struct json_writer *w = table.w = response_json(scope->response, true);
    json_object_begin(w);
    if ((rc = write_summary(&table, scope->db, &fitting, err)))
        return rc;
    json_kv_i64(w, "recordsFiltered", fitting);
    if ((rc = write_table_rows(&table, err)))
        return rc;
    json_kv_i64(w, "draw", draw);
    json_kv_i64(w, "recordsTotal", total);
    json_object_end(w);
    return ERR_OK;
}

enum err_code v1_sql_list(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, convert_page, sql_list, err);
}

enum err_code v1_sql(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, v1_convert_long_id, sql_one, err);
}

enum err_code v1_sql_table(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, sql_table, err);
}
