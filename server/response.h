/* SPDX-License-Identifier: Apache-2.0
 *
 * What a handler answers. A handler writes JSON or bytes as long as it likes: up to RESPONSE_MEMORY_BYTES stay in memory, the rest goes to an unlinked temporary file, so
 * that an answer of any length takes constant memory; http.c then sends it, as gzip where the client takes it.
 * For bodies that must begin before they end (a zip of 50 GB, a table of a million rows) use response_stream or response_steps. Made and owned by http.c. */
#ifndef SERVER_RESPONSE_H
#define SERVER_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_writer.h"
#include "base/str.h"

#define RESPONSE_MEMORY_BYTES ((size_t)1 << 20)

struct response;

void response_status(struct response *self, int status);                                       /* default 200 */
void response_header(struct response *self, const char *name, struct str value);               /* value is checked for line breaks */
void response_content_type(struct response *self, const char *type);                           /* static text */
void response_etag(struct response *self, struct str etag);                                    /* with quotes; http.c answers 304 when the client has it */
void response_cache(struct response *self, const char *cache_control);                         /* default "no-cache" */

#define RESPONSE_RETRY_AFTER STR_LIT("2")      /* seconds; header of every 503 that passes */

/* There may be another answer soon: http.c asks again while the client waits, where that is wanted (EXACT_WAIT), before it sends this one. */
void response_later(struct response *self);

/* Begin a JSON body (application/json). The writer is the response's; http.c ends it. Call once. pretty: the form of /api/v1. */
struct json_writer *response_json(struct response *self, bool pretty);

/* The same for a body that is made of JSON and is none: what is written goes to `sink`, which writes the body (response_write). `done` frees the context, whatever happens. `sink` NULL: there was no
 * memory for one. */
struct json_writer *response_json_through(struct response *self, json_sink_fn *sink, void (*done)(void *), void *context);

/* Append raw bytes to the body. */
enum err_code response_write(struct response *self, const void *bytes, size_t len);

/* Static or arena bytes as the whole body, not copied. `gzip` may be a precompressed twin (STR_NONE: none). */
void response_static(struct response *self, const char *type, struct str body, struct str gzip);

/* The error body of our own API: {"status","error","detail"}. Forgets what was written, headers too. */
void response_error(struct response *self, int status, const char *error, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* The History Server's errors: bare text, text/plain. Forgets what was written, headers too. */
void response_plain(struct response *self, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A body by pull: `read` writes up to `room` bytes and returns how many, 0 at the end, -1 on failure (the connection is cut). `done` frees the context. Both run in the
 * connection's thread. */
typedef int64_t response_read_fn(void *context, char *out, size_t room);
void response_stream(struct response *self, response_read_fn *read, void (*done)(void *), void *context);

/* For bodies whose rest is made while they are sent, by the means above (response_json, response_write): each call of `step` writes a piece of it, some ten kilobytes, and the last one leaves *ret_more
 * false. What was written before is its begin. A failure cuts the connection. `done` frees the context, also when the client has gone. The request and its arena stay until then. */
typedef enum err_code response_step_fn(void *context, bool *ret_more, struct err *err);
void response_steps(struct response *self, response_step_fn *step, void (*done)(void *), void *context);

#endif
