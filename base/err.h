/* SPDX-License-Identifier: Apache-2.0
 *
 * How a function says that it failed. It returns an enum err_code (0 or negative) and, where it takes a
 * `struct err *`, fills that once, at the origin. Callers may prefix the message with a path
 * (err_prefix) and never replace it. The text is one line, lower case, without a full stop, and says what the
 * caller does not know. A NULL err is allowed everywhere: then only the code is returned.
 *
 * ERR_EOF and ERR_TRUNCATED are not faults: the first is the end of input where one may end, the second
 * an end in the middle of a unit (a line, a frame), which every running application's log has.
 * Out of memory is ERR_NOMEM; the message is set without allocating. Threads: a struct err belongs to one thread. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdint.h>

#include "base/attributes.h"

enum err_code {
    ERR_OK = 0,
    ERR_EOF = -1,          /* the end, where an end may be */
    ERR_TRUNCATED = -2,    /* the end in the middle of a unit; what came before is good */
    ERR_CORRUPT = -3,      /* bytes that cannot be what they claim to be */
    ERR_NOMEM = -4,
    ERR_IO = -5,
    ERR_LIMIT = -6,        /* a stated maximum was passed */
    ERR_INVALID = -7,      /* an argument or a setting makes no sense */
    ERR_NOT_FOUND = -8,
    ERR_UNSUPPORTED = -9,  /* known, and not readable here */
    ERR_DB = -10,          /* SQLite refused */
    ERR_BUSY = -11,        /* somebody else holds it; try again later */
    ERR_PERMISSION = -12,
    ERR_NO_SPACE = -13,    /* disk full or quota */
    ERR_CANCELLED = -14,   /* asked to stop */
    ERR_AWAY = -15,        /* the server that has it does not answer, or not now; try again later */
};

struct err {
    enum err_code code;
    int64_t line;          /* line number in the input, from 1; 0 where there is none */
    int64_t offset;        /* byte offset in the input; 0 where there is none */
    char message[256];     /* NUL-terminated; longer texts are cut */
};

/* Fill `err` (may be NULL) and return `code`. */
enum err_code err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same from errno: maps ENOENT, EACCES, ENOMEM, ENOSPC … to their codes and appends strerror. */
enum err_code err_set_errno(struct err *err, int errno_value, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Put "prefix: " before the message. Returns err->code, or ERR_OK for NULL. */
enum err_code err_prefix(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

enum err_code err_nomem(struct err *err);

/* A word for the code, static: "not found", "out of memory" … */
const char *err_code_name(enum err_code code);

#endif
