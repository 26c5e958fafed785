/* SPDX-License-Identifier: Apache-2.0 */
#include "server/keyed_hash.h"

#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>

static unsigned char secret[KEYED_HASH_BYTES];
static bool is_drawn;
static pthread_once_t drawing = PTHREAD_ONCE_INIT;

static void draw(void)
{
    is_drawn = getrandom(secret, sizeof secret, 0) == (ssize_t)sizeof secret;
}

enum err_code keyed_hash_of(const struct str *parts, size_t count, struct keyed_hash *ret, struct err *err)
{
    gnutls_hmac_hd_t hmac;
    pthread_once(&drawing, draw);
    if (!is_drawn || gnutls_hmac_init(&hmac, GNUTLS_MAC_SHA256, secret, sizeof secret))
        return err_set(err, ERR_IO, "there are no random numbers, or no SHA-256");
    bool failed = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t len = parts[i].len;
        failed |= gnutls_hmac(hmac, &len, sizeof len) || (parts[i].len && gnutls_hmac(hmac, parts[i].ptr, parts[i].len));
    }
    gnutls_hmac_deinit(hmac, ret->bytes);
    return failed ? err_set(err, ERR_IO, "SHA-256 failed") : ERR_OK;
}

bool same_bytes(const void *a, const void *b, size_t len)
{
    const unsigned char *x = a, *y = b;
    volatile unsigned char differing = 0;
    for (size_t i = 0; i < len; i++)
        differing = (unsigned char)(differing | (x[i] ^ y[i]));
    return differing == 0;
}
