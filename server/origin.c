/* SPDX-License-Identifier: Apache-2.0 */
#include "server/origin.h"

#include <string.h>
#include <strings.h>

/* "https://host:port" of that host. Where we speak https ourselves, a page that came by http may have been forged on its way. */
static bool is_of(struct str origin, struct str host, bool secure)
{
    const char *slashes = origin.len ? memmem(origin.ptr, origin.len, "://", 3) : NULL;
    struct str named = slashes ? (struct str){slashes + 3, origin.len - (size_t)(slashes + 3 - origin.ptr)} : STR_NONE;
    return slashes && (!secure || str_starts(origin, "https://")) && host.len && named.len == host.len && strncasecmp(named.ptr, host.ptr, host.len) == 0;
}

bool origin_may_change(const struct request *request, struct str marker)
{
    if (!marker.len)
        return false;
    if (str_known(request->site))
        return str_is(request->site, "same-origin");
    struct str hosts = request->forwarded_host; /* "a, b", which a chain of proxies makes: the first is the browser's */
    return !str_known(request->origin) || is_of(request->origin, request->host, request->secure) || is_of(request->origin, str_word(&hosts, ','), request->secure);
}
