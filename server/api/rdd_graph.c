/* SPDX-License-Identifier: Apache-2.0
 *
 * The RDD operation graph of a job or of one stage (spec/core.md 2.10): RDDs by stage, each with its scopes, the outermost first, and the RDDs it is made of. An edge within a
 * stage is one within a pipeline; to an RDD of another stage it is a shuffle. Large graphs come in pieces of whole stages. */
#include "base/units.h"
#include "server/api/handlers.h"

#define PIECE_RDDS 2000  /* after so many no further stage begins */
#define STAGE_RDDS 10000 /* of one stage; rddCount says how many it has */
#define DEEPEST_SCOPE "32"

/* A stage as jobs described it first (s), and its latest attempt (l), which is the one to look at. Of a job: whether it was skipped for that. */
#define STAGES(skipped, from)                                                                                                                                    \
    "SELECT s.stage_ref, " skipped " AS skipped, s.stage_id, l.attempt, l.name, (SELECT group_concat(parent_id, ' ') FROM (SELECT parent_id FROM stage_parent p" \
    " WHERE p.stage_id = s.stage_id ORDER BY 1)), (SELECT count(*) FROM stage_rdd r WHERE r.stage_ref = s.stage_ref) AS rdd_count FROM " from                    \
    " JOIN stage s ON s.stage_id = k.stage_id AND s.attempt = (SELECT min(attempt) FROM stage WHERE stage_id = k.stage_id)"                                      \
    " JOIN stage l ON l.stage_id = k.stage_id AND l.attempt = (SELECT max(attempt) FROM stage WHERE stage_id = k.stage_id)"
#define COLUMN_SKIPPED 1
#define COLUMN_STAGE 2
#define FIRST_PLAIN 2
#define COLUMN_PARENTS 5
#define COLUMN_RDD_COUNT 6

static const char job_stages_sql[] =
    STAGES("k.skipped",
           "(SELECT stage_id, max(skipped AND NOT ran) AS skipped FROM job_stage WHERE job_id = ?1 GROUP BY stage_id) k") " WHERE k.stage_id >= ?2 ORDER BY k.stage_id";
static const char stage_sql[] = STAGES("0", "(SELECT stage_id FROM stage WHERE stage_ref = ?1) k") " WHERE k.stage_id >= ?2";

static const char rdds_sql[] =
    "SELECT r.scope_id, (SELECT group_concat(parent_id, ' ') FROM (SELECT parent_id FROM rdd_parent p WHERE p.rdd_id = k.rdd_id ORDER BY ordinal)), k.cached, r.barrier, r.determinism,"
    "       k.rdd_id AS id, r.name, r.callsite, r.num_partitions FROM stage_rdd k LEFT JOIN rdd r ON r.rdd_id = k.rdd_id WHERE k.stage_ref = ?1 ORDER BY k.rdd_id LIMIT ?2";
enum { RDD_SCOPE, RDD_PARENTS, RDD_CACHED, RDD_BARRIER, RDD_DETERMINISM, RDD_FIRST_PLAIN, RDD_END = 9 };

static const char scopes_sql[] =
    "WITH RECURSIVE chain(id, depth) AS (SELECT ?1, 0 UNION ALL SELECT s.parent_scope_id, depth + 1 FROM chain JOIN rdd_scope s ON s.scope_id = chain.id"
    " WHERE s.parent_scope_id IS NOT NULL AND depth < " DEEPEST_SCOPE ") SELECT s.scope_id AS id, s.name FROM chain JOIN rdd_scope s ON s.scope_id = chain.id ORDER BY depth DESC";

static enum err_code write_scopes(struct json_writer *json, sqlite3_stmt *scopes, struct str innermost, struct err *err)
{
    enum err_code rc = ERR_EOF;
    json_key(json, "scopes");
    json_array_begin(json);
    if (str_known(innermost))
        db_bind_str(scopes, 1, innermost);
    while (str_known(innermost) && (rc = db_step(scopes, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, scopes, 0, 2);
        json_object_end(json);
    }
    db_reset(scopes);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_rdds(struct json_writer *json, struct db *db, sqlite3_stmt *scopes, int64_t stage_ref, struct err *err)
{
    static const char *const determinisms[] = {"determinate", "unordered", "indeterminate"};
    sqlite3_stmt *rows = NULL;
    json_key(json, "rdds");
    json_array_begin(json);
    enum err_code rc = db_prepare(db, &rows, rdds_sql, err);
    if (!rc) {
        db_bind_i64(rows, 1, stage_ref);
        db_bind_i64(rows, 2, STAGE_RDDS);
    }
    while (!rc && (rc = db_step(rows, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, rows, RDD_FIRST_PLAIN, RDD_END);
        api_numbers(json, "parentIds", db_str(rows, RDD_PARENTS));
        json_kv_bool(json, "cached", db_i64(rows, RDD_CACHED) == 1);
        json_kv_bool(json, "barrier", db_i64(rows, RDD_BARRIER) == 1);
        json_kv_text(json, "determinism", API_WORD(determinisms, db_i64(rows, RDD_DETERMINISM)));
        rc = write_scopes(json, scopes, db_str(rows, RDD_SCOPE), err);
        json_object_end(json);
    }
    db_finalize(rows);
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* `sql` gets the id of what the graph is of, and the first stage of this piece. */
static enum err_code write_graph(struct json_writer *json, struct db *db, const char *sql, int64_t id, int64_t first_stage, struct err *err)
{
    sqlite3_stmt *stages = NULL, *scopes = NULL;
    int64_t next_stage = UNKNOWN, rdd_count = 0;
    enum err_code rc = db_prepare(db, &stages, sql, err);
    if (!rc)
        rc = db_prepare(db, &scopes, scopes_sql, err);
    if (!rc) {
        db_bind_i64(stages, 1, id);
        db_bind_i64(stages, 2, first_stage);
    }
    json_object_begin(json);
    json_key(json, "stages");
    json_array_begin(json);
    while (!rc && (rc = db_step(stages, err)) == ERR_OK) {
        if (rdd_count >= PIECE_RDDS) {
            next_stage = db_i64(stages, COLUMN_STAGE);
            break;
        }
        rdd_count += db_i64(stages, COLUMN_RDD_COUNT);
        json_object_begin(json);
        api_columns(json, stages, FIRST_PLAIN, COLUMN_PARENTS);
        json_kv_bool(json, "skipped", db_i64(stages, COLUMN_SKIPPED) == 1);
        api_numbers(json, "parentIds", db_str(stages, COLUMN_PARENTS));
        json_kv_i64(json, "rddCount", db_i64(stages, COLUMN_RDD_COUNT));
        rc = write_rdds(json, db, scopes, db_i64(stages, 0), err);
        json_object_end(json);
    }
    json_array_end(json);
    json_kv_i64(json, "nextStage", next_stage);
    json_object_end(json);
    db_finalize(stages);
    db_finalize(scopes);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_job_graph(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    int64_t first_stage, count = 0;
    enum err_code rc;
    bool unsound = request_param_i64(request, "stage", 0, 0, INT64_MAX, &first_stage, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    CLEANUP(query_dispose) struct query query;
    query_init(&query, request->arena);
    query_number(&query, "SELECT count(*) FROM job WHERE job_id = ?", api_path_id(request, 1));
    rc = query_i64(&query, app.db, &count, err);
    if (!rc && !count)
        response_error(response, 404, "not_found", "there is no such job");
    else if (!rc)
        rc = write_graph(response_json(response, false), app.db, job_stages_sql, api_path_id(request, 1), first_stage, err);
    api_app_close(ctx, &app);
    return rc;
}

enum err_code api_stage_graph(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    int64_t stage_ref;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    rc = stage_find(app.db, request, &stage_ref, err);
    if (!rc && !known(stage_ref))
        response_error(response, 404, "not_found", "there is no such stage attempt");
    else if (!rc)
        rc = write_graph(response_json(response, false), app.db, stage_sql, stage_ref, 0, err);
    api_app_close(ctx, &app);
    return rc;
}
