/* SPDX-License-Identifier: Apache-2.0
 *
 * HDFS over its REST interface (WebHDFS, also HttpFS and gateways): hdfs://, webhdfs://, swebhdfs://.
 *
 * Who is asked. hdfs://AUTHORITY names the RPC port, which we do not speak. Where WebHDFS is comes, first found first, from afterglow.hdfs.nameNodes (AUTHORITY=HOST:PORT, several for
 * one AUTHORITY), from dfs.ha.namenodes.AUTHORITY with dfs.namenode.http(s)-address.AUTHORITY.NODE, from dfs.namenode.http(s)-address, else AUTHORITY's host and the default port.
 * webhdfs:// and swebhdfs:// name the HTTP port themselves; several name nodes are parted by commas. A node in standby, in safe mode, starting or away makes us ask the next; when all
 * have been asked, all again after a pause (place_wait). The one that answered is asked first the next time.
 *
 * Who asks. user.name; or SPNEGO; or the delegation token in afterglow.hdfs.tokenFile, which is read each time, since it is renewed by others.
 *
 * Growing files. A name node learns the length of an open file's last block when that is full; Spark flushes into it after most events. Only a data node knows how much can be read:
 * its answer to OPEN announces all of it. So the true length of a file that may be open (….inprogress, the newest part of a rolling log without its end marker) is asked of a data node,
 * and reading goes on to where the data node ends. A name node refuses an offset at or behind the length it knows, so it is asked for one before that, and the real offset is put into
 * the address it answers with. */
#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/json_pull.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "place/config.h"
#include "place/kerberos.h"
#include "place/place_driver.h"

#define NODES_MAX 8
#define NODE_BYTES 300
#define ANSWER_MAX_BYTES ((size_t)256 << 20) /* a listing without batches: 100,000 names take 35 MB */
#define SMALL_ANSWER_BYTES ((size_t)1 << 20)
#define URL_BYTES ((size_t)32 << 10)
#define SCRATCH_BYTES ((size_t)8 << 20)
#define TOKEN_BYTES 8192
#define BATCHES_MAX 1000000
#define REDIRECTS 2 /* name node to data node; a gateway adds one */

struct cluster {
    char nodes[NODES_MAX][NODE_BYTES]; /* http://host:port */
    size_t count;
};

/* ---- who is asked */

static void add_node(struct cluster *self, bool tls, struct str address, const char *port)
{
    if (self->count == NODES_MAX || address.len == 0 || address.len > NODE_BYTES - 20)
        return;
    char *node = self->nodes[self->count];
    if (str_starts(address, "http://") || str_starts(address, "https://"))
        snprintf(node, NODE_BYTES, "%.*s", (int)address.len, address.ptr);
    else
        snprintf(node, NODE_BYTES, "http%s://%.*s%s%s", tls ? "s" : "", (int)address.len, address.ptr, port ? ":" : "", port ? port : "");
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

static void find_configured(struct cluster *self, struct str authority)
{
    const char *text = place_config("afterglow.hdfs.nameNodes");
    struct str item;
    while (text && next_item(&text, &item)) {
        const char *equals = memchr(item.ptr, '=', item.len);
        if (equals && str_eq((struct str){item.ptr, (size_t)(equals - item.ptr)}, authority))
            add_node(self, false, (struct str){equals + 1, item.len - (size_t)(equals + 1 - item.ptr)}, NULL);
    }
}

static void find_in_hadoop(struct cluster *self, struct str authority, bool tls)
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

/* hdfs:///path is the default file system's. */
static struct str authority_of(const struct place_uri *uri)
{
    const char *fs = place_config("fs.defaultFS");
    if (uri->authority.len == 0 && fs && strncmp(fs, "hdfs://", 7) == 0)
        return (struct str){fs + 7, strcspn(fs + 7, "/")};
    return uri->authority;
}

static void find_nodes(struct cluster *self, const struct place_uri *uri)
{
    struct str authority = authority_of(uri), item;
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

static enum err_code check(const struct place_uri *uri, struct err *err)
{
    struct cluster cluster;
    find_nodes(&cluster, uri);
    if (cluster.count == 0)
        return err_set(err, ERR_INVALID, "which name node? hdfs://HOST/PATH, or fs.defaultFS in core-site.xml");
    return ERR_OK;
}

/* Which of a cluster's nodes answered last, by the first one's address. */
static pthread_mutex_t active_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint64_t cluster;
    size_t node;
} active[64];

static size_t first_node(const struct cluster *self)
{
    uint64_t hash = place_hash(str_of(self->nodes[0]), STR_NONE);
    pthread_mutex_lock(&active_lock);
    size_t node = active[hash % ARRAY_LENGTH(active)].cluster == hash ? active[hash % ARRAY_LENGTH(active)].node : 0;
    pthread_mutex_unlock(&active_lock);
    return node < self->count ? node : 0;
}

static void note_active(const struct cluster *self, size_t node)
{
    uint64_t hash = place_hash(str_of(self->nodes[0]), STR_NONE);
    pthread_mutex_lock(&active_lock);
    active[hash % ARRAY_LENGTH(active)].cluster = hash;
    active[hash % ARRAY_LENGTH(active)].node = node;
    pthread_mutex_unlock(&active_lock);
}

/* ---- who asks */

static bool read_token(char *token)
{
    const char *path = place_config("afterglow.hdfs.tokenFile");
    FILE *file = path && *path ? fopen(path, "re") : NULL;
    size_t len = file ? fread(token, 1, TOKEN_BYTES - 1, file) : 0;
    if (file)
        fclose(file);
    token[len] = '\0';
    token[strcspn(token, " \t\r\n")] = '\0';
    return token[0] != '\0';
}

static void add_identity(struct buf *url, bool *ret_negotiate)
{
    char token[TOKEN_BYTES], names[1024];
    *ret_negotiate = false;
    if (read_token(token)) {
        buf_text(url, "&delegation=");
        place_escape(url, str_of(token), false);
    } else if (kerberos_is_on()) {
        *ret_negotiate = true;
    } else {
        const char *user = place_config("afterglow.hdfs.user");
        struct passwd entry, *found = NULL;
        if (!user || !*user)
            user = getpwuid_r(geteuid(), &entry, names, sizeof names, &found) == 0 && found ? found->pw_name : "afterglow";
        buf_text(url, "&user.name=");
        place_escape(url, str_of(user), false);
    }
    memset(token, 0, sizeof token);
}

/* ---- questions */

static const char *const transient[] = {"StandbyException", "RetriableException", "SafeModeException", "ConnectException", "ObserverRetryOnActiveException"};

struct remote_exception {
    char name[80], message[160];
};

static void read_exception(struct str text, struct remote_exception *ret)
{
    enum { REMOTE };
    enum { EXCEPTION, MESSAGE };
    static const struct json_key outer[] = {JSON_KEY("RemoteException", REMOTE)};
    static const struct json_key inner[] = {JSON_KEY("exception", EXCEPTION), JSON_KEY("message", MESSAGE)};
    struct arena scratch;
    struct json_pull in;
    struct json_object o, e;
    *ret = (struct remote_exception){0};
    arena_init(&scratch, SCRATCH_BYTES);
    json_pull_init(&in, text, &scratch);
    if (text.len && json_object_begin(&in, &o, KEYS(outer)))
        for (int key; (key = json_next(&in, &o)) >= 0;) {
            if (key != REMOTE || !json_object_begin(&in, &e, KEYS(inner))) {
                if (key != REMOTE)
                    json_skip(&in);
                continue;
            }
            for (int part; (part = json_next(&in, &e)) >= 0;) {
                struct str value = part == EXCEPTION || part == MESSAGE ? json_str(&in) : (json_skip(&in), STR_NONE);
                if (value.ptr)
                    snprintf(part == EXCEPTION ? ret->name : ret->message, part == EXCEPTION ? sizeof ret->name : sizeof ret->message, "%.*s", (int)MIN(value.len, (size_t)159),
                             value.ptr);
            }
        }
    arena_dispose(&scratch);
    for (char *p = ret->message; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
}

/* An answer that is not what was asked for, as an error. ERR_AWAY: another node, or a later try, may do. */
static enum err_code refused(const char *what, int status, struct str body, struct err *err)
{
    struct remote_exception e;
    read_exception(body, &e);
    enum err_code code = ERR_IO;
    for (size_t i = 0; i < ARRAY_LENGTH(transient); i++)
        if (strcmp(e.name, transient[i]) == 0)
            code = ERR_AWAY;
    if (code != ERR_AWAY) {
        if (strcmp(e.name, "FileNotFoundException") == 0 || (status == 404 && !e.name[0]))
            code = ERR_NOT_FOUND;
        else if (status == 401 || strcmp(e.name, "AccessControlException") == 0 || strcmp(e.name, "SecurityException") == 0 || (status == 403 && !e.name[0]))
            code = ERR_PERMISSION;
        else if (strcmp(e.name, "PathIsNotEmptyDirectoryException") == 0)
            code = ERR_BUSY;
        else if (status == 400 && (strcmp(e.name, "IllegalArgumentException") == 0 || !e.name[0]))
            code = ERR_UNSUPPORTED;
        else if (status == 502 || status == 503 || status == 504 || strstr(e.message, "startup mode"))
            code = ERR_AWAY;
    }
    if (e.name[0])
        return err_set(err, code, "%s: %s: %s", what, e.name, e.message);
    return err_set(err, code, "%s: HTTP status %d", what, status);
}

static void make_url(struct buf *url, const char *node, const char *path, const char *query, bool *ret_negotiate)
{
    buf_clear(url);
    buf_text(url, node);
    buf_text(url, "/webhdfs/v1");
    place_escape(url, str_of(path), true);
    buf_text(url, path[0] ? "?" : "/?");
    buf_text(url, query);
    add_identity(url, ret_negotiate);
}

static void name_question(char *what, size_t room, const char *query, const char *node)
{
    size_t op = strcspn(query, "&");
    const char *host = strstr(node, "://");
    snprintf(what, room, "%.*s of %s", (int)(op > 3 ? op - 3 : 0), query + (op > 3 ? 3 : 0), host ? host + 3 : node);
}

/* One question of metadata, to whoever answers. */
static enum err_code ask(const struct place_uri *uri, const char *method, const char *query, struct buf *body, struct err *err)
{
    struct cluster cluster;
    struct place_patience patience = {0};
    CLEANUP(buf_dispose) struct buf url;
    buf_init(&url, URL_BYTES);
    find_nodes(&cluster, uri);
    struct err why = {0};
    do {
        for (size_t i = 0, first = first_node(&cluster); i < cluster.count; i++) {
            size_t node = (first + i) % cluster.count;
            struct fetch_request request = {.method = method};
            struct fetch_head head;
            char what[128];
            make_url(&url, cluster.nodes[node], uri->path, query, &request.negotiate);
            if (buf_failed(&url))
                return err_set(err, ERR_LIMIT, "the address is too long");
            name_question(what, sizeof what, query, cluster.nodes[node]);
            request.url = url.data;
            request.what = what;
            enum err_code rc = fetch_whole(&request, &head, body, &why);
            if (!rc && head.status == 200) {
                note_active(&cluster, node);
                return ERR_OK;
            }
            if (!rc)
                rc = refused(what, head.status, buf_str(body), &why);
            if (rc != ERR_AWAY)
                return err_set(err, rc, "%s", why.message);
        }
    } while (place_wait(&patience));
    return err_set(err, fetch_stopped() ? ERR_CANCELLED : ERR_AWAY, "%s", why.message);
}

/* ---- answers */

enum { STATUS_NAME, STATUS_TYPE, STATUS_LENGTH, STATUS_TIME, STATUS_ID };
static const struct json_key status_keys[] = {JSON_KEY("fileId", STATUS_ID), JSON_KEY("length", STATUS_LENGTH), JSON_KEY("modificationTime", STATUS_TIME),
                                              JSON_KEY("pathSuffix", STATUS_NAME), JSON_KEY("type", STATUS_TYPE)};

/* The reader stands before a FileStatus. The name is owned; NULL: out of memory, or none was said. */
static struct place_child read_status(struct json_pull *in, uint64_t device)
{
    struct place_child child = {.kind = CHILD_SPECIAL, .bytes = UNKNOWN, .modified_ms = UNKNOWN, .device = device};
    struct json_object o;
    if (!json_object_begin(in, &o, KEYS(status_keys)))
        return child;
    for (int key; (key = json_next(in, &o)) >= 0;) {
        struct str text;
        switch (key) {
        case STATUS_NAME:
            text = json_str(in);
            mem_free(child.name);
            child.name = text.ptr ? mem_strndup(text.ptr, MIN(text.len, strnlen(text.ptr, text.len))) : NULL;
            break;
        case STATUS_TYPE:
            text = json_str(in);
            child.kind = str_is(text, "FILE") ? CHILD_FILE : str_is(text, "DIRECTORY") ? CHILD_DIRECTORY : CHILD_SPECIAL;
            break;
        case STATUS_LENGTH: child.bytes = json_count(in); break;
        case STATUS_TIME: child.modified_ms = json_count(in); break;
        case STATUS_ID: child.inode = (uint64_t)known_or(json_count(in), 0); break;
        default: json_skip(in);
        }
    }
    return child;
}

static uint64_t device_of(const struct place_uri *uri)
{
    return place_hash(authority_of(uri), STR_NONE);
}

/* A cluster older than 2.x says no fileId (or 0): the path tells files apart. */
static void name_file(struct place_child *child, const struct place_uri *uri, const char *name)
{
    if (child->inode == 0)
        child->inode = place_hash(str_of(uri->path), str_of(name));
}

static bool ends_with(const char *text, const char *suffix)
{
    return str_ends(str_of(text), suffix);
}

static enum err_code open_at(const struct place_uri *uri, int64_t offset, int64_t len, int64_t known_bytes, struct fetch_stream **ret, int64_t *ret_skip, struct err *err);

/* How many bytes of a file can be read, of which the name node knows `bytes`. What cannot be told is what the name node says. */
static enum err_code true_length(const struct place_uri *uri, int64_t bytes, int64_t *ret, struct err *err)
{
    struct fetch_stream *stream;
    int64_t from = MAX(bytes - 1, 0), skip;
    *ret = bytes;
    enum err_code rc = open_at(uri, from, -1, bytes, &stream, &skip, err);
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

/* May it be written to at present? By its name: a single log that runs, or a part of a rolling one. */
static bool may_be_open(const char *name)
{
    return ends_with(name, ".inprogress") || strncmp(name, "events_", 7) == 0;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum err_code status_of(const struct place_uri *uri, struct place_child *ret, struct err *err)
{
    enum { STATUS };
    static const struct json_key outer[] = {JSON_KEY("FileStatus", STATUS)};
    CLEANUP(buf_dispose) struct buf body;
    buf_init(&body, SMALL_ANSWER_BYTES);
    enum err_code rc = ask(uri, NULL, "op=GETFILESTATUS", &body, err);
    if (rc)
        return rc;
    struct arena scratch;
    struct json_pull in;
    struct json_object o;
    bool found = false;
    arena_init(&scratch, SCRATCH_BYTES);
    json_pull_init(&in, buf_str(&body), &scratch);
    if (json_object_begin(&in, &o, KEYS(outer)))
        for (int key; (key = json_next(&in, &o)) >= 0;) {
            if (key != STATUS || found) {
                json_skip(&in);
                continue;
            }
            *ret = read_status(&in, device_of(uri));
            found = true;
        }
    mem_free(TAKE(ret->name));
    rc = in.failed || !found ? err_set(err, in.failed == ERR_NOMEM ? ERR_NOMEM : ERR_IO, "GETFILESTATUS: the answer is not what it should be") : ERR_OK;
    arena_dispose(&scratch);
    name_file(ret, uri, "");
    return rc;
}

static void note_length(char *validator, const struct place_child *child)
{
    snprintf(validator, PLACE_VALIDATOR_BYTES, "%lld", (long long)known_or(child->bytes, 0));
}

static enum err_code webhdfs_stat(const struct place_uri *uri, struct place_child *ret, char validator[PLACE_VALIDATOR_BYTES], struct err *err)
{
    enum err_code rc = status_of(uri, ret, err);
    if (!rc && validator && ret->kind == CHILD_FILE)
        note_length(validator, ret);
    if (!rc && ret->kind == CHILD_FILE && may_be_open(last_name(uri->path)))
        rc = true_length(uri, known_or(ret->bytes, 0), &ret->bytes, err);
    return rc;
}

/* ---- listing */

struct listing_answer {
    struct place_children *children;
    const struct place_uri *dir;
    int64_t remaining; /* names that follow; UNKNOWN: it was no batch */
    size_t before;     /* children of earlier batches */
};

static enum err_code add_statuses(struct listing_answer *self, struct json_pull *in, struct err *err)
{
    enum { LIST };
    static const struct json_key keys[] = {JSON_KEY("FileStatus", LIST)};
    struct json_object o;
    if (!json_object_begin(in, &o, KEYS(keys)))
        return ERR_OK;
    enum err_code rc = ERR_OK;
    uint64_t device = device_of(self->dir);
    for (int key; (key = json_next(in, &o)) >= 0;) {
        if (key != LIST || !json_array_begin(in)) {
            if (key != LIST)
                json_skip(in);
            continue;
        }
        while (!rc && json_array_next(in)) {
            struct place_child child = read_status(in, device);
            if (!child.name && !in->failed)
                return err_set(err, ERR_IO, "LISTSTATUS: a file without a name");
            if (in->failed) {
                mem_free(child.name);
                break;
            }
            name_file(&child, self->dir, child.name);
            rc = place_children_add(self->children, &child, err);
        }
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* {"FileStatuses":{"FileStatus":[…]}}, or {"DirectoryListing":{"partialListing":{"FileStatuses":…},"remainingEntries":n}}. */
static enum err_code read_listing(struct listing_answer *self, struct str body, struct err *err)
{
    enum { STATUSES, DIRECTORY };
    enum { PARTIAL, REMAINING };
    static const struct json_key outer[] = {JSON_KEY("FileStatuses", STATUSES), JSON_KEY("DirectoryListing", DIRECTORY)};
    static const struct json_key batch[] = {JSON_KEY("partialListing", PARTIAL), JSON_KEY("remainingEntries", REMAINING)};
    static const struct json_key partial[] = {JSON_KEY("FileStatuses", STATUSES)};
    struct arena scratch;
    struct json_pull in;
    struct json_object o, d, p;
    bool found = false;
    enum err_code rc = ERR_OK;
    arena_init(&scratch, ANSWER_MAX_BYTES);
    json_pull_init(&in, body, &scratch);
    self->remaining = UNKNOWN;
    self->before = self->children->count;
    if (json_object_begin(&in, &o, KEYS(outer)))
        for (int key; !rc && (key = json_next(&in, &o)) >= 0;) {
            if (key == STATUSES) {
                found = true;
                rc = add_statuses(self, &in, err);
            } else if (key == DIRECTORY && json_object_begin(&in, &d, KEYS(batch))) {
                for (int part; !rc && (part = json_next(&in, &d)) >= 0;) {
                    if (part == REMAINING) {
                        self->remaining = json_count(&in);
                    } else if (part != PARTIAL) {
                        json_skip(&in);
                    } else if (json_object_begin(&in, &p, KEYS(partial))) {
                        for (int inner; !rc && (inner = json_next(&in, &p)) >= 0;) {
                            if (inner != STATUSES) {
                                json_skip(&in);
                                continue;
                            }
                            found = true;
                            rc = add_statuses(self, &in, err);
                        }
                    }
                }
            } else if (key != DIRECTORY) {
                json_skip(&in);
            }
        }
    if (!rc && (in.failed || !found))
        rc = err_set(err, in.failed == ERR_NOMEM ? ERR_NOMEM : ERR_IO, "LISTSTATUS: the answer is not what it should be");
    arena_dispose(&scratch);
    return rc;
}

/* In batches where the server knows them (3.0), so that a directory of 100,000 neither blocks a name node nor fills our memory. */
static enum err_code list_names(const struct place_uri *dir, struct place_children *ret, struct err *err)
{
    CLEANUP(buf_dispose) struct buf body, query;
    buf_init(&body, ANSWER_MAX_BYTES);
    buf_init(&query, URL_BYTES);
    struct listing_answer answer = {.children = ret, .dir = dir};
    for (int batch = 0; batch < BATCHES_MAX; batch++) {
        buf_clear(&query);
        buf_text(&query, "op=LISTSTATUS_BATCH");
        if (ret->count > 0) {
            buf_text(&query, "&startAfter=");
            place_escape(&query, str_of(ret->items[ret->count - 1].name), false);
        }
        if (buf_failed(&query))
            return err_set(err, ERR_LIMIT, "LISTSTATUS_BATCH: a name that is too long");
        struct err why = {0};
        enum err_code rc = ask(dir, NULL, query.data, &body, &why);
        if (rc == ERR_UNSUPPORTED && batch == 0) {
            rc = ask(dir, NULL, "op=LISTSTATUS", &body, err);
            return rc ? rc : read_listing(&answer, buf_str(&body), err);
        }
        if (rc)
            return err_set(err, rc, "%s", why.message);
        if ((rc = read_listing(&answer, buf_str(&body), err)))
            return rc;
        if (known_or(answer.remaining, 0) == 0)
            return ERR_OK;
        if (ret->count == answer.before)
            return err_set(err, ERR_IO, "LISTSTATUS_BATCH: names are promised and none comes");
    }
    return err_set(err, ERR_LIMIT, "LISTSTATUS_BATCH: no end");
}

/* What scans remember. Finished rolling logs: their directory's time changes with every name in it, and their files do not grow, so what is in them is asked once. Files that may be
 * open: how long a data node said they are; those that nobody writes any more (killed applications) are not asked for again and again. */
struct webhdfs_view {
    struct imap finished; /* fileId of a directory → struct kept_directory */
    struct imap lengths;  /* fileId of a file → struct kept_length */
    int64_t scan_no;
};

struct kept_directory {
    int64_t modified_ms, scan_no;
    struct place_children children;
};

struct kept_length {
    int64_t reported, bytes, scan_no;
    int quiet; /* times in a row that a data node knew no more than the name node */
};

#define VIEW_MAX ((size_t)10 << 20)
#define QUIET_ENOUGH 3
#define QUIET_EVERY 60 /* scans until a quiet file is asked for again: ten minutes at the usual interval */

static enum err_code view_new(const struct place_uri *root, void **ret, struct err *err)
{
    (void)root;
    struct webhdfs_view *self = *ret = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    imap_init(&self->finished, VIEW_MAX);
    imap_init(&self->lengths, VIEW_MAX);
    return ERR_OK;
}

static void free_directory(struct kept_directory *kept)
{
    place_children_dispose(&kept->children);
    mem_free(kept);
}

/* What the scan before did not meet is forgotten. */
static enum err_code view_begin(void *view, struct err *err)
{
    (void)err;
    struct webhdfs_view *self = view;
    for (size_t i = self->finished.count; i-- > 0;) {
        struct kept_directory *kept = self->finished.entries[i].value;
        if (kept->scan_no < self->scan_no) {
            imap_remove(&self->finished, self->finished.entries[i].key);
            free_directory(kept);
        }
    }
    for (size_t i = self->lengths.count; i-- > 0;) {
        struct kept_length *kept = self->lengths.entries[i].value;
        if (kept->scan_no < self->scan_no) {
            imap_remove(&self->lengths, self->lengths.entries[i].key);
            mem_free(kept);
        }
    }
    self->scan_no++;
    return ERR_OK;
}

static void view_free(void *view)
{
    struct webhdfs_view *self = view;
    for (size_t i = 0; i < self->finished.count; i++)
        free_directory(self->finished.entries[i].value);
    for (size_t i = 0; i < self->lengths.count; i++)
        mem_free(self->lengths.entries[i].value);
    imap_dispose(&self->finished);
    imap_dispose(&self->lengths);
    mem_free(self);
}

static enum err_code copy_children(const struct place_children *from, struct place_children *to, struct err *err)
{
    for (size_t i = 0; i < from->count; i++) {
        struct place_child copy = from->items[i];
        enum err_code rc = (copy.name = mem_strndup(copy.name, strlen(copy.name))) ? place_children_add(to, &copy, err) : err_nomem(err);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* The true length of a child that may be open, from a data node or from what it said before. */
static enum err_code measure(struct webhdfs_view *view, const struct place_uri *dir, struct place_child *child, struct err *err)
{
    struct kept_length *kept = view ? imap_get(&view->lengths, (int64_t)child->inode) : NULL;
    int64_t reported = known_or(child->bytes, 0);
    if (kept && kept->reported == reported && kept->quiet >= QUIET_ENOUGH && view->scan_no % QUIET_EVERY != 0) {
        kept->scan_no = view->scan_no;
        child->bytes = kept->bytes;
        return ERR_OK;
    }
    char *path = place_join(dir->path, child->name);
    if (!path)
        return err_nomem(err);
    struct place_uri uri = {.scheme = dir->scheme, .authority = dir->authority, .path = path};
    enum err_code rc = true_length(&uri, reported, &child->bytes, err);
    mem_free(path);
    if (rc || !view)
        return rc;
    if (!kept) {
        if (!(kept = mem_zalloc(sizeof *kept)) || imap_put(&view->lengths, (int64_t)child->inode, kept)) {
            mem_free(kept);
            return err_nomem(err);
        }
    }
    kept->quiet = child->bytes > kept->bytes || (child->bytes > reported && child->bytes != kept->bytes) ? 0 : kept->quiet + 1;
    if (child->bytes > reported)
        kept->quiet = 0; /* more can be read than the name node knows: its writer lives */
    kept->reported = reported;
    kept->bytes = child->bytes;
    kept->scan_no = view->scan_no;
    return ERR_OK;
}

/* Of a directory with parts of a rolling log the part with the highest number may be open, as long as no marker says that the application ended. */
static enum err_code measure_open_files(struct webhdfs_view *view, const struct place_uri *dir, struct place_children *children, bool *ret_finished, struct err *err)
{
    struct place_child *newest = NULL;
    int64_t highest = -1;
    bool rolling = false;
    enum err_code rc = ERR_OK;
    *ret_finished = false;
    for (size_t i = 0; i < children->count && !rc; i++) {
        struct place_child *child = &children->items[i];
        if (child->kind != CHILD_FILE)
            continue;
        if (strncmp(child->name, "appstatus_", 10) == 0) {
            rolling = true;
            *ret_finished |= !ends_with(child->name, ".inprogress");
        } else if (strncmp(child->name, "events_", 7) == 0) {
            long long index = strtoll(child->name + 7, NULL, 10);
            if (index > highest) {
                highest = index;
                newest = child;
            }
        } else if (ends_with(child->name, ".inprogress")) {
            rc = measure(view, dir, child, err);
        }
    }
    if (!rc && newest && !*ret_finished)
        rc = measure(view, dir, newest, err);
    *ret_finished &= rolling;
    return rc;
}

static enum err_code keep_directory(struct webhdfs_view *view, const struct place_child *status, const struct place_children *children, struct err *err)
{
    struct kept_directory *kept = mem_zalloc(sizeof *kept);
    if (!kept)
        return err_nomem(err);
    *kept = (struct kept_directory){.modified_ms = status->modified_ms, .scan_no = view->scan_no};
    enum err_code rc = copy_children(children, &kept->children, err);
    if (!rc && imap_put(&view->finished, (int64_t)status->inode, kept))
        rc = err_nomem(err);
    if (rc)
        free_directory(kept);
    return rc;
}

static enum err_code webhdfs_list(void *view_context, const struct place_uri *dir, const struct place_child *status, struct place_children *ret, struct err *err)
{
    struct webhdfs_view *view = view_context;
    struct kept_directory *kept = view && status ? imap_get(&view->finished, (int64_t)status->inode) : NULL;
    if (kept && kept->modified_ms == status->modified_ms) {
        kept->scan_no = view->scan_no;
        return copy_children(&kept->children, ret, err);
    }
    if (kept) {
        imap_remove(&view->finished, (int64_t)status->inode);
        free_directory(kept);
    }
    bool finished;
    enum err_code rc = list_names(dir, ret, err);
    if (!rc)
        rc = measure_open_files(view, dir, ret, &finished, err);
    return !rc && finished && view && status ? keep_directory(view, status, ret, err) : rc;
}

/* ---- reading */

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
    buf_init(&url, URL_BYTES);
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
    return refused(what, fetch_head(stream)->status, (struct str){text, used}, err);
}

/* A stream of the file from `offset` on, of at most `len` bytes (-1: all there are), of which the first *ret_skip lie before `offset`. */
static enum err_code open_at(const struct place_uri *uri, int64_t offset, int64_t len, int64_t known_bytes, struct fetch_stream **ret, int64_t *ret_skip, struct err *err)
{
    struct cluster cluster;
    struct place_patience patience = {0};
    CLEANUP(buf_dispose) struct buf url;
    buf_init(&url, URL_BYTES);
    find_nodes(&cluster, uri);
    struct err why = {0};
    int64_t asked = known_bytes > 0 && offset >= known_bytes ? known_bytes - 1 : offset;
    char query[96], what[128];
    int used = snprintf(query, sizeof query, "op=OPEN&offset=%lld", (long long)asked);
    if (len >= 0)
        snprintf(query + used, sizeof query - (size_t)used, "&length=%lld", (long long)(len > INT64_MAX - (offset - asked) ? len : len + (offset - asked)));
    do {
        for (size_t i = 0, first = first_node(&cluster); i < cluster.count; i++) {
            size_t node = (first + i) % cluster.count;
            struct fetch_request request = {0};
            bool replaced = false;
            make_url(&url, cluster.nodes[node], uri->path, query, &request.negotiate);
            if (buf_failed(&url))
                return err_set(err, ERR_LIMIT, "the address is too long");
            name_question(what, sizeof what, "op=OPEN", cluster.nodes[node]);
            request.url = url.data;
            request.what = what;
            enum err_code rc = fetch_open(ret, &request, &why);
            if (!rc)
                rc = follow(ret, cluster.nodes[node], what, offset, asked != offset, &replaced, &why);
            if (!rc && (fetch_head(*ret)->status == 200 || fetch_head(*ret)->status == 206)) {
                note_active(&cluster, node);
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

/* `validator` holds the length that the name node told, asked once a file. A file that was closed ends there; one that may be open ends where a data node says. */
static enum err_code webhdfs_read(const struct place_uri *uri, int64_t offset, int64_t len, char validator[PLACE_VALIDATOR_BYTES], struct fetch_stream **ret, struct err *err)
{
    int64_t known_bytes, skip;
    *ret = NULL;
    if (!validator[0]) {
        struct place_child child;
        enum err_code rc = status_of(uri, &child, err);
        if (rc)
            return rc;
        if (child.kind != CHILD_FILE)
            return err_set(err, ERR_INVALID, "not a regular file");
        note_length(validator, &child);
    }
    if (!str_to_i64(str_of(validator), &known_bytes))
        return err_set(err, ERR_INVALID, "not a length");
    if (offset >= known_bytes && !may_be_open(last_name(uri->path)))
        return err_set(err, ERR_EOF, "end of file");
    enum err_code rc = open_at(uri, offset, len, known_bytes, ret, &skip, err);
    if (rc)
        /* A data node refuses an offset behind what it has, which is the end as well. */
        return offset >= known_bytes && (rc == ERR_IO || rc == ERR_UNSUPPORTED) ? err_set(err, ERR_EOF, "end of file") : rc;
    char gone[16384];
    while (skip > 0) {
        size_t got;
        if ((rc = fetch_read(*ret, gone, (size_t)MIN(skip, (int64_t)sizeof gone), &got, err))) {
            fetch_close(TAKE(*ret));
            return rc;
        }
        skip -= (int64_t)got;
    }
    return ERR_OK;
}

static enum err_code webhdfs_remove(const struct place_uri *uri, enum child_kind kind, struct err *err)
{
    CLEANUP(buf_dispose) struct buf body;
    buf_init(&body, SMALL_ANSWER_BYTES);
    (void)kind;
    enum err_code rc = ask(uri, "DELETE", "op=DELETE&recursive=false", &body, err);
    if (rc)
        return rc;
    return body.len && memmem(body.data, body.len, "true", 4) ? ERR_OK : err_set(err, ERR_NOT_FOUND, "DELETE: it is not there");
}

const struct place_driver place_webhdfs = {
    .schemes = {"hdfs", "webhdfs", "swebhdfs", NULL},
    .check = check,
    .stat = webhdfs_stat,
    .list = webhdfs_list,
    .read = webhdfs_read,
    .remove = webhdfs_remove,
    .view_new = view_new,
    .view_begin = view_begin,
    .view_free = view_free,
};
