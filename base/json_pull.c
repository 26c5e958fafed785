/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_pull.h"

#include <math.h>
#include <stdlib.h>

/* What a string holds beside plain ASCII. */
enum { HAS_ESCAPE = 1, HAS_HIGH = 2 };

void json_fail(struct json_pull *self, enum err_code code, const char *what)
{
    if (!self->failed) {
        self->failed = code;
        self->what = what;
        self->failed_at = self->p;
    }
    self->p = self->end;
    self->fresh = false;
}

static void fail_at(struct json_pull *self, const char *p, const char *what)
{
    self->p = p < self->end ? p : self->end;
    json_fail(self, ERR_CORRUPT, what);
}

void *json_scratch(struct json_pull *self, size_t bytes)
{
    const struct arena *arena = self->scratch;
    void *p = self->failed ? NULL : arena_alloc(self->scratch, bytes);
    if (p || self->failed)
        return p;
    /* The arena says only that it failed. Its largest step is 1 MiB: where less than that or the request is left below the maximum, the maximum was it. */
    size_t left = arena->max_bytes - MIN(arena->max_bytes, arena->total_bytes);
    if (left < bytes || left < ((size_t)1 << 20))
        json_fail(self, ERR_LIMIT, "line needs more memory than allowed");
    else
        json_fail(self, ERR_NOMEM, "out of memory");
    return NULL;
}

ALWAYS_INLINE bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

ALWAYS_INLINE bool is_hex(char c)
{
    return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

ALWAYS_INLINE const char *pass_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

void json_pull_init(struct json_pull *self, struct str line, struct arena *scratch)
{
    memset(self, 0, sizeof *self);
    const char *p = line.ptr, *end = line.ptr + line.len;
    self->start = p;
    while (p < end && (*p == '\0' || *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    if (end - p >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p = pass_blanks(p + 3, end);
    self->p = p;
    self->end = end;
    self->scratch = scratch;
}

/* From behind an opening quote to the closing one. NULL: unterminated, a control character, or a bad escape; *ret_bad tells where. */
static const char *string_end(const char *p, const char *end, unsigned *ret_has, const char **ret_bad)
{
    unsigned has = 0;
    for (;;) {
        unsigned high, special = json_special16(p, &high);
        if (!special) {
            has |= high ? HAS_HIGH : 0;
            p += 16;
            if (p >= end)
                break;
            continue;
        }
        unsigned at = (unsigned)__builtin_ctz(special);
        has |= high & ((1U << at) - 1) ? HAS_HIGH : 0;
        p += at;
        if (p >= end)
            break;
        if (*p == '"') {
            *ret_has = has;
            return p;
        }
        if (*p != '\\') {
            *ret_bad = p;
            return NULL;
        }
        has |= HAS_ESCAPE;
        if (end - p < 2)
            break;
        switch (p[1]) {
        case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
            p += 2;
            break;
        case 'u':
            if (end - p < 6 || !is_hex(p[2]) || !is_hex(p[3]) || !is_hex(p[4]) || !is_hex(p[5])) {
                *ret_bad = p;
                return NULL;
            }
            p += 6;
            break;
        default:
            *ret_bad = p;
            return NULL;
        }
    }
    *ret_bad = end;
    return NULL;
}

static unsigned hex4(const char *p)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 4 | (unsigned)(is_digit(p[i]) ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    return value;
}

/* Resolves escapes that string_end has checked. Never longer than the input. *ret_replaced: a lone surrogate or NUL became U+FFFD. */
static size_t unescape(struct str in, char *out, bool *ret_replaced)
{
    const char *p = in.ptr, *end = in.ptr + in.len;
    char *o = out;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((escape ? escape : end) - p);
        memcpy(o, p, plain);
        o += plain;
        if (!escape)
            break;
        p = escape + 2;
        switch (escape[1]) {
        case 'b': *o++ = '\b'; break;
        case 'f': *o++ = '\f'; break;
        case 'n': *o++ = '\n'; break;
        case 'r': *o++ = '\r'; break;
        case 't': *o++ = '\t'; break;
        case 'u': {
            unsigned c = hex4(p);
            p += 4;
            if (c >= 0xD800 && c < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
                unsigned low = hex4(p + 2);
                if (low >= 0xDC00 && low < 0xE000) {
                    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                    p += 6;
                }
            }
            if (c == 0 || (c >= 0xD800 && c < 0xE000)) {
                *ret_replaced = true;
                c = 0xFFFD;
            }
            o += utf8_put(o, c);
            break;
        }
        default: *o++ = escape[1]; break;     /* quote, backslash, slash */
        }
    }
    return (size_t)(o - out);
}

/* The text between quotes as it is meant: borrowed where nothing has to change. */
static struct str finish_text(struct json_pull *self, struct str raw, unsigned has)
{
    bool replaced = false;
    if (has & HAS_ESCAPE) {
        char *out = json_scratch(self, raw.len);
        if (!out)
            return STR_NONE;
        raw = (struct str){out, unescape(raw, out, &replaced)};
    }
    if (has & HAS_HIGH) {
        size_t bad = 0, i = 0;
        while ((i += utf8_valid_prefix(raw.ptr + i, raw.len - i)) < raw.len) {
            bad++;
            i++;
        }
        if (bad) {
            char *out = json_scratch(self, raw.len + 2 * bad);
            if (!out)
                return STR_NONE;
            raw = (struct str){out, utf8_repair(raw, out)};
            replaced = true;
        }
    }
    if (replaced)
        self->repaired++;
    return raw;
}

/* Reads the string whose quote is at p. False, and failed, when it is none. The reader stands behind it. */
static bool take_string(struct json_pull *self, const char *p, struct str *ret_raw, unsigned *ret_has)
{
    const char *bad = NULL, *close = string_end(p + 1, self->end, ret_has, &bad);
    if (!close) {
        fail_at(self, bad, bad >= self->end ? "text without an end" : *bad == '\\' ? "bad escape" : "control character in a text");
        return false;
    }
    *ret_raw = (struct str){p + 1, (size_t)(close - p - 1)};
    self->p = close + 1;
    return true;
}

int json_next_slow(struct json_pull *self, struct json_object *object)
{
    if (!json_next_any(self))
        return JSON_END;
    for (unsigned i = 0, at = object->expected; i < object->count; i++) {
        const struct json_key *key = object->keys + at;
        at = at + 1 == object->count ? 0 : at + 1;
        if (key->len == self->key.len + 3 && memcmp(key->text + 1, self->key.ptr, self->key.len) == 0) {
            object->expected = at;
            return key->id;
        }
    }
    return JSON_OTHER;
}

bool json_next_any(struct json_pull *self)
{
    if (self->failed)
        return false;
    const char *p = pass_blanks(self->p, self->end);
    if (p < self->end && *p == '}') {
        self->fresh = false;
        self->depth--;
        self->p = p + 1;
        return false;
    }
    if (!self->fresh && p < self->end) {
        if (*p != ',') {
            fail_at(self, p, "expected a comma or a closing brace");
            return false;
        }
        p = pass_blanks(p + 1, self->end);
    }
    self->fresh = false;
    struct str raw;
    unsigned has;
    if (p >= self->end || *p != '"') {
        fail_at(self, p, p >= self->end ? "object without an end" : "expected a key");
        return false;
    }
    if (!take_string(self, p, &raw, &has))
        return false;
    self->key = has ? finish_text(self, raw, has) : raw;
    p = pass_blanks(self->p, self->end);
    if (p >= self->end || *p != ':')
        fail_at(self, p, "expected a colon");
    else
        self->p = pass_blanks(p + 1, self->end);
    return !self->failed;
}

/* Puts the reader on the first byte of a value. False when there is none. */
static bool at_value(struct json_pull *self)
{
    self->p = pass_blanks(self->p, self->end);
    if (self->p < self->end)
        return true;
    fail_at(self, self->end, "expected a value");
    return false;
}

bool json_begin_slow(struct json_pull *self, char bracket)
{
    if (!at_value(self))
        return false;
    if (*self->p != bracket) {
        json_skip(self);
        return false;
    }
    self->p++;
    self->fresh = true;
    self->depth++;
    return true;
}

bool json_array_next_slow(struct json_pull *self)
{
    if (self->failed)
        return false;
    const char *p = pass_blanks(self->p, self->end);
    if (p >= self->end) {
        fail_at(self, p, "array without an end");
        return false;
    }
    if (*p == ']') {
        self->fresh = false;
        self->depth--;
        self->p = p + 1;
        return false;
    }
    if (!self->fresh) {
        if (*p != ',') {
            fail_at(self, p, "expected a comma or a closing bracket");
            return false;
        }
        p++;
    }
    self->fresh = false;
    self->p = p;
    return true;
}

/* The end of the number at p, or NULL. */
static const char *number_end(const char *p, const char *end)
{
    if (p < end && *p == '-')
        p++;
    if (p >= end || !is_digit(*p))
        return NULL;
    if (*p == '0')
        p++;
    else
        while (p < end && is_digit(*p))
            p++;
    if (p < end && *p == '.') {
        p++;
        if (p >= end || !is_digit(*p))
            return NULL;
        while (p < end && is_digit(*p))
            p++;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        if (p >= end || !is_digit(*p))
            return NULL;
        while (p < end && is_digit(*p))
            p++;
    }
    return p;
}

/* The end of true, false or null at p, or NULL. */
static const char *word_end(const char *p, const char *end)
{
    size_t left = (size_t)(end - p);
    if (left >= 4 && (memcmp(p, "true", 4) == 0 || memcmp(p, "null", 4) == 0))
        return p + 4;
    if (left >= 5 && memcmp(p, "false", 5) == 0)
        return p + 5;
    return NULL;
}

/* Walks over one object or array and all in it, with a bit for each open bracket: 1 object, 0 array. */
static void skip_container(struct json_pull *self)
{
    uint64_t open[JSON_MAX_DEPTH / 64 + 1];
    const char *p = self->p, *end = self->end, *what, *bad = NULL;
    size_t depth = 0;
    unsigned has;

value:
    p = pass_blanks(p, end);
    what = "expected a value";
    if (p >= end)
        goto failed;
    switch (*p) {
    case '{':
    case '[': {
        if (depth + self->depth >= JSON_MAX_DEPTH) {
            self->p = p;
            json_fail(self, ERR_LIMIT, "nested too deeply");
            return;
        }
        uint64_t bit = (uint64_t)1 << (depth & 63);
        bool object = *p == '{';
        uint64_t others = depth & 63 ? open[depth / 64] & ~bit : 0;
        open[depth / 64] = object ? others | bit : others;
        depth++;
        p = pass_blanks(p + 1, end);
        if (p < end && *p == (object ? '}' : ']'))
            goto closed;
        if (object)
            goto key;
        goto value;
    }
    case '"': {
        const char *close = string_end(p + 1, end, &has, &bad);
        if (!close)
            goto failed;
        p = close + 1;
        break;
    }
    case 't': case 'f': case 'n': {
        const char *after = word_end(p, end);
        if (!after)
            goto failed;
        p = after;
        break;
    }
    default: {
        const char *after = number_end(p, end);
        if (!after)
            goto failed;
        p = after;
    }
    }

after_value:
    p = pass_blanks(p, end);
    what = "bracket without its end";
    if (p >= end)
        goto failed;
    bool in_object = open[(depth - 1) / 64] >> ((depth - 1) & 63) & 1;
    if (*p == ',') {
        p = pass_blanks(p + 1, end);
        if (!in_object)
            goto value;
        goto key;
    }
    what = "expected a comma or the matching bracket";
    if (*p != (in_object ? '}' : ']'))
        goto failed;

closed:
    p++;
    if (--depth == 0) {
        self->p = p;
        return;
    }
    goto after_value;

key:
    what = "expected a key";
    if (p >= end || *p != '"')
        goto failed;
    p = string_end(p + 1, end, &has, &bad);
    if (!p)
        goto failed;
    p = pass_blanks(p + 1, end);
    what = "expected a colon";
    if (p >= end || *p != ':')
        goto failed;
    p++;
    goto value;

failed:
    if (bad)
        fail_at(self, bad, bad >= end ? "text without an end" : "bad character in a text");
    else
        fail_at(self, p, what);
}

void json_skip(struct json_pull *self)
{
    if (!at_value(self))
        return;
    const char *p = self->p, *after;
    struct str raw;
    unsigned has;
    switch (*p) {
    case '"':
        (void)take_string(self, p, &raw, &has);
        return;
    case '[':
        if (p + 1 < self->end && p[1] == ']') {
            self->p = p + 2;
            return;
        }
        skip_container(self);
        return;
    case '{':
        skip_container(self);
        return;
    case 't': case 'f': case 'n':
        after = word_end(p, self->end);
        break;
    default:
        after = number_end(p, self->end);
    }
    if (after)
        self->p = after;
    else
        fail_at(self, p, "expected a value");
}

int64_t json_flag(struct json_pull *self)
{
    if (!at_value(self))
        return UNKNOWN;
    char c = *self->p;
    json_skip(self);
    return self->failed || (c != 't' && c != 'f') ? UNKNOWN : c == 't';
}

bool json_bool_slow(struct json_pull *self, bool otherwise)
{
    int64_t flag = json_flag(self);
    return known(flag) ? flag == 1 : otherwise;
}

struct str json_span(struct json_pull *self)
{
    if (!at_value(self))
        return STR_NONE;
    const char *from = self->p;
    json_skip(self);
    return self->failed ? STR_NONE : (struct str){from, (size_t)(self->p - from)};
}

struct str json_str_slow(struct json_pull *self)
{
    if (!at_value(self))
        return STR_NONE;
    struct str raw;
    unsigned has;
    if (*self->p != '"') {
        json_skip(self);
        return STR_NONE;
    }
    if (!take_string(self, self->p, &raw, &has))
        return STR_NONE;
    return has ? finish_text(self, raw, has) : raw;
}

struct str json_text_slow(struct json_pull *self)
{
    if (!at_value(self))
        return STR_NONE;
    if (*self->p == '"')
        return json_str(self);
    struct str raw = json_span(self);
    if (!raw.ptr || *raw.ptr == 'n')
        return STR_NONE;
    return *raw.ptr == '{' || *raw.ptr == '[' ? STR_LIT("") : raw;
}

/* The value of a sound number, cut to a whole one, without going through a double: 2^53 + 1 must stay what it is. False when it does not fit. */
static bool number_value(struct str token, int64_t *ret)
{
    const char *p = token.ptr, *end = token.ptr + token.len;
    bool negative = *p == '-';
    p += negative;
    const char *digits = p;
    while (p < end && is_digit(*p))
        p++;
    int64_t whole_digits = p - digits, exponent = 0;
    const char *digits_end = p;
    if (p < end && *p == '.') {
        p++;
        while (p < end && is_digit(*p))
            p++;
        digits_end = p;
    }
    if (p < end) {
        p++;
        bool down = *p == '-';
        p += *p == '-' || *p == '+';
        for (; p < end; p++)
            if (exponent < INT64_MAX / 100)       /* beyond any line's length: the rest cannot matter */
                exponent = exponent * 10 + (*p - '0');
        exponent = down ? -exponent : exponent;
    }
    /* Whole digits of the result, read from the digits on both sides of the point, then zeros. */
    int64_t wanted = whole_digits + exponent;
    uint64_t value = 0;
    for (p = digits; wanted > 0; wanted--) {
        if (p < digits_end && *p == '.')
            p++;
        unsigned digit = p < digits_end ? (unsigned)(*p++ - '0') : 0;
        if (p == digits_end && value == 0 && digit == 0)
            break;
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > (uint64_t)INT64_MAX)
        return false;                             /* also -2^63, which is UNKNOWN's own number */
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

int64_t json_i64_slow(struct json_pull *self)
{
    if (!at_value(self))
        return UNKNOWN;
    struct str raw = json_span(self);
    int64_t value;
    if (!raw.ptr || (*raw.ptr != '-' && !is_digit(*raw.ptr)))
        return UNKNOWN;
    if (number_value(raw, &value))
        return value;
    self->out_of_range++;
    return UNKNOWN;
}

int64_t json_out_of_range(struct json_pull *self)
{
    self->out_of_range++;
    return UNKNOWN;
}

double json_double(struct json_pull *self)
{
    char copy[64];
    struct str raw = json_span(self);
    if (!raw.ptr || (*raw.ptr != '-' && !is_digit(*raw.ptr)))
        return (double)NAN;
    char *text = raw.len < sizeof copy ? copy : json_scratch(self, raw.len + 1);
    if (!text)
        return (double)NAN;
    memcpy(text, raw.ptr, raw.len);
    text[raw.len] = '\0';
    double value = strtod(text, NULL);
    if (isfinite(value))
        return value;
    self->out_of_range++;
    return (double)NAN;
}
