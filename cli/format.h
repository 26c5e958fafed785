/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers and names for people at a terminal. All write into `out` and return it. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

#define FORMAT_BYTES 48

char *format_size(int64_t bytes, char *out);             /* "532 B", "12.3 MB" (powers of ten, as ls --si has them); unknown: "-" */
char *format_duration(int64_t ms, char *out);            /* "87 ms", "4.2 s", "3 min 12 s", "5 h 7 min", "2 d 3 h" */
char *format_time(int64_t epoch_ms, char *out);          /* "2026-11-29 20:57:00", UTC */
char *format_count(int64_t count, char *out);            /* "1,234,567" */

/* Text from a log or a file name: control characters become ?, so that it cannot steer a terminal. At most `max` characters, with … where it was cut. Returns the number of
 * characters. */
int print_clean(FILE *to, struct str text, int max);
int clean_width(struct str text, int max);               /* the same number, without printing */

#endif
