/* SPDX-License-Identifier: Apache-2.0
 *
 * Old addresses: whatever a request asks for, the new address holds nothing but what stands in the tables and numbers, and keeps its length. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/history_address.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define ALLOWED "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/.?&=-_~"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > REQUEST_MAX_URL)
        return 0;
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct request *request = mem_zalloc(sizeof *request);
    char *address = mem_alloc(size + 1);
    require(request && address);
    address[0] = '/';
    if (size)
        memcpy(address + 1, data, size);
    request->arena = &arena;
    if (request_parse(request, (struct str){address, size + 1}, STR_LIT(""), NULL) == ERR_OK) {
        struct buf out;
        buf_init(&out, HISTORY_ADDRESS_BYTES);
        history_page((struct str){request->path.ptr + 1, request->path.len - 1}, request, &out);
        struct str to = buf_str(&out);
        require(!buf_failed(&out) && (to.len == 0 || to.ptr[0] != '/'));
        for (size_t i = 0; i < to.len; i++) {
            bool encoded = to.ptr[i] == '%' && i + 2 < to.len && isxdigit((unsigned char)to.ptr[i + 1]) && isxdigit((unsigned char)to.ptr[i + 2]); /* ids of sessions */
            require(encoded || (to.ptr[i] && strchr(ALLOWED, to.ptr[i])));
        }
        buf_dispose(&out);
    }
    mem_free(address);
    mem_free(request);
    arena_dispose(&arena);
    return 0;
}
