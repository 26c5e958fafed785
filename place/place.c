/* SPDX-License-Identifier: Apache-2.0 */
#include "place/place.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/units.h"
#include "place/place_driver.h"
#include "place/place_local.h"

static const struct place_driver *const drivers[] = {&place_webhdfs, &place_s3};

/* ---- children */

void place_child_dispose(struct place_child *self)
{
    mem_free(self->name);
    mem_free(self->member);
    *self = (struct place_child){0};
}

enum err_code place_children_add(struct place_children *self, const struct place_child *child, struct err *err)
{
    if (mem_grow((void **)&self->items, &self->capacity, self->count + 1, PLACE_CHILDREN_MAX, sizeof *self->items)) {
        struct place_child gone = *child;
        place_child_dispose(&gone);
        return err_nomem(err);
    }
    self->items[self->count++] = *child;
    return ERR_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct place_child *)a)->name, ((const struct place_child *)b)->name);
}

void place_children_sort(struct place_children *self)
{
    if (self->count > 1)
        qsort(self->items, self->count, sizeof *self->items, compare_names);
}

struct place_child *place_children_find(const struct place_children *self, const char *name)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(self->items[middle].name, name);
        if (order == 0)
            return &self->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

void place_children_dispose(struct place_children *self)
{
    for (size_t i = 0; i < self->count; i++)
        place_child_dispose(&self->items[i]);
    mem_free(self->items);
    *self = (struct place_children){0};
}

/* ---- addresses */

static size_t scheme_len(const char *text)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return len > 1 && strncmp(text + len, "://", 3) == 0 ? len : 0;
}

bool place_is_remote(const char *address)
{
    return address[0] != '/' && scheme_len(address) > 0;
}

struct place_uri place_uri_of(const char *address)
{
    size_t scheme = scheme_len(address);
    const char *authority = address + scheme + 3;
    size_t len = strcspn(authority, "/");
    return (struct place_uri){.scheme = {address, scheme}, .authority = {authority, len}, .path = authority + len};
}

static const struct place_driver *driver_of(const char *address)
{
    size_t len = scheme_len(address);
    for (size_t i = 0; i < ARRAY_LENGTH(drivers); i++)
        for (size_t s = 0; s < ARRAY_LENGTH(drivers[i]->schemes) && drivers[i]->schemes[s]; s++)
            if (strlen(drivers[i]->schemes[s]) == len && strncasecmp(drivers[i]->schemes[s], address, len) == 0)
                return drivers[i];
    return NULL;
}

static bool has_parent_part(const char *path)
{
    for (const char *p = strstr(path, ".."); p; p = strstr(p + 2, ".."))
        if ((p == path || p[-1] == '/') && (p[2] == '/' || p[2] == '\0'))
            return true;
    return false;
}

/* Appends `path` to `out` (of `used` bytes, with room) in its shortest spelling. */
static size_t append_path(char *out, size_t used, size_t root, const char *path)
{
    for (const char *p = path; *p;) {
        size_t len = strcspn(p, "/");
        if (len > 0 && !(len == 1 && *p == '.')) {
            if (used == root || out[used - 1] != '/')
                out[used++] = '/';
            memcpy(out + used, p, len);
            used += len;
        }
        p += len + strspn(p + len, "/");
    }
    if (used == root)
        out[used++] = '/';
    out[used] = '\0';
    return used;
}

static enum err_code local_address(const char *path, char **ret, struct err *err)
{
    char here[PATH_MAX] = "", resolved[PATH_MAX];
    if (has_parent_part(path) && realpath(path, resolved))
        path = resolved;
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return err_set_errno(err, errno, "cannot tell the present directory");
    size_t here_len = strcmp(here, "/") == 0 ? 0 : strlen(here);
    if (!(*ret = mem_alloc(here_len + strlen(path) + 3)))
        return err_nomem(err);
    memcpy(*ret, here, here_len);
    append_path(*ret, here_len, path[0] == '/' ? 0 : here_len, path);
    if (here_len > 0 && (*ret)[strlen(*ret) - 1] == '/')
        (*ret)[strlen(*ret) - 1] = '\0'; /* "." */
    return ERR_OK;
}

static enum err_code remote_address(const char *text, char **ret, struct err *err)
{
    const struct place_driver *driver = driver_of(text);
    struct place_uri uri = place_uri_of(text);
    if (!driver)
        return err_set(err, ERR_UNSUPPORTED, "%.*s is no kind of place that can be read: directories, hdfs, webhdfs, swebhdfs, s3, s3a are", (int)MIN(uri.scheme.len, (size_t)30),
                       text);
    if (memchr(uri.authority.ptr, '@', uri.authority.len))
        return err_set(err, ERR_INVALID, "an address must not hold a user or a secret");
    if (has_parent_part(uri.path) || strlen(text) > PATH_MAX)
        return err_set(err, ERR_INVALID, "an address must not hold \"..\", nor be longer than %d bytes", PATH_MAX);
    enum err_code rc = driver->check(&uri, err);
    if (rc)
        return rc;
    size_t root = (size_t)(uri.path - text);
    if (!(*ret = mem_alloc(strlen(text) + 2)))
        return err_nomem(err);
    memcpy(*ret, text, root);
    append_path(*ret, root, root, uri.path);
    return ERR_OK;
}

enum err_code place_address(const char *text, char **ret, struct err *err)
{
    *ret = NULL;
    if (strncmp(text, "file:", 5) == 0) {
        text += 5;
        if (strncmp(text, "//", 2) == 0 && text[2] == '/')
            text += 2;
        if (text[0] != '/' || text[1] == '/')
            return err_set(err, ERR_INVALID, "a file: address names an absolute path of this machine");
    }
    return place_is_remote(text) ? remote_address(text, ret, err) : local_address(text, ret, err);
}

const char *place_shown(const char *text)
{
    return place_is_remote(text) && strchr(text, '@') ? "that address" : text;
}

/* Where the path begins: behind the authority. */
static size_t root_len(const char *address)
{
    return place_is_remote(address) ? (size_t)(place_uri_of(address).path - address) : 0;
}

char *place_parent(const char *address, const char **ret_name)
{
    const char *path = address + root_len(address), *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    return mem_strndup(address, slash ? (size_t)(slash - address) + (slash == path) : strlen(address));
}

char *place_join(const char *dir, const char *name)
{
    size_t dir_len = strlen(dir), name_len = strlen(name);
    char *path = mem_alloc(dir_len + name_len + 2);
    if (!path)
        return NULL;
    memcpy(path, dir, dir_len);
    if (dir_len == 0 || dir[dir_len - 1] != '/')
        path[dir_len++] = '/';
    memcpy(path + dir_len, name, name_len + 1);
    return path;
}

const char *place_member(const char *path)
{
    const char *own = path + root_len(path);
    return *own ? strstr(own + 1, "//") : NULL;
}

/* ---- places that are away */

static pthread_mutex_t away_lock = PTHREAD_MUTEX_INITIALIZER;
static struct away {
    uint64_t servers;
    int64_t until_ns;
    char message[sizeof((struct err *)0)->message];
} away[64]; /* by the hash of scheme and authority; two that meet in a place cost a question more */

static struct away *away_slot(const struct place_uri *uri, uint64_t *ret_servers)
{
    *ret_servers = place_hash(uri->scheme, uri->authority);
    return &away[*ret_servers % ARRAY_LENGTH(away)];
}

/* ERR_AWAY while nobody need be asked. */
static enum err_code check_away(const struct place_uri *uri, struct err *err)
{
    uint64_t servers;
    struct away *slot = away_slot(uri, &servers);
    pthread_mutex_lock(&away_lock);
    enum err_code rc = ERR_OK;
    if (slot->servers == servers && time_monotonic_ns() < slot->until_ns)
        rc = err_set(err, ERR_AWAY, "%s", slot->message);
    pthread_mutex_unlock(&away_lock);
    return rc;
}

static void note_answer(const struct place_uri *uri, enum err_code rc, const struct err *why)
{
    uint64_t servers;
    struct away *slot = away_slot(uri, &servers);
    if (rc == ERR_CANCELLED || rc == ERR_NOMEM)
        return;
    pthread_mutex_lock(&away_lock);
    if (rc == ERR_AWAY) {
        slot->servers = servers;
        slot->until_ns = time_monotonic_ns() + (int64_t)PLACE_AWAY_MS * NS_PER_MS;
        snprintf(slot->message, sizeof slot->message, "%s", why->message);
    } else if (slot->servers == servers) {
        slot->until_ns = 0;
    }
    pthread_mutex_unlock(&away_lock);
}

/* ---- looking */

static enum err_code no_driver(struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "no kind of place that can be read");
}

static enum err_code remote_stat(const char *address, bool even_away, struct place_child *ret, char *validator, struct err *err)
{
    const struct place_driver *driver = driver_of(address);
    struct place_uri uri = place_uri_of(address);
    struct err why = {0};
    enum err_code rc = driver ? ERR_OK : no_driver(err);
    if (rc || (!even_away && (rc = check_away(&uri, err))))
        return rc;
    rc = driver->stat(&uri, ret, validator, &why);
    note_answer(&uri, rc, &why);
    return rc ? err_set(err, rc, "%s", why.message) : ERR_OK;
}

static enum err_code stat_address(const char *address, bool even_away, struct place_child *ret, struct err *err)
{
    *ret = (struct place_child){.bytes = UNKNOWN, .modified_ms = UNKNOWN};
    const char *name;
    char *parent = place_parent(address, &name), *copy = mem_strndup(name, strlen(name));
    mem_free(parent);
    if (!parent || !copy) {
        mem_free(copy);
        return err_nomem(err);
    }
    enum err_code rc = place_is_remote(address) ? remote_stat(address, even_away, ret, NULL, err) : place_local_stat(address, ret, err);
    ret->name = copy;
    if (rc)
        place_child_dispose(ret);
    return rc;
}

enum err_code place_stat(const char *address, struct place_child *ret, struct err *err)
{
    return stat_address(address, false, ret, err);
}

enum err_code place_probe(const char *address, struct place_child *ret, struct err *err)
{
    return stat_address(address, true, ret, err);
}

struct place_view {
    const struct place_driver *driver;
    char *address; /* of the root; owned */
    void *state;   /* the driver's */
};

enum err_code place_view_new(const char *root, struct place_view **ret, struct err *err)
{
    const struct place_driver *driver = place_is_remote(root) ? driver_of(root) : NULL;
    *ret = NULL;
    if (!driver || !driver->view_new)
        return ERR_OK;
    struct place_view *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->driver = driver;
    struct place_uri uri = place_uri_of(root);
    enum err_code rc = (self->address = mem_strndup(root, strlen(root))) ? driver->view_new(&uri, &self->state, err) : err_nomem(err);
    if (rc) {
        mem_free(self->address);
        mem_free(self);
    } else {
        *ret = self;
    }
    return rc;
}

enum err_code place_view_begin(struct place_view *self, struct err *err)
{
    if (!self)
        return ERR_OK;
    struct err why = {0};
    struct place_uri uri = place_uri_of(self->address);
    enum err_code rc = self->driver->view_begin(self->state, &why);
    note_answer(&uri, rc, &why);
    return rc ? err_set(err, rc, "%s", why.message) : ERR_OK;
}

void place_view_free(struct place_view *self)
{
    if (!self)
        return;
    self->driver->view_free(self->state);
    mem_free(self->address);
    mem_free(self);
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > PLACE_NAME_MAX || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7F || *p == '/')
            return false;
    return true;
}

#define SHOWN_NAME_BYTES 100

static void make_harmless(struct place_child *child)
{
    child->kind = CHILD_BAD_NAME;
    for (char *p = child->name; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7F || *p == '/')
            *p = '?';
    if (strlen(child->name) > SHOWN_NAME_BYTES)
        child->name[SHOWN_NAME_BYTES] = '\0';
    for (char *p = child->name; *p == '.'; p++)
        *p = '?';
}

/* What a server said: hidden names are nobody's log, and names that cannot be any are made so that they can be told. */
static void check_names(struct place_children *children, bool with_hidden)
{
    size_t kept = 0;
    for (size_t i = 0; i < children->count; i++) {
        struct place_child *child = &children->items[i];
        bool good = is_name(child->name);
        if (good && child->name[0] == '.' && !with_hidden) {
            place_child_dispose(child);
            continue;
        }
        if (!good)
            make_harmless(child);
        children->items[kept++] = *child;
    }
    children->count = kept;
}

static enum err_code remote_list(struct place_view *view, const char *dir, const struct place_child *status, bool with_hidden, struct place_children *ret, struct err *err)
{
    const struct place_driver *driver = driver_of(dir);
    struct place_uri uri = place_uri_of(dir);
    struct err why = {0};
    enum err_code rc = driver ? check_away(&uri, err) : no_driver(err);
    if (rc)
        return rc;
    rc = driver->list(view ? view->state : NULL, &uri, status, ret, &why);
    note_answer(&uri, rc, &why);
    if (rc)
        return err_set(err, rc, "%s", why.message);
    check_names(ret, with_hidden);
    return ERR_OK;
}

static enum err_code listed(enum err_code rc, struct place_children *ret)
{
    if (rc)
        place_children_dispose(ret);
    else
        place_children_sort(ret);
    return rc;
}

enum err_code place_list(struct place_view *view, const char *dir, const struct place_child *status, struct place_children *ret, struct err *err)
{
    *ret = (struct place_children){0};
    return listed(place_is_remote(dir) ? remote_list(view, dir, status, false, ret, err) : place_local_list(dir, ret, err), ret);
}

enum err_code place_list_all(const char *dir, struct place_children *ret, struct err *err)
{
    *ret = (struct place_children){0};
    return listed(place_is_remote(dir) ? remote_list(NULL, dir, NULL, true, ret, err) : err_set(err, ERR_UNSUPPORTED, "a directory of this machine"), ret);
}

enum err_code place_remove(const char *address, enum child_kind kind, struct err *err)
{
    const struct place_driver *driver = place_is_remote(address) ? driver_of(address) : NULL;
    if (!driver)
        return err_set(err, ERR_UNSUPPORTED, "nothing is deleted in this kind of place");
    struct place_uri uri = place_uri_of(address);
    struct err why = {0};
    enum err_code rc = check_away(&uri, err);
    if (rc)
        return rc;
    rc = driver->remove(&uri, kind, &why);
    note_answer(&uri, rc, &why);
    return rc ? err_set(err, rc, "%s", why.message) : ERR_OK;
}

/* ---- reading */

struct place_file {
    const struct place_driver *driver;
    char *address;
    struct place_uri uri;     /* into address */
    struct place_child child; /* once it was asked for */
    bool has_child;
    struct fetch_stream *stream; /* NULL: none runs */
    int64_t next, stream_end;    /* offset of the stream's next byte; where its answer was asked to end */
    int64_t ask;                 /* bytes of the next answer */
    int64_t end;                 /* the present end; UNKNOWN: not met yet */
    char validator[PLACE_VALIDATOR_BYTES];
};

enum err_code place_file_open(struct place_file **ret, const char *address, struct err *err)
{
    *ret = NULL;
    struct place_file *self = mem_zalloc(sizeof *self);
    if (!self)
        return err_nomem(err);
    self->ask = PLACE_ASK_FIRST_BYTES;
    self->end = UNKNOWN;
    self->address = mem_strndup(address, strlen(address));
    self->driver = driver_of(address);
    if (!self->address || !self->driver) {
        enum err_code rc = self->address ? no_driver(err) : err_nomem(err);
        place_file_close(self);
        return rc;
    }
    self->uri = place_uri_of(self->address);
    *ret = self;
    return ERR_OK;
}

static void end_stream(struct place_file *self)
{
    fetch_close(self->stream);
    self->stream = NULL;
}

static enum err_code begin_stream(struct place_file *self, int64_t offset, struct err *err)
{
    struct err why = {0};
    enum err_code rc = check_away(&self->uri, err);
    if (rc)
        return rc;
    rc = self->driver->read(&self->uri, offset, self->ask, self->validator, &self->stream, &why);
    note_answer(&self->uri, rc, &why);
    if (rc)
        err_set(err, rc, "%s", why.message);
    if (rc == ERR_EOF)
        self->end = offset;
    if (rc)
        return rc;
    self->next = offset;
    self->stream_end = offset + self->ask;
    self->ask = MIN(self->ask * 4, PLACE_ASK_MAX_BYTES);
    return ERR_OK;
}

enum err_code place_file_read(struct place_file *self, int64_t offset, void *into, size_t room, size_t *ret_len, struct err *err)
{
    struct place_patience patience = {0};
    *ret_len = 0;
    for (;;) {
        if (known(self->end) && offset >= self->end)
            return err_set(err, ERR_EOF, "end of file");
        if (self->stream && self->next != offset) {
            end_stream(self);
            self->ask = PLACE_ASK_FIRST_BYTES;
        }
        struct err why = {0};
        enum err_code rc = self->stream ? ERR_OK : begin_stream(self, offset, &why);
        if (!rc)
            rc = fetch_read(self->stream, into, (size_t)MIN((int64_t)MIN(room, (size_t)INT64_MAX), self->stream_end - self->next), ret_len, &why);
        else if (rc != ERR_EOF)
            return err_set(err, rc, "%s", why.message); /* the driver had its patience */
        if (!rc) {
            self->next += (int64_t)*ret_len;
            if (self->next == self->stream_end)
                end_stream(self); /* whole: the connection can be used again */
            return ERR_OK;
        }
        if (rc == ERR_EOF) { /* a shorter answer than was asked for ends where the file does */
            self->end = offset;
            end_stream(self);
            continue;
        }
        end_stream(self);
        if (rc != ERR_AWAY || !place_wait(&patience))
            return err_set(err, rc, "%s", why.message);
    }
}

enum err_code place_file_stat(struct place_file *self, struct place_child *ret, struct err *err)
{
    if (!self->has_child) {
        enum err_code rc = remote_stat(self->address, false, &self->child, self->validator[0] ? NULL : self->validator, err);
        if (rc)
            return rc;
        self->has_child = true;
    }
    *ret = self->child;
    return ERR_OK;
}

void place_file_close(struct place_file *self)
{
    if (!self)
        return;
    end_stream(self);
    place_child_dispose(&self->child);
    mem_free(self->address);
    mem_free(self);
}

void place_be_brief(void)
{
    fetch_be_brief(PLACE_BRIEF_MS);
}

void place_stop(void)
{
    fetch_stop(true);
}

void place_go_on(void)
{
    fetch_stop(false);
}

/* ---- for drivers */

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

void place_escape(struct buf *out, struct str text, bool slash)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (is_unreserved(c) || (slash && c == '/'))
            buf_char(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool place_unescape(struct str text, char *out, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '+') {
            c = ' ';
        } else if (c == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || used + 1 >= room)
            return false;
        out[used++] = c;
    }
    if (room == 0)
        return false;
    out[used] = '\0';
    return true;
}

/* FNV-1a: the same in every process, as fingerprints in the catalogue need it. */
uint64_t place_hash(struct str a, struct str b)
{
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < a.len; i++)
        hash = (hash ^ (unsigned char)a.ptr[i]) * 0x100000001B3u;
    hash = (hash ^ 0xFF) * 0x100000001B3u;
    for (size_t i = 0; i < b.len; i++)
        hash = (hash ^ (unsigned char)b.ptr[i]) * 0x100000001B3u;
    return hash ? hash : 1;
}

#define PAUSE_FIRST_MS 100
#define PAUSE_MOST_MS 3200

bool place_wait(struct place_patience *self)
{
    int64_t now_ns = time_monotonic_ns();
    if (fetch_is_brief())
        return false;
    if (!self->began_ns)
        *self = (struct place_patience){.began_ns = now_ns, .pause_ms = PAUSE_FIRST_MS};
    if ((now_ns - self->began_ns) / NS_PER_MS + self->pause_ms > PLACE_PATIENCE_MS)
        return false;
    for (int64_t until_ns = now_ns + self->pause_ms * NS_PER_MS; !fetch_stopped() && (now_ns = time_monotonic_ns()) < until_ns;)
        usleep((useconds_t)MIN((until_ns - now_ns) / 1000 + 1, 50000));
    self->pause_ms = MIN(self->pause_ms * 2, PAUSE_MOST_MS);
    return !fetch_stopped();
}
