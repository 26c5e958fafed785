/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time went: the time account of the application, a job or a stage attempt, and the times without a job. */
#include "analysis/account.h"
#include "analysis/messages.h"
#include "server/api/handlers.h"

/* Values of account.scope: 0 application; 1 and 2 window and cost of a job; 3 and 4 of a stage attempt. */
enum { SCOPE_APP, SCOPE_JOB, SCOPE_STAGE = 3 };

#define MOST_GAPS 10000 /* as many as are stored */

struct wanted {
    int64_t scope, owner; /* owner UNKNOWN: there is no such stage attempt */
    int64_t gaps;         /* at most so many */
    struct str bucket;    /* whose holders are asked for; empty: nobody's */
};

static enum err_code wanted_of(struct db *db, const struct request *request, struct wanted *ret, struct err *err)
{
    struct str job = request_param(request, "job"), stage = request_param(request, "stage"), view = request_param(request, "view");
    int64_t is_cost = str_is(view, "cost");
    *ret = (struct wanted){.scope = SCOPE_APP, .bucket = request_param(request, "holders")};
    if (request_param_i64(request, "gaps", MOST_GAPS, 0, MOST_GAPS, &ret->gaps, err))
        return ERR_INVALID;
    if (view.len && !is_cost && !str_is(view, "window"))
        return err_set(err, ERR_INVALID, "view is window or cost");
    if (job.len) {
        ret->scope = SCOPE_JOB + is_cost;
        return str_to_i64(job, &ret->owner) ? ERR_OK : err_set(err, ERR_INVALID, "job is a number");
    }
    if (!stage.len)
        return ERR_OK;
    sqlite3_stmt *stmt = NULL;
    ret->scope = SCOPE_STAGE + is_cost;
    ret->owner = UNKNOWN;
    enum err_code rc = db_prepare(db, &stmt, "SELECT stage_ref FROM stage WHERE stage_id || '.' || attempt = ?1", err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, stage);
    if ((rc = db_step(stmt, err)) == ERR_OK)
        ret->owner = db_i64(stmt, 0);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void write_bucket(struct json_writer *json, enum lang lang, struct str bucket, int64_t slot_ms, int64_t wall_ms)
{
    json_object_begin(json);
    json_kv_str(json, "bucket", bucket);
    json_kv_text(json, "name", message(lang, "buckets", bucket, "name"));
    json_kv_text(json, "meaning", message(lang, "buckets", bucket, "meaning"));
    json_kv_i64(json, "slotMs", slot_ms);
    json_kv_i64(json, "wallMs", wall_ms);
    json_object_end(json);
}

static enum err_code read_buckets(sqlite3_stmt *stmt, int64_t *slot_ms, int64_t *wall_ms, bool *is_there, struct err *err)
{
    enum err_code rc;
    while ((rc = db_step(stmt, err)) == ERR_OK)
        for (int i = 0; i < BUCKET_COUNT; i++)
            if (str_is(db_str(stmt, 0), bucket_names[i])) {
                slot_ms[i] = db_i64(stmt, 1);
                wall_ms[i] = db_i64(stmt, 2);
                is_there[i] = true;
            }
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code account_buckets(struct json_writer *json, const char *key, struct db *db, int64_t scope, int64_t owner, enum lang lang, struct err *err)
{
    int64_t slot_ms[BUCKET_COUNT], wall_ms[BUCKET_COUNT];
    bool is_there[BUCKET_COUNT] = {false};
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT bucket, slot_ms, wall_ms FROM account WHERE scope = ?1 AND owner = ?2", err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, scope);
    db_bind_i64(stmt, 2, owner);
    rc = read_buckets(stmt, slot_ms, wall_ms, is_there, err);
    db_finalize(stmt);
    json_key(json, key);
    json_array_begin(json);
    for (int i = 0; i < BUCKET_COUNT; i++)
        if (is_there[i])
            write_bucket(json, lang, str_of(bucket_names[i]), slot_ms[i], wall_ms[i]);
    json_array_end(json);
    return rc;
}

static enum err_code write_row(struct json_writer *json, struct db *db, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, sql, err);
    if (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        api_columns(json, stmt, 0, sqlite3_column_count(stmt));
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

#define GAP_COLUMNS "SELECT from_ms, to_ms, kind AS bucket, sub, execution_id, job_before, job_after FROM driver_gap"
static const char gaps_sql[] = "SELECT * FROM (" GAP_COLUMNS " ORDER BY to_ms - from_ms DESC, gap_no LIMIT ?1) ORDER BY from_ms, to_ms";

/* What holds most of a bucket: stage attempts and jobs by their costs, gaps by their length. ?1: the bucket. */
#define HOLDERS 8
static const char stage_holders_sql[] =
    "SELECT s.stage_id, s.attempt, coalesce(s.description, s.name) AS name, a.slot_ms, (SELECT sum(slot_ms) FROM account w WHERE w.scope = 4 AND w.owner = a.owner) AS all_slot_ms"
    "  FROM account a JOIN stage s ON s.stage_ref = a.owner WHERE a.scope = 4 AND a.bucket = ?1 AND a.slot_ms > 0 ORDER BY a.slot_ms DESC, s.stage_ref LIMIT ?2";
static const char job_holders_sql[] =
    "SELECT j.job_id, coalesce(j.description, j.name) AS name, a.slot_ms, (SELECT sum(slot_ms) FROM account w WHERE w.scope = 2 AND w.owner = a.owner) AS all_slot_ms"
    "  FROM account a JOIN job j ON j.job_id = a.owner WHERE a.scope = 2 AND a.bucket = ?1 AND a.slot_ms > 0 ORDER BY a.slot_ms DESC, j.job_id LIMIT ?2";
static const char gap_holders_sql[] = GAP_COLUMNS " WHERE kind = ?1 ORDER BY to_ms - from_ms DESC, gap_no LIMIT ?2";

static enum err_code write_list(struct json_writer *json, const char *key, sqlite3_stmt *stmt, struct err *err)
{
    enum err_code rc = api_rows(json, key, NULL, stmt, err);
    db_finalize(stmt);
    return rc;
}

static enum err_code write_gaps(struct json_writer *json, struct db *db, int64_t most, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, gaps_sql, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, most);
    return write_list(json, "gaps", stmt, err);
}

static enum err_code write_holders(struct json_writer *json, struct db *db, struct str bucket, struct err *err)
{
    static const char *const keys[] = {"stages", "jobs", "gaps"}, *const queries[] = {stage_holders_sql, job_holders_sql, gap_holders_sql};
    enum err_code rc = ERR_OK;
    json_key(json, "holders");
    json_object_begin(json);
    for (size_t i = 0; i < ARRAY_LENGTH(keys) && !rc; i++) {
        sqlite3_stmt *stmt = NULL;
        if ((rc = db_prepare(db, &stmt, queries[i], err)))
            break;
        db_bind_str(stmt, 1, bucket);
        db_bind_i64(stmt, 2, HOLDERS);
        rc = write_list(json, keys[i], stmt, err);
    }
    json_object_end(json);
    return rc;
}

static enum err_code answer(struct db *db, const struct wanted *wanted, enum lang lang, struct response *response, struct err *err)
{
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    enum err_code rc =
        write_row(json, db, "SELECT begin_ms, end_ms, wall_ms, jobs_ms, slot_peak, frame_ms, allocated_ms, overlap_ms, completeness, clock_faults FROM analysis", err);
    if (!rc)
        rc = account_buckets(json, "buckets", db, wanted->scope, wanted->owner, lang, err);
    if (!rc && wanted->scope == SCOPE_APP)
        rc = write_gaps(json, db, wanted->gaps, err);
    if (!rc && wanted->scope == SCOPE_APP && wanted->bucket.len)
        rc = write_holders(json, db, wanted->bucket, err);
    json_object_end(json);
    return rc;
}

enum err_code api_account(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    struct wanted wanted;
    enum lang lang;
    enum err_code rc;
    bool unsound = request_lang(request, &lang, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err)) {
        rc = wanted_of(app.db, request, &wanted, err);
        if (rc == ERR_INVALID) {
            rc = ERR_OK;
            api_bad_parameter(response, err);
        } else if (!rc) {
            rc = answer(app.db, &wanted, lang, response, err);
        }
    }
    api_app_close(ctx, &app);
    return rc;
}
