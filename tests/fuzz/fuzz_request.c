/* SPDX-License-Identifier: Apache-2.0
 *
 * The address of a request as a client may send it: path, parameters, and everything that handlers do with parameters before they look at the store. Beside the sanitizers: what was decoded holds no NUL and is no
 * longer than what came; numbers lie in their bounds; lists are bounded. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "server/api/list.h"
#include "server/api/text_set.h"
#include "server/request.h"
#include "server/router.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(struct str text, size_t most)
{
    require(text.len <= most && (text.len == 0 || !memchr(text.ptr, '\0', text.len)));
}

static void check_numbers(const struct request *request)
{
    static const char *const names[] = {"offset", "limit", "length", "min", "q"};
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        int64_t value = 0;
        if (request_param_i64(request, names[i], 7, 3, 1000, &value, &err) == ERR_OK)
            require(value >= 3 && value <= 1000);
        request_param_true(request, names[i], false);
    }
}

static void check_list(const struct request *request)
{
    static const struct list_sort sorts[] = {{"id", "a"}, {"name", "b"}, {NULL, NULL}};
    struct list list = {.arena = request->arena};
    struct err err = {0};
    if (list_read(&list, request, sorts, "id", &err) == ERR_OK)
        require(list.sort && list.offset >= 0 && list.limit > 0 && (list.is_csv || list.limit <= LIST_MAX_LIMIT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const prefixes[] = {"", "/gateway", "/api", "/a"};
    if (size < 1 || size > REQUEST_MAX_URL)
        return 0;
    struct arena arena;
    arena_init(&arena, (size_t)16 << 20);
    struct request *request = arena_zalloc(&arena, 1, sizeof *request);
    require(request);
    request->arena = &arena;
    const struct str address = {(const char *)data + 1, size - 1}, prefix = str_of(prefixes[data[0] % ARRAY_LENGTH(prefixes)]);
    struct err err = {0};
    if (memchr(address.ptr, '\0', address.len) == NULL && request_parse(request, address, prefix, &err) == ERR_OK) {
        require(request->param_count <= REQUEST_MAX_PARAMS && request->path.len > 0 && request->path.ptr[0] == '/');
        check_text(request->path, size);
        for (size_t i = 0; i < request->param_count; i++) {
            check_text(request->params[i].name, size);
            check_text(request->params[i].value, size);
            check_text(request_decode_wholly(&arena, request->params[i].value), size);
        }
        check_numbers(request);
        check_list(request);
        const struct route *const tables[] = {api_routes, api_v1_routes, api_actions};
        for (size_t i = 0; i < ARRAY_LENGTH(tables); i++)
            if (router_match(tables[i], request)) {
                require(request->path_arg_count <= REQUEST_MAX_PATH_ARGS);
                for (size_t a = 0; a < request->path_arg_count; a++)
                    check_text(request->path_args[a], size);
            }
        if (request->shortened)
            require(request_lengthen(request, &err) == ERR_OK);
    }
    arena_dispose(&arena);
    return 0;
}
