/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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
