/* SPDX-License-Identifier: Apache-2.0
 *
 * environment (spec/core.md §3.8). Secrets were replaced by ingest; the pattern of the operator may be newer than that (redact_shown). */
#include "base/redact.h"
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"

/* environment.section */
enum { SECTION_JVM, SECTION_SPARK, SECTION_HADOOP, SECTION_SYSTEM, SECTION_METRICS, SECTION_CLASS_PATH };

static const struct {
    const char *name, *key;
} runtime_keys[] = {{"Java Version", "javaVersion"}, {"Java Home", "javaHome"}, {"Scala Version", "scalaVersion"}};

static const struct {
    int64_t section;
    const char *key;
} pair_sections[] = {
    {SECTION_SPARK, "sparkProperties"},     {SECTION_HADOOP, "hadoopProperties"},      {SECTION_SYSTEM, "systemProperties"},
    {SECTION_METRICS, "metricsProperties"}, {SECTION_CLASS_PATH, "classpathEntries"},
};

static enum err_code write_runtime(struct json_writer *w, sqlite3_stmt *entries, struct err *err)
{
    enum err_code rc = ERR_EOF;
    json_key(w, "runtime");
    json_object_begin(w);
    for (size_t i = 0; i < ARRAY_LENGTH(runtime_keys) && rc == ERR_EOF; i++) {
        db_bind_i64(entries, 1, SECTION_JVM);
        while ((rc = db_step(entries, err)) == ERR_OK)
            if (str_is(db_str(entries, 0), runtime_keys[i].name))
                v1_text_if(w, runtime_keys[i].key, db_str(entries, 1));
    }
    json_object_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_section(struct json_writer *w, const char *key, int64_t section, sqlite3_stmt *entries, struct err *err)
{
    enum err_code rc;
    json_key(w, key);
    json_array_begin(w);
    db_bind_i64(entries, 1, section);
    while ((rc = db_step(entries, err)) == ERR_OK) {
        json_array_begin(w);
        json_str(w, db_str(entries, 0));
        struct str value = str_known(db_str(entries, 1)) ? db_str(entries, 1) : STR_LIT("");
        json_str(w, section == SECTION_CLASS_PATH ? value : redact_shown(db_str(entries, 0), value));
        json_array_end(w);
    }
    json_array_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

/* The requests of one profile and kind as an object by name. */
static enum err_code write_requests(struct json_writer *w, const char *key, int64_t profile_id, bool executor, sqlite3_stmt *requests, struct err *err)
{
    enum err_code rc;
    json_key(w, key);
    json_object_begin(w);
    db_bind_i64(requests, 1, profile_id);
    db_bind_i64(requests, 2, executor ? 0 : 1);
    while ((rc = db_step(requests, err)) == ERR_OK) {
        struct str name = db_str(requests, 0);
        json_key_str(w, name);
        json_object_begin(w);
        json_kv_str(w, "resourceName", str_known(db_str(requests, 2)) ? db_str(requests, 2) : name);
        if (executor) {
            json_kv_i64(w, "amount", sqlite3_column_int64(requests, 1));
            v1_text(w, "discoveryScript", db_str(requests, 3));
            v1_text(w, "vendor", db_str(requests, 4));
        } else {
            json_key(w, "amount");
            v1_double(w, db_f64(requests, 1));
        }
        json_object_end(w);
    }
    json_object_end(w);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code write_profiles(struct json_writer *w, struct db *db, struct err *err)
{
    sqlite3_stmt *profiles = NULL, *requests = NULL;
    enum err_code rc = db_prepare(db, &profiles, "SELECT profile_id FROM resource_profile ORDER BY profile_id", err);
    if (rc == ERR_OK)
        rc = db_prepare(db, &requests,
                        "SELECT name, amount, resource_name, discovery_script, vendor FROM resource_request WHERE profile_id = ?1 AND kind = ?2 ORDER BY ordinal", err);
    json_key(w, "resourceProfiles");
    json_array_begin(w);
    while (rc == ERR_OK && (rc = db_step(profiles, err)) == ERR_OK) {
        int64_t id = db_i64(profiles, 0);
        json_object_begin(w);
        json_kv_i64(w, "id", id);
        rc = write_requests(w, "executorResources", id, true, requests, err);
        if (rc == ERR_OK)
            rc = write_requests(w, "taskResources", id, false, requests, err);
        json_object_end(w);
    }
    json_array_end(w);
    db_finalize(profiles);
    db_finalize(requests);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static enum err_code environment(struct v1_scope *scope, struct err *err)
{
    int64_t missing;
    enum err_code rc = db_query_i64(scope->db, "SELECT no_environment FROM log_health", &missing, err);
    if (rc)
        return rc;
    if (missing == 1)
        return v1_no_such_app(scope);
    sqlite3_stmt *entries = NULL;
    if ((rc = db_prepare(scope->db, &entries, "SELECT name, value FROM environment WHERE section = ?1 ORDER BY name", err)))
        return rc;
    struct json_writer *w = response_json(scope->response, true);
    json_object_begin(w);
    rc = write_runtime(w, entries, err);
    for (size_t i = 0; i < ARRAY_LENGTH(pair_sections) && rc == ERR_OK; i++)
        rc = write_section(w, pair_sections[i].key, pair_sections[i].section, entries, err);
    if (rc == ERR_OK)
        rc = write_profiles(w, scope->db, err);
    json_object_end(w);
    db_finalize(entries);
    return rc;
}

enum err_code v1_environment(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, environment, err);
}
