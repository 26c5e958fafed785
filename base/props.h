/* SPDX-License-Identifier: Apache-2.0
 *
 * Java properties files, as spark-defaults.conf is one: `key=value`, `key:value` or `key value`, comments (# and !), continuation lines, escapes
 * (\t \n \r \f \uXXXX, any other character for itself). As Spark does, blanks around a value are dropped. The text is UTF-8 (Java's \u escapes become
 * UTF-8, lone surrogates U+FFFD). A key that is given twice has the last value.
 * Keys and values belong to the struct and die with props_dispose. One thread. */
#ifndef BASE_PROPS_H
#define BASE_PROPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define PROPS_MAX_BYTES ((size_t)4 << 20)    /* a properties file is some kilobytes; more is a wrong file */

struct prop {
    struct str key, value;       /* arena of the props; NUL-terminated as well */
    int64_t line;                /* where it begins, from 1 */
};

struct props {
    struct arena arena;
    struct prop *items;          /* owned; in the order of the file, repeated keys included */
    size_t count, capacity;
};

void props_init(struct props *self);

/* Adds what `text` holds. ERR_INVALID, with err->line: a \u escape that is none. ERR_NOMEM; the items read before an error stay. */
enum err_code props_parse(struct props *self, struct str text, struct err *err) WARN_UNUSED;
enum err_code props_read_file(struct props *self, const char *path, struct err *err) WARN_UNUSED;

/* The last value of `key`, borrowed; STR_NONE: not there. */
struct str props_get(const struct props *self, const char *key);
void props_dispose(struct props *self);

#endif
