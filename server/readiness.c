/* SPDX-License-Identifier: Apache-2.0 */
#include "server/readiness.h"

#include "base/worker_counts.h"
#include "server/db_pool.h"
#include "server/server.h"

static bool catalogue_is_readable(struct api_ctx *ctx)
{
    struct db_lease lease;
    sqlite3_stmt *stmt = NULL;
    enum err_code rc = db_pool_catalog(ctx->pool, &lease, NULL);
    if (!rc)
        rc = db_prepare(lease.db, &stmt, "SELECT 1 FROM list_state", NULL);
    if (!rc)
        rc = db_step(stmt, NULL);
    db_finalize(stmt);
    db_pool_return(ctx->pool, &lease);
    return rc == ERR_OK;
}

struct readiness readiness_of(struct api_ctx *ctx)
{
    struct ingest_status ingest;
    struct worker_counts *counts = server_counts(ctx->server);
    server_ingest_status(ctx->server, &ingest);
    return (struct readiness){.catalogue = catalogue_is_readable(ctx), .listed = !counts || atomic_load(&counts->listed) || atomic_load(&counts->standby), .worker = !ingest.enabled || ingest.running};
}

bool readiness_all(const struct readiness *self)
{
    return self->catalogue && self->listed && self->worker;
}

void readiness_respond(struct api_ctx *ctx, struct response *response)
{
    struct readiness is = readiness_of(ctx);
    if (readiness_all(&is))
        response_plain(response, 200, "ok");
    else
        response_plain(response, 503, "not ready%s%s%s", is.catalogue ? "" : "\ncatalogue: it cannot be read", is.listed ? "" : "\nlist: the first look at the log directories is not done",
                       is.worker ? "" : "\nworker: the ingest process is not running");
    response_cache(response, "no-store");
}
