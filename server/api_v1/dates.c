/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/dates.h"

#include "base/time.h"

#define MAX_NUMBER 999999999
#define MAX_YEAR 100000000           /* beyond, milliseconds would pass 64 bits; Java ends at 292278994 */

/* Minutes east of GMT. Of abbreviations that several places use, the one that Java's English tables find first. */
static const struct {
    const char *name;
    int minutes;
} zones[] = {
    {"GMT", 0}, {"UTC", 0}, {"PST", -480}, {"PDT", -420}, {"MST", -420}, {"MDT", -360}, {"CST", -360}, {"CDT", -300}, {"EST", -300}, {"EDT", -240},
    {"AKST", -540}, {"AKDT", -480}, {"HST", -600}, {"WET", 0}, {"WEST", 60}, {"CET", 60}, {"CEST", 120}, {"EET", 120}, {"EEST", 180}, {"MSK", 180},
    {"BST", 60}, {"IST", 330}, {"SGT", 480}, {"HKT", 480}, {"JST", 540}, {"KST", 540}, {"AEST", 600}, {"AEDT", 660}, {"NZST", 720}, {"NZDT", 780},
};

struct cursor {
    const char *p, *end;
};

static bool number(struct cursor *at, int64_t *ret)
{
    while (at->p < at->end && (*at->p == ' ' || *at->p == '\t'))
        at->p++;
    const char *start = at->p;
    int64_t value = 0;
    while (at->p < at->end && *at->p >= '0' && *at->p <= '9') {
        value = value * 10 + (*at->p++ - '0');
        if (value > MAX_NUMBER)
            return false;
    }
    *ret = value;
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
    size_t best = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(zones); i++) {
        size_t len = strlen(zones[i].name);
        if (len > best && same_letters(at, zones[i].name, len)) {
            best = len;
            *ret_minutes = zones[i].minutes;
        }
    }
    if (!best)
        return false;
    bool gmt = same_letters(at, "GMT", 3);
    at->p += best;
    if (gmt && at->p < at->end && (*at->p == '+' || *at->p == '-'))      /* GMT+8:00, and then the minutes must be there */
        return offset(at, true, ret_minutes);
    return true;
}

static bool day(struct cursor *at, int64_t *ret_days)
{
    int64_t year, month, of_month;
    if (!number(at, &year) || year > MAX_YEAR || !letter(at, '-') || !number(at, &month) || !letter(at, '-') || !number(at, &of_month))
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
    *ret_epoch_ms = days * 86400000 + (instant(&at, &ms) ? ms : 0);
    return true;
}
