/* SPDX-License-Identifier: Apache-2.0
 *
 * The two request headers that change how an answer is sent. Pure functions over borrowed text. */
#ifndef SERVER_NEGOTIATE_H
#define SERVER_NEGOTIATE_H

#include <stdbool.h>

#include "base/str.h"

/* Accept-Encoding (unknown: not sent): gzip, x-gzip or *, with a weight that is not 0. */
bool negotiate_gzip(struct str accept_encoding);

/* If-None-Match against our tag (both with quotes): weak comparison, lists, and *. */
bool negotiate_etag(struct str if_none_match, struct str etag);

#endif
