/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a request that changes something may come from where it comes: pages of this very server, and programs. A browser sends cookies and passwords along whoever makes it send, so that a page of another
 * site could act in the name of its reader. Two lines against that, both are needed:
 *
 * - a header of ours (`marker`) that only scripts can set, and scripts of other sites only after they asked us for it (CORS), which we answer to nobody;
 * - what the browser says of the page: Sec-Fetch-Site, else Origin against the host that was asked for, as we or as a proxy before us know it (X-Forwarded-Host). A page cannot set any of the three.
 *
 * A client that is no browser says nothing of where it comes from. */
#ifndef SERVER_ORIGIN_H
#define SERVER_ORIGIN_H

#include "server/request.h"

/* marker: value of that header; STR_NONE: it is not there. */
bool origin_may_change(const struct request *request, struct str marker);

#endif
