/* SPDX-License-Identifier: Apache-2.0
 *
 * The ETag of answers made from the catalogue alone: lists of runs. It names the state of the catalogue (schema.sql, list_state) and the program, so it is right for an answer that
 * depends on nothing but those, its address and its viewer. Only viewers who see everything get one: of others each may see another list, and a tag that two of them get must not
 * make the list of the one that of the other. */
#ifndef SERVER_LIST_TAG_H
#define SERVER_LIST_TAG_H

#include "server/api_context.h"

#define LIST_TAG_BYTES 96

/* With quotes; "": this viewer gets none. Of the state that `catalog` shows. `out` has LIST_TAG_BYTES. */
enum err_code list_tag_read(struct api_ctx *ctx, const struct request *request, struct db *catalog, char *out, struct err *err) WARN_UNUSED;

#endif
