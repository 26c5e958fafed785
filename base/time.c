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

static char *put_digits(char *out, int64_t value, size_t count)
{
    for (size_t i = count; i-- > 0; value /= 10)
        out[i] = (char)('0' + value % 10);
    return out + count;
}

/* The other way round than time_days_from_civil, for days from year 0 on. Years begin in March, so that the odd day is the last one. */
static char *put_date(char *out, int64_t days)
{
    int64_t since = days + 719468 + 146097, era = since / 146097, of_era = since % 146097;       /* from 1 March of the year -400 */
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (year_of_era * 365 + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    bool next_year = month >= 10;    /* 0 is March */
    out = put_digits(out, (era - 1) * 400 + year_of_era + next_year, 4);
    *out++ = '-';
    out = put_digits(out, month + (next_year ? -9 : 3), 2);
    *out++ = '-';
    return put_digits(out, day, 2);
}

static char *format(int64_t epoch_ms, const char *zone, char *out)
{
    const int64_t earliest = -62167219200000, latest = 253402300799999, day_ms = 86400000;   /* year 0000 and 9999 */
    epoch_ms = MAX(MIN(epoch_ms, latest), earliest);
    int64_t of_day_ms = ((epoch_ms % day_ms) + day_ms) % day_ms;
    const struct {
        char before;
        int64_t unit_ms, units;
        size_t digits;
    } parts[] = {{'T', 3600000, 24, 2}, {':', 60000, 60, 2}, {':', 1000, 60, 2}, {'.', 1, 1000, 3}};
    char *at = put_date(out, (epoch_ms - of_day_ms) / day_ms);
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        *at++ = parts[i].before;
        at = put_digits(at, of_day_ms / parts[i].unit_ms % parts[i].units, parts[i].digits);
    }
    memcpy(at, zone, strlen(zone) + 1);
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
