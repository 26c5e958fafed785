/* SPDX-License-Identifier: Apache-2.0
 *
 * streaming/…: the interface of the old DStreams, which no event log holds; a History Server refuses all of it (spec/files.md §6.4). */
#include "server/api_v1/resources.h"
#include "server/api_v1/v1.h"

static enum err_code refuse(struct v1_scope *scope, struct err *err)
{
    sqlite3_stmt *row = NULL;
    enum err_code rc = db_prepare(scope->db, &row, "SELECT name FROM application", err);
    if (rc)
        return rc;
    if ((rc = db_step(row, err)) == ERR_OK || rc == ERR_EOF) {
        struct str name = rc == ERR_OK ? db_str(row, 0) : STR_NONE;
        response_plain(scope->response, 404, "no streaming listener attached to %.*s", (int)name.len, str_known(name) ? name.ptr : "");
        rc = ERR_OK;
    }
    db_finalize(row);
    return rc;
}

static bool convert_status(struct v1_scope *scope)
{
    static const char *const statuses[] = {"COMPLETED", "QUEUED", "PROCESSING"};
    return v1_param_words(scope->request, "status", statuses, ARRAY_LENGTH(statuses), &scope->wanted, &scope->filtered);
}

enum err_code v1_streaming(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, NULL, refuse, err);
}

enum err_code v1_streaming_receiver(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, v1_convert_ids, refuse, err);
}

enum err_code v1_streaming_batches(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 0, convert_status, refuse, err);
}

enum err_code v1_streaming_batch(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 1, v1_convert_long_id, refuse, err);
}

enum err_code v1_streaming_operation(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    return v1_in_app(ctx, request, response, 2, v1_convert_long_id, refuse, err);
}
