/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"
#include "server/api/handlers.h"

static const char *const sections[] = {"jvm", "spark", "hadoop", "system", "metrics", "classpath"};

#define CLASS_PATH 5

static const char entries_sql[] = "SELECT name, value FROM environment WHERE section = ? ORDER BY name";
static const char profiles_sql[] = "SELECT profile_id FROM resource_profile UNION SELECT profile_id FROM resource_request ORDER BY profile_id";
static const char requests_sql[] = "SELECT name, amount, resource_name, discovery_script, vendor FROM resource_request WHERE profile_id = ? AND kind = ? ORDER BY ordinal";

static enum err_code write_sections(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, entries_sql, err);
    json_key(json, "sections");
    json_array_begin(json);
    for (size_t i = 0; i < ARRAY_LENGTH(sections) && !rc; i++) {
        json_object_begin(json);
        json_kv_text(json, "name", sections[i]);
        json_key(json, "entries");
        json_array_begin(json);
        db_bind_i64(stmt, 1, (int64_t)i);
        while ((rc = db_step(stmt, err)) == ERR_OK) {
            json_array_begin(json);
            json_str(json, db_str(stmt, 0));
            json_str(json, i == CLASS_PATH ? db_str(stmt, 1) : redact_shown(db_str(stmt, 0), db_str(stmt, 1)));
            json_array_end(json);
        }
        rc = rc == ERR_EOF ? ERR_OK : rc;
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc;
}

static enum err_code write_requests(struct json_writer *json, sqlite3_stmt *stmt, const char *key, int64_t profile_id, int64_t kind, struct err *err)
{
    json_key(json, key);
    json_array_begin(json);
    db_bind_i64(stmt, 1, profile_id);
    db_bind_i64(stmt, 2, kind);
    enum err_code rc;
    while ((rc = db_step(stmt, err)) == ERR_OK) {
        json_object_begin(json);
        api_columns(json, stmt, 0, 5);
        json_object_end(json);
    }
    json_array_end(json);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_profiles(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *profiles = NULL, *requests = NULL;
    enum err_code rc = db_prepare(db, &profiles, profiles_sql, err);
    if (!rc)
        rc = db_prepare(db, &requests, requests_sql, err);
    json_key(json, "resourceProfiles");
    json_array_begin(json);
    while (!rc && (rc = db_step(profiles, err)) == ERR_OK) {
        int64_t id = db_i64(profiles, 0);
        json_object_begin(json);
        json_kv_i64(json, "id", id);
        if (!(rc = write_requests(json, requests, "executor", id, 0, err)))
            rc = write_requests(json, requests, "task", id, 1, err);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(profiles);
    db_finalize(requests);
    return rc == ERR_EOF ? ERR_OK : rc;
}

enum err_code api_environment(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum err_code rc;
    if (!api_app_open(ctx, request, response, &app, &rc, err))
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    if (!(rc = write_sections(json, app.db, err)))
        rc = write_profiles(json, app.db, err);
    json_object_end(json);
    api_app_close(ctx, &app);
    return rc;
}
