/* SPDX-License-Identifier: Apache-2.0
 *
 * What the head of a page says about the thing at its address, so that a tab has a name at once and a link unfolds in a chat: a title, and the same with a verdict as description (Open Graph,
 * without a picture). Made from the store for each request, in the language that the client likes best; what comes from a log is cut and escaped. dispatch.c has asked before who may see the run.
 * It adds to a page what its findings take to be read, some milliseconds. */
#ifndef SERVER_PAGE_HEAD_H
#define SERVER_PAGE_HEAD_H

#include "base/buf.h"
#include "server/api_context.h"

/* <title>…</title> and <meta> elements into `out`, which is made here; dispose of it. A head that cannot be made (a run that is not there, a store that fails) is one that says less. */
void page_head(struct api_ctx *ctx, const struct request *request, struct buf *out);

#endif
