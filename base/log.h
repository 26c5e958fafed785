/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines on standard error for the person who runs the program. Only cli/, ingest/worker*.c and server/http.c log; all else returns an error.
 * One line a call, control characters replaced, so that text from a log cannot forge lines, and secrets hidden (base/redact.h). Threads: safe. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/attributes.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level least);                          /* default LOG_INFO */
void log_line(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

#endif
