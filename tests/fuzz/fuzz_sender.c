/* SPDX-License-Identifier: Apache-2.0
 *
 * What the head of a request says of its sender: a line each of Authorization, X-Forwarded-For, X-Request-Id and the address. Names hold no NUL, ids are harmless, the audit log gets one line of valid
 * JSON text or none. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "server/audit.h"
#include "server/login.h"
#include "server/request_id.h"

#define ARENA_BYTES ((size_t)1 << 20)
#define LINE_BYTES ((size_t)64 << 10)
#define ID_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static struct str next_line(struct str *rest)
{
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;
    struct str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    *rest = end ? (struct str){end + 1, rest->len - line.len - 1} : (struct str){rest->ptr + rest->len, 0};
    return line;
}

static struct access *proxies(void)
{
    static const char *const networks[] = {"127.0.0.0/8", "10.0.0.0/8", "2001:db8::/32"};
    static struct access *access;
    const struct access_settings settings = {.proxies = networks, .proxy_count = ARRAY_LENGTH(networks)};
    if (!access)
        require(access_new(&access, &settings, NULL) == ERR_OK);
    return access;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char peer[16] = {[10] = 0xFF, [11] = 0xFF, [12] = 127, [15] = 1};
    struct str rest = {size ? (const char *)data : "", size};
    struct str authorization = next_line(&rest), forwarded = next_line(&rest), id = next_line(&rest);
    if ((size && memchr(data, 0, size)) || rest.len > REQUEST_MAX_URL)
        return 0; /* no header and no address of the HTTP library does */
    struct arena arena;
    struct buf line;
    struct login_words words;
    unsigned char client[16];
    char real_id[REQUEST_ID_BYTES], text[ACCESS_ADDRESS_BYTES];
    arena_init(&arena, ARENA_BYTES);
    buf_init(&line, LINE_BYTES);
    bool has_words = login_parse(authorization, &arena, &words);
    require(!has_words || (!memchr(words.user.ptr, '\0', words.user.len) && !memchr(words.password.ptr, '\0', words.password.len)));
    access_client(proxies(), peer, forwarded, client);
    require(access_address_text(client, text)[0]);
    request_id(id, true, real_id);
    require(real_id[0] && real_id[strspn(real_id, ID_LETTERS)] == '\0');
    struct request request = {.arena = &arena, .method = STR_LIT("GET"), .address = rest, .path = rest, .raw_path = rest, .viewer = {.user = forwarded, .asker = id}};
    enum err_code parsed = request_parse(&request, rest, STR_LIT(""), NULL);
    const struct audit_record record = {.request = &request, .id = real_id, .peer = str_of(text), .claimed = has_words ? words.user : STR_NONE, .status = parsed ? 400 : 200};
    if (audit_line(&record, 0, &line))
        require(memchr(line.data, '\n', line.len) == line.data + line.len - 1 && utf8_valid_prefix(line.data, line.len) == line.len);
    require(!buf_failed(&line));
    buf_dispose(&line);
    arena_dispose(&arena);
    return 0;
}
