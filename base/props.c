/* SPDX-License-Identifier: Apache-2.0 */
#include "base/props.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define MAX_ITEMS 100000

void props_init(struct props *self)
{
    *self = (struct props){0};
    arena_init(&self->arena, 2 * PROPS_MAX_BYTES);
}

void props_dispose(struct props *self)
{
    mem_free(self->items);
    arena_dispose(&self->arena);
    *self = (struct props){0};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* A cursor over the text that counts lines; CR LF is one end of line. */
struct cursor {
    const char *at, *end;
    int64_t line;
};

static bool skip_line_end(struct cursor *c)
{
    if (c->at == c->end || !is_line_end(*c->at))
        return false;
    if (*c->at == '\r' && c->at + 1 < c->end && c->at[1] == '\n')
        c->at++;
    c->at++;
    c->line++;
    return true;
}

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && is_blank(*c->at))
        c->at++;
}

/* One logical line into `out`, line joins removed, escapes kept. False at the end of the text. */
static bool logical_line(struct cursor *c, struct buf *out, int64_t *ret_line)
{
    buf_clear(out);
    for (;;) {
        skip_blanks(c);
        if (c->at == c->end)
            return false;
        if (*c->at == '#' || *c->at == '!')
            while (c->at < c->end && !is_line_end(*c->at))
                c->at++;
        if (c->at == c->end)
            return false;
        if (!skip_line_end(c))
            break;
    }
    *ret_line = c->line;
    while (c->at < c->end && !is_line_end(*c->at)) {
        if (*c->at != '\\' || c->at + 1 == c->end) {
            buf_char(out, *c->at++);
            continue;
        }
        c->at++;
        if (skip_line_end(c)) {
            skip_blanks(c);
        } else {
            buf_char(out, '\\');
            buf_char(out, *c->at++);
        }
    }
    skip_line_end(c);
    return true;
}

static bool hex4(struct str s, size_t at, uint32_t *ret)
{
    uint32_t value = 0;
    if (at > s.len || s.len - at < 4)
        return false;
    for (size_t i = at; i < at + 4; i++) {
        char c = s.ptr[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint32_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (uint32_t)(c - 'A') + 10;
        else
            return false;
        value = value << 4 | digit;
    }
    *ret = value;
    return true;
}

/* Undoes the escapes of `in`. False: a \u without four hexadecimal digits. */
static bool unescape(struct str in, struct buf *out)
{
    buf_clear(out);
    for (size_t i = 0; i < in.len; i++) {
        if (in.ptr[i] != '\\' || i + 1 == in.len) {
            buf_char(out, in.ptr[i]);
            continue;
        }
        uint32_t code, low;
        switch (in.ptr[++i]) {
        case 't': buf_char(out, '\t'); break;
        case 'n': buf_char(out, '\n'); break;
        case 'r': buf_char(out, '\r'); break;
        case 'f': buf_char(out, '\f'); break;
        case 'u':
            if (!hex4(in, i + 1, &code))
                return false;
            i += 4;
            if (code >= 0xD800 && code < 0xDC00 && i + 2 < in.len && in.ptr[i + 1] == '\\' && in.ptr[i + 2] == 'u' && hex4(in, i + 3, &low) && low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                i += 6;
            }
            buf_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
            break;
        default: buf_char(out, in.ptr[i]);
        }
    }
    return true;
}

/* Where the key of a logical line ends and its value begins. */
static void split_line(struct str line, struct str *ret_key, struct str *ret_value)
{
    size_t i = 0;
    while (i < line.len && line.ptr[i] != '=' && line.ptr[i] != ':' && !is_blank(line.ptr[i]))
        i += line.ptr[i] == '\\' && i + 1 < line.len ? 2 : 1;
    *ret_key = (struct str){line.ptr, i};
    while (i < line.len && is_blank(line.ptr[i]))
        i++;
    if (i < line.len && (line.ptr[i] == '=' || line.ptr[i] == ':'))
        i++;
    while (i < line.len && is_blank(line.ptr[i]))
        i++;
    *ret_value = (struct str){line.ptr + i, line.len - i};
}

/* Spark drops blanks and control characters around a value, but not line ends that were written as escapes. */
static struct str trim(struct str s)
{
    while (s.len && (unsigned char)s.ptr[0] <= ' ' && !is_line_end(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && (unsigned char)s.ptr[s.len - 1] <= ' ' && !is_line_end(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static enum err_code keep(struct props *self, struct buf *key, struct buf *value, int64_t line, struct err *err)
{
    struct str trimmed = trim(buf_str(value));
    char *key_copy = arena_strndup(&self->arena, key->data ? key->data : "", key->len);
    char *value_copy = arena_strndup(&self->arena, trimmed.len ? trimmed.ptr : "", trimmed.len);
    if (buf_failed(key) || buf_failed(value) || !key_copy || !value_copy ||
        mem_grow((void **)&self->items, &self->capacity, self->count + 1, MAX_ITEMS, sizeof *self->items))
        return err_nomem(err);
    self->items[self->count++] = (struct prop){{key_copy, key->len}, {value_copy, trimmed.len}, line};
    return ERR_OK;
}

enum err_code props_parse(struct props *self, struct str text, struct err *err)
{
    CLEANUP(buf_dispose) struct buf line, key, value;
    buf_init(&line, PROPS_MAX_BYTES);
    buf_init(&key, PROPS_MAX_BYTES);
    buf_init(&value, PROPS_MAX_BYTES);
    if (text.len > PROPS_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "more than %zu bytes of properties", PROPS_MAX_BYTES);
    if (text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0)     /* Windows editors put a byte order mark there */
        text = (struct str){text.ptr + 3, text.len - 3};
    struct cursor cursor = {text.ptr, text.ptr + text.len, 1};
    int64_t number = 0;
    while (logical_line(&cursor, &line, &number)) {
        struct str raw_key, raw_value;
        split_line(buf_str(&line), &raw_key, &raw_value);
        if (!unescape(raw_key, &key) || !unescape(raw_value, &value)) {
            err_set(err, ERR_INVALID, "line %lld: \\u is not followed by four hexadecimal digits", (long long)number);
            if (err)
                err->line = number;
            return ERR_INVALID;
        }
        if (buf_failed(&line))
            return err_nomem(err);
        enum err_code rc = keep(self, &key, &value, number, err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

enum err_code props_read_file(struct props *self, const char *path, struct err *err)
{
    CLEANUP(buf_dispose) struct buf text;
    buf_init(&text, PROPS_MAX_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "%s", path);
    enum err_code rc = ERR_OK;
    for (;;) {
        if (!buf_reserve(&text, 16384)) {
            rc = err_set(err, ERR_LIMIT, "%s: larger than a properties file can be (%zu bytes)", path, PROPS_MAX_BYTES);
            break;
        }
        ssize_t got = read(fd, text.data + text.len, 16384);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            rc = err_set_errno(err, errno, "%s", path);
        if (got <= 0)
            break;
        text.len += (size_t)got;
    }
    close(fd);
    if (rc)
        return rc;
    if ((rc = props_parse(self, (struct str){text.data ? text.data : "", text.len}, err)))
        err_prefix(err, "%s", path);
    return rc;
}

struct str props_get(const struct props *self, const char *key)
{
    for (size_t i = self->count; i > 0; i--)
        if (str_is(self->items[i - 1].key, key))
            return self->items[i - 1].value;
    return STR_NONE;
}
