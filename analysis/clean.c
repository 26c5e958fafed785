/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts without what changes from run to run. Scanners, one pass, no look back: what comes from a log may be as long and as odd as it likes. Letters are ASCII; other bytes are copied. */
#include <string.h>

#include "analysis/fingerprint.h"
#include "base/attributes.h"

#define HEX_MIN 8         /* hex digits from which a word is an id, if one of them is a decimal digit ("feedbacc" is a word) */
#define NAME_DIGITS_MIN 3 /* "part 12" may be a name, "part 123" is a number */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* How many of `kind` stand at `i`. */
static size_t span(struct str s, size_t i, bool (*kind)(char))
{
    size_t n = 0;
    while (i + n < s.len && kind(s.ptr[i + n]))
        n++;
    return n;
}

static bool is_at(struct str s, size_t i, char c)
{
    return i < s.len && s.ptr[i] == c;
}

/* 8-4-4-4-12 hex digits, with '-' or '_' between. */
static size_t match_uuid(struct str s, size_t i)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t at = i;
    for (size_t g = 0; g < ARRAY_LENGTH(groups); g++) {
        if (g && !is_at(s, at, '-') && !is_at(s, at, '_'))
            return 0;
        at += g > 0;
        if (span(s, at, is_hex) != groups[g])
            return 0;
        at += groups[g];
    }
    return at - i;
}

/* 13:05, 13:05:59.123 */
static size_t match_time(struct str s, size_t i)
{
    size_t at = i, hours = span(s, i, is_digit);
    if (hours < 1 || hours > 2 || !is_at(s, at + hours, ':') || span(s, at + hours + 1, is_digit) != 2)
        return 0;
    at += hours + 3;
    if (is_at(s, at, ':') && span(s, at + 1, is_digit) == 2)
        at += 3;
    if ((is_at(s, at, '.') || is_at(s, at, ',')) && span(s, at + 1, is_digit))
        at += 1 + span(s, at + 1, is_digit);
    return at - i;
}

/* 20YY, MM, DD with the same or no separator, and a time behind it. */
static size_t match_date(struct str s, size_t i)
{
    size_t at = i + 4;
    if (span(s, i, is_digit) < 4 || s.ptr[i] != '2' || s.ptr[i + 1] != '0')
        return 0;
    for (int part = 0; part < 2; part++) {
        if (is_at(s, at, '-') || is_at(s, at, '_') || is_at(s, at, '/'))
            at++;
        if (at + 2 > s.len || !is_digit(s.ptr[at]) || !is_digit(s.ptr[at + 1]))
            return 0;
        at += 2;
    }
    if (at < s.len && is_digit(s.ptr[at]))
        return 0; /* a longer number */
    if (at < s.len && strchr("T _-", s.ptr[at])) {
        size_t time = match_time(s, at + 1);
        at += time ? time + 1 : 0;
    }
    return at - i;
}

/* A whole word of hex digits. */
static size_t match_hex(struct str s, size_t i)
{
    size_t n = span(s, i, is_hex);
    bool has_digit = false;
    for (size_t k = 0; k < n; k++)
        has_digit |= is_digit(s.ptr[i + k]);
    return n >= HEX_MIN && has_digit && !(i + n < s.len && (is_letter(s.ptr[i + n]))) ? n : 0;
}

static size_t match_id(struct str s, size_t i)
{
    size_t n = match_uuid(s, i);
    if (!n)
        n = match_date(s, i);
    if (!n)
        n = match_time(s, i);
    return n ? n : match_hex(s, i);
}

/* A '#', unless one is there already, with at most one separator behind it. */
static void put_mark(struct buf *out, size_t begin)
{
    size_t len = out->len;
    if (len > begin && strchr("-_:./ ", out->data[len - 1]))
        len--;
    if (len > begin && out->data[len - 1] == '#') {
        out->len = len;
        out->data[len] = '\0';
    } else {
        buf_char(out, '#');
    }
}

void clean_name(struct buf *out, struct str name)
{
    size_t begin = out->len;
    for (size_t i = 0; i < name.len && !buf_failed(out);) {
        bool starts = i == 0 || !(is_digit(name.ptr[i - 1]) || is_letter(name.ptr[i - 1]));
        size_t n = starts ? match_id(name, i) : 0, digits = span(name, i, is_digit);
        if (!n && digits >= NAME_DIGITS_MIN)
            n = MAX(match_date(name, i), digits);
        if (n) {
            put_mark(out, begin);
            i += n;
        } else {
            for (size_t k = 0; k < MAX(digits, (size_t)1); k++, i++) { /* a short number as a whole: its tail is none */
                char c = name.ptr[i];
                buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
            }
        }
    }
}

/* --- plans */

static bool ends_path(char c)
{
    return (c >= 0 && c <= ' ') || strchr(",;[](){}\"'`<>|", c) != NULL;
}

static bool continues_path(char c)
{
    return !ends_path(c);
}

/* One directory; `cut`: Spark cut the text here. */
static void put_directory(struct buf *out, struct str name, bool cut)
{
    const char *equals = name.len ? memchr(name.ptr, '=', name.len) : NULL;
    if (cut) {
        buf_char(out, '*');
        return;
    }
    if (equals) {
        buf_append(out, name.ptr, (size_t)(equals - name.ptr) + 1);
        buf_char(out, '*');
        return;
    }
    for (size_t i = 0; i < name.len;) {
        bool starts = i == 0 || !is_word(name.ptr[i - 1]) || name.ptr[i - 1] == '_';
        size_t n = starts ? match_id(name, i) : 0, digits = span(name, i, is_digit);
        n = n ? n : digits;
        if (n) {
            if (!out->len || out->data[out->len - 1] != '*')
                buf_char(out, '*');
            i += n;
        } else {
            buf_char(out, name.ptr[i++]);
        }
    }
}

/* The last two directories of a path; a file's name goes. */
static void put_path(struct buf *out, struct str path)
{
    bool cut = str_ends(path, "...");
    struct str parts[3] = {STR_NONE, STR_NONE, STR_NONE}; /* the last three, latest first */
    for (size_t i = 0; i < path.len;) {
        size_t n = 0;
        while (i + n < path.len && path.ptr[i + n] != '/')
            n++;
        if (n) {
            parts[2] = parts[1];
            parts[1] = parts[0];
            parts[0] = (struct str){path.ptr + i, n};
        }
        i += n + 1;
    }
    bool is_file = !cut && parts[0].len && memchr(parts[0].ptr, '.', parts[0].len) && !memchr(parts[0].ptr, '=', parts[0].len);
    const struct str *last = is_file ? parts + 1 : parts;
    if (last[1].len && !str_ends(last[1], ":")) {
        put_directory(out, last[1], false);
        buf_char(out, '/');
    }
    put_directory(out, last[0], cut);
}

/* "/a/b", "hdfs://host/a/b", "s3a://bucket/a" at the begin of a word: the length, or 0. */
static size_t match_path(struct str s, size_t i)
{
    size_t at = i, n = span(s, i, is_word), slashes = 0;
    if (n) {
        if (!is_letter(s.ptr[i]) || !is_at(s, i + n, ':'))
            return 0;
        at = i + n + 1;
    }
    if (!is_at(s, at, '/'))
        return 0;
    n = span(s, at, continues_path);
    for (size_t k = 0; k < n; k++)
        slashes += s.ptr[at + k] == '/';
    return n >= 3 && slashes >= 2 ? at - i + n : 0;
}

static size_t match_number(struct str s, size_t i)
{
    size_t n = i < s.len && s.ptr[i] == '-' ? 1 : 0, digits = span(s, i + n, is_digit);
    if (!digits)
        return 0;
    n += digits;
    if (is_at(s, i + n, '.') && span(s, i + n + 1, is_digit))
        n += 1 + span(s, i + n + 1, is_digit);
    if ((is_at(s, i + n, 'e') || is_at(s, i + n, 'E'))) {
        size_t sign = is_at(s, i + n + 1, '-') || is_at(s, i + n + 1, '+');
        size_t exponent = span(s, i + n + 1 + sign, is_digit);
        n += exponent ? 1 + sign + exponent : 0;
    }
    if (i + n < s.len && strchr("LDSFB", s.ptr[i + n]) && !(i + n + 1 < s.len && is_word(s.ptr[i + n + 1])))
        n++;
    return n;
}

static void put_word(struct buf *out, struct str word)
{
    static const char udf[] = "pythonUDF";
    if (str_starts(word, udf) && span(word, sizeof udf - 1, is_digit) == word.len - (sizeof udf - 1)) {
        buf_text(out, udf);
        return;
    }
    for (size_t i = 0; i < word.len; i++) /* the tail of a temporary view's name */
        if (word.ptr[i] == '_') {
            size_t digits = span(word, i + 1, is_digit), left = word.len - i - 1, hex = span(word, i + 1, is_hex);
            if ((digits == left && digits >= NAME_DIGITS_MIN) || (hex == left && match_hex(word, i + 1)) || match_uuid(word, i + 1) == left) {
                buf_append(out, word.ptr, i);
                buf_text(out, "_?");
                return;
            }
        }
    buf_append(out, word.ptr, word.len);
}

void clean_plan(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len && !buf_failed(out);) {
        char c = text.ptr[i];
        size_t n;
        if (c == '#' && span(text, i + 1, is_digit)) {
            i += 1 + span(text, i + 1, is_digit);
            i += is_at(text, i, 'L');
            buf_char(out, '#');
        } else if ((n = match_path(text, i))) {
            put_path(out, (struct str){text.ptr + i, n});
            i += n;
        } else if (is_word(c) && (n = match_id(text, i)) && !(i + n < text.len && is_word(text.ptr[i + n]))) {
            buf_char(out, '?');
            i += n;
        } else if ((is_digit(c) || (c == '-' && (i == 0 || strchr("(,[ =<>:", text.ptr[i - 1])))) && (n = match_number(text, i))) {
            buf_char(out, '?');
            i += n;
        } else if (is_word(c)) {
            n = span(text, i, is_word);
            put_word(out, (struct str){text.ptr + i, n});
            i += n;
        } else {
            buf_char(out, c);
            i++;
        }
    }
}

/* --- call sites */

/* "NAME at FILE:LINE" → its two parts. */
static bool split_name(struct str name, struct str *ret_verb, struct str *ret_file)
{
    size_t digits = 0;
    while (digits < name.len && is_digit(name.ptr[name.len - 1 - digits]))
        digits++;
    if (!digits || digits + 1 >= name.len || name.ptr[name.len - 1 - digits] != ':')
        return false;
    size_t file_end = name.len - 1 - digits;
    for (size_t i = file_end; i-- > 3;)
        if (memcmp(name.ptr + i - 3, " at ", 4) == 0) {
            *ret_verb = (struct str){name.ptr, i - 3};
            *ret_file = (struct str){name.ptr + i + 1, file_end - i - 1};
            return true;
        }
    return false;
}

struct str call_site_verb(struct str name)
{
    struct str verb, file;
    return split_name(name, &verb, &file) ? verb : name;
}

/* Frames of Spark, of its languages and of the bridge to Python. */
static bool is_foreign_frame(struct str frame)
{
    static const char *const prefixes[] = {"org.apache.spark.", "java.", "javax.", "jdk.", "sun.", "scala.", "py4j.", "org.apache.hive.", "com.sun.", "io.grpc."};
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
        if (str_starts(frame, prefixes[i]))
            return true;
    return false;
}

/* "a.b.C.method(File.scala:12)": the file; the class where the frame names no file. STR_NONE: no frame. */
static struct str frame_place(struct str frame)
{
    const char *open = frame.len ? memchr(frame.ptr, '(', frame.len) : NULL;
    if (!open || frame.ptr[frame.len - 1] != ')' || open == frame.ptr)
        return STR_NONE;
    struct str file = {open + 1, (size_t)(frame.ptr + frame.len - 1 - (open + 1))};
    size_t colon = 0;
    while (colon < file.len && file.ptr[colon] != ':')
        colon++;
    file.len = colon;
    if (file.len && !str_is(file, "Unknown Source") && !str_is(file, "Native Method"))
        return file;
    size_t dot = (size_t)(open - frame.ptr);
    while (dot > 0 && frame.ptr[dot - 1] != '.')
        dot--;
    return dot > 1 ? (struct str){frame.ptr, dot - 1} : STR_NONE;
}

void clean_call_site(struct buf *out, struct str name, struct str details)
{
    struct str verb = name, file = STR_NONE, place = STR_NONE;
    bool split = split_name(name, &verb, &file);
    for (size_t i = 0; i < details.len && !str_known(place);) {
        size_t n = 0;
        while (i + n < details.len && details.ptr[i + n] != '\n')
            n++;
        struct str frame = {details.ptr + i, n};
        if (!is_foreign_frame(frame))
            place = frame_place(frame);
        i += n + 1;
    }
    if (!str_known(place) && split && !str_ends(file, ".java") && !str_ends(file, ".scala"))
        place = str_base_name(file);
    clean_plan(out, place);
    buf_char(out, '|');
    clean_plan(out, verb);
}
