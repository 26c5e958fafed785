/* SPDX-License-Identifier: Apache-2.0
 *
 * The path prefix that a reverse proxy put before us ("/gateway/spark"), for links and to be taken off the address. Wherever it comes from it ends up in pages, so only harmless
 * prefixes count: segments of letters, digits and . _ ~ -, none of them empty, "." or ".."; what is not harmless is no prefix. */
#ifndef SERVER_PROXY_H
#define SERVER_PROXY_H

#include "base/str.h"

#define PROXY_PREFIX_BYTES 256

/* The text without a slash at its end, or empty when it is "", "/" or not harmless. Borrowed from `text`. */
struct str proxy_prefix_clean(struct str text);

/* First harmless one of spark.ui.proxyBase (setting), X-Forwarded-Context (Knox, as the History Server reads it), X-Forwarded-Prefix. Unknown texts are skipped. */
struct str proxy_prefix(struct str setting, struct str forwarded_context, struct str forwarded_prefix);

#endif
