/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/dates.h"

#include "base/time.h"
#include "server/api_v1/zone_names.h"

struct cursor {
    const char *p, *end;
};

/* Java's int of any number: too long for 64 bits the nearest one, else the lower 32 bits. */
static bool number(struct cursor *at, int64_t *ret)
{
    while (at->p < at->end && (*at->p == ' ' || *at->p == '\t'))
        at->p++;
    bool negative = at->p < at->end && *at->p == '-', too_long = false;
    at->p += negative;
    const char *start = at->p;
    int64_t value = 0;
    for (; at->p < at->end && *at->p >= '0' && *at->p <= '9'; at->p++)
        too_long = too_long || __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at->p - '0', &value);
    if (too_long)
        *ret = negative ? INT32_MIN : INT32_MAX;
    else
        *ret = (int32_t)(uint32_t)(uint64_t)(negative ? -value : value);
    return at->p > start;
}

static bool letter(struct cursor *at, char c)
{
    if (at->p == at->end || *at->p != c)
        return false;
    at->p++;
    return true;
}

/* A number of one or two digits, or of exactly two. */
static bool digits(struct cursor *at, int least, int *ret)
{
    int n = 0;
    *ret = 0;
    while (n < 2 && at->p < at->end && *at->p >= '0' && *at->p <= '9') {
        *ret = *ret * 10 + (*at->p++ - '0');
        n++;
    }
    return n >= least;
}

/* After the sign: HHmm, or with `colon` h:mm as in GMT+8:00. */
static bool offset(struct cursor *at, bool colon, int *ret_minutes)
{
    bool west = at->p < at->end && *at->p == '-';
    int hours, minutes;
    if ((!west && (at->p == at->end || *at->p != '+')))
        return false;
    at->p++;
    if (!digits(at, colon ? 1 : 2, &hours) || (colon && !letter(at, ':')) || !digits(at, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

static bool same_letters(const struct cursor *at, const char *name, size_t len)
{
    if ((size_t)(at->end - at->p) < len)
        return false;
    for (size_t i = 0; i < len; i++) {
        char c = at->p[i];
        if ((c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c) != name[i])
            return false;
    }
    return true;
}

static bool zone(struct cursor *at, int *ret_minutes)
{
    struct cursor numeric = *at;
    if (offset(&numeric, false, ret_minutes))
        return true;
    size_t len = v1_zone_name((struct str){at->p, (size_t)(at->end - at->p)}, ret_minutes);
    bool gmt = len == 3 && same_letters(at, "GMT", 3);
    at->p += len;
    if (gmt && at->p < at->end && (*at->p == '+' || *at->p == '-'))      /* GMT+8:00, and then the minutes must be there */
        return offset(at, true, ret_minutes);
    return len > 0;
}

static bool day(struct cursor *at, int64_t *ret_days)
{
    int64_t year, month, of_month;
    if (!number(at, &year) || !letter(at, '-') || !number(at, &month) || !letter(at, '-') || !number(at, &of_month))
        return false;
    *ret_days = time_days_from_civil(year, month, 1) + of_month - 1;
    return true;
}

static bool instant(struct cursor *at, int64_t *ret_ms)
{
    int64_t hour, minute, second, ms;
    int east;
    if (!letter(at, 'T') || !number(at, &hour) || !letter(at, ':') || !number(at, &minute) || !letter(at, ':') || !number(at, &second) || !letter(at, '.') ||
        !number(at, &ms))
        return false;
    while (at->p < at->end && (*at->p == ' ' || *at->p == '\t'))
        at->p++;
    if (!zone(at, &east))
        return false;
    *ret_ms = ((hour * 60 + minute - east) * 60 + second) * 1000 + ms;
    return true;
}

bool v1_parse_date(struct str text, int64_t *ret_epoch_ms)
{
    struct cursor at = {text.ptr, text.ptr + text.len};
    int64_t days, ms;
    if (!text.len || !day(&at, &days))
        return false;
    *ret_epoch_ms = (int64_t)((uint64_t)days * 86400000u + (uint64_t)(instant(&at, &ms) ? ms : 0)); /* years that no 64 bits hold come out anywhere, as there */
    return true;
}
