/* SPDX-License-Identifier: Apache-2.0
 *
 * Pinned views: a short address, /p/{token}, for a page of a run as somebody saw it, with all that stands in its address. The ingest process writes them down (schema.sql, table pin); so an answer about a new one says
 * that it was told, 202, and the token is good a moment later. Who may see the run may pin a view of it, and open one: to everybody else there is no such view. A view holds no numbers; those are in the run's own file,
 * which stays when the log goes. What may have changed them since is said: the run was read anew, or judged by other rules. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "server/access.h"
#include "server/api/handlers.h"
#include "server/http_text.h"
#include "server/origin.h"
#include "server/server.h"

#define ADDRESS_MAX_BYTES 2000 /* more than any page of ours writes; a line to the ingest process has room for it */
#define AUTHOR_MAX_BYTES 200
#define TOKEN_LETTERS 12 /* of 32: 60 bits, so that nobody meets another one's by trying */

struct pin {
    struct str app_key, address, author;
    int64_t pinned_ms, generation, analysis_version;
};

/* What follows /a/{run}: as browsers write addresses, and without a way out of the run. */
static bool is_address(struct str address)
{
    if (address.len > ADDRESS_MAX_BYTES || (address.len && address.ptr[0] != '/' && address.ptr[0] != '?'))
        return false;
    for (size_t i = 0; i < address.len; i++) {
        unsigned char c = (unsigned char)address.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr("#\\\"<>^`{|}", c))
            return false;
    }
    const char *question = memchr(address.ptr ? address.ptr : "", '?', address.len);
    size_t path = question ? (size_t)(question - address.ptr) : address.len;
    return !memmem(address.ptr, path, "//", 2) && !memmem(address.ptr, path, "/.", 2);
}

static bool draw_token(char out[TOKEN_LETTERS + 1])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789"; /* none that is taken for another */
    unsigned char drawn[TOKEN_LETTERS];
    if (getrandom(drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return false;
    for (size_t i = 0; i < TOKEN_LETTERS; i++)
        out[i] = letters[drawn[i] % 32];
    out[TOKEN_LETTERS] = '\0';
    return true;
}

/* Who is named, as far as it can be a line's end. */
static struct str author_of(const struct request *request)
{
    struct str author = request->viewer.user;
    if (!str_known(author) || !author.len || author.len > AUTHOR_MAX_BYTES)
        return STR_NONE;
    for (size_t i = 0; i < author.len; i++)
        if (iscntrl((unsigned char)author.ptr[i]))
            return STR_NONE;
    return author;
}

static enum err_code read_analysis_version(struct db *app, int64_t *ret, struct err *err)
{
    return db_query_i64(app, "SELECT analysis_version FROM analysis", ret, err);
}

/* The same view that the same person pinned of the same numbers. *ret: STR_NONE where there is none; in the arena. */
static enum err_code find_same(struct db *catalog, const struct pin *pin, struct arena *arena, struct str *ret, struct err *err)
{
    static const char sql[] = "SELECT token FROM pin WHERE app_key = ?1 AND address = ?2 AND author IS ?3 AND generation = ?4 AND analysis_version IS ?5 LIMIT 1";
    sqlite3_stmt *stmt = NULL;
    *ret = STR_NONE;
    enum err_code rc = db_prepare(catalog, &stmt, sql, err);
    if (rc)
        return rc;
    db_bind_str(stmt, 1, pin->app_key);
    db_bind_str(stmt, 2, pin->address);
    db_bind_str(stmt, 3, pin->author);
    db_bind_i64(stmt, 4, pin->generation);
    db_bind_i64(stmt, 5, pin->analysis_version);
    if (!(rc = db_step(stmt, err)))
        rc = arena_str(arena, db_str(stmt, 0), ret) ? err_nomem(err) : ERR_OK;
    db_finalize(stmt);
    return rc == ERR_EOF ? ERR_OK : rc;
}

static void answer_token(struct response *response, int status, struct str token)
{
    response_status(response, status);
    response_cache(response, "no-store");
    struct json_writer *json = response_json(response, false);
    json_object_begin(json);
    json_kv_str(json, "token", token);
    json_object_end(json);
}

static enum err_code put(struct api_ctx *ctx, const struct request *request, struct db *catalog, const struct pin *pin, struct response *response, struct err *err)
{
    struct str same;
    int64_t count, most = server_most_pins(ctx->server);
    char token[TOKEN_LETTERS + 1];
    enum err_code rc;
    if ((rc = find_same(catalog, pin, request->arena, &same, err)) || (rc = db_query_i64(catalog, "SELECT count(*) FROM pin", &count, err)))
        return rc;
    if (str_known(same)) {
        answer_token(response, 200, same);
        return ERR_OK;
    }
    if (count >= most) {
        response_error(response, 409, "full", "there are as many pinned views as there may be: %lld (afterglow.pins.max)", (long long)most);
        return ERR_OK;
    }
    if (!draw_token(token))
        return err_set(err, ERR_IO, "no token for a pinned view could be drawn");
    const char *line = arena_printf(request->arena, "%s %" PRId64 " %" PRId64 " %.*s .%.*s%s%.*s", token, pin->generation,
                                    known(pin->analysis_version) ? pin->analysis_version : -1, (int)pin->app_key.len, pin->app_key.ptr, (int)pin->address.len, pin->address.ptr,
                                    str_known(pin->author) ? " " : "", str_known(pin->author) ? (int)pin->author.len : 0, str_known(pin->author) ? pin->author.ptr : "");
    if (!line)
        return err_nomem(err);
    if (!server_pin(ctx->server, str_of(line)))
        response_error(response, 503, "no_worker", "the ingest process, which would write it down, is not running or does not listen");
    else
        answer_token(response, 202, str_of(token));
    return ERR_OK;
}

enum err_code api_pin(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct str address = request_param(request, "address");
    struct api_app app;
    struct db_lease catalog;
    enum err_code rc;
    if (!origin_may_change(request, request->action)) {
        response_error(response, 403, "wrong_origin", "this is for pages of this server, and for programs that send the header X-Afterglow-Action");
        return ERR_OK;
    }
    if (!str_known(address) || !is_address(address)) {
        response_error(response, 400, "bad_parameter",
                       "address is what follows the run in the address of its page, \"/stages/3.0?task=211\", encoded as there and of at most %d bytes", ADDRESS_MAX_BYTES);
        return ERR_OK;
    }
    if (!api_run_open(ctx, request, response, request->path_args[0], &app, &rc, err))
        return rc;
    struct pin pin = {.app_key = app.ref.key, .address = address, .author = author_of(request), .generation = app.ref.generation};
    if (!(rc = read_analysis_version(app.db, &pin.analysis_version, err)) && !(rc = api_catalog(ctx, &catalog, err))) {
        rc = catalog.db ? put(ctx, request, catalog.db, &pin, response, err) : err_set(err, ERR_NOT_FOUND, "there is no catalogue yet");
        db_pool_return(ctx->pool, &catalog);
    }
    api_app_close(ctx, &app);
    return rc;
}

/* ERR_NOT_FOUND: there is none, or it is of a run that the viewer may not see. Texts in the request's arena. */
static enum err_code find(struct api_ctx *ctx, const struct request *request, struct str token, struct pin *ret, struct err *err)
{
    struct db_lease catalog;
    sqlite3_stmt *stmt = NULL;
    bool allowed = false;
    enum err_code rc = api_catalog(ctx, &catalog, err);
    if (rc)
        return rc;
    if (!catalog.db)
        return err_set(err, ERR_NOT_FOUND, "there is no catalogue yet");
    rc = db_prepare(catalog.db, &stmt, "SELECT app_key, address, author, pinned_ms, generation, analysis_version FROM pin WHERE token = ?", err);
    if (!rc) {
        db_bind_str(stmt, 1, token);
        rc = db_step(stmt, err);
    }
    if (!rc) {
        ret->pinned_ms = db_i64(stmt, 3);
        ret->generation = db_i64(stmt, 4);
        ret->analysis_version = db_i64(stmt, 5);
        ret->author = STR_NONE;
        bool kept = !arena_str(request->arena, db_str(stmt, 0), &ret->app_key) && !arena_str(request->arena, db_str(stmt, 1), &ret->address) &&
                    (!str_known(db_str(stmt, 2)) || !arena_str(request->arena, db_str(stmt, 2), &ret->author));
        rc = kept ? ERR_OK : err_nomem(err);
    }
    db_finalize(stmt);
    db_pool_return(ctx->pool, &catalog);
    if (!rc)
        rc = app_allowed(ctx, request, ret->app_key, &allowed, err);
    if (rc == ERR_EOF || (!rc && !allowed))
        rc = err_set(err, ERR_NOT_FOUND, "there is no such view");
    return rc;
}

enum err_code api_pinned(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct pin pin;
    struct app_ref app;
    int64_t analysis_version = UNKNOWN;
    enum err_code rc = find(ctx, request, request->path_args[0], &pin, err);
    if (rc == ERR_NOT_FOUND) {
        response_error(response, 404, "not_found", "there is no pinned view of this name");
        return ERR_OK;
    }
    if (rc)
        return rc;
    rc = app_lookup(ctx, request, pin.app_key, &app, err);
    bool there = !rc, opens = rc == ERR_BUSY;
    if (there)
        rc = read_analysis_version(app.lease.db, &analysis_version, err);
    else if (opens || rc == ERR_NOT_FOUND)
        rc = ERR_OK;
    if (!rc) {
        response_cache(response, "no-cache");
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        json_kv_str(json, "key", pin.app_key);
        json_kv_str(json, "address", pin.address);
        json_kv_i64(json, "pinnedMs", pin.pinned_ms);
        json_kv_str(json, "author", pin.author);
        json_kv_bool(json, "readAnew", (there || opens) && app.generation != pin.generation);
        json_kv_bool(json, "judgedAnew", there && analysis_version != pin.analysis_version);
        json_object_end(json);
    }
    app_ref_dispose(ctx, &app);
    return rc;
}

enum err_code pin_respond(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    CLEANUP(buf_dispose) struct buf to;
    struct pin pin;
    buf_init(&to, 4 * (size_t)ADDRESS_MAX_BYTES);
    enum err_code rc = find(ctx, request, request->path_args[0], &pin, err);
    if (rc == ERR_NOT_FOUND)
        return response_page(request, response, 404, "Not found", STR_LIT("There is no pinned view at this address, or it is of a run that you may not see."), err);
    if (rc)
        return rc;
    buf_text(&to, "/a/");
    url_segment(&to, pin.app_key);
    buf_append(&to, pin.address.ptr, pin.address.len);
    buf_text(&to, memchr(pin.address.len ? pin.address.ptr : "", '?', pin.address.len) ? "&pinned=" : "?pinned=");
    url_segment(&to, request->path_args[0]);
    return buf_failed(&to) ? err_nomem(err) : response_redirect(request, response, buf_str(&to), err);
}
