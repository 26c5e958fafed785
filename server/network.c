/* SPDX-License-Identifier: Apache-2.0 */
#include "server/network.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

bool network_parse_address(const char *text, unsigned char out[16])
{
    static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    if (inet_pton(AF_INET6, text, out) == 1)
        return true;
    memcpy(out, mapped, sizeof mapped);
    return inet_pton(AF_INET, text, out + sizeof mapped) == 1;
}

static bool parse(const char *text, struct network *ret)
{
    char address[64];
    size_t len = strcspn(text, "/");
    int64_t bits = 128;
    if (len >= sizeof address)
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    if (!network_parse_address(address, ret->address))
        return false;
    bool four = !strchr(address, ':');
    if (text[len] == '/' && (!str_to_i64(str_of(text + len + 1), &bits) || bits < 0 || bits > (four ? 32 : 128)))
        return false;
    ret->bits = (int)(bits + (text[len] == '/' && four ? 96 : 0));
    return true;
}

enum err_code networks_parse(struct network **ret, const char *const *items, size_t count, const char *key, struct err *err)
{
    struct network *networks = *ret = mem_array(count + 1, sizeof *networks);
    if (!networks)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        if (!parse(items[i], &networks[i])) {
            mem_free(*ret);
            *ret = NULL;
            return err_set(err, ERR_INVALID, "%s: '%s' is neither an address nor a network", key, items[i]);
        }
    return ERR_OK;
}

static bool has(const struct network *network, const unsigned char address[16])
{
    int whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->address, address, (size_t)whole) != 0)
        return false;
    return rest == 0 || ((network->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

bool networks_have(const struct network *self, size_t count, const unsigned char address[16])
{
    for (size_t i = 0; i < count; i++)
        if (has(&self[i], address))
            return true;
    return false;
}

bool network_is_loopback(const unsigned char address[16])
{
    static const struct network loopback[] = {{{[10] = 0xFF, [11] = 0xFF, [12] = 127}, 104}, {{[15] = 1}, 128}};
    return networks_have(loopback, ARRAY_LENGTH(loopback), address);
}
