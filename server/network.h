/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks of addresses, as settings name them: "10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8". Addresses are 16 bytes, IPv4 as ::ffff:a.b.c.d. Immutable once made. */
#ifndef SERVER_NETWORK_H
#define SERVER_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct network {
    unsigned char address[16];
    int bits;
};

/* *ret: an array to be freed with mem_free, which is there for no items, too. ERR_INVALID, with the key of the setting: an item is neither an address nor a network. */
enum err_code networks_parse(struct network **ret, const char *const *items, size_t count, const char *key, struct err *err) WARN_UNUSED;
bool networks_have(const struct network *self, size_t count, const unsigned char address[16]);

/* 127.0.0.0/8 or ::1 */
bool network_is_loopback(const unsigned char address[16]);

/* One address; false: it is none. */
bool network_parse_address(const char *text, unsigned char out[16]);

#endif
