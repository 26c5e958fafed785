/* SPDX-License-Identifier: Apache-2.0
 *
 * What an administrator can have done to a run: read its log anew, or forget it. The ingest process does it, so the answer says that it was told, not that it is done: 202. */
#include "server/access.h"
#include "server/api/handlers.h"
#include "server/app_lookup.h"
#include "server/network.h"
#include "server/origin.h"
#include "server/server.h"

/* A name for this machine in Host: a page of a foreign site can lead its own name here (DNS rebinding), but not have its reader's browser say another one. */
static bool is_local_name(const struct request *request)
{
    unsigned char address[16];
    struct str host = request->host;
    const char *colon = host.len ? memrchr(host.ptr, ':', host.len) : NULL;
    if (colon && (host.ptr[0] != '[' || colon[-1] == ']'))
        host.len = (size_t)(colon - host.ptr);
    if (host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = (struct str){host.ptr + 1, host.len - 2};
    const char *text = arena_strndup(request->arena, host.ptr, host.len);
    return str_is(host, "localhost") || (text && network_parse_address(text, address) && network_is_loopback(address));
}

/* Who sees every run, and is named. Where nobody is, whoever sits at this machine. */
bool api_may_act(const struct request *request)
{
    const struct viewer *viewer = &request->viewer;
    if (viewer->refusal || !viewer->sees_all)
        return false;
    return str_known(viewer->asker) || (network_is_loopback(request->sender) && is_local_name(request));
}

static enum err_code act(struct api_ctx *ctx, const struct request *request, struct response *response, bool (*tell)(struct server *, int64_t), const char *name, struct err *err)
{
    struct app_ref app;
    struct ingest_status ingest;
    if (!api_may_act(request)) {
        response_error(response, 403, "forbidden", "this is for users who see every run, and where nobody is named for this machine alone");
        return ERR_OK;
    }
    if (!origin_may_change(request, request->action)) {
        response_error(response, 403, "wrong_origin", "this is for pages of this server, and for programs that send the header X-Afterglow-Action");
        return ERR_OK;
    }
    server_ingest_status(ctx->server, &ingest);
    enum err_code rc = app_find(ctx, request, request->path_args[0], &app, err);
    bool gone = !rc && tell == server_reload && str_is(app.state, "gone");
    if (rc && rc != ERR_NOT_FOUND) {
        return rc;
    } else if (rc) {
        response_error(response, 404, "not_found", "there is no application of this name");
    } else if (str_is(app.state, "loading")) {
        response_error(response, 409, "being_read", "its log is being read just now; try again when it is done");
    } else if (gone) {
        response_error(response, 409, "log_gone", "its log is not there any more: it cannot be read anew");
    } else if (!ingest.running || !tell(ctx->server, app.log_id)) {
        response_error(response, 503, "no_worker", "the ingest process, which would do it, is not running or does not listen");
    } else {
        response_status(response, 202);
        response_cache(response, "no-store");
        struct json_writer *json = response_json(response, false);
        json_object_begin(json);
        json_kv_text(json, "asked", name);
        json_kv_str(json, "key", app.key);
        json_object_end(json);
    }
    return ERR_OK;
}

enum err_code api_reload(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return act(ctx, request, response, server_reload, "reload", err);
}

enum err_code api_forget(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return act(ctx, request, response, server_forget, "forget", err);
}
