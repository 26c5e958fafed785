/* SPDX-License-Identifier: Apache-2.0
 *
 * Units and unknowns. Times are epoch milliseconds (…_ms), durations milliseconds (…_ms), CPU time and shuffle write time nanoseconds
 * (…_ns, as Spark logs them), sizes bytes (…_bytes). A value that the log does not hold is UNKNOWN: NULL in SQL, null in JSON, a dash on a page, never 0. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#define UNKNOWN INT64_MIN
#define NS_PER_MS 1000000
#define US_PER_MS 1000

static inline bool known(int64_t value)
{
    return value != UNKNOWN;
}

static inline int64_t known_or(int64_t value, int64_t otherwise)
{
    return known(value) ? value : otherwise;
}

/* Sums saturate instead of wrapping; unknown + x = x, unknown + unknown = unknown. */
static inline int64_t add_known(int64_t sum, int64_t value)
{
    int64_t out;
    if (!known(value))
        return sum;
    if (!known(sum))
        return value;
    if (__builtin_add_overflow(sum, value, &out) || !known(out))
        return value > 0 ? INT64_MAX : INT64_MIN + 1;
    return out;
}

static inline int64_t max_known(int64_t a, int64_t b)
{
    return !known(a) ? b : !known(b) ? a : a > b ? a : b;
}

static inline int64_t min_known(int64_t a, int64_t b)
{
    return !known(a) ? b : !known(b) ? a : a < b ? a : b;
}

/* end − begin, or UNKNOWN when either is, when the result would be negative (a clock step), or on overflow. */
static inline int64_t elapsed_known(int64_t begin_ms, int64_t end_ms)
{
    int64_t out;
    if (!known(begin_ms) || !known(end_ms) || __builtin_sub_overflow(end_ms, begin_ms, &out) || out < 0)
        return UNKNOWN;
    return out;
}

#endif
