/* SPDX-License-Identifier: Apache-2.0 */
#include "server/proxy.h"

#define NO_PREFIX STR_LIT("")

static bool harmless(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '~' || c == '-';
}

struct str proxy_prefix_clean(struct str text)
{
    if (text.len && text.ptr[text.len - 1] == '/')
        text.len--;
    if (!text.len || text.len >= PROXY_PREFIX_BYTES || text.ptr[0] != '/')
        return NO_PREFIX;
    for (size_t i = 0; i < text.len;) {
        size_t begin = ++i;          /* after a slash */
        size_t dots = 0;
        for (; i < text.len && text.ptr[i] != '/'; i++) {
            if (!harmless(text.ptr[i]))
                return NO_PREFIX;
            dots += text.ptr[i] == '.';
        }
        if (i == begin || (dots == i - begin && dots <= 2))
            return NO_PREFIX;
    }
    return text;
}

struct str proxy_prefix(struct str setting, struct str forwarded_context, struct str forwarded_prefix)
{
    const struct str sources[] = {setting, forwarded_context, forwarded_prefix};
    for (size_t i = 0; i < ARRAY_LENGTH(sources); i++) {
        struct str clean = proxy_prefix_clean(sources[i]);
        if (clean.len)
            return clean;
    }
    return NO_PREFIX;
}
