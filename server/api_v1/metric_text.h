/* SPDX-License-Identifier: Apache-2.0
 *
 * The value of an SQL metric as the History Server's interface says it: a text, by the metric's type (spec/sql.md §3.3-3.5). Numbers come from table sql_metric, as reported:
 * tenths for average, nanoseconds for nsTiming. Rounding is Java's: half up on the shortest decimal digits, durations through a 32-bit float first. Pure functions; all texts go
 * to the caller's `out` of METRIC_TEXT_BYTES, which is also what they return. */
#ifndef API_V1_METRIC_TEXT_H
#define API_V1_METRIC_TEXT_H

#include <stdint.h>

#include "base/str.h"

#define METRIC_TEXT_BYTES 384        /* four formatted numbers of at most 50 bytes, the head line and three ids */

/* A row of sql_metric that somebody reported (schema.sql). */
struct metric_values {
    struct str type;                 /* borrowed */
    int64_t value_count, total, min, median, max;
    int64_t max_stage_id, max_stage_attempt, max_task_id;    /* UNKNOWN: the largest is the driver's */
};

char *metric_text(const struct metric_values *self, char *out);

char *metric_count_text(int64_t count, char *out);           /* 1,234,567 */
char *metric_tenths_text(int64_t tenths, char *out);         /* 1,234.5; 3 */
char *metric_bytes_text(int64_t bytes, char *out);           /* 3.7 KiB */
char *metric_duration_text(int64_t duration_ms, char *out);  /* 1.4 s */
char *metric_page_duration_text(int64_t duration_ms, char *out);     /* as the History Server's pages say it: 0.4 s, 2 s, 1.5 min (spec/core.md §5) */

#endif
