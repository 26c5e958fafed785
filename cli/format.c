/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/format.h"

#include <inttypes.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"

char *format_size(int64_t bytes, char *out)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    if (!known(bytes) || bytes < 0) {
        snprintf(out, FORMAT_BYTES, "-");
        return out;
    }
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 999.5 && unit < 6; unit++)
        value /= 1000;
    snprintf(out, FORMAT_BYTES, unit == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return out;
}

char *format_duration(int64_t ms, char *out)
{
    int64_t s = ms / 1000;
    if (!known(ms) || ms < 0)
        snprintf(out, FORMAT_BYTES, "-");
    else if (ms < 1000)
        snprintf(out, FORMAT_BYTES, "%" PRId64 " ms", ms);
    else if (s < 60)
        snprintf(out, FORMAT_BYTES, "%" PRId64 ".%" PRId64 " s", s, ms % 1000 / 100);
    else if (s < 3600)
        snprintf(out, FORMAT_BYTES, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    else if (s < 86400)
        snprintf(out, FORMAT_BYTES, "%" PRId64 " h %" PRId64 " min", s / 3600, s % 3600 / 60);
    else
        snprintf(out, FORMAT_BYTES, "%" PRId64 " d %" PRId64 " h", s / 86400, s % 86400 / 3600);
    return out;
}

char *format_time(int64_t epoch_ms, char *out)
{
    char iso[TIME_ISO_BYTES];
    if (!known(epoch_ms)) {
        snprintf(out, FORMAT_BYTES, "-");
        return out;
    }
    time_format_iso(epoch_ms, iso);
    snprintf(out, FORMAT_BYTES, "%.10s %.8s", iso, iso + 11);
    return out;
}

char *format_count(int64_t count, char *out)
{
    if (!known(count)) {
        snprintf(out, FORMAT_BYTES, "-");
        return out;
    }
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, count), used = 0;
    for (int i = 0; i < len; i++) {
        out[used++] = digits[i];
        if (digits[i] != '-' && i + 1 < len && (len - i - 1) % 3 == 0)
            out[used++] = ',';
    }
    out[used] = '\0';
    return out;
}

static size_t character_length(struct str text, size_t at)
{
    unsigned char c = (unsigned char)text.ptr[at];
    size_t len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return utf8_valid_prefix(text.ptr + at, len < text.len - at ? len : text.len - at) == len ? len : 0;
}

/* A C1 control character, which some terminals obey as they do ESC. */
static bool is_c1(const char *p)
{
    return (unsigned char)p[0] == 0xC2 && (unsigned char)p[1] < 0xA0;
}

static int walk(FILE *to, struct str text, int max)
{
    int count = 0;
    for (size_t at = 0; at < text.len; count++) {
        size_t len = character_length(text, at);
        bool plain = len > 1 ? !is_c1(text.ptr + at) : len == 1 && (unsigned char)text.ptr[at] >= 0x20 && text.ptr[at] != 0x7F;
        bool cut = count + 1 == max && at + (len ? len : 1) < text.len;
        if (to && (cut || !plain))
            fputs(cut ? "…" : "?", to);
        else if (to)
            fwrite(text.ptr + at, 1, len, to);
        if (cut)
            return max;
        at += len ? len : 1;
    }
    return count;
}

int print_clean(FILE *to, struct str text, int max)
{
    return walk(to, text, max);
}

int clean_width(struct str text, int max)
{
    return walk(NULL, text, max);
}
