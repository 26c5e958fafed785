/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/conf_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/attributes.h"

struct unit {
    const char *name;
    int64_t size;
};

static int64_t parse(struct str value, int64_t bare, const struct unit *units, size_t unit_count)
{
    if (!str_known(value))
        return UNKNOWN;
    size_t digits = value.len;
    while (digits && (value.ptr[digits - 1] < '0' || value.ptr[digits - 1] > '9'))
        digits--;
    int64_t number, size = bare, out;
    struct str unit = {value.ptr + digits, value.len - digits};
    if (!str_to_i64((struct str){value.ptr, digits}, &number) || number < 0)
        return UNKNOWN;
    if (unit.len) {
        size = 0;
        for (size_t i = 0; i < unit_count && !size; i++)
            if (strlen(units[i].name) == unit.len && strncasecmp(units[i].name, unit.ptr, unit.len) == 0)
                size = units[i].size;
        if (!size)
            return UNKNOWN;
    }
    return __builtin_mul_overflow(number, size, &out) ? UNKNOWN : out;
}

int64_t conf_bytes(struct str value, int64_t bare_bytes)
{
    static const struct unit units[] = {{"b", 1},       {"k", 1 << 10},  {"kb", 1 << 10},         {"m", 1 << 20},          {"mb", 1 << 20},
                                        {"g", 1 << 30}, {"gb", 1 << 30}, {"t", (int64_t)1 << 40}, {"tb", (int64_t)1 << 40}};
    return parse(value, bare_bytes, units, ARRAY_LENGTH(units));
}

int64_t conf_duration_ms(struct str value, int64_t bare_ms)
{
    static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    return parse(value, bare_ms, units, ARRAY_LENGTH(units));
}

int64_t conf_count(struct str value)
{
    int64_t out;
    return str_known(value) && str_to_i64(value, &out) ? out : UNKNOWN;
}

bool conf_true(struct str value, bool otherwise)
{
    return str_known(value) ? value.len == 4 && strncasecmp(value.ptr, "true", 4) == 0 : otherwise;
}

double conf_number(struct str value)
{
    char text[64], *end;
    if (!str_known(value) || value.len == 0 || value.len >= sizeof text)
        return (double)NAN;
    memcpy(text, value.ptr, value.len);
    text[value.len] = '\0';
    double out = strtod(text, &end);
    return *end || !isfinite(out) ? (double)NAN : out;
}
