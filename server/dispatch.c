/* SPDX-License-Identifier: Apache-2.0 */
#include "server/dispatch.h"

#include "server/api_context.h"
#include "server/assets.h"
#include "server/history_address.h"
#include "server/http_text.h"
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
    {NULL, NULL, NULL},
};

static bool is_page(struct request *request)
{
    /* What stands below /a/{ref}/ is between the page and its reader. */
    return router_match(page_routes, request) || (str_starts(request->raw_path, "/a/") && request->raw_path.len > 3 && request->raw_path.ptr[3] != '/');
}

static enum err_code not_found(const struct request *request, struct response *response, struct err *err)
{
    if (!str_starts(request->path, "/api/"))
        return response_page(request, response, 404, "Not found", STR_LIT("There is nothing at this address."), err);
    dispatch_refuse(request->path, response, 404, "not_found", "there is nothing at this address");
    return ERR_OK;
}

static bool is_history(const struct request *request)
{
    return str_is(request->raw_path, "/history") || str_starts(request->raw_path, "/history/");
}

enum err_code dispatch(struct server *server, struct request *request, struct response *response, struct err *err)
{
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    const struct route *route;
    if ((route = router_match(api_routes, request)) || (route = router_match(api_v1_routes, request)))
        return route->handler(&ctx, request, response, err);
    if (str_is(request->path, "/healthz"))
        response_plain(response, 200, "ok");
    else if (is_history(request))
        return history_respond(&ctx, request, response, err);
    else if (str_is(request->path, "/") && str_known(request_param(request, "showIncomplete")))
        return history_respond_start(request, response, err);
    else if (is_page(request))
        assets_respond_page(server_assets_dir(server), request, response);
    else if (str_starts(request->path, "/api/") || str_is(request->path, "/index.html") ||
             !assets_respond(server_assets_dir(server), (struct str){request->path.ptr + 1, request->path.len - 1}, response, request->arena))
        return not_found(request, response, err);
    return ERR_OK;
}
