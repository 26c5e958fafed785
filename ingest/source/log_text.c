/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/source/log_text.h"

#include <string.h>

static const char byte_order_mark[3] = {'\xEF', '\xBB', '\xBF'};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

bool log_text_begins_object(const char *text, size_t len)
{
    size_t i = 0;
    if (len >= sizeof byte_order_mark && memcmp(text, byte_order_mark, sizeof byte_order_mark) == 0)
        i = sizeof byte_order_mark;
    while (i < len && is_blank(text[i]))
        i++;
    return i < len && text[i] == '{';
}

bool log_text_has_event(const char *text, size_t len)
{
    static const char tail[5] = {'v', 'e', 'n', 't', '"'};
    const char *end = text + len;
    for (const char *p = text; (p = memmem(p, (size_t)(end - p), tail, sizeof tail)) != NULL; p += sizeof tail) {
        if (p < text + 2 || p[-2] != '"' || (p[-1] != 'E' && p[-1] != 'e'))
            continue;
        const char *after = p + sizeof tail;
        while (after < end && is_blank(*after))
            after++;
        if (after == end || *after != ':')
            continue;
        const char *before = memrchr(text, '\n', (size_t)(p - text));
        const char *line = before ? before + 1 : text;
        if (log_text_begins_object(line, (size_t)(p - line)))
            return true;
    }
    return false;
}

bool log_text_is_binary(const char *text, size_t len)
{
    size_t control = 0;
    for (size_t i = 0; i < len; i++)
        control += (unsigned char)text[i] < ' ' && !is_blank(text[i]) && text[i] != '\f' && text[i] != '\x1B';
    return control > len / 32;
}
