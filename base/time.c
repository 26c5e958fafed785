/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"

int64_t time_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t time_monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t time_days_from_civil(int64_t year, int64_t month, int64_t day)
{
    int64_t zero_based = month - 1;
    year += zero_based >= 0 ? zero_based / 12 : -((11 - zero_based) / 12);
    month = ((zero_based % 12) + 12) % 12 + 1;
    if (month <= 2)
        year--;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year + day - 1 - 719468;
}

static char *format(int64_t epoch_ms, const char *zone, char *out)
{
    const int64_t earliest = -62167219200000, latest = 253402300799999;   /* year 0000 and 9999 */
    if (epoch_ms < earliest)
        epoch_ms = earliest;
    if (epoch_ms > latest)
        epoch_ms = latest;
    int64_t ms = ((epoch_ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((epoch_ms - ms) / 1000);
    struct tm t;
    gmtime_r(&seconds, &t);
    char date[24];
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(out, TIME_ISO_BYTES, "%04d%s.%03u%s", (t.tm_year + 1900) % 10000, strchr(date, '-'), (unsigned)ms % 1000, zone);
    return out;
}

char *time_format_iso(int64_t epoch_ms, char *out)
{
    return format(epoch_ms, "Z", out);
}

char *time_format_gmt(int64_t epoch_ms, char *out)
{
    return format(epoch_ms, "GMT", out);
}

/* `count` digits at `at` as a number; -1: not all are digits. */
static int64_t digits(struct str text, size_t at, size_t count)
{
    int64_t value = 0;
    for (size_t i = at; i < at + count; i++) {
        if (i >= text.len || text.ptr[i] < '0' || text.ptr[i] > '9')
            return -1;
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

int64_t time_parse_iso(struct str text)
{
    static const char shape[] = "0000-00-00T00:00:00";
    const size_t seconds_end = sizeof shape - 1;
    if (text.len <= seconds_end)
        return UNKNOWN;
    for (size_t i = 0; i < seconds_end; i++)
        if (shape[i] != '0' && text.ptr[i] != shape[i])
            return UNKNOWN;
    int64_t year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
    int64_t hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
    int64_t ms = 0;
    size_t at = seconds_end;
    if (text.ptr[at] == '.') {
        size_t first = ++at;
        for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++)
            if (at < first + 3)
                ms = ms * 10 + (text.ptr[at] - '0');
        if (at == first || at > first + 9)
            return UNKNOWN;
        for (size_t i = at; i < first + 3; i++)
            ms *= 10;
    }
    if (at + 1 != text.len || text.ptr[at] != 'Z' || year < 0 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return UNKNOWN;
    int64_t days = time_days_from_civil(year, month, day);
    if (days >= time_days_from_civil(year, month + 1, 1))
        return UNKNOWN;
    return ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000 + ms;
}
