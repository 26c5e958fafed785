/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL executions: the list, one of them with its latest plan, and any version of a plan. Metrics are numbers in the unit that is named beside them. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/units.h"
#include "server/api/handlers.h"
#include "server/plan_text.h"

#define ERROR_LINE_CHARACTERS "500"

/* A graph goes out in pieces, so that a plan of 100,000 nodes holds no thread for seconds. Spark's nodes have some ten metrics each. */
#define PIECE_NODES 2000
#define PIECE_METRICS ((size_t)20000)            /* after so many no further node begins */
#define NODE_METRICS ((size_t)1000)  /* of one node; no operator has as many */
#define MAX_USES ((size_t)1 << 22)   /* metrics that the stages of one execution reported: 24 bytes each */

#define DURATION "CASE WHEN e.completion_ms >= e.submission_ms THEN e.completion_ms - e.submission_ms END"
#define JOB_COUNT "(SELECT count(*) FROM job j WHERE j.sql_execution_id = e.execution_id)"

static const struct list_sort sorts[] = {
    {"id", "e.execution_id"},
    {"submission", "e.submission_ms"},
    {"duration", DURATION},
    {"jobs", JOB_COUNT},
    {"description", "e.description"},
    {NULL, NULL},
};

/* By sql_execution.status; the same words are what ?status= takes. */
static const char *const statuses[] = {"running", "completed", "failed", "unknown"};
enum { STATUS_RUNNING, STATUS_COMPLETED, STATUS_FAILED, STATUS_UNKNOWN };

#define ITEM_COLUMNS \
    "SELECT e.status, e.job_tags," \
    "       e.execution_id AS id, e.root_execution_id, e.description, e.submission_ms, e.completion_ms, " DURATION " AS duration_ms, " JOB_COUNT " AS job_count," \
    "       (SELECT count(*) FROM job j WHERE j.sql_execution_id = e.execution_id AND j.status = 1) AS succeeded_job_count," \
    "       (SELECT count(*) FROM job j WHERE j.sql_execution_id = e.execution_id AND j.status = 2) AS failed_job_count," \
    "       substr(x.body, 1, min(instr(x.body || char(10), char(10)) - 1, " ERROR_LINE_CHARACTERS ")) AS error_line, e.query_id, e.job_group," \
    "       (SELECT count(*) FROM sql_plan p WHERE p.execution_id = e.execution_id) AS plan_version_count, x.body AS error, d.body AS details, e.plan_id"
#define ITEM_FIRST_PLAIN 2
#define ITEM_END 15                  /* the list ends here */
#define DETAIL_END 17
#define COLUMN_PLAN_ID 17
#define ITEM_FROM " FROM sql_execution e LEFT JOIN text x ON x.text_id = e.error_text_id LEFT JOIN text d ON d.text_id = e.details_text_id"

static void write_item(struct json_writer *json, sqlite3_stmt *stmt, int end, bool ended)
{
    int64_t status = db_i64(stmt, 0);
    api_columns(json, stmt, ITEM_FIRST_PLAIN, end);
    json_kv_text(json, "status", API_WORD(statuses, status == STATUS_RUNNING && ended ? STATUS_UNKNOWN : status));
    api_words(json, "jobTags", db_str(stmt, 1), ',');
}

/* ---- The list ---- */

static void where_executions(struct query *query, const struct request *request, int status, int64_t root, bool ended)
{
    struct str q = request_param(request, "q");
    query_add(query, " WHERE 1");
    if (q.len)
        query_contains(query, " AND (e.description LIKE ? ESCAPE '\\' OR e.execution_id LIKE ? ESCAPE '\\' OR e.query_id LIKE ? ESCAPE '\\' OR e.job_group LIKE ? ESCAPE '\\')", q);
    if (root >= 0)
        query_number(query, " AND e.root_execution_id = ?", root);
    if (status == STATUS_COMPLETED || status == STATUS_FAILED)
        query_number(query, " AND e.status = ?", status);
    else if (status >= 0)            /* without an end: one or the other, for all of them */
        query_add(query, (status == STATUS_UNKNOWN) == ended ? " AND e.status = 0" : " AND 0");
}

static enum err_code write_items(struct json_writer *json, const struct api_app *app, struct query *query, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_item(json, stmt, ITEM_END, app->ended);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_list(const struct api_app *app, struct list *list, int status, int64_t root, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query where;
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query items;
    query_init(&where, request->arena);
    query_init(&count, request->arena);
    query_init(&items, request->arena);
    where_executions(&where, request, status, root, app->ended);
    query_add(&count, "SELECT count(*) FROM sql_execution e");
    query_append(&count, &where);
    int64_t total;
    enum err_code rc = query_i64(&count, app->db, &total, err);
    if (rc)
        return rc;
    list_total(list, total);
    /* First which rows, then what is in them: counts and texts of 100,000 executions would be read for one page. */
    query_add(&items, ITEM_COLUMNS ITEM_FROM " WHERE e.execution_id IN (SELECT e.execution_id FROM sql_execution e");
    query_append(&items, &where);
    query_order(&items, list, "e.execution_id");
    query_number(&items, " LIMIT ?", list->limit);
    query_number(&items, " OFFSET ?", list->offset);
    query_add(&items, ")");
    query_order(&items, list, "e.execution_id");
    struct json_writer *json = response_json(response, false);
    list_begin(list, json);
    rc = write_items(json, app, &items, err);
    list_end(list, json);
    json_object_end(json);
    return rc;
}

enum err_code api_sql_list(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    int status;
    int64_t root;
    if (list_read(&list, request, sorts, "-duration", err) || param_word(request, "status", statuses, ARRAY_LENGTH(statuses), &status, err) ||
        request_param_i64(request, "root", -1, 0, INT64_MAX, &root, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_list(&app, &list, status, root, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- A plan graph ---- */

/* A stage attempt whose tasks reported a metric. */
struct metric_use {
    int64_t accumulator_id, stage_id, attempt;
};

struct graph {
    struct json_writer *json;
    int64_t execution_id;
    sqlite3_stmt *metrics, *metadata;
    size_t metric_count;             /* written */
    struct metric_use *uses, *node_uses;     /* by accumulator; those of one node; owned */
    size_t use_count, use_capacity, node_use_count, node_use_capacity;
};

static void graph_dispose(struct graph *self)
{
    db_finalize(self->metrics);
    db_finalize(self->metadata);
    mem_free(self->uses);
    mem_free(self->node_uses);
}

static int by_accumulator(const void *a, const void *b)
{
    const struct metric_use *x = a, *y = b;
    return x->accumulator_id < y->accumulator_id ? -1 : x->accumulator_id > y->accumulator_id;
}

static int by_stage(const void *a, const void *b)
{
    const struct metric_use *x = a, *y = b;
    if (x->stage_id != y->stage_id)
        return x->stage_id < y->stage_id ? -1 : 1;
    return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

static enum err_code read_uses(struct graph *self, struct db *db, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = db_prepare(db, &rows,
                                  "SELECT a.accumulable_id, s.stage_id, s.attempt FROM (SELECT DISTINCT k.stage_id FROM job j JOIN job_stage k ON k.job_id = j.job_id "
                                  "WHERE j.sql_execution_id = ?1) AS mine JOIN stage s ON s.stage_id = mine.stage_id "
                                  "JOIN stage_accumulable a ON a.stage_ref = s.stage_ref WHERE a.metadata = 'sql'",
                                  err);
    if (rc)
        return rc;
    db_bind_i64(rows, 1, self->execution_id);
    while ((rc = db_step(rows, err)) == ERR_OK) {
        if (mem_grow((void **)&self->uses, &self->use_capacity, self->use_count + 1, MAX_USES, sizeof *self->uses)) {
            rc = err_nomem(err);
            break;
        }
        self->uses[self->use_count++] = (struct metric_use){db_i64(rows, 0), db_i64(rows, 1), db_i64(rows, 2)};
    }
    db_finalize(rows);
    if (self->use_count)
        qsort(self->uses, self->use_count, sizeof *self->uses, by_accumulator);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A metric that nobody reported (its values are all unset ones) has no numbers; a single value, the driver's, is a total and no distribution. */
static const char metric_sql[] =
    "SELECT accumulator_id, name, metric_type AS type, iif(reported_count > 0, value_count, NULL) AS value_count, nullif(reported_count, 0) AS reported_count, "
    "iif(reported_count > 0, total, NULL) AS total, iif(spread, min, NULL) AS min, iif(spread, median, NULL) AS median, iif(spread, max, NULL) AS max, "
    "iif(spread, max_stage_id, NULL) AS max_stage_id, iif(spread, max_stage_attempt, NULL) AS max_stage_attempt, iif(spread, max_task_id, NULL) AS max_task_id "
    "FROM (SELECT *, reported_count > 0 AND (value_count > 1 OR max_task_id IS NOT NULL) AS spread FROM sql_metric WHERE execution_id = ?1 AND accumulator_id = ?2)";

static enum err_code graph_init(struct graph *self, struct db *db, struct json_writer *json, int64_t execution_id, struct err *err)
{
    *self = (struct graph){.json = json, .execution_id = execution_id};
    enum err_code rc = db_prepare(db, &self->metrics, metric_sql, err);
    if (rc == ERR_OK)
        rc = db_prepare(db, &self->metadata,
                        "SELECT m.key, m.value FROM text t, json_each(iif(json_valid(t.body), t.body, '{}')) AS m WHERE t.text_id = ?1 ORDER BY m.id", err);
    return rc ? rc : read_uses(self, db, err);
}

/* The unit of a metric's numbers (spec/sql.md §3.3); NULL: its type does not say. */
static const char *unit_of(struct str type)
{
    static const struct {
        const char *type, *unit;
    } units[] = {{"sum", "count"}, {"size", "bytes"}, {"timing", "ms"}, {"nsTiming", "ns"}, {"average", "tenths"}, {"count", "count"}};
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (str_is(type, units[i].type))
            return units[i].unit;
    return NULL;
}

static enum err_code write_metric(struct graph *self, int64_t accumulator_id, struct err *err)
{
    db_bind_i64(self->metrics, 1, self->execution_id);
    db_bind_i64(self->metrics, 2, accumulator_id);
    enum err_code rc = db_step(self->metrics, err);
    if (rc == ERR_OK) {
        json_object_begin(self->json);
        api_columns(self->json, self->metrics, 0, 12);
        json_kv_text(self->json, "unit", unit_of(db_str(self->metrics, 2)));
        json_object_end(self->json);
    }
    db_reset(self->metrics);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code add_uses(struct graph *self, int64_t accumulator_id, struct err *err)
{
    size_t low = 0, high = self->use_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (self->uses[middle].accumulator_id < accumulator_id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < self->use_count && self->uses[low].accumulator_id == accumulator_id; low++) {
        if (mem_grow((void **)&self->node_uses, &self->node_use_capacity, self->node_use_count + 1, MAX_USES, sizeof *self->node_uses))
            return err_nomem(err);
        self->node_uses[self->node_use_count++] = self->uses[low];
    }
    return ERR_OK;
}

static void write_stages(struct graph *self)
{
    if (self->node_use_count)
        qsort(self->node_uses, self->node_use_count, sizeof *self->node_uses, by_stage);
    json_key(self->json, "stages");
    json_array_begin(self->json);
    for (size_t i = 0; i < self->node_use_count; i++) {
        if (i && by_stage(&self->node_uses[i - 1], &self->node_uses[i]) == 0)
            continue;
        json_object_begin(self->json);
        json_kv_i64(self->json, "stageId", self->node_uses[i].stage_id);
        json_kv_i64(self->json, "attempt", self->node_uses[i].attempt);
        json_object_end(self->json);
    }
    json_array_end(self->json);
}

static enum err_code write_metrics(struct graph *self, struct str ids, struct err *err)
{
    enum err_code rc = ERR_OK;
    size_t count = 0;
    self->node_use_count = 0;
    json_key(self->json, "metrics");
    json_array_begin(self->json);
    for (; ids.len && !rc && count < NODE_METRICS; count++) {
        const char *blank = memchr(ids.ptr, ' ', ids.len);
        struct str word = {ids.ptr, blank ? (size_t)(blank - ids.ptr) : ids.len};
        ids = blank ? (struct str){blank + 1, ids.len - word.len - 1} : STR_NONE;
        int64_t id;
        if (str_to_i64(word, &id) && !(rc = write_metric(self, id, err)))
            rc = add_uses(self, id, err);
    }
    json_array_end(self->json);
    self->metric_count += count;
    return rc;
}

static enum err_code write_metadata(struct graph *self, int64_t text_id, struct err *err)
{
    enum err_code rc;
    json_key(self->json, "metadata");
    json_array_begin(self->json);
    db_bind_i64(self->metadata, 1, text_id);
    while ((rc = db_step(self->metadata, err)) == ERR_OK) {
        json_array_begin(self->json);
        json_str(self->json, db_str(self->metadata, 0));
        json_str(self->json, db_str(self->metadata, 1));
        json_array_end(self->json);
    }
    json_array_end(self->json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* "nodes" from first_node on, as many as go into one answer, and "nextNode". */
static enum err_code write_nodes(struct graph *self, struct db *db, int64_t graph_plan_id, int64_t first_node, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    int64_t node_count = 0, next_node = UNKNOWN;
    json_key(self->json, "nodes");
    json_array_begin(self->json);
    enum err_code rc = db_prepare(db, &rows,
                                  "SELECT n.is_cluster, n.accumulator_ids, n.metadata_text_id, n.node_id AS id, n.cluster_id, n.name, d.body AS description FROM sql_node n "
                                  "LEFT JOIN text d ON d.text_id = n.description_text_id WHERE n.plan_id = ?1 AND n.node_id >= ?2 ORDER BY n.node_id",
                                  err);
    if (!rc) {
        db_bind_i64(rows, 1, graph_plan_id);
        db_bind_i64(rows, 2, first_node);
    }
    while (!rc && (rc = db_step(rows, err)) == ERR_OK) {
        if (node_count++ == PIECE_NODES || self->metric_count >= PIECE_METRICS) {
            next_node = db_i64(rows, 3);
            break;
        }
        json_object_begin(self->json);
        api_columns(self->json, rows, 3, 7);
        json_kv_bool(self->json, "isCluster", db_i64(rows, 0) == 1);
        if (!(rc = write_metadata(self, db_i64(rows, 2), err)))
            rc = write_metrics(self, db_str(rows, 1), err);
        write_stages(self);
        json_object_end(self->json);
    }
    db_finalize(rows);
    json_array_end(self->json);
    json_kv_i64(self->json, "nextNode", next_node);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_node_count(struct json_writer *json, struct db *db, int64_t graph_plan_id, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(db, &row, "SELECT ifnull(max(node_id) + 1, 0) AS node_count FROM sql_node WHERE plan_id = ?1", err);
    if (!rc) {
        db_bind_i64(row, 1, graph_plan_id);
        rc = db_step(row, err);
    }
    if (!rc)
        api_columns(json, row, 0, 1);
    db_finalize(row);
    return rc;
}

static enum err_code write_edges(struct json_writer *json, struct db *db, int64_t graph_plan_id, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    json_key(json, "edges");
    json_array_begin(json);
    enum err_code rc = db_prepare(db, &rows, "SELECT from_id, to_id FROM sql_edge WHERE plan_id = ?1 ORDER BY ordinal", err);
    if (!rc)
        db_bind_i64(rows, 1, graph_plan_id);
    while (!rc && (rc = db_step(rows, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, rows, 0, 2);
        json_object_end(json);
    }
    db_finalize(rows);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A piece of a graph: its nodes from first_node on, and with the first of them all edges. Of no plan (UNKNOWN): empty. */
static enum err_code write_graph(struct json_writer *json, struct db *db, int64_t execution_id, int64_t graph_plan_id, int64_t first_node, struct err *err)
{
    CLEANUP(graph_dispose) struct graph graph;
    enum err_code rc = graph_init(&graph, db, json, execution_id, err);
    if (rc == ERR_OK)
        rc = write_nodes(&graph, db, graph_plan_id, first_node, err);
    if (rc == ERR_OK)
        rc = write_node_count(json, db, graph_plan_id, err);
    return rc ? rc : write_edges(json, db, first_node == 0 ? graph_plan_id : UNKNOWN, err);
}

/* ---- One execution ---- */

static enum err_code write_plans(struct json_writer *json, struct db *db, int64_t execution_id, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    json_key(json, "plans");
    json_array_begin(json);
    enum err_code rc = db_prepare(db, &rows,
                                  "SELECT p.final, p.version, t.text_bytes, g.version AS graph_version FROM sql_plan p LEFT JOIN plan_text t ON t.plan_text_id = p.plan_text_id "
                                  "LEFT JOIN sql_plan g ON g.plan_id = p.graph_plan_id WHERE p.execution_id = ?1 ORDER BY p.version",
                                  err);
    if (!rc)
        db_bind_i64(rows, 1, execution_id);
    while (!rc && (rc = db_step(rows, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, rows, 1, 4);
        json_kv_bool(json, "final", db_i64(rows, 0) == 1);
        json_object_end(json);
    }
    db_finalize(rows);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_jobs(struct json_writer *json, const struct api_app *app, int64_t execution_id, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query where;
    query_init(&where, arena);
    query_number(&where, " WHERE j.sql_execution_id = ? ORDER BY j.job_id", execution_id);
    json_key(json, "jobs");
    json_array_begin(json);
    enum err_code rc = job_items(json, app, arena, &where, err);
    json_array_end(json);
    return rc;
}

static enum err_code latest_graph(struct db *db, int64_t plan_id, int64_t *ret_graph_plan_id, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *ret_graph_plan_id = UNKNOWN;
    enum err_code rc = db_prepare(db, &row, "SELECT graph_plan_id FROM sql_plan WHERE plan_id = ?1", err);
    if (rc)
        return rc;
    db_bind_i64(row, 1, plan_id);
    if ((rc = db_step(row, err)) == ERR_OK)
        *ret_graph_plan_id = db_i64(row, 0);
    db_finalize(row);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_execution(const struct api_app *app, int64_t id, const struct request *request, struct response *response, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int64_t graph_plan_id;
    enum err_code rc = db_prepare(app->db, &row, ITEM_COLUMNS ITEM_FROM " WHERE e.execution_id = ?1", err);
    if (rc)
        return rc;
    db_bind_i64(row, 1, id);
    if ((rc = db_step(row, err)) == ERR_EOF) {
        response_error(response, 404, "not_found", "there is no such SQL execution");
        rc = ERR_OK;
    } else if (!rc && !(rc = latest_graph(app->db, db_i64(row, COLUMN_PLAN_ID), &graph_plan_id, err))) {
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        write_item(json, row, DETAIL_END, app->ended);
        if (!(rc = api_pairs(json, app->db, "configs", "SELECT name, value FROM sql_config WHERE execution_id = ?1 ORDER BY name", id, err)) &&
            !(rc = write_plans(json, app->db, id, err)) && !(rc = write_graph(json, app->db, id, graph_plan_id, 0, err)))
            rc = write_jobs(json, app, id, request->arena, err);
        json_object_end(json);
    }
    db_finalize(row);
    return rc;
}

enum err_code api_sql(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_execution(&app, api_path_id(request, 1), request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- One version of its plan ---- */

static enum err_code write_text(struct json_writer *json, struct db *db, int64_t plan_text_id, struct err *err)
{
    CLEANUP(plan_text_dispose) struct plan_text reader = {0};
    struct str text;
    enum err_code rc = plan_text_read(&reader, db, plan_text_id, &text, err);
    if (rc == ERR_OK)
        json_kv_str(json, "text", text);
    return rc;
}

static enum err_code write_plan(const struct api_app *app, int64_t execution_id, int64_t version, int64_t first_node, struct response *response, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(app->db, &row,
                                  "SELECT plan_text_id, graph_plan_id, final, execution_id, version FROM sql_plan WHERE execution_id = ?1 AND version = ?2", err);
    if (rc)
        return rc;
    db_bind_i64(row, 1, execution_id);
    db_bind_i64(row, 2, version);
    if ((rc = db_step(row, err)) == ERR_EOF) {
        response_error(response, 404, "not_found", "there is no such version of a plan");
        rc = ERR_OK;
    } else if (!rc) {
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        api_columns(json, row, 3, 5);
        json_kv_bool(json, "final", db_i64(row, 2) == 1);
        if (first_node)
            json_kv_text(json, "text", NULL);
        else
            rc = write_text(json, app->db, db_i64(row, 0), err);
        if (!rc)
            rc = write_graph(json, app->db, execution_id, db_i64(row, 1), first_node, err);
        json_object_end(json);
    }
    db_finalize(row);
    return rc;
}

enum err_code api_sql_plan(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    int64_t first_node;
    if (request_param_i64(request, "node", 0, 0, INT64_MAX, &first_node, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_plan(&app, api_path_id(request, 1), api_path_id(request, 2), first_node, response, err);
    api_app_close(ctx, &app);
    return rc;
}
