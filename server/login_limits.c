/* SPDX-License-Identifier: Apache-2.0 */
#include "server/login_limits.h"

#include <string.h>

#include "base/attributes.h"
#include "server/keyed_hash.h"

#define WAYS 4
#define FIRST_WAIT_MS 1000

/* Without the hash all share one place: slower for everybody, never faster for anybody. */
static uint64_t key_of(const char *kind, struct str what)
{
    const struct str parts[] = {str_of(kind), what};
    struct keyed_hash hash;
    uint64_t key = 0;
    if (keyed_hash_of(parts, ARRAY_LENGTH(parts), &hash, NULL) == ERR_OK)
        memcpy(&key, hash.bytes, sizeof key);
    return key | 1;
}

static uint64_t address_key(const unsigned char address[16])
{
    static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    return key_of("address", (struct str){(const char *)address, memcmp(address, mapped, sizeof mapped) == 0 ? 16 : 8});
}

/* The key's own place, or the one that it may take (another's key, or none). */
static struct login_limit *place_of(struct login_limits *self, uint64_t key)
{
    struct login_limit *set = &self->places[key / 2 % (LOGIN_LIMITS_PLACES / WAYS) * WAYS], *worst = set;
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i];
        if (set[i].key == 0 ? worst->key != 0 : worst->key != 0 && set[i].until_ms < worst->until_ms)
            worst = &set[i];
    }
    return worst;
}

static int64_t wait_ms(struct login_limits *self, uint64_t key, int64_t now_ms)
{
    const struct login_limit *place = place_of(self, key);
    return place->key == key ? MAX(place->until_ms - now_ms, 0) : 0;
}

static void count_failure(struct login_limits *self, uint64_t key, int64_t most_ms, int64_t now_ms)
{
    struct login_limit *place = place_of(self, key);
    if (place->key != key || now_ms - place->last_ms > LOGIN_FORGIVE_MS)
        *place = (struct login_limit){.key = key};
    place->failures++;
    place->last_ms = now_ms;
    uint32_t over = place->failures > LOGIN_FREE_FAILURES ? place->failures - LOGIN_FREE_FAILURES : 0;
    place->until_ms = now_ms + (over == 0 ? 0 : over > 20 ? most_ms : MIN((int64_t)FIRST_WAIT_MS << (over - 1), most_ms));
}

int64_t login_limits_try(struct login_limits *self, const unsigned char address[16], struct str user, int64_t now_ms)
{
    uint64_t by_address = address_key(address), by_user = key_of("user", user);
    int64_t wait = MAX(wait_ms(self, by_address, now_ms), wait_ms(self, by_user, now_ms));
    if (wait)
        return wait;
    count_failure(self, by_address, LOGIN_ADDRESS_WAIT_MS, now_ms);
    count_failure(self, by_user, LOGIN_USER_WAIT_MS, now_ms);
    return 0;
}

void login_limits_right(struct login_limits *self, const unsigned char address[16], struct str user)
{
    uint64_t by_address = address_key(address), by_user = key_of("user", user);
    struct login_limit *place = place_of(self, by_user);
    if (place->key == by_user)
        *place = (struct login_limit){0};
    place = place_of(self, by_address);
    if (place->key == by_address && place->failures > 0 && --place->failures <= LOGIN_FREE_FAILURES)
        place->until_ms = 0;
}
