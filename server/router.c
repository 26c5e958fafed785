/* SPDX-License-Identifier: Apache-2.0 */
#include "server/router.h"

#include <assert.h>

static struct str next_segment(struct str *rest)
{
    *rest = (struct str){rest->ptr + 1, rest->len - 1};       /* the slash */
    const char *p = rest->len ? memchr(rest->ptr, '/', rest->len) : NULL;
    struct str segment = {rest->ptr, p ? (size_t)(p - rest->ptr) : rest->len};
    *rest = (struct str){rest->ptr + segment.len, rest->len - segment.len};
    return segment;
}

static bool all_digits(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

/* "{id:d}.{attempt:d}" is two arguments with a dot between, so a pattern's segment is walked piece by piece: an argument ends at the text that follows it. */
static bool match_segment(struct str pattern, struct str segment, struct str *args, size_t *count)
{
    while (pattern.len) {
        if (pattern.ptr[0] != '{') {
            if (!segment.len || segment.ptr[0] != pattern.ptr[0])
                return false;
            pattern = (struct str){pattern.ptr + 1, pattern.len - 1};
            segment = (struct str){segment.ptr + 1, segment.len - 1};
            continue;
        }
        const char *close = memchr(pattern.ptr, '}', pattern.len);
        assert(close);
        bool digits = close[-1] == 'd' && close[-2] == ':';
        pattern = (struct str){close + 1, pattern.len - (size_t)(close + 1 - pattern.ptr)};
        struct str arg = segment;
        if (pattern.len) {
            const char *end = segment.len ? memchr(segment.ptr, pattern.ptr[0], segment.len) : NULL;
            if (!end)
                return false;
            arg.len = (size_t)(end - segment.ptr);
        }
        if (!arg.len || (digits && !all_digits(arg)))
            return false;
        assert(*count < REQUEST_MAX_PATH_ARGS);
        args[(*count)++] = arg;
        segment = (struct str){segment.ptr + arg.len, segment.len - arg.len};
    }
    return segment.len == 0;
}

static bool match(const char *pattern_text, struct str path, struct str *args, size_t *count)
{
    struct str pattern = str_of(pattern_text);
    *count = 0;
    while (pattern.len && path.len) {
        struct str want = next_segment(&pattern), have = next_segment(&path);
        if (!match_segment(want, have, args, count))
            return false;
    }
    return pattern.len == 0 && (path.len == 0 || str_is(path, "/"));
}

const struct route *router_match(const struct route *routes, struct request *request)
{
    struct str args[REQUEST_MAX_PATH_ARGS];
    size_t count;
    for (const struct route *route = routes; route->pattern; route++) {
        if (!match(route->pattern, request->raw_path, args, &count))
            continue;
        request->path_arg_count = 0;
        for (size_t i = 0; i < count; i++)
            if (request_decode(request->arena, args[i], false, &request->path_args[request->path_arg_count++], NULL))
                return NULL;
        return route;
    }
    return NULL;
}
