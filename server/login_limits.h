/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a password may be wrong: by address (IPv6: by its /64, which one machine has all of) and by user. The first few failures cost nothing; from then on each doubles the time until the next try is
 * looked at at all. What is refused so does not count. A quarter of an hour without a failure forgives.
 *
 *              free   wait after that             so at most
 *     address  10     1 s, doubled, up to 5 min   12 tries an hour
 *     user     10     1 s, doubled, up to 30 s    120 tries an hour, from all addresses together: not longer, since whoever knows a name could shut its owner out
 *
 * Every try counts as a failure from its begin, so that many at once are not many free ones; one that was right gives back its own. Users who logged in lately are remembered (login.h) and do not come here.
 * Memory is fixed: 4096 places, 4 for each key; where all four are taken, the one whose wait ends first goes. All zero at the beginning. Threads: one at a time, the caller's lock. */
#ifndef SERVER_LOGIN_LIMITS_H
#define SERVER_LOGIN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define LOGIN_LIMITS_PLACES 4096
#define LOGIN_FREE_FAILURES 10
#define LOGIN_ADDRESS_WAIT_MS 300000
#define LOGIN_USER_WAIT_MS 30000
#define LOGIN_FORGIVE_MS 900000

struct login_limit {
    uint64_t key;        /* keyed_hash.h: no client can aim at the place of another; 0: free */
    uint32_t failures;
    int64_t until_ms;    /* no try before; monotonic */
    int64_t last_ms;
};

struct login_limits {
    struct login_limit places[LOGIN_LIMITS_PLACES];
};

/* 0: the try may be, and is counted. Else the ms until one may. */
int64_t login_limits_try(struct login_limits *self, const unsigned char address[16], struct str user, int64_t now_ms);

/* That try was right: it is no failure, and the user's failures are forgotten; the address's others are not, or whoever has one password could guess at others for ever. */
void login_limits_right(struct login_limits *self, const unsigned char address[16], struct str user);

#endif
