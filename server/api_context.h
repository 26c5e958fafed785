/* SPDX-License-Identifier: Apache-2.0
 *
 * What every handler gets: the store, opened read-only. Handlers look like
 *
 *     enum err_code api_jobs(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err);
 *
 * They answer through `response` and return ERR_OK, also for 404 and the like; another code means that the store failed and becomes a 500 of the API it belongs to.
 * A handler runs in one of the server's threads; ctx belongs to that call. */
#ifndef SERVER_API_CONTEXT_H
#define SERVER_API_CONTEXT_H

#include "base/db.h"
#include "base/err.h"
#include "server/request.h"
#include "server/response.h"

struct server;                       /* settings and shared state: server.h */
struct db_pool;                      /* open databases: db_pool.h */

struct api_ctx {
    struct server *server;
    struct db_pool *pool;
    int64_t opened[2];               /* log ids of the runs that were opened last, for whoever is told that the store is damaged; 0: none */
};

typedef enum err_code api_handler(struct api_ctx *ctx, const struct request *request, struct response *response, struct err *err);

/* One route. Patterns match segment by segment: {x} any one segment, {x:d} digits only; a segment may hold two with a text between ("{id:d}.{attempt:d}"). The first match in
 * table order wins. */
struct route {
    const char *pattern;             /* "/api/v1/applications/{app}/jobs/{id:d}" */
    api_handler *handler;
    const char *summary;             /* one line, for the README's table */
};

/* Tables end with a NULL pattern. */
extern const struct route api_v1_routes[];       /* server/api_v1/routes.c */
extern const struct route api_routes[];          /* server/api/routes.c */
extern const struct route api_actions[];         /* there, too: what is asked for by POST */

#endif
