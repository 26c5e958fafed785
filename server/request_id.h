/* SPDX-License-Identifier: Apache-2.0
 *
 * A name for each request, in every line of the log about it and in its answer (X-Request-Id), so that what somebody saw can be found. That of a trusted proxy is kept where it is harmless, so that its log and
 * ours say the same. Threads: safe. */
#ifndef SERVER_REQUEST_ID_H
#define SERVER_REQUEST_ID_H

#include <stdbool.h>

#include "base/str.h"

#define REQUEST_ID_BYTES 65

/* `given`, where it is of 1 to 64 letters, digits, - _ . and its sender is believed; else a new one: eight hex digits of this process, which are drawn, and a count. */
void request_id(struct str given, bool believed, char out[REQUEST_ID_BYTES]);

#endif
