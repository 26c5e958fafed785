/* SPDX-License-Identifier: Apache-2.0 */
#include "server/dispatch.h"

#include "server/api_context.h"
#include "server/assets.h"
#include "server/router.h"

static const char own_api[] = "/api/afterglow/";

static const char page_not_found[] =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not found</title><h1>Not found</h1>"
    "<p>There is nothing at this address.</p><p><a href=\"%s/\">All applications</a></p></html>\n";

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

static void not_found(const struct request *request, struct response *response)
{
    if (str_starts(request->path, "/api/")) {
        dispatch_refuse(request->path, response, 404, "not_found", "there is nothing at this address");
        return;
    }
    const char *prefix = arena_strndup(request->arena, request->prefix.ptr, request->prefix.len);
    const char *page = prefix ? arena_printf(request->arena, page_not_found, prefix) : NULL;
    if (!page) {
        response_plain(response, 404, "Not found");
        return;
    }
    response_static(response, "text/html;charset=utf-8", str_of(page), STR_NONE);
    response_status(response, 404);
}

enum err_code dispatch(struct server *server, struct request *request, struct response *response, struct err *err)
{
    struct api_ctx ctx = {.server = server, .pool = server_pool(server)};
    const struct route *route;
    if ((route = router_match(api_routes, request)) || (route = router_match(api_v1_routes, request)))
        return route->handler(&ctx, request, response, err);
    if (str_is(request->path, "/healthz"))
        response_plain(response, 200, "ok");
    else if (is_page(request))
        assets_respond_page(server_assets_dir(server), request, response);
    else if (str_starts(request->path, "/api/") || str_is(request->path, "/index.html") ||
             !assets_respond(server_assets_dir(server), (struct str){request->path.ptr + 1, request->path.len - 1}, response, request->arena))
        not_found(request, response);
    return ERR_OK;
}
