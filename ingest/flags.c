/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/attributes.h"
#include "ingest/pipeline.h"

char *flags_text(unsigned flags, char *out, size_t size)
{
    static const char *const words[] = {"cut", "lines", "gap", "name", "empty", "unreadable", "not-a-log", "notice"};   /* by bit */
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (flags & 1u << i && used + strlen(words[i]) + 2 <= size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " " : "", words[i]);
    return out;
}
