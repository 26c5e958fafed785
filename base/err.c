/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void format_message(struct err *err, const char *fmt, va_list args)
{
    vsnprintf(err->message, sizeof err->message, fmt, args);
}

enum err_code err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    if (err) {
        err->code = code;
        va_list args;
        va_start(args, fmt);
        format_message(err, fmt, args);
        va_end(args);
    }
    return code;
}

static enum err_code code_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return ERR_PERMISSION;
    case ENOMEM:
    case EAGAIN:   /* of pthread_create and fork: no memory, or too many threads. Locks that others hold say so at their call. */
        return ERR_NOMEM;
    case ENOSPC:
    case EDQUOT:
        return ERR_NO_SPACE;
    case EBUSY:
        return ERR_BUSY;
    default:
        return ERR_IO;
    }
}

enum err_code err_set_errno(struct err *err, int errno_value, const char *fmt, ...)
{
    enum err_code code = code_of_errno(errno_value);
    if (!err)
        return code;
    err->code = code;
    va_list args;
    va_start(args, fmt);
    format_message(err, fmt, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(errno_value));
    return code;
}

enum err_code err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return ERR_OK;
    char old[sizeof err->message];
    memcpy(old, err->message, sizeof old);
    va_list args;
    va_start(args, fmt);
    format_message(err, fmt, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", old);
    return err->code;
}

enum err_code err_nomem(struct err *err)
{
    return err_set(err, ERR_NOMEM, "out of memory");
}

const char *err_code_name(enum err_code code)
{
    switch (code) {
    case ERR_OK: return "ok";
    case ERR_EOF: return "end of input";
    case ERR_TRUNCATED: return "truncated";
    case ERR_CORRUPT: return "corrupt";
    case ERR_NOMEM: return "out of memory";
    case ERR_IO: return "input or output error";
    case ERR_LIMIT: return "limit passed";
    case ERR_INVALID: return "invalid";
    case ERR_NOT_FOUND: return "not found";
    case ERR_UNSUPPORTED: return "not supported";
    case ERR_DB: return "database error";
    case ERR_BUSY: return "busy";
    case ERR_PERMISSION: return "permission denied";
    case ERR_NO_SPACE: return "no space";
    case ERR_CANCELLED: return "cancelled";
    case ERR_AWAY: return "away";
    }
    return "unknown";
}
