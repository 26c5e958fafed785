/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether what we answer is true: what /readyz says. Open to everybody, so it says which part is missing and nothing of paths or errors. */
#ifndef SERVER_READINESS_H
#define SERVER_READINESS_H

#include <stdbool.h>

#include "server/api_context.h"

struct readiness {
    bool catalogue;                  /* it can be read */
    bool listed;                     /* since this server started, each place was looked at or could not be reached, and the logs that were seen then are in the list; true without places, and where another server's worker looks */
    bool worker;                     /* the ingest process runs; true without places */
};

struct readiness readiness_of(struct api_ctx *ctx);
bool readiness_all(const struct readiness *self);

/* 200 "ok", or 503 with a line for each part that is missing. */
void readiness_respond(struct api_ctx *ctx, struct response *response);

#endif
