/* SPDX-License-Identifier: Apache-2.0
 *
 * One look at the first bytes of a file or a zip member: is it an event log? */
#ifndef SOURCE_LOG_LOOK_H
#define SOURCE_LOG_LOOK_H

#include <stddef.h>

#include "base/err.h"

enum look_verdict {
    LOOK_LOG,
    LOOK_ZIP,              /* a zip archive: look inside */
    LOOK_NOTHING_YET,      /* compressed, and no text of it is there */
    LOOK_NOT_A_LOG,
};

/* As byte_source_read. */
typedef enum err_code look_read_fn(void *context, void *into, size_t room, size_t *ret_len, struct err *err);

/* *ret_reason: static, for verdicts other than LOOK_LOG. A read error is returned (what had been read before is judged first). */
enum err_code log_look(look_read_fn *read, void *context, enum look_verdict *ret, const char **ret_reason, struct err *err) WARN_UNUSED;

#endif
