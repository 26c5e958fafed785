/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"

void json_writer_init(struct json_writer *self, json_sink_fn *sink, void *context, bool pretty)
{
    self->sink = sink;
    self->context = context;
    self->failed = ERR_OK;
    self->pretty = pretty;
    self->depth = 0;
    self->object_depth = 0;
    self->has_item[0] = false;
    self->is_array[0] = true;
    self->after_key = false;
    self->used = 0;
}

static enum err_code flush(struct json_writer *self)
{
    if (self->used && !self->failed)
        self->failed = self->sink(self->context, self->buffer, self->used);
    self->used = 0;
    return self->failed;
}

enum err_code json_writer_end(struct json_writer *self)
{
    assert(self->failed || (self->depth == 0 && !self->after_key));
    return flush(self);
}

/* Beyond what is left of the buffer. */
static void put_far(struct json_writer *self, const char *bytes, size_t len)
{
    while (len) {
        size_t room = sizeof self->buffer - self->used;
        if (!room) {
            flush(self);
            continue;
        }
        size_t n = MIN(room, len);
        memcpy(self->buffer + self->used, bytes, n);
        self->used += n;
        bytes += n;
        len -= n;
    }
}

static inline void put(struct json_writer *self, const char *bytes, size_t len)
{
    if (UNLIKELY(len > sizeof self->buffer - self->used)) {
        put_far(self, bytes, len);
        return;
    }
    memcpy(self->buffer + self->used, bytes, len);
    self->used += len;
}

static void put_char(struct json_writer *self, char c)
{
    if (self->used == sizeof self->buffer)
        flush(self);
    self->buffer[self->used++] = c;
}

/* The History Server indents objects by their depth in objects; arrays stand inline. */
static void new_line(struct json_writer *self)
{
    put_char(self, '\n');
    for (int i = 0; i < self->object_depth; i++)
        put(self, "  ", 2);
}

/* What comes before a value: nothing after a key, else a comma where one is due. */
static void lead(struct json_writer *self)
{
    if (self->after_key) {
        self->after_key = false;
        return;
    }
    int d = self->depth;
    assert(self->is_array[d]);
    if (d > 0) {
        if (self->has_item[d])
            put(self, ", ", self->pretty ? 2 : 1);
        else if (self->pretty)
            put_char(self, ' ');
    }
    self->has_item[d] = true;
}

static void open_level(struct json_writer *self, char bracket, bool is_array)
{
    lead(self);
    put_char(self, bracket);
    assert(self->depth + 1 < JSON_WRITER_DEPTH);
    self->depth++;
    self->has_item[self->depth] = false;
    self->is_array[self->depth] = is_array;
    self->object_depth += !is_array;
}

static void close_level(struct json_writer *self, char bracket, bool is_array)
{
    assert(self->depth > 0 && self->is_array[self->depth] == is_array && !self->after_key);
    bool had = self->has_item[self->depth];
    self->depth--;
    self->object_depth -= !is_array;
    if (self->pretty) {
        if (!had || is_array)
            put_char(self, ' ');
        else
            new_line(self);
    }
    put_char(self, bracket);
}

void json_object_begin(struct json_writer *self) { open_level(self, '{', false); }
void json_object_end(struct json_writer *self) { close_level(self, '}', false); }
void json_array_begin(struct json_writer *self) { open_level(self, '[', true); }
void json_array_end(struct json_writer *self) { close_level(self, ']', true); }

static void put_escaped(struct json_writer *self, const char *p, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    size_t start = 0, i = 0;
    while (i < len) {
        unsigned char c = (unsigned char)p[i];
        if (c >= 0x20 && c != '"' && c != '\\') {
            i++;
            continue;
        }
        put(self, p + start, i - start);
        switch (c) {
        case '"': put(self, "\\\"", 2); break;
        case '\\': put(self, "\\\\", 2); break;
        case '\n': put(self, "\\n", 2); break;
        case '\r': put(self, "\\r", 2); break;
        case '\t': put(self, "\\t", 2); break;
        case '\b': put(self, "\\b", 2); break;
        case '\f': put(self, "\\f", 2); break;
        default: {
            char u[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            put(self, u, sizeof u);
        }
        }
        start = ++i;
    }
    put(self, p + start, len - start);
}

/* Not 0: one of the eight bytes needs a look, as it is no ASCII, below the blank, a quote or a backslash. */
static uint64_t special(uint64_t word)
{
    static const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
    /* x - 1 borrows into the top bit where x is 0, word - 0x20 where it is below; what has the bit already is no ASCII */
    return (word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops;
}

/* Copies eight bytes at a time; the last ones overlap those before. True: none of them needs a look. */
static bool copy_plain(char *out, const char *p, size_t len)
{
    uint64_t word = 0x0101010101010101 * 'x', found = 0;
    if (len < sizeof(uint32_t)) {
        for (size_t i = 0; i < len; i++) {
            out[i] = p[i];
            word = word << 8 | (unsigned char)p[i];
        }
        return !special(word);
    }
    if (len < sizeof word) {
        uint32_t head, tail;
        memcpy(&head, p, sizeof head);
        memcpy(&tail, p + len - sizeof tail, sizeof tail);
        memcpy(out, &head, sizeof head);
        memcpy(out + len - sizeof tail, &tail, sizeof tail);
        return !special((uint64_t)head << 32 | tail);
    }
    for (size_t i = 0; i + sizeof word < len; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        memcpy(out + i, &word, sizeof word);
        found |= special(word);
    }
    memcpy(&word, p + len - sizeof word, sizeof word);
    memcpy(out + len - sizeof word, &word, sizeof word);
    return !(found | special(word));
}

static void put_string(struct json_writer *self, struct str s)
{
    put_char(self, '"');
    if (s.len < sizeof self->buffer - self->used && copy_plain(self->buffer + self->used, s.ptr, s.len)) {
        self->used += s.len;
        self->buffer[self->used++] = '"';
        return;
    }
    while (s.len) {
        size_t good = utf8_valid_prefix(s.ptr, s.len);
        put_escaped(self, s.ptr, good);
        s.ptr += good;
        s.len -= good;
        if (s.len) {
            put(self, "\xEF\xBF\xBD", 3);
            s.ptr++;
            s.len--;
        }
    }
    put_char(self, '"');
}

static void begin_key(struct json_writer *self)
{
    int d = self->depth;
    assert(d > 0 && !self->is_array[d] && !self->after_key);
    if (self->has_item[d])
        put_char(self, ',');
    self->has_item[d] = true;
    if (self->pretty)
        new_line(self);
}

static void end_key(struct json_writer *self)
{
    put(self, self->pretty ? " : " : ":", self->pretty ? 3 : 1);
    self->after_key = true;
}

void json_key_str(struct json_writer *self, struct str key)
{
    begin_key(self);
    put_string(self, key);
    end_key(self);
}

void json_key_raw(struct json_writer *self, struct str quoted)
{
    begin_key(self);
    put(self, quoted.ptr, quoted.len);
    end_key(self);
}

void json_key(struct json_writer *self, const char *key)
{
    json_key_str(self, str_of(key));
}

void json_null(struct json_writer *self)
{
    lead(self);
    put(self, "null", 4);
}

void json_str(struct json_writer *self, struct str value)
{
    if (!value.ptr) {
        json_null(self);
        return;
    }
    lead(self);
    put_string(self, value);
}

void json_text(struct json_writer *self, const char *value)
{
    json_str(self, str_of(value));
}

static void put_i64(struct json_writer *self, int64_t value)
{
    char text[24], *p = text + sizeof text;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--p = '-';
    put(self, p, (size_t)(text + sizeof text - p));
}

void json_i64(struct json_writer *self, int64_t value)
{
    if (!known(value)) {
        json_null(self);
        return;
    }
    lead(self);
    put_i64(self, value);
}

void json_f64(struct json_writer *self, double value)
{
    if (!isfinite(value)) {
        json_null(self);
        return;
    }
    lead(self);
    if (fabs(value) < 1e15 && value == trunc(value) && !signbit(value)) {       /* most are whole; below 1e15 the digits are the integer's */
        put_i64(self, (int64_t)value);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put(self, text, strlen(text));
}

void json_bool(struct json_writer *self, bool value)
{
    lead(self);
    put(self, value ? "true" : "false", value ? 4 : 5);
}

void json_raw(struct json_writer *self, struct str json)
{
    lead(self);
    put(self, json.ptr, json.len);
}

void json_kv_str(struct json_writer *self, const char *key, struct str value)
{
    json_key(self, key);
    json_str(self, value);
}

void json_kv_text(struct json_writer *self, const char *key, const char *value)
{
    json_key(self, key);
    json_text(self, value);
}

void json_kv_i64(struct json_writer *self, const char *key, int64_t value)
{
    json_key(self, key);
    json_i64(self, value);
}

void json_kv_f64(struct json_writer *self, const char *key, double value)
{
    json_key(self, key);
    json_f64(self, value);
}

void json_kv_bool(struct json_writer *self, const char *key, bool value)
{
    json_key(self, key);
    json_bool(self, value);
}

enum err_code json_sink_buf(void *context, const char *bytes, size_t len)
{
    struct buf *buf = context;
    buf_append(buf, bytes, len);
    return buf_failed(buf) ? ERR_NOMEM : ERR_OK;
}
