/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tasks of one stage attempt are like and why some of them were slow. */
#include "analysis/messages.h"
#include "server/api/handlers.h"

static const char row_sql[] =
    "SELECT verdict, cause, causes, completeness, slots, winner_count, lost_count, on_path_ms, base_ms, rec_cap_ms, rec_spread_ms, gc_share, eta2, cause_share, outlier_count, outlier_cut_ms"
    "  FROM stage_analysis WHERE stage_ref = ?1";

/* Milliseconds of the outliers by cause, largest first. */
static enum err_code write_causes(struct json_writer *json, struct db *db, struct str causes, enum lang lang, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT key, CAST(value AS REAL) FROM json_each(CASE WHEN json_valid(?1) THEN ?1 ELSE '{}' END) ORDER BY value DESC, key", err);
    if (!rc)
        db_bind_str(stmt, 1, causes);
    json_key(json, "causes");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        json_kv_str(json, "cause", db_str(stmt, 0));
        json_kv_text(json, "name", message(lang, "causes", db_str(stmt, 0), NULL));
        json_kv_f64(json, "ms", db_f64(stmt, 1));
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_distributions(struct json_writer *json, struct db *db, int64_t stage_ref, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc =
        db_prepare(db, &stmt, "SELECT name, task_count, sum, min, p25, p50, p75, p95, p99, max, mean, sigma, ratio FROM stage_distribution WHERE stage_ref = ?1 ORDER BY name",
                   err);
    if (!rc) {
        db_bind_i64(stmt, 1, stage_ref);
        rc = api_rows(json, "distributions", NULL, stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code write_row(struct json_writer *json, struct db *db, sqlite3_stmt *stmt, enum lang lang, struct err *err)
{
    struct str verdict = db_str(stmt, 0), cause = db_str(stmt, 1);
    api_columns(json, stmt, 4, sqlite3_column_count(stmt));
    json_kv_f64(json, "completeness", db_f64(stmt, 3));
    json_kv_str(json, "verdict", verdict);
    json_kv_text(json, "verdictName", message(lang, "verdicts", verdict, NULL));
    json_kv_str(json, "cause", cause);
    json_kv_text(json, "causeName", message(lang, "causes", cause, NULL));
    return write_causes(json, db, db_str(stmt, 2), lang, err);
}

static enum err_code answer(struct db *db, int64_t stage_ref, enum lang lang, struct response *response, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, row_sql, err);
    if (rc)
        return rc;
    db_bind_i64(stmt, 1, stage_ref);
    rc = db_step(stmt, err);
    if (rc == ERR_EOF)
        response_error(response, 404, "not_found", "this stage attempt was not analysed: it ran no task, or others had more work");
    if (rc == ERR_OK) {
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        rc = write_row(json, db, stmt, lang, err);
        if (!rc)
            rc = write_distributions(json, db, stage_ref, err);
        if (!rc)
            rc = account_buckets(json, "window", db, 3, stage_ref, lang, err);
        if (!rc)
            rc = account_buckets(json, "cost", db, 4, stage_ref, lang, err);
        json_object_end(json);
    }
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_stage_analysis(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum lang lang;
    int64_t stage_ref;
    enum err_code rc;
    bool unsound = request_lang(request, &lang, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    if (analysis_is_there(&app, response, &rc, err) && !(rc = stage_find(app.db, request, &stage_ref, err))) {
        if (known(stage_ref))
            rc = answer(app.db, stage_ref, lang, response, err);
        else
            response_error(response, 404, "not_found", "there is no such stage attempt");
    }
    api_app_close(ctx, &app);
    return rc;
}
