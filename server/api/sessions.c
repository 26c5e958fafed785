/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions of a Thrift server or of Spark Connect, and their operations (statements). */
#include "server/api/handlers.h"

#define TEXT_CHARS "2000"            /* of a long text in a list; the whole of it is in the operation itself */

#define MOST_SERVICES "100"          /* a driver has one */

/* By server_session.server. */
static const char *const servers[] = {"thrift", "connect"};

#define SESSION_DURATION "CASE WHEN s.finish_ms >= s.start_ms THEN s.finish_ms - s.start_ms END"
#define OPERATIONS_OF "FROM server_operation o WHERE o.server = s.server AND o.session_id = s.session_id"

static const struct list_sort session_sorts[] = {
    {"start", "s.start_ms"},
    {"finish", "s.finish_ms"},
    {"duration", SESSION_DURATION},
    {"user", "s.user"},
    {"operations", "(SELECT count(*) " OPERATIONS_OF ")"},
    {NULL, NULL},
};

static const char *const session_statuses[] = {"open", "closed", "unknown"};
enum { SESSION_OPEN, SESSION_CLOSED, SESSION_UNKNOWN };

static void write_session(struct json_writer *json, sqlite3_stmt *stmt, bool ended)
{
    int64_t status = db_i64(stmt, 1);
    json_object_begin(json);
    json_kv_text(json, "server", API_WORD(servers, db_i64(stmt, 0)));
    json_kv_text(json, "status", API_WORD(session_statuses, status == SESSION_OPEN && ended ? SESSION_UNKNOWN : status));
    json_kv_bool(json, "startSeen", db_i64(stmt, 2) == 1);
    api_columns(json, stmt, 3, sqlite3_column_count(stmt));
    json_object_end(json);
}

static enum err_code each_session(struct json_writer *json, const struct api_app *app, struct query *query, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = query_prepare(query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        write_session(json, stmt, app->ended);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* When, and at which address, a Connect server listened. */
static enum err_code write_services(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT host, port, start_ms, end_ms FROM server_service ORDER BY service_ref LIMIT " MOST_SERVICES, err);
    if (!rc)
        rc = api_rows(json, "services", NULL, stmt, err);
    db_finalize(stmt);
    return rc;
}

/* Of the whole run, whatever is filtered: what the log holds no end of. As on the History Server's page, but a statement that has its result is not running. */
static enum err_code write_open(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt,
                                  "SELECT (SELECT count(*) FROM server_session WHERE end_seen = 0) AS open_session_count,"
                                  "       (SELECT count(*) FROM server_operation WHERE outcome IS NULL AND state < 3) AS open_operation_count",
                                  err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        api_columns(json, stmt, 0, sqlite3_column_count(stmt));
    db_finalize(stmt);
    return rc;
}

static void where_sessions(struct query *query, int server, const struct request *request)
{
    struct str q = request_param(request, "q"), session = request_param(request, "session");
    query_add(query, " WHERE 1");
    if (session.len)
        query_text(query, " AND s.session_id = ?", session);
    if (server >= 0)
        query_number(query, " AND s.server = ?", server);
    if (q.len)
        query_contains(query, " AND (s.user LIKE ? ESCAPE '\\' OR s.session_id LIKE ? ESCAPE '\\' OR s.ip LIKE ? ESCAPE '\\')", q);
}

static enum err_code write_sessions(const struct api_app *app, struct list *list, int server, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query query;
    query_init(&count, request->arena);
    query_init(&query, request->arena);
    query_add(&count, "SELECT count(*) FROM server_session s");
    where_sessions(&count, server, request);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    query_add(&query, "SELECT s.server, s.end_seen, s.start_seen, s.session_id, s.user, s.ip, s.start_ms, s.finish_ms, " SESSION_DURATION " AS duration_ms,"
                      "       (SELECT count(*) " OPERATIONS_OF ") AS operation_count, (SELECT count(*) " OPERATIONS_OF " AND o.outcome = 4) AS failed_operation_count"
                      " FROM server_session s");
    where_sessions(&query, server, request);
    query_order(&query, list, "s.session_ref");
    query_page(&query, list);
    struct json_writer *json = list_begin(list, response);
    rc = each_session(json, app, &query, err);
    list_end(list, json);
    if (!rc)
        rc = write_services(json, app->db, err);
    if (!rc)
        rc = write_open(json, app->db, err);
    json_object_end(json);
    return rc;
}

enum err_code api_sessions(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    int server;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, session_sorts, "-start", err) || param_word(request, "server", servers, ARRAY_LENGTH(servers), &server, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_sessions(&app, &list, server, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

/* ---- operations */

/* As the pages of Spark: until the statement had its result, and until its client let it go. */
#define EXECUTION_TIME "CASE WHEN o.finish_ms >= o.start_ms THEN o.finish_ms - o.start_ms END"
#define DURATION "CASE WHEN o.close_ms >= o.start_ms THEN o.close_ms - o.start_ms END"

static const struct list_sort sorts[] = {
    {"start", "o.start_ms"},
    {"finish", "o.finish_ms"},
    {"executionTime", EXECUTION_TIME},
    {"duration", DURATION},
    {"user", "o.user"},
    {"state", "o.state"},
    {"rows", "o.produced_rows"},
    {NULL, NULL},
};

/* By server_operation.state and outcome. */
static const char *const states[] = {"started", "compiled", "ready", "finished", "failed", "timedOut", "canceled", "closed"};
#define OUTCOME_FIRST 3
#define OUTCOME_COUNT 4

#define JOBS_OF "SELECT job_id FROM job WHERE job_group = o.job_group UNION SELECT job_id FROM job_tag WHERE o.server = 1 AND tag = o.operation_key"
#define EXECUTIONS_OF \
    "SELECT sql_execution_id FROM job WHERE job_id IN (" JOBS_OF ") AND sql_execution_id IS NOT NULL " \
    "UNION SELECT execution_id FROM sql_execution WHERE job_group = o.job_group UNION SELECT execution_id FROM sql_tag WHERE o.server = 1 AND tag = o.operation_key"
/* Long texts follow: cut in lists, whole in the operation. */
#define ITEM_COLUMNS \
    "SELECT o.server, o.state, o.outcome, o.start_seen, o.tags, (SELECT group_concat(job_id, ' ') FROM (" JOBS_OF " ORDER BY 1))," \
    "       (SELECT group_concat(sql_execution_id, ' ') FROM (" EXECUTIONS_OF " ORDER BY 1))," \
    "       o.operation_ref AS id, o.operation_id, o.session_id, o.user, o.job_group, CASE WHEN o.server = 1 THEN o.operation_key END AS job_tag," \
    "       o.start_ms, o.finish_ms, o.close_ms, " EXECUTION_TIME " AS execution_time_ms, " DURATION " AS duration_ms, o.produced_rows,"
#define ITEM_FIRST_PLAIN 7
#define ITEM_FROM " FROM server_operation o LEFT JOIN text t ON t.text_id = o.statement_text_id LEFT JOIN text e ON e.text_id = o.error_text_id"

static void write_operation(struct json_writer *json, sqlite3_stmt *stmt)
{
    json_object_begin(json);
    json_kv_text(json, "server", API_WORD(servers, db_i64(stmt, 0)));
    json_kv_text(json, "state", API_WORD(states, db_i64(stmt, 1)));
    json_kv_text(json, "outcome", API_WORD(states, db_i64(stmt, 2)));
    json_kv_bool(json, "startSeen", db_i64(stmt, 3) == 1);
    api_words(json, "tags", db_str(stmt, 4), ',');
    api_numbers(json, "jobIds", db_str(stmt, 5));
    api_numbers(json, "sqlExecutionIds", db_str(stmt, 6));
    api_columns(json, stmt, ITEM_FIRST_PLAIN, sqlite3_column_count(stmt));
    json_object_end(json);
}

struct filters {
    struct str q, session;
    int server, state, outcome;      /* -1: any; outcome from OUTCOME_FIRST on */
};

static enum err_code read_filters(struct filters *self, const struct request *request, struct err *err)
{
    self->q = request_param(request, "q");
    self->session = request_param(request, "session");
    enum err_code rc;
    if ((rc = param_word(request, "server", servers, ARRAY_LENGTH(servers), &self->server, err)) ||
        (rc = param_word(request, "state", states, ARRAY_LENGTH(states), &self->state, err)))
        return rc;
    return param_word(request, "outcome", states + OUTCOME_FIRST, OUTCOME_COUNT, &self->outcome, err);
}

static void where_operations(struct query *query, const struct filters *filters)
{
    query_add(query, " WHERE 1");
    if (filters->q.len)
        query_contains(query, " AND (t.body LIKE ? ESCAPE '\\' OR o.user LIKE ? ESCAPE '\\' OR o.operation_id LIKE ? ESCAPE '\\' OR o.tags LIKE ? ESCAPE '\\')", filters->q);
    if (filters->session.len)
        query_text(query, " AND o.session_id = ?", filters->session);
    if (filters->server >= 0)
        query_number(query, " AND o.server = ?", filters->server);
    if (filters->state >= 0)
        query_number(query, " AND o.state = ?", filters->state);
    if (filters->outcome >= 0)
        query_number(query, " AND o.outcome = ?", filters->outcome + OUTCOME_FIRST);
}

static enum err_code write_operations(const struct api_app *app, struct list *list, const struct filters *filters, const struct request *request, struct response *response,
                                      struct err *err)
{
    CLEANUP(query_dispose) struct query count;
    CLEANUP(query_dispose) struct query query;
    query_init(&count, request->arena);
    query_init(&query, request->arena);
    query_add(&count, "SELECT count(*)" ITEM_FROM);
    where_operations(&count, filters);
    enum err_code rc = list_count(list, &count, app->db, err);
    if (rc)
        return rc;
    query_add(&query, ITEM_COLUMNS " substr(t.body, 1, " TEXT_CHARS ") AS statement, length(t.body) AS statement_length, substr(e.body, 1, " TEXT_CHARS ") AS error" ITEM_FROM);
    where_operations(&query, filters);
    query_order(&query, list, "o.operation_ref");
    query_page(&query, list);
    sqlite3_stmt *stmt = NULL;
    struct json_writer *json = list_begin(list, response);
    rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        write_operation(json, stmt);
    db_finalize(stmt);
    list_end(list, json);
    json_object_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_operations(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct list list;
    struct filters filters;
    struct api_app app;
    enum err_code rc;
    bool unsound = list_read(&list, request, sorts, "-start", err) || read_filters(&filters, request, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    rc = write_operations(&app, &list, &filters, request, response, err);
    api_app_close(ctx, &app);
    return rc;
}

static enum err_code write_one(const struct api_app *app, int64_t operation_ref, struct response *response, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(app->db, &stmt,
                                  ITEM_COLUMNS " t.body AS statement, length(t.body) AS statement_length, e.body AS error, p.body AS plan, r.body AS trace" ITEM_FROM
                                               " LEFT JOIN text p ON p.text_id = o.plan_text_id LEFT JOIN text r ON r.text_id = o.trace_text_id WHERE o.operation_ref = ?",
                                  err);
    if (!rc) {
        db_bind_i64(stmt, 1, operation_ref);
        rc = db_step(stmt, err);
    }
    if (!rc)
        write_operation(response_json(response, false), stmt);
    db_finalize(stmt);
    if (rc != ERR_EOF)
        return rc;
    response_error(response, 404, "not_found", "there is no operation with this id");
    return ERR_OK;
}

enum err_code api_operation(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = write_one(&app, api_path_id(request, 1), response, err);
    api_app_close(ctx, &app);
    return rc;
}
