/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines on standard error for the person who runs the program, or for what collects them. Only cli/, ingest/worker*.c and ingest/cleaner.c log, and in server/ server.c,
 * http*.c and those that go on without what failed (uploads.c, response.c, page_head.c); all else returns an error.
 * One line a call, in one of two forms (afterglow.log.format):
 *
 *     2026-11-29T20:56:36.123Z info http method=GET path="/a/x y" status=200 request=5f1c09aa-2a
 *     {"time":"2026-11-29T20:56:36.123Z","level":"info","message":"http","method":"GET","path":"/a/x y","status":200,"request":"5f1c09aa-2a"}
 *
 * Control characters are replaced or escaped, so that text from a log or a client cannot forge lines, and secrets are hidden (base/redact.h). Threads: safe. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

void log_set_level(enum log_level least);                          /* default LOG_INFO */
void log_set_format(enum log_format format);                       /* default LOG_TEXT */

/* What this thread's lines belong to from now on: "request" in each. Borrowed until the next call; NULL: nothing. */
void log_set_request(const char *id);

void log_line(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A value is its text, cut at LOG_FIELD_BYTES, or, where that is unknown, its number; where both are, the field is left out. */
#define LOG_FIELD_BYTES 512
struct log_field {
    const char *key;                 /* letters */
    struct str text;
    int64_t number;
};
void log_fields(enum log_level level, const char *message, const struct log_field *fields, size_t count);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
