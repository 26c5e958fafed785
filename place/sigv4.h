/* SPDX-License-Identifier: Apache-2.0
 *
 * AWS's signature, version 4, of a request without a streamed body (docs.aws.amazon.com, "Authenticating Requests (AWS Signature Version 4)"). Not libcurl's: that of 7.88 signs the
 * query as it stands in the URL, can be looked at only on the wire, and leaves x-amz-content-sha256 to its caller, so that only a server could test it; these 100 lines are held to
 * the examples of AWS's documentation. SHA-256 is GnuTLS's, which the program has for libmicrohttpd. */
#ifndef PLACE_SIGV4_H
#define PLACE_SIGV4_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define SIGV4_DATE_BYTES 17 /* 20130524T000000Z */
#define SIGV4_HASH_BYTES 65 /* hexadecimal */

struct sigv4_request {
    const char *method;
    const char *path;      /* encoded once, as in the URL; begins with a slash */
    const char *query;     /* as in the URL: names sorted, names and values encoded; empty: none */
    struct str headers[8]; /* "name:value" to be signed, names in lower case and sorted, no blanks around the value; host must be there */
    size_t header_count;
    const char *body_hash; /* sigv4_hash of the body */
    const char *date;      /* as x-amz-date */
    const char *region, *service;
    const char *access_key, *secret_key;
};

/* "Authorization: AWS4-HMAC-SHA256 …" into `out` (cleared first). */
enum err_code sigv4_sign(const struct sigv4_request *request, struct buf *out, struct err *err) WARN_UNUSED;

enum err_code sigv4_hash(struct str bytes, char out[SIGV4_HASH_BYTES], struct err *err) WARN_UNUSED;
void sigv4_date(int64_t epoch_ms, char out[SIGV4_DATE_BYTES]);

#endif
