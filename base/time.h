/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks and dates. All times are epoch milliseconds in UTC; the log holds no time zone and the server never guesses one. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdint.h>

#include "base/str.h"

#define TIME_ISO_BYTES 32

int64_t time_now_ms(void);                                         /* wall clock */
int64_t time_monotonic_ns(void);                                   /* for measuring */

/* "2026-11-29T20:56:36.123Z"; years outside 0000–9999 are clamped. `out` has TIME_ISO_BYTES. Returns out. */
char *time_format_iso(int64_t epoch_ms, char *out);

/* "2026-11-29T20:56:36.123GMT", the form of the History Server's REST interface (spec/core.md §3.1). */
char *time_format_gmt(int64_t epoch_ms, char *out);

/* The other way: the whole text, with one to nine digits of a second's fraction (cut to ms) or none. UNKNOWN: any other text, or a date that does not exist. */
int64_t time_parse_iso(struct str text);

/* Days since 1970-01-01 of a proleptic Gregorian date; month and day may be out of range and roll over. */
int64_t time_days_from_civil(int64_t year, int64_t month, int64_t day);

#endif
