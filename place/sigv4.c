/* SPDX-License-Identifier: Apache-2.0 */
#include "place/sigv4.h"

#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HASH_LEN 32
#define CANONICAL_MAX_BYTES ((size_t)256 << 10)

static void to_hex(const unsigned char *bytes, char out[SIGV4_HASH_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < HASH_LEN; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * HASH_LEN] = '\0';
}

enum err_code sigv4_hash(struct str bytes, char out[SIGV4_HASH_BYTES], struct err *err)
{
    unsigned char hash[HASH_LEN];
    int rc = gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes.ptr ? bytes.ptr : "", bytes.len, hash);
    if (rc)
        return err_set(err, ERR_IO, "SHA-256: %s", gnutls_strerror(rc));
    to_hex(hash, out);
    return ERR_OK;
}

void sigv4_date(int64_t epoch_ms, char out[SIGV4_DATE_BYTES])
{
    time_t seconds = (time_t)(epoch_ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    if (strftime(out, SIGV4_DATE_BYTES, "%Y%m%dT%H%M%SZ", &tm) == 0)
        out[0] = '\0';
}

static int keyed(const void *key, size_t key_len, const char *text, unsigned char out[HASH_LEN])
{
    return gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key_len, text, strlen(text), out);
}

/* The name part of "name:value". */
static size_t name_len(struct str header)
{
    const char *colon = memchr(header.ptr, ':', header.len);
    return colon ? (size_t)(colon - header.ptr) : header.len;
}

enum err_code sigv4_sign(const struct sigv4_request *request, struct buf *out, struct err *err)
{
    CLEANUP(buf_dispose) struct buf canonical, names, text;
    buf_init(&canonical, CANONICAL_MAX_BYTES);
    buf_init(&names, CANONICAL_MAX_BYTES);
    buf_init(&text, CANONICAL_MAX_BYTES);
    buf_clear(out);
    buf_printf(&canonical, "%s\n%s\n%s\n", request->method, request->path, request->query);
    for (size_t i = 0; i < request->header_count; i++) {
        buf_append(&canonical, request->headers[i].ptr, request->headers[i].len);
        buf_char(&canonical, '\n');
        if (i > 0)
            buf_char(&names, ';');
        buf_append(&names, request->headers[i].ptr, name_len(request->headers[i]));
    }
    if (buf_failed(&names))
        return err_nomem(err);
    buf_printf(&canonical, "\n%s\n%s", names.data ? names.data : "", request->body_hash);
    if (buf_failed(&canonical))
        return err_set(err, ERR_LIMIT, "the request is too long");
    char hash[SIGV4_HASH_BYTES], signature[SIGV4_HASH_BYTES];
    enum err_code rc = sigv4_hash(buf_str(&canonical), hash, err);
    if (rc)
        return rc;
    buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s", request->date, request->date, request->region, request->service, hash);
    char first[512], day[9];
    unsigned char key[HASH_LEN];
    int len = snprintf(first, sizeof first, "AWS4%s", request->secret_key);
    snprintf(day, sizeof day, "%.8s", request->date);
    if (buf_failed(&text) || len < 0 || (size_t)len >= sizeof first)
        return err_set(err, ERR_LIMIT, "the secret key is too long");
    int failed = keyed(first, (size_t)len, day, key) || keyed(key, sizeof key, request->region, key) || keyed(key, sizeof key, request->service, key) ||
                 keyed(key, sizeof key, "aws4_request", key) || keyed(key, sizeof key, text.data, key);
    explicit_bzero(first, sizeof first);
    if (failed)
        return err_set(err, ERR_IO, "HMAC-SHA-256 is not to be had");
    to_hex(key, signature);
    buf_printf(out, "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s/%s/%s/aws4_request,SignedHeaders=%s,Signature=%s", request->access_key, day, request->region,
               request->service, names.data ? names.data : "", signature);
    return buf_failed(out) ? err_nomem(err) : ERR_OK;
}
