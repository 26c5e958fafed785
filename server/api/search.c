/* SPDX-License-Identifier: Apache-2.0
 *
 * Things of one run by what is said of them, for the search of the pages: a few of each kind, the likeliest first. Every word must be found. Findings and other runs have routes of
 * their own. Values of settings are not searched: what is found would tell what is hidden. */
#include <string.h>

#include "base/redact.h"
#include "server/api/handlers.h"

#define MOST_WORDS 8 /* what is behind the last one belongs to it */
#define MOST_OF_A_KIND 50
#define USUAL_OF_A_KIND 6

/* What is searched in: `said` begins with what people call the thing ("stage 14 …"), `id` is its number alone. */
#define LONGEST "duration_ms DESC NULLS LAST, key"
static const struct {
    const char *kind, *order, *sql;
} kinds[] = {
    {"stage", LONGEST,
     "SELECT s.stage_id || '.' || s.attempt AS key, s.stage_id AS id, coalesce(s.description, s.name) AS label, "
     "CASE WHEN s.completion_ms >= coalesce(s.first_task_launch_ms, s.submission_ms) THEN s.completion_ms - coalesce(s.first_task_launch_ms, s.submission_ms) END AS duration_ms, "
     "'stage ' || s.stage_id || ' ' || s.stage_id || '.' || s.attempt || ' ' || coalesce(s.description, '') || ' ' || coalesce(s.name, '') || ' ' || "
     "coalesce(substr(t.body, 1, 2000), '') AS said FROM stage s LEFT JOIN text t ON t.text_id = s.failure_text_id"},
    {"job", LONGEST,
     "SELECT j.job_id AS key, j.job_id AS id, coalesce(j.description, j.name) AS label, "
     "CASE WHEN j.completion_ms >= j.submission_ms THEN j.completion_ms - j.submission_ms END AS duration_ms, "
     "'job ' || j.job_id || ' ' || coalesce(j.description, '') || ' ' || coalesce(j.name, '') || ' ' || coalesce(j.job_group, '') || ' ' || "
     "coalesce(substr(t.body, 1, 2000), '') AS said FROM job j LEFT JOIN text t ON t.text_id = j.failure_text_id"},
    {"sql", LONGEST,
     "SELECT e.execution_id AS key, e.execution_id AS id, e.description AS label, "
     "CASE WHEN e.completion_ms >= e.submission_ms THEN e.completion_ms - e.submission_ms END AS duration_ms, "
     "'query ' || e.execution_id || ' sql ' || coalesce(e.description, '') || ' ' || coalesce(substr(t.body, 1, 2000), '') AS said "
     "FROM sql_execution e LEFT JOIN text t ON t.text_id = e.error_text_id"},
    {"exec", LONGEST,
     "SELECT executor_id AS key, executor_id AS id, host_port AS label, task_time_ms AS duration_ms, "
     "'executor ' || executor_id || ' ' || coalesce(host_port, host, '') || ' ' || coalesce(remove_reason, '') AS said FROM executor"},
    {"conf", "section <> 1, key", "SELECT name AS key, name AS id, value AS label, NULL AS duration_ms, name AS said, section FROM environment WHERE section BETWEEN 0 AND 4"},
};

static enum err_code write_kind(struct json_writer *json, const struct api_app *app, size_t kind, struct str q, int64_t limit, struct arena *arena, struct err *err)
{
    CLEANUP(query_dispose) struct query query;
    sqlite3_stmt *stmt = NULL;
    struct str rest = q;
    query_init(&query, arena);
    query_add(&query, "SELECT key, label, duration_ms FROM (");
    query_add(&query, kinds[kind].sql);
    query_add(&query, ") WHERE 1");
    for (int i = 0; i < MOST_WORDS && rest.len; i++) {
        query_contains(&query, " AND said LIKE ? ESCAPE '\\'", i + 1 < MOST_WORDS ? str_word(&rest, ' ') : rest);
    }
    query_text(&query, " ORDER BY lower(id) = lower(?) DESC, instr(lower(said) || ' ', lower(?) || ' ') = 1 DESC, ", q);
    query_add(&query, kinds[kind].order);
    query_number(&query, " LIMIT ?", limit);
    enum err_code rc = query_prepare(&query, app->db, &stmt, err);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        json_kv_text(json, "kind", kinds[kind].kind);
        json_kv_str(json, "key", db_str(stmt, 0));
        json_kv_str(json, "label", strcmp(kinds[kind].kind, "conf") == 0 ? redact_shown(db_str(stmt, 0), db_str(stmt, 1)) : db_str(stmt, 1));
        json_kv_i64(json, "durationMs", db_i64(stmt, 2));
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_search(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct str q = request_param(request, "q");
    int64_t limit;
    enum err_code rc;
    bool unsound = request_param_i64(request, "limit", USUAL_OF_A_KIND, 1, MOST_OF_A_KIND, &limit, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_key(json, "items");
    json_array_begin(json);
    for (size_t i = 0; i < ARRAY_LENGTH(kinds) && q.len && !rc; i++)
        rc = write_kind(json, &app, i, q, limit, request->arena, err);
    json_array_end(json);
    json_object_end(json);
    api_app_close(ctx, &app);
    return rc;
}
