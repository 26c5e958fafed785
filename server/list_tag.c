/* SPDX-License-Identifier: Apache-2.0 */
#include "server/list_tag.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/server.h"

enum err_code list_tag_read(struct api_ctx *ctx, const struct request *request, struct db *catalog, char *out, struct err *err)
{
    int64_t state = 0;
    out[0] = '\0';
    if (!request->viewer.sees_all)
        return ERR_OK;
    enum err_code rc = db_query_i64(catalog, "SELECT tag FROM list_state", &state, err);
    if (!rc && known(state))
        snprintf(out, LIST_TAG_BYTES, "\"%016" PRIx64 "-%s\"", (uint64_t)state, server_build(ctx->server));
    return rc;
}
