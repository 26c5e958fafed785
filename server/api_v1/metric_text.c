/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api_v1/metric_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "base/units.h"

#define MS_PER_SECOND 1000
#define MS_PER_MINUTE 60000
#define MS_PER_HOUR 3600000
#define DIGITS_BYTES 32
#define NUMBER_BYTES 32

static const char head_with_total[] = "total (min, med, max (stageId: taskId))";
static const char head_without_total[] = "(min, med, max (stageId: taskId)):";

char *metric_count_text(int64_t count, char *out)
{
    char digits[DIGITS_BYTES];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count < 0 ? 0 - (uint64_t)count : (uint64_t)count);
    char *at = out;
    if (count < 0)
        *at++ = '-';
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return out;
}

char *metric_tenths_text(int64_t tenths, char *out)
{
    metric_count_text(tenths / 10, out);
    if (tenths % 10)
        snprintf(out + strlen(out), METRIC_TEXT_BYTES - strlen(out), ".%d", (int)llabs(tenths % 10));
    return out;
}

/* `scaled` is in tenths or hundredths. */
static char *fraction_text(uint64_t scaled, int decimals, const char *unit, char *out)
{
    uint64_t scale = decimals == 1 ? 10 : 100;
    snprintf(out, NUMBER_BYTES, "%" PRIu64 ".%0*" PRIu64 " %s", scaled / scale, decimals, scaled % scale, unit);
    return out;
}

char *metric_bytes_text(int64_t bytes, char *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    uint64_t size = bytes < 0 ? 0 : (uint64_t)bytes;
    unsigned power = 0;
    while (power + 1 < ARRAY_LENGTH(units) && size >> (10 * (power + 1)) >= 2)
        power++;
    unsigned shift = 10 * power;
    uint64_t whole = size >> shift, rest = size - (whole << shift);      /* rest * 10 fits: it is below 2^60 */
    uint64_t tenths = power ? (rest * 10 + ((uint64_t)1 << (shift - 1))) >> shift : 0;
    return fraction_text(whole * 10 + tenths, 1, units[power], out);
}

/* value × 10^decimals, rounded half up on the shortest decimal digits that read back as this double: what Java's %.1f prints, and C's does not. */
static uint64_t scaled_half_up(double value, int decimals)
{
    char text[DIGITS_BYTES];
    int precision = 0;
    do
        snprintf(text, sizeof text, "%.*e", precision, value);
    while (strtod(text, NULL) != value && ++precision < 17);
    const char *e = strchr(text, 'e');
    int kept = (e ? atoi(e + 1) : 0) + 1 + decimals, seen = 0;
    uint64_t scaled = 0;
    for (const char *at = text; *at && *at != 'e'; at++) {
        if (*at == '.')
            continue;
        if (seen < kept)
            scaled = scaled * 10 + (uint64_t)(*at - '0');
        else if (seen == kept)
            scaled += *at >= '5';
        seen++;
    }
    for (; seen < kept; seen++)
        scaled *= 10;
    return scaled;
}

static char *quotient_text(int64_t duration_ms, int64_t unit_ms, int decimals, const char *unit, char *out)
{
    float quotient = (float)duration_ms / (float)unit_ms;
    return fraction_text(scaled_half_up((double)quotient, decimals), decimals, unit, out);
}

char *metric_duration_text(int64_t duration_ms, char *out)
{
    if (duration_ms < MS_PER_SECOND)
        snprintf(out, NUMBER_BYTES, "%" PRId64 " ms", duration_ms);
    else if (duration_ms < MS_PER_MINUTE)
        quotient_text(duration_ms, MS_PER_SECOND, 1, "s", out);
    else if (duration_ms < MS_PER_HOUR)
        quotient_text(duration_ms, MS_PER_MINUTE, 1, "m", out);
    else
        quotient_text(duration_ms, MS_PER_HOUR, 2, "h", out);
    return out;
}

char *metric_page_duration_text(int64_t duration_ms, char *out)
{
    static const struct step {
        int64_t below_ms, unit_ms;
        int decimals;
        const char *unit;
    } steps[] = {
        {MS_PER_SECOND, MS_PER_SECOND, 1, "s"},
        {MS_PER_MINUTE, MS_PER_SECOND, 0, "s"},
        {10 * MS_PER_MINUTE, MS_PER_MINUTE, 1, "min"},
        {MS_PER_HOUR, MS_PER_MINUTE, 0, "min"},
        {INT64_MAX, MS_PER_HOUR, 1, "h"},
    };
    if (duration_ms < 100) {
        snprintf(out, NUMBER_BYTES, "%" PRId64 " ms", duration_ms);
        return out;
    }
    const struct step *step = steps;
    while (duration_ms >= step->below_ms && step + 1 < steps + ARRAY_LENGTH(steps))
        step++;
    int64_t part_ms = step->decimals ? step->unit_ms / 10 : step->unit_ms, parts = duration_ms / part_ms;
    parts += duration_ms % part_ms >= part_ms / 2;
    if (!step->decimals)
        snprintf(out, NUMBER_BYTES, "%" PRId64 " %s", parts, step->unit);
    else
        fraction_text((uint64_t)parts, 1, step->unit, out);
    return out;
}

static char *ns_text(int64_t duration_ns, char *out)
{
    return metric_duration_text(duration_ns / NS_PER_MS, out);
}

/* A type that the History Server does not know (Databricks has some): it says so. */
static char *unknown_text(int64_t value, char *out)
{
    char number[METRIC_TEXT_BYTES];
    snprintf(out, METRIC_TEXT_BYTES, "[unknown] %.40s", metric_count_text(value, number));
    return out;
}

/* Types whose text has the distribution of its values; NULL: all that have no text of their own. */
static const struct spread_type {
    const char *name;
    char *(*format)(int64_t value, char *out);
    bool has_total;
} spread_types[] = {
    {"size", metric_bytes_text, true},
    {"timing", metric_duration_text, true},
    {"nsTiming", ns_text, true},
    {"average", metric_tenths_text, false},
    {NULL, unknown_text, true},
};

static char *spread_text(const struct metric_values *self, const struct spread_type *type, char *out)
{
    if (self->value_count < 2)
        return type->format(known_or(self->total, 0), out);
    char total[METRIC_TEXT_BYTES] = "", min[METRIC_TEXT_BYTES], median[METRIC_TEXT_BYTES], max[METRIC_TEXT_BYTES], whose[NUMBER_BYTES * 3] = "driver";
    if (known(self->max_stage_id))
        snprintf(whose, sizeof whose, "stage %" PRId64 ".%" PRId64 ": task %" PRId64, self->max_stage_id, known_or(self->max_stage_attempt, 0), known_or(self->max_task_id, 0));
    if (type->has_total)
        snprintf(total + strlen(type->format(self->total, total)), 2, " ");
    snprintf(out, METRIC_TEXT_BYTES, "%s\n%.52s(%.50s, %.50s, %.50s (%s))", type->has_total ? head_with_total : head_without_total, total,
             type->format(known_or(self->min, 0), min), type->format(known_or(self->median, 0), median), type->format(known_or(self->max, 0), max), whose);
    return out;
}

char *metric_text(const struct metric_values *self, char *out)
{
    if (str_is(self->type, "sum"))
        return metric_count_text(known_or(self->total, 0), out);
    /* A data source's own class makes these texts; no History Server has it. */
    if (str_starts(self->type, "v2Custom_")) {
        snprintf(out, METRIC_TEXT_BYTES, "N/A");
        return out;
    }
    const struct spread_type *type = spread_types;
    while (type->name && !str_is(self->type, type->name))
        type++;
    return spread_text(self, type, out);
}
