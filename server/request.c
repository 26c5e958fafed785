/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define MAX_DECODINGS 4              /* one by each proxy on the way */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum err_code request_decode(struct arena *arena, struct str in, bool plus, struct str *ret, struct err *err)
{
    char *out = arena_alloc(arena, in.len + 1);
    if (!out)
        return err_nomem(err);
    size_t n = 0;
    for (size_t i = 0; i < in.len; i++) {
        char c = in.ptr[i];
        if (c == '%') {
            int high = in.len - i > 2 ? hex_digit(in.ptr[i + 1]) : -1, low = in.len - i > 2 ? hex_digit(in.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return err_set(err, ERR_INVALID, "a %% in the address is not followed by two hex digits");
            c = (char)(high * 16 + low);
            i += 2;
        } else if (plus && c == '+') {
            c = ' ';
        }
        if (c == '\0')
            return err_set(err, ERR_INVALID, "the address holds a NUL");
        out[n++] = c;
    }
    out[n] = '\0';
    *ret = (struct str){out, n};
    return ERR_OK;
}

struct str request_decode_wholly(struct arena *arena, struct str text)
{
    for (int i = 0; i < MAX_DECODINGS && text.len && (memchr(text.ptr, '%', text.len) || memchr(text.ptr, '+', text.len)); i++)
        if (request_decode(arena, text, true, &text, NULL))
            break;
    return text;
}

static struct str cut(struct str *rest, char at)
{
    const char *p = rest->len ? memchr(rest->ptr, at, rest->len) : NULL;
    struct str head = {rest->ptr, p ? (size_t)(p - rest->ptr) : rest->len};
    *rest = p ? (struct str){p + 1, rest->len - head.len - 1} : (struct str){rest->ptr + rest->len, 0};
    return head;
}

static enum err_code parse_query(struct request *self, struct str query, struct err *err)
{
    while (query.len) {
        struct str value = cut(&query, '&');
        if (!value.len)
            continue;
        if (self->param_count == REQUEST_MAX_PARAMS)
            return err_set(err, ERR_LIMIT, "more than %d parameters", REQUEST_MAX_PARAMS);
        struct request_param *param = &self->params[self->param_count];
        struct str name = cut(&value, '=');
        enum err_code rc;
        if ((rc = request_decode(self->arena, name, true, &param->name, err)) || (rc = request_decode(self->arena, value, true, &param->value, err)))
            return rc;
        self->param_count++;
    }
    return ERR_OK;
}

/* Without the parameters of its segments, "/jobs;jsessionid=1/0;x". -1: out of memory. */
static int without_matrix(struct arena *arena, struct str path, struct str *ret)
{
    *ret = path;
    if (!memchr(path.ptr, ';', path.len))
        return 0;
    char *out = arena_alloc(arena, path.len);
    if (!out)
        return -1;
    size_t len = 0;
    bool skipping = false;
    for (size_t i = 0; i < path.len; i++) {
        skipping = path.ptr[i] == ';' || (skipping && path.ptr[i] != '/');
        if (!skipping)
            out[len++] = path.ptr[i];
    }
    *ret = (struct str){out, len};
    return 0;
}

enum err_code request_parse(struct request *self, struct str address, struct str prefix, struct err *err)
{
    struct str query = address, path = cut(&query, '?');
    self->param_count = 0;
    if (!path.len || path.ptr[0] != '/')
        return err_set(err, ERR_INVALID, "the address does not begin with a slash");
    self->shortened = prefix.len && path.len >= prefix.len && memcmp(path.ptr, prefix.ptr, prefix.len) == 0 && (path.len == prefix.len || path.ptr[prefix.len] == '/');
    if (self->shortened)
        path = path.len == prefix.len ? STR_LIT("/") : (struct str){path.ptr + prefix.len, path.len - prefix.len};
    if (without_matrix(self->arena, path, &path) || arena_str(self->arena, path, &self->raw_path) || arena_str(self->arena, prefix.len ? prefix : STR_LIT(""), &self->prefix))
        return err_nomem(err);
    enum err_code rc = request_decode(self->arena, path, false, &self->path, err);
    return rc ? rc : parse_query(self, query, err);
}

enum err_code request_lengthen(struct request *self, struct err *err)
{
    const char *text = arena_printf(self->arena, "%.*s%.*s", (int)self->prefix.len, self->prefix.ptr, (int)self->raw_path.len, self->raw_path.ptr);
    if (!text)
        return err_nomem(err);
    self->shortened = false;
    self->raw_path = str_of(text);
    return request_decode(self->arena, self->raw_path, false, &self->path, err);
}

struct str request_param(const struct request *self, const char *name)
{
    for (size_t i = 0; i < self->param_count; i++)
        if (str_is(self->params[i].name, name))
            return self->params[i].value;
    return STR_NONE;
}

enum err_code request_param_i64(const struct request *self, const char *name, int64_t otherwise, int64_t low, int64_t high, int64_t *ret, struct err *err)
{
    struct str value = request_param(self, name);
    *ret = otherwise;
    if (!str_known(value))
        return ERR_OK;
    int64_t number;
    if (!str_to_i64(value, &number))
        return err_set(err, ERR_INVALID, "%s is not a whole number", name);
    if (number < low || number > high)
        return err_set(err, ERR_INVALID, "%s must lie between %" PRId64 " and %" PRId64, name, low, high);
    *ret = number;
    return ERR_OK;
}

bool request_param_true(const struct request *self, const char *name, bool otherwise)
{
    struct str value = request_param(self, name);
    return value.len ? value.len == 4 && strncasecmp(value.ptr, "true", 4) == 0 : otherwise;
}
