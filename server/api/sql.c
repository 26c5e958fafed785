/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL executions: the list, one of them with its latest plan, and any version of a plan. Metrics are numbers in the unit that is named beside them. */
#include <string.h>

#include "server/api/handlers.h"
#include "server/api/sql_findings.h"
#include "server/api/sql_graph.h"
#include "server/plan_text.h"

#define ERROR_LINE_CHARACTERS "500"
#define MOST_CHANGES "1000"
#define FINDINGS_BYTES ((size_t)4 << 20) /* of 43,000 findings at most, 40 bytes each */

#define DURATION "CASE WHEN e.completion_ms >= e.submission_ms THEN e.completion_ms - e.submission_ms END"
#define JOB_COUNT "(SELECT count(*) FROM job j WHERE j.sql_execution_id = e.execution_id)"

static const struct list_sort sorts[] = {
    {"id", "e.execution_id"},
    {"submission", "e.submission_ms"},
    {"duration", DURATION},
    {"jobs", JOB_COUNT},
    {"description", "e.description"},
    {"grade", "g.grade"},
    {"saving", "g.saving_ms"},
    {NULL, NULL},
};

/* By sql_execution.status; the same words are what ?status= takes. */
static const char *const statuses[] = {"running", "completed", "failed", "unknown"};
enum { STATUS_RUNNING, STATUS_COMPLETED, STATUS_FAILED, STATUS_UNKNOWN };

#define ITEM_COLUMNS                                                                                                                                              \
    "SELECT e.status, e.job_tags,"                                                                                                                                \
    "       e.execution_id AS id, e.root_execution_id, e.description, e.submission_ms, e.completion_ms, " DURATION " AS duration_ms, " JOB_COUNT " AS job_count," \
    "       (SELECT count(*) FROM job j WHERE j.sql_execution_id = e.execution_id AND j.status = 1) AS succeeded_job_count,"                                      \
    "       (SELECT count(*) FROM job j WHERE j.sql_execution_id = e.execution_id AND j.status = 2) AS failed_job_count,"                                         \
    "       substr(x.body, 1, min(instr(x.body || char(10), char(10)) - 1, " ERROR_LINE_CHARACTERS ")) AS error_line, e.query_id, e.job_group,"                   \
    "       (SELECT count(*) FROM sql_plan p WHERE p.execution_id = e.execution_id) AS plan_version_count, x.body AS error, d.body AS details, e.plan_id"
#define ITEM_FIRST_PLAIN 2
#define ITEM_END 15 /* the list ends here */
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

/* Whose root has a row is nested in it, as in the History Server: below the first one, and only where it began earlier. */
#define ROOT_OF(e) "FROM sql_execution r WHERE r.execution_id = " e ".root_execution_id AND r.execution_id < " e ".execution_id"
#define JOB_IDS(status) "(SELECT group_concat(job_id, ' ') FROM (SELECT job_id FROM job WHERE sql_execution_id = e.execution_id AND status = " status " ORDER BY job_id LIMIT 20))"

/* Behind what an item holds: jobs by state, and what analysis found; changes of plans are counted once for all rows. */
/* clang-format off */
#define LIST_COLUMNS \
    ITEM_COLUMNS ", " JOB_IDS("0") ", " JOB_IDS("1") ", " JOB_IDS("2") ", g.grade," \
    /* an index on an expression has no affinity, and is of use only where neither side has one: + takes it off */ \
    "   (SELECT count(*) FROM sql_execution n WHERE coalesce(n.root_execution_id, 0) = +e.execution_id AND coalesce(n.root_execution_id, 0) <> n.execution_id" \
    "       AND n.root_execution_id = e.execution_id AND +n.execution_id > e.execution_id) AS nested_count," \
    "   g.saving_ms, iif(?, coalesce(g.finding_count, 0), NULL) AS finding_count, iif(?, coalesce(c.change_count, 0), NULL) AS plan_change_count," \
    "   (SELECT count(DISTINCT s.stage_id) FROM job j JOIN job_stage s ON s.job_id = j.job_id WHERE j.sql_execution_id = e.execution_id AND s.ran) AS stage_count," \
    "   (SELECT max(n.node_id) + 1 FROM sql_plan p JOIN sql_node n ON n.plan_id = p.graph_plan_id WHERE p.plan_id = e.plan_id) AS plan_node_count"
/* clang-format on */
#define LIST_FIRST_JOB_IDS 18
#define LIST_GRADE 21
#define LIST_FIRST_MORE 22
#define LIST_END 28
/* Of single rows; all of them, to choose or sort by what was found, come from `everyone`: a join of many with many would be read by pairs. */
#define JUDGED " LEFT JOIN judged g ON g.execution_id = e.execution_id"
#define EVERYONE " FROM everyone g JOIN sql_execution e ON e.execution_id = g.execution_id"

struct sql_list {
    struct list list;
    int status;
    int64_t root;
    bool roots;
    int grade;           /* at least; -1: any */
    struct buf findings; /* sql_findings_json */
    bool judged;
};

/* What was found about each; with `roots` about each root and what is nested in it. */
static void with_judged(struct query *query, const struct sql_list *self)
{
    query_add(query, "WITH judged AS MATERIALIZED (SELECT ");
    query_add(query, self->roots
                         ? "coalesce((SELECT r.execution_id FROM sql_execution e JOIN sql_execution r ON r.execution_id = e.root_execution_id AND r.execution_id < e.execution_id"
                           " WHERE e.execution_id = f.value ->> 0), f.value ->> 0)"
                         : "f.value ->> 0");
    query_text(query, " AS execution_id, max(f.value ->> 1) AS grade, max(f.value ->> 2) AS saving_ms, count(*) AS finding_count FROM json_each(?) f GROUP BY 1),"
               " everyone AS (SELECT execution_id, max(grade) AS grade, max(saving_ms) AS saving_ms FROM"
               " (SELECT execution_id, grade, saving_ms FROM judged UNION ALL SELECT execution_id, NULL, NULL FROM sql_execution) GROUP BY execution_id) ",
               self->judged ? buf_str(&self->findings) : STR_LIT("[]"));
}

static void where_executions(struct query *query, const struct request *request, const struct sql_list *self, bool ended)
{
    struct str q = request_param(request, "q");
    query_add(query, " WHERE 1");
    if (q.len)
        query_contains(query, " AND (e.description LIKE ? ESCAPE '\\' OR e.execution_id LIKE ? ESCAPE '\\' OR e.query_id LIKE ? ESCAPE '\\' OR e.job_group LIKE ? ESCAPE '\\')", q);
    if (self->root >= 0)
        query_number(query, " AND e.root_execution_id = ?", self->root);
    if (self->roots)
        query_add(query, " AND NOT EXISTS (SELECT 1 " ROOT_OF("e") ")");
    if (self->grade > GRADE_OK)
        query_number(query, " AND g.grade >= ?", self->grade);
    if (self->status == STATUS_COMPLETED || self->status == STATUS_FAILED)
        query_number(query, " AND e.status = ?", self->status);
    else if (self->status >= 0) /* without an end: one or the other, for all of them */
        query_add(query, (self->status == STATUS_UNKNOWN) == ended ? " AND e.status = 0" : " AND 0");
}

static void write_list_item(struct json_writer *json, sqlite3_stmt *stmt, bool ended, bool judged)
{
    static const char *const keys[] = {"runningJobIds", "succeededJobIds", "failedJobIds"};
    write_item(json, stmt, ITEM_END, ended);
    for (int i = 0; i < 3; i++)
        api_numbers(json, keys[i], db_str(stmt, LIST_FIRST_JOB_IDS + i));
    json_kv_text(json, "worstGrade", judged ? grade_names[known_or(db_i64(stmt, LIST_GRADE), GRADE_OK)] : NULL);
    api_columns(json, stmt, LIST_FIRST_MORE, LIST_END);
}

static enum err_code write_items(struct json_writer *json, const struct api_app *app, const struct sql_list *self, struct query *query, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        write_list_item(json, stmt, app->ended, self->judged);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_list(const struct api_app *app, struct sql_list *self, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query where;
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query items;
    query_init(&where, request->arena);
    query_init(&count, request->arena);
    query_init(&items, request->arena);
    const char *from = self->grade > GRADE_OK || str_starts((struct str){self->list.sort->sql, strlen(self->list.sort->sql)}, "g.") ? EVERYONE : " FROM sql_execution e";
    where_executions(&where, request, self, app->ended);
    with_judged(&count, self);
    query_add(&count, "SELECT count(*)");
    query_add(&count, from);
    query_append(&count, &where);
    enum err_code rc = list_count(&self->list, &count, app->db, err);
    if (rc)
        return rc;
    /* First which rows, then what is in them: counts and texts of 100,000 executions would be read for one page. */
    with_judged(&items, self);
    query_number(&items, LIST_COLUMNS, self->judged);
    query_add(&items, ITEM_FROM JUDGED " LEFT JOIN (SELECT execution_id, count(*) AS change_count FROM aqe_change GROUP BY execution_id) c ON c.execution_id = e.execution_id"
                                       " WHERE e.execution_id IN (SELECT e.execution_id");
    query_add(&items, from);
    query_append(&items, &where);
    query_order(&items, &self->list, "e.execution_id");
    query_page(&items, &self->list);
    query_add(&items, ")");
    query_order(&items, &self->list, "e.execution_id");
    struct json_writer *json = list_begin(&self->list, response);
    rc = write_items(json, app, self, &items, err);
    list_end(&self->list, json);
    json_object_end(json);
    return rc;
}

enum err_code api_sql_list(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct sql_list self;
    struct profile profile = {NULL};
    struct ladder *ladders;
    if (list_read(&self.list, request, sorts, "-duration", err) || request_ladders(request, &ladders, err) ||
        param_word(request, "status", statuses, ARRAY_LENGTH(statuses), &self.status, err) || param_word(request, "grade", grade_names, GRADE_COUNT, &self.grade, err) ||
        request_param_i64(request, "root", -1, 0, INT64_MAX, &self.root, err)) {
        api_bad_parameter(response, err);
        return ERR_OK;
    }
    self.roots = request_param_true(request, "roots", false);
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    buf_init(&self.findings, FINDINGS_BYTES);
    profile.ladders = ladders;
    rc = sql_findings_json(app.db, &profile, &self.findings, &self.judged, err);
    if (!rc)
        rc = write_list(&app, &self, request, response, err);
    buf_dispose(&self.findings);
    api_app_close(ctx, &app);
    return rc;
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

/* In the order of the log. */
static const char changes_sql[] =
    "SELECT c.kind, c.version, c.logged_ms, c.node_id, c.node_text, c.before, c.after, CAST(c.partitions_before AS INTEGER) AS partitions_before,"
    "       CAST(c.partitions_after AS INTEGER) AS partitions_after, CAST(c.skewed AS INTEGER) AS skewed_partitions, CAST(c.splits AS INTEGER) AS splits,"
    "       CAST(c.size_min AS INTEGER) AS min_bytes, CAST(c.size_median AS INTEGER) AS median_bytes, CAST(c.size_max AS INTEGER) AS max_bytes,"
    "       CAST(c.shuffle_bytes AS INTEGER) AS shuffle_bytes, s.stage_id, s.attempt AS stage_attempt"
    "  FROM aqe_change c LEFT JOIN stage s ON s.stage_ref = c.stage_ref WHERE c.execution_id = ? ORDER BY c.change_no LIMIT " MOST_CHANGES;

static enum err_code write_rows(struct json_writer *json, struct db *db, const char *key, struct query *query, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    enum err_code rc = query_prepare(query, db, &rows, err);
    if (!rc)
        rc = api_rows(json, key, NULL, rows, err);
    db_finalize(rows);
    return rc;
}

/* Stage attempts that ran for it, and what their tasks took: what shares of operators are of. */
static enum err_code write_stages(struct json_writer *json, struct db *db, int64_t execution_id, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_add(&query, "SELECT s.stage_id, s.attempt, s.num_tasks, s.task_time_ms, ");
    query_add(&query, stage_duration_sql);
    query_number(&query,
                 " AS duration_ms FROM stage s WHERE s.stage_id IN (SELECT k.stage_id FROM job j JOIN job_stage k ON k.job_id = j.job_id WHERE j.sql_execution_id = ?)"
                 " AND ifnull(s.sql_execution_id = ?, 1) AND s.first_task_launch_ms IS NOT NULL ORDER BY s.stage_id, s.attempt",
                 execution_id);
    return write_rows(json, db, "stages", &query, err);
}

static enum err_code write_changes(struct json_writer *json, struct db *db, int64_t execution_id, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    query_init(&query, arena);
    query_number(&query, changes_sql, execution_id);
    return write_rows(json, db, "changes", &query, err);
}

static enum err_code write_change_count(struct json_writer *json, struct db *db, int64_t execution_id, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc =
        db_prepare(db, &row, "SELECT iif(EXISTS (SELECT 1 FROM analysis), (SELECT count(*) FROM aqe_change WHERE execution_id = ?1), NULL) AS plan_change_count", err);
    if (!rc) {
        db_bind_i64(row, 1, execution_id);
        rc = db_step(row, err);
    }
    if (!rc)
        api_columns(json, row, 0, 1);
    db_finalize(row);
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
            !(rc = write_plans(json, app->db, id, err)) && !(rc = write_stages(json, app->db, id, request->arena, err)) &&
            !(rc = write_changes(json, app->db, id, request->arena, err)) && !(rc = write_change_count(json, app->db, id, err)) &&
            !(rc = sql_graph(json, app->db, id, graph_plan_id, 0, err)))
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
    enum err_code rc = db_prepare(app->db, &row, "SELECT plan_text_id, graph_plan_id, final, execution_id, version FROM sql_plan WHERE execution_id = ?1 AND version = ?2", err);
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
            rc = sql_graph(json, app->db, execution_id, db_i64(row, 1), first_node, err);
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
