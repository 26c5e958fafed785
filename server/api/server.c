/* SPDX-License-Identifier: Apache-2.0
 *
 * The server's state for whoever runs it: what /metrics counts, with names, paths and reasons. For viewers who see every run. */
#include "server/server.h"
#include "base/process_usage.h"
#include "base/redact.h"
#include "base/settings.h"
#include "base/time.h"
#include "base/worker_counts.h"
#include "server/answer_cache.h"
#include "server/api/handlers.h"
#include "server/db_pool.h"
#include "server/dispatch.h"
#include "server/log_troubles.h"
#include "server/readiness.h"
#include "server/store_usage.h"

#include <unistd.h>

#define EXAMPLES 5 /* logs of each trouble; the list has all */

/* ---- places, queue, troubles ---- */

static const char places_sql[] = "SELECT uri, name, last_scan_ms, last_scan_duration_ms, entry_count, last_error, failing_since_ms FROM place ORDER BY uri";

static enum err_code write_places(struct json_writer *json, struct db *catalog, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, places_sql, err);
    if (!rc)
        rc = api_rows(json, "places", NULL, stmt, err);
    db_finalize(stmt);
    return rc;
}

static const char examples_sql[] = "SELECT log_id, path AS log_path, app_key AS key, reason, changed_ms FROM log WHERE " LOG_TROUBLE_WHERE " AND " LOG_TROUBLE_SQL
                                   " = ?1 ORDER BY changed_ms DESC, log_id LIMIT ?2";

static enum err_code write_examples(struct json_writer *json, struct db *catalog, const char *trouble, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, examples_sql, err);
    if (!rc) {
        db_bind_str(stmt, 1, str_of(trouble));
        db_bind_i64(stmt, 2, EXAMPLES);
        rc = api_rows(json, "latest", NULL, stmt, err);
    }
    db_finalize(stmt);
    return rc;
}

static enum err_code write_troubles(struct json_writer *json, struct db *catalog, const int64_t counts[LOG_TROUBLE_COUNT], struct err *err)
{
    enum err_code rc = ERR_OK;
    json_key(json, "troubles");
    json_array_begin(json);
    for (size_t i = 0; i < LOG_TROUBLE_COUNT && !rc; i++) {
        if (!counts[i])
            continue;
        json_object_begin(json);
        json_kv_text(json, "reason", log_troubles[i]);
        json_kv_i64(json, "count", counts[i]);
        rc = write_examples(json, catalog, log_troubles[i], err);
        json_object_end(json);
    }
    json_array_end(json);
    return rc;
}

static enum err_code write_logs(struct json_writer *json, struct db *catalog, struct err *err)
{
    struct log_counts counts;
    enum err_code rc = log_counts_read(&counts, catalog, err);
    if (rc)
        return rc;
    json_key(json, "logs");
    json_object_begin(json);
    for (size_t i = 0; i < LOG_STATE_COUNT; i++)
        json_kv_i64(json, log_states[i], counts.states[i]);
    json_object_end(json);
    json_kv_i64(json, "waitingBytes", counts.waiting_bytes);
    return write_troubles(json, catalog, counts.troubles, err);
}

/* ---- disk ---- */

static const char run_sql[] = "SELECT app_key AS key, app_id, attempt_id, name, user, loaded, end_ms FROM app WHERE app_key = ?1";

static enum err_code write_disk(struct json_writer *json, struct server *server, struct db *catalog, struct err *err)
{
    struct store_usage usage;
    sqlite3_stmt *stmt = NULL;
    store_usage_get(server_store_usage(server), &usage);
    json_key(json, "disk");
    json_object_begin(json);
    json_kv_i64(json, "measuredMs", usage.measured_ms);
    json_kv_i64(json, "catalogueBytes", usage.catalog_bytes);
    json_kv_i64(json, "runBytes", usage.run_bytes);
    json_kv_i64(json, "runCount", usage.run_count);
    json_kv_i64(json, "freeBytes", usage.free_bytes);
    json_key(json, "setAside");
    json_object_begin(json);
    json_kv_i64(json, "count", usage.aside_count);
    json_kv_i64(json, "bytes", usage.aside_bytes);
    json_key(json, "names");
    json_array_begin(json);
    for (size_t i = 0; i < STORE_USAGE_ASIDE && (int64_t)i < usage.aside_count; i++)
        json_str(json, str_of(usage.aside[i]));
    json_array_end(json);
    json_object_end(json);
    json_key(json, "largest");
    json_array_begin(json);
    enum err_code rc = catalog ? db_prepare(catalog, &stmt, run_sql, err) : ERR_OK;
    for (size_t i = 0; i < usage.largest_count && stmt && !rc; i++) {
        db_bind_str(stmt, 1, str_of(usage.largest[i].key));
        if ((rc = db_step(stmt, err)) == ERR_OK) {
            json_object_begin(json);
            api_columns(json, stmt, 0, 7);
            json_kv_i64(json, "bytes", usage.largest[i].bytes);
            json_object_end(json);
            db_reset(stmt);
        }
        rc = rc == ERR_EOF ? ERR_OK : rc; /* its file is from before */
    }
    db_finalize(stmt);
    json_array_end(json);
    json_object_end(json);
    return rc;
}

/* ---- processes ---- */

static void write_process(struct json_writer *json, const char *key, pid_t pid, int64_t since_ms)
{
    struct process_usage usage = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    if (pid > 0)
        process_usage(pid, &usage);
    json_key(json, key);
    json_object_begin(json);
    json_kv_i64(json, "sinceMs", since_ms);
    json_kv_i64(json, "residentBytes", usage.resident_bytes);
    json_kv_i64(json, "threadCount", usage.thread_count);
    json_kv_i64(json, "openFileCount", usage.open_file_count);
    json_kv_i64(json, "cpuMs", usage.cpu_ms);
    json_object_end(json);
}

static void write_ingest(struct json_writer *json, struct server *server, const struct ingest_status *ingest)
{
    struct worker_counts *counts = server_counts(server);
    json_key(json, "ingest");
    json_object_begin(json);
    json_kv_bool(json, "enabled", ingest->enabled);
    json_kv_bool(json, "running", ingest->running);
    json_kv_bool(json, "standby", ingest->running && counts && atomic_load(&counts->standby));
    json_kv_i64(json, "restarts", ingest->restarts);
    json_kv_i64(json, "confined", counts && ingest->running ? atomic_load(&counts->confined) : UNKNOWN);
    json_kv_text(json, "message", ingest->message[0] ? ingest->message : NULL);
    json_key(json, "loads");
    json_array_begin(json);
    for (size_t i = 0; i < LOAD_END_COUNT && counts; i++) {
        json_object_begin(json);
        json_kv_text(json, "end", load_end_names[i]);
        json_kv_i64(json, "count", atomic_load(&counts->load_ends[i]));
        json_object_end(json);
    }
    json_array_end(json);
    json_kv_i64(json, "readBytes", counts ? (int64_t)atomic_load(&counts->read_bytes) : UNKNOWN);
    json_object_end(json);
}

static void write_answers(struct json_writer *json, struct server *server)
{
    struct answer_cache_usage cache;
    answer_cache_usage(server_answers(server), &cache);
    json_key(json, "answers");
    json_object_begin(json);
    json_kv_i64(json, "keptCount", cache.answer_count);
    json_kv_i64(json, "keptBytes", cache.bytes);
    json_kv_i64(json, "hitCount", cache.hit_count);
    json_kv_i64(json, "missCount", cache.miss_count);
    json_kv_i64(json, "openDatabaseCount", db_pool_open_count(server_pool(server)));
    json_object_end(json);
}

/* ---- settings ---- */

static void write_value(struct json_writer *json, const struct settings *settings, enum setting_id id, struct arena *arena)
{
    const struct setting *setting = &setting_table[id];
    struct str value = str_of(settings_text(settings, id)), hidden;
    if (setting->kind == SETTING_KIND_LIST) {
        const char *joined = "";
        for (size_t i = 0; joined && i < settings_list_count(settings, id); i++)
            joined = arena_printf(arena, "%s%s%s", joined, i ? "," : "", settings_list_at(settings, id, i));
        value = str_of(joined);
    }
    if (redact_is_secret(str_of(setting->key)))
        json_kv_text(json, "value", REDACTED);
    else
        json_kv_str(json, "value", str_known(value) && redact_text(arena, value, &hidden) == 0 ? hidden : STR_NONE);
}

static void write_settings(struct json_writer *json, const struct settings *settings, struct arena *arena)
{
    static const char *const origins[] = {[FROM_DEFAULT] = "default", [FROM_FILE] = "file", [FROM_ENVIRONMENT] = "environment", [FROM_COMMAND_LINE] = "command line"};
    json_key(json, "settings");
    json_array_begin(json);
    for (int id = 0; id < SETTING_COUNT && settings; id++) {
        enum setting_origin origin = settings_origin(settings, (enum setting_id)id);
        if (origin == FROM_DEFAULT)
            continue;
        json_object_begin(json);
        json_kv_text(json, "key", setting_table[id].key);
        write_value(json, settings, (enum setting_id)id, arena);
        json_kv_text(json, "default", setting_table[id].otherwise);
        json_kv_text(json, "from", origins[origin]);
        json_object_end(json);
    }
    json_array_end(json);
}

static enum err_code write_catalog(struct json_writer *json, struct db *catalog, struct err *err)
{
    enum err_code rc = write_places(json, catalog, err);
    return rc ? rc : write_logs(json, catalog, err);
}

enum err_code api_server(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct server *server = ctx->server;
    struct ingest_status ingest;
    struct db_lease lease;
    if (!request->viewer.sees_all)
        return dispatch_forbid(request, response, err);
    struct readiness is = readiness_of(ctx);
    server_ingest_status(server, &ingest);
    enum err_code rc = api_catalog(ctx, &lease, err);
    if (rc)
        return rc;
    struct json_writer *json = response_json(response, false);
    response_cache(response, "no-store");
    json_object_begin(json);
    json_kv_text(json, "version", AFTERGLOW_VERSION);
    json_kv_text(json, "build", server_build(server));
    json_kv_text(json, "store", server_store(server));
    json_kv_i64(json, "nowMs", time_now_ms());
    json_kv_bool(json, "mayAct", api_may_act(request));
    json_key(json, "ready");
    json_object_begin(json);
    json_kv_bool(json, "catalogue", is.catalogue);
    json_kv_bool(json, "list", is.listed);
    json_kv_bool(json, "worker", is.worker);
    json_object_end(json);
    write_process(json, "server", getpid(), server_started_ms(server));
    write_process(json, "worker", ingest.pid, ingest.since_ms);
    write_ingest(json, server, &ingest);
    write_answers(json, server);
    write_settings(json, server_settings_given(server), request->arena);
    rc = write_disk(json, server, lease.db, err);
    if (!rc && lease.db) {
        rc = write_catalog(json, lease.db, err);
    } else if (!rc) {
        json_kv_text(json, "places", NULL);
        json_kv_text(json, "logs", NULL);
        json_kv_text(json, "waitingBytes", NULL);
        json_kv_text(json, "troubles", NULL);
    }
    db_pool_return(ctx->pool, &lease);
    json_object_end(json);
    return rc;
}
