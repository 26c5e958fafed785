/* SPDX-License-Identifier: Apache-2.0
 *
 * The event log of one run as a zip. The History Server's address (api_v1/logs.c) has an id and an attempt only: where several runs have those, and for most added ones, it leads to another log or to none. */
#include "server/api/handlers.h"
#include "server/app_lookup.h"
#include "server/log_zip.h"

/* ERR_NOT_FOUND: the log is gone. */
static enum err_code add_log(struct api_ctx *ctx, int64_t log_id, struct log_zip *zip, struct err *err)
{
    struct db_lease catalog;
    sqlite3_stmt *row = NULL;
    enum err_code rc = app_catalog(ctx, &catalog, err);
    if (rc)
        return rc;
    if ((rc = db_prepare(catalog.db, &row, "SELECT path FROM log WHERE log_id = ?1", err)) == ERR_OK) {
        db_bind_i64(row, 1, log_id);
        if ((rc = db_step(row, err)) == ERR_OK)
            rc = log_zip_add(zip, db_str(row, 0), err);
    }
    db_finalize(row);
    db_pool_return(ctx->pool, &catalog);
    return rc == ERR_EOF ? ERR_NOT_FOUND : rc;
}

enum err_code api_logs(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err)
{
    struct app_ref app;
    struct log_zip *zip = NULL;
    enum err_code rc = app_find(ctx, request, request->path_args[0], &app, err);
    if (rc == ERR_NOT_FOUND) {
        response_error(response, 404, "not_found", "there is no application of this name");
        return ERR_OK;
    }
    if (rc || (rc = log_zip_new(&zip, err)))
        return rc;
    if ((rc = add_log(ctx, app.log_id, zip, err)) == ERR_NOT_FOUND) {
        response_error(response, 404, "log_gone", "its log is not there any more");
        rc = ERR_OK;
    } else if (!rc) {
        response_content_type(response, "application/zip");
        api_download(response, request->path_args[0], "-log.zip");
        response_stream(response, log_zip_read, log_zip_free, TAKE(zip));
    }
    log_zip_free(zip);
    return rc;
}
