/* SPDX-License-Identifier: Apache-2.0
 *
 * Is this the text of an event log? Looks at a few first bytes; nothing here allocates. */
#ifndef SOURCE_LOG_TEXT_H
#define SOURCE_LOG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_TEXT_HEAD_BYTES ((size_t)64 << 10)   /* a bad first line, or records of foreign listeners, may come before the first event */

/* A line that begins with { (after a byte order mark, zero bytes, blanks) and has the key "Event" or "event" in it. */
bool log_text_has_event(const char *text, size_t len);

/* Begins with { likewise: text, whatever follows. */
bool log_text_begins_object(const char *text, size_t len);

/* More control characters than any text has (zero bytes aside, which file systems leave behind). */
bool log_text_is_binary(const char *text, size_t len);

#endif
