/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a file, from a data node; with them how long a file is that somebody writes to. */
#include "place/webhdfs_parts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json_pull.h"
#include "base/units.h"

#define REDIRECTS 2 /* name node to data node; a gateway adds one */

/* Puts `offset` in the place of the one in a data node's address. False: there is none to be seen (a gateway hides it). */
static bool put_offset(const char *location, int64_t offset, struct buf *out)
{
    const char *query = strchr(location, '?'), *found = query ? strstr(query, "offset=") : NULL;
    while (found && found[-1] != '?' && found[-1] != '&')
        found = strstr(found + 1, "offset=");
    if (!found)
        return false;
    buf_append(out, location, (size_t)(found - location));
    buf_printf(out, "offset=%lld", (long long)offset);
    buf_text(out, found + strcspn(found, "&"));
    return true;
}

static bool same_protection(const char *from, const char *to)
{
    return strncasecmp(to, "https://", 8) == 0 || (strncasecmp(to, "http://", 7) == 0 && strncasecmp(from, "https://", 8) != 0);
}

/* Follows a name node's answer to the data node. *ret is a stream of bytes, or closed. */
static enum err_code follow(struct fetch_stream **ret, const char *node, const char *what, int64_t offset, bool replace_offset, bool *ret_replaced, struct err *err)
{
    CLEANUP(buf_dispose) struct buf url;
    buf_init(&url, WEBHDFS_URL_BYTES);
    *ret_replaced = false;
    for (int hop = 0; fetch_head(*ret)->status == 307 || fetch_head(*ret)->status == 302; hop++) {
        const char *location = fetch_head(*ret)->location;
        enum err_code rc = ERR_OK;
        buf_clear(&url);
        if (hop == REDIRECTS || !location[0])
            rc = err_set(err, ERR_IO, "%s: sends us round in circles", what);
        else if (!same_protection(node, location))
            rc = err_set(err, ERR_IO, "%s: sends us to an address without https", what);
        else if (replace_offset && put_offset(location, offset, &url))
            *ret_replaced = true;
        else
            buf_text(&url, location);
        fetch_close(TAKE(*ret));
        if (!rc && buf_failed(&url))
            rc = err_set(err, ERR_LIMIT, "%s: sends us to an address that is too long", what);
        const struct fetch_request request = {.url = url.data, .what = what};
        if (rc || (rc = fetch_open(ret, &request, err)))
            return rc;
    }
    return ERR_OK;
}

static enum err_code read_refusal(struct fetch_stream *stream, const char *what, struct err *err)
{
    char text[4096 + JSON_PADDING] = "";
    size_t used = 0, len;
    while (used < 4096 && fetch_read(stream, text + used, 4096 - used, &len, NULL) == ERR_OK)
        used += len;
    memset(text + used, 0, JSON_PADDING);
    return webhdfs_refused(what, fetch_head(stream)->status, (struct str){text, used}, err);
}

enum err_code webhdfs_open_at(const struct place_uri *uri, int64_t offset, int64_t len, int64_t known_bytes, struct fetch_stream **ret, int64_t *ret_skip, struct err *err)
{
    struct webhdfs_cluster cluster;
    struct place_patience patience = {0};
    CLEANUP(buf_dispose) struct buf url;
    buf_init(&url, WEBHDFS_URL_BYTES);
    webhdfs_find_nodes(&cluster, uri);
    struct err why = {0};
    int64_t asked = known_bytes > 0 && offset >= known_bytes ? known_bytes - 1 : offset;
    char query[96], what[128];
    int used = snprintf(query, sizeof query, "op=OPEN&offset=%lld", (long long)asked);
    if (len >= 0)
        snprintf(query + used, sizeof query - (size_t)used, "&length=%lld", (long long)(len > INT64_MAX - (offset - asked) ? len : len + (offset - asked)));
    do {
        for (size_t i = 0, first = webhdfs_first_node(&cluster); i < cluster.count; i++) {
            size_t node = (first + i) % cluster.count;
            struct fetch_request request = {0};
            bool replaced = false;
            webhdfs_make_url(&url, cluster.nodes[node], uri->path, query, &request.negotiate);
            if (buf_failed(&url))
                return err_set(err, ERR_LIMIT, "the address is too long");
            webhdfs_name_question(what, sizeof what, "op=OPEN", cluster.nodes[node]);
            request.url = url.data;
            request.what = what;
            enum err_code rc = fetch_open(ret, &request, &why);
            if (!rc)
                rc = follow(ret, cluster.nodes[node], what, offset, asked != offset, &replaced, &why);
            if (!rc && (fetch_head(*ret)->status == 200 || fetch_head(*ret)->status == 206)) {
                webhdfs_note_active(&cluster, node);
                *ret_skip = replaced ? 0 : offset - asked;
                return ERR_OK;
            }
            if (!rc) {
                rc = read_refusal(*ret, what, &why);
                fetch_close(TAKE(*ret));
            }
            if (rc != ERR_AWAY)
                return err_set(err, rc, "%s", why.message);
        }
    } while (place_wait(&patience));
    return err_set(err, fetch_stopped() ? ERR_CANCELLED : ERR_AWAY, "%s", why.message);
}

enum err_code webhdfs_true_length(const struct place_uri *uri, int64_t bytes, int64_t *ret, struct err *err)
{
    struct fetch_stream *stream;
    int64_t from = MAX(bytes - 1, 0), skip;
    *ret = bytes;
    enum err_code rc = webhdfs_open_at(uri, from, -1, bytes, &stream, &skip, err);
    if (rc == ERR_NOMEM || rc == ERR_CANCELLED)
        return rc;
    if (rc)
        return ERR_OK;
    int64_t length = fetch_head(stream)->length;
    if (known(length) && length <= INT64_MAX - from)
        *ret = MAX(bytes, from - skip + length);
    fetch_close(stream);
    return ERR_OK;
}

bool webhdfs_may_be_open(const char *name)
{
    return str_ends(str_of(name), ".inprogress") || strncmp(name, "events_", 7) == 0;
}
