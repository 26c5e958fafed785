/* SPDX-License-Identifier: Apache-2.0 */
#include "server/dispatch.h"

#include "server/api/handlers.h"
#include "server/api_context.h"
#include "server/api_v1/error_page.h"
#include "server/app_lookup.h"
#include "server/assets.h"
#include "server/history_address.h"
#include "server/http_text.h"
#include "server/metrics.h"
#include "server/on_demand.h"
#include "server/page_head.h"
#include "server/readiness.h"
#include "server/route_times.h"
#include "server/router.h"

static const char own_api[] = "/api/afterglow/";

void dispatch_refuse(struct str path, struct response *response, int status, const char *error, const char *detail)
{
    if (str_starts(path, own_api))
        response_error(response, status, error, "%s", detail);
    else
        response_plain(response, status, "%s", detail);
}

static const struct route page_routes[] = {
    {"/", NULL, "the applications"},
    {"/a/{ref}", NULL, "an application"},
    {"/compare", NULL, "an application against another one"},
    {"/status", NULL, "the server's state"},
    {"/p/{token}", pin_respond, "a pinned view of an application"},
    {NULL, NULL, NULL},
};

static bool is_page(struct request *request)
{
    /* What stands below /a/{ref}/ is between the page and its reader. */
    return router_match(page_routes, request) || (str_starts(request->raw_path, "/a/") && request->raw_path.len > 3 && request->raw_path.ptr[3] != '/');
}

static enum err_code not_found(const struct request *request, struct response *response, struct err *err)
{
    bool doubled = memmem(request->raw_path.ptr, request->raw_path.len, "//", 2) != NULL;
    if (str_starts(request->path, own_api)) {
        dispatch_refuse(request->path, response, 404, "not_found", "there is nothing at this address");
        return ERR_OK;
    }
    if (str_starts(request->path, "/api/"))
        return v1_error_page(request, response, doubled ? 400 : 404, doubled ? "Bad Request" : "Not Found", err);
    if (doubled)
        return response_page(request, response, 400, "Bad request", STR_LIT("This address has two slashes in a row."), err);
    return response_page(request, response, 404, "Not found", STR_LIT("There is nothing at this address."), err);
}

static bool is_history(struct str path)
{
    return str_is(path, "/history") || str_starts(path, "/history/");
}

static bool is_place_of_ours(struct str path)
{
    return is_history(path) || str_starts(path, "/a/") || str_starts(path, "/api/");
}

/* A proxy may be known by the name of a place of ours ("/history") and take its prefix off before it asks, or be passed by: then the path begins with that name and not with the prefix. */
static bool prefix_was_none(const struct request *request)
{
    return request->shortened && is_place_of_ours(request->address) && !is_place_of_ours(request->raw_path);
}

/* ---- who may see it ---- */

static const char v1_app[] = "/api/v1/applications/{app}", v1_attempt[] = "/api/v1/applications/{app}/{attempt}", own_app[] = "/api/afterglow/v1/apps/{ref}",
                  own_compare[] = "/api/afterglow/v1/compare";

/* What the History Server tells of runs to everybody. */
static bool is_v1_list(struct str pattern)
{
    return str_is(pattern, "/api/v1/applications") || str_is(pattern, v1_app) || str_is(pattern, v1_attempt);
}

enum err_code dispatch_forbid(const struct request *request, struct response *response, struct err *err)
{
    const struct viewer *viewer = &request->viewer;
    bool is_own = str_starts(request->raw_path, own_api), is_v1 = str_starts(request->raw_path, "/api/v1/");
    const char *text = viewer->refusal ? viewer->refusal
                                       : arena_printf(request->arena, is_own || is_v1 ? "user \"%.*s\" is not authorized" : "User %.*s is not authorized to access this page.",
                                                      (int)viewer->user.len, viewer->user.ptr);
    if (!text)
        return err_nomem(err);
    if (!is_own && !is_v1)
        return response_page(request, response, 403, "Forbidden", str_of(text), err);
    dispatch_refuse(request->path, response, 403, "forbidden", text);
    return ERR_OK;
}

/* The run that a page of ours or of the History Server's is about: what follows its first part. */
static struct str page_subject(const struct request *request)
{
    struct str path = request->raw_path, ref = STR_NONE;
    size_t skip = str_starts(path, "/a/") ? 3 : str_starts(path, "/history/") ? 9 : path.len;
    struct str rest = {path.ptr + skip, path.len - skip};
    const char *slash = rest.len ? memchr(rest.ptr, '/', rest.len) : NULL;
    rest.len = slash ? (size_t)(slash - rest.ptr) : rest.len;
    return rest.len && request_decode(request->arena, rest, false, &ref, NULL) == ERR_OK ? ref : STR_NONE;
}

enum err_code dispatch_ask_login(const struct request *request, struct response *response, struct err *err)
{
    static const char sentence[] = "A name and a password are needed.";
    enum err_code rc;
    if (str_starts(request->raw_path, "/api/"))
        dispatch_refuse(request->path, response, 401, "unauthorized", sentence);
    else if ((rc = response_page(request, response, 401, "Log in", str_of(sentence), err)))
        return rc;
    response_header(response, "WWW-Authenticate", STR_LIT("Basic realm=\"Afterglow\", charset=\"UTF-8\""));
    return ERR_OK;
}

bool dispatch_is_open(const struct server *server, const struct request *request)
{
    return str_is(request->path, "/healthz") || str_is(request->path, "/readyz") || (str_is(request->path, "/metrics") && server_may_scrape(server, request->sender));
}

/* *ret_answered: the viewer may not, and that is said. Lists leave out by themselves what may not be seen. */
static enum err_code check_access(struct api_ctx *ctx, const struct request *request, struct str pattern, struct response *response, bool *ret_answered, struct err *err)
{
    bool allowed = !request->viewer.refusal;
    enum err_code rc = ERR_OK;
    *ret_answered = false;
    if (request->viewer.sees_all)
        return ERR_OK;
    if (str_starts(pattern, v1_attempt))
        rc = app_allowed_v1(ctx, request, request->path_args[0], request->path_args[1], &allowed, err);
    else if (str_starts(pattern, v1_app))
        rc = app_allowed_v1(ctx, request, request->path_args[0], STR_NONE, &allowed, err);
    else if (str_starts(pattern, own_app))
        rc = app_allowed(ctx, request, request->path_args[0], &allowed, err);
    else if (str_starts(pattern, own_compare) || str_starts(pattern, "/compare")) { /* both runs; a base of the word usual is none (api/compare.c) */
        bool is_own = str_starts(pattern, own_compare);
        rc = app_allowed(ctx, request, request_param(request, is_own ? "new" : "b"), &allowed, err);
        if (!rc && allowed)
            rc = app_allowed(ctx, request, request_param(request, is_own ? "base" : "a"), &allowed, err);
    } else if (str_starts(pattern, "/a/")) {
        struct str ref = {pattern.ptr + 3, pattern.len - 3};
        const char *slash = ref.len ? memchr(ref.ptr, '/', ref.len) : NULL;
        ref.len = slash ? (size_t)(slash - ref.ptr) : ref.len;
        if ((rc = request_decode(request->arena, ref, false, &ref, err)) == ERR_OK)
            rc = app_allowed(ctx, request, ref, &allowed, err);
    }
    if (rc || allowed)
        return rc;
    *ret_answered = true;
    return dispatch_forbid(request, response, err);
}

/* What load balancers ask to see whether somebody is there, and so the same for everybody and everything. */
static enum err_code answer_methods(struct response *response)
{
    response_header(response, "Allow", STR_LIT(HTTP_METHODS));
    return ERR_OK;
}

static void respond_page(struct api_ctx *ctx, const struct request *request, struct response *response)
{
    CLEANUP(buf_dispose) struct buf head;
    page_head(ctx, request, &head);
    assets_respond_page(server_assets_dir(ctx->server), request, buf_str(&head), response);
}

static size_t page_route(struct str path)
{
    return str_starts(path, "/a/") ? ROUTE_RUN : str_starts(path, "/compare") ? ROUTE_COMPARE : str_starts(path, "/status") ? ROUTE_STATUS : str_starts(path, "/p/") ? ROUTE_PINNED : ROUTE_LIST;
}

static bool is_for_watchers(const struct request *request)
{
    return str_is(request->path, "/healthz") || str_is(request->path, "/readyz") || str_is(request->path, "/metrics");
}

static enum err_code answer_watcher(struct api_ctx *ctx, struct request *request, struct response *response, struct err *err)
{
    if (str_is(request->path, "/healthz")) {
        request->route = ROUTE_HEALTH;
        response_plain(response, 200, "ok");
        return ERR_OK;
    }
    if (str_is(request->path, "/readyz")) {
        request->route = ROUTE_READY;
        readiness_respond(ctx, response);
        return ERR_OK;
    }
    request->route = ROUTE_METRICS;
    if (request->viewer.sees_all || server_may_scrape(ctx->server, request->sender))
        return metrics_respond(ctx, response, err);
    response_plain(response, 403, "metrics are for those who see every run, and for the networks of afterglow.metrics.from");
    return ERR_OK;
}

static enum err_code answer(struct api_ctx *ctx, struct request *request, struct response *response, struct err *err)
{
    const struct route *route;
    bool answered, asks_methods = str_is(request->method, "OPTIONS"), acts = str_is(request->method, "POST");
    if ((route = router_match(api_actions, request)) && acts) {
        request->route = route_number(route);
        enum err_code rc = check_access(ctx, request, str_of(route->pattern), response, &answered, err);
        return rc || answered ? rc : route->handler(ctx, request, response, err);
    }
    if (route || acts) {
        dispatch_refuse(request->path, response, 405, "method_not_allowed", route ? "only POST is answered here" : "only " HTTP_METHODS " are answered");
        response_header(response, "Allow", route ? STR_LIT("POST") : STR_LIT(HTTP_METHODS));
        return ERR_OK;
    }
    if ((route = router_match(api_routes, request)) || (route = router_match(api_v1_routes, request))) {
        if (asks_methods)
            return answer_methods(response);
        request->route = route_number(route);
        if (server_exact(ctx->server, EXACT_LISTS) && is_v1_list(str_of(route->pattern)) && !request->viewer.refusal)
            request->viewer.sees_all = true;
        if (str_starts(str_of(route->pattern), v1_app) || str_starts(str_of(route->pattern), own_app))
            on_demand(ctx, request, request->path_args[0]);
        enum err_code rc = check_access(ctx, request, str_of(route->pattern), response, &answered, err);
        return rc || answered ? rc : route->handler(ctx, request, response, err);
    }
    if (asks_methods && !str_starts(request->path, "/api/"))
        return answer_methods(response);
    on_demand(ctx, request, page_subject(request));
    if (is_page(request)) {
        request->route = page_route(request->path);
        enum err_code rc = check_access(ctx, request, request->raw_path, response, &answered, err);
        if (rc || answered)
            return rc;
    }
    if (is_for_watchers(request))
        return answer_watcher(ctx, request, response, err);
    if (is_history(request->raw_path)) {
        request->route = ROUTE_HISTORY;
        return history_respond(ctx, request, response, err);
    }
    if (str_is(request->path, "/") && str_known(request_param(request, "showIncomplete")))
        return history_respond_start(request, response, err);
    const struct route *place = router_match(page_routes, request);
    if (place && place->handler)
        return place->handler(ctx, request, response, err);
    if (is_page(request)) {
        respond_page(ctx, request, response);
    } else if (str_starts(request->path, "/api/") || str_is(request->path, "/index.html") ||
               !assets_respond(server_assets_dir(ctx->server), (struct str){request->path.ptr + 1, request->path.len - 1}, response, request->arena)) {
        if (!prefix_was_none(request))
            return not_found(request, response, err);
        enum err_code rc = request_lengthen(request, err);
        return rc ? rc : answer(ctx, request, response, err);
    } else {
        request->route = ROUTE_FILE;
    }
    return ERR_OK;
}

/* Which of them it is, the ingest process finds out. */
static void tell_damage(struct api_ctx *ctx)
{
    for (size_t i = 0; i < ARRAY_LENGTH(ctx->opened); i++)
        if (ctx->opened[i])
            server_damaged(ctx->server, ctx->opened[i]);
    server_damaged(ctx->server, 0);
}

enum err_code dispatch(struct server *server, struct request *request, struct response *response, struct err *err)
{
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    enum err_code rc = answer(&ctx, request, response, err);
    if (rc == ERR_CORRUPT)
        tell_damage(&ctx);
    return rc;
}
