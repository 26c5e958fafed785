/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that somebody asks for before a scan has seen their logs: the ingest child is told to look for logs of that name, and the request waits a moment for what it finds. Bounded in
 * all ways: a name is looked for once in ON_DEMAND_AGAIN_MS, ON_DEMAND_WAITERS requests wait at the same time, ON_DEMAND_WAIT_MS at most, and a name is what ids of applications are
 * made of. Threads: safe. */
#ifndef SERVER_ON_DEMAND_H
#define SERVER_ON_DEMAND_H

#include "server/api_context.h"

#define ON_DEMAND_AGAIN_MS 10000
#define ON_DEMAND_WAIT_MS 2000
#define ON_DEMAND_WAITERS 2 /* each holds a thread of HTTP */

/* `ref` is a run's key, an application's id, or "id.attempt". Returns when the list has it, or when it will not. Before anybody is asked whether the viewer may see it. */
void on_demand(struct api_ctx *ctx, const struct request *request, struct str ref);

#endif
