/* SPDX-License-Identifier: Apache-2.0
 *
 * The request headers that change how an answer is sent. Pure functions over borrowed text. */
#ifndef SERVER_NEGOTIATE_H
#define SERVER_NEGOTIATE_H

#include <stdbool.h>

#include "analysis/messages.h"
#include "base/str.h"

/* Accept-Encoding (unknown: not sent): gzip, x-gzip or *, with a weight that is not 0. */
bool negotiate_gzip(struct str accept_encoding);

/* Accept: the value of the type in `types` that it likes best, by weight, then by the order in `types` (begin with what is most specific). `otherwise`: there is no Accept.
 * -1: it takes none of them. A name of a range ("text" "/" "*") in `types` stands for itself. */
struct negotiable {
    const char *type;
    int value;
};
int negotiate_type(struct str accept, const struct negotiable *types, size_t count, int otherwise);

/* Accept-Language (unknown: not sent): the one of the two languages of texts that it likes best, by weight and then by order; English where it names neither. */
enum lang negotiate_lang(struct str accept_language);

/* If-None-Match against our tag (both with quotes): weak comparison, lists, and *. */
bool negotiate_etag(struct str if_none_match, struct str etag);

#endif
