/* SPDX-License-Identifier: Apache-2.0
 *
 * The operator's own patterns of secrets, beside the rules of base/redact.h: regular expressions in Java's manner, "(?i)zebra|internal[.]host". They are PCRE2's, whose syntax is
 * Java's but for corners (POSIX has no (?i)); its library is part of every Debian 12.
 *
 * A pattern may be bad and a text hostile, so the work on a text is counted and bounded by a multiple of its length, and memory by a constant. Where the bound is met the answer
 * is "found": in doubt text is hidden. A match is at most REDACT_PATTERN_REACH bytes long; an empty one counts as none.
 *
 * Set once, before there are threads; then from many. */
#ifndef BASE_REDACT_PATTERN_H
#define BASE_REDACT_PATTERN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

#define REDACT_PATTERN_REACH ((size_t)4 << 10)

enum redact_pattern {
    REDACT_PROPERTIES,  /* spark.redaction.regex: keys or values of properties */
    REDACT_SQL_OPTIONS, /* spark.sql.redaction.options.regex: the same of a session's settings */
    REDACT_TEXTS,       /* spark.redaction.string.regex: parts of texts */
    REDACT_SQL_TEXTS,   /* spark.sql.redaction.string.regex: the same */
    REDACT_PATTERN_COUNT
};

/* NULL or "": none. ERR_INVALID: it is no pattern; the message says where. */
enum err_code redact_pattern_set(enum redact_pattern which, const char *pattern, struct err *err) WARN_UNUSED;

bool redact_pattern_is_set(enum redact_pattern which);

/* Whether it is found anywhere in the text. Not set, or an unknown text: no. */
bool redact_pattern_finds(enum redact_pattern which, struct str text);

/* The next match at or after `from`: true, *ret within text. */
bool redact_pattern_next(enum redact_pattern which, struct str text, size_t from, struct str *ret);

#endif
