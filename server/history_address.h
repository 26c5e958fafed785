/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of the History Server's pages (spec/files.md §6.1, §6.2, §6.7), which stand in mails, tickets and YARN's lists: each leads to our page of the same thing, by 302.
 *
 *     /history/<app>[/<attempt>]/stages/stage/?id=3&attempt=0&task.sort=Duration&task.desc=true   ->   /a/<ref>/stages/3.0?sort=-durationMs
 *
 * What the address says is looked up in tables of known pages, columns and numbers; nothing else of it gets into the new one but an application that the store knows, and, encoded
 * and of at most 512 bytes, the id of a streaming query, a session or an executor. A page that we do not have leads to the nearest one above it. Ids that a proxy encoded once more (YARN's does) are decoded until they fit. */
#ifndef SERVER_HISTORY_ADDRESS_H
#define SERVER_HISTORY_ADDRESS_H

#include "base/buf.h"
#include "server/api_context.h"

#define HISTORY_ADDRESS_BYTES ((size_t)4096) /* of a new address: a reference and an id of at most 3 × 512 each and what stands in the tables */

/* Our page below /a/{ref}/ for what follows the application and attempt in an address ("stages/stage/", decoded), with the parameters of the request translated:
 * "stages/3.0?sort=-durationMs". "": the overview, also for pages that are nothing. */
void history_page(struct str path, const struct request *request, struct buf *out);

/* Answers /history[/…]: a redirect, or 404. */
enum err_code history_respond(struct api_ctx *ctx, struct request *request, struct response *response, struct err *err) WARN_UNUSED;

/* Answers /?showIncomplete=… */
enum err_code history_respond_start(const struct request *request, struct response *response, struct err *err) WARN_UNUSED;

#endif
