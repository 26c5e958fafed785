/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment, and beside it what analysis knows of settings: those that were made and what Spark would take without them, those that are other in every run, libraries that are
 * twice on the class path. */
#include "analysis/compare.h"
#include "analysis/conf_audit.h"
#include "base/redact.h"
#include "server/api/handlers.h"

static const char *const sections[] = {"jvm", "spark", "hadoop", "system", "metrics", "classpath"};

#define CLASS_PATH 5
#define MOST_SETTINGS "2000"
#define MOST_JARS 200 /* conflicts that are told one by one */

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
    db_bind_i64(stmt, 1, profile_id);
    db_bind_i64(stmt, 2, kind);
    return api_rows(json, key, NULL, stmt, err);
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

/* Settings that analysis knows: farthest from the default first. */
static const char settings_sql[] =
    "SELECT at_run_time, name, value, default_value, distance, state, meant, fired FROM conf_audit ORDER BY fired > 0 DESC, distance DESC, name, at_run_time LIMIT " MOST_SETTINGS;

static enum err_code write_settings(struct json_writer *json, struct db *db, enum lang lang, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, settings_sql, err);
    json_key(json, "settings");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK) {
        struct str name = db_str(stmt, 1), meant = db_str(stmt, 6);
        const struct conf_default *entry = conf_default_find(str_known(meant) ? meant : name);
        json_object_begin(json);
        json_kv_str(json, "name", name);
        json_kv_str(json, "value", redact_shown(name, db_str(stmt, 2)));
        api_columns(json, stmt, 3, 8);
        json_kv_bool(json, "atRunTime", db_i64(stmt, 0) == 1);
        json_kv_bool(json, "differs", db_f64(stmt, 4) > 0);
        json_kv_text(json, "meaning", !entry ? NULL : lang == LANG_ZH_CN ? entry->chinese : entry->english);
        api_words(json, "rules", entry ? str_of(entry->rules) : STR_NONE, ' ');
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* Names of Spark properties with another value in every run, but for those that somebody may set on purpose. */
static enum err_code write_per_run(struct json_writer *json, struct db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(db, &stmt, "SELECT name FROM environment WHERE section = 1 ORDER BY name", err);
    json_key(json, "perRun");
    json_array_begin(json);
    while (!rc && (rc = db_step(stmt, err)) == ERR_OK)
        if (setting_is_per_run(db_str(stmt, 0)) && !conf_default_find(db_str(stmt, 0)))
            json_str(json, db_str(stmt, 0));
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* A conflict of two jars, and where on the class path they are. */
struct jar {
    struct str artefact; /* arena */
    bool scala;
};

/* Paths on the class path that are one of these, each with the number of its conflict. */
static enum err_code write_jar_paths(struct json_writer *json, struct db *db, const struct jar *jars, size_t count, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    struct jar_name name;
    enum err_code rc = db_prepare(db, &stmt, "SELECT name FROM environment WHERE section = 5 ORDER BY name", err);
    json_key(json, "jarPaths");
    json_array_begin(json);
    while (count && !rc && (rc = db_step(stmt, err)) == ERR_OK) {
        bool sound = jar_name_of(db_str(stmt, 0), &name);
        for (size_t i = 0; sound && i < count; i++)
            if (str_eq(jars[i].artefact, name.artefact) && (!jars[i].scala || name.scala.len)) {
                json_object_begin(json);
                json_kv_str(json, "path", db_str(stmt, 0));
                json_kv_i64(json, "conflict", (int64_t)i);
                json_object_end(json);
                break;
            }
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_jars(struct json_writer *json, struct db *db, struct arena *arena, struct err *err)
{
    struct jar *jars = arena_zalloc(arena, MOST_JARS, sizeof *jars);
    sqlite3_stmt *stmt = NULL;
    size_t count = 0;
    enum err_code rc = jars ? db_prepare(db, &stmt, "SELECT scala, sparks_own, artefact, first, second FROM jar_conflict ORDER BY jar_no", err) : err_nomem(err);
    json_key(json, "jarConflicts");
    json_array_begin(json);
    while (!rc && count < MOST_JARS && (rc = db_step(stmt, err)) == ERR_OK) {
        jars[count].scala = db_i64(stmt, 0) == 1;
        if (arena_str(arena, db_str(stmt, 2), &jars[count].artefact)) {
            rc = err_nomem(err);
            break;
        }
        count++;
        json_object_begin(json);
        json_kv_bool(json, "scala", db_i64(stmt, 0) == 1);
        json_kv_bool(json, "sparksOwn", db_i64(stmt, 1) == 1);
        api_columns(json, stmt, 2, 5);
        json_object_end(json);
    }
    json_array_end(json);
    db_finalize(stmt);
    return rc && rc != ERR_EOF ? rc : write_jar_paths(json, db, jars, count, err);
}

enum err_code api_environment(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct api_app app;
    enum lang lang;
    enum err_code rc;
    bool unsound = request_lang(request, &lang, err);
    if (!api_app_open_for(ctx, request, response, unsound, &app, &rc, err))
        return rc;
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    if (!(rc = write_sections(json, app.db, err)) && !(rc = write_profiles(json, app.db, err)) && !(rc = write_settings(json, app.db, lang, err)) &&
        !(rc = write_per_run(json, app.db, err)))
        rc = write_jars(json, app.db, request->arena, err);
    json_object_end(json);
    api_app_close(ctx, &app);
    return rc;
}
