/* SPDX-License-Identifier: Apache-2.0
 *
 * Who we are to S3, first found first: fs.s3a.bucket.BUCKET.access.key and its kin, fs.s3a.access.key with .secret.key and .session.token; AWS_ACCESS_KEY_ID and its kin; a web identity
 * (AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, exchanged at STS); the profile AWS_PROFILE of ~/.aws/credentials; a container's address (AWS_CONTAINER_CREDENTIALS_*). The metadata service
 * of a machine is not asked. What expires is fetched anew five minutes before. None at all: requests go unsigned, as public buckets allow.
 * Threads: safe. */
#ifndef PLACE_AWS_CREDENTIALS_H
#define PLACE_AWS_CREDENTIALS_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct aws_credentials {
    char access_key[256], secret_key[256]; /* empty: unsigned */
    char token[4096];                      /* of a session; empty: none */
    int64_t expires_ms;                    /* epoch; UNKNOWN: never */
};

enum err_code aws_credentials(struct str bucket, const char *region, struct aws_credentials *ret, struct err *err) WARN_UNUSED;

/* A setting of fs.s3a for this bucket, or for all; NULL: not set. */
const char *aws_setting(struct str bucket, const char *key);

#endif
