/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/wording.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "base/time.h"
#include "base/units.h"

#define TEXT_MAX 300

/* Beyond this a double is no longer an exact integer, and no log of ours has such a number. */
#define NUMBER_MAX 9.0e15

static bool is_odd(struct buf *out, double value)
{
    if (!isnan(value) && fabs(value) <= NUMBER_MAX)
        return false;
    buf_text(out, WORDING_UNKNOWN);
    return true;
}

void word_duration(struct buf *out, double ms)
{
    if (is_odd(out, ms))
        return;
    if (ms < 0) {
        buf_text(out, "−");
        ms = -ms;
    }
    int64_t whole = (int64_t)(ms + 0.5), s = (whole + 500) / 1000;
    if (whole < 1000)
        buf_printf(out, "%" PRId64 " ms", whole);
    else if (ms < 59950)
        buf_printf(out, "%.1f s", ms / 1000);
    else if (s < 3600)
        buf_printf(out, "%" PRId64 " m %02" PRId64 " s", s / 60, s % 60);
    else if (s < 86400)
        buf_printf(out, "%" PRId64 " h %02" PRId64 " m", s / 3600, s % 3600 / 60);
    else
        buf_printf(out, "%" PRId64 " d %02" PRId64 " h", s / 86400, s % 86400 / 3600);
}

/* Three digits that matter: "3.47", "38.3", "512"; "2", not "2.00". */
static void plain_number(struct buf *out, double value)
{
    char digits[32];
    if (fabs(value) >= 99.95) {
        word_count(out, value);
        return;
    }
    int len = snprintf(digits, sizeof digits, fabs(value) >= 9.995 ? "%.1f" : "%.2f", value);
    while (len > 1 && digits[len - 1] == '0')
        len--;
    len -= len > 0 && digits[len - 1] == '.';
    buf_append(out, digits, (size_t)len);
}

void word_bytes(struct buf *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    if (is_odd(out, bytes))
        return;
    for (; fabs(bytes) >= 1023.5 && unit + 1 < ARRAY_LENGTH(units); unit++)
        bytes /= 1024;
    buf_printf(out, unit == 0 || fabs(bytes) >= 99.95 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

void word_count(struct buf *out, double count)
{
    char digits[32];
    if (is_odd(out, count))
        return;
    int len = snprintf(digits, sizeof digits, "%.0f", count);
    for (int i = 0; i < len; i++) {
        buf_char(out, digits[i]);
        if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0)
            buf_char(out, ',');
    }
}

void word_share(struct buf *out, double share)
{
    if (is_odd(out, share))
        return;
    double percent = share * 100;
    if (percent > 0 && percent < 0.095)
        buf_text(out, "< 0.1 %");
    else if (percent >= 99.5 && percent < 100)
        buf_text(out, "> 99 %"); /* nearly all is not all */
    else
        buf_printf(out, fabs(percent) < 9.95 && percent != 0 ? "%.1f %%" : "%.0f %%", percent);
}

void word_time(struct buf *out, double epoch_ms)
{
    char iso[TIME_ISO_BYTES];
    if (is_odd(out, epoch_ms))
        return;
    time_format_iso((int64_t)epoch_ms, iso);
    buf_printf(out, "%.10s %.8s", iso, iso + 11);
}

void word_value(struct buf *out, double value, struct str unit)
{
    if (is_odd(out, value))
        return;
    if (str_is(unit, "ms"))
        word_duration(out, value);
    else if (str_is(unit, "s"))
        word_duration(out, value * 1000);
    else if (str_is(unit, "ns"))
        word_duration(out, value / 1e6);
    else if (str_is(unit, "h"))
        word_duration(out, value * 3600000);
    else if (str_is(unit, "id"))
        buf_printf(out, "%.0f", value);
    else if (str_is(unit, "time"))
        word_time(out, value);
    else if (str_is(unit, "bytes"))
        word_bytes(out, value);
    else if (str_is(unit, "bytes_per_s"))
        word_bytes(out, value); /* the sentence says "/s" */
    else if (str_is(unit, "share"))
        word_share(out, value);
    else if (str_is(unit, "ratio") && value > WORDING_RATIO_MAX)
        buf_printf(out, "> %d", WORDING_RATIO_MAX);
    else
        plain_number(out, value);
}

/* C0, DEL, C1, and the characters that turn text round (U+200E, 200F, 202A–202E, 2066–2069) or end a line (2028, 2029). */
static bool is_harmful(const char *p, size_t len)
{
    const unsigned char *c = (const unsigned char *)p;
    if (len == 1)
        return c[0] < 0x20 || c[0] == 0x7F;
    if (len == 2)
        return c[0] == 0xC2 && c[1] < 0xA0;
    if (len != 3 || c[0] != 0xE2)
        return false;
    return (c[1] == 0x80 && (c[2] == 0x8E || c[2] == 0x8F || (c[2] >= 0xA8 && c[2] <= 0xAE))) || (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9);
}

void word_text(struct buf *out, struct str text, size_t max)
{
    if (!str_known(text)) {
        buf_text(out, WORDING_UNKNOWN);
        return;
    }
    for (size_t at = 0, len; at < text.len; at += len) {
        unsigned char c = (unsigned char)text.ptr[at];
        len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        bool whole = at + len <= text.len && utf8_valid_prefix(text.ptr + at, len) == len;
        if (at + len > max) {
            buf_text(out, "…");
            return;
        }
        if (!whole)
            len = 1;
        if (!whole || is_harmful(text.ptr + at, len))
            buf_char(out, ' ');
        else
            buf_append(out, text.ptr + at, len);
    }
}

static const struct word_arg *arg_named(struct str name, const struct word_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(args[i].name, name))
            return &args[i];
    return NULL;
}

/* "n", or "n?stage|stages": the first word where n is 1. */
static void fill_one(struct buf *out, struct str inside, const struct word_arg *args, size_t count)
{
    const char *question = memchr(inside.ptr, '?', inside.len);
    struct str name = {inside.ptr, question ? (size_t)(question - inside.ptr) : inside.len};
    const struct word_arg *arg = arg_named(name, args, count);
    if (question) {
        struct str one = {question + 1, inside.len - name.len - 1}, many = one;
        const char *bar = memchr(one.ptr, '|', one.len);
        if (bar) {
            one.len = (size_t)(bar - one.ptr);
            many = (struct str){bar + 1, many.len - one.len - 1};
        }
        bool is_one = arg && !str_known(arg->text) && arg->value == 1;
        buf_append(out, is_one ? one.ptr : many.ptr, is_one ? one.len : many.len);
    } else if (!arg) {
        buf_text(out, WORDING_UNKNOWN);
    } else if (str_known(arg->text)) {
        word_text(out, arg->text, TEXT_MAX);
    } else {
        word_value(out, arg->value, arg->unit);
    }
}

bool word_lacks(const char *sentence, const struct word_arg *args, size_t count)
{
    for (const char *p = strchr(sentence, '{'); p; p = strchr(p + 1, '{')) {
        const struct word_arg *arg = arg_named((struct str){p + 1, strcspn(p + 1, "?}")}, args, count);
        if (!arg || (!str_known(arg->text) && isnan(arg->value)))
            return true;
    }
    return false;
}

/* Bytes of a full stop at `p` that a text of the log, which ends in one, has said already. */
static size_t stop_said(const struct buf *out, const char *p)
{
    char last = out->len ? out->data[out->len - 1] : '\0';
    if (last != '.' && last != '!' && last != '?')
        return 0;
    return *p == '.' ? 1 : strncmp(p, "。", strlen("。")) == 0 ? strlen("。") : 0;
}

void word_fill(struct buf *out, const char *sentence, const struct word_arg *args, size_t count)
{
    for (const char *p = sentence; *p;) {
        size_t plain = strcspn(p, "{"), name = p[plain] ? strcspn(p + plain, "}") : 0;
        buf_append(out, p, plain);
        p += plain;
        if (!*p)
            break;
        fill_one(out, (struct str){p + 1, name - 1}, args, count);
        p += name + (p[name] == '}');
        p += stop_said(out, p);
    }
}
