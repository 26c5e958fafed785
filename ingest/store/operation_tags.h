/* SPDX-License-Identifier: Apache-2.0
 *
 * The tags of a job or SQL execution (comma-separated) that name a Connect operation: while (operation_tag_next(&tags, &tag)) … */
#ifndef STORE_OPERATION_TAGS_H
#define STORE_OPERATION_TAGS_H

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

#define OPERATION_TAG "SparkConnect_OperationTag"

/* Takes tags off the front of *rest, up to and with the first such one. */
static inline bool operation_tag_next(struct str *rest, struct str *ret)
{
    while (rest->len) {
        const char *comma = memchr(rest->ptr, ',', rest->len);
        *ret = (struct str){rest->ptr, comma ? (size_t)(comma - rest->ptr) : rest->len};
        *rest = comma ? (struct str){comma + 1, rest->len - ret->len - 1} : (struct str){NULL, 0};
        if (str_starts(*ret, OPERATION_TAG))
            return true;
    }
    return false;
}

#endif
