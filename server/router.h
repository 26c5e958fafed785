/* SPDX-License-Identifier: Apache-2.0
 *
 * From a path to a route of a table (api_context.h). Matching is on the undecoded path, segment by segment, so that an encoded slash stays in its segment; one slash at the
 * end is ignored, as Spark's own router ignores it. Tables are short (some tens): a linear walk. */
#ifndef SERVER_ROUTER_H
#define SERVER_ROUTER_H

#include "server/api_context.h"

/* The first route that matches, with request->path_args filled (decoded; an {x:d} argument is digits only), or NULL. Out of memory counts as no match. */
const struct route *router_match(const struct route *routes, struct request *request);

#endif
