/* SPDX-License-Identifier: Apache-2.0
 *
 * Which name nodes are asked, in which order: from settings, Hadoop's files, the address. */
#include "place/webhdfs_parts.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "place/config.h"

static void add_node(struct webhdfs_cluster *self, bool tls, struct str address, const char *port)
{
    if (self->count == WEBHDFS_NODES || address.len == 0 || address.len > WEBHDFS_NODE_BYTES - 20)
        return;
    char *node = self->nodes[self->count];
    if (str_starts(address, "http://") || str_starts(address, "https://"))
        snprintf(node, WEBHDFS_NODE_BYTES, "%.*s", (int)address.len, address.ptr);
    else
        snprintf(node, WEBHDFS_NODE_BYTES, "http%s://%.*s%s%s", tls ? "s" : "", (int)address.len, address.ptr, port ? ":" : "", port ? port : "");
    self->count++;
}

/* The next item of a comma-separated list; false: no more. */
static bool next_item(const char **text, struct str *ret)
{
    while (**text == ',' || **text == ' ')
        (*text)++;
    size_t len = strcspn(*text, ",");
    *ret = (struct str){*text, len};
    *text += len;
    while (ret->len > 0 && ret->ptr[ret->len - 1] == ' ')
        ret->len--;
    return ret->len > 0;
}

static bool has_port(struct str address)
{
    const char *colon = memrchr(address.ptr, ':', address.len), *bracket = memrchr(address.ptr, ']', address.len);
    return colon && (!bracket || colon > bracket);
}

static void find_configured(struct webhdfs_cluster *self, struct str authority)
{
    const char *text = place_config("afterglow.hdfs.nameNodes");
    struct str item;
    while (text && next_item(&text, &item)) {
        const char *equals = memchr(item.ptr, '=', item.len);
        if (equals && str_eq((struct str){item.ptr, (size_t)(equals - item.ptr)}, authority))
            add_node(self, false, (struct str){equals + 1, item.len - (size_t)(equals + 1 - item.ptr)}, NULL);
    }
}

static void find_in_hadoop(struct webhdfs_cluster *self, struct str authority, bool tls)
{
    const char *kind = tls ? "https" : "http", *ids = place_config_f("dfs.ha.namenodes.%.*s", (int)MIN(authority.len, (size_t)200), authority.ptr);
    struct str id;
    while (ids && next_item(&ids, &id)) {
        const char *address = place_config_f("dfs.namenode.%s-address.%.*s.%.*s", kind, (int)authority.len, authority.ptr, (int)MIN(id.len, (size_t)100), id.ptr);
        if (address)
            add_node(self, tls, str_of(address), NULL);
    }
    const char *one = place_config_f("dfs.namenode.%s-address.%.*s", kind, (int)MIN(authority.len, (size_t)200), authority.ptr);
    if (self->count == 0 && one)
        add_node(self, tls, str_of(one), NULL);
    /* Of the default file system alone: where dfs.namenode.http-address names its host and not 0.0.0.0. */
    const char *general = place_config_f("dfs.namenode.%s-address", kind), *fs = place_config("fs.defaultFS");
    if (self->count == 0 && general && strncmp(general, "0.0.0.0", 7) != 0 && fs && strncmp(fs, "hdfs://", 7) == 0 && str_eq(authority, (struct str){fs + 7, strcspn(fs + 7, "/")}))
        add_node(self, tls, str_of(general), NULL);
}

static bool wants_tls(void)
{
    const char *policy = place_config("dfs.http.policy");
    return policy && strcasecmp(policy, "HTTPS_ONLY") == 0;
}

struct str webhdfs_authority(const struct place_uri *uri)
{
    const char *fs = place_config("fs.defaultFS");
    if (uri->authority.len == 0 && fs && strncmp(fs, "hdfs://", 7) == 0)
        return (struct str){fs + 7, strcspn(fs + 7, "/")};
    return uri->authority;
}

void webhdfs_find_nodes(struct webhdfs_cluster *self, const struct place_uri *uri)
{
    struct str authority = webhdfs_authority(uri), item;
    bool is_hdfs = uri->scheme.len == 4, tls = is_hdfs ? wants_tls() : (uri->scheme.ptr[0] | 0x20) == 's';
    self->count = 0;
    find_configured(self, authority);
    if (self->count == 0 && !has_port(authority))
        find_in_hadoop(self, authority, tls);
    if (self->count == 0 && is_hdfs)
        find_in_hadoop(self, authority, tls);
    char copy[1024];
    snprintf(copy, sizeof copy, "%.*s", (int)MIN(authority.len, sizeof copy - 1), authority.ptr);
    const char *text = copy;
    for (bool first = self->count == 0; first && next_item(&text, &item);) {
        const char *colon = has_port(item) ? memrchr(item.ptr, ':', item.len) : NULL;
        if (is_hdfs && colon)
            item.len = (size_t)(colon - item.ptr);
        add_node(self, tls, item, is_hdfs || !colon ? (tls ? "9871" : "9870") : NULL);
    }
}

/* Which of a cluster's nodes answered last, by the first one's address. */
static pthread_mutex_t active_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t cluster;
    size_t node;
} active[64];

size_t webhdfs_first_node(const struct webhdfs_cluster *self)
{
    uint64_t hash = place_hash(str_of(self->nodes[0]), STR_NONE);
    pthread_mutex_lock(&active_lock);
    size_t node = active[hash % ARRAY_LENGTH(active)].cluster == hash ? active[hash % ARRAY_LENGTH(active)].node : 0;
    pthread_mutex_unlock(&active_lock);
    return node < self->count ? node : 0;
}

void webhdfs_note_active(const struct webhdfs_cluster *self, size_t node)
{
    uint64_t hash = place_hash(str_of(self->nodes[0]), STR_NONE);
    pthread_mutex_lock(&active_lock);
    active[hash % ARRAY_LENGTH(active)].cluster = hash;
    active[hash % ARRAY_LENGTH(active)].node = node;
    pthread_mutex_unlock(&active_lock);
}
