/* SPDX-License-Identifier: Apache-2.0 */
#include "server/app_lookup.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/server.h"

bool catalog_is_to_come(struct server *server, enum err_code rc)
{
    struct ingest_status ingest;
    server_ingest_status(server, &ingest);
    return rc == ERR_NOT_FOUND || (ingest.enabled && (rc == ERR_INVALID || rc == ERR_UNSUPPORTED));
}

enum err_code app_catalog(struct api_ctx *ctx, struct db_lease *ret, struct err *err)
{
    struct ingest_status ingest;
    enum err_code rc = db_pool_catalog(ctx->pool, ret, err);
    if (!rc || !catalog_is_to_come(ctx->server, rc))
        return rc;
    server_ingest_status(ctx->server, &ingest);
    return ingest.enabled ? err_set(err, ERR_BUSY, "the list of runs is just being made") : rc;
}

/* A row of the catalogue that answers to the address, best copy first. */
#define LOOKUP_COLUMNS "SELECT a.app_key, a.app_id, a.attempt_id, a.generation, a.log_id, a.loaded, l.state, l.reason, " \
    "(SELECT max(c.change_no) FROM app o JOIN app_change c ON c.app_rowid = o.rowid WHERE o.app_id = a.app_id) FROM app a JOIN log l ON l.log_id = a.log_id "
#define BEST_COPY "a.complete DESC, l.bytes DESC, l.modified_ms DESC, a.app_key DESC"

static const char by_attempt_sql[] = LOOKUP_COLUMNS "WHERE a.app_id = ?1 AND a.attempt_id IS ?2 AND " APP_ANSWERS_TO_ID("a", "?3", "?4") " ORDER BY " BEST_COPY " LIMIT 1";
static const char by_key_sql[] = LOOKUP_COLUMNS "WHERE a.app_key = ?1";
static const char newest_attempt_sql[] = LOOKUP_COLUMNS "WHERE a.app_id = ?1 AND " APP_ANSWERS_TO_ID("a", "?3", "?4") " ORDER BY a.start_ms DESC, a.attempt_id DESC, " BEST_COPY " LIMIT 1";

/* ERR_NOT_FOUND: no row. Fills *ret but for the lease. */
static enum err_code find(struct db *catalog, const struct request *request, const char *sql, struct str first, struct str second, const char *build, struct app_ref *ret,
                          struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, sql, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, first);
    if (sql == by_attempt_sql)
        db_bind_str(stmt, 2, second);
    if (sql != by_key_sql) {
        db_bind_str(stmt, 3, access_sql_user(&request->viewer));
        db_bind_str(stmt, 4, request->viewer.groups);
    }
    if ((rc = db_step(stmt, err)) == ERR_OK) {
        ret->generation = db_i64(stmt, 3);
        ret->log_id = db_i64(stmt, 4);
        ret->loaded = db_i64(stmt, 5) == 1;
        snprintf(ret->etag, sizeof ret->etag, "\"%" PRId64 ".%" PRId64 "-%s\"", ret->generation, known_or(db_i64(stmt, 8), 0), build);
        if (arena_str(request->arena, db_str(stmt, 0), &ret->key) || arena_str(request->arena, db_str(stmt, 1), &ret->app_id) ||
            arena_str(request->arena, db_str(stmt, 2), &ret->attempt_id) || arena_str(request->arena, db_str(stmt, 6), &ret->state) ||
            arena_str(request->arena, db_str(stmt, 7), &ret->reason))
            rc = err_nomem(err);
    } else if (rc == ERR_EOF) {
        rc = err_set(err, ERR_NOT_FOUND, "no such application");
    }
    db_finalize(stmt);
    return rc;
}

/* The run is known: its database, or the mark that somebody wants it. */
static enum err_code open_app(struct api_ctx *ctx, struct app_ref *ret, struct err *err)
{
    enum err_code rc = db_pool_app(ctx->pool, ret->key, &ret->lease, err);
    ctx->opened[1] = ctx->opened[0];
    ctx->opened[0] = ret->log_id;
    if (rc == ERR_INVALID && ret->loaded) /* another program's database in its place */
        return err_set(err, ERR_CORRUPT, "the file of this run is not one of ours");
    if (rc == ERR_OK && ret->loaded) {
        server_opened(ctx->server, ret->log_id);
        return ERR_OK;
    }
    ret->other_version = rc == ERR_UNSUPPORTED;
    if (!app_ref_is_lost(ret))
        server_want(ctx->server, ret->log_id);
    /* Gone, written by another version, or not yet begun: ingest makes it anew from the log. */
    if (rc == ERR_NOT_FOUND || rc == ERR_UNSUPPORTED || (rc == ERR_INVALID && !ret->loaded))
        return err_set(err, ERR_BUSY, "not loaded yet (%.*s)", (int)MIN(ret->state.len, 100), ret->state.ptr);
    return rc;
}

enum err_code app_lookup_v1(struct api_ctx *ctx, const struct request *request, struct str app, struct str attempt, struct app_ref *ret, struct err *err)
{
    *ret = (struct app_ref){0};
    struct db_lease catalog;
    enum err_code rc = app_catalog(ctx, &catalog, err);
    if (rc)
        return rc;
    rc = find(catalog.db, request, by_attempt_sql, app, attempt, server_build(ctx->server), ret, err);
    db_pool_return(ctx->pool, &catalog);
    return rc ? rc : open_app(ctx, ret, err);
}

/* "id.attempt": either part may hold full stops, so each of them is tried, from the last. */
static enum err_code find_id_attempt(struct db *catalog, const struct request *request, struct str ref, const char *build, struct app_ref *ret, struct err *err)
{
    enum err_code rc = ERR_NOT_FOUND;
    for (size_t i = ref.len; rc == ERR_NOT_FOUND && i-- > 1;)
        if (ref.ptr[i] == '.')
            rc = find(catalog, request, by_attempt_sql, (struct str){ref.ptr, i}, (struct str){ref.ptr + i + 1, ref.len - i - 1}, build, ret, err);
    return rc == ERR_NOT_FOUND ? err_set(err, ERR_NOT_FOUND, "no such application") : rc;
}

static enum err_code find_ref(struct db *catalog, const struct request *request, struct str ref, const char *build, struct app_ref *ret, struct err *err)
{
    enum err_code rc = find(catalog, request, by_key_sql, ref, STR_NONE, build, ret, err);
    if (rc == ERR_NOT_FOUND)
        rc = find(catalog, request, newest_attempt_sql, ref, STR_NONE, build, ret, err);
    return rc == ERR_NOT_FOUND ? find_id_attempt(catalog, request, ref, build, ret, err) : rc;
}

enum err_code app_find(struct api_ctx *ctx, const struct request *request, struct str ref, struct app_ref *ret, struct err *err)
{
    *ret = (struct app_ref){0};
    struct db_lease catalog;
    enum err_code rc = app_catalog(ctx, &catalog, err);
    if (rc)
        return rc;
    rc = find_ref(catalog.db, request, ref, server_build(ctx->server), ret, err);
    db_pool_return(ctx->pool, &catalog);
    return rc;
}

enum err_code app_lookup(struct api_ctx *ctx, const struct request *request, struct str ref, struct app_ref *ret, struct err *err)
{
    enum err_code rc = app_find(ctx, request, ref, ret, err);
    return rc ? rc : open_app(ctx, ret, err);
}

bool app_is_listed(struct api_ctx *ctx, const struct request *request, struct str ref)
{
    struct app_ref found = {0};
    struct db_lease catalog;
    enum err_code rc = db_pool_catalog(ctx->pool, &catalog, NULL);
    if (rc)
        return rc != ERR_NOT_FOUND;
    rc = find_ref(catalog.db, request, ref, server_build(ctx->server), &found, NULL);
    db_pool_return(ctx->pool, &catalog);
    return rc != ERR_NOT_FOUND;
}

static const char barred_by_id_sql[] = "SELECT count(*) FROM app a WHERE app_id = ?1 AND (?2 IS NULL OR attempt_id = ?2) AND NOT may_see(?3, ?4, user, view_users, view_groups) AND " APP_ANSWERS_TO_ID("a", "?3", "?4");
static const char barred_by_key_sql[] = "SELECT count(*) FROM app WHERE app_key = ?1 AND ?2 IS NULL AND NOT may_see(?3, ?4, user, view_users, view_groups)";

static enum err_code count_barred(struct db *catalog, const struct request *request, const char *sql, struct str first, struct str second, bool *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_prepare(catalog, &stmt, sql, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, first);
    db_bind_str(stmt, 2, second);
    db_bind_str(stmt, 3, access_sql_user(&request->viewer));
    db_bind_str(stmt, 4, request->viewer.groups);
    rc = db_step(stmt, err);
    *ret = rc == ERR_OK && db_i64(stmt, 0) == 0;
    db_finalize(stmt);
    return rc;
}

enum err_code app_allowed_v1(struct api_ctx *ctx, const struct request *request, struct str app, struct str attempt, bool *ret, struct err *err)
{
    struct db_lease catalog;
    *ret = !request->viewer.refusal;
    if (request->viewer.refusal || request->viewer.sees_all)
        return ERR_OK;
    enum err_code rc = db_pool_catalog(ctx->pool, &catalog, err);
    if (rc)
        return catalog_is_to_come(ctx->server, rc) ? ERR_OK : rc;
    rc = count_barred(catalog.db, request, barred_by_id_sql, app, attempt, ret, err);
    db_pool_return(ctx->pool, &catalog);
    return rc;
}

enum err_code app_allowed(struct api_ctx *ctx, const struct request *request, struct str ref, bool *ret, struct err *err)
{
    struct db_lease catalog;
    struct app_ref found = {0};
    *ret = !request->viewer.refusal;
    if (request->viewer.refusal || request->viewer.sees_all)
        return ERR_OK;
    enum err_code rc = db_pool_catalog(ctx->pool, &catalog, err);
    if (rc)
        return catalog_is_to_come(ctx->server, rc) ? ERR_OK : rc;
    rc = find_ref(catalog.db, request, ref, server_build(ctx->server), &found, err);
    if (rc == ERR_OK)
        rc = count_barred(catalog.db, request, barred_by_key_sql, found.key, STR_NONE, ret, err);
    db_pool_return(ctx->pool, &catalog);
    return rc == ERR_NOT_FOUND ? ERR_OK : rc;
}

/* Characters that mean nothing in an address: an id of these alone can stand in one as it is. */
static bool plain_segment(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~'))
            return false;
    }
    return s.len > 0 && !str_is(s, ".") && !str_is(s, "..");
}

struct str app_ref_text(struct str id, struct str attempt, struct str key, int64_t same_id, int64_t same_attempt, char *out)
{
    if (same_id == 1 && plain_segment(id))
        return id;
    if (same_id == 1 || same_attempt != 1 || !plain_segment(id) || !plain_segment(attempt) || id.len + attempt.len + 1 >= APP_REF_BYTES)
        return key;
    int n = snprintf(out, APP_REF_BYTES, "%.*s.%.*s", (int)id.len, id.ptr, (int)attempt.len, attempt.ptr);
    return (struct str){out, (size_t)n};
}

static const char name_sql[] =
    "SELECT " APP_SAME_ID ", " APP_SAME_ATTEMPT " FROM app a WHERE a.app_key = ?";

static enum err_code name_of(struct db *catalog, const struct request *request, const struct app_ref *app, struct str *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    char text[APP_REF_BYTES];
    enum err_code rc = db_prepare(catalog, &stmt, name_sql, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, app->key);
    rc = db_step(stmt, err);
    if (rc == ERR_OK && arena_str(request->arena, app_ref_text(app->app_id, app->attempt_id, app->key, db_i64(stmt, 0), db_i64(stmt, 1), text), ret))
        rc = err_nomem(err);
    db_finalize(stmt);
    return rc == ERR_EOF ? err_set(err, ERR_NOT_FOUND, "no such application") : rc;
}

static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

enum err_code app_lookup_history(struct api_ctx *ctx, const struct request *request, struct str app, struct str segment, struct str *ret, bool *ret_names_attempt,
                                 struct err *err)
{
    struct app_ref found = {0};
    struct db_lease catalog;
    enum err_code rc = app_catalog(ctx, &catalog, err);
    if (rc)
        return rc;
    rc = segment.len ? find(catalog.db, request, by_attempt_sql, app, segment, server_build(ctx->server), &found, err) : ERR_NOT_FOUND;
    if (rc == ERR_NOT_FOUND && is_number(segment))
        rc = find(catalog.db, request, by_attempt_sql, app, STR_NONE, server_build(ctx->server), &found, err);
    *ret_names_attempt = rc == ERR_OK;
    if (rc == ERR_NOT_FOUND && !is_number(segment))
        rc = find(catalog.db, request, newest_attempt_sql, app, STR_NONE, server_build(ctx->server), &found, err);
    if (rc == ERR_OK)
        rc = name_of(catalog.db, request, &found, ret, err);
    db_pool_return(ctx->pool, &catalog);
    return rc;
}

bool app_ref_is_lost(const struct app_ref *ref)
{
    return ref->generation > 0 && (!ref->loaded || ref->other_version) && str_is(ref->state, "gone");
}

void app_ref_dispose(struct api_ctx *ctx, struct app_ref *ref)
{
    db_pool_return(ctx->pool, &ref->lease);
}
